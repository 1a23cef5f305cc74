from datetime import timedelta

import pytest
from tests.rows import each_row

from priming import NotFound, ParamError

STEPS = ["Stop the server.", "Delete old builds."]
CUE = "how do I free space on the build host"


@pytest.fixture
def answer(memory):
    memory.remember(
        "To free space on the build host, delete builds older than a week.",
        key="free-space",
        kind="procedure",
        metadata={"steps": STEPS, "trigger": "the disk is full"},
    )
    memory.remember("Zebras gallop across plains.", key="zebras", kind="fact")
    return memory


def weights(memory):
    return {(link.source, link.relation, link.target): link.weight for link in memory.links()}


def test_an_execution_that_worked_is_counted_and_reviews_the_procedure(answer, clock):
    operation = answer.done("free-space")
    item = answer.get("free-space")
    assert (item.use.uses, item.use.helped, item.use.failed, item.use.last_used_at) == (1, 1, 0, clock.at)
    assert (item.retention.stability, item.retention.reviewed_at) == (2.3065, clock.at)
    assert (operation.kind, operation.source) == ("done", "conscious")
    assert operation.message == "1 of 1 execution succeeded"
    assert item.metadata == {"steps": STEPS, "trigger": "the disk is full"}


def test_an_execution_that_failed_is_one_too(answer):
    answer.done("free-space")
    operation = answer.done("free-space", success=False, reason="no rights")
    item = answer.get("free-space")
    assert (item.use.uses, item.use.helped, item.use.failed) == (2, 1, 1)
    assert item.retention.endurance == pytest.approx(0.8)  # 1 · (1 + .1 · 0) · .8: no time went by
    assert (operation.reason, operation.message) == ("no rights", "1 of 2 executions succeeded")


def test_without_a_recall_no_weight_moves(answer):
    before = weights(answer)
    answer.done("free-space")
    assert weights(answer) == before
    assert answer.get("free-space").weight == 0.5


def test_an_execution_is_undone_and_done_again(answer):
    before = answer.get("free-space")
    done = answer.done("free-space", recall_id=answer.recall(CUE).recall_id)
    after = answer.get("free-space")
    undone = answer.undo(done.id)
    assert answer.get("free-space") == before
    answer.undo(undone.id)
    assert answer.get("free-space") == after
    assert answer.validate() == []


def test_the_recall_that_brought_it_up_over_a_link_is_credited_once(answer):
    answer.link("zebras", "free-space")
    recall = answer.recall("who gallops across plains", profile="poc")
    before = weights(answer)
    link = ("zebras", "similar-to", "free-space")
    answer.done("free-space", recall_id=recall.recall_id)
    assert weights(answer)[link] - before[link] == pytest.approx(0.01)
    again = answer.done("free-space", recall_id=recall.recall_id)
    assert weights(answer)[link] - before[link] == pytest.approx(0.01)
    assert "has this verdict already" in again.message
    assert answer.get("free-space").use.helped == 2


def test_a_failure_blames_no_link_and_speaks_against_the_procedure_on_such_a_cue(answer):
    recall = answer.recall(CUE)
    before = weights(answer)
    answer.done("free-space", success=False, recall_id=recall.recall_id)
    assert weights(answer) == before
    assert answer.recall(CUE).hits[0].components["feedback"] < 0.0


def test_world_weaver_scores_a_procedure_by_how_often_it_worked(answer, clock):
    for success in (True, True, True, False):
        answer.done("free-space", success=success)
    answer.feedback(answer.recall(CUE).recall_id, confirmed=["free-space"])
    clock.at += timedelta(days=1)
    (hit,) = [x for x in answer.recall(CUE, profile="world-weaver").hits if x.memory.key == "free-space"]
    assert hit.components["success_rate"] == 0.75
    assert hit.components["recency"] == pytest.approx(2.718281828**-0.1)
    expected = 0.5 * hit.components["semantic"] + 0.3 * 0.75 + 0.2 * hit.components["recency"]
    assert hit.score == pytest.approx(expected)


@each_row(
    ("key", "more", "error", "message"),
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
def test_what_is_wrong_with_an_execution_is_said_and_nothing_changes(answer, key, more, error, message):
    before = answer.stats().operations
    with pytest.raises(error, match=message):
        answer.done(key, **more)
    assert answer.stats().operations == before


def test_a_recall_that_did_not_bring_it_up_is_refused(answer):
    recall = answer.recall("who gallops across plains", limit=1)
    with pytest.raises(ParamError, match="must be a memory that recall"):
        answer.done("free-space", recall_id=recall.recall_id)
    assert answer.get("free-space").use.uses == 0


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"steps": "stop"}, "metadata.steps = 'stop': must be a list of texts"),
        ({"steps": ["stop", 7]}, "must be a list of texts"),
        ({"steps": ["stop", " "]}, "must be a list of texts"),
        ({"trigger": 7}, "metadata.trigger = 7: must be a text"),
        ({"trigger": ""}, "must be a text that says when"),
    ],
)
def test_steps_and_trigger_of_a_procedure_are_texts(memory, metadata, message):
    with pytest.raises(ParamError, match=message):
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
