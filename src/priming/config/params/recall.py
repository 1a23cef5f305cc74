"""The parameters of recall: its recipe (``docs/recall.md``), anchors, links and confidence, and what is active."""

from __future__ import annotations

from dataclasses import dataclass

from priming.config.params.checked import Checked, param


@dataclass(frozen=True, slots=True)
class RecallParams(Checked):
    """The recipe of the default profile (``docs/recall.md``). Each term can be ablated by name."""

    idf: bool = param(True, doc="whether the cue's tokens are weighted by their rarity for its vector")
    bm25: float = param(0.4, low=0.0, high=1.0, doc="weight of BM25")
    cosine: float = param(0.5, low=0.0, high=1.0, doc="weight of the cosine")
    near: bool = param(
        True, doc="whether words near in meaning to the cue's stand for them, in part; names do not"
    )
    near_floor: float = param(
        0.25, low=0.0, high=0.99, unit="cosine", doc="likeness from which a word stands for another"
    )
    near_gain: float = param(
        1.5, low=0.0, doc="factor on the likeness above the floor, which is the part it stands for"
    )
    near_most: int = param(12, low=1, unit="words", doc="words that stand for one of the cue's, at the most")
    pairs: float = param(0.1, low=0.0, high=1.0, doc="weight of adjacent stem pairs")
    named: float = param(0.25, low=0.0, doc="prior of a memory whose heading the cue names")
    named_bare: float = param(
        0.5, low=0.0, high=1.0, doc="share of it where the cue names the heading but not its parenthesis"
    )
    date: float = param(0.3, low=0.0, doc="prior of a memory of the date that the cue names")
    time: float = param(0.05, low=0.0, doc="prior of a time expression when the cue asks for a time")
    length: float = param(0.1, low=0.0, doc="prior of longer memories")
    question: float = param(0.1, low=0.0, doc="taken from memories that only ask")
    window: float = param(0.15, low=0.0, doc="weight of BM25 over a memory and what was said before it")
    session: float = param(0.1, low=0.0, doc="weight of BM25 over the session")
    gist: float = param(0.15, low=0.0, doc="weight of the cosine of a memory with what was said before it")
    answer: float = param(0.15, low=0.0, doc="prior of what follows a question, by how the question matches")
    specificity: float = param(0.2, low=0.0, doc="prior of names, numbers and times in what was said")
    novelty: float = param(
        0.1, low=0.0, doc="taken from what was said in words that older memories hold already"
    )
    context: float = param(0.3, low=0.0, doc="prior of confirmed `when` predicates")
    positive_feedback: float = param(
        0.25, low=0.0, doc="prior of a memory that verdicts on such a cue spoke for"
    )
    negative_feedback: float = param(
        0.15, low=0.0, doc="taken from memories that verdicts on such a cue spoke against"
    )
    retention: float = param(0.05, low=0.0, doc="taken from reviewed memories as they are forgotten")
    base: float = param(
        0.05,
        low=0.0,
        doc="prior of memories that were used, by how often and how lately, as far as they match",
    )
    same_cue: float = param(
        0.5,
        low=0.0,
        high=1.0,
        doc="likeness from which two cues are alike for that: Jaccard index of terms by their idf",
    )
    length_terms: int = param(
        25, low=1, unit="terms", doc="memories of this length get the whole length prior"
    )
    window_fade: float = param(
        0.6,
        low=0.0,
        high=1.0,
        doc="what a memory counts in the window of the next one; its square in that after",
    )
    specificity_full: int = param(3, low=1, doc="a memory with so many details gets the whole prior for them")
    novelty_full: int = param(10, low=1, unit="terms", doc="a memory that brought so many loses nothing")
    speaker_share: float = param(
        0.05, low=0.0, high=1.0, doc="share of memories that makes a heading a speaker"
    )
    date_day: float = param(1.3, low=0.0, doc="match of month and day")
    date_month: float = param(1.0, low=0.0, doc="match of the month")
    date_after: float = param(0.3, low=0.0, doc="match of the month after")
    date_year: float = param(0.5, low=0.0, doc="match of the year alone")
    anchors: int = param(20, low=1, unit="memories", doc="anchors of a recall of up to 20 hits")
    anchors_many: int = param(50, low=1, unit="memories", doc="anchors of a larger recall")
    temperature: float = param(0.08, low=0.001, doc="tau of the softmax over anchors")
    coverage_gain: float = param(2.2, low=0.0, doc="factor on the tf part of BM25 in name coverage")
    coverage_base: float = param(0.3, low=0.0, doc="share of lacking names that needs no other evidence")
    coverage_cap: float = param(0.5, low=0.0, high=1.0, doc="most of the activation that coverage moves")
    log_floor: float = param(0.00001, low=1e-12, doc="added to activation before the logarithm")
    floor: float = param(
        0.2,
        low=0.0,
        high=1.0,
        unit="cosine",
        doc="with no shared term, nothing is returned below this cosine",
    )
    heading_mention: float = param(
        8.0, low=0.0, doc="factor of a link to the name that is a memory's heading"
    )
    titled_mention: float = param(
        8.0, low=0.0, doc="factor of a link to a name that is the heading of any memory"
    )
    mention_min: int = param(2, low=1, unit="memories", doc="fewest memories of a name that carries")
    mention_max: int = param(10, low=1, unit="memories", doc="a name in more memories than this …")
    mention_share: float = param(0.02, low=0.0, high=1.0, doc="… and in more than this share carries nothing")
    bridge: float = param(
        1.0, low=0.0, doc="given to what shares a name with the best hit, by how it meets the rest of the cue"
    )
    bridge_text: float = param(
        0.5, low=0.0, high=1.0, doc="what a name counts for that where the text has it and the heading not"
    )
    bridge_names: int = param(
        16, low=1, unit="names", doc="names of the best hit that count for that, the rarest first"
    )
    covered: float = param(
        0.2,
        low=0.0,
        doc="taken from a hit that stands alone and whose words of the cue all stand in better hits already",
    )
    repeated: float = param(
        0.4,
        low=0.0,
        doc="taken from a hit that stands alone for better ones of its heading, half of it for one",
    )


