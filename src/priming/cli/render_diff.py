"""What became different between two times, in lines and a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from priming.cli.render import DIM, KEY, WARN, at
from priming.cli.render_strengths import edge, number
from priming.cli.screen import Part, Table, line

if TYPE_CHECKING:
    from priming.history import Diff, LinkMove, MemoryMove, RankMove

T = TypeVar("T")
_MOST = 20


def diff(found: Diff) -> Iterator[Part]:
    """Memories, links, and the two answers side by side."""
    yield line((f"after {at(found.since)}, up to {at(found.until)}", DIM))
    if not (found.memories or found.links):
        yield line(("no memory or link is another", DIM))
    yield from _some(found.memories, _memory)
    yield from _some(found.links, _link)
    if found.question is not None:
        yield line(("asked: ", DIM), found.question)
        yield from _answers(found.answers)


def _some(moves: Sequence[T], shown: Callable[[T], Iterator[Part]]) -> Iterator[Part]:
    for one in moves[:_MOST]:
        yield from shown(one)
    if len(moves) > _MOST:
        yield line((f"… and {len(moves) - _MOST:,} more: --json lists all", DIM))


def _memory(one: MemoryMove) -> Iterator[Part]:
    yield line((one.what, WARN), "  ", (one.key, KEY), (f"  {one.kind}", DIM))
    yield from _gists(one.before, one.after)


def _gists(before: str | None, after: str | None) -> Iterator[Part]:
    """What was said and what is said instead; nothing where it is the same."""
    if before is not None and before != after:
        yield line((f"- {before}", "red"), indent=4)
    if after is not None and before != after:
        yield line((f"+ {after}", "green"), indent=4)


def _link(one: LinkMove) -> Iterator[Part]:
    arrow = edge((one.source, one.relation, one.target))
    yield line((one.what, WARN), f"  {arrow}  {number(one.before)} → {number(one.after)}")


def _answers(found: Sequence[RankMove]) -> Iterator[Part]:
    if not found:
        yield line(("neither answer has a hit", DIM))
        return
    rows = [(_rank(one.rank_before), _rank(one.rank_after), one.what, one.key) for one in found]
    yield Table(("before", "after", "", "key"), tuple(rows), cut=True)
    for one in found:
        if one.before is not None and one.after is not None and one.before != one.after:
            yield line((one.key, KEY), ("  says something else", DIM))
            yield from _gists(one.before, one.after)


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
