"""What the adapters share: a memory for each user, texts under keys, and messages as memories."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from threading import Lock
from typing import Any, Self, TypeAlias
from unicodedata import normalize

from priming import Memory, MemoryRecord, NotFound
from priming.config.words import TEXT_KINDS
from priming.core.arguments.checks import check_name
from priming.embedding.protocol import Embedder
from priming.embedding.registry import AUTO, chosen, is_auto, named
from priming.memory import chosen_embedder
from priming.namespace import DEFAULT_NAMESPACE
from priming.storage.filters import parse
from priming.transfer.reading import LABEL_LETTERS

Source: TypeAlias = Memory | str | os.PathLike[str] | None
"""What an adapter works on: an open memory, or the URL or path of a store, which the adapter opens and closes."""
_TRUST = {"user": "user", "human": "user", "tool": "tool"}
MOST_OPEN, PAGE = 256, 500
"""The most memories of users that stay open, and the memories that are read at once."""


class Users:
    """The memories of a program's users: each is a namespace of one store."""

    def __init__(self, source: Source = None, *, namespace: str = DEFAULT_NAMESPACE) -> None:
        self._owns = not isinstance(source, Memory)
        self.memory = source if isinstance(source, Memory) else Memory.open(source, namespace=namespace)
        self._others: dict[str, Memory] = {}
        self._embedders: dict[str, Embedder] = {}
        self._lock = Lock()

    def of(self, user: str | None = None) -> Memory:
        """Return the memory of a user, by the user's id; None: the memory that was opened."""
        first = self.memory
        name = first.namespace if user is None else str(check_name("namespace", user))
        if name == first.namespace:
            return first
        with self._lock:
            memory = self._others.pop(name, None)
        if memory is None:
            parts = first.store, name, self._embedder_of(name), first.clock, first.profile, first.profiles
            memory = Memory(*parts)
            memory.lock = first.lock  # a store is used by one thread at a time
        with self._lock:
            memory = self._others.setdefault(name, memory)
            if len(self._others) > MOST_OPEN:
                del self._others[next(iter(self._others))]
            return memory

    def _embedder_of(self, name: str) -> Embedder:
        """Return the embedder of a namespace: that of the caller's memory, else as ``Memory.open`` chooses it."""
        first = self.memory
        if not self._owns or not is_auto(chosen(None)):
            return first.embedder
        with first.lock:
            own, own_of_first = (
                chosen_embedder(first.store, each) or AUTO for each in (name, first.namespace)
            )
            embedder = first.embedder if own == own_of_first else self._embedders.get(own)
            return embedder or self._embedders.setdefault(own, named(own))

    def close(self) -> None:
        """Close what was opened here; a memory that the caller opened stays open."""
        if self._owns:
            self.memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class SessionMemories(Users):
    """The memories of a session."""

    def __init__(self, session_id: str, source: Source = None, *, namespace: str = DEFAULT_NAMESPACE) -> None:
        super().__init__(source, namespace=namespace)
        self.session_id = session_id

    def records(self) -> list[MemoryRecord]:
        """Return them, in the order in which they were remembered."""
        return [*every(self.memory, {"session": self.session_id})]

    def clear(self) -> None:
        """Forget them."""
        for record in self.records():
            forget(self.memory, record.id)


def at_key(memory: Memory, key: str) -> MemoryRecord | None:
    """Return the memory of a key or id, with any status; None if there is none. An entity is no memory of a user."""
    try:
        record = memory.get(key)
    except NotFound:
        return None
    return record if record.kind in TEXT_KINDS else None


def key_of(name: str) -> str:
    """Return a name as a key: itself if it can be one, else its printable beginning with a digest of the whole."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    if plain == name and name.strip() and len(name) <= LABEL_LETTERS and name == normalize("NFC", name):
        return name
    mark = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{normalize('NFC', plain)[: LABEL_LETTERS - len(mark) - 1]}~{mark}"


def put(memory: Memory, key: str, content: str, **fields: Any) -> MemoryRecord:
    """Store a text under a key, as ``put_all`` does."""
    with memory.lock:
        put_all(memory, {key: {"content": content, **fields}})
        return memory.get(key)


def put_all(memory: Memory, items: Mapping[str, Mapping[str, Any]]) -> None:
    """Store texts under keys, all or none.

    Each is a new memory, or a new version of the one that has the key, forgotten or not, which keeps its kind.
    ``items`` are arguments of ``remember``, by key.
    """
    with memory.writing():
        taken = {*memory.names(keys=[*items]).values()}
        old = {key: record for key in taken if (record := at_key(memory, key)) is not None}
        memory.remember_many(
            [{"key": key, "echo_guard": False, **item} for key, item in items.items() if key not in old]
        )
        for key, record in old.items():
            if record.status != "active":
                memory.restore(record.id)
            memory.supersede(record.id, **{name: each for name, each in items[key].items() if name != "kind"})


def forget(memory: Memory, key: str, reason: str | None = None) -> bool:
    """Forget a memory, which undo restores; False if none was active under the key."""
    with memory.lock:
        old = at_key(memory, key)
        if old is None or old.status != "active":
            return False
        memory.forget(old.id, reason=reason)
        return True


def every(memory: Memory, filters: Mapping[str, Any] | None = None) -> Iterator[MemoryRecord]:
    """Yield the active memories, those that ``filters`` let through, in the order in which they were remembered."""
    condition = parse({"kind": {"in": [*TEXT_KINDS]}, **(filters or {})})
    with memory.lock:
        now = memory.now()
        ids = [*memory.names(condition=condition, at=now)]
    for start in range(0, len(ids), PAGE):
        with memory.lock:
            page = memory.records(now, ids=ids[start : start + PAGE])
        yield from page.values()


def message(text: str, *, role: str = "user", **fields: Any) -> dict[str, Any]:
    """Return the arguments of ``remember`` for a message of a role, its speaker if ``fields`` name none.

    A user's words are trusted as the user's, a tool's as a tool's, others as an agent's. ``fields`` are arguments of
    ``remember``, such as ``session`` and ``occurred_at``.
    """
    return {"content": text, "trust": _TRUST.get(role, "agent"), "speaker": role, **fields}


def remember(memory: Memory, *messages: Mapping[str, Any]) -> None:
    """Remember messages, those that have a text, all or none."""
    with memory.lock:
        memory.remember_many([each for each in messages if each["content"].strip()])


def text_of(content: Any) -> str:
    """Return the text of a message's content: a text, or a list of parts of which some are texts."""
    if isinstance(content, str):
        return content
    if isinstance(content, (list, tuple)):
        return "\n".join(filter(None, map(text_of, content)))
    text = content.get("text") if isinstance(content, Mapping) else getattr(content, "text", None)
    return text if isinstance(text, str) else ""
