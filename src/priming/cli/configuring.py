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
    from priming.config.settings import Resolved

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
        lines = [line((problem, "yellow")) for problem in wrong] or [line(("nothing is wrong", "green"))]
        return Answer(wrong, lines, status=1 if wrong else 0)
    settings = [_shown(setting) for setting in load(options, project=project, servers=True).resolved.values()]
    return Answer(settings, _drawn(settings))


def _shown(setting: Resolved) -> Resolved:
    """A secret is hidden: only whether it is set is shown."""
    from priming.config.settings import SECRET

    hidden = setting.name == SECRET and setting.value is not None
    return replace(setting, value="set") if hidden else setting


def _drawn(settings: Sequence[Resolved]) -> Iterator[Part]:
    """A table; of the many limits of the server only those that somebody chose."""
    from priming.config.settings import DEFAULT, TABLE

    own = {setting.name for setting in TABLE}
    rows = tuple(
        (setting.name, _text(setting.value), setting.source, _before(setting))
        for setting in settings
        if setting.name in own or setting.source != DEFAULT
    )
    yield Table(("setting", "value", "from", "instead of"), rows)
    if len(rows) < len(settings):
        more = len(settings) - len(rows)
        yield line((f"{more} limits of the server are the default: --json lists them too", "dim"))


def _before(setting: Resolved) -> str:
    return ", ".join(f"{_text(value)} ({source})" for source, value in setting.shadows)


def _text(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
