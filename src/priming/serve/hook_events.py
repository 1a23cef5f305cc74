"""What each event brings up: rules and memories within a budget, each once, and the little that is written."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config.params.hooks import HOOK
from priming.errors import Conflict, NotFound
from priming.serve import hook_cues
from priming.serve.hook_agents import Event
from priming.serve.hook_calls import Asked
from priming.serve.hook_state import State

if TYPE_CHECKING:
    from priming.serve.corrections import Correction

KINDS = ("episode", "fact", "procedure", "failure", "pattern")
"""What a prompt brings up; rules come by their context, and corrections by the rules."""

ASK = (
    "The user seems to correct you. If it is a rule that will hold again, call the tool learn of priming"
    " (right: the rule, wrong: what was done instead), so that it need not be said twice."
)
REMIND = (
    "Before you end: say once, with the tool feedback of priming, what the memories shown in this session were worth"
    " (used, not_relevant or not_useful by key, confirmed or overridden for rules). Shown were: "
)
_SOURCE = "hook"
_COMMITTED = re.compile(r"^\[[^\]\n]+ [0-9a-f]{7,}\] ", re.MULTILINE)
_BYTES_A_TOKEN = 4


@dataclass(slots=True)
class Moment:
    """One event of a session in a project, and the stores that know of it: the project's own first."""

    event: Event
    state: State
    folder: Path
    project: Path
    stores: Sequence[Asked]
    left: int = HOOK.tokens
    told: list[str] = field(default_factory=list)

    @property
    def own(self) -> Asked:
        """The store that is written to."""
        return self.stores[0]

    def context(self, **more: Any) -> dict[str, Any]:
        """A cue: the project, and what more is known."""
        return {"project": self.project.name, **{name: one for name, one in more.items() if one}}

    def text(self) -> str:
        """All that is to be told."""
        return "\n".join(self.told)


def happened(name: str, moment: Moment) -> str:
    """Carry out an event; what is to be told to the agent, nothing if there is nothing."""
    _EVENTS[name](moment)
    return moment.text()


def _session_start(moment: Moment) -> None:
    """A session begins, or its context was emptied: the rules of the project, and what matters of late."""
    from datetime import UTC, datetime, timedelta

    from priming.serve import hook_words

    state, event = moment.state, moment.event
    if event.emptied:
        state.shown.clear()
    _run(moment)
    _rules(moment, moment.context(language=hook_cues.languages_of(moment.project)), stores=moment.stores)
    words = f"{moment.project.name} {hook_cues.branch_of(moment.project)}".strip()
    since = datetime.now(UTC) - timedelta(days=HOOK.recent_days)
    matters = {"importance": {"gte": HOOK.important}, "recorded_at": {"gte": since.isoformat()}}
    _memories(moment, words, matters, HOOK.first, lambda memory: hook_words.speaks_of(words, memory, 1))


def _prompt(moment: Moment) -> None:
    """A person says something: rules and memories that it is about, and whether it is a correction."""
    from priming.serve import corrections, hook_words

    state, event = moment.state, moment.event
    said = event.prompt[: HOOK.read]
    found = corrections.detect(event.prompt)
    if found is None:
        _confirm(moment)
    state.prompts += 1
    _run(moment)
    if found is not None:
        _correct(moment, found)
    if hook_words.words(said):
        language = hook_cues.language_of(state.file) if state.file else None
        context = moment.context(language=language or hook_cues.languages_of(moment.project))
        _rules(moment, {**context, "text": said}, stores=moment.stores)
        _memories(
            moment, said, {}, HOOK.limit, lambda memory: hook_words.speaks_of(said, memory, HOOK.shared)
        )
    state.file = state.task = None


