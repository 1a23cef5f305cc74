"""Commands for behaviours: rules learned from corrections."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from priming.cli import parse
from priming.cli.completing import one_of
from priming.cli.options import Place, Scope
from priming.cli.verb import Answer, verb
from priming.words import RULES, TRUST

if TYPE_CHECKING:
    from priming.memory import Memory

GLOBAL = "global"
"""What hits of the global store are said to be from."""

app = typer.Typer()


@verb(app)
def learn(
    place: Place,
    right: Annotated[str, Option("--right", metavar="TEXT", help="What to do; - reads it from stdin")],
    scope: Scope,
    wrong: Annotated[str | None, Option("--wrong", metavar="TEXT", help="What was done instead")] = None,
    tag: Annotated[list[str] | None, Option("--tag", metavar="TAG", help="A tag (repeatable)")] = None,
    priority: Annotated[float, Option("--priority", metavar="X", help="In [0, 10]")] = 0.0,
    rule: Annotated[
        str | None,
        Option(
            "--rule",
            metavar="NAME",
            help=f"{', '.join(RULES)}; read from the words if not given",
            autocompletion=one_of(RULES),
        ),
    ] = None,
    source: Annotated[str | None, Option("--source", metavar="TEXT", help="Where it comes from")] = None,
    trust: Annotated[
        str,
        Option("--trust", metavar="NAME", help=", ".join(TRUST), autocompletion=one_of(TRUST)),
    ] = "user",
) -> Answer:
    """Learn a rule from a correction. The context says where it applies, everywhere without one."""
    from priming.cli import render_behaviors as render

    said = parse.text_of(right, "right")
    with place.memory() as memory:
        done = memory.learn(
            said,
            wrong=wrong,
            cue=scope.cue(),
            tags=tag or (),
            priority=priority,
            source=source,
            trust=trust,
            rule=rule,
        )
    return Answer(done, render.learned(done))


@verb(app)
def active(
    place: Place,
    text: Annotated[
        str | None, Argument(metavar="TEXT", help="What is being asked or done; - reads it from stdin")
    ] = None,
    tokens: Annotated[
        int | None, Option("--tokens", metavar="N", help="Pack into so many tokens, and show what is packed")
    ] = None,
    session: Annotated[
        str | None, Option("--session", metavar="NAME", help="The session to keep the recall under")
    ] = None,
    alone: Annotated[bool, Option("--no-global", help="Do not read the global store as well")] = False,
    *,
    scope: Scope,
) -> Answer:
    """Bring up the rules that apply in a context, those of the project and the global ones."""
    from priming.cli import render_behaviors as render

    cue = scope.cue(None if text is None else parse.text_of(text, "text"))
    given = {} if tokens is None else {"tokens": tokens}
    with ExitStack() as stack:
        memory = stack.enter_context(place.memory())
        beside: dict[str, Memory] = {}
        other = None if alone else place.beside()
        if other is not None:
            beside[GLOBAL] = stack.enter_context(other)
        found = memory.active(cue, session=session, beside=beside, **given)
    return Answer(found, render.active(found, packed=tokens is not None))
