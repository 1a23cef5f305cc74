"""The tunables of what surrounds the laws: the recipe of recall, links, sleep, agents, stores.

They are asked for as ``priming.params``, like those of the laws.
"""

from __future__ import annotations

from dataclasses import dataclass

from priming.checked import Checked, param


@dataclass(frozen=True, slots=True)
class FadingParams(Checked):
    """What counts as about to be forgotten."""

    days: float = param(7.0, low=0.0, unit="days", doc="how far ahead is looked")
    below: float = param(0.75, low=0.0, high=1.0, doc="retrievability then from which it fades")
    worth: float = param(0.5, low=0.0, high=1.0, doc="only what matters more than this")
    young_days: float = param(1.0, low=0.0, unit="days", doc="what was told later than this is not looked at")


@dataclass(frozen=True, slots=True)
class ActiveParams(Checked):
    """How much of what is active is brought before an agent."""

    tokens: int = param(2_000, low=0, unit="tokens", source="floop", doc="budget of `active`")
    most: int = param(200, low=1, unit="behaviours", doc="best behaviours that `active` returns")


@dataclass(frozen=True, slots=True)
class RecallParams(Checked):
    """The recipe of the default profile (RECALL.md). Each term can be ablated by name."""

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
    details: float = param(0.2, low=0.0, doc="prior of names, numbers and times in what was said")
    news: float = param(
        0.1, low=0.0, doc="taken from what was said in words that older memories hold already"
    )
    context: float = param(0.3, low=0.0, doc="prior of confirmed `when` predicates")
    proved: float = param(0.25, low=0.0, doc="prior of a memory that verdicts on such a cue spoke for")
    refused: float = param(0.15, low=0.0, doc="taken from memories that verdicts on such a cue spoke against")
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
    details_full: int = param(3, low=1, doc="a memory with so many details gets the whole prior for them")
    news_full: int = param(10, low=1, unit="terms", doc="a memory that brought so many loses nothing")
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
    """How sure an answer is, and how sure it must be (fitted: docs/quality.md)."""

    constant: float = param(-2.0, doc="with nothing that speaks for an answer")
    score: float = param(5.3, doc="weight of the best hit's score, less what its neighbourhood adds")
    covered: float = param(0.9, doc="weight of the share of the cue that the best hit holds")
    cosine: float = param(3.4, doc="weight of the best hit's cosine")
    rivalry: float = param(
        1.2, doc="weight of how much better the speaker named meets the cue than the others"
    )
    floor: float = param(0.06, low=0.0, high=1.0, doc="nothing is returned below this confidence")
    least: int = param(50, low=0, unit="memories", doc="in a smaller namespace it says nothing by itself")
    extreme: float = param(700.0, low=1.0, high=700.0, doc="where the exponential would overflow")


@dataclass(frozen=True, slots=True)
class LinkFactors(Checked):
    """How a profile weighs links: effective weight = learned weight × the factor of its relation (LAWS §5)."""

    by_relation: tuple[tuple[str, float], ...] = param((), doc="factor of each relation named here")
    others: float = param(1.0, low=0.0, doc="factor of every other relation")
    similar: float = param(
        1.0, low=0.0, doc="factor of `similar-to` links made by rule; given ones count whole"
    )
    fan_out_names: bool = param(
        False, doc="whether a mention counts m/ln(1 + df) within the bounds of RECALL.md"
    )
    terms: float = param(1.0, low=0.0, doc="factor of mentions of rare words (beside that of names)")
    mirror: bool = param(
        False, doc="whether `similar-to` is walked both ways where others are walked outwards"
    )


@dataclass(frozen=True, slots=True)
class AnchorParams(Checked):
    """Where recall starts in the profiles that do not follow RECALL.md."""

    evidence: str = param("cosine", choices=("cosine", "fused"), doc="what anchors are chosen by")
    episodes: int = param(10, low=0, unit="memories", source="Ethos", doc="best episodes")
    pool: int = param(50, low=1, unit="memories", doc="memories scored by a design that does not spread")
    facts: int = param(10, low=0, unit="memories", source="Ethos", doc="best memories of the other kinds")
    widen: bool = param(True, doc="whether a recall of more hits starts from as many of each")


