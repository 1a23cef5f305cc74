"""What a session was shown: a file for each, beside the store, locked by one hook at a time; and a hook's call.

Hooks may be installed twice, and run at the same time. The first to claim an event in this file carries it out;
two reports are one event if all in them is the same and they name it by an id, overlap, or come from two
installations.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import environment, private_files
from priming.config.environment import QUEUED
from priming.config.values import dataclass
from priming.config.words import TRUST
from priming.errors import PrimingError
from priming_agents.calls import moment
from priming_agents.limits import HOOK

if TYPE_CHECKING:
    from priming_agents.agents import Event
    from priming_agents.stores import HookStore

_DAY = 86_400.0
_SHOWN_FIELDS, _CLAIM_FIELDS, _LONGEST_NAME = 5, 3, 64
_ANSWERS, _CLAIMS = 8, 16
_OF_TURN = ("prompt_id", "turn_id", "generation_id", "timestamp")
_OF_TOOL = ("tool_use_id", "timestamp")
_UNIQUE = {"session-start": ("timestamp",), "pre-tool": _OF_TOOL, "post-tool": _OF_TOOL}
"""The keys of ids that no two events of a name share. A session may start again within a turn, after compaction."""
SERVER_LOCK = "server.lock"
"""The lock of the server, a file in the folder that belongs to no session; as little do corrections that wait."""
LAST = "last.session"
"""The file that names the memory of the last session."""
folder_of = environment.hooks_folder


@dataclass(frozen=True, slots=True)
class Mark:
    """What an event is recognised by when it is reported twice: a digest of all that the agent says of it.

    ``is_unique`` says whether that includes an id which no other event has. ``installation`` says which of the
    agent's hooks reports it: where ours are installed twice, each reports each event.
    """

    digest: str
    is_unique: bool
    installation: str = ""


def mark_of(name: str, payload: Mapping[str, Any], installation: str = "") -> Mark:
    """Return the mark of an event, by its name and what the agent sends.

    >>> sent = {"session_id": "s", "prompt": "go on"}
    >>> mark_of("prompt", sent).is_unique, mark_of("prompt", {**sent, "prompt_id": "1"}).is_unique
    (False, True)
    """
    from hashlib import blake2b

    text = json.dumps([name, payload], sort_keys=True, separators=(",", ":"))
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return Mark(digest, any(payload.get(key) for key in _UNIQUE.get(name, _OF_TURN)), installation)


@dataclass(slots=True)
class SessionState:
    """What a session was shown and when, counted in prompts, and what it works on.

    ``shown`` maps memory ids to: how often shown, at which prompt last, key, recall id, whether it is a rule.
    ``named`` are the ids of rules that were told by name alone: they may be told whole yet; ``elsewhere`` those of
    rules in another store than the project's. ``since`` is when the session began, ``run`` the run under way, in
    which something was shown; ``waiting`` are ended runs that a commit will mark as used. ``opens`` says whether what
    a session begins with is still to be told: no hook did, or its agent forgets that.
    ``unread`` says whether the agent knows that what the user wishes is not read in their language.
    ``file`` is the file that was worked on last, ``is_new_file`` whether that was since the last prompt.
    ``answers`` are the texts of the latest calls by their ids: a hook that lost patience with its server must not
    repeat what the server did. ``claims`` are the latest events by their marks, each with the call that carried it
    out, when that ended, and the installations of the hooks that reported it. ``logs`` are git folders with the place
    where git's log ended before the commands of this prompt. From ``name`` on it is what capture notes, if it is
    on: ``captured`` says whether the session was stored, ``fresh`` whether some of it is newer.
    """

    prompts: int = 0
    shown: dict[str, list[Any]] = field(default_factory=dict)
    named: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    file: str | None = None
    is_new_file: bool = False
    task: str | None = None
    since: float = 0.0
    run: str | None = None
    opens: bool = True
    waiting: list[str] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)
    reminded: bool = False
    unread: bool = False
    answers: dict[str, str] = field(default_factory=dict)
    claims: dict[str, list[Any]] = field(default_factory=dict)
    logs: dict[str, int] = field(default_factory=dict)
    name: str = ""
    requests: list[str] = field(default_factory=list)
    answered: str = ""
    changed: list[str] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    transcript: str | None = None
    captured: bool = False
    fresh: bool = False

    def is_due(self, memory_id: str, *, by_name: bool = False) -> bool:
        """Tell whether a memory may be shown: it never was, or was long enough ago; each time twice as long.

        ``by_name``: only its name would be shown, which is done once.
        """
        if by_name and memory_id in self.named:
            return False
        if memory_id not in self.shown:
            return True
        times, last_prompt = self.shown[memory_id][:2]
        return bool(self.prompts - last_prompt >= HOOK.again * 2 ** (times - 1))

    def note_work(self, files: Sequence[str], tasks: Sequence[str]) -> None:
        """Note the file that is worked on, else the task."""
        if files:
            self.file, self.is_new_file = files[0], True
        elif tasks:
            self.task = tasks[0]

    def end_prompt(self) -> None:
        """Note that a prompt was read: what was done before it is no longer at hand, but for the file."""
        self.is_new_file, self.task = False, None

    def place(self, memory_id: str, *, elsewhere: bool) -> None:
        """Note in which store a rule is."""
        if elsewhere and memory_id not in self.elsewhere:
            self.elsewhere.append(memory_id)

    def show(self, memory_id: str, key: str, recall_id: str, *, rule: bool) -> None:
        """Note that a memory is shown now."""
        times = self.shown[memory_id][0] if memory_id in self.shown else 0
        self.shown[memory_id] = [times + 1, self.prompts, key, recall_id, rule]

    def told_last(self) -> set[str]:
        """Return the keys of the rules that "that" may mean: those learned last in this session, else shown last."""
        rules = [
            (not recall, prompt, key) for _, prompt, key, recall, is_rule in self.shown.values() if is_rule
        ]
        last = max((place for *place, _ in rules), default=[])
        return {key for *place, key in rules if place == last}

    def answer(self, call: str, text: str) -> None:
        """Note the answer of a call."""
        self.answers = {**dict([*self.answers.items()][1 - _ANSWERS :]), call: text}

    def claim(self, mark: Mark, call: str) -> bool:
        """Claim an event for a call; False where another call carries it out, of another installation of the hooks.

        With an id of the agent's, equal marks are one event. Without it, since a person may repeat a prompt, they are
        one event if the second call began before the first ended, or soon after and from another installation.
        """
        first, ended, places = self.claims.get(mark.digest, (call, 0, []))
        is_soon = moment(call) < ended + HOOK.beside * 1_000 and mark.installation not in places
        is_same = bool(places) and (mark.is_unique or moment(call) < ended or is_soon)
        latest = [*self.claims.items()][1 - _CLAIMS :]
        claim = [first, ended, [*places, mark.installation]] if is_same else [call, 0, [mark.installation]]
        self.claims = {**dict(latest), mark.digest: claim}
        return not is_same

    def end_claim(self, mark: Mark) -> None:
        """Note that a claimed event is carried out."""
        self.claims[mark.digest][1] = time.time_ns() // 1_000_000

    def is_claimed(self, digest: str | None, call: str) -> bool:
        """Tell whether another call carried out the event that a call reports."""
        return digest in self.claims and self.claims[digest][0] != call


@contextmanager
def locked_session(database: Path, name: str, patience: float = HOOK.lock) -> Iterator[SessionState]:
    """Hold the state of a session, for this hook alone until the block ends; changes are saved then.

    It waits ``patience`` seconds for others. A file that cannot be read counts as a new session. If the block raises,
    nothing is saved, nor where the folder cannot be written.

    Raises:
        Busy: another hook of the session is still at work.

    """
    folder = folder_of(database)
    stem = _file_stem(name)
    path = folder / f"{stem}.json"
    with private_files.locked(folder / f"{stem}.lock", patience):
        session = _read(path)
        yield session
        with suppress(OSError):
            private_files.write_text(path, json.dumps(asdict(session), separators=(",", ":")))
    if session.prompts == 0:
        _sweep(folder)


def read_session(database: Path, name: str) -> SessionState:
    """Return the state of a session as it was last saved."""
    return _read(folder_of(database) / f"{_file_stem(name)}.json")


def saved_states(database: Path) -> Iterator[SessionState]:
    """Yield the sessions of a store as they were last saved."""
    for path in folder_of(database).glob("*.json"):
        yield _read(path)


def _file_stem(name: str) -> str:
    """Return the file name of a session: the session's own name where it is a safe one, else its digest."""
    if name.isascii() and name.replace("-", "").isalnum() and len(name) <= _LONGEST_NAME:
        return name.lower()
    from hashlib import blake2b

    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _read(path: Path) -> SessionState:
    names = {column.name for column in fields(SessionState)}
    try:
        values = json.loads(private_files.read_text(path))
        session = SessionState(**{name: value for name, value in values.items() if name in names})
        return session if _is_valid(session) else SessionState(since=time.time())
    except (OSError, ValueError, TypeError, AttributeError):
        return SessionState(since=time.time())


