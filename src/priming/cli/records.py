"""Records of the library as lines and tables: what several groups of commands show."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from priming.cli.output import DIM, KEY, WARN, Line, Part, Span, Table, count, line, timestamp

if TYPE_CHECKING:
    from priming.results import Step
    from priming.types import Link, MemoryRecord, Operation

_SHORT = 2
_MISSING_PARTS = {
    "vectors": "some memories have no vector of this model, run priming reembed to compute them",
    "trace": "this recall could not be stored and cannot receive feedback",
}
_FIELDS = (
    *("id", "kind", "status", "version", "heading", "speaker", "session", "occurred_at", "recorded_at"),
    *("valid_from", "valid_to", "tags", "when", "metadata", "source", "trust", "importance", "outcome"),
    "weight",
)


def memory(record: MemoryRecord) -> Iterator[Part]:
    """A memory in full."""
    yield line((record.key, KEY))
    yield from content(record)
    yield Table(("", ""), tuple(_fields(record)))


def content(record: MemoryRecord) -> Iterator[Part]:
    """The text of a memory, indented."""
    return (line(paragraph, indent=2) for paragraph in record.content.splitlines())


def links(records: Sequence[Link]) -> Iterator[Part]:
    """Links, one per line."""
    for link in records:
        origin: Span = ("  by hand", DIM) if link.given else ""
        yield line(f"{edge(link.source, link.relation, link.target)} {strength(link)}", origin)
    if not records:
        yield line(("no links", DIM))


def strength(link: Link) -> str:
    """The weight of a link, and that it suppresses if it does."""
    return f"({link.weight:.2f})" if link.sign > 0 else f"({link.weight:.2f}, suppresses)"


def edge(source: str, relation: str, target: str) -> str:
    """A link as an arrow."""
    return f"{source} ─{relation}→ {target}"


def path(steps: Sequence[Step], *, amounts: bool = True) -> str:
    """A path as arrows, with the activation that each step carried."""
    links = (
        f" ─{step.relation}→ {step.target}" + (f" ({step.amount:.2f})" if amounts else "") for step in steps
    )
    return steps[0].source + "".join(links)


def operations(records: Sequence[Operation]) -> Iterator[Part]:
    """Operations of the log."""
    for record in records:
        yield from operation(record)
    if not records:
        yield line(("no operations", DIM))


def operation(record: Operation) -> Iterator[Part]:
    """An operation: its kind, its time, and what it changed."""
    yield line((record.id, KEY), f"  {record.kind}", (f"  {timestamp(record.at)}", DIM))
    details = [text for text in (record.message, record.reason, _changed(record)) if text]
    if details:
        yield line("; ".join(details), indent=4)
    if record.undone_by:
        yield line((f"undone by {record.undone_by}", WARN), indent=4)


def undo_hint(operation_id: str | None, subject: str = "", *, indent: int = 0) -> Line:
    """How to undo an operation."""
    return line((f"to undo {subject or 'this'}: priming undo {operation_id}", DIM), indent=indent)


def degraded(parts: Sequence[str]) -> Line:
    """What an answer lacks, with the remedy."""
    missing = "; ".join(_MISSING_PARTS.get(part, part) for part in parts)
    return line((f"degraded: {missing}", WARN))


def _changed(record: Operation) -> str:
    """The memories that an operation changed by name, its links by number."""
    rows = [(change, change.after or change.before or {}) for change in record.changes]
    names = {row["id"]: row["key"] for change, row in rows if change.table == "memories" and row}
    ids = [(row.get("id"), change.key) for change, row in rows if change.table in ("memories", "versions")]
    keys = list(dict.fromkeys(names.get(memory_id, key) for memory_id, key in ids))
    changed_links = sum(change.table == "links" for change in record.changes)
    words = keys[:_SHORT]
    if len(keys) > _SHORT:
        words.append(f"{len(keys) - _SHORT:,} more")
    if changed_links:
        words.append(count(changed_links, "link"))
    return ", ".join(words)


def _fields(record: MemoryRecord) -> Iterator[tuple[str, str]]:
    for name in _FIELDS:
        value = getattr(record, name)
        if value not in (None, (), {}):
            yield name.replace("_", " "), _field(value)
    if record.use.uses:
        yield "uses", f"{record.use.uses}, last {timestamp(record.use.last_used_at)}"
    yield from _practice(record)


def _practice(record: MemoryRecord) -> Iterator[tuple[str, str]]:
    """How often a procedure succeeded, and how well a memory is retained."""
    executions = record.use.helped + record.use.failed
    if record.kind == "procedure" and executions:
        noun = "execution" if executions == 1 else "executions"
        rate = record.use.helped / executions
        yield "success rate", f"{rate:.2f}: {record.use.helped} of {executions} {noun}"
    retention = record.retention
    if retention.stability is not None and retention.difficulty is not None:
        values = f"stability {retention.stability:.1f} days, difficulty {retention.difficulty:.1f}"
        yield "retention", f"{values}, endurance {retention.endurance:.2f} days"


def _field(value: Any) -> str:
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, Mapping):
        return json.dumps(dict(value), ensure_ascii=False)
    return ", ".join(value) if isinstance(value, tuple) else str(value)
