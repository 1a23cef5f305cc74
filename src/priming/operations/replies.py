"""Replies to agents: a line for each memory that moved and the id of the operation, without the rows of the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from priming.config.words import UNSTORED
from priming.operations.readable import BUDGET, readable
from priming.text.quotation import json_text, label, quote_text, visible
from priming.verbs.op import Op

Fields = Mapping[str, Any]
_LINES = 20
"""Number of lines of a reply; the others are counted."""
_MEMBERS, _LONGEST = 5, 200
"""Number of members of a list, and of characters of a text, in the items of a night."""
_STATE = ("status", "weight", "confidence", "priority", "confirmed", "overridden", "helped", "failed")


def is_short(op: Op) -> bool:
    """Tell whether an agent gets a short reply: to an operation that writes, and answers with one thing."""
    return op.writes and not op.long and op.answers in _FIELDS


def short(op: Op, answer: Fields, logged: Fields | None) -> tuple[dict[str, Any], str]:
    """Return the short reply to an operation: a few fields of the answer for programs, and lines for the model.

    ``logged`` is the operation as the log has it; None where nothing was written, or the answer is the operation.
    """
    operation = answer if op.answers == "Operation" else logged
    lines = [
        *(_SUBJECTS[op.answers](answer) if op.answers in _SUBJECTS else ()),
        *(() if operation is None else _moves(operation, op)),
    ]
    lines = list(dict.fromkeys(lines))
    if len(lines) > _LINES:
        lines[_LINES - 1 :] = [f"and {len(lines) - _LINES + 1:,} more"]
    fields = {name: answer[name] for name in _FIELDS[op.answers]}
    if op.answers == "Operation":
        fields["message"] = "\n".join(lines) or None
    elif operation is not None:
        fields["operation"] = operation["id"]
    own_id = None if operation is None else f"operation: {operation['id']}"
    while sum(map(len, lines)) + len(lines) > BUDGET - _LONGEST:
        lines[-2:] = ["and more"]
    return fields, "\n".join(line for line in (*(lines or ["nothing moved"]), own_id) if line)


def without_rows(op: Op, answer: Any) -> Any:
    """Return an answer without the rows that operations changed: an agent that needs them names one operation."""
    if op.name == "operation":
        return answer
    if op.answers == "list[Operation]":
        return [_rowless(operation) for operation in answer]
    if op.name == "why":
        return {**answer, "operations": [_rowless(operation) for operation in answer["operations"]]}
    return _short_night(answer) if op.answers == "Proposal" else answer


def _rowless(operation: Fields) -> dict[str, Any]:
    message = operation.get("message") or "\n".join(_changes(operation))
    return {**operation, "changes": [], "message": message or None}


def _short_night(night: Fields) -> dict[str, Any]:
    """Return a night of sleep without rows, with the first of its changes; ``omitted`` counts the others.

    A proposal is applied by its id, whatever the reply to it lists.
    """
    bounded = {
        name: [
            {key: _bounded(value) for key, value in item.items() if key != "changes"} for item in night[name]
        ]
        for name in ("items", "left_alone", "checks")
    }
    items = [{**item, "changes": []} for item in bounded["items"][:_LINES]]
    alone = bounded["left_alone"][:_LINES]
    omitted = {"items": len(night["items"]) - len(items), "left_alone": len(night["left_alone"]) - len(alone)}
    operations = night["operations"][-_LINES:]
    return {
        **night,
        "items": items,
        "left_alone": alone,
        "checks": bounded["checks"],
        "operations": operations,
        "omitted": omitted,
    }


def _bounded(value: Any) -> Any:
    """Return a value with few of its members, and the beginning of a long text."""
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]}…"
    if isinstance(value, list):
        return [_bounded(member) for member in value[:_MEMBERS]]
    if isinstance(value, dict):
        return {name: _bounded(member) for name, member in [*value.items()][:_LINES]}
    return value


_RETOLD = ("undo", "rollback")
"""Operations whose message states what they undid, and whose rows show what that moved."""


def _moves(operation: Fields, op: Op) -> Iterator[str]:
    """Yield the lines of an operation's message, or else the changes of its rows."""
    message = operation.get("message")
    if message:
        yield from message.splitlines()
    if (not message or op.name in _RETOLD) and op.answers not in ("Learned", "Remembered"):
        yield from _changes(operation)


