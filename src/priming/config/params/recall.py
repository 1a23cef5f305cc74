"""The parameters of recall (``docs/recall.md``), anchors, links and probabilities, and of linking and learning."""

from __future__ import annotations

from priming.config.values import Checked, dataclass, param


@dataclass(frozen=True, slots=True)
class RecallParams(Checked):
    """The recipe of the default profile (``docs/recall.md``); its weights are log-odds."""

    constant: float = param(-1.6)
    """Log-odds of a memory of which nothing is known."""
    size: float = param(-0.85)
    """Weight of ln N, N the memories of the namespace."""
    words: float = param(2.1)
    """Weight of the evidence of words, in nats, divided by ln N."""
    incidental: float = param(0.4, low=0.01)
    """How much of that evidence a word may give that is in common by chance."""
    meaning: float = param(1.0)
    """Weight of the deviations of the cosine above what the cue has with anything."""
    vocabulary: float = param(0.6)
    """Weight of the share of the cue of which any memory has a word."""
    date: float = param(5.5, low=0.0)
    """Weight of how well the time of a memory fits the date that the cue names."""
    named: float = param(3.5, low=0.0)
    """Weight of a memory whose heading the cue names."""
    rest: float = param(0.3, low=0.0)
    """Weight of the share of the cue that a memory has and the best one lacks."""
    outdated: float = param(-3.25, low=-100.0, high=0.0)
    """Weight of how far a later version that fits about as well is there."""
    other: float = param(-1.4, low=-100.0, high=0.0)
    """Weight of a turn by another speaker than the one whom the cue names."""
    asks: float = param(-2.5, low=-100.0, high=0.0)
    """Weight of a turn that ends in a question."""
    information: float = param(3.0, low=0.0)
    """Weight of what a turn tells: names, numbers, times, new words."""
    session: float = param(3.75, low=0.0)
    """Weight of the share of the cue that the conversation of a turn has."""
    answered: float = param(0.8, low=0.0)
    """Weight of how well the question fits that a turn follows."""
    context: float = param(3.0, low=0.0)
    """Weight of confirmed `when` predicates."""
    feedback: float = param(3.5, low=0.0)
    """Weight of the verdicts on a memory for similar cues, in [-1, 1]."""
    use: float = param(0.3, low=0.0)
    """Weight of how often and recently a memory was used, less what of it is forgotten."""
    arrived: float = param(2.25)
    """Log-odds of a memory at which all activation arrives."""
    arrival: float = param(1.0, low=0.0)
    """Weight of the logarithm of the activation that arrives."""
    led: float = param(0.3, low=0.0)
    """Weight of `meaning` for a memory at which activation arrives."""
    idf: bool = param(True)
    """Whether the cue's tokens are weighted by their rarity for its vector."""
    passages: bool = param(True)
    """Whether a long text is as near as its nearest passage."""
    near: bool = param(True)
    """Whether words close in meaning to one of the cue count as part of it; names do not."""
    near_floor: float = param(0.25, low=0.0, high=0.99, unit="cosine")
    """Minimum similarity at which one word can stand in for another."""
    near_most: int = param(12, low=1, unit="words")
    """Maximum number of words that stand in for one."""
    kind: bool = param(True)
    """Whether the names of software count as the kind of software that the cue names."""
    date_fade: float = param(10.0, low=0.01, unit="days")
    """Time after that date in which half of `date` is lost: what happened is often told later."""
    first_verdict: float = param(0.6, low=0.0, high=1.0)
    """What the first of the verdicts counts, and each further one of what is left to 1."""
    same_cue: float = param(0.5, low=0.0, high=1.0)
    """Minimum similarity of two cues for that: the Jaccard index of their terms, weighted by idf."""
    temperature: float = param(0.8, low=0.001)
    """Log-odds by which an anchor is e times another."""
    continues: float = param(10.0, low=0.0)
    """Logarithm of what arrives more at a memory that has all of the cue that its anchor lacks."""
    floor: float = param(0.2, low=0.0, high=1.0, unit="cosine")
    """In profiles without a probability: below this cosine, and without a shared term, nothing is returned."""
    heading_mention: float = param(8.0, low=0.0)
    """Factor of a link to a name that is a heading, and again if it is the memory's own."""
    mention_max: int = param(10, low=1, unit="memories")
    """A name in more memories than this …"""
    mention_share: float = param(0.02, low=0.0, high=1.0)
    """… and in more than this share carries nothing."""


