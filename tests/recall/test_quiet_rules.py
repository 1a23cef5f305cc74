"""Rules that are mostly overridden go quiet, are listed with what was done instead, and come back when confirmed."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.rows import each_row

from priming import Cue
from priming.core.metacognition import is_quiet
from priming.errors import ParamError
from priming.recall.relevance import quiet_rules

RULE = "Write every commit message in the imperative, however small the change may be."
CUE = Cue(task="commit")


@pytest.fixture
def key(memory):
    return memory.learn(RULE, cue=CUE).key


def judge(memory, clock, key, *verdicts, **more):
    for verdict in verdicts:
        clock.at += timedelta(hours=5)
        answer = memory.active(CUE, session=f"s{clock.at.timestamp():.0f}")
        memory.feedback(answer.recall_id, **{verdict: [key]}, **more)


def hit(memory, key):
    return next(each for each in memory.active(CUE).hits if each.memory.key == key)


def quiet(memory):
    return [each.key for each in memory.review() if each.kind == "quiet-rule"]


@each_row(
    ("letters", "silenced"),
    [
        ("", False),
        ("ooo", False),
        ("oooo", True),
        ("coooo", True),
        ("oocoo", True),
        ("ocoo", False),
        ("ooccoo", False),
        ("ooooc", False),
        ("ooooco", True),
        ("oooocc" + "o", False),
        ("o" * 10, True),
        ("sssss" + "oooo", True),
        ("ososos" + "o", True),
        ("osssosssossso", False),
        ("oooo" + "s" * 50, True),
    ],
)
def test_four_of_the_last_five_judgements_silence_a_rule(letters, silenced):
    words = {"o": "overridden", "c": "confirmed", "s": "silent"}
    assert is_quiet(words[letter] for letter in letters) is silenced


def test_a_judgement_that_is_none_is_refused():
    with pytest.raises(ParamError, match="judgement = 'used'"):
        is_quiet(["used"])


def test_a_rule_that_was_mostly_overridden_is_told_by_name_and_listed(memory, clock, key):
    judge(memory, clock, key, "overridden", "confirmed", "overridden", "overridden")
    assert (hit(memory, key).tier, quiet(memory)) == ("full", [])
    judge(memory, clock, key, "overridden", reason="wrote 'fixes typo', as all do")
    shown = hit(memory, key)
    assert (shown.tier, shown.quiet) == ("name", True)
    answer = memory.active(CUE)
    assert f"- [{key}] directive" in answer.text.splitlines()
    assert "imperative" not in answer.text
    (entry,) = memory.review()
    assert (entry.kind, entry.key, entry.newer) == ("quiet-rule", key, None)
    assert entry.older.content == RULE
    assert entry.instead == ("wrote 'fixes typo', as all do",)
    assert entry.reason.startswith("quiet: overridden 4 times")


@pytest.mark.parametrize("verdict", ["confirmed", "used"])
def test_the_first_confirmation_brings_it_back(memory, clock, key, verdict):
    judge(memory, clock, key, *["overridden"] * 10)
    assert quiet(memory) == [key]
    judge(memory, clock, key, verdict)
    assert (hit(memory, key).tier, hit(memory, key).quiet, quiet(memory)) == ("full", False, [])


def test_silence_does_not_bring_it_back(memory, clock, key):
    judge(memory, clock, key, *["overridden"] * 4)
    judge(memory, clock, key, *["confirmed"] * 6, tier="automatic")
    assert quiet(memory) == [key]


def test_teaching_it_again_or_changing_it_brings_it_back(memory, clock, key):
    judge(memory, clock, key, *["overridden"] * 5)
    clock.at += timedelta(days=1)
    memory.learn(RULE, cue=CUE)
    assert quiet(memory) == []
    judge(memory, clock, key, *["overridden"] * 5)
    assert quiet(memory) == [key]
    clock.at += timedelta(days=1)
    memory.supersede(key, "Write commit messages as you like.")
    assert (quiet(memory), hit(memory, key).tier) == ([], "full")


def test_an_undone_verdict_does_not_count_and_an_earlier_time_knows_nothing_of_later_ones(memory, clock, key):
    judge(memory, clock, key, *["overridden"] * 3)
    clock.at += timedelta(hours=1)
    operation = memory.feedback(memory.active(CUE).recall_id, overridden=[key])
    assert quiet(memory) == [key]
    memory.undo(operation.id)
    assert quiet(memory) == []


def test_a_quiet_constraint_is_told_by_name_before_anything_else(memory, clock):
    key = memory.learn("Never commit on a Friday, whatever the reason may be.", cue=CUE).key
    judge(memory, clock, key, *["overridden"] * 4)
    for n in range(5):
        memory.remember(f"Mind habit {n} of ours.", kind="behavior", when={"task": "commit"})
    assert hit(memory, key).tier == "name"
    narrow = memory.active(CUE, tokens=40)
    assert next(each.tier for each in narrow.hits if each.memory.key == key) == "name"


@pytest.mark.parametrize(
    ("confirmed", "overridden", "silenced"), [(0, 10, True), (3, 10, True), (12, 10, False), (0, 3, False)]
)
def test_the_counts_of_an_imported_rule_count_as_well(memory, confirmed, overridden, silenced):
    memory.remember("Log it.", kind="behavior", key="log")
    rule = memory.get("log")
    use = replace(rule.use, confirmed=confirmed, overridden=overridden)
    assert bool(quiet_rules(memory, [replace(rule, use=use)])) is silenced
