"""How alike two behaviours are, and where a new one is placed beside an old one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from priming.config.values import dataclass
from priming.core.arguments.checks import check_number
from priming.core.when import scope
from priming.errors import ParamError

WHEN_SHARE = 0.4
"""The weight of the conditions of two behaviours; their words have the rest (floop)."""
MERGE = 0.9
"""The similarity above which behaviours are merged (floop)."""
NARROW = 0.7
"""The similarity above which a narrower behaviour specialises another (floop)."""
LINK = 0.5
"""The least similarity of a ``similar-to`` link, up to ``MERGE`` (floop)."""

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


def when_overlap(a: Mapping[str, Any], b: Mapping[str, Any]) -> float | None:
    """Compare two ``when`` mappings by the predicates that they share.

        2 · matches / (|a| + |b|)

    Parameters
    ----------
    a, b : predicate → required value or list. A key matches where both have it with a value in common.

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
    return _dice(scope("a", a), scope("b", b))


@dataclass(frozen=True, slots=True)
class ComparedBehaviour:
    """A behaviour prepared for many comparisons: its text, words and conditions."""

    content: str
    words: frozenset[str]
    scope: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, content: str, when: Mapping[str, Any]) -> ComparedBehaviour:
        """Prepare a text and its ``when``."""
        return cls(content, tokens(content), scope("when", when))


def likeness(a: ComparedBehaviour, b: ComparedBehaviour) -> float:
    """Compare two behaviours by their conditions and by the Jaccard index of their words.

        .4 · when_overlap + .6 · |A ∩ B| / |A ∪ B|

    Parameters
    ----------
    a, b : the behaviours. Two texts without a word are alike only where they are equal. Where the overlap of the
        conditions is undefined its weight goes to the words.

    Returns
    -------
    Similarity in [0, 1].

    References
    ----------
    .. [1] Jaccard, P. (1912). The distribution of the flora in the alpine zone. New Phytologist 11, 37–50.

    Examples
    --------
    >>> a = ComparedBehaviour.of("never use print", {"task": "fix"})
    >>> round(likeness(a, ComparedBehaviour.of("use logging, never print", {"task": "add"})), 3)
    0.45
    >>> likeness(a, ComparedBehaviour.of("use logging, never print", {}))
    0.75
    """
    content, overlap = _jaccard(a, b), _dice(a.scope, b.scope)
    if overlap is None:
        return content
    return WHEN_SHARE * overlap + (1.0 - WHEN_SHARE) * content


def _jaccard(a: ComparedBehaviour, b: ComparedBehaviour) -> float:
    if not a.words and not b.words:
        return float(a.content == b.content)
    shared = len(a.words & b.words)
    return shared / (len(a.words) + len(b.words) - shared)


def _dice(a: Mapping[str, frozenset[str]], b: Mapping[str, frozenset[str]]) -> float | None:
    shared = a.keys() & b.keys()
    if not shared:
        return None
    matches = sum(not a[key].isdisjoint(b[key]) for key in shared)
    return 2.0 * matches / (len(a) + len(b))


def placement(similarity: float, *, more_specific: bool) -> Placement:
    """Decide how a new behaviour relates to an old one.

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
    similarity = check_number("similarity", similarity, low=0.0, high=1.0)
    if similarity > MERGE:
        return "merge"
    return "specialise" if more_specific and similarity > NARROW else "create"


def is_similar(similarity: float) -> bool:
    """Tell whether two behaviours get a ``similar-to`` link: .5 ≤ similarity < .9.

    >>> is_similar(0.5), is_similar(0.9)
    (True, False)
    """
    return LINK <= check_number("similarity", similarity, low=0.0, high=1.0) < MERGE
