"""The parameters of recall: its recipe (``docs/recall.md``), anchors, links, probabilities, and what is active."""

from __future__ import annotations

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class RecallParams(Checked):
    """The recipe of the default profile (``docs/recall.md``); its weights are log-odds."""

    constant: float = param(-1.6, doc="log-odds of a memory of which nothing is known")
    size: float = param(-0.85, doc="weight of ln N, N the memories of the namespace")
    words: float = param(2.1, doc="weight of the evidence of words, in nats, divided by ln N")
    incidental: float = param(
        0.4, low=0.01, doc="how much of that evidence a word may give that is in common by chance"
    )
    meaning: float = param(
        1.0, doc="weight of the deviations of the cosine above what the cue has with anything"
    )
    vocabulary: float = param(0.6, doc="weight of the share of the cue of which any memory has a word")
    date: float = param(
        5.5, low=0.0, doc="weight of how well the time of a memory fits the date that the cue names"
    )
    named: float = param(3.5, low=0.0, doc="weight of a memory whose heading the cue names")
    rest: float = param(
        0.3, low=0.0, doc="weight of the share of the cue that a memory has and the best one lacks"
    )
    outdated: float = param(
        -3.0,
        low=-100.0,
        high=0.0,
        doc="weight of how far a later version that fits about as well is there",
    )
    other: float = param(
        -1.4, low=-100.0, high=0.0, doc="weight of a turn by another speaker than the one whom the cue names"
    )
    asks: float = param(-2.5, low=-100.0, high=0.0, doc="weight of a turn that ends in a question")
    information: float = param(
        3.0, low=0.0, doc="weight of what a turn tells: names, numbers, times, new words"
    )
    session: float = param(
        3.75, low=0.0, doc="weight of the share of the cue that the conversation of a turn has"
    )
    answered: float = param(0.8, low=0.0, doc="weight of how well the question fits that a turn follows")
    context: float = param(3.0, low=0.0, doc="weight of confirmed `when` predicates")
    feedback: float = param(
        3.0, low=0.0, doc="weight of the verdicts on a memory for similar cues, in [-1, 1]"
    )
    use: float = param(
        0.3, low=0.0, doc="weight of how often and recently a memory was used, less what of it is forgotten"
    )
    arrived: float = param(2.5, doc="log-odds of a memory at which all activation arrives")
    arrival: float = param(1.0, low=0.0, doc="weight of the logarithm of the activation that arrives")
    led: float = param(0.65, low=0.0, doc="weight of `meaning` for a memory at which activation arrives")
    idf: bool = param(True, doc="whether the cue's tokens are weighted by their rarity for its vector")
    near: bool = param(
        True, doc="whether words close in meaning to one of the cue count as part of it; names do not"
    )
    near_floor: float = param(
        0.25,
        low=0.0,
        high=0.99,
        unit="cosine",
        doc="minimum similarity at which one word can stand in for another",
    )
    near_most: int = param(12, low=1, unit="words", doc="maximum number of words that stand in for one")
    kind: bool = param(
        True, doc="whether the names of software count as the kind of software that the cue names"
    )
    date_fade: float = param(
        10.0,
        low=0.01,
        unit="days",
        doc="time after that date in which half of `date` is lost: what happened is often told later",
    )
    first_verdict: float = param(
        0.6,
        low=0.0,
        high=1.0,
        doc="what the first of the verdicts counts, and each further one of what is left to 1",
    )
    same_cue: float = param(
        0.5,
        low=0.0,
        high=1.0,
        doc="minimum similarity of two cues for that: the Jaccard index of their terms, weighted by idf",
    )
    temperature: float = param(0.8, low=0.001, doc="log-odds by which an anchor is e times another")
    continues: float = param(
        10.0,
        low=0.0,
        doc="logarithm of what arrives more at a memory that has all of the cue that its anchor lacks",
    )
    floor: float = param(
        0.2,
        low=0.0,
        high=1.0,
        unit="cosine",
        doc="in profiles without a probability: below this cosine, and without a shared term, nothing is returned",
    )
    heading_mention: float = param(
        8.0, low=0.0, doc="factor of a link to a name that is a heading, and again if it is the memory's own"
    )
    mention_max: int = param(10, low=1, unit="memories", doc="a name in more memories than this …")
    mention_share: float = param(0.02, low=0.0, high=1.0, doc="… and in more than this share carries nothing")


@dataclass(frozen=True, slots=True)
class RelevanceParams(Checked):
    """The probability of a hit among its rivals, and where an answer ends."""

    rivals: float = param(
        0.67, low=0.0, high=1.0, doc="how much the odds of all candidates together take from those of each"
    )
    recall_weight: float = param(
        50.0,
        low=0.0,
        doc="how much more recall counts than precision, β², where an answer ends",
        source="van Rijsbergen's F",
    )
    floor: float = param(0.01, low=0.0, high=1.0, doc="least probability of a hit, whatever the others are")
    width: int = param(
        20, low=1, unit="hits", doc="number of hits that are ranked, however few are to be returned"
    )


@dataclass(frozen=True, slots=True)
class LinkFactors(Checked):
    """Factors of links: effective weight = learned weight × the factor of its relation (``docs/laws.md``, 5)."""

    by_relation: tuple[tuple[str, float], ...] = param((), doc="factor of each relation named here")
    others: float = param(1.0, low=0.0, doc="factor of every other relation")
    similar: float = param(
        1.0,
        low=0.0,
        doc="factor of `similar-to` links made by rule; other than 1, it is 0 for those of turns; links made by hand"
        " count whole",
    )
    no_turn: float = param(
        1.0,
        low=0.0,
        doc="factor of `next` and `next-but-one` links made by rule whose memories are no turns of a conversation",
    )
    fan_out_names: bool = param(
        False,
        doc="whether a mention counts m/ln(1 + df) within the bounds of `mention_min` to `mention_share`",
    )
    terms: float = param(1.0, low=0.0, doc="factor of mentions of rare words (beside that of names)")
    mirror: bool = param(
        False, doc="whether `similar-to` is walked both ways if other links are walked outwards"
    )


@dataclass(frozen=True, slots=True)
class AnchorParams(Checked):
    """Where recall starts in the profiles other than `priming`."""

    evidence: str = param("cosine", choices=("cosine", "fused"), doc="evidence by which anchors are chosen")
    episodes: int = param(10, low=0, unit="memories", source="Ethos", doc="number of best episodes; 0: none")
    pool: int = param(
        50, low=1, unit="memories", doc="number of memories scored by a design that does not spread"
    )
    facts: int = param(
        10, low=0, unit="memories", source="Ethos", doc="number of best memories of the other kinds; 0: none"
    )
    widen: bool = param(True, doc="whether a recall of more hits starts from as many anchors of each kind")
