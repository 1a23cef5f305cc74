"""The same words in other places: what is first, what belongs to what, what is said of it, who does it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Literal

from priming.text.quotation import quote_text
from priming.text.statements.difference import (
    CHOOSING,
    PLACING,
    WordPair,
    alike,
    positions_of,
    stems,
    unit_of,
)
from priming.text.statements.phrases import PhraseToken, tokens_of
from priming.text.statements.reader import PARTICLES, Statement, Word
from priming.text.statements.words import is_past, is_plural, stem_of

_ORDERED = stems("pass give return yield store sort")
"""Verbs whose objects have an order: "return the key and the value"."""
_PLACES = frozenset(("on", "min", "max", "next", "between"))
"""Prepositions that tell where a thing is put."""
_OPPOSED = frozenset(
    frozenset(pair.split())
    for pair in ("in out", "if out", "on out", "to out", "with around", "before after", "min max", "to from",
                 "if unless", "under on", "for against")
)  # fmt: skip
"""Prepositions of which one takes the place of the other."""


def _is_free(item: WordPair) -> bool:
    """Tell whether an item may stand anywhere in its list: several things, by which nothing is sorted."""
    return is_plural(item[0].text) and item[0].lead != "by"


def described(statement: Statement, other: Statement) -> Statement:
    """Return "Lena is the captain" as "the captain is Lena": a value of the post, unless both speak of Lena."""
    if "holder" not in statement.marks:
        return statement
    names, others = ({w.stem for w in each.words if w.role == "subject"} for each in (statement, other))
    if names == others:
        return statement
    after = max(word.phrase for word in statement.words) + 1
    name, rest = [], []
    for word in statement.words:
        if word.role == "subject":
            name.append(replace(word, role="value", lead="be", phrase=after))
        else:
            rest.append(replace(word, role="subject", lead="") if word.role == "value" else word)
    return replace(statement, words=(*rest, *name))


class Arrangement:
    """How two statements arrange the words that they share."""

    def __init__(self, old: Statement, new: Statement, pairs: Sequence[WordPair]) -> None:
        self.statements, self.pairs = (old, new), pairs
        self.places = positions_of(old), positions_of(new)
        self.agents = sum({a.lead, b.lead} == {"", "by"} for a, b in pairs)
        self.verbs = {word.stem for word in old.words[:1]} & {word.stem for word in new.words}

    def inverted(self) -> bool:
        """Tell whether one says "A before B" and the other "B after A"."""
        leads = {(a.lead, b.lead) for a, b in self.pairs if a.lead != b.lead}
        sides = {pair for pair in leads if {"before", "after"} & {*pair}}
        return sides in ({("before", ""), ("", "after")}, {("after", ""), ("", "before")})

    def opposed(self, pair: WordPair) -> bool:
        """Tell whether a word stands after two prepositions that exclude each other."""
        leads = frozenset(word.lead for word in pair)
        placed = self.verbs & PLACING and leads <= _PLACES
        moved = placed or (pair[0].number and leads == {"to", "by"})
        return leads in _OPPOSED or (len(leads) > 1 and bool(moved))

    def is_alike(self, a: Word, b: Word) -> bool:
        """Tell whether a word after two prepositions, or with and without one, is meant alike."""
        leads = {a.lead, b.lead}
        if leads == {"", "by"}:  # "two people review it", "it is reviewed by two people"
            at = self.places[0][id(a)] if b.lead else self.places[1][id(b)]
            return at < self.agents
        if "" in leads and leads & {"before", "after"}:  # "before you dry it, wash it"
            return all({"it", "person-them"} & each.marks for each in self.statements)
        if a.number and leads == {"", "with"}:  # "use two spaces", "indent with two spaces"
            return self._counted(a, b)
        one_use = leads == {"as", "for"} and self.verbs & CHOOSING
        return bool(one_use or (leads == {"to", "on"} and self.verbs & PLACING)) or alike(a, b)

    def _counted(self, a: Word, b: Word) -> bool:
        """Tell whether two numbers count one thing: what stands behind them in their phrases."""
        behind = [
            statement.words[places[id(word)] + 1 :][:1]
            for statement, places, word in zip(self.statements, self.places, (a, b), strict=True)
        ]
        return any([[x], [y]] == [[*each] for each in behind] and x.phrase == a.phrase for x, y in self.pairs)

    def exchanged(self) -> str | None:
        """Say what is exchanged, if it is: prepositions, or what belongs to what."""
        leads = [] if self.inverted() else [(a, b) for a, b in self.pairs if a.lead != b.lead]
        verbs = permutations(each.words[0].stem for each in self.statements)
        used = any(x in PLACING and y in CHOOSING for x, y in verbs)  # "write A in B", "use B in A"
        for i, (a, b) in enumerate(leads):
            swapped = any(a.lead == d.lead and b.lead == c.lead for c, d in leads[i + 1 :])
            if swapped and not (used and {a.lead, b.lead} == {"", "in"}):
                return "two of its parts are exchanged"
        for a, b in filter(self.opposed, leads):
            if {"min", "max", "next"} & {a.lead, b.lead}:
                return f"another preposition stands before {quote_text(b.text)}"
            return f"{quote_text(b.lead)} takes the place of {quote_text(a.lead)}"
        parts: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        for a, b in self.pairs:
            parts[0, a.part].add(b.part)
            parts[1, b.part].add(a.part)
        crossed = {side for (side, _), others in parts.items() if len(others) > 1}
        return "what belongs together is exchanged" if len(crossed) > 1 else None

    def reordered(self) -> tuple[Literal["changes", "unclear"], str] | None:
        """Say what stands in another order, and whether that is a change; None if it says the same."""
        if not self._is_reordered():
            return None
        pairs = sorted(self.pairs, key=lambda pair: self.places[0][id(pair[0])])
        places = [self.places[1][id(b)] for _, b in pairs]
        order = {place: rank for rank, place in enumerate(sorted(places))}
        ranks = [order[place] for place in places]
        moved = [i for i, rank in enumerate(ranks) if i != rank]
        first, run = moved[0], [ranks[i] - moved[0] for i in range(moved[0], moved[-1] + 1)]
        part, whole = pairs[first : moved[-1] + 1], list(range(len(run)))
        falls, rises = run == [*whole[-1:], *whole[:-1]], run == [*whole[1:], 0]
        if (falls and self._says(part[0], part, 1)) or (rises and self._says(part[-1], part, 0)):
            return None
        listed = {"and", "or"} & (self.statements[0].marks | self.statements[1].marks)
        sizes = [
            Counter((w.part, w.phrase) for w in each.words if w.role != "verb") for each in self.statements
        ]
        items = listed and all(sizes[i][w.part, w.phrase] == 1 for pair in part for i, w in enumerate(pair))
        gives = self.statements[0].words[0].stem in _ORDERED
        once = all(f" {each.source.casefold()} ".count(" and ") < 2 for each in self.statements)
        free = once and not any(a.stem in _ORDERED for a, _ in pairs) and all(map(_is_free, part))
        if items and (free or "or" in listed):
            return None
        steps = all(run[i] < run[i + 1] or part[i][0].part != part[i + 1][0].part for i in whole[:-1])
        i, j = len(run) - run.index(0), run[0]
        swapped = i < j and run == [*whole[j:], *whole[i:j], *whole[:i]]
        if (items and gives) or (not listed and (swapped or (steps and (gives or first == 0)))):
            sides = [quote_text(a.text) for a, _ in (part[0], part[-1])]
            return "changes", f"{' and '.join(sides)} are exchanged"
        return "unclear", "the same words stand in another order"

    def _is_reordered(self) -> bool:
        """Tell whether words of one phrase or of one kind of phrase changed places."""
        groups = defaultdict(list)
        roles = [{w.role for w in each.words if not w.lead} for each in self.statements]
        lone = any({a.role, b.role} == {"subject", "object"} for a, b in self.pairs)
        lone = lone and not any({"subject", "object"} <= each for each in roles)
        for a, b in sorted(self.pairs, key=lambda pair: self.places[0][id(pair[0])]):
            if a.lead == b.lead and not (lone and "verb" in (a.role, b.role)):
                groups[a.lead, a.sign].append(self.places[1][id(b)])
        return any(places != sorted(places) for places in groups.values())

    def _says(self, predicate: WordPair, part: Sequence[WordPair], last: int) -> bool:
        """Tell whether a word, in one statement after others, says of them what it says before: "keep it small"."""
        front, back, words = predicate[1 - last], predicate[last], self.statements[last].words
        at = self.places[last][id(back)]
        noun, after = words[at - 1], words[at + 1 : at + 2]
        if any(w.role == "object" and w.part == back.part and w.text not in PARTICLES for w in after):
            return False
        beside = noun.part == back.part and (noun.phrase == back.phrase or noun is words[0])
        acts = front.role == "verb"
        noun_for_it = acts and words[0].stem in CHOOSING and front.text != back.text  # "use data validation"
        several = is_plural(noun.text) and not is_plural(back.text) and not (acts and noun.role == "object")
        plain = several or is_past(back.text) or noun_for_it
        return beside and plain and not any(a.lead or b.lead for a, b in part)


def restricts(statement: Statement) -> bool:
    """Tell whether a statement says "only" of more than a number: "only one assert" is one assert."""
    if "only" not in statement.marks:
        return False
    numbers = [word.text for word in statement.words if word.number]
    tokens = [*tokens_of(statement.source), PhraseToken(".")]
    restricted = [b.text for a, b in pairwise(tokens) if a.mark == "only"]
    return not all(any(number.startswith(text) for number in numbers) for text in restricted)


def adds_to(older: Statement, newer: Statement, added: Sequence[Word]) -> bool:
    """Tell whether what one says "only" of a thing, the other says of that and another: "only Go", "Go and Rust"."""
    tokens = [*tokens_of(older.source), PhraseToken(".")]
    after = next((at for at, token in enumerate(tokens) if token.mark == "only"), len(tokens))
    alone = next((token.text for token in tokens[after:] if token.mark is None), "")
    others = {word.stem for word in added if word.sign > 0}
    rest = [token for token in tokens_of(newer.source) if token.mark is None or token.mark in ("and", "or")]
    joined = (
        {stem_of(before.text), stem_of(after.text)}
        for before, joint, after in zip(rest, rest[1:], rest[2:], strict=False)
        if joint.mark is not None
    )
    return any(stem_of(alone) in pair and not pair.isdisjoint(others) for pair in joined)


def is_name(words: Sequence[Word], word: Word, *, instructs: bool) -> bool:
    """Tell whether a number names what is spoken of."""
    at = next((i for i, each in enumerate(words) if each is word), 0)
    if not at or not word.number or unit_of(word) or word.role == "value":
        return False
    if word is words[-1] and word.role != "subject":
        return False
    noun = words[at - 1]
    if any(each.role == "verb" and each.phrase < word.phrase and each is not noun for each in words):
        return False
    if word.role == "place" and not any(each.role in ("value", "verb") for each in words[at + 1 :]):
        return False
    if noun.phrase == word.phrase or at > 1:
        return noun.phrase == word.phrase
    behind = [each for each in words[at + 1 : at + 3] if each.phrase == word.phrase]
    return not instructs or (len(behind) > 1 and behind[0].text.islower() and behind[0].text.endswith("s"))
