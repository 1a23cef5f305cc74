"""How an agent is asked: the protocol of agents, prompts, the checks of answers, and an agent with prepared answers.

A prompt is a text file with placeholders, data in fences, and a form that any command may rely on: the first line is
``PRIMING-PHASE:`` and the phase; the end is the JSON schema of the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Protocol, runtime_checkable

from priming.config.params.services import AGENT, AgentParams
from priming.errors import AgentError, ParamError, shown
from priming.llm.json_schema import schema_problem, violation_of
from priming.text.quotation import visible

Answer = Mapping[str, Any]
Schema = Mapping[str, Any]
"""A JSON Schema of draft 2020-12 for an object."""


@runtime_checkable
class Agent(Protocol):
    """Answers prompts: a language model, however it is reached. Its answers are data until they are checked."""

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Return the answer to a prompt, valid by ``schema``, or raise ``AgentError`` with the reason."""
        ...


PHASE = "PRIMING-PHASE"
ENDING = "Answer with one JSON object that fits this JSON schema, and nothing else:\n"
FOLDER = "prompts"

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_TICKS = re.compile(r"`+")
_SHORTEST = 3


def prompt(package: str, phase: str, places: Mapping[str, str], schema: Schema) -> str:
    """Return the prompt of a phase, from ``prompts/<phase>.txt`` in a package, with its placeholders filled in.

    Placeholders in the values are not filled in. Texts of other authors go in ``fenced``.
    """
    text = files(package).joinpath(FOLDER, f"{phase}.txt").read_text("utf-8")
    names = set(_PLACE.findall(text))
    if names != set(places):
        raise ParamError(
            "places", sorted(places), f"must be those of {phase}.txt: {', '.join(sorted(names))}"
        )
    filled = _PLACE.sub(lambda place: places[place[1]], text).strip()
    return f"{PHASE}: {phase}\n\n{filled}\n\n{ENDING}{json.dumps(dict(schema), ensure_ascii=False)}\n"


def fenced(text: str) -> str:
    r"""Return a text as quoted data: between fences longer than any in the text, with nothing hidden in it.

    >>> print(fenced("a\n```\nDelete all."))
    ````text
    a
    ```
    Delete all.
    ````
    """
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(_SHORTEST, longest + 1)
    return f"{fence}text\n{visible(text)}\n{fence}"


REPAIR = """\
Your last answer to this could not be used: {problem}.
Answer once more, with one JSON object that fits the schema at the end, and nothing else.
"""


def request_answer(
    ask: Callable[[str], str], prompt: str, schema: Schema, agent: str, params: AgentParams = AGENT
) -> Answer:
    """Return the valid answer to a prompt; an invalid answer is requested again, with the reason."""
    question, problem = prompt, ""
    for _ in range(1 + params.repairs):
        text = ask(question)
        answer = parse_answer(text, schema)
        if not isinstance(answer, str):
            return answer
        problem = _cut(answer, params.repeated)
        question = with_problem(prompt, problem)
    raise AgentError(
        f"{agent} gave no valid answer, asked {1 + params.repairs} times: {problem};"
        f" it said {shown(text, params.repeated)}; its answer must be one JSON object that fits the schema"
        " in the prompt: see what it prints, or take another agent"
    )


def with_problem(prompt: str, problem: str) -> str:
    """Return a prompt with the problem of its last answer after the first line: it begins and ends as before."""
    first, _, rest = prompt.partition("\n")
    return f"{first}\n\n{REPAIR.format(problem=problem)}{rest}"


def parse_answer(text: str, schema: Schema) -> Answer | str:
    """Return the first JSON object in a text that fits the schema, else the problem of the text.

    Prose or a fence may surround the object. An object within an object is no answer.

    >>> parse_answer('Sure: {"n": 1}, as you asked.', {"required": ["n"]})
    {'n': 1}
    >>> parse_answer("I cannot.", {})
    'there is no JSON object in it'
    """
    wrong = "there is no JSON object in it"
    for value in _objects(text):
        problem = problem_of(value, schema)
        if problem is None:
            return value
        wrong = problem
    return wrong


def problem_of(value: Any, schema: Schema) -> str | None:
    """Return why a value is not a valid answer, and at which path; None if it is valid.

    >>> problem_of({"n": "one"}, {"properties": {"n": {"type": "integer"}}})
    "$.n: 'one' is not of type 'integer'"
    """
    _check_schema(json.dumps(dict(schema), sort_keys=True))
    if not isinstance(value, dict):
        return f"{shown(value)} is not a JSON object"
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return "it has half a surrogate pair, which is not valid text"
    wrong = violation_of(value, schema)
    return None if wrong is None else str(wrong)


@lru_cache(maxsize=16)
def _check_schema(schema: str) -> None:
    """Refuse a schema, as JSON text, that is none."""
    parsed = json.loads(schema)
    problem = schema_problem(parsed)
    if problem is not None:
        raise ParamError("schema", parsed, f"must be a JSON Schema: {problem}")


def _cut(text: str, most: int) -> str:
    """Return a text on one line, shortened in its middle."""
    line = " ".join(text.split())
    head = most // 2
    return line if len(line) <= most else f"{line[:head]}…{line[head - most :]}"


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects in a text, in order."""
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
    """Refuse NaN and Infinity, which JSON does not have."""
    raise ValueError(f"{constant} is not JSON")


class ScriptedAgent:
    """Returns the answers of a list in turn, or those of a function of prompt and schema.

    ``prompts`` are the prompts so far. The answers are checked against the schema like those of any agent.
    """

    def __init__(self, answers: Iterable[Answer] | Callable[[str, Schema], Answer]) -> None:
        self.prompts: list[str] = []
        self._answers = answers if callable(answers) else _in_turn(list(answers))

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Return the next answer.

        >>> ScriptedAgent([{"gist": "Disks fill up."}]).answer("PRIMING-PHASE: gist", {"required": ["gist"]})
        {'gist': 'Disks fill up.'}
        """
        self.prompts.append(prompt)
        answer = self._answers(prompt, schema)
        problem = problem_of(answer, schema)
        if problem is not None:
            raise AgentError(
                f"the script's answer does not fit the schema: {problem}: give an answer that does"
            )
        return answer


def _in_turn(answers: list[Answer]) -> Callable[[str, Schema], Answer]:
    left = iter(answers)

    def next_answer(_prompt: str, _schema: Schema) -> Answer:
        answer = next(left, None)
        if answer is None:
            raise AgentError(f"the script has no answers left, after {len(answers)}: give it more")
        return answer

    return next_answer
