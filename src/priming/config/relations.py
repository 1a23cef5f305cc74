"""The sign of a relation: whether its links bring activation to their targets or take it away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from priming.config.params.laws import SUPPRESSING
from priming.config.words import RELATIONS, STRUCTURE

BRINGS, TAKES = 1, -1
BUILT_IN = frozenset((*RELATIONS, *STRUCTURE))
"""The relations that the laws make and read; their signs are fixed."""
_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+")
_OPPOSITION = re.compile(
    r"against|antagoni[sz]\w*|antonym\w*|attack\w*|clash\w*|conflict\w*|contra|contradict\w*|contravene[sd]?"
    r"|counter|counter(s|ed|ing|acts?|acted|acting|argues?|arguments?|evidence|examples?)|debunk\w*|defeat\w*"
    r"|den(y|ies|ied|ying|ials?)|disagree\w*|discredit\w*|disprov\w*|disproof\w*|disput\w*|exclu(de|ding|sive|sion)\w*"
    r"|falsif\w*|incompatib\w*|inconsisten\w*|inhibit\w*|invalidat\w*|negat(es?|ed|ing|ions?|ory)|nullif\w*|oppos\w*"
    r"|overrul\w*|preclud\w*|rebut\w*|refut\w*|reject\w*|repudiat\w*|suppress\w*|undercut\w*|undermin\w*"
)
_RESOLUTION = re.compile(r"not|no|non|never|without|doesnt|isnt|cannot|resolv\w*|settl\w*|reconcil\w*")
"""Words before a word of opposition that take it back: does-not-contradict, resolves-conflict-with."""


@lru_cache(maxsize=1024)
def sign_of_name(relation: str) -> int:
    """The sign of a relation by its name alone: words of opposition suppress, any other name excites.

    >>> [sign_of_name(name) for name in ("contradicts", "isRefutedBy", "does_not_contradict", "reminds-of")]
    [-1, -1, 1, 1]
    """
    if relation in SUPPRESSING:
        return TAKES
    if relation in BUILT_IN:
        return BRINGS
    for word in (word.lower() for word in _WORD.findall(relation.replace("'", ""))):
        if _RESOLUTION.fullmatch(word):
            return BRINGS
        if _OPPOSITION.fullmatch(word):
            return TAKES
    return BRINGS


@dataclass(frozen=True, slots=True)
class RelationSigns:
    """The signs of a namespace's relations: stored signs first, then those derived from names."""

    stored: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def sign(self, relation: str) -> int:
        """1 if its links bring activation, −1 if they take it away."""
        stored = None if relation in BUILT_IN else self.stored.get(relation)
        return sign_of_name(relation) if stored is None else stored

    def suppresses(self, relation: str) -> bool:
        """Whether its links take activation away."""
        return self.sign(relation) == TAKES

    def suppressing(self, relations: Iterable[str], listed: tuple[str, ...]) -> tuple[str, ...]:
        """``listed``, the built-in relations that suppress in a profile, and those of ``relations`` that do too."""
        return (*listed, *(name for name in relations if name not in BUILT_IN and self.suppresses(name)))
