"""Records of the library as lines and tables: what several groups of commands show."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from priming.cli.output import DIM, KEY, OK, WARN, Line, Part, Span, Table, line, lines, timestamp
from priming.text.quotation import conditions_text, count_text, label

if TYPE_CHECKING:
    from priming.results import Finding, Recall, Step
    from priming.types import Link, MemoryRecord, Operation

T = TypeVar("T")
_SHORT, _MOVES = 2, 6
_MISSING_PARTS = {
    "vectors": "some memories wait for their vectors, which priming reembed makes at once",
    "trace": "this recall could not be stored and cannot receive feedback",
}
_FIELDS = (
    *("id", "kind", "status", "version", "heading", "speaker", "session", "occurred_at", "recorded_at"),
    *(
        "retired_at",
        "valid_from",
        "valid_to",
        "tags",
        "metadata",
        "source",
        "trust",
        "importance",
        "outcome",
        "weight",
    ),
)
_RULE, _BESIDE = "behavior", ("correction", "entity")


def memory(record: MemoryRecord) -> Iterator[Part]:
    """Yield a memory in full."""
    yield line((record.key, KEY))
    yield from content(record)
    yield Table(("", ""), tuple(_fields(record)))


def version_times(record: MemoryRecord) -> str:
    """Tell when a version is true, and when it was stored and superseded."""
    end = timestamp(record.valid_to) or "now"
    start = timestamp(record.valid_from) or "the beginning"
    closed = f", superseded {timestamp(record.retired_at)}" if record.retired_at is not None else ""
    return f"valid from {start} to {end}; recorded {timestamp(record.recorded_at)}{closed}"


def content(record: MemoryRecord) -> Iterator[Part]:
    """Return the text of a memory, indented, with what a procedure has beside it."""
    from priming.recall.formatting import displayed_text

    return (line(paragraph, indent=2) for paragraph in displayed_text(record).splitlines())


def links(records: Sequence[Link], *, times: bool = False) -> Iterator[Part]:
    """Yield links, one per line, with the ``times`` at which they were made or last strengthened."""
    for link in records:
        origin: Span = ("  by hand", DIM) if link.given else ""
        at: Span = (f"  {timestamp(link.last_activated or link.created_at)}", DIM) if times else ""
        yield line(f"{edge(link.source, link.relation, link.target)} {strength(link)}", origin, at)
    if not records:
        yield line(("no links", DIM))


def strength(link: Link) -> str:
    """Return the weight of a link, and that it suppresses if it does."""
    return f"({link.weight:.2f})" if link.sign > 0 else f"({link.weight:.2f}, suppresses)"


def edge(source: str, relation: str, target: str) -> str:
    """Return a link as an arrow."""
    return f"{label(source)} ─{label(relation)}→ {label(target)}"


def path(steps: Sequence[Step], *, amounts: bool = True) -> str:
    """Return a path as arrows, with the activation that each step carried."""
    links = (
        f" ─{label(step.relation)}→ {label(step.target)}" + (f" ({step.amount:.2f})" if amounts else "")
        for step in steps
    )
    return label(steps[0].source) + "".join(links)


def first(
    items: Sequence[T],
    show: Callable[[T], Iterable[Part]],
    most: int = 20,
    *,
    rest: str = "--json lists all",
    indent: int = 0,
) -> Iterator[Part]:
    """Yield the first items, and how many more there are, with where the rest is."""
    for item in items[:most]:
        yield from show(item)
    if len(items) > most:
        yield line((f"… and {len(items) - most:,} more: {rest}", DIM), indent=indent)


def left_out(result: Recall) -> Iterator[Part]:
    """Yield what a recall lacks, with the remedy, and the hits that had no room."""
    if result.degraded:
        missing = "; ".join(_MISSING_PARTS.get(part, part) for part in result.degraded)
        yield line((f"degraded: {missing}", WARN))
    for item in result.omitted:
        yield line((f"omitted: {label(item.key)} ({item.reason}, {item.tokens} tokens)", DIM))


def packed(text: str | None) -> Iterator[Part]:
    """Yield what goes into a prompt."""
    if text:
        yield line(("packed:", DIM))
        yield from lines(text)


def recall_id(result: Recall, figures: str = "") -> Iterator[Part]:
    """Yield the id by which a recall is judged, if it was recorded, with figures of it."""
    name = f"recall {result.recall_id}" if result.recorded else ""
    if not result.recorded and result.hits:
        name = "not recorded: it takes no verdicts"
    if text := " · ".join(part for part in (name, figures) if part):
        yield line((text, DIM))


def operations(records: Sequence[Operation]) -> Iterator[Part]:
    """Yield operations of the log."""
    for record in records:
        yield from operation(record)
    if not records:
        yield line(("no operations", DIM))


def operation(record: Operation) -> Iterator[Part]:
    """Yield an operation: its kind, its time, and what it changed."""
    caller = caller_text(record.actor, record.via, record.session)
    ending = f"  {timestamp(record.at)}" + (f"  {caller}" if caller else "")
    yield line((record.id, KEY), f"  {record.kind}", (ending, DIM))
    yield from (line(text, indent=4) for text in (record.message or "").splitlines())
    details = [text for text in (record.reason, _changed(record)) if text and text != record.message]
    if details:
        yield line(("; ".join(details), DIM), indent=4)
    if record.undone_by:
        yield line((f"undone by {record.undone_by}", WARN), indent=4)


def caller_text(actor: str | None, via: str | None, session: str | None) -> str:
    """Tell who asked for an operation, by what, and in which session.

    >>> caller_text("claude-code", "hook prompt", "s1"), caller_text("user", None, None)
    ('claude-code by hook prompt in session s1', 'user')
    """
    parts = (actor or "", f"by {via}" if via else "", f"in session {session}" if session else "")
    return " ".join(part for part in parts if part)


def moved_links(record: Operation) -> Iterator[Part]:
    """Yield the links that an operation moved, by name and from what to what."""
    from priming.history.movements import weights_text

    moves = [
        change for change in record.changes if change.table == "links" and change.before and change.after
    ]
    for change in moves[:_MOVES]:
        weights = weights_text(change.before["weight"], change.after["weight"])  # type: ignore[index]
        yield line((f"{change.key}: {weights}", DIM), indent=4)
    if len(moves) > _MOVES:
        yield line((f"and {count_text(len(moves) - _MOVES, 'link')} more", DIM), indent=4)


def undo_hint(operation_id: str | None, subject: str = "", *, indent: int = 0) -> Line:
    """Return how to undo an operation."""
    return line((f"to undo {subject or 'this'}: priming undo {operation_id}", DIM), indent=indent)


def reason(text: str | None) -> Iterator[Part]:
    """Yield why an answer is empty, if it is."""
    if text is not None:
        yield line((text, WARN))


def _changed(record: Operation) -> str:
    """Return the memories that an operation changed and the verdicts that it took back by name, its links by number.

    Corrections and names that were made beside what was told come last.
    """
    rows = [(change, change.after or change.before or {}) for change in record.changes]
    memories = [row for change, row in rows if change.table == "memories" and row]
    names = {row["id"]: row["key"] for row in memories}
    beside = {row["id"]: row["kind"] for row in memories if row.get("kind") in _BESIDE}
    ids = [(row.get("id"), change.key) for change, row in rows if change.table in ("memories", "versions")]
    ids.sort(key=lambda each: _BESIDE.index(beside[each[0]]) if each[0] in beside else -1)
    keys = list(dict.fromkeys(names.get(memory_id, key) for memory_id, key in ids))
    changed_links = sum(change.table == "links" for change in record.changes)
    keys += [
        f"{change.before['verdict']} {change.key} taken back"
        for change in record.changes
        if change.table == "verdicts" and change.before and change.after is None
    ]
    words = keys[:_SHORT]
    if len(keys) > _SHORT:
        words.append(f"{len(keys) - _SHORT:,} more")
    if changed_links:
        words.append(count_text(changed_links, "link"))
    return ", ".join(words)


def _fields(record: MemoryRecord) -> Iterator[tuple[str, str]]:
    for name in _FIELDS:
        value = getattr(record, name)
        if value not in (None, (), {}):
            yield name.replace("_", " "), _field(value)
    if record.kind == _RULE or record.confidence < 1:
        yield "confidence", f"{record.confidence:.2f}"
    if record.kind == _RULE or record.priority:
        yield "priority", f"{record.priority:g}"
    if applies := scope(record):
        yield "applies", applies
    if record.kind == _RULE:
        yield "state", state(record, whole=True)
    if record.use.shown is not None:
        yield "shown", f"in {count_text(record.use.shown, 'recall')}"
    if record.use.uses:
        last = record.use.last_used_at
        yield "uses", f"{record.use.uses}" + ("" if last is None else f", last {timestamp(last)}")
    if judged := ", ".join(_verdicts(record)):
        yield "verdicts", judged
    yield from _practice(record)


def worth(record: MemoryRecord) -> str:
    """Return the worth of a memory, in short: its priority and verdicts, and for a rule its confidence."""
    use = record.use
    parts = [f"confidence {record.confidence:.2f}"] if record.kind == _RULE or record.confidence < 1 else []
    if record.priority:
        parts.append(f"priority {record.priority:g}")
    if use.shown:
        parts.append(f"shown {use.shown:,}")
    elif use.uses > use.helped + use.confirmed:
        parts.append(f"uses {use.uses:,}")
    return ", ".join([*parts, *_verdicts(record)])


def _verdicts(record: MemoryRecord) -> Iterator[str]:
    """Return the verdicts on a memory by their number."""
    use, by_rule = record.use, record.kind == _RULE
    silent = use.followed - use.helped if use.followed > use.helped else 0
    counts = {
        "used": use.helped,
        "not useful": use.failed,
        "confirmed": use.confirmed,
        "confirmed by silence": silent if by_rule else 0,
        "overridden": use.overridden,
    }
    return (f"{name} {number:,}" for name, number in counts.items() if number)


def state(record: MemoryRecord, *, whole: bool = False) -> str:
    """Tell whether a rule is in force, or quiet and why; empty for other memories."""
    from priming.recall.formatting import EARLIER_KEY, has_earlier_key

    if record.kind != _RULE:
        return ""
    reason = record.use.quiet if whole else "mostly overridden"
    text = record.status if record.status != "active" else "in force"
    text = f"quiet: {reason}" if record.use.quiet and record.status == "active" else text
    return f"{text}; {EARLIER_KEY}" if has_earlier_key(record) else text


def scope(record: MemoryRecord) -> str:
    """Return where a memory applies; empty if it is not a rule and has no conditions."""
    return conditions_text(record.when) if record.when or record.kind == _RULE else ""


def findings_lines(findings: Sequence[Finding]) -> Iterator[Part]:
    """Yield findings, each with its remedy."""
    if not findings:
        yield line(("no inconsistencies", OK))
    for finding in findings:
        yield line((finding.rule, WARN), f"  {finding.subject}: {finding.detail}")
        yield line((f"remedy: {finding.remedy}", DIM), indent=2)


def _practice(record: MemoryRecord) -> Iterator[tuple[str, str]]:
    """Yield how often a procedure succeeded, and how well a memory is retained."""
    executions = record.use.helped + record.use.failed
    if record.kind == "procedure" and executions:
        noun = "time" if executions == 1 else "times"
        rate = record.use.helped / executions
        yield "success rate", f"{rate:.2f}: useful {record.use.helped} of {executions} {noun}"
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
