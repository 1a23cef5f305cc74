"""OpenAI Agents: the session of a conversation, each item a memory."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from priming import MemoryRecord, MissingExtra
from priming.namespace import DEFAULT_NAMESPACE
from priming.transfer.conversations import tool_note
from priming_adapters.common import SessionMemories, Source, forget, message, remember, text_of

with MissingExtra("openai-agents", "a session of OpenAI Agents"):
    from agents.memory.session_settings import SessionSettings, resolve_session_limit


class PrimingSession(SessionMemories):
    """The items of a session, in order; what was remembered of it otherwise is a message among them."""

    def __init__(
        self,
        session_id: str,
        source: Source = None,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        session_settings: SessionSettings | None = None,
    ) -> None:
        super().__init__(session_id, source, namespace=namespace)
        self.session_settings = session_settings

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the items, or the latest ``limit`` of them, the earliest first."""
        most = resolve_session_limit(limit, self.session_settings)
        records = await asyncio.to_thread(self.records)
        return [
            _item(record) for record in (records if most is None else records[max(0, len(records) - most) :])
        ]

    async def add_items(self, items: list[Any]) -> None:
        """Remember items, each with its speaker; one without a text, such as a call of a tool, by a line about it."""
        await asyncio.to_thread(self._add, items)

    async def pop_item(self) -> Any:
        """Forget the latest item, and return it; None if there is none."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Forget the items of the session."""
        await asyncio.to_thread(self.clear)

    def _add(self, items: list[Any]) -> None:
        remember(self.memory, *map(self._arguments, items))

    def _arguments(self, item: Mapping[str, Any]) -> dict[str, Any]:
        is_output = str(item.get("type")).endswith("_output")
        role = str(item.get("role") or ("tool" if is_output else "assistant"))
        fields = {"key": f"item:{uuid4()}", "metadata": {"item": dict(item)}, "session": self.session_id}
        return message(_text(item), role=role, **fields)

    def _pop(self) -> Any:
        with self.memory.lock:
            record = next(iter(self.records()[-1:]), None)
            if record is not None:
                forget(self.memory, record.id)
        return None if record is None else _item(record)


def _text(item: Mapping[str, Any]) -> str:
    parts = (item.get(name) for name in ("content", "output", "summary"))
    text = next(filter(str.strip, map(text_of, parts)), "")
    note = tool_note(item["name"], item.get("arguments")) if item.get("name") else f"({item.get('type')})"
    return text or note


def _item(record: MemoryRecord) -> Any:
    """Return the item of a memory; one whose text was corrected since is a message with the new text."""
    own = record.metadata.get("item")
    if own is not None and _text(own) == record.content:
        return own
    role = "user" if record.trust == "user" else "assistant"
    return {"role": role, "content": record.content}
