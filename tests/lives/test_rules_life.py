"""A life of the rules' demo: sixty days with learning and without, and every check of it made to fail."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from priming import FixedClock

ROOT = Path(__file__).resolve().parents[2]
LIFE = ROOT / "demo" / "rules_life"
NAMES = ("desk", "drawn", "lives", "measures", "sitting", "truth", "wishes", "work")

SEED = 3
"""One of the five lives of `make rules-life`, of some 1,300 tellings: what is stale is held as a share of them."""


@pytest.fixture(scope="module")
def rules():
    """The modules of the demo, which runs as a folder and is no package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(LIFE.parent))
        patch.syspath_prepend(str(LIFE))
        modules = {name: importlib.import_module(name) for name in NAMES}
        specification = importlib.util.spec_from_file_location("rules_main", LIFE / "__main__.py")
        main = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(main)
        yield SimpleNamespace(**modules, main=main)
    for name in NAMES:
        sys.modules.pop(name)


def lived(rules, folder, days, *, learning, seed=SEED):
    with rules.desk.desk(folder, FixedClock(rules.drawn.BEGIN), learning=learning) as place:
        return rules.sitting.live(rules.drawn.Life(days, seed), place)


@pytest.fixture(scope="module")
def figures(rules, tmp_path_factory):
    """What sixty days of three users came to, with learning and without."""
    folder = tmp_path_factory.mktemp("rules")
    return {
        learning: rules.measures.figures(
            [
                lived(rules, folder / f"{seed}-{learning}", 60, learning=learning, seed=seed)
                for seed in range(SEED, SEED + 3)
            ]
        )
        for learning in (True, False)
    }


@pytest.mark.slow
def test_of_sixty_days_everything_holds_that_must(rules, figures):
    checks = rules.measures.checks(figures[True], figures[False], rules.measures.Expected())
    assert {check.name: check.found for check in checks if not check.holds} == {}


@pytest.mark.slow
def test_the_user_is_the_same_with_learning_and_without(figures):
    assert 90 <= figures[True].corrections <= 135
    assert abs(figures[True].corrections - figures[False].corrections) <= 3
    assert figures[False].links == 0
    assert figures[False].spread == 0


def test_every_check_fails_where_it_must(rules):
    measures = rules.measures
    good = measures.Figures(
        wishes=0.97, last=1.0, stale=0.01, beside=0.05, spread=10, spread_right=8, dropped=0, constraints=50,
        reached=1.0, tokens=300, links=5, hook=1.0, slowest=9.0, process=200.0, corrections=40,
        tellings=1000, named=3, verdicts=measures.Counter(),
    )  # fmt: skip
    poor = replace(good, wishes=0.9, stale=0.05, spread=0, spread_right=0, links=0, dropped=2, tokens=310)
    assert all(check.holds for check in measures.checks(good, poor, measures.Expected()))
    worse = {
        "active rules are wishes": {"wishes": 0.94},
        "stale rules told": {"stale": 0.03},
        "what spreading brings is right": {"spread_right": 6},
        "constraints dropped": {"dropped": 1},
        "wishes told where they apply": {"reached": 0.94},
        "learning wins on wishes": {"wishes": 0.9},
        "learning wins on stale rules": {"stale": 0.05},
        "learning wins on what spreading brings": {"spread": 0, "spread_right": 0},
        "learning loses no constraint": {"dropped": 3},
        "learning loses no wish": {"reached": 0.96},
        "learning loses no link": {"links": -1},
        "learning tells no more tokens": {"tokens": 311},
    }
    checks = measures.checks(good, poor, measures.Expected())
    assert [check.name for check in checks] == [*worse]
    for name, change in worse.items():
        again = measures.checks(replace(good, **change), poor, measures.Expected())
        assert name in [check.name for check in again if not check.holds]


def test_a_life_is_drawn_with_some_forty_corrections_of_every_sort_and_is_the_same_for_its_seed(rules):
    for seed in range(5):
        life, again = (rules.drawn.Life(60, seed) for _ in range(2))
        assert life.due == again.due
        assert [session.activity for session in life.sessions()] == [
            session.activity for session in again.sessions()
        ]
        assert len(list(life.sessions())) == 60 * rules.drawn.SESSIONS
        assert 30 <= len(life.due) <= 45
        assert sum(due.is_change for due in life.due) >= 8
        assert any(due.wish.forbids for due in life.due)
        assert {due.state.era for due in life.due} == {0, 1, 2}
        dropped = [wish for wish in life.wishes if any(not state.sayings for state in wish.states)]
        assert len(dropped) == 3


def test_no_two_wishes_say_the_same_and_each_is_met_somewhere(rules):
    texts = [text for wish in rules.wishes.WISHES for state in wish.states for text in set(state.texts)]
    meanings = {
        (wish.name, text) for wish in rules.wishes.WISHES for state in wish.states for text in state.texts
    }
    assert len({text for _, text in meanings}) == len(meanings)
    assert len(texts) >= 80
    activities = rules.work.ACTIVITIES
    for wish in rules.wishes.WISHES:
        for state in wish.states:
            assert any(step.meets(state.scope) for each in activities for step in each.steps), wish.name


def test_the_truth_follows_the_eras_and_the_scope(rules):
    life = rules.drawn.Life(60, 1)
    life.wishes = rules.wishes.WISHES
    truth = rules.truth.Truth(life)
    go = {"language": "go"}
    assert truth.standing("Log with slog, not with the log package", go, 5) is not None
    assert truth.standing("Log with slog, not with the log package", go, 25) is None
    assert truth.standing("log with zap, not with slog.", {**go, "task": "test"}, 25) is not None
    assert truth.standing("Log with zap, not with slog", {}, 25) is None
    assert truth.standing("Prefer pointer receivers on structs", go, 39) is not None
    assert truth.standing("Prefer pointer receivers on structs", go, 40) is None
    assert truth.standing("Something that nobody wishes", {}, 0) is None


def test_a_wish_that_returns_applies_when_it_has_been_put_into_words_again(rules):
    life = rules.drawn.Life(60, 1)
    life.wishes = tuple(wish for wish in rules.wishes.WISHES if wish.name == "http-client")
    (wish,) = life.wishes
    truth = rules.truth.Truth(life)
    step = rules.work.Step(file="services/api/orders.py")
    assert step.meets(wish.states[0].scope)
    for number, day in enumerate((5, 25, 45)):
        state = wish.states[number]
        assert [*truth.applying(step, day)] == []
        truth.made.append(rules.drawn.Due(day, wish, state, state.sayings[0], 0))
        assert [*truth.applying(step, day)] == [(wish, state)]


@pytest.mark.slow
def test_a_few_days_are_lived_with_hooks_that_tell_what_was_learned(rules, tmp_path):
    days = lived(rules, tmp_path / "few", 3, learning=True)
    assert len(days.tokens) == 3 * rules.drawn.SESSIONS
    assert len(days.evenings) == 3
    assert days.learned
    texts = {content for _, _, content in days.learned}
    assert {telling.content for telling in days.tellings} <= texts
    assert {*days.seconds} >= {"session-start", "prompt", "pre-tool", "stop"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--days", "3"], "'3': must be a whole number ≥ 30"),
        (["--lives", "none"], "'none': must be a whole number ≥ 1"),
    ],
)
def test_a_wrong_argument_is_refused(rules, words, message, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["demo/rules_life", *words])
    with pytest.raises(SystemExit) as end:
        rules.main.main()
    assert end.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())
