"""Records of the library as people read them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from priming.cli import records
from priming.cli.output import timestamp
from priming.results import Step
from priming.types import Change, Link, MemoryRecord, Operation, Retention, Use

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
A = MemoryRecord("1", "default", "deploy-failed", "episode", "The deploy failed.", "The deploy failed.")
STEP = Step("deploy-failed", "next", "cleaned-cache", 0.31)


def test_a_path_of_several_steps_names_each():
    second = Step("cleaned-cache", "mentions", "entity:cache", 0.125)
    assert (
        records.path((STEP, second))
        == "deploy-failed ─next→ cleaned-cache (0.31) ─mentions→ entity:cache (0.12)"
    )


def test_a_memory_is_shown_with_what_is_known_of_it(shown):
    record = replace(A, tags=("a", "b"), when={"language": "python"}, use=Use(3, AT), content="One.\n\nTwo.")
    lines = shown(records.memory(record))
    assert lines[:4] == ["deploy-failed", "  One.", "  ", "  Two."]
    assert "tags        a, b" in lines
    assert "applies     where language = python" in lines
    assert lines[-1].startswith("uses        3, last 2026-03-01 ")
    assert not [line for line in lines if line.startswith(("metadata", "outcome"))]


RULE = replace(
    A,
    kind="behavior",
    confidence=0.65,
    priority=2.0,
    when={"language": ("go", "rust"), "task": "release"},
    use=Use(4, AT, helped=1, confirmed=2, followed=3, overridden=1, shown=7),
)


def test_a_rule_s_page_says_what_it_is_worth_and_where_it_applies(shown):
    rows = dict(line.split(maxsplit=1) for line in shown(records.memory(RULE))[2:])
    expected = {
        "confidence": "0.65",
        "priority": "2",
        "applies": "where language = go or rust, task = release",
        "shown": "in 7 recalls",
        "verdicts": "used 1, confirmed 2, confirmed by silence 2, overridden 1",
    }
    assert {name: rows.get(name) for name in expected} == expected


def test_a_list_says_in_short_what_memories_are_worth():
    assert records.worth(RULE) == (
        "confidence 0.65, priority 2, shown 7, used 1, confirmed 2, confirmed by silence 2, overridden 1"
    )
    assert records.scope(RULE) == "where language = go or rust, task = release"
    assert (records.worth(A), records.scope(A)) == ("", "")
    assert records.scope(replace(RULE, when={})) == "everywhere"


def test_links_are_shown_one_a_line(shown):
    link = Link("a", "b", "next", 0.5, AT, given=True)
    assert shown(records.links([link])) == ["a ─next→ b (0.50)  by hand"]
    assert shown(records.links([])) == ["no links"]


def test_an_operation_names_what_it_touched_even_if_that_is_gone(shown):
    new = [{"id": str(n), "key": f"m{n}"} for n in range(4)]
    changes = [Change("memories", item["id"], item, None) for item in new]
    changes += [Change("versions", "0", {"id": "0"}, None), Change("links", "m0 next m1", {}, None)]
    operation = Operation("o", "undo", AT, changes=tuple(changes), message="undid a remember", undone_by="p")
    assert shown(records.operation(operation)) == [
        f"o  undo  {timestamp(AT)}",
        "    undid a remember",
        "    m0, m1, 2 more, 1 link",
        "    undone by p",
    ]


def test_uses_without_a_time_of_the_last_are_shown_without_one(shown):
    lines = shown(records.memory(MemoryRecord("1", "default", "a", "fact", "A.", "A.", use=Use(uses=40))))
    assert [line.split() for line in lines if line.startswith("uses")] == [["uses", "40"]]


@pytest.mark.parametrize(
    ("kind", "use", "message"),
    [
        ("procedure", Use(uses=4, helped=3, failed=1, last_used_at=AT), "0.75: useful 3 of 4 times"),
        ("procedure", Use(uses=1, helped=1, last_used_at=AT), "1.00: useful 1 of 1 time"),
    ],
)
def test_a_procedure_is_shown_with_its_success_rate(shown, kind, use, message):
    lines = shown(records.memory(MemoryRecord("1", "default", "a", kind, "A.", "A.", use=use)))
    (rate,) = [line for line in lines if line.startswith("success rate")]
    assert rate.endswith(message)


def test_only_what_was_reviewed_is_shown_with_its_retention(shown):
    retention = Retention(2.3065, 2.118, 0.8, AT)
    lines = shown(records.memory(replace(A, retention=retention)))
    assert "stability 2.3 days, difficulty 2.1, endurance 0.80 days" in lines[-1]
    plain = "".join(shown(records.memory(A)))
    assert "retention" not in plain
    assert "success rate" not in plain
