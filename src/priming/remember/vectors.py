"""When vectors are made: of a few texts as they are stored, of many by the load itself, or by what comes after it.

Vectors are derived: nothing is logged, those of other generations stay, and whoever is interrupted has lost nothing.
Until a text has its vector, its meaning is that of its words. One process at a time makes them, as one sleeps: it
holds a lock file beside the database, or a lease of the database's server.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import datetime
from itertools import groupby
from math import inf
from pathlib import Path

from priming.config import private_files
from priming.config.params.limits import VECTORS
from priming.embedding.protocol import Embedder, is_remote
from priming.errors import Busy, PrimingError, StoreError
from priming.index.document import RULES, embedded_text, is_long, packed_vectors, vectors_needed, vectors_of
from priming.namespace import Namespace
from priming.storage.protocol import Store, VersionKey
from priming.storage.rows import VersionRow
from priming.types import Progress


def alone(store: Store, name: str, kind: str, now: datetime, doing: str) -> AbstractContextManager[None]:
    """Do work of a kind on what ``name`` names while the block runs; ``Busy`` if another process does."""
    folder, digest = store.place.scratch, hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
    if folder is None:
        return store.lease(name, doing)
    return _lock_file(folder / f"{digest}.{kind}", now, doing)


@contextmanager
def _lock_file(path: Path, now: datetime, doing: str) -> Iterator[None]:
    """Hold a lock file while the block runs.

    ``Busy`` names the process that holds it, and since when. The system releases the lock when the process ends,
    even if it is killed.
    """
    try:
        descriptor = private_files.take(path)
        if descriptor is None:
            who = path.read_text("utf-8", "replace").strip() or "another process"
            raise Busy(f"{who} {doing}: wait for it to finish, or stop it")
    except OSError as error:
        raise StoreError(f"the lock file {path} cannot be written: {error}") from None
    try:
        with suppress(OSError):  # a full disk
            os.ftruncate(descriptor, 0)
            os.write(
                descriptor, f"process {os.getpid()}, since {now.isoformat(timespec='seconds')},".encode()
            )
        yield
    finally:
        os.close(descriptor)


def follow(memory: Namespace, seconds: float, *, progress: Progress | None = None) -> int:
    """Make the vectors that memories wait for, a few at least, and on for so many seconds; return their number.

    Nothing happens unasked where texts would be sent elsewhere, where the namespace cannot be written, or where
    another process makes them.
    """
    until, added = time.monotonic() + seconds, 0
    with suppress(PrimingError):
        if is_remote(memory.embedder) or memory.is_read_only:
            return 0
        with memory.reading() as now:
            waiting = memory.working(now).waiting_ids[: VECTORS.followed]
        if waiting:
            with memory.writing():
                pass  # what cannot be written is not computed
            most = max(1.0, seconds * VECTORS.a_second)
            added = complete(memory, waiting, until=until, most=most, progress=progress)
    return added


def complete(
    memory: Namespace,
    ids: Collection[str],
    *,
    until: float = inf,
    most: float = inf,
    progress: Progress | None = None,
) -> int:
    """Make the vectors that these memories lack; return the number of those that have theirs now.

    Those of which one alone needs more than ``most`` are left. Without a limit in time it waits for its turn.
    """
    with memory.reading() as now:
        waits = memory.must_wait((), later=True) or memory.working(now).missing_vectors
        keys = _keys(memory, ids, now, most) if waits else []
    return make(memory, memory.embedder, keys, until=until, progress=progress)


def _keys(memory: Namespace, ids: Collection[str], now: datetime, most: float) -> list[VersionKey]:
    """Return the versions, valid now, of those of the memories that lack a vector, without those of longer texts."""
    if not ids:
        return []
    stored = memory.embedded_versions(memory.embedder.generation, ids)
    records = memory.records(now, ids=ids)
    rows = [record for record in map(records.get, ids) if record is not None and record.source != RULES]
    return [
        key for row in rows if (key := (row.id, row.version)) not in stored and vectors_needed([row]) <= most
    ]


def reembed(memory: Namespace, *, progress: Progress | None = None) -> int:
    """Compute the missing vectors of the embedder, for every version of every text; return their number.

    Call it on a store that was made with another embedder, or on one where many memories wait. After an interrupt it
    continues where it stopped.

    Args:
        progress: called with (done, total).

    Raises:
        EmbedderError: the embedder failed; the vectors computed before are kept.

    """
    return embed_missing(memory, memory.embedder, progress)


def embed_missing(memory: Namespace, embedder: Embedder, progress: Progress | None) -> int:
    """Compute the missing vectors of an embedder; their number. Others may recall and write meanwhile."""
    added = 0
    # Texts that are stored while others are embedded have vectors of the former embedder only.
    while missing := _unembedded(memory, embedder):
        number = make(memory, embedder, missing, progress=progress)
        added += number
        if not number:
            break  # what is left has no tokens
    return added


def _unembedded(memory: Namespace, embedder: Embedder) -> list[VersionKey]:
    """Return the versions without a whole vector of an embedder, the oldest memory first."""
    with memory.lock:
        stored = memory.embedded_versions(embedder.generation)
        texts = dict.fromkeys((row.id, row.version) for row in _versions(memory))  # some have several rows
    return [key for key in texts if key not in stored]


def make(
    memory: Namespace,
    embedder: Embedder,
    keys: Sequence[VersionKey],
    *,
    until: float = inf,
    progress: Progress | None = None,
) -> int:
    """Make the vectors that these versions lack, a few at a time, each time in turn with other processes."""
    added = 0
    for first in range(0, len(keys), VECTORS.reembed_batch):
        if first and time.monotonic() >= until:
            break
        batch = keys[first : first + VECTORS.reembed_batch]
        with _turn(memory, waits=until == inf):
            added += _add_vectors(memory, embedder, batch, until)
        if progress is not None:
            progress(first + len(batch), len(keys))
    return added


@contextmanager
def _turn(memory: Namespace, *, waits: bool) -> Iterator[None]:
    """Hold the turn of the only process that makes vectors of the namespace; ``Busy`` where it is not to wait."""
    with ExitStack() as stack:
        while True:
            turn = alone(
                memory.store, memory.namespace, "vectors", memory.now(), "makes vectors of this namespace"
            )
            try:
                stack.enter_context(turn)
                break
            except Busy:
                if not waits:
                    raise
            time.sleep(VECTORS.turn)
        yield


def _add_vectors(memory: Namespace, embedder: Embedder, keys: Sequence[VersionKey], until: float) -> int:
    """Embed those of a batch that still lack a vector, and store those whose text has not changed meanwhile.

    Long texts are embedded one by one, while there is time.
    """
    ids = {memory_id for memory_id, _ in keys}
    with memory.reading():
        stored = memory.embedded_versions(embedder.generation, ids)
        rows = _texts(memory, ids)
    lacking = [key for key in keys if key in rows and key not in stored]
    if not lacking:
        return 0
    vectors = dict[VersionKey, bytes]()
    for _, group in groupby(lacking, lambda key: key if is_long(rows[key].content) else None):
        part = list(group)
        if not vectors or time.monotonic() < until:
            vectors |= packed_vectors(part, vectors_of(embedder, [rows[key] for key in part]))
    with memory.writing():
        present = _texts(memory, ids)
        same = {key: vector for key, vector in vectors.items() if _text(present.get(key)) == _text(rows[key])}
        memory.add_vectors(embedder.generation, same)
    return len(same)


def _texts(memory: Namespace, ids: Collection[str]) -> dict[VersionKey, VersionRow]:
    return {(row.id, row.version): row for row in _versions(memory, ids)}


def _versions(memory: Namespace, ids: Collection[str] | None = None) -> list[VersionRow]:
    return [row for row in memory.rows(VersionRow, ids=ids) if row.source != RULES]


def _text(row: VersionRow | None) -> str | None:
    return None if row is None else embedded_text(row.heading or row.speaker, row.content)
