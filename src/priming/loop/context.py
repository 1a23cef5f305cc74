"""What is known about an objective before anything is done: memories, the codebase, how complex it looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from priming.config.params.loop import CONTEXT, ContextParams
from priming.core.lexical import terms
from priming.core.when import evaluate
from priming.engine.reach import reach
from priming.errors import NotFound
from priming.loop.codebase import look
from priming.loop.complexity import complexity
from priming.looping import Codebase, Gathered, Shown
from priming.memory import Memory
from priming.types import Cue, Hit, MemoryRecord

PROFILE = "arc"
"""The loop recalls by relevance, effectiveness and recency."""
TRIGGER, RESOLUTION, DELTA = "trigger", "resolution", "delta"
"""What the metadata of a failure or a pattern say: when it applies, what to do, and which files it was about."""
_CUT = "…"


def gather(
    memory: Memory,
    objective: str,
    folder: Path | str,
    *,
    session: str | None,
    lineage: Sequence[str] = (),
    params: ContextParams = CONTEXT,
) -> Gathered:
    """Gather the context of an objective, or of one task of it. Only what this returns is put before an agent.

    Args:
        memory: the memory; it is only asked.
        objective: what is to be done.
        folder: the project.
        session: what the recalls are kept under, so that verdicts find them.
        lineage: what was delivered before, in words.
        params: how much is gathered.

    """
    around = _around(memory, objective, session, params)
    codebase = look(Path(folder), objective, told=[*map(_told, around), *lineage], params=params)
    context = _cue(objective, Path(folder), codebase)
    failures = _recalled(memory, "failure", objective, context, session, params)
    patterns = _recalled(memory, "pattern", objective, context, session, params)
    fired = [one for one in (*patterns, *failures) if fires(one, objective, context, params)]
    failures = _first(failures, fired)[: params.failures]
    patterns = _first(patterns, fired)[: params.patterns]
    shown = [one.key for one in (*failures, *patterns)]
    return Gathered(
        objective=objective,
        failures=tuple(shown_as(one, params) for one in failures),
        patterns=tuple(shown_as(one, params) for one in patterns),
        connected=tuple(shown_as(one, params) for one in _connected(memory, shown, params)),
        fired=tuple(one.key for one in fired if one.key in shown),
        codebase=codebase,
        complexity=complexity(objective, params),
    )


def fires(one: MemoryRecord, objective: str, context: Cue, params: ContextParams = CONTEXT) -> bool:
    """Whether a memory is about just this: what it applies to is confirmed, or its trigger or files are met."""
    confirmed, contradicted, _ = evaluate(one.when, context.context())
    if contradicted:
        return False
    trigger, asked = set(terms(str(one.metadata.get(TRIGGER, "")))), set(terms(objective))
    shared = len(trigger & asked)
    if confirmed or (shared >= params.fires_terms and shared >= params.fires * len(trigger)):
        return True
    return bool(_texts(one.metadata.get(DELTA)) & _texts(context.file)) and shared > 0


def shown_as(one: MemoryRecord, params: ContextParams = CONTEXT) -> Shown:
    """A memory as an agent is shown it: when it applies and what to do, in one short line."""
    trigger, resolution = (one.metadata.get(name) for name in (TRIGGER, RESOLUTION))
    if isinstance(trigger, str) and isinstance(resolution, str):
        half = params.memory_length // 2
        text = f"{cut(trigger, half)} → {cut(resolution, params.memory_length - half)}"
    else:
        text = cut(one.content, params.memory_length)
    return Shown(one.key, one.kind, text)


def cut(text: str, most: int) -> str:
    r"""A text on one line, a long one without its end.

    >>> cut("a long\nline", 8)
    'a long…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}{_CUT}"


def _around(
    memory: Memory, objective: str, session: str | None, params: ContextParams
) -> tuple[MemoryRecord, ...]:
    """What the graph brings up around an objective; it is not shown, but says which files it is about."""
    return tuple(hit.memory for hit in _hits(memory, objective, limit=params.around, session=session))


def _told(one: MemoryRecord) -> str:
    return "\n".join((one.heading or "", one.content, *_texts(one.metadata.get(DELTA))))


def _cue(objective: str, folder: Path, codebase: Codebase) -> Cue:
    """What surrounds the objective, for the conditions under which memories apply."""
    return Cue(
        objective,
        file=list(codebase.relevant) or None,
        language=list(codebase.languages) or None,
        task=objective,
        project=folder.resolve().name or None,
    )


def _recalled(
    memory: Memory, kind: str, objective: str, context: Cue, session: str | None, params: ContextParams
) -> list[MemoryRecord]:
    """The memories of a kind that are near enough to the objective, or fire, best first."""
    asked = {"cue": context, "kinds": [kind], "limit": params.pool, "session": session, "profile": PROFILE}
    hits = _hits(memory, objective, **asked)
    return [one.memory for one in hits if _is_relevant(one, objective, context, params)]


def _hits(memory: Memory, objective: str, **asked: Any) -> tuple[Hit, ...]:
    """What a recall brings up; nothing in a namespace in which nobody has written yet."""
    try:
        return memory.recall(objective, **asked).hits
    except NotFound:
        return ()


def _is_relevant(hit: Hit, objective: str, context: Cue, params: ContextParams) -> bool:
    near = hit.components.get("relevance", 0.0) >= params.relevance
    return near or fires(hit.memory, objective, context, params)


def _first(some: Iterable[MemoryRecord], fired: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    return sorted(some, key=lambda one: one not in fired)


def _connected(memory: Memory, keys: Sequence[str], params: ContextParams) -> list[MemoryRecord]:
    """What strong links lead to from what is shown."""
    if not keys:
        return []
    found = reach(memory, keys, hops=params.hops, least=params.link_weight)
    return [one.memory for one in found if one.memory.kind != "behavior"][: params.connected]


def _texts(value: Any) -> frozenset[str]:
    """A text or a list of texts as a set."""
    some = (value,) if isinstance(value, str) else value if isinstance(value, (list, tuple)) else ()
    return frozenset(one for one in some if isinstance(one, str))