def _changes(operation: Fields) -> Iterator[str]:
    """Yield a line for each memory that changed, and a number of links."""
    links = {"new": 0, "removed": 0, "moved": 0}
    for change in operation["changes"]:
        before, after, table = change["before"], change["after"], change["table"]
        if table == "links":
            links["new" if before is None else "removed" if after is None else "moved"] += 1
        elif table == "versions" and before is None and after and after["version"] > 1:
            yield f"{label(change['key'])}: version {after['version']}, {quote_text(after['gist'])}"
        elif table == "verdicts" and before and after is None:
            yield f"{label(change['key'])}: {before['verdict']} taken back"
        elif table == "memories" and (row := after or before) and row["kind"] != "entity":
            yield f"{label(row['key'])}: {_change(before, after)}"
    counts = [f"{number:,} {name}" for name, number in links.items() if number]
    if counts:
        yield f"links: {', '.join(counts)}"


def _change(before: Fields | None, after: Fields | None) -> str:
    """Return how the state of a memory changed."""
    if before is None or after is None:
        return "new" if after else "removed"
    moves = [
        f"{name} {before[name]} → {after[name]}"
        for name in _STATE
        if before.get(name) is not None and before[name] != after[name]
    ]
    return ", ".join(moves) or "counted"


def _remembered(answer: Fields) -> Iterator[str]:
    status = answer["status"]
    links = f", {len(answer['links']):,} links" if answer["links"] else ""
    key = label(answer["key"])
    yield f"{status} {key}{links}" if status == "stored" else f"{key}: {UNSTORED[status]}"
    for link in answer["links"]:
        if link["message"]:
            yield link["message"]
            both = label(f"{link['target']}+{answer['key']}")
            yield f"with these tools: supersede {label(link['target'])}, or keep_both {both}"


def _learned(answer: Fields) -> Iterator[str]:
    """Yield the rule that now applies, read back from the store, and the reason for its placement."""
    when = f" when {compact(answer['when'])}" if answer["when"] else ""
    rule = f"{answer['rule']}{when}, confidence {answer['confidence']:.2f}"
    yield f"{label(answer['key'])}: {rule}: {quote_text(answer['content'])}"
    yield "; ".join(reason for reason in answer["reasons"] if "read from its words" not in reason)


def _record(answer: Fields) -> Iterator[str]:
    yield f"{label(answer['key'])}: version {answer['version']}, {quote_text(answer['gist'])}"


def _run(answer: Fields) -> Iterator[str]:
    state = answer["settled"] or ("ended" if answer["ended_at"] else "started")
    yield f"run {answer['id']} {state}, {len(answer['shown']):,} memories shown"


def _erased(answer: Fields) -> Iterator[str]:
    rows = ", ".join(f"{number:,} {table}" for table, number in answer["erased"].items() if number)
    done = "would be erased" if answer["dry_run"] else "erased"
    yield f"{label(answer['key'])}: {done}, {rows or 'no rows'}"
    yield from (f"copy {label(copy['path'])} {visible(copy['outcome'])}" for copy in answer["copies"])
    yield from (
        f"doubtful, not erased without include: {label(row['key'])}: {visible(row['reason'])}"
        for row in answer["doubtful"]
    )


def _pack(answer: Fields) -> Iterator[str]:
    yield f"pack {answer['name']} {answer['version']}: {answer['behaviors']:,} behaviours, {answer['links']:,} links"


