"""What a session was shown so far: a small file for each session, beside the store, in one hook's hands at a time."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from priming.config.params.hooks import HOOK
from priming.errors import Busy

try:
    import fcntl
except ImportError:  # a system without it has no servers either: two hooks at once may show a memory twice
    fcntl = None  # type: ignore[assignment]

_DAY = 86_400.0
_PAUSE = 0.005
_SHOWN, _LONGEST = 5, 64


@dataclass(slots=True)
class State:
    """What a session was shown and when, counted in prompts, and what it is at work on.

    ``shown`` are by id: how often, at which prompt last, the key, the recall, and whether it is a rule.
    ``since`` is when the session began, ``run`` the run that is under way, ``busy`` whether it was shown anything.
    """

    prompts: int = 0
    shown: dict[str, list[Any]] = field(default_factory=dict)
    file: str | None = None
    task: str | None = None
    since: float = 0.0
    run: str | None = None
    busy: bool = False
    waiting: list[str] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)
    reminded: bool = False

    def is_due(self, memory_id: str) -> bool:
        """Whether a memory may be shown: never before, or so long ago that it may be shown again."""
        if memory_id not in self.shown:
            return True
        times, at = self.shown[memory_id][:2]
        return bool(self.prompts - at >= HOOK.again * 2 ** (times - 1))

    def show(self, memory_id: str, key: str, recall_id: str, *, rule: bool) -> None:
        """Note that a memory is shown now."""
        times = self.shown[memory_id][0] if memory_id in self.shown else 0
        self.shown[memory_id] = [times + 1, self.prompts, key, recall_id, rule]
        self.busy = True


def folder_of(database: Path) -> Path:
    """The folder of the states of a store's sessions: beside it, as ``<database>.hooks``."""
    return Path(f"{database}.hooks")


@contextmanager
def held(database: Path, session: str) -> Iterator[State]:
    """The state of a session, for this hook alone until the block ends; what it was changed to is kept then.

    A state that cannot be read is a new one. A block that raises changes nothing.

    Raises:
        Busy: another hook of the session is at work, and goes on.

    """
    folder = folder_of(database)
    folder.mkdir(mode=0o700, exist_ok=True)
    name = _name_of(session)
    path = folder / f"{name}.json"
    with _locked(folder / f"{name}.lock"):
        state = _read(path)
        yield state
        _write(path, state)
    if state.prompts == 0:
        _sweep(folder)


def _name_of(session: str) -> str:
    """A name for the file of a session: its own where that can be a file's name, else its digest."""
    if session.isascii() and session.replace("-", "").isalnum() and len(session) <= _LONGEST:
        return session.lower()
    from hashlib import blake2b

    return blake2b(session.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _lock(handle)
        os.utime(path)
        yield
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    deadline = time.monotonic() + HOOK.lock
    while fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Busy("another hook of this session is at work") from None
            time.sleep(_PAUSE)


def _read(path: Path) -> State:
    known = {one.name: one for one in fields(State)}
    try:
        found = json.loads(path.read_text("utf-8"))
        state = State(**{name: value for name, value in found.items() if name in known})
        return state if _is_whole(state) else State(since=time.time())
    except (OSError, ValueError, TypeError, AttributeError):
        return State(since=time.time())


def _is_whole(state: State) -> bool:
    """Whether what was read has the shape of what is written."""
    new = State()
    for one in fields(State):
        value, usual = getattr(state, one.name), getattr(new, one.name)
        if not isinstance(value, (str, type(None)) if usual is None else type(usual)):
            return False
    return all(isinstance(one, list) and len(one) == _SHOWN for one in state.shown.values())


def _write(path: Path, state: State) -> None:
    """Replace the file as a whole: who reads it sees the one state or the other."""
    beside = path.with_suffix(f".{os.getpid()}")
    try:
        beside.write_text(json.dumps(asdict(state), separators=(",", ":")), "utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove the states of sessions that are long over."""
    oldest = time.time() - HOOK.keep_days * _DAY
    for one in folder.iterdir():
        with suppress(OSError):
            if one.stat().st_mtime < oldest:
                one.unlink()
