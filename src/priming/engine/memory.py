"""The façade: opens a memory, offers its verbs, closes it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from priming.checks import PAGE_LIMIT, check_choice, check_count, check_name, check_path, check_text
from priming.config import profiles
from priming.config.environment import locate
from priming.config.params.laws import PLASTICITY
from priming.config.settings import Settings
from priming.embed.choose import DEFAULT, named
from priming.embed.protocol import Embedder
from priming.engine import care, history, links, past, transfer, undo
from priming.engine.opened import DEFAULT_NAMESPACE, Opened
from priming.engine.recall import question, recall
from priming.engine.remember import remember_many, remember_one
from priming.engine.verbs.behaving import Behaving
from priming.engine.verbs.judging import Judging
from priming.engine.verbs.keeping import Keeping
from priming.engine.verbs.observing import Observing
from priming.engine.verbs.packing import Packing
from priming.engine.verbs.practising import Practising
from priming.engine.verbs.reviewing import Reviewing
from priming.engine.verbs.sleeping import Sleeping
from priming.engine.verbs.timing import Timing
from priming.engine.verbs.weighing import Weighing
from priming.errors import ParamError
from priming.store.sqlite import SqliteStore
from priming.types import (
    Clock,
    Cue,
    Finding,
    Link,
    MemoryRecord,
    Operation,
    Recall,
    Receipt,
    Remembered,
    Stats,
    Status,
    SystemClock,
    Version,
)
from priming.words import KINDS, STATUSES

Progress = Callable[[int, int | None], None]


class Memory(
    Judging, Behaving, Packing, Observing, Keeping, Practising, Timing, Sleeping, Reviewing, Weighing
):
    """An associative memory: one namespace of one store. Open it with ``Memory.open``.

    Every verb that writes is one operation in the log, found there by its id; reads change nothing.
    ``key`` stands for a memory's key or id in every verb.
    """

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        profile: str = "priming",
        embedder: Embedder | str | None = None,
        clock: Clock | None = None,
        settings: Settings | None = None,
    ) -> Memory:
        """Open a memory, making the store if it is not there.

        Args:
            url: ``sqlite:///relative.db``, ``sqlite:////absolute.db``, ``sqlite://`` (in memory); None means
                ``PRIMING_URL``, else ``.priming/memory.db``.
            namespace: the scope of every memory; nothing crosses it.
            profile: one of ``priming.profiles``.
            embedder: what makes vectors, or its name (``docs/embedders.md``); None: that of the settings, by default
                WordLlama's bundled weights. It is loaded at first need.
            clock: where the present comes from.
            settings: as ``priming.settings.load`` reads them: how they shape the profiles. A program that wants
                their store, namespace and profile too gives them as arguments.

        Raises:
            ParamError: a URL, namespace or profile that is not understood.
            Corrupt, SchemaTooNew, StoreError: a file that cannot be used; it is left as it was.

        >>> with Memory.open("sqlite://") as memory:
        ...     memory.remember("Ada wrote the first program.").key
        'ada-wrote-the-first-program'
        """
        known = profiles.ALL if settings is None else settings.profiles
        chosen = profiles.get(profile, known)
        name = check_name("namespace", namespace)
        if name is None:
            raise ParamError("namespace", namespace, "must be given")
        location = locate(url)
        store = SqliteStore(location.path, synchronous=location.synchronous)
        chosen_embedder = embedder or (DEFAULT if settings is None else settings["store.embedder"])
        own = named(chosen_embedder) if isinstance(chosen_embedder, str) else chosen_embedder
        return cls(Opened(store, name, own, clock or SystemClock(), chosen, known))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the store; a second call does nothing."""
        self._opened.close()

    @property
    def namespace(self) -> str:
        """The namespace that this memory works in."""
        return self._opened.namespace

    def remember(
        self,
        content: str,
        *,
        heading: str | None = None,
        kind: str = "episode",
        key: str | None = None,
        session: str | None = None,
        speaker: str | None = None,
        occurred_at: datetime | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        when: Mapping[str, Any] | None = None,
        importance: float = 0.5,
        outcome: str | None = None,
        source: str | None = None,
        trust: str = "user",
    ) -> Remembered:
        """Store a memory and link it at once: to the previous one of its session, to the names in it, to its like.

        The same text of the same kind, title, session and time is a ``duplicate``; text that a recall emitted in
        the last day is an ``echo``. Neither is stored again: the answer names the memory that is there.

        Raises:
            ParamError: an argument outside its range.
            Conflict: ``key`` names another memory.

        """
        arguments = {
            "content": content,
            "heading": heading,
            "kind": kind,
            "key": key,
            "session": session,
            "speaker": speaker,
            "occurred_at": occurred_at,
            "tags": tags,
            "metadata": metadata,
            "when": when,
            "importance": importance,
            "outcome": outcome,
            "source": source,
            "trust": trust,
        }
        return remember_one(self._opened, arguments)

    def remember_many(
        self, items: Iterable[Mapping[str, Any]], *, progress: Progress | None = None
    ) -> builtins.list[Remembered]:
        """Remember mappings of the arguments of ``remember``, one transaction and operation a batch of 500.

        The answers leave ``links`` empty: see ``links``. In a namespace of more than 20,000 memories the nearest
        memories are not linked. ``progress`` is called with (done, total or None) after each batch; an error or an
        interrupt keeps the batches before it, and the same call again skips them as duplicates.
        """
        return remember_many(self._opened, items, progress)

    def recall(
        self,
        text: str | None = None,
        *,
        cue: Cue | None = None,
        kinds: Collection[str] | None = None,
        limit: int = 10,
        tokens: int | None = None,
        session: str | None = None,
        filters: Mapping[str, Any] | None = None,
        profile: str | None = None,
        floor: float | None = None,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
        include_superseded: bool = False,
        spread: bool = True,
        ablate: Collection[str] = (),
        trace: bool = False,
    ) -> Recall:
        """Bring up the memories that matter for a cue, each with its score, its components and its path.

        Args:
            text: what is asked or seen; ``cue`` may give a context beside it, or instead.
            cue: a context: file, language, task, environment, project, speaker, and others by name.
            kinds: kinds of memory that may come up; None: all but entities.
            limit: most hits.
            tokens: budget of ``Recall.text``; None: no limit.
            session: the session that the recall is kept under.
            filters: which memories may come up (see ``priming.filters``).
            profile: another profile for this recall.
            floor: how sure the best hit must be, in [0, 1], for anything to come up; None: the profile's.
            valid_at: ask what was true then.
            known_at: ask what was known then: the answer that was given then, its clock included. A recall with
                any of these three is not kept: no verdict can be given on it.
            include_superseded: whether versions that held no longer may come up too, marked.
            spread: whether activation spreads; without, the anchors alone answer.
            ablate: names of terms to leave out (``priming.engine.recall.TERMS``).
            trace: whether ``Recall.spread`` lists every step's activations.

        Raises:
            ParamError: a blank cue, or an argument outside its range.
            NotFound: a namespace that does not exist.

        """
        arguments = {
            "text": text,
            "cue": cue,
            "kinds": kinds,
            "limit": limit,
            "tokens": tokens,
            "session": session,
            "filters": filters,
            "profile": profile,
            "floor": floor,
            "valid_at": valid_at,
            "known_at": known_at,
            "include_superseded": include_superseded,
            "spread": spread,
            "ablate": ablate,
            "trace": trace,
        }
        return recall(self._opened, question(self._opened.profile, arguments, self._opened.profiles))

    def get(self, key: str) -> MemoryRecord:
        """The memory of a key or id, in its present version, whatever its status."""
        with self._opened.lock:
            return self._opened.find(key)

    def list(
        self,
        *,
        kinds: Collection[str] | None = None,
        status: str | None = "active",
        limit: int = 100,
        after: str | None = None,
        matching: str | None = None,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> builtins.list[MemoryRecord]:
        """Memories in the order in which they were remembered, a page at a time.

        ``after`` is the last id of the page before; ``matching`` keeps those that hold every one of its words;
        ``status`` None means any; entities made by rule are listed only when ``kinds`` asks for them. ``valid_at``
        and ``known_at`` list what was true, and what was known, at another time.
        """
        with self._opened.lock:
            self._opened.readable()
            opened = past.at(self._opened, past.moment(valid_at, known_at))
            kinds = [kinds] if isinstance(kinds, str) else kinds
            some = [kind for kind in KINDS if kind != "entity"] if kinds is None else kinds
            if status is not None:
                check_choice("status", status, STATUSES)
            check_count("limit", limit, 1, PAGE_LIMIT)
            if after is not None:
                after = opened.find(after).id
            return opened.store.page(
                self.namespace,
                opened.valid(opened.now()),
                kinds=[check_choice("kinds", kind, KINDS) for kind in some],
                status=status,
                matching=None if matching is None else check_text("matching", matching),
                limit=limit,
                after=after,
            )

    def supersede(
        self, key: str, content: str, *, valid_from: datetime | None = None, **changes: Any
    ) -> MemoryRecord:
        """Give a memory a new version that holds from ``valid_from`` (now) on; the old one stays in its history.

        ``changes`` are arguments of ``remember``, except kind and key; what is not named stays as it was.

        Raises:
            NotFound: no such memory.
            ParamError: ``valid_from`` lies before the old version's own start.
            Conflict: the memory is forgotten.

        """
        return history.supersede(self._opened, key, content, valid_from=valid_from, changes=changes)

    def history(self, key: str) -> builtins.list[Version]:
        """The versions of a memory, oldest first, each in its latest row."""
        with self._opened.lock:
            return history.history(self._opened, key)

    def forget(self, key: str) -> Operation:
        """Take a memory out of recall; ``undo`` brings it back."""
        return history.forget(self._opened, key)

    def purge(self, key: str) -> Receipt:
        """Erase a memory: its versions, vectors, links, index entries, log rows and recalls. Not undoable.

        Names that only this memory mentioned go with it. Backups and exports made before are not reached.
        """
        return history.purge(self._opened, key)

    def link(
        self, source: str, target: str, relation: str = "similar-to", weight: float = PLASTICITY.start
    ) -> Link:
        """Link two memories; made twice, it is the same link with the weight set anew."""
        return links.link(self._opened, source, target, relation, weight)

    def link_many(self, items: Iterable[Mapping[str, Any]]) -> builtins.list[Link]:
        """Link many pairs in one operation: mappings of the arguments of ``link``."""
        return links.link_many(self._opened, items)

    def set_strength(self, source: str, target: str, weight: float, relation: str | None = None) -> Operation:
        """Set the weight of all links between two memories, in either direction, clamped to [.05, .95].

        None between them: nothing moves, and the operation's message says so.
        """
        return links.set_strength(self._opened, source, target, weight, relation)

    def links(
        self, key: str | None = None, *, relation: str | None = None, known_at: datetime | None = None
    ) -> builtins.list[Link]:
        """The links of a memory in both directions, or all links of the namespace.

        ``known_at`` asks for them as they were then, what was recorded at that very instant included.
        """
        with self._opened.lock:
            return links.links(self._opened, key, relation, known_at)

    def log(
        self,
        *,
        key: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        source: str | None = None,
        limit: int = 100,
    ) -> builtins.list[Operation]:
        """Operations with what they changed, newest first; those from ``since`` on and before ``until``.

        ``source`` keeps what one tier of learning did: "conscious", "automatic" or "manual".
        """
        with self._opened.lock:
            return history.log(self._opened, key=key, since=since, until=until, source=source, limit=limit)

    def undo(self, operation_id: str) -> Operation:
        """Take an operation back; the undo is an operation too, and can be undone.

        Raises:
            NotFound: no such operation.
            Conflict: it is undone already, was a purge, or a later operation changed the same rows.

        """
        return undo.undo(self._opened, operation_id)

    def status(self) -> Status:
        """Which Priming this is, where it works, and how much there is."""
        with self._opened.lock:
            return care.status(self._opened)

    def stats(self) -> Stats:
        """What the namespace holds."""
        with self._opened.lock:
            return care.stats(self._opened)

    def validate(self) -> builtins.list[Finding]:
        """What is wrong with the namespace, each with its remedy; an empty list means nothing."""
        with self._opened.lock:
            return care.validate(self._opened)

    def export(self, path: str | Path, *, progress: Progress | None = None) -> int:
        """Write the namespace as JSON Lines, log included; the number of memories."""
        return transfer.export(self._opened, check_path(path), progress)

    def import_(self, path: str | Path, *, progress: Progress | None = None) -> int:
        """Read an export; the number of memories that were new."""
        return transfer.import_(self._opened, check_path(path), progress)
