"""Credit: the changes that verdicts cause, gathered for one operation: links move, and memories are reviewed.

``credit_path`` moves the links that led to a memory by their share of its activation (``docs/laws.md``).
``feedback`` and ``reviews.done`` gather their changes here.

Each verdict that reports success or failure is a review: a rating *good* or *again* in FSRS-6, and a success or
failure in the power law of forgetting (``docs/laws.md``). One review counts for a memory and an operation, and fails
if any of its verdicts does. An automatic verdict is a review only if there was none for a day.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime

from priming.config.params.laws import BASE_LEVEL, FORGETTING, ForgettingParams, PlasticityParams
from priming.config.profiles import Profile
from priming.config.values import dataclass
from priming.config.words import STRUCTURE, RelationSigns
from priming.core.forgetting import AGAIN, GOOD, FsrsState, fsrs_update, power_retrievability, stability_after
from priming.core.plasticity import hebb, nudge
from priming.errors import ParamError
from priming.history.movements import WeightMove, link_identity, links_text, pair_of, pairs_text
from priming.learning.coactivation import learn_coactivation, proved_useful
from priming.learning.runs import settle_by_output, settled_text
from priming.namespace import Namespace
from priming.recall import traces
from priming.serialization import stamp
from priming.storage.protocol import Trace
from priming.storage.rows import LinkIdentity, LinkRow, MemoryPair, MemoryRow, RowChange, VerdictRow
from priming.types import MemoryRecord, Operation, days_between

REVIEW_RATINGS: Mapping[str, bool] = {
    "used": True,
    "confirmed": True,
    "not-useful": False,
    "overridden": False,
}
"""The verdicts that are reviews, and whether each is a success. ``not-relevant`` blames the path, not the memory."""


def with_use(row: MemoryRow, now: datetime) -> MemoryRow:
    """Return a memory after one more use; without a recorded first use, its last use counts as the first."""
    recent = sorted((stamp(now), *row.recent), reverse=True)[: BASE_LEVEL.recent]
    first = min(now, row.first_used_at or row.last_used_at or now)
    return replace(row, uses=row.uses + 1, last_used_at=now, first_used_at=first, recent=tuple(recent))


def is_due(
    reviewed_at: datetime | None, now: datetime, tier: str, params: ForgettingParams = FORGETTING
) -> bool:
    """Tell whether a verdict of a tier is a review: an automatic one only a day or more after the last review."""
    return (
        tier != "automatic" or reviewed_at is None or days_between(reviewed_at, now) >= params.automatic_days
    )


def review(
    before: MemoryRow,
    recorded_at: datetime,
    now: datetime,
    *,
    recalled: bool,
    params: ForgettingParams = FORGETTING,
    row: MemoryRow | None = None,
) -> MemoryRow:
    """Return a memory after a review; ``before`` is its row before it, ``recorded_at`` the time it was recorded.

    ``row`` is its row with what else changed, if anything did. FSRS counts from the last review; the power law counts
    from the last use or, without any, from ``recorded_at``.
    """
    state = None
    if before.stability is not None and before.difficulty is not None:
        state = FsrsState(before.stability, before.difficulty)
    since_review = days_between(before.reviewed_at or now, now)
    after = fsrs_update(state, GOOD if recalled else AGAIN, since_review)
    since_use = days_between(before.last_used_at or recorded_at, now)
    retrievability = power_retrievability(since_use, before.endurance, params.factor, params.exponent)
    endurance = float(
        stability_after(before.endurance, retrievability, recalled, params.growth, params.shrink)
    )
    return replace(
        row or before,
        stability=after.stability,
        difficulty=after.difficulty,
        endurance=endurance,
        reviewed_at=now,
    )


@dataclass(frozen=True, slots=True)
class Credited:
    """The effect of a verdict on links: the links to move, and a note if it moves none or others."""

    note: str = ""
    links: tuple[LinkIdentity, ...] = ()


@dataclass(frozen=True, slots=True)
class EffectLine:
    """A line of an operation's message: its subject, and what moves."""

    subject: str
    credited: Credited = field(default_factory=Credited)
    rest: str = ""

    def text(self, effect: VerdictEffect, changes: Mapping[LinkIdentity, RowChange]) -> str:
        """Return the line, with the moves of its links."""
        moves = links_text([effect.link_move(link, changes) for link in self.credited.links])
        parts = "; ".join(part for part in (self.credited.note, moves, self.rest) if part)
        return ": ".join(part for part in (self.subject, parts) if part)


