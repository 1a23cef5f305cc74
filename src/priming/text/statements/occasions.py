"""Whether the trigger of a lesson and an objective ask for the same of the same thing.

A trigger often tells what happened: "the module does not compile". Its negation is then the failure, and the action
is the one that failed; it forbids nothing, as "do not compile the module" does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from priming.text.statements.reader import Word, read
from priming.text.tokens import terms

Occasion = Literal["applies", "warns", "rejects", "mentions", "elsewhere"]

_VERSION = re.compile(r"(?<!\d)\d+(?:\.\d+)+")
_CLAUSE = re.compile(r"(?:[.:;!?,](?=\s|$)|\n|\s(?:but|because|although|though|while)\b)")
_TOLD = re.compile(
    r"\b(?:(?:do|does|did|is|are|was|were|has|have|had|could|would)(?:\s+(?:not|never)|n['’]?t)|can(?:not|['’]?t)"
    r"|won['’]?t|no longer|never|not|no|unable to|(?:fail|refuse)(?:s|ed|d)? to)\b\s*(?:yet\s+|be\s+(?=\w+ed\b))?",
    re.IGNORECASE,
)
"""Words that negate what happens or is the case."""
_FORBIDS = re.compile(
    r"^\W*(?:(?:please|then|and|so|also|always|just|you|we|let['’]?s)\s+)*"
    r"(?:do\s*n['’o]t?\b|do\s+not|not|never(?!\s+\w+(?<!s)s\b)|avoid|skip|stop|refrain)\b"
    r"|\b(?:must|should|shall|may|ought|need|better|let\s+\w+|to|and|or|but)\s*(?:do\s+)?(?:not|never|n['’]?t)\b"
    r"|\b(?:not|never)\s+to\b",
    re.IGNORECASE,
)
"""Clauses that forbid something: negated imperatives, and rules."""
_NOUN = re.compile(
    r"^\W*(?:(?:the|an?|my|our|your|its?|this|that|these|those)\b|\w+(?:[^\Ws]s|ment|[ts]ion|[ae]nce)\b)",
    re.IGNORECASE,
)
"""What begins a text that is no imperative."""
_ASKED = (
    r"(?:^|[,.;:]|\b(?:and|then|also|please|now|(?:can|could|will|would) you|let['’]?s|(?:forget|try|want|need) to))"
    r"\s*"
    r"(?:re)?{}(?:ing)?\b(?!\s+of\b)"
)
"""Where a verb is asked for, and not only mentioned."""


def occasion(trigger: str, objective: str) -> Occasion:
    """Tell what a trigger has to do with an objective.

    ``applies``: the longer of the two asks for all that the shorter does, of the same thing, or the trigger tells
    that this failed. ``warns``: the trigger forbids what the objective asks for. ``rejects``: the objective rejects
    what the trigger asks for. ``mentions``: one has the words of the other, and does not ask for that. ``elsewhere``:
    none has all words of the other, or they name versions that differ.

    >>> occasion("The kernel module does not compile", "Compile the kernel module")
    'applies'
    >>> [occasion("Upgrade Django", text) for text in ("Explain how to upgrade Django", "Never upgrade Django")]
    ['mentions', 'rejects']
    """
    if not _covers(trigger, objective):
        return "elsewhere"
    action, goal = observed(trigger), observed(objective)
    if action == trigger:
        goal = objective  # what did not happen is no occasion for what did
    ours, theirs = read(action).words, read(goal).words
    signs = {word.stem: word.sign for word in ours}
    turned = [word for word in theirs if signs.get(word.stem, word.sign) != word.sign]
    if turned:
        return "warns" if any(word.sign > 0 for word in turned) else "rejects"
    sides = sorted(((ours, action), (theirs, goal)), key=lambda side: len({w.stem for w in side[0]}))
    (shorter, text), (longer, in_text) = sides
    if _names_another(shorter, longer) or _names_another(longer, shorter):
        return "mentions"
    return "applies" if action != trigger or _asks(in_text, longer, text, shorter) else "mentions"


def observed(text: str) -> str:
    """Return a text without the negations that tell what happened; those that forbid something stay.

    >>> observed("The kernel module does not compile: no headers"), observed("Never deploy on a Friday")
    ('The kernel module compile: headers', 'Never deploy on a Friday')
    """
    ends = [*(match.end() for match in _CLAUSE.finditer(text)), len(text)]
    clauses = [text[begin:end] for begin, end in pairwise((0, *ends))]
    return "".join(clause if _FORBIDS.search(clause) else _TOLD.sub("", clause) for clause in clauses)


def _covers(trigger: str, objective: str) -> bool:
    """Tell whether one of two texts has all terms of the other, at least two, and names no other version."""
    first, second = set(terms(trigger)), set(terms(objective))
    versions, others = (set(_VERSION.findall(text)) for text in (trigger, objective))
    if not first or not second or (versions and others and versions.isdisjoint(others)):
        return False
    shared = first & second
    return first == second or (len(shared) > 1 and shared in (first, second))


def _names_another(words: Sequence[Word], others: Sequence[Word]) -> bool:
    """Tell whether words say which one is meant of what some others name: "the other registry"."""
    stems = {word.stem for word in words}
    for word, following in pairwise(others):
        together = word.role != "verb" and (word.phrase, word.part) == (following.phrase, following.part)
        if together and word.stem not in stems and following.stem in stems:
            return True
    return False


def _asks(text: str, words: Sequence[Word], action: str, meant: Sequence[Word]) -> bool:
    """Tell whether a text asks for an action; what is no imperative has only to be in it."""
    stems, others = (sorted(word.stem for word in each) for each in (words, meant))
    if stems == others or _NOUN.match(action):
        return True
    verbs = [word for word in words if meant and word.stem == meant[0].stem]
    return any(re.search(_ASKED.format(re.escape(w.text)), text, re.IGNORECASE) for w in verbs)
