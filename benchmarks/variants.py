"""The written search of designs, as far as it can be run again: other values of the default recall, and why each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from priming.config.profiles import PRIMING, Profile

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


def _relations(*factors: tuple[str, float]) -> dict[str, Any]:
    """Other factors of some relations, beside those of the default."""
    return {"by_relation": tuple({**dict(PRIMING.links.by_relation), **dict(factors)}.items())}


TERM = "terms"
WHY = {
    "bm25": "do the words themselves still tell something beside vectors and windows?",
    "cosine": "does the vector tell something that words and their neighbours do not?",
    "near": "do words near in meaning help, or do they let in noise?",
    "pairs": "are two words side by side more than the same two apart?",
    "named": "is a cue that names a heading or a speaker asking for it?",
    "date": "does a day, month or year in the cue point at what was said then?",
    "conversation": "is a turn understood with what was said around it?",
    "information": "are names, numbers, times and new words what is asked for?",
    "coverage": "should a question about two things start from both?",
    "spread": "does spreading find what no match finds?",
    "next": "do the links to the turns before and after carry?",
    "names": "do the links through shared names carry?",
    "bridge": "should what shares a name with the best hit and meets the rest of the cue follow it?",
    "repeated": "should a hit yield that only repeats the words or has the heading of better ones?",
}
"""Each term that these sets can say something about, and the question that its ablation answers."""

ABLATIONS = tuple(_one(TERM, f"without `{name}`", why, name) for name, why in WHY.items())

MATCH = (
    _one("match", "bm25 .3, cosine .6", "as in the first design: meaning before words", bm25=0.3, cosine=0.6),
    _one("match", "bm25 .5, cosine .4", "words before meaning", bm25=0.5, cosine=0.4),
    _one("match", "bm25 .6, cosine .3", "words far before meaning", bm25=0.6, cosine=0.3),
    _one("match", "words alone", "no vector takes part in the match", "cosine"),
    _one("match", "vectors alone", "no words in the match, but those of the priors", "bm25", "pairs"),
    *_steps("match", "pairs", "how much two words side by side should count", 0.05, 0.1, 0.2),
    *_steps(
        "match", "near_floor", "from which likeness a word may stand for another", 0.15, 0.25, 0.35, 0.45
    ),
    *_steps("match", "near_most", "fewer near words are cheaper, more reach further", 4, 8, 16),
)
DIALOGUE = (
    *_steps("dialogue", "conversation", "the weight of what was said around a turn", 0.3, 0.45, 0.75, 0.9),
    *_steps("dialogue", "window_fade", "how fast what was said before is forgotten", 0.4, 0.5, 0.7, 0.8),
    *_steps("dialogue", "information", "the weight of what a turn tells", 0.1, 0.15, 0.2, 0.3, 0.4),
    *_steps("dialogue", "information_full", "how many new words are enough", 10, 15, 30),
    *_steps("dialogue", "detail", "how many new words a name, number or time is worth", 2.0, 3.0, 8.0),
    *_steps("dialogue", "statement", "how much of that a turn loses that asks", 0.0, 0.15, 0.45, 0.6),
    *_steps("dialogue", "date", "how much a date in the cue counts", 0.2, 0.3, 0.4),
    *_steps("dialogue", "date_fade", "how many days halve it", 3.0, 7.0, 14.0, 30.0),
    *_steps("dialogue", "named", "how much a named speaker or heading counts", 0.15, 0.2, 0.3),
)
SPREAD = (
    *_steps(
        "spread", "temperature", "sharper or softer anchors, and so the last score", 0.06, 0.08, 0.1, 0.12
    ),
    *_steps(
        "spread", "anchors", "fewer starting points, or more for questions with many answers", 10, 20, 30, 50
    ),
    *_steps("spread", "steps", "how many links activation may walk", 1, 2, 3, 4, 6),
    *_steps("spread", "gain", "how much of its activation a memory passes on", 0.6, 0.8, 0.9),
    *_steps("spread", "restart", "how much the anchors are fed again", 0.1, 0.2, 0.4),
    *_steps("spread", "log_floor", "how deep the logarithm looks", 1e-06, 1e-05, 0.0001),
    _one("spread", "no spread, 100 anchors", "direct matches only, but many", "spread", anchors=100),
    *_steps(
        "spread", "coverage_base", "how much a missing name counts without other evidence", 0.0, 0.6, 1.0
    ),
    _one("spread", "neither names nor `next`", "nothing but given links", "names", "next"),
)
LINKS = (
    *_steps("links", "similar", "links between near-duplicates, as in many designs", 0.0, 0.02, 0.2),
    *_steps("links", "terms", "links through rare words, as in entity graphs without names", 0.2, 1.0),
    Variant(
        "links",
        "`part-of` .2",
        "links to the session as a whole",
        _relations(("part-of", 0.2)),
    ),
    Variant(
        "links",
        "`part-of` .5",
        "the same, stronger",
        _relations(("part-of", 0.5)),
    ),
    Variant(
        "links",
        "`next` .15",
        "weaker links to the turns beside",
        _relations(("next", 0.15), ("next-but-one", 0.075)),
    ),
    *_steps("links", "heading_mention", "how much a link to a heading counts", 1.0, 4.0, 16.0),
    *_steps("links", "mention_max", "names in more memories may carry, or only rarer ones", 5, 10, 40),
)
YIELD = (
    *_steps("yielding", "bridge", "how much what leads on from the best hit gains", 0.5, 1.0, 1.5),
    *_steps("yielding", "bridge_text", "how much a name counts there outside of headings", 0.25, 0.75, 1.0),
    *_steps("yielding", "repeated", "how much a hit loses that repeats better ones", 0.25, 0.75, 1.0),
)
EARLIER: Mapping[str, Any] = {
    "bm25": 0.3,
    "cosine": 0.6,
    "near": False,
    "named": 0.2,
    "date": 0.25,
    "information": 0.0,
    "heading_mention": 1.0,
    "bridge": 0.0,
    "repeated": 0.0,
}
"""The constants that this work began from, as far as there are such by now."""
FIRST = Variant("first", "where this work began", "the constants of the first design", EARLIER)

VARIANTS = (*ABLATIONS, *MATCH, *DIALOGUE, *SPREAD, *LINKS, *YIELD, FIRST)


def tried(profile: Profile) -> tuple[Variant, ...]:
    """The variants that depart from a profile: where a value is its own there is nothing to try."""
    return tuple(one for one in VARIANTS if one.ablate or one.of(profile) != profile)
