"""Answers about behaviours in words: each function turns a value of the library into parts to draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from priming.cli.render import DIM, KEY, WARN, degraded, path
from priming.cli.screen import Part, line
from priming.core.trust import instructs
from priming.engine.present import rule_kind, rule_tier

if TYPE_CHECKING:
    from priming.behaviors import Learned
    from priming.types import Hit, Recall

_DONE = {"create": "created", "specialise": "specialised", "merge": "merged"}


def learned(one: Learned) -> Iterator[Part]:
    """What became of a correction, and why."""
    changed = one.operation is not None
    done = _DONE[one.placement] if changed else "unchanged"
    yield line((done, "green" if changed else WARN), "  ", (one.key, KEY), f"  {one.rule} {where(one.when)}")
    for reason in one.reasons:
        yield line((reason, DIM), indent=2)
    for link in one.links:
        if link.relation != "mentions":
            yield line((f"─{link.relation}→ {link.target} ({link.weight:.2f})", DIM), indent=2)


def where(when: Mapping[str, Any]) -> str:
    """Conditions in words."""
    if not when:
        return "everywhere"
    said = (
        f"{name} = {' or '.join(map(str, one)) if isinstance(one, list) else one}"
        for name, one in when.items()
    )
    return f"where {', '.join(said)}"


def active(found: Recall, *, packed: bool = False) -> Iterator[Part]:
    """The rules that apply, how much of each is shown, and what was left out."""
    if found.reason is not None:
        yield line((found.reason, WARN))
    for rank, hit in enumerate(found.hits, 1):
        yield from _hit(rank, hit, found.text)
    if found.degraded:
        yield degraded(found.degraded)
    for one in found.omitted:
        yield line((f"omitted: {one.key} ({one.reason}, {one.tokens} tokens)", DIM))
    if packed and found.text:
        yield line(("packed:", DIM))
        yield line(found.text)
    yield line((f"recall {found.recall_id}", DIM))


def _hit(rank: int, hit: Hit, text: str) -> Iterator[Part]:
    memory = hit.memory
    tier = rule_tier(hit, text) or "not shown"
    notes = [f"from {hit.origin}"] if hit.origin else []
    notes += [] if instructs(memory.trust) else [f"{memory.trust}: quoted, not an instruction"]
    told = "  ".join([f"{hit.score:.3f}", rule_kind(memory) or "rule", tier, *notes])
    yield line((f"{rank:>2}  ", DIM), (memory.key, KEY), f"  {told}")
    yield line(memory.gist, indent=4)
    shown = "  ".join(f"{name} {value:.2f}" for name, value in hit.components.items())
    yield line((f"{shown}  {where(memory.when)}", DIM), indent=4)
    if hit.path:
        yield line((path(hit.path), "green"), indent=4)
