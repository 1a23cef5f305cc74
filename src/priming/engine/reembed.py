"""Vectors of the present embedder for texts that another one saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from priming.config.params.embedding import EMBEDDER
from priming.engine.document import RULES, embedded_text
from priming.engine.opened import Opened
from priming.store.protocol import VersionKey
from priming.store.rows import VersionRow

Progress = Callable[[int, int | None], None]


def reembed(opened: Opened, progress: Progress | None = None) -> int:
    """Make the vectors that the present generation lacks, of all versions; how many were made.

    Each batch is kept when it is done, so that what was interrupted goes on where it stopped. Vectors are derived:
    nothing is logged, and those of other generations stay, for who goes back to them.
    """
    with opened.lock:
        opened.readable()
        there = {key for key, _ in opened.store.vectors(opened.namespace, opened.embedder.generation)}
        texts = {(one.id, one.version): one for one in _texts(opened)}  # a version may have several rows
    lacking = [one for key, one in texts.items() if key not in there]
    made = 0
    try:
        for first in range(0, len(lacking), EMBEDDER.reembed_batch):
            some = lacking[first : first + EMBEDDER.reembed_batch]
            made += _keep(opened, some)
            if progress is not None:
                progress(first + len(some), len(lacking))
    finally:
        if made:
            with opened.lock:
                opened.drop_snapshot()
    return made


def _texts(opened: Opened, memory_id: str | None = None) -> list[VersionRow]:
    return [one for one in opened.store.versions(opened.namespace, memory_id) if one.source != RULES]


def _keep(opened: Opened, some: Sequence[VersionRow]) -> int:
    """Embed some versions, and keep the vectors of those whose text is still the same."""
    vectors = opened.embedder.embed([_text(one) for one in some])
    found: dict[VersionKey, bytes] = {}
    with opened.lock, opened.store.transaction():
        present = {
            (one.id, one.version): _text(one)
            for id_ in {one.id for one in some}
            for one in _texts(opened, id_)
        }
        for one, vector in zip(some, vectors, strict=True):
            key = one.id, one.version
            if vector.any() and present.get(key) == _text(one):
                found[key] = vector.astype("<f4").tobytes()
        opened.store.add_vectors(opened.namespace, opened.embedder.generation, found)
    return len(found)


def _text(one: VersionRow) -> str:
    return embedded_text(one.heading or one.speaker, one.content)
