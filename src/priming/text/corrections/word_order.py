"""The words of two statements in pairs, and those that changed places where places matter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import Literal

from priming.config.values import dataclass
from priming.text.corrections.polarity import EXCLUDING, SignedText, Word
from priming.text.corrections.word_classes import makes_verbs
from priming.text.word_lists import read_word_groups, read_words
from priming.text.word_values import ORDERING, stem_of, value_types

_DIRECTED = frozenset(
    ("to", "into", "onto", "from", "over", "against", "than", "via", "through", "behind", "above")
)
"""Prepositions that make a difference between what stands before and after them."""
_PLACES = frozenset(
    ("in", "inside", "within", "outside", "under", "on", "at", "during", "across", "behind", "into")
)
_MUTUAL = frozenset(("pair", "combin", "mix", "join", "compar", "integr", "coordin"))
"""Verbs of which both objects take the same part: "pair A with B"."""
_ARRANGING = frozenset(("sort", "rank", "round", "order", "arrang", "mark", "format", "style"))
"""Stems of verbs of which an object that is there is put into some form: "sort imports"."""
_EMPTY = SignedText((), chooses=False, only=False)
_AT = frozenset(("on", "at", "during", "upon"))
_SPATIAL = re.compile(r"\b(?:left|right|top|bottom|inside|outside)\b")
_PRONOUN = re.compile(r"\b(?:it|them|its|their)\b", re.IGNORECASE)
_SUPERLATIVE = re.compile(r"\b(?:\w{3,}est|most|least|first|last|initial|final|maximum|minimum)\b")
"""Words that pick out one thing, of which another takes the place."""
_OPPOSED_LEADS = frozenset(
    map(
        frozenset,
        (("max", "min"), ("above", "below"), ("over", "under"), ("inside", "outside"), ("if", "unless")),
    )
)
_INCLUDING = frozenset(("in", "on", "at", "for", "when", "if", "inside", "during", "within"))


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two words that changed places; ``directed``: around a verb or an order, not between two slots.

    ``how``: whether they changed places in a sentence, in a sequence, or in a compound of nouns.
    """

    first: str
    second: str
    directed: bool
    how: Literal["sentence", "sequence", "compound"] = "sentence"

    @property
    def reason(self) -> str:
        """What changed, in words."""
        if self.how == "sequence":
            return f'"{self.first}" now comes before "{self.second}"'
        if self.how == "compound":
            return f'"{self.first}" is something else than "{self.second}"'
        return f'"{self.first}" and "{self.second}" changed places'


def exchanged(
    aligned: Sequence[tuple[Word, Word]], old: SignedText = _EMPTY, new: SignedText = _EMPTY
) -> Exchange | None:
    """The first two words that changed places, by what stands between them, before them, or beside them.

    Words may be in another order and mean the same: a phrase that is moved whole, a list, a passive. What is not of
    these is an exchange.

    >>> from priming.text.corrections.polarity import read_statement
    >>> old, new = map(read_statement, ("Merge main into develop", "Merge develop into main"))
    >>> exchanged([(a, b) for a in old.words for b in new.words if a.stem == b.stem])
    Exchange(first='main', second='develop', directed=True, how='sentence')
    """
    pairs = [(a, b) for a, b in aligned if a.stem == b.stem and a.role != "reason"]
    pairs.sort(key=lambda pair: pair[0].place)
    inverted = [(i, j) for j in range(len(pairs)) for i in range(j) if pairs[i][1].place > pairs[j][1].place]
    return (
        _reordered(pairs, inverted, old, new)
        or next(_around(pairs), None)
        or _led(pairs)
        or _between_slots(pairs)
        or _governed(pairs, old, new)
        or _beside_a_verb(pairs, inverted)
        or _compounded(pairs, inverted)
        or _unlicensed(pairs, inverted, old, new)
    )


def _reordered(
    pairs: Sequence[tuple[Word, Word]], inverted: Sequence[tuple[int, int]], old: SignedText, new: SignedText
) -> Exchange | None:
    """Members of a list in another order, where the order matters: steps, and what is said to be in an order."""
    for i, j in inverted:
        (a, a_new), (b, b_new) = pairs[i], pairs[j]
        if a.sign != b.sign or "scope" in (a.role, b.role, a_new.role, b_new.role):
            continue
        apart = _member(a, old) != _member(b, old) and _member(a_new, new) != _member(b_new, new)
        if apart and (_is_ordered_pair(a, b) or _are_a_tuple(old, new)):
            return Exchange(b.text, a.text, directed=False, how="sequence")
        if apart and all(_is_sequence(statement) for statement in (old, new)):
            return Exchange(b.text, a.text, directed=False, how="sequence")
    return None


