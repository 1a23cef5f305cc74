"""What people read of practice."""

from datetime import UTC, datetime

import pytest

from priming.cli import render, render_practising
from priming.cli.screen import draw
from priming.types import Fading, MemoryRecord, Retention, Use

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
ONE = Fading("kestrel", "fact", "Kestrel signs.", 0.9, 0.712, 0.655, 0.0513, AT, "importance 0.9")


def test_what_fades_is_shown_with_what_is_left_and_why_it_matters(capsys):
    draw(render_practising.fading([ONE]))
    assert capsys.readouterr().out.splitlines() == [
        "kestrel  0.71 now, 0.66 in a week",
        "  Kestrel signs.",
        "  importance 0.9",
    ]


@pytest.mark.parametrize(
    ("kind", "use", "said"),
    [
        ("procedure", Use(uses=4, helped=3, failed=1, last_used_at=AT), "0.75: 3 of 4 executions"),
        ("procedure", Use(uses=1, helped=1, last_used_at=AT), "1.00: 1 of 1 execution"),
    ],
)
def test_a_procedure_is_shown_with_its_success_rate(capsys, kind, use, said):
    draw(render.memory(MemoryRecord("1", "default", "a", kind, "A.", "A.", use=use)))
    (rate,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("success rate")]
    assert rate.endswith(said)


def test_only_what_was_reviewed_is_shown_with_its_retention(capsys):
    record = MemoryRecord(
        "1", "default", "a", "fact", "A.", "A.", retention=Retention(2.3065, 2.118, 0.8, AT)
    )
    draw(render.memory(record))
    assert "stability 2.3 days, difficulty 2.1, endurance 0.80 days" in capsys.readouterr().out
    draw(render.memory(MemoryRecord("1", "default", "a", "fact", "A.", "A.")))
    shown = capsys.readouterr().out
    assert "retention" not in shown
    assert "success rate" not in shown
