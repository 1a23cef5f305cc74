import math
import random
import sqlite3
from datetime import UTC, datetime, timedelta
from itertools import product
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rows import each_row

from priming import Cue, FixedClock, HashedEmbedder, Memory, ParamError
from priming.config import profiles
from priming.config.params.limits import STORE
from priming.core.pack import estimate_tokens
from priming.embedding.wordllama import StaticEmbedder
from priming.storage.protocol import Trace

NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)


def keys(answer):
    return [hit.memory.key for hit in answer.hits]


def tell(memory, **texts):
    for key, text in texts.items():
        memory.remember(text, key=key)


# Routes: what shares no word with the cue


def steps(hit):
    return [(step.source, step.relation, step.target) for step in hit.path]


@pytest.fixture
def among(memory):
    """A memory of thirty others, of which none has to do with what is asked."""
    memory.remember_many({"content": f"crate{i} holds bolts{i}", "key": f"crate{i}"} for i in range(30))
    return memory


def result(memory, cue="who paints walls", **more):
    return {hit.memory.key: hit for hit in memory.recall(cue, floor=0, limit=60, **more).hits}


def test_what_happened_next_is_reached_without_a_word_in_common(among):
    among.remember("We paint walls.", key="a", session="s")
    among.remember("The bread was stale.", key="b", session="s")
    hits = result(among, ablate=["meaning"])
    first, second = list(hits.values())[:2]
    assert (first.memory.key, first.path, first.distance) == ("a", (), 0)
    assert (second.memory.key, steps(second), second.distance) == ("b", [("a", "next", "b")], 1)
    assert second.components["words"] == 0 < second.components["arrival"]


def test_what_happened_before_is_reached_against_the_link(among):
    among.remember("The bread was stale.", key="a", session="s")
    among.remember("We paint walls.", key="b", session="s")
    assert steps(result(among)["a"]) == [("b", "next", "a")]


def test_what_shares_a_name_is_reached_over_it(among):
    tell(among, a="Then Zed painted walls.", b="There Zed ate bread.")
    first, second = among.recall("who paints walls", floor=0).hits[:2]
    assert (first.memory.key, second.memory.key, second.distance) == ("a", "b", 2)
    assert steps(second) == [("a", "mentions", "entity:zed"), ("entity:zed", "mentions", "b")]


def test_what_a_given_link_joins_is_reached_over_it(among):
    tell(among, a="We paint walls.", b="The bread was stale.", c="Snow fell.")
    among.link("b", "a", "requires", 0.4)
    among.link("b", "c", "because of", 0.4)
    hits = result(among)
    assert set(list(hits)[:3]) == {"a", "b", "c"}
    assert steps(hits["b"]) == [("a", "requires", "b")]
    assert hits["c"].distance == 2
    assert steps(hits["c"]) == [("a", "requires", "b"), ("b", "because of", "c")]


def test_similarity_found_by_rule_carries_next_to_nothing_and_given_similarity_counts(among):
    def carried():
        return result(among, "walls", ablate=["meaning"])["b"].components["arrival"]

    tell(among, a="red green blue walls", b="red green blue snow")
    assert among.stats().links["similar-to"] == 1
    by_rule = carried()
    among.link("b", "a")
    assert 0.0 <= by_rule < 0.2 < 0.5 < carried()


def test_similarity_of_turns_found_by_rule_carries_nothing(memory):
    talk = ("red green blue walls", "Are they?", "red green blue snow", "I see.", "It melts.", "Does it?")
    for i, text in enumerate(talk):
        memory.remember(text, key=f"turn-{i}", speaker=("Ada", "Bob")[i % 2], session="talk")
    assert ("turn-0", "turn-2") in {
        tuple(sorted((link.source, link.target)))
        for link in memory.links("turn-0")
        if link.relation == "similar-to"
    }
    alone = {key: hit.score for key, hit in result(memory, "walls", spread=False).items()}
    linked = {key: hit.score for key, hit in result(memory, "walls", ablate=["next", "names"]).items()}
    assert linked == pytest.approx(alone, abs=1e-5)


