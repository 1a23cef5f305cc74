"""Commands that are their verbs: what is typed becomes the arguments, and the answer is shown."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.models import ArgumentInfo

from priming.cli import options, parse, records
from priming.cli.command import Answer, register_lazily
from priming.cli.output import Part, Table, line, progress
from priming.errors import NotFound
from priming.serialization import encode
from priming.text.quotation import json_text
from priming.verbs.calls import KEYS, LISTS
from priming.verbs.op import CHOICES, MEANINGS, Argument, Op, declaration
from priming.verbs.rows import named

Show = Callable[..., Iterable[Part] | Answer]
Send = Callable[..., Mapping[str, Any]]

SHOWN: Mapping[str, Show] = {
    "Operation": records.operation,
    "list[Operation]": records.operations,
    "MemoryRecord": records.memory,
    "Version": records.memory,
    "list[Link]": records.links,
    "list[Finding]": records.findings_lines,
}
"""How answers of a type are shown."""
REQUIRED: Mapping[str, Any] = {"key": options.Key, "source": options.Source, "target": options.Target}
OPTIONS: Mapping[str, Any] = {
    "kinds": options.Kinds,
    "relation": options.Relation,
    "since": options.Since,
    "valid_at": options.ValidThen,
    "known_at": options.KnownAt,
    "limit": options.Limit,
    "session": options.Session,
    "tokens": options.Tokens,
    "reason": options.Reason,
    "dry_run": options.DryRun,
    "explain": options.Explain,
    "cue": options.ContextOptions,
    "when": options.When,
}
"""The arguments that mean the same in every command; the others are made from what their functions declare."""
_NOT_TYPED = ("progress", "agent", "beside", "profile")
_TEXTS = ("content", "text", "task", "question", "objective", "query", "answer")
"""Arguments that may be read from stdin."""
_METAVARS = {
    "session": "NAME",
    "speaker": "NAME",
    "kind": "KIND",
    "key": "KEY",
    "by": "KEY",
    "tags": "TAG",
    **dict.fromkeys(LISTS, "KEY"),
    "files": "PATH",
    "metadata": "JSON",
    "version": "VERSION",
}
_PLACES = {"int": (int, "N"), "float": (float, "X"), "datetime": (str, "TIME"), "Path": (Path, "PATH")}


def plain(
    app: typer.Typer,
    verb: str,
    show: Show | None = None,
    *,
    send: Send | None = None,
    work: Callable[..., Any] | None = None,
    name: str | None = None,
    help: str | None = None,
    hidden: bool = False,
    by_name: bool = False,
    **changes: Any,
) -> None:
    """Register the command of a verb, from its signature and docstring.

    Args:
        app: the group of commands that it joins.
        verb: the name of a row of the table.
        show: the lines of an answer, or an answer in another shape; its keyword arguments are options of the command.
            None: by the answer's type.
        send: arguments made of the others, which are passed to it, and of options, which are its keyword arguments.
        work: what answers in place of the verb of the open memory: it is passed the options of the store, the
            arguments by name, and options, which are its keyword arguments.
        name: what the command is called, if not as the verb.
        help: its help, if not the first paragraph of the docstring.
        hidden: whether the help of all commands leaves it out.
        by_name: whether all arguments are typed as options, and lists as JSON.
        changes: options by the arguments that they are for: an option of typer, or another help text; False: none.

    """
    op = named(verb)

    def run(store: options.StoreOptions, **values: Any) -> Answer:
        arguments = _arguments(op)
        read = {each: _read(each, arguments[each], values[each]) for each in values if each in arguments}
        sent = {each: value for each, value in read.items() if value is not None}
        sent |= {} if send is None else send(sent, **{each: values[each] for each in _options_of(send)})
        if work is None:
            answer = _answer(op, store, read, sent)
        else:
            answer = work(store, sent, **{each: values[each] for each in _options_of(work)})
        shown = show or SHOWN.get(op.answers, _fields)
        chosen = {**values, **read}
        lines = shown(answer, **{each: chosen[each] for each in _options_of(show)})
        return lines if isinstance(lines, Answer) else Answer(answer, lines)

    def parameters() -> list[Parameter]:
        declared = declaration(op.method)
        run.__doc__ = help or declared.summary.replace("``", "")
        typed = {
            each: argument
            for each, argument in _arguments(op).items()
            if each not in _NOT_TYPED and changes.get(each) is not False
        }
        own = {**_options_of(show), **_options_of(send), **_options_of(work)}
        typed |= {each: Argument("bool", repr(own[each]), False) for each in own if each not in typed}
        meanings = {**MEANINGS, **declared.meanings}
        return [
            Parameter("store", Parameter.KEYWORD_ONLY, annotation=options.StoreOptions),
            *(
                _parameter(each, argument, changes.get(each), meanings, by_name=by_name)
                for each, argument in typed.items()
            ),
        ]

    register_lazily(app, name or op.command, run, parameters, hidden=hidden)


def _with_place(store: options.StoreOptions, error: NotFound, read: Mapping[str, Any]) -> NotFound:
    """Return the error, with a hint if the memories that were named are in the store of all projects."""
    values = [read[name] for name in (*KEYS, *LISTS) if read.get(name)]
    keys = [key for value in values for key in ([value] if isinstance(value, str) else value)]
    other = store.open_global() if keys else None
    if other is None:
        return error
    with other:
        try:
            for key in keys:
                other.get(key)
        except NotFound:
            return error
    return NotFound(f"{error}; it is in the store of all projects: add --global")


def _answer(op: Op, store: options.StoreOptions, read: Mapping[str, Any], sent: dict[str, Any]) -> Any:
    """Return the answer of the verb of the open memory."""
    arguments = _arguments(op)
    first = [sent.pop(each) for each in op.takes if arguments[each].is_required]
    with store.open() as memory, progress(op.name) if op.long else nullcontext() as step:
        sent |= {"progress": step} if op.long else {}
        try:
            return getattr(memory, op.name)(*first, **sent)
        except NotFound as error:
            raise _with_place(store, error, read) from None


def _arguments(op: Op) -> Mapping[str, Argument]:
    """Return the arguments of a verb; of one by which a memory changes also those of ``remember`` that may change."""
    declared = declaration(op.method)
    if not declared.is_open:
        return declared.arguments
    changed = declaration(named("remember").method).arguments
    fixed = (*declared.arguments, "kind", "key", "profile", "echo_guard")
    return {
        **declared.arguments,
        **{each: replace(changed[each], written="None") for each in changed if each not in fixed},
    }


def _options_of(function: Callable[..., Any] | None) -> dict[str, Any]:
    """Return the options of a command that its ``show`` or ``send`` takes and their defaults; without one, false."""
    parameters = inspect.signature(function).parameters.values() if function else ()
    return {
        each.name: False if each.default is Parameter.empty else each.default
        for each in parameters
        if each.kind is Parameter.KEYWORD_ONLY
    }


def _parameter(
    name: str, argument: Argument, change: Any, meanings: Mapping[str, str], *, by_name: bool
) -> Parameter:
    """Return typer's parameter for an argument; ``change`` is another help text for it, or an option of its own."""
    usual = REQUIRED if argument.is_required and name in REQUIRED else OPTIONS
    kind = usual.get(name) if change is None else change
    if kind is None or isinstance(kind, str):
        meaning = kind or _meaning(name, argument, meanings)
        kind = _option(name, argument, meaning[0].upper() + meaning[1:], by_name=by_name)
    in_place = isinstance(getattr(kind, "__metadata__", [None])[0], ArgumentInfo)
    is_required = (argument.is_required or in_place) and type(None) not in get_args(kind.__origin__)
    default = Parameter.empty if is_required else None if argument.default == () else argument.default
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def _meaning(name: str, argument: Argument, meanings: Mapping[str, str]) -> str:
    """Return what an argument means to who types it: with the words that there are, and the forms of a time."""
    meaning = meanings.get(name, name.replace("_", " ")).rstrip(".")
    if "datetime" in argument.hint:
        return f"{meaning.removesuffix(', ISO 8601 with a time zone')}: {options.TIME}"
    words = CHOICES.get(name, ()) if "str" in argument.hint else ()
    return meaning if all(word in meaning for word in words) else f"{meaning}: {', '.join(words)}"


