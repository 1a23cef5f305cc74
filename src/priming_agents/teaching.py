"""Corrections on their way into the store: their scope comes from the current work, and none is lost.

A small file with the correction and its scope is written before the hook waits for anything, and removed when the
store has the correction; what a hook cannot carry out, a later hook does. The id of the call is in its name: it says
when the correction was made, and a correction that was learned after all is not learned again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import private_files
from priming.config.environment import QUEUED
from priming.config.values import dataclass
from priming.config.words import HOOK as HOOK_SOURCE
from priming.errors import Conflict, NotFound, ParamError
from priming.text.languages import language_of
from priming.text.quotation import bracketed, label, quote_text
from priming_agents import context, corrections
from priming_agents.limits import HOOK
from priming_agents.session import Mark, SessionState, folder_of, moment, read_session
from priming_agents.stores import id_of

if TYPE_CHECKING:
    from priming_agents.agents import Event
    from priming_agents.phrases import Correction
    from priming_agents.stores import HookStore


@dataclass(frozen=True, slots=True)
class Queued:
    """A correction that has not been learned yet."""

    call: str
    session: str
    right: str
    wrong: str | None = None
    scope: dict[str, Any] | None = None
    """Where it applies: read from the work at the moment; None in files of earlier versions."""
    event: str | None = None
    """The digest of the prompt's mark, if the agent gave the prompt an id: two calls may report it."""


def certain_correction(name: str, event: Event) -> Correction | None:
    """The correction in a prompt, if it is certain."""
    correction = corrections.detect(event.prompt) if name == "prompt" else None
    return correction if correction is not None and correction.certain else None


def is_due(database: Path, name: str, event: Event) -> bool:
    """Whether there is something to learn: a certain correction in a prompt, or a file of one that waits."""
    waiting = name == "prompt" and any(folder_of(database).glob(f"*{QUEUED}"))
    return waiting or certain_correction(name, event) is not None


def put(database: Path, call: str, name: str, event: Event, mark: Mark | None = None) -> bool:
    """Queue the correction in a prompt, if it is certain; returns whether it waits there."""
    correction = certain_correction(name, event)
    if correction is None:
        return False
    scope = _scope(read_session(database, event.session), correction.right)
    digest = mark.digest if mark is not None and mark.is_unique else None
    queued = Queued(call, event.session, correction.right, correction.wrong, scope, digest)
    path = _path(database, call)
    partial = path.with_suffix(".partial")
    with suppress(OSError):  # where no file can be made, it is learned at once or not at all
        private_files.make_folder(path.parent)
        private_files.write_text(partial, json.dumps(asdict(queued)))
        partial.replace(path)
    return path.exists()


def left_behind(database: Path, call: str) -> Iterator[Queued]:
    """The corrections of other calls that have ended."""
    oldest = time.time() - HOOK.patience - HOOK.answer
    with suppress(OSError):
        for path in sorted(folder_of(database).glob(f"*{QUEUED}")):
            with suppress(OSError, ValueError, TypeError):
                if path.stem != call and path.stat().st_mtime < oldest:
                    yield Queued(**json.loads(private_files.read_text(path)))


def learn(
    store: HookStore, right: str, wrong: str | None, session: SessionState, queued: Queued | None = None
) -> Any:
    """Learn a rule with the scope of a session's work; returns what is stored.

    A correction that was ``queued`` keeps the scope and the time of the moment when it was put there.
    """
    cue, identified = _scope(session, right), dict[str, str]()
    if queued is not None:
        cue = {**(cue if queued.scope is None else queued.scope), "at": _moment(queued.call)}
        identified = {"operation_id": id_of(queued.call, "learn 1")}
    request = {
        "right": right,
        "cue": cue,
        "source": HOOK_SOURCE,
        "trust": "user",
        **({"wrong": wrong} if wrong else {}),
    }
    return store.call("learn", request, writes=True, **identified)


def _moment(call: str) -> str:
    """When a call began: its id begins with the milliseconds."""
    return datetime.fromtimestamp(moment(call) / 1000, UTC).isoformat()


def is_in_force(rule: Mapping[str, Any]) -> bool:
    """Whether a rule that was learned holds; not if a rule that was learned after it was said has replaced it."""
    return bool(rule.get("placement") != "overtaken")


def reply(rule: Mapping[str, Any]) -> str:
    """What the agent is told of a rule that was learned, as it is stored."""
    text = f"{bracketed(rule['key'])}: {_sentence(rule['content'])}"
    if not is_in_force(rule):
        later = bracketed(rule["beside"])
        return f"The user said before, {text} This is not in force, because {later} was learned after it."
    replaced = f" It replaces this rule: {_sentence(rule['previous'])}" if rule.get("previous") else ""
    scope = " and ".join(
        f"{label(name)} = {_listed(value)}" for name, value in (rule.get("when") or {}).items()
    )
    where = f" It applies where {scope}." if scope else " It applies everywhere."
    return f"Learned from what the user said, as {text}{replaced}{where}"


def _sentence(text: str) -> str:
    """A quoted text with a mark at its end, so that another sentence can follow."""
    return quote_text(text) + ("" if text.rstrip().endswith((".", "!", "?", "…", ":")) else ".")


def _listed(value: Any) -> str:
    values = value if isinstance(value, (list, tuple)) else (value,)
    return " or ".join(label(str(each)) for each in values)


def learn_late(store: HookStore, database: Path, queued: Queued) -> Any:
    """Learn a correction of an earlier call, if neither that call did nor another one that reported the same prompt.

    It is taken out of the queue.

    Raises:
        StoreError: the store cannot take it at present.

    """
    session, rule = read_session(database, queued.session), None
    if session.is_claimed(queued.event, queued.call):
        remove(database, queued.call)
        return None
    with suppress(ParamError, Conflict, NotFound, ValueError, TypeError):  # a rule that can never be learned
        rule = learn(store, queued.right, queued.wrong, session, queued)
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
    with suppress(OSError):
        _path(database, call).unlink()


def _path(database: Path, call: str) -> Path:
    return folder_of(database) / f"{call}{QUEUED}"
