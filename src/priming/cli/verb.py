"""Commands from functions: groups of options become single ones, and the answer is drawn or encoded."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from inspect import Parameter
from typing import Any, TypeVar, get_type_hints

import typer

from priming import encoding
from priming.cli import screen
from priming.cli.options import Place

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command answers: ``value`` for programs, ``parts`` for people, and its exit status."""

    value: Any
    parts: Iterable[screen.Part]
    status: int = 0


def verb(app: typer.Typer, name: str | None = None) -> Callable[[F], F]:
    """Register a function as a command. Its first parameter is the ``Place``, its result the ``Answer``.

    A parameter whose type is a dataclass of options stands for all of them; the options of the ``Place`` come
    last in the help. Options before the command count where none is given after it.
    """

    def register(function: F) -> F:
        place, *own = inspect.signature(function, eval_str=True).parameters.values()

        @functools.wraps(function)
        def run(context: typer.Context, **given: Any) -> None:
            asked = _gather(place, given).within(context.find_root().params)
            answer = function(asked, **{one.name: _gather(one, given) for one in own})
            give(asked, answer)

        _declare(run, [single for one in (*own, place) for single in _singles(one)])
        app.command(name)(run)
        return function

    return register


def _declare(run: Any, parameters: list[Parameter]) -> None:
    """Give ``run`` the signature that typer reads."""
    context = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)
    run.__signature__ = inspect.Signature([context, *parameters])
    run.__annotations__ = {one.name: one.annotation for one in (context, *parameters)}


def _singles(parameter: Parameter) -> list[Parameter]:
    """The parameter itself, or one for each field of its dataclass."""
    kind = parameter.annotation
    if not is_dataclass(kind):
        return [parameter.replace(kind=Parameter.KEYWORD_ONLY)]
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name])
        for one in fields(kind)
    ]


def _gather(parameter: Parameter, given: Mapping[str, Any]) -> Any:
    """The value of a parameter, put together again."""
    kind = parameter.annotation
    if not isinstance(kind, type) or not is_dataclass(kind):
        return given[parameter.name]
    return kind(**{one.name: given[one.name] for one in fields(kind)})


def give(place: Place, answer: Answer) -> None:
    """Print an answer, once."""
    if place.as_json:
        typer.echo(
            json.dumps(encoding.encode(answer.value), ensure_ascii=not screen.is_unicode(), allow_nan=False)
        )
    else:
        screen.draw(answer.parts)
    if answer.status:
        raise typer.Exit(answer.status)
