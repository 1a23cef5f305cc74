"""Commands for the memory as a whole: moving it in and out, counting and checking it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from priming.cli.completing import importer_names
from priming.cli.failures import FAILURE
from priming.cli.options import Place
from priming.cli.screen import line, progress
from priming.cli.verb import Answer, verb
from priming.cli.writing import agreed
from priming.errors import ParamError

app = typer.Typer()


@verb(app)
def status(place: Place) -> Answer:
    """Show which Priming this is, where it works, and how much there is."""
    from priming.cli import render

    with place.memory() as memory:
        found = memory.status()
    return Answer(found, render.status(found))


@verb(app)
def stats(place: Place) -> Answer:
    """Show what the namespace holds."""
    from priming.cli import render

    with place.memory() as memory:
        found = memory.stats()
    return Answer(found, render.stats(found))


@verb(app)
def validate(place: Place) -> Answer:
    """Look for what is wrong. Exit status 1 if anything is."""
    from priming.cli import render

    with place.memory() as memory:
        found = memory.validate()
    return Answer(found, render.findings(found), FAILURE if found else 0)


@verb(app)
def reembed(place: Place) -> Answer:
    """Make the vectors that the embedder in use lacks. Interrupted, it goes on where it stopped."""
    with place.memory() as memory, progress("embedding") as step:
        made = memory.reembed(progress=step)
        generation = memory.status().generation
    counted = "1 text" if made == 1 else f"{made:,} texts"
    said = f"  {counted} by {generation}" if made else f"  nothing: every text has a vector of {generation}"
    return Answer({"vectors": made, "generation": generation}, [line(("embedded", "green"), said)])


@verb(app, "import")
def import_(
    place: Place,
    source: Annotated[
        str,
        Argument(
            metavar="SOURCE",
            help="What to read: 'priming' for an export, or an importer such as 'git'",
            autocompletion=importer_names,
        ),
    ],
    path: Annotated[Path, Argument(metavar="PATH", help="The file or folder")],
) -> Answer:
    """Import memories. Exit status 1 if some were refused; run again, it goes on where it stopped."""
    from priming.cli import render
    from priming.transfer import importers

    with place.file() as memory, progress("importing") as step:
        if source == importers.OWN:
            done = importers.Report(stored=memory.import_(path, progress=step))
        else:
            done = importers.run(memory, source, path, step)
    return Answer(done, render.imported(done), FAILURE if done.refused else 0)


@verb(app)
def export(
    place: Place, path: Annotated[Path, Argument(metavar="PATH", help="The file to write: JSON Lines")]
) -> Answer:
    """Write the namespace to a file. Nothing is lost: the log is in it."""
    with place.file() as memory, progress("exporting") as step:
        number = memory.export(path, progress=step)
    counted = "1 memory" if number == 1 else f"{number:,} memories"
    return Answer(
        {"path": str(path), "memories": number}, [line(("exported", "green"), f"  {counted} to {path}")]
    )


@verb(app)
def backup(
    place: Place,
    path: Annotated[
        Path | None,
        Argument(metavar="[PATH]", help="The file to write; if not given, one in the folder of backups"),
    ] = None,
) -> Answer:
    """Copy the whole store, all of its namespaces, to a file."""
    from priming.cli import render

    with place.file() as memory:
        written = memory.backup(path)
    return Answer({"path": str(written)}, render.backed_up(written))


@verb(app, "restore-backup")
def restore_backup(
    place: Place,
    path: Annotated[Path, Argument(metavar="PATH", help="A file that 'priming backup' wrote")],
    yes: Annotated[bool, Option("--yes", help="Do not ask")] = False,
) -> Answer:
    """Put a backup in the place of the whole store. What is there is backed up first."""
    from priming.cli import render

    if place.as_json and not yes:
        raise ParamError("--yes", False, "must be given with --json: the whole store is replaced")
    with place.file() as memory:
        if not yes and not agreed(f"Replace the whole store, all of its namespaces, by {path}? [y/N] "):
            typer.echo("nothing was replaced", err=True)
            raise typer.Exit(FAILURE)
        saved = memory.restore_backup(path)
    return Answer({"path": str(path), "backup": str(saved)}, render.put_back(path, saved))


@verb(app)
def profiles(_place: Place) -> Answer:
    """List the profiles: complete choices of laws and parameters."""
    from priming.cli import render
    from priming.profiles import ALL

    return Answer(list(ALL.values()), render.profiles(ALL.values()))
