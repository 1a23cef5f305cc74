"""Verification: whether the rows are those that the log produced, and what is derived from them agrees with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from priming.config.params.store import STORE
from priming.core.arguments.vectors import TextVectors, unpacked
from priming.index.snapshot import SnapshotFile
from priming.index.working_set import WorkingSet
from priming.maintenance.comparison import differences
from priming.maintenance.health import DAMAGE, inconsistencies
from priming.namespace import Namespace
from priming.remember.drafts import Draft
from priming.results import Finding, Verified
from priming.storage.damage.contradictions import STALE_WORDS
from priming.storage.fingerprints import RowSums, bucket_of, fingerprint
from priming.storage.protocol import Logged, Store
from priming.storage.rows import ROOMS, MemoryRow, Row, RowChange, VectorRow, VersionRow, identity
from priming.text.quotation import label
from priming.types import Progress

_SUSPECT, _SHOWN = 64, 20
_TOLERANCE = 1e-3
"""By which the length of a stored vector, in single precision, may differ from 1."""
VERIFICATION_RULES = {
    "lost-row": (
        "the log has the row, the store lacks it",
        "restore a backup, or undo the latest operation on it and repeat it",
    ),
    "unlogged-row": (
        "the store has the row, the log has no operation that made it",
        "restore a backup, or remove the row as it was made: nothing undoes it",
    ),
    "changed-row": (
        "its values are not those that the log has for it",
        "restore a backup, or export what is whole: priming export --salvage FILE",
    ),
    "digest": (
        "the text is not the text that its digest was computed from",
        "restore a backup, or supersede the memory with its text",
    ),
    "stale-words": STALE_WORDS,
    "bad-vector": (
        "the vector is not a unit vector of the length that its generation has",
        "restore a backup, or export the namespace and import it into a new store, which computes the vectors anew",
    ),
    "stale-snapshot": (
        "the working set on disk is not what the rows give",
        "delete the file, beside the store: the next use builds it again",
    ),
}
"""By rule, what ``verify`` finds beside the findings of ``validate``, and the remedy."""


def verify(memory: Namespace, *, progress: Progress | None = None) -> Verified:
    """Read the whole namespace, and check it against its log and everything derived from it.

    The answer has the findings of ``validate``, too, and what was read. Where a row cannot be read, that is all there
    is to say. Nothing is changed, and others may write meanwhile.

    Args:
        progress: called with (operations of the log read, all).

    """
    with memory.lock, memory.store.transaction(write=False):
        findings = inconsistencies(memory, words=True)
        store, name = memory.store, memory.namespace
        if any(finding.rule in DAMAGE for finding in findings):
            return Verified(name, 0, 0, 0, False, tuple(findings), memory.empty_reason())
        replay = _LogSums(store, name)
        operations = replay.read_log(progress)
        rows = replay.read_rows()
        findings += replay.findings()
        findings += _shown("digest", _wrong_digests(store, name))
        vectors, wrong = _wrong_vectors(store, name)
        findings += _shown("bad-vector", wrong)
        has_snapshot, stale = _stale_snapshot(memory)
        findings += _shown("stale-snapshot", stale)
        return Verified(name, operations, rows, vectors, has_snapshot, tuple(findings), memory.empty_reason())


def _shown(rule: str, subjects: Iterable[str]) -> list[Finding]:
    """A finding for each of the first subjects, and a last one if there are more."""
    subjects = iter(subjects)
    detail, remedy = VERIFICATION_RULES[rule]
    findings = [Finding(rule, subject, detail, remedy) for subject in islice(subjects, _SHOWN)]
    more = sum(1 for _ in subjects)
    return findings + ([Finding(rule, f"and {more:,} more", detail, remedy)] if more else [])


class _LogSums:
    """The log summed up beside the rows: each row that the log made and did not take back counts once.

    The sums are by bucket, so that a store of any size takes the same memory; only rows of a bucket whose sums differ
    are looked for by name.
    """

    def __init__(self, store: Store, namespace: str) -> None:
        self._store, self._namespace = store, namespace
        self._sums = RowSums()

    def read_log(self, progress: Progress | None) -> int:
        """Add what the log says; the number of operations."""
        total, number = self._store.counts(self._namespace).operations, 0
        for number, logged in enumerate(self._store.part(self._namespace, Logged), 1):
            self._sums.add_changes(logged.rows)
            if progress is not None and (number % STORE.batch == 0 or number == total):
                progress(number, total)
        return number

    def read_rows(self) -> int:
        """Subtract the rows; their number."""
        number = 0
        for row in self._rows():
            self._sums.add(row, -1)
            number += 1
        return number

    def findings(self) -> list[Finding]:
        """Where the two differ, by name."""
        buckets = set(self._sums.differing()[:_SUSPECT])
        if not buckets:
            return []
        logged: dict[tuple[str, ...], Row | None] = {}
        for operation in self._store.part(self._namespace, Logged):
            for change in sorted(operation.rows, key=_is_kept):
                if bucket_of(change.row) in buckets:
                    logged[identity(change.row)] = change.after
        lost: list[Row] = []
        changed: list[Row] = []
        unlogged: list[Row] = []
        stored = {identity(row): row for row in self._rows() if bucket_of(row) in buckets}
        for name in dict.fromkeys((*logged, *stored)):
            before, after = logged.get(name), stored.get(name)
            row = after or before
            if row is None or (before is not None and after is not None and _same(before, after)):
                continue
            (lost if after is None else unlogged if before is None else changed).append(row)
        return [
            finding
            for rule, rows in (("lost-row", lost), ("unlogged-row", unlogged), ("changed-row", changed))
            for finding in _shown(rule, self._names(rows))
        ]

    def _rows(self) -> Iterator[Row]:
        for cls in ROOMS.values():
            yield from self._store.part(self._namespace, cls)

    def _names(self, rows: list[Row]) -> Iterator[str]:
        keys = self._store.names(self._namespace, ids={end for row in rows for end in identity(row)[1:]})
        for row in rows:
            room, *parts = identity(row)
            if isinstance(row, MemoryRow):
                parts = [row.key]
            yield f"{room}: {' '.join(label(keys.get(part, part)) for part in parts)}"


def _is_kept(change: RowChange) -> bool:
    """Removals come first, as a store applies an operation."""
    return change.after is not None


def _same(first: Row, second: Row) -> bool:
    return fingerprint(first) == fingerprint(second)


def _wrong_digests(store: Store, namespace: str) -> Iterator[str]:
    """The versions whose text is not that of their digest."""
    memories = store.part(namespace, MemoryRow)
    owner = next(memories, None)
    for version in store.part(namespace, VersionRow):
        while owner is not None and owner.id != version.id:
            owner = next(memories, None)  # both are in order of insertion
        if owner is None:
            return
        text = Draft(
            version.content,
            heading=version.heading,
            kind=owner.kind,
            session=version.session,
            speaker=version.speaker,
            occurred_at=version.occurred_at,
        )
        if version.digest not in text.digests:
            yield f"version {version.version} of {label(owner.key)}"


def _wrong_vectors(store: Store, namespace: str) -> tuple[int, list[str]]:
    """The number of vectors, and those that are none."""
    sizes: dict[str, int] = {}
    wrong, number = [], 0
    for row in store.part(namespace, VectorRow):
        number += 1
        vectors = unpacked(row.vector[: len(row.vector) // 4 * 4])
        size = sizes.setdefault(row.generation, len(vectors.whole))
        if len(row.vector) % 4 or len(vectors.whole) != size or not _are_unit(vectors):
            wrong.append((row.id, f"version {row.version}, {row.generation}"))
    keys = store.names(namespace, ids={memory_id for memory_id, _ in wrong})
    return number, [f"{label(keys.get(memory_id, memory_id))} {which}" for memory_id, which in wrong]


def _are_unit(vectors: TextVectors) -> bool:
    """Whether the whole has the length 1, and each passage that or, without any word, 0."""
    whole = float(np.linalg.norm(vectors.whole.astype(np.float64)))
    passages = np.linalg.norm(vectors.passages.astype(np.float64), axis=1)
    off = np.minimum(np.abs(passages - 1), np.abs(passages))
    return abs(whole - 1) < _TOLERANCE and bool((off < _TOLERANCE).all())


def _stale_snapshot(memory: Namespace) -> tuple[bool, Iterable[str]]:
    """Whether there is a snapshot on disk that would be used, and how it differs from the rows."""
    file, now = SnapshotFile(memory.store, memory.namespace, memory.embedder), memory.now()
    restored = file.load()
    if not restored.head:
        return False, ()
    restored.refresh(now)
    anew = WorkingSet(memory.store, memory.namespace, memory.embedder)
    anew.refresh(now)
    assert file.path is not None, "what was read is a file"
    where = f"{file.path.parent.name}/{file.path.name}"  # a tenant learns no folder of the server
    return True, (f"{where}: {difference}" for difference in differences(restored, anew))
