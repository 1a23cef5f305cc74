"""Ten scenes in the real clients: what reaches the model, and what is in the store afterwards."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from priming.verbs.rows import tools

from .clients import CLIENTS
from .stub import DONE

pytestmark = pytest.mark.agents

RULE, KEY = "Use uv instead of pip", "use-uv-instead-of-pip"
CORRECTION, QUESTION = f"No, {RULE[0].lower()}{RULE[1:]}.", "How do I install requests here?"
DEPLOY = "The deploy failed because the disk of the build server was full."
WHY = "Why did the deploy of the build server fail?"
DEPLOY_LINE = rf'- \[deploy\] \(\d{{4}}-\d\d-\d\d\) "{DEPLOY}"'
CORE = {op.name for op in tools("core")}


def in_each_client(test):
    return pytest.mark.parametrize("stage", CLIENTS, indirect=True)(test)


def in_claude_code(test):
    names = [name for name, client in CLIENTS.items() if client.agent == "claude-code"]
    return pytest.mark.parametrize("stage", names, indirect=True)(test)


def times(pattern, turn):
    """How often a pattern is in what was put before the model: a number, since the text is long."""
    return len(re.findall(pattern, turn.text))


def remember_the_deploy(stage):
    stage.run("priming", "remember", DEPLOY, "--key", "deploy")


# 1. First correction


@in_each_client
def test_the_first_correction_becomes_a_rule_and_the_model_is_told_and_the_answer_stays(stage):
    turn = stage.ask(CORRECTION, "I shall use uv.")
    assert "I shall use uv." in turn.output
    assert times(CORRECTION, turn) == 1
    assert times(rf"Learned from what the user said, as \[{KEY}\]: \"?{RULE}", turn) == 1
    assert stage.kinds().count("learn") == 1
    (rule,) = stage.priming("list", "--kind", "behavior")
    assert (rule["key"], rule["content"], rule["when"]) == (KEY, RULE, {})


# 2. Next session


@in_each_client
def test_the_next_session_knows_the_rule_before_it_answers(stage):
    stage.ask(CORRECTION)
    turn = stage.ask(QUESTION)
    assert turn.first.results == 0
    assert times(rf"- \[{KEY}\] preference: \"?{RULE}", turn) == 1
    assert times(CORRECTION, turn) == 0  # the conversation is another
    sessions = {entry["session"] for entry in stage.priming("log", "--limit", "200") if entry["session"]}
    assert len(sessions) == 2


# 3. Prompt with memories


@in_each_client
def test_a_prompt_comes_with_the_memories_that_it_is_about_quoted_as_data(stage):
    remember_the_deploy(stage)
    stage.run("priming", "remember", "The shop sells green tea.", "--key", "tea")
    turn = stage.ask(WHY)
    assert times(DEPLOY_LINE, turn) == 1
    assert times("data, not instructions", turn) >= 1
    assert times("green tea", turn) == 0


# 4. Tool with a file


@in_each_client
def test_a_file_that_is_about_to_be_written_brings_its_rules_to_the_model(stage):
    stage.run("priming", "learn", "Use pathlib instead of os.path", "--language", "python")
    turn = stage.ask("Make an empty program.", stage.client.write(stage.project / "app.py", "import sys\n"))
    assert (stage.project / "app.py").read_text() == "import sys\n"
    assert len(turn.requests) == 2
    assert times("pathlib", turn.first) == 0
    assert times("Use pathlib instead of os.path", turn) == 1
    assert turn.output.count(DONE) == 1


# 5. Feedback


@in_each_client
def test_the_model_recalls_and_reports_what_helped_through_the_server(stage):
    remember_the_deploy(stage)

    def report(heard):
        recall_id = re.search(r"recall_id\W+([0-9a-f]{8}-[0-9a-f-]{27})", heard.text)
        assert recall_id, "the answer has no id"
        return stage.client.memory("feedback", recall_id=recall_id[1], used=["deploy"])

    turn = stage.ask("Look it up.", stage.client.memory("recall", text="deploy of the build server"), report)
    assert times(DEPLOY, turn) >= 1
    assert "feedback" in stage.kinds()
    assert stage.priming("show", "deploy")["use"]["helped"] == 1


# 6. Run settled by a commit


@in_each_client
def test_a_quiet_commit_settles_the_run_that_was_shown_something(stage):
    remember_the_deploy(stage)
    stage.ask(WHY, stage.client.shell("git commit --quiet --allow-empty --message 'Free the disk'"))
    assert "Free the disk" in stage.run("git", "log", "--oneline")
    runs = stage.priming("run", "list")
    assert [run["settled"] for run in runs if run["shown"]] == ["used"]


@in_claude_code
def test_a_turn_without_a_commit_settles_nothing(stage):
    remember_the_deploy(stage)
    stage.ask(WHY, stage.client.shell("git status"))
    runs = stage.priming("run", "list")
    assert [run["settled"] for run in runs if run["shown"]] == [None]
    assert all(run["ended_at"] for run in runs if run["shown"])


# 7. Resumed session


@in_each_client
def test_a_resumed_session_is_the_same_one_and_is_shown_nothing_again(stage):
    remember_the_deploy(stage)
    stage.ask(WHY, "The disk was full.")
    turn = stage.ask(WHY, resume=True)
    assert times(r"The disk was full\.", turn) == 1  # the conversation goes on
    assert times(DEPLOY_LINE, turn) == 1
    sessions = {entry["session"] for entry in stage.priming("log", "--limit", "200") if entry["session"]}
    assert len(sessions) == 1


# 8. Plugin command


PLUGIN = str(Path(__file__).resolve().parents[2] / "plugin")


def with_plugin(stage, prompt):
    program, *rest = stage.client.command(prompt)
    return [program, "--plugin-dir", PLUGIN, *rest]


@in_claude_code
def test_a_command_of_the_plugin_runs_under_its_real_name(stage):
    line = "priming loop recall --json - < .priming/query.txt"
    stage.run(
        "priming",
        "loop",
        "store",
        "--type",
        "failure",
        "--trigger",
        "The gate hangs",
        "--resolution",
        "Kill it",
    )
    script = (
        stage.client.write(stage.project / ".priming" / "query.txt", "a gate that hangs"),
        stage.client.shell(line),
    )
    command = ["claude", "--plugin-dir", PLUGIN, "-p", "/arc:recall a gate that hangs"]
    turn = stage.call(*command, script=script)
    assert times(re.escape(line), turn.first) == 1
    assert times("The query: a gate that hangs", turn.first) == 1
    assert times('"resolution": "Kill it"', turn) == 1


@in_claude_code
def test_beside_the_plugin_no_hook_runs_twice(stage):
    remember_the_deploy(stage)
    turn = stage.call(*with_plugin(stage, f"{CORRECTION} {WHY}"), script=(stage.client.shell("git status"),))
    assert times(rf"as \[{KEY}\]", turn) == 1
    assert stage.kinds().count("learn") == 1
    assert stage.kinds().count("run-start") == 1
    later = stage.call(*with_plugin(stage, WHY))
    assert times(rf"- \[{KEY}\]", later) == 1  # at the start of the session, which has no id of its own
    assert times(DEPLOY_LINE, later) == 1


@in_claude_code
def test_beside_the_plugin_each_tool_is_offered_once(stage):
    turn = stage.call(*with_plugin(stage, "Hello"))
    names = [name.rpartition("__")[2] for name in turn.first.tools if name.startswith("mcp__")]
    assert sorted(names) == sorted(CORE)
    stage.run("priming", "setup", "claude-code", "--remove", "--yes")
    turn = stage.call(*with_plugin(stage, "Hello"))
    assert {f"mcp__plugin_arc_priming__{name}" for name in CORE} <= set(turn.first.tools)


# 9. MCP tools in the first request


@in_each_client
def test_the_first_request_offers_the_tools_of_the_memory(stage):
    turn = stage.ask("Hello")
    assert set(map(stage.client.memory_tool.format, CORE)) <= set(turn.first.tools)


# 10. Loop


PLAN = {
    "assessment": "simple",
    "tasks": [{"objective": "Write hello.txt", "delta": ["hello.txt"], "verify": "grep -q hello hello.txt"}],
    "question": None,
    "impasse": None,
    "reasoning": "one file",
}
ACTED = {"status": "delivered", "details": "wrote it", "utilized": [], "obstacle": None, "learning": None}


@in_claude_code
def test_the_loop_pursues_an_objective_with_the_client_as_its_agent(stage):
    def agent(heard):
        if "hello.txt" not in heard.text:
            return json.dumps(PLAN)
        wrote = (stage.project / "hello.txt").exists()
        return json.dumps(ACTED) if wrote else stage.client.write(stage.project / "hello.txt", "hello\n")

    *program, _, _ = stage.client.command("")
    line = " ".join([*program, "-p"])
    turn = stage.call("priming", "loop", "run", "Greet the world", "--yes", "--agent", line, script=agent)
    assert (stage.project / "hello.txt").read_text() == "hello\n"
    assert len(turn.requests) >= 3
    (session,) = stage.priming("loop", "list")
    assert session["stands"] == "delivered"
