"""A question about the past is answered as it was then, whatever was written since."""

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from priming import Cue, FixedClock, HashedEmbedder, Memory, PrimingError
from priming.config.words import STAGES
from priming.results import no_memories
from priming.serialization import encode

WORDS = ("kestrel", "signs", "builds", "gulls", "nest", "cliffs", "porridge", "honey", "Ada", "Grace Hopper")
PROFILES = ("priming", "floop", "ethos", "poc", "synapse", "arc", "world-weaver")
VERDICTS = ("used", "not_relevant", "not_useful", "confirmed", "overridden")
FILTERS = (
    None,
    {"tags": {"contains": "north"}},
    {"or": [{"weight": {"lt": 0.5}}, {"uses": {"gt": 0}}, {"version": {"gt": 1}}]},
    {"metadata.place": {"ne": "cliff"}},
)
KINDS = (None, ["episode", "fact"], ["behavior", "procedure"], ["entity", "episode"])
SAID = (
    "Robert Smith, also known as Bob, builds signs.",
    "Bob builds signs on cliffs.",
    "Kubernetes (K8s) runs the nest.",
    "K8s feeds gulls.",
    "The colour of the nest is red.",
    "The colour of the nest is green.",
    "The colour of the nest is blue.",
)
"""Names that stand for one thing, and facts that contradict each other."""
EMBEDDER = HashedEmbedder(64)
texts = st.lists(st.sampled_from(WORDS), min_size=2, max_size=5).map(" ".join)
questions = st.fixed_dictionaries(
    {
        "text": texts,
        "profile": st.sampled_from(PROFILES),
        "filters": st.sampled_from(FILTERS),
        "kinds": st.sampled_from(KINDS),
        "limit": st.sampled_from([3, 10]),
        "cue": st.sampled_from([None, Cue(language="python"), Cue(speaker="Ada")]),
    }
)


def differences(then, now):
    """In what two answers differ, in numbers beyond 1e-9."""
    if (then.reason, then.degraded, then.text) != (now.reason, now.degraded, now.text):
        return [then.reason, now.reason, then.degraded, now.degraded, then.text, now.text]
    if [hit.memory for hit in then.hits] != [hit.memory for hit in now.hits]:
        return [[hit.memory.key for hit in item.hits] for item in (then, now)]
    return [
        (a.memory.key, set(numbers(a).items()) ^ set(numbers(b).items()))
        for a, b in zip(then.hits, now.hits, strict=True)
        if numbers(a) != pytest.approx(numbers(b), abs=1e-9, rel=0)
    ]


def numbers(hit):
    """The evidence of a hit as numbers by name."""
    steps = {(i, item.source, item.relation, item.target): item.amount for i, item in enumerate(hit.path)}
    return {"score": hit.score, "distance": hit.distance, **hit.components, **steps}


