"""What one phrase says in place of what another says: a value of one slot, or something else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from priming.text.statements.reader import Statement, Word
from priming.text.statements.words import alternatives, answers_a_question, are_places, opposite, stem_of

WordPair = tuple[Word, Word]


def stems(words: str) -> frozenset[str]:
    """Return the stems of words."""
    return frozenset(map(stem_of, words.split()))


LIGHT = stems(
    "use benutze verwende have do make get keep go put set take run need write let require live create execute hold"
    " listen"
)
"""Verbs that say little beside their objects."""
_CHOOSING = stems("use benutze verwende nimm opt go reach stick want take target")
"""Verbs whose object is the value: "use pnpm"."""
_SETTING = stems("set pin limit raise lower change make keep call name render return") | _CHOOSING
"""Verbs after whose object a value stands."""
_PLACING = stems(
    "write store keep save put place answer reply print quote live sit name return export speak spell measure express"
    " count read draw bill format schreibe stehen is sort list rank cite style"
)
"""Verbs after which "in" and "on" lead to a value: "write it in YAML"."""
_NAMING = stems("call name")
_CONDITIONS = frozenset(("if", "unless", "before", "after", "until", "against", "of"))


class Difference:
    """What one phrase says in place of what another says, where all else is paired."""

    def __init__(
        self,
        old: Statement,
        new: Statement,
        pairs: Sequence[WordPair],
        removed: Sequence[Word],
        added: Sequence[Word],
    ) -> None:
        self.removed, self.added = removed, added
        self.a, self.b = removed[0], added[0]
        self.pairs = pairs
        self.shared = [(a, b) for a, b in pairs if "verb" not in (a.role, b.role)]
        self.ours, self.theirs = _phrase(old, self.a, removed), _phrase(new, self.b, added)
        paired = {id(word) for pair in self.pairs for word in pair}
        self.starts = id(self.ours[0]) in paired and id(self.theirs[0]) in paired
        self.ends = id(self.ours[-1]) in paired and id(self.theirs[-1]) in paired
        self.last = _is_last(old, self.a) and _is_last(new, self.b)
        self.verb = next((w.stem for w in old.words if w.role == "verb" and w.part == self.a.part), "")
        self.same_verb = not self.verb or any(w.stem == self.verb for w in new.words)
        self.has_object = any(w.role == "object" and not is_light(w, old) for w in old.words)
        self.named = bool(self.shared or "person-me" in old.marks & new.marks)
        self.numbers = numbers_alike(removed, added)
        self.typed = self.numbers or _answer_alike(removed, added)
        self.opposed = len(removed) == len(added) and all(
            opposite(x.stem, y.stem) for x, y in zip(removed, added, strict=True)
        )
        counted = any(w.number for w in removed) != any(w.number for w in added)
        self.mixed = not self.typed and (counted or (_is_typed(removed) and _is_typed(added)))

    def is_value(self) -> bool:
        """Whether it is a value of one slot, and no modifier, object or subject."""
        if not (_adjoin(self.ours, self.removed) and _adjoin(self.theirs, self.added)):
            return False
        roles = {self.a.role, self.b.role}
        if "verb" in roles:
            return roles == {"verb"} and opposite(self.a.stem, self.b.stem)
        if roles == {"subject"}:
            return self.numbers and not self.ends
        return self._is_chosen() if roles == {"object"} else self._is_placed()

    def _is_chosen(self) -> bool:
        """Whether an object is a value: a number that counts, what "use" chooses, what "make it" says at its end."""
        measure = self.numbers and bool(unit_of(self.a))
        if self.numbers and len(self.ours) == len(self.removed) and self.shared:
            return True
        if self.ends and not self.starts:  # a modifier: which one is meant, unless it counts or is chosen
            is_price = self.a.text[0] in "$€£"
            counts = self.numbers and self.ours[0] is self.a and (is_price or not measure)
            return counts or (self.verb in _CHOOSING and not self.mixed)
        if self.verb in _CHOOSING:
            shared = any("subject" not in (a.role, b.role) for a, b in self.shared)
            single = len(self.ours) == len(self.theirs) == 1 and shared and not self._is_placed_alike()
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

    def _is_placed_alike(self) -> bool:
        return any(a.lead in ("in", "on") for a, _ in self.pairs)

    def _is_placed(self) -> bool:
        """Whether what stands after a preposition or "is" is a value."""
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
        moved = (
            bool(self.shared)
            and self.same_verb
            and self.verb in _PLACING
            and not leads & (_CONDITIONS | {"for"})
        )
        return self.last and (manner or moved)

    def _follows(self, lead: str) -> bool:
        """Whether what stands after one preposition in both is a value, and not where, when or for what it holds."""
        if lead == "be" or (self.verb in _NAMING and lead in ("after", "by", "as", "like")):
            return True
        if lead in _CONDITIONS or (lead in ("in", "on", "for") and self.verb in _CHOOSING):
            return False
        if lead == "for":
            return not self.has_object and not self.ends
        if lead in ("in", "on"):
            bare = not self.ends and (self.opposed or not self.has_object)
            return self.typed or self.verb in _PLACING or bare
        if lead == "to":
            return self.typed or _is_code(self.a) or self.verb in _SETTING or not self.has_object
        return self.last or self.typed


def is_light(word: Word, statement: Statement) -> bool:
    """Whether a word is a verb that says little; the last word of a statement is none."""
    verbal = word.role == "verb" or (word.text[:1].islower() and word is not statement.words[-1])
    return word.stem in LIGHT and not word.contrast and verbal


def do_other_things(old: Statement, new: Statement, shared: Sequence[WordPair]) -> bool:
    """Whether one subject does two things that share no verb: "Ada lives in Porto", "Ada keeps bees"."""
    named = any(a.role == b.role == "subject" for a, b in shared)
    own = named or any(mark.startswith("person") for mark in old.marks & new.marks)
    ours, theirs = ([w.stem for w in words if w.role == "verb"] for words in (old.words, new.words))
    return bool(own and ours and theirs) and not any(x == y or opposite(x, y) for x in ours for y in theirs)


def _phrase(statement: Statement, word: Word, rest: Sequence[Word]) -> list[Word]:
    """The words of the phrase of a word, without verbs that say little."""
    phrase = [w for w in statement.words if (w.part, w.phrase) == (word.part, word.phrase)]
    return [w for w in phrase if w in rest or not is_light(w, statement)]


def _adjoin(phrase: Sequence[Word], words: Sequence[Word]) -> bool:
    """Whether words stand side by side in their phrase."""
    places = [i for i, each in enumerate(phrase) if any(each is word for word in words)]
    return places == list(range(places[0], places[-1] + 1))


def _is_last(statement: Statement, word: Word) -> bool:
    return word.phrase == max(w.phrase for w in statement.words if w.part == word.part)


def _is_typed(words: Iterable[Word]) -> bool:
    return any(w.number or answers_a_question(w.stem) for w in words)


def _answer_alike(removed: Sequence[Word], added: Sequence[Word]) -> bool:
    """Whether words of both answer one question, and their other words count or say which: "the last Friday"."""
    if len(removed) == len(added) and all(
        alternatives(x.stem, y.stem) or (x.number and y.number and unit_of(x) == unit_of(y))
        for x, y in zip(removed, added, strict=True)
    ):
        return True
    return (
        any(alternatives(x.stem, y.stem) for x in removed for y in added)
        and abs(len(removed) - len(added)) <= 1
    )


def _is_code(word: Word) -> bool:
    return any(not character.isalpha() for character in word.stem)


def numbers_alike(removed: Sequence[Word], added: Sequence[Word]) -> bool:
    """Whether a number stands in place of a number, whatever one of them counts."""
    ours, theirs = ([w for w in words if w.number] for words in (removed, added))
    rests = [[w for w in words if not w.number] for words in (removed, added)]
    return (
        len(ours) == len(theirs) == 1
        and not (rests[0] and rests[1])
        and unit_of(ours[0]) == unit_of(theirs[0])
    )


def unit_of(word: Word) -> str:
    """Return what a number counts, "" where it does not say."""
    unit = word.stem.partition(" ")[2] if word.stem[:1].isdigit() else "months"
    return "time" if unit in ("ms", "months") else unit


def _manner(a: Word, b: Word) -> bool:
    """Whether two words or phrases say how something is done."""
    adverbs = [word.text.lower().endswith("ly") for word in (a, b)]
    return any(adverbs) and all(
        is_adverb or word.lead in ("in", "by", "at") for is_adverb, word in zip(adverbs, (a, b), strict=True)
    )


_TESTS: tuple[Callable[[Word, Word], bool], ...] = (
    lambda a, b: (a.sign, a.lead, a.role) == (b.sign, b.lead, b.role),
    lambda a, b: (a.sign, a.lead) == (b.sign, b.lead),
    lambda a, b: a.sign == b.sign,
    lambda a, b: a.lead == b.lead,
    lambda _a, _b: True,
)
"""When two words of one stem are paired, the likest first."""


def align(old: Sequence[Word], new: Sequence[Word]) -> tuple[list[WordPair], list[Word], list[Word]]:
    """WordPair the words of two statements; return the pairs and what is left of each."""
    theirs: dict[str, list[Word]] = {}
    for b in new:
        theirs.setdefault(b.stem, []).append(b)
    left = [a for a in old if a.stem in theirs]
    pairs: list[WordPair] = []
    for alike in _TESTS:
        unpaired = []
        for a in left:
            of_stem = theirs[a.stem]
            at = next((i for i, b in enumerate(of_stem) if alike(a, b)), None)
            if at is None:
                unpaired.append(a)
            else:
                pairs.append((a, of_stem.pop(at)))
        left = unpaired
    paired = {id(word) for pair in pairs for word in pair}
    verbs = [b for b in new if b.role == "verb" and id(b) not in paired]
    for a in [a for a in old if verbs and a.role == "verb" and id(a) not in paired]:
        at = next((i for i, b in enumerate(verbs) if opposite(a.stem, b.stem)), None)
        if at is not None:
            pairs.append((a, verbs.pop(at)))
    paired = {id(word) for pair in pairs for word in pair}
    return pairs, [a for a in old if id(a) not in paired], [b for b in new if id(b) not in paired]


_ALIKE = [
    frozenset(pair.split())
    for pair in ("for of", "with by", "as be", "be in", "max until", "be on", "if on", "if in")
]
"""Prepositions that may say the same of one word."""
_PLAIN = frozenset(("be", "in", "for", "of", "as", "on", "at", "with"))
"""Prepositions before what another form of the statement has without one: "use UTC for times", "times are in UTC"."""


def alike(a: Word, b: Word, *, first: bool) -> bool:
    """Whether a word after two prepositions is meant alike."""
    leads = {a.lead, b.lead}
    if leads == {"", "by"}:
        return first and not a.number
    if leads <= {"", "be", "to"} or (a.number and not unit_of(a) and leads <= {"", "be", "in"}):
        return True
    if "" in leads:
        return (not a.number or "for" in leads) and leads <= _PLAIN | {""}
    return not a.number and any(leads <= group for group in _ALIKE)


def positions_of(statement: Statement) -> dict[int, int]:
    """Return where each word of a statement stands, by its identity: a word may stand there twice."""
    return {id(word): at for at, word in enumerate(statement.words)}
