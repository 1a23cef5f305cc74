"""Whether a rule asks for what a constraint forbids, or only shares words with it."""

from __future__ import annotations

import re

from priming.text.corrections.change import compare
from priming.text.corrections.text_change import REVERSALS

_CONDITION = re.compile(
    r"\b(?:before|after|during|outside|inside|within|with|without|unless|until|while|when|whenever|if|except|only|once)\b",
    re.IGNORECASE,
)
"""Words before what a rule depends on: "during ingestion hours", "without a review"."""


def lifts(constraint: str, rule: str) -> bool:
    """Whether a rule that is no constraint clearly asks for what a constraint forbids, under the same conditions.

    >>> lifts("Never push to main", "Push to main"), lifts("Never push after noon", "Push before noon")
    (True, False)
    """
    change = compare(constraint, rule)
    return change.kind in REVERSALS and change.clear and depends_alike(constraint, rule)


def depends_alike(a: str, b: str) -> bool:
    """Whether two rules name their conditions by the same words: "Never … without a review", "… with a review"."""
    first, second = (sorted(word.casefold() for word in _CONDITION.findall(text)) for text in (a, b))
    return first == second


def has_condition(text: str) -> bool:
    """Whether a rule depends on something: "Never restart it during ingestion hours".

    >>> has_condition("Never push on Fridays without a review"), has_condition("Never push to main")
    (True, False)
    """
    return _CONDITION.search(text) is not None
