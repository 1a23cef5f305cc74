import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from priming.errors import Busy
from priming_agents import session as module
from priming_agents.limits import HOOK
from priming_agents.session import SessionState, folder_of, locked_session

COUNT = """
import sys
from dataclasses import replace
from pathlib import Path
from priming_agents import session
session.HOOK = replace(session.HOOK, lock=600.0)
for _ in range(20):
    with session.locked_session(Path(sys.argv[1]), "s") as state:
        state.prompts += 1
"""


@pytest.fixture
def database(tmp_path):
    folder = tmp_path / "store"
    folder.mkdir()
    return folder / "memory.db"


def test_the_next_hook_sees_what_a_hook_noted_and_another_session_does_not(database):
    with locked_session(database, "s") as state:
        state.prompts = 3
        state.show("id", "key", "recall", rule=True)
    with locked_session(database, "s") as state:
        assert (state.prompts, state.shown) == (3, {"id": [1, 3, "key", "recall", True]})
    with locked_session(database, "other") as state:
        assert state.prompts == 0


def test_a_memory_is_due_after_some_prompts_and_then_after_twice_as_many():
    state = SessionState()
    assert state.is_due("id")
    state.show("id", "key", "recall", rule=False)
    due = []
    for state.prompts in range(1, 8 * HOOK.again):
        if state.is_due("id"):
            due.append(state.prompts)
            state.show("id", "key", "recall", rule=False)
    assert due == [HOOK.again, 3 * HOOK.again, 7 * HOOK.again]


def test_a_rule_that_was_told_by_name_alone_may_be_told_whole_and_is_not_named_again():
    state = SessionState(named=["id"])
    assert state.is_due("id")
    assert not state.is_due("id", by_name=True)
    assert SessionState().is_due("id", by_name=True)
    state.show("id", "key", "recall", rule=True)
    assert not state.is_due("id")


def test_a_hook_that_waits_too_long_for_another_one_is_busy(database, monkeypatch):
    monkeypatch.setattr(module, "HOOK", replace(HOOK, lock=0.0))
    with locked_session(database, "s"):
        with pytest.raises(Busy), locked_session(database, "s"):
            pass
        with locked_session(database, "other"):
            pass


def test_hooks_at_once_take_turns_and_lose_nothing(database, monkeypatch):
    monkeypatch.setattr(module, "HOOK", replace(HOOK, lock=600.0))

    def count():
        for _ in range(10):
            with locked_session(database, "s") as state:
                state.prompts += 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with locked_session(database, "s") as state:
        assert state.prompts == 40


@pytest.mark.slow
def test_processes_at_once_take_turns_and_lose_nothing(database):
    processes = [subprocess.Popen([sys.executable, "-c", COUNT, str(database)]) for _ in range(4)]
    assert [process.wait(120) for process in processes] == [0] * 4
    with locked_session(database, "s") as state:
        assert state.prompts == 80


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"prompts": "x"}', '{"shown": {"a": 1}}', '{"shown": {"a": [1]}}', '{"run": 7}'],
)
def test_a_state_that_cannot_be_read_is_a_new_one(database, text):
    with locked_session(database, "s") as state:
        state.prompts = 9
    (path,) = folder_of(database).glob("*.json")
    path.write_text(text)
    with locked_session(database, "s") as state:
        assert (state.prompts, state.shown) == (0, {})


def test_a_block_that_raises_changes_nothing(database):
    def fail():
        with locked_session(database, "s") as state:
            state.prompts = 9
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with locked_session(database, "s") as state:
        assert state.prompts == 0


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "x" * 500, "\ud800", "名前", "CON", "."])
def test_a_session_of_any_name_stays_in_the_folder(database, name):
    with locked_session(database, name):
        pass
    assert len(list(folder_of(database).glob("*.json"))) == 1
    assert {path.suffix for path in folder_of(database).parent.rglob("*.*")} == {".json", ".lock"}


def test_files_are_for_their_owner_alone(database):
    with locked_session(database, "s"):
        pass
    files = [folder_of(database), *folder_of(database).iterdir()]
    assert [path for path in files if path.stat().st_mode & 0o077] == []


def test_states_of_sessions_that_ended_long_ago_are_removed(database):
    with locked_session(database, "old") as state:
        state.prompts = 1
    long_ago = time.time() - (HOOK.keep_days + 1) * 86_400
    for path in folder_of(database).iterdir():
        os.utime(path, (long_ago, long_ago))
    with locked_session(database, "new"):
        pass
    assert {path.stem for path in folder_of(database).iterdir()} == {"new"}


def test_a_state_is_small(database):
    with locked_session(database, "s") as state:
        for i in range(100):
            state.show(f"{i:036}", "a-key-of-usual-length", "r" * 36, rule=True)
    (path,) = folder_of(database).glob("*.json")
    assert len(json.loads(path.read_text())["shown"]) == 100
    assert path.stat().st_size < 16_384
