"""How much of each active rule an agent is told: the best whole, the general less, constraints before all others."""

from datetime import timedelta

import pytest

from priming import Cue
from priming.core.pack import estimate_tokens

NARROW = Cue(language="kotlin", task="test", environment="ci")


def rule(memory, key, text, kind="directive", **when):
    memory.remember(text, kind="behavior", key=key, when=when, metadata={"rule": kind})


def tiers(answer):
    return {hit.memory.key: hit.tier for hit in answer.hits}


@pytest.mark.parametrize("number", [1, 3, 7])
def test_a_few_rules_are_told_whole_however_weak_they_are(memory, number):
    texts = (
        "Use e.g. ktlint for the style. Keep lines short.",
        "1. run the migrations 2. check the page",
        "Keep secrets out. Never commit .env files",
    )
    for n in range(number):
        rule(memory, f"r{n}", f"{texts[n % 3]} ({n})")
    answer = memory.active(Cue(language="kotlin"))
    assert set(tiers(answer).values()) == {"full"}
    for n in range(number):
        assert f'directive: "{texts[n % 3]} ({n})"' in answer.text


@pytest.mark.parametrize(("narrow", "wide"), [(8, 12), (5, 9), (3, 30), (1, 8)])
def test_in_a_crowd_the_specific_rules_come_first_and_whole_and_the_general_sink(memory, narrow, wide):
    for n in range(wide):
        rule(memory, f"wide{n}", f"Mind the general habit of number {n}.", language="kotlin")
    for n in range(narrow):
        rule(memory, f"narrow{n}", f"Mind case {n}.", language="kotlin", task="test", environment="ci")
    answer = memory.active(NARROW)
    assert len(answer.hits) == narrow + wide
    assert {hit.memory.key.rstrip("0123456789") for hit in answer.hits[:narrow]} == {"narrow"}
    assert {hit.tier for hit in answer.hits[:narrow]} == {"full"}
    assert {hit.tier for hit in answer.hits[narrow:]} == {"gist"}


def test_in_a_crowd_the_specific_come_first_however_often_the_general_were_confirmed_elsewhere(memory, clock):
    for n in range(9):
        rule(memory, f"wide{n}", f"Mind the general habit of number {n}.", language="kotlin")
    for n in range(4):
        clock.at += timedelta(hours=5)
        elsewhere = memory.active(Cue(language="kotlin"), session=f"s{n}")
        memory.feedback(elsewhere.recall_id, confirmed=[hit.memory.key for hit in elsewhere.hits])
    for n in range(4):
        rule(memory, f"narrow{n}", f"Mind case {n}.", language="kotlin", task="test", environment="ci")
    hits = memory.active(NARROW).hits
    assert [hit.memory.key.rstrip("0123456789") for hit in hits] == 4 * ["narrow"] + 9 * ["wide"]
    assert hits[4].score > hits[0].score
    assert [hit.tier for hit in hits] == 4 * ["full"] + 9 * ["gist"]


def test_a_crowd_of_equals_is_told_whole(memory):
    for n in range(30):
        rule(memory, f"r{n:02}", f"Mind habit {n}.", language="kotlin")
    assert set(tiers(memory.active(NARROW)).values()) == {"full"}


@pytest.mark.parametrize("when", [{}, {"language": "kotlin"}, {"language": "kotlin", "project": "kestrel"}])
def test_a_constraint_that_applies_is_not_inhibited(memory, when):
    rule(memory, "hard", "Never block the main thread.", "constraint", **when)
    alone = memory.active(NARROW).hits[0].components["activation"]
    for n in range(12):
        rule(
            memory,
            f"soft{n}",
            f"Prefer way {n}.",
            "preference",
            language="kotlin",
            task="test",
            environment="ci",
        )
    answer = memory.active(NARROW)
    (hit,) = (hit for hit in answer.hits if hit.memory.key == "hard")
    assert hit.components["activation"] == alone
    assert hit.tier == "full"


