from datetime import timedelta

import pytest

from priming import Cue, ParamError
from priming.config.params.limits import STORE
from priming.remember.similar import EchoGuard

FULL = "The deploy failed because the disk was full."
CLEAN = "We cleaned the build cache on Monday."


@pytest.fixture
def recalled(memory):
    """Two memories, and a recall that emitted both."""
    memory.remember(FULL, session="s", speaker="Ada")
    memory.remember(CLEAN, session="s")
    recall = memory.recall("why did the deploy fail", floor=0)
    assert {hit.memory.content for hit in recall.hits} == {FULL, CLEAN}
    return recall


def count(memory):
    return memory.stats().memories["episode"]["active"]


def lines(recall):
    return recall.text.splitlines()


@pytest.mark.parametrize(
    "repeat",
    [
        lambda recall: recall.text,
        lambda _: FULL,
        lambda _: CLEAN.upper(),
        lambda _: f"  * {FULL}  ",
        lambda _: f"> {FULL}\n> {CLEAN}",
        lambda _: f'"{FULL}"',
        lambda recall: lines(recall)[1],
        lambda recall: "\n".join(lines(recall)[1:]),
        lambda recall: "\n\n".join(reversed(lines(recall)[1:])),
    ],
)
def test_what_a_recall_emitted_is_not_stored_again(memory, recalled, repeat):
    before = count(memory)
    answer = memory.remember(repeat(recalled), session="another")
    assert answer.status == "echo"
    assert answer.id in {hit.memory.id for hit in recalled.hits}
    assert answer.key == memory.get(answer.id).key
    assert answer.links == ()
    assert count(memory) == before


def test_an_echo_is_counted_as_use_once_for_each_recall(memory, recalled):
    first = memory.remember(recalled.text)
    used = [memory.get(hit.memory.key).use for hit in recalled.hits]
    assert [(item.uses, item.helped, item.followed) for item in used] == [(1, 1, 1), (1, 1, 1)]
    (operation,) = memory.log(limit=1)
    assert (operation.id, operation.kind, operation.source) == (first.operation, "feedback", "automatic")
    assert memory.remember(recalled.text).operation == first.operation
    assert memory.get(recalled.hits[0].memory.key).use.uses == 1
    memory.recall("why did the deploy fail", floor=0)
    memory.remember(FULL, session="another")
    assert sorted(memory.get(hit.memory.key).use.uses for hit in recalled.hits) == [1, 2]


def test_a_use_by_echo_is_seen_beside_what_the_same_batch_stored(memory, recalled):
    before = {(link.source, link.target): link.weight for link in memory.links()}
    memory.remember_many([{"content": "It rains in Oslo."}, {"content": recalled.text}])
    memory.recall("does it rain")
    moved = {(link.source, link.target): link.weight for link in memory.links()}
    assert all(moved[ends] >= weight for ends, weight in before.items())
    memory.undo(memory.log(limit=1)[0].id)
    again = {(link.source, link.target): link.weight for link in memory.links()}
    assert {ends: again[ends] for ends in before} == before


def test_an_echo_names_the_memory_that_it_repeats(memory, recalled):
    for hit in recalled.hits:
        assert memory.remember(hit.memory.content, session="another").id == hit.memory.id


def test_a_gist_that_was_shown_is_an_echo(memory):
    content = "The cluster in Oslo lost its leader at noon. " + "It was elected anew. " * 40
    memory.remember(content)
    packed = memory.recall("which cluster lost its leader", tokens=50)
    assert "It was elected anew" not in packed.text
    assert memory.remember(packed.text).status == "echo"


def test_a_block_of_memories_with_strange_line_breaks_is_an_echo(memory):
    memory.remember("The deploy failed\u2028because the disk\x85was full\r\nat noon.")
    assert memory.remember(memory.recall("why did the deploy fail", floor=0).text).status == "echo"


def test_an_echo_in_a_batch_is_not_stored(memory, recalled):
    answers = memory.remember_many([{"content": "It rains in Oslo."}, {"content": recalled.text}])
    assert [answer.status for answer in answers] == ["stored", "echo"]


def test_an_item_of_a_batch_may_be_without_the_guard(memory, recalled):
    answers = memory.remember_many(
        [{"content": recalled.text, "echo_guard": False, "kind": "fact"}, {"content": recalled.text}]
    )
    assert [answer.status for answer in answers] == ["stored", "echo"]
    with pytest.raises(ParamError, match="echo_guard"):
        memory.remember_many([{"content": "Text.", "echo_guard": 1}])


def test_rules_that_come_back_are_an_echo(memory):
    memory.learn("Always run the linter before a commit.", cue=Cue(language="python"))
    active = memory.active(Cue(language="python"))
    assert memory.remember(active.text).status == "echo"
    assert memory.get(active.hits[0].memory.key).use.followed == 1


def test_a_text_that_adds_something_is_stored(memory, recalled):
    assert memory.remember(f"{FULL} So we bought a larger one.").status == "stored"
    assert memory.remember(f"{recalled.text}\nSo we bought a larger one.").status == "stored"
    assert memory.remember(FULL.replace("full", "empty")).status == "stored"


def test_short_texts_are_no_echo(memory):
    short = "The disk is"
    memory.remember(short, session="a")
    memory.recall("disk")
    assert len(short.split()) < STORE.echo_words
    assert memory.remember(short, session="b").status == "stored"


