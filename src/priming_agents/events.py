"""The text that each event injects, rules and memories within a budget, each once; and what it writes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from priming.core.pack import estimate_tokens
from priming.errors import Conflict, NotFound, StoreError
from priming.text.languages import language_of
from priming.text.quotation import bracketed
from priming_agents import capture, context, teaching
from priming_agents.agents import accepts_text
from priming_agents.context import Candidate
from priming_agents.limits import HOOK
from priming_agents.prompts import is_understood, read_prompt
from priming_agents.session import HookCall
from priming_agents.stores import HookStore, is_everywhere
from priming_agents.teaching import ASK, UNREAD
from priming_agents.transcripts import COMMITTED

KINDS = ("episode", "fact", "procedure", "failure", "pattern")
"""The kinds that are recalled for a prompt: rules come by their context, and corrections as rules."""

REMINDER = (
    "Report once, with Priming's tool `feedback`, whether the memories shown in this session before were useful"
    " (by key: used, not_relevant or not_useful; for rules: confirmed or overridden). These were shown: "
)
Packing = Callable[[int], tuple[str, list[Candidate]]]
"""What packs the memories of a recall into so many tokens: a header, and a line for each."""
_LINE_TOKENS = 64
"""Tokens requested beyond the budget for each memory already shown, because the answer lists it again."""


def handle(name: str, call: HookCall) -> str:
    """Carry out an event; the text to inject, empty if there is none."""
    _HANDLERS[name](call)
    if call.captures:
        capture.follow(name, call)
    return "\n".join(call.lines)


def _session_start(call: HookCall) -> None:
    """Begin a session, or one whose context was cleared: tell what it begins with, or do so with the next prompt."""
    if call.event.context_cleared:
        call.session.shown, call.session.named = {}, []
    _end_run(call)
    if call.captures:
        capture.keep_left_behind(call)
    call.session.opens = True
    if accepts_text(call.agent, "session-start"):
        _open(call)


def _open(call: HookCall) -> None:
    """Inject what a session begins with: the rules of the project, and recent important memories."""
    from datetime import UTC, datetime, timedelta

    call.session.opens = False
    teaching.learn_left_behind(call)
    topic = f"{call.project.name} {context.branch_of(call.project)}".strip()
    since = datetime.now(UTC) - timedelta(days=HOOK.recent_days)
    filters = {"importance": {"gte": HOOK.important}, "recorded_at": {"gte": since.isoformat()}}
    recalls = _recalls(call, topic, filters, HOOK.first, min_words=1, of_best=1)
    _inject_rules(call, call.cue(language=context.languages_of(call.project)), beside=recalls)
    if call.captures:
        capture.tell_last(call)
    _inject_memories(call, recalls)


def _prompt(call: HookCall) -> None:
    """Read a person's prompt: learn a correction in it, inject relevant rules and memories, ask for feedback."""
    session = call.session
    reading = read_prompt(call.event.prompt)
    is_read = reading.correction or reading.asks or reading.withdrawals
    unread = not (is_read or is_understood(call.event.prompt))
    if reading.is_silent and not unread:
        _confirm_rules(call)
    session.prompts += 1
    session.logs.clear()
    # Gemini CLI runs a command before the hook for it has ended.
    context.note_logs("", call.folder, session.logs)
    _end_run(call)
    if session.opens:
        _open(call)
        call.tokens_left = HOOK.tokens
    teaching.learn_left_behind(call)
    reminder = _reminder(call)
    learned = None
    if reading.correction is not None and call.learns:
        learned = teaching.learn_now(call, reading.correction)
    elif reading.correction is not None:
        call.add(teaching.UNADOPTED)
    if not teaching.withdraw(call, reading, learned) and reading.asks and call.learns:
        call.add(ASK)
    elif unread and call.learns and not session.unread:
        call.add(UNREAD)
        session.unread = True
    text = call.event.prompt[: HOOK.read]
    if context.words(text):
        language = language_of(session.file) if session.file and session.is_new_file else None
        cue = call.cue(language=language or context.languages_of(call.project))
        of_best = 1 if reading.inquires else HOOK.shared
        recalls = _recalls(call, text, {}, HOOK.limit, min_words=HOOK.shared, of_best=of_best)
        _inject_rules(call, {**cue, "text": text}, beside=recalls)
        _remind(call, reminder)
        _inject_memories(call, recalls)
        _inject_files(call, text)
    session.end_prompt()


