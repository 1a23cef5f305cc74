"""Corrections that a hook cannot carry out wait in a file, and a later hook learns each of them once."""

import json
import os
import sqlite3
import stat
import sys

import pytest

from priming import Cue
from priming_agents import session, teaching
from priming_agents.agents import Event
from priming_agents.calls import new_call
from priming_agents.command import Work, respond
from priming_agents.session import NOTICE, folder_of, locked_session

from .project import COMMAND, Project, context, filled

PROMPT = "No, use uv instead of pip."


def waiting(project):
    return sorted(folder_of(project.database).glob("*.queued"))


def age(project):
    """Let the corrections that wait be those of hooks that ended long ago."""
    for path in waiting(project):
        os.utime(path, (0, 0))


def queue(project, prompt=PROMPT, session="s1"):
    call = new_call()
    assert teaching.put(project.database, call, "prompt", Event(session, prompt=prompt))
    age(project)
    return call


def test_a_correction_waits_in_a_file_of_the_users_own_until_the_store_has_it(project):
    queue(project)
    (path,) = waiting(project)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "Use uv instead of pip" in project.text("session-start")
    assert waiting(project) == []
    with project.memory() as memory:
        assert memory.get("use-uv-instead-of-pip").content == "Use uv instead of pip"


@pytest.mark.parametrize("prompt", ["why did the deploy fail?", "that's not what I asked for", ""])
def test_other_prompts_leave_nothing_on_disk(project, prompt):
    assert not teaching.put(project.database, new_call(), "prompt", Event("s1", prompt=prompt))
    assert waiting(project) == []


def test_a_hook_that_carries_its_correction_out_leaves_nothing_waiting(project):
    assert "Use uv instead of pip" in project.text("prompt", prompt=PROMPT)
    assert waiting(project) == []


def test_what_was_learned_after_all_is_not_learned_again(project):
    call = queue(project)
    work = Work(call)
    respond("prompt", project.payload(prompt=PROMPT), work=work)
    work.hosts.close()
    teaching.put(project.database, call, "prompt", Event("s1", prompt=PROMPT))
    age(project)
    with project.memory() as memory:
        before = memory.get("use-uv-instead-of-pip")
    assert "Use uv" not in project.text("prompt", prompt="go on")
    assert waiting(project) == []
    with project.memory() as memory:
        assert memory.get("use-uv-instead-of-pip").confidence == before.confidence


def test_what_no_store_can_take_does_not_wait_for_ever(project):
    call = queue(project)
    (path,) = waiting(project)
    path.write_text(path.read_text().replace("Use uv instead of pip", " "))
    age(project)
    assert "Never push" in project.text("session-start")
    assert waiting(project) == []
    assert teaching.put(project.database, call, "prompt", Event("s1", prompt=PROMPT))


def test_a_file_that_is_no_correction_disturbs_nobody(project):
    queue(project)
    (path,) = waiting(project)
    path.write_text("{")
    age(project)
    assert "Never push" in project.text("session-start")


def test_the_correction_of_a_hook_at_work_is_left_to_it(project):
    assert teaching.put(project.database, new_call(), "prompt", Event("s1", prompt=PROMPT))
    project.text("session-start")
    assert len(waiting(project)) == 1


@pytest.mark.parametrize("event", ["session-start", "prompt"])
def test_a_late_correction_is_told_once(project, event):
    queue(project)
    text = project.text(event, source="startup", prompt="thanks, that is all")
    assert text.count("Use uv instead of pip") == 1


def test_a_correction_that_waits_and_is_said_again_is_told_once(project):
    queue(project)
    queue(project)
    text = project.text("prompt", prompt=PROMPT)
    assert text.count("Use uv instead of pip") == 1
    assert waiting(project) == []


def test_a_late_correction_is_told_where_its_agent_keeps_what_it_is_told(project):
    queue(project)
    sent = {"hook_event_name": "SessionStart", "timestamp": "1", "source": "startup"}
    assert respond("session-start", project.payload(**sent), "gemini") == ""
    assert len(waiting(project)) == 1
    text = respond("prompt", project.payload(**sent, prompt="thanks, that is all"), "gemini")
    assert text.count("Use uv instead of pip") == 1
    assert waiting(project) == []


