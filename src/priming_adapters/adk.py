"""Google's ADK: the memory service of an agent's users, whose events are memories."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from priming import Hit, MissingExtra
from priming_adapters.common import Source, Users, forget, key_of, message, remember

with MissingExtra("adk", "a memory service of ADK"):
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai.types import Content, Part


class PrimingMemoryService(BaseMemoryService):
    """A service for many users, each a namespace; what an app added is found by that app, and what came otherwise."""

    def __init__(self, source: Source = None, *, limit: int = 10) -> None:
        self._users, self._limit = Users(source), limit

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember the events of a session that have a text; those that are there already stay as they are."""
        scope = {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}
        await self.add_events_to_memory(events=session.events, **scope)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember events; one that was forgotten is not remembered again."""
        about = {**(custom_metadata or {}), "app_name": app_name}
        await asyncio.to_thread(self._add, user_id, session_id, events, about)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember texts."""
        about = {**(custom_metadata or {}), "app_name": app_name}
        await asyncio.to_thread(self._add_entries, user_id, memories, about)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Recall what a query is about, the most relevant first."""
        if not query.strip():
            return SearchMemoryResponse()
        app = "metadata.app_name"
        which = {"or": [{app: app_name}, {app: {"exists": False}}]}
        recall = self._users.of(user_id).recall
        recalled = await asyncio.to_thread(recall, query, filters=which, limit=self._limit)
        return SearchMemoryResponse(memories=[_entry(hit) for hit in recalled])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:  # noqa: ARG002
        """Forget a memory by the id that a search gave."""
        if memory_id:
            await asyncio.to_thread(forget, self._users.of(user_id), memory_id)

    def close(self) -> None:
        """Close the store, if it was opened here."""
        self._users.close()

    def _add(self, user: str, session: str | None, events: Sequence[Event], about: dict[str, Any]) -> None:
        memory, items = self._users.of(user), {}
        for event in events:
            key = key_of(f"adk:{about['app_name']}:{event.id}")
            at = datetime.fromtimestamp(event.timestamp, UTC)
            fields = {"key": key, "session": session, "speaker": event.author, "occurred_at": at}
            role = "user" if event.author == "user" else "model"
            items[key] = message(_text(event.content), role=role, metadata=about, **fields)
        with memory.lock:
            present = {*memory.names(keys=[*items]).values()}
            remember(memory, *(item for key, item in items.items() if key not in present))

    def _add_entries(self, user: str, entries: Sequence[MemoryEntry], about: dict[str, Any]) -> None:
        remember(self._users.of(user), *(_arguments(entry, about) for entry in entries))


def _arguments(entry: MemoryEntry, about: dict[str, Any]) -> dict[str, Any]:
    at = datetime.fromisoformat(entry.timestamp) if entry.timestamp else None
    author = entry.author or "user"
    fields = {
        "speaker": author,
        "occurred_at": at if at is None or at.tzinfo else at.replace(tzinfo=UTC),
        "metadata": {**entry.custom_metadata, **about},
        **({"key": key_of(entry.id)} if entry.id else {}),
    }
    role = "user" if author == "user" else "model"
    return message(_text(entry.content), role=role, echo_guard=False, **fields)


def _text(content: Content | None) -> str:
    return "\n".join(
        part.text for part in (content and content.parts) or () if part.text and not part.thought
    )


def _entry(hit: Hit) -> MemoryEntry:
    record, at = hit.memory, hit.memory.occurred_at or hit.memory.recorded_at
    return MemoryEntry(
        content=Content(
            parts=[Part(text=record.content)], role="user" if record.trust == "user" else "model"
        ),
        custom_metadata={**record.metadata, "score": hit.score},
        id=record.id,
        author=record.speaker,
        timestamp=None if at is None else at.isoformat(),
    )
