import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rows import each_row

from priming import Conflict, FixedClock, Memory, ParamError
from priming.config.params.limits import STORE
from priming.config.params.recall import LINKING

NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
THEN = datetime(2023, 5, 7, 12, tzinfo=UTC)


def linked(memory, relation, key=None):
    return {(link.source, link.target) for link in memory.links(key, relation=relation)}


def named(memory, key):
    """The names of the entities that a memory mentions, as they were first written."""
    return {memory.get(target).content for source, target in linked(memory, "mentions", key) if source == key}


def state(memory):
    stats = memory.stats()
    return (stats.memories, stats.links, stats.operations), memory.log(), memory.links()


# What is kept


def test_every_argument_is_kept_and_given_back(memory):
    arguments = {
        "heading": "Deploy log",
        "kind": "failure",
        "key": "full-disk",
        "session": "monday",
        "speaker": "Ada",
        "occurred_at": THEN,
        "valid_from": THEN,
        "tags": ("ops", "disk"),
        "metadata": {"host": "db1", "tries": [1, 2], "nested": {"ok": None}},
        "when": {"environment": "production", "file": ["*.sh", "*.py"]},
        "importance": 0.75,
        "outcome": "failure",
        "source": "chat",
        "trust": "tool",
    }
    answer = memory.remember("The deploy failed.\nThe disk was full.", **arguments)
    assert (answer.key, answer.status) == ("full-disk", "stored")
    record = memory.get("full-disk")
    assert {name: getattr(record, name) for name in arguments} == arguments
    assert record.content == "The deploy failed.\nThe disk was full."
    assert record.gist == "The deploy failed."
    assert record.id == answer.id
    assert record.namespace == "default"
    assert memory.get(answer.id) == record


def test_what_becomes_true_later_is_recalled_from_then_on(memory, clock):
    start = clock.now() + timedelta(days=3)
    memory.remember("Omar leads the platform team.", key="lead", kind="fact", valid_from=start)
    assert memory.recall("who leads the platform team?").hits == ()
    later = memory.supersede("lead", "Ida leads the platform team.", valid_from=start + timedelta(days=9))
    clock.at = start
    assert [hit.content for hit in memory.recall("who leads the platform team?")] == [
        "Omar leads the platform team."
    ]
    assert [version.valid_from for version in memory.history("lead")] == [start, later.valid_from]


def test_what_is_not_said_takes_its_default(memory, clock):
    record = memory.get(memory.remember("The disk was full.").key)
    assert (record.kind, record.status, record.trust, record.importance) == ("episode", "active", "user", 0.5)
    assert (record.heading, record.session, record.speaker, record.outcome, record.source) == (None,) * 5
    assert (record.occurred_at, record.valid_from, record.valid_to, record.retired_at) == (None,) * 4
    assert (record.tags, record.metadata, record.when) == ((), {}, {})
    assert (record.version, record.weight, record.priority, record.use.uses) == (1, 0.5, 0.0, 0)
    assert record.recorded_at == clock.now()


@pytest.mark.parametrize(
    "content",
    [
        "tab\tand  two spaces \n\n and a line ",
        "“quotes” — 'single' `ticks` \\ % _ ; -- DROP TABLE memories",
        "日本語のテキスト。絵文字 👩‍💻 и кириллица",
        "x" * STORE.content_limit,
        "\ufeffbyte order mark and e\u0301 decomposed",
    ],
)
def test_a_text_comes_back_as_it_was(memory, content):
    assert memory.get(memory.remember(content).id).content == content


def test_a_memory_is_one_operation_of_the_log(memory):
    answer = memory.remember("Ada wrote the first program.", session="a")
    (operation,) = memory.log()
    assert (operation.kind, operation.id) == ("remember", answer.operation)
    assert {change.table for change in operation.changes} == {"memories", "versions", "links"}
    assert all(change.before is None and change.after is not None for change in operation.changes)


# Keys


def test_a_key_is_made_of_the_first_words_or_of_the_heading(memory):
    assert memory.remember("The disk of the build server is full.").key == "the-disk-of-the-build-server"
    assert memory.remember("It is full.", heading="Disk space (ops)").key == "disk-space-ops"


