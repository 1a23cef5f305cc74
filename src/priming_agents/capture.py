"""Capture: one episode a session, of what was asked, what was answered at the end, and what came of it.

Only where its user's own settings say so (``hooks.capture``), and without a model. Secrets are left out. It is stored
at the session's first answer, at a commit and at its end; what a client never ended is stored when the next begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import environment, private_files
from priming.core.pack import estimate_tokens
from priming.errors import Busy, Conflict, NotFound, StoreError
from priming.text.quotation import bracketed, quote_text
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
    """Return what a session was about, in sentences that recall reads."""
    first, *others = parts["asked"]
    lines = [f"Asked: {first}", *(f"Then: {text}" for text in others)]
    lines += [f"Answered: {parts['answered']}"] * bool(parts["answered"])
    lines += [f"Changed: {', '.join(parts['changed'])}"] * bool(parts["changed"])
    lines += [f"Commits: {'; '.join(parts['commits'])}"] * bool(parts["commits"])
    return "\n".join(lines)


def _together(old: Iterable[str], new: Iterable[str]) -> list[str]:
    """Take the texts of both, each once, without secrets, short, no more than are kept: the first, and the latest."""
    texts = [*dict.fromkeys([*old, *filter(None, map(_clipped, new))])]
    return texts if len(texts) <= HOOK.captured else [texts[0], *texts[1 - HOOK.captured :]]


def _clipped(text: str) -> str:
    return _short(redacted(text[: HOOK.read]), HOOK.captured_letters)


def _short(text: str, letters: int) -> str:
    """Return a text on one line, cut at a word."""
    line = " ".join(text.split())
    return line if len(line) <= letters else f"{line[:letters].rsplit(' ', 1)[0]} …"


HIDDEN = "[redacted]"
_NAME = (
    r"(?:pass(?:word|wort|wd|phrase|code)|pwd|secret|token|credential|authorization|bearer|cookie|contrase[nñ]a"
    r"|mot de passe|пароль|密码|密碼|パスワード"
    r"|(?:api|access|private|auth|signing|encryption|account)[ _-]?key|_key\b)"
)
_SECRETS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?<=://)[^\s/@:]{0,200}:[^\s/@]{1,200}(?=@)",
    re.DOTALL,
)
_STATED = re.compile(
    rf"(?P<name>{_NAME}\w{{0,20}}[\"'`]{{0,2}}(?:\s*[:=]{{1,2}}>?\s*|\s+(?:is|ist|es|est|was|to)\s+|\s+)"
    r"(?:(?:bearer|basic|token)\s+)?[\"'`]{0,2})(?P<value>(?<=[\"'`])[^\"'`\n]{3,200}|[^\s\"'`,;]{3,200})",
    re.IGNORECASE,
)
_SIGN = re.compile(r"[:=\"'`]|\b(?:is|ist|es|est|was|bearer|basic)\b|^(?:pass|pwd).*\bto\b", re.IGNORECASE)
_WORD = re.compile(r"(?<![\w+/=.~-])[\w+/=.~-]{16,400}(?![\w+/=~-])")
_CARD = re.compile(r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_RUN = re.compile(r"[A-Za-z0-9]+")
_SHORTEST, _CHANGES, _DIGITS = 16, 5, 10
"""Letters of the shortest run that may be random, how often its kinds change, and digits that no word has."""


def redacted(text: str) -> str:
    """Return a text without what may be a secret: better a word too much than a password.

    That is a private key; the name and password of a URL; what follows a word for a password or a key; a long run of
    letters and digits in which these alternate as in no word, path or commit; a number as long as that of a card.

    >>> redacted("The password is hunter2, see https://ann:pw@host/x")
    'The password is [redacted], see https://[redacted]@host/x'
    >>> redacted("use sk-proj-9fK2mQ7xZb41LpTr for src/priming_agents/capture.py")
    'use [redacted] for src/priming_agents/capture.py'
    """
    text = _STATED.sub(_without_value, _SECRETS.sub(HIDDEN, text))
    return _CARD.sub(HIDDEN, _WORD.sub(_word, text))


def _without_value(match: re.Match[str]) -> str:
    """Return a word for a password, without what follows it as its value; prose goes on with a plain word."""
    name, value = match["name"], match["value"]
    is_plain = value.strip(".!?)").isalpha() and not _SIGN.search(name)
    return match[0] if is_plain or value.startswith(HIDDEN[:5]) else f"{name}{HIDDEN}"


def _word(match: re.Match[str]) -> str:
    return HIDDEN if any(map(_is_random, re.split(r"[/.=]", match[0]))) else match[0]


def _is_random(word: str) -> bool:
    """Tell whether letters and digits, or capitals and small letters, alternate more often than in any word."""
    if len(word) < _SHORTEST or _COMMIT.fullmatch(word):
        return False
    kinds = [
        "".join("0" if c.isdigit() else "A" if c.isupper() else "a" for c in run)
        for run in _RUN.findall(word)
    ]
    changes = sum(a != b for kind in kinds for a, b in pairwise(kind))
    digits = sum(kind.count("0") for kind in kinds)
    return (changes >= _CHANGES and digits >= 2) or (digits > 0 and word.isupper()) or digits >= _DIGITS
