"""How alike two behaviours are, and where a new one is placed beside an old one (LAWS §7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from priming.core.check import number
from priming.core.when import scope
from priming.errors import ParamError
from priming.params import SIMILARITY

Placement = Literal["merge", "specialise", "create"]

_TOKEN = re.compile(r"[^\W_]+")


def tokens(text: str) -> frozenset[str]:
    """Give the words of a text, without case: runs of letters and digits.

    >>> sorted(tokens("Use snake_case, always: use it!"))
    ['always', 'case', 'it', 'snake', 'use']
    """
    if not isinstance(text, str):
        raise ParamError("text", text, "must be a text")
    return frozenset(_TOKEN.findall(text.casefold()))


def content_similarity(a: str, b: str) -> float:
    """Compare two texts by the Jaccard index of their words.

        J = |A ∩ B| / |A ∪ B|

    Parameters
    ----------
    a, b : texts.

    Returns
    -------
    Similarity in [0, 1]. Two texts without a word are alike only where they are equal.

    Raises
    ------
    ParamError : an argument is no text.

    References
    ----------
    .. [1] Jaccard, P. (1912). The distribution of the flora in the alpine zone. New Phytologist 11, 37–50.

    Examples
    --------
    >>> content_similarity("never use print", "use logging, never print")
    0.75
    """
    first, second = tokens(a), tokens(b)
    if not first and not second:
        return float(a == b)
    return len(first & second) / len(first | second)


def when_overlap(a: Mapping[str, Any], b: Mapping[str, Any]) -> float | None:
    """Compare two ``when`` mappings by the predicates that they share.

        2 · matches / (|a| + |b|)

    Parameters
    ----------
    a, b : predicate → wanted value or list. A key matches where both have it with a value in common.

    Returns
    -------
    Overlap in [0, 1]; None where either is empty or no key is shared, since two behaviours that are
    scoped along different axes cannot be compared by scope.

    Raises
    ------
    ParamError : an argument is no mapping.

    References
    ----------
    .. [1] Dice, L. R. (1945). Measures of the amount of ecologic association between species. Ecology
       26(3), 297–302.

    Examples
    --------
    >>> when_overlap({"language": "go", "task": "test"}, {"language": ["go", "rust"], "task": "deploy"})
    0.5
    >>> when_overlap({"language": "go"}, {}) is None
    True
    """
    first, second = scope("a", a), scope("b", b)
    shared = first.keys() & second.keys()
    if not shared:
        return None
    matches = sum(not first[key].isdisjoint(second[key]) for key in shared)
    return 2.0 * matches / (len(first) + len(second))


def behaviour_similarity(
    a_content: str, b_content: str, a_when: Mapping[str, Any], b_when: Mapping[str, Any]
) -> float:
    """Compare two behaviours by what they say and when they apply.

        .4 · when_overlap + .6 · content_similarity

    Parameters
    ----------
    a_content, b_content : what they say.
    a_when, b_when : when they apply. Where their overlap is undefined its weight goes to the content.

    Returns
    -------
    Similarity in [0, 1].

    Raises
    ------
    ParamError : a content that is no text, or a ``when`` that is no mapping.

    Examples
    --------
    >>> round(behaviour_similarity("run the tests", "run the tests", {"task": "fix"}, {"task": "add"}), 3)
    0.6
    >>> behaviour_similarity("run the tests", "run the tests", {"task": "fix"}, {})
    1.0
    """
    content, overlap = content_similarity(a_content, b_content), when_overlap(a_when, b_when)
    if overlap is None:
        return content
    return SIMILARITY.when * overlap + (1.0 - SIMILARITY.when) * content


def placement(similarity: float, *, more_specific: bool) -> Placement:
    """Decide what becomes of a new behaviour beside an old one.

    Above .9 they merge; above .7, and where the new one is more specific, it specialises the old one by
    an ``overrides`` link; else it is created on its own.

    Parameters
    ----------
    similarity : of the two, in [0, 1].
    more_specific : whether the new one's ``when`` narrows the old one's (``when.is_more_specific``).

    Raises
    ------
    ParamError : ``similarity`` outside its range.

    Examples
    --------
    >>> placement(0.95, more_specific=False), placement(0.9, more_specific=True)
    ('merge', 'specialise')
    """
    similarity = number("similarity", similarity, low=0.0, high=1.0)
    if similarity > SIMILARITY.merge:
        return "merge"
    return "specialise" if more_specific and similarity > SIMILARITY.specialise else "create"


def is_similar(similarity: float) -> bool:
    """Tell whether two behaviours get a ``similar-to`` link: .5 ≤ similarity < .9.

    >>> is_similar(0.5), is_similar(0.9)
    (True, False)
    """
    return SIMILARITY.link <= number("similarity", similarity, low=0.0, high=1.0) < SIMILARITY.merge