def test_keys_made_of_like_texts_differ_and_begin_alike(memory):
    keys = [memory.remember("The same words.", session=name).key for name in "abcd"]
    assert len(set(keys)) == 4
    assert keys[0] == "the-same-words"
    assert all(key.startswith("the-same-words-") for key in keys[1:])


def test_a_key_that_is_taken_is_a_conflict_and_changes_nothing(memory):
    memory.remember("The disk was full.", key="disk")
    before = state(memory)
    with pytest.raises(Conflict, match="key 'disk' is taken: choose another"):
        memory.remember("The disk was empty.", key="disk")
    assert state(memory) == before
    assert memory.get("disk").content == "The disk was full."


def test_a_key_that_is_taken_by_the_same_text_is_a_duplicate(memory):
    first = memory.remember("The disk was full.", key="disk")
    again = memory.remember("The disk was full.", key="disk", session="other")
    assert (again.id, again.key, again.status, again.operation) == (first.id, "disk", "duplicate", None)


def test_the_key_of_a_forgotten_memory_stays_taken(memory):
    memory.remember("The disk was full.", key="disk")
    memory.forget("disk")
    with pytest.raises(Conflict, match="taken by a forgotten memory: choose another, or restore"):
        memory.remember("The disk was full.", key="disk")


def test_one_key_given_twice_in_a_batch_is_a_conflict(memory):
    items = [{"content": "The disk was full.", "key": "disk"}, {"content": "It is empty.", "key": "disk"}]
    with pytest.raises(Conflict, match="key 'disk' is taken"):
        memory.remember_many(items)
    assert memory.list() == []
    same = [items[0], dict(items[0])]
    assert [answer.status for answer in memory.remember_many(same)] == ["stored", "duplicate"]


# Duplicates


def test_the_same_memory_told_twice_is_a_duplicate(memory):
    fields = {"session": "monday", "occurred_at": THEN, "speaker": "Ada", "kind": "fact"}
    first = memory.remember("The disk was full.", **fields)
    before = state(memory)
    again = memory.remember("The disk was full.", **fields, importance=0.9, tags=["other"])
    assert (again.id, again.key, again.status) == (first.id, first.key, "duplicate")
    assert (again.links, again.operation) == ((), None)
    assert state(memory) == before


@pytest.mark.parametrize(
    "other",
    [
        {"session": "tuesday"},
        {"occurred_at": THEN + timedelta(seconds=1)},
        {"kind": "correction"},
        {"heading": "Grace"},
        {"content": "the disk was full."},
    ],
)
def test_what_differs_in_session_time_kind_title_or_text_is_no_duplicate(memory, other):
    fields = {"content": "The disk was full.", "session": "monday", "occurred_at": THEN, "heading": "Ada"}
    memory.remember(**fields)
    assert memory.remember(**{**fields, **other}).status == "stored"


def test_what_was_forgotten_may_be_told_again(memory):
    first = memory.remember("The disk was full.")
    memory.forget(first.key)
    again = memory.remember("The disk was full.")
    assert again.status == "stored"
    assert again.id != first.id


def test_a_superseded_text_may_be_told_again(memory):
    first = memory.remember("The disk was full.")
    memory.supersede(first.key, "The disk is empty.")
    assert memory.remember("The disk was full.").status == "stored"
    assert memory.remember("The disk is empty.").status == "duplicate"


# Links at once: sessions


def test_the_memories_of_a_session_follow_one_another(memory):
    a, b, c = (memory.remember(text, session="s").key for text in ("It rained.", "We left.", "It stopped."))
    assert linked(memory, "next") == {(a, b), (b, c)}
    assert linked(memory, "next-but-one") == {(a, c)}
    assert linked(memory, "part-of") == {(item, "session:s") for item in (a, b, c)}
    assert memory.get("session:s").kind == "entity"


def test_sessions_do_not_follow_one_another(memory):
    a = memory.remember("It rained.", session="s").key
    x = memory.remember("The sea rose.", session="t").key
    b = memory.remember("We left.", session="s").key
    assert linked(memory, "next") == {(a, b)}
    assert linked(memory, "part-of") == {(a, "session:s"), (b, "session:s"), (x, "session:t")}


