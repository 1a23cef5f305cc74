"""Answers in words and tables: each function turns a value of the library into parts to draw."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.cli.screen import Line, Part, Span, Table, line

if TYPE_CHECKING:
    from priming.profiles import Profile
    from priming.transfer.importers import Report
    from priming.types import (
        Finding,
        Hit,
        Link,
        MemoryRecord,
        Operation,
        Recall,
        Receipt,
        Remembered,
        Stats,
        Status,
        Step,
    )
    from priming.verdicts import Run

KEY, DIM, WARN = "bold cyan", "dim", "yellow"
_MOST_ACTIVATIONS = 10
_WHOLE = 240
"""Characters of a text that is shown whole."""
_SHORT = 2
_WHY = {
    "duplicate": "it was there already: nothing was stored",
    "echo": "a recall said this lately: nothing was stored",
}
_UNITS = ("bytes", "KiB", "MiB", "GiB")


def remembered(one: Remembered) -> Iterator[Part]:
    """What became of the text, and what it was linked to."""
    yield line((one.status, "green" if one.status == "stored" else WARN), "  ", (one.key, KEY))
    if one.status in _WHY:
        yield line((_WHY[one.status], DIM), indent=2)
    for link in one.links:
        if link.source == one.key:
            yield line((f"─{link.relation}→ {link.target} ({link.weight:.2f})", DIM), indent=2)
        else:
            yield line((f"←{link.relation}─ {link.source} ({link.weight:.2f})", DIM), indent=2)


def degraded(parts: Sequence[str]) -> Line:
    """What an answer had to do without, and what brings it back."""
    told = "; ".join(_LACKS.get(part, part) for part in parts)
    return line((f"degraded: {told}", WARN))


_LACKS = {
    "vectors": "some memories have no vector of this model, and priming reembed makes them",
    "trace": "this recall could not be kept, and cannot be judged",
}
"""What an answer did without."""


def recall(
    found: Recall, *, trace: bool = False, packed: bool = False, plot: Path | None = None
) -> Iterator[Part]:
    """The hits with their evidence, or the reason why there are none."""
    if found.reason is not None:
        yield line((found.reason, WARN))
    for rank, hit in enumerate(found.hits, 1):
        yield from _hit(rank, hit)
    if found.degraded:
        yield degraded(found.degraded)
    for one in found.omitted:
        yield line((f"omitted: {one.key} ({one.reason}, {one.tokens} tokens)", DIM))
    if packed and found.text:
        yield line(("packed:", DIM))
        yield line(found.text)
    if trace:
        from priming.cli import render_trace

        yield from render_trace.tree(found)
        yield from _steps(found.spread)
    if plot is not None:
        yield line(("drawn", "green"), f"  to {plot}")
    sure = "" if found.confidence is None else f" · confidence {found.confidence:.2f}"
    yield line((f"recall {found.recall_id}{sure}", DIM))
    if found.timings:
        steps = " · ".join(f"{name} {spent:.1f}" for name, spent in found.timings.items())
        yield line((f"{sum(found.timings.values()):.1f} ms: {steps}", DIM))


def _hit(rank: int, hit: Hit) -> Iterator[Part]:
    title = f"{hit.memory.title}: " if hit.memory.title else ""
    yield line((f"{rank:>2}  ", DIM), (hit.memory.key, KEY), f"  {hit.score:.3f}", *_superseded(hit))
    yield line((title, DIM), _text(hit.memory), indent=4)
    shown = [f"{name} {value:.2f}" for name, value in hit.components.items() if f"{abs(value):.2f}" != "0.00"]
    if shown:
        yield line(("  ".join(shown), DIM), indent=4)
    if hit.path:
        yield line((path(hit.path), "green"), indent=4)


def _text(one: MemoryRecord) -> str:
    """The text of a hit in one line: all of it where it is short, else its gist, and a sign that there is more."""
    whole = " ".join(one.content.split())
    if len(whole) <= _WHOLE:
        return whole
    return one.gist if one.gist.endswith("…") else f"{one.gist} …"


def _superseded(hit: Hit) -> Iterator[Span]:
    if hit.superseded_by is not None:
        yield f"  superseded by version {hit.superseded_by} from {at(hit.memory.valid_to)} on", WARN


def path(steps: Sequence[Step]) -> str:
    """A path in words, the activation that each step carried in brackets."""
    return steps[0].source + "".join(f" ─{one.relation}→ {one.target} ({one.amount:.2f})" for one in steps)


def _steps(spread: Sequence[Mapping[str, float]]) -> Iterator[Part]:
    """The most active memories after each step."""
    for number, values in enumerate(spread):
        yield line((f"step {number}", "bold"))
        ranked = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
        yield Table(("", ""), tuple((f"{value:.4f}", key) for key, value in ranked[:_MOST_ACTIVATIONS]))
        if len(ranked) > _MOST_ACTIVATIONS:
            yield line((f"… and {len(ranked) - _MOST_ACTIVATIONS:,} more", DIM), indent=4)


def memory(one: MemoryRecord) -> Iterator[Part]:
    """One memory in full."""
    yield line((one.key, KEY))
    for paragraph in one.content.splitlines():
        yield line(paragraph, indent=2)
    yield Table(("", ""), tuple(_fields(one)))


def _fields(one: MemoryRecord) -> Iterator[tuple[str, str]]:
    for name in (
        *("id", "kind", "status", "version", "heading", "speaker", "session", "occurred_at", "recorded_at"),
        *("valid_from", "valid_to", "tags", "when", "metadata", "source", "trust", "importance", "outcome"),
        "weight",
    ):
        value = getattr(one, name)
        if value not in (None, (), {}):
            yield name.replace("_", " "), _shown(value)
    if one.use.uses:
        yield "uses", f"{one.use.uses}, last {at(one.use.last_used_at)}"
    yield from _practice(one)


def _practice(one: MemoryRecord) -> Iterator[tuple[str, str]]:
    """How a procedure fared, and how well a memory is retained."""
    number = one.use.helped + one.use.failed
    if one.kind == "procedure" and number:
        times = "execution" if number == 1 else "executions"
        yield "success rate", f"{one.use.helped / number:.2f}: {one.use.helped} of {number} {times}"
    kept = one.retention
    if kept.stability is not None and kept.difficulty is not None:
        known = f"stability {kept.stability:.1f} days, difficulty {kept.difficulty:.1f}"
        yield "retention", f"{known}, endurance {kept.endurance:.2f} days"


def _shown(value: Any) -> str:
    if isinstance(value, datetime):
        return at(value)
    if isinstance(value, Mapping):
        return json.dumps(dict(value), ensure_ascii=False)
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def at(moment: datetime | None) -> str:
    """A time in this machine's zone, to the second."""
    return "" if moment is None else moment.astimezone().isoformat(" ", "seconds")


