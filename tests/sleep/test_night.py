import json
import os
import threading
from dataclasses import replace
from datetime import timedelta
from shutil import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priming import Busy, Conflict, FixedClock, HashedEmbedder, Memory, NotFound, ParamError, serialization
from priming.config.words import STAGES
from priming.sleep.plan import is_due

from .making import DAY, NOW

pytestmark = pytest.mark.extra  # HDBSCAN's

DISK = [
    "The release of Kestrel failed, the disk of Kestrel is full",
    "The release of Kestrel failed again, the disk of Kestrel is full",
    "Kestrel failed, the disk is full, the release waits",
    "The full disk of Kestrel stopped the release",
]
TEA = ["nobody bought green tea", "nobody bought more green tea", "nobody ever bought green tea"]
STOP = "1. Stop the server. 2. Delete old builds. 3. Start the server."
CLEAN = "1. Stop the server. 2. Delete old builds. 3. Check the disk. 4. Start the server."
BROKEN = "The deploy broke because the disk of the build host was full"


def state(memory, folder):
    """The export without its operations: what the namespace holds."""
    memory.export(folder / "state.jsonl")
    return [line for line in (folder / "state.jsonl").read_text().splitlines() if '{"operation"' not in line]


@pytest.fixture(scope="module")
def past(tmp_path_factory, embedder):
    """A store with something to do for every stage but decay, which learns from many days; and what time it is."""
    path, clock = tmp_path_factory.mktemp("past") / "memory.db", FixedClock(NOW)
    with Memory.open(f"sqlite:///{path}", embedder=embedder, clock=clock) as memory:
        live(memory, clock)
    return path, clock.at


@pytest.fixture
def lived(past, tmp_path, open_memory, clock):
    """A copy of that store."""
    (tmp_path / "copy").mkdir()
    path, clock.at = past
    return open_memory(f"sqlite:///{copy(path, tmp_path / 'copy')}")


def live(memory, clock):
    for number, text in enumerate(DISK):
        memory.remember(text, session=f"s{number}", key=f"disk{number}")
    for number, text in enumerate(TEA):
        memory.remember(text, session=f"t{number}", key=f"tea{number}")
    for key, session in (("lunch", "x"), ("again", "y")):
        memory.remember("Lunch was late today.", session=session, key=key)
    memory.remember(STOP, kind="procedure", key="stop")
    memory.remember(CLEAN, kind="procedure", key="clean")
    memory.remember(f"{BROKEN}.", kind="failure", key="broke", trust="user")
    memory.remember(f"{BROKEN}!", kind="failure", key="broken")
    memory.remember("Turning it off and on helps.", kind="pattern", key="onoff")
    for _ in range(3):
        memory.feedback(memory.recall("turning it off and on").recall_id, not_useful=["onoff"])
    clock.at += 2 * DAY


def actions(proposal):
    return [(item.stage, item.action) for item in proposal.items]


EXPECTED = [
    ("light", "mark"),
    ("deep", "make"),
    ("deep", "make"),
    ("skill", "consolidate"),
    ("prune", "archive"),
    ("link", "merge"),
    ("link", "link"),
]


# A night


def test_every_stage_does_its_part_as_an_operation_of_its_own(lived):
    done = lived.sleep()
    assert actions(done) == EXPECTED
    assert (done.namespace, done.stages) == ("default", STAGES)
    log = lived.log(source=f"sleep:{done.id}")
    assert [entry.id for entry in reversed(log)] == list(done.operations)
    assert {entry.kind for entry in log} == {"sleep"}
    assert done.operation == log[0].id
    assert lived.validate() == []


def test_what_it_did_is_seen_in_the_memories(lived):
    lived.sleep()
    again, theme = lived.get("again"), lived.get("concept:kestrel")
    assert (again.importance, again.metadata["duplicate_of"], again.version) == (0.0, "lunch", 1)
    assert (theme.kind, theme.content in DISK, theme.confidence) == ("entity", True, 4 / 8)
    assert {link.source for link in lived.links("concept:kestrel", relation="source-of")} == {
        "disk0", "disk1", "disk2", "disk3",
    }  # fmt: skip
    assert lived.get("clean").status == "deprecated"
    assert lived.get("stop").metadata["success_estimate"] == pytest.approx(0.55)
    assert "Check the disk." in lived.get("stop").content
    assert (lived.get("onoff").status, lived.get("broken").status) == ("archived", "merged")