def _pre_tool(call: HookCall) -> None:
    """Inject the rules that apply to a file about to be changed, or to a command about to run."""
    files = context.project_paths(call.event.files, call.folder, call.project)
    tasks = context.tasks_of(call.event.command)
    environments = context.environments_of(call.event.command)
    context.note_logs(call.event.command, call.folder, call.session.logs)
    call.session.note_work(files, tasks)
    if files or tasks or environments:
        languages = [language for file in files if (language := language_of(file))]
        languages = languages or context.languages_of_command(call.event.command)
        _inject_rules(call, call.cue(file=files, language=languages, task=tasks, environment=environments))


def _post_tool(call: HookCall) -> None:
    """Mark the session's runs as used once a tool made a commit: what they were shown led to a result."""
    event, session = call.event, call.session
    in_log = context.new_commits(event.command, call.folder, session.logs, session.since)
    printed = COMMITTED.findall(event.output) if "commit" in context.tasks_of(event.command) else []
    if not (event.committed or in_log or printed):
        return
    if call.captures:
        capture.note_commits(call, in_log or map(" ".join, printed))
    runs, session.waiting = session.waiting, []
    if session.run:
        runs.append(session.run)
        session.run = None
    for run in runs:
        _call(call.own_store, "run_used", {"run_id": run}, writes=True)


def _end_run(call: HookCall) -> None:
    """End the run of the last turn in which something was shown; agents that never call ``stop`` end it late."""
    session = call.session
    if session.run is None:
        return
    run, session.run = session.run, None
    if _call(call.own_store, "run_end", {"run_id": run}, writes=True):
        session.waiting = [*session.waiting, run][-HOOK.waiting :]


def _reminder(call: HookCall) -> str:
    """Return what asks for feedback on memories of earlier prompts: once a session, if enough have none; else empty.

    Where nobody reads the answers, as in a script or in the loop, nothing is asked: the answer itself is the result.
    """
    session = call.session
    shown = [
        f"{bracketed(key)} (recall {recall_id})"
        for _, _, key, recall_id, _ in session.shown.values()
        if recall_id
    ]
    if not call.attended or session.reminded or session.prompts < 2 or len(shown) < HOOK.remind:
        return ""
    session.reminded = _has_feedback(call)
    return "" if session.reminded else REMINDER + "; ".join(shown[-HOOK.named :])


def _remind(call: HookCall, reminder: str) -> None:
    """Ask for feedback, if that fits beside the rules; otherwise a later prompt asks."""
    if reminder and estimate_tokens(f"{reminder}\n") <= call.tokens_left:
        call.session.reminded = True
        call.add(reminder)


_HANDLERS: Mapping[str, Callable[[HookCall], None]] = {
    "session-start": _session_start,
    "prompt": _prompt,
    "pre-tool": _pre_tool,
    "post-tool": _post_tool,
    "stop": _end_run,
    "session-end": _end_run,
}


