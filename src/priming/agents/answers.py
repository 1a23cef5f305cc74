"""From what an agent said to its answer: found in the text, held against the schema, asked for again if need be."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from priming.agents.protocol import Answer, Schema
from priming.config.params.llm import AGENT, AgentParams
from priming.errors import AgentError, ParamError, shown

REPAIR = """\
Your last answer to this could not be used: {problem}.
Answer once more, with one JSON object that fits the schema at the end, and nothing else.
"""


def settled(
    ask: Callable[[str], str], prompt: str, schema: Schema, who: str, params: AgentParams = AGENT
) -> Answer:
    """The valid answer to a prompt; one that is not valid is asked for again, with what was wrong with it."""
    asked, problem = prompt, ""
    for _ in range(1 + params.repairs):
        said = ask(asked)
        found = read(said, schema)
        if not isinstance(found, str):
            return found
        problem = _cut(found, params.repeated)
        asked = repaired(prompt, problem)
    raise AgentError(
        f"{who} gave no valid answer, asked {1 + params.repairs} times: {problem};"
        f" it said {shown(said, params.repeated)}; its answer must be one JSON object that fits the schema"
        " in the prompt: see what it prints, or take another agent"
    )


def repaired(prompt: str, problem: str) -> str:
    """A prompt with what was wrong with its last answer, after its first line: it begins and ends as before."""
    first, _, rest = prompt.partition("\n")
    return f"{first}\n\n{REPAIR.format(problem=problem)}{rest}"


def read(said: str, schema: Schema) -> Answer | str:
    """The first JSON object in a text that fits the schema, else what is wrong with the text.

    Prose or a fence may stand about it. Objects within an object are parts of it, and no answers.

    >>> read('Sure: {"n": 1}, as you asked.', {"required": ["n"]})
    {'n': 1}
    >>> read("I cannot.", {})
    'there is no JSON object in it'
    """
    wrong = "there is no JSON object in it"
    for value in _objects(said):
        problem = problem_of(value, schema)
        if problem is None:
            return value
        wrong = problem
    return wrong


def problem_of(value: Any, schema: Schema) -> str | None:
    """Why a value is no valid answer, and where in it; None if it is one.

    >>> problem_of({"n": "one"}, {"properties": {"n": {"type": "integer"}}})
    "$.n: 'one' is not of type 'integer'"
    """
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.exceptions import best_match

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ParamError("schema", schema, f"must be a JSON Schema: {error.message}") from None
    if not isinstance(value, dict):
        return f"{shown(value)} is no JSON object"
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return "it has half a surrogate pair, which is no text"
    wrong = best_match(Draft202012Validator(schema).iter_errors(value))
    if wrong is None:
        return None
    limit = f" ({wrong.validator}: {wrong.validator_value})" if isinstance(wrong.validator_value, int) else ""
    return f"{wrong.json_path}: {wrong.message}{limit}"


def _cut(text: str, most: int) -> str:
    """A text on one line, a long one without its middle."""
    line = " ".join(text.split())
    head = most // 2
    return line if len(line) <= most else f"{line[:head]}…{line[head - most :]}"


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, in their order, without those within another."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def _refuse(constant: str) -> None:
    """NaN and Infinity are Python's, not JSON's."""
    raise ValueError(f"{constant} is no JSON")
