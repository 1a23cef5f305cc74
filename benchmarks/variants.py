"""The written search of designs, as far as it can be run again: other values of the default recall, and why each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from priming.config.profiles import Profile

_PARTS = ("recall", "spread", "links")
"""The parts of a profile whose values may be changed."""


@dataclass(frozen=True, slots=True)
class Variant:
    """The default recall with other values, or without some terms."""

    group: str
    name: str
    why: str
    changed: Mapping[str, Any] = field(default_factory=dict)
    ablate: tuple[str, ...] = ()

    def of(self, profile: Profile) -> Profile:
        """The profile as this variant has it: each value goes to the part that has such a field."""
        for part in _PARTS:
            own = {one.name for one in fields(getattr(profile, part))}
            new = {name: value for name, value in self.changed.items() if name in own}
            profile = replace(profile, **{part: replace(getattr(profile, part), **new)})
        return profile


def _steps(group: str, name: str, why: str, *values: Any) -> tuple[Variant, ...]:
    """One constant at several values."""
    return tuple(Variant(group, f"`{name}` {value:g}", why, {name: value}) for value in values)


def _one(group: str, name: str, why: str, *off: str, **changed: Any) -> Variant:
    return Variant(group, name, why, changed, off)


TERM = "terms"
WHY = {
    "words": "do the words themselves still tell something beside vectors?",
    "meaning": "does the vector tell something that words do not?",
    "near": "do words near in meaning help, or do they let in noise?",
    "named": "is a cue that names a heading asking for it?",
    "date": "does a day, month or year in the cue point at what was said then?",
    "rest": "should a question about two things get both?",
    "outdated": "should what a later memory says anew yield to it?",
    "other": "is a turn by another speaker than the one named less likely meant?",
    "asks": "do turns that ask answer less than others?",
    "information": "are names, numbers, times and new words what is asked for?",
    "session": "is a turn understood with its conversation?",
    "answered": "does a turn answer what the question before it asks?",
    "spread": "does spreading find what no match finds?",
    "next": "do the links to the turns before and after carry?",
    "names": "do the links through shared names carry?",
}
"""Each term that these sets can say something about, and the question that its ablation answers."""

ABLATIONS = tuple(_one(TERM, f"without `{name}`", why, name) for name, why in WHY.items())
MATCH = (
    *_steps("match", "words", "how much the evidence of words counts", 0.7, 0.9, 1.3, 1.6),
    *_steps("match", "meaning", "how much the deviation of the cosine counts", 0.7, 0.9, 1.4, 1.7),
    *_steps("match", "near_floor", "from which likeness a word may stand for another", 0.15, 0.35, 0.45),
    *_steps("match", "near_most", "fewer near words are cheaper, more reach further", 4, 8, 16),
)
SPREAD = (
    *_steps("spread", "temperature", "sharper or softer anchors", 0.4, 0.6, 1.2),
    *_steps("spread", "continues", "how much more arrives at what has the rest of the cue", 0.0, 4.0, 12.0),
    *_steps("spread", "arrival", "how much the logarithm of what arrives counts", 0.7, 1.3),
    *_steps("spread", "steps", "how many links activation may walk", 1, 2, 3, 4, 6),
    *_steps("spread", "gain", "how much of its activation a memory passes on", 0.6, 0.8, 0.9),
    *_steps("spread", "restart", "how much the anchors are fed again", 0.1, 0.2, 0.4),
)
LINKS = (
    *_steps("links", "similar", "links between near-duplicates, as in many designs", 0.0, 0.02, 0.2),
    *_steps("links", "terms", "links through rare words, as in entity graphs without names", 0.2, 1.0),
    *_steps("links", "heading_mention", "how much a link to a heading counts", 1.0, 4.0, 16.0),
    *_steps("links", "mention_max", "names in more memories may carry, or only rarer ones", 5, 10, 40),
)
VARIANTS = (*ABLATIONS, *MATCH, *SPREAD, *LINKS)


def tried(profile: Profile) -> tuple[Variant, ...]:
    """The variants that depart from a profile: where a value is its own there is nothing to try."""
    return tuple(one for one in VARIANTS if one.ablate or one.of(profile) != profile)
