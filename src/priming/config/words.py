"""The fixed words of the interface, what trust allows, and the signs of relations.

They stand apart, so that the command line can name them before it loads more. Below the trust of an ``agent`` a rule
is quoted data: it neither overrides nor contradicts rules that may instruct, and absorbs no correction of a source
that may.

The sign of a relation says whether its links bring activation to their targets or take it away. It belongs to the
relation in a namespace, not to the link. A name that the list of opposition misses brings activation, and the answer
of the first link says so. No verdict strengthens a link that suppresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import lru_cache
from types import MappingProxyType

from priming.config.values import dataclass
from priming.errors import ParamError

KINDS = ("episode", "fact", "procedure", "behavior", "correction", "failure", "pattern", "entity")
TEXT_KINDS = tuple(kind for kind in KINDS if kind != "entity")
"""The kinds of memories that somebody remembered: entities are made by rule."""
FILE = "file"
"""What recall returns beside kinds: the entities of files, ranked by a law of their own."""
RECALLED = (*KINDS, FILE)
OUTCOMES = ("success", "partial", "neutral", "failure")
TRUST = ("untrusted", "tool", "agent", "user")
PROFILES = ("priming", "floop", "synapse", "ethos", "arc", "poc", "world-weaver")
STATUSES = ("active", "forgotten", "deprecated", "merged", "archived")
UNSTORED = {
    "duplicate": "the same text is stored already: nothing was stored",
    "echo": "a recent recall returned this: nothing was stored",
}
"""Why ``remember`` stored nothing, by the status of its answer."""
RULES = ("directive", "constraint", "preference", "procedure")
"""The kinds of rules."""
MERGED = "merged-into"
"""The relation of a memory that was merged to the one that it was merged into."""
CONSOLIDATED = "consolidated-into"
"""The relation of a memory to the gist or the procedure that has taken over what it says."""
STAND_FOR = (CONSOLIDATED, MERGED)
"""Relations from a memory to the one that stands for it since."""
VERDICTS = ("used", "not-relevant", "not-useful", "confirmed", "overridden")
"""The verdicts on a hit."""
SOURCES = ("automatic", "conscious", "manual")
"""What changed a weight: a run's outcome, a verdict, or a manual edit. What rules and importers write has none."""
EMBEDDER_CHOICE = "embedder"
"""The source of an operation that chose another embedder; its message is the name."""
HOOK = "hook"
"""The source of a correction that a hook read from a prompt: its conditions were inferred, and stated by nobody."""
BY_VERDICT = ", by the verdict "
"""In the reason of an operation that settled a run: before the id of the verdict that did it."""
PACK = "pack:"
"""The first part of the source of a pack's memories: ``pack:NAME@VERSION``."""
STAGES = ("decay", "light", "deep", "skill", "prune", "link")
"""The stages of a night of sleep, in order."""
TOKEN_KINDS = ("read", "write", "admin")
"""The kinds of tokens: each may do what those before it may."""
TOOL_GROUPS = ("core", "rules", "time", "care", "loop", "all")
"""The groups of operations that MCP can offer as tools."""
NIGHT = "sleep:"
"""The first part of the source of a night's operations: ``sleep:`` and the id of its proposal."""
SLEEP_SOURCE = "sleep"
"""The source of entities that sleep makes."""
FORMATS = ("dot", "json")
"""The formats of a drawn graph."""
ASSESSMENTS = ("simple", "moderate", "complex", "unclear", "impasse")
"""The assessments of an objective by reasoning."""
IMPASSES = ("no_approach", "conflict", "missing_capability", "repeated_failure")
"""Why reasoning can be stuck."""
RELATIONS = (
    "similar-to",
    "next",
    "next-but-one",
    "part-of",
    "mentions",
    "learned-from",
    "requires",
    "overrides",
    "conflicts",
    "co-activated",
    "source-of",
    "consolidated-into",
    "merged-into",
    "deprecated-to",
    "touches",
    "co-changed",
    "renamed-to",
    "removed-in",
)
TOUCHES, CO_CHANGED, RENAMED, REMOVED = RELATIONS[-4:]
"""Relations of files: of a memory to the files that it touches, of files that change together, of a file to its later
name, and of a file to the commit that removed it."""
STRUCTURE = frozenset(
    {
        *("next", "next-but-one", "part-of", "mentions", "learned-from", "source-of", "consolidated-into"),
        *("overrides", "conflicts", "kept-beside", "merged-into", "deprecated-to"),
        *(TOUCHES, RENAMED, REMOVED),
    }
)
"""Relations that say how memories belong together, and not how strongly one brings up the other.

Hebb's rule and the linear fading of World Weaver leave them alone."""
DEPRECATED, LEARNED_FROM = "deprecated-to", "learned-from"
SOURCE_OF = "source-of"
"""The relation of a memory to the entity that sleep made of it and others."""
CONFLICTS, KEPT_BESIDE = "conflicts", "kept-beside"
"""Relations between two statements or rules about one thing: they contradict each other, or both hold."""
REPLACED = (MERGED, DEPRECATED, CONSOLIDATED)
"""Relations from a memory to its replacement."""
RANKED = ("overrides", "requires")
"""Relations that must not form a cycle, which a merge could close."""
OPPOSING = ("overrides", "conflicts")
"""Relations by which one behaviour removes another from an answer."""
UNDIRECTED = ("similar-to", "co-activated")
"""Relations that are stored once and mean both directions."""
SUPPRESSING = ("conflicts", "overrides", "deprecated-to", "merged-into")
"""The built-in relations that take activation away."""
BRINGS, TAKES = 1, -1
BUILT_IN = frozenset((*RELATIONS, *STRUCTURE))
"""The relations that the laws make and read; their signs are fixed."""