def test_a_late_correction_has_the_scope_of_its_own_session(project):
    with locked_session(project.database, "earlier") as state:
        state.file = "shop/till.go"
    queue(project, "No, use slog instead of log.", "earlier")
    project.text("session-start")
    with project.memory() as memory:
        rule = memory.get("use-slog-instead-of-log")
        assert "go" in str(rule)


def test_what_was_said_before_a_later_rule_does_not_reverse_it(project):
    queue(project, "From now on, name branches after the ticket")
    with project.memory() as memory:
        memory.learn("Name branches after the author")
    reply = project.text("prompt", prompt="thanks, that is all")
    assert (
        'The user said before, [name-branches-after-the-ticket]: "Name branches after the ticket".' in reply
    )
    assert "not in force, because [name-branches-after-the-author] was learned after it" in reply
    with project.memory() as memory:
        assert [rule.key for rule in memory.list(matching="branches", kinds=["behavior"])] == [
            "name-branches-after-the-author"
        ]
        late = memory.get("name-branches-after-the-ticket")
        assert late.status == "deprecated"
        assert [
            link.relation
            for link in memory.links(late.key)
            if link.target == "name-branches-after-the-author"
        ] == ["deprecated-to"]
        memory.undo("last")
        assert memory.get("name-branches-after-the-author").status == "active"


def test_what_was_said_after_an_earlier_rule_replaces_it_however_late_it_is_learned(project):
    with project.memory() as memory:
        memory.learn("Keep backups for 14 days")
    queue(project, "No, keep backups for 30 days")
    assert 'It replaces this rule: "Keep backups for 14 days".' in project.text("prompt", prompt="thanks")


def test_of_corrections_that_wait_the_last_to_be_said_holds(project):
    for days in (5, 9, 7):
        queue(project, f"Always keep traces for {days} days")
        with project.memory() as memory:
            memory.remember(f"a pause before {days}")  # so that no two are of the same millisecond
    project.text("session-start")
    with project.memory() as memory:
        rules = memory.list(matching="traces", kinds=["behavior"])
        assert [rule.content for rule in rules] == ["Always keep traces for 7 days"]


def test_a_late_correction_has_the_scope_of_the_moment_when_it_was_said(project):
    project.edit("src/parser.rs")
    queue(project, "No, use thiserror instead of anyhow")
    project.edit("tools/release.py")
    assert "It applies where language = rust." in project.text("prompt", prompt="thanks")
    with project.memory() as memory:
        assert memory.get("use-thiserror-instead-of-anyhow").when == {"language": "rust"}


def test_the_file_worked_on_last_counts_for_later_prompts_too(project):
    project.edit("cmd/server.go")
    first = project.text("prompt", prompt="Never use naked returns")
    assert "It applies where language = go." in first
    second = project.text("prompt", prompt="From now on use naked returns")
    assert 'It replaces this rule: "Never use naked returns". It applies where language = go.' in second


def test_beside_a_correction_the_rule_that_another_sentence_goes_against_is_told(project):
    text = project.text("prompt", prompt="No, use pnpm instead of npm. Pushing to main is fine now.")
    assert "Learned from what the user said, as [use-pnpm-instead-of-npm]" in text
    assert f'{teaching.WITHDRAWING} [never-push-to-main]: "Never push to main"' in text


def test_of_all_rules_that_a_correction_takes_the_place_of_the_agent_is_told(project):
    with project.memory() as memory:
        memory.learn("Deploy with Helm", cue=Cue(environment="production"))
        memory.learn("Deploy with compose", cue=Cue(environment="staging"))
    text = project.text("prompt", prompt="From now on, deploy with Nomad")
    assert (
        'It replaces this rule: "Deploy with Helm". It applies where environment = production or staging.'
        in text
    )
    assert "Takes the place of deploy-with-compose too" in text