def test_what_was_consolidated_is_found_by_its_steps(lived):
    lived.sleep()
    hits = lived.recall("check the disk of the server, delete old builds", kinds=["procedure"]).hits
    assert [hit.memory.key for hit in hits] == ["stop"]


def test_a_second_night_finds_nothing_left_to_do(lived):
    lived.sleep()
    second = lived.sleep()
    assert (second.items, second.operation, second.operations) == ((), None, ())
    assert lived.log()[0].kind == "sleep"


def test_stages_can_be_chosen_and_keep_their_order(lived):
    done = lived.sleep(["prune", "light"])
    assert done.stages == ("light", "prune")
    assert [stage for stage, _ in actions(done)] == ["light", "prune"]


def test_links_that_faded_go_and_others_stay(memory, clock):
    for key in "abc":
        memory.remember(f"This is {key} of all.", key=key)
    for _ in range(3):
        recall = memory.recall("this is a of all", floor=0)
        memory.feedback(recall.recall_id, used=["a"])
        clock.at += timedelta(hours=1)
    learnt = memory.links(relation="co-activated")
    clock.at += 30 * DAY
    done = memory.sleep(["decay"])
    # A link is born at .1 at most, and e^(−.01 · 720) is .0007.
    assert len(done.items) == len(learnt)
    assert memory.links(relation="co-activated") == []


def test_what_nothing_is_linked_to_is_linked_at_night(memory):
    first, second = (
        memory.remember(text, session=text[:3], key=text[:3]) for text in ("one tea", "two teas")
    )
    memory.supersede("two", "one tea or two")
    assert memory.links(relation="similar-to") == []
    (item,) = memory.sleep(["link"]).items
    (link,) = memory.links(relation="similar-to")
    assert {link.source, link.target} == {first.key, second.key} == set(item.keys)
    # "one" and "tea" are two of two words and two of four: 2/√(2·4) = .71, but for buckets that two words share.
    assert link.weight == pytest.approx(0.71, abs=0.1)


def test_what_was_linked_to_something_that_left_since_is_not_linked_anew(memory):
    for text in ("one tea", "two teas"):
        memory.remember(text, session=text[:3], key=text[:3])
    memory.supersede("two", "one tea or two")
    memory.link("one", memory.remember("three cups", session="cup", key="cup").key, "similar-to")
    memory.forget("cup")
    assert [item.keys for item in memory.sleep(["link"], dry_run=True).items] == [("two", "one")]
    memory.link("two", "cup", "similar-to")
    assert memory.sleep(["link"]).items == ()


def test_a_source_of_a_gist_in_use_is_not_taken_out(lived, clock):
    for _ in range(3):
        lived.feedback(lived.recall("the full disk of Kestrel").recall_id, not_useful=["disk3"])
    lived.sleep(["deep"])
    clock.at += 2 * DAY
    night = lived.sleep(["prune"])
    assert [item.keys for item in night.items] == [("onoff",)]
    (check,) = (check for check in night.checks if check.dropped)
    assert (check.rule, check.dropped) == (
        "sources-reachable", ("archive disk3: disk3 is a source of a memory that is still in use",),
    )  # fmt: skip
    lived.forget("concept:kestrel")
    assert [item.keys for item in lived.sleep(["prune"]).items] == [("disk3",)]


def test_nothing_is_no_trouble(memory):
    assert memory.sleep().items == ()
    memory.remember("One.")
    assert memory.sleep().items == ()
    assert memory.sleep(dry_run=True).items == ()


def test_memories_without_a_vector_are_no_trouble(memory):
    for session in "abcd":
        memory.remember("¿?", session=session)
    done = memory.sleep()
    assert actions(done) == [("light", "mark")]


def test_a_clock_that_was_set_back_is_no_trouble(lived, clock, tmp_path):
    before = state(lived, tmp_path)
    clock.at -= 100 * DAY
    done = lived.sleep(["light", "deep", "skill"])
    assert [stage for stage, _ in actions(done)] == ["light", "deep", "deep", "skill"]
    assert lived.validate() == []
    lived.undo(done.operation)
    assert state(lived, tmp_path) == before


def test_the_window_of_deep_can_be_another(lived):
    assert ("deep", "make") not in actions(lived.sleep(["deep"], dry_run=True, window=2))
    assert ("deep", "make") in actions(lived.sleep(["deep"], dry_run=True, window=9))


