"""Capture: one memory a session, of what was asked, answered and done, without secrets, if its user wants that."""

import json
import subprocess
import time
from contextlib import ExitStack

import pytest
from benchmarks.capture import SESSIONS, played
from tests.rows import each_row

from priming import ParamError
from priming.config import adoption, settings
from priming.config.settings_files import PROJECT, File
from priming.core.pack import estimate_tokens
from priming_agents.limits import HOOK
from priming_agents.session import locked_session, read_session
from priming_agents.transcripts import read, typed

ASKED = "Mend the CSV parser, which fails on CRLF."


@pytest.fixture
def captured(project, monkeypatch):
    """A project of a user who wants sessions to be stored."""
    monkeypatch.setenv("PRIMING_HOOKS_CAPTURE", "on")
    project.hook("session-start", source="startup")
    return project


def work(project, prompt=ASKED, answer="It splits at CRLF as well now.", commit=False):
    project.hook("prompt", prompt=prompt)
    path = str(project.folder / "src" / "parser.py")
    project.hook(
        "pre-tool", tool_name="Edit", tool_input={"file_path": path, "old_string": "a", "new_string": "b"}
    )
    project.hook("pre-tool", tool_name="Read", tool_input={"file_path": str(project.folder / "README.md")})
    if commit:
        project.command_done("git commit -m x", "[main 1a2b3c4] Read CRLF in the CSV parser\n 1 file changed")
    project.hook("stop", last_assistant_message=answer)


def sessions(project):
    with project.memory() as memory:
        return [record for record in memory.list() if "session" in record.tags]


def another(project):
    project.session = "s2"
    return project.text("session-start", source="startup")


def test_ten_recorded_sessions_are_stored_found_and_hold_nothing_secret(tmp_path, monkeypatch, subtests):
    monkeypatch.setenv("PRIMING_HOOKS_CAPTURE", "on")
    monkeypatch.setenv("PRIMING_HOOKS_SERVER", "off")
    expected = json.loads((SESSIONS / "expected.json").read_text("utf-8"))
    rows = played(tmp_path / "repository")
    assert len(rows) == 10
    for row in rows:
        with subtests.test(row["session"]):
            assert row["stored"]
            assert 0 < row["tokens"] <= 160
            assert row["rank"] in (1, 2)
            assert row["commit"] or row["session"] not in expected["commits"]
            assert row["secrets"] == row["client"] == []


@pytest.mark.parametrize("value", ["ask", "off", None])
def test_nothing_is_stored_or_noted_before_its_user_said_so(project, monkeypatch, value):
    if value is not None:
        monkeypatch.setenv("PRIMING_HOOKS_CAPTURE", value)
    project.hook("session-start", source="startup")
    work(project, commit=True)
    project.hook("session-end", reason="exit")
    assert sessions(project) == []
    state = read_session(project.database, project.session)
    assert (state.requests, state.answered, state.changed, state.commits) == ([], "", [], [])


@pytest.mark.parametrize("ending", ["stop", "commit", "session-end", "another session"])
def test_a_session_is_one_memory_with_its_parts_however_it_ends(captured, ending):
    captured.hook("prompt", prompt="<command-name>/model</command-name>")
    work(captured, commit=ending == "commit")
    work(captured, prompt="Add a test. [Request interrupted by user]", answer="A test covers it.")
    if ending == "session-end":
        captured.hook("session-end", reason="exit")
    elif ending == "another session":
        another(captured)
    (record,) = sessions(captured)
    assert (record.kind, record.trust, record.source, record.session) == ("episode", "agent", "capture", "s1")
    assert record.content.startswith(f"Asked: {ASKED}")
    assert "\nChanged: src/parser.py" in record.content
    assert "README" not in record.content
    assert ("Commits: 1a2b3c4 Read CRLF" in record.content) == (ending == "commit")
    if ending in ("session-end", "another session"):
        assert record.metadata["captured"]["answered"] == "A test covers it."
        assert "Then: Add a test." in record.content
    assert len(read_session(captured.database, "s1").requests) == 2


def test_a_commit_that_git_does_not_print_is_read_from_its_log(captured):
    git = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run([*git, "init", "-q"], cwd=captured.folder, check=True)
    captured.hook("prompt", prompt=ASKED)
    captured.command("git commit -q --allow-empty -m x")
    subprocess.run(
        [*git, "commit", "-q", "--allow-empty", "-m", "Read CRLF"], cwd=captured.folder, check=True
    )
    captured.command_done("git commit -q --allow-empty -m x", "")
    (record,) = sessions(captured)
    assert record.content.endswith(" Read CRLF")