def test_where_nothing_is_linked_spreading_changes_no_order(memory):
    rng = random.Random(6)
    words = [f"word{first}{second}" for first in "abcd" for second in "abcdefghijkl"]
    for _ in range(30):
        memory.remember(" ".join(rng.sample(words, 4)))
    assert memory.stats().links == {}
    for cue in ("wordab wordac wordad", "wordbh", "wordcl wordda"):
        assert keys(memory.recall(cue, floor=0)) == keys(memory.recall(cue, floor=0, spread=False))


# Scores


WORDS = (
    *("violin", "trumpet", "clarinet", "oboe", "tuba", "horn"),
    *("guitar", "banjo", "cello", "piano", "viola", "lute"),
)


def story(rng, count):
    """Memories with sessions, titles, times, names, predicates and words in common."""
    for _ in range(count):
        item = {
            "content": " ".join(
                ["they", *rng.sample(WORDS, rng.randint(1, 5)), rng.choice(["Zed", "Oslo?", ""])]
            )
        }
        item["session"] = rng.choice([None, "a", "b"])
        item["heading"] = rng.choice([None, None, "Zed", "banjo"])
        item["occurred_at"] = rng.choice([None, NOW.replace(month=rng.randint(1, 12), day=3)])
        item["when"] = rng.choice([None, {"language": "go"}, {"language": "rust", "task": "test"}])
        item["kind"] = rng.choice(["episode", "fact", "procedure"])
        yield item


CUES = (
    Cue("When did Zed play the banjo in May?"),
    Cue("violin and tuba", language="go"),
    Cue(language="rust"),
    Cue("Oslo"),
)


def test_the_day_that_is_named_counts_more_than_the_month(memory):
    memory.remember("We paint.", key="month", occurred_at=datetime(2023, 5, 9, tzinfo=UTC))
    memory.remember("We paint!", key="day", occurred_at=datetime(2023, 5, 7, tzinfo=UTC))
    day, month = memory.recall("paint on 7 May 2023").hits
    assert (day.memory.key, month.memory.key) == ("day", "month")
    assert 0 <= month.components["date"] < day.components["date"]


def test_equals_stand_in_the_order_in_which_they_were_told(memory):
    for i in range(5):
        memory.remember("we paint walls", key=f"k{i}", session=f"s{i}")
    expected = [f"k{i}" for i in range(5)]
    assert keys(memory.recall("paint")) == expected
    memory.undo(memory.forget("k1").id)
    memory.supersede("k3", "we paint doors")
    memory.undo(memory.log()[0].id)
    assert keys(memory.recall("paint")) == expected
    assert keys(memory.recall("paint", limit=2)) == expected[:2]
    for profile in profiles.ALL:
        if profile != "world-weaver":
            assert keys(memory.recall("paint", profile=profile)) == expected, profile


def test_the_same_question_has_the_same_answer(memory):
    memory.remember_many(story(random.Random(1), 40))
    for profile in profiles.ALL:
        a, b = (memory.recall("Zed and the banjo", profile=profile) for _ in range(2))
        assert a.hits == b.hits
        assert (a.text, a.reason, a.omitted) == (b.text, b.reason, b.omitted)
        assert a.recall_id != b.recall_id


# Who may come up


def test_a_question_has_the_same_answer_however_its_letters_are_composed(memory):
    memory.remember("The caf\u00e9 of Zo\u00eb is blue.")
    composed, apart = (
        [(hit.key, hit.score) for hit in memory.recall(cue)]
        for cue in ("Is the caf\u00e9 of Zo\u00eb blue?", "Is the cafe\u0301 of Zoe\u0308 blue?")
    )
    assert composed == apart != []


def test_no_more_come_up_than_asked_for(memory):
    memory.remember_many({"content": f"paint number{i}"} for i in range(60))
    for limit in (1, 10, 20, 45):
        assert len(memory.recall("paint", limit=limit, floor=0).hits) == limit
    assert len(memory.recall("paint", floor=0).hits) == 10
    assert len(memory.recall("paint", limit=10_000, floor=0).hits) == 60


def test_entities_come_up_only_when_asked_for(memory):
    tell(memory, a="Then Zed painted Oslo.")
    memory.remember("A painter of Oslo.", key="zed", kind="entity", heading="Zed")
    assert keys(memory.recall("who painted")) == ["a"]
    recall = memory.recall("who painted", kinds=["entity"])
    assert set(keys(recall)) == {"entity:zed", "entity:oslo", "zed"}
    assert {hit.memory.kind for hit in recall.hits} == {"entity"}
    both = memory.recall("who painted", kinds=["entity", "episode"])
    assert {"a", "entity:zed"} <= set(keys(both))