def _pre_tool(moment: Moment) -> None:
    """A file is about to be touched, or a command run: the rules that apply there."""
    state, event = moment.state, moment.event
    files = hook_cues.within(event.files, moment.folder, moment.project)
    tasks = hook_cues.tasks_of(event.command)
    places = hook_cues.environments_of(event.command)
    if files:
        state.file = files[0]
    elif tasks:
        state.task = tasks[0]
    if not files and not tasks and not places:
        return
    languages = [one for one in map(hook_cues.language_of, files) if one]
    context = moment.context(file=files, language=languages, task=tasks, environment=places)
    _rules(moment, context, stores=moment.stores)


def _post_tool(moment: Moment) -> None:
    """A tool is done. A commit that was made says that what the session was shown came to something."""
    if "commit" not in hook_cues.tasks_of(moment.event.command) or not _COMMITTED.search(moment.event.answer):
        return
    state = moment.state
    waiting, state.waiting = state.waiting, []
    if state.run and state.busy:
        waiting.append(state.run)
        state.run, state.busy = None, False
    for one in waiting:
        _tried(moment.own, "run_used", {"run_id": one}, writes=True)


def _stop(moment: Moment) -> None:
    """The agent is done for now: its run ends; what was shown and not judged is asked about, once."""
    state = moment.state
    _end(moment)
    shown = [f"{key} (recall {recall_id})" for _, _, key, recall_id, _ in state.shown.values() if recall_id]
    if moment.event.continued or state.reminded or len(shown) < HOOK.remind or _judged(moment):
        return
    state.reminded = True
    moment.told.append(REMIND + "; ".join(shown[-HOOK.named :]))


_EVENTS: Mapping[str, Callable[[Moment], None]] = {
    "session-start": _session_start,
    "prompt": _prompt,
    "pre-tool": _pre_tool,
    "post-tool": _post_tool,
    "stop": _stop,
}


def _rules(moment: Moment, cue: Mapping[str, Any], stores: Sequence[Asked]) -> None:
    """The rules that apply, constraints first, less those that were shown and are not due."""
    lines: list[tuple[bool, str, Mapping[str, Any], str]] = []
    header, said = "", set()
    for store in stores:
        known = sum(_cost(one[2]) for one in moment.state.shown.values())
        asked = {"cue": cue, "tokens": moment.left + known, "session": moment.event.session}
        found = _tried(store, "active", asked)
        if not found or not found["hits"]:
            continue
        header, _, body = found["text"].partition("\n")
        for line, hit in _lines(body, found["hits"]):
            memory = hit["memory"]
            if moment.state.is_due(memory["id"]) and memory["content"] not in said:
                said.add(memory["content"])
                binding = line.startswith(f"- [{memory['key']}] constraint")
                lines.append((not binding, line, memory, found["recall_id"]))
    _tell(moment, header, sorted(lines, key=lambda one: one[0]), rule=True)


def _memories(
    moment: Moment,
    text: str,
    filters: Mapping[str, Any],
    limit: int,
    speaks: Callable[[Mapping[str, Any]], bool],
) -> None:
    """The memories that a text brings up, those left out that only lie near, or were shown and are not due."""
    if not text or moment.left <= 0:
        return
    shown = [one for one in moment.state.shown if not moment.state.is_due(one)]
    wanted = {**filters, **({"id": {"nin": shown}} if shown else {})}
    asked = {
        "text": text,
        "cue": moment.context(),
        "kinds": list(KINDS),
        "limit": limit,
        "tokens": moment.left,
        "session": moment.event.session,
        **({"filters": wanted} if wanted else {}),
    }
    for store in moment.stores:
        found = _tried(store, "recall", asked)
        if found and found["hits"]:
            header, _, body = found["text"].partition("\n")
            kept = [
                (False, line, hit["memory"], found["recall_id"])
                for line, hit in _lines(body, found["hits"])
                if speaks(hit["memory"])
            ]
            _tell(moment, header, kept, rule=False)


