"""An event that two installations of the hooks report, as the plugin and the settings do, is carried out once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from priming_agents import teaching
from priming_agents.agents import Event
from priming_agents.calls import new_call
from priming_agents.session import folder_of, locked_session, mark_of

from .project import Project
from .test_teaching import age

CORRECTION = "No, use uv instead of pip."
IDS = {
    "claude-code": {"prompt_id": "10d63a89"},
    "codex": {"turn_id": "01a20a54"},
    "cursor": {"generation_id": "490b"},
}


@pytest.fixture
def plugin(monkeypatch):
    """Say that a hook is the plugin's, or that of the settings."""

    def say(is_plugin):
        if is_plugin:
            monkeypatch.setenv("CLAUDE_PLUGIN_ROOT", "/plugins/arc")
        else:
            monkeypatch.delenv("CLAUDE_PLUGIN_ROOT", raising=False)

    return say


def kinds(project):
    with project.memory() as memory:
        return [
            entry.kind
            for entry in memory.log()
            if entry.kind in ("learn", "run-start", "run-end", "feedback")
        ]


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_a_prompt_with_an_id_of_its_own_is_answered_once_however_many_hooks_report_it(project, ids):
    answers = [project.text("prompt", prompt=CORRECTION, **ids) for _ in range(3)]
    assert "Use uv instead of pip" in answers[0]
    assert answers[1:] == ["", ""]
    assert kinds(project).count("learn") == 1 + 5  # those of the project itself
    with project.memory() as memory:
        assert memory.get("use-uv-instead-of-pip").confidence == memory.get("prefer-small-commits").confidence


def test_the_next_prompt_in_the_same_words_is_another_event(project):
    assert "[deploy]" in project.text(
        "prompt", prompt="why did the deploy of the server fail?", prompt_id="1"
    )
    with locked_session(project.database, "s1") as state:
        state.shown.clear()
    assert "[deploy]" in project.text(
        "prompt", prompt="why did the deploy of the server fail?", prompt_id="2"
    )


@pytest.mark.parametrize("first", [True, False], ids=["plugin first", "settings first"])
def test_the_start_of_a_session_has_no_id_and_is_told_once_by_plugin_and_settings(project, plugin, first):
    for source in ("startup", "compact", "compact"):
        plugin(first)
        assert "Never push to main" in project.text("session-start", source=source)
        plugin(not first)
        assert project.hook("session-start", source=source) is None


def test_whoever_of_the_two_is_first_the_second_time_the_events_stay_apart(project, plugin):
    plugin(True)
    assert project.text("session-start", source="compact")
    plugin(False)
    assert project.hook("session-start", source="compact") is None
    assert project.text("session-start", source="compact")
    plugin(True)
    assert project.hook("session-start", source="compact") is None
    assert project.text("session-start", source="compact")


def test_each_hook_of_the_settings_has_a_file_of_its_own_at_the_start_of_a_session(project, monkeypatch):
    texts = []
    for number in range(2):
        monkeypatch.setenv(
            "CLAUDE_ENV_FILE", f"/home/me/.claude/session-env/s1/sessionstart-hook-{number}.sh"
        )
        texts.append(project.text("session-start", source="startup"))
    assert [bool(text) for text in texts] == [True, False]


def test_a_command_that_is_run_again_is_another_event():
    push = {"tool_name": "Bash", "tool_input": {"command": "git push"}, "prompt_id": "1"}
    marks = [mark_of("pre-tool", {**push, "tool_use_id": name}) for name in ("a", "a", "b")]
    assert [mark.is_unique for mark in marks] == [True] * 3
    assert marks[0] == marks[1] != marks[2]
    assert not mark_of("pre-tool", push).is_unique  # the id of a prompt says nothing of its tools
    assert not mark_of("session-start", {"source": "compact", "prompt_id": "1"}).is_unique


def test_calls_that_overlap_report_one_event(project):
    payload = {"session_id": "s1", "prompt": "go on"}
    mark, (first, second, third) = (
        mark_of("prompt", payload),
        [f"{time:012x}" + "0" * 20 for time in (1, 2, 2**44)],
    )
    with locked_session(project.database, "s1") as state:
        assert state.claim(mark, first)
        state.end_claim(mark)
        assert not state.claim(mark, second)  # it began before the first ended
        assert state.claim(mark, third)


def test_an_event_whose_first_call_failed_is_carried_out_by_the_second(project, monkeypatch):
    def fail(*_):
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr("priming_agents.events.handle", fail)
        with pytest.raises(OSError):
            project.hook("prompt", prompt=CORRECTION, prompt_id="1")
    assert "Use uv instead of pip" in project.text("prompt", prompt=CORRECTION, prompt_id="1")


def test_a_correction_that_two_calls_left_behind_is_learned_once(project):
    mark = mark_of("prompt", {"session_id": "s1", "prompt": CORRECTION, "prompt_id": "1"})
    for _ in range(2):
        assert teaching.put(project.database, new_call(), "prompt", Event("s1", prompt=CORRECTION), mark)
    age(project)
    assert project.text("prompt", prompt="go on").count("Use uv instead of pip") == 1
    assert [*folder_of(project.database).glob("*.queued")] == []


def test_a_correction_left_behind_by_the_second_call_is_not_learned_again(project):
    payload = {"session_id": "s1", "cwd": str(project.folder), "prompt": CORRECTION, "prompt_id": "1"}
    assert project.text("prompt", prompt=CORRECTION, prompt_id="1")
    late = Event("s1", prompt=CORRECTION)
    assert teaching.put(project.database, new_call(), "prompt", late, mark_of("prompt", payload))
    age(project)
    assert project.hook("prompt", prompt="thanks", prompt_id="2") is None
    assert [*folder_of(project.database).glob("*.queued")] == []


@pytest.mark.slow
def test_processes_that_report_a_first_correction_at_once_create_one_store_and_one_rule(tmp_path):
    project = Project(tmp_path / "new")
    (project.folder / ".git").mkdir(parents=True)
    data = project.payload(prompt=CORRECTION, prompt_id="1")
    with ThreadPoolExecutor(3) as pool:
        done = [*pool.map(lambda _: project.process("prompt", data), range(3))]
    assert [(each.returncode, each.stderr) for each in done] == [(0, b"")] * 3
    assert sorted(bool(each.stdout) for each in done) == [False, False, True]
    assert kinds(project) == ["learn"]