@dataclass(frozen=True, slots=True)
class LinkParams(Checked):
    """What is linked when a memory is remembered (ARCHITECTURE, RECALL)."""

    nearest: int = param(3, low=0, unit="memories", source="Ethos", doc="`similar-to` links made at once")
    similarity: float = param(0.6, low=0.0, high=1.0, unit="cosine", source="Ethos", doc="alike from here on")
    bulk_nearest: int = param(
        20_000, low=0, unit="memories", doc="largest namespace in which a bulk load links the nearest at once"
    )
    rare_from: int = param(50, low=0, unit="memories", doc="smallest namespace in which words can be rare")
    rare_max: int = param(3, low=2, unit="memories", doc="a word in up to so many memories is rare")
    rare_letters: int = param(5, low=1, unit="letters", doc="shortest rare word")
    names: int = param(64, low=0, unit="names", doc="most names linked from one memory")
    strengthen: bool = param(
        False, doc="whether a memory that is told again strengthens its `similar-to` links"
    )
    rivals: int = param(
        8, low=0, unit="facts", doc="most facts, the latest first, that a new one is compared with"
    )


@dataclass(frozen=True, slots=True)
class SleepParams(Checked):
    """What a night does, and when it is due (SYSTEMS W5–W7, A7)."""

    light_window: int = param(
        1_000, low=1, unit="episodes", source="World Weaver", doc="latest that `light` compares"
    )
    window: int = param(500, low=1, unit="episodes", source="World Weaver", doc="latest that `deep` clusters")
    batch: int = param(8_000, low=2, unit="memories", doc="most that are clustered at once")
    cluster: int = param(3, low=2, unit="episodes", source="World Weaver", doc="fewest that make a cluster")
    skills: int = param(2, low=2, unit="procedures", source="World Weaver", doc="fewest that make a cluster")
    samples: int = param(1, low=1, unit="memories", source="World Weaver", doc="HDBSCAN's `min_samples`")
    epsilon: float = param(
        0.15, low=0.0, unit="cosine distance", doc="of the second attempt, where all seemed noise"
    )
    tight: float = param(
        0.8,
        low=0.0,
        high=1.0,
        unit="cosine",
        doc="to the centroid: of every member of a single theme, and of clusters that are one",
    )
    coherent: float = param(
        0.2, low=-1.0, high=1.0, unit="cosine", doc="mean to the other members; below it a member is noise"
    )
    alike: float = param(
        0.75, low=-1.0, high=1.0, unit="cosine", doc="least between any two procedures that become one"
    )
    shared: float = param(0.5, low=0.0, high=1.0, doc="least share of a cluster that names it")
    central: int = param(32, low=1, unit="episodes", doc="most central members that a gist is taken from")
    gist_shown: int = param(
        8_000, low=1, unit="characters", doc="most of a cluster's texts that an agent is shown, shared evenly"
    )
    gist_length: int = param(400, low=1, unit="characters", doc="longest gist that an agent may give")
    gist_failures: int = param(
        2, low=1, unit="failures", doc="so many of an agent in a row, and the night asks it no more"
    )
    skill_gain: float = param(
        0.05, low=0.0, high=1.0, source="World Weaver", doc="estimate gained by each procedure merged in"
    )
    uses: int = param(3, low=1, unit="verdicts", source="Arc", doc="fewest on a memory that is pruned")
    effectiveness: float = param(0.25, low=0.0, high=1.0, source="Arc", doc="pruned below this")
    days: float = param(1.0, low=0.0, unit="days", doc="what is younger is never pruned")
    duplicate_days: float = param(
        30.0, low=0.0, unit="days", doc="a duplicate is pruned so long after its mark"
    )
    merge: float = param(
        0.9, low=0.0, high=1.0, unit="cosine", source="Arc", doc="failures and patterns merge"
    )
    linked: int = param(1_000, low=0, unit="memories", doc="most that one night looks at to link them")
    fresh: int = param(100, low=1, unit="memories", doc="so many new ones call for sleep before it is time")