def _is_ordered_pair(a: Word, b: Word) -> bool:
    """Whether two members of a list mean something else in another order: "latitude and longitude"."""
    return any({a.stem, b.stem} <= group for group in _ordered_pairs())


@cache
def _ordered_pairs() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(map(stem_of, group)) for group in read_word_groups("ordered_pairs"))


def _are_a_tuple(*statements: SignedText) -> bool:
    """Whether two statements list single things that an act takes or gives in order: "return the key and value"."""
    for statement in statements:
        head, *members = statement.words
        if head.role != "head" or head.stem not in _tuple_verbs() or not members:
            return False
        if any(word.text.endswith("s") or word.lead or word.role != "plain" for word in members):
            return False
    return True


@cache
def _tuple_verbs() -> frozenset[str]:
    return frozenset(map(stem_of, read_words("tuple_verbs")))


def _unlicensed(
    pairs: Sequence[tuple[Word, Word]], inverted: Sequence[tuple[int, int]], old: SignedText, new: SignedText
) -> Exchange | None:
    """Two words in another order for which grammar has no reason: no phrase, list, contrast or verb moved."""
    pronouns = all(_PRONOUN.search(statement.source) for statement in (old, new))
    if old.chooses != new.chooses or pronouns or _is_mutual(old, new):
        return None  # "messages in the imperative", "use the imperative in messages"
    for i, j in inverted:
        (a, a_new), (b, b_new) = pairs[i], pairs[j]
        contrasted = a.sign != b.sign or a.sign != a_new.sign
        moved = a.under == a_new.under and b.under == b_new.under and a.under != b.under
        listed = a.part != b.part and a_new.part != b_new.part
        heads_moved = a.role == "head", b_new.role == "head"
        verb = all(heads_moved) or (heads_moved[0] and _has_verb(new)) or (heads_moved[1] and _has_verb(old))
        became_subject = (b.under and not b_new.under and _has_verb(new)) or (
            a_new.under and not a.under and _has_verb(old)
        )
        if not (contrasted or moved or listed or verb or became_subject):
            return Exchange(b.text, a.text, directed=False)
    return None


def _is_mutual(old: SignedText, new: SignedText) -> bool:
    """Whether both objects of the verb take the same part: "pair A with B"."""
    heads = {statement.words[0].stem for statement in (old, new) if statement.words}
    return len(heads) == 1 and heads <= _MUTUAL


def _has_verb(statement: SignedText) -> bool:
    """Whether a statement has a subject with a verb: "strings use double quotes"."""
    return statement.finite or any(word.verb for word in statement.words)


def _member(word: Word, statement: SignedText) -> tuple[int, int]:
    """The member of a list that a word is in: its clause, or what is before or after "before" in it."""
    befores = (w for w in statement.words if w.stem in ORDERING and w.part == word.part and not w.lead)
    return word.part, sum(before.place < word.place for before in befores)


def _is_sequence(statement: SignedText) -> bool:
    """Whether a list is one of steps, or says that its order matters."""
    members: dict[tuple[int, int], list[Word]] = {}
    for word in statement.words:
        if word.stem not in ORDERING:
            members.setdefault(_member(word, statement), []).append(word)
    if len(members) < 2 or (len(members) == 2 and any(w.stem in ORDERING for w in statement.words)):
        return False
    first, *others = members.values()
    if statement.ordered or not statement.listed:
        return len(members) > 2 or statement.ordered or all(len(words) == 1 for words in others)
    heads = [words[0] for words in members.values()]
    acts = first[0].role == "head" and all(_may_be_an_act(head) for head in heads)
    return acts and not statement.finite and (len(first) == 1 or any(len(words) > 1 for words in others))


def _may_be_an_act(word: Word) -> bool:
    """Whether a word may be a verb that commands: no plural, name, number or code."""
    plural = word.text.endswith("s") and not word.text.endswith("ss")
    values = value_types(word.stem) & {"number", "code"}
    return not (plural or word.proper or word.lead or values)


_CROSSED = 60
"""Words on either side of a word that are compared: more than a sentence has."""


