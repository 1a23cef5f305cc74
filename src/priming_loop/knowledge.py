"""What a lesson is made of, and whether it is about what is to be done.

The judge of statements and the vectors in use decide. Each text of a lesson is matched on its own, and the best match
counts: a long failure is recalled by its short objective.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from priming.config.values import dataclass
from priming.core.when import stem
from priming.embedding.protocol import HashedEmbedder
from priming.errors import NotFound, ParamError
from priming.namespace import Namespace
from priming.recall.records import get
from priming.remember.drafts import Draft
from priming.text.quotation import visible
from priming.text.statements.judge import judge
from priming.text.statements.occasions import observed, occasion
from priming.text.statements.reader import read
from priming.text.statements.words import opposite
from priming.types import MemoryRecord
from priming_loop.codebase import CONTEXT
from priming_loop.session import BLOCKED, DELIVERED, Attempt, Session, Task, Verification

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_CUT = "…"
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
"""Control sequences of terminals: colours, titles and the like."""
_TELLING = re.compile(r"error|exception|fail|assert|not found|denied|refused|expected", re.IGNORECASE)
_SYMPTOM = re.compile(r"^E\s+(\S.*)$")
"""How pytest marks an error."""
_RAISED = re.compile(r"[\w.]*(?:Error|Exception)\b")
"""How Python names an exception."""


def cut(text: str, most: int) -> str:
    r"""Return a text on one line, shortened at its end.

    >>> cut("a long\nline", 8)
    'a long…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}{_CUT}"


def plain(text: str) -> str:
    """Return a text line by line as a terminal shows it, with hidden characters written out."""
    lines = _TERMINAL.sub("", text).replace("\t", "    ").splitlines()
    return "\n".join(map(visible, lines))


def shortened(text: str, most: int) -> str:
    """Return a text shortened in its middle: the end of a failure says more than its beginning."""
    if len(text) <= most:
        return text
    head = most // 4
    return f"{text[:head]}\n… {len(text) - most:,} characters left out …\n{text[head - most :]}"


def symptom(verified: Verification) -> str | None:
    r"""Return the most telling line of a gate's output.

    >>> symptom(Verification("pytest", "failed", 1, "E   NameError: x\n1 failed in 0.1s"))
    'NameError: x'
    """
    lines = [text for line in plain(verified.output).splitlines() if (text := line.strip())]
    marked = [match[1] for line in lines if (match := _SYMPTOM.match(line))]
    raised = [line for line in lines if _RAISED.match(line)]
    telling = [line for line in lines if _TELLING.search(line)]
    # Pytest's first mark, Python's last line of a traceback, a compiler's first error, anything's last word.
    return next(iter((*marked[:1], *raised[-1:], *telling[:1], *lines[-1:])), None)


