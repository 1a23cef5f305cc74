"""The base level of rules: how often each was active, and how old it is."""

import json
import math
from datetime import timedelta

import pytest

from priming import Cue
from priming.storage.questions import StoredNamespace
from priming.storage.rows import ActivationCount
from priming.storage.sql.kinds import selected
from priming.storage.sqlite.store import SqliteStore
from priming.transfer.run import run

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
SHELL = Cue(language="shell")


def base(n, hours):
    """The law by hand: B = ln(n · L^−.5 / .5), then a logistic curve around −1."""
    return 1 / (1 + math.exp(-(math.log(n / math.sqrt(hours) / 0.5) + 1)))


@pytest.fixture
def rule(memory):
    memory.remember("Quote every variable.", kind="behavior", key="quote", when={"language": "shell"})
    return memory


def shown(memory, cue=SHELL):
    (hit,) = memory.active(cue).hits
    return hit.components["base"]


def recalled(memory, **at):
    (hit,) = memory.recall(cue=SHELL, profile="floop", **at).hits
    return hit.components["base"]


def test_a_rule_that_was_never_active_is_neutral(rule, clock):
    assert shown(rule) == 0.5
    clock.at += DAY
    rule.remember("Check exit codes.", kind="behavior", key="check", when={"language": "shell"})
    levels = {hit.memory.key: hit.components["base"] for hit in rule.active(SHELL).hits}
    assert levels == {"quote": pytest.approx(base(1, 24)), "check": 0.5}


def test_every_time_it_is_active_counts_whoever_judges_it(rule, clock):
    for hours in (1, 2, 30):
        clock.at += hours * HOUR
        answer = rule.active(SHELL)
    rule.feedback(answer.recall_id, confirmed=["quote"])
    assert shown(rule) == pytest.approx(base(3, 33))
    assert shown(rule) == pytest.approx(base(4, 33))


def test_a_recall_and_a_context_that_contradicts_the_rule_do_not_count(rule, clock):
    shown(rule)
    clock.at += 5 * HOUR
    for _ in range(4):
        rule.active(Cue(language="lua"))
        recalled(rule)
        rule.recall("quote")
    assert recalled(rule) == shown(rule) == pytest.approx(base(1, 5))


def test_the_age_is_at_least_a_minute(rule, clock):
    levels = [shown(rule) for _ in range(4)]
    assert levels == pytest.approx([0.5, *(base(n, 1 / 60) for n in (1, 2, 3))])
    clock.at += 59 * timedelta(seconds=1)
    assert shown(rule) == pytest.approx(base(4, 1 / 60))
    clock.at += HOUR
    assert shown(rule) == pytest.approx(base(5, 3659 / 3600))


@pytest.mark.parametrize("days", [1, 3])
def test_a_confirmed_rule_does_not_sink_below_an_unjudged_twin(rule, clock, days):
    rule.remember("Use set -u.", kind="behavior", key="set-u", when={"language": "shell"})
    rule.feedback(rule.active(SHELL).recall_id, confirmed=["quote"])
    clock.at += days * DAY
    levels = {hit.memory.key: hit.components["base"] for hit in rule.active(SHELL).hits}
    assert levels["quote"] == levels["set-u"] == pytest.approx(base(1, 24 * days))


def test_a_new_version_keeps_the_count_and_the_age(rule, clock):
    shown(rule)
    clock.at += 10 * DAY
    rule.supersede("quote", "Quote every variable and every path.")
    assert shown(rule) == pytest.approx(base(1, 240))


def test_no_link_and_no_weight_moves_and_nothing_is_logged(rule):
    before = rule.links(), rule.get("quote"), len(rule.log())
    for _ in range(5):
        shown(rule)
    assert (rule.links(), rule.get("quote"), len(rule.log())) == before
    assert rule.validate() == []


def test_an_earlier_time_has_the_count_of_then(rule, clock):
    start = clock.at
    for hours in (1, 5, 40):  # the first two on a day, the third on the next
        clock.at = start + hours * HOUR
        shown(rule)
    for hours, count in ((2, 1), (6, 2), (41, 3)):
        assert recalled(rule, known_at=start + hours * HOUR) == pytest.approx(base(count, hours))
    assert recalled(rule, known_at=start + HOUR / 2) == 0.5


def test_undo_leaves_the_count_and_purging_the_rule_erases_it(rule, clock):
    answer = rule.active(SHELL)
    rule.undo(rule.feedback(answer.recall_id, confirmed=["quote"]).id)
    clock.at += 2 * HOUR
    assert shown(rule) == pytest.approx(base(1, 2))
    memory_id = rule.get("quote").id
    stored = StoredNamespace(rule.store, "default")
    assert stored.activations_until(clock.at, "floop", [memory_id]) == {memory_id: 2}
    rule.purge("quote")
    assert rule.store.rows("default", ActivationCount) == []


def test_an_export_carries_the_counts(rule, clock, open_memory, tmp_path):
    for _ in range(3):
        shown(rule)
    clock.at += 7 * HOUR
    rule.export(tmp_path / "all.jsonl")
    other = open_memory()
    other.import_(tmp_path / "all.jsonl")
    assert shown(other) == pytest.approx(base(3, 7))


def test_imported_counts_and_times_are_kept(memory, clock, tmp_path):
    first = clock.at - 100 * HOUR
    node = {
        "id": "behavior-1",
        "kind": "behavior",
        "content": {
            "name": "learned/quote",
            "kind": "directive",
            "when": {"language": "shell"},
            "content": {"canonical": "Quote every variable."},
            "provenance": {"source_type": "learned", "created_at": first.isoformat()},
        },
        "metadata": {"stats": {"times_activated": 12, "last_activated": (first + HOUR).isoformat()}},
    }
    (tmp_path / ".floop").mkdir()
    (tmp_path / ".floop" / "nodes.jsonl").write_text(json.dumps(node) + "\n")
    run(memory, "floop", tmp_path)
    assert shown(memory) == pytest.approx(base(12, 100))
    clock.at += 21 * HOUR
    assert shown(memory) == pytest.approx(base(13, 121))


def test_counts_cost_what_is_touched(memory):
    """An activation reads and writes the counts of the rules that are active, by their key."""
    assert isinstance(memory.store, SqliteStore)
    where = {"profile": "y", "ids": ["x"], "until": memory.now()}
    query = selected(memory.store.dialect, ActivationCount, where, whole=False)
    plan = memory.store._db.run("default", f"EXPLAIN QUERY PLAN {query.sql}", query.values)
    for table in ("t", "u"):
        assert any(
            f"SEARCH {table} USING PRIMARY KEY (namespace=? AND profile=? AND memory=?" in row[-1]
            for row in plan
        )
