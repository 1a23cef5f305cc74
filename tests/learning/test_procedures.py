from datetime import timedelta

import pytest

from priming import NotFound, ParamError

STEPS = ["Stop the server.", "Delete old builds."]
CUE = "how do I free space on the build host"


@pytest.fixture
def told(memory):
    memory.remember(
        "To free space on the build host, delete builds older than a week.",
        key="free-space",
        kind="procedure",
        metadata={"steps": STEPS, "trigger": "the disk is full"},
    )
    memory.remember("Zebras gallop across plains.", key="zebras", kind="fact")
    return memory


def weights(memory):
    return {(one.source, one.relation, one.target): one.weight for one in memory.links()}


def test_an_execution_that_worked_is_counted_and_reviews_the_procedure(told, clock):
    operation = told.done("free-space")
    one = told.get("free-space")
    assert (one.use.uses, one.use.helped, one.use.failed, one.use.last_used_at) == (1, 1, 0, clock.at)
    assert (one.retention.stability, one.retention.reviewed_at) == (2.3065, clock.at)
    assert (operation.kind, operation.source) == ("done", "conscious")
    assert operation.message == "1 of 1 execution succeeded"
    assert one.metadata == {"steps": STEPS, "trigger": "the disk is full"}


def test_an_execution_that_failed_is_one_too(told):
    told.done("free-space")
    operation = told.done("free-space", success=False, reason="no rights")
    one = told.get("free-space")
    assert (one.use.uses, one.use.helped, one.use.failed) == (2, 1, 1)
    assert one.retention.endurance == pytest.approx(0.8)  # 1 · (1 + .1 · 0) · .8: no time went by
    assert (operation.reason, operation.message) == ("no rights", "1 of 2 executions succeeded")


def test_without_a_recall_no_weight_moves(told):
    before = weights(told)
    told.done("free-space")
    assert weights(told) == before
    assert told.get("free-space").weight == 0.5


def test_an_execution_is_undone_and_done_again(told):
    before = told.get("free-space")
    done = told.done("free-space", recall_id=told.recall(CUE).recall_id)
    after = told.get("free-space")
    undone = told.undo(done.id)
    assert told.get("free-space") == before
    told.undo(undone.id)
    assert told.get("free-space") == after
    assert told.validate() == []


def test_the_recall_that_brought_it_up_over_a_link_is_credited_once(told):
    told.link("zebras", "free-space")
    recall = told.recall("who gallops across plains", profile="poc")
    before = weights(told)
    link = ("zebras", "similar-to", "free-space")
    told.done("free-space", recall_id=recall.recall_id)
    assert weights(told)[link] - before[link] == pytest.approx(0.01)
    again = told.done("free-space", recall_id=recall.recall_id)
    assert weights(told)[link] - before[link] == pytest.approx(0.01)
    assert "has this verdict already" in again.message
    assert told.get("free-space").use.helped == 2


def test_a_failure_blames_no_link_and_speaks_against_the_procedure_on_such_a_cue(told):
    recall = told.recall(CUE)
    before = weights(told)
    told.done("free-space", success=False, recall_id=recall.recall_id)
    assert weights(told) == before
    assert told.recall(CUE).hits[0].components["feedback"] < 0.0


def test_world_weaver_scores_a_procedure_by_how_often_it_worked(told, clock):
    for success in (True, True, True, False):
        told.done("free-space", success=success)
    told.feedback(told.recall(CUE).recall_id, confirmed=["free-space"])
    clock.at += timedelta(days=1)
    (hit,) = [x for x in told.recall(CUE, profile="world-weaver").hits if x.memory.key == "free-space"]
    assert hit.components["success_rate"] == 0.75
    assert hit.components["recency"] == pytest.approx(2.718281828**-0.1)
    wanted = 0.5 * hit.components["semantic"] + 0.3 * 0.75 + 0.2 * hit.components["recency"]
    assert hit.score == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("key", "more", "error", "said"),
    [
        (
            "zebras",
            {},
            ParamError,
            "is of kind fact, and only a procedure can be carried out: judge it with feedback",
        ),
        ("nobody", {}, NotFound, "nobody"),
        ("free-space", {"recall_id": "nil"}, NotFound, "nil"),
        ("free-space", {"recall_id": 7}, ParamError, "recall_id = 7: must be a text"),
        ("free-space", {"success": "yes"}, ParamError, "success = 'yes': must be true or false"),
        ("free-space", {"reason": "two\nlines"}, ParamError, "one printable line"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_execution_is_said_and_nothing_changes(told, key, more, error, said):
    before = told.stats().operations
    with pytest.raises(error, match=said):
        told.done(key, **more)
    assert told.stats().operations == before


def test_a_recall_that_did_not_bring_it_up_is_refused(told):
    recall = told.recall("who gallops across plains", limit=1)
    with pytest.raises(ParamError, match="must be a memory that recall"):
        told.done("free-space", recall_id=recall.recall_id)
    assert told.get("free-space").use.uses == 0


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"steps": "stop"}, "metadata.steps = 'stop': must be a list of texts"),
        ({"steps": ["stop", 7]}, "must be a list of texts"),
        ({"steps": ["stop", " "]}, "must be a list of texts"),
        ({"trigger": 7}, "metadata.trigger = 7: must be a text"),
        ({"trigger": ""}, "must be a text that says when"),
    ],
)
def test_steps_and_trigger_of_a_procedure_are_texts(memory, metadata, said):
    with pytest.raises(ParamError, match=said):
        memory.remember("Delete builds.", kind="procedure", metadata=metadata)
    assert memory.list() == []
    memory.remember("Delete builds.", kind="fact", metadata=metadata)


def test_a_verdict_is_not_counted_as_an_execution(memory):
    memory.remember("Whisk eggs: 1. crack 2. whisk", key="whisk", kind="procedure")
    memory.recall("whisk eggs")
    memory.feedback(not_useful=["whisk"])
    assert memory.done("whisk", success=False).message == "useful 0 of 2 times, verdicts included"
    recall = memory.recall("whisk eggs", session="brunch")
    assert (
        "useful 1 of 3 times, verdicts included" in memory.done("whisk", recall_id=recall.recall_id).message
    )


def test_executions_with_a_recall_are_executions(memory):
    memory.remember("Whisk eggs: 1. crack 2. whisk", key="whisk", kind="procedure")
    for number in (1, 2):
        recall = memory.recall("whisk eggs")
        operation = memory.done("whisk", recall_id=recall.recall_id, success=number == 2)
    assert operation.message.startswith("1 of 2 executions succeeded")
