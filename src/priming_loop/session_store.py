"""Sessions of the loop in a memory's store: begun, saved after every step, loaded, and locked by one process."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from priming.config.ids import uuid7
from priming.config.values import dataclass
from priming.core.arguments.checks import PAGE_LIMIT, check_count, check_text, check_time
from priming.errors import Corrupt, NotFound, ParamError
from priming.namespace import Namespace
from priming.remember.vectors import alone
from priming.storage.damage import UNREADABLE
from priming.storage.questions import nearest_first
from priming.storage.rows import LoopSessionRow
from priming_loop.session import Limits, Session, dump, parse, plain_objective

T = TypeVar("T")

_LISTED = 5
"""How many sessions an error lists."""
_DEEPEST = 10
"""Maximum depth of subgoals, whatever is requested: each is a session within a session."""


@dataclass(frozen=True, slots=True)
class LoopParams:
    """How far the loop may go by itself."""

    attempts: int = 3
    """Maximum number of attempts at a task; after that it is blocked (Arc)."""
    tasks: int = 20
    """Maximum number of tasks of a session; further ones are dropped, and the session says so."""
    depth: int = 2
    """Maximum depth of subgoals below the objective."""
    subgoals: int = 3
    """Maximum number of subgoals of a session."""
    timeout: float = 600.0
    """Time limit for one run of a gate, and for one answer of an agent, in seconds."""
    output: int = 16_384
    """Maximum size of a gate's output that is kept, in bytes."""
    objective: int = 8_192
    """Longest objective, in characters."""
    proven: int = 3
    """Number of deliveries by the same patterns after which an objective needs no reasoning (Arc)."""
    alternatives: int = 3
    """Maximum number of patterns listed as alternatives if the approach is given up."""


LOOP = LoopParams()


class Sessions:
    """The sessions of a memory's namespace."""

    def __init__(self, memory: Namespace) -> None:
        self.memory = memory

    def now(self) -> datetime:
        """Return the present, by the memory's clock."""
        return check_time("clock.now()", self.memory.now())

    def begin(
        self,
        objective: str,
        folder: Path | str | None,
        limits: Limits,
        session_id: str | None = None,
        **own: Any,
    ) -> Session:
        """Begin a session, with other fields of its ``own``, and save it. Without a folder, it runs no command."""
        now, text, path = self.now(), check_objective(objective).strip(), check_folder(folder)
        place, project = ("", None) if path is None else (str(path), path.name or None)
        own_id = session_id or uuid7(now)
        session = Session(own_id, text, place, limits, now, now, project=project, **own)
        with self.memory.lock:
            self.memory.store.save(self.memory.namespace, _row(session), new=True)
        return session

    def save(self, session: Session) -> Session:
        """Save a session as it is now; ``NotFound`` if it was erased in the meantime."""
        session = replace(session, updated_at=self.now())
        with self.memory.lock:
            if not self.memory.store.save(self.memory.namespace, _row(session), new=False):
                raise NotFound(
                    f"the session {session.id} no longer exists: a memory that it names was purged, or a backup"
                    " was restored; begin another session"
                )
        return session

    def get(self, session_id: str) -> Session:
        """Return the session of an id."""
        session = self.find(check_text("session", session_id))
        if session is None:
            listed = nearest_first(session_id, [other.id for other in self._rows(PAGE_LIMIT)])[:_LISTED]
            latest = f" (there are {', '.join(listed)})" if listed else ""
            raise NotFound(
                f"there is no session {session_id!r} of the loop in {self.memory.namespace!r}{latest}:"
                " 'priming loop list' shows them"
            )
        return session

    def find(self, session_id: str) -> Session | None:
        """Return the session of an id, unless it never began or was erased with a memory."""
        with self.memory.lock:
            rows = self.memory.rows(LoopSessionRow, ids=[session_id])
        return next(map(_parsed, rows), None)

    def children(self, session: Session) -> list[Session]:
        """Return the sessions of the subgoals of a session."""
        return [child for child in map(self.find, session.children) if child is not None]

    def root(self, session_id: str) -> Session:
        """Return the session at the top, of which a session is a subgoal, or the session itself."""
        session = self.get(session_id)
        return session if session.parent is None else self.root(session.parent)

    def latest(self) -> Session:
        """Return the session that began last, subgoals aside."""
        row = next((row for row in self._rows(PAGE_LIMIT) if row.parent is None), None)
        if row is None:
            raise NotFound("there is no session of the loop yet: 'priming loop run' begins one")
        return _parsed(row)

    def list(self, limit: int) -> list[Session]:
        """Return the sessions, the latest first."""
        return [_parsed(row) for row in self._rows(limit)]

    def of_objective(self, objective: str, limit: int) -> Sequence[Session]:
        """Return the sessions with this objective, the latest first; subgoals aside. Capitals of names count."""
        bare, plain = objective.rstrip(" .!"), plain_objective(objective)
        with self.memory.lock:
            rows = [
                row
                for text in (bare, f"{bare}.", f"{bare}!")
                for row in self.memory.rows(LoopSessionRow, objective=text, limit=limit)
                if row.parent is None and plain_objective(row.objective) == plain
            ]
        latest = sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True)[:limit]
        return [_parsed(row) for row in latest]

    def lock(self, session_id: str) -> AbstractContextManager[None]:
        """Work on a session alone: ``Busy`` if another process works on it."""
        name, doing = f"{self.memory.namespace}\n{session_id}", "works on this session"
        return alone(self.memory.store, name, "loop", self.memory.now(), doing)

    def _rows(self, limit: int) -> Sequence[LoopSessionRow]:
        with self.memory.lock:
            return self.memory.rows(LoopSessionRow, limit=check_count("limit", limit, 0, PAGE_LIMIT))


