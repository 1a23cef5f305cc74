"""Procedures as a title and steps, and whether two are the same, alike, or different.

Titles, triggers and steps are judged like any other statements (``text.statements.judge``). The cosine only selects
what to compare: opposites are nearer to each other than paraphrases are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from priming.config.params.limits import SLEEP
from priming.config.values import dataclass
from priming.core.score import success_rate
from priming.storage.rows import MemoryRow, use_of
from priming.text.gists import list_marks, sentences
from priming.text.statements.judge import Judgement, judge
from priming.text.statements.reader import read
from priming.types import MemoryRecord, executions

STEPS, TRIGGER = "steps", "trigger"
"""The metadata keys that may list the steps of a procedure, and say when it is carried out."""
Likeness = Literal["same", "part", "alike", "hindered", "other"]
_SHARE = 0.5
"""Minimum share of common steps for two procedures to be alike; a pair of steps that is not the same counts half."""
_LOOKING = frozenset(
    "check verify validate confirm look inspect examine view read watch monitor observe wait compare count".split()  # noqa: SIM905
)
"""Verbs of steps that change nothing and tell nobody."""
_SEVERAL = re.compile(r"[,;:]|\b(?:and|or|then)\b", re.IGNORECASE)
_OPENING = re.compile(
    r"^\s*(?:(?:step\s+)?\d{1,3}[.):]\s+|[-*•]\s+|(?:first|then|next|finally|lastly|afterwards),?\s+"
    r"|how ?to\s+|how do (?:i|we|you)\s+)*",
    re.IGNORECASE,
)
"""What opens a step or a title and says nothing of what to do."""
_MARKS = re.compile(r"[`“”\"]")
_WORD = re.compile(r"\w+(?:[./:@_+'’-]+\w+)*")

_NUMBER = re.compile(r"^\s*(?:step\s+)?\d{1,3}[.):]\s+|^\s*[-*•]\s+", re.IGNORECASE)
_TITLE_LINE = re.compile(r"^[^\n]{1,200}?\s{0,20}:\s{0,20}\n|^[^\n.:!?]{1,100}:\s+(?=\S)")
_ARROW = re.compile(r"→|->|=>")
_LISTED = tuple(re.compile(rf"{mark}\s+(?:and\s+|then\s+|and then\s+)?") for mark in ";,")

Aligned = tuple[int | None, int | None, Judgement | None]
"""The places of two steps that belong together, and how they relate; None where one has no such step."""


@dataclass(frozen=True, slots=True)
class ProcedureText:
    """The content of a procedure: its title, which may be empty, its steps, and when it is carried out."""

    title: str
    steps: tuple[str, ...]
    trigger: str = ""

    @property
    def name(self) -> str:
        """Its title, or its first step."""
        return (self.title or self.steps[0]).strip().rstrip(".")


@dataclass(frozen=True, slots=True)
class ProcedureCandidate:
    """One procedure: its record, its row, and its title and steps."""

    record: MemoryRecord
    row: MemoryRow
    text: ProcedureText

    @property
    def executions(self) -> int:
        """The number of executions."""
        return executions(use_of(self.row))

    @property
    def rate(self) -> float:
        """The share of successful executions."""
        return float(success_rate(self.row.helped, self.executions))

    @property
    def rank(self) -> tuple[float, ...]:
        """A sort key: the best procedure has the least, and equals keep their order, the oldest first."""
        return -self.rate, -self.executions


@dataclass(frozen=True, slots=True)
class ProcedureChange:
    """The result of comparing two procedures.

    ``same``: one may stand for the other. ``part``: so it may with the ``added`` steps of the right one.
    ``alike``: they have much in common and differ in ``words``, or nobody can tell. ``hindered``: they mean the same,
    and something else keeps them apart. ``other``: none of these.
    """

    likeness: Likeness
    reason: str = ""
    words: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def compare_procedures(left: ProcedureText, right: ProcedureText) -> ProcedureChange:
    """Compare two procedures by their titles, their triggers and their steps: each must be judged the same.

    >>> on, off = (ProcedureText(f"{verb} it", ("Open it.", "Save.")) for verb in ("Enable", "Disable"))
    >>> compare_procedures(on, off).words
    ('enable', 'disable')
    """
    if max(len(left.steps), len(right.steps)) > SLEEP.steps:
        return ProcedureChange("other", f"procedures of more than {SLEEP.steps} steps are not compared")
    aligned = align(left.steps, right.steps)
    related = sum(_worth(each) for _, _, each in aligned if each is not None)
    enough = related >= 2 * _SHARE * max(len(left.steps), len(right.steps))
    if left.title and right.title and not _worth(_judge(left.title, right.title)):
        enough = related == 2 * len(aligned)
    change = _heads(left, right) or _steps(left, right, aligned)
    if change.likeness == "alike" and not enough:
        return ProcedureChange("other", change.reason, change.words)
    return change


def _heads(left: ProcedureText, right: ProcedureText) -> ProcedureChange | None:
    """Return the difference of titles, or of what triggers the two; None if they say the same, or one is silent."""
    for what, ours, theirs in (
        ("title", left.title, right.title),
        ("trigger", left.trigger, right.trigger),
    ):
        if ours and theirs:
            judgement = _judge(ours, theirs)
            if judgement.kind != "same":
                words = differing([ours], [theirs])
                return ProcedureChange("alike", f"their {what}s differ: {judgement.reason}", words)
        elif ours or theirs:
            silent = right if ours else left
            rest = [silent.title, *silent.steps]
            if not _stems([ours or theirs]) <= _stems(rest):
                words = differing([ours or theirs], rest)
                return ProcedureChange("alike", f"only one has a {what} that says more than the steps", words)
    return None


def _steps(left: ProcedureText, right: ProcedureText, aligned: Sequence[Aligned]) -> ProcedureChange:
    """Return the difference of the steps of two procedures with one title."""
    changed = [
        (left.steps[i], right.steps[j], each)
        for i, j, each in aligned
        if i is not None and j is not None and each is not None and each.kind != "same"
    ]
    ours = [left.steps[i] for i, j, _ in aligned if i is not None and j is None]
    theirs = [right.steps[j] for i, j, _ in aligned if j is not None and i is None]
    if not changed and not ours and not theirs:
        return ProcedureChange("same", "titles and steps mean the same")
    if len(left.steps) == len(right.steps) and _are_permuted(left.steps, right.steps):
        return ProcedureChange("alike", "the same steps in another order")
    if changed:
        judgement = changed[0][2]
        words = differing([a for a, _, _ in changed], [b for _, b, _ in changed])
        return ProcedureChange("alike", f"two steps differ: {judgement.reason}", words)
    extra = (*ours, *theirs)
    if ours and theirs:
        return ProcedureChange("alike", "each has steps that the other lacks", extra)
    if 2 * len(extra) > min(len(left.steps), len(right.steps)) + 1:
        return ProcedureChange("alike", "one is a part of the other", extra)
    if not all(map(observes, extra)):
        return ProcedureChange("alike", "only one has a step that changes something", extra)
    return ProcedureChange("part", "one has all steps of the other", added=tuple(theirs))


def align(left: Sequence[str], right: Sequence[str]) -> list[Aligned]:
    """Align two lists of steps in their order so that as many as possible are the same, and others share words."""
    judged = [[_judge(a, b) for b in right] for a in left]
    worth = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            both = _worth(judged[i][j])
            paired = both + worth[i + 1][j + 1] if both else 0
            worth[i][j] = max(worth[i + 1][j], worth[i][j + 1], paired)
    aligned: list[Aligned] = []
    i = j = 0
    while i < len(left) and j < len(right):
        both = _worth(judged[i][j])
        if both and worth[i][j] == both + worth[i + 1][j + 1]:
            aligned.append((i, j, judged[i][j]))
            i, j = i + 1, j + 1
        elif worth[i][j] == worth[i + 1][j]:
            aligned.append((i, None, None))
            i += 1
        else:
            aligned.append((None, j, None))
            j += 1
    aligned += [(place, None, None) for place in range(i, len(left))]
    return aligned + [(None, place, None) for place in range(j, len(right))]


def _worth(judgement: Judgement) -> int:
    return 2 if judgement.kind == "same" else int(bool(judgement.shared))


def _judge(left: str, right: str) -> Judgement:
    """Judge two steps or titles without their numbers, openings and quotation marks; same only if so both ways."""
    first, second = (_MARKS.sub("", _OPENING.sub("", text)).strip(" .;,!") for text in (left, right))
    judgement = judge(first, second)
    return judge(second, first) if judgement.kind == "same" else judgement


def observes(step: str) -> bool:
    """Tell whether a step changes nothing and tells nobody: it is one act, and only looks, waits or compares.

    >>> observes("Check the log."), observes("Check the log and restart it.")
    (True, False)
    """
    words = read(step).words
    first = words[0] if words else None
    looks = first is not None and first.sign > 0 and first.text.casefold() in _LOOKING
    return looks and _SEVERAL.search(step) is None


def differing(left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
    """Return the words that only texts of one side have, in their order.

    >>> differing(["Deploy to staging"], ["Deploy to production"])
    ('staging', 'production')
    """
    ours, theirs = (
        [w for text in side for w in _WORD.findall(_uncapitalized(text))] for side in (left, right)
    )
    words: dict[str, str] = {}
    for side, others in ((ours, theirs), (theirs, ours)):
        elsewhere = {word.casefold() for word in others}
        words |= {word.casefold(): word for word in side if word.casefold() not in elsewhere}
    return tuple(words.values())


def _uncapitalized(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _stems(texts: Sequence[str]) -> set[tuple[str, int]]:
    return {(word.stem, word.sign) for text in texts for word in read(text).words}


def _are_permuted(left: Sequence[str], right: Sequence[str]) -> bool:
    waiting = list(right)
    for step in left:
        match = next((other for other in waiting if _judge(step, other).kind == "same"), None)
        if match is None:
            return False
        waiting.remove(match)
    return True


def read_procedure(heading: str | None, content: str, metadata: Mapping[str, Any]) -> ProcedureText:
    """Read the title and the steps of a procedure.

    >>> read_procedure(None, "Clear the disk: 1. Stop the server. 2. Delete old builds.", {}).title
    'Clear the disk'
    """
    listed, lead = _listed(metadata), _lead(content)
    steps = listed or _written(content[len(lead) :], titled=bool(lead))
    lead = lead.strip(" \t\n:-–—")
    if listed and not lead and _plain(_written(content)) != _plain(listed):
        lead = content.strip()
    title = ". ".join(part for part in (heading, lead) if part and part.strip())
    trigger = metadata.get(TRIGGER)
    return ProcedureText(title, steps, trigger if isinstance(trigger, str) else "")


def _listed(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    listed = metadata.get(STEPS)
    if isinstance(listed, (list, tuple)) and listed and all(isinstance(part, str) for part in listed):
        return tuple(part.strip() for part in listed if part.strip())
    return ()


def _lead(content: str) -> str:
    """Return the text before the first numbered step, or a first line that ends in a colon."""
    if marks := list_marks(content):
        return content[: marks[0].start()]
    lines = content.split("\n")
    listed = [bool(_NUMBER.match(line)) for line in lines]
    if any(listed):
        return "\n".join(lines[: listed.index(True)]) + ("\n" if listed.index(True) else "")
    title = _TITLE_LINE.match(content)
    return title.group(0) if title is not None else ""


def _written(content: str, *, titled: bool = False) -> tuple[str, ...]:
    """Return the numbered parts of a text, else its lines, sentences or parts between arrows, else a title's list."""
    if marks := list_marks(content):
        ends = [*(mark.start() for mark in marks[1:]), len(content)]
        parts = (content[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True))
    else:
        split = sentences(content)
        if len(split) == 1:
            arrows = _ARROW.split(content)
            split = arrows if len(arrows) > 1 or not titled else _LISTED[";" not in content].split(content)
        parts = (_NUMBER.sub("", part).strip() for part in split)
    return tuple(part for part in parts if part)


def steps_as_text(
    content: str, steps: Sequence[str], metadata: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    r"""Return the text and the metadata of a procedure with these steps, kept in metadata if they were listed there.

    >>> steps_as_text("Stop the server.", ("Stop the server.", "Delete old builds."), {})
    ('1. Stop the server.\n2. Delete old builds.', {})
    """
    if metadata.get(STEPS):
        return content, {**metadata, STEPS: list(steps)}
    lead = _lead(content).rstrip()
    lines = [*([lead] if lead else []), *(f"{number}. {step}" for number, step in enumerate(steps, start=1))]
    return "\n".join(lines), dict(metadata)


def _plain(steps: Sequence[str]) -> list[str]:
    return [" ".join(step.casefold().split()).rstrip(".;,!") for step in steps]