@dataclass(slots=True)
class VerdictEffect:
    """The changes of one operation, gathered verdict by verdict."""

    now: datetime
    operation: str
    forgetting: ForgettingParams
    links: dict[LinkIdentity, LinkRow] = field(default_factory=dict)
    moves: dict[LinkIdentity, tuple[float, PlasticityParams]] = field(default_factory=dict)
    """For each link, the sum of the steps that verdicts move it by, and the profile's bounds."""
    memories: dict[str, MemoryRow] = field(default_factory=dict)
    before: dict[str, MemoryRow] = field(default_factory=dict)
    reviews: dict[str, tuple[bool, datetime]] = field(default_factory=dict)
    """For each reviewed memory, whether every review succeeded, and when the memory was recorded."""
    verdicts: list[VerdictRow] = field(default_factory=list)
    replaced: list[VerdictRow] = field(default_factory=list)
    """Automatic verdicts that a conscious verdict replaces."""
    useful: dict[str, tuple[Trace, list[str]]] = field(default_factory=dict)
    """The recalls with a positive verdict, by id, and the memories that the verdicts are about."""
    lines: list[EffectLine] = field(default_factory=list)
    """The operation's message, a line for each verdict."""
    session: str | None = None
    """The session whose recalls count; None for all."""

    def message(self, memory: Namespace, changes: Collection[RowChange]) -> str:
        """Return a line for each verdict, with what moved from what to what; then links that no verdict credits."""
        links = {link_identity(change.row): change for change in changes if isinstance(change.row, LinkRow)}
        lines = [line.text(self, links) for line in self.lines]
        names = memory.names(ids={end for change in links.values() for end in change.ends})
        learned = [change for identity, change in links.items() if identity not in self.moves]
        return "\n".join([*lines, *pairs_text("useful together", learned, names)])

    def write(
        self, memory: Namespace, kind: str, tier: str, reason: str | None, useful: Collection[str]
    ) -> Operation:
        """Write what was gathered as one operation, and settle the runs that wrote what proved ``useful``."""
        rows = self.rows(memory)
        message = self.message(memory, rows)
        logged = memory.write(
            kind, self.now, rows, source=tier, reason=reason, message=message, operation_id=self.operation
        )
        if useful:
            strengthened = [identity for identity, (step, _) in self.moves.items() if step > 0]
            message += settled_text(settle_by_output(memory, useful, strengthened, self.now, logged.id))
        return replace(memory.to_operation(logged), message=message or None)

    def state(self, memory: Namespace, memory_id: str) -> MemoryRow:
        """Return the row of a memory with the changes gathered so far."""
        if memory_id not in self.memories:
            (row,) = memory.rows(MemoryRow, ids=[memory_id])
            self.before[memory_id] = self.memories[memory_id] = row
        return self.memories[memory_id]

    def rows(self, memory: Namespace) -> list[RowChange]:
        """Return all row changes, each row once."""
        links = [self._moved_link(self.links[identity], *move) for identity, move in self.moves.items()]
        links += self._strengthened_links(memory)
        memories = [RowChange(self.before[row.id], self._reviewed(row)) for row in self.memories.values()]
        verdicts = [RowChange(row, None) for row in self.replaced]
        verdicts += [RowChange(None, row) for row in self.verdicts]
        changes = learn_coactivation(memory, self.now, self.useful.values(), links) + memories + verdicts
        return [change for change in changes if change.before != change.after]

    def _reviewed(self, after: MemoryRow) -> MemoryRow:
        if after.id not in self.reviews:
            return after
        recalled, recorded_at = self.reviews[after.id]
        before = self.before[after.id]
        return review(before, recorded_at, self.now, recalled=recalled, params=self.forgetting, row=after)

    def add(
        self, record: MemoryRecord, verdict: str, tier: str, trace: Trace | None, session: str | None = None
    ) -> None:
        """Record a verdict on a memory: on its recall, if there is one, else in a session."""
        cue, recall_id = ({}, "") if trace is None else (trace.cue, trace.recall_id)
        session = session if trace is None else trace.session
        self.verdicts.append(
            VerdictRow(record.id, verdict, self.operation, recall_id, self.now, tier, session, cue)
        )

    def review(self, memory: MemoryRecord, tier: str, *, recalled: bool) -> None:
        """Record a review of a memory: several in one operation are one review, failed if any of them failed."""
        if is_due(self.before[memory.id].reviewed_at, self.now, tier, self.forgetting):
            before, _ = self.reviews.get(memory.id, (True, None))
            self.reviews[memory.id] = before and recalled, memory.recorded_at or self.now

    def _moved_link(self, link: LinkRow, delta: float, params: PlasticityParams) -> RowChange:
        weight = float(nudge(link.weight, delta, params.low, params.high))
        active = self.now if delta > 0 else link.last_activated
        return RowChange(link, replace(link, weight=weight, last_activated=active))

    def link_move(self, identity: LinkIdentity, changes: Mapping[LinkIdentity, RowChange]) -> WeightMove:
        """Return the movement of a link by verdicts; it may be zero."""
        delta, params = self.moves[identity]
        before = self.links[identity]
        change = changes.get(identity)
        after = change.after if change is not None and isinstance(change.after, LinkRow) else before
        return WeightMove(before.weight, after.weight, params.low, params.high, delta)

    def move_links(self, links: Iterable[LinkRow], delta: float, params: PlasticityParams) -> None:
        """Add ``delta`` to the movement of each link; a link is moved once, by the sum."""
        for link in links:
            identity = link_identity(link)
            self.links[identity] = link
            before, _ = self.moves.get(identity, (0.0, params))
            self.moves[identity] = before + delta, params

    def _strengthened_links(self, memory: Namespace) -> list[RowChange]:
        """Strengthen, by Hebb's rule, the links of each pair that a recall returned and that proved useful.

        A pair is strengthened once a recall, with the verdict that completes it, in profiles that learn so.
        """
        moved: dict[LinkIdentity, RowChange] = {}
        for trace, ids in self.useful.values():
            profile = profile_of(memory, trace)
            if profile.learning.verdicts != "together":
                continue
            earlier = proved_useful(memory, trace)
            together = earlier.union(ids)
            pairs = [
                pair_of(a, b)
                for a in sorted(set(ids) - earlier)
                for b in sorted(together)
                if b != a and (b in earlier or a < b)
            ]
            for links in _links_between(memory, pairs).values():
                for link in links:
                    if link.relation in STRUCTURE:
                        continue
                    change = moved.setdefault(link_identity(link), RowChange(link, link))
                    weight = float(hebb(min(change.after.weight, 1.0), profile.plasticity.hebb_eta))  # type: ignore[union-attr]
                    moved[link_identity(link)] = RowChange(
                        link, replace(link, weight=max(weight, link.weight), last_activated=self.now)
                    )
        if moved and all(change.before == change.after for change in moved.values()):
            self.lines.append(EffectLine("useful together: the links between them are full"))
        return list(moved.values())


