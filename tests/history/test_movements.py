"""What moved, in words: links at their bounds, verdicts that cancel out, and many links in one line."""

import re

import pytest

from priming.history.movements import WeightMove, links_text, set_text, weights_text


@pytest.fixture
def pair(memory):
    memory.remember("Kestrel signs the nightly builds.", key="signer")
    memory.remember("Gulls nest upon tall cliffs.", key="gulls")
    memory.link("signer", "gulls")
    return memory


def judge(memory, **verdicts):
    recall = memory.recall("who signs the nightly builds", floor=0)
    return memory.feedback(recall.recall_id, **verdicts).message


@pytest.mark.parametrize(
    ("weight", "verdict", "expected"),
    [
        (0.93, "used", "1 link strengthened: 0.93 → 0.94"),
        (0.945, "used", "1 link strengthened: 0.94 → 0.95, at its ceiling"),
        (0.95, "used", "1 link did not move: at its ceiling, 0.95"),
        (0.05, "not_relevant", "1 link did not move: at its floor, 0.05"),
        (0.055, "not_relevant", "1 link weakened: 0.06 → 0.05, at its floor"),
    ],
)
def test_a_verdict_says_from_what_to_what_a_link_moved_and_what_held_it(pair, weight, verdict, expected):
    pair.set_strength("signer", "gulls", weight)
    assert expected in judge(pair, **{verdict: ["gulls"]})


def test_verdicts_that_cancel_out_move_nothing_and_say_so(pair):
    pair.remember("Porridge tastes best with honey.", key="porridge")
    pair.link("gulls", "porridge")
    recall = pair.recall("who signs the nightly builds", floor=0)
    message = pair.feedback(recall.recall_id, used=["gulls"], not_relevant=["porridge"]).message
    lines = message.splitlines()
    assert [line.split(":")[0] for line in lines] == ["used gulls", "not-relevant porridge"]
    assert re.search(r"1 link strengthened: (0\.50+) → (?!\1;)0\.50", lines[0])
    assert "0.50 → 0.49" in lines[1]


def test_a_memory_s_weight_at_its_ceiling_did_not_move(pair):
    for _ in range(50):
        message = judge(pair, used=["gulls"])
    assert pair.get("gulls").weight == pytest.approx(0.95)
    assert "weight 0.95 did not move: at its ceiling" in message


def test_counts_of_rules_say_from_what_to_what(memory):
    rule = memory.learn("Always run the linter before a commit.").key
    assert memory.feedback(confirmed=[rule]).message == f"confirmed {rule}: confirmed 0 → 1 times"
    assert memory.feedback(overridden=[rule]).message == f"overridden {rule}: overridden 0 → 1 times"


def test_links_between_memories_that_were_active_together_have_lines_of_their_own(pair, clock):
    from datetime import timedelta

    for _ in range(3):
        message = judge(pair, used=["gulls"])
        clock.at += timedelta(hours=1)
    new = next(link for link in pair.links("gulls") if link.relation == "co-activated")
    ends = {f"{a} – {b}" for a, b in (("signer", "gulls"), ("gulls", "signer"))}
    assert any(f"useful together: {pair} new link, {new.weight:.2f}" in message for pair in ends)


def test_a_run_says_how_far_its_links_moved(pair):
    run = pair.run_start("s")
    pair.recall("who signs the nightly builds", floor=0, session="s")
    operation = pair.run_end(run.id, used=True).operation
    assert pair.operation(operation).message == "1 link strengthened: 0.50000 → 0.50001"


def test_many_links_take_one_line():
    moves = [WeightMove(0.5, 0.5 + n / 100) for n in range(1, 40)]
    text = links_text(moves)
    assert text == "39 links strengthened: 0.50 → 0.89, 0.50 → 0.88 and 37 more"


def test_the_smallest_steps_show():
    assert weights_text(0.3, 0.30001) == "0.30000 → 0.30001"
    assert weights_text(0.123456, 0.123456) == "0.12 as before"


def test_a_weight_that_is_set_already_did_not_move():
    assert set_text([WeightMove(0.7, 0.7, 0.05, 0.95)], 0.7) == "1 link did not move: it is 0.7 already"
