"""The small words in which two statements of the same words differ: prepositions, particles, persons, determiners.

What a statement asks for is read from its other words, so that "vote for the change" and "vote against the change"
look the same until their small words are compared, place by place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from itertools import product

from priming.config.values import dataclass
from priming.text.corrections.wording import written
from priming.text.word_lists import read_word_groups, read_words
from priming.text.word_values import stem_of

_READ = 400
"""Characters of a statement whose small words are compared."""
_WORD = re.compile(r"[\w$@#%/.*+'’-]*\w[\w+#*/'’-]*|[<>=|&]+")
_ARTICLES = frozenset(("a", "an", "the"))
_PARTICLES = frozenset(("out", "off", "up", "down", "back", "forward"))
_PERSONS = frozenset("me my mine you your yours him his her hers us our ours them their theirs".split())  # noqa: SIM905
_INSIDE, _ONTO = frozenset(("in", "inside", "into", "within")), frozenset(("on", "onto", "upon", "at"))
_DENIAL = re.compile(r"\b(?:not|never|no|nobody|nothing|avoid|stop)\b|n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SmallDifference:
    """Small words that stand in each other's place: those of the earlier and of the later statement.

    ``opposed``: they say the opposite. ``alone``: nothing else differs. ``counts``: they say how many, or how much.
    ``two_acts``: they make two acts of a verb. ``persons``: they say for whom it is, or whose.
    """

    earlier: str
    later: str
    opposed: bool
    alone: bool
    counts: bool = False
    two_acts: bool = False
    persons: bool = False

    @property
    def reason(self) -> str:
        """The difference, in words."""
        return f'"{self.later}" takes the place of "{self.earlier}"'


@lru_cache(maxsize=4_096)
def small_difference(old: str, new: str) -> SmallDifference | None:
    """The first place at which small words of two statements differ in what they say; None if there is none.

    >>> small_difference("Vote for the change", "Vote against the change").opposed
    True
    >>> small_difference("Run it in the tests", "Run it within tests") is None
    True
    """
    ours, theirs = (_written(text) for text in (old, new))
    plain = [[_compared(word) for word in words] for words in (ours, theirs)]
    changes = [
        (slice(a, b), slice(c, d))
        for tag, a, b, c, d in SequenceMatcher(None, plain[0], plain[1], autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    denials = {_DENIAL.search(text) is not None for text in (old, new)}
    if len(denials) > 1:
        return None  # "never without a backup", "with a backup"
    denied = True in denials
    beside = _beside(plain[0], plain[1])
    for before, after in changes:
        was, now = plain[0][before], plain[1][after]
        if not was or not now or not all(map(_is_small, (*was, *now))):
            continue
        verb = plain[0][max(0, before.start - 1) : before.start]
        if verb == ["fill"] and {*was, *now} == {"in", "out"}:
            continue  # "fill in the form", "fill out the form"
        opposed = any(_opposed(a, b) and not {a, b} <= beside.alike for a, b in product(was, now))
        if opposed or _differ(was, now, beside, denied=denied):
            particles = opposed and not {*was, *now}.isdisjoint(_PARTICLES)
            return SmallDifference(
                _phrase(old, ours, before, verb=particles),
                _phrase(new, theirs, after, verb=particles),
                opposed,
                alone=len(changes) == 1,
                counts=all(word in _quantities() for word in (*was, *now)),
                persons=any(word in _PERSONS for word in (*was, *now)),
                two_acts=particles and bool(verb) and stem_of(verb[0]) in _verbs("two_act_verbs"),
            )
    return None


def _written(text: str) -> list[re.Match[str]]:
    """The words of a text, without articles."""
    matches = _WORD.finditer(text[:_READ])
    return [match for match in matches if match[0].rstrip(".").casefold() not in _ARTICLES]


def _compared(match: re.Match[str]) -> str:
    """A small word as it is, and any other by its stem."""
    word = match[0].rstrip(".'’").casefold()
    return word if _is_small(word) else stem_of(word)


def _phrase(text: str, words: Sequence[re.Match[str]], at: slice, *, verb: bool) -> str:
    """Small words as they were written, with the word after them, or else the word before them, such as a verb."""
    first, last = at.start, at.stop
    if verb and first and not _is_small(words[first - 1][0].casefold()):
        first, last = first - 1, last - 1
    elif last >= len(words) or _is_small(words[last][0].casefold()):
        first, last = max(0, first - 1), last - 1
    return written(text, words[first].start(), words[last].end()).rstrip(".")


@dataclass(frozen=True, slots=True)
class _Beside:
    """What prepositions say beside a verb: those that say the same, and whether "in" is another place than "on"."""

    alike: frozenset[str] = frozenset()
    in_is_not_on: bool = False


def _beside(*statements: Sequence[str]) -> _Beside:
    """What prepositions say beside the verb of both statements: "test with it", "use it for that", "put it on it"."""
    verbs = {words[0] for words in statements if words}
    if verbs <= _verbs("setting_verbs"):
        return _Beside(in_is_not_on=True)
    if verbs <= _verbs("testing_verbs"):
        return _Beside(frozenset(("against", "with", "on", "using", "in", "under", "for")))
    return _Beside(frozenset(("as", "for", "with", "in", "on")) if verbs <= {stem_of("use")} else frozenset())


def _differ(was: Sequence[str], now: Sequence[str], beside: _Beside, *, denied: bool) -> bool:
    """Whether two runs of small words differ: in a preposition, a person, or a determiner."""
    if len(was) != len(now):
        return False
    pairs = zip(was, now, strict=True)
    return any(_are_other(a, b, beside, denied=denied) for a, b in pairs if not {a, b} <= beside.alike)


def _are_other(a: str, b: str, beside: _Beside, *, denied: bool) -> bool:
    if a == b or (a in _prepositions()) != (b in _prepositions()):
        return False
    if a in _prepositions():
        places = {a, b} & _INSIDE and {a, b} & _ONTO
        return bool(beside.in_is_not_on and places) or not any({a, b} <= group for group in _alike())
    if denied and {a, b} <= _chosen():
        return False
    return a in _groups() and b in _groups() and _groups()[a] != _groups()[b]


def _is_small(word: str) -> bool:
    return word in _prepositions() or word in _groups()


def _opposed(a: str, b: str) -> bool:
    return (a, b) in _oppositions()


@cache
def _alike() -> tuple[frozenset[str], ...]:
    return tuple(map(frozenset, read_word_groups("alike_prepositions")))


@cache
def _oppositions() -> frozenset[tuple[str, str]]:
    pairs = set[tuple[str, str]]()
    for group in read_word_groups("opposed_prepositions"):
        dash = group.index("-")
        for left, right in product(group[:dash], group[dash + 1 :]):
            pairs |= {(left, right), (right, left)}
    return frozenset(pairs)


@cache
def _prepositions() -> frozenset[str]:
    being = {"is", "are", "be", "max", "min", "each", "next"}
    words = frozenset[str]().union(*_alike(), *_oppositions())
    return words - being


@cache
def _groups() -> dict[str, int]:
    groups = read_word_groups("persons_and_determiners")
    return {word: number for number, group in enumerate(groups) for word in group}


@cache
def _quantities() -> frozenset[str]:
    """Determiners that say how many, or how much."""
    words = "all every each any some several most half both either many few little one single"
    return frozenset(words.split())


@cache
def _chosen() -> frozenset[str]:
    """Determiners that say the same where something is denied: "never push any", "never push all"."""
    return frozenset(("all", "every", "each", "any", "some", "either", "one", "single"))


@cache
def _verbs(name: str) -> frozenset[str]:
    return frozenset(map(stem_of, read_words(name)))
