"""Several memories over one file: each sees what the others did at its next operation."""

import json
import subprocess
import sys
import textwrap
from datetime import datetime, timedelta

import pytest
from tests.rows import each_row

from priming import Conflict, Cue, FixedClock, NotFound, ParamError, StoreError


@pytest.fixture
def two(open_memory, url):
    ours, theirs = open_memory(url), open_memory(url)
    for key, text in (("a", "we paint walls"), ("b", "the sea is wide"), ("c", "Zed sings")):
        ours.remember(text, key=key, session="s")
    theirs.recall("walls")
    ours.recall("walls")
    return ours, theirs


def result(memory, cue):
    """What the words of a cue bring up, and what a strong link leads to."""
    hits = memory.recall(cue).hits
    return [
        hit.memory.key
        for hit in hits
        if hit.components.get("words") or (hit.path and hit.path[0].amount > 0.02)
    ]


def test_what_the_other_remembers_is_recalled(two):
    ours, theirs = two
    theirs.remember("A xylophone of Zed", key="new", session="s")
    assert result(ours, "xylophone")[0] == "new"
    assert ours.get("new").content == "A xylophone of Zed"
    answer = ours.remember("They left.", session="s")
    assert ("new", "next", answer.key) in {(x.source, x.relation, x.target) for x in answer.links}
    assert len(ours.list(kinds=["entity"])) == 2


def test_what_the_other_links_carries(two):
    ours, theirs = two
    assert result(ours, "paint") == ["a"]
    theirs.link("a", "b", "requires")
    assert result(ours, "paint") == ["a", "b"]
    theirs.undo(theirs.log()[0].id)
    assert result(ours, "paint") == ["a"]


def test_what_the_other_forgets_undoes_and_supersedes_is_known(two):
    ours, theirs = two
    operation = theirs.forget("a")
    assert result(ours, "paint") == []
    with pytest.raises(Conflict):
        ours.forget("a")
    ours.undo(operation.id)
    assert result(theirs, "paint") == ["a"]
    theirs.supersede("a", "we paper walls")
    assert result(ours, "paint") == []
    assert result(ours, "paper") == ["a"]
    assert len(ours.history("a")) == 2


def test_what_the_other_purges_is_gone(two):
    ours, theirs = two
    theirs.purge("a")
    assert result(ours, "paint walls") == []
    with pytest.raises(NotFound):
        ours.get("a")
    assert "paint" not in ours._working.lexicon.terms


def test_what_the_other_imports_is_recalled(two, open_memory, tmp_path):
    ours, theirs = two
    ours.export(tmp_path / "x.jsonl")
    copy = open_memory()
    copy.import_(tmp_path / "x.jsonl")
    copy.remember("a xylophone", key="new", session="s")
    copy.export(tmp_path / "y.jsonl")
    theirs.import_(tmp_path / "y.jsonl")
    assert result(ours, "xylophone")[0] == "new"


def test_a_whole_import_into_an_empty_store_is_recalled(two, open_memory, tmp_path):
    first, second = (open_memory(f"sqlite:///{tmp_path}/empty.db") for _ in range(2))
    assert result(second, "paint") == []
    two[0].export(tmp_path / "x.jsonl")
    first.import_(tmp_path / "x.jsonl")
    assert result(second, "paint") == ["a"]


def test_a_version_of_the_future_that_the_other_made_comes_in_time(two, clock):
    ours, theirs = two
    theirs.supersede("a", "we paper doors", valid_from=clock.at + timedelta(days=1))
    assert result(ours, "paint walls, paper doors") == ["a"]
    assert ours.recall("paint").hits[0].memory.content == "we paint walls"
    clock.at += timedelta(days=1)
    assert result(ours, "paint walls") == []
    assert ours.recall("paper").hits[0].memory.content == "we paper doors"


def test_taking_turns_loses_nothing(two):
    ours, theirs = two
    for i in range(20):
        (ours if i % 2 else theirs).remember(f"turn number{i}", session="t", key=f"turn-{i}")
    pairs = {(x.source, x.target) for x in ours.links(relation="next")}
    assert pairs >= {(f"turn-{i}", f"turn-{i + 1}") for i in range(19)}
    assert ours.validate() == []
    for memory in two:
        assert result(memory, "number7")[0] == "turn-7"


