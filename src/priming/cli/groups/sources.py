"""Commands that bring memories in and take them out: import, watch and export."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from priming.cli import records
from priming.cli.command import FAILURE, Answer, command, group, respond
from priming.cli.options import StoreOptions
from priming.cli.output import DIM, KEY, OK, WARN, Part, Table, count, line, progress
from priming.cli.parse import complete_importers
from priming.errors import ParamError

if TYPE_CHECKING:
    from priming.transfer.importers import Report

_MOVED = 10
"""How many memories that changed, moved or are gone are named."""

(app,) = GROUPS = (group("Care"),)


@command(app, "import")
def import_(
    store: StoreOptions,
    source: Annotated[
        str | None,
        Argument(
            metavar="[FORMAT]",
            help="'priming' for an export, or a format such as 'git'; by default it is recognised",
            autocompletion=complete_importers,
        ),
    ] = None,
    path: Annotated[Path | None, Argument(metavar="PATH", help="File or folder")] = None,
    until: Annotated[
        str | None, Option("--until", metavar="REV", help="Of a git history: the last commit to read")
    ] = None,
    only: Annotated[
        str | None,
        Option(
            "--only",
            metavar="NAME",
            help="Of another memory's store: a user, project, collection or namespace",
        ),
    ] = None,
    prune: Annotated[
        bool, Option("--prune", help="Deprecate the memories of the path that are no longer in it")
    ] = False,
    strict: Annotated[bool, Option("--strict", help="Stop at the first item that cannot be read")] = False,
    later: Annotated[
        bool, Option("--later", help="Leave the vectors to later commands, a server or sleep")
    ] = False,
    formats: Annotated[bool, Option("--list", help="List the formats")] = False,
) -> Answer:
    """Import a file or folder, or follow what changed in it since. Exit status 1 if some of it was refused."""
    from priming.transfer import importers
    from priming.transfer.run import run

    if formats:
        installed = importers.formats().items()
        shapes = {importers.OWN: "an export of Priming"} | {name: form.shape for name, form in installed}
        return Answer(shapes, [Table(("format", "reads"), tuple(shapes.items()))])
    if source is None:
        raise ParamError("path", None, "must be a file or a folder: priming import PATH")
    name, path = (source, path) if path is not None else (None, Path(source))
    name = name or importers.recognised(path)
    with store.open_file() as memory, progress("importing") as step:
        options = {each: value for each, value in (("until", until), ("only", only)) if value is not None}
        if name == importers.OWN:
            for option, value in options.items():
                raise ParamError(option, value, "is no option of an export: leave it out")
            report = importers.Report(stored=memory.import_(path, later=later, progress=step))
        else:
            report = run(memory, name, path, step, later=later, prune=prune, strict=strict, **options)
    return Answer(report, import_lines(report), FAILURE if report.refused else 0)


def import_lines(report: Report) -> Iterator[Part]:
    """What an import stored and what it found changed, and what it skipped."""
    counts = {
        "new": report.stored,
        "changed": report.changed,
        "renamed": report.renamed,
        "already stored": report.duplicates,
        "echoes": report.echoes,
        "gone": report.gone - report.retired,
        "deprecated": report.retired,
        "refused": report.refused,
        "links": report.links,
        "links without a target": report.loose,
    }
    shown = [f"{number:,} {name}" for name, number in counts.items() if number or name == "new"]
    yield line(("imported", OK), f"  {', '.join(shown)}")
    for text in report.moved[:_MOVED]:
        yield line((text, DIM), indent=2)
    if (more := report.changed + report.renamed + report.gone - _MOVED) > 0:
        yield line((f"… and {more:,} more: --json lists a hundred", DIM), indent=2)
    if report.gone > report.retired:
        yield line(("→ --prune deprecates what is gone", DIM), indent=2)
    for reason in report.skipped:
        yield line((f"skipped: {reason}", WARN), indent=2)


@command(app)
def export(
    store: StoreOptions,
    path: Annotated[Path, Argument(metavar="PATH", help="File to write: JSON Lines")],
    salvage: Annotated[
        bool, Option("--salvage", help="Leave out damaged rows, which are listed, and the log")
    ] = False,
) -> Answer:
    """Write the namespace to a file, without loss and with its log."""
    with store.open_file() as memory, progress("exporting") as step:
        number = memory.export(path, salvage=salvage, progress=step)
        damaged = (
            [finding for finding in memory.validate() if finding.rule == "damaged-row"] if salvage else []
        )
        reason = None if number or salvage else memory.status().reason
    text = f"  {count(number, 'memory', 'memories')} to {path}"
    value = {"path": str(path), "memories": number, "reason": reason}
    if salvage:
        value["damaged"] = [finding.subject for finding in damaged]
    losses = (line((f"damaged: {finding.subject}", WARN), indent=2) for finding in damaged)
    return Answer(value, [line(("exported", OK), text), *losses, *records.reason(reason)])


@command(app)
def watch(
    store: StoreOptions,
    paths: Annotated[list[Path], Argument(metavar="PATH…", help="Files, folders of notes, repositories")],
    form: Annotated[
        str | None,
        Option(
            "--format",
            metavar="FORMAT",
            help="Their format, if their shape does not tell",
            autocompletion=complete_importers,
        ),
    ] = None,
) -> Answer:
    """Keep sources in step as they change, until you interrupt it: what is gone from them is deprecated."""
    from priming.transfer.importers import find, recognised
    from priming.transfer.watching import Follower

    for path in paths:
        find(form or recognised(path))
    follower = Follower(paths, form)
    for _ in follower.changes(Event()):
        with store.open_file() as memory:
            for path, report in follower.follow(memory):
                respond(store, Answer({"path": str(path), "report": report}, _followed(path, report)))
    return Answer({"paths": list(map(str, paths))}, [])


def _followed(path: Path, report: Report | ParamError) -> Iterator[Part]:
    yield line((str(path), KEY))
    if isinstance(report, ParamError):
        yield line((f"skipped: {report}", WARN), indent=2)
    else:
        yield from import_lines(report)
