"""Where one of two statements holds for less than the other, so that both hold: places, times, purposes and kinds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from priming.text.corrections.polarity import EXCLUDING, SignedText, Word
from priming.text.word_values import ORDERING, are_antonyms, stem_of, value_types

_AT = frozenset(("on", "at", "upon"))
"""Prepositions before a value or a place: "on Mondays", "on release branches"."""
_FROM = frozenset(("from", "into", "onto"))
"""Prepositions before where an act goes, or what it comes from: "return null from private methods"."""
_GENERAL = re.compile(
    r"\b(?:all|any|each|every|this|our|the (?:whole|entire)) (?:code|projects?|repo(?:sitor(?:y|ies))?s?|codebase"
    r"|cases?|places?|files?|modules?|teams?|company|languages?|times?|environments?|situations?|circumstances)\b"
    r"|\b(?:in )?(?:general|future)\b",
    re.IGNORECASE,
)
"""Places that are no narrower than a rule without one."""

_CHANGED_MIND = re.compile(
    r"\b(?:go|going|went|gone|mov\w+|switch\w*|chang\w+|return\w*|revert\w*|migrat\w+) (?:back |over )?to\b"
    r"|\bback (?:to|on)\b|\bfrom now on\b|\bafter all\b|\bagain\b|\bno longer\b|\bany ?more\b",
    re.IGNORECASE,
)
"""What says that all of an earlier rule is over, whatever it is for: "go back to httpx for HTTP calls"."""
_DEFINITE = re.compile(r"\bfor (?:the|this|that|these|those|our|an?|new|old|legacy)\b", re.IGNORECASE)


def places_of(rest: Sequence[Word], others: Sequence[Word], statement: SignedText) -> list[Word]:
    """The words of a rest that say where, when or for what it holds, which the other statement does not say.

    >>> from priming.text.corrections.polarity import read_statement
    >>> new = read_statement("Use tabs on old branches in templates")
    >>> [word.text for word in places_of(new.words, (), new)]
    ['old', 'branches', 'templates']
    """
    if _GENERAL.search(statement.source):
        return []
    all_over = _CHANGED_MIND.search(statement.source) and not _DEFINITE.search(statement.source)
    leads = {word.under for word in others}
    before = _AT if any(leads) else _AT | _FROM if others else _AT | _FROM | {"to"}
    return [
        word
        for word in rest
        if (
            word.role == "scope"
            or (word.role == "value" and word.under in before and word.under not in leads)
        )
        and word.lead not in EXCLUDING
        and not word.contrasted
        and not (all_over and word.under == "for")
    ]


_BY_PRONOUN = re.compile(
    r"\b(?:don't|do not|never|no longer|stop|avoid) (\w+) (?:it|them|those|these|that)\b", re.IGNORECASE
)
_ORDER = re.compile(r"\b(?:before|after)\b", re.IGNORECASE)


def denies_by_pronoun(statement: SignedText, word: Word) -> bool:
    """Whether a statement rejects an act by a pronoun for its object: "don't pin them"."""
    denied = _BY_PRONOUN.findall(statement.source)
    return any(stem_of(verb.lower()) == word.stem for verb in denied)


def turned_order(old: SignedText, new: SignedText) -> tuple[str, str] | None:
    """What "before" and "after" lead, where nothing else differs: "before merging", "after merging"."""
    old_text, new_text = (statement.source.rstrip(" .!") for statement in (old, new))
    marks = [_ORDER.findall(text) for text in (old_text, new_text)]
    rests = [[" ".join(part.lower().split()) for part in _ORDER.split(text)] for text in (old_text, new_text)]
    if rests[0] != rests[1] or [len(each) for each in marks] != [1, 1]:
        return None
    phrases = [f"{mark[0].lower()} {rest[1]}" for mark, rest in zip(marks, rests, strict=True)]
    return None if phrases[0] == phrases[1] else (phrases[0], phrases[1])


def kinds_of(rest: Sequence[Word], shared: Sequence[Word]) -> bool:
    """Whether a rest only says which ones of what both name: "*temporary* files"."""
    places = {word.place: word for word in (*rest, *shared)}
    return bool(rest) and all(
        (after := places.get(word.place + 1)) is not None
        and after.part == word.part
        and not after.lead
        and word.stem not in ORDERING
        and word.role in ("plain", "value", "scope")
        for word in rest
    )


def is_modified_object(rest: Sequence[Word], crossed: Sequence[tuple[Word, Word]]) -> bool:
    """Whether a rest is what an act is rejected for, with what says which ones: "never rebase *shared branches*"."""
    heads = {a.place for a, _ in crossed if a.role == "head" and a.sign < 0}
    return (
        len(rest) > 1
        and all(word.stem not in ORDERING for word in rest)
        and len(heads) == len(crossed)
        and {word.role for word in rest} == {"plain"}
        and [word.place for word in rest] == list(range(max(heads) + 1, max(heads) + 1 + len(rest)))
        and not any(word.lead for word in rest)
    )


def are_two_acts(crossed: Sequence[tuple[Word, Word]]) -> bool:
    """Whether two antonyms tell two acts apart: "open lazily", "close eagerly"."""
    turned = [pair for pair in crossed if are_antonyms(pair[0].stem, pair[1].stem)]
    heads = [pair for pair in turned if {pair[0].role, pair[1].role} == {"head"}]
    return bool(heads) and len(turned) > 1 and len(turned) == len(crossed)


def agree_about_a_place(crossed: Sequence[tuple[Word, Word]]) -> bool:
    """Whether one rejects outside a place what the other asks for in it: "never X outside tests", "X in tests"."""
    excluded = [(a, b) for a, b in crossed if (a.lead in EXCLUDING) != (b.lead in EXCLUDING)]
    signed = [(a, b) for a, b in crossed if a.stem == b.stem and a.sign != b.sign]
    return bool(excluded and signed) and len(excluded) + len(signed) == len(crossed)


def are_limits_of_two_acts(crossed: Sequence[tuple[Word, Word]], old: SignedText, new: SignedText) -> bool:
    """Whether a least and a most are asked for by two verbs: "allow at most two", "require at least two"."""
    if not crossed or any({a.lead, b.lead} != {"max", "min"} for a, b in crossed):
        return False
    heads = [statement.words[0] for statement in (old, new)]
    return all(head.role == "head" for head in heads) and heads[0].stem != heads[1].stem


def are_two_slots(removed: Sequence[Word], added: Sequence[Word]) -> bool:
    """Whether two phrases differ at once, each in a value of its kind: "YAML with 4 spaces", "JSON with 2 spaces"."""
    ours, theirs = _phrases(removed), _phrases(added)
    if len(ours) < 2 or len(theirs) < 2:
        return False
    changed = [
        lead for lead, types in ours.items() if lead in theirs and types & theirs[lead] - {"other", "code"}
    ]
    return len(changed) > 1 or ours.keys() == theirs.keys()


def _phrases(words: Sequence[Word]) -> dict[str, frozenset[str]]:
    """The types of the words of each phrase, by the preposition that begins it."""
    phrases: dict[str, frozenset[str]] = {}
    for word in words:
        if word.under == "per":
            continue  # "to 100 requests per minute"
        phrases[word.under] = phrases.get(word.under, frozenset()) | value_types(word.stem)
    return phrases