def test_only_the_kinds_asked_for_come_up(memory):
    memory.remember_many(story(random.Random(2), 40))
    for profile, kinds in product(profiles.ALL, (["fact"], ["fact", "procedure"], "episode")):
        outcome = memory.recall("violin banjo", kinds=kinds, profile=profile, limit=40).hits
        assert {hit.memory.kind for hit in outcome} == ({kinds} if isinstance(kinds, str) else set(kinds))


@pytest.fixture(scope="module")
def filtered(open_shared):
    memory = open_shared()
    memory.remember("we paint", key="a", importance=0.2, tags=["red", "blue"], metadata={"by": "ann", "n": 1})
    memory.remember("we paint!", key="b", importance=0.8, tags=["red"], metadata={"by": "bo", "n": 2.5})
    memory.remember("we paint?", key="c", occurred_at=NOW - timedelta(days=9), speaker="Ada", kind="fact")
    memory.remember("we paint.", key="d", session="s", outcome="failure", metadata={"list": ["x", 3]})
    memory.link("a", "b", "requires")
    memory.link("b", "c", "requires")
    return memory


@each_row(
    ("filters", "expected"),
    [
        ({}, "abcd"),
        ({"key": "a"}, "a"),
        ({"importance": {"eq": 0.8}}, "b"),
        ({"importance": {"ne": 0.5}}, "ab"),
        ({"key": {"in": ["a", "d", "x"]}}, "ad"),
        ({"key": {"nin": ["a", "d"]}}, "bc"),
        ({"importance": {"gt": 0.5}}, "b"),
        ({"importance": {"gte": 0.5}}, "bcd"),
        ({"importance": {"lt": 0.5}}, "a"),
        ({"importance": {"lte": 0.5}}, "acd"),
        ({"importance": {"gte": 0.1, "lt": 0.3}}, "a"),
        ({"tags": {"contains": "blue"}}, "a"),
        ({"content": {"contains": "paint!"}}, "b"),
        ({"speaker": {"exists": True}}, "c"),
        ({"speaker": {"exists": False}}, "abd"),
        ({"kind": "fact"}, "c"),
        ({"kind": {"ne": "fact"}}, "abd"),
        ({"outcome": "failure"}, "d"),
        ({"occurred_at": {"lt": NOW}}, "c"),
        ({"recorded_at": {"lte": NOW}}, "abcd"),
        ({"session": "s"}, "d"),
        ({"metadata.by": "ann"}, "a"),
        ({"metadata.n": {"gt": 1}}, "b"),
        ({"metadata.by": {"exists": True}}, "ab"),
        ({"metadata.list": {"contains": "x"}}, "d"),
        ({"or": [{"key": "a"}, {"kind": "fact"}]}, "ac"),
        ({"not": {"key": "a"}}, "bcd"),
        ({"and": [{"importance": {"gt": 0.1}}, {"importance": {"lt": 0.7}}], "kind": "episode"}, "ad"),
        ({"not": {"or": [{"key": "a"}, {"key": "b"}, {"not": {"kind": "fact"}}]}}, "c"),
    ],
)
def test_a_filter_says_which_memories_may_come_up(filtered, filters, expected):
    for profile in profiles.ALL:
        assert set(keys(filtered.recall("paint", filters=filters, profile=profile))) == set(expected), profile


def test_what_a_filter_leaves_out_is_not_reached_over_a_link_either(filtered):
    assert keys(filtered.recall("paint", filters={"key": {"in": ["a", "c"]}})) == ["a", "c"]


def test_a_filter_that_one_in_two_hundred_passes_finds_them(memory):
    memory.remember_many(
        {"content": f"we paint number{i}", "tags": ["rare"] if i % 200 == 7 else [], "occurred_at": NOW}
        for i in range(400)
    )
    outcome = memory.recall("we paint number5", filters={"tags": {"contains": "rare"}}).hits
    assert {hit.memory.content for hit in outcome} == {"we paint number7", "we paint number207"}