@dataclass(frozen=True, slots=True)
class ConfidenceParams(Checked):
    """The confidence of an answer, and its floor (fitted: ``docs/quality.md``)."""

    constant: float = param(-2.0, doc="of an answer without evidence")
    score: float = param(5.3, doc="weight of the best hit's score, less what its neighbourhood adds")
    covered: float = param(0.9, doc="weight of the share of the cue that the best hit holds")
    cosine: float = param(3.4, doc="weight of the best hit's cosine")
    rivalry: float = param(
        1.2, doc="weight of how much better the speaker named meets the cue than the others"
    )
    floor: float = param(0.06, low=0.0, high=1.0, doc="the confidence floor: nothing is returned below it")
    least: int = param(
        50, low=0, unit="memories", doc="in a smaller namespace the floor alone decides nothing"
    )
    extreme: float = param(700.0, low=1.0, high=700.0, doc="where the exponential would overflow")


@dataclass(frozen=True, slots=True)
class LinkFactors(Checked):
    """Factors of links: effective weight = learned weight × the factor of its relation (``docs/laws.md``, 5)."""

    by_relation: tuple[tuple[str, float], ...] = param((), doc="factor of each relation named here")
    others: float = param(1.0, low=0.0, doc="factor of every other relation")
    similar: float = param(
        1.0, low=0.0, doc="factor of `similar-to` links made by rule; given ones count whole"
    )
    fan_out_names: bool = param(
        False,
        doc="whether a mention counts m/ln(1 + df) within the bounds of `mention_min` to `mention_share`",
    )
    terms: float = param(1.0, low=0.0, doc="factor of mentions of rare words (beside that of names)")
    mirror: bool = param(
        False, doc="whether `similar-to` is walked both ways where others are walked outwards"
    )


@dataclass(frozen=True, slots=True)
class AnchorParams(Checked):
    """Where recall starts in the profiles other than `priming`."""

    evidence: str = param("cosine", choices=("cosine", "fused"), doc="what anchors are chosen by")
    episodes: int = param(10, low=0, unit="memories", source="Ethos", doc="best episodes; 0: none")
    pool: int = param(50, low=1, unit="memories", doc="memories scored by a design that does not spread")
    facts: int = param(10, low=0, unit="memories", source="Ethos", doc="best of the other kinds; 0: none")
    widen: bool = param(True, doc="whether a recall of more hits starts from as many of each")


@dataclass(frozen=True, slots=True)
class ActiveParams(Checked):
    """How much of what is active an agent is shown."""

    tokens: int = param(2_000, low=0, unit="tokens", source="floop", doc="budget of `active`")
    most: int = param(200, low=1, unit="behaviours", doc="best behaviours that `active` returns")


@dataclass(frozen=True, slots=True)
class FadingParams(Checked):
    """Which memories count as fading."""

    days: float = param(7.0, low=0.0, unit="days", doc="how far ahead memories are considered")
    below: float = param(0.75, low=0.0, high=1.0, doc="retrievability then from which it fades")
    worth: float = param(0.5, low=0.0, high=1.0, doc="only memories of more importance")
    young_days: float = param(1.0, low=0.0, unit="days", doc="memories younger than this are not considered")


CONFIDENCE = ConfidenceParams()
ACTIVE = ActiveParams()
FADING = FadingParams()
