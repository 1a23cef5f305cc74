"""A short life of the loop's demo, with the memory on and off: all holds that must, and every check can fail."""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIFE = ROOT / "demo" / "loop_life"
NAMES = ("lives", "measures", "objectives", "project", "pursuit")
KINDS = ("currency", "command", "fee", "sandbox", "page")


@pytest.fixture(scope="module")
def loop():
    """The modules of the demo, which runs as a folder and is no package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(LIFE.parent))
        patch.syspath_prepend(str(LIFE))
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in NAMES})
    for name in NAMES:
        sys.modules.pop(name)


@pytest.fixture(scope="module")
def lived(loop, tmp_path_factory):
    """Three kinds four times each, with the near misses and traps; without memory the three kinds only."""
    objectives = [objective for objective in loop.objectives.OBJECTIVES if objective.kind in KINDS]
    plain = [objective for objective in objectives if objective.kind in KINDS[:3]]
    return (
        loop.pursuit.live(objectives, tmp_path_factory.mktemp("on"), memory=True),
        loop.pursuit.live(plain, tmp_path_factory.mktemp("off"), memory=False),
    )


def result(loop, on, off):
    return {check.name: check.holds for check in loop.measures.checks(on, off, loop.measures.Expected())}


@pytest.mark.slow
def test_practice_saves_attempts_and_nobody_is_told_or_blamed_wrongly(loop, lived):
    holder = result(loop, *lived)
    assert [name for name, holds in holder.items() if not holds] == []
    on, off = lived
    # Two rules of each kind come out one at a time: three attempts, and one once they are known.
    assert [loop.measures.attempts(on, turn) for turn in range(4)] == [[3] * 3, [1] * 3, [1] * 3, [1] * 3]
    assert [loop.measures.attempts(off, turn) for turn in range(4)] == [[3] * 3] * 4


@pytest.mark.slow
def test_every_check_fails_where_it_should(loop, lived):
    on, off = lived
    forgetful, learned = result(loop, off, off), result(loop, on, on)
    for name in (
        "calls fall with practice",
        "attempts fall with practice",
        "lessons are told where they apply",
    ):
        assert not forgetful[name]
    assert not learned["without memory nothing is learnt"]
    assert not result(loop, replace(on, failed={"a-lesson": 1}), off)["no innocent memory is blamed"]
    assert not result(loop, replace(on, taught={}), off)["lessons are told where they apply"]
    lie = [replace(on.pursued[0], passed=False), *on.pursued[1:]]
    assert not result(loop, replace(on, pursued=lie), off)["totals are true"]
    trap = [replace(item, acts=2) if item.objective.kind == "sandbox" else item for item in on.pursued]
    assert not result(loop, replace(on, pursued=trap), off)["no trap is stepped into"]
