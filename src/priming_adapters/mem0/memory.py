"""The shape of mem0: ``Memory`` and ``AsyncMemory``, with the arguments and the answers of mem0ai 2.

A user is a namespace, and so is an agent or a run that has no user. The ids of earlier releases, such as
``search(query, user_id=…)``, are taken too. No language model is needed: a text is remembered as it is, and the
judge of sameness says whether it changes an earlier one; with an ``agent``, this reads the facts in it. ``timestamp``
is when it was said, ``reference_date`` the time of the question. What is deleted is forgotten; undo restores it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Any, Self

import priming
from priming import Cue
from priming.llm.protocol import Agent
from priming_adapters.common import every
from priming_adapters.mem0 import shapes
from priming_adapters.mem0.adding import Adding, Said
from priming_adapters.mem0.filters import Scopes, most_of, scope

_UNSET: Any = object()
_SOURCE, _PROCEDURE = "mem0", "procedural_memory"
_THRESHOLD = 0.1
"""mem0's default, which nearly all of its cosines pass: left so, an answer has what is best, up to ``top_k``."""


class Mem0Memory:
    """A memory for many users, in the shape of mem0's.

    ``config`` is an open ``priming.Memory``, a URL or path of a store, or a configuration of mem0, whose key
    ``priming`` may hold a ``url`` and an ``agent``.
    """

    def __init__(self, config: Any = None, *, agent: Agent | None = None) -> None:
        is_source = config is None or isinstance(config, (priming.Memory, str, os.PathLike))
        own = config.get("priming", {}) if isinstance(config, Mapping) else {}
        self._scopes = (
            config if isinstance(config, Scopes) else Scopes(config if is_source else own.get("url"))
        )
        self._agent = agent or own.get("agent")
        self._has_graph = isinstance(config, Mapping) and "graph_store" in config

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> Self:
        """Open a memory by a configuration; what concerns mem0's own parts is left aside."""
        return cls(config_dict)

    def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Remember messages, each with its speaker, run and time; ``results`` say what became of each."""
        ids = shapes.identity(user_id=user_id, agent_id=agent_id, run_id=run_id)
        if not ids:
            raise shapes.refused("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
        if memory_type not in (None, _PROCEDURE):
            raise shapes.refused(
                f"Invalid 'memory_type'. Please pass {_PROCEDURE} to create procedural memories."
            )
        about = shapes.own_fields(metadata) | ids
        if (end := shapes.day(expiration_date)) is not None:
            about["expiration_date"] = end
        at = shapes.moment("timestamp", timestamp)
        fields = {"session": ids.get("run_id"), "occurred_at": at, "source": _SOURCE, "metadata": about}
        adding = Adding(self._scopes.of(shapes.space(ids)), fields)
        spoken = [*shapes.said_in(messages)]
        if not spoken:
            return {"results": []}
        if memory_type and agent_id:
            about["memory_type"] = memory_type
            text = "\n".join(f"{turn.role}: {turn.text}" for turn in spoken)
            return {"results": adding.plain([Said("assistant", None, text)], "procedure")}
        if infer:
            return {
                "results": adding.read(self._agent, spoken, prompt) if self._agent else adding.judged(spoken)
            }
        more = ({"actor_id": turn.name, "role": turn.role} for turn in spoken)
        return {"results": [{**each, **own} for each, own in zip(adding.plain(spoken), more, strict=True)]}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: dict[str, Any] | None = None,
        threshold: float = _THRESHOLD,
        rerank: bool = False,  # noqa: ARG002 - they are ranked
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Recall memories, the most relevant first; ``score`` is the probability that it is relevant."""
        floor = None if threshold == _THRESHOLD else threshold
        top_k = most_of(kwargs.get("limit", top_k))
        if not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
            raise shapes.refused(f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive).")
        if not isinstance(query, str) or not query.strip():
            raise shapes.refused("Invalid query: cannot be empty or whitespace-only.")
        memories, which = self._scopes.within(scope(filters, kwargs), expired=show_expired)
        cue = Cue(query, at=shapes.moment("reference_date", reference_date))
        pairs = [
            (memory, hit)
            for memory in memories
            for hit in (memory.recall(cue=cue, filters=which, limit=top_k, floor=floor) if top_k else ())
        ]
        pairs = sorted(pairs, key=lambda pair: -pair[1].score)[:top_k]
        answer: dict[str, Any] = {"results": []}
        for memory, hit in pairs:
            details = {"score_details": dict(hit.components)} if explain else {}
            answer["results"].append(shapes.item(memory, hit.memory, score=hit.score) | details)
        if self._has_graph:
            steps = dict.fromkeys((s.source, s.relation, s.target) for _, hit in pairs for s in hit.path)
            answer["relations"] = [
                dict(zip(("source", "relationship", "destination"), s, strict=True)) for s in steps
            ]
        return answer

    def get_all(
        self,
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return the memories of a scope, in the order in which they were added."""
        most, within = most_of(kwargs.get("limit", top_k)), scope(filters, kwargs)
        pairs = self._scopes.all(within, most, expired=show_expired)
        return {"results": [shapes.item(memory, record) for memory, record in pairs]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory; None if there is none, or if it was deleted."""
        pair = self._scopes.find(memory_id)
        return shapes.item(*pair, score=None) if pair and pair[1].status == "active" else None

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: dict[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Give a memory a new text or further metadata, as a new version; its ids stay."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise shapes.refused("At least one of text, metadata, or expiration_date must be provided.")
        memory, record = self._scopes.active(memory_id, ". Please provide a valid 'memory_id'")
        own = shapes.own_fields(metadata)
        if expiration_date is not _UNSET:
            own["expiration_date"] = shapes.day(expiration_date)
        whole = {k: v for k, v in {**record.metadata, **own}.items() if v is not None}
        memory.supersede(record.id, record.content if text is None else text, metadata=whole)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Forget a memory."""
        memory, record = self._scopes.active(memory_id)
        memory.forget(record.id)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Forget the memories of a user, an agent or a run."""
        if not (ids := shapes.identity(user_id=user_id, agent_id=agent_id, run_id=run_id)):
            rule = "At least one filter is required to delete all memories."
            raise shapes.refused(f"{rule} If you want to delete all memories, use the `reset()` method.")
        for memory, record in self._scopes.all(ids, None, expired=True):
            memory.forget(record.id)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return what happened to a memory, the earliest first."""
        pair = self._scopes.find(memory_id)
        return [*shapes.changes(*pair)] if pair else []

    def reset(self) -> None:
        """Forget all that was added in this shape, of all users; what came otherwise stays."""
        for memory in self._scopes.memories():
            for record in every(memory, {"source": _SOURCE}):
                memory.forget(record.id)

    def close(self) -> None:
        """Close the store, if it was opened here."""
        self._scopes.close()

    def chat(self, query: str) -> None:
        """Raise ``NotImplementedError``, as in mem0."""
        raise NotImplementedError("Chat function not implemented yet.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _later(method: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Return a method of ``Memory`` as one of ``AsyncMemory``, which runs in a thread."""

    @wraps(method)
    async def call(self: AsyncMem0Memory, *args: Any, **named: Any) -> Any:
        return await asyncio.to_thread(method, self.memory, *args, **named)

    return call


class AsyncMem0Memory:
    """``Memory`` for asyncio: each call runs in a thread."""

    def __init__(self, config: Any = None, *, agent: Agent | None = None) -> None:
        self.memory = Mem0Memory(config, agent=agent)

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> Self:
        """Open a memory by a configuration."""
        return cls(config_dict)

    add, search, get, get_all = (
        _later(f) for f in (Mem0Memory.add, Mem0Memory.search, Mem0Memory.get, Mem0Memory.get_all)
    )
    update, delete, delete_all = (
        _later(f) for f in (Mem0Memory.update, Mem0Memory.delete, Mem0Memory.delete_all)
    )
    history, reset, chat = (_later(f) for f in (Mem0Memory.history, Mem0Memory.reset, Mem0Memory.chat))

    def close(self) -> None:
        """Close the store, if it was opened here."""
        self.memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()
