"""Whether a lesson is about what is to be done: by the judge of statements, and by the vectors in use.

Each text of a lesson is matched on its own, and the best match counts: a long failure is recalled by its short
objective.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from priming.core.when import stem
from priming.embedding.protocol import HashedEmbedder
from priming.namespace import Namespace
from priming.text.statements.judge import judge
from priming.text.statements.occasions import observed, occasion
from priming.text.statements.reader import read
from priming.text.statements.words import opposite
from priming.types import MemoryRecord

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OBJECTIVE, TASK, TRIGGER, FAILED, RESOLUTION = "objective", "task", "trigger", "failed", "resolution"
"""The texts of a lesson, in its metadata: the objective, the task, when it applies, what failed, what helped."""
SOLVED = "solved"
"""Metadata of a failure: whether its resolution is known to help."""
HITS, BLOCKED_IN, TRIED = "hits", "blocked_in", "tried"
"""Metadata of a failure: how often its wall was hit, the sessions blocked until it was overcome, what was tried."""
_SAME, _SAME_BY_WORDS = 0.7, 0.8
"""Minimum cosine of two texts that mean the same; by hashes, which know words and no meaning, it must be higher."""
_REMEMBERED = 4_096
"""Number of texts whose vectors are kept for the next comparison."""
_NUMBER, _FIRST = re.compile(r"\d+(?:\.\d+)*"), re.compile(r"[^\W\d_]+")
_CAUSE = ": "
"""Separates the task from its obstacle in a trigger."""
_VERSION = re.compile(r"\bv(?=\d)", re.IGNORECASE)


def lesson_texts(record: MemoryRecord) -> tuple[str, ...]:
    """The texts of a memory; for a lesson its objective, task, trigger, failure and resolution."""
    texts = {name: text_of(record, name) for name in (OBJECTIVE, TASK, TRIGGER, FAILED, RESOLUTION)}
    if not texts[TASK] and _CAUSE in texts[TRIGGER]:
        texts[TASK] = texts[TRIGGER].partition(_CAUSE)[0]
    if record.metadata.get(SOLVED) is False:
        texts[RESOLUTION] = ""
    return tuple(dict.fromkeys(text for text in texts.values() if text)) or (record.content,)


def triggers(record: MemoryRecord) -> tuple[str, ...]:
    """The texts of a lesson that state when it applies: its trigger, its task and its objective."""
    trigger, task = text_of(record, TRIGGER), text_of(record, TASK)
    if not task:
        task = trigger.partition(_CAUSE)[0]
    return tuple(dict.fromkeys(text for text in (trigger, task, text_of(record, OBJECTIVE)) if text))


def meaning_same(memory: Namespace, text: str, others: Sequence[str]) -> list[bool]:
    """Whether each of some other texts asks for what a text asks for, in whatever words.

    Meaning decides, by the vectors in use; but not where the judge reads a change, where numbers differ, or where the
    same is to be done with something else: "deploy to staging", "deploy to production".
    """
    near = closeness(memory, text, [[other] for other in others])
    least = same_at(memory)
    return [
        cosine >= least and not _is_of_another(other, text)
        for other, cosine in zip(others, near, strict=True)
    ]


def same_at(memory: Namespace) -> float:
    """The cosine from which two texts mean the same, by the vectors in use."""
    return _SAME_BY_WORDS if isinstance(memory.embedder, HashedEmbedder) else _SAME


def _is_of_another(first: str, second: str) -> bool:
    """Whether two texts name other numbers, do the same with other things, or the opposite."""
    kind = judge(first, second).kind
    if kind in ("same", "changes") or _numbers_differ(first, second):
        return kind != "same"
    ours, theirs = (stem(_action(text)) for text in (first, second))
    stems = [{word.stem for word in read(text).words} for text in (first, second)]
    return opposite(ours, theirs) or (ours == theirs and not (stems[0] <= stems[1] or stems[1] <= stems[0]))


def _numbers_differ(first: str, second: str) -> bool:
    numbers = [set(_NUMBER.findall(text)) for text in (first, second)]
    return all(numbers) and numbers[0].isdisjoint(numbers[1])


def _action(text: str) -> str:
    """The word with which a text begins: it says what is to be done."""
    match = _FIRST.search(text)
    return match[0].casefold() if match else ""


def is_kin(first: str, second: str) -> bool:
    """Whether two tasks do the same, if with other things of a kind: "enter the krone", "enter the franc"."""
    return stem(_action(first)) == stem(_action(second)) and not _numbers_differ(first, second)


def occasions_of(memory: Namespace, record: MemoryRecord, text: str) -> frozenset[str]:
    """What each text that says when a lesson applies has to do with a text; other words of the same meaning apply."""
    texts = triggers(record)
    verbal = [_occasion(each, text) for each in texts]
    if not texts or not {"elsewhere", "mentions"}.issuperset(verbal):
        return frozenset(verbal)
    if not all(
        kind == "elsewhere" or _has_another_verb(each, text) for each, kind in zip(texts, verbal, strict=True)
    ):
        return frozenset(verbal)
    return frozenset(("applies",)) if any(meaning_same(memory, text, texts)) else frozenset(("elsewhere",))


def _occasion(trigger: str, text: str) -> str:
    kind = occasion(trigger, text)
    is_open = kind in ("mentions", "elsewhere")
    return "applies" if is_open and judge(observed(trigger), text).kind == "same" else kind


def _has_another_verb(first: str, second: str) -> bool:
    """Whether a text does not even mention what another says is to be done."""
    return stem(_action(first)) not in {stem(word.casefold()) for word in _FIRST.findall(second)}


def applies(memory: Namespace, record: MemoryRecord, text: str) -> bool:
    """Whether a lesson is about just this: only then it answers for what becomes of it."""
    return "applies" in occasions_of(memory, record, text)


def resolution_of(record: MemoryRecord) -> str:
    """What helped, if the lesson says so; otherwise an empty text."""
    return "" if record.metadata.get(SOLVED) is False else text_of(record, RESOLUTION)


def recurrence(record: MemoryRecord) -> str:
    """How often a wall was hit, and what was tried there, in brackets; nothing if it was hit once."""
    hits, tried = record.metadata.get(HITS, 1), record.metadata.get(TRIED, ())
    if not isinstance(hits, int) or hits <= 1:
        return ""
    return f" (failed {hits} times{'; tried: ' if tried else ''}{'; '.join(map(str, tried))})"


def closeness(memory: Namespace, text: str, groups: Sequence[Sequence[str]]) -> list[float]:
    """The cosine of a text and the nearest text of each group, "v2" read as "version 2"; 0 for an empty group."""
    distinct = list(dict.fromkeys(other for group in groups for other in group))
    if not distinct:
        return [0.0] * len(groups)
    first, *rest = _vectors(memory, [text, *distinct])
    cosines = {other: float(vector @ first) for other, vector in zip(distinct, rest, strict=True)}
    return [max((cosines[other] for other in group), default=0.0) for group in groups]


_RECENT: dict[tuple[str, str], NDArray[np.float32]] = {}


def _vectors(memory: Namespace, texts: Sequence[str]) -> list[NDArray[np.float32]]:
    """The vectors of some texts; each text is embedded once for as long as it is compared."""
    generation = memory.embedder.generation
    written = {text: (generation, _VERSION.sub("version ", text)) for text in texts}
    missing = [key for key in dict.fromkeys(written.values()) if key not in _RECENT]
    if len(_RECENT) + len(missing) > _REMEMBERED:
        _RECENT.clear()
        missing = list(dict.fromkeys(written.values()))
    if missing:
        _RECENT.update(zip(missing, memory.embedder.embed([text for _, text in missing]), strict=True))
    return [_RECENT[written[text]] for text in texts]


def text_of(record: MemoryRecord, name: str) -> str:
    """A text of a lesson by its name in the metadata; nothing if it has none."""
    value = record.metadata.get(name)
    return value.strip() if isinstance(value, str) else ""
