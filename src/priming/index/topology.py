"""The links of a namespace as a graph that grows, as weighed for the profiles in use, and the order of its turns.

``scipy.sparse`` was tried: its import costs every process that recalls half a second, and its arrays cannot
grow. A session is a conversation if a question in it is followed by a turn of another speaker: a day of commits is
none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priming.config.values import dataclass
from priming.config.words import TOUCHES
from priming.core.arguments.arrays import Bools, Floats, Ints
from priming.index.columns import NONE, Column

MENTIONS = "mentions"
NAMING = (MENTIONS, TOUCHES)
"""Relations of a memory to the entities that its text names, or that it touched: links to names."""
FOLLOWING = ("next", "next-but-one")
"""Relations of a memory to those that follow it in its session."""
SIMILAR = "similar-to"
_REBUILD_AT = 4096
WEIGHED_AFTER = 4
"""After this many recalls without a changed link, all links are weighed at once for later recalls."""
_CACHED_SETS = 4
"""For how many sets of constants (profiles, ablations) weighed links are cached."""
_BASE_COLUMNS = ("source", "target", "relation", "weight", "explicit", "activated", "alive")
NewLink = tuple[int, int, str, float, bool, float]
"""Source, target, relation, weight, whether somebody set it, and when it was active last."""
Compressed = tuple[Ints, Ints]
"""Compressed rows: offsets by row, and link numbers."""


class WeightedLinks(NamedTuple):
    """Links as seen from some rows: one element per link and row, grouped by row."""

    owner: Ints
    """Position of the row among those asked for."""
    link: Ints
    neighbour: Ints
    weight: Floats
    relation: Ints
    forward: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CompressedLinks:
    """The weighed links of all rows, row by row."""

    start: Ints
    """The links of row u are at ``start[u]`` … ``start[u + 1]``."""
    links: WeightedLinks

    @classmethod
    def of(cls, n: int, links: WeightedLinks) -> CompressedLinks:
        """Compress the links of the rows 0 … n − 1 that carry anything; offsets replace the owners."""
        carries = links.weight > 0
        links = WeightedLinks._make(column[carries] for column in links)
        start = np.concatenate([[0], np.cumsum(np.bincount(links.owner, minlength=n))])
        return cls(start.astype(np.int64), links._replace(owner=np.zeros(0, np.int64)))

    def take(self, rows: Ints) -> WeightedLinks:
        """Return the links of ``rows``."""
        first = self.start[rows]
        owner, at = stretches(first, self.start[rows + 1] - first)
        return WeightedLinks._make((owner, *(column.take(at) for column in self.links[1:])))


def stretches(first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Return positions in stretches that begin at ``first``, ``count`` long: the stretch of each, and itself."""
    owner = np.repeat(np.arange(count.size), count)
    return owner, np.arange(owner.size) + (first - (np.cumsum(count) - count)).take(owner)


class WeightCache:
    """All weighed links per set of constants, once they were asked for several times without a change."""

    def __init__(self) -> None:
        self._requests: dict[tuple[object, ...], int] = {}
        self._links: dict[tuple[object, ...], CompressedLinks] = {}

    def clear(self) -> None:
        """Drop everything: a link changed, or what weighs links did."""
        if self._requests:
            self._requests, self._links = {}, {}

    def get(
        self, constants: tuple[object, ...], weigh: Callable[[], CompressedLinks]
    ) -> CompressedLinks | None:
        """Return all weighed links; None until they have been requested often enough."""
        links = self._links.get(constants)
        if links is None:
            requests = self._requests[constants] = self._requests.get(constants, 0) + 1
            if requests <= WEIGHED_AFTER:
                return None
            if len(self._links) >= _CACHED_SETS:
                self.clear()
            links = self._links[constants] = weigh()
        return links