FOLLOW = "follow"
"""The kind of the operation that says in which state a source was followed; it changes nothing."""

REASONS = {
    "remember": "a memory was stored",
    "learn": "a correction was learned",
    "link": "memories were linked by hand",
    "set-strength": "the weight was set by hand",
    "supersede": "a newer text was stored",
    "forget": "it was taken out of recall by hand",
    "reembed": "the embedder was changed",
    "purge": "it was to be erased for good",
    "deprecate": "it no longer applies",
    "restore": "it applies again",
    "merge": "they were merged by hand",
    "deduplicate": "rules that nearly repeat each other",
    "alias": "two names of one entity",
    "keep-both": "it was settled that both may hold",
    "feedback": "memories were judged, without a recall",
    "done": "a procedure was carried out",
    "run-start": "a piece of work began",
    "run-end": "a piece of work ended; its output waits for a verdict",
    "import": "an export was read",
    "sleep": "it was time to sleep",
}
"""The default reason of an operation, by its kind; for other kinds the message states it."""


INSTRUCTING = "agent"
"""The lowest trust at which rules are shown as rules; below it they are quoted data."""
_SOURCES = {"untrusted": "from an untrusted source", "tool": "from a tool"}


def least(trusts: Iterable[str]) -> str:
    """Return the trust of a memory derived from sources with these trusts: the lowest of them.

        untrusted < tool < agent < user

    Parameters
    ----------
    trusts : at least one of ``priming.types.TRUST``.

    Raises
    ------
    ParamError : an unknown trust, or no trust at all.

    Examples
    --------
    >>> least(["user", "tool", "agent"])
    'tool'
    """
    ranks = [_rank(trust) for trust in trusts]
    if not ranks:
        raise ParamError("trusts", [], f"must be at least one of {', '.join(TRUST)}")
    return TRUST[min(ranks)]


def is_trusted_as(trust: str, other: str) -> bool:
    """Tell whether ``trust`` is at least ``other``.

    >>> is_trusted_as("agent", "tool"), is_trusted_as("tool", "agent")
    (True, False)
    """
    return _rank(trust) >= _rank(other)


