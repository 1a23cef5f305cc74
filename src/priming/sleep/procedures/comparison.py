"""Whether two procedures are the same, alike, or different: their titles, and their steps aligned in order.

The cosine only selects what to compare: opposites are nearer to each other than paraphrases are. A word in no
list counts as different, so that an unforeseen one keeps procedures apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

from priming.config.params.limits import SLEEP
from priming.config.values import dataclass
from priming.core.when import stem
from priming.sleep.procedures.alignment import StepAlignment, align
from priming.sleep.procedures.reading import ProcedureText
from priming.sleep.procedures.steps import (
    NUMBERS,
    OPPOSITES,
    ORDER,
    REJECTED,
    TARGETS,
    TURNED,
    WORDS,
    StepChange,
    compare_steps,
    names_value,
)
from priming.sleep.procedures.synonyms import observing_verbs
from priming.sleep.procedures.words import StepWord, read_step
from priming.text.word_lists import read_word_groups

Likeness = Literal["same", "part", "alike", "hindered", "other"]
_SHARE = 0.5
"""Minimum share of common steps for two procedures to be similar."""


_PLACE = re.compile(r"\s(?:to|from|into|onto|with|in|on|at|for|by|via)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProcedureChange:
    """The result of comparing two procedures.

    ``same``: one may stand for the other. ``part``: so it may with the ``added`` steps of the right one.
    ``alike``: they have much in common and differ in ``words``. ``hindered``: they mean the same, and something else
    keeps them apart. ``other``: none of these.
    """

    likeness: Likeness
    reason: str = ""
    words: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def compare_procedures(left: ProcedureText, right: ProcedureText) -> ProcedureChange:
    """Compare two procedures by their titles and their steps.

    >>> on, off = (ProcedureText(f"{verb} it", ("Open it.", "Save.")) for verb in ("Enable", "Disable"))
    >>> compare_procedures(on, off)
    ProcedureChange(likeness='alike', reason='their titles say the opposite', words=('enable', 'disable'), added=())
    """
    if max(len(left.steps), len(right.steps)) > SLEEP.steps:
        return ProcedureChange("other", f"procedures of more than {SLEEP.steps} steps are not compared")
    aligned = align(left.steps, right.steps, _topic(left.title, right.title))
    return (
        _by_titles(left, right, aligned)
        or _by_steps(left, right, aligned)
        or ProcedureChange("same", "titles and steps mean the same")
    )


def _topic(left: str, right: str) -> frozenset[str]:
    """The stems of two titles that mean the same; a step may leave them out."""
    if not left or not right or _compare_titles(left, right).kind != "same":
        return frozenset()
    words = [*read_step(left), *read_step(right)]
    return frozenset(word.stem for word in words if not _is_name(word) and word.sign > 0)


def _is_name(word: StepWord) -> bool:
    return word.is_code or word.text[:1].isupper() or word.role in ("goal", "source", "for")


def _is_alike(left: ProcedureText, right: ProcedureText, aligned: StepAlignment) -> bool:
    """Whether half of the steps are common, a variant counting half, and the titles have more in common than not."""
    most = max(len(left.steps), len(right.steps))
    same, variants = aligned.number("same"), aligned.number("variant")
    if most == 0 or same + variants / 2 < _SHARE * most:
        return False
    if same == most or not left.title or not right.title:
        return True
    titles = compare_steps(left.title, right.title)
    return titles.kind != "other" and max(len(titles.left), len(titles.right)) <= titles.shared


def _apart(
    left: ProcedureText, right: ProcedureText, aligned: StepAlignment, reason: str, words: Sequence[str]
) -> ProcedureChange:
    """Procedures that differ: similar, if they have enough in common."""
    if _is_alike(left, right, aligned):
        return ProcedureChange("alike", reason, tuple(dict.fromkeys(words)))
    return ProcedureChange("other", reason, tuple(dict.fromkeys(words)))


def _by_titles(left: ProcedureText, right: ProcedureText, aligned: StepAlignment) -> ProcedureChange | None:
    """The difference of the titles, or of what triggers the two; None if they mean the same."""
    for what, ours, theirs in (
        ("titles", left.title, right.title),
        ("triggers", left.trigger, right.trigger),
    ):
        if ours and theirs:
            change = compare_steps(ours, theirs)
            alike = _compare_titles(ours, theirs).kind == "same" or _steps_say(change, left, right)
            if change.kind != "same" and not (alike and aligned.are_same):
                return _apart(left, right, aligned, _difference(f"their {what}", change.why), change.words)
        elif ours or theirs:
            extra = _specific(ours or theirs, right if ours else left)
            if extra:
                return _apart(left, right, aligned, f"only one is for {', '.join(extra)}", extra)
    return None


_DIFFERENCES = {
    OPPOSITES: "say the opposite",
    REJECTED: "ask for and reject the same",
    TURNED: "have the same words the other way round",
    ORDER: "have the same words in another order",
    NUMBERS: "differ in a number or a version",
    TARGETS: "differ in a target",
    WORDS: "differ in their words",
}


def _difference(texts: str, why: str) -> str:
    """In what two texts differ, as a clause."""
    return f"{texts} {_DIFFERENCES.get(why, f'differ, as {why}')}"


def _compare_titles(left: str, right: str) -> StepChange:
    """Compare titles as steps; verbs such as "make" or "do" count as equal."""
    change = compare_steps(left, right)
    lone = {stem(word.replace(" ", "_")) for side in (change.left, change.right) for word in side}
    single = len(change.left) == len(change.right) == 1
    general = single and any(lone <= verbs for verbs in _title_verbs())
    return StepChange("same") if general else change


def _steps_say(change: StepChange, left: ProcedureText, right: ProcedureText) -> bool:
    """Whether one title only adds words that the steps of both procedures say."""
    if change.kind != "variant" or (change.left and change.right) or change.why == REJECTED:
        return False
    ours, theirs = ({word.stem for step in text.steps for word in read_step(step)} for text in (left, right))
    return (ours & theirs).issuperset(stem(word) for word in change.words)


@cache
def _title_verbs() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(stem(word) for word in group) for group in read_word_groups("title_verbs"))


def _specific(title: str, other: ProcedureText) -> tuple[str, ...]:
    """The words of a title that only one procedure has, where they name a value and the other nowhere says them."""
    spoken = {word.stem for step in (*other.steps, other.title) for word in read_step(step)}
    words = read_step(title)
    return tuple(word.text for word in words if word.stem not in spoken and _names_value(word, words))


def _names_value(word: StepWord, words: Sequence[StepWord]) -> bool:
    is_name = word.text[:1].isupper() or names_value(word) or word.is_code
    return is_name or word.sign < 0 or word.role in ("goal", "source", "for", "place") or words[0] is word


def _by_steps(left: ProcedureText, right: ProcedureText, aligned: StepAlignment) -> ProcedureChange | None:
    """The difference of the steps; None if each has its equal."""
    variants = [change for _, _, change in aligned.pairs if change is not None and change.kind == "variant"]
    ours = [i for i, j, _ in aligned.pairs if j is None and i is not None]
    theirs = [j for i, j, _ in aligned.pairs if i is None and j is not None]
    if not variants and not ours and not theirs:
        return None
    if _same_actions(left.steps, right.steps):
        return None
    if _permuted(left.steps, right.steps):
        return ProcedureChange("alike", "the same steps in another order")
    if variants:
        why = _difference("two steps", variants[0].why)
        return _apart(left, right, aligned, why, [word for change in variants for word in change.words])
    steps = [*(left.steps[i] for i in ours), *(right.steps[j] for j in theirs)]
    if ours and theirs:
        return _apart(left, right, aligned, "each has steps that the other lacks", steps)
    unsafe = _unsafe(left, right, steps)
    if unsafe is not None:
        return _apart(left, right, aligned, unsafe, steps)
    return ProcedureChange("part", "one has all steps of the other", added=tuple(steps) if theirs else ())


def _unsafe(left: ProcedureText, right: ProcedureText, steps: Sequence[str]) -> str | None:
    """Why steps that only one procedure has may not be taken over by the other; None if they may."""
    shorter = min(len(left.steps), len(right.steps))
    if 2 * len(steps) > shorter + 1:
        return "one is a part of the other"
    return (
        None
        if all(observes(read_step(step)) for step in steps)
        else "only one has a step that changes something"
    )


def observes(words: Sequence[StepWord]) -> bool:
    """Whether a step changes nothing and tells nobody: it only looks, waits or compares."""
    return bool(words) and words[0].sign > 0 and words[0].stem in observing_verbs()


def _permuted(left: Sequence[str], right: Sequence[str]) -> bool:
    waiting = list(right)
    for step in left:
        match = next((other for other in waiting if compare_steps(step, other).kind == "same"), None)
        if match is None:
            return False
        waiting.remove(match)
    return not waiting


def _same_actions(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether both ask for the same actions, where a step of one may be two steps of the other."""
    ours, theirs = ([action for step in steps for action in actions(step)] for steps in (left, right))
    if len(ours) != len(theirs) or (len(ours) == len(left) and len(theirs) == len(right)):
        return False
    return all(compare_steps(a, b).kind == "same" for a, b in zip(ours, theirs, strict=True))


def actions(step: str) -> list[str]:
    """The actions of a step: "Stop the server and delete the builds" has two.

    >>> actions("Build and push the image")
    ['Build the image', 'push the image']
    """
    parts = [part.strip(" .,;") for part in re.split(r"(?:;|,? and then|, then|,? and) ", step)]
    parts = [part for part in parts if part]
    if len(parts) < 2 or any(len(read_step(part)) == 0 for part in parts):
        return [step]
    last = _PLACE.split(parts[-1], maxsplit=1)[0].split(maxsplit=1)
    joined = [
        f"{part} {last[1]}" if len(read_step(part)) == 1 and len(last) == 2 else part for part in parts[:-1]
    ]
    return [*joined, parts[-1]]
