"""The order of turns: sessions, and the window of a document with the turns before it.

No cue plays a part in any of this; it is computed once and cached until a document is added or removed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, Ints
from priming.core.lexical import length_norm
from priming.index.columns import NONE, Column

WINDOW = 2
"""Number of earlier turns in a document's window."""


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """Which documents are turns of a conversation, and the conversations as BM25 counts them."""

    turn: NDArray[np.bool_]
    """Whether a document is a turn of a conversation."""
    any_turns: bool
    """Whether any document is one."""
    is_mixed: bool
    """Whether there are other documents beside turns."""
    following: Ints
    """The next turn of its conversation for each document; −1 where there is none."""
    earlier: tuple[tuple[Ints, Ints], ...]
    """By distance from 1 on: the documents whose windows reach that far back, and the document they reach."""
    window_sizes: Ints
    """How many documents each window holds beside the document itself."""
    session: Ints
    """The conversation of each document; one that is no turn is a session of its own."""
    sessions: int
    """Number of sessions with terms, at least 1."""
    session_norm: Floats
    """BM25's length normalisation of each session."""


class Conversations:
    """The order of the living documents in each session: the one said before each, and the one said after it."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self.last: dict[int, int] = {}
        self.session = Column(np.int64)
        self.previous = Column(np.int64)
        self.following = Column(np.int64)
        self._context: ConversationContext | None = None
        self._window_norm: tuple[float, Floats] | None = None

    def restore(self, sessions: list[str], last: list[int], columns: Mapping[str, NDArray[np.int64]]) -> None:
        """Take the state of a snapshot."""
        self.codes = {name: code for code, name in enumerate(sessions)}
        self.last = dict(enumerate(last))
        for name, values in columns.items():
            setattr(self, name, Column(values.dtype, values))

    def append(self, session: str | None, row: Ints) -> None:
        """Add the next document; ``row`` is the row of every document, its own included, and orders a session."""
        number = self.session.size
        self._changed()
        self.previous.append(NONE)
        self.following.append(NONE)
        if session is None:
            self.session.append(NONE)
            return
        code = self.codes.setdefault(session, len(self.codes))
        self.session.append(code)
        previous, following = self.last.get(code, NONE), NONE
        while previous != NONE and row[previous] > row[number]:
            previous, following = int(self.previous[previous]), previous
        self.previous[number], self.following[number] = previous, following
        if previous != NONE:
            self.following[previous] = number
        if following != NONE:
            self.previous[following] = number
        else:
            self.last[code] = number

    def remove(self, number: int) -> None:
        """Take a document out; its neighbours become each other's."""
        self._changed()
        previous, following = int(self.previous[number]), int(self.following[number])
        if previous != NONE:
            self.following[previous] = following
        if following != NONE:
            self.previous[following] = previous
        session = int(self.session[number])
        if session != NONE and self.last.get(session) == number:
            self.last[session] = previous
        self.previous[number] = self.following[number] = NONE

    def _changed(self) -> None:
        self._context = self._window_norm = None

    def window_norm(
        self, context: ConversationContext, fade: float, lengths: Floats, living: NDArray[np.bool_]
    ) -> Floats:
        """BM25's length normalisation of each window."""
        if self._window_norm is None or self._window_norm[0] != fade:
            targets, at, weights = windowed(context, np.arange(len(lengths)), fade)
            lengths = np.where(living, lengths, 0.0)
            total = np.bincount(targets, weights=lengths[at] * weights, minlength=len(lengths))
            mean = float(total[living].mean()) if living.any() else 1.0
            self._window_norm = fade, np.asarray(length_norm(total, max(mean, 1.0)))
        return self._window_norm[1]

    def context(
        self, lengths: Floats, living: NDArray[np.bool_], speaker: Ints, asks: NDArray[np.bool_]
    ) -> ConversationContext:
        """The turns of conversations; ``speaker`` is a number for each name, and ``asks`` marks the questions.

        A session is a conversation if a question in it is followed by a turn of another speaker.
        """
        if self._context is None:
            turn = self._turns(speaker, asks)
            session, sessions, session_norm = self._sessions(lengths, living, turn)
            earlier = _earlier(np.where(turn, self.previous.values, NONE), WINDOW)
            following = np.where(turn, self.following.values, NONE)
            sizes = np.zeros(self.session.size, np.int64)
            for documents, _ in earlier:
                sizes[documents] += 1
            any_turns = bool(turn.any())
            is_mixed = any_turns and bool((living & ~turn).any())
            self._context = ConversationContext(
                turn, any_turns, is_mixed, following, earlier, sizes, session, sessions, session_norm
            )
        return self._context

    def _turns(self, speaker: Ints, asks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        previous = self.previous.values
        second = np.flatnonzero(previous != NONE)
        first = previous[second]
        answers = second[asks[first] & (speaker[first] != NONE) & (speaker[second] != speaker[first])]
        conversation = np.zeros(len(self.codes) + 1, np.bool_)
        conversation[self.session.values[answers]] = True
        neighboured = (previous != NONE) | (self.following.values != NONE)
        return np.asarray(neighboured & conversation[self.session.values])

    def _sessions(
        self, lengths: Floats, living: NDArray[np.bool_], turn: NDArray[np.bool_]
    ) -> tuple[Ints, int, Floats]:
        named, documents = len(self.codes), self.session.size
        session = np.where(turn, self.session.values, named + np.arange(documents))
        length = np.bincount(session[living], weights=lengths[living], minlength=named + documents)
        count = max(int(np.count_nonzero(length)), 1)
        return session, count, np.asarray(length_norm(length, max(float(length.sum()) / count, 1.0)))


def windowed(context: ConversationContext, documents: Ints, fade: float) -> tuple[Ints, Ints, Floats]:
    """The documents whose windows hold each of ``documents``, the position it came from, and its weight.

    A window is the document (weight 1) and the turns before it (``fade``, then its square).
    """
    at, where = documents, np.arange(len(documents))
    targets, positions, weights = [at], [where], [np.ones(len(at))]
    for distance in range(1, WINDOW + 1):
        at = context.following[at]
        where, at = where[at != NONE], at[at != NONE]
        targets.append(at)
        positions.append(where)
        weights.append(np.full(len(at), fade**distance))
    return np.concatenate(targets), np.concatenate(positions), np.concatenate(weights)


def window_mean(context: ConversationContext, values: Floats, fade: float) -> Floats:
    """The weighted mean of ``values`` over the window of each document."""
    total = values.copy()
    for distance, (documents, at) in enumerate(context.earlier, 1):
        total[documents] += fade**distance * values[at]
    weights = np.cumsum([1.0, *(fade**distance for distance in range(1, WINDOW + 1))])
    return np.asarray(total / weights[context.window_sizes])


def _earlier(previous: Ints, reach: int) -> tuple[tuple[Ints, Ints], ...]:
    documents = at = np.arange(len(previous))
    by_distance = []
    for _ in range(reach):
        at = previous[at]
        documents, at = documents[at >= 0], at[at >= 0]
        by_distance.append((documents, at))
    return tuple(by_distance)
