"""Sessions in a store: begun, saved, loaded whichever version saved them, and locked by one process at a time."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.rows import each_row
from tests.storage.sqlite.files import make_store

from priming import Memory
from priming.errors import Busy, Conflict, Corrupt, NotFound, ParamError
from priming_loop.session import (
    ActionResult,
    Attempt,
    ObjectiveContext,
    ShownMemory,
    Task,
    TaskPlan,
    Verification,
    dump,
    parse,
)
from priming_loop.session_store import Sessions, limits


@pytest.fixture
def sessions(memory):
    return Sessions(memory)


@pytest.fixture
def session(sessions, tmp_path):
    return sessions.begin("Mend it.", tmp_path, limits())


def test_a_session_is_loaded_as_it_was_saved_last(sessions, session, clock):
    clock.at += timedelta(minutes=1)
    saved = sessions.save(replace(session, state="ACT", gates_requested=True))
    assert saved.updated_at == clock.now()
    assert sessions.get(session.id) == saved
    assert sessions.list(10) == [saved]


def test_a_session_keeps_all_of_its_values(session, clock):
    shown = ShownMemory("glue", "pattern", "Use glue.")
    gathered = ObjectiveContext("Mend it.", patterns=(shown,), fired=("glue",))
    result, gate = ActionResult("delivered", "Glued.", ("glue",)), Verification("true", "passed", 0, "", 0.5)
    attempt = Attempt(1, clock.now(), ("glue",), result, gate)
    task = Task(1, TaskPlan("Mend it."), "delivered", (attempt,), gathered, closed_at=clock.now())
    whole = replace(
        session, gathered=gathered, tasks=(task,), answered=(("Which?", "This."),), yeses=("Is it?",)
    )
    assert parse(dump(whole)) == whole


def test_a_session_that_version_0_1_0_saved_is_loaded(session):
    record = json.loads(dump(session))
    del record["gates_requested"]
    assert parse(json.dumps({**record, "asked": True})) == replace(session, gates_requested=True)
    assert parse(json.dumps({**record, "asked": False})) == session


def test_a_memory_with_two_roles_is_shown_once_and_those_that_fire_first():
    both, other = ShownMemory("a", "failure", "x"), ShownMemory("b", "pattern", "y")
    gathered = ObjectiveContext(
        "Mend it.", failures=(both,), patterns=(other,), connected=(both,), fired=("a",)
    )
    assert gathered.shown == (both, other)
    assert gathered.injected == ("a", "b")


def test_a_session_that_does_not_exist_is_an_error(sessions, session, tmp_path):
    with pytest.raises(NotFound, match="no session 'b'"):
        sessions.get("b")
    with pytest.raises(NotFound, match="was purged"):
        sessions.save(replace(session, id="b"))
    with pytest.raises(Conflict):
        sessions.begin("Mend it.", tmp_path, limits(), session_id=session.id)
    with pytest.raises(ParamError, match="limit"):
        sessions.list(-1)


def test_sessions_of_other_namespaces_are_not_seen(embedder, clock, tmp_path):
    url = f"sqlite:///{tmp_path}/memory.db"
    with (
        Memory.open(url, embedder=embedder, clock=clock) as mine,
        Memory.open(url, embedder=embedder, clock=clock, namespace="other") as other,
    ):
        Sessions(mine).begin("Mend it.", tmp_path, limits())
        assert Sessions(other).list(10) == []


def test_a_session_is_locked_by_one_at_a_time(embedder, clock, tmp_path):
    url = f"sqlite:///{tmp_path}/memory.db"
    with (
        Memory.open(url, embedder=embedder, clock=clock) as mine,
        Memory.open(url, embedder=embedder, clock=clock) as other,
    ):
        with Sessions(mine).lock("a"):
            with pytest.raises(Busy, match="works on this session"), Sessions(other).lock("a"):
                pass
            with Sessions(other).lock("b"):
                pass
        with Sessions(other).lock("a"):
            pass


def test_a_memory_without_a_file_is_locked_by_nobody_else(memory):
    with Sessions(memory).lock("a"), Sessions(memory).lock("a"):
        pass


@each_row(
    "options",
    [{"attempts": 0}, {"tasks": 0}, {"depth": -1}, {"timeout": 0}, {"minutes": 0}, {"minutes": float("nan")}],
)
def test_limits_have_ranges(options):
    with pytest.raises(ParamError):
        limits(**options)


def test_the_sessions_of_a_store_of_schema_6_are_read(embedder, tmp_path):
    make_store(tmp_path / "memory.db", 6)
    url = f"sqlite:///{tmp_path}/memory.db"
    with Memory.open(url, namespace="mine", embedder=embedder) as memory:
        sessions = Sessions(memory)
        waiting, delivered = (sessions.get(session.id) for session in sessions.list(10))
        assert (waiting.state, waiting.waits.about) == ("ASK", "Which of the two?")
        assert (delivered.state, delivered.ended) == ("SUMMARY", "delivered")
        assert delivered.tasks[0].attempts[0].acted.details == "Renewed the certificate."


def test_an_unknown_session_of_the_loop_is_refused_with_those_that_exist(memory):
    session = memory.loop_task_new_session("Mend the gate").session_id
    with pytest.raises(NotFound, match=session):
        memory.loop_report("nosuch")


def test_a_damaged_session_is_named(embedder, tmp_path):
    url = f"sqlite:///{tmp_path}/memory.db"
    with Memory.open(url, embedder=embedder) as memory:
        session = memory.loop_task_new_session("Release it").session_id
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection, connection:
        connection.execute("UPDATE loop_sessions SET body = replace(body, '\"objective\"', '\"objectivf\"')")
    named = f'session "{session}" of the loop is damaged'
    with Memory.open(url, embedder=embedder) as memory, pytest.raises(Corrupt, match=named):
        memory.loop_list()
