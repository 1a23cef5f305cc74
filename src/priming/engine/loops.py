"""The sessions of the loop that a memory's store keeps: read, written, and held by one process at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from priming.checks import PAGE_LIMIT, check_count, check_text
from priming.engine.memory import Memory
from priming.engine.opened import Opened
from priming.engine.sleep.lock import asleep
from priming.errors import NotFound
from priming.looping import Kept


class Loops:
    """The sessions of the loop in a memory's namespace."""

    def __init__(self, memory: Memory) -> None:
        self._opened: Opened = memory._opened

    def now(self) -> datetime:
        """The present, by the memory's clock."""
        return self._opened.now()

    def add(self, kept: Kept) -> None:
        """Keep a new session."""
        with self._opened.lock:
            self._opened.store.add_loop(self._opened.namespace, kept)

    def keep(self, kept: Kept) -> None:
        """Keep a session as it is now; ``NotFound`` where it went meanwhile."""
        with self._opened.lock:
            if not self._opened.store.keep_loop(self._opened.namespace, kept):
                raise NotFound(
                    f"the session {kept.id} is gone: a memory that it names was purged, or a backup put back;"
                    " begin another one"
                )

    def get(self, session_id: str) -> Kept:
        """A session by its id."""
        with self._opened.lock:
            found = self._opened.store.loop(self._opened.namespace, check_text("session", session_id))
        if found is None:
            raise NotFound(
                f"there is no session {session_id!r} of the loop in {self._opened.namespace!r}:"
                " 'priming loop list' shows them"
            )
        return found

    def list(self, limit: int) -> list[Kept]:
        """Sessions, those first that began last."""
        with self._opened.lock:
            return self._opened.store.loops(
                self._opened.namespace, limit=check_count("limit", limit, 0, PAGE_LIMIT)
            )

    @contextmanager
    def held(self, session_id: str) -> Iterator[None]:
        """Work on a session, alone: ``Busy`` where another process does."""
        folder = self._opened.store.scratch
        name = hashlib.blake2b(f"{self._opened.namespace}\n{session_id}".encode(), digest_size=8).hexdigest()
        path = None if folder is None else folder / f"{name}.loop"
        with asleep(path, self.now(), "works on this session"):
            yield
