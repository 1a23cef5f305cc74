"""LangChain: a retriever that recalls, and the history of a chat, a session of the memory, message by message."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from priming import Hit, MemoryRecord, MissingExtra
from priming.namespace import DEFAULT_NAMESPACE
from priming_adapters.common import SessionMemories, Users, message, remember, text_of

with MissingExtra("langchain", "a retriever or a history of LangChain"):
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        message_to_dict,
        messages_from_dict,
    )
    from langchain_core.retrievers import BaseRetriever

_ROLES = {"human": "user", "ai": "assistant"}


class PrimingRetriever(BaseRetriever):
    """Documents are the memories that a query recalls, at most ``k``, each with its key, relevance and recall."""

    source: Any = None
    namespace: str = DEFAULT_NAMESPACE
    k: int = 10
    _users: Any = None

    def model_post_init(self, context: Any) -> None:
        """Open the memory."""
        super().model_post_init(context)
        self._users = Users(self.source, namespace=self.namespace)

    def close(self) -> None:
        """Close the store, if it was opened here."""
        self._users.close()

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,  # noqa: ARG002 - LangChain passes it
        k: int | None = None,
        user: str | None = None,
        **options: Any,
    ) -> list[Document]:
        """Return the documents of a query; ``options`` are arguments of recall, such as ``filters``."""
        recalled = self._users.of(user).recall(query, limit=self.k if k is None else k, **options)
        return [_document(hit, recalled.recall_id) for hit in recalled]


class PrimingChatMessageHistory(SessionMemories, BaseChatMessageHistory):
    """The messages of a session, each a memory; those that were remembered otherwise are among them."""

    @property
    def messages(self) -> list[BaseMessage]:
        """The messages, in the order in which they were added."""
        return [_message(record) for record in self.records()]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages; the same text again is a message again."""
        remember(self.memory, *map(self._item, messages))

    def _item(self, own: BaseMessage) -> dict[str, Any]:
        role = _ROLES.get(own.type, own.type)
        about = {"speaker": own.name or role, "metadata": {"message": message_to_dict(own)}}
        fields = {"session": self.session_id, "key": f"message:{uuid4()}"}
        return message(_text(own), role=role, **fields, **about)


def _text(message: BaseMessage) -> str:
    """Return the text of a message; of one without, such as a call of a tool, what it is."""
    text = text_of(message.content)
    return (
        text
        if text.strip()
        else json.dumps(message_to_dict(message)["data"].get("tool_calls") or message.type)
    )


def _message(record: MemoryRecord) -> BaseMessage:
    stored = record.metadata.get("message")
    if stored:
        return messages_from_dict([stored])[0]
    return (AIMessage if record.speaker == "assistant" else HumanMessage)(record.content)


def _document(hit: Hit, recall_id: str) -> Document:
    record, score = hit.memory, hit.score if hit.relevance is None else hit.relevance
    metadata = {**record.metadata, "key": record.key, "score": score, "recall_id": recall_id}
    metadata |= {"session": record.session, "speaker": record.speaker, "occurred_at": record.occurred_at}
    return Document(record.content, id=record.id, metadata=metadata)
