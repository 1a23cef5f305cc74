"""Capture: one episode a session, of what was asked, what was answered at the end, and what came of it.

Only where its user's own settings say so (``hooks.capture``), and without a model. Secrets are left out. It is stored
at the session's first answer, at a commit and at its end; what a client never ended is stored when the next begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import environment, private_files
from priming.core.pack import estimate_tokens
from priming.errors import Busy, Conflict, NotFound, StoreError
from priming.text.quotation import bracketed, quote_text
from priming.text.secrets import redacted
from priming_agents import context, transcripts
from priming_agents.limits import HOOK
from priming_agents.session import (
    LAST,
    HookCall,
    SessionState,
    folder_of,
    locked_session,
    saved_states,
)
from priming_agents.stores import HookStore, is_everywhere

if TYPE_CHECKING:
    from priming.config.settings import Settings

_PARTS = "captured"
"""The entry of a memory's metadata that has the parts of a session."""


def is_on(settings: Settings, database: Path) -> bool:
    """Tell whether sessions are stored in a store: a project's, by settings that no folder changes."""
    return settings["hooks.capture"] == "on" and not is_everywhere(database)


def needs_store(settings: Settings, path: Path, name: str) -> bool:
    """Tell whether an event begins a session that is to be stored, in a repository without a store."""
    return is_on(settings, path) and name == "prompt" and (path.parent.parent / ".git").exists()


def follow(name: str, call: HookCall) -> None:
    """Note what an event tells of its session, and store the session where it is due."""
    event, session = call.event, call.session
    session.name, session.transcript = event.session, event.transcript or session.transcript
    typed = transcripts.typed(event.prompt) if name == "prompt" else ""
    changed = context.project_paths(event.changed, call.folder, call.project) if name == "pre-tool" else []
    before = (session.requests, session.answered, session.changed)
    session.requests = _together(session.requests, [typed])
    session.answered = _clipped(event.answer) or session.answered
    session.changed = _together(session.changed, changed)
    session.fresh |= before != (session.requests, session.answered, session.changed)
    is_due = name == "session-end" or (name == "stop" and not session.captured) or bool(call.commits)
    if is_due and session.fresh:
        keep(call.own_store, session)


def note_commits(call: HookCall, commits: Iterable[str]) -> None:
    """Note the commits of a command."""
    call.commits = [*commits]
    call.session.commits = _together(call.session.commits, call.commits)
    call.session.fresh |= bool(call.commits)


def keep_left_behind(call: HookCall) -> None:
    """Store the sessions that ended without a word: one whose hook is at work has not ended."""
    for state in saved_states(call.own_store.database):
        if state.fresh and state.name and state.name != call.event.session:
            with suppress(Busy), locked_session(call.own_store.database, state.name, 0) as other:
                keep(call.own_store, other)


def keep(store: HookStore, session: SessionState) -> None:
    """Store what a session was about, or what it was about until now."""
    whole = transcripts.read(Path(session.transcript)) if session.transcript else transcripts.Recording()
    project = context.project_of(environment.here())
    paths = context.project_paths(whole.changed, project, project)
    parts: dict[str, Any] = {
        "asked": _together([], whole.requests) or session.requests,
        "answered": session.answered or _clipped(whole.answered),
        "changed": _together(session.changed, paths),
        "commits": _together(session.commits, whole.commits),
    }
    if len(context.words(" ".join(parts["asked"]))) < HOOK.shared or not any([*parts.values()][1:]):
        return
    began = datetime.fromtimestamp(session.since, UTC)
    day = began.date().isoformat()
    key = f"session-{day}-{blake2b(session.name.encode('utf-8', 'surrogatepass'), digest_size=3).hexdigest()}"
    request = {"content": _text(parts), "metadata": {_PARTS: parts}, "files": parts["changed"]}
    new: dict[str, Any] = {
        "heading": f"Session of {day}",
        "kind": "episode",
        "tags": ["session"],
        "session": session.name,
    }
    new |= {"source": context.CAPTURE, "trust": "agent", "occurred_at": began}
    with suppress(NotFound, StoreError):
        try:
            if session.captured:
                raise Conflict(key)
            store.call("remember", {**request, **new, "key": key}, writes=True)
        except Conflict:
            with suppress(Conflict):  # its user forgot it
                store.call("supersede", {**request, "key": key}, writes=True)
        session.captured, session.fresh = True, False
        with suppress(OSError):
            private_files.write_text(folder_of(store.database) / LAST, key)


def tell_last(call: HookCall) -> None:
    """Tell the last session in three lines, once, if they fit the budget."""
    from priming.recall.formatting import HEADER

    try:
        key = private_files.read_text(folder_of(call.own_store.database) / LAST)
        memory = call.own_store.call("get", {"key": key})
        parts = memory["metadata"][_PARTS]
    except (OSError, ValueError, KeyError, NotFound):
        return
    is_own = memory["session"] == call.event.session
    if memory["status"] != "active" or is_own or not call.session.is_due(memory["id"]):
        return
    done = [*parts["changed"][: HOOK.last_items], *parts["commits"][-HOOK.last_items :]]
    texts = {"asked": " / ".join(parts["asked"]), "answered": parts["answered"], "changed": ", ".join(done)}
    day = f" ({memory['heading'].rpartition(' ')[2]})"
    lines = [
        f"- {bracketed(key)}{day} {quote_text(name)}: {quote_text(_short(text, HOOK.last_letters))}"
        for name, text in texts.items()
        if text
    ]
    if estimate_tokens("\n".join([HEADER.rstrip(), *lines, ""])) <= call.tokens_left:
        call.add(HEADER.rstrip(), *lines)
        call.session.shown[memory["id"]] = [1, call.session.prompts, key, "", False]


def _text(parts: dict[str, Any]) -> str:
    """What a session was about, in sentences that recall reads."""
    first, *others = parts["asked"]
    lines = [f"Asked: {first}", *(f"Then: {text}" for text in others)]
    lines += [f"Answered: {parts['answered']}"] * bool(parts["answered"])
    lines += [f"Changed: {', '.join(parts['changed'])}"] * bool(parts["changed"])
    lines += [f"Commits: {'; '.join(parts['commits'])}"] * bool(parts["commits"])
    return "\n".join(lines)


def _together(old: Iterable[str], new: Iterable[str]) -> list[str]:
    """The texts of both, each once, without secrets, short, and no more than are kept: the first, and the latest."""
    texts = [*dict.fromkeys([*old, *filter(None, map(_clipped, new))])]
    return texts if len(texts) <= HOOK.captured else [texts[0], *texts[1 - HOOK.captured :]]


def _clipped(text: str) -> str:
    return _short(redacted(text[: HOOK.read]), HOOK.captured_letters)


def _short(text: str, letters: int) -> str:
    """A text on one line, cut at a word."""
    line = " ".join(text.split())
    return line if len(line) <= letters else f"{line[:letters].rsplit(' ', 1)[0]} …"