def profile_of(memory: Namespace, trace: Trace | None) -> Profile:
    """Return the profile whose laws a verdict follows: that of the recall, else that of the namespace."""
    return memory.profile if trace is None else memory.profiles.get(trace.profile, memory.profile)


def check_recalled(trace: Trace, memory: MemoryRecord, name: str, value: str) -> None:
    """Raise ``ParamError`` for the argument ``name`` unless the recall returned the memory."""
    if memory.id not in {memory_id for memory_id, _ in trace.hits}:
        rule = (
            f"must be a memory that recall {trace.recall_id} returned: ask again with floor=0 and a higher limit,"
            " or leave the recall out to judge it by itself"
        )
        raise ParamError(name, value, rule)


def credit_path(
    memory: Namespace, effect: VerdictEffect, record: MemoryRecord, trace: Trace | None, delta: float
) -> Credited:
    """Move the links that led to a memory in proportion to their share of its activation, the largest by ``delta``.

    Without a stored recall, the links at the memory move by ``delta`` instead. In a profile whose verdicts do not
    move the links of a path, nothing moves here.
    """
    profile = profile_of(memory, trace)
    if profile.learning.verdicts != "path":
        return Credited(
            "" if profile.learning.verdicts == "together" else f"in {profile.name} verdicts move no link"
        )
    params = profile.plasticity
    flow = None if trace is None else traces.flow_of(trace)
    row = None if flow is None else flow.row(record.id)
    if flow is None or row is None:
        incident = _spreading_links(memory.rows(LinkRow, ids=[record.id]), memory.signs())
        effect.move_links(incident, delta, params)
        recalls = f"recall of session {effect.session!r}" if effect.session else "recall"
        missing = f"no stored {recalls} returned it"
        if trace is not None:
            missing = "the flow of that recall is no longer stored"
        moved = "so its own links move instead of a path" if incident else "and it has no links of its own"
        return Credited(f"{missing}, {moved}", tuple(map(link_identity, incident)))
    if flow.is_anchor(row) and not flow.paths([row])[row]:
        return Credited("the cue itself matched it, so no link moved; the cue is recorded")
    shares = _shares_by_pair(flow.shares(row, params.credit_floor))
    between = _links_between(memory, shares)
    most = max(shares.values(), default=0.0)
    for pair, links in between.items():
        effect.move_links(links, delta * shares[pair] / most, params)
    credited = tuple(link_identity(link) for links in between.values() for link in links)
    why = "no longer exist" if shares else "each contributed too little"
    return Credited("" if credited else f"the links that led to it {why}, so none moved", credited)


def _shares_by_pair(shares: Mapping[LinkIdentity, float]) -> dict[MemoryPair, float]:
    """Return the share of each pair of memories: all links between two move together, in either direction."""
    totals: dict[MemoryPair, float] = {}
    for (source, target, _), share in shares.items():
        pair = pair_of(source, target)
        totals[pair] = totals.get(pair, 0.0) + share
    return totals


def _links_between(memory: Namespace, pairs: Collection[MemoryPair]) -> dict[MemoryPair, list[LinkRow]]:
    """Return the links between the two memories of each pair."""
    ends = {end for pair in pairs for end in pair}
    links_of: dict[MemoryPair, list[LinkRow]] = {pair: [] for pair in pairs}
    for link in _spreading_links(memory.rows(LinkRow, ids=ends, both=True), memory.signs()):
        pair = pair_of(link.source, link.target)
        if pair in links_of:
            links_of[pair].append(link)
    return links_of


def _spreading_links(links: Iterable[LinkRow], signs: RelationSigns) -> list[LinkRow]:
    """Return the links that spread activation; credit must not strengthen a link that suppresses."""
    return [link for link in links if not signs.suppresses(link.relation) and link.source != link.target]