def _inject_rules(call: HookCall, cue: Mapping[str, Any], *, beside: Sequence[Packing] = ()) -> None:
    """Inject the rules that apply, constraints first, without those shown and not due again.

    What they take leaves room for the memories ``beside`` them, up to these' own share.
    """
    texts = (
        "\n".join([header, *(memory.line for memory in memories), ""])
        for header, memories in (packing(HOOK.memories) for packing in beside)
        if memories
    )
    share = min(HOOK.memories, sum(map(estimate_tokens, texts)))
    call.tokens_left -= share
    shown = {key for _, _, key, _, _ in call.session.shown.values()}
    request = {"cue": cue, "session": call.event.session}
    header, contents, candidates, left_out = "", set[str](), list[Candidate](), list[str]()
    for store in call.stores:
        active = _call(store, "active", {**request, "tokens": call.tokens_left + _LINE_TOKENS * len(shown)})
        if not active or not active["hits"]:
            continue
        head, rules = _candidates(active)
        header = head.rpartition("\n")[2]
        left_out += [item["key"] for item in active["omitted"] if "constraint" in item["reason"]]
        for rule in rules:
            content = rule.memory["content"]
            is_due = call.session.is_due(rule.memory["id"], by_name=rule.is_name)
            if is_due and content not in contents:
                contents.add(content)
                candidates.append(rule)
                call.session.place(rule.memory["id"], elsewhere=is_everywhere(store.database))
    missing = [key for key in left_out if key not in shown]
    rules = sorted(candidates, key=lambda rule: not rule.is_constraint)
    _inject(call, header, rules, rule=True, left_out=missing)
    call.tokens_left += share


def _recalls(
    call: HookCall, text: str, filters: Mapping[str, Any], limit: int, *, min_words: int, of_best: int
) -> list[Packing]:
    """Recall from each store what shares words with a text, without what was shown and is not due again."""
    hidden = [memory_id for memory_id in call.session.shown if not call.session.is_due(memory_id)]
    filters = {**filters, **({"id": {"nin": hidden}} if hidden else {})}
    request = {
        "text": text,
        "cue": call.cue(),
        "kinds": list(KINDS),
        "limit": limit,
        "session": call.event.session,
        **({"filters": filters} if filters else {}),
    }
    recalls = [_call(store, "recall", request) for store in call.stores] if text else []
    return [partial(context.packed, recall, text, min_words, of_best) for recall in recalls if recall]


def _inject_memories(call: HookCall, recalls: Sequence[Packing]) -> None:
    """Inject what was recalled and fits; a long memory takes the room that others leave."""
    for packing in recalls:
        header, memories = packing(max(0, call.tokens_left))
        _inject(call, header, memories, rule=False)


def _inject_files(call: HookCall, task: str) -> None:
    """Inject the files that a task is likely to touch, with the history that says so, if it shares words with it."""
    request = {"task": task, "limit": HOOK.files, "reasons": HOOK.reasons, "session": call.event.session}
    answer = _call(call.own_store, "files", request) if call.tokens_left > 0 else None
    if answer and answer["files"]:
        header, *lines = answer["text"].splitlines()
        hits = call.own_store.pending[answer["recall_id"]].hits
        due = {
            (memory_id, file["key"]): line
            for file, line, (memory_id, _) in zip(answer["files"], lines, hits, strict=True)
            if call.session.is_due(memory_id) and context.is_about(task, file, HOOK.shared)
        }
        candidates = [
            Candidate(line, {"id": memory_id, "key": key, "kind": "entity"}, answer["recall_id"])
            for (memory_id, key), line in zip(due, context.without_repeats(due.values()), strict=True)
        ]
        _inject(call, header, candidates, rule=False)


def _candidates(result: Mapping[str, Any]) -> tuple[str, list[Candidate]]:
    """Return the header of a packed text, and its lines, each with the hit that it shows: both are in one order."""
    lines = result["text"].splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("- [")), len(lines))
    shown = (hit for hit in result["hits"] if hit["tier"])
    return "\n".join(lines[:first]), [
        Candidate(line, hit["memory"], result["recall_id"])
        for line, hit in zip(lines[first:], shown, strict=True)
    ]