def test_a_closed_memory_says_so_and_may_be_closed_again(open_memory, url):
    memory = open_memory(url)
    memory.remember("we paint walls")
    memory.close()
    memory.close()
    for verb in (memory.list, memory.stats, lambda: memory.recall("walls"), lambda: memory.remember("x")):
        with pytest.raises(StoreError, match="closed"):
            verb()


def test_a_clock_without_a_time_zone_is_refused(open_memory):
    memory = open_memory(clock=FixedClock(datetime(2024, 5, 17)))
    with pytest.raises(ParamError, match="must carry a time zone"):
        memory.remember("we paint walls")


class Interrupted:
    """An embedder that is interrupted once, when it is asked for tokens."""

    def __init__(self, embedder):
        self.embedder, self.due = embedder, False

    def __getattr__(self, name):
        return getattr(self.embedder, name)

    @property
    def generation(self):
        return self.embedder.generation

    @property
    def dimension(self):
        return self.embedder.dimension

    @property
    def vocabulary(self):
        return self.embedder.vocabulary

    def embed(self, texts):
        return self.embedder.embed(texts)

    def pool(self, ids, weights):
        return self.embedder.pool(ids, weights)

    def tokens(self, texts):
        if self.due:
            self.due = False
            raise KeyboardInterrupt
        return self.embedder.tokens(texts)


def test_an_interrupt_while_catching_up_leaves_nothing_half_known(open_memory, url, embedder):
    interrupted = Interrupted(embedder)
    ours, theirs = open_memory(url, embedder=interrupted), open_memory(url)
    ours.remember("we paint walls", key="a")
    ours.recall("walls")
    theirs.remember_many([{"content": "Zed sings", "key": "b"}, {"content": "Zed flies", "key": "c"}])
    interrupted.due = True
    with pytest.raises(KeyboardInterrupt):
        ours.recall("Zed")
    assert sorted(result(ours, "Zed")) == ["b", "c"]
    assert result(ours, "paint") == ["a"]


