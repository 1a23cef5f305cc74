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
from dataclasses import asdict, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import environment, private_files
from priming.config.environment import QUEUED
from priming.config.values import dataclass
from priming.config.words import HOOK as HOOK_SOURCE
from priming.core.arguments.checks import PAGE_LIMIT
from priming.core.when import language_name
from priming.errors import Conflict, NotFound, ParamError, StoreError
from priming.text.languages import code_language_of, language_of, languages_in
from priming.text.quotation import bracketed, conditions_text, label, quote_text
from priming_agents import context
from priming_agents.calls import ANSWER, id_of, moment
from priming_agents.limits import HOOK
from priming_agents.prompts import (
    Correction,
    PromptReading,
    contradicted,
    is_understood,
    names_nothing,
    read_prompt,
    withdrawn,
)
from priming_agents.session import HookCall, Mark, SessionState, folder_of, locked_session, read_session

if TYPE_CHECKING:
    from priming_agents.agents import Event
    from priming_agents.stores import HookStore

ASK = (
    "The user may be telling you what will apply again. If so, call Priming's tool `learn` (right: the rule, wrong:"
    " what was done instead), so that the user need not repeat it."
)
UNREAD = (
    "Wishes are read here in English and German, and the user writes in another language: when they say what will"
    " apply again, call Priming's tool `learn` (right: the rule, wrong: what was done instead); when they withdraw a"
    " rule, `forget`."
)
WITHDRAWING = (
    "The user may be withdrawing this rule. If so, call Priming's tool `forget` with its key, or `learn` what takes"
    " its place:"
)
UNADOPTED = (
    "Priming does not write to the store that came with this folder, and does not have the user's correction: tell"
    " the user, who may adopt the store by `priming trust`."
)
UNLEARNED = "Priming's store cannot be written now, and does not have the user's correction: tell the user."


@dataclass(frozen=True, slots=True)
class Queued:
    """A correction that has not been learned yet."""

    call: str
    session: str
    right: str
    wrong: str | None = None
    scope: dict[str, Any] = field(default_factory=dict)
    """Where it applies: read from the work at the moment."""
    event: str | None = None
    """The digest of the prompt's mark, if the agent gave the prompt an id: two calls may report it."""


def is_due(database: Path, name: str, event: Event) -> bool:
    """Tell whether there is something to learn: a correction in a prompt, or a file of one that waits."""
    waiting = any(folder_of(database).glob(f"*{QUEUED}"))
    return name == "prompt" and (waiting or read_prompt(event.prompt).correction is not None)


def unadopted(name: str, event: Event) -> str:
    """Return what the agent is told of a correction in a folder whose store nobody adopted; empty without one."""
    return UNADOPTED if name == "prompt" and read_prompt(event.prompt).correction is not None else ""


def unstored(database: Path | None, name: str, event: Event) -> str:
    """Return what the agent is asked in a project without a store, and note what is worked on for a first correction.

    Nothing happens where the project is to get no store at ``database``.
    """
    if database is None or name not in ("prompt", "pre-tool"):
        return ""
    before, reading = read_session(database, event.session), read_prompt(event.prompt)
    folder = environment.here()
    files = context.project_paths(event.files, folder, context.project_of(folder))
    tasks = context.tasks_of(event.command)
    is_unread = not (reading.asks or before.unread or is_understood(event.prompt))
    if files or tasks or is_unread or (before.task and name == "prompt"):
        with locked_session(database, event.session) as state:
            if name == "prompt":
                state.end_prompt()
            state.note_work(files, tasks)
            state.unread = state.unread or is_unread
    return ASK if reading.asks else UNREAD if is_unread else ""


def put(database: Path, call: str, name: str, event: Event, mark: Mark | None = None) -> bool:
    """Queue the correction in a prompt, if there is one; returns whether it waits there."""
    correction = read_prompt(event.prompt).correction if name == "prompt" else None
    if correction is None:
        return False
    scope = _scope(read_session(database, event.session), correction.right)
    digest = mark.digest if mark is not None and mark.is_unique else None
    queued = Queued(call, event.session, correction.right, correction.wrong, scope, digest)
    path = _path(database, call)
    with suppress(OSError):  # where no file can be made, it is learned at once or not at all
        private_files.make_folder(path.parent)
        private_files.write_text(path, json.dumps(asdict(queued)))
    return path.exists()


def learn_now(call: HookCall, correction: Correction) -> str | None:
    """Learn a correction, and tell the agent; return the key of the rule."""
    try:
        cue = _scope(call.session, correction.right)
        rule = _learn(call.own_store, correction.right, correction.wrong, cue)
        _tell(call, rule)
    except StoreError:
        call.add(UNLEARNED)
        return None
    return rule["key"] if rule else None


def withdraw(call: HookCall, reading: PromptReading, learned: str | None) -> bool:
    """Forget the rule that the user plainly withdraws; ask the agent about others. Return whether it asked.

    ``learned`` is the key of the rule that the same prompt teaches: it withdraws the rule before it at most.
    """
    if not (reading.withdrawals or reading.statements):
        return False
    rules: list[Mapping[str, Any]] = []
    with suppress(Conflict, NotFound):  # a namespace that does not exist yet
        rules = call.own_store.call("list", {"kinds": ["behavior"], "limit": PAGE_LIMIT})
    keys = {rule["content"]: rule["key"] for rule in rules if rule["key"] != learned}
    doubtful, forgotten = list[str](), False
    for sentence in reading.withdrawals:
        nearest, is_plain = withdrawn(sentence, [*keys])
        if is_plain and len(nearest) == 1 and _is_forgotten(call, keys[nearest[0]], nearest[0]):
            del keys[nearest[0]]
            forgotten = True
        else:
            doubtful += nearest or ([] if forgotten else withdrawn(call.event.prompt, [*keys])[0])
    if reading.withdrawals and not (doubtful or forgotten) and names_nothing(call.event.prompt):
        meant = call.session.told_last()
        doubtful += [rule for rule, key in keys.items() if key in meant]
    doubtful += [rule for statement in reading.statements for rule in contradicted(statement, [*keys])]
    doubtful = [*dict.fromkeys(rule for rule in doubtful if rule in keys)][: HOOK.limit]
    for rule in doubtful:
        call.add(f"{WITHDRAWING} {bracketed(keys[rule])}: {quote_text(rule)}")
    return bool(doubtful)