_SUBJECTS: Mapping[str, Callable[[Fields], Iterator[str]]] = {
    "Remembered": _remembered,
    "Learned": _learned,
    "MemoryRecord": _record,
    "Run": _run,
    "Receipt": _erased,
    "Pack": _pack,
}
"""The lines of a reply, by the type of the answer."""
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "Operation": ("id", "kind", "message"),
    "Remembered": ("id", "key", "status"),
    "Learned": ("id", "key", "placement", "rule", "when", "confidence", "content", "previous"),
    "MemoryRecord": ("id", "key", "version", "gist"),
    "Link": ("source", "relation", "target", "weight"),
    "Run": ("id", "session", "settled"),
    "Receipt": ("key", "erased", "copies", "doubtful"),
    "Pack": ("name", "version", "behaviors", "links"),
}
"""The fields of an answer that a short reply has."""


def lean(schema: Any) -> Any:
    """Strip a request's schema of parts that models do not need: repeated titles, nulls, other forms of lists."""
    if isinstance(schema, list):
        return [lean(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "anyOf" in schema:
        first = next(option for option in schema["anyOf"] if option.get("type") != "null")
        return lean({**{name: part for name, part in schema.items() if name != "anyOf"}, **first})
    return {
        name: {key: lean(field) for key, field in part.items()} if name in _BY_NAME else lean(part)
        for name, part in schema.items()
        if not (name == "title" and isinstance(part, str)) and not (name == "default" and part is None)
    }


_BY_NAME = ("properties", "$defs")


def shown(op: Op, answer: Any, limit: int | None = None) -> str:
    """Return an answer as a model reads it; ``limit`` is that of a list."""
    if op.answers == "Proposal":
        return "\n".join(_night_lines(answer))
    if op.name not in ("recall", "active"):
        return readable(op, answer, limit=limit)
    notice = answer["notice"] or ""
    parts = [answer["text"] or answer["reason"] or notice or "nothing"]
    if answer["hits"] and answer["recorded"]:
        parts.append(f"recall_id: {answer['recall_id']}")
    if notice not in parts[0]:
        parts.append(notice)
    if answer["degraded"]:
        parts.append(f"degraded: {', '.join(answer['degraded'])}")
    return "\n".join(parts)


def limit_of(op: Op, request: Fields) -> int | None:
    """Return the most things that an answer to a request may have; None without a limit."""
    argument = op.declared.arguments.get("limit")
    names = (name for name in request if op.other_names.get(name, name) == "limit")
    limit = next((request[name] for name in names), None)
    value = argument.default if argument is not None and limit is None else limit
    return value if isinstance(value, int) else None


def _night_lines(night: Fields) -> Iterator[str]:
    """Yield a bounded night: what it did or proposes, and how to go on."""
    omitted = night["omitted"]
    number = len(night["items"]) + omitted["items"]
    done = "changed" if night["operation"] else "would change" if number else "changed"
    yield f"{', '.join(night['stages'])}: {done} {number:,} things"
    for item in night["items"]:
        into = f" → {label(item['into'])}" if item["into"] else ""
        keys = ", ".join(map(label, item["keys"]))
        yield f"- {item['stage']}: {item['action']} {keys}{into}: {visible(' '.join(item['reason'].split()))}"
    if omitted["items"]:
        yield f"and {omitted['items']:,} more"
    alone = len(night["left_alone"]) + omitted["left_alone"]
    if alone:
        yield f"similar, but left alone: {alone:,}"
    if night["operation"]:
        yield f"operation: {night['operation']}"
    elif number:
        yield f"proposal: {night['id']}, to be carried out by apply"


def wrapped(answer: Any, reason: str | None) -> dict[str, Any]:
    """Return an answer that is not an object, wrapped in one."""
    return {"result": answer} if reason is None else {"result": answer, "reason": reason}


def compact(value: Any) -> str:
    """Return a value as JSON without spaces."""
    return json_text(value, separators=(",", ":"))
