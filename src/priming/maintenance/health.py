"""What a namespace holds, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path

from priming.config.environment import VERSION
from priming.config.params.embedding import EMBEDDER
from priming.core.arguments.checks import check_path
from priming.errors import Conflict, ParamError
from priming.graph.traversal import cycles
from priming.index.document import RULES, embedded_text
from priming.index.working_set import RESTORE
from priming.maintenance.merge import RANKED, REPLACED
from priming.namespace import Namespace
from priming.results import Finding, Stats, Status
from priming.storage.protocol import Changes, VersionKey
from priming.storage.rows import LinkRow, VersionRow
from priming.types import uuid7


def stats(memory: Namespace) -> Stats:
    """What the namespace holds."""
    with memory.lock:
        memory.require_exists()
        counts = memory.store.counts(memory.namespace)
        weights = {row.profile: row.weights for row in memory.store.weights(memory.namespace)}
    return Stats(
        namespace=memory.namespace,
        memories=counts.memories,
        links=counts.links,
        operations=counts.operations,
        traces=counts.traces,
        bytes=counts.bytes,
        generation=counts.generation,
        weights=weights,
    )


def status(memory: Namespace) -> Status:
    """Which Priming this is, where it works, and how much there is."""
    with memory.lock:
        counts = memory.store.counts(memory.namespace)
    active = {kind: of.get("active", 0) for kind, of in counts.memories.items() if kind != "entity"}
    return Status(
        version=VERSION,
        namespace=memory.namespace,
        profile=memory.profile.name,
        memories=sum(active.values()),
        links=sum(counts.links.values()),
        operations=counts.operations,
        generation=memory.embedder.generation,
    )


def validate(memory: Namespace) -> list[Finding]:
    """What is wrong with the namespace, each with its remedy; an empty list means nothing."""
    with memory.lock:
        memory.require_exists()
        findings = memory.store.check(memory.namespace)
        for relation in (*RANKED, *REPLACED):
            links = memory.store.links(memory.namespace, relation=relation)
            findings += _circles(memory, relation, links)
            if relation in REPLACED:
                findings += _replaced_but_active(memory, relation, links)
        lacking = memory.working(memory.now()).missing_vectors
    if lacking:
        subject = f"memories without a vector of {memory.embedder.generation}: they are found by words alone"
        findings.append(Finding("missing-vectors", memory.namespace, subject, "make them: priming reembed"))
    return findings


VALIDATION_RULES = {
    "circle": (
        "links of the relation lead in a circle, so that none of these memories comes first",
        "undo the operation that made one of the links: priming log --key KEY names it",
    ),
    "replaced-but-active": (
        "the memory is active, and a link says that another took its place",
        "deprecate or merge it, or undo the operation that made the link",
    ),
}
"""What is wrong with how memories are linked, and what mends it, by rule."""


def _circles(memory: Namespace, relation: str, links: Sequence[LinkRow]) -> Iterator[Finding]:
    names = memory.store.names(memory.namespace, {end for one in links for end in (one.source, one.target)})
    for ring in cycles((names[one.source], names[one.target]) for one in links):
        way = " → ".join((*ring, ring[0]))
        yield Finding("circle", f"{relation}: {way}", *VALIDATION_RULES["circle"])


def _replaced_but_active(memory: Namespace, relation: str, links: Sequence[LinkRow]) -> Iterator[Finding]:
    sources = memory.store.memories(memory.namespace, {one.source for one in links})
    active = {one.id: one.key for one in sources if one.status == "active"}
    names = memory.store.names(memory.namespace, {one.target for one in links if one.source in active})
    for one in links:
        if one.source in active and one.source != one.target:
            subject = f"{active[one.source]} ─{relation}→ {names[one.target]}"
            yield Finding("replaced-but-active", subject, *VALIDATION_RULES["replaced-but-active"])


Progress = Callable[[int, int | None], None]


def reembed(memory: Namespace, *, progress: Progress | None = None) -> int:
    """Make the vectors that the embedder of this memory lacks, of every version of every text; how many it made.

    Wanted where a store was made with another embedder. Interrupted, it goes on where it stopped. Other processes
    that have the namespace open find by these vectors once they have opened it again.

    Args:
        progress: called with (done, total).

    Raises:
        EmbedderError: the embedder made no vectors; those made before are kept.

    """
    # Vectors are derived: nothing is logged, and those of other generations stay.
    with memory.lock:
        memory.require_exists()
        there = {key for key, _ in memory.store.vectors(memory.namespace, memory.embedder.generation)}
        texts = {(one.id, one.version): one for one in _texts(memory)}  # a version may have several rows
    lacking = [one for key, one in texts.items() if key not in there]
    made = 0
    try:
        for first in range(0, len(lacking), EMBEDDER.reembed_batch):
            some = lacking[first : first + EMBEDDER.reembed_batch]
            made += _keep(memory, some)
            if progress is not None:
                progress(first + len(some), len(lacking))
    finally:
        if made:
            with memory.lock:
                memory.drop_snapshot()
    return made


def _texts(memory: Namespace, memory_id: str | None = None) -> list[VersionRow]:
    return [one for one in memory.store.versions(memory.namespace, memory_id) if one.source != RULES]


def _keep(memory: Namespace, some: Sequence[VersionRow]) -> int:
    """Embed some versions, and keep the vectors of those whose text is still the same."""
    vectors = memory.embedder.embed([_text(one) for one in some])
    found: dict[VersionKey, bytes] = {}
    with memory.lock, memory.store.transaction():
        present = {
            (one.id, one.version): _text(one)
            for id_ in {one.id for one in some}
            for one in _texts(memory, id_)
        }
        for one, vector in zip(some, vectors, strict=True):
            key = one.id, one.version
            if vector.any() and present.get(key) == _text(one):
                found[key] = vector.astype("<f4").tobytes()
        memory.store.add_vectors(memory.namespace, memory.embedder.generation, found)
    return len(found)


def _text(one: VersionRow) -> str:
    return embedded_text(one.heading or one.speaker, one.content)


def backup(memory: Namespace, path: str | Path | None = None) -> Path:
    """Copy the whole store, all of its namespaces, to a new file; others may write meanwhile.

    Args:
        path: the file; None means one named by the time, in the folder ``<database>.backups``.

    Raises:
        ParamError: no path for a store in memory.
        Conflict: the file is there already.
        StoreError: it cannot be written.

    """
    with memory.lock:
        chosen = _free(memory, memory.now()) if path is None else check_path(path)
        if chosen is None:
            raise ParamError("path", None, "must be given: a store in memory has no folder for backups")
        memory.store.backup(chosen)
        return chosen


def restore_backup(memory: Namespace, path: str | Path) -> Path:
    """Put a backup in the place of the whole store, all of its namespaces, in one step.

    What is there is backed up first; the answer is that backup, which takes the step back. Other processes that
    have the store open see what was put back at their next call.

    Args:
        path: a file that ``backup`` wrote, or that a migration left beside the store.

    Raises:
        ParamError: there is no such file.
        Conflict: it is the store itself, or this store is in memory.
        Corrupt, SchemaTooNew: it is no backup of a Priming store, or of a newer one.

    """
    chosen = check_path(path)
    with memory.lock:
        with memory.writing() as now:
            saved = _free(memory, now)
            if saved is None:
                raise Conflict(
                    "a store in memory has no folder for the backup that is made first: open one in a file"
                )
            memory.store.backup(saved)
            try:
                memory.store.restore_backup(chosen, _operations(memory, now, f"put back {chosen}"))
            except BaseException:
                saved.unlink(missing_ok=True)
                raise
        memory.drop_snapshot()
    return saved


def _operations(memory: Namespace, now: datetime, message: str) -> list[Changes]:
    """One for each namespace: it tells the processes that follow the log to read everything anew."""
    names = {*memory.store.namespaces(), memory.namespace}
    return [Changes(name, uuid7(now), RESTORE, now, actor="user", message=message) for name in sorted(names)]


def _free(memory: Namespace, now: datetime) -> Path | None:
    """A file of the folder of backups that is not there yet, named by the time."""
    folder = memory.store.backups
    if folder is None:
        return None
    stem = now.strftime("%Y-%m-%dT%H-%M-%SZ")
    paths = (folder / (f"{stem}.db" if number == 1 else f"{stem}-{number}.db") for number in count(1))
    return next(path for path in paths if not path.exists())
