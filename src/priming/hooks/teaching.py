"""Corrections on their way into the store: their scope comes from the current work, and none is lost.

A small file is written before the hook waits for anything, and removed when the store has the correction; what a hook
cannot carry out, a later hook does. The id of the call is in its name, so that a correction that was learned after
all is not learned again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config.params.hooks import HOOK
from priming.config.words import HOOK as HOOK_SOURCE
from priming.errors import Conflict, NotFound, ParamError
from priming.hooks import context, corrections
from priming.hooks.session import QUEUED, SessionState, folder_of, read_session
from priming.hooks.stores import id_of
from priming.text.languages import language_of

if TYPE_CHECKING:
    from priming.hooks.agents import Event
    from priming.hooks.stores import HookStore


@dataclass(frozen=True, slots=True)
class Queued:
    """A correction that has not been learned yet."""

    call: str
    session: str
    right: str
    wrong: str | None = None


def put(database: Path, call: str, name: str, event: Event) -> bool:
    """Queue the correction in a prompt, if it is certain; returns whether there is one."""
    correction = corrections.detect(event.prompt) if name == "prompt" else None
    if correction is None or not correction.certain:
        return False
    queued = Queued(call, event.session, correction.right, correction.wrong)
    path = _path(database, call)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.touch(mode=0o600)
    partial.write_text(json.dumps(asdict(queued)), "utf-8")
    partial.replace(path)
    return True


def left_behind(database: Path, call: str) -> Iterator[Queued]:
    """The corrections of other calls that have ended."""
    oldest = time.time() - HOOK.patience - HOOK.answer
    with suppress(OSError):
        for path in sorted(folder_of(database).glob(f"*{QUEUED}")):
            with suppress(OSError, ValueError, TypeError):
                if path.stem != call and path.stat().st_mtime < oldest:
                    yield Queued(**json.loads(path.read_text("utf-8")))


def learn(
    store: HookStore, right: str, wrong: str | None, session: SessionState, operation_id: str | None = None
) -> Any:
    """Learn a rule with the scope of a session's work; returns what is stored."""
    request = {
        "right": right,
        "cue": _scope(session, right),
        "source": HOOK_SOURCE,
        "trust": "user",
        **({"wrong": wrong} if wrong else {}),
    }
    identified = {"operation_id": operation_id} if operation_id else {}
    return store.call("learn", request, writes=True, **identified)


def learn_late(store: HookStore, database: Path, queued: Queued) -> Any:
    """Learn a correction of an earlier call, if that call did not, and take it out of the queue.

    Raises:
        StoreError: the store cannot take it at present.

    """
    session, rule = read_session(database, queued.session), None
    with suppress(ParamError, Conflict, NotFound):  # a rule that can never be learned
        rule = learn(store, queued.right, queued.wrong, session, id_of(queued.call, "learn 1"))
    remove(database, queued.call)
    return rule


def _scope(session: SessionState, right: str) -> dict[str, Any]:
    """Where a rule applies: to the task at hand if the rule names it, else to the language at hand."""
    stems = context.stems(right)
    if session.task and context.stem(session.task) in stems:
        return {"task": session.task}
    if session.file and session.file in right:
        return {"file": session.file}
    if any(context.stem(task) in stems for task in context.task_commands()):
        return {}
    language = language_of(session.file) if session.file else None
    return {"language": language} if language else {}


def remove(database: Path, call: str) -> None:
    """Take the correction of a call out of the queue."""
    _path(database, call).unlink(missing_ok=True)


def _path(database: Path, call: str) -> Path:
    return folder_of(database) / f"{call}{QUEUED}"
