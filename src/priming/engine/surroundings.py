"""What of the memories' neighbourhoods no cue plays a part in: counted once, until a document comes or goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from priming.core.check import Floats
from priming.core.lexical import length_norm
from priming.engine.columns import Ints

if TYPE_CHECKING:
    from priming.engine.arrays import Arrays


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Sessions as BM25 counts them, and who has neighbours."""

    neighboured: NDArray[np.bool_]
    """Whether a document has a neighbour in its session."""
    some: bool
    """Whether any has."""
    earlier: tuple[tuple[Ints, Ints], ...]
    """By distance from 1 on: the documents before which so much was said in their window, and what was said there."""
    reaches: Ints
    """How many documents each window holds beside the document itself."""
    session: Ints
    """The session of each document; one without is a session of its own."""
    sessions: int
    """Sessions that have terms, 1 at the least."""
    session_norm: Floats
    """What occurrences are saturated by in each session."""


def surroundings(arrays: Arrays, reach: int) -> Surroundings:
    """Count them; windows reach so far back."""
    neighboured = (arrays.before.values >= 0) | (arrays.behind.values >= 0)
    session, sessions, session_norm = _sessions(arrays)
    earlier = _earlier(arrays.before.values, reach)
    reaches = np.zeros(arrays.documents, np.int64)
    for held, _ in earlier:
        reaches[held] += 1
    return Surroundings(
        neighboured, bool(neighboured.any()), earlier, reaches, session, sessions, session_norm
    )


def _earlier(before: Ints, reach: int) -> tuple[tuple[Ints, Ints], ...]:
    held = at = np.arange(len(before))
    found = []
    for _ in range(reach):
        at = before[at]
        held, at = held[at >= 0], at[at >= 0]
        found.append((held, at))
    return tuple(found)


def _sessions(arrays: Arrays) -> tuple[Ints, int, Floats]:
    known, documents = len(arrays.sessions), arrays.documents
    of = np.where(arrays.session.values < 0, known + np.arange(documents), arrays.session.values)
    living = arrays.living.values
    weights = arrays.lexicon.length.values[living]
    length = np.bincount(of[living], weights=weights, minlength=known + documents)
    count = max(int(np.count_nonzero(length)), 1)
    return of, count, np.asarray(length_norm(length, max(float(length.sum()) / count, 1.0)))