CHILD = """
    import json, sys
    from datetime import UTC, datetime
    from priming import FixedClock, HashedEmbedder, Memory
    clock = FixedClock(datetime(2024, 5, 17, 9, 30, tzinfo=UTC))
    with Memory.open(sys.argv[1], embedder=HashedEmbedder(256), clock=clock) as memory:
        for line in sys.stdin:
            verb, args, more = json.loads(line)
            if verb == "found":
                hits = memory.recall(*args).hits
                answer = [hit.memory.key for hit in hits if hit.components.get("words") or hit.path]
            else:
                answer = repr(getattr(memory, verb)(*args, **more))
            print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def other_process(url):
    """Verbs of a memory in another process."""
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CHILD), url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def call(verb, *args, **more):
        child.stdin.write(json.dumps([verb, args, more]) + "\n")
        child.stdin.flush()
        return json.loads(child.stdout.readline())

    yield call
    child.stdin.close()
    assert child.wait() == 0
    child.stdout.close()


@pytest.mark.slow
def test_two_processes_see_each_other(open_memory, url, other_process):
    ours = open_memory(url)
    ours.remember("we paint walls", key="a", session="s")
    assert other_process("found", "paint") == ["a"]
    other_process("remember", "the sea is wide", key="b", session="s")
    assert result(ours, "wide sea") == ["b"]
    other_process("link", "a", "b", "requires")
    assert result(ours, "paint") == ["a", "b"]
    ours.forget("b")
    assert other_process("found", "paint") == ["a"]
    ours.undo(ours.log()[0].id)
    assert other_process("found", "paint") == ["a", "b"]
    ours.purge("b")
    assert other_process("found", "wide sea") == []
    other_process("purge", "a")
    assert result(ours, "paint") == []
    assert ours.validate() == []


# Namespaces without memories

READS = {
    "list": lambda memory: memory.list(),
    "list of all": lambda memory: memory.list(status=None, kinds=["fact", "entity"]),
    "recall": lambda memory: memory.recall("when does the ferry leave"),
    "active": lambda memory: memory.active(Cue(language="go")),
    "links": lambda memory: memory.links(),
    "log": lambda memory: memory.log(),
    "events": lambda memory: memory.events(),
    "oscillating": lambda memory: memory.oscillating(),
    "normalise": lambda memory: memory.normalize_strengths(),
    "validate": lambda memory: memory.validate(),
    "fading": lambda memory: memory.fading(),
    "review": lambda memory: memory.review(),
    "runs": lambda memory: memory.run_list(),
    "packs": lambda memory: memory.pack_list(),
    "duplicates": lambda memory: memory.deduplicate(dry_run=True),
    "aliases": lambda memory: memory.aliases(dry_run=True),
    "would undo": lambda memory: memory.would_undo(since=memory.now()),
    "diff": lambda memory: memory.diff(memory.now(), memory.now()),
    "stats": lambda memory: memory.stats(),
    "status": lambda memory: memory.status(),
}


@pytest.fixture(scope="module")
def empty(open_shared, tmp_path_factory):
    """A misspelt namespace of a store with others, and the default one of a store with another."""
    url = f"sqlite:///{tmp_path_factory.mktemp('misspelt')}/memory.db"
    open_shared(url, namespace="harbour").remember("The ferry leaves at nine.")
    open_shared(url, namespace="zoo").remember("The gates close at six.")
    unnamed = f"sqlite:///{tmp_path_factory.mktemp('unnamed')}/memory.db"
    open_shared(unnamed, namespace="zoo").remember("The gates close at six.")
    return open_shared(url, namespace="harbor"), open_shared(unnamed)


@each_row("read", READS.values())
def test_a_namespace_without_memories_is_empty_and_the_reason_names_others(empty, read):
    misspelt, unnamed = empty
    answer = read(misspelt)
    assert answer.reason == 'there are no memories in "harbor"; did you mean "harbour"?'
    assert not getattr(answer, "hits", None)
    assert misspelt.log() == []
    assert read(unnamed).reason == 'there are no memories in "default"; there are some in "zoo"'


@pytest.mark.parametrize(
    ("others", "name", "ending"),
    [
        ([], "work", ""),
        (["work"], "worked", '; did you mean "work"?'),
        (["work"], "WORK", '; did you mean "work"?'),
        (["shop-2026", "garden"], "shop", '; did you mean "shop-2026"?'),
        (["alpha", "alphas", "zoo"], "alpah", '; did you mean "alpha" or "alphas"?'),
        (["a1", "b2", "c3", "d4", "e5"], "poetry", '; there are some in "a1", "b2", "c3" and 2 more'),
    ],
)
def test_the_reason_names_what_resembles_the_name_else_what_exists(open_memory, url, others, name, ending):
    for other in others:
        open_memory(url, namespace=other).remember("The ferry leaves at nine.")
    assert open_memory(url, namespace=name).list().reason == f'there are no memories in "{name}"{ending}'


def test_a_namespace_whose_memories_were_forgotten_is_not_suggested(open_memory, url):
    work = open_memory(url, namespace="work")
    work.remember("The ferry leaves at nine.", key="ferry")
    work.forget("ferry")
    assert open_memory(url, namespace="worked").list().reason == 'there are no memories in "worked"'
    assert work.list(status="forgotten").reason is None


def test_an_empty_answer_from_a_namespace_with_memories_gives_no_such_reason(memory):
    memory.remember("The ferry leaves at nine.")
    assert memory.list(kinds=["procedure"]).reason is None
    assert memory.recall("zzz qqq").reason.startswith("nothing above the floor")


def test_a_memory_that_is_sought_in_a_misspelt_namespace_names_the_right_one(open_memory, url):
    open_memory(url, namespace="harbour").remember("The ferry leaves at nine.", key="ferry")
    with pytest.raises(NotFound, match="no memory 'ferry' in 'harbor'") as caught:
        open_memory(url, namespace="harbor").get("ferry")
    assert caught.value.__notes__ == ['there are no memories in "harbor"; did you mean "harbour"?']