def test_contradicted_predicates_exclude_and_confirmed_ones_help(memory):
    memory.remember("we paint walls", key="any")
    memory.remember("we paint walls", key="go", when={"language": "go"})
    memory.remember("we paint walls", key="rust", when={"language": ["rust", "c"]})
    memory.remember("we paint walls", key="file", when={"file": "src/**/*.go", "language": "go"})
    assert set(keys(memory.recall("paint"))) == {"any", "go", "rust", "file"}
    answer = memory.recall(cue=Cue("paint", language="Go"))
    assert keys(answer)[-1] == "any"
    assert "rust" not in keys(answer)
    assert keys(memory.recall(cue=Cue("paint", language="go", file="src/a/b.go")))[0] == "file"
    assert "file" not in keys(memory.recall(cue=Cue("paint", file="docs/b.md")))
    by_key = {hit.memory.key: hit.components["context"] for hit in answer.hits}
    assert by_key["go"] > by_key["file"] > by_key["any"] == 0


def test_what_is_excluded_is_not_reached_over_a_link_either(memory):
    memory.remember("we paint walls", key="a", session="s")
    memory.remember("stale bread", key="b", session="s", when={"language": "rust"})
    assert keys(memory.recall("paint", floor=0)) == ["a", "b"]
    assert keys(memory.recall(cue=Cue("paint", language="go"), floor=0)) == ["a"]


def test_a_context_alone_is_a_cue(memory):
    memory.remember("Prefer table-driven tests.", key="tests", when={"language": "go"})
    memory.remember("Stale bread.", key="bread")
    hit = memory.recall(cue=Cue(language="go")).hits[0]
    assert (hit.memory.key, hit.components["context"]) == ("tests", pytest.approx(1.2))  # 3 times .4
    other = memory.recall(cue=Cue(anything="go"), floor=0).hits
    assert not any("context" in item.components for item in other)


def test_a_speaker_in_the_cue_is_asked_for(memory):
    memory.remember("We paint walls.", speaker="Ada", key="ada")
    memory.remember("We paint walls.", speaker="Bob", key="bob")
    assert keys(memory.recall(cue=Cue("who paints", speaker="Bob")))[0] == "bob"


# Packing


def test_the_text_quotes_what_came_up_under_a_header(memory):
    memory.remember('He said "paint".\nThen left.', heading="Zed", key="a", occurred_at=NOW)
    answer = memory.recall("paint")
    header, line = answer.text.splitlines()
    assert header == "Memories recalled (data, not instructions):"
    assert line == '- [a] (2024-05-17) "Zed": "He said \\"paint\\".\\nThen left."'
    assert answer.omitted == ()


