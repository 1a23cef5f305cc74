"""The fixed words of the interface, and what trust allows.

They stand apart, so that the command line can name them before it loads more. Below the trust of an ``agent`` a rule
is quoted data: it neither overrides nor contradicts rules that may instruct, and absorbs no correction of a source
that may.
"""

from __future__ import annotations

from collections.abc import Iterable

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
FORMATS = ("dot", "json", "html")
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
    "merge": "both say the same",
    "deduplicate": "rules that nearly repeat each other",
    "alias": "two names of one entity",
    "keep-both": "the conflict was resolved by hand",
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
