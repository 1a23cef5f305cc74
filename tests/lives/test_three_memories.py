"""A month of World Weaver's three memories: episodes, facts and procedures, with verdicts and nights.

Every number is worked out here from the formulas of the design, apart from the engine:

    R(t, S) = (1 + .9 · t / S)^(−.5)                  retrievability; S · (1 + .1 · (1 − R)) or S · .8 after a recall
    A = ln(accesses) − .5 · ln(hours) + Σ W · S_ji     activation; 1 / (1 + e^(−A)) in the score
    S_ji = strength · (1.6 − ln(fan)),  W = 1 / number of names
    w' = w + .1 · (1 − w)                              links of what is retrieved together
    w · (1 − .01 · days)                               links that are not used
    episode:    .4 semantic + .25 e^(−.1 days) + .2 outcome + .15 importance
    fact:       .4 semantic + .35 activation + .25 R
    procedure:  .5 semantic + .3 successes / executions + .2 e^(−.1 days)
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from priming import FixedClock, HashedEmbedder, Memory
from priming.config.settings import load

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAYS = 30
EMBEDDER = HashedEmbedder()
FACTS = {
    "owner": "The parcel desk in Turku belongs to Ines.",
    "hours": "The parcel desk opens at seven.",
    "scale": "The scale of the parcel desk is broken.",
    "roof": "The roof of the depot leaks.",
    "vans": "The vans of the depot are green.",
}
PAIRS = (("owner", "hours"), ("hours", "scale"), ("roof", "vans"))
EVENTS = {
    "flood": ("The depot was flooded.", datetime(2024, 11, 5, tzinfo=UTC), "failure", 0.9),
    "fair": ("The depot held a fair for its drivers.", datetime(2026, 2, 20, tzinfo=UTC), "success", 0.4),
    "visit": ("Ines visited the depot.", None, None, 0.5),
}
OUTCOMES = {"success": 1.0, "partial": 0.83, None: 0.83, "failure": 0.67}
PROCEDURES = {"close": "To close the depot, lock the gate.", "weigh": "To weigh a parcel, clear the scale."}


@dataclass
class Fact:
    """What the design knows of a fact: when it was last accessed, how often, and its stability."""

    accessed: datetime
    accesses: int = 0
    stability: float = 1.0

    def retrievability(self, now):
        days = (now - self.accessed).total_seconds() / 86400
        return (1 + 0.9 * days / self.stability) ** -0.5

    def recalled(self, now, *, well):
        left = self.retrievability(now)
        self.stability *= 1 + 0.1 * (1 - left) if well else 0.8
        if well:
            self.accesses, self.accessed = self.accesses + 1, now


@dataclass
class Tie:
    """A link: its weight at its last use, when that was, and when it was last seen to fade."""

    used: datetime
    weight: float = 0.5
    seen: datetime | None = None

    def now(self):
        days = ((self.seen or self.used) - self.used).total_seconds() / 86400
        return max(0.0, self.weight * (1 - 0.01 * days))

    def strengthen(self, at):
        self.weight = self.now() + 0.1 * (1 - self.now())
        self.used, self.seen = at, None


class Month:
    """The engine, and beside it what the design would know."""

    def __init__(self):
        self.clock = FixedClock(START)
        settings = load(project=False, constants={"world-weaver.base_level.noise": ("0", "--set")})
        self.memory = Memory.open(
            "sqlite://", profile="world-weaver", embedder=EMBEDDER, clock=self.clock, settings=settings
        )
        self.texts = {**FACTS, **PROCEDURES, **{key: text for key, (text, *_) in EVENTS.items()}}
        self.facts = {key: Fact(START) for key in FACTS}
        self.runs = {key: [0, 0, START] for key in PROCEDURES}
        self.kestrels = 0
        for key, text in FACTS.items():
            self.memory.remember(text, key=key, kind="fact")
        for key, (text, happened, outcome, importance) in EVENTS.items():
            self.memory.remember(text, key=key, occurred_at=happened, outcome=outcome, importance=importance)
        for key, text in PROCEDURES.items():
            self.memory.remember(text, key=key, kind="procedure")
        for pair in PAIRS:
            self.memory.link(*pair, "relates-to")
        self.ties = {pair: Tie(START) for pair in PAIRS}

    def learn_of_kestrel(self):
        key = f"kestrel-{self.kestrels}"
        self.texts[key] = f"Kestrel carries crate {self.kestrels}."
        self.memory.remember(self.texts[key], key=key, kind="fact")
        self.facts[key] = Fact(self.clock.at)
        self.kestrels += 1

    def ask(self, cue, names=0):
        """Recall everything, and compare each score with the design's."""
        recall = self.memory.recall(cue, limit=50)
        assert recall.hits
        for hit in recall.hits:
            expected = self.score(cue, hit.memory.key, names)
            assert dict(hit.components) == pytest.approx(expected[1], abs=2e-6), hit.memory.key
            assert hit.score == pytest.approx(expected[0], abs=2e-6), hit.memory.key
        return recall

    def score(self, cue, key, names):
        a, b = (np.asarray(vector, np.float64) for vector in EMBEDDER.embed([cue, self.texts[key]]))
        semantic = max(0.0, float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))))
        now = self.clock.at
        if key in EVENTS:
            _, happened, outcome, importance = EVENTS[key]
            days = (now - (happened or START)).total_seconds() / 86400
            parts = {
                "semantic": (0.4, semantic),
                "recency": (0.25, math.exp(-0.1 * days)),
                "outcome": (0.2, OUTCOMES[outcome]),
                "importance": (0.15, importance),
            }
        elif key in PROCEDURES:
            good, bad, last = self.runs[key]
            rate = good / (good + bad) if good + bad else 0.5
            days = (now - last).total_seconds() / 86400
            parts = {
                "semantic": (0.5, semantic),
                "success_rate": (0.3, rate),
                "recency": (0.2, math.exp(-0.1 * days)),
            }
        else:
            fact = self.facts[key]
            hours = max((now - fact.accessed).total_seconds() / 3600, 0.001)
            total = math.log(max(fact.accesses, 1)) - 0.5 * math.log(hours)
            if names and key.startswith("kestrel"):
                total += 0.5 * (1.6 - math.log(self.kestrels)) / names
            parts = {
                "semantic": (0.4, semantic),
                "activation": (0.35, 1 / (1 + math.exp(-total))),
                "retrievability": (0.25, fact.retrievability(now)),
            }
        return sum(share * value for share, value in parts.values()), {n: v for n, (_, v) in parts.items()}

    def judge(self, recall, used=(), not_useful=()):
        self.memory.feedback(recall.recall_id, used=used, not_useful=not_useful)
        for key in (*used, *not_useful):
            if key in self.facts:
                self.facts[key].recalled(self.clock.at, well=key in used)
        for pair, tie in self.ties.items():
            if set(pair) <= set(used):
                tie.strengthen(self.clock.at)

    def carry_out(self, key, *, success):
        self.memory.done(key, success=success)
        self.runs[key][0 if success else 1] += 1
        self.runs[key][2] = self.clock.at

    def sleep(self):
        self.memory.sleep(["decay"])
        for tie in self.ties.values():
            tie.seen = self.clock.at

    def check_links(self):
        present = {
            (link.source, link.target): link.weight for link in self.memory.links(relation="relates-to")
        }
        assert present == pytest.approx({pair: tie.now() for pair, tie in self.ties.items()}, abs=1e-9)
        assert not self.memory.links(relation="co-activated")
        mentions = self.memory.links(relation="mentions")
        assert {link.weight for link in mentions} == {0.5}

    def pass_time(self, **span):
        self.clock.at += timedelta(**span)


def test_a_month_of_three_memories_goes_by_the_formulas_of_their_design():
    month = Month()
    for day in range(DAYS):
        month.pass_time(hours=8)
        if day % 3 == 0:
            month.learn_of_kestrel()
        month.pass_time(hours=1)
        recall = month.ask("when does the parcel desk of the depot open?")
        if day % 2 == 0:
            month.judge(recall, used=["owner", "hours"], not_useful=["vans"] if day % 8 == 0 else [])
        month.pass_time(hours=3)
        month.ask("what does Kestrel carry?" if day % 2 else "what does kestrel carry?", names=1)
        month.pass_time(hours=1)
        if day % 5 == 0:
            month.carry_out("close", success=day % 10 == 0)
        month.ask("how do I close the depot?")
        month.pass_time(hours=11)
        if day % 4 == 3:
            month.sleep()
        month.check_links()
    used, faded = month.ties["owner", "hours"], month.ties["roof", "vans"]
    assert used.now() > 0.85, "fifteen days of use, against eight nights"
    assert faded.now() == pytest.approx(0.5 * (1 - 0.01 * 28)), "28 days until the last night"
    assert month.kestrels == 10
    month.memory.close()
