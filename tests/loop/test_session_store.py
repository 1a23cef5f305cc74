"""The sessions of the loop in a store: kept, found, and worked on by one process at a time."""

from dataclasses import replace

import pytest

from priming.engine.loops import Loops
from priming.errors import Busy, Conflict, NotFound, ParamError
from priming.looping import Kept


def kept(clock, session_id="a"):
    return Kept(session_id, None, "INIT", "Mend it.", clock.now(), clock.now(), "{}")


def test_a_session_is_found_as_it_was_kept_last(memory, clock):
    loops = Loops(memory)
    loops.add(kept(clock))
    later = replace(kept(clock), state="ACT", body='{"a":1}')
    loops.keep(later)
    assert loops.get("a") == later
    assert loops.list(10) == [later]


def test_what_is_not_there_is_said_so(memory, clock):
    loops = Loops(memory)
    with pytest.raises(NotFound, match="no session 'b'"):
        loops.get("b")
    with pytest.raises(NotFound, match="was purged"):
        loops.keep(kept(clock, "b"))
    loops.add(kept(clock))
    with pytest.raises(Conflict):
        loops.add(kept(clock))
    with pytest.raises(ParamError, match="limit"):
        loops.list(-1)


def test_sessions_of_other_namespaces_are_not_seen(open_memory, url, clock):
    Loops(open_memory(url)).add(kept(clock))
    assert Loops(open_memory(url, namespace="other")).list(10) == []


def test_a_session_is_held_by_one_at_a_time(open_memory, url):
    one, other = Loops(open_memory(url)), Loops(open_memory(url))
    with one.held("a"):
        with pytest.raises(Busy, match="works on this session"), other.held("a"):
            pass
        with other.held("b"):
            pass
    with other.held("a"):
        pass


def test_a_memory_without_a_file_is_held_by_nobody_else(memory):
    with Loops(memory).held("a"), Loops(memory).held("a"):
        pass