def _parsed(row: LoopSessionRow) -> Session:
    try:
        return parse(row.body)
    except UNREADABLE as error:
        raise Corrupt(
            f'session "{row.id}" of the loop is damaged, its state cannot be read ({str(error)[:80]}):'
            " restore a backup, or begin another session"
        ) from error


def limits(
    attempts: int | None = None,
    tasks: int | None = None,
    depth: int | None = None,
    timeout: float | None = None,
    minutes: float | None = None,
) -> Limits:
    """Return the limits, with the defaults of the loop for None; ``minutes`` None means no limit."""
    for name, value in (("timeout", timeout), ("budget_minutes", minutes)):
        if value is not None and not 0 < value < math.inf:
            raise ParamError(name, value, "must be a number > 0")
    return Limits(
        attempts=LOOP.attempts if attempts is None else check_count("max_attempts", attempts, 1, PAGE_LIMIT),
        tasks=LOOP.tasks if tasks is None else check_count("max_tasks", tasks, 1, PAGE_LIMIT),
        depth=LOOP.depth if depth is None else check_count("depth", depth, 0, _DEEPEST),
        timeout=LOOP.timeout if timeout is None else timeout,
        minutes=minutes,
    )


def check_folder(folder: Path | str | None) -> Path | None:
    """Return the folder of a project, which must be there; its path must not depend on where a server runs."""
    path = None if folder is None else Path(check_text("folder", str(folder)))
    if path is not None and not (path.is_absolute() and path.is_dir()):
        raise ParamError("folder", str(folder), "must be the absolute path of an existing folder")
    return path


def taken(kind: type[T], sources: Sequence[object], **own: Any) -> T:
    """Return a value whose fields are its ``own``, or those of the same names of the first source that has them."""
    values = {
        field.name: getattr(source, field.name)
        for field in fields(kind)  # type: ignore[arg-type]
        for source in reversed(sources)
        if hasattr(source, field.name)
    }
    return kind(**{**values, **own})


def _row(session: Session) -> LoopSessionRow:
    return taken(LoopSessionRow, (session,), body=dump(session))


def check_objective(text: str) -> str:
    """Return the text of what is to be done, which must say something."""
    if not check_text("objective", text).strip():
        raise ParamError("objective", text, "must say what is to be done")
    if len(text) > LOOP.objective:
        rule = f"must have at most {LOOP.objective:,} characters: shorten the text"
        raise ParamError("objective", text, rule)
    return text
