"""Verification: whether the rows are those that the log produced, and what is derived from them agrees with them.

A working set that is read from disk, or kept current, must be what is built anew: the two are compared by memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from priming.core.arguments.arrays import TextVectors, unpacked
from priming.index.arrays import NamespaceArrays
from priming.index.snapshot import SnapshotFile
from priming.index.working_set import WorkingSet
from priming.maintenance.health import DAMAGE, inconsistencies
from priming.namespace import Namespace
from priming.remember.drafts import Draft
from priming.results import Finding, Verified
from priming.storage.damage import STALE_WORDS, listed_findings
from priming.storage.rows import MemoryRow, Row, VectorRow, VersionRow, identity
from priming.text.quotation import label
from priming.types import Progress

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
        store, name = memory.store, memory.namespace
        total, content = store.counts(name, brief=True).operations, _Content()

        def report(number: int) -> None:
            if progress is not None:
                progress(number, total)

        walked = store.walk(name, content.visit, progress=report)
        report(walked.operations)
        findings = inconsistencies(memory, words=True, walked=walked)
        if any(finding.rule in DAMAGE for finding in findings):
            return Verified(name, 0, 0, 0, False, tuple(findings), memory.empty_reason())
        findings += _shown("lost-row", _names(memory, walked.lost))
        findings += _shown("unlogged-row", _names(memory, walked.unlogged), walked.more)
        findings += content.findings(memory)
        has_snapshot, stale = _stale_snapshot(memory)
        findings += _shown("stale-snapshot", stale)
        return Verified(
            name,
            walked.operations,
            walked.rows,
            content.vectors,
            has_snapshot,
            tuple(findings),
            memory.empty_reason(),
        )


def _shown(rule: str, subjects: Iterable[str], unlisted: int = 0) -> list[Finding]:
    return listed_findings(rule, [*subjects], *VERIFICATION_RULES[rule], unlisted=unlisted)


def _names(memory: Namespace, rows: Sequence[Row]) -> Iterator[str]:
    keys = memory.names(ids={end for row in rows for end in identity(row)[1:]})
    for row in rows:
        room, *parts = identity(row)
        if isinstance(row, MemoryRow):
            parts = [row.key]
        yield f"{room}: {' '.join(label(keys.get(part, part)) for part in parts)}"


class _Content:
    """What a walk visits: whether texts are those of their digests, and vectors are unit vectors of one length."""

    def __init__(self) -> None:
        self.vectors = 0
        self._kinds: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._wrong: dict[str, list[tuple[str, str, str]]] = {"digest": [], "bad-vector": []}
        """By rule, the memories of what is wrong, with the words before and after their keys."""

    def visit(self, row: Row | VectorRow) -> None:
        """Look at a row; memories come before their versions."""
        if isinstance(row, MemoryRow):
            self._kinds[row.id] = row.kind
        elif isinstance(row, VersionRow):
            if row.id in self._kinds and row.digest not in _text(row, self._kinds[row.id]).digests:
                self._wrong["digest"].append((f"version {row.version} of ", row.id, ""))
        elif isinstance(row, VectorRow):
            self.vectors += 1
            vectors = unpacked(row.vector[: len(row.vector) // 4 * 4])
            size = self._sizes.setdefault(row.generation, len(vectors.whole))
            if len(row.vector) % 4 or len(vectors.whole) != size or not _are_unit(vectors):
                self._wrong["bad-vector"].append(("", row.id, f" version {row.version}, {row.generation}"))

    def findings(self, memory: Namespace) -> Iterator[Finding]:
        """Yield the versions whose text is not that of their digest, and the vectors that are none."""
        for rule, wrong in self._wrong.items():
            keys = memory.names(ids={memory_id for _, memory_id, _ in wrong})
            yield from _shown(rule, (f"{a}{label(keys.get(each, each))}{b}" for a, each, b in wrong))


def _text(version: VersionRow, kind: str) -> Draft:
    names = ("heading", "session", "speaker", "occurred_at")
    return Draft(version.content, kind=kind, **{name: getattr(version, name) for name in names})


def _are_unit(vectors: TextVectors) -> bool:
    """Tell whether the whole has the length 1, and each passage that or, without any word, 0."""
    whole = float(np.linalg.norm(vectors.whole.astype(np.float64)))
    passages = np.linalg.norm(vectors.passages.astype(np.float64), axis=1)
    off = np.minimum(np.abs(passages - 1), np.abs(passages))
    return abs(whole - 1) < _TOLERANCE and bool((off < _TOLERANCE).all())


def _stale_snapshot(memory: Namespace) -> tuple[bool, Iterable[str]]:
    """Tell whether there is a snapshot on disk that would be used, and how it differs from the rows."""
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


_ROUNDING = 1e-5
"""Single precision has seven digits."""


def differences(actual: NamespaceArrays, expected: NamespaceArrays) -> Iterator[str]:
    """Yield what differs, in words, with the ids of the memories."""
    states, expected_states = _states(actual), _states(expected)
    for memory_id in states.keys() | expected_states.keys():
        if memory_id not in expected_states:
            yield f"it has {memory_id}, which is not in recall"
        elif memory_id not in states:
            yield f"it lacks {memory_id}"
        elif states[memory_id] != expected_states[memory_id]:
            yield f"it has another text or state of {memory_id}"
    yield from _vector_differences(actual, expected)
    links, expected_links = _links(actual), _links(expected)
    for link in links.keys() | expected_links.keys():
        if links.get(link) != expected_links.get(link):
            source, target, relation = link
            yield f"its link {relation} from {source} to {target} differs"


def _states(working: NamespaceArrays) -> dict[str, tuple[Any, ...]]:
    """Map each id to the kind of its memory; of a text also its length, language and time, and its terms."""
    states = {}
    for memory_id, row in working.row_of.items():
        document = int(working.document[row])
        state: tuple[Any, ...] = (int(working.kind[row]),)
        if document >= 0:
            columns = (working.language, working.asks, working.specificity)
            times = float(working.occurred[document]), float(working.told_at[document])
            state += (
                float(working.lexicon.length[document]),
                *(column[document].item() for column in columns),
                *(None if np.isnan(time) else time for time in times),
            )
        states[memory_id] = state
    return states


def _vector_differences(actual: NamespaceArrays, expected: NamespaceArrays) -> Iterator[str]:
    for memory_id, row in actual.row_of.items():
        other = expected.row_of.get(memory_id)
        at = int(actual.document[row])
        document = -1 if other is None else int(expected.document[other])
        if at < 0 or document < 0:
            continue
        vectors = actual.vectors[at], expected.vectors[document]
        passages = actual.passages.of(at)[0], expected.passages.of(document)[0]
        if len(passages[0]) != len(passages[1]) or not all(
            np.allclose(*pair, atol=_ROUNDING) for pair in (vectors, passages)
        ):
            yield f"it has another vector of {memory_id}"


def _links(working: NamespaceArrays) -> dict[tuple[str, str, str], tuple[float, bool]]:
    topology, ids = working.topology, working.ids
    return {
        (ids[source], ids[target], topology.relations[relation]): (weight, explicit)
        for source, target, relation, weight, explicit, alive in zip(
            topology.source.values.tolist(),
            topology.target.values.tolist(),
            topology.relation.values.tolist(),
            topology.weight.values.tolist(),
            topology.explicit.values.tolist(),
            topology.alive.values.tolist(),
            strict=True,
        )
        if alive
    }