def _tell(
    moment: Moment, header: str, lines: Iterable[tuple[bool, str, Mapping[str, Any], str]], *, rule: bool
) -> None:
    """Tell lines under their header as long as there is room, and note that they were shown."""
    told = [header]
    for _, line, memory, recall_id in lines:
        if _cost("\n".join([*told, line, ""])) <= moment.left:
            told.append(line)
            moment.state.show(memory["id"], memory["key"], recall_id, rule=rule)
    if len(told) > 1:
        moment.told += told
        moment.left -= _cost("\n".join([*told, ""]))


def _lines(body: str, hits: Sequence[Mapping[str, Any]]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """The lines of a packed text, each with the hit that it shows: both are in one order."""
    left = iter(hits)
    for line in body.splitlines():
        for hit in left:
            if line.startswith(f"- [{hit['memory']['key']}]"):
                yield line, hit
                break


def _cost(text: str) -> int:
    """The tokens of a text, as packing counts them."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN)


def _correct(moment: Moment, found: Correction) -> None:
    """Learn what is sure; of the rest the agent is asked to."""
    if not found.sure:
        _say(moment, ASK)
        return
    request = {"right": found.right, "cue": _scope(moment, found.right), "source": _SOURCE, "trust": "user"}
    if found.wrong:
        request["wrong"] = found.wrong
    done = moment.own.call("learn", request, writes=True)
    if done:
        moment.state.show(done["id"], done["key"], "", rule=True)
        _say(moment, f"Learned from what the user said, as [{done['key']}]: {found.right}")


def _scope(moment: Moment, right: str) -> dict[str, Any]:
    """Where a rule applies: at the task that it names and the agent is at, else in the language at hand."""
    from priming.serve import hook_words

    state = moment.state
    words = hook_words.stems(right)
    if state.task and hook_words.stem(state.task) in words:
        return {"task": state.task}
    if state.file and state.file in right:
        return {"file": state.file}
    if any(hook_words.stem(task) in words for task in hook_cues.TASKS):
        return {}
    language = hook_cues.language_of(state.file) if state.file else None
    return {"language": language} if language else {}


def _say(moment: Moment, line: str) -> None:
    moment.told.append(line)
    moment.left -= _cost(f"{line}\n")


def _run(moment: Moment) -> None:
    """Let a run be under way; one that was shown something and was not ended, by an agent that never stops, ends."""
    state = moment.state
    _end(moment)
    if state.run is None:
        begun = _tried(moment.own, "run_start", {"session": moment.event.session}, writes=True)
        state.run = begun["id"] if begun else None


def _end(moment: Moment) -> None:
    """End the run that was shown something; one that was not goes on, so that the log has no empty ones."""
    state = moment.state
    if state.run is None or not state.busy:
        return
    ended, state.run, state.busy = state.run, None, False
    if _tried(moment.own, "run_end", {"run_id": ended}, writes=True):
        state.waiting = [*state.waiting, ended][-HOOK.waiting :]


def _confirm(moment: Moment) -> None:
    """Rules that were shown, and to which nobody objected since, held: said once a session for each (SYSTEMS F8)."""
    state = moment.state
    held = [
        (one, key)
        for one, (_, at, key, recall_id, rule) in state.shown.items()
        if rule and recall_id and one not in state.confirmed and at <= state.prompts
    ]
    if held and state.prompts:
        state.confirmed += [one for one, _ in held]
        given = {"confirmed": [key for _, key in held], "tier": "automatic", "session": moment.event.session}
        _tried(moment.own, "feedback", given, writes=True)


def _judged(moment: Moment) -> bool:
    """Whether somebody gave a verdict since the session began."""
    from datetime import UTC, datetime

    since = datetime.fromtimestamp(moment.state.since or time.time(), UTC)
    found = _tried(moment.own, "log", {"since": since.isoformat(), "source": "conscious", "limit": 50})
    return any(one["kind"] == "feedback" for one in found or ())


def _tried(store: Asked, operation: str, request: Mapping[str, Any], *, writes: bool = False) -> Any:
    """The answer of a call; None where the store has nothing to say: a namespace not there yet, a run long ended."""
    try:
        return store.call(operation, request, writes=writes)
    except (Conflict, NotFound):
        return None