def _around(pairs: Sequence[tuple[Word, Word]]) -> Iterator[Exchange]:
    """Words that changed sides of a word: "A reviews B" and "B reviews A"."""
    places = [b.place for _, b in pairs]
    for middle, (a, b) in enumerate(pairs):
        if a.lead or b.lead:
            continue  # a noun
        crossing = [left for left in range(middle) if places[left] > places[middle]]
        for left in crossing[:_CROSSED]:
            for right in range(middle + 1, min(len(pairs), middle + _CROSSED)):
                turned = places[right] < places[middle]
                three = (left, middle, right)
                together = all(len({pairs[i][side].part for i in three}) == 1 for side in (0, 1))
                if a.stem not in ORDERING:
                    together &= all(pairs[i][0].under == pairs[i][1].under for i in (left, right))
                if turned and (together or a.stem in ORDERING):
                    yield Exchange(pairs[left][0].text, pairs[right][0].text, directed=True)


def _led(pairs: Sequence[tuple[Word, Word]]) -> Exchange | None:
    """Words of which a preposition leads now the other: "from A to B" and "from B to A"."""
    for lead in _DIRECTED:
        before = [a for a, b in pairs if a.lead == lead != b.lead]
        after = [a for a, b in pairs if b.lead == lead != a.lead]
        if before and after:
            return Exchange(after[0].text, before[0].text, directed=True)
    return None


def _governed(pairs: Sequence[tuple[Word, Word]], old: SignedText, new: SignedText) -> Exchange | None:
    """Words of which one entered a phrase and the other left it: "A inside B" and "B inside A"."""
    if old.chooses != new.chooses or _is_mutual(old, new):
        return None  # "messages in the imperative", "use the imperative in messages"
    moved = [(a, b) for a, b in pairs if a.under != b.under]
    for (a, a_new), (b, b_new) in combinations(moved, 2):
        if (a.sign, b.sign) != (b_new.sign, a_new.sign) or (a.under, b_new.under).count("") == 1:
            continue
        if (a.under, b.under) == (b_new.under, a_new.under) or _entered(a, a_new, b, b_new):
            return Exchange(a.text, b.text, directed=True)
    return None


def _entered(a: Word, a_new: Word, b: Word, b_new: Word) -> bool:
    """Whether one word entered a phrase that the other left, and its preposition does not turn it round."""
    before, after = a.under or b.under, a_new.under or b_new.under
    if [bool(word.under) for word in (a, a_new, b, b_new)].count(True) != 2:
        return False
    converse = before != after and "for" in (before, after)
    return not converse and (before in _PLACES) == (after in _PLACES)


def _beside_a_verb(
    pairs: Sequence[tuple[Word, Word]], inverted: Sequence[tuple[int, int]]
) -> Exchange | None:
    """Words that changed sides of a verb that is no word of its own: "widgets use hooks" and "hooks use widgets"."""
    for i, j in inverted:
        (a, a_new), (b, b_new) = pairs[i], pairs[j]
        between = pairs[i + 1 : j + 1]
        verbs = [
            {w.verb for w, _ in between},
            {w.verb for _, w in pairs if b_new.place < w.place <= a_new.place},
        ]
        if a.part == b.part and a_new.part == b_new.part and all(any(verb) for verb in verbs):
            return Exchange(a.text, b.text, directed=True)
    return None


def _compounded(pairs: Sequence[tuple[Word, Word]], inverted: Sequence[tuple[int, int]]) -> Exchange | None:
    """Two nouns of a compound that changed places, so that it names another thing: "test data", "data test"."""
    for i, j in inverted:
        (a, a_new), (b, b_new) = pairs[i], pairs[j]
        beside = b.place == a.place + 1 and a_new.place == b_new.place + 1
        beside &= a.part == b.part and a_new.part == b_new.part and a.sign == b.sign
        nouns = "head" not in (a.role, b.role, a_new.role, b_new.role) and not (b.lead or a_new.lead)
        if beside and nouns and a.under == a_new.under and b.under == b_new.under:
            last = all(
                all(w.place != end.place + 1 or w.lead or w.part != end.part for w in side)
                for side, end in (([w for w, _ in pairs], b), ([w for _, w in pairs], a_new))
            )
            if last:
                return Exchange(f"{b.text} {a.text}", f"{a.text} {b.text}", directed=False, how="compound")
    return None


