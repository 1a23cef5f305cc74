"""The command that shows the settings, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from priming.cli.options import Place
from priming.cli.screen import Part, Table, line
from priming.cli.verb import Answer, verb

if TYPE_CHECKING:
    from priming.config.settings import Found

app = typer.Typer()


@verb(app)
def config(
    place: Place,
    check: Annotated[
        bool, Option("--check", help="Only look for what is wrong; exit status 1 if something is")
    ] = False,
) -> Answer:
    """Show every setting: its value, where it comes from, and what it stands before."""
    from priming.config.settings import load, read

    options, project = place.options(), not place.everywhere
    if check:
        wrong = read(options, project=project)[1]
        said = [line((one, "yellow")) for one in wrong] or [line(("nothing is wrong", "green"))]
        return Answer(wrong, said, status=1 if wrong else 0)
    found = [_shown(one) for one in load(options, project=project, servers=True).found.values()]
    return Answer(found, _drawn(found))


def _shown(one: Found) -> Found:
    """A secret is not shown, only that there is one."""
    from priming.config.settings import SECRET

    hidden = one.name == SECRET and one.value is not None
    return replace(one, value="set") if hidden else one


def _drawn(found: Sequence[Found]) -> Iterator[Part]:
    """A table; of the many limits of the server only those that somebody chose."""
    from priming.config.settings import DEFAULT, TABLE

    own = {one.name for one in TABLE}
    rows = tuple(
        (one.name, _said(one.value), one.source, _before(one))
        for one in found
        if one.name in own or one.source != DEFAULT
    )
    yield Table(("setting", "value", "from", "instead of"), rows)
    if len(rows) < len(found):
        more = len(found) - len(rows)
        yield line((f"{more} limits of the server are the default: --json lists them too", "dim"))


def _before(one: Found) -> str:
    return ", ".join(f"{_said(value)} ({source})" for source, value in one.shadows)


def _said(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