_SAME, _SAME_BY_WORDS, _SAME_ACTION = 0.68, 0.8, 0.77
"""Minimum cosine of two texts that mean the same; by hashes, which know words and no meaning, it must be higher, and
where nothing but the action differs.
"""
_REMEMBERED = 4_096
"""Number of texts whose vectors are kept for the next comparison."""
_NUMBER, _FIRST = re.compile(r"\d+(?:\.\d+)*"), re.compile(r"[^\W\d_]+")
_CAUSE = ": "
"""Separates the task from its obstacle in a trigger."""
_VERSION = re.compile(r"\bv(?=\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LessonMetadata:
    """What the metadata of a memory say of a lesson.

    That is the objective, the task, when it applies, what failed and what helped; whether that is known to help, how
    often its wall was hit, which sessions were blocked until it was overcome, what was tried, and the files.
    """

    objective: str = ""
    task: str = ""
    trigger: str = ""
    failed: str = ""
    resolution: str = ""
    solved: bool = True
    hits: int = 1
    blocked_in: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    delta: tuple[str, ...] = ()

    @classmethod
    def of(cls, memory: MemoryRecord | Draft) -> LessonMetadata:
        """Read the lesson of a memory; what has another type than here counts as missing."""
        return cls(**{name: _like(default, memory.metadata.get(name)) for name, default in _FIELDS.items()})

    @property
    def advice(self) -> str:
        """What helped, if it is known to help."""
        return self.resolution if self.solved else ""

    @property
    def tries(self) -> tuple[str, ...]:
        """What was tried in vain."""
        return self.tried or tuple(filter(None, [self.failed]))

    @property
    def recurrence(self) -> str:
        """How often its wall was hit, and what was tried there, in brackets; nothing if it was hit once."""
        tried = f"; tried: {'; '.join(self.tried)}" if self.tried else ""
        return f" (failed {self.hits} times{tried})" if self.hits > 1 else ""


_FIELDS = {field.name: field.default for field in fields(LessonMetadata)}


def _like(default: Any, value: Any) -> Any:
    """Return a value of the type of a default, or else the default; of a list its texts, of a text itself."""
    if isinstance(default, tuple):
        items = value if isinstance(value, (list, tuple)) else [value]
        return tuple(item for item in items if isinstance(item, str))
    if isinstance(value, str) and isinstance(default, str):
        return value.strip()
    return value if type(value) is type(default) else default


def lesson_texts(record: MemoryRecord) -> tuple[str, ...]:
    """Return the texts of a memory; for a lesson its objective, task, trigger, failure and resolution."""
    own = LessonMetadata.of(record)
    texts = (own.objective, _task(own), own.trigger, own.failed, own.advice)
    return tuple(dict.fromkeys(filter(None, texts))) or (record.content,)


def triggers(record: MemoryRecord) -> tuple[str, ...]:
    """Return the texts of a lesson that state when it applies: its trigger, its task and its objective."""
    own = LessonMetadata.of(record)
    return tuple(dict.fromkeys(filter(None, (own.trigger, _task(own), own.objective))))


def _task(lesson: LessonMetadata) -> str:
    """Return the task of a lesson; that of an earlier version is in its trigger."""
    return lesson.task or lesson.trigger.partition(_CAUSE)[0]


def meaning_same(memory: Namespace, text: str, others: Sequence[str]) -> bool:
    """Tell whether any of some other texts asks for what a text asks for, in whatever words.

    Meaning decides, by the vectors in use; but not where the judge reads a change, where numbers differ, or where the
    same is to be done with something else: "deploy to staging", "deploy to production". What is done to the same
    thing must be nearer, since the thing alone brings the texts together: "print the invoice", "send the invoice".
    """
    near = closeness(memory, text, [[other] for other in others])
    return any(
        cosine >= max(same_at(memory), _SAME_ACTION if _has_another_action(other, text) else 0.0)
        and not _is_of_another(other, text)
        for other, cosine in zip(others, near, strict=True)
    )


def same_at(memory: Namespace) -> float:
    """Return the cosine from which two texts mean the same, by the vectors in use."""
    return _SAME_BY_WORDS if isinstance(memory.embedder, HashedEmbedder) else _SAME


def _is_of_another(first: str, second: str) -> bool:
    """Tell whether two texts name other numbers, do the same with other things, or the opposite."""
    kind = judge(first, second).kind
    if kind in ("same", "changes") or _numbers_differ(first, second):
        return kind != "same"
    ours, theirs = (stem(_action(text)) for text in (first, second))
    stems = [{word.stem for word in read(text).words} for text in (first, second)]
    return opposite(ours, theirs) or (ours == theirs and not (stems[0] <= stems[1] or stems[1] <= stems[0]))


def _has_another_action(first: str, second: str) -> bool:
    """Tell whether the second text only says another action, with which it begins, of what the first names."""
    ours, theirs = (
        {word.stem for word in read(text).words if word.text.casefold() != _action(text)}
        for text in (first, second)
    )
    return theirs <= ours and stem(_action(first)) != stem(_action(second))


def _numbers_differ(first: str, second: str) -> bool:
    numbers = [set(_NUMBER.findall(text)) for text in (first, second)]
    return all(numbers) and numbers[0].isdisjoint(numbers[1])


def _action(text: str) -> str:
    """Return the word with which a text begins: it says what is to be done."""
    match = _FIRST.search(text)
    return match[0].casefold() if match else ""


def is_kin(first: str, second: str) -> bool:
    """Tell whether two tasks do the same, if with other things of a kind: "enter the krone", "enter the franc"."""
    return stem(_action(first)) == stem(_action(second)) and not _numbers_differ(first, second)


def occasions_of(memory: Namespace, record: MemoryRecord, text: str) -> frozenset[str]:
    """Return what each text on when a lesson applies has to do with a text; other words of the same meaning apply."""
    verbal = {each: _occasion(each, text) for each in triggers(record)}
    is_decided = any(
        kind != "elsewhere" and not (kind == "mentions" and _has_another_verb(each, text))
        for each, kind in verbal.items()
    )
    if is_decided or not verbal:
        return frozenset(verbal.values())
    nearest = _nearest(memory, text, [*verbal])
    return frozenset(("applies" if meaning_same(memory, text, [nearest]) else "elsewhere",))


def _occasion(trigger: str, text: str) -> str:
    kind = occasion(trigger, text)
    if kind == "applies" and _CAUSE in trigger and judge(trigger, text).kind == "wider":
        kind = occasion(trigger.partition(_CAUSE)[0], text)  # an obstacle's words ask for nothing
    is_open = kind in ("mentions", "elsewhere")
    return "applies" if is_open and judge(observed(trigger), text).kind == "same" else kind


def _has_another_verb(first: str, second: str) -> bool:
    """Tell whether a text does not even mention what another says is to be done."""
    return stem(_action(first)) not in {stem(word.casefold()) for word in _FIRST.findall(second)}


def applies(memory: Namespace, record: MemoryRecord, text: str) -> bool:
    """Tell whether a lesson is about just this, by its words: only then it answers for what becomes of it.

    A lesson that applies by its meaning is told, but vectors know what is spoken of better than what is done with it.
    """
    about = triggers(record)
    is_said = any(_occasion(each, text) == "applies" for each in about) or (
        bool(about) and not _has_another_verb(_nearest(memory, text, about), text)
    )
    return is_said and "applies" in occasions_of(memory, record, text)


def _nearest(memory: Namespace, text: str, others: Sequence[str]) -> str:
    return max(others, key=lambda each: closeness(memory, text, [[each]])[0])


def closeness(memory: Namespace, text: str, groups: Sequence[Sequence[str]]) -> list[float]:
    """Return the cosine of a text and the nearest of each group, "v2" read as "version 2"; 0 for an empty group."""
    distinct = list(dict.fromkeys(other for group in groups for other in group))
    if not distinct:
        return [0.0] * len(groups)
    first, *rest = _vectors(memory, [text, *distinct])
    cosines = {other: float(vector @ first) for other, vector in zip(distinct, rest, strict=True)}
    return [max((cosines[other] for other in group), default=0.0) for group in groups]


_RECENT: dict[tuple[str, str], NDArray[np.float32]] = {}


def _vectors(memory: Namespace, texts: Sequence[str]) -> list[NDArray[np.float32]]:
    """Return the vectors of some texts; each text is embedded once for as long as it is compared."""
    generation = memory.embedder.generation
    written = {text: (generation, _VERSION.sub("version ", text)) for text in texts}
    missing = [key for key in dict.fromkeys(written.values()) if key not in _RECENT]
    if len(_RECENT) + len(missing) > _REMEMBERED:
        _RECENT.clear()
        missing = list(dict.fromkeys(written.values()))
    if missing:
        _RECENT.update(zip(missing, memory.embedder.embed([text for _, text in missing]), strict=True))
    return [_RECENT[written[text]] for text in texts]


def existing(memory: Namespace, name: str) -> MemoryRecord | None:
    """Return the memory of a key or an id; None if there is none."""
    try:
        return get(memory, name)
    except (NotFound, ParamError):
        return None


FAILURE, PATTERN = "failure", "pattern"
_TRUST = "agent"
"""The trust in a lesson: that of its author."""


def lesson(kind: str, trigger: str, resolution: str, **metadata: Any) -> dict[str, Any]:
    """Return the arguments of ``remember`` for a lesson; ``session``, ``source`` and ``trust`` are not its metadata.

    Its content has a line for each of its texts, so that each can be matched.
    """
    texts = {"trigger": cut(trigger, CONTEXT.lesson), "resolution": cut(resolution, CONTEXT.lesson)}
    others = {name: metadata.pop(name, None) or "" for name in ("objective", "task", "failed")}
    texts |= {name: cut(text, CONTEXT.lesson) for name, text in others.items() if text}
    lines: list[str] = []
    for name, text in texts.items():
        if name not in others or not any(text.casefold() in line.casefold() for line in lines):
            lines.append(text)
    own = {name: metadata.pop(name, None) for name in ("session", "source", "trust")}
    rest = {name: value for name, value in metadata.items() if value not in (None, [], "")}
    arguments = {"content": "\n".join(lines), "kind": kind, "metadata": {**texts, **rest}, **own}
    return {name: value for name, value in arguments.items() if value is not None}


def failure(session: Session, task: Task) -> dict[str, Any] | None:
    """Return the lesson of a task that is blocked or took several attempts: what went wrong, what to do instead."""
    failed = failed_attempts(task.attempts)
    if task.status == BLOCKED:
        attempt = task.attempts[-1] if task.attempts else None
        cause = _obstacle(attempt) if attempt else None
        learning = _learning(task.attempts)
        resolution = learning or f"not solved; tried: {_details(attempt) or 'nothing'}"
    elif task.status == DELIVERED and failed:
        attempt, cause = failed[0], None
        learning = resolution = _learning(task.attempts[-1:]) or _details(task.attempts[-1]) or ""
    else:
        return None
    cause = cause or (symptom(attempt.verified) if attempt and attempt.verified else None)
    if not resolution or (cause is None and not task.attempts):
        return None
    trigger = task.plan.objective if cause is None else f"{task.plan.objective}: {cause}"
    tried = "; ".join(dict.fromkeys(text for text in (cause, *map(_details, failed)) if text))
    outcome = {
        "failed": tried,
        "solved": task.status == DELIVERED or bool(learning),
        "hits": 1,
        "blocked_in": [session.id] if task.status == BLOCKED else [],
    }
    return _lesson_of(FAILURE, trigger, resolution, session, task, **outcome)


def pattern(session: Session, task: Task) -> dict[str, Any] | None:
    """Return the lesson of a delivered task: what worked, if its result says how."""
    if task.status != DELIVERED or not task.attempts:
        return None
    how = _learning(task.attempts[-1:]) or _details(task.attempts[-1])
    return _lesson_of(PATTERN, task.plan.objective, how, session, task) if how else None


def _lesson_of(
    kind: str, trigger: str, resolution: str, session: Session, task: Task, **outcome: Any
) -> dict[str, Any]:
    return lesson(
        kind,
        trigger,
        resolution,
        objective=session.objective,
        task=task.plan.objective,
        **outcome,
        session=session.id,
        source=f"{session.id}-{task.seq}",
        trust=_TRUST,
        delta=list(task.plan.delta),
        verify=task.plan.verify,
        attempts=len(task.attempts),
        project=session.project,
    )


def failed_attempts(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the attempts whose gate did not pass."""
    return [each for each in attempts if each.verified and each.verified.status in ("failed", "late")]


def _obstacle(attempt: Attempt) -> str | None:
    if attempt.error is not None:
        return attempt.error
    return attempt.acted.obstacle if attempt.acted else None


def _learning(attempts: Sequence[Attempt]) -> str | None:
    """Return the latest lesson that a result states."""
    learnings = (attempt.acted.learning for attempt in reversed(attempts) if attempt.acted)
    return next((learning for learning in learnings if learning), None)


def _details(attempt: Attempt | None) -> str | None:
    return attempt.acted.details or None if attempt and attempt.acted else None
