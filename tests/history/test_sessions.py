"""Sessions that verdicts name."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from tests.rows import each_row
from tests.storage.making import loop_session

from priming import NotFound
from priming.config.caller import Caller, calling
from priming.storage.questions import nearest_first

CUE = "which port does the gateway listen on"


@pytest.fixture
def gateway(memory):
    """Two linked memories that a recall of the session friday returned."""
    memory.remember("The gateway listens on port 8443.", key="port")
    memory.remember("Ferrets sleep most of the day.", key="ferrets")
    memory.link("port", "ferrets")
    memory.recall(CUE, session="friday", floor=0)
    return memory


def weights(memory):
    return [link.weight for link in memory.links()]


@pytest.mark.parametrize(
    ("verdict", "name"),
    [
        ("used", "fryday"),
        ("not_relevant", "FRIDAY"),
        ("not_useful", "x"),
        ("confirmed", "fryday"),
        ("overridden", "x"),
    ],
)
def test_a_verdict_in_a_session_that_does_not_exist_changes_nothing_and_lists_those_that_do(
    gateway, verdict, name
):
    before, head = weights(gateway), gateway.log()[0].id
    with pytest.raises(NotFound, match=f"no session '{name}' in 'default': there are 'friday'"):
        gateway.feedback(**{verdict: ["ferrets"]}, session=name)
    assert weights(gateway) == before
    assert gateway.log()[0].id == head


def test_the_nearest_names_are_listed_first_and_never_more_than_five(gateway, clock):
    for number in range(40):
        clock.at += timedelta(minutes=1)
        gateway.recall(CUE, session=f"batch-{number}")
    with pytest.raises(NotFound) as refused:
        gateway.feedback(used=["port"], session="fridays")
    assert re.findall(r"'(.*?)'", str(refused.value))[2:] == [
        "friday",
        *(f"batch-{n}" for n in (39, 38, 37, 36)),
    ]
    assert "and 36 more" in str(refused.value)


def test_without_any_session_the_error_says_so(memory):
    memory.remember("The gateway listens on port 8443.", key="port")
    with pytest.raises(NotFound, match="no session 'x' in 'default', nor any other"):
        memory.feedback(used=["port"], session="x")


def test_sessions_of_another_namespace_do_not_count(tmp_path, open_memory):
    ours, other = (open_memory(f"sqlite:///{tmp_path}/both.db", namespace=name) for name in ("ours", "other"))
    ours.remember("Otters hold hands.", session="friday")
    other.remember("The gateway listens on port 8443.", key="port")
    with pytest.raises(NotFound, match="nor any other"):
        other.feedback(used=["port"], session="friday")


def test_memories_runs_the_loop_and_operations_have_sessions_too(gateway):
    gateway.remember("Otters hold hands.", session="chat")
    gateway.run_start("work")
    loop = loop_session(gateway.store, gateway.namespace, "Mend the gate")
    with calling(Caller("agent", "hook prompt", "hooked")):
        gateway.remember("Badgers dig at night.")
    for session in ("chat", "work", loop, "hooked"):
        assert gateway.feedback(confirmed=["port"], session=session).kind == "feedback"


def test_an_agent_may_judge_in_the_session_in_which_it_calls(gateway):
    with calling(Caller("agent", "hook prompt", "new")):
        assert gateway.feedback(confirmed=["port"], session="new").kind == "feedback"


def test_a_memory_that_no_recall_of_the_session_returned_is_not_judged_in_it(gateway):
    gateway.remember("Otters hold hands.", key="otters")
    gateway.recall("otters", session="saturday", limit=1)
    before = weights(gateway)
    with pytest.raises(
        NotFound, match="no recall of session 'saturday' returned ferrets: those of 'friday' did"
    ):
        gateway.feedback(not_relevant=["ferrets"], session="saturday")
    assert weights(gateway) == before


@each_row(
    ("name", "names", "first"),
    [
        ("deploy", ["review", "deploy-7", "Deploy"], ["Deploy", "deploy-7", "review"]),
        ("x", ["b", "a"], ["b", "a"]),
        ("nightly", ["the-nightly-build", "nihgtly"], ["nihgtly", "the-nightly-build"]),
        ("A", ["a", "A"], ["a", "A"]),
    ],
)
def test_names_that_resemble_come_first(name, names, first):
    assert nearest_first(name, names) == first


def test_an_unknown_run_is_refused_with_the_latest(memory):
    runs = [memory.run_start(f"s{n}").id for n in range(7)]
    with pytest.raises(NotFound) as refused:
        memory.run_used("nosuch")
    assert [run for run in runs if run in str(refused.value)] == runs[2:]