class Topology:
    """Growing links between rows: a base in compressed rows both ways, and a tail of additions.

    ``explicit`` marks links that a user gave, ``mentioned`` counts the links to each row as a name, and
    ``words`` marks rows that are rare words rather than names.
    """

    def __init__(self) -> None:
        self.relations: list[str] = []
        self._codes: dict[str, int] = {}
        self.source = Column(np.int64)
        self.target = Column(np.int64)
        self.relation = Column(np.int64)
        self.weight = Column(np.float64)
        self.explicit = Column(np.bool_)
        self.alive = Column(np.bool_)
        self.activated = Column(np.float64)
        self.mentioned = Column(np.int64)
        self.words = Column(np.bool_)
        self._rows = 0
        self._base_links = 0
        self._out: Compressed = (np.zeros(1, np.int64), np.zeros(0, np.int64))
        self._in: Compressed = self._out
        self._tail_out: dict[int, list[int]] = {}
        self._tail_in: dict[int, list[int]] = {}
        self.weight_cache = WeightCache()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._rows

    def add_row(self) -> None:
        """Add a row without links."""
        self.weight_cache.clear()
        self._rows += 1
        self.mentioned.append(0)
        self.words.append(False)

    def code(self, relation: str) -> int:
        """Return the code of a relation, new ones included."""
        if relation not in self._codes:
            self._codes[relation] = len(self.relations)
            self.relations.append(relation)
        return self._codes[relation]

    def has_relation(self, relation: str) -> bool:
        """Tell whether any link ever had the relation."""
        return relation in self._codes

    def put(
        self, source: int, target: int, relation: str, weight: float, *, explicit: bool, activated: float
    ) -> None:
        """Add a link, or update the existing one."""
        link = self.find(source, target, relation)
        if link is None:
            self.extend([(source, target, relation, weight, explicit, activated)])
        else:
            self.weight_cache.clear()
            self.weight[link], self.explicit[link], self.activated[link] = weight, explicit, activated

    def extend(self, links: Sequence[NewLink]) -> None:
        """Add new links."""
        self.weight_cache.clear()
        first = self.source.size
        columns = (self.source, self.target, self.relation, self.weight, self.explicit, self.activated)
        for column, values in zip(columns, zip(*links, strict=True), strict=True):
            coded = [self.code(name) for name in values] if column is self.relation else values
            column.extend(coded)
        self.alive.extend([True] * len(links))
        for link, (source, target, relation, *_) in enumerate(links, first):
            self._tail_out.setdefault(source, []).append(link)
            self._tail_in.setdefault(target, []).append(link)
            if relation in NAMING:
                self.mentioned[target] += 1
        if self.source.size - self._base_links > max(_REBUILD_AT, self._base_links // 4):
            self.compact()

    def drop(self, source: int, target: int, relation: str) -> None:
        """Remove a link, if it exists."""
        link = self.find(source, target, relation)
        if link is not None:
            self._kill(link)

    def drop_row(self, row: int) -> None:
        """Remove all links of a row."""
        for link in (*self._of(row, self._out, self._tail_out), *self._of(row, self._in, self._tail_in)):
            if self.alive[link]:
                self._kill(int(link))

    def find(self, source: int, target: int, relation: str) -> int | None:
        """Return the number of a living link, None if there is none."""
        code = self._codes.get(relation)
        if code is None:
            return None
        for link in self._of(source, self._out, self._tail_out):
            if self.target[link] == target and self.relation[link] == code and self.alive[link]:
                return int(link)
        return None

    def has_any(self, codes: Ints, relations: Sequence[str]) -> NDArray[np.bool_]:
        """Tell whether each relation, by its code, is one of ``relations``."""
        return np.isin(codes, [self._codes[name] for name in relations if name in self._codes])

    def between(self, rows: Ints, relation: str) -> NDArray[np.bool_]:
        """Tell whether a link of a relation joins each of some rows with each, whichever way: a symmetric table."""
        joined = np.zeros((len(rows), len(rows)), np.bool_)
        if relation in self._codes:
            owner, links = self.gather(rows, inward=False)
            ends = self.target.values[links], self.relation.values[links]
            own, place = np.nonzero((ends[0][:, None] == rows) & (ends[1] == self._codes[relation])[:, None])
            joined[owner[own], place] = True
        return joined | joined.T

    def _kill(self, link: int) -> None:
        self.weight_cache.clear()
        self.alive[link] = False
        if self.relations[self.relation[link]] in NAMING:
            self.mentioned[self.target[link]] -= 1

    def _of(self, row: int, base: Compressed, tail: Mapping[int, list[int]]) -> Ints:
        start, links = base
        of_base = links[start[row] : start[row + 1]] if row < len(start) - 1 else links[:0]
        return np.concatenate([of_base, np.array(tail.get(row, ()), np.int64)])

    def compact(self) -> None:
        """Rebuild the base from all living links, in the order of their numbers."""
        self.weight_cache.clear()
        keep = np.flatnonzero(self.alive.values)
        for name in _BASE_COLUMNS:
            getattr(self, name).keep(keep)
        self._base_links = len(keep)
        self._out = _compressed(self.source.values, self._rows)
        self._in = _compressed(self.target.values, self._rows)
        self._tail_out, self._tail_in = {}, {}

    @property
    def base(self) -> tuple[Compressed, Compressed]:
        """The compressed rows, outwards and inwards."""
        return self._out, self._in

    def restore(
        self,
        relations: Sequence[str],
        columns: Mapping[str, NDArray[Any]],
        base: tuple[Compressed, Compressed],
    ) -> None:
        """Take columns and a base that were compacted before."""
        self.weight_cache.clear()
        for name in relations:
            self.code(name)
        for name, values in columns.items():
            setattr(self, name, Column(values.dtype, values))
        self.alive = Column(np.bool_, np.ones(self.source.size, np.bool_))
        self._rows = self.mentioned.size
        self._base_links = self.source.size
        self._out, self._in = base

    def gather(self, rows: Ints, *, inward: bool) -> tuple[Ints, Ints]:
        """Return the living links that leave (or enter) ``rows``: positions in ``rows``, and link numbers."""
        (start, links), tail = (self._in, self._tail_in) if inward else (self._out, self._tail_out)
        in_base = np.flatnonzero(rows < len(start) - 1)
        first = start[rows[in_base]]
        stretch, at = stretches(first, start[rows[in_base] + 1] - first)
        owner, numbers = in_base[stretch], links[at]
        if tail:
            more = [(i, link) for i, row in enumerate(rows.tolist()) for link in tail.get(row, ())]
            if more:
                extra = np.array(more, np.int64)
                owner = np.concatenate([owner, extra[:, 0]])
                numbers = np.concatenate([numbers, extra[:, 1]])
        living = self.alive.values[numbers]
        return owner[living], numbers[living]


def _compressed(ends: Ints, rows: int) -> Compressed:
    order = np.argsort(ends, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=rows))])
    return start.astype(np.int64), order.astype(np.int64)


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
        """Return the turns of conversations; ``speaker`` is a number for each name, and ``asks`` marks the questions.

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
