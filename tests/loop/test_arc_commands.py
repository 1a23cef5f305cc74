"""The memory of the loop from the command line, in the shapes of its seed."""

import json

import pytest
from tests.cli.conftest import invoke

TRIGGER = "The gate hangs on grandchildren"
RESOLUTION = "Kill the whole process group"
SHAPE = {
    "name",
    "type",
    "trigger",
    "resolution",
    "helped",
    "failed",
    "effectiveness",
    "created_at",
    "source",
}


def failed(shell):
    """A failure, and its name."""
    options = ("--trigger", TRIGGER, "--resolution", RESOLUTION, "--source", "s-1")
    return shell.ask("loop", "store", *options)["name"]


@pytest.fixture
def seen(shell, prepared):
    """A store with one failure, and its name."""
    return prepared(shell, failed)


def test_store_answers_with_status_name_and_reason(shell):
    message = shell.ask(
        "loop", "store", "--type", "pattern", "--trigger", TRIGGER, "--resolution", RESOLUTION
    )
    assert message == {"status": "added", "name": "the-gate-hangs-on-grandchildren", "reason": ""}


@pytest.mark.parametrize(("type_", "helped"), [("failure", 0), ("pattern", 1)])
def test_the_same_again_is_merged_and_strengthens_and_only_a_pattern_has_helped(shell, type_, helped):
    options = ("--type", type_, "--trigger", TRIGGER, "--resolution", RESOLUTION)
    name = shell.ask("loop", "store", *options)["name"]
    message = shell.ask("loop", "store", *options)
    assert (message["status"], message["name"]) == ("merged", name)
    assert shell.ask("loop", "get", name)["helped"] == helped
    assert shell.ask("show", name)["use"]["uses"] == helped


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"--type": "fact"}, "must be failure or pattern"),
        ({"--trigger": "short"}, "too short"),
        ({"--resolution": " "}, "empty"),
    ],
)
def test_what_cannot_be_stored_is_rejected_with_the_reason(shell, changed, reason):
    options = {"--trigger": TRIGGER, "--resolution": RESOLUTION, "--type": "failure", **changed}
    done = shell.run("loop", "store", *[part for pair in options.items() for part in pair], "--json")
    document = json.loads(done.stdout)
    assert (done.exit_code, document["status"], document["name"]) == (2, "rejected", "")
    assert reason in document["reason"]


def test_get_answers_with_the_memory_of_the_seed(shell, seen):
    message = shell.ask("loop", "get", seen)
    assert set(message) == SHAPE
    assert message["type"] == "failure"
    assert (message["trigger"], message["resolution"], message["source"]) == (TRIGGER, RESOLUTION, "s-1")
    assert (message["helped"], message["failed"], message["effectiveness"]) == (0, 0, 0.5)


