"""The parameters of recall: its recipe (``docs/recall.md``), anchors, links, probabilities, and what is active."""

from __future__ import annotations

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class RecallParams(Checked):
    """The recipe of the default profile (``docs/recall.md``). Each term can be ablated by name."""

    idf: bool = param(True, doc="whether the cue's tokens are weighted by their rarity for its vector")
    bm25: float = param(0.6, low=0.0, high=1.0, doc="weight of BM25")
    cosine: float = param(0.3, low=0.0, high=1.0, doc="weight of the cosine for a short cue")
    cosine_terms: int = param(
        6, low=1, unit="terms", doc="beyond this length of the cue, the weight of the cosine falls with it"
    )
    sentence: float = param(
        1.33,
        low=0.0,
        doc="factor on the weight of the cosine, for cues of any length, where vectors are also of sentences",
    )
    near: bool = param(
        True,
        doc="whether words close in meaning to one of the cue count as part of it; names do not",
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
    pairs: float = param(0.1, low=0.0, high=1.0, doc="weight of adjacent stem pairs")
    named: float = param(0.25, low=0.0, doc="bonus for a memory whose heading the cue names")
    date: float = param(0.35, low=0.0, doc="bonus for a memory of the date that the cue names")
    date_fade: float = param(
        10.0,
        low=0.01,
        unit="days",
        doc="time after that date in which half of this bonus is lost: what happened is often told later",
    )
    conversation: float = param(
        0.6, low=0.0, doc="weight of the match of the conversation around a turn, by words and by meaning"
    )
    window_fade: float = param(
        0.6,
        low=0.0,
        high=1.0,
        doc="how much a turn counts in the window of the next one; its square in the window after that",
    )
    information: float = param(
        0.25,
        low=0.0,
        doc="bonus for what a turn tells: names, numbers, times, new words, and that it does not ask",
    )
    information_full: int = param(
        20,
        low=1,
        unit="words",
        doc="number of new words at which a turn gets all of this bonus that is for words",
    )
    detail: float = param(5.0, low=0.0, unit="words", doc="new words that a name, number or time counts for")
    statement: float = param(
        0.3, low=0.0, high=1.0, doc="share of this bonus for a turn that does not end in a question"
    )
    context: float = param(0.3, low=0.0, doc="bonus for confirmed `when` predicates")
    feedback: float = param(
        0.2,
        low=0.0,
        doc="bonus for a memory that received positive verdicts for a similar cue; penalty for negative",
    )
    useful_below: float = param(
        0.1,
        low=0.0,
        high=1.0,
        doc="how far below the best evidence the words of cues for which a memory was useful can raise it",
    )
    retention: float = param(0.05, low=0.0, doc="penalty for reviewed memories as they are forgotten")
    base: float = param(
        0.02,
        low=0.0,
        doc="bonus for memories by how often and how recently they were used, for words of the cue",
    )
    base_elsewhere: float = param(
        0.02,
        low=0.0,
        high=1.0,
        doc="share of `base` that counts for other words than those the memory was used for, times its match",
    )
    first_verdict: float = param(
        0.6,
        low=0.0,
        high=1.0,
        doc="what the first of these verdicts counts, and each further one of what is left to 1",
    )
    same_cue: float = param(
        0.5,
        low=0.0,
        high=1.0,
        doc="minimum similarity of two cues for that: the Jaccard index of their terms, weighted by idf",
    )
    anchors: int = param(
        20, low=1, unit="memories", doc="anchors of a recall; as many as hits are wanted, if those are more"
    )
    temperature: float = param(0.08, low=0.001, doc="tau of the softmax over anchors")
    coverage_base: float = param(
        0.3, low=0.0, doc="share of the missing names that counts without other evidence"
    )
    log_floor: float = param(0.00001, low=1e-12, doc="added to activation before the logarithm")
    floor: float = param(
        0.2,
        low=0.0,
        high=1.0,
        unit="cosine",
        doc="below this cosine, and without a shared term, nothing is returned",
    )
    heading_mention: float = param(
        8.0, low=0.0, doc="factor of a link to a name that is a heading, and again if it is the memory's own"
    )
    mention_max: int = param(10, low=1, unit="memories", doc="a name in more memories than this …")
    mention_share: float = param(0.02, low=0.0, high=1.0, doc="… and in more than this share carries nothing")
    bridge: float = param(
        1.2,
        low=0.0,
        doc="bonus for sharing a name with the best hit, scaled by the match with the rest of the cue",
    )
    bridge_text: float = param(
        0.5,
        low=0.0,
        high=1.0,
        doc="how much a name counts for that where it is in the text and not in the heading",
    )
    repeated: float = param(
        0.5,
        low=0.0,
        doc="penalty for a hit that is no turn, if better hits have its words of the cue and its heading",
    )


@dataclass(frozen=True, slots=True)
class ConfidenceParams(Checked):
    """The confidence that a recall answers its cue (fitted: ``docs/quality.md``)."""

    constant: float = param(-1.8, doc="log-odds of an answer without evidence")
    score: float = param(5.4, doc="weight of the best hit's score, less what its neighbourhood adds")
    covered: float = param(0.7, doc="weight of the share of the cue that the best hit holds")
    cosine: float = param(3.4, doc="weight of the best hit's cosine")
    rivalry: float = param(
        1.2, doc="weight of how much better the speaker named meets the cue than the others"
    )
    asks: float = param(-1.0, doc="weight of a best hit that is a question: it answers nothing")
    extreme: float = param(700.0, low=1.0, high=700.0, doc="limit of the exponent, against overflow")


@dataclass(frozen=True, slots=True)
class RelevanceParams(Checked):
    """The relevance of a hit, a probability, and its floor (fitted by ``benchmarks/relevance.py``)."""

    constant: float = param(-3.88, doc="log-odds of a hit without evidence")
    confidence: float = param(0.38, doc="weight of the log-odds of the confidence that there is an answer")
    match: float = param(16.7, doc="weight of BM25, as a share of the idf of the cue and of ln n")
    answered: float = param(
        0.8, low=0.0, high=1.0, doc="share of a question's match that counts for the turn that answers it"
    )
    memories: float = param(0.18, doc="weight of ln n, n the memories of the namespace")
    lead: float = param(2.0, doc="weight of the score above that of the hit at the rank `rival`, 1 at most")
    behind: float = param(
        -1.29, doc="weight of the score below the best, times the log-odds of the confidence if above 0"
    )
    activation: float = param(0.24, doc="weight of the log of the activation, outside of conversations")
    bridge: float = param(7.4, doc="weight of the bridge: how well a hit continues from the best one")
    turn: float = param(-0.5, doc="weight of a turn of a conversation: others say nearly the same")
    asks: float = param(-1.0, doc="weight of a turn that ends in a question")
    open: float = param(
        0.5,
        low=0.0,
        high=1.0,
        doc="share of the cue's terms, by their idf, that the best hit of an open cue lacks",
    )
    led: float = param(
        0.0065,
        low=0.0,
        high=1.0,
        doc="smallest share of the best hit's activation that leads on from it over links, if the cue is open",
    )
    led_well: float = param(
        0.0135,
        low=0.0,
        high=1.0,
        doc="such a share that is enough by itself, if the cue is open; the smallest, if it is not",
    )
    led_surely: float = param(
        0.05,
        low=0.0,
        high=1.0,
        doc="such a share that is always enough by itself: a link made on purpose has it, or two in a row",
    )
    led_near: float = param(
        0.5,
        low=0.0,
        high=1.0,
        doc="smallest part of the largest such share: the memories that one link or name leads to go together",
    )
    least_most: float = param(
        0.05,
        low=0.0,
        high=1.0,
        doc="least relevance of a hit that the best leads to, is of the date named, or proved for a similar cue",
    )
    sure: float = param(0.25, low=0.0, high=1.0, doc="relevance from which the best hit leads to others")
    recall_weight: float = param(
        12.0,
        low=0.0,
        doc="how much more recall counts than precision, β², where an answer ends",
        source="van Rijsbergen's F",
    )
    few: int = param(
        200,
        low=1,
        unit="memories",
        doc="in smaller ones recall counts more, by the root of how much, cues are open, and `spoken` is less",
    )
    alike: float = param(
        0.3,
        low=0.0,
        high=1.0,
        doc="share of the best BM25 from which a memory counts among those that match a cue alike",
    )
    broad: float = param(
        40.0, low=1.0, unit="memories", doc="a cue is broad that more memories than this match alike"
    )
    spoken: float = param(
        3.0,
        low=1.0,
        doc="least breadth of a cue whose best hit is a turn of a conversation of `few` memories or more",
    )
    floor: float = param(
        0.03, low=0.0, high=1.0, doc="least relevance of a hit, whatever the others are; less for a broad cue"
    )
    least: int = param(
        5, low=0, unit="memories", doc="minimum size of a namespace in which the default floor applies"
    )
    rival: int = param(10, low=1, unit="hits", doc="the rank of the hit over which others have a lead")
    width: int = param(
        20, low=1, unit="hits", doc="number of hits that are ranked, however few are to be returned"
    )
    extreme: float = param(700.0, low=1.0, high=700.0, doc="limit of the exponent, against overflow")


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


@dataclass(frozen=True, slots=True)
class ActiveParams(Checked):
    """How much of what is active an agent is shown."""

    tokens: int = param(2_000, low=0, unit="tokens", source="floop", doc="budget of `active`")
    most: int = param(200, low=1, unit="behaviours", doc="maximum number of behaviours that `active` returns")


@dataclass(frozen=True, slots=True)
class FadingParams(Checked):
    """Which memories count as fading."""

    days: float = param(7.0, low=0.0, unit="days", doc="time ahead for which retrievability is computed")
    below: float = param(
        0.75, low=0.0, high=1.0, doc="retrievability at that time below which a memory is fading"
    )
    worth: float = param(0.5, low=0.0, high=1.0, doc="minimum worth of a memory")
    young_days: float = param(1.0, low=0.0, unit="days", doc="minimum age of a memory")


CONFIDENCE = ConfidenceParams()
RELEVANCE = RelevanceParams()
ACTIVE = ActiveParams()
FADING = FadingParams()
