"""Requests and answers as JSON schema: what callers may send, read from the signatures of the operations.

The only file that speaks pydantic. ``arguments`` turns a request into the arguments of an operation's function, and
all that is wrong with it into one ``ParamError``.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from inspect import Parameter
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    create_model,
)

from priming.config.words import FORMATS, KINDS, OUTCOMES, RECALLED, RULES, STAGES, STATUSES, TRUST
from priming.core.arguments.measured import check_json
from priming.errors import MOST_VIOLATIONS, ParamError, shown, violation
from priming.operations.local_socket import MESSAGE_VALUES
from priming.operations.op import Op
from priming.operations.table import named
from priming.types import Cue

NOT_SENT = ("self", "memory", "progress", "agent", "beside")
"""What functions take that no request carries."""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": KINDS,
    "kinds": KINDS,
    "outcome": OUTCOMES,
    "trust": TRUST,
    "status": STATUSES,
    "rule": RULES,
    "stages": STAGES,
    "format": FORMATS,
    "tier": ("conscious", "automatic"),
}
"""Arguments that are one of a few words, or a list of them."""

OWN_CHOICES: Mapping[tuple[str, str], tuple[str, ...]] = {("recall", "kinds"): RECALLED}
"""The words of an operation's argument, where they are not those of other operations."""

MEANINGS: Mapping[str, str] = {
    "content": "what to remember, in full sentences that can be understood on their own",
    "heading": "a title to find it under",
    "kind": "what it is: an episode (what happened), a fact, a procedure, a failure, a pattern …",
    "key": "a memory's key or id",
    "session": "the conversation that it belongs to",
    "speaker": "who said it",
    "occurred_at": "when it happened, ISO 8601 with a time zone",
    "tags": "words to file it under",
    "metadata": "anything else to keep with it",
    "when": 'where it applies, such as {"language": "go"}',
    "importance": "how much it matters, from 0 to 1",
    "outcome": "how it went",
    "source": "where it comes from",
    "trust": "how far its source is trusted",
    "files": "the paths of the files that it touches",
    "limit": "maximum number",
    "echo_guard": "whether text that a recall has just returned counts as an echo and is not stored",
    "cue": "the context of the question: file, language, task, environment, project, speaker, and others by name",
    "reason": "why, for the log",
    "relation": "the name of the relation, such as similar-to, requires, overrides or one of your own",
    "sign": "1: links of this relation bring activation, -1: they take it away; by default its name decides",
    "target": "key of the memory where the link ends",
    "weight": "strength from 0 to 1",
    "valid_at": "answer with what was true then, ISO 8601 with a time zone",
    "known_at": "answer with what was known then, ISO 8601 with a time zone",
    "since": "only from this time on, ISO 8601 with a time zone",
    "until": "only before this time, ISO 8601 with a time zone",
    "right": "what to do, as a rule that can be followed",
    "wrong": "what was done instead",
    "priority": "from 0 to 10: rules of higher priority are shown first",
    "operation_id": "the id of an operation of the log",
    "tokens": "the budget of what is shown, in tokens",
}
"""What arguments mean where the function's docstring does not say it."""