def test_a_name_that_is_not_there_is_said(shell):
    done = shell.run("loop", "get", "none", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (2, {"error": "not found"})


def test_recall_gives_relevance_and_score(shell, seen):
    (message,) = shell.ask("loop", "recall", "a gate that hangs")
    assert set(message) == SHAPE | {"_relevance", "_recency", "_score"}
    # .5 · relevance + .3 · effectiveness + .2 · recency (LAWS §7), each rounded to three digits.
    expected = 0.5 * message["_relevance"] + 0.3 * message["effectiveness"] + 0.2 * message["_recency"]
    assert message["_score"] == pytest.approx(expected, abs=0.002)
    assert message["name"] == seen


def test_recall_of_another_type_or_of_nothing_is_empty(shell, seen):
    assert seen
    assert shell.ask("loop", "recall", "a gate that hangs", "--type", "pattern") == []
    assert shell.run("loop", "recall", "a gate", "--type", "fact").exit_code == 2


def test_feedback_counts_what_was_used_and_what_was_not_and_reports_the_rest(shell, seen):
    other = shell.ask("loop", "store", "--trigger", "Another thing broke", "--resolution", "Mend it")["name"]
    injected = json.dumps([seen, other, "gone"])
    message = shell.ask(
        "loop", "feedback", "--utilized", json.dumps([seen, "made-up"]), "--injected", injected
    )
    assert message == {"helped": 1, "unhelpful": 1, "missing": ["gone", "made-up"]}
    assert shell.ask("loop", "get", seen)["helped"] == 1
    assert shell.ask("loop", "get", other)["failed"] == 1


def test_feedback_counts_each_time_though_nothing_was_recalled_in_between(shell, seen):
    shell.ask("loop", "recall", "a gate that hangs")
    for _ in range(3):
        shell.ask("loop", "feedback", "--utilized", json.dumps([seen]), "--injected", json.dumps([seen]))
    assert shell.ask("loop", "get", seen)["helped"] == 3


@pytest.mark.parametrize("value", ["known", '{"a": 1}', "[1]"])
def test_names_must_be_a_json_array(shell, value):
    done = shell.run("loop", "feedback", "--utilized", value, "--injected", "[]")
    assert done.exit_code == 2
    assert "JSON array" in done.stderr


def test_relate_adds_once_and_rejects_what_is_not_there(shell, seen):
    other = shell.ask("loop", "store", "--trigger", "Another thing broke", "--resolution", "Mend it")["name"]
    relate = ("loop", "relate", "--from", seen, "--type", "causes", "--to")
    assert shell.ask(*relate, other)["status"] == "added"
    assert shell.ask(*relate, other)["status"] == "exists"
    done = shell.run(*relate, "none", "--json")
    assert (done.exit_code, json.loads(done.stdout)["status"]) == (2, "rejected")
    assert "'none'" in json.loads(done.stdout)["reason"]
    assert shell.run(*relate, seen, "--json").exit_code == 2


def test_connected_tells_hop_and_relation_and_nothing_of_weak_links(shell, seen):
    others = [
        shell.ask("loop", "store", "--trigger", f"{word} broke again", "--resolution", f"Mend {word}")["name"]
        for word in ("Zebra", "Quagga", "Okapi")
    ]
    pairs = [(seen, others[0], 1.0), (others[0], others[1], 0.5), (seen, others[2], 0.4)]
    for source, target, weight in pairs:
        options = ("--from", source, "--to", target, "--type", "causes", "--weight", weight)
        shell.ask("loop", "relate", *options)
    message = shell.ask("loop", "connected", seen)
    assert [(item["name"], item["_hop"], item["_via"]) for item in message] == [
        (others[0], 1, "causes"),
        (others[1], 2, "causes"),
    ]
    assert shell.ask("loop", "connected", "none") == []


def test_a_memory_just_stored_is_never_pruned(shell, seen):
    for _ in range(4):
        shell.ask("loop", "feedback", "--utilized", "[]", "--injected", json.dumps([seen]))
    staying = [f"{seen}: younger than 1 d"]
    assert shell.ask("loop", "prune") == {"pruned": 0, "remaining": 1, "staying": staying}


def test_decay_tells_who_is_dormant(shell, seen):
    message = shell.ask("loop", "decay", "--days", "0")
    assert message == {
        "candidates_for_decay": [seen],
        "count": 1,
        "threshold_days": 0.0,
        "min_uses_to_survive": 2,
    }
    assert shell.ask("loop", "decay")["candidates_for_decay"] == []
    assert shell.ask("loop", "decay", "--days", "0", "--min-uses", "0")["count"] == 0


def test_chunk_makes_a_pattern_of_a_success_strengthens_it_and_skips_the_rest(shell):
    chunk = ("loop", "chunk", "--task", "Mend the gate", "--approach", "Kill the group", "--outcome")
    first = shell.ask(*chunk, "success")
    assert first["status"] == "added"
    assert shell.ask("loop", "get", first["name"])["type"] == "pattern"
    again = shell.ask(*chunk, "Success: all passed")
    assert (again["status"], again["name"]) == ("strengthened", first["name"])
    assert shell.ask(*chunk, "blocked")["status"] == "skipped"


@pytest.mark.parametrize("supplied", [(), ("s-1", "--task", "x"), ("--task", "x")])
def test_chunk_takes_a_session_or_all_of_a_task(shell, supplied):
    done = shell.run("loop", "chunk", *supplied)
    assert done.exit_code == 2
    assert "one of the two" in done.stdout


def test_consolidate_merges_what_says_the_same_and_adds_the_counts(shell):
    # Stored by another verb, which does not look for its like among other texts.
    for end in ("", "."):
        shell.ask(
            "remember", f"The gate hangs on grandchildren: kill the whole group{end}", "--kind", "failure"
        )
    message = shell.ask("loop", "consolidate")
    assert message == {"merged": 1, "remaining": 1}
    assert shell.ask("loop", "consolidate") == {"merged": 0, "remaining": 1}


def test_health_of_an_empty_store_and_of_one_whose_loop_is_closed(shell):
    empty = shell.ask("loop", "health")
    assert (empty["status"], empty["total"], empty["issues"]) == ("NEEDS_ATTENTION", 0, ["No memories yet"])
    name = shell.ask("loop", "store", "--trigger", TRIGGER, "--resolution", RESOLUTION)["name"]
    assert shell.ask("loop", "health")["issues"] == ["No feedback recorded: the learning loop is not closed"]
    shell.ask("loop", "feedback", "--utilized", json.dumps([name]), "--injected", json.dumps([name]))
    assert shell.ask("loop", "health") == {
        "status": "HEALTHY",
        "total": 1,
        "by_type": {"failure": {"count": 1, "helped": 1, "failed": 0}},
        "effectiveness": 1.0,
        "with_feedback": 1,
        "relationships": 0,
        "issues": [],
    }


def test_context_has_the_shape_of_the_seed(shell, seen, tmp_path):
    (tmp_path / "gate.py").write_text("def gate(): ...\n")
    message = shell.ask("loop", "context", "Mend the gate that hangs on grandchildren, and test it")
    assert message["memory"]["injected_names"] == [seen]
    assert set(message["memory"]["failures"][0]) == SHAPE
    assert message["codebase"]["relevant_files"] == ["gate.py"]
    assert message["codebase"]["languages"] == ["python"]
    assert message["complexity"] == {"level": "moderate", "signals": ["and"]}


def test_what_is_stored_first_has_no_reason(shell):
    stored = shell.run(
        "loop", "store", "--trigger", "The invoice run: no paper", "--resolution", "load tray two"
    )
    assert "status: added" in stored.stdout
    assert "reason" not in stored.stdout


def test_the_store_that_arc_names_is_worked_on(shell):
    variables = {"PRIMING_URL": None, "ARC_DB_PATH": str(shell.folder / "arc.db")}
    done = invoke(["remember", "The ferry leaves at nine."], environment=variables)
    assert done.exit_code == 0, done.stderr
    assert (shell.folder / "arc.db").is_file()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("health",), "status: HEALTHY"),
        (("recall", "a gate that hangs"), RESOLUTION),
        (("get", "NAME"), f"resolution: {RESOLUTION}"),
        (("context", "Mend the gate that hangs"), "complexity: simple"),
        (("context", RESOLUTION), "  similar, failure, helped 1"),
        (("context", "The gate hangs on grandchildren"), "  applies here, failure, helped 1"),
        (("connected", "NAME"), "no strong links"),
        (("recall", "zebra"), "no memories about it"),
    ],
)
def test_people_read_the_same_as_lines(shell, seen, command, message):
    shell.ask("loop", "feedback", "--utilized", json.dumps([seen]), "--injected", json.dumps([seen]))
    done = shell.run("loop", *(seen if item == "NAME" else item for item in command))
    assert done.exit_code == 0
    assert message in done.stdout


@pytest.mark.parametrize(
    "command",
    [("recall", "gates"), ("connected", "gate"), ("list",), ("context", "mend a gate"), ("health",)],
)
def test_where_there_are_no_memories_reading_commands_of_the_loop_say_so(shell, command):
    shell.ask("remember", "The gate hangs low.", "--namespace", "garden")
    done = shell.run("loop", *command, "--namespace", "gardn")
    assert done.exit_code == 0
    assert 'there are no memories in "gardn"; did you mean "garden"?' in done.stdout


def test_an_objective_and_a_question_are_read_from_stdin_wherever_they_are_typed(shell):
    text = "Open the tin $(without a shell)"
    (session,) = shell.ask("loop", "task", "new-session", "--objective", "-", stdin=text).values()
    shell.ask("loop", "task", "add", "--session", session, "--seq", 1, "--objective", "-", stdin=text)
    (task,) = shell.ask("loop", "task", "get", "--session", session)
    assert task["objective"] == shell.ask("loop", "report", session)["objective"] == text
    assert shell.ask("loop", "context", "-", stdin=text)["objective"] == text
    assert shell.ask("loop", "recall", "-", stdin=text) == []
