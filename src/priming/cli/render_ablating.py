"""What each term is worth, and the weights that are proposed, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from priming.cli.render import DIM, KEY, WARN
from priming.cli.screen import Part, Table, line

if TYPE_CHECKING:
    from priming.ablation import Ablation, Reweighing, Worth


def ablation(one: Ablation, *, asked: bool) -> Iterator[Part]:
    """What was replayed, what each term is worth, and what is proposed; ``asked`` for is to apply it."""
    yield line((one.profile, KEY), f"  {_counted(one.recalls, 'judged recall')}, {_counted(one.cues, 'cue')}")
    for why, number in one.left_out.items():
        yield line((f"left out: {number:,} ({why})", DIM), indent=2)
    if one.quality is not None:
        yield line(f"{one.measure}: {one.quality:.3f}")
        yield line()
        yield Table(
            ("term", "is worth", "95 % interval", "better", "worse", "weight"), tuple(map(_row, one.terms))
        )
        yield line()
    if one.proposal is not None:
        yield from _proposal(one.proposal)
    if one.reason is not None:
        yield line((f"no weights are proposed: {one.reason}", WARN))
    if one.operation is not None:
        yield line((f"applied; to take it back: priming undo {one.operation}", DIM))
    elif one.proposal is not None:
        yield _not_applied(one.proposal, asked)


def _row(one: Worth) -> tuple[str, ...]:
    weights = " + ".join(f"{value:g}" for value in one.weights.values())
    return (
        one.term,
        f"{one.worth:+.3f}",
        f"{one.low:+.3f} … {one.high:+.3f}",
        f"{one.better:,}",
        f"{one.worse:,}",
        weights or "-",
    )


def _proposal(one: Reweighing) -> Iterator[Part]:
    rows = ((name, f"{one.before[name]:g}", f"{value:g}") for name, value in one.weights.items())
    yield Table(("weight", "now", "proposed"), tuple(rows))
    yield line(f"gain on cues held out: {one.gain:+.3f}, 95 % interval {one.low:+.3f} … {one.high:+.3f}")
    yield line(f"{_counted(one.worse, 'cue')} worse while held out; the most that one loses: {one.worst:.3f}")


def _not_applied(one: Reweighing, asked: bool) -> Part:
    if not one.stands:
        return line((f"the proposal does not stand{', and was not applied' * asked}: {one.reason}", WARN))
    return line((f"the proposal stands: {one.reason}; priming ablate --apply sets it", DIM))


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
