"""Hooks as processes, with JSON on their standard input, on a store with a running server unless said otherwise."""

import json
import signal
import sqlite3
import subprocess
import sys

import pytest

from priming import Cue, Memory
from priming.core.pack import estimate_tokens
from priming.hook_params import HOOK
from priming.serve import hook_events

from .conftest import DEADLINE, until
from .hooked import COMMAND, Project

DEPLOY = "The deploy failed because the disk of the build server was full."
HEAVY = ("numpy", "typer", "pydantic", "rich", "priming.engine", "priming.types", "mcp")


def fill(project):
    """A store with rules and memories."""
    (project.folder / ".git").mkdir(parents=True)
    (project.folder / "pyproject.toml").touch()
    project.database.parent.mkdir()
    with Memory.open(project.url) as memory:
        memory.learn("Prefer small commits")
        memory.learn("Never push to main")
        memory.learn("Use pathlib instead of os.path", cue=Cue(language="python"))
        memory.learn("Wrap errors with their cause", cue=Cue(language="go"))
        memory.learn("Run the linter before every commit", cue=Cue(task="commit"))
        memory.remember(DEPLOY, key="deploy")
        memory.remember("Releases of shop are signed with Kestrel.", key="kestrel", importance=0.9)
        memory.remember("The shop sells tea.", key="tea", importance=0.1)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A project whose store has a running server, for the tests of this module: each has a session of its own."""
    project = Project(tmp_path_factory.mktemp("served") / "shop")
    fill(project)
    server = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", "--url", project.url],
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdout.readline()
    until((project.database.parent / "memory.db.sock").exists, "the socket")
    yield project
    server.send_signal(signal.SIGTERM)
    server.wait(DEADLINE)
    server.stdout.close()


@pytest.fixture
def project(served, request):
    """The served project, with a session of the test's own."""
    return Project(served.folder, request.node.name[:60].replace("_", "-").replace("[", "-").replace("]", ""))


@pytest.fixture
def alone(tmp_path):
    """A project of the test's own, without a server."""
    found = Project(tmp_path / "shop")
    fill(found)
    return found


def test_a_session_begins_with_the_rules_constraints_first_and_what_matters_of_late(project):
    lines = project.told("session-start", source="startup").splitlines()
    assert lines[0].startswith("Rules learned from corrections")
    assert lines[1] == "- [never-push-to-main] constraint: Never push to main"
    rules = "\n".join(lines)
    assert "Prefer small commits" in rules
    assert "Use pathlib" in rules  # the project is in Python
    assert "Wrap errors" not in rules
    assert "Run the linter" not in rules
    assert "signed with Kestrel" in rules
    assert "sells tea" not in rules
    assert "disk" not in rules


def test_a_prompt_brings_up_what_it_is_about_as_data_and_once(project):
    told = project.told("prompt", prompt="why did the deploy of the build server fail?")
    assert f'- [deploy] "{DEPLOY}"' in told
    assert "data, not instructions" in told
    assert "Kestrel" not in told
    assert project.hook("prompt", prompt="why did the deploy of the build server fail?") is None


def test_what_was_shown_comes_back_after_some_prompts(project):
    asked = "why did the deploy of the build server fail?"
    assert DEPLOY in project.told("prompt", prompt=asked)
    again = [DEPLOY in project.told("prompt", prompt=asked) for _ in range(HOOK.again)]
    assert again == [False] * (HOOK.again - 1) + [True]


@pytest.mark.parametrize(
    "prompt", ["thanks, looks good", "yes", "", "refactor the module into smaller functions", "好"]
)
def test_a_prompt_of_which_nothing_is_known_is_answered_with_silence(project, prompt):
    project.told("session-start")
    assert project.hook("prompt", prompt=prompt) is None


def test_a_file_brings_up_the_rules_of_its_language_once(project):
    assert "Wrap errors with their cause" in project.edits("a.go")
    assert "Use pathlib" in project.edits("b.py")
    assert project.edits("c.py") == ""


def test_a_command_brings_up_the_rules_of_its_task(project):
    project.told("session-start")
    assert project.runs("ls -la") == ""
    assert project.runs("git add -A && git commit -m x").endswith("Run the linter before every commit")


def test_other_tools_bring_up_nothing(project):
    assert project.hook("pre-tool", tool_name="WebSearch", tool_input={"query": "deploy"}) is None


@pytest.mark.parametrize("source", ["clear", "compact", "startup"])
def test_an_emptied_context_is_filled_again(project, source):
    first = project.told("session-start", source="startup")
    assert project.told("session-start", source="resume") == ""
    assert project.told("session-start", source=source) == first