def _is_valid(session: SessionState) -> bool:
    """Tell whether the fields of a session that was read have the types of those that are written."""
    default = SessionState()
    for column in fields(SessionState):
        value, usual = getattr(session, column.name), getattr(default, column.name)
        if not isinstance(value, (str, type(None)) if usual is None else type(usual)):
            return False
    if not all(isinstance(text, str) for text in session.answers.values()):
        return False
    if not all(isinstance(entry, list) and len(entry) == _CLAIM_FIELDS for entry in session.claims.values()):
        return False
    return all(isinstance(entry, list) and len(entry) == _SHOWN_FIELDS for entry in session.shown.values())


def _sweep(folder: Path) -> None:
    """Remove the files of sessions that ended long ago."""
    oldest = time.time() - HOOK.keep_days * _DAY
    for path in folder.glob("*"):
        with suppress(OSError):
            of_session = path.suffix != QUEUED and path.name not in (SERVER_LOCK, LAST)
            if of_session and path.stat().st_mtime < oldest:
                path.unlink()


@dataclass(slots=True)
class HookCall:
    """An event being handled: the session, the project, its stores (the project's first), and the text so far.

    ``attended`` says whether a person reads what the agent answers, ``learns`` whether a correction is one of the
    project: not where its store is left out, and those of all projects are all that is there.
    ``captures`` says whether the session is stored, ``commits`` are those of the event; ``shown`` the recall and the
    id of each memory that is told.
    """

    event: Event
    agent: str
    session: SessionState
    folder: Path
    project: Path
    stores: Sequence[HookStore]
    attended: bool = True
    learns: bool = True
    captures: bool = False
    commits: Sequence[str] = ()
    tokens_left: int = HOOK.tokens
    shown: list[tuple[str, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def own_store(self) -> HookStore:
        """The store that is written to."""
        return self.stores[0]

    def cue(self, **context: Any) -> dict[str, Any]:
        """Return a cue with the project and all other non-empty fields."""
        return {"project": self.project.name, **{name: value for name, value in context.items() if value}}

    def add(self, *lines: str) -> None:
        """Inject lines, and take their tokens from the budget."""
        from priming.core.pack import estimate_tokens

        self.lines += lines
        self.tokens_left -= estimate_tokens("\n".join([*lines, ""]))


NOTICE = "Priming ran out of time: at most constraints without conditions follow. `priming active` lists all rules."
"""The first line of what a hook tells that runs out of time: constraints, which no context has to confirm."""


def constraints_text(stores: Sequence[HookStore], state: SessionState) -> str:
    """Return the notice, and the constraints without conditions that fit the budget, trusted ones first.

    Constraints that the session was shown lately are left out. A store that does not answer has none.
    """
    from priming.core.pack import estimate_tokens
    from priming.recall.formatting import RULES_HEADER, rule_full

    rules = []
    for store in stores:
        with suppress(PrimingError, OSError):
            rules += [rule for rule in store.constraints() if state.is_due(rule.id)]
    lines = [NOTICE, RULES_HEADER.rstrip()]
    for rule in sorted(rules, key=lambda rule: -TRUST.index(rule.trust)):
        if estimate_tokens("\n".join([*lines, line := rule_full(rule), ""])) <= HOOK.tokens:
            lines.append(line)
    return "\n".join(lines if len(lines) > 2 else lines[:1])
