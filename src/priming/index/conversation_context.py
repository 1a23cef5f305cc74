"""The order of turns in their sessions.

A session is a conversation if a question in it is followed by a turn of another speaker: a day of commits is
none.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from priming.config.values import dataclass
from priming.core.arguments.arrays import Bools, Ints
from priming.index.columns import NONE, Column


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """Which documents are turns of a conversation, and the conversations as BM25 counts them."""

    turn: Bools
    """Whether a document is a turn of a conversation."""
    any_turns: bool
    """Whether any document is one."""
    session: Ints
    """The conversation of each document; one that is no turn is a session of its own."""


class Conversations:
    """The order of the living documents in each session: the one said before each, and the one said after it."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self.last: dict[int, int] = {}
        self.session = Column(np.int64)
        self.previous = Column(np.int64)
        self.following = Column(np.int64)

    def restore(self, sessions: list[str], last: list[int], columns: Mapping[str, NDArray[np.int64]]) -> None:
        """Take the state of a snapshot."""
        self.codes = {name: code for code, name in enumerate(sessions)}
        self.last = dict(enumerate(last))
        for name, values in columns.items():
            setattr(self, name, Column(values.dtype, values))

    def append(self, session: str | None, row: Ints) -> None:
        """Add the next document; ``row`` is the row of every document, its own included, and orders a session."""
        number = self.session.size
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
        previous, following = int(self.previous[number]), int(self.following[number])
        if previous != NONE:
            self.following[previous] = following
        if following != NONE:
            self.previous[following] = previous
        session = int(self.session[number])
        if session != NONE and self.last.get(session) == number:
            self.last[session] = previous
        self.previous[number] = self.following[number] = NONE

    def context(self, speaker: Ints, asks: Bools) -> ConversationContext:
        """The turns of conversations; ``speaker`` is a number for each name, and ``asks`` marks the questions.

        A session is a conversation if a question in it is followed by a turn of another speaker.
        """
        turn = self._turns(speaker, asks)
        session = np.where(turn, self.session.values, len(self.codes) + np.arange(self.session.size))
        return ConversationContext(turn, bool(turn.any()), session)

    def _turns(self, speaker: Ints, asks: Bools) -> Bools:
        previous = self.previous.values
        second = np.flatnonzero(previous != NONE)
        first = previous[second]
        answers = second[asks[first] & (speaker[first] != NONE) & (speaker[second] != speaker[first])]
        conversation = np.zeros(len(self.codes) + 1, np.bool_)
        conversation[self.session.values[answers]] = True
        neighboured = (previous != NONE) | (self.following.values != NONE)
        return np.asarray(neighboured & conversation[self.session.values])