def test_without_a_session_nothing_follows(memory):
    memory.remember("It rained.")
    memory.remember("We left.")
    assert linked(memory, "next") == linked(memory, "part-of") == set()


def test_a_session_goes_on_after_a_forgotten_memory(memory):
    a, b = (memory.remember(text, session="s").key for text in ("It rained.", "We left."))
    memory.forget(b)
    c = memory.remember("It stopped.", session="s").key
    assert (a, c) in linked(memory, "next")


def test_the_answer_lists_the_links_that_were_made(memory):
    memory.remember("It rained.", session="s")
    answer = memory.remember("Ada left.", session="s")
    created = {(link.source, link.relation, link.target) for link in answer.links}
    assert created == {
        ("it-rained", "next", "ada-left"),
        ("ada-left", "part-of", "session:s"),
        ("ada-left", "mentions", "entity:ada"),
    }
    assert all(link.weight == 0.5 and not link.given for link in answer.links)


# Links at once: names


def test_names_files_identifiers_and_handles_are_mentioned(memory):
    key = memory.remember("Then Grace Hopper changed src/app.py: `run_all` and parseTree, see @mia.").key
    names = {"Grace Hopper", "Grace", "Hopper", "src/app.py", "app.py", "run_all", "parseTree", "@mia"}
    assert named(memory, key) == names


@pytest.mark.parametrize("other", ["Carol's", "CAROL", "carol’s"])
def test_a_name_is_one_entity_whatever_its_case_or_ending(memory, other):
    first = memory.remember("Then Carol painted.").key
    second = memory.remember(
        "They saw `carol` there." if other == "carol’s" else f"They saw {other} cat."
    ).key
    (entity,) = {target for source, target in linked(memory, "mentions") if source == first}
    assert (second, entity) in linked(memory, "mentions")
    assert memory.stats().memories["entity"] == {"active": 1}


def test_a_name_in_one_batch_is_one_entity(memory):
    memory.remember_many([{"content": "Then Carol painted."}, {"content": "There CAROL's cat sat."}])
    assert len(linked(memory, "mentions")) == 2
    assert [record.content for record in memory.list(kinds=["entity"])] == ["Carol"]


@pytest.mark.parametrize("length", [79, 80, 81, 200, 255])
def test_a_long_name_is_one_entity_too(memory, length):
    path = ("/" + "folder" * 50)[: length - 4] + "x.py"
    session = ("s" * 512)[: 2 * length]
    for text in ("was changed", "was read", "was deleted"):
        memory.remember(f"{path} {text}", session=session)
    kinds = [record.metadata["form"] for record in memory.list(kinds=["entity"])]
    assert sorted(kinds) == ["file", "file", "session"]


def test_a_speaker_and_a_heading_are_mentioned(memory):
    key = memory.remember("I painted a sunrise.", speaker="Mel").key
    about = memory.remember("It is a town in Ohio.", heading="Dayton (Ohio)").key
    assert named(memory, key) == {"Mel"}
    assert {"Dayton", "Ohio"} <= named(memory, about)


def test_an_entity_that_is_remembered_by_hand_is_the_one_that_is_mentioned(memory):
    memory.remember("Mathematician, 1815 to 1852.", heading="Ada Lovelace", kind="entity", key="ada")
    key = memory.remember("Then Ada Lovelace wrote.").key
    assert (key, "ada") in linked(memory, "mentions")


def test_entities_have_the_trust_of_what_mentioned_them_first_and_no_vector(memory):
    memory.remember("Then Carol painted.", trust="untrusted")
    (entity,) = memory.list(kinds=["entity"])
    assert (entity.trust, entity.source, entity.metadata) == ("untrusted", "rules", {"form": "name"})
    assert memory.validate() == []


def test_a_text_of_many_names_is_linked_to_the_first_of_them(memory):
    memory.remember(" and then ".join(f"Q{i}x" for i in range(LINKING.names + 20)))
    assert len(linked(memory, "mentions")) == LINKING.names


# Links at once: rare words


