"""Runs as they are shown; the actions of an agent in a run, by the log, and which memories they followed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cache
from itertools import combinations

from priming.config.values import dataclass
from priming.history.log import newest_first
from priming.history.movements import link_identity, pair_of
from priming.namespace import Namespace
from priming.storage.protocol import Logged
from priming.storage.rows import LinkIdentity, LinkRow, MemoryPair, MemoryRow, RowChange, RunRow, VersionRow
from priming.text.tokens import terms
from priming.types import MemoryRecord

_KINDS = ("remember", "supersede", "learn", "link", "set-strength")
"""Operations by which an agent writes; the others change what is there."""

_INSTANT = timedelta(microseconds=1)
_WORDS = 2
"""Number of a memory's distinctive words that a text must use to follow it; all of them if it has fewer."""
_FOLLOWED_RELATIONS = ("similar-to",)
"""Relations made by rule between texts on the same subject."""


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of work: recalls under its ``session`` belong to it, and ``shown`` are the keys that they returned.

    ``settled`` is "used" or "unused" once the use of its output has been reported, else None.
    """

    id: str
    session: str
    started_at: datetime
    ended_at: datetime | None = None
    settled: str | None = None
    shown: tuple[str, ...] = ()
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class RunAction:
    """One operation of a run: the ids of the memories that it wrote, and the links that it made by hand.

    ``revised`` are those of the memories that were there before, ``linked`` the ends of all links that it set.
    """

    written: frozenset[str]
    revised: frozenset[str]
    links: frozenset[LinkIdentity]
    linked: frozenset[str]


def run_actions(memory: Namespace, run: RunRow) -> list[RunAction]:
    """Return the actions of a run, oldest first, without those that were undone since.

    An operation belongs to the run in whose session the caller was, else to the run of the session of what it wrote.
    One without a session of a run, such as a link by hand, belongs to the run under way, if it was the only one.
    """

    @cache
    def others() -> list[RunRow]:
        return [row for row in memory.rows(RunRow) if row.id != run.id]

    actions = [_action(logged) for logged in _between(memory, run) if _belongs(logged, run, others)]
    return [action for action in reversed(actions) if action.written or action.linked]


def _between(memory: Namespace, run: RunRow) -> Iterator[Logged]:
    """Yield the operations between the start of a run and its end, newest first."""
    inside = run.ended_at is None
    until = None if run.ended_at is None else run.ended_at + _INSTANT
    for logged in newest_first(memory, since=run.started_at, until=until):
        own = [change for change in logged.rows if isinstance(change.row, RunRow) and change.row.id == run.id]
        if any(change.before is None for change in own):
            return
        inside = inside or any(_ends(change) for change in own)
        if inside and not own and logged.kind in _KINDS and logged.undone_by is None:
            yield logged


def _ends(change: RowChange) -> bool:
    before, after = change.before, change.after
    ended = isinstance(after, RunRow) and after.ended_at is not None
    return ended and isinstance(before, RunRow) and before.ended_at is None


def _belongs(logged: Logged, run: RunRow, others: Callable[[], Iterable[RunRow]]) -> bool:
    if logged.session == run.session:
        return True
    if logged.session in {row.session for row in others()}:
        return False
    sessions = {row.session for row in _versions(logged) if row.session is not None}
    if sessions:
        return run.session in sessions
    under_way = [
        row
        for row in others()
        if row.started_at <= logged.at and (row.ended_at is None or logged.at < row.ended_at)
    ]
    return not under_way


def _versions(logged: Logged) -> list[VersionRow]:
    """Return the versions that an operation wrote, without names."""
    rows = [change.after for change in logged.rows if change.before is None]
    return [row for row in rows if isinstance(row, VersionRow) and "form" not in row.metadata]


def _action(logged: Logged) -> RunAction:
    created = {
        change.row.id for change in logged.rows if change.before is None and isinstance(change.row, MemoryRow)
    }
    written = {row.id for row in _versions(logged)}
    hand = [change for change in logged.rows if isinstance(change.after, LinkRow) and change.after.given]
    if logged.kind != "link":
        hand = [change for change in hand if change.before is None]
    links = [link_identity(c.row) for c in hand if c.before is None and isinstance(c.row, LinkRow)]
    ends = {end for change in hand for end in change.ends}
    return RunAction(frozenset(written), frozenset(written - created), frozenset(links), frozenset(ends))


def followed(memory: Namespace, action: RunAction, shown: Collection[str]) -> set[str]:
    """Return those of the memories ``shown`` whose words or links an action follows.

    A link follows its ends, and a new version what it revises. A new memory follows those that it is linked to by
    hand or by likeness; any text those that it names by key, and those of whose distinctive words it uses two or
    more: words that not all of ``shown`` have.
    """
    created = action.written - action.revised
    ids = set(shown) - created
    ends = {*action.linked, *action.revised} & ids
    if not action.written:
        return ends
    for link in memory.rows(LinkRow, ids=created):
        other = link.target if link.source in created else link.source
        if other in ids and (link.given or link.relation in _FOLLOWED_RELATIONS):
            ends.add(other)
    records = memory.records(memory.now(), ids=[*ids, *action.written])
    texts = [records[memory_id].content for memory_id in action.written if memory_id in records]
    candidates = {memory_id: records[memory_id] for memory_id in ids - action.written if memory_id in records}
    return ends | _named_in(texts, candidates)


def _named_in(texts: Iterable[str], records: Mapping[str, MemoryRecord]) -> set[str]:
    """Return the memories that some texts follow by their words."""
    words = {memory_id: set(terms(record.content)) for memory_id, record in records.items()}
    common = set.intersection(*words.values()) if len(words) > 1 else set[str]()
    named = set[str]()
    for text in texts:
        own = set(terms(text))
        for memory_id, record in records.items():
            distinctive = words[memory_id] - common or words[memory_id]
            shared = len(distinctive & own)
            if shared >= min(_WORDS, len(distinctive)) > 0 or record.key in text:
                named.add(memory_id)
    return named


def followed_links(
    links: Collection[LinkRow],
    follows: Collection[str],
    ways: Mapping[str, Collection[MemoryPair]],
) -> dict[LinkIdentity, LinkRow]:
    """Return the links that lead from a followed memory to another: directly, or else over one memory between them.

    A followed memory from which none leads to another was reached by the way of its recall, ``ways``. ``links`` are
    those among what was shown, without those that the run itself made.
    """
    between: dict[MemoryPair, list[LinkRow]] = {}
    near: dict[str, set[str]] = {}
    for link in links:
        between.setdefault(pair_of(link.source, link.target), []).append(link)
        near.setdefault(link.source, set()).add(link.target)
        near.setdefault(link.target, set()).add(link.source)
    pairs = set[MemoryPair]()
    for a, b in combinations(sorted(follows), 2):
        if (a, b) in between:
            pairs.add((a, b))
        else:
            for middle in near.get(a, set()) & near.get(b, set()):
                pairs |= {pair_of(a, middle), pair_of(b, middle)}
    connected = {end for pair in pairs for end in pair}
    for memory_id in set(follows) - connected:
        pairs |= {pair_of(*hop) for hop in ways.get(memory_id, ())} & between.keys()
    return {link_identity(link): link for pair in sorted(pairs) for link in between[pair]}
