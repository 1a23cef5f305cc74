"""What one phrase says in place of what another says: a value of one slot, or something else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from operator import attrgetter

from priming.text.statements.reader import PARTICLES, Statement, Word, read
from priming.text.statements.words import (
    alternatives,
    answers_a_question,
    are_places,
    is_past,
    opposite,
    stem_of,
)
from priming.text.word_lists import INDEFINITE_WORDS

WordPair = tuple[Word, Word]


def stems(words: str) -> frozenset[str]:
    """Return the stems of words."""
    return frozenset(map(stem_of, words.split()))


LIGHT = stems(
    "use benutze verwende have do make get keep go put set take run need write let require live create execute hold"
    " listen"
)
"""Verbs that say little beside their objects."""
CHOOSING = stems("use benutze verwende nimm opt reach stick want take target")
"""Verbs whose object is the value: "use pnpm"."""
_SETTING = stems("set pin limit raise lower change make keep call name render return") | CHOOSING
"""Verbs after whose object a value stands."""
PLACING = stems(
    "write store keep save put place answer reply print quote live sit name return export speak spell measure express"
    " count read draw bill format schreibe stehen is sort list rank cite style"
)
"""Verbs after which "in" and "on" lead to a value: "write it in YAML"."""
_NAMING, _LIVING = stems("call name"), stems("live")
_PHRASES = 2
"""In how many phrases two facts may differ of which one takes the place of the other."""
_CONDITIONS = frozenset(("if", "unless", "before", "after", "until", "against", "of"))


def are_far(first: str, second: str) -> bool:
    """Tell whether facts differ in too many phrases for one to take the place of the other."""
    sides = [read(text).words for text in (first, second)]
    for words, others in (sides, sides[::-1]):
        stems = {word.stem for word in others}
        if len({(word.part, word.phrase) for word in words if word.stem not in stems}) > _PHRASES:
            return True
    return False


def has_moved(new: Statement, removed: Sequence[Word], added: Sequence[Word]) -> bool:
    """Tell whether one says that what the other says to be, or to live, somewhere is elsewhere now."""
    places = [word for word in removed if word.lead in ("in", "at", "on")]
    others = {word.stem for word in removed if word not in places}
    is_elsewhere = bool(added) and all(word.lead == "be" for word in added)
    return "moved" in new.marks and bool(places) and is_elsewhere and others <= _LIVING


class Difference:
    """What one phrase says in place of what another says, where all else is paired."""

    def __init__(
        self,
        old: Statement,
        new: Statement,
        pairs: Sequence[WordPair],
        removed: list[Word],
        added: list[Word],
    ) -> None:
        self.old, self.new, self.removed, self.added = old, new, removed, added
        self.a, self.b = removed[0], added[0]
        self.pairs = pairs
        self.shared = [(a, b) for a, b in pairs if "verb" not in (a.role, b.role)]
        self.ours, self.theirs = _phrase(old, self.a, removed), _phrase(new, self.b, added)
        paired = {id(word) for pair in self.pairs for word in pair}
        self.starts = id(self.ours[0]) in paired and id(self.theirs[0]) in paired
        self.ends = id(self.ours[-1]) in paired and id(self.theirs[-1]) in paired
        self.last = _is_last(old, removed[-1]) and _is_last(new, added[-1])
        self.verb = next((w.stem for w in old.words if w.role == "verb" and w.part == self.a.part), "")
        self.same_verb = not self.verb or any(w.stem == self.verb for w in new.words)
        light = light_words(old.words)
        self.has_object = any(w.role == "object" and id(w) not in light for w in old.words)
        self.named = bool(self.shared or "person-me" in old.marks & new.marks)
        self.numbers = numbers_alike(removed, added)
        self.typed = self.numbers or _answer_alike(removed, added)
        couples = list(zip(removed, added, strict=False))
        self.opposed = len(removed) == len(added) and all(opposite(x.stem, y.stem) for x, y in couples)
        counted = any(w.number for w in removed) != any(w.number for w in added)
        self.mixed = not self.typed and (counted or (_is_typed(removed) and _is_typed(added)))

    def is_value(self) -> bool:
        """Tell whether it is a value of one slot, and no modifier, object or subject."""
        if not (_adjoin(self.old.words, self.removed) and _adjoin(self.new.words, self.added)):
            return False
        roles = {self.a.role, self.b.role}
        if "verb" in roles:
            return roles == {"verb"} and opposite(self.a.stem, self.b.stem)
        if roles == {"subject"}:
            return self.numbers and not (self.starts or self.ends)  # "Room 12" is another than "Room 13"
        return self._is_chosen() if roles == {"object"} else self._is_placed()

    def _is_chosen(self) -> bool:
        """Tell whether an object is a value: a number that counts, what "use" chooses, what "make it" ends with."""
        measure = self.numbers and bool(unit_of(self.a))
        if self.numbers and len(self.ours) == len(self.removed) and self.shared:
            return True
        if self.ends and not self.starts:  # a modifier: which one is meant, unless it counts or is chosen
            is_price = self.a.text[0] in "$€£"
            selects = self.a.stem.endswith(("st", "nd", "rd", "th"))  # "the third room"
            counts = self.numbers and self.ours[0] is self.a and (is_price or not (measure or selects))
            return counts or (self.verb in CHOOSING and not self.mixed)
        if self.verb in CHOOSING:
            shared = any("subject" not in (a.role, b.role) for a, b in self.shared)
            placed = any(a.lead in ("in", "on") for a, _ in self.pairs)
            single = len(self.ours) == len(self.theirs) == 1 and shared and not placed
            whole = single and self.a.number == self.b.number
            return self.typed or self.opposed or whole or (self.starts and not self.mixed)
        if self.starts and self.numbers and ((self.last and not self.ends) or measure):
            return True
        says_how = self.typed or _manner(self.a, self.b)
        if self.starts:
            says_how = says_how or self.opposed or (self.verb in _SETTING and not self.mixed)
            return self.last and not self.ends and says_how
        names = self.verb in _NAMING and self.named
        return self.last and (says_how or names or (self.opposed and self.verb in _SETTING))

    def _is_placed(self) -> bool:
        """Tell whether what stands after a preposition or "is" is a value."""
        a, leads = self.a, {self.a.lead, self.b.lead}
        manner = _manner(a, self.b)
        if self.mixed and not manner:
            return False
        if self.numbers and (len(leads) == 1 or leads <= {"", "min", "max", "to", "be"}):
            return True
        if are_places(a.stem, self.b.stem) and a.lead in ("in", "on", "to", "for"):
            return False
        if "value" in (a.role, self.b.role) and (a.role == self.b.role or len(leads) == 1):
            return True
        if len(leads) == 1:
            return self._follows(a.lead)
        alone = len(self.ours) == len(self.removed) and len(self.theirs) == len(self.added)
        chosen = self.typed and alone and not self.numbers  # "use px for widths", "widths are in rem"
        placed = self.last and self.shared and self.same_verb and self.verb in PLACING
        return (self.last and manner) or (bool(chosen or placed) and leads.isdisjoint((*_CONDITIONS, "for")))

    def _follows(self, lead: str) -> bool:
        """Tell whether what stands after one preposition in both is a value, not where, when or for what it holds."""
        if lead == "be" or (self.verb in _NAMING and lead in ("after", "by", "as", "like")):
            return True
        if lead in _CONDITIONS or (lead in ("in", "on", "for") and self.verb in CHOOSING):
            return False
        if lead == "for":
            return not self.has_object and not self.ends
        if lead in ("in", "on"):
            bare = not self.ends and (self.opposed or not self.has_object)
            return self.typed or self.verb in PLACING or bare
        if lead == "to":
            is_set = self.verb in _SETTING | PLACING or not self.a.stem.isalpha()
            return self.typed or is_set or not self.has_object
        return self.last or self.typed


def light_words(words: Sequence[Word]) -> set[int]:
    """Return the identities of the verbs that say little; the last word of a statement is none."""
    light = set()
    for before, word in zip((None, *words), words, strict=False):
        chosen = before is not None and before.stem in CHOOSING  # "use let"
        describes = word.text.endswith("ed") and word.stem != word.text  # "remove used keys"
        plain = word.text[:1].islower() and word is not words[-1] and not (chosen or describes)
        if word.stem in LIGHT and not word.contrast and (word.role == "verb" or plain):
            light.add(id(word))
    return light


def do_other_things(old: Statement, new: Statement, shared: Sequence[WordPair]) -> bool:
    """Tell whether one subject does two things that share no verb: "Ada lives in Porto", "Ada keeps bees"."""
    named = any(a.role == b.role == "subject" for a, b in shared)
    own = named or any(mark.startswith("person") for mark in old.marks & new.marks)
    ours, theirs = ([w.stem for w in words if w.role == "verb"] for words in (old.words, new.words))
    return bool(own and ours and theirs) and not any(x == y or opposite(x, y) for x in ours for y in theirs)


def _phrase(statement: Statement, word: Word, rest: Sequence[Word]) -> list[Word]:
    """Return the words of the phrase of a word, without verbs that say little."""
    phrase = [w for w in statement.words if (w.part, w.phrase) == (word.part, word.phrase)]
    light = light_words(statement.words) - set(map(id, rest))
    return [w for w in phrase if id(w) not in light]


def _adjoin(phrase: Sequence[Word], words: Sequence[Word]) -> bool:
    """Tell whether words stand side by side in their phrase."""
    places = [i for i, each in enumerate(phrase) if any(each is word for word in words)]
    return places == list(range(places[0], places[-1] + 1))


def _is_last(statement: Statement, word: Word) -> bool:
    return word.phrase == max(w.phrase for w in statement.words if w.part == word.part)


def _is_typed(words: Iterable[Word]) -> bool:
    return any(w.number or answers_a_question(w.stem) for w in words)


def _answer_alike(removed: Sequence[Word], added: Sequence[Word]) -> bool:
    """Tell whether words of both answer one question, and their other words count or say which: "the last Friday"."""
    near = abs(len(removed) - len(added)) <= 1
    return near and any(alternatives(x.stem, y.stem) for x in removed for y in added)


def numbers_alike(removed: Sequence[Word], added: Sequence[Word]) -> bool:
    """Tell whether a number stands in place of a number, whatever one of them counts, or a date in place of one."""
    units = [[unit_of(w) for w in words if w.number] for words in (removed, added)]
    if not units[0] or units[0] != units[1]:
        return False
    couples = list(zip(removed, added, strict=False))
    dates = len(removed) == len(added) and all(
        (x.number and y.number) or alternatives(x.stem, y.stem) for x, y in couples
    )
    return dates or (len(units[0]) == 1 and 1 in (len(removed), len(added)))


def is_quantity(word: Word) -> bool:
    """Tell whether a word says how many, and not how much: "half", "some", "two"."""
    return word.stem.isdigit() or word.text.lower() in INDEFINITE_WORDS | {"half"}


def unit_of(word: Word) -> str:
    """Return what a number counts, "" where it does not say."""
    unit = word.stem.partition(" ")[2] if word.stem.lstrip("+-")[:1].isdigit() else "months"
    return "time" if unit in ("ms", "months") else unit


def _manner(a: Word, b: Word) -> bool:
    """Tell whether two words or phrases say the opposite of how something is done: "in parallel", "serially"."""
    adverbs = [word for word in (a, b) if word.text.lower().endswith("ly")]
    ways = all(word in adverbs or word.lead in ("in", "by", "at") for word in (a, b))
    return bool(adverbs) and ways and opposite(a.stem, b.stem)


_LIKENESS = [
    attrgetter("stem", *more.split()) for more in ("sign lead role", "sign lead", "sign", "lead", "")
]
"""In what two words are alike that are paired, the likest first."""


def align(old: Sequence[Word], new: Sequence[Word]) -> tuple[list[WordPair], list[Word], list[Word]]:
    """Pair the words of two statements, the likest first; return the pairs and what is left of each."""
    taken: set[int] = set()
    pairs: list[WordPair] = []
    for key in _LIKENESS:
        theirs = defaultdict(list)
        for b in reversed(new):
            if id(b) not in taken:
                theirs[key(b)].append(b)
        for a in old:
            if id(a) not in taken and theirs[key(a)]:
                pairs.append((a, theirs[key(a)].pop()))
                taken |= {id(a), id(pairs[-1][1])}
    acts = [[word for word in words if _acts(word) and id(word) not in taken] for words in (old, new)]
    for a, b in product(*acts):
        if "verb" in (a.role, b.role) and taken.isdisjoint((id(a), id(b))) and opposite(a.stem, b.stem):
            pairs.append((a, b))
            taken |= {id(a), id(b)}
    left = [[word for word in words if id(word) not in taken] for words in (old, new)]
    return pairs, left[0], left[1]


def _acts(word: Word) -> bool:
    """Tell whether a word is a verb or its participle: "lock the door", "leave the door unlocked"."""
    return word.role == "verb" or is_past(word.text)


def joined(words: Sequence[Word], others: Sequence[Word]) -> tuple[Word, ...]:
    """Return words with those in one that some others have in one: "roll back", "rollbacks"."""
    stems, result = {word.stem for word in others}, list(words[:1])
    for word in words[1:]:
        stem = stem_of((result[-1].text + word.text).lower())
        if stem in stems and word.role != "verb" and (result[-1].role != "verb" or word.text in PARTICLES):
            word = replace(result.pop(), stem=stem)
        result.append(word)
    return tuple(result)


_ALIKE = [
    {*pair.split()}
    for pair in ("for of", "with by", "as be", "be in", "max until", "be on", "if on", "if in")
]
"""Prepositions that may say the same of one word."""
_PLAIN = frozenset(("be", "in", "for", "of", "as", "on", "at", "with"))
"""Prepositions before what another form of the statement has without one: "use UTC for times", "times are in UTC"."""


def alike(a: Word, b: Word) -> bool:
    """Tell whether a word after two prepositions is meant alike."""
    leads = {a.lead, b.lead}
    if leads <= {"", "be", "to"} or (a.number and not unit_of(a) and leads <= {"", "be", "in"}):
        return True
    if "" in leads:
        return (not a.number or "for" in leads) and leads <= _PLAIN | {""}
    return not a.number and any(leads <= group for group in _ALIKE)


def positions_of(statement: Statement) -> dict[int, int]:
    """Return where each word of a statement stands, by its identity: a word may stand there twice."""
    return {id(word): at for at, word in enumerate(statement.words)}