@pytest.mark.parametrize(
    ("file", "prompt", "scope"),
    [
        ("README.md", "From now on, wrap lines at 90 characters", "everywhere"),
        ("settings/base.yaml", "Never use anchors", "everywhere"),
        ("Dockerfile", "Never install editors", "everywhere"),
        ("README.md", "From now on, use asterisks for lists in Markdown", "where language = markdown"),
        ("lib/a.lua", "From now on, wrap lines at 90 characters", "where language = lua"),
        ("web/a.ts", "Never use var in JavaScript", "everywhere"),
        ("web/a.ts", "Never use enums in TypeScript", "where language = typescript"),
    ],
)
def test_a_rule_has_the_language_of_code_at_hand_unless_it_names_another_and_of_data_only_if_it_names_it(
    project, file, prompt, scope
):
    project.edit(file)
    assert f"It applies {scope}." in project.text("prompt", prompt=prompt)


def test_the_file_worked_on_last_counts_until_another_is_or_the_session_ends(project):
    project.edit("cmd/server.go")
    project.edit("web/app.ts")
    assert "language = typescript" in project.text("prompt", prompt="Stop using default exports")
    project.session = "s2"
    assert "It applies everywhere." in project.text("prompt", prompt="From now on, write notes in English")


def test_old_files_of_sessions_are_swept_and_corrections_are_not(project):
    queue(project)
    (folder_of(project.database) / session.SERVER_LOCK).touch()
    os.utime(folder_of(project.database) / session.SERVER_LOCK, (0, 0))
    with locked_session(project.database, "new"):
        pass
    assert len(waiting(project)) == 1
    assert (folder_of(project.database) / session.SERVER_LOCK).exists()


@pytest.mark.slow
def test_a_locked_store_loses_no_correction_and_the_hook_says_so(tmp_path):
    project = filled(Project(tmp_path / "shop"))
    hurried = [sys.executable, "-c", COMMAND[-1].replace("patience=600.0", "patience=60.0, rest=59.0")]
    writer = sqlite3.connect(project.database, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    done = project.process("prompt", project.payload(prompt=PROMPT), command=hurried)
    writer.execute("ROLLBACK")
    writer.close()
    assert (done.returncode, context(json.loads(done.stdout)).splitlines()[0]) == (0, NOTICE)
    assert done.stderr == b"priming hook prompt: TimeoutError; a later hook will learn the correction\n"
    age(project)
    assert "Use uv instead of pip" in project.process_text("session-start")


def test_what_is_learned_is_told_in_whole_sentences(project):
    first = project.text("prompt", prompt="No, use webpack instead of rollup")
    assert 'as [use-webpack-instead-of-rollup]: "Use webpack instead of rollup".' in first
    second = project.text("prompt", prompt="No, use rollup instead of webpack")
    assert (
        ': "Use rollup instead of webpack". It replaces this rule: "Use webpack instead of rollup".' in second
    )


def test_a_rule_that_may_take_the_place_of_another_is_told_with_it_and_with_what_settles_it(project):
    with project.memory() as memory:
        memory.learn("Validate forms on the server", cue=Cue(file="src/ui/**"))
    text = project.text("prompt", prompt="No, validate forms on the client.")
    assert 'The earlier says "Validate forms on the server"' in text
    both = "validate-forms-on-the-server+validate-forms-on-the-client"
    assert f"priming review --keep {both}" in text
    with project.memory() as memory:
        memory.keep_both(both)
    assert "earlier" not in project.text("prompt", prompt=PROMPT)


def test_a_value_that_is_corrected_in_passing_takes_the_place_of_the_earlier(project):
    project.text("prompt", prompt="Always wait 30 seconds between retries")
    project.text("prompt", prompt="No, wait 10 seconds between retries")
    with project.memory() as memory:
        rules = [rule.content for rule in memory.list(kinds=["behavior"]) if "retries" in rule.content]
        assert rules == ["Wait 10 seconds between retries"]