def memories(found: Sequence[MemoryRecord], limit: int) -> Iterator[Part]:
    """A page of memories."""
    if not found:
        yield line(("no memories", DIM))
        return
    rows = [(one.key, one.kind, _day(one.occurred_at or one.recorded_at), one.gist) for one in found]
    yield Table(("key", "kind", "date", "gist"), tuple(rows), cut=True)
    if len(found) == limit:
        yield line((f"there may be more: --after {found[-1].id}", DIM))


def _day(moment: datetime | None) -> str:
    return at(moment)[:10]


def versions(found: Sequence[MemoryRecord]) -> Iterator[Part]:
    """The versions of one memory, oldest first."""
    for one in found:
        ends = at(one.valid_to) or "now"
        starts = at(one.valid_from) or "the beginning"
        yield line((f"version {one.version}", KEY), (f"  valid from {starts} to {ends}", DIM))
        for paragraph in one.content.splitlines():
            yield line(paragraph, indent=2)


def links(found: Sequence[Link]) -> Iterator[Part]:
    """Links, one a line."""
    for one in found:
        given: Span = ("  by hand", DIM) if one.given else ""
        yield line(f"{one.source} ─{one.relation}→ {one.target} ({one.weight:.2f})", given)
    if not found:
        yield line(("no links", DIM))


def operations(found: Sequence[Operation]) -> Iterator[Part]:
    """The log, newest first."""
    for one in found:
        yield from operation(one)
    if not found:
        yield line(("no operations", DIM))


def operation(one: Operation) -> Iterator[Part]:
    """One operation: what it was, when, and what it touched."""
    yield line((one.id, KEY), f"  {one.kind}", (f"  {at(one.at)}", DIM))
    said = [text for text in (one.message, one.reason, _touched(one)) if text]
    if said:
        yield line("; ".join(said), indent=4)
    if one.undone_by:
        yield line((f"undone by {one.undone_by}", WARN), indent=4)


def _touched(one: Operation) -> str:
    """The memories that an operation changed by name, its links by number."""
    rows = [(change, change.after or change.before or {}) for change in one.changes]
    named = {row["id"]: row["key"] for change, row in rows if change.table == "memories" and row}
    ids = [(row.get("id"), change.key) for change, row in rows if change.table in ("memories", "versions")]
    keys = list(dict.fromkeys(named.get(memory_id, key) for memory_id, key in ids))
    made = sum(change.table == "links" for change in one.changes)
    words = keys[:_SHORT]
    if len(keys) > _SHORT:
        words.append(f"{len(keys) - _SHORT:,} more")
    if made:
        words.append(f"{made:,} {'link' if made == 1 else 'links'}")
    return ", ".join(words)


