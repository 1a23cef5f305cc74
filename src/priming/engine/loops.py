"""The sessions of the loop that a memory's store keeps: read, written, and held by one process at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from priming.checks import PAGE_LIMIT, check_count, check_text
from priming.engine.sleep.lock import asleep
from priming.errors import NotFound
from priming.looping import Kept
from priming.namespace import Namespace


class Loops:
    """The sessions of the loop in a memory's namespace."""

    def __init__(self, memory: Namespace) -> None:
        self._memory = memory

    def now(self) -> datetime:
        """The present, by the memory's clock."""
        return self._memory.now()

    def add(self, kept: Kept) -> None:
        """Keep a new session."""
        with self._memory.lock:
            self._memory.store.add_loop(self._memory.namespace, kept)

    def keep(self, kept: Kept) -> None:
        """Keep a session as it is now; ``NotFound`` where it went meanwhile."""
        with self._memory.lock:
            if not self._memory.store.keep_loop(self._memory.namespace, kept):
                raise NotFound(
                    f"the session {kept.id} is gone: a memory that it names was purged, or a backup put back;"
                    " begin another one"
                )

    def get(self, session_id: str) -> Kept:
        """A session by its id."""
        with self._memory.lock:
            found = self._memory.store.loop(self._memory.namespace, check_text("session", session_id))
        if found is None:
            raise NotFound(
                f"there is no session {session_id!r} of the loop in {self._memory.namespace!r}:"
                " 'priming loop list' shows them"
            )
        return found

    def list(self, limit: int) -> list[Kept]:
        """Sessions, those first that began last."""
        with self._memory.lock:
            return self._memory.store.loops(
                self._memory.namespace, limit=check_count("limit", limit, 0, PAGE_LIMIT)
            )

    @contextmanager
    def held(self, session_id: str) -> Iterator[None]:
        """Work on a session, alone: ``Busy`` where another process does."""
        folder = self._memory.store.scratch
        name = hashlib.blake2b(f"{self._memory.namespace}\n{session_id}".encode(), digest_size=8).hexdigest()
        path = None if folder is None else folder / f"{name}.loop"
        with asleep(path, self.now(), "works on this session"):
            yield
