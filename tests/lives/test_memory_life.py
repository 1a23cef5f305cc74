"""A life of a memory: whatever is done to it in whatever order, the log tells it and undo takes it back."""

import shutil
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from priming import Conflict, Cue, FixedClock, HashedEmbedder, Memory
from priming.storage.rows import LinkRow, MemoryRow, PairRow, RunRow, VerdictRow, VersionRow

WORDS = ("kestrel", "signs", "builds", "gulls", "nest", "cliffs", "porridge", "honey", "Ada", "violins")
texts = st.lists(st.sampled_from(WORDS), min_size=2, max_size=5).map(" ".join)
VERDICTS = ("used", "not_relevant", "not_useful", "confirmed", "overridden")
EMBEDDER = HashedEmbedder(64)
LOOKED_AT = 10
"""After so many steps, and at the end, a life is checked from its first operation on."""


def identity(row):
    match row:
        case LinkRow():
            return "link", row.source, row.target, row.relation
        case PairRow():
            return "pair", row.source, row.target
        case VerdictRow():
            return "verdict", row.id, row.verdict, row.operation
        case VersionRow():
            return "version", row.id, row.revision
        case MemoryRow():
            return "memory", row.id
        case RunRow():
            return "run", row.id


def state(memory: Memory) -> Mapping:
    """Every row of the namespace as it is."""
    store = memory.store
    rows = [
        *store.rows("default", MemoryRow),
        *store.rows("default", LinkRow),
        *store.rows("default", VerdictRow),
    ]
    rows += [*store.rows("default", PairRow), *store.rows("default", RunRow)]
    rows += [
        version
        for row in store.rows("default", MemoryRow)
        for version in store.rows("default", VersionRow, ids=[row.id])
    ]
    return {identity(row): row for row in rows}


def replayed(memory: Memory) -> Mapping:
    """Every row that the log leads to, from nothing."""
    rows = {}
    for logged in reversed(memory.store.operations("default")):
        for change in logged.rows:
            if change.after is None:
                assert rows.pop(identity(change.before)) == change.before
            else:
                assert rows.get(identity(change.after)) == change.before
                rows[identity(change.after)] = change.after
    return rows


def answer(recall) -> Mapping:
    """What came up with which score, and what verdicts had to do with it."""
    names = ("positive_feedback", "negative_feedback")
    reply = {(hit.memory.key, name): hit.components.get(name, 0.0) for hit in recall.hits for name in names}
    return reply | {(hit.memory.key, "score"): hit.score for hit in recall.hits}