def _inject(
    call: HookCall,
    header: str,
    candidates: Sequence[Candidate],
    *,
    rule: bool,
    left_out: Sequence[str] = (),
) -> None:
    """Inject a header and the lines below it that fit the budget, and note their memories as shown.

    Where constraints do not fit, which ``left_out`` names in part, the first line says so, and no other rule is told.
    """
    first = [header]
    fitting = _fitting(call, first, candidates)
    missing = [*left_out, *_missing_constraints(candidates, fitting)] if rule else []
    if missing:
        constraints = [candidate for candidate in candidates if candidate.is_constraint]
        first = [_notice(missing), header]
        fitting = _fitting(call, first, constraints)
        first[0] = _notice([*left_out, *_missing_constraints(constraints, fitting)])
    if not fitting and not missing:
        return
    lines = [*first, *(candidate.line for candidate in fitting)] if fitting else first[:1]
    if estimate_tokens("\n".join([*lines, ""])) > call.tokens_left:
        return
    call.add(*lines)
    for candidate in fitting:
        memory = candidate.memory
        if candidate.is_name:
            call.session.named.append(memory["id"])
        else:
            call.session.show(memory["id"], memory["key"], candidate.recall_id, rule=rule)
            call.shown.append((candidate.recall_id, memory["id"]))


def _fitting(call: HookCall, first: Sequence[str], candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates whose lines fit below the first ones."""
    lines, fitting = [*first], []
    for candidate in candidates:
        if estimate_tokens("\n".join([*lines, candidate.line, ""])) <= call.tokens_left:
            lines.append(candidate.line)
            fitting.append(candidate)
    return fitting


def _missing_constraints(candidates: Iterable[Candidate], fitting: Sequence[Candidate]) -> list[str]:
    return [rule.memory["key"] for rule in candidates if rule not in fitting and rule.is_constraint]


def _notice(missing: Sequence[str]) -> str:
    """Return how many constraints do not fit."""
    which = (
        "1 constraint that applies is" if len(missing) == 1 else f"{len(missing)} constraints that apply are"
    )
    return (
        f"{which} left out for lack of space; `priming active` lists {'it' if len(missing) == 1 else 'them'}."
    )


def record(call: HookCall) -> None:
    """Record what was told, and nothing else of what was recalled, in a run of the turn."""
    recalls = dict.fromkeys(recall_id for recall_id, _ in call.shown)
    if call.session.run is None and not call.own_store.pending.keys().isdisjoint(recalls):
        run = _call(call.own_store, "run_start", {"session": call.event.session}, writes=True)
        call.session.run = run["id"] if run else None
    for store in call.stores:
        for recall_id in recalls:
            with suppress(NotFound, StoreError):
                store.record_shown(recall_id, [shown for by, shown in call.shown if by == recall_id])


def _confirm_rules(call: HookCall) -> None:
    """Confirm, once a session, each rule that was shown before and about which the user says nothing."""
    session, spoken = call.session, context.stems(call.event.prompt)
    rules = [
        (memory_id, key)
        for memory_id, (_, prompt, key, recall_id, rule) in session.shown.items()
        if rule
        and recall_id
        and memory_id not in session.confirmed
        and prompt <= session.prompts
        and spoken.isdisjoint(context.stems(key.replace("-", " ")))
    ]
    if rules and session.prompts:
        for store in call.stores:
            elsewhere = is_everywhere(store.database)
            here = {name: key for name, key in rules if (name in session.elsewhere) is elsewhere}
            session.confirmed += here
            request = {"confirmed": [*here.values()], "tier": "automatic", "session": call.event.session}
            if here:
                _call(store, "feedback", request, writes=True)


def _has_feedback(call: HookCall) -> bool:
    """Tell whether anybody gave feedback since the session began."""
    from datetime import UTC, datetime

    since = datetime.fromtimestamp(call.session.since or time.time(), UTC)
    request = {"since": since, "source": "conscious", "limit": 50}
    return any(entry["kind"] == "feedback" for entry in _call(call.own_store, "log", request) or ())


def _call(store: HookStore, operation: str, request: Mapping[str, Any], *, writes: bool = False) -> Any:
    """Return a call's result; None if the namespace does not exist yet, the run ended long ago, or a write fails."""
    try:
        return store.call(operation, request, writes=writes)
    except (Conflict, NotFound, StoreError) as error:
        if isinstance(error, StoreError) and not writes:
            raise
        return None
