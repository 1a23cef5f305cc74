"""What mem0 takes and answers, in the terms of Priming: ids, messages, times, memories."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from types import NoneType
from typing import Any

from priming import Memory, MemoryRecord, ParamError
from priming.transfer.reading import time_of
from priming_adapters.common import text_of
from priming_adapters.mem0.adding import Said

IDS = ("user_id", "agent_id", "run_id")
_SHOWN = (*IDS, "actor_id", "role", "attributed_to", "expiration_date")
"""The fields of a memory that stand beside its metadata."""


def refused(message: str) -> ParamError:
    """Return the error, a ``ValueError`` as in mem0, for a call that mem0 refuses too."""
    return ParamError.of([message])


def identity(**values: Any) -> dict[str, str]:
    """Return the ids that are not None as texts without white space, which none may hold."""
    ids = {}
    for name, value in values.items():
        if value is not None:
            ids[name] = str(value).strip()
            if not ids[name] or any(letter.isspace() for letter in ids[name]):
                rule = "contain whitespace" if ids[name] else "be empty or whitespace-only"
                raise refused(f"Invalid {name}: cannot {rule}. Provide a valid identifier without spaces.")
            if ids[name] == "*":
                raise refused(f"Invalid {name}: cannot be '*', which in filters means any.")
    return ids


def own_fields(metadata: Any) -> dict[str, Any]:
    """Return the caller's metadata without ids, which only the arguments of ``add`` set."""
    if not isinstance(metadata, (Mapping, NoneType)):
        raise refused(f"metadata must be a dictionary, not {type(metadata).__name__}")
    return {name: value for name, value in (metadata or {}).items() if name not in (*IDS, "actor_id")}


def space(ids: Mapping[str, str]) -> str:
    """Return the namespace of some ids: the user, else one for the agent or the run."""
    name = next(name for name in IDS if name in ids)
    return ids[name] if name == "user_id" else f"{name.removesuffix('_id')}:{ids[name]}"


def said_in(messages: Any) -> Iterator[Said]:
    """Yield what each message says; a text is the user's; those of the system and odd ones are left."""
    if isinstance(messages, (str, Mapping)):
        messages = [{"role": "user", "content": messages} if isinstance(messages, str) else messages]
    elif not isinstance(messages, list):
        raise refused("messages must be str, dict, or list[dict]")
    for message in messages:
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in (None, "system") and (text := text_of(message.get("content")).strip()):
            yield Said(str(role), message.get("name"), text)


def moment(name: str, value: Any) -> datetime | None:
    """Return a time: seconds since 1970, a time in ISO 8601, or a day; without a zone it is UTC."""

    def zoned(at: datetime) -> datetime:
        return at if at.tzinfo else at.replace(tzinfo=UTC)

    return zoned(value) if isinstance(value, datetime) else time_of(value, name, zoned)


def day(value: Any) -> str | None:
    """Return a day of expiry as ``YYYY-MM-DD``."""
    if value is None or isinstance(value, date):
        return None if value is None else value.isoformat()[:10]
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise refused("expiration_date must be a valid date in YYYY-MM-DD format.") from None


def item(memory: Memory, record: MemoryRecord, **more: Any) -> dict[str, Any]:
    """Return a memory as mem0 shows it, with ``more`` after its metadata."""
    own = dict(record.metadata)
    first = record if record.version == 1 else memory.history(record.id)[0]
    speaker = {"actor_id": record.speaker} if record.speaker not in (None, own.get("role")) else {}
    shown = {name: own.pop(name) for name in _SHOWN if name in own} | speaker
    return {
        "id": record.id,
        "memory": record.content,
        "hash": hashlib.md5(record.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": own or None,
        **more,
        "created_at": _stamp(first.recorded_at),
        "updated_at": _stamp(record.recorded_at),
        **({} if "user_id" in shown or ":" in record.namespace else {"user_id": record.namespace}),
        **shown,
    }


def changes(memory: Memory, record: MemoryRecord) -> Iterator[dict[str, Any]]:
    """Yield the versions of a memory as mem0's history: each with the text before it, and that it was deleted."""
    before, role = None, record.metadata.get("role")
    versions = memory.history(record.id)
    for number, version in enumerate(versions):
        shared = {"created_at": _stamp(versions[0].recorded_at), "updated_at": _stamp(version.recorded_at)}
        yield _change(
            record, number, before, version.content, "UPDATE" if number else "ADD", **shared, role=role
        )
        before = version.content
    if record.status != "active":
        at = next(iter(memory.log(key=record.id, limit=1))).at
        shared = {"created_at": _stamp(versions[0].recorded_at), "updated_at": _stamp(at)}
        yield _change(record, len(versions), before, None, "DELETE", **shared, role=role)


def _change(
    record: MemoryRecord, number: int, before: str | None, after: str | None, event: str, **more: Any
) -> dict[str, Any]:
    speaker = None if record.speaker == more["role"] else record.speaker
    texts = {"old_memory": before, "new_memory": after, "event": event, "is_deleted": after is None}
    return {"id": f"{record.id}/{number}", "memory_id": record.id, **texts, "actor_id": speaker, **more}


def _stamp(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