def test_a_lone_preference_of_many_conditions_never_drives_a_constraint_out(memory):
    rule(
        memory,
        "hard",
        "Never block the main thread.",
        "constraint",
        host="a",
        user="b",
        shell="c",
        team="d",
        os="e",
    )
    for n in range(9):
        rule(memory, f"soft{n}", f"Prefer way {n}.", "preference", language="kotlin", task="test")
    answer = memory.active(Cue(language="kotlin", task="test", host="a"))
    assert tiers(answer)["hard"] == "full"
    assert "hard" not in {item.key for item in answer.omitted}


@pytest.mark.parametrize("kind", ["directive", "preference", "procedure"])
def test_no_lesser_kind_is_told_while_a_constraint_could_be_told_better(memory, kind):
    rest = " It came up again and again in reviews, and each time it took somebody a day to find out why." * 2
    for n in range(4):
        rule(memory, f"hard{n}", f"Never leave call {n} unchecked.{rest}", "constraint")
    for n in range(9):
        rule(
            memory, f"soft{n}", f"Like way {n}.{rest}", kind, language="kotlin", task="test", environment="ci"
        )
    for tokens in (40, 80, 120, 200, 300, 450):
        check_that_constraints_come_first(memory.active(NARROW, tokens=tokens), tokens)


def check_that_constraints_come_first(answer, tokens):
    hard = {key: tier for key, tier in tiers(answer).items() if key.startswith("hard")}
    soft = {tier for key, tier in tiers(answer).items() if key.startswith("soft")}
    assert estimate_tokens(answer.text) <= tokens
    if None in hard.values():
        assert soft == {None}
        assert answer.notice in answer.text.splitlines()[:1] or answer.text == ""
        assert all(key in {item.key for item in answer.omitted} for key, tier in hard.items() if not tier)
    else:
        assert answer.notice is None
        assert set(hard.values()) <= {"full", "gist"}
    for key, tier in hard.items():
        if tier:
            assert f'[{key}] constraint: "Never leave call {key[4:]} unchecked.' in answer.text


def test_the_reply_says_first_which_constraints_do_not_fit_and_what_would_hold_them(memory):
    for n in range(5):
        rule(
            memory,
            f"hard{n}",
            f"Never deploy service {n} by hand on the evening before a holiday.",
            "constraint",
        )
    rule(memory, "soft", "Tag it.")
    answer = memory.active(Cue(), tokens=70)
    first, *lines = answer.text.splitlines()
    assert first == answer.notice
    assert "constraints that apply are left out for lack of space; " in first
    assert [item.reason for item in answer.omitted][:1] == ["budget: a constraint that applies"]
    assert all("constraint:" in line for line in lines[1:])
    enough = int(first.split(" tokens hold")[0].split()[-1])
    assert memory.active(Cue(), tokens=enough).notice is None
    assert memory.active(Cue(), tokens=enough - 1).notice
    nothing = memory.active(Cue(), tokens=3)
    assert (nothing.text, bool(nothing.notice)) == ("5 left out", True)


def test_what_is_no_rule_neither_wins_nor_inhibits(memory):
    for n in range(7):
        rule(memory, f"r{n}", f"Mind habit {n}.", language="kotlin")
        memory.remember(f"It was wrong {n}.", kind="correction", key=f"c{n}")
        memory.link(f"r{n}", f"c{n}", "learned-from", 1.0)
    rule(memory, "weak", "Log it.")
    (hit,) = (hit for hit in memory.active(Cue(language="kotlin")).hits if hit.memory.key == "weak")
    # Seven at .4 win: .3 − .15 · (.4 − .3), which the squash maps to 1 / (1 + e^(−10 (x − .3))).
    assert hit.components["activation"] == pytest.approx(1 / (1 + 2.718281828459045**0.15))


def test_what_spreading_reached_is_not_inhibited(memory):
    rule(memory, "r0", "Close every stream.", language="kotlin")
    for n in range(1, 9):
        rule(memory, f"r{n}", f"Mind habit {n}.", language="kotlin")
    rule(memory, "beyond", "Tell the channel.", task="release")
    memory.link("r0", "beyond", "co-activated", 0.5)
    hit = memory.active(Cue(language="kotlin")).hits[-1]
    assert (hit.memory.key, hit.tier) == ("beyond", "gist")
    assert hit.components["activation"] == pytest.approx(
        1 / (1 + 2.718281828459045 ** (-10 * (0.4 * 0.8 * 0.5 * 0.5 - 0.3)))
    )