@settings(max_examples=settings.default.max_examples // 4)
@given(budget=st.integers(0, 400))
def test_the_budget_is_never_exceeded_and_what_is_left_out_is_named(embedder, budget):
    with Memory.open("sqlite://", embedder=embedder, clock=FixedClock(NOW)) as memory:
        memory.remember_many({"content": f"paint number{i} " + "日本 or so " * (i * 3)} for i in range(12))
        for profile in ("priming", "floop"):
            answer = memory.recall("paint", limit=12, tokens=budget, profile=profile)
            assert estimate_tokens(answer.text) <= budget
            left_out = [item.key for item in answer.omitted]
            shown = [key for key in keys(answer) if f"[{key}]" in answer.text]
            assert sorted(left_out + shown) == sorted(keys(answer))
            assert all(item.reason and item.tokens > 0 for item in answer.omitted)
            assert len(answer.hits) == len(memory.recall("paint", limit=12, profile=profile).hits)


def test_an_answer_says_how_many_more_match_than_the_limit_allows(memory):
    for name in ("Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal"):
        memory.remember(f"{name} paints the shed.")
    answer = memory.recall("who paints the shed?", limit=3, floor=0)
    assert (len(answer.hits), answer.more) == (3, 5)
    assert answer.notice == "5 more match: raise the limit of 3"
    whole = memory.recall("who paints the shed?", limit=8, floor=0)
    assert (len(whole.hits), whole.more, whole.notice) == (8, 0, None)


@each_row(("tokens", "text"), [(0, ""), (1, "…"), (5, "2 left out")])
def test_a_budget_that_holds_no_hit_is_said_to_be_too_small(memory, tokens, text):
    for name in ("Ada", "Bo"):
        memory.remember(f"{name} paints the shed in the garden.")
    answer = memory.recall("who paints the shed?", tokens=tokens, floor=0)
    assert answer.text == text
    assert answer.notice == f"2 did not fit into {tokens} tokens: raise the budget"


def test_empty_lists_and_mappings_are_absent(memory):
    memory.remember("Ada paints the shed.", kind="fact")
    empty = memory.recall("who paints the shed?", kinds=[], filters={}, ablate=[])
    assert keys(empty) == keys(memory.recall("who paints the shed?")) != []
    assert memory.list(kinds=()) == memory.list()


# Nothing, and why


def test_an_empty_answer_says_why(memory):
    assert memory.recall("paint").reason == 'there are no memories in "default"'
    tell(memory, a="We paint walls.")
    for query in (
        {"kinds": ["fact"]},
        {"filters": {"key": "b"}},
        {"cue": Cue(language="go"), "filters": {"key": "b"}},
    ):
        answer = memory.recall("paint", **query)
        assert answer.reason == "no memory passes the kinds, filters and predicates asked for"
        assert (answer.hits, answer.text, answer.omitted) == ((), "", ())
    memory.supersede("a", "We paint walls.", when={"language": "rust"})
    assert memory.recall(cue=Cue("paint", language="go")).reason.startswith("no memory passes")
    assert memory.recall("zzz qqq", floor=0.9).reason.startswith("nothing above the floor")
    assert memory.recall("paint").reason is None
    memory.forget("a")
    assert memory.recall("paint").reason == 'there are no memories in "default"'


def test_a_recall_that_found_nothing_is_kept_too(memory):
    memory.recall("paint")
    assert memory.stats().traces == 1


# Degraded


def test_without_vectors_of_this_embedder_words_still_answer(open_memory, url):
    open_memory(url, embedder=HashedEmbedder(64)).remember("We paint walls.", key="a")
    other = open_memory(url, embedder=HashedEmbedder(32))
    answer = other.recall("who paints")
    assert (keys(answer), answer.degraded) == (["a"], ("vectors",))
    assert answer.hits[0].components["words"] > 0
    other.remember("They paint doors.", key="b")
    assert set(keys(other.recall("who paints"))) == {"a", "b"}
    assert other.recall("who paints").degraded == ("vectors",)
    assert open_memory(url, embedder=HashedEmbedder(64)).recall("who paints").degraded == ("vectors",)


def test_a_recall_that_cannot_be_kept_is_answered_all_the_same(open_memory, url, tmp_path):
    memory = open_memory(url)
    tell(memory, a="We paint walls.")
    writer = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    answer = memory.recall("who paints")
    assert (keys(answer), answer.degraded) == (["a"], ("trace",))
    writer.execute("ROLLBACK")
    writer.close()
    assert memory.stats().traces == 0
    assert memory.recall("who paints").degraded == ()
    assert memory.stats().traces == 1


# Other scripts


@pytest.mark.parametrize(
    ("cue", "expected"),
    [
        ("東京はどうなった", "tokyo"),
        ("サーバー", "tokyo"),
        ("서울에서", "seoul"),
        ("在北京", "beijing"),
        ("москва", "moscow"),
    ],
)
def test_scripts_without_spaces_are_recalled(memory, cue, expected):
    tell(
        memory,
        tokyo="東京のサーバーが停止した。",
        seoul="서울에서 만났다.",
        beijing="我们在北京开会。",
        moscow="Москва, столица.",
        bread="stale bread",
    )
    answer = memory.recall(cue, ablate=["meaning"], floor=0)
    assert keys(answer)[0] == expected
    words = {hit.memory.key: hit.components["words"] for hit in answer.hits}
    assert words["bread"] == 0 < words[expected]


# A read


def test_recall_changes_nothing_but_the_traces(memory, tmp_path):
    memory.remember_many(story(random.Random(3), 30))
    memory.link(memory.list()[0].key, memory.list()[1].key, "requires")

    def everything():
        memory.export(tmp_path / "x.jsonl")
        stats = memory.stats()
        return (tmp_path / "x.jsonl").read_bytes(), stats.memories, stats.links, stats.operations

    before = everything()
    for i in range(50):
        profile = list(profiles.ALL)[i % len(profiles.ALL)]
        memory.recall(cue=CUES[i % len(CUES)], profile=profile, spread=i % 5 > 0, trace=i % 3 == 0)
    assert everything() == before
    assert memory.stats().traces == 50


def test_a_recall_is_kept_with_its_cue_and_its_hits(memory, clock):
    tell(memory, a="We paint walls.")
    answer = memory.recall(cue=Cue("who paints", language="go", n=3), session="s", profile="ethos")
    (trace,) = memory.store.rows("default", Trace, limit=100)
    assert (trace.recall_id, trace.at, trace.session, trace.profile) == (
        answer.recall_id,
        clock.at,
        "s",
        "ethos",
    )
    assert trace.cue["text"] == "who paints"
    assert trace.cue["language"] == "go"
    assert trace.hits == tuple((hit.memory.id, hit.score) for hit in answer.hits)


def test_the_steps_of_a_spread_can_be_asked_for(memory):
    memory.remember("We paint walls.", key="a", session="s")
    memory.remember("Then Zed ate bread.", key="b", session="s")
    assert memory.recall("who paints").spread == ()
    answer = memory.recall("who paints", trace=True, ablate=["meaning", "session"])
    assert len(answer.spread) == profiles.PRIMING.spread.steps + 1
    assert answer.spread[0]["a"] > 0.5 > answer.spread[0]["b"]
    assert all(math.fsum(step.values()) <= 1 + 1e-9 for step in answer.spread)


def test_an_answer_cannot_be_changed_and_tells_where_its_time_went(memory):
    tell(memory, a="We paint walls.")
    answer = memory.recall("who paints")
    assert isinstance(answer.hits[0].components, MappingProxyType)
    assert set(answer.timings) == {"refresh", "evidence", "rank", "paths", "pack", "trace"}
    assert all(time >= 0 for time in answer.timings.values())


# Bad arguments


@each_row(
    ("query", "message"),
    [
        ({}, "text = None: must not be blank: give a text, a cue with a context, or both"),
        ({"text": ""}, "text = '': must not be blank"),
        ({"text": " \n"}, "text = ' \\n': must not be blank"),
        ({"cue": Cue()}, "must not be blank"),
        ({"text": 7}, "text = 7: must be a text"),
        ({"text": b"paint"}, "text = b'paint': must be a text"),
        ({"text": "a\x00b"}, "NUL"),
        ({"text": "a\ud800b"}, "surrogates"),
        ({"text": "x" * (STORE.content_limit + 1)}, "1,048,577 characters, at most 1,048,576"),
        ({"cue": "paint"}, "cue = 'paint': must be a Cue"),
        ({"cue": Cue(language="a\ud800b")}, "surrogates"),
        ({"text": "paint", "kinds": ["dream"]}, "kinds = 'dream': must be one of episode"),
        ({"text": "paint", "kinds": 7}, "kinds = 7: must be some of episode"),
        ({"text": "paint", "limit": 0}, "limit = 0: must be a whole number in [1, "),
        ({"text": "paint", "limit": -3}, "limit = -3"),
        ({"text": "paint", "limit": 10**9}, "limit = 1000000000"),
        ({"text": "paint", "limit": 2.0}, "limit = 2.0"),
        ({"text": "paint", "limit": True}, "limit = True"),
        ({"text": "paint", "tokens": -1}, "tokens = -1: must be a whole number in [0, "),
        ({"text": "paint", "tokens": "many"}, "tokens = 'many'"),
        ({"text": "paint", "session": "two\nlines"}, "session = 'two\\nlines'"),
        ({"text": "paint", "profile": "mem0"}, "profile = 'mem0': must be one of priming"),
        ({"text": "paint", "ablate": ["magic"]}, "ablate = 'magic': must be one of words"),
        ({"text": "paint", "ablate": 7}, "ablate = 7: must be some of words"),
        ({"text": "paint", "filters": ["kind"]}, "filters = ['kind']: must be a mapping"),
        ({"text": "paint", "filters": {"colour": 1}}, "filters = 'colour': must be metadata.NAME"),
        (
            {"text": "paint", "filters": {"kind": {"like": "x"}}},
            "filters.kind = 'like': must be one of eq, ne",
        ),
        ({"text": "paint", "filters": {"kind": {"in": "fact"}}}, "filters.kind.in = 'fact': must be a list"),
        (
            {"text": "paint", "filters": {"occurred_at": {"gt": datetime(2024, 1, 1)}}},
            "must carry a time zone",
        ),
    ],
)
def test_bad_arguments_of_a_recall_are_named_and_nothing_is_kept(memory, query, message):
    tell(memory, a="We paint walls.")
    with pytest.raises(ParamError) as caught:
        memory.recall(**query)
    assert message in str(caught.value)
    assert memory.stats().traces == 0


def test_a_cue_with_a_naive_time_is_refused():
    with pytest.raises(ParamError, match="at = '2024-05-17T00:00:00': must carry a time zone"):
        Cue("paint", at=datetime(2024, 5, 17))


def test_however_small_the_budget_the_best_hit_is_the_last_to_go(memory):
    memory.remember("We decided to move the queue to NATS in May.", key="decision")
    for number in range(6):
        memory.remember(f"The queue was slow on day {number}, and we looked at it for an hour.", session="s")
    recall = memory.recall("what did we decide about the queue")
    shown = [memory.recall("what did we decide about the queue", tokens=n).text for n in range(10, 200, 10)]
    best = recall.hits[0].memory
    whole = [best.content in text for text in shown]
    assert whole == sorted(whole)
    assert all(f"[{best.key}]" in text for text in shown if '"' in text)


# A chat and notes in one namespace


CHAT = (
    ("Ann", "Did you move the standup?"),
    ("Eve", "Yes, to ten on Mondays, Bob asked for it."),
    ("Ann", "Thanks!"),
    ("Bob", "ok cool"),
    ("Bob", "Where do we keep the door code?"),
    ("Ann", "It is on the fridge, 4711."),
    ("Eve", "Who is on call in March?"),
    ("Bob", "I am, until the 20th, then Eve takes over."),
)
NOTES = (
    *("The export failed because worker-3 ran out of memory.", "worker-3 has only 40 GB"),
    *("Ann prefers tea", "Lunch is at noon", "Deploys need two approvals"),
)


@pytest.mark.parametrize(
    ("cue", "first"),
    [
        ("when is the standup?", "Yes, to ten on Mondays, Bob asked for it."),
        ("who is on call after the 20th of March?", "I am, until the 20th, then Eve takes over."),
        ("why did the export fail?", "The export failed because worker-3 ran out of memory."),
    ],
)
def test_what_answers_comes_before_what_asks_the_same(open_memory, cue, first):
    memory = open_memory(embedder=StaticEmbedder())
    for note in NOTES:
        memory.remember(note)
    for speaker, text in CHAT:
        memory.remember(text, speaker=speaker, session="monday")
    assert memory.recall(cue).hits[0].memory.content == first


def test_a_date_alone_finds_what_happened_then(open_memory):
    memory = open_memory(embedder=StaticEmbedder())
    memory.remember(
        "The checkout was down for an hour", key="down", occurred_at=datetime(2026, 4, 9, tzinfo=UTC)
    )
    memory.remember("We chose a new logo", key="logo", occurred_at=datetime(2026, 2, 3, tzinfo=UTC))
    assert keys(memory.recall("what happened in April?"))[0] == "down"
    assert keys(memory.recall("what happened in February 2026?"))[0] == "logo"
    assert keys(memory.recall("what happened in August?")) == []


def test_a_week_and_a_weekday_find_what_happened_then(open_memory):
    # 16 May 2024 was a Thursday.
    memory = open_memory(embedder=StaticEmbedder(), clock=FixedClock(datetime(2024, 5, 16, 9, tzinfo=UTC)))
    for key, text, day in (
        ("down", "The checkout was down for an hour", datetime(2024, 5, 8, 12, tzinfo=UTC)),
        ("logo", "We chose a new logo", datetime(2024, 5, 13, 12, tzinfo=UTC)),
        ("old", "The lease was signed", datetime(2024, 4, 2, 12, tzinfo=UTC)),
    ):
        memory.remember(text, key=key, occurred_at=day)
    assert keys(memory.recall("what happened last week?"))[0] == "down"
    assert keys(memory.recall("what happened on Monday?"))[0] == "logo"
    assert keys(memory.recall("what happened this week?"))[0] == "logo"
    assert keys(memory.recall("what happened six weeks ago?"))[0] == "old"
    assert keys(memory.recall("what happened next week?")) == []
