"""The steps of two procedures side by side: which of them mean the same in their places.

A step is read in the light of the steps before it and of the title: "it" stands for an object before, "again" for
what was undone, and what the title names need not be named again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from priming.config.values import dataclass
from priming.core.when import stem
from priming.sleep.procedures.steps import REJECTED, TARGETS, WORDS, StepChange, compare_steps
from priming.sleep.procedures.words import StepWord, read_step
from priming.text.corrections.small_words import small_difference
from priming.text.word_values import are_antonyms

_PRONOUN = re.compile(r"\b(?:it|them)\b|(?<=\w )(?<!by )ones?(?= *(?:[.;,]|$))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StepAlignment:
    """The steps of two procedures in pairs, by their places; None where one has no such step."""

    pairs: tuple[tuple[int | None, int | None, StepChange | None], ...]

    @property
    def are_same(self) -> bool:
        """Whether each step has a step that means the same."""
        return bool(self.pairs) and self.number("same") == len(self.pairs)

    def number(self, kind: str) -> int:
        """The number of pairs of a kind."""
        return sum(change is not None and change.kind == kind for _, _, change in self.pairs)


_WORTH = {"same": 2, "variant": 1}


def align(left: Sequence[str], right: Sequence[str], topic: frozenset[str] = frozenset()) -> StepAlignment:
    """Align two lists of steps in their order so that as many as possible are the same, and then variants.

    ``topic`` are stems that one of two steps may leave out.
    """
    named = [spelled_out(left), spelled_out(right)]
    changes = [
        [
            _compare(StepInPlace(left, named[0], i), StepInPlace(right, named[1], j), topic)
            for j in range(len(right))
        ]
        for i in range(len(left))
    ]
    worth = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            both = _WORTH.get(changes[i][j].kind, -1)
            paired = both + worth[i + 1][j + 1] if both > 0 else -1
            worth[i][j] = max(worth[i + 1][j], worth[i][j + 1], paired)
    pairs: list[tuple[int | None, int | None, StepChange | None]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        both = _WORTH.get(changes[i][j].kind, -1)
        if both > 0 and worth[i][j] == both + worth[i + 1][j + 1]:
            pairs.append((i, j, changes[i][j]))
            i, j = i + 1, j + 1
        elif worth[i][j] == worth[i + 1][j]:
            pairs.append((i, None, None))
            i += 1
        else:
            pairs.append((None, j, None))
            j += 1
    pairs += [(place, None, None) for place in range(i, len(left))]
    pairs += [(None, place, None) for place in range(j, len(right))]
    return StepAlignment(tuple(pairs))


@dataclass(frozen=True, slots=True)
class StepInPlace:
    """A step among the others of its procedure: all steps as written, and with their pronouns spelled out."""

    steps: Sequence[str]
    named: Sequence[str]
    place: int

    @property
    def text(self) -> str:
        """The step as it is written."""
        return self.steps[self.place]

    @property
    def spelled(self) -> str:
        """The step with its pronouns spelled out."""
        return self.named[self.place]

    @property
    def words(self) -> tuple[StepWord, ...]:
        """The words of the step."""
        return read_step(self.text)

    @property
    def verb_before(self) -> str:
        """The stem of the verb of the step before, or an empty text."""
        before = read_step(self.steps[self.place - 1]) if self.place else ()
        return before[0].stem if before else ""

    def mentions(self, noun: str) -> set[str]:
        """The words right before a noun in earlier steps."""
        earlier = [read_step(step) for step in self.steps[: self.place]]
        return {
            word.stem
            for words in earlier
            for word, following in pairwise(words[1:])
            if following.stem == noun and following.place == word.place + 1
        }

    def did(self, verb: str) -> bool:
        """Whether an earlier step did or undid what a verb asks for."""
        verbs = [words[0].stem for words in map(read_step, self.steps[: self.place]) if words]
        return any(earlier == verb or are_antonyms(earlier, verb) for earlier in verbs)


def _compare(left: StepInPlace, right: StepInPlace, topic: frozenset[str]) -> StepChange:
    """Compare two steps as they are, and with their pronouns spelled out where that makes them the same."""
    change = compare_steps(left.text, right.text)
    small = small_difference(left.text, right.text)
    if change.kind == "same" or (small is not None and small.persons):
        return change  # "give it to us", "give it to them": no object before is meant
    if (
        _is_meant(change, left, right, topic)
        or _is_mentioned(change, left, right)
        or _is_again(left, right)
        or _is_result(change, left, right)
    ):
        return StepChange("same", shared=change.shared)
    if (left.text, right.text) != (left.spelled, right.spelled):
        named = compare_steps(left.spelled, right.spelled)
        if named.kind == "same" or _is_object(change, left, right):
            return StepChange("same", shared=named.shared)
    return change


def _stems(words: Iterable[str]) -> list[str]:
    return [stem(word) for word in words]


def _is_meant(change: StepChange, left: StepInPlace, right: StepInPlace, topic: frozenset[str]) -> bool:
    """Whether one step only leaves out what the titles say: words of their subject, or before a noun any of them."""
    rest = _stems(change.words)
    if change.kind != "variant" or not rest or (change.left and change.right) or not topic.issuperset(rest):
        return False
    if change.why not in (WORDS, TARGETS):
        return False
    longer, shorter = (left.words, right.words) if change.left else (right.words, left.words)
    common = {word.stem for word in shorter}
    extra = [word for word in longer if word.stem in rest and word.stem not in common]
    return all(_modifies(word, longer, common) for word in extra) or (
        change.why == WORDS and all(word is not longer[0] for word in extra)
    )


def _modifies(word: StepWord, words: Sequence[StepWord], common: frozenset[str] | set[str]) -> bool:
    """Whether a word stands right before a noun that both steps have, and is no verb itself."""
    place = words.index(word)
    following = words[place + 1] if place + 1 < len(words) else None
    after_verb = place > 0 and words[place - 1].item == word.item
    return (
        after_verb
        and following is not None
        and following.place == word.place + 1
        and following.stem in common
    )


def _is_mentioned(change: StepChange, left: StepInPlace, right: StepInPlace) -> bool:
    """Whether one step repeats an adjective of the noun's mention before: "Create a new key. Save the (new) key"."""
    if change.kind != "variant" or not change.words or (change.left and change.right):
        return False
    longer = left.words if change.left else right.words
    common = {word.stem for word in (right if change.left else left).words}
    extra = [word for word in longer if word.stem in _stems(change.words)]
    return bool(extra) and all(
        _modifies(word, longer, common)
        and left.mentions(noun := longer[longer.index(word) + 1].stem) == right.mentions(noun) == {word.stem}
        for word in extra
    )