def test_a_text_without_spaces_is_no_short_text(memory):
    memory.remember("東京のサーバーが停止した。", session="a")
    assert memory.recall("サーバーはどうした").hits
    assert memory.remember("東京のサーバーが停止した。", session="b").status == "echo"
    memory.remember("はい。", session="a")
    memory.recall("はい")
    assert memory.remember("はい。", session="b").status == "stored"


def test_what_was_not_recalled_is_no_echo(memory):
    memory.remember(FULL, session="a")
    assert memory.remember(FULL, session="b").status == "stored"


@pytest.mark.usefixtures("recalled")
def test_a_recall_that_brought_nothing_up_makes_no_echo(memory):
    assert memory.recall("zzz qqq", kinds=["fact"]).hits == ()
    assert memory.remember("The sea is deep and wide.").status == "stored"


@pytest.mark.usefixtures("recalled")
def test_a_key_says_that_the_memory_is_meant(memory):
    assert memory.remember(FULL, key="mine").status == "stored"


@pytest.mark.usefixtures("recalled")
def test_an_echo_fades_after_a_day(memory, clock):
    clock.at += timedelta(hours=STORE.echo_hours)
    assert memory.remember(FULL, session="x").status == "echo"
    clock.at += timedelta(seconds=1)
    assert memory.remember(FULL, session="x").status == "stored"


@pytest.mark.usefixtures("recalled")
def test_an_echo_lasts_a_day_from_the_latest_recall(memory, clock):
    for _ in range(3):
        clock.at += timedelta(hours=STORE.echo_hours - 1)
        assert memory.remember(FULL, session="x").status == "echo"
        memory.recall("why did the deploy fail", floor=0)


@pytest.mark.usefixtures("recalled")
def test_what_was_said_before_the_recall_does_not_repeat_it(memory, clock):
    earlier, later = clock.at - timedelta(days=3), clock.at + timedelta(minutes=1)
    answer = memory.remember(FULL, session="old chat", occurred_at=earlier)
    assert answer.status == "stored"
    assert memory.remember(FULL, session="new chat", occurred_at=later).status == "echo"


def test_a_recall_in_another_process_counts(open_memory, url):
    ours, theirs = open_memory(url), open_memory(url)
    ours.remember(FULL)
    theirs.recall("why did the deploy fail")
    assert ours.remember(FULL, session="x").status == "echo"
    assert theirs.remember(FULL, session="x").status == "echo"


def test_a_recall_in_another_namespace_does_not_count(open_memory, url):
    ours, theirs = open_memory(url), open_memory(url, namespace="theirs")
    theirs.remember(FULL)
    theirs.recall("why did the deploy fail")
    assert ours.remember(FULL).status == "stored"


@pytest.mark.parametrize("gone", ["forget", "purge", "undo"])
def test_what_is_gone_may_be_told_anew(memory, gone):
    first = memory.remember(FULL, session="a")
    memory.recall("why did the deploy fail", floor=0)
    assert memory.remember(FULL, session="b").status == "echo"
    getattr(memory, gone)(first.operation if gone == "undo" else first.key)
    again = memory.remember(FULL, session="b")
    assert again.status == "stored"
    assert again.id != first.id


def test_what_another_process_purged_may_be_told_anew(open_memory, url):
    ours, theirs = open_memory(url), open_memory(url)
    ours.remember(FULL, key="full")
    ours.recall("why did the deploy fail")
    assert ours.remember(FULL, session="b").status == "echo"
    theirs.purge("full")
    assert ours.remember(FULL, session="b").status == "stored"


@pytest.mark.usefixtures("recalled")
def test_the_guard_lets_go_of_what_it_need_not_hold(memory, clock):
    guard = EchoGuard(memory)
    guard.update(clock.now())
    assert memory.emitted
    clock.at += timedelta(hours=STORE.echo_hours, seconds=1)
    guard.update(clock.now())
    assert not memory.emitted


def test_what_was_recalled_and_superseded_since_is_an_echo(memory, clock):
    old = "Ada lives in the city of Oslo."
    memory.remember(old, key="home")
    memory.recall("where does Ada live?")
    clock.at += timedelta(minutes=5)
    memory.supersede("home", "Ada lives in the city of Bergen.")
    again = memory.remember(old)
    assert (again.status, again.key) == ("echo", "home")
    assert memory.get("home").content == "Ada lives in the city of Bergen."


def test_what_was_superseded_before_any_recall_may_be_told_anew(memory, clock):
    old = "Ada lives in the city of Oslo."
    memory.remember(old, key="home")
    memory.supersede("home", "Ada lives in the city of Bergen.")
    clock.at += timedelta(minutes=5)
    memory.recall("where does Ada live?")
    assert memory.remember(old).status == "stored"


def test_what_a_later_statement_contradicts_is_news_also_after_a_recall_of_both(memory, clock):
    seven, nine = "The gate opens at 7 o'clock.", "The gate opens at 9 o'clock."
    for text in (seven, nine, seven):
        clock.at += timedelta(minutes=1)
        assert memory.remember(text).status == "stored"
        recalled = memory.recall("when does the gate open?")
        assert recalled.hits[0].memory.content == text
    assert memory.remember(seven).status == "echo"
    assert memory.remember(recalled.text).status == "echo"
