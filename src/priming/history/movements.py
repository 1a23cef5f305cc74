"""The movements of an operation in words: from which value to which, and whether a bound stopped it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from priming.config.params.laws import PlasticityParams
from priming.config.values import dataclass
from priming.storage.rows import LinkIdentity, LinkRow, MemoryPair, MemoryRow, RowChange
from priming.text.quotation import count_text, label

_MOST = 2
"""Number of moves that a line names; the others are counted."""
_DECIMALS = 2, 9
"""Fewest and most decimals of a weight."""
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class WeightMove:
    """A weight before and after a step, and the bounds of the law that moved it."""

    before: float
    after: float
    low: float = 0.0
    high: float = 1.0
    step: float = 0.0
    """The step of the law; if the weight did not move, it shows which bound stopped it."""

    @property
    def moved(self) -> bool:
        """Whether the weight changed."""
        return abs(self.after - self.before) > _ROUNDING

    @property
    def bound(self) -> str:
        """At which bound the weight is now, with the direction of the step: ceiling, floor, or empty."""
        step = self.after - self.before if self.moved else self.step
        if step > 0 and self.after >= self.high - _ROUNDING:
            return "ceiling"
        return "floor" if step < 0 and self.after <= self.low + _ROUNDING else ""

    def __str__(self) -> str:
        """Return the move in words.

        >>> str(WeightMove(0.93, 0.95, 0.05, 0.95)), str(WeightMove(0.5, 0.50001))
        ('0.93 → 0.95, at its ceiling', '0.50000 → 0.50001')
        >>> str(WeightMove(0.95, 0.95, 0.05, 0.95, step=0.01))
        '0.95 did not move: at its ceiling'
        """
        where = f"at its {self.bound}" if self.bound else ""
        if not self.moved:
            return f"{weight_text(self.after)} did not move" + (f": {where}" if where else "")
        return weights_text(self.before, self.after) + (f", {where}" if where else "")


def weight_text(weight: float) -> str:
    """Return a weight with two decimals.

    >>> weight_text(0.5)
    '0.50'
    """
    return f"{weight:.2f}"


def weights_text(before: float, after: float) -> str:
    """Return two weights with as few decimals as show their difference.

    >>> weights_text(0.5, 0.51), weights_text(0.5, 0.5014675), weights_text(0.2, 0.20000999)
    ('0.50 → 0.51', '0.500 → 0.501', '0.20000 → 0.20001')
    """
    if abs(after - before) <= _ROUNDING:
        return f"{weight_text(after)} as before"
    fewest, most = _DECIMALS
    for decimals in range(fewest, most):
        if round(before, decimals) != round(after, decimals):
            return f"{before:.{decimals}f} → {after:.{decimals}f}"
    return f"{before:.{most}f} → {after:.{most}f}"


def links_text(moves: Sequence[WeightMove]) -> str:
    """Return how some links moved: those that did, the largest moves first, and those that could not.

    >>> links_text([WeightMove(0.5, 0.51), WeightMove(0.5, 0.51), WeightMove(0.9, 0.91)])
    '3 links strengthened: 0.50 → 0.51 (2), 0.90 → 0.91'
    >>> links_text([WeightMove(0.95, 0.95, 0.05, 0.95, step=0.01)])
    '1 link did not move: at its ceiling, 0.95'
    """
    moved = sorted((move for move in moves if move.moved), key=lambda move: -abs(move.after - move.before))
    parts = []
    for direction, name in ((1, "strengthened"), (-1, "weakened")):
        same = [str(move) for move in moved if (move.after - move.before) * direction > 0]
        if same:
            parts.append(f"{count_text(len(same), 'link')} {name}: {_listed(same)}")
    for bound in ("ceiling", "floor", ""):
        stuck = [move for move in moves if not move.moved and move.bound == bound]
        if stuck:
            its = "its" if len(stuck) == 1 else "their"
            why = f": at {its} {bound}, {weight_text(stuck[0].after)}" if bound else ""
            parts.append(f"{count_text(len(stuck), 'link')} did not move{why}")
    return "; ".join(parts)


def _listed(texts: Sequence[str]) -> str:
    """Return the first of some texts, equal ones once with their number.

    >>> _listed(["0.50 → 0.49", "0.50 → 0.49"]), _listed(["0.5 → 0.6", "0.5 → 0.6", "0.4 → 0.5"])
    ('0.50 → 0.49 each', '0.5 → 0.6 (2), 0.4 → 0.5')
    """
    if len(texts) > 1 and len(set(texts)) == 1:
        return f"{texts[0]} each"
    counts = {text: texts.count(text) for text in dict.fromkeys(texts)}
    shown = [text if number == 1 else f"{text} ({number})" for text, number in counts.items()][:_MOST]
    hidden = sum([*counts.values()][_MOST:])
    return ", ".join(shown) + (f" and {hidden:,} more" if hidden else "")


def set_text(moves: Sequence[WeightMove], requested: float) -> str:
    """Tell the changes by setting link weights; a weight outside the bounds is named with the bound used instead.

    >>> set_text([WeightMove(0.5, 0.05, 0.05, 0.95)], 0)
    '1 link set to 0.05: 0.50 → 0.05; a weight of 0 was requested, and the lowest is 0.05'
    """
    moved = [weights_text(move.before, move.after) for move in moves if move.moved]
    value = min(max(requested, moves[0].low), moves[0].high) if moves else requested
    number = count_text(len(moves), "link")
    text = f"{number} set to {value:g}" + (f": {_listed(moved)}" if moved else "")
    if moves and not moved:
        text = f"{number} did not move: {'it is' if len(moves) == 1 else 'they are'} {value:g} already"
    return text + bound_text(requested, value)


def bound_text(requested: float, value: float) -> str:
    """Return the addition to a message if the requested weight is outside the bounds; otherwise nothing.

    >>> bound_text(1, 0.95)
    '; a weight of 1 was requested, and the highest is 0.95'
    """
    if value == requested:
        return ""
    bound = "lowest" if value > requested else "highest"
    return f"; a weight of {requested:g} was requested, and the {bound} is {value:g}"


def memory_text(before: MemoryRow, after: MemoryRow, move: tuple[float, float, float]) -> str:
    """Tell how a memory's weight, confidence and priority moved; ``move`` is the weight's step, and its bounds."""
    step, low, high = move
    parts = []
    if step or before.weight != after.weight:
        parts.append(f"weight {WeightMove(before.weight, after.weight, low, high, step)}")
    if before.confidence != after.confidence:
        parts.append(f"confidence {weights_text(before.confidence, after.confidence)}")
    if before.priority != after.priority:
        parts.append(f"priority {before.priority:g} → {after.priority:g}")
    return "; ".join(parts)


def pairs_text(subject: str, changes: Sequence[RowChange], names: Mapping[str, str]) -> list[str]:
    """Return a line for each link between two memories that changed, the first few by name."""
    lines = []
    for change in changes:
        source, target = (label(names.get(end, end)) for end in change.ends)
        lines.append(f"{subject}: {source} – {target} {change_text(change)}")
    hidden = len(lines) - _MOST
    return lines[:_MOST] + ([f"{subject}: {count_text(hidden, 'more link')}"] if hidden > 0 else [])


def change_text(change: RowChange) -> str:
    """Return how the weight of a link changed."""
    before, after = change.before, change.after
    if not isinstance(after, LinkRow):
        return "the link had faded and is removed"
    if not isinstance(before, LinkRow):
        return f"new link, {weight_text(after.weight)}"
    return weights_text(before.weight, after.weight)


def moves_of(changes: Collection[RowChange], params: PlasticityParams) -> list[WeightMove]:
    """Return the moves of the links that existed before and still exist."""
    return [
        WeightMove(change.before.weight, change.after.weight, params.low, params.high)
        for change in changes
        if isinstance(change.before, LinkRow) and isinstance(change.after, LinkRow)
    ]


def pair_of(a: str, b: str) -> MemoryPair:
    """Return two memories in one order, whichever of them a link leaves."""
    return min(a, b), max(a, b)


def link_identity(link: LinkRow) -> LinkIdentity:
    """Return the identity of a link."""
    return link.source, link.target, link.relation