class Life(RuleBasedStateMachine):
    """Whatever may happen to memories and links, with questions between."""

    @initialize()
    def open(self):
        self.folder = Path(tempfile.mkdtemp())
        self.clock = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))
        self.memory = self.opened()
        self.requested, self.times = [], [self.clock.at]

    def opened(self):
        return Memory.open(f"sqlite:///{self.folder}/life.db", embedder=EMBEDDER, clock=self.clock)

    def teardown(self):
        if hasattr(self, "memory"):
            self.every_answer_is_as_it_was()
            self.memory.close()
            shutil.rmtree(self.folder)

    def do(self, act):
        """Whatever is refused changes nothing."""
        self.clock.at += timedelta(hours=7)
        self.times.append(self.clock.at)
        try:
            act()
        except PrimingError:
            return

    def key(self, data, status="active"):
        keys = [record.key for record in self.memory.list(status=status, limit=1000)]
        return data.draw(st.sampled_from(keys)) if keys else None

    @rule(question=questions)
    def ask(self, question):
        self.clock.at += timedelta(minutes=5)
        self.requested.append((self.clock.at, question, self.memory.recall(**question)))

    @rule(
        text=texts,
        session=st.sampled_from([None, "s", "t"]),
        kind=st.sampled_from(["episode", "fact", "behavior", "procedure"]),
        tags=st.sampled_from([(), ("north",)]),
        metadata=st.sampled_from([None, {"place": "cliff"}]),
        heading=st.sampled_from([None, "Ada", "The nest"]),
        when=st.sampled_from([None, {"language": "python"}, {"language": "go"}]),
    )
    def remember(self, **supplied):
        self.do(lambda: self.memory.remember(supplied.pop("text"), **supplied))

    @rule(several=st.lists(texts, min_size=2, max_size=4), session=st.sampled_from([None, "s"]))
    def remember_many(self, several, session):
        self.do(
            lambda: self.memory.remember_many([{"content": item, "session": session} for item in several])
        )

    @rule(text=st.sampled_from(SAID), kind=st.sampled_from(["episode", "fact"]))
    def say(self, text, kind):
        self.do(lambda: self.memory.remember(text, kind=kind))

    @rule(data=st.data(), times=st.integers(1, 3))
    def tell_again(self, data, times):
        """What somebody tells under another key is a memory of its own, and a duplicate at night."""
        if key := self.key(data):
            record = self.memory.get(key)
            for _ in range(times):
                name = f"again-{len(self.times)}"
                self.do(lambda name=name: self.memory.remember(record.content, kind=record.kind, key=name))

    @rule(data=st.data(), success=st.booleans())
    def done(self, data, success):
        keys = [record.key for record in self.memory.list(kinds=["procedure"], limit=1000)]
        if keys:
            self.do(lambda: self.memory.done(data.draw(st.sampled_from(keys)), success=success))

    @rule(data=st.data())
    def fail_thrice(self, data):
        """What never helps is pruned at night."""
        if key := self.key(data):
            text = self.memory.get(key).content
            for _ in range(3):
                self.memory.recall(text)
                self.do(lambda: self.memory.feedback(not_useful=[key]))

    @rule(stages=st.none() | st.lists(st.sampled_from(STAGES), min_size=1, max_size=3, unique=True))
    def sleep(self, stages):
        self.do(lambda: self.memory.sleep(stages))

    @rule(data=st.data())
    def sleep_item_by_item(self, data):
        def act():
            night = self.memory.sleep(dry_run=True)
            if night.items:
                several = data.draw(st.lists(st.sampled_from([item.id for item in night.items]), min_size=1))
                self.memory.apply(night, only=several)

        self.do(act)

    @rule(data=st.data())
    def take_a_night_back(self, data):
        nights = [
            entry for entry in self.memory.log(limit=1000) if entry.kind == "sleep" and not entry.undone_by
        ]
        if nights:
            self.do(lambda: self.memory.undo(data.draw(st.sampled_from(nights)).id))

    @rule()
    def merge_aliases(self):
        self.do(self.memory.aliases)

    @rule(data=st.data())
    def keep_both(self, data):
        result = self.memory.review()
        if result:
            self.do(lambda: self.memory.keep_both(data.draw(st.sampled_from(result)).id))

    @rule(data=st.data(), weight=st.sampled_from([0.0, 0.05, 0.3, 0.94, 1.0]))
    def link(self, data, weight):
        source, target = self.key(data), self.key(data)
        if source and source != target:
            relation = data.draw(st.sampled_from(["similar-to", "requires", "conflicts"]))
            self.do(lambda: self.memory.link(source, target, relation, weight))

    @rule(data=st.data(), text=texts, days=st.sampled_from([None, -1, -30, 1, 3]))
    def supersede(self, data, text, days):
        if key := self.key(data):
            start = None if days is None else self.clock.at + timedelta(days=days)
            self.do(lambda: self.memory.supersede(key, text, valid_from=start))

    @rule(data=st.data())
    def forget(self, data):
        if key := self.key(data):
            self.do(lambda: self.memory.forget(key))

    @rule(data=st.data(), status=st.sampled_from(["deprecated", "merged", "forgotten", "archived"]))
    def restore(self, data, status):
        if key := self.key(data, status):
            self.do(lambda: self.memory.restore(key))

    @rule(data=st.data(), verdict=st.sampled_from(VERDICTS), tier=st.sampled_from(["conscious", "automatic"]))
    def judge(self, data, verdict, tier):
        chosen = [recall for _, _, recall in self.requested if recall.hits]
        if chosen:
            recall = data.draw(st.sampled_from(chosen))
            present = {record.key for record in self.memory.list(status=None, limit=1000)}
            keys = [hit.memory.key for hit in recall.hits if hit.memory.key in present]
            if keys:
                supplied = {verdict: [data.draw(st.sampled_from(keys))]}
                self.do(lambda: self.memory.feedback(recall.recall_id, tier=tier, **supplied))

    @rule(text=texts, wrong=st.none() | texts, language=st.sampled_from([None, "python", "go"]))
    def learn(self, text, wrong, language):
        cue = Cue(language=language) if language else None
        self.do(lambda: self.memory.learn(f"Never {text}", wrong=wrong, cue=cue))

    @rule(data=st.data())
    def merge(self, data):
        key, into = self.key(data), self.key(data)
        if key and key != into:
            self.do(lambda: self.memory.merge(key, into))

    @rule(data=st.data())
    def undo(self, data):
        log = [entry.id for entry in self.memory.log(limit=1000)]
        if log:
            self.do(lambda: self.memory.undo(data.draw(st.sampled_from(log[:6]))))

    @rule(data=st.data())
    def rollback(self, data):
        since = data.draw(st.sampled_from(self.times[-6:]))
        self.do(lambda: self.memory.rollback(since=since))

    @precondition(lambda self: self.requested)
    @rule(data=st.data())
    def ask_again(self, data):
        """In the middle of a life, which keeps what it knows of the past."""
        self.answers_as_then(self.memory, *data.draw(st.sampled_from(self.requested)))

    @rule(days=st.sampled_from([1, 40]))
    def wait(self, days):
        self.clock.at += timedelta(days=days)

    def every_answer_is_as_it_was(self):
        self.clock.at += timedelta(days=1)
        with self.opened() as fresh:
            for query in self.requested:
                self.answers_as_then(fresh, *query)
        for query in reversed(self.requested):
            self.answers_as_then(self.memory, *query)

    def answers_as_then(self, memory, at, question, then):
        operations = memory.stats().operations
        again = memory.recall(**question, known_at=at)
        if then.reason == no_memories("default") != again.reason:  # since then there are memories
            then = replace(then, reason="nothing was remembered at that time")
        assert differences(then, again) == []
        assert memory.stats().operations == operations


TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=1 + settings.default.max_examples // 4,
    stateful_step_count=25,
    suppress_health_check=list(HealthCheck),
)


ASKING = """
import json, sys
from datetime import datetime
from priming import HashedEmbedder, Memory
from priming.serialization import encode

url, asked = sys.argv[1], json.loads(sys.argv[2])
with Memory.open(url, embedder=HashedEmbedder(64)) as memory:
    for at, profile in asked:
        found = memory.recall("who builds signs on cliffs?", profile=profile, known_at=datetime.fromisoformat(at))
        print(json.dumps([encode(hit) for hit in found.hits]))
"""


@pytest.mark.slow
def test_another_process_answers_from_the_file_as_it_was_answered_then(tmp_path):
    clock, url = FixedClock(datetime(2026, 1, 1, tzinfo=UTC)), f"sqlite:///{tmp_path}/life.db"
    query = []
    with Memory.open(url, embedder=EMBEDDER, clock=clock) as memory:
        for deed in _deeds(memory):
            deed()
            clock.at += timedelta(days=2)
            for profile in PROFILES:
                recall = memory.recall("who builds signs on cliffs?", profile=profile)
                query.append((clock.at.isoformat(), profile, recall.hits))
            clock.at += timedelta(seconds=1)
        kinds = {entry.kind for entry in memory.log(limit=1000)}
    assert {"sleep", "undo", "alias", "keep-both", "done", "supersede", "restore", "rollback"} <= kinds
    answer = json.dumps([(at, profile) for at, profile, _ in query])
    done = subprocess.run(
        [sys.executable, "-c", ASKING, url, answer], capture_output=True, text=True, check=True
    )
    for (at, profile, hits), line in zip(query, done.stdout.splitlines(), strict=True):
        then = [(hit["memory"], pytest.approx(hit["components"])) for hit in map(encode, hits)]
        assert [(hit["memory"], hit["components"]) for hit in json.loads(line)] == then, (at, profile)


def _deeds(memory):
    """A life in which everything happens that can, one thing at a time."""
    answer = "Nobody builds signs on cliffs."

    def prune():
        for _ in range(3):
            memory.recall(answer)
            memory.feedback(not_useful=["again"])
        memory.sleep(["prune"])

    def last(kind):
        return next(
            entry.id for entry in memory.log(limit=1000) if entry.kind == kind and not entry.undone_by
        )

    return [
        lambda: [memory.remember(text, kind="fact", key=f"k{i}") for i, text in enumerate(SAID)],
        lambda: memory.remember(answer, key="first", session="s"),
        lambda: memory.remember(answer, key="again", session="s"),
        lambda: memory.remember("Build signs with care.", kind="procedure", key="how"),
        lambda: memory.done("how"),
        lambda: memory.done("how", success=False),
        lambda: memory.sleep(["light", "link"]),
        lambda: memory.undo(last("sleep")),
        lambda: memory.aliases(),
        lambda: memory.keep_both(memory.review()[0].id),
        prune,
        lambda: memory.restore("again"),
        lambda: memory.supersede("first", "Ada builds signs on cliffs."),
        lambda: memory.undo(last("alias")),
        lambda: memory.sleep(),
        lambda: memory.rollback(since=memory.log(limit=4)[-1].at),
        lambda: memory.forget("k1"),
    ]