@dataclass(frozen=True, slots=True)
class AgentParams(Checked):
    """How long an agent may take, and how much it may say (SYSTEMS A10)."""

    timeout: float = param(
        300.0, low=0.0, unit="seconds", doc="patience with one answer; a repair has as much"
    )
    connect: float = param(
        10.0, low=0.0, unit="seconds", doc="patience with an endpoint that takes no connection"
    )
    output: int = param(1_048_576, low=1, unit="bytes", doc="most that an agent may answer")
    repairs: int = param(1, low=0, unit="rounds", doc="times that a malformed answer is asked for again")
    retries: int = param(3, low=0, unit="requests", doc="sent again after status 429 or 5xx")
    pause: float = param(
        1.0, low=0.0, unit="seconds", doc="before the first of these; each next waits twice as long"
    )
    longest_pause: float = param(
        30.0, low=0.0, unit="seconds", doc="longest of these, whatever `Retry-After` says"
    )
    drain: float = param(
        1.0, low=0.0, unit="seconds", doc="patience with the output of a command that has ended"
    )
    repeated: int = param(
        300, low=1, unit="characters", doc="most of what an agent said that an error repeats"
    )


@dataclass(frozen=True, slots=True)
class StoreParams(Checked):
    """Limits and patience of a store."""

    busy_timeout: float = param(30.0, low=0.0, unit="seconds", doc="patience with another writer")
    content_limit: int = param(1_048_576, low=1, unit="characters", doc="longest memory")
    batch: int = param(500, low=1, unit="memories", doc="memories in one transaction of a bulk load")
    trace_days: float = param(30.0, low=0.0, unit="days", doc="traces are kept this long")
    trace_count: int = param(10_000, low=0, unit="traces", doc="and at most so many")
    flow_count: int = param(1_000, low=0, unit="traces", doc="latest traces that keep their flow")
    echo_hours: float = param(24.0, low=0.0, unit="hours", doc="how long recalled text counts as an echo")
    echo_traces: int = param(500, low=0, unit="recalls", doc="latest recalls whose text can come back")
    echo_words: int = param(4, low=1, unit="words", doc="shortest text that can be an echo")
    pack_bytes: int = param(8_388_608, low=1, unit="bytes", doc="largest pack that is read")
    why_operations: int = param(10, low=1, unit="operations", doc="latest operations that `why` shows")


@dataclass(frozen=True, slots=True)
class ServerParams(Checked):
    """What the HTTP server takes from its clients, and how long it waits for them."""

    body_bytes: int = param(8_388_608, low=1, unit="bytes", doc="largest body of a request")
    depth: int = param(64, low=1, unit="levels", doc="deepest nesting of its JSON")
    rate: float = param(
        500.0, low=0.0, unit="requests per second", doc="of one token, or of one client without; 0: no limit"
    )
    burst: int = param(1_000, low=1, unit="requests", doc="so many at once before the rate counts")
    clients: int = param(10_000, low=1, unit="clients", doc="most whose rate is watched; the latest")
    threads: int = param(16, low=1, unit="calls", doc="calls at work at once")
    in_flight: int = param(256, low=1, unit="calls", doc="calls at work or waiting; more are refused")
    call_seconds: float = param(300.0, low=0.0, unit="seconds", doc="patience with a call")
    head_seconds: float = param(10.0, low=0.0, unit="seconds", doc="patience with the head of a request")
    body_seconds: float = param(60.0, low=0.0, unit="seconds", doc="patience with the body of a request")
    read_seconds: float = param(
        60.0, low=0.0, unit="seconds", doc="patience with a client that reads nothing"
    )
    idle_seconds: int = param(15, low=1, unit="seconds", doc="an idle connection is kept so long")
    grace_seconds: int = param(120, low=1, unit="seconds", doc="at its end: patience with calls at work")
    jobs_at_once: int = param(2, low=1, unit="jobs", doc="jobs at work at once")
    jobs_waiting: int = param(32, low=1, unit="jobs", doc="jobs at work or waiting; more are refused")
    jobs_kept: int = param(64, low=0, unit="jobs", doc="finished jobs that are kept")
    job_minutes: float = param(60.0, low=0.0, unit="minutes", doc="and how long")
    ping_seconds: float = param(15.0, low=0.0, unit="seconds", doc="a sign of life on a silent event stream")
    look_seconds: float = param(
        30.0, low=0.0, unit="seconds", doc="how often it looks whether a night is due"
    )


FADING = FadingParams()
ACTIVE = ActiveParams()
LINKING = LinkParams()
SLEEP = SleepParams()
AGENT = AgentParams()
SERVER = ServerParams()
STORE = StoreParams()
CONFIDENCE = ConfidenceParams()