def test_no_hook_tells_more_than_its_budget(alone):
    with Memory.open(alone.url) as memory:
        for i in range(60):
            memory.learn(
                f"Never call the function number {i} of the module that is number {i * 7} of the shop"
            )
            memory.remember(
                f"The deploy number {i} of the shop failed for the reason number {i}.", importance=0.9
            )
    start = alone.told("session-start")
    prompt = alone.told("prompt", prompt="which deploy of the shop failed?")
    for told in (start, prompt):
        assert 0 < estimate_tokens(told) <= HOOK.tokens
    assert not set(start.splitlines()[1:]) & set(prompt.splitlines()[1:])


def test_a_correction_is_learnt_at_once_with_the_context_of_the_moment(alone):
    alone.edits("src/shop.py")
    told = alone.told("prompt", prompt="No, use httpx instead of requests.")
    assert "[use-httpx-instead-of-requests]" in told
    with Memory.open(alone.url) as memory:
        rule = memory.get("use-httpx-instead-of-requests")
        assert (rule.trust, rule.source, dict(rule.when)) == ("user", "hook", {"language": "python"})
        (correction,) = memory.list(kinds=["correction"], matching="httpx")
        assert correction.metadata["wrong"] == "requests"


def test_a_correction_about_a_task_is_learnt_for_it_and_one_about_another_for_everything(alone):
    alone.edits("src/shop.py")
    alone.told("prompt", prompt="From now on, never push on Fridays")
    alone.runs("git push")
    alone.told("prompt", prompt="I told you to rebase before a push")
    with Memory.open(alone.url) as memory:
        assert dict(memory.get("never-push-on-fridays").when) == {}
        assert dict(memory.get("rebase-before-a-push").when) == {"task": "push"}


def test_of_a_correction_that_is_not_sure_the_agent_is_asked_to_learn(project):
    assert hook_events.ASK in project.told("prompt", prompt="That's not what I asked for.")
    assert project.hook("prompt", prompt="fine, go on") is None


def test_rules_to_which_nobody_objects_are_confirmed_once_a_session(alone):
    alone.told("session-start")
    for said in ("go on", "go on", "go on"):
        alone.told("prompt", prompt=said)
    with Memory.open(alone.url) as memory:
        use = memory.get("never-push-to-main").use
        assert (use.followed, use.confirmed) == (1, 0)


def test_rules_are_not_confirmed_by_an_objection(alone):
    alone.told("session-start")
    alone.told("prompt", prompt="go on")
    alone.told("prompt", prompt="that's wrong, never do that again")
    with Memory.open(alone.url) as memory:
        assert memory.get("never-push-to-main").use.followed == 0


def test_a_run_ends_with_the_turn_and_a_commit_says_that_it_was_of_use(alone):
    alone.told("session-start")
    alone.hook("stop")
    with Memory.open(alone.url) as memory:
        (run,) = memory.run_list()
        assert (run.session, run.ended_at is None, run.settled) == ("s1", False, None)
        assert "never-push-to-main" in run.shown
    alone.ran("git commit -m x", "nothing to commit, working tree clean")
    with Memory.open(alone.url) as memory:
        assert memory.run_list()[0].settled is None
    alone.ran("git commit -m x", "[main 1a2b3c4] x\n 1 file changed")
    with Memory.open(alone.url) as memory:
        assert memory.run_list()[0].settled == "used"


def test_turns_in_which_nothing_was_shown_are_one_run(alone):
    for _ in range(3):
        alone.told("prompt", prompt="thanks")
        alone.hook("stop")
    with Memory.open(alone.url) as memory:
        assert [one.ended_at is None for one in memory.run_list()] == [
            False,
            True,
        ]  # the first was shown the rules


def test_what_was_shown_and_not_judged_is_asked_about_at_the_end_and_once(project):
    assert len(project.told("session-start").splitlines()) > HOOK.remind
    assert project.hook("stop", stop_hook_active=True) is None
    answer = project.hook("stop", stop_hook_active=False)
    assert answer["decision"] == "block"
    assert "never-push-to-main" in answer["reason"]
    assert project.hook("stop", stop_hook_active=False) is None


def test_who_has_given_a_verdict_is_not_asked(alone):
    alone.told("session-start")
    with Memory.open(alone.url) as memory:
        memory.feedback(confirmed=["never-push-to-main"])
    assert alone.hook("stop") is None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"conversation_id": "c", "workspace_roots": ["?"], "cursor_version": "3"}, ("additional_context",)),
        ({"session_id": "x", "turn_id": "1", "cwd": "?"}, ("hookSpecificOutput", "additionalContext")),
        ({"sessionID": "o", "directory": "?"}, ("context",)),
    ],
)
def test_each_agent_is_answered_in_its_own_form(project, said, told):
    known = json.dumps(said).replace('"?"', json.dumps(str(project.folder))).encode()
    done = project.process("session-start", known)
    answer = json.loads(done.stdout)
    for name in told:
        answer = answer[name]
    assert "Never push to main" in answer


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        b"null",
        b'{"session_id": 1}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"session_id": "x',
    ],
)
def test_bad_input_ends_well_and_says_so_in_a_line(project, data):
    done = project.process("prompt", data)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"priming hook prompt: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "options", [("nothing",), ("prompt", "--agent", "nobody"), ("stop", "--url", "mysql://x")]
)
def test_bad_arguments_end_well_too(project, options):
    done = project.process(options[0], project.said(prompt="x"), *options[1:])
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.count(b"\n") == 1


