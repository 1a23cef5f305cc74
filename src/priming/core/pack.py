"""Packing recalled memories into a token budget, with reasons for what was left out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import TypeAlias

from priming.config.params.laws import TierParams
from priming.config.values import dataclass
from priming.core.arguments.checks import check_number
from priming.errors import ParamError

LEVELS = ("full", "gist", "name", "omit")
OMIT = 3
BYTES_A_TOKEN = 4
SLACK = 2

Counter: TypeAlias = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Packable:
    """A hit and its three forms: full text, gist and name.

    ``least`` is the shortest form that may be shown, ``most`` the longest. Where tokens are short, all hits of a
    lower ``rank`` give way before any of a higher one does.
    """

    key: str
    name: str
    gist: str
    full: str
    activation: float = 1.0
    least: str = "omit"
    most: str = "full"
    rank: int = 0

    def __post_init__(self) -> None:
        for name, value in (("least", self.least), ("most", self.most)):
            if value not in LEVELS:
                raise ParamError(name, value, f"must be one of {', '.join(LEVELS)}")
        if not isfinite(self.activation):
            raise ParamError("activation", self.activation, "must be finite")

    def form(self, level: int) -> str:
        """Return the text shown at a level of ``LEVELS``; nothing for the last."""
        return ("", self.name, self.gist, self.full)[OMIT - level]


@dataclass(frozen=True, slots=True)
class PackedEntry:
    """A hit as the packed text shows it: ``tier`` is full, gist or name."""

    key: str
    tier: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Omission:
    """A hit that was dropped, the reason, and the tokens of its full text."""

    key: str
    reason: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Packed:
    """The packed text, the hits in it, the hits dropped from it, and its tokens."""

    text: str
    entries: tuple[PackedEntry, ...]
    omitted: tuple[Omission, ...]
    tokens: int


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text without a tokenizer: ⌈UTF-8 bytes / 4⌉.

    Parameters
    ----------
    text : any text.

    Returns
    -------
    A whole number of tokens; 0 for the empty text only.

    Examples
    --------
    >>> estimate_tokens("priming"), estimate_tokens("呼び水"), estimate_tokens("")
    (2, 3, 0)
    """
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_A_TOKEN)


def pack(
    hits: Iterable[Packable],
    budget: float | None,
    *,
    tiers: TierParams | None = None,
    tokens: Counter = estimate_tokens,
    separator: str = "\n",
    header: str = "",
    footer: str = "",
) -> Packed:
    r"""Write hits into one text of at most ``budget`` tokens.

    The text is ``header``, the hits in their order joined by ``separator``, and ``footer``; it is empty
    when no hit is shown. Every hit starts whole, or at its ``most``. While the text is too long, hits give way: those
    of the lowest rank first, each to the tier of its activation, the lowest activation first; then the lowest that
    still can sinks on, full → gist → name → omitted. Tiers that save nothing are skipped. Tokens left at the end go
    back to shortened hits, the highest rank and activation first.

    Parameters
    ----------
    hits : what was recalled, best first or in any order that is to be kept.
    budget : most tokens of the whole text, ≥ 0; None for no limit.
    tiers : activations from which a hit that gives way stays at full, gist and name at first, below which it is
        omitted; None: the lowest gives way wholly before the next. No hit sinks under its ``least``.
    tokens : counts the tokens of a text; called with the whole text, so that what it says about the
        whole is what holds.
    separator, header, footer : texts around the hits, part of the budget.

    Returns
    -------
    The text, with one ``PackedEntry`` for each hit shown and one ``Omission`` for each left out, in the order
    of ``hits``.

    Raises
    ------
    ParamError : a budget that is negative or not finite.

    Notes
    -----
    ``least`` yields only when the budget cannot hold all that must stay: then those of the lowest
    activation are omitted, and what must stay returns before anything else. Of equal activations the
    later hit is shortened first.

    Examples
    --------
    >>> hits = [Packable("a", "A", "Gist of a.", "All of a, at length.", 0.9),
    ...         Packable("b", "B", "Gist of b.", "All of b, at length.", 0.5)]
    >>> pack(hits, 8).text
    'All of a, at length.\nGist of b.'
    >>> pack(hits, 5).omitted
    (Omission(key='b', reason='budget', tokens=5),)
    """
    limit = None if budget is None else check_number("budget", budget, low=0.0)
    page = _Page(tuple(hits), tiers, limit, tokens, separator, header, footer)
    levels = page.start if page.fits(page.start) else _restored(page, _shortened(page))
    text = page.write(levels)
    placed = list(enumerate(zip(page.hits, levels, strict=True)))
    return Packed(
        text=text,
        entries=tuple(
            PackedEntry(hit.key, LEVELS[level], hit.form(level), page.cost(i, level))
            for i, (hit, level) in placed
            if level < OMIT
        ),
        omitted=tuple(
            Omission(hit.key, page.reason(i), page.cost(i, 0)) for i, (hit, level) in placed if level == OMIT
        ),
        tokens=tokens(text),
    )


