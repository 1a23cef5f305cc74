"""Facts that contradict each other are kept, linked and listed."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime, timedelta

import pytest

from priming import NotFound, ParamError
from priming.config.params.limits import STORE
from priming.transfer.run import run

OSLO, BERGEN = "Ada lives in Oslo.", "Ada lives in Bergen."


def conflicts(memory):
    return {(link.source, link.target) for link in memory.links(relation="conflicts")}


@pytest.fixture
def two(memory, clock):
    """Two facts that contradict each other, a day apart."""
    memory.remember(OSLO, key="oslo", kind="fact")
    clock.at += timedelta(days=1)
    memory.remember(BERGEN, key="bergen", kind="fact")
    return memory


def test_what_holds_again_is_stored_once_however_often_it_is_told(memory):
    at_once = memory.remember_many([{"content": text} for text in (OSLO, BERGEN, OSLO, OSLO)])
    later = [memory.remember(text).status for text in (OSLO, BERGEN, BERGEN)]
    assert [each.status for each in at_once] == ["stored", "stored", "stored", "duplicate"]
    assert later == ["duplicate", "stored", "duplicate"]


BATCH = [{"content": "The tram is late."}] * 20


@pytest.mark.usefixtures("short_batches")
@pytest.mark.parametrize("between", [[], BATCH])
@pytest.mark.parametrize("texts", [(OSLO, BERGEN), (OSLO, BERGEN, OSLO), (OSLO, BERGEN, OSLO, BERGEN)])
def test_a_list_that_contradicts_itself_is_stored_once_however_often_it_is_loaded(memory, texts, between):
    items = [item for text in texts for item in ({"content": text}, *between)]
    memory.remember_many(items)
    assert {each.status for each in memory.remember_many(items)} == {"duplicate"}


@pytest.mark.usefixtures("short_batches")
@pytest.mark.parametrize("between", [[], BATCH])
def test_a_load_without_the_later_statement_takes_it_back(memory, between):
    memory.remember_many([{"content": OSLO}, {"content": BERGEN}])
    items = [{"content": BERGEN}, *between, {"content": OSLO}]
    statuses = [each.status for each in memory.remember_many(items)]
    assert (statuses[0], statuses[-1]) == ("duplicate", "stored")


def test_a_file_that_contradicts_itself_and_grows_is_stored_once(memory, tmp_path):
    path = tmp_path / "facts.jsonl"
    items = [{"content": OSLO}, *BATCH * (STORE.batch // len(BATCH)), {"content": BERGEN}]
    for item in ({"content": "It rains."}, {"content": "It snows."}):
        items.append(item)
        path.write_text("".join(json.dumps(each) + "\n" for each in items))
        report = run(memory, "jsonl", path)
    assert (report.stored, report.duplicates) == (1, len(items) - 1)


def test_both_are_kept_linked_and_listed(two):
    (entry,) = two.review()
    assert (entry.subject, entry.id) == ("Ada lives", "oslo+bergen")
    assert (entry.older.key, entry.older.content, entry.older.value) == ("oslo", OSLO, "Oslo")
    assert (entry.newer.key, entry.newer.content, entry.newer.value) == ("bergen", BERGEN, "Bergen")
    assert entry.newer.told_at - entry.older.told_at == timedelta(days=1)
    assert conflicts(two) == {("bergen", "oslo")}
    assert [two.get(key).status for key in ("oslo", "bergen")] == ["active", "active"]
    assert {hit.memory.key for hit in two.recall("Where does Ada live?").hits} == {"oslo", "bergen"}


def test_the_link_carries_nothing_and_the_earlier_is_outdated_until_both_are_kept(two):
    def scores(**more):
        return {hit.memory.key: hit.score for hit in two.recall("Where does Ada live?", **more).hits}

    (link,) = two.links(relation="conflicts")
    assert link.weight == 0.0
    before, alike = scores(), scores(ablate=["outdated"])
    assert before["bergen"] > 2 * before["oslo"]
    two.keep_both("oslo+bergen")
    assert scores() == scores(ablate=["outdated"]) == alike


def test_the_answer_names_the_link(memory):
    memory.remember(OSLO, key="oslo", kind="fact")
    new_links = memory.remember(BERGEN, key="bergen", kind="fact")
    assert ("bergen", "conflicts", "oslo") in [
        (link.source, link.relation, link.target) for link in new_links.links
    ]


def test_a_batch_is_compared_with_itself(memory):
    memory.remember_many([{"content": text, "kind": "fact"} for text in (OSLO, BERGEN)])
    assert len(memory.review()) == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Ada lives in Oslo, now.", "fact"),
        ("Ada lives in the city of Oslo.", "fact"),
        ("Ada works in Bergen.", "fact"),
        ("Bob lives in Bergen.", "fact"),
        ("Ada might live in Bergen.", "fact"),
        (BERGEN, "behavior"),
        (BERGEN, "failure"),
    ],
)
def test_what_is_no_contradiction_is_not_listed(memory, text, kind):
    memory.remember(OSLO, kind="fact")
    memory.remember(text, kind=kind)
    assert memory.review() == []
    assert conflicts(memory) == set()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The rent is €1,200", "The rent is €1,300"),
        ("I drive a Skoda", "I drive a Fiat now"),
        ("Our API listens on port 8080", "Our API listens on port 9090"),
        ("The wifi password is otter-lamp-42", "The wifi password is walrus-desk-17"),
    ],
)
@pytest.mark.parametrize("kind", ["episode", "fact"])
def test_what_somebody_states_is_compared_whatever_its_kind_is_called(memory, first, second, kind):
    older = memory.remember(first)
    newer = memory.remember(second, kind=kind)
    assert [entry.id for entry in memory.review()] == [f"{older.key}+{newer.key}"]


@pytest.mark.parametrize(
    ("first", "second", "fields"),
    [
        ("I ran 5 km", "I ran 6 km", {}),
        ("We deployed 1.2 on Monday", "We deployed 1.3 on Tuesday", {}),
        ("Ich war in Bonn", "Ich war in Kiel", {}),
        (OSLO, BERGEN, {"session": "chat"}),
        (OSLO, BERGEN, {"occurred_at": datetime(2026, 3, 1, tzinfo=UTC)}),
    ],
)
def test_events_and_turns_of_conversations_hold_beside_each_other(memory, first, second, fields):
    memory.remember(first, **fields)
    done = memory.remember(second, **fields)
    assert memory.review() == []
    assert all(link.message is None for link in done.links)


def test_a_shell_takes_the_keys_of_the_answer_as_they_are(memory):
    memory.remember(OSLO, key="a $(rm x) <system>")
    (message,) = filter(None, (link.message for link in memory.remember(BERGEN, key="it's").links))
    command = message.partition("priming ")[2].partition(";")[0]
    assert shlex.split(command) == ["deprecate", r"a $(rm x) \u003csystem>", "--by", "it's"]
    assert "'a $(rm x)" in command


def test_the_answer_says_what_the_latest_value_was_and_how_to_settle_it(memory, clock):
    for weight in (80, 81, 82):
        clock.at += timedelta(hours=1)
        done = memory.remember(f"I weigh {weight} kg", key=f"w{weight}")
    (message,) = [link.message for link in done.links if link.message]
    assert message.startswith('the earlier says "I weigh 81 kg": ')
    assert "priming deprecate w81 --by w82;" in message
    assert message.endswith("priming review --keep w81+w82")


def test_of_values_that_follow_each_other_each_is_listed_with_the_one_before(memory, clock):
    for weight in (80, 81, 82):
        clock.at += timedelta(hours=1)
        memory.remember(f"I weigh {weight} kg", key=f"w{weight}")
    assert [entry.id for entry in memory.review()] == ["w81+w82", "w80+w81"]
    memory.deprecate("w81", by="w82")
    assert [entry.id for entry in memory.review()] == ["w80+w82"]
    assert memory.keep_both("w80+w82").kind == "keep-both"


def test_a_statement_is_found_beside_many_that_only_share_words_with_it(memory):
    memory.remember("The spare battery is in drawer 4", key="old")
    memory.remember_many(
        {"content": f"Battery {n} of drawer {n} failed", "session": "log"} for n in range(70)
    )
    memory.remember("The spare battery is in drawer 9", key="new")
    assert [entry.id for entry in memory.review()] == ["old+new"]


@pytest.mark.parametrize("status", ["forget", "deprecate"])
def test_what_is_out_of_recall_is_not_contradicted(memory, status):
    memory.remember(OSLO, key="oslo", kind="fact")
    getattr(memory, status)("oslo")
    memory.remember(BERGEN, kind="fact")
    assert memory.review() == []


def test_a_superseded_text_is_not_contradicted(memory):
    memory.remember(OSLO, key="oslo", kind="fact")
    memory.supersede("oslo", BERGEN)
    memory.remember("Ada lives in Bergen now.", kind="fact")
    assert memory.review() == []
    memory.remember("Ada lives in Paris.", key="paris", kind="fact")
    assert ("paris", "oslo") in conflicts(memory)


def settled_by(memory, command):
    """Do what a command of the review says, through the library."""
    words = command.split()
    if words[1] == "supersede":
        memory.supersede(words[2], BERGEN)
    elif words[1] == "deprecate":
        memory.deprecate(words[2], by=words[4])
    else:
        memory.keep_both(words[3])


@pytest.mark.parametrize("number", range(4))
def test_every_command_that_is_offered_settles_it(two, number):
    (entry,) = two.review()
    settled_by(two, entry.commands[number])
    assert two.review() == []


def test_both_may_hold_and_the_decision_is_remembered(two):
    done = two.keep_both("oslo+bergen")
    assert (done.kind, done.message) == ("keep-both", '"oslo" and "bergen" may both hold')
    assert conflicts(two) == set()
    # The same two values again are no contradiction, another one is.
    two.remember("Ada still lives in Oslo.", kind="fact")
    assert two.review() == []
    two.remember("Ada lives in Paris.", key="paris", kind="fact")
    assert {entry.newer.key for entry in two.review()} == {"paris"}


def test_a_decision_is_undone(two):
    done = two.keep_both("oslo+bergen")
    two.undo(done.id)
    assert [entry.id for entry in two.review()] == ["oslo+bergen"]
    assert [link.relation for link in two.links("oslo")].count("kept-beside") == 0


def test_undo_of_the_later_fact_settles_it(two):
    two.undo(two.log(limit=1)[0].id)
    assert two.review() == []
    assert conflicts(two) == set()


def test_facts_are_compared_after_opening_again(open_memory, url):
    memory = open_memory(url)
    memory.remember_many(
        [{"content": f"Host {i} listens on {i + 1000}.", "kind": "fact"} for i in range(300)]
    )
    memory.close()
    again = open_memory(url)
    again.remember("Host 7 listens on 80.", key="new", kind="fact")
    (entry,) = again.review()
    assert (entry.older.value, entry.newer.value) == ("1007", "80")


def test_another_process_is_seen(open_memory, url):
    item, other = open_memory(url), open_memory(url)
    item.remember(OSLO, kind="fact")
    other.remember(BERGEN, kind="fact")
    assert len(item.review()) == len(other.review()) == 1


def test_my_means_the_speaker(memory):
    memory.remember("My editor is Vim.", kind="fact", speaker="Ada")
    memory.remember("My editor is Emacs.", kind="fact", speaker="Bob")
    assert memory.review() == []
    memory.remember("Ada's editor is Emacs.", kind="fact")
    (entry,) = memory.review()
    assert (entry.subject, entry.older.value) == ("Ada's editor", "Vim")


def test_the_latest_is_listed_first_and_only_so_many(memory, clock):
    for i, text in enumerate(
        ("Ada's port is 80.", "Ada's port is 81.", "Bob's port is 80.", "Bob's port is 81.")
    ):
        clock.at += timedelta(hours=1)
        memory.remember(text, key=f"k{i}", kind="fact")
    assert [entry.subject for entry in memory.review()] == ["Bob's port", "Ada's port"]
    assert [entry.subject for entry in memory.review(limit=1)] == ["Bob's port"]


def test_told_is_when_it_happened_where_that_is_known(memory):
    at = datetime(2020, 1, 1, tzinfo=UTC)
    memory.remember(OSLO, kind="fact", occurred_at=at)
    memory.remember(BERGEN, kind="fact")
    assert memory.review()[0].older.told_at == at


def test_bad_arguments_change_nothing(two):
    before = two.log()
    with pytest.raises(ParamError, match="limit = 0"):
        two.review(limit=0)
    with pytest.raises(NotFound, match="no contradiction 'x'"):
        two.keep_both("x")
    assert two.log() == before


def remember_facts(memory, *texts):
    for number, text in enumerate(texts):
        memory.remember(text, key=f"f{number}", kind="fact")


MET = "I met Robert Smith (Bob)."


def test_names_that_mean_the_same_share_their_slots(memory):
    memory.remember(MET)
    memory.aliases()
    remember_facts(
        memory,
        "Bob's port is 80.",
        "Robert Smith's port is 81.",
        "Bob lives in Oslo.",
        "Robert lives in Bergen.",
    )
    assert [entry.id for entry in memory.review()] == ["f0+f1"]


def test_facts_that_were_told_before_names_were_merged_are_compared_then(memory, clock):
    memory.remember(MET)
    remember_facts(memory, "Bob's port is 80.")
    clock.at += timedelta(hours=1)
    memory.remember("Robert Smith's port is 81.", key="f1", kind="fact")
    memory.remember("Bob's editor is Vim.", kind="fact")
    assert memory.review() == []
    merged = memory.aliases()[0].operation
    assert [entry.id for entry in memory.review()] == ["f0+f1"]
    memory.undo(merged)
    assert memory.review() == []
    assert conflicts(memory) == set()


def test_a_fact_contradicts_what_was_told_under_a_name_that_was_merged_since(memory):
    memory.remember(MET)
    remember_facts(memory, "Bob's port is 80.")
    memory.aliases()
    memory.remember("Robert Smith's port is 81.", key="f1", kind="fact")
    assert conflicts(memory) == {("f1", "f0")}


def test_names_that_are_two_again_contradict_nobody(memory):
    memory.remember(MET)
    merged = memory.aliases()[0].operation
    remember_facts(memory, "Bob's port is 80.", "Robert Smith's port is 81.")
    memory.undo(merged)
    assert memory.review() == []


def test_what_a_fact_says_from_now_on_is_compared_too(memory):
    remember_facts(memory, "Ada lives in Oslo.", "Ada has 2 cats.")
    memory.supersede("f1", "Ada lives in Bergen.")
    assert [entry.id for entry in memory.review()] == ["f0+f1"]
    memory.undo(memory.log(limit=1)[0].id)
    assert (memory.review(), conflicts(memory)) == ([], set())


def test_a_fact_does_not_contradict_what_it_said_before(memory):
    remember_facts(memory, "Ada lives in Oslo.")
    memory.supersede("f0", "Ada lives in Bergen.")
    assert (memory.review(), conflicts(memory)) == ([], set())


def test_a_decision_stands_while_the_value_is_the_same(two):
    two.keep_both("oslo+bergen")
    two.supersede("oslo", "Ada lives in the city of Oslo.")
    assert two.review() == []
    two.supersede("oslo", "Ada lives in Rome.")
    assert [entry.older.value for entry in two.review()] == ["Bergen"]


def test_a_text_that_holds_later_contradicts_when_it_does(memory, clock):
    remember_facts(memory, "Ada lives in Oslo.", "Ada has 2 cats.")
    memory.supersede("f1", "Ada lives in Bergen.", valid_from=clock.at + timedelta(days=1))
    assert memory.review() == []
    clock.at += timedelta(days=2)
    assert [entry.newer.content for entry in memory.review()] == ["Ada lives in Bergen."]


def test_of_two_that_contradict_the_one_that_began_to_hold_last_is_the_later(memory, clock):
    memory.remember("The staging port is 8081.", kind="fact", key="planned")
    memory.supersede("planned", "The staging port is 8443.", valid_from=clock.at + timedelta(days=9))
    clock.at += timedelta(days=1)
    memory.remember("The staging port is 8100.", kind="fact", key="told")
    assert [hit.memory.key for hit in memory.recall("staging port")] == ["told", "planned"]
    clock.at += timedelta(days=9)
    assert memory.recall("staging port")[0].content == "The staging port is 8443."
    (pair,) = memory.review()
    assert (pair.older.key, pair.newer.key) == ("told", "planned")
    assert pair.newer.told_at == clock.at - timedelta(days=1)


def test_a_plan_contradicts_what_holds_before_once_it_begins(memory, clock):
    memory.remember("The lead is Ola.", kind="fact", key="ola")
    begins = clock.at + timedelta(days=9)
    planned = memory.remember("The lead is Per.", kind="fact", key="per", valid_from=begins)
    assert not any(link.message for link in planned.links)
    assert memory.review() == []
    clock.at = begins
    (pair,) = memory.review()
    assert (pair.older.key, pair.newer.key) == ("ola", "per")
    assert memory.recall("who is the lead?").hits[0].memory.key == "per"


@pytest.mark.parametrize("gone", ["forgotten", "planned"])
def test_what_is_told_again_is_no_news_beside_what_does_not_contradict_it_now(memory, clock, gone):
    memory.remember("The lead is Ola.", kind="fact", key="ola")
    start = clock.at + timedelta(days=9) if gone == "planned" else None
    memory.remember("The lead is Per.", kind="fact", key="per", valid_from=start)
    if gone == "forgotten":
        memory.forget("per")
    assert memory.remember("The lead is Ola.", kind="fact").key == "ola"
