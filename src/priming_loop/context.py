"""The context of an objective before anything is done, and its form in prompts: short quoted data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from priming.config.params.laws import FORGETTING
from priming.config.values import dataclass
from priming.config.words import source_note
from priming.core.forgetting import recency_half_life
from priming.core.metacognition import Assessment
from priming.core.score import arc, effectiveness
from priming.core.when import evaluate
from priming.errors import NotFound
from priming.llm.protocol import fenced
from priming.namespace import Namespace
from priming.recall.recall import recall
from priming.results import Hit
from priming.text.quotation import bracketed, label, quote_text
from priming.text.tokens import terms
from priming.types import Cue, MemoryRecord, days_between
from priming_loop import knowledge
from priming_loop.codebase import CONTEXT, look
from priming_loop.knowledge import LessonMetadata, cut, plain, shortened
from priming_loop.neighbours import neighbors
from priming_loop.session import Codebase, Complexity, ObjectiveContext, Session, ShownMemory, Verification
from priming_loop.session_store import LOOP

PACKAGE = "priming_loop"
"""Where the prompts are."""
PROFILE = "arc"
"""The loop recalls by relevance, effectiveness and recency."""
PARTS = ("and", "then", "also", "plus")
"""Words that indicate several things to do."""
PLACES = ("file", "files", "module", "modules", "class", "classes", "function", "functions")
"""Words that name parts of a program."""

_MANY_WORDS, _MOST_WORDS = 20, 40
"""Lengths above which an objective is moderate, and complex (Arc)."""
_POOL, _AROUND, _FIRES_TERMS = 20, 10, 2
"""How many lessons of a kind, and memories that may name files, are recalled; and how many words these must share."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ADVICE = {
    "pivot_now": "The previous tasks failed one after the other: this approach does not work. Take another.",
    "consider_pivot": "Most tasks so far failed: consider another approach.",
    "slow_down": "The last task failed: take smaller steps, and check each.",
}


def gather(
    memory: Namespace,
    objective: str,
    folder: Path | str | None,
    *,
    session: str | None,
    cue: Cue | None = None,
    lineage: Sequence[str] = (),
    within: str | None = None,
) -> ObjectiveContext:
    """Gather the context of an objective, or of one task of it. Prompts show nothing else of the memory.

    Args:
        memory: the memory, which is only read.
        objective: what is to be done.
        folder: the project; None: none is looked at.
        session: the session of the recalls, so that verdicts can refer to them.
        cue: what surrounds the objective, where the folder does not show it.
        lineage: the tasks delivered before, in words.
        within: the objective that this is a task of: its lessons are shown too, after those of the task.

    """
    related = _related(memory, objective, session)
    mentions = [*map(_file_mentions, related), *lineage]
    codebase = Codebase()
    if folder is not None:
        codebase = look(Path(folder), objective, mentions=mentions, store=_store_file(memory))
    cue = _cue(objective, folder, codebase, cue)
    failures, patterns = (
        _lessons(memory, kind, objective, within, cue, session) for kind in ("failure", "pattern")
    )
    chosen = (*failures[: CONTEXT.failures], *patterns[: CONTEXT.patterns])
    shown = [match.record.key for match in chosen]
    walls = [
        own for match in failures if (own := LessonMetadata.of(match.record)).blocked_in and match.is_own
    ]
    return ObjectiveContext(
        objective=objective,
        failures=tuple(shown_memory(match.record) for match in failures[: CONTEXT.failures]),
        patterns=tuple(shown_memory(match.record) for match in patterns[: CONTEXT.patterns]),
        connected=tuple(shown_memory(record) for record in _connected(memory, shown)),
        fired=tuple(match.record.key for match in chosen if match.fires),
        failed=len({session for wall in walls for session in wall.blocked_in}),
        ways=tuple(dict.fromkeys(way for wall in walls for way in (wall.task, *wall.tries) if way)),
        codebase=codebase,
        complexity=complexity(objective),
    )


@dataclass(frozen=True, slots=True)
class _Match:
    """A lesson that is shown: whether it applies just here, also by its words (``is_own``), and its score."""

    record: MemoryRecord
    fires: bool
    is_own: bool
    score: float


def complexity(objective: str) -> Complexity:
    """Return the level of an objective by its whole words ("standard" does not contain "and"), and its signals (Arc).

    More than 40 words, or several parts that name places in a program, are complex; more than 20 words, or several
    parts, moderate; anything else is simple.

    >>> complexity("Standardise the plush handler")
    Complexity(level='simple', signals=())
    >>> complexity("Fix the parser and then the printer")
    Complexity(level='moderate', signals=('and', 'then'))
    """
    words = [word.casefold() for word in _WORD.findall(objective)]
    parts = [word for word in PARTS if word in words]
    places = [word for word in PLACES if word in words]
    signals = [*parts, *places]
    if len(words) > _MANY_WORDS:
        signals.append(f"{len(words)} words")
    if len(words) > _MOST_WORDS or (parts and places):
        return Complexity("complex", tuple(signals))
    if len(words) > _MANY_WORDS or parts:
        return Complexity("moderate", tuple(signals))
    return Complexity("simple", tuple(signals))