def fill(memory, count):
    memory.remember_many([{"content": f"filler note number {i} about nothing much."} for i in range(count)])


def rare(memory):
    return {record.content for record in memory.list(kinds=["entity"]) if record.metadata["form"] == "term"}


def test_memories_that_share_a_rare_word_are_linked_over_it(memory):
    fill(memory, LINKING.rare_from)
    keys = [memory.remember(f"{start} xylophone.").key for start in ("a", "your", "their", "any")]
    assert rare(memory) == {"xylophon"}
    assert linked(memory, "mentions") == {(key, "term:xylophon") for key in keys[: LINKING.rare_max]}


def test_words_are_not_rare_in_a_small_namespace(memory):
    fill(memory, LINKING.rare_from - 2)
    memory.remember("a xylophone.")
    memory.remember("their xylophone.")
    assert rare(memory) == set()
    memory.remember("your xylophone.")
    assert rare(memory) == {"xylophon"}


def test_words_are_not_rare_in_a_small_batch_however_many_words_it_has(memory):
    letters = "bcdfghjklmnpqrstvwxz"
    words = [f"{a}{b}{a}{b}{a}" for a in letters for b in letters]
    items = [{"content": " ".join(words[i * 20 : i * 20 + 21])} for i in range(10)]
    memory.remember_many(items)
    assert rare(memory) == set()


def test_short_words_and_words_of_names_are_not_rare(memory):
    fill(memory, LINKING.rare_from)
    for text in ("an oboe by Antonia", "your oboe for Antonia"):
        memory.remember(text)
    assert rare(memory) == set()


def test_a_word_that_stands_in_headings_is_counted_there_too(open_memory):
    items = [{"content": f"filler note number {i} about nothing much."} for i in range(LINKING.rare_from)]
    items += [{"content": f"Note of day {i}.", "heading": "xylophone"} for i in range(4)]
    items += [{"content": "a xylophone."}, {"content": "their xylophone."}]
    single, batch = open_memory(), open_memory()
    for item in items:
        single.remember(**item)
    batch.remember_many(items)
    assert rare(single) == rare(batch) == set()


# Links at once: the nearest


def test_a_memory_is_linked_to_its_three_nearest_with_their_cosine(memory, embedder):
    texts = ["red green blue", "red green blue black", "red green blue black white", "red green", "one two"]
    keys = [memory.remember(text).key for text in texts]
    key = memory.remember("red green blue yellow").key
    *vectors, own = embedder.embed([*texts, "red green blue yellow"]).astype(float)
    cosines = {other: float(vector @ own) for other, vector in zip(keys, vectors, strict=True)}
    near = sorted((other for other in keys if cosines[other] >= 0.6), key=lambda other: -cosines[other])[:3]
    assert len(near) == 3
    created = {link.target: link.weight for link in memory.links(key, relation="similar-to")}
    assert created == {other: pytest.approx(cosines[other], abs=1e-6) for other in near}


def test_what_is_less_alike_than_the_bar_is_not_linked(memory, embedder):
    a, b = "red green blue black white", "red green one two three"
    assert float(np.dot(*embedder.embed([a, b]))) < LINKING.similarity
    memory.remember(a)
    memory.remember(b)
    assert linked(memory, "similar-to") == set()


def test_forgotten_memories_are_not_linked(memory):
    memory.forget(memory.remember("red green blue").key)
    memory.remember("red green blue yellow")
    assert linked(memory, "similar-to") == set()


def test_a_text_without_words_is_like_nothing(memory):
    memory.remember("?!")
    memory.remember("...")
    assert memory.links() == []
    assert memory.validate() == []


# Bad input


