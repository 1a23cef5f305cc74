"""The fixed words of the interface. They stand apart, so that the command line can name them before it loads more."""

from __future__ import annotations

KINDS = ("episode", "fact", "procedure", "behavior", "correction", "failure", "pattern", "entity")
OUTCOMES = ("success", "partial", "neutral", "failure")
TRUST = ("untrusted", "tool", "agent", "user")
PROFILES = ("priming", "floop", "synapse", "ethos", "arc", "poc", "world-weaver")
STATUSES = ("active", "forgotten", "deprecated", "merged", "archived")
RULES = ("directive", "constraint", "preference", "procedure")
"""What kind of rule a behaviour is."""
VERDICTS = ("used", "not-relevant", "not-useful", "confirmed", "overridden")
"""What a caller may say of a hit."""
SOURCES = ("automatic", "conscious", "manual")
"""Who moves weights: what runs came to, a verdict, a hand. What rules and importers make has no source."""
PACK = "pack:"
"""The source of what a pack brought begins so: ``pack:NAME@VERSION``."""
STAGES = ("decay", "light", "deep", "skill", "prune", "link")
"""What a night of sleep does, in this order."""
NIGHT = "sleep:"
"""The source of what a night did begins so: ``sleep:`` and the id of its proposal."""
FORMATS = ("dot", "json", "html")
"""What the graph can be drawn as."""
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
)