class Life(RuleBasedStateMachine):
    """Remember, link, learn, recall, judge, supersede, merge, forget, run, undo and reopen, in any order."""

    @initialize()
    def open(self):
        self.folder = Path(tempfile.mkdtemp())
        self.clock = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))
        self.memory = self.opened()
        self.recalls, self.before, self.past, self.run = [], {}, {}, None
        self.steps = 0

    def opened(self):
        return Memory.open(f"sqlite:///{self.folder}/life.db", embedder=EMBEDDER, clock=self.clock)

    def teardown(self):
        if hasattr(self, "memory"):
            try:
                self.check()
            finally:
                self.memory.close()
                shutil.rmtree(self.folder)

    def do(self, act):
        """Do something that may write, and note the state that its operation began from."""
        self.clock.at += timedelta(hours=7)
        before, seen = state(self.memory), {entry.id for entry in self.memory.log(limit=1000)}
        self.past[self.clock.at] = before
        try:
            act()
        except Conflict:
            assert state(self.memory) == before
            return
        fresh = [entry for entry in self.memory.log(limit=1000) if entry.id not in seen]
        if len(fresh) == 1 and fresh[0].changes:
            self.before[fresh[0].id] = before

    def key(self, data, status="active"):
        keys = [record.key for record in self.memory.list(status=status, limit=1000)]
        return data.draw(st.sampled_from(keys)) if keys else None

    @rule(text=texts, session=st.sampled_from([None, "s", "t"]))
    def remember(self, text, session):
        self.do(lambda: self.memory.remember(text, session=session))

    @rule(data=st.data(), weight=st.sampled_from([0.0, 0.05, 0.3, 0.94, 1.0]))
    def link(self, data, weight):
        source, target = self.key(data), self.key(data)
        if source and source != target:
            relation = data.draw(st.sampled_from(["similar-to", "requires", "conflicts"]))
            self.do(lambda: self.memory.link(source, target, relation, weight))

    @rule(text=texts, profile=st.sampled_from(["priming", "floop", "ethos", "poc"]))
    def recall(self, text, profile):
        session = self.run.session if self.run else "chat"
        before = state(self.memory)
        self.recalls.append(self.memory.recall(text, profile=profile, session=session))
        assert state(self.memory) == before

    @rule(data=st.data(), verdict=st.sampled_from(VERDICTS), tier=st.sampled_from(["conscious", "automatic"]))
    def judge(self, data, verdict, tier):
        chosen = [recall for recall in self.recalls if recall.hits]
        if chosen:
            recall = data.draw(st.sampled_from(chosen))
            present = {record.id for record in self.memory.list(status=None, limit=1000)}
            ids = [hit.memory.id for hit in recall.hits if hit.memory.id in present]
            if ids:
                supplied = {verdict: [data.draw(st.sampled_from(ids))]}
                self.do(lambda: self.memory.feedback(recall.recall_id, tier=tier, **supplied))

    @rule(data=st.data(), text=texts)
    def supersede(self, data, text):
        if key := self.key(data):
            self.do(lambda: self.memory.supersede(key, text))

    @rule(data=st.data())
    def forget(self, data):
        if key := self.key(data):
            self.do(lambda: self.memory.forget(key))

    @rule(text=texts, wrong=st.none() | texts, language=st.sampled_from([None, "python", "go"]))
    def learn(self, text, wrong, language):
        if text != wrong:
            cue = Cue(language=language) if language else None
            self.do(lambda: self.memory.learn(f"Never {text}", wrong=wrong, cue=cue))

    @rule(data=st.data())
    def merge(self, data):
        key, into = self.key(data), self.key(data)
        if key and key != into:
            self.do(lambda: self.memory.merge(key, into))

    @rule(data=st.data())
    def deprecate(self, data):
        key, by = self.key(data), self.key(data)
        if key:
            self.do(lambda: self.memory.deprecate(key, by=by if by != key else None))

    @rule(data=st.data(), status=st.sampled_from(["deprecated", "merged", "forgotten"]))
    def restore(self, data, status):
        if key := self.key(data, status):
            self.do(lambda: self.memory.restore(key))

    @rule(data=st.data(), weight=st.sampled_from([0.0, 0.2, 0.95, 1.0]))
    def set_strength(self, data, weight):
        linked = [(link.source, link.target) for link in self.memory.links()]
        if linked:
            source, target = data.draw(st.sampled_from(linked))
            self.do(lambda: self.memory.set_strength(source, target, weight))

    @precondition(lambda self: self.past)
    @rule(data=st.data(), source=st.sampled_from([None, None, "conscious", "manual"]))
    def rollback(self, data, source):
        """Without a source, everything is as it was before the first operation that is taken back."""
        since = data.draw(st.sampled_from(sorted(self.past)))
        self.do(lambda: self.memory.rollback(since=since, source=source))
        if self.run and self.run.id not in {item.id for item in self.memory.run_list() if not item.ended_at}:
            self.run = None
        (newest,) = self.memory.log(limit=1)
        if source is None and newest.kind == "rollback" and newest.at == self.clock.at:
            assert state(self.memory) == self.past[since]

    @rule(used=st.sampled_from([True, False]))
    def work(self, used):
        if self.run is None:
            self.do(lambda: setattr(self, "run", self.memory.run_start()))
        else:
            self.do(lambda: self.memory.run_end(self.run.id, used=used))
            self.run = None

    @precondition(lambda self: self.before)
    @rule()
    def undo(self):
        """The newest operation goes back to what was before it, and its undo to what was after it."""
        (newest,) = self.memory.log(limit=1)
        if newest.id in self.before:
            after = state(self.memory)
            self.past.setdefault(self.clock.at, after)
            undone = self.memory.undo(newest.id)
            assert state(self.memory) == self.before.pop(newest.id)
            again = self.memory.undo(undone.id)
            assert state(self.memory) == after
            self.memory.undo(again.id)
            if newest.kind.startswith("run"):
                self.run = None

    @rule(text=texts)
    def reopen(self, text):
        """What is asked after it is answered as before."""
        before, query = state(self.memory), self.memory.recall(text)
        self.memory.close()
        self.memory = self.opened()
        assert state(self.memory) == before
        # Floats that are added up in another order, or beside other rows, come to the same but for the last digits.
        assert answer(self.memory.recall(text)) == pytest.approx(answer(query), abs=1e-5)

    @invariant()
    def look(self):
        if hasattr(self, "memory"):
            self.steps += 1
            if self.steps % LOOKED_AT == 0:
                self.check()

    def check(self):
        """Every weight is in range, and the log leads to the present."""
        assert all(0.0 <= link.weight <= 1.0 for link in self.memory.links())
        assert all(0.05 <= record.weight <= 0.95 for record in self.memory.list(status=None, limit=1000))
        assert replayed(self.memory) == state(self.memory)


TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=1 + settings.default.max_examples // 4,
    stateful_step_count=25,
    suppress_health_check=list(HealthCheck),
)
