"""A short life of the year's demo: lived once here, every check of it held and every check made to fail."""

from __future__ import annotations

import importlib.util
import io
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from priming import FixedClock, Memory

ROOT = Path(__file__).resolve().parents[2]
YEAR = ROOT / "demo" / "year"
DAYS, EPISODES = 42, 420
NAMES = ("life", "lives", "living", "checks", "telling", "world")


@pytest.fixture(scope="module")
def year():
    """The modules of the demo, which runs as a folder and is no package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(YEAR.parent))
        patch.syspath_prepend(str(YEAR))
        import checks
        import life
        import living
        import telling
        import world

        import lives

        specification = importlib.util.spec_from_file_location("year_main", YEAR / "__main__.py")
        main = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(main)
        yield SimpleNamespace(
            checks=checks, life=life, lives=lives, living=living, telling=telling, world=world, main=main
        )
    for name in NAMES:
        sys.modules.pop(name)


@pytest.fixture(scope="module")
def short(year, tmp_path_factory):
    """A life of six weeks: the memory, what its maker knows of it, and what it prints."""
    path = tmp_path_factory.mktemp("year") / "memory.db"
    clock, life = FixedClock(year.life.BEGIN), year.life.Life(DAYS, EPISODES)
    console = Console(width=100, highlight=False, file=io.StringIO())
    with Memory.open(f"sqlite:///{path}", clock=clock) as memory:
        lived, checks = year.main.lived_through(console, life, memory, clock, plain=True)
        printed = console.file.getvalue()
        yield SimpleNamespace(
            memory=memory, lived=lived, path=path, clock=clock, checks=checks, printed=printed
        )


def wrong_lives(year, lived):
    """For each check a life that was another: what must then not hold of the memory."""
    life, checks = year.life, year.checks
    mistakes = [mistake.name for mistake in year.world.MISTAKES]
    another = dict(zip(mistakes, [*mistakes[1:], mistakes[0]], strict=True))
    once = [key for key, item in lived.told.items() if item.role == life.ONE_OFF]
    swapped = dict(zip(once, [lived.told[key] for key in (*once[1:], once[0])], strict=True))
    untrue = {key: [*holder[:-1], (holder[-1][0], "It is otherwise.")] for key, holder in lived.truth.items()}
    answer = {
        "topics": {
            k: replace(item, topic=another.get(item.topic, item.topic)) for k, item in lived.told.items()
        },
        "said": {k: replace(item, content="Something else.") for k, item in lived.told.items()},
        "never": {
            k: replace(item, role=life.WORKED) if item.role == life.ONE_OFF else item
            for k, item in lived.told.items()
        },
    }
    cut = [replace(item, hits=item.hits[1:]) for item in lived.answers]
    return {
        checks.recurring_is_recalled: replace(lived, told=answer["topics"]),
        checks.true_is_recalled: replace(lived, truth=untrue),
        checks.once_is_recalled: replace(lived, told=lived.told | swapped),
        checks.once_is_lower: replace(lived, told=answer["never"]),
        checks.superseded_is_out: replace(lived, truth=untrue),
        checks.history_is_whole: replace(lived, truth=untrue),
        checks.nothing_is_lost: replace(lived, told=answer["said"]),
        checks.sources_are_reachable: replace(lived, told={}),
        checks.alike_stays_apart: replace(lived, left_alone={}),
        checks.paraphrases_become_one: replace(lived, told={}),
        checks.night_can_be_undone: replace(lived, nights=[]),
        checks.archived_comes_back: replace(lived, told=answer["said"]),
        checks.audit_recalls: replace(lived, answers=cut),
        checks.audit_versions: replace(lived, known=dict.fromkeys(lived.known, "It was otherwise.")),
        checks.audit_differences: replace(lived, answers=cut),
    }


@pytest.mark.slow
def test_of_a_short_life_everything_holds_that_must(year, short):
    assert [check.name for check in short.checks if not check.holds] == []
    assert len(short.checks) == len(year.checks.CHECKS)
    assert short.lived.told_as == {"stored": len(short.lived.told)}
    assert sum(item.kind == "episode" for item in short.lived.told.values()) == EPISODES
    changed = [holder for holder in short.lived.truth.values() if len(holder) > 1]
    assert changed
    assert {action for night in short.lived.nights for action in night.actions} >= {
        "mark", "make", "update", "consolidate", "archive", "merge",
    }  # fmt: skip


@pytest.mark.slow
def test_every_check_fails_where_it_must(year, short, tmp_path):
    wrong = wrong_lives(year, short.lived)
    assert {*wrong, year.checks.store_is_sound} == set(year.checks.CHECKS)
    holder = [
        check.__name__
        for check, lived in wrong.items()
        if check(short.memory, lived, year.checks.Expected()).holds
    ]
    assert holder == []

    broken = tmp_path / "broken.db"
    with closing(sqlite3.connect(short.path)) as file, file:
        file.execute("VACUUM INTO ?", (str(broken),))
    with closing(sqlite3.connect(broken)) as file, file:
        file.execute("UPDATE links SET weight = 7.0")
    with Memory.open(f"sqlite:///{broken}", clock=short.clock) as memory:
        result = year.checks.store_is_sound(memory, short.lived, year.checks.Expected())
    assert not result.holds


def test_what_does_not_hold_is_told_with_what_was_found_and_is_the_exit_status(year):
    good = year.lives.none("all is well", "nothing wrong", "3 things", [])
    bad = year.lives.none("all is well", "nothing wrong", "3 things", ["this", "that"])
    console = Console(width=100)
    with console.capture() as answer:
        assert year.lives.checked(console, [good]) == 0
        assert year.lives.checked(console, [good, bad]) == 1
    words = " ".join(answer.get().split())
    assert "FAILED all is well nothing wrong 3 things; not so: this | that 1 of 2 hold" in words
    assert year.lives.share("asked", 0.5, {"a": 1, "b": None}, "of two").holds
    assert not year.lives.share("asked", 0.6, {"a": 1, "b": None}, "of two").holds
    assert not year.lives.share("asked", 0.0, {}, "of none").holds


def test_two_lives_of_a_seed_are_the_same_and_hold_as_many_episodes_as_were_asked_for(year):
    item, other = (list(year.life.Life(50, 777, seed=3)) for _ in range(2))
    assert item == other != list(year.life.Life(50, 777, seed=4))
    answer = [event for day in item for event in day.events if isinstance(event, year.life.Told)]
    assert sum(event.kind == "episode" for event in answer) == 777
    times = [at for day in item for at, _ in day.timed()]
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--days", "3"], "'3': must be a whole number ≥ 30"),
        (["--episodes", "none"], "'none': must be a whole number ≥ 1"),
        (["--store", __file__], "is there already: name a new file, or remove it"),
    ],
)
def test_what_is_asked_for_wrongly_is_said(year, words, message, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["demo/year", *words])
    with pytest.raises(SystemExit) as end:
        year.main.main()
    assert end.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())