def test_what_is_wrong_with_the_arguments_is_said(memory):
    for wrong in ("nap", ["nap"], 7):
        with pytest.raises(ParamError, match="stages"):
            memory.sleep(wrong)
    with pytest.raises(ParamError, match="window"):
        memory.sleep(window=0)


def test_a_night_over_a_namespace_without_memories_does_nothing(open_memory):
    memory = open_memory(namespace="elsewhere")
    assert memory.sleep().items == ()
    assert memory.log() == []


def test_progress_begins_at_nothing_for_every_stage_and_ends_whole(lived):
    answer = []
    lived.sleep(progress=lambda done, total: answer.append((done, total)))
    assert answer.count((0, None)) == len(STAGES)
    assert answer[-1] == (1, 1)


# Undo


def test_to_undo_the_last_operation_takes_the_whole_night_back(lived, tmp_path):
    before = state(lived, tmp_path)
    done = lived.sleep()
    undone = lived.undo(done.operation)
    assert undone.message == "undid a sleep: all 5 stages of the night"
    assert state(lived, tmp_path) == before
    assert all(entry.undone_by == undone.id for entry in lived.log(source=f"sleep:{done.id}"))


def test_to_undo_another_operation_takes_back_its_stage(lived):
    done = lived.sleep()
    lived.undo(done.operations[0])
    assert lived.get("again").importance == 0.5
    assert lived.get("concept:kestrel").status == "active"
    lived.undo(done.operation)
    assert lived.get("stop").content == STOP


def test_what_was_applied_bit_by_bit_is_taken_back_bit_by_bit(lived):
    proposal = lived.sleep(dry_run=True)
    first = lived.apply(proposal, only=["light-1"])
    second = lived.apply(proposal, only=["prune-1"])
    assert lived.undo(second.id).message == "undid a sleep"
    assert (lived.get("onoff").status, lived.get("again").importance) == ("active", 0.0)
    lived.undo(first.id)
    assert lived.get("again").importance == 0.5


def test_a_night_that_was_undone_can_be_redone(lived, tmp_path):
    done = lived.sleep()
    slept = state(lived, tmp_path)
    again = lived.undo(lived.undo(done.operation).id)
    assert again.kind == "undo"
    assert state(lived, tmp_path) == slept
    assert lived.validate() == []


def test_what_came_later_stands_in_the_way_and_is_named(lived):
    done = lived.sleep()
    later = lived.supersede("stop", "Stop it with care.")
    with pytest.raises(Conflict, match="supersede"):
        lived.undo(done.operation)
    assert lived.get("stop") == later


