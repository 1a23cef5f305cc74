"""What use has shown, in the newest version of each client and in an older one: a scene for each kind."""

from __future__ import annotations

import re
import sys

import pytest
from tests.server.postgres.server import empty

from .clients import CLIENTS
from .test_scenes import (
    CORRECTION,
    DEPLOY_LINE,
    KEY,
    RULE,
    WHY,
    in_claude_code,
    in_each_client,
    remember_the_deploy,
    times,
    with_plugin,
)

pytestmark = pytest.mark.agents

RULE_LINE = rf'- \[{KEY}\] preference: "{RULE}"'
LISTED = rf'- \[{KEY}\] \\?"{RULE}'
POETRY = "never-write-poetry-in-commit-messages"
SCHEMA = "clients"
LATE = f"""
import os, pathlib
from priming_agents import teaching
from priming_agents.agents import Event
from priming_agents.calls import new_call
database = pathlib.Path(".priming/memory.db").resolve()
assert teaching.put(database, new_call(), "prompt", Event("earlier", prompt={CORRECTION!r}))
for path in teaching.folder_of(database).glob("*.queued"):
    os.utime(path, (0, 0))
"""
"""A hook that was cut off: its correction waits."""


def in_clients_with_prompts(test):
    names = [name for name, client in CLIENTS.items() if client.agent in ("claude-code", "gemini")]
    return pytest.mark.parametrize("stage", names, indirect=True)(test)


@in_each_client
def test_a_withdrawal_is_asked_about_and_confirms_nothing(stage):
    stage.run("priming", "learn", "Never write poetry in commit messages")
    stage.ask("Fix the parser.")
    turn = stage.ask("That rule about poetry is wrong. Forget it.", resume=True)
    assert times(rf"The user may be withdrawing this rule.*\[{POETRY}\]", turn) == 1
    assert stage.priming("show", POETRY)["use"]["followed"] == 0


@in_each_client
def test_a_resumed_session_still_has_its_first_prompt_its_rules_and_its_memories(stage):
    stage.run("priming", "learn", RULE)
    remember_the_deploy(stage)
    stage.ask(WHY, "The disk was full.")
    turn = stage.ask("And what else?", resume=True)
    assert times(re.escape(WHY), turn) == 1
    assert times(RULE_LINE, turn) == 1
    assert times(DEPLOY_LINE, turn) == 1


@in_claude_code
def test_a_compacted_session_is_told_its_rules_again(stage):
    stage.run("priming", "learn", RULE)
    stage.ask("Hello", "Hi.")
    stage.ask("How are you?", "Well.", resume=True)  # of less there is no summary
    stage.run(*stage.client.command("/compact", resume=True))
    turn = stage.ask("And what else?", resume=True)
    assert times("Hello", turn) == 0
    assert times(RULE_LINE, turn) == 1


@in_each_client
def test_a_forgotten_rule_comes_back_by_no_way(stage):
    stage.ask(CORRECTION)
    stage.run("priming", "forget", KEY)
    recall = stage.client.memory("recall", text="uv or pip", kinds=[])
    turn = stage.ask("Do I install requests with uv or with pip?", recall)
    assert turn.requests[-1].results == 1
    assert times(RULE, turn) == 0
    assert times("Correction:|Not: ", turn) == 0


@in_each_client
def test_a_run_lists_what_the_model_was_told_and_nothing_else(stage):
    remember_the_deploy(stage)
    for key, near in (("door", "The server room has a red door."), ("disk", "A disk costs 90 euros.")):
        stage.run("priming", "remember", near, "--key", key)
    turn = stage.ask(WHY)
    stage.ask("Thanks.", resume=True)  # opencode ends a turn with the next one
    run, *_ = stage.priming("run", "list")
    assert run["shown"] == [key for key in ("deploy", "door", "disk") if times(rf"- \[{key}\]", turn)]
    assert "deploy" in run["shown"]


@in_each_client
def test_a_session_in_which_nothing_is_told_leaves_no_run(stage):
    stage.ask("Hello")
    assert stage.priming("run", "list") == []


@in_each_client
def test_beside_many_long_rules_a_memory_is_told_with_its_text(stage):
    remember_the_deploy(stage)
    for thing in (
        "invoice",
        "ledger",
        "parcel",
        "coupon",
        "pallet",
        "shelf",
        "till",
        "crate",
        "hoist",
        "scale",
    ):
        owner = f"the owner of the {thing}, the reason, the date, the {thing} number and the {thing} desk"
        stage.run("priming", "learn", f"Before any {thing} is changed by the depot, write down {owner}")
    turn = stage.ask(WHY)
    assert times(DEPLOY_LINE, turn) == 1
    assert times("Before any ", turn) > 2


@in_each_client
def test_a_correction_that_is_learned_late_is_told_once(stage):
    stage.run(sys.executable, "-c", LATE)
    turn = stage.ask("Hello")
    assert times(RULE, turn) == 1


@in_clients_with_prompts
def test_a_user_sees_and_drops_rules_by_a_command(stage):
    stage.run("priming", "learn", RULE)
    named = "/mcp__priming__{} {}" if stage.client.agent == "claude-code" else "/{} {}"  # as headless
    for command in (("rules", ""), ("forget", "uv")):
        turn = stage.ask(named.format(*command).strip())
        assert times(LISTED, turn) == 1
    assert times("I withdraw the one that this is about", turn) == 1


@in_claude_code
def test_a_command_of_the_plugin_shows_the_rules(stage):
    stage.run("priming", "learn", RULE)
    turn = stage.call(
        *with_plugin(stage, "/arc:rules"), script=(stage.client.shell("priming list --kind behavior"),)
    )
    assert times("priming list --kind behavior", turn.first) == 1
    assert times(KEY, turn) >= 1


@in_each_client
def test_the_session_of_a_team_has_a_server_that_is_seen_and_stopped(stage, postgres):
    empty(postgres, SCHEMA)
    stage.more["PRIMING_URL"] = f"{postgres}&schema={SCHEMA}"
    remember_the_deploy(stage)
    assert times(DEPLOY_LINE, stage.ask(WHY)) == 1
    try:
        stage.wait_for_server()
        assert "ok    server  running" in stage.run("priming", "doctor")
    finally:
        stopped = stage.run("priming", "serve", "--stop")
    assert "ended the server" in stopped
    empty(postgres, SCHEMA)