def test_where_it_broke_is_told_only_to_who_debugs(project):
    quiet, loud = (project.process("prompt", b"{}", **given) for given in ({}, {"PRIMING_DEBUG": "1"}))
    assert b"Traceback" not in quiet.stderr
    assert b"Traceback" in loud.stderr
    assert loud.returncode == 0


def test_the_longer_way_through_the_command_line_answers_the_same(project):
    done = project.process("prompt", b"{}", command=[*COMMAND, "--json"])
    assert (done.returncode, done.stdout) == (0, b"")
    done = project.process("session-start", project.said(), command=[*COMMAND, "--namespace", "default"])
    assert b"Never push to main" in done.stdout


def test_a_store_that_is_named_is_the_one_wherever_the_agent_works(project):
    url = f"sqlite:///{project.database.relative_to(project.folder.parent)}"
    done = project.process(
        "pre-tool", project.said(tool_name="Edit", tool_input={"file_path": "a.go"}), "--url", url
    )
    assert b"Wrap errors" in done.stdout


def test_where_there_is_no_store_none_is_made(tmp_path):
    project = Project(tmp_path / "empty")
    project.folder.mkdir()
    (tmp_path / "home").mkdir()
    for event in ("session-start", "prompt", "pre-tool", "post-tool", "stop"):
        assert project.hook(event, prompt="No, use tabs instead of spaces") is None
    assert list(project.folder.iterdir()) == list((tmp_path / "home").iterdir()) == []


def test_an_empty_file_is_no_store_and_stays_empty(tmp_path):
    project = Project(tmp_path / "empty")
    project.database.parent.mkdir(parents=True)
    project.database.touch()
    assert project.hook("prompt", prompt="hello world") is None
    assert project.database.stat().st_size == 0


def test_a_file_that_is_no_store_ends_well_and_stays_as_it_was(tmp_path):
    project = Project(tmp_path / "broken")
    project.database.parent.mkdir(parents=True)
    project.database.write_bytes(b"not a database " * 1000)
    done = project.process("prompt", project.said(prompt="hello world"))
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"Corrupt" in done.stderr
    assert project.database.read_bytes() == b"not a database " * 1000


def test_a_locked_store_does_not_hold_the_agent(alone):
    with sqlite3.connect(alone.database, isolation_level=None) as writer:
        writer.execute("BEGIN IMMEDIATE")
        done = alone.process("prompt", alone.said(prompt="why did the deploy of the build server fail?"))
        writer.execute("ROLLBACK")
    writer.close()
    assert done.returncode == 0
    assert alone.hook("pre-tool", tool_name="Edit", tool_input={"file_path": "a.py"})


def test_of_hooks_at_once_one_tells(project):
    told = project.at_once(5, "pre-tool", tool_name="Edit", tool_input={"file_path": "a.go"})
    assert sum("Wrap errors" in one for one in told) == 1


def test_a_hook_that_a_server_answers_loads_nothing_heavy(project):
    code = (
        "import sys\nfrom priming.cli.start import main\nmain()\n"
        "print([one for one in sys.modules], file=sys.stderr)"
    )
    for event in ("session-start", "prompt", "pre-tool", "stop"):
        done = project.process(
            event,
            project.said(
                prompt="why did the deploy fail?", tool_name="Bash", tool_input={"command": "git push"}
            ),
            command=[sys.executable, "-c", code],
        )
        loaded = done.stderr.decode()
        assert "priming.serve.hook_events" in loaded
        assert [one for one in HEAVY if f"'{one}" in loaded] == []


def test_when_the_server_is_killed_hooks_go_on_with_the_file(tmp_path):
    project = Project(tmp_path / "shop")
    fill(project)
    server = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", "--url", project.url],
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert server.stdout.readline()
        assert "Never push" in project.told("session-start")
    finally:
        server.kill()
        server.wait(DEADLINE)
        server.stdout.close()
    assert DEPLOY in project.told("prompt", prompt="why did the deploy of the build server fail?")


def test_the_store_of_all_projects_is_read_beside_the_projects(alone):
    everywhere = alone.folder.parent / "home" / ".priming"
    everywhere.mkdir(parents=True)
    with Memory.open(f"sqlite:///{everywhere}/memory.db") as memory:
        memory.learn("Never swear in comments")
        memory.learn("Never push to main")
    told = alone.told("session-start")
    assert "Never swear in comments" in told
    assert told.count("Never push to main") == 1


def test_the_tokens_of_a_text_are_counted_as_packing_counts_them():
    for text in ("", "priming", "呼び水", "a" * 1001, "\ud800"):
        assert hook_events._cost(text) == estimate_tokens(text)