@each_row(
    ("arguments", "message"),
    [
        ({"content": ""}, "content = '': must not be blank"),
        ({"content": "  \n"}, "content = '  \\n': must not be blank"),
        ({"content": "x" * 10_000_000}, "split it into parts"),
        ({"content": "a\x00b"}, "content = 'a\\x00b': must not contain the NUL character"),
        ({"content": "a\ud800b"}, "content = 'a\\ud800b': must be valid Unicode, without lone surrogates"),
        ({"kind": "dream"}, "kind = 'dream': must be one of episode, fact"),
        ({"importance": 1.5}, "importance = 1.5: must be in [0, 1]"),
        ({"occurred_at": datetime(2024, 5, 17)}, "must carry a time zone"),
        ({"valid_from": datetime(2024, 5, 17)}, "must carry a time zone"),
        ({"session": "a\x00b"}, "session = 'a\\x00b': must not contain the NUL character"),
        ({"when": {"file": "a\ud800b"}}, "when.file = 'a\\ud800b': must be valid Unicode"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(memory, arguments, message):
    memory.remember("Ada wrote the first program.", session="s")
    before = state(memory)
    item = {"content": "The disk was full.", "session": "s", **arguments}
    with pytest.raises(ParamError) as caught:
        memory.remember(**item)
    assert message in str(caught.value)
    with pytest.raises(ParamError) as caught:
        memory.remember_many([{"content": "It rained."}, item])
    assert str(caught.value).startswith("item 1: ")
    assert message in str(caught.value)
    assert state(memory) == before


def test_a_namespace_is_one_printable_line(open_memory):
    for bad in ("", " ", "a\nb", None):
        with pytest.raises(ParamError, match="namespace"):
            open_memory(namespace=bad)


# Many at once


@pytest.fixture
def batch(monkeypatch):
    """How many are written at once: few."""
    monkeypatch.setattr(import_module("priming.remember.remember"), "STORE", replace(STORE, batch=20))
    return 20


def numbered(count):
    return [{"content": f"note {i}.", "key": f"note-{i}"} for i in range(count)]


def test_many_are_written_a_batch_at_a_time_and_progress_is_told(memory, batch):
    fields = []
    count = 2 * batch + 7
    answers = memory.remember_many(numbered(count), progress=lambda done, total: fields.append((done, total)))
    assert [answer.key for answer in answers] == [f"note-{i}" for i in range(count)]
    assert fields == [(batch, count), (2 * batch, count), (count, count)]
    assert [operation.kind for operation in memory.log()] == ["remember"] * 3
    assert len({answer.operation for answer in answers}) == 3


def test_a_generator_is_read_a_batch_at_a_time_without_a_total(memory, batch):
    fields = []
    items = (item for item in numbered(batch + 1))
    memory.remember_many(items, progress=lambda done, total: fields.append((done, total)))
    assert fields == [(batch, None), (batch + 1, None)]
    assert memory.stats().memories == {"episode": {"active": batch + 1}}


def test_nothing_to_remember_is_nothing_done(memory):
    assert memory.remember_many([]) == []
    assert memory.log() == []


def test_an_error_keeps_the_batches_before_it_and_names_the_item(memory, batch):
    items = numbered(2 * batch + 10)
    bad = 2 * batch + 4
    items[bad] = {"content": " "}
    with pytest.raises(ParamError, match=f"item {bad}: content = ' ': must not be blank"):
        memory.remember_many(items)
    assert memory.stats().memories == {"episode": {"active": 2 * batch}}
    items[bad] = {"content": "mended"}
    statuses = [answer.status for answer in memory.remember_many(items)]
    assert statuses == ["duplicate"] * (2 * batch) + ["stored"] * 10


def test_an_interrupt_keeps_the_batches_before_it(memory, batch):
    def interrupted():
        yield from numbered(batch + 2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.remember_many(interrupted())
    assert memory.stats().memories == {"episode": {"active": batch}}
    assert memory.stats().operations == 1
    assert memory.validate() == []
    assert len(memory.remember_many(numbered(batch + 2))) == batch + 2
    assert memory.stats().memories == {"episode": {"active": batch + 2}}


@pytest.mark.parametrize("items", ["text", b"text", {"content": "text"}, 7, None])
def test_items_are_a_sequence_of_mappings(memory, items):
    with pytest.raises(ParamError, match="must be a sequence of mappings"):
        memory.remember_many(items)


def test_an_item_that_is_no_mapping_is_named(memory):
    with pytest.raises(ParamError, match="item 1: item = 'text'"):
        memory.remember_many([{"content": "x"}, "text"])


def test_importing_the_same_again_stores_nothing(memory):
    items = [{**item, "session": "s"} for item in numbered(40)]
    first = memory.remember_many(items)
    before = state(memory)
    again = memory.remember_many(items)
    assert {answer.status for answer in again} == {"duplicate"}
    assert [answer.id for answer in again] == [answer.id for answer in first]
    assert state(memory) == before


def test_a_duplicate_within_a_batch_is_stored_once(memory):
    answers = memory.remember_many([{"content": "It rained."}, {"content": "It rained."}])
    assert [answer.status for answer in answers] == ["stored", "duplicate"]
    assert answers[0].id == answers[1].id


WORDS = (
    *("violin", "trumpet", "clarinet", "oboe", "tuba", "horn", "guitar"),
    *("banjo", "cello", "piano", "viola", "lute", "zither", "bagpipe"),
)
NAMES = ("Ada", "Grace Hopper", "Alan", "src/app.py", "run_all", "Oslo")


def story(seed, count=70):
    """Items of all kinds, with words, names, sessions, titles and times in common; the same for the same seed."""
    rng = random.Random(seed)
    for _ in range(count):
        words = rng.sample(WORDS, rng.randint(1, 5))
        item = {"content": " ".join(["they", *words, *rng.sample(NAMES, rng.randint(0, 2))]) + "."}
        if rng.random() < 0.6:
            item["session"] = rng.choice("abc")
        if rng.random() < 0.3:
            item["heading"] = rng.choice(["Ada", "banjo", "zither (music)"])
        if rng.random() < 0.3:
            item["occurred_at"] = THEN + timedelta(days=rng.randint(0, 400))
        if rng.random() < 0.2:
            item["kind"] = rng.choice(["fact", "procedure", "entity"])
        yield item


def drawn(memory):
    """The graph with memories named by their texts, so that two stores can be compared."""
    records = [
        record
        for kind in ("episode", "fact", "procedure", "entity")
        for record in memory.list(kinds=[kind], limit=1000)
    ]
    label = {
        record.key: (record.kind, record.title, record.content, record.session, record.occurred_at)
        for record in records
    }
    links = {(label[x.source], label[x.target], x.relation): x.weight for x in memory.links()}
    return sorted(map(repr, label.values())), links


@settings(max_examples=1 + settings.default.max_examples // 20)
@given(st.integers(0, 10**6))
def test_many_at_once_are_as_one_by_one(embedder, seed):
    items = list(story(seed))
    clock = FixedClock(NOW)
    with (
        Memory.open("sqlite://", embedder=embedder, clock=clock) as single,
        Memory.open("sqlite://", embedder=embedder, clock=clock) as batch,
    ):
        statuses = [single.remember(**item).status for item in items]
        assert [answer.status for answer in batch.remember_many(items)] == statuses
        (records, links), (others, other_links) = drawn(single), drawn(batch)
        assert records == others
        assert links == pytest.approx(other_links, abs=1e-6)
        for cue in ("who played the banjo in Oslo", "zither and bagpipe", "Grace Hopper"):
            answers = [memory.recall(cue, limit=20) for memory in (single, batch)]
            a, b = ([(hit.memory.content, hit.score) for hit in answer.hits] for answer in answers)
            assert [score for _, score in a] == pytest.approx([score for _, score in b], abs=1e-6)
            assert [text for text, _ in a] == [text for text, _ in b]


def test_the_same_text_is_a_duplicate_of_what_holds_when_it_does(memory, clock):
    later = clock.at + timedelta(days=9)
    memory.remember("The matinee is at three.", key="matinee")
    memory.supersede("matinee", "The matinee is at two.", valid_from=later)
    assert memory.remember("The matinee is at three.").key == "matinee"
    news = memory.remember("The matinee is at two.")
    assert news.status == "stored"
    assert memory.recall("when is the matinee?").hits[0].memory.key == news.key
    ahead = [memory.remember("The gala is at noon.", valid_from=later) for _ in range(2)]
    assert [each.status for each in ahead] == ["stored", "duplicate"]
    assert memory.remember("The gala is at noon.").status == "stored"
    assert memory.remember("The gala is at noon.", valid_from=later).status == "duplicate"
