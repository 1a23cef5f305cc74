"""Who calls, by what: the user's programs, and what a surface says."""

import threading

from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.config.caller import Caller, calling, present_caller


def test_a_program_is_the_users_library_unless_the_environment_names_somebody(monkeypatch):
    monkeypatch.delenv("PRIMING_ACTOR", raising=False)
    assert present_caller() == Caller("user", "library")
    monkeypatch.setenv("PRIMING_ACTOR", "  nightly\nimport ")
    assert present_caller() == Caller("nightly import", "library")


def test_a_caller_holds_for_its_block_and_its_thread_alone():
    seen = []
    with calling(Caller("claude-code", "hook stop", "s")):
        thread = threading.Thread(target=lambda: seen.append(present_caller().via))
        thread.start()
        thread.join()
        with calling(Caller("a", "b")):
            seen.append(present_caller().via)
        seen.append(present_caller().via)
    assert seen == ["library", "b", "hook stop"]
    assert present_caller().via == "library"


@given(st.text(max_size=40), st.text(max_size=40), st.none() | st.text(max_size=40))
def test_headers_bring_a_caller_to_the_server_in_one_line_each(actor, via, session):
    headers = Caller(actor, via, session).headers()
    assert all(value.isascii() and value.isprintable() for value in headers.values())
    arrived = Caller("user", "http").after(headers)
    for name, value in (("actor", actor), ("via", via)):
        if "\\" not in value:
            expected = " ".join(value.split()) or {"actor": "user", "via": "http"}[name]
            assert getattr(arrived, name) == expected


@each_row("header", ["\\ud800", "\\x", "\xff", "\\N{x}", "a" * 10_000])
def test_headers_that_make_no_sense_do_no_harm(header):
    caller = Caller("user", "http").after({"Priming-Actor": header})
    assert len(caller.actor) <= 120
    caller.actor.encode("utf-8")