def instructs(trust: str) -> bool:
    """Tell whether a rule of this trust may be put before an agent as a rule, rather than as quoted data.

    >>> instructs("user"), instructs("tool")
    (True, False)
    """
    return is_trusted_as(trust, INSTRUCTING)


def source_note(trust: str) -> str:
    """Say where a memory comes from if its source may not instruct; empty for others.

    >>> source_note("tool"), source_note("user")
    ('from a tool', '')
    """
    return _SOURCES.get(trust, "")


def _rank(trust: str) -> int:
    if trust not in TRUST:
        raise ParamError("trust", trust, f"must be one of {', '.join(TRUST)}")
    return TRUST.index(trust)


_WORD = r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+"
_AFFIRMATION = (
    r"(?:accord|affirm|agree|alike|appl(?:y|ies)|coexist|coheren|compatib|complian|compl(?:y|ies)|conform|confirm|congru"
    r"|consisten|correct|corroborat|endors|equa|equivalen|hold|identi|impl(?:y|ies)|like|match|reconcil|related|same"
    r"|similar|substantiat|support|tenab|true|valid)\w*"
)
"""Words of agreement, by their stems."""
_OPPOSITION = (
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
_PHRASES = r"\b(rul(e|es|ed|ing) out|objects? to|at odds|(struck|strik(e|es|ing)) (down|out))\b"
"""Opposition in several words."""
_FAILS = r"\bfail(s|ed|ing)? to\b"
_CONTRACTED = r"(?i:(?<=[a-z])n['’]t\b)"
_NEGATION = (
    r"not|never|neither|nor|lack(s|ed|ing)?|cannot"
    r"|(do|does|did|is|are|was|were|has|have|had|would|should|could|ca|wo|sha)nt"
)
"""Words that negate whatever the name says: not-the-same-as, doesn't-support."""
_NEGATIVE = r"no|non|without|free|resolv\w*|settl\w*|reconcil(e|es|ed|ing)"
"""Words that negate only a word of opposition or agreement after them: resolves-conflict-with, no-support-for."""
SIGN_PATTERNS = {
    "affirmation": _AFFIRMATION,
    "opposition": _OPPOSITION,
    "phrases": _PHRASES,
    "fails": _FAILS,
    "negation": _NEGATION,
    "negative": _NEGATIVE,
}
"""What the sign of a relation is read by, for a database that reads it too."""


@lru_cache(maxsize=1024)
def sign_of_name(relation: str) -> int:
    """Return the sign of a relation by its name alone: words of opposition suppress, any other name excites.

    A negation reverses what it negates: "not-the-same-as" suppresses, "does-not-contradict" excites.

    >>> [sign_of_name(name) for name in ("contradicts", "isRefutedBy", "does_not_contradict", "reminds-of")]
    [-1, -1, 1, 1]
    """
    if relation in SUPPRESSING:
        return TAKES
    if relation in BUILT_IN:
        return BRINGS
    words = [word.lower() for word in re.findall(_WORD, re.sub(_CONTRACTED, " not", relation))]
    text = " ".join(words)
    opposed = [place for place, word in enumerate(words) if re.fullmatch(_OPPOSITION, word)]
    judged = [
        place for place, word in enumerate(words) if place in opposed or re.fullmatch(_AFFIRMATION, word)
    ]
    last = len(words) if re.search(_PHRASES, text) else max(judged, default=-1)
    reversals = int(bool(opposed) or bool(re.search(_PHRASES, text))) + len(re.findall(_FAILS, text))
    reversals += sum(
        bool(re.fullmatch(_NEGATION, word) or (place < last and re.fullmatch(_NEGATIVE, word)))
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
        """Tell whether its links take activation away."""
        return self.sign(relation) == TAKES

    def suppressing(self, relations: Iterable[str], listed: tuple[str, ...]) -> tuple[str, ...]:
        """Return ``listed``, a profile's built-in relations that suppress, and those of ``relations`` that do too."""
        return (*listed, *(name for name in relations if name not in BUILT_IN and self.suppresses(name)))