@dataclass(frozen=True, slots=True)
class RelevanceParams(Checked):
    """The probability of a hit among its rivals, and where an answer ends."""

    rivals: float = param(0.75, low=0.0, high=1.0)
    """How much the odds of all candidates together take from those of each."""
    recall_weight: float = param(65.0, low=0.0, source="van Rijsbergen's F")
    """How much more recall counts than precision, β², where an answer ends."""
    floor: float = param(0.008, low=0.0, high=1.0)
    """Least probability of the best hit: below it nothing is returned."""
    width: int = param(20, low=1, unit="hits")
    """Number of hits that are ranked, however few are to be returned."""


@dataclass(frozen=True, slots=True)
class LinkFactors(Checked):
    """Factors of links: effective weight = learned weight × the factor of its relation (``docs/laws.md``, 5)."""

    by_relation: tuple[tuple[str, float], ...] = param(())
    """Factor of each relation named here."""
    others: float = param(1.0, low=0.0)
    """Factor of every other relation."""
    similar: float = param(1.0, low=0.0)
    """Factor of `similar-to` links made by rule; other than 1, it is 0 for those of turns; links made by hand
    count whole."""
    no_turn: float = param(1.0, low=0.0)
    """Factor of `next` and `next-but-one` links made by rule whose memories are no turns of a conversation."""
    fan_out_names: bool = param(False)
    """Whether a mention counts m/ln(1 + df) within the bounds of `mention_min` to `mention_share`."""
    terms: float = param(1.0, low=0.0)
    """Factor of mentions of rare words (beside that of names)."""
    mirror: bool = param(False)
    """Whether `similar-to` is walked both ways if other links are walked outwards."""


@dataclass(frozen=True, slots=True)
class AnchorParams(Checked):
    """Where recall starts in the profiles other than `priming`."""

    evidence: str = param("cosine", choices=("cosine", "fused"))
    """Evidence by which anchors are chosen."""
    episodes: int = param(10, low=0, unit="memories", source="Ethos")
    """Number of best episodes; 0: none."""
    pool: int = param(50, low=1, unit="memories")
    """Number of memories scored by a design that does not spread."""
    facts: int = param(10, low=0, unit="memories", source="Ethos")
    """Number of best memories of the other kinds; 0: none."""
    widen: bool = param(True)
    """Whether a recall of more hits starts from as many anchors of each kind."""


@dataclass(frozen=True, slots=True)
class LinkParams(Checked):
    """What is linked when a memory is remembered."""

    nearest: int = param(3, low=0, unit="memories", source="Ethos")
    """Number of `similar-to` links made when a memory is stored."""
    similarity: float = param(0.6, low=0.0, high=1.0, unit="cosine", source="Ethos")
    """Minimum similarity of such a link."""
    bulk_nearest: int = param(20_000, low=0, unit="memories")
    """Maximum size of a namespace in which a bulk load makes `similar-to` links."""
    rare_from: int = param(50, low=0, unit="memories")
    """Minimum size of a namespace in which words can be rare."""
    rare_max: int = param(3, low=2, unit="memories")
    """Maximum number of memories with a rare word."""
    rare_letters: int = param(5, low=1, unit="letters")
    """Minimum length of a rare word."""
    names: int = param(64, low=0, unit="names")
    """Maximum number of names linked from one memory."""
    strengthen: bool = param(False)
    """Whether remembering a memory again strengthens its `similar-to` links."""
    rivals: int = param(8, low=0, unit="facts")
    """Maximum number of facts with which a new one is compared, the latest first."""


@dataclass(frozen=True, slots=True)
class LearningParams(Checked):
    """Which laws move the links of a profile (``docs/profiles.md``). Nothing else moves a link that nobody sets.

    Counts, uses and reviews of memories are records rather than laws: every profile makes them, for all to read.
    """

    verdicts: str = param("path", choices=("path", "together", "none"))
    """What verdicts move: the links of the path and the weight of the memory, by the tier's step; the links
    between memories that a recall returned together and that proved useful, by Hebb's rule; or nothing."""
    runs: bool = param(True)
    """Whether the output of a run moves the links that the run followed."""
    coactivation: bool = param(True)
    """Whether memories that are active together are linked, and such links follow Oja's rule."""
    sessions: bool = param(False)
    """Whether memories that different recalls of a session returned, and that proved useful, count as active
    together."""
    fading: str = param("exponential", choices=("exponential", "linear", "none"))
    """What unused links lose: co-activated ones e^(−rho · hours) when they are read, until sleep removes them;
    every learned one rate · days of its weight, in sleep; or nothing."""


LINKING = LinkParams()
