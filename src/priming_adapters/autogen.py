"""AutoGen: a memory that adds what the latest message recalls to the context of a model."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

from priming import Hit, MissingExtra, ParamError
from priming import Memory as OpenMemory
from priming.namespace import DEFAULT_NAMESPACE
from priming_adapters.common import Source, Users, every, forget, message, remember, text_of

with MissingExtra("autogen", "a memory of AutoGen"):
    from autogen_core import CancellationToken, Component
    from autogen_core.memory import (
        Memory,
        MemoryContent,
        MemoryMimeType,
        MemoryQueryResult,
        UpdateContextResult,
    )
    from autogen_core.model_context import ChatCompletionContext
    from autogen_core.models import SystemMessage
    from pydantic import BaseModel

_FIELDS = ("session", "speaker", "occurred_at", "tags", "kind")
"""What has a place of its own in a memory, if it is among the metadata."""


class PrimingMemoryConfig(BaseModel):
    """The configuration of a memory that opens its store."""

    url: str | None = None
    namespace: str = DEFAULT_NAMESPACE
    tokens: int = 800


class PrimingMemory(Memory, Component[PrimingMemoryConfig]):
    """A user's memory; its texts enter the context within ``tokens``, as quoted data."""

    component_config_schema = PrimingMemoryConfig
    component_provider_override = "priming_adapters.autogen.PrimingMemory"

    def __init__(
        self, source: Source = None, *, namespace: str = DEFAULT_NAMESPACE, tokens: int = 800
    ) -> None:
        self._users = Users(source, namespace=namespace)
        self._memory, self._tokens, self._source = self._users.memory, tokens, source

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Add to a context what its latest message recalls, if anything."""
        messages = await model_context.get_messages()
        question = text_of(messages[-1].content) if messages else ""
        if not question.strip():
            return UpdateContextResult(memories=MemoryQueryResult(results=[]))
        recalled = await asyncio.to_thread(self._memory.recall, question, tokens=self._tokens)
        if recalled.text and recalled.hits:
            await model_context.add_message(SystemMessage(content=recalled.text))
        return UpdateContextResult(memories=MemoryQueryResult(results=[_content(hit) for hit in recalled]))

    async def query(
        self,
        query: str | MemoryContent,
        cancellation_token: CancellationToken | None = None,  # noqa: ARG002 - a recall takes milliseconds
        **kwargs: Any,
    ) -> MemoryQueryResult:
        """Recall memories; ``kwargs`` are arguments of recall, such as ``limit`` and ``filters``."""
        text = query if isinstance(query, str) else _text(query)
        if not text.strip():
            return MemoryQueryResult(results=[])
        recalled = await asyncio.to_thread(self._memory.recall, text, **kwargs)
        return MemoryQueryResult(results=[_content(hit) for hit in recalled])

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:  # noqa: ARG002
        """Remember a text, or an object as JSON; its metadata may name session, speaker, time, tags and kind."""
        about = dict(content.metadata or {})
        fields = {name: about.pop(name) for name in _FIELDS if name in about}
        about |= {"object": content.content} if isinstance(content.content, dict) else {}
        fields |= {"metadata": {**about, "mime_type": _mime(content)}, "echo_guard": False}
        await asyncio.to_thread(remember, self._memory, message(_text(content), **fields))

    async def clear(self) -> None:
        """Forget all memories of the user."""
        await asyncio.to_thread(lambda: [forget(self._memory, record.id) for record in every(self._memory)])

    async def close(self) -> None:
        """Close the store, if it was opened here."""
        self._users.close()

    def _to_config(self) -> PrimingMemoryConfig:
        source = self._source
        if isinstance(source, OpenMemory):
            rule = "is open, which no configuration can name: give the URL or path of its store"
            raise ParamError("source", source.namespace, rule)
        url = f"sqlite:///{os.fspath(source)}" if isinstance(source, os.PathLike) else source
        return PrimingMemoryConfig(url=url, namespace=self._memory.namespace, tokens=self._tokens)

    @classmethod
    def _from_config(cls, config: PrimingMemoryConfig) -> PrimingMemory:
        return cls(config.url, namespace=config.namespace, tokens=config.tokens)


def _mime(content: MemoryContent) -> str:
    kind = content.mime_type
    return kind.value if isinstance(kind, MemoryMimeType) else str(kind)


def _text(content: MemoryContent) -> str:
    if isinstance(content.content, str):
        return content.content
    if isinstance(content.content, dict):
        return json.dumps(content.content, ensure_ascii=False, default=str)
    raise TypeError(
        f"content must be a text or an object, not {type(content.content).__name__}: describe it in words"
    )


def _content(hit: Hit) -> MemoryContent:
    about, kind = dict(hit.memory.metadata), MemoryMimeType.TEXT
    stored = MemoryContent(content=about.pop("object", hit.content), mime_type=about.pop("mime_type", kind))
    is_same = _text(stored) == hit.content  # it may have been corrected since
    more = {
        "id": hit.memory.id,
        "score": hit.score,
        "speaker": hit.memory.speaker,
        "session": hit.memory.session,
    }
    return MemoryContent(
        content=stored.content if is_same else hit.content,
        mime_type=stored.mime_type if is_same else kind,
        metadata={**about, **more},
    )
