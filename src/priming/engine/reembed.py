"""Vectors of the present embedder for texts that another one saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from priming.config.params.embedding import EMBEDDER
from priming.index.document import RULES, embedded_text
from priming.namespace import Namespace
from priming.store.protocol import VersionKey
from priming.store.rows import VersionRow

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