def _between_slots(pairs: Sequence[tuple[Word, Word]]) -> Exchange | None:
    """Words that changed places between two members: "2 in YAML and 4 in Python", "4 in YAML and 2 in Python"."""
    old, new = (_members(pairs, side) for side in (0, 1))
    lost, gained = (
        [part for part in parts if part not in others] for parts, others in ((old, new), (new, old))
    )
    if len(lost) != 2 or len(gained) != 2:
        return None
    for first, second in (gained, gained[::-1]):
        out, into = lost[0] - first, first - lost[0]
        stays = lost[0] & first and lost[1] & second
        if out and into and stays and out == second - lost[1] and into == lost[1] - second:
            texts = {a.stem: a.text for a, _ in pairs}
            return Exchange(texts[min(out)], texts[min(into)], directed=False)
    return None


def _members(pairs: Sequence[tuple[Word, Word]], side: int) -> list[frozenset[str]]:
    """The stems of each clause or member of an enumeration."""
    parts: dict[int, set[str]] = {}
    for pair in pairs:
        parts.setdefault(pair[side].part, set()).add(pair[side].stem)
    return [frozenset(stems) for stems in parts.values()]


def selects(word: Word, other: Word, old: SignedText, new: SignedText) -> bool:
    """Tell whether two antonyms pick out what an act is done to, so that both rules hold at once.

    >>> from priming.text.corrections.polarity import read_statement
    >>> def picks(old, new, place):
    ...     first, second = read_statement(old), read_statement(new)
    ...     return selects(first.words[place], second.words[place], first, second)
    >>> picks("Document public functions", "Document private functions", 1)
    True
    >>> picks("Use public functions", "Use private functions", 0), picks("Fail open", "Fail closed", 1)
    (False, False)
    """
    if old.chooses or new.chooses or old.finite or new.finite or not old.words or not new.words:
        return False
    acts = [statement.words[0] for statement in (old, new)]
    if acts[0].stem != acts[1].stem or any(act.role != "head" or act in (word, other) for act in acts):
        return False
    plural = all(w.text.endswith("s") and not w.lead for w in (word, other))
    makes = acts[0].stem in makes_verbs() and not (plural and acts[0].stem in _ARRANGING)
    if makes or _SUPERLATIVE.search(f"{word.text} {other.text}"):
        return False
    return all(_picks(w, statement) for w, statement in ((word, old), (other, new)))


def _picks(word: Word, statement: SignedText) -> bool:
    """Whether a word stands before a noun, or is a noun itself: "public functions", "reads"; not "fail open"."""
    if word.role == "reason" or word.contrasted:
        return False
    after = statement.words[word.place + 1 : word.place + 2]
    beside = (
        bool(after) and after[0].part == word.part and not after[0].lead and after[0].stem not in ORDERING
    )
    plural = word.text.endswith("s") and not word.text.endswith(("ss", "ous"))
    event = word.lead in _AT and not _SPATIAL.search(word.text)
    return beside or event or (plural and not word.lead)


def leads_oppose(a: str, b: str) -> bool:
    """Tell whether two prepositions say the opposite: at most and at least, in and outside, if and unless.

    >>> leads_oppose("max", "min"), leads_oppose("in", "except"), leads_oppose("in", "for")
    (True, True, False)
    """
    if frozenset((a, b)) in _OPPOSED_LEADS:
        return True
    return (a in EXCLUDING and b in _INCLUDING) or (b in EXCLUDING and a in _INCLUDING)


def pair_words(
    removed: list[Word],
    added: list[Word],
    pairs: list[tuple[Word, Word]],
    agree: Callable[[Word, Word], bool],
) -> None:
    """Move words that agree from the rests to the pairs, each once."""
    for word in list(removed):
        match = next((other for other in added if agree(word, other)), None)
        if match is not None:
            removed.remove(word)
            added.remove(match)
            pairs.append((word, match))


def without_repeats(
    removed: Sequence[Word], added: Sequence[Word], aligned: Sequence[tuple[Word, Word]]
) -> tuple[list[Word], list[Word]]:
    """The rests without words that a statement only repeats."""
    old, new = ({(pair[side].stem, pair[side].sign) for pair in aligned} for side in (0, 1))
    return (
        [word for word in removed if (word.stem, word.sign) not in old],
        [word for word in added if (word.stem, word.sign) not in new],
    )
