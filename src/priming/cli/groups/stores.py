"""Commands on whole stores: what is brought in and taken out, verification, backups, vectors, and moving them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from priming.cli import records
from priming.cli.command import FAILURE, Answer, command, group, respond
from priming.cli.options import StoreOptions, Yes, argument, flag, option
from priming.cli.output import DIM, KEY, OK, WARN, Part, Table, ask, confirm, is_attended, line, progress
from priming.cli.parse import complete_embedders, complete_importers
from priming.cli.plain import plain
from priming.errors import ParamError
from priming.maintenance.adoption import content_of
from priming.text.quotation import count_text

if TYPE_CHECKING:
    from priming.maintenance.generations import EmbedderChange
    from priming.maintenance.migrate import MovedStore
    from priming.results import Verified
    from priming.transfer.importers import Report

app = group("Care")
GROUPS = (app,)
_MOVED = 10
"""How many memories that changed, moved or are gone are named."""


@command(app, "import")
def import_(
    store: StoreOptions,
    source: Annotated[
        str | None,
        argument(
            "[FORMAT]",
            "'priming' for an export, or a format such as 'git'; by default it is recognised",
            complete_importers,
        ),
    ] = None,
    path: Annotated[Path | None, argument("PATH", "File or folder")] = None,
    until: Annotated[
        str | None, option("--until", "REV", "Of a git history: the last commit to read")
    ] = None,
    only: Annotated[
        str | None,
        option("--only", "NAME", "Of another memory's store: a user, project, collection or namespace"),
    ] = None,
    prune: Annotated[
        bool, flag("--prune", "Deprecate the memories of the path that are no longer in it")
    ] = False,
    strict: Annotated[bool, flag("--strict", "Stop at the first item that cannot be read")] = False,
    later: Annotated[bool, flag("--later", "Leave the vectors to later commands, a server or sleep")] = False,
    formats: Annotated[bool, flag("--list", "List the formats")] = False,
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
    with store.open_file() as memory, progress("importing") as step:
        name = name or importers.recognised(path, importers.Stored(memory))
        options = {each: value for each, value in (("until", until), ("only", only)) if value is not None}
        if name == importers.OWN:
            for option, value in options.items():
                raise ParamError(option, value, "is no option of an export: leave it out")
            report = importers.Report(stored=memory.import_(path, later=later, progress=step))
        else:
            report = run(memory, name, path, step, later=later, prune=prune, strict=strict, **options)
    return Answer(report, import_lines(report), FAILURE if report.refused else 0)


def import_lines(report: Report) -> Iterator[Part]:
    """Yield what an import stored and what it found changed, and what it skipped."""
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
    if report.others:
        files = ", ".join(f"{number:,} {ending}" for ending, number in [*report.others.items()][:_MOVED])
        yield line((f"not read, of another kind: {files}", DIM), indent=2)


@command(app)
def export(
    store: StoreOptions,
    path: Annotated[Path, argument("PATH", "File to write: JSON Lines")],
    salvage: Annotated[
        bool, flag("--salvage", "Leave out damaged rows, which are listed, and the log")
    ] = False,
) -> Answer:
    """Write the namespace to a file, without loss and with its log."""
    with store.open_file() as memory, progress("exporting") as step:
        number = memory.export(path, salvage=salvage, progress=step)
        damaged = (
            [finding for finding in memory.validate() if finding.rule == "damaged-row"] if salvage else []
        )
        reason = None if number or salvage else memory.status().reason
    text = f"  {count_text(number, 'memory', 'memories')} to {path}"
    value = {"path": str(path), "memories": number, "reason": reason}
    if salvage:
        value["damaged"] = [finding.subject for finding in damaged]
    losses = (line((f"damaged: {finding.subject}", WARN), indent=2) for finding in damaged)
    return Answer(value, [line(("exported", OK), text), *losses, *records.reason(reason)])


@command(app)
def watch(
    store: StoreOptions,
    paths: Annotated[list[Path], argument("PATH…", "Files, folders of notes, repositories")],
    form: Annotated[
        str | None,
        option("--format", "FORMAT", "Their format, if their shape does not tell", complete_importers),
    ] = None,
) -> Answer:
    """Keep sources in step as they change, until you interrupt it: what is gone from them is deprecated."""
    from priming.transfer.importers import Stored, find, recognised
    from priming.transfer.run import Follower

    with store.open_file() as memory:
        for path in paths:
            find(form or recognised(path, Stored(memory)))
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


@command(app)
def verify(
    store: StoreOptions,
    whole: Annotated[bool, flag("--all", "Verify every namespace of the store")] = False,
) -> Answer:
    """Check the rows against the log, and what is derived from them. Exit status 1 if anything differs."""
    with store.open_file() as memory:
        names = memory.store.namespaces() if whole else [memory.namespace]
    results = []
    for name in names:
        with replace(store, namespace=name).open() as memory, progress(f"verifying {name}") as step:
            results.append(memory.verify(progress=step))
    failed = any(verified.findings for verified in results)
    value = results if whole else results[0]
    return Answer(value, _verified(results), FAILURE if failed else 0)


def _verified(results: Sequence[Verified]) -> Iterator[Part]:
    for verified in results:
        mark = (
            (count_text(len(verified.findings), "finding"), WARN) if verified.findings else ("verified", OK)
        )
        snapshot = ", and the working set on disk" if verified.snapshot else ""
        rows = f"{count_text(verified.rows, 'row')} of {count_text(verified.operations, 'operation')}"
        yield line(
            mark, f"  {verified.namespace}: {rows}, {count_text(verified.vectors, 'vector')}{snapshot}"
        )
        yield from records.reason(verified.reason)
        if verified.findings:
            yield from records.findings_lines(verified.findings)


@command(app)
def trust(
    store: StoreOptions,
    yes: Yes = False,
    remove: Annotated[bool, flag("--remove", "Let them count no more")] = False,
) -> Answer:
    """Adopt the settings and the store of this folder, which may have come with it: until then they do not count."""
    from priming.config.settings import read

    settings, _ = read(store.overrides(), project=not store.everywhere)
    if remove:
        removed = content_of(settings, adopted=True)
        removed.settle(adopt=False)
        return Answer(
            {"removed": removed.paths}, [line((f"counts no more: {path}", OK)) for path in removed.paths]
        )
    content = content_of(settings)
    if not content.paths:
        return Answer({"adopted": []}, [line(("nothing here is to be adopted: all of it counts", DIM))])
    if yes:
        content.settle(adopt=True)
    elif store.as_json or not is_attended() or not ask(content):
        return Answer({"adopted": [], "left": content.paths}, [line((content.message, WARN))], FAILURE)
    return Answer({"adopted": content.paths}, [line(("adopted", OK), f"  {path}") for path in content.paths])


@command(app)
def migrate(
    store: StoreOptions,
    source: Annotated[str, argument("SOURCE", "URL or file of the store to read")],
    target: Annotated[str, argument("TARGET", "URL or file of the store to write")],
) -> Answer:
    """Move a store to another database, verified. If interrupted, it continues where it stopped.

    Options: --namespace moves only that namespace. Exit status 1 if the target differs from the source.
    """
    from priming.maintenance.migrate import migrate as move

    names = None if store.namespace is None else [store.namespace]
    with progress("moving") as step:
        migration = move(source, target, namespaces=names, progress=step)
    return Answer(migration, _migration(migration), 0 if migration.is_verified else FAILURE)


def _migration(migration: MovedStore) -> Iterator[Part]:
    for moved in migration.namespaces:
        mark = ("differs", WARN) if moved.differs else (moved.status, OK)
        where = f", {', '.join(moved.differs)}" if moved.differs else ", verified"
        operations = count_text(moved.tables["operations"].count, "operation")
        memories = count_text(moved.tables["memories"].count, "memory", "memories")
        yield line(mark, f"  {moved.namespace}: {memories}, {operations}{where}")
        rows = tuple(
            (name, f"{part.count:,}", part.digest) for name, part in moved.tables.items() if part.count
        )
        yield Table(("table", "rows", "digest"), rows)
    yield line((f"from {migration.source} to {migration.target}", DIM))
    if migration.tokens:
        yield line(f"{count_text(migration.tokens, 'token')} moved")
    for rest in migration.not_moved:
        yield line((f"not moved: {rest}", DIM))


def _backed_up(path: Path) -> Answer:
    return Answer({"path": str(path)}, [line(("backed up", OK), f"  to {path}")])


plain(
    app,
    "backup",
    _backed_up,
    path=Annotated[
        Path | None,
        argument(
            "[PATH]",
            "File to write; by default a new file in the folder of backups, which a store in PostgreSQL lacks",
        ),
    ],
    help="Copy the whole store, with all its namespaces, to a file.",
)


@command(app, "restore-backup")
def restore_backup(
    store: StoreOptions,
    path: Annotated[Path, argument("PATH", "A file that 'priming backup' wrote")],
    previous: Annotated[
        Path | None,
        option(
            "--previous",
            "PATH",
            "File to write the current store to; by default a new file in the folder of backups, which a"
            " store in PostgreSQL lacks",
        ),
    ] = None,
    yes: Yes = False,
) -> Answer:
    """Replace the whole store by a backup. The current store is backed up first."""
    if store.as_json and not yes:
        raise ParamError("--yes", False, "must be given with --json: the whole store is replaced")
    with store.open_file() as memory:
        if not yes and not confirm(f"Replace the whole store, all of its namespaces, by {path}? [y/N] "):
            typer.echo("nothing was replaced", err=True)
            raise typer.Exit(FAILURE)
        saved = memory.restore_backup(path, previous)
    restored = line(("restored", OK), f"  {path}")
    return Answer(
        {"path": str(path), "backup": str(saved)},
        [restored, line((f"the previous store is in {saved}", DIM), indent=2)],
    )


@command(app)
def reembed(
    store: StoreOptions,
    to: Annotated[
        str | None,
        option(
            "--to",
            "EMBEDDER",
            "Change to this embedder, if it answers judged recalls no worse",
            complete_embedders,
        ),
    ] = None,
    switch: Annotated[bool, flag("--switch", "Change even if it answers worse")] = False,
    stay: Annotated[bool, flag("--keep", "Only compute and compare; keep the embedder")] = False,
    roll_back: Annotated[bool, flag("--roll-back", "Return to the former embedder")] = False,
) -> Answer:
    """Compute the missing vectors of the embedder, or change to another one while this one answers.

    If interrupted, it continues where it stopped. Memories that wait for their vectors do not have to wait for it.
    """
    if to is not None or roll_back or switch or stay:
        return _change_embedder(store, to, roll_back, switch, stay)
    with store.open() as memory, progress("embedding") as step:
        number = memory.reembed(progress=step)
        generation = memory.status().generation
    text = (
        f"{count_text(number, 'text')} by {generation}"
        if number
        else f"nothing: all texts have vectors of {generation}"
    )
    return Answer({"vectors": number, "generation": generation}, [line(("embedded", OK), f"  {text}")])


def _change_embedder(
    store: StoreOptions, to: str | None, roll_back: bool, switch: bool, stay: bool
) -> Answer:
    """Change the embedder of the namespace, or return to the former one."""
    from priming.maintenance import generations

    if (to is None) != roll_back or (roll_back and (switch or stay)) or (switch and stay):
        rule = "must be given with --to EMBEDDER, at most one of --switch and --keep, or --roll-back alone"
        raise ParamError("--to", to, rule)
    with store.open_file() as memory, progress("embedding") as step:
        if to is None:
            change = generations.roll_back_embedder(memory, progress=step)
        else:
            decision = True if switch else False if stay else None
            change = generations.change_embedder(memory, to, switch=decision, progress=step)
    return Answer(change, _embedder_change(store, change))


def hindrance(store: StoreOptions) -> Iterator[Part]:
    """Yield what keeps a change of the embedder from taking effect."""
    from priming.embedding.registry import chosen, is_auto

    setting = chosen(store.settings())
    if not is_auto(setting):
        yield line((f"the setting store.embedder names {setting}, which goes on to answer: unset it", WARN))


def _embedder_change(store: StoreOptions, change: EmbedderChange) -> Iterator[Part]:
    from priming.embedding.registry import is_auto

    name = change.generation if is_auto(change.embedder) else change.embedder
    yield line(("embedded", OK), f"  {count_text(change.vectors, 'text')} by {name}")
    comparison = change.comparison
    if comparison is not None:
        rows = tuple(
            (quality.generation, f"{quality.mrr:.3f}", f"{quality.hit_at_1:.3f}", f"{quality.hit_at_5:.3f}")
            for quality in (comparison.old, comparison.new)
        )
        yield Table(("judged recalls answered by", "MRR", "hit@1", "hit@5"), rows)
        verdicts = f"{comparison.better:,} better, {comparison.worse:,} worse"
        yield line(f"{count_text(comparison.recalls, 'judged recall')}: {verdicts}")
    mark = ("changed", OK) if change.switched else ("kept", WARN)
    yield line(mark, f"  {change.generation}: {change.reason}")
    if change.switched:
        yield from hindrance(store)
