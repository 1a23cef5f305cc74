import json
import os
import subprocess
import sys
import time

import pytest

from priming.hook_params import HOOK
from priming.serve.hook_state import State, folder_of, held

COUNT = """
import sys
from pathlib import Path
from priming.serve.hook_state import held
for _ in range(20):
    with held(Path(sys.argv[1]), "s") as state:
        state.prompts += 1
"""


@pytest.fixture
def database(tmp_path):
    return tmp_path / "memory.db"


def test_what_a_hook_notes_the_next_one_knows(database):
    with held(database, "s") as state:
        state.prompts = 3
        state.show("id", "key", "recall", rule=True)
    with held(database, "s") as state:
        assert (state.prompts, state.shown) == (3, {"id": [1, 3, "key", "recall", True]})
    with held(database, "other") as state:
        assert state.prompts == 0


def test_a_memory_comes_back_after_some_prompts_and_then_after_twice_as_many():
    state = State()
    assert state.is_due("id")
    state.show("id", "key", "recall", rule=False)
    due = []
    for state.prompts in range(1, 8 * HOOK.again):
        if state.is_due("id"):
            due.append(state.prompts)
            state.show("id", "key", "recall", rule=False)
    assert due == [HOOK.again, 3 * HOOK.again, 7 * HOOK.again]


def test_hooks_at_once_lose_nothing(database):
    running = [subprocess.Popen([sys.executable, "-c", COUNT, str(database)]) for _ in range(4)]
    assert [one.wait(60) for one in running] == [0] * 4
    with held(database, "s") as state:
        assert state.prompts == 80


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"prompts": "x"}', '{"shown": {"a": 1}}', '{"shown": {"a": [1]}}', '{"run": 7}'],
)
def test_a_state_that_cannot_be_read_is_a_new_one(database, text):
    with held(database, "s") as state:
        state.prompts = 9
    (path,) = folder_of(database).glob("*.json")
    path.write_text(text)
    with held(database, "s") as state:
        assert (state.prompts, state.shown) == (0, {})


def test_a_block_that_raises_changes_nothing(database):
    def fail():
        with held(database, "s") as state:
            state.prompts = 9
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with held(database, "s") as state:
        assert state.prompts == 0


@pytest.mark.parametrize("session", ["../../etc/passwd", "a/b", "x" * 500, "\ud800", "名前", "CON", "."])
def test_a_session_of_any_name_stays_in_the_folder(database, session):
    with held(database, session):
        pass
    assert len(list(folder_of(database).glob("*.json"))) == 1
    assert {one.name for one in database.parent.iterdir()} == {folder_of(database).name}


def test_files_are_for_their_owner_alone(database):
    with held(database, "s"):
        pass
    folder = folder_of(database)
    assert folder.stat().st_mode & 0o077 == 0


def test_states_of_sessions_long_over_are_removed(database):
    with held(database, "old") as state:
        state.prompts = 1
    long_ago = time.time() - (HOOK.keep_days + 1) * 86_400
    for one in folder_of(database).iterdir():
        os.utime(one, (long_ago, long_ago))
    with held(database, "new"):
        pass
    assert {one.stem for one in folder_of(database).iterdir()} == {"new"}


def test_a_state_is_small(database):
    with held(database, "s") as state:
        for i in range(100):
            state.show(f"{i:036}", "a-key-of-usual-length", "r" * 36, rule=True)
    (path,) = folder_of(database).glob("*.json")
    assert len(json.loads(path.read_text())["shown"]) == 100
    assert path.stat().st_size < 16_384
