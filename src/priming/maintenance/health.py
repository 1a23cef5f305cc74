"""Care of a store: its counts, its validation, its vectors and its backups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path

from priming.config.caller import present_caller
from priming.config.ids import uuid7
from priming.config.variables import VERSION
from priming.config.words import RANKED, REPLACED
from priming.core.arguments.checks import check_path
from priming.core.graph import cycles
from priming.errors import NotFound, ParamError
from priming.index.working_set import RESTORE
from priming.namespace import Namespace
from priming.recall.candidates import current_weights
from priming.results import Finding, Stats, Status
from priming.storage.copies import REPLACED_STORES
from priming.storage.protocol import Changes, Walked
from priming.storage.rows import LinkRow, MemoryRow, WeightsRow
from priming.text.quotation import label

DAMAGE = "damaged-row", "integrity"
"""The rules of findings that leave rows unreadable."""


def stats(memory: Namespace) -> Stats:
    """Count what the namespace holds, by kind and status."""
    with memory.lock:
        counts, own = memory.store.counts(memory.namespace), memory.embedder.generation
        answers = any(True for _ in memory.stored_vectors(own))
        weights = {row.profile: current_weights(row.weights) for row in memory.rows(WeightsRow)}
        reason = memory.empty_reason()
    return Stats(
        namespace=memory.namespace,
        memories=counts.memories,
        links=counts.links,
        operations=counts.operations,
        traces=counts.traces,
        bytes=counts.bytes if memory.store.place.exists else 0,
        generation=own if answers else counts.generation,
        weights=weights,
        reason=reason,
    )


def status(memory: Namespace) -> Status:
    """Return the version, the namespace, the profile and a few counts."""
    with memory.lock:
        counts, reason = memory.store.counts(memory.namespace, brief=True), memory.empty_reason()
        waiting = len(memory.working(memory.now()).waiting)
    active = {kind: n.get("active", 0) for kind, n in counts.memories.items() if kind != "entity"}
    return Status(
        version=VERSION,
        namespace=memory.namespace,
        profile=memory.profile.name,
        memories=sum(active.values()),
        links=sum(counts.links.values()),
        operations=counts.operations,
        generation=memory.embedder.generation,
        reason=reason,
        waiting=waiting,
    )


def validate(memory: Namespace) -> list[Finding]:
    """List the inconsistencies of the namespace, each with its remedy; an empty list means there are none."""
    return inconsistencies(memory, words=False)


def inconsistencies(memory: Namespace, *, words: bool, walked: Walked | None = None) -> list[Finding]:
    """Return the findings of ``validate``; with ``words`` each text is read and compared with the words that find it.

    ``walked`` is what a walk over the rows came to; None: it is done first.
    """
    with memory.lock:
        findings = memory.store.check(memory.namespace, words=words, walked=walked)
        if any(finding.rule in DAMAGE for finding in findings):
            return memory.listed(findings)  # what else there is, is asked of rows that can be read
        for relation in (*RANKED, *REPLACED):
            links = memory.rows(LinkRow, relation=relation)
            findings += _find_cycles(memory, relation, links)
            if relation in REPLACED:
                findings += _find_replaced_but_active(memory, relation, links)
        missing = memory.working(memory.now()).missing_vectors
    if missing:
        subject = f"memories without a vector of {memory.embedder.generation}: they are found by their words"
        findings.append(
            Finding("missing-vectors", memory.namespace, subject, "compute them: priming reembed")
        )
    return memory.listed(findings)


VALIDATION_RULES = {
    "circle": (
        "links of the relation form a cycle, so none of these memories comes first",
        "undo the operation that made one of the links: priming log --key KEY names it",
    ),
    "replaced-but-active": (
        "the memory is active, but a link says that another replaced it",
        "deprecate or merge it, or undo the operation that made the link",
    ),
}
"""By rule, the inconsistency of links between memories, and the remedy."""


def _find_cycles(memory: Namespace, relation: str, links: Sequence[LinkRow]) -> Iterator[Finding]:
    names = memory.names(ids={end for link in links for end in (link.source, link.target)})
    for cycle in cycles((names[link.source], names[link.target]) for link in links):
        path = " → ".join((*cycle, cycle[0]))
        yield Finding("circle", f"{relation}: {path}", *VALIDATION_RULES["circle"])


def _find_replaced_but_active(
    memory: Namespace, relation: str, links: Sequence[LinkRow]
) -> Iterator[Finding]:
    sources = memory.rows(MemoryRow, ids={link.source for link in links})
    active = {row.id: row.key for row in sources if row.status == "active"}
    names = memory.names(ids={link.target for link in links if link.source in active})
    for link in links:
        if link.source in active and link.source != link.target:
            subject = f"{label(active[link.source])} ─{label(relation)}→ {label(names[link.target])}"
            yield Finding("replaced-but-active", subject, *VALIDATION_RULES["replaced-but-active"])


def backup(memory: Namespace, path: str | Path | None = None) -> Path:
    """Copy the whole store, with all its namespaces, to a new file; other processes may write meanwhile.

    Args:
        path: the file; None means a name from the time, in the folder ``<database>.backups``.

    Raises:
        ParamError: a store that is no file needs a path.
        NotFound: there is no store yet.
        Conflict: the file exists.
        StoreError: the file cannot be written.

    """
    with memory.lock:
        file = _free_path(memory, memory.now()) if path is None else check_path(path)
        if file is None:
            raise ParamError("path", None, "must be given: only a store in a file has a folder for backups")
        if not memory.store.place.exists:
            raise NotFound(
                "there is no store yet, so there is nothing to back up: the first write creates it"
            )
        memory.store.backup(file)
        return file


def restore_backup(memory: Namespace, path: str | Path, previous: str | Path | None = None) -> Path:
    """Replace the whole store, with all its namespaces, by a backup, in one step.

    The present store is backed up first, and the path of that backup is returned: restoring it undoes the step.
    Other processes that have the store open see the restored one at their next call.

    Args:
        path: a file that ``backup`` wrote, or that a migration left beside the store.
        previous: the file to which the present store is backed up; None means one in the folder
            ``<database>.backups``, which only a store in a file has.

    Raises:
        ParamError: the file does not exist, or ``previous`` is needed.
        Conflict: the file is the store itself, ``previous`` exists, or the store is in memory.
        Corrupt, SchemaTooNew: the file is no backup of a Priming store, or is one of a newer version.

    """
    file = check_path(path)
    with memory.lock:
        with memory.writing() as now:
            saved = _free_path(memory, now, REPLACED_STORES) if previous is None else check_path(previous)
            if saved is None:
                rule = (
                    "must name a file, to which the present store is backed up first: only a store in a file has a"
                    " folder for backups, and one in memory is not put back"
                )
                raise ParamError("previous", None, rule)
            memory.store.backup(saved)
            try:
                memory.store.restore_backup(file, _restore_operations(memory, now, f"put back {file}"))
            except BaseException:
                saved.unlink(missing_ok=True)
                if previous is None:
                    with suppress(OSError):  # it has others
                        saved.parent.rmdir()
                raise
        memory.drop_snapshot()
    return saved


def _restore_operations(memory: Namespace, now: datetime, message: str) -> list[Changes]:
    """Return an operation for each namespace, after which processes that follow the log reload everything."""
    names = {*memory.store.namespaces(), memory.namespace}
    reason, by = "a backup was put back by hand", present_caller().attribution()
    return [
        Changes(name, uuid7(now), RESTORE, now, reason=reason, message=message, **by)
        for name in sorted(names)
    ]


def _free_path(memory: Namespace, now: datetime, inner: str = "") -> Path | None:
    """Return the path of a new file in the folder of backups, named by the time; None for a store that is no file."""
    folder = memory.store.place.backups
    if folder is None:
        return None
    stem = now.strftime("%Y-%m-%dT%H-%M-%SZ")
    paths = (folder / inner / (f"{stem}.db" if number == 1 else f"{stem}-{number}.db") for number in count(1))
    return next(path for path in paths if not path.exists())
