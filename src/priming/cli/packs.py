"""Commands for packs of behaviours: ``priming pack …``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from priming.cli.completing import one_of
from priming.cli.options import Place
from priming.cli.verb import Answer, verb
from priming.words import TRUST

app = typer.Typer()

File = Annotated[Path, Argument(metavar="FILE", help="The file of the pack")]


@verb(app)
def create(
    place: Place,
    file: File,
    name: Annotated[str, Option("--name", metavar="NAME", help="What the pack is called, e.g. go-style")],
    version: Annotated[str, Option("--version", metavar="VERSION", help="Its version, e.g. 2.1")] = "1",
    description: Annotated[str, Option("--description", metavar="TEXT", help="One line about it")] = "",
    tag: Annotated[
        list[str] | None, Option("--tag", metavar="TAG", help="Only behaviours with this tag (repeatable)")
    ] = None,
    key: Annotated[
        list[str] | None, Option("--key", metavar="KEY", help="Only this behaviour (repeatable)")
    ] = None,
) -> Answer:
    """Write active behaviours to a new file that can be handed on."""
    from priming.cli import render_curating

    with place.memory() as memory:
        done = memory.pack_create(
            file, name=name, version=version, description=description, tags=tag or None, keys=key or None
        )
    return Answer(done, render_curating.pack_written(done, str(file)))


@verb(app)
def install(
    place: Place,
    file: File,
    trust: Annotated[
        str,
        Option(
            "--trust",
            metavar="NAME",
            help=f"How far its author is trusted: {', '.join(TRUST)}",
            autocompletion=one_of(TRUST),
        ),
    ] = "tool",
) -> Answer:
    """Take in the behaviours of a pack. Another version of it that is there is replaced."""
    from priming.cli import render_curating

    with place.memory() as memory:
        done = memory.pack_install(file, trust=trust)
    return Answer(done, render_curating.pack_installed(done))


@verb(app, "list")
def list_(place: Place) -> Answer:
    """List the packs that are installed."""
    from priming.cli import render_curating

    with place.memory() as memory:
        found = memory.pack_list()
    return Answer(found, render_curating.packs(found))


@verb(app)
def remove(
    place: Place, name: Annotated[str, Argument(metavar="NAME", help="The pack's name, without version")]
) -> Answer:
    """Take all behaviours of a pack out of recall. An undo brings them back."""
    from priming.cli import render

    with place.memory() as memory:
        done = memory.pack_remove(name)
    return Answer(done, render.operation(done))
