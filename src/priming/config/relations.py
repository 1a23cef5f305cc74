"""The sign of a relation: whether its links bring activation to their targets or take it away.

The sign belongs to the relation in a namespace, not to the link. A name that the list of opposition misses
brings activation, and the answer of the first link says so. No verdict strengthens a link that suppresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import lru_cache
from types import MappingProxyType

from priming.config.params.laws import SUPPRESSING
from priming.config.values import dataclass
from priming.config.words import CONSOLIDATED, MERGED, RELATIONS, STRUCTURE

DEPRECATED, LEARNED_FROM = "deprecated-to", "learned-from"
SOURCE_OF = "source-of"
"""The relation of a memory to the entity that sleep made of it and others."""
CONFLICTS, KEPT_BESIDE = "conflicts", "kept-beside"
"""Relations between two facts or rules about one thing: they contradict each other, or both hold."""
REPLACED = (MERGED, DEPRECATED, CONSOLIDATED)
"""Relations from a memory to its replacement."""
RANKED = ("overrides", "requires")
"""Relations that must not form a cycle, which a merge could close."""
OPPOSING = ("overrides", "conflicts")
"""Relations by which one behaviour removes another from an answer."""
UNDIRECTED = ("similar-to", "co-activated")
"""Relations that are stored once and mean both directions."""
BRINGS, TAKES = 1, -1
BUILT_IN = frozenset((*RELATIONS, *STRUCTURE))
"""The relations that the laws make and read; their signs are fixed."""
_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+")
_AFFIRMATION = (
    r"(?:accord|affirm|agree|alike|appl(?:y|ies)|coexist|coheren|compatib|complian|compl(?:y|ies)|conform|confirm|congru"
    r"|consisten|correct|corroborat|endors|equa|equivalen|hold|identi|impl(?:y|ies)|like|match|reconcil|related|same"
    r"|similar|substantiat|support|tenab|true|valid)\w*"
)
"""Words of agreement, by their stems."""
_AFFIRMED = re.compile(_AFFIRMATION)
_OPPOSITION = re.compile(
    r"adversar\w*|against|annul\w*|antagoni[sz]\w*|anti|anticorrelat\w*|antidot\w*|antithe\w*|antonym\w*|attack\w*"
    r"|ban(s|ned|ning)?|cancel\w*|challeng(es|ed|ing)|clash\w*|conflict\w*|contra|contra(dict|indicat|r|st|ven)\w*"
    r"|counter|counter(s|ed|ing|acts?|acted|acting|argues?|arguments?|evidence|examples?|mand\w*|vail\w*)"
    r"|critici[sz]\w*|debunk\w*|defeat\w*|den(y|ies|ied|ying|ials?)|differ(s|ed|ing|ent|ents|ence|ences)?"
    r"|dis(allow|approv|believ|claim|courag|credit|favou?r|own|proof|prov|qualif|put|sent|sua)\w*|dissent\w*|distinct"
    r"|doubt\w*|enem(y|ies)|exclu(de|ding|sive|sion)\w*|falsehood|falsif\w*|foe|forbid\w*|impossible|inhibit\w*|inimical"
    r"|invalidat\w*|irreconcil\w*|negat(es?|ed|ing|ions?|ory)|nullif\w*|objected|objection\w*|oppon\w*|oppos\w*|overrul\w*"
    r"|preclud\w*|prohibit\w*|rebut\w*|refut\w*|reject\w*|repudiat\w*|repugn\w*|retract\w*|revok\w*|rival\w*|suppress\w*"
    rf"|undercut\w*|undermin\w*|versus|veto\w*|vs|(un|in|dis|non|mis){_AFFIRMATION}"
)
"""Words of opposition, among them words of agreement with a prefix that negates them."""
_PHRASES = re.compile(r"\b(rul(e|es|ed|ing) out|objects? to|at odds|(struck|strik(e|es|ing)) (down|out))\b")
"""Opposition in several words."""
_FAILS = re.compile(r"\bfail(s|ed|ing)? to\b")
_CONTRACTED = re.compile(r"(?<=[a-z])n['’]t\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"not|never|neither|nor|lack(s|ed|ing)?|cannot|(do|does|did|is|are|was|were|has|have|had|would|should|could|ca|wo|sha)nt"
)
"""Words that negate whatever the name says: not-the-same-as, doesn't-support."""
_NEGATIVE = re.compile(r"no|non|without|free|resolv\w*|settl\w*|reconcil(e|es|ed|ing)")
"""Words that negate only a word of opposition or agreement after them: resolves-conflict-with, no-support-for."""


@lru_cache(maxsize=1024)
def sign_of_name(relation: str) -> int:
    """The sign of a relation by its name alone: words of opposition suppress, any other name excites.

    A negation reverses what it negates: "not-the-same-as" suppresses, "does-not-contradict" excites.

    >>> [sign_of_name(name) for name in ("contradicts", "isRefutedBy", "does_not_contradict", "reminds-of")]
    [-1, -1, 1, 1]
    """
    if relation in SUPPRESSING:
        return TAKES
    if relation in BUILT_IN:
        return BRINGS
    words = [word.lower() for word in _WORD.findall(_CONTRACTED.sub(" not", relation))]
    text = " ".join(words)
    opposed = [place for place, word in enumerate(words) if _OPPOSITION.fullmatch(word)]
    judged = [place for place, word in enumerate(words) if place in opposed or _AFFIRMED.fullmatch(word)]
    last = len(words) if _PHRASES.search(text) else max(judged, default=-1)
    reversals = int(bool(opposed) or bool(_PHRASES.search(text))) + len(_FAILS.findall(text))
    reversals += sum(
        bool(_NEGATION.fullmatch(word) or (place < last and _NEGATIVE.fullmatch(word)))
        for place, word in enumerate(words)
    )
    return TAKES if reversals % 2 else BRINGS


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