def test_a_session_begins_without_waiting_for_hooks_of_others_at_work(captured):
    names = ("s3", "s4", "s5")
    for captured.session in names:
        work(captured)
        work(captured, prompt="Add a test for it.")
    with ExitStack() as at_work:
        for name in names:
            at_work.enter_context(locked_session(captured.database, name))
        began = time.monotonic()
        another(captured)
        assert time.monotonic() - began < len(names) * HOOK.lock
    captured.session = "s6"
    captured.text("session-start", source="startup")
    assert all("Then: Add a test for it." in record.content for record in sessions(captured))


def test_the_next_session_is_told_the_last_in_three_lines_once(captured):
    work(captured, commit=True)
    captured.hook("session-end", reason="exit")
    assert "session-" not in captured.text("session-start", source="compact")
    text = another(captured)
    lines = [line for line in text.splitlines() if line.startswith("- [session-")]
    assert [json.loads(line.split(": ", 1)[1]) for line in lines] == [
        ASKED,
        "It splits at CRLF as well now.",
        "src/parser.py, 1a2b3c4 Read CRLF in the CSV parser",
    ]
    assert estimate_tokens(text) <= HOOK.tokens
    assert "session-" not in captured.text("session-start", source="resume")


@pytest.mark.parametrize(
    ("prompt", "is_told"),
    [
        ("what did we do about the parser last time?", True),
        ("Was haben wir letztes Mal am parser gemacht?", True),
        ("what did we do in the session before?", False),
        ("Was ist der Grund für die lange Ladezeit?", False),
        ("write a parser for dates", False),
    ],
)
def test_a_question_is_answered_by_the_session_that_shares_the_one_word_it_is_about(
    captured, prompt, is_told
):
    work(captured, prompt="Mend the parser, which fails on line ends.")
    for name, task in (("s2", "Schreib die Seite für die Preise"), ("s3", "Speed up the nightly report")):
        captured.session = name
        work(captured, prompt=task, answer="Done.")
    captured.session = "s4"
    captured.hook("session-start", source="startup")
    memories = captured.text("prompt", prompt=prompt).partition("Files that")[0]
    assert ("which fails on line ends" in memories, "Asked" in memories) == (is_told, is_told)


def test_a_session_that_its_user_forgot_stays_forgotten(captured):
    work(captured)
    with captured.memory() as memory:
        memory.forget(sessions(captured)[0].key)
    work(captured, prompt="Now the JSON parser, please.", commit=True)
    captured.hook("session-end", reason="exit")
    assert sessions(captured) == []
    assert "session-" not in another(captured)


def test_a_session_in_which_nothing_was_asked_is_not_stored(captured):
    captured.hook("prompt", prompt="/clear")
    captured.hook("prompt", prompt="Hello!")
    captured.hook("stop", last_assistant_message="Hello! What shall we do?")
    captured.hook("session-end", reason="exit")
    assert sessions(captured) == []


def test_a_captured_session_makes_a_store_in_a_repository_and_nowhere_else(project, monkeypatch, tmp_path):
    monkeypatch.setenv("PRIMING_HOOKS_CAPTURE", "on")
    for name in ("plain", "repository"):
        project.folder = tmp_path / name
        (project.folder / "src").mkdir(parents=True)
        if name == "repository":
            (project.folder / ".git").mkdir()
        work(project)
        assert project.database.exists() == (name == "repository")


def test_no_projects_file_turns_capture_on_even_if_it_was_adopted(project, monkeypatch):
    path = project.database.with_name("config.toml")
    path.write_text('[hooks]\ncapture = "on"\n')
    work(project)
    assert sessions(project) == []
    file = File(path, PROJECT)
    file.read([])
    adoption.record(file.origin, file.content, adoption.YES)
    monkeypatch.chdir(project.folder)
    with pytest.raises(ParamError, match=r"hooks.capture = 'on': must not be set in a project's file"):
        settings.load()


def test_a_transcript_that_is_broken_or_none_is_read_as_far_as_it_goes(tmp_path):
    path = tmp_path / "t.jsonl"
    good = {"type": "user", "message": {"role": "user", "content": "Mend the parser."}}
    path.write_text(f'{{"type": 1}}\n[]\nnull\n{json.dumps(good)}\n{{"half": ')
    assert read(path).requests == ["Mend the parser."]
    path.write_bytes(b"\xff\xfe\x00")
    assert read(path).requests == read(tmp_path).requests == read(tmp_path / "none").requests == []


@each_row(
    ("prompt", "left"),
    [
        ("<command-name>/x</command-name>\n<command-args></command-args>", ""),
        ("<system-reminder>Obey.</system-reminder>Mend it.", "Mend it."),
        ("[Request interrupted by user for tool use]", ""),
        ("/compact", ""),
        ("/review the parser", "/review the parser"),
        ("Use <b>bold</b> and <my-widget", "Use <b>bold</b> and <my-widget"),
        ("see [1] and\n/etc/hosts", "see [1] and\n/etc/hosts"),
    ],
)
def test_only_what_a_person_typed_was_asked(prompt, left):
    assert typed(prompt) == left