def runs(found: Sequence[Run]) -> Iterator[Part]:
    """Runs, oldest first."""
    for one in found:
        yield from run(one)
    if not found:
        yield line(("no runs", DIM))


def run(one: Run) -> Iterator[Part]:
    """A run: its session, when it was, what it was shown, and what became of it."""
    state = one.settled or ("waits for what becomes of its output" if one.ended_at else "under way")
    yield line((one.id, KEY), f"  {state}", (f"  session {one.session}  {at(one.started_at)}", DIM))
    if one.shown:
        yield line(f"shown: {', '.join(one.shown)}", indent=4)


def undone(one: Operation) -> Iterator[Part]:
    """An undo, and how to take it back."""
    yield from operation(one)
    yield line((f"to redo: priming undo {one.id}", DIM), indent=4)


def receipt(one: Receipt) -> Iterator[Part]:
    """What a purge erased."""
    counts = ", ".join(f"{number:,} {table}" for table, number in one.erased.items() if number)
    yield line(("erased", "red"), "  ", (one.key, KEY))
    yield line((f"{counts}; it cannot be undone", DIM), indent=2)


def status(one: Status) -> Iterator[Part]:
    """Which Priming this is, where it works, and how much there is."""
    yield Table(
        ("", ""),
        (
            ("priming", one.version),
            ("namespace", one.namespace),
            ("profile", one.profile),
            ("memories", f"{one.memories:,}"),
            ("links", f"{one.links:,}"),
            ("operations", f"{one.operations:,}"),
            ("embedding", one.generation),
        ),
    )


def stats(one: Stats) -> Iterator[Part]:
    """What a namespace holds."""
    rows = [
        (kind, status, f"{number:,}")
        for kind, statuses in one.memories.items()
        for status, number in statuses.items()
    ]
    yield line("namespace  ", (one.namespace, KEY))
    yield line()
    if rows:
        yield Table(("memories", "status", "number"), tuple(rows))
        yield line()
    if one.links:
        yield Table(("links", "number"), tuple((name, f"{number:,}") for name, number in one.links.items()))
        yield line()
    yield Table(
        ("", ""),
        (
            ("operations", f"{one.operations:,}"),
            ("recalls kept", f"{one.traces:,}"),
            ("size", size(one.bytes)),
            ("embedding", one.generation or "none yet"),
        ),
    )
    own = [
        (profile, name, f"{value:g}")
        for profile, values in one.weights.items()
        for name, value in values.items()
    ]
    if own:
        yield line()
        yield Table(("profile", "weight", "here"), tuple(own))


def size(number: float) -> str:
    """Bytes in the largest unit that leaves at least one."""
    for unit in _UNITS[:-1]:
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == _UNITS[0] else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} {_UNITS[-1]}"


def findings(found: Sequence[Finding]) -> Iterator[Part]:
    """What is wrong, each with its remedy."""
    if not found:
        yield line(("nothing is wrong", "green"))
    for one in found:
        yield line((one.rule, WARN), f"  {one.subject}: {one.detail}")
        yield line((f"remedy: {one.remedy}", DIM), indent=2)


def backed_up(path: Path) -> Iterator[Part]:
    """Where a backup is."""
    yield line(("backed up", "green"), f"  to {path}")


def put_back(path: Path, saved: Path) -> Iterator[Part]:
    """What took the place of the store, and where that is now."""
    yield line(("put back", "green"), f"  {path}")
    yield line((f"what was there is in {saved}", DIM), indent=2)


def imported(one: Report) -> Iterator[Part]:
    """What an import did, and what it left out."""
    counts = {
        "new": one.stored,
        "there already": one.duplicates,
        "echoes": one.echoes,
        "refused": one.refused,
        "links": one.links,
        "links to nothing": one.loose,
    }
    shown = [f"{number:,} {name}" for name, number in counts.items() if number or name == "new"]
    yield line(("imported", "green"), f"  {', '.join(shown)}")
    for reason in one.skipped:
        yield line((f"skipped: {reason}", WARN), indent=2)


def profiles(found: Iterable[Profile]) -> Iterator[Part]:
    """The profiles by name."""
    yield Table(("profile", "from", "score"), tuple((one.name, one.source, one.score) for one in found))