_OF_LINKS = {"source": "key of the memory where the link starts"}
_PORTION = 1_000
"""Items of a list that are validated at once."""
_MEMBERS = 100
"""Most members of a request, and of an object in a list."""
_ARGS = re.compile(r"^ *Args:\n(.*?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
_ARG = re.compile(r"^ +(\w+): (.+)$")


def arguments(op: Op, request: Any, *, forgiving: bool = False) -> dict[str, Any]:
    """The arguments of the operation's function from a request, or one ``ParamError`` for all that is wrong with it.

    A list may be sent as an array, as JSON text, or as words between commas; null means the default. ``forgiving``
    accepts other names for arguments (``Op.other_names``), and a cue's parts beside the other arguments.
    """
    if not isinstance(request, Mapping):
        raise ParamError("request", request, "must be a JSON object of arguments")
    values, hints = _validated(op, _renamed(op, request) if forgiving else request), _signature(op)
    return {name: value for name, value in values.items() if value is not None or _allows_none(hints[name])}


def _validated(op: Op, sent: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the arguments; long lists are validated in portions, as a violation takes a kilobyte."""
    _check_members("request", sent)
    for name, value in sent.items():
        for number, item in enumerate(value if isinstance(value, list) else ()):
            _check_members(f"{name}.{number}", item)
    lists = {name: value for name, value in sent.items() if name in _lists(op) and isinstance(value, list)}
    long = {name: value for name, value in lists.items() if len(value) > _PORTION}
    problems: list[Any] = []
    more = 0
    values: dict[str, Any] = {}
    try:
        parsed = _model(op.name).model_validate({**sent, **{name: [] for name in long}})
        values = {name: _plain(getattr(parsed, name)) for name in parsed.model_fields_set}
    except ValidationError as error:
        problems = error.errors(include_url=False)
    for name in long:
        for start in range(0, len(long[name]), _PORTION):
            try:
                portion = _adapter(op, name).validate_python(long[name][start : start + _PORTION])
                values.setdefault(name, []).extend([] if problems else _plain(portion))
            except ValidationError as error:
                if len(problems) >= MOST_VIOLATIONS:
                    more += error.error_count()
                else:
                    for problem in error.errors(include_url=False):
                        index, *inner = problem["loc"]
                        problems.append({**problem, "loc": (name, int(index) + start, *inner)})
    if problems:
        raise ParamError.of([_rule(op, problem) for problem in problems], more)
    return values


@cache
def _lists(op: Op) -> set[str]:
    """The arguments that are lists."""
    shapes = ((name, get_args(_shape(op.name, name, hint))) for name, hint in _signature(op).items())
    return {name for name, parts in shapes if parts and get_origin(parts[0]) is list}


def _check_members(name: str, value: Any) -> None:
    """Refuse an object of more members than any has: each would be a violation."""
    if isinstance(value, Mapping) and len(value) > _MEMBERS:
        rule = f"has {len(value):,} members, at most {_MEMBERS}: put what is your own into metadata"
        raise ParamError(name, value, rule)


def argument_names(op: Op) -> tuple[str, ...]:
    """The names of the arguments of an operation."""
    return tuple(_signature(op))


@cache
def request_schema(op: Op, *, own: bool = True) -> dict[str, Any]:
    """The JSON schema of an operation's request; without ``own``, as others than the user may send it."""
    schema = _model(op.name).model_json_schema()
    if own or not op.own:
        return schema
    properties = {name: part for name, part in schema["properties"].items() if name not in op.own}
    return {**schema, "properties": properties}


@cache
def answer_schema(name: str) -> dict[str, Any]:
    """The JSON schema of an operation's answer, as ``priming.serialization.encode`` writes it."""
    return TypeAdapter(named(name).answer).json_schema(mode="serialization")


def refuse_own(op: Op, request: Any) -> None:
    """Raise ``ParamError`` for an argument that only the user's own processes may send (``Op.own``)."""
    if isinstance(request, Mapping):
        for name in op.own:
            if request.get(name) is not None:
                rule = "belongs to the server's machine: only processes of its own user may name it; leave it out"
                raise ParamError(name, request[name], rule)


def summary(op: Op) -> str:
    """What an operation is for: the first paragraph of its docstring, in one line."""
    return " ".join((inspect.getdoc(op.function) or "").split("\n\n")[0].split())


def details(op: Op) -> str:
    """The rest of its docstring, without arguments, errors and examples, which the document has elsewhere."""
    paragraphs = (inspect.getdoc(op.function) or "").split("\n\n")[1:]
    return "\n\n".join(part for part in paragraphs if not part.startswith(("Args:", "Raises:", ">>>")))


class CueShape(BaseModel):
    """What recall starts from: a text, a context, or both. Of a list of values any will do."""

    model_config = ConfigDict(extra="allow", title="Cue")

    text: str | None = None
    file: str | list[str] | None = None
    language: str | list[str] | None = None
    task: str | list[str] | None = None
    environment: str | list[str] | None = None
    project: str | list[str] | None = None
    speaker: str | list[str] | None = None
    at: AwareDatetime | None = None


def _plain(value: Any) -> Any:
    """What the library takes: models become mappings and cues."""
    if isinstance(value, CueShape):
        return Cue(**{**value.model_dump(exclude_unset=True), **(value.model_extra or {})})
    if isinstance(value, BaseModel):
        fields = {name: _plain(getattr(value, name)) for name in value.model_fields_set}
        return {name: field for name, field in fields.items() if field is not None}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


@cache
def _signature(op: Op) -> dict[str, Any]:
    """The type of each argument that a request may carry."""
    hints = get_type_hints(op.function)
    carried: dict[str, Any] = {}
    for name, parameter in inspect.signature(op.function).parameters.items():
        if name in NOT_SENT:
            continue
        if parameter.kind is Parameter.VAR_KEYWORD:  # what supersede changes: arguments of remember
            changes = _signature(named("remember"))
            carried |= {field: changes[field] for field in changes if field not in (*carried, "kind", "key")}
        else:
            carried[name] = hints[name]
    return carried


@cache
def _model(name: str) -> type[BaseModel]:
    op = named(name)
    parameters = inspect.signature(op.function).parameters
    meanings = {**MEANINGS, **(_OF_LINKS if "target" in parameters else {}), **_documented(op)}
    fields: dict[str, Any] = {}
    for argument, hint in _signature(op).items():
        required = argument in parameters and parameters[argument].default is Parameter.empty
        shape = _shape(name, argument, hint)
        default = ... if required else _default(parameters, argument)
        described = Field(default, description=meanings.get(argument))
        fields[argument] = (shape if required else shape | None, described)
    title = "".join(part.title() for part in name.split("_"))
    return create_model(title, __config__=ConfigDict(extra="forbid"), __doc__=None, **fields)


@cache
def _adapter(op: Op, argument: str) -> TypeAdapter[Any]:
    return TypeAdapter(_shape(op.name, argument, _signature(op)[argument]))


def _default(parameters: Mapping[str, Parameter], argument: str) -> Any:
    """The default in JSON; null if the argument belongs to another operation."""
    default = parameters[argument].default if argument in parameters else None
    return list(default) if isinstance(default, tuple) else default


def _documented(op: Op) -> dict[str, str]:
    """What the docstring says of each argument."""
    section = _ARGS.search(inspect.getdoc(op.function) or "")
    meanings: dict[str, str] = {}
    for line in section[1].splitlines() if section else ():
        start = _ARG.match(line)
        if start and len(line) - len(line.lstrip()) <= 4:
            meanings[start[1]] = start[2]
        elif meanings:
            meanings[list(meanings)[-1]] += f" {line.strip()}"
    return {name: text.replace("``", "") for name, text in meanings.items()}


def _allows_none(hint: Any) -> bool:
    return get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)


def _shape(op: str, name: str, hint: Any) -> Any:
    """How an argument of a type is sent."""
    if _allows_none(hint):
        (hint,) = (option for option in get_args(hint) if option is not NoneType)
    if hint is Cue:
        return Annotated[CueShape, BeforeValidator(_object)]
    if hint is datetime:
        return Annotated[AwareDatetime, BeforeValidator(_time)]
    if get_origin(hint) is None:
        return _word(name) if hint is str else hint
    if issubclass(get_origin(hint), Mapping):
        return Annotated[dict[str, Any], BeforeValidator(_object)]
    return _listed(name, get_args(hint)[0], op)


def _word(name: str) -> Any:
    """A text, or one of a few words: the library checks which, and says so."""
    if name not in CHOICES:
        return str
    return Annotated[str, WithJsonSchema({"type": "string", "enum": list(CHOICES[name])})]


def _listed(name: str, inner: Any, op: str) -> Any:
    """A list: an array, JSON text of one, or words between commas."""
    if inner is str:
        choices = OWN_CHOICES.get((op, name), CHOICES.get(name))
        words: Any = {"type": "string", **({"enum": list(choices)} if choices else {})}
        schema = {"anyOf": [{"type": "array", "items": words}, {"type": "string"}]}
        return Annotated[list[str], BeforeValidator(_list), WithJsonSchema(schema)]
    item = _model({"remember_many": "remember", "link_many": "link"}[op])
    return Annotated[list[item], BeforeValidator(_array)]  # type: ignore[valid-type]


def _list(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return _array(value)
    return [part.strip() for part in value.split(",") if part.strip()]


def _array(value: Any) -> Any:
    return _json(value, "[")


def _object(value: Any) -> Any:
    return _json(value, "{")


def _json(value: Any, start: str) -> Any:
    """JSON text parsed; anything else unchanged."""
    if not isinstance(value, str) or not value.lstrip().startswith(start):
        return value
    check_json("request", value.encode("utf-8", "replace"), MESSAGE_VALUES)
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _time(value: Any) -> Any:
    """A time is sent as text; a number would be taken for seconds."""
    if value is not None and not isinstance(value, str):
        raise ValueError("must be ISO 8601 text with a time zone, such as 2026-03-01T09:30:00Z")
    return value


def _renamed(op: Op, request: Mapping[str, Any]) -> dict[str, Any]:
    """A request with its arguments under their own names; two names of one argument must have the same value."""
    own_names = _signature(op)
    renamed = {name: value for name, value in request.items() if name in own_names}
    for name, value in request.items():
        if name not in own_names:
            own = op.other_names.get(name, name)
            if value is not None and renamed.get(own, value) not in (None, value):
                rule = f"contradicts {own} = {shown(renamed[own])}, which is the same: give one of the two"
                raise ParamError(name, value, rule)
            renamed[own] = renamed.get(own) if value is None else value
    if "cue" not in own_names or isinstance(renamed.get("cue", {}), str):
        return renamed
    context = {name: renamed.pop(name) for name in _CUE if name in renamed and name not in own_names}
    return {**renamed, "cue": {**context, **(renamed.get("cue") or {})}} if context else renamed


_CUE = ("text", "file", "language", "task", "environment", "project", "speaker")


_RULES: Mapping[str, str] = {
    "missing": "must be given",
    "timezone_aware": "must carry a time zone, such as 2026-03-01T09:30:00Z",
    "string_type": "must be a text",
    "model_type": 'must be an object, in a cue for instance {"text": "…", "file": "…"}',
    "dict_type": "must be an object",
}


def _rule(op: Op, error: Any) -> str:
    """One thing that is wrong with a request, in words."""
    name = ".".join(str(part) for part in error["loc"]) or "request"
    if error["type"] == "extra_forbidden":
        rule = f"is not an argument: {op.name} takes {', '.join(_signature(op)) or 'none'}"
        return violation(name, error["input"], rule)
    meaning = {**MEANINGS, **_documented(op)}.get(name)
    if error["type"] == "missing" and meaning:
        return violation(name, None, f"{_RULES['missing']}: {meaning}")
    rule = _RULES.get(error["type"]) or re.sub(r"^Value error, |^Input ", "", error["msg"]).replace(
        "should", "must"
    )
    return violation(name, None if error["type"] == "missing" else error["input"], rule)
