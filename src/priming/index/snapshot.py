"""The working set on disk: a disposable file beside the database, memory-mapped when it is opened.

It is stamped with the last operation that it contains, and brought up to date from the log. A file that is missing,
truncated, or of another store, embedder or version costs the time to build the working set again, never data.

A file is a line of JSON (its contents, their offsets, and a checksum of both), then the arrays, each aligned to 64
bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config import private_files
from priming.config.variables import VERSION
from priming.embedding.protocol import Embedder
from priming.index.columns import Column, Ragged, VectorColumn
from priming.index.cue_feedback import CueFeedback, Practice
from priming.index.document import bare_terms
from priming.index.nearest import NearestIndex, PassageColumn
from priming.index.vocabulary import Vocabulary
from priming.index.working_set import WorkingSet
from priming.storage.protocol import Store
from priming.storage.questions import StoredNamespace

FORMAT = 22
_ALIGN, _SNAPSHOT_AFTER = 64, 256
_WORDS = 50
"""Words that take as long to read as a row does."""
_COLUMNS = tuple(
    "alive kind document row living embedded title spoken occurred told_at day_order language asks learned"  # noqa: SIM905
    " states specificity token_df title_count title_spoken title_entity".split()
)
_SESSION_COLUMNS = ("session", "previous", "following")
_LINK_COLUMNS = ("source", "target", "relation", "weight", "explicit", "activated", "mentioned", "words")
ArrayMap = Mapping[str, NDArray[Any]]


def _is_due(working: WorkingSet) -> bool:
    """Tell whether enough was added since the last snapshot for a new one to save more time than it costs."""
    dead = int(np.count_nonzero(~working.alive.values))
    new = _size(working) - working.snapshot_size + working.late_vectors
    return new > max(_SNAPSHOT_AFTER, working.snapshot_size // 100) and dead * 3 < working.rows


def _size(working: WorkingSet) -> int:
    """Count its rows, or as many as take as long to read as its words."""
    return max(working.rows, int(working.lexicon.total_length) // _WORDS)


def save(working: WorkingSet, path: Path, stamp: Mapping[str, Any]) -> None:
    """Write the working set; the file appears only when it is complete."""
    facts, arrays = _captured(working)
    private_files.make_folder(path.parent)
    _clear_remains(path)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    with private_files.replacing(path, partial):
        private_files.create_file(partial)
        with partial.open("wb") as file:
            _write(file, {**facts, "stamp": dict(stamp), "format": FORMAT}, arrays)
            file.flush()
            os.fsync(file.fileno())


def _clear_remains(path: Path) -> None:
    """Delete what processes left that were killed while they wrote this file."""
    for remains in path.parent.glob(f"{path.name}.*.partial"):
        if not private_files.is_alive(remains.name.split(".")[-2]):
            remains.unlink(missing_ok=True)


def load(working: WorkingSet, path: Path, accept: Callable[[Mapping[str, Any]], bool]) -> bool:
    """Fill an empty working set from a file whose stamp is accepted; return False if the file is unusable."""
    try:
        contents = _read(path)
        if contents is None or contents[0]["format"] != FORMAT or not accept(contents[0]["stamp"]):
            return False
        _restore(working, *contents)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    working.head = int(contents[0]["stamp"]["head"])
    return True


class SnapshotFile:
    """The snapshot of one namespace, beside the database of its store; a store in memory has none."""

    def __init__(self, store: Store, namespace: str, embedder: Embedder) -> None:
        self._stored = StoredNamespace(store, namespace)
        self._embedder = embedder

    @property
    def path(self) -> Path | None:
        """Where the file is."""
        folder = self._stored.store.place.scratch
        name = hashlib.blake2b(self._stored.namespace.encode(), digest_size=8).hexdigest()
        return None if folder is None else folder / f"{name}.snapshot"

    def load(self) -> WorkingSet:
        """Return the working set of the file; an empty one if the file is missing or unusable."""
        path, working = self.path, self._empty()
        if path is None or load(working, path, self._is_ours):
            return working
        return self._empty()

    def save(self, working: WorkingSet) -> None:
        """Write the working set if that saves time and it contains nothing that was purged."""
        path = self.path
        if path is None or not self._stored.store.place.exists:
            return
        if not _is_due(working) or self._purged_since(working.head):
            return
        if self._was_embedded(working):
            return
        stamp = {
            **self._stamp(),
            "head": working.head,
            "operation": self._stored.operation_id(working.head),
        }
        # It is disposable: a full disk or a folder that cannot be written costs time at the next open, no more.
        with suppress(OSError):
            save(working, path, stamp)
            # Another process may have purged meanwhile, and have found no snapshot to delete.
            if self._purged_since(working.head):
                self.delete()

    def delete(self) -> None:
        """Delete the file, and the remains of an interrupted save."""
        path = self.path
        if path is not None:
            for leftover in path.parent.glob(f"{path.name}*"):
                leftover.unlink(missing_ok=True)

    def _empty(self) -> WorkingSet:
        return WorkingSet(self._stored.store, self._stored.namespace, self._embedder)

    def _stamp(self) -> dict[str, Any]:
        return {
            "namespace": self._stored.namespace,
            "generation": self._embedder.generation,
            "version": VERSION,
        }

    def _is_ours(self, stamp: Mapping[str, Any]) -> bool:
        """Tell whether a snapshot was taken of this namespace of this store, and no purge came after."""
        if {**self._stamp(), **stamp} != {**stamp, **self._stamp()} or "operation" not in stamp:
            return False
        return bool(self._stored.operation_id(stamp["head"]) == stamp["operation"])

    def _was_embedded(self, working: WorkingSet) -> bool:
        """Tell whether another process embedded texts whose vectors the working set lacks."""
        vectors = self._stored.stored_vectors(self._embedder.generation, working.waiting_ids)
        return any(True for _ in vectors)

    def _purged_since(self, head: int) -> bool:
        return any(logged.erased for logged in self._stored.operations(after=head, rows=False))


def _write(file: Any, facts: Mapping[str, Any], arrays: ArrayMap) -> None:
    places, offset = {}, 0
    for name, array in arrays.items():
        places[name] = [array.dtype.str, list(array.shape), offset]
        offset += -(-array.nbytes // _ALIGN) * _ALIGN
    body = json.dumps({**facts, "arrays": places, "size": offset}, ensure_ascii=False).encode()
    head = b"%08x %d\n" % (zlib.crc32(body), len(body))
    file.write(head + body)
    file.write(b"\0" * (-(len(head) + len(body)) % _ALIGN))
    for array in arrays.values():
        file.write(np.ascontiguousarray(array).data)
        file.write(b"\0" * (-array.nbytes % _ALIGN))


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    with private_files.open_file(path) as file:
        head = file.readline(64)
        check, length = head.split()
        body = file.read(min(int(length), path.stat().st_size))
    if zlib.crc32(body) != int(check, 16):
        return None
    facts = json.loads(body)
    start = -(-(len(head) + len(body)) // _ALIGN) * _ALIGN
    if path.stat().st_size != start + facts["size"]:
        return None
    whole = np.memmap(path, np.uint8, "r") if facts["size"] else np.zeros(start, np.uint8)
    arrays = {}
    for name, (kind, shape, offset) in facts["arrays"].items():
        dtype = np.dtype(kind)
        size = dtype.itemsize * int(np.prod(shape))
        arrays[name] = np.asarray(whole[start + offset : start + offset + size]).view(dtype).reshape(shape)
    return facts, arrays


def _captured(working: WorkingSet) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    lexicon, topology = working.lexicon, working.topology
    topology.compact()
    arrays = {name: getattr(working, name).values for name in _COLUMNS}
    arrays |= {f"session.{name}": getattr(working.conversations, name).values for name in _SESSION_COLUMNS}
    arrays |= {f"link.{name}": getattr(topology, name).values for name in _LINK_COLUMNS}
    arrays |= _numbered("out", topology.base[0]) | _numbered("in", topology.base[1])
    arrays |= _numbered("postings", lexicon.packed()) | _numbered("sequences", lexicon.sequences.packed())
    arrays |= _numbered("tokens", working.tokens.packed()) | _numbered("signs", working.neighbours.packed())
    arrays |= _numbered("passages", working.passages.packed())
    arrays |= {"df": lexicon.df.values, "length": lexicon.length.values, "vectors": working.vectors.packed()}
    arrays["words"] = working.vocabulary.vectors(lexicon.words).packed()
    arrays["ids"] = np.array(working.ids, "S36")
    arrays["entity_rows"] = np.array(list(working.slots), np.int64)
    sessions, last = working.conversations.codes, working.conversations.last
    facts = {
        "terms": list(lexicon.terms),
        "words": lexicon.words,
        "totals": [lexicon.total_length, lexicon.documents],
        "relations": topology.relations,
        "entities": list(working.slots.values()),
        "sessions": list(sessions),
        "session_last": [last.get(code, -1) for code in range(len(sessions))],
        "titles": list(working.titles),
        "title_terms": [list(terms) for terms in working.title_terms],
        "title_slots": dict(working.title_slots),
        "predicates": {str(document): dict(when) for document, when in working.predicates.items()},
        "named_days": {str(document): days for document, days in working.named_days.items()},
        "boundaries": working.boundaries,
        "cue_feedback": list(working.cue_feedback),
        "practice": {memory_id: astuple(practice) for memory_id, practice in working.practice.items()},
    }
    return facts, arrays


def _numbered(name: str, arrays: tuple[NDArray[Any], ...]) -> dict[str, NDArray[Any]]:
    return {f"{name}.{i}": array for i, array in enumerate(arrays)}


def _together(name: str, arrays: ArrayMap) -> tuple[Any, ...]:
    count = sum(key.startswith(f"{name}.") for key in arrays)
    return tuple(arrays[f"{name}.{i}"] for i in range(count))


def _restore(working: WorkingSet, facts: Mapping[str, Any], arrays: ArrayMap) -> None:
    for name in _COLUMNS:
        setattr(working, name, Column(arrays[name].dtype, arrays[name], default=0))
    working.ids = arrays["ids"].astype("U36").tolist()
    alive = arrays["alive"].tolist()
    rows = list(enumerate(working.ids))
    working.row_of = {memory_id: row for row, memory_id in rows if alive[row]}
    working.reserved_rows = {memory_id: row for row, memory_id in rows if memory_id and not alive[row]}
    working.slots = dict(zip(arrays["entity_rows"].tolist(), facts["entities"], strict=True))
    working.entities = {slot: row for row, slot in sorted(working.slots.items(), reverse=True)}
    working.lexicon.load(
        facts["terms"],
        facts["words"],
        arrays["df"],
        _together("postings", arrays),
        _together("sequences", arrays),
        arrays["length"],
        (float(facts["totals"][0]), int(facts["totals"][1])),
    )
    working.vectors = VectorColumn(working.vectors.dimension, arrays["vectors"])
    working.neighbours = NearestIndex(working.vectors, *_together("signs", arrays))
    working.passages = PassageColumn(working.vectors.dimension, *_together("passages", arrays))
    working.vocabulary = Vocabulary(working.embedder, arrays["words"])
    working.tokens = Ragged(*_together("tokens", arrays))
    order = {name: arrays[f"session.{name}"] for name in _SESSION_COLUMNS}
    working.conversations.restore(facts["sessions"], facts["session_last"], order)
    links = {name: arrays[f"link.{name}"] for name in _LINK_COLUMNS}
    working.topology.restore(facts["relations"], links, (_together("out", arrays), _together("in", arrays)))
    _restore_names(working, facts)


def _restore_names(working: WorkingSet, facts: Mapping[str, Any]) -> None:
    working.titles = {name: code for code, name in enumerate(facts["titles"])}
    working.title_terms = [tuple(terms) for terms in facts["title_terms"]]
    titles = zip(facts["titles"], working.title_terms, strict=True)
    working.title_bare = [bare_terms(title, terms) for title, terms in titles]
    for code, terms in enumerate(working.title_terms):
        if terms:
            working.titles_by_term.setdefault(terms[0], []).append(code)
    working.title_slots = facts["title_slots"]
    working.snapshot_size = _size(working)
    working.predicates = {int(document): when for document, when in facts["predicates"].items()}
    days = facts["named_days"]
    working.named_days = {int(number): tuple(map(tuple, own)) for number, own in days.items()}
    working.boundaries = facts["boundaries"]
    working.cue_feedback = CueFeedback(map(tuple, facts["cue_feedback"]), working.main_language)
    for memory_id, (uses, first, recent, *reviewed) in facts["practice"].items():
        working.practice[memory_id] = Practice(uses, first, tuple(recent), *reviewed)