def short_notice(count: int, budget: float) -> str:
    """Say that hits were left out of a text, in as many tokens as it may have; nothing if it may have none.

    >>> short_notice(12, 5), short_notice(12, 1)
    ('12 left out', '…')
    """
    forms = (f"{count} left out", "…", "")
    return next(form for form in forms if estimate_tokens(form) <= budget)


class _Page:
    """The parts of the text; ``levels`` holds for each hit its position in ``LEVELS``."""

    def __init__(
        self,
        hits: tuple[Packable, ...],
        tiers: TierParams | None,
        limit: float | None,
        tokens: Counter,
        separator: str,
        header: str,
        footer: str,
    ) -> None:
        self.hits, self.tiers, self.limit, self.tokens = hits, tiers, limit, tokens
        self.separator, self.header, self.footer = separator, header, footer
        self._costs: dict[tuple[int, int], int] = {}
        self.least = [max(LEVELS.index(hit.least), LEVELS.index(hit.most)) for hit in hits]
        self.start = [self._start(i) for i in range(len(hits))]

    def write(self, levels: Sequence[int]) -> str:
        texts = [hit.form(level) for hit, level in zip(self.hits, levels, strict=True) if level < OMIT]
        return f"{self.header}{self.separator.join(texts)}{self.footer}" if texts else ""

    def fits(self, levels: Sequence[int]) -> bool:
        return self.limit is None or self.tokens(self.write(levels)) <= self.limit

    def cost(self, i: int, level: int) -> int:
        """Count the tokens of one form of one hit, once."""
        if (i, level) not in self._costs:
            self._costs[i, level] = self.tokens(self.hits[i].form(level))
        return self._costs[i, level]

    def size(self, i: int, level: int) -> tuple[int, int]:
        """Count the tokens and bytes of one form: bytes that save no token alone save one in the sum of many hits."""
        return self.cost(i, level), len(self.hits[i].form(level).encode("utf-8", "surrogatepass"))

    def reason(self, i: int) -> str:
        if self.start[i] == OMIT:
            return "nothing to show"
        return "budget" if self.least[i] == OMIT else f"budget: not even its {self.hits[i].least} fits"

    def tier(self, i: int) -> int:
        """Return the tier to which a hit is shortened first: that of its activation, not below ``least``."""
        if self.tiers is None:
            return self.start[i]
        bounds = (self.tiers.full, self.tiers.gist, self.tiers.name)
        level = next((n for n, bound in enumerate(bounds) if self.hits[i].activation >= bound), OMIT)
        return min(level, self.least[i])

    def _start(self, i: int) -> int:
        """Return the longest form that may be shown; if it has no text, the next that has."""
        level, least = LEVELS.index(self.hits[i].most), self.least[i]
        choice = [*range(level, min(least + 1, OMIT)), *(range(level) if least < OMIT else ())]
        return next((n for n in choice if self.hits[i].form(n)), OMIT)


def _shortened(page: _Page) -> list[int]:
    """Shorten hits by the fewest steps after which the text fits."""
    order = sorted(range(len(page.hits)), key=lambda i: (page.hits[i].activation, -i))
    shorter = {i: _shorter_levels(page, i) for i in order}
    steps = []
    for rank in sorted({hit.rank for hit in page.hits}):
        equals = [i for i in order if page.hits[i].rank == rank]
        steps += [(i, level) for i in equals for level in shorter[i] if level <= page.tier(i)]
        steps += [(i, level) for i in equals for level in shorter[i] if level > page.tier(i)]
    steps += [(i, OMIT) for i in sorted(order, key=lambda i: page.hits[i].rank) if page.least[i] < OMIT]

    def after(count: int) -> list[int]:
        levels = list(page.start)
        for i, level in steps[:count]:
            levels[i] = level
        return levels

    # Every step shortens the text, so the first that fits is found by halving; the last one empties it.
    return after(bisect_left(range(len(steps)), True, key=lambda count: page.fits(after(count))))


def _shorter_levels(page: _Page, i: int) -> list[int]:
    """List the tiers of a hit below its start, down to its ``least``, each shorter than the one before."""
    levels: list[int] = []
    at = page.start[i]
    for level in range(at + 1, page.least[i] + 1):
        if level == OMIT or (page.hits[i].form(level) and page.size(i, level) < page.size(i, at)):
            levels.append(level)
            at = level
    return levels


def _restored(page: _Page, levels: list[int]) -> list[int]:
    """Give the remaining tokens to shortened hits: first to those that must stay, then by activation."""
    order = sorted(range(len(page.hits)), key=lambda i: (-page.hits[i].rank, -page.hits[i].activation, i))
    must = [(i, page.least[i]) for i in order if page.least[i] < OMIT and levels[i] == OMIT]
    levels = list(levels)
    used = page.tokens(page.write(levels))
    for i, best in [*must, *((i, page.start[i]) for i in order)]:
        here = levels[i]
        for level in range(best, min(here, page.least[i] + 1)):
            # Tokens of parts do not quite add up, hence the slack; what passes is then measured.
            if page.limit is None or used + page.cost(i, level) - page.cost(i, here) - SLACK > page.limit:
                continue
            levels[i] = level
            if page.hits[i].form(level) and page.fits(levels):
                used = page.tokens(page.write(levels))
                break
            levels[i] = here
    return levels
