"""Commands on whole stores: their verification, their backups, their vectors, and moving them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from priming.cli import records
from priming.cli.command import FAILURE, Answer, command, group
from priming.cli.options import StoreOptions, Yes
from priming.cli.output import DIM, OK, WARN, Part, Table, ask, confirm, count, is_attended, line, progress
from priming.cli.parse import complete_embedders
from priming.errors import ParamError
from priming.maintenance.adoption import content_of

if TYPE_CHECKING:
    from priming.maintenance.generations import EmbedderChange
    from priming.maintenance.migrate import MovedStore
    from priming.results import Verified

app = group("Care")
GROUPS = (app,)


@command(app)
def verify(
    store: StoreOptions,
    whole: Annotated[bool, Option("--all", help="Verify every namespace of the store")] = False,
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
        mark = (count(len(verified.findings), "finding"), WARN) if verified.findings else ("verified", OK)
        snapshot = ", and the working set on disk" if verified.snapshot else ""
        rows = f"{count(verified.rows, 'row')} of {count(verified.operations, 'operation')}"
        yield line(mark, f"  {verified.namespace}: {rows}, {count(verified.vectors, 'vector')}{snapshot}")
        yield from records.reason(verified.reason)
        if verified.findings:
            yield from records.findings_lines(verified.findings)


@command(app)
def trust(
    store: StoreOptions,
    yes: Yes = False,
    remove: Annotated[bool, Option("--remove", help="Let them count no more")] = False,
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
    source: Annotated[str, Argument(metavar="SOURCE", help="URL or file of the store to read")],
    target: Annotated[str, Argument(metavar="TARGET", help="URL or file of the store to write")],
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
        operations = count(moved.tables["operations"].count, "operation")
        memories = count(moved.tables["memories"].count, "memory", "memories")
        yield line(mark, f"  {moved.namespace}: {memories}, {operations}{where}")
        rows = tuple(
            (name, f"{part.count:,}", part.digest) for name, part in moved.tables.items() if part.count
        )
        yield Table(("table", "rows", "digest"), rows)
    yield line((f"from {migration.source} to {migration.target}", DIM))
    if migration.tokens:
        yield line(f"{count(migration.tokens, 'token')} moved")
    for rest in migration.not_moved:
        yield line((f"not moved: {rest}", DIM))


@command(app)
def backup(
    store: StoreOptions,
    path: Annotated[
        Path | None,
        Argument(
            metavar="[PATH]",
            help="File to write; by default a new file in the folder of backups, which a store in PostgreSQL lacks",
        ),
    ] = None,
) -> Answer:
    """Copy the whole store, with all its namespaces, to a file."""
    with store.open_file() as memory:
        written = memory.backup(path)
    return Answer({"path": str(written)}, [line(("backed up", OK), f"  to {written}")])


@command(app, "restore-backup")
def restore_backup(
    store: StoreOptions,
    path: Annotated[Path, Argument(metavar="PATH", help="A file that 'priming backup' wrote")],
    previous: Annotated[
        Path | None,
        Option(
            "--previous",
            metavar="PATH",
            help="File to write the current store to; by default a new file in the folder of backups, which a"
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
        Option(
            "--to",
            metavar="EMBEDDER",
            help="Change to this embedder, if it answers judged recalls no worse",
            autocompletion=complete_embedders,
        ),
    ] = None,
    switch: Annotated[bool, Option("--switch", help="Change even if it answers worse")] = False,
    stay: Annotated[bool, Option("--keep", help="Only compute and compare; keep the embedder")] = False,
    roll_back: Annotated[bool, Option("--roll-back", help="Return to the former embedder")] = False,
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
        f"{count(number, 'text')} by {generation}"
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


def _embedder_change(store: StoreOptions, change: EmbedderChange) -> Iterator[Part]:
    from priming.embedding.registry import chosen, is_auto

    name = change.generation if is_auto(change.embedder) else change.embedder
    yield line(("embedded", OK), f"  {count(change.vectors, 'text')} by {name}")
    comparison = change.comparison
    if comparison is not None:
        rows = tuple(
            (quality.generation, f"{quality.mrr:.3f}", f"{quality.hit_at_1:.3f}", f"{quality.hit_at_5:.3f}")
            for quality in (comparison.old, comparison.new)
        )
        yield Table(("judged recalls answered by", "MRR", "hit@1", "hit@5"), rows)
        yield line(
            f"{count(comparison.recalls, 'judged recall')}: {comparison.better:,} better, {comparison.worse:,} worse"
        )
    mark = ("changed", OK) if change.switched else ("kept", WARN)
    yield line(mark, f"  {change.generation}: {change.reason}")
    setting = chosen(store.settings())
    if change.switched and not is_auto(setting):
        yield line((f"the setting store.embedder names {setting}, which goes on to answer: unset it", WARN))