def fires(record: MemoryRecord, cue: Cue, occasions: frozenset[str]) -> bool:
    """Tell whether a memory applies exactly here: by what its texts have to do with the objective, or its conditions.

    No condition may be contradicted; those of a memory without such texts must all hold.
    """
    confirmed, contradicted, unknown = evaluate(record.when, cue.context())
    if contradicted:
        return False
    return "applies" in occasions or (not knowledge.triggers(record) and bool(confirmed) and not unknown)


def alternatives(memory: Namespace, session: Session) -> tuple[ShownMemory, ...]:
    """Return the patterns about the objective of a session that no task of it was shown."""
    tried = {key for task in session.tasks for key in task.injected}
    limit = LOOP.alternatives + len(tried)
    hits = _hits(
        memory, session.objective, kinds=["pattern"], limit=limit, session=session.id, profile=PROFILE
    )
    fresh = [shown_memory(hit.memory) for hit in hits if hit.memory.key not in tried]
    return tuple(fresh[: LOOP.alternatives])


def shown_memory(record: MemoryRecord) -> ShownMemory:
    """Return a memory as a prompt shows it: when it applies and what to do, in one short line."""
    own = LessonMetadata.of(record)
    text = cut(record.content, CONTEXT.memory_length)
    if own.trigger and own.resolution:
        half = CONTEXT.memory_length // 2
        resolution = cut(own.resolution, CONTEXT.memory_length - half)
        text = " ".join(filter(None, (cut(own.trigger, half), "→", resolution, cut(own.recurrence, half))))
    return ShownMemory(record.key, record.kind, text, record.trust)


def _file_mentions(record: MemoryRecord) -> str:
    """Return the text of a memory in which files may be named; it is not shown."""
    return "\n".join((record.heading or "", record.content, *LessonMetadata.of(record).delta))


def _cue(objective: str, folder: Path | str | None, codebase: Codebase, cue: Cue | None) -> Cue:
    """Return the cue of an objective, with the values of the conditions under which memories apply.

    What the caller says of the surroundings comes before what the folder shows.
    """
    surroundings: dict[str, Any] = {
        "file": list(codebase.relevant) or None,
        "language": list(codebase.languages) or None,
        "task": objective,
        "project": None if folder is None else Path(folder).resolve().name or None,
    }
    if cue is not None:
        surroundings |= {**cue.context(), "at": cue.at}
    return Cue(objective, **surroundings)


def _lessons(
    memory: Namespace, kind: str, objective: str, within: str | None, cue: Cue, session: str | None
) -> list[_Match]:
    """Return the memories of a kind that match the objective, those that apply exactly here first, then the best.

    Candidates are the nearest by words and by meaning. Each of their texts is matched on its own. After those that
    match come the lessons of the whole objective that this is a task of.
    """
    texts = [objective] if within is None else [objective, within]
    candidates: dict[str, MemoryRecord] = {}
    for text in dict.fromkeys(texts):
        options = {"cue": cue, "kinds": [kind], "limit": _POOL, "session": session}
        for profile in (None, PROFILE):
            hits = _hits(memory, text, **options, **({} if profile is None else {"profile": profile}))
            candidates.update((hit.memory.id, hit.memory) for hit in hits)
    records = list(candidates.values())
    near = knowledge.closeness(memory, objective, [knowledge.lesson_texts(record) for record in records])
    of_whole = knowledge.closeness(
        memory, within or "", [_objective_of(record) if within else [] for record in records]
    )
    now, matches = memory.now(), list[_Match]()
    for record, own, whole in zip(records, near, of_whole, strict=True):
        occasions = knowledge.occasions_of(memory, record, objective)
        is_here = fires(record, cue, occasions)
        is_shown = is_here or _is_shown(memory, record, objective, within, occasions)
        if is_shown and (is_here or not evaluate(record.when, cue.context())[1]):
            is_own = is_here and knowledge.applies(memory, record, objective)
            matches.append(_Match(record, is_here, is_own, _score(record, max(own, whole), now)))
    return sorted(matches, key=lambda match: (not match.fires, -match.score))


def _is_shown(
    memory: Namespace, record: MemoryRecord, objective: str, within: str | None, occasions: frozenset[str]
) -> bool:
    """Tell whether a lesson that does not apply just here says something about an objective.

    What it says failed or helped is what the objective says; or it warns of that; or it does the same with another
    thing of a kind; or it is about the objective that this is a task of.
    """
    if occasions & {"rejects", "warns"}:
        return record.kind == "failure" and "warns" in occasions
    about = knowledge.triggers(record)
    others = [text for text in knowledge.lesson_texts(record) if text not in about]
    if knowledge.meaning_same(memory, objective, others):
        return True
    if within is not None and knowledge.meaning_same(memory, within, _objective_of(record)):
        return True
    kin = [text for text in about if knowledge.is_kin(text, objective)]
    return max(knowledge.closeness(memory, objective, [kin])) >= (
        knowledge.same_at(memory) if within is None else CONTEXT.relevance
    )