WORDS = st.sampled_from(
    ["disk", "full", "Kestrel", "late", "lunch", "server", "stop", "start", "build", "host"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)
KINDS = st.sampled_from(["episode", "episode", "episode", "procedure", "failure", "pattern"])
TOLD = st.tuples(KINDS, TEXTS, st.sampled_from(["user", "agent", "tool"]), st.integers(0, 4))


@settings(max_examples=settings.default.max_examples // 8)
@given(answer=st.lists(TOLD, max_size=14), stages=st.sets(st.sampled_from(STAGES), min_size=1))
def test_undo_of_a_night_restores_every_row(tmp_path_factory, answer, stages):
    folder, clock = tmp_path_factory.mktemp("night"), FixedClock(NOW)
    with Memory.open("sqlite://", embedder=HashedEmbedder(64), clock=clock) as memory:
        for number, (kind, text, trust, failed) in enumerate(answer):
            key = memory.remember(text, kind=kind, session=f"s{number}", trust=trust, key=f"k{number}").key
            for _ in range(failed if kind != "procedure" else 0):
                recall = memory.recall(text, kinds=[kind], limit=20)
                if key in [hit.memory.key for hit in recall.hits]:
                    memory.feedback(recall.recall_id, not_useful=[key])
        clock.at += 40 * DAY
        before = state(memory, folder)
        done = memory.sleep(stages)
        assert memory.validate() == []
        assert {record.id for record in memory.list(status=None, limit=1000)} >= {
            json.loads(line)["row"]["id"] for line in before if '"memories"' in line and '"row"' in line
        }
        if done.operation is None:
            assert state(memory, folder) == before
        else:
            memory.undo(done.operation)
            assert state(memory, folder) == before


# Proposals


def test_a_dry_run_changes_nothing(lived, tmp_path):
    before, log = state(lived, tmp_path), lived.log()
    proposal = lived.sleep(dry_run=True)
    assert actions(proposal) == EXPECTED[:-1]  # nothing mentions an entity that is not made yet
    assert (proposal.operation, proposal.operations) == (None, ())
    assert (state(lived, tmp_path), lived.log()) == (before, log)


def test_a_proposal_carries_its_checks(lived):
    checks = {(check.stage, check.rule): check for check in lived.sleep(dry_run=True).checks}
    for stage in STAGES:
        for rule in ("sources-reachable", "no-contradiction-merged", "counts-conserved"):
            assert checks[stage, rule].dropped == ()
    assert checks["skill", "counts-conserved"].held == 1


def test_a_proposal_is_json(lived):
    document = json.loads(json.dumps(serialization.encode(lived.sleep(dry_run=True))))
    assert document["items"][0]["changes"][0]["table"] == "versions"


def test_to_apply_a_proposal_does_what_it_said_as_one_operation(lived, clock, tmp_path):
    before = state(lived, tmp_path)
    proposal = lived.sleep(dry_run=True)
    clock.at += timedelta(hours=1)
    done = lived.apply(proposal)
    assert done.kind == "sleep"
    assert done.at == clock.at
    assert "duplicate_of" in lived.get("again").metadata
    assert (lived.get("onoff").status, lived.get("clean").status) == ("archived", "deprecated")
    assert lived.validate() == []
    lived.undo(done.id)
    assert state(lived, tmp_path) == before


def test_some_items_can_be_applied_alone(lived):
    proposal = lived.sleep(dry_run=True)
    lived.apply(proposal, only=["prune-1"])
    assert lived.get("onoff").status == "archived"
    assert lived.get("again").importance == 0.5
    lived.apply(proposal, only=["light-1"])
    assert lived.get("again").importance == 0.0


def test_what_changed_since_the_proposal_is_a_conflict_and_nothing_is_done(lived, tmp_path):
    proposal = lived.sleep(dry_run=True)
    lived.forget("onoff")
    before = state(lived, tmp_path)
    with pytest.raises(Conflict, match="prune-1: onoff changed since: run sleep again"):
        lived.apply(proposal)
    assert state(lived, tmp_path) == before


@pytest.mark.parametrize("key", ["lunch", "again"])
def test_a_text_that_changed_since_is_a_conflict_also_where_no_row_of_it_would_change(lived, key):
    proposal = lived.sleep(["light"], dry_run=True)
    lived.supersede(key, "Lunch was early.")
    with pytest.raises(Conflict, match=f"light-1: {key} changed since: run sleep again"):
        lived.apply(proposal)
    assert lived.get("again").importance == 0.5


def test_uses_and_verdicts_since_do_not_stand_in_the_way_of_a_mark(lived):
    proposal = lived.sleep(["light"], dry_run=True)
    lived.feedback(lived.recall("lunch today").recall_id, used=["lunch", "again"])
    lived.apply(proposal)
    assert lived.get("again").importance == 0.0


@pytest.mark.parametrize("verb", ["forget", "purge"])
def test_an_episode_that_left_since_is_not_linked_to_an_entity(lived, verb):
    proposal = lived.sleep(["deep"], dry_run=True)
    getattr(lived, verb)("disk1")
    with pytest.raises(Conflict, match="since: run sleep again"):
        lived.apply(proposal)


def test_a_key_that_was_taken_since_is_a_conflict(lived):
    proposal = lived.sleep(["deep"], dry_run=True)
    lived.remember("Mine.", key="concept:kestrel")
    with pytest.raises(Conflict, match="'concept:kestrel' has been taken since"):
        lived.apply(proposal)


def test_a_proposal_is_applied_once_and_where_it_is_from(lived, open_memory):
    proposal = lived.sleep(dry_run=True)
    with pytest.raises(ParamError, match="namespace"):
        open_memory(namespace="other").apply(proposal)
    lived.apply(proposal)
    with pytest.raises(Conflict, match="changed since"):
        lived.apply(proposal)
    with pytest.raises(Conflict, match="applied already"):
        lived.apply(replace(proposal, operations=("some",)))


@pytest.mark.parametrize("only", [["nothing"], "light-1", 7, [["light-1"]], [None]])
def test_items_are_named_by_their_ids(lived, only):
    with pytest.raises(ParamError, match="only"):
        lived.apply(lived.sleep(dry_run=True), only=only)


def test_nothing_to_apply_is_said(lived):
    with pytest.raises(Conflict, match="nothing to apply"):
        lived.apply(lived.sleep(dry_run=True), only=[])
    with pytest.raises(ParamError, match="proposal"):
        lived.apply(7)


def test_a_proposal_can_be_named_by_its_id_while_it_is_one_of_the_latest(lived):
    first = lived.sleep(dry_run=True)
    for _ in range(7):
        lived.sleep(dry_run=True)
    assert lived.apply(first.id, only=[first.items[0].id]).kind == "sleep"
    lived.sleep(dry_run=True)
    with pytest.raises(NotFound, match="no proposal"):
        lived.apply(first.id)


# What a person decided


def test_what_was_brought_back_is_not_taken_out_again(lived):
    lived.sleep()
    for key in ("onoff", "clean", "broken"):
        lived.restore(key)
    # The failure that was merged has lost its links to the other and to its names, and may be linked to them again.
    assert {*actions(lived.sleep(["skill", "prune", "link"]))} == {("link", "link")}
    assert {lived.get(key).status for key in ("onoff", "clean", "broken")} == {"active"}
    assert lived.validate() == []


def test_an_entity_that_somebody_rewrote_stays_the_same_entity(lived, clock):
    lived.sleep()
    lived.supersede("concept:kestrel", "Mind the disk!", source="me", metadata={})
    lived.remember("The disk of Kestrel is full again and the release failed", session="z", key="more")
    clock.at += DAY
    (item,) = lived.sleep(["deep"]).items
    assert (item.action, item.into) == ("update", "concept:kestrel")
    assert lived.get("concept:kestrel").content == "Mind the disk!"


def test_a_text_that_is_to_come_is_not_overtaken(lived, clock):
    lived.supersede("stop", "1. Press the button. 2. Wait.", valid_from=clock.at + DAY)
    assert [item.stage for item in lived.sleep().items if "stop" in (*item.keys, item.into)] == []
    assert lived.validate() == []
    clock.at += DAY
    assert lived.get("stop").content == "1. Press the button. 2. Wait."


def test_an_entity_that_was_forgotten_is_not_made_again(lived):
    lived.sleep()
    lived.forget("concept:kestrel")
    assert lived.sleep(["deep"]).items == ()


def test_more_of_the_same_update_the_entity_the_next_night(lived, clock):
    lived.sleep()
    lived.remember("The disk of Kestrel is full again and the release failed", session="z", key="more")
    clock.at += DAY
    (item,) = lived.sleep(["deep"]).items
    assert (item.action, item.keys, item.into) == ("update", ("more",), "concept:kestrel")
    themes = [record.key for record in lived.list(kinds=["entity"], limit=100) if record.source == "sleep"]
    assert sorted(themes) == ["concept:green-tea", "concept:kestrel"]


def test_a_duplicate_leaves_recall_a_month_after_it_was_marked(lived, clock):
    lived.sleep()
    clock.at += 30 * DAY
    assert lived.sleep(["prune"]).items == ()
    clock.at += timedelta(hours=1)
    (item,) = lived.sleep(["prune"]).items
    assert item.keys == ("again",)
    assert lived.get("again").status == "archived"
    assert lived.restore("again").message == "it was archived"


# Interrupts, and others who sleep


def test_an_interrupt_leaves_the_stages_that_are_done(lived, tmp_path):
    before, begun = state(lived, tmp_path), []

    def interrupt(_done, total):
        begun.append(total is None)
        if sum(begun) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lived.sleep(progress=interrupt)
    assert [entry.reason for entry in lived.log(limit=2)] == ["deep", "light"]
    assert lived.get("clean").status == "active"
    lived.undo(lived.log(limit=1)[0].id)
    assert state(lived, tmp_path) == before
    assert len(lived.sleep().operations) == 5


def test_what_changes_while_a_stage_is_planned_is_left_for_the_next_night(lived):
    def meddle(done, total):
        if (done, total) == (1, 1) and lived.get("onoff").status == "active":
            lived.forget("onoff")

    done = lived.sleep(["prune"], progress=meddle)
    assert (done.items, done.operation) == ((), None)
    assert done.checks[-1].rule == "unchanged-since"
    assert done.checks[-1].dropped == ("prune-1: onoff changed since",)


def test_while_one_sleeps_another_declines_and_says_who_sleeps(open_memory, url):
    with open_memory(url) as item, open_memory(url) as other:
        item.remember("One.")
        seen = []

        def look(_done, _total):
            if not seen:
                with pytest.raises(Busy) as error:
                    other.sleep()
                seen.append(str(error.value))
                assert other.sleep(dry_run=True).items == ()

        item.sleep(progress=look)
        assert seen == [
            f"process {os.getpid()}, since 2024-05-17T09:30:00+00:00, is running sleep on this namespace:"
            " wait for it to finish, or stop it"
        ]
        assert other.sleep().items == ()


def test_other_namespaces_sleep_when_they_like(open_memory, url):
    with open_memory(url) as item, open_memory(url, namespace="other") as other:
        item.remember("One.")
        other.remember("Two.")
        item.sleep(progress=lambda *_: other.sleep(["decay"]))


def test_threads_of_one_memory_do_not_sleep_at_once(open_memory, url):
    memory = open_memory(url)
    memory.remember("One.")
    failed = []

    def other():
        try:
            memory.sleep()
        except Busy as error:
            failed.append(error.code)

    def meanwhile(_done, _total):
        if not failed:
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()

    memory.sleep(progress=meanwhile)
    assert failed == ["busy"]


# When


def test_a_night_is_due_after_so_long_or_after_a_hundred_new_memories():
    hours = timedelta(hours=1)
    assert not is_due(NOW + 7 * hours, NOW, 8 * hours, 99)
    assert is_due(NOW + 8 * hours, NOW, 8 * hours, 0)
    assert is_due(NOW, NOW, 8 * hours, 100)
    assert is_due(NOW - hours, NOW, 8 * hours, 0)


def test_the_procedure_that_stays_does_not_answer_for_the_failures_of_the_other(memory):
    memory.remember("Deploy: 1. Check out main. 2. Restart the service.", kind="procedure", key="good")
    memory.remember(
        "Deploy: 1. Please check out main. 2. Always restart the service.", kind="procedure", key="bad"
    )
    for number in range(10):
        memory.done("good", success=number > 0)
        memory.done("bad", success=False)
    memory.sleep(["skill"])
    assert (memory.get("good").use.helped, memory.get("good").use.failed) == (9, 1)
    assert (memory.get("bad").status, memory.get("bad").use.failed) == ("deprecated", 10)

    def share():
        return memory.recall("deploy", profile="world-weaver").hits[0].components["success_rate"]

    assert share() == pytest.approx(0.95)
    memory.done("good", success=True)
    assert share() == pytest.approx(0.95 + 10 / 11 - 0.9)


def test_a_night_reports_what_it_left_alone_each_time_and_makes_a_family_once(memory):
    for verb, state in (("Enable", "on"), ("Disable", "off")):
        text = f"{verb} flag X: 1. Open the console. 2. Turn flag X {state}. 3. Save."
        memory.remember(text, kind="procedure", key=verb.lower())
    night = memory.sleep(["skill"])
    assert [(item.action, item.keys, item.into) for item in night.items] == [
        ("family", ("enable", "disable"), "family:flag-x")
    ]
    (left,) = night.left_alone
    assert (left.stage, left.keys, left.words) == ("skill", ("enable", "disable"), ("enable", "disable"))
    again = memory.sleep(["skill"])
    assert (again.items, again.left_alone) == ((), (left,))
    assert {memory.get(key).status for key in ("enable", "disable")} == {"active"}
    memory.undo(night.operation)
    assert [
        record.key for record in memory.list(kinds=["entity"], limit=100) if record.source == "sleep"
    ] == []


def test_a_family_names_what_its_members_say_now_and_nothing_that_was_purged(memory):
    for place in ("staging", "production"):
        text = f"Deploy to {place}: 1. Pull main. 2. Run the script. 3. Read the log."
        memory.remember(text, kind="procedure", key=place)
    memory.sleep(["skill"])
    memory.supersede("staging", "Deploy to QA: 1. Pull main. 2. Run the script. 3. Read the log.")
    assert "“Deploy to QA”" in memory.get("family:deploy-to").content
    memory.forget("production")
    memory.purge("production")
    rows = memory.list(kinds=["entity"], status=None, limit=100)
    assert not any("production" in row.content for row in rows)