def _is_forgotten(call: HookCall, key: str, rule: str) -> bool:
    """Forget a rule, and tell the agent; False if the store cannot take that."""
    with suppress(Conflict, NotFound, StoreError):
        call.own_store.call("forget", {"key": key, "reason": "withdrawn in a prompt"}, writes=True)
        named = f"{bracketed(key)}: {_sentence(rule)}"
        call.add(f"Forgotten, since the user withdrew it, {named} `priming undo` takes that back.")
        return True
    return False


def learn_left_behind(call: HookCall) -> None:
    """Learn corrections that earlier hooks could not carry out."""
    learned, database = set[str | None](), call.own_store.database
    for queued in _left_behind(database, call.own_store.call_id):
        if queued.event is not None and queued.event in learned:
            remove(database, queued.call)
            continue
        with suppress(StoreError):  # it stays in the queue
            _tell(call, _learn_late(call.own_store, database, queued))
            learned.add(queued.event)


def _tell(call: HookCall, rule: Mapping[str, Any] | None) -> None:
    """Tell the agent a rule that was learned, as it is stored."""
    if rule:
        if rule.get("placement") != "overtaken":
            call.session.show(rule["id"], rule["key"], "", rule=True)
        if (line := reply(rule)) not in call.lines:  # who heard no answer says it again
            call.add(line)


def _left_behind(database: Path, call: str) -> Iterator[Queued]:
    """Yield the corrections of other calls that have ended."""
    oldest = time.time() - HOOK.patience - ANSWER
    with suppress(OSError):
        for path in sorted(folder_of(database).glob(f"*{QUEUED}")):
            with suppress(OSError, ValueError, TypeError):
                if path.stem != call and path.stat().st_mtime < oldest:
                    yield Queued(**json.loads(private_files.read_text(path)))


def _learn(
    store: HookStore, right: str, wrong: str | None, cue: Mapping[str, Any], operation_id: str | None = None
) -> Any:
    """Learn a rule for a context; returns what is stored."""
    request = {"right": right, "cue": cue, "source": HOOK_SOURCE, "trust": "user"}
    request |= {"wrong": wrong} if wrong else {}
    return store.call("learn", request, writes=True, operation_id=operation_id)


def reply(rule: Mapping[str, Any]) -> str:
    """Return what the agent is told of a rule that was learned, as it is stored."""
    text = f"{bracketed(rule['key'])}: {_sentence(rule['content'])}"
    if rule.get("placement") == "overtaken":  # a rule that was learned after it was said has replaced it
        later = bracketed(rule["beside"])
        return f"The user said before, {text} This is not in force, because {later} was learned after it."
    replaced = f" It replaces this rule: {_sentence(rule['previous'])}" if rule.get("previous") else ""
    where = f" It applies {conditions_text(rule.get('when') or {}, label, ' and ')}."
    others = (
        each
        for each in rule.get("reasons", ())
        if "review lists" in each or "priming review" in each or each.startswith("takes the place of")
    )
    beside = (f" {other[0].upper()}{other[1:]}." for other in others)
    return "".join([f"Learned from what the user said, as {text}{replaced}{where}", *beside])


def _sentence(text: str) -> str:
    """Return a quoted text with a mark at its end, so that another sentence can follow."""
    return quote_text(text) + ("" if text.rstrip().endswith((".", "!", "?", "…", ":")) else ".")


def _learn_late(store: HookStore, database: Path, queued: Queued) -> Any:
    """Learn a correction of an earlier call, if neither that call did nor another one that reported the same prompt.

    It is taken out of the queue.

    Raises:
        StoreError: the store cannot take it at present.

    """
    rule = None
    if not read_session(database, queued.session).is_claimed(queued.event, queued.call):
        with suppress(
            ParamError, Conflict, NotFound, ValueError, TypeError
        ):  # a rule that can never be learned
            at = datetime.fromtimestamp(moment(queued.call) / 1000, UTC)
            cue, learned_id = {**queued.scope, "at": at}, id_of(queued.call, "learn 1")
            rule = _learn(store, queued.right, queued.wrong, cue, learned_id)
    remove(database, queued.call)
    return rule


def _scope(session: SessionState, right: str) -> dict[str, Any]:
    """Return where a rule applies: to the task at hand if the rule names it, else to the language of code at hand."""
    stems = context.stems(right)
    if session.task and context.stem(session.task) in stems:
        return {"task": session.task}
    if session.file and session.file in right:
        return {"file": session.file}
    if any(context.stem(task) in stems for task in context.task_commands()):
        return {}
    language = language_of(session.file) if session.file else None
    is_code = session.file is not None and code_language_of(session.file) is not None
    # A rule said over data or prose is about what these describe, unless it names them; or it names another language.
    named = languages_in(right)
    is_named = language in (*named, *map(language_name, right.split()))
    return {"language": language} if language and (is_named or (is_code and not named)) else {}


def remove(database: Path, call: str) -> None:
    """Take the correction of a call out of the queue."""
    with suppress(OSError):
        _path(database, call).unlink()


def _path(database: Path, call: str) -> Path:
    return folder_of(database) / f"{call}{QUEUED}"