def _is_again(left: StepInPlace, right: StepInPlace) -> bool:
    """Whether one says "mount again" or "remount" where an earlier step did or undid that, and the other "mount"."""
    if not left.words or not right.words:
        return False
    for again, once in ((left, right), (right, left)):
        verb = once.words[0]
        if again.words[0].stem in (f"re{verb.stem}", f"re-{verb.stem}") and again.did(verb.stem):
            rest = again.spelled.split(maxsplit=1)[1:], once.spelled.split(maxsplit=1)[1:]
            texts = [_AGAIN.sub("", " ".join([verb.text, *part])) for part in rest]
            return compare_steps(*texts).kind == "same"
    return False


_AGAIN = re.compile(r"\s+(?:again|anew|afresh|once more)\b", re.IGNORECASE)


def _is_result(change: StepChange, left: StepInPlace, right: StepInPlace) -> bool:
    """Whether one step says "the file" or "the result" for what the step before made: "the export"."""
    if change.kind != "variant" or len(change.left) != 1 or len(change.right) != 1:
        return False
    ours, theirs = _stems(change.left)[0], _stems(change.right)[0]
    before = left.verb_before
    return before == right.verb_before != "" and {ours, theirs} in [{before, noun} for noun in _RESULTS]


_RESULTS = tuple(_stems(("file", "result", "output")))


def _is_object(change: StepChange, left: StepInPlace, right: StepInPlace) -> bool:
    """Whether one step only lacks the object that its pronoun stands for."""
    pronoun, other = (left, right) if left.text != left.spelled else (right, left)
    spoken = {word.stem for word in read_step(pronoun.spelled)}
    one_sided = change.kind == "variant" and not (change.left and change.right)
    is_spoken = spoken.issuperset(_stems(change.words)) and _PRONOUN.search(other.text) is None
    return one_sided and is_spoken and change.why != REJECTED


def spelled_out(steps: Sequence[str]) -> list[str]:
    """The steps with "it" and "them" as the nearest object before that is one, or several.

    >>> spelled_out(["Copy the dumps to the server.", "Open the form.", "Delete them.", "Sign it."])
    ['Copy the dumps to the server.', 'Open the form.', 'Delete dumps.', 'Sign form.']
    """
    spelled, last = list[str](), ""
    numbered = {True: "", False: ""}
    for step in steps:
        meant = {"it": numbered[False] or last, "them": numbered[True] or last}
        spelled.append(_PRONOUN.sub(lambda match: meant.get(match[0].lower(), last), step) if last else step)  # noqa: B023
        words = [word for word in read_step(step)[1:] if word.role == "object" and word.sign > 0]
        if words:
            last = " ".join(word.text for word in words)
            numbered[_are_several(words)] = last
    return spelled


def _are_several(words: Sequence[StepWord]) -> bool:
    """Whether the object of a step is in the plural, or an enumeration."""
    noun = words[-1].text
    return words[0].item != words[-1].item or (noun.endswith("s") and not noun.endswith(("ss", "us", "is")))
