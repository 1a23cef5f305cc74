"""Short forms of what ``make stress`` runs for long."""

from pathlib import Path

import pytest

from .databases import sqlite
from .faults import FAULTS, Fault, repeated
from .kills import SCENES, Scene, kill_often, left_over
from .writers import write_at_once

pytestmark = pytest.mark.slow
SEED = 7


def test_of_many_writers_nothing_is_lost_or_doubled_and_nobody_is_refused(tmp_path: Path) -> None:
    writing = write_at_once(sqlite(tmp_path), processes=8, writes=12, seed=SEED)
    assert (writing.wrong, dict(writing.errors), writing.writes) == ([], {}, 96)
    assert min(writing.recalls, writing.nights) > 0


@pytest.mark.parametrize("scene", SCENES, ids=[scene.name for scene in SCENES])
def test_a_kill_at_any_moment_leaves_a_store_that_goes_on(tmp_path: Path, scene: Scene) -> None:
    tally = kill_often(sqlite(tmp_path), scene, times=4, seed=SEED)
    assert (tally.tried, tally.wrong, left_over(tmp_path)) == (4, [], [])


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_a_named_error_or_none_and_leaves_nothing_half_done(tmp_path: Path, fault: Fault) -> None:
    assert repeated(fault, tmp_path, times=2, seed=SEED).wrong == []