def _option(name: str, argument: Argument, help: str, *, by_name: bool) -> Any:
    """Return an option of typer, or what is typed without a name if it is required and may be passed by position."""
    flag, words = f"--{name.replace('_', '-')}", CHOICES.get(name)
    word = _METAVARS.get(name, "NAME" if name == "name" or words else "")
    if "bool" in argument.hint:
        return Annotated[bool, options.flag(f"{flag}/--no{flag[1:]}" if argument.default else flag, help)]
    is_list = "Sequence" in argument.hint or "Collection" in argument.hint
    if is_list and not by_name:
        texts = options.option(flag.removesuffix("s"), word or "TEXT", f"{help} (repeatable)", words)
        return Annotated[list[str] | None, texts]
    kind, metavar = next((place for hint, place in _PLACES.items() if hint in argument.hint), (str, "TEXT"))
    if argument.is_required and argument.is_positional and not by_name:
        return Annotated[kind, options.argument(name.upper(), help, words)]
    meaning, word = (f"{help}, as a JSON array", "JSON") if is_list else (help, word)
    named_by = options.option(flag, word or metavar, meaning, words)
    return Annotated[kind if argument.is_required else kind | None, named_by]


def _read(name: str, argument: Argument, value: Any) -> Any:
    """Return the value of an argument, of what was typed."""
    if value is None:
        return None
    if isinstance(value, options.ScopeOptions):
        cue = value.cue()
        return cue if cue.context() or cue.at else None
    if "datetime" in argument.hint:
        return parse.moment(name, value)
    if name == "filters":
        return parse.filters(value)
    if "Mapping" in argument.hint:
        return parse.predicates(name, value) if isinstance(value, list) else parse.json_object(name, value)
    if name in _TEXTS:
        return parse.text_or_stdin(value, name)
    if isinstance(value, str) and "Sequence" in argument.hint:
        return parse.json_texts(name, value)
    return None if value == [] else value


def _fields(answer: Any) -> Iterable[Part]:
    """Return the fields of an answer; of several a line each."""
    value = encode(answer)
    if isinstance(value, dict):
        rows = (
            (name.replace("_", " "), _text(each))
            for name, each in value.items()
            if each not in (None, [], {})
        )
        return [Table(("", ""), tuple(rows))]
    return [line(_text(each)) for each in value] if isinstance(value, list) else [line(_text(value))]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)