def _objective_of(record: MemoryRecord) -> list[str]:
    return [*filter(None, [LessonMetadata.of(record).objective])]


def _score(record: MemoryRecord, relevance: float, now: datetime) -> float:
    """Return Arc's score of a memory, by the best match of its texts."""
    since = record.use.last_used_at or record.recorded_at or now
    recency = recency_half_life(days_between(since, now), FORGETTING.half_life)
    worth = effectiveness(record.use.helped, record.use.failed)
    return float(arc(min(1.0, relevance), worth, recency).total)


def _hits(memory: Namespace, objective: str, **arguments: Any) -> tuple[Hit, ...]:
    """Return the hits of a recall; none in a namespace that does not exist yet."""
    try:
        return recall(memory, objective, **arguments).hits
    except NotFound:
        return ()


def _related(memory: Namespace, objective: str, session: str | None) -> list[MemoryRecord]:
    """Return the memories about the objective: near to it in one of their texts, or with two of its words."""
    hits = _hits(memory, objective, limit=_AROUND, session=session)
    records = [hit.memory for hit in hits if hit.memory.kind != "entity"]
    near = knowledge.closeness(memory, objective, [knowledge.lesson_texts(record) for record in records])
    words = set(terms(objective))
    return [
        record
        for record, cosine in zip(records, near, strict=True)
        if cosine >= CONTEXT.relevance or len(words & set(terms(record.content))) >= _FIRES_TERMS
    ]


def _store_file(memory: Namespace) -> Path | None:
    """Return the file of the store, which is not part of a project; nor are the files beside it with its name."""
    scratch = memory.store.place.scratch
    return None if scratch is None else scratch.with_suffix("")


def _connected(memory: Namespace, keys: Sequence[str]) -> list[MemoryRecord]:
    """Return the memories that strong links connect with those that are shown: links that were made or learned."""
    if not keys:
        return []
    neighbours = neighbors(memory, keys, hops=CONTEXT.hops, least=CONTEXT.link_weight)
    return [node.memory for node in neighbours if node.memory.kind != "behavior"][: CONTEXT.connected]


def sections(*texts: str | None) -> str:
    """Return the sections of a prompt, empty ones left out."""
    return "\n\n".join(text for text in texts if text)


def advice(assessment: Assessment | None) -> str | None:
    """Return the advice of metacognition for the next step; None if all goes well."""
    if assessment is None or assessment.advice not in _ADVICE:
        return None
    failures = assessment.consecutive_failures
    counted = f" Failures in a row: {failures}." if failures > 1 else ""
    return f"{_ADVICE[assessment.advice]}{counted}"


def memories_section(gathered: ObjectiveContext) -> str:
    """Return each memory on a line with its key, those that fire first."""
    if not gathered.shown:
        return "There are no memories about this."
    lines = []
    for memory in gathered.shown:
        fires = "applies here, " if memory.key in gathered.fired else ""
        source = f" {note}" if (note := source_note(memory.trust)) else ""
        lines.append(f"{bracketed(memory.key)} {fires}{memory.kind}{source}: {quote_text(memory.text)}")
    return "Memories of earlier work, by key:\n" + fenced("\n".join(lines))


def codebase_section(codebase: Codebase) -> str | None:
    """Return the files of the project; None if there is nothing to report."""
    named = {"languages": codebase.languages, "frameworks": codebase.frameworks, "tests in": codebase.tests}
    lines = [f"{title}: {', '.join(map(label, names))}" for title, names in named.items() if names]
    lines += ["files about it:", *map(quote_text, codebase.relevant)] if codebase.relevant else []
    return f"The project has {codebase.files:,} files:\n" + fenced("\n".join(lines)) if lines else None


def listing(title: str, texts: Iterable[str], most: int = CONTEXT.memory_length) -> str | None:
    """Return a section of texts, each quoted on a line and shortened to ``most`` characters; None without any."""
    lines = [quote_text(cut(text, most)) for text in texts]
    return f"{title}\n" + fenced("\n".join(lines)) if lines else None


def lineage_section(lineage: Sequence[str]) -> str | None:
    """Return the latest tasks and attempts."""
    latest = lineage[len(lineage) - CONTEXT.lineage :] if len(lineage) > CONTEXT.lineage else lineage
    return listing("Earlier tasks and attempts:", latest)


def verification_section(failed: Verification) -> str:
    """Return the result of the previous attempt's gate: how its command ended, and the end of what it printed."""
    how = "was late" if failed.status == "late" else f"ended with status {failed.exit_status}"
    output = shortened(plain(failed.output), CONTEXT.text_length) or "(it printed nothing)"
    return f"The last attempt did not pass: its command {how}, and printed:\n" + fenced(output)
