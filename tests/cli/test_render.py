"""What people read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from priming.cli import render
from priming.cli.screen import Line, Table, clean, draw, line
from priming.transfer.importers import Report
from priming.types import (
    Change,
    Finding,
    Hit,
    Link,
    MemoryRecord,
    Omitted,
    Operation,
    Recall,
    Remembered,
    Stats,
    Step,
    Use,
)

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
A = MemoryRecord("1", "default", "deploy-failed", "episode", "The deploy failed.", "The deploy failed.")
B = replace(A, id="2", key="cleaned-cache", content="We cleaned it.", gist="We cleaned it.", speaker="Ada")
STEP = Step("deploy-failed", "next", "cleaned-cache", 0.31)
FOUND = Recall(
    "r",
    (
        Hit(A, 1.25, {"bm25": 1.0, "cosine": 0.0, "date": -0.5, "length": 0.001}),
        Hit(B, 0.5, {"activation": 0.31}, (STEP,), 1),
    ),
    timings={"rank": 2.25, "pack": 0.25},
)


@pytest.fixture
def shown(capsys):
    """The lines that parts come to in a pipe."""

    def lines(parts):
        draw(parts)
        return capsys.readouterr().out.splitlines()

    return lines


def test_a_stored_memory_is_shown_with_its_links_from_its_side(shown):
    links = (Link("b", "a", "next", 0.5, AT), Link("a", "entity:ada", "mentions", 0.25, AT))
    assert shown(render.remembered(Remembered("1", "a", "stored", links))) == [
        "stored  a",
        "  ←next─ b (0.50)",
        "  ─mentions→ entity:ada (0.25)",
    ]


@pytest.mark.parametrize("status", ["duplicate", "echo"])
def test_what_was_not_stored_says_why(shown, status):
    first, why = shown(render.remembered(Remembered("1", "a", status)))
    assert first == f"{status}  a"
    assert why.endswith("nothing was stored")


def test_a_recall_shows_rank_key_score_gist_components_and_path(shown):
    assert shown(render.recall(FOUND)) == [
        " 1  deploy-failed  1.250",
        "    The deploy failed.",
        "    bm25 1.00  date -0.50",
        " 2  cleaned-cache  0.500",
        "    Ada: We cleaned it.",
        "    activation 0.31",
        "    deploy-failed ─next→ cleaned-cache (0.31)",
        "recall r",
        "2.5 ms: rank 2.2 · pack 0.2",
    ]


def test_an_empty_recall_says_why(shown):
    assert shown(render.recall(Recall("r", (), reason="nothing above the floor"))) == [
        "nothing above the floor",
        "recall r",
    ]


def test_a_degraded_recall_names_what_is_missing(shown):
    parts = render.recall(Recall("r", (), reason="nothing", degraded=("vectors", "trace")))
    assert shown(parts)[1] == (
        "degraded: some memories have no vector of this model, and priming reembed makes them;"
        " this recall could not be kept, and cannot be judged"
    )


def test_what_did_not_fit_is_named_and_the_packed_block_shown(shown):
    found = Recall("r", (), omitted=(Omitted("a", "budget", 15),), text="- [b] text")
    assert shown(render.recall(found, packed=True)) == [
        "omitted: a (budget, 15 tokens)",
        "packed:",
        "- [b] text",
        "recall r",
    ]


def test_a_trace_shows_the_most_active_of_each_step(shown):
    spread = ({"a": 1.0}, {f"m{n:02}": n / 100 for n in range(12)})
    assert shown(render.recall(Recall("r", (), spread=spread), trace=True)) == [
        "1 more anchor led to no hit",
        "step 0",
        "1.0000  a",
        "step 1",
        *(f"0.{n:02}00  m{n:02}" for n in range(11, 1, -1)),
        "    … and 2 more",
        "recall r",
    ]


def test_a_path_of_several_steps_names_each():
    second = Step("cleaned-cache", "mentions", "entity:cache", 0.125)
    assert (
        render.path((STEP, second))
        == "deploy-failed ─next→ cleaned-cache (0.31) ─mentions→ entity:cache (0.12)"
    )


def test_a_memory_is_shown_with_what_is_known_of_it(shown):
    record = replace(A, tags=("a", "b"), when={"language": "python"}, use=Use(3, AT), content="One.\n\nTwo.")
    lines = shown(render.memory(record))
    assert lines[:4] == ["deploy-failed", "  One.", "  ", "  Two."]
    assert "tags        a, b" in lines
    assert 'when        {"language": "python"}' in lines
    assert lines[-1].startswith("uses        3, last 2026-03-01 ")
    assert not [one for one in lines if one.startswith(("metadata", "outcome"))]


def test_a_full_page_says_how_to_go_on(shown):
    assert shown(render.memories([A], 1))[-1] == "there may be more: --after 1"
    assert shown(render.memories([A], 2))[-1].startswith("deploy-failed  episode")
    assert shown(render.memories([], 2)) == ["no memories"]


def test_versions_say_from_when_to_when_they_held(shown):
    first, _, second, _ = shown(
        render.versions([replace(A, valid_to=AT), replace(A, version=2, valid_from=AT)])
    )
    assert first == f"version 1  valid from the beginning to {render.at(AT)}"
    assert second == f"version 2  valid from {render.at(AT)} to now"


def test_links_are_shown_one_a_line(shown):
    link = Link("a", "b", "next", 0.5, AT, given=True)
    assert shown(render.links([link])) == ["a ─next→ b (0.50)  by hand"]
    assert shown(render.links([])) == ["no links"]


def test_an_operation_names_what_it_touched_even_if_that_is_gone(shown):
    made = [{"id": str(n), "key": f"m{n}"} for n in range(4)]
    changes = [Change("memories", one["id"], one, None) for one in made]
    changes += [Change("versions", "0", {"id": "0"}, None), Change("links", "m0 next m1", {}, None)]
    operation = Operation("o", "undo", AT, changes=tuple(changes), message="undid a remember", undone_by="p")
    assert shown(render.operation(operation)) == [
        f"o  undo  {render.at(AT)}",
        "    undid a remember; m0, m1, 2 more, 1 link",
        "    undone by p",
    ]


def test_stats_are_tables(shown):
    stats = Stats("default", {"fact": {"active": 1200}}, {"next": 3}, 4, 5, 2048, None)
    assert shown(render.stats(stats)) == [
        "namespace  default",
        "",
        "memories  status  number",
        "fact      active   1,200",
        "",
        "links  number",
        "next        3",
        "",
        "operations    4",
        "recalls kept  5",
        "size          2.0 KiB",
        "embedding     none yet",
    ]


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (3 * 2**40, "3072.0 GiB")]
)
def test_sizes_are_in_the_largest_unit_that_fits(number, words):
    assert render.size(number) == words


def test_findings_come_with_their_remedy(shown):
    found = [Finding("rule", "a", "is wrong", "mend it")]
    assert shown(render.findings(found)) == ["rule  a: is wrong", "  remedy: mend it"]


def test_an_import_says_what_it_did_and_left_out(shown):
    report = Report(stored=1200, duplicates=2, refused=1, skipped=("'a': must not be blank",))
    assert shown(render.imported(report)) == [
        "imported  1,200 new, 2 there already, 1 refused",
        "  skipped: 'a': must not be blank",
    ]


def test_columns_are_aligned_by_what_a_terminal_shows(shown):
    table = Table(("key", "n"), (("日本", "1"), ("e\u0301a", "10")))
    assert shown([table]) == ["key    n", "日本   1", "e\u0301a    10"]


def test_a_long_line_is_not_wrapped_in_a_pipe(shown):
    assert shown([line("word " * 100, indent=2), Table(("a", "b"), (("x" * 90, "y" * 90),))]) == [
        "  " + "word " * 100,
        "a" + " " * 91 + "b",
        "x" * 90 + "  " + "y" * 90,
    ]


def test_what_is_remembered_cannot_steer_the_terminal(shown):
    assert clean("\x1b[31mred\x07\r\u202e") == "\\x1b[31mred\\x07\\x0d\\u202e"
    assert clean("two\nlines\tand a tab") == "two\nlines\tand a tab"
    assert shown([Line(("\x1b]0;title",)), Table(("a",), (("\x9b1m",),))]) == [
        "\\x1b]0;title",
        "a",
        "\\x9b1m",
    ]


def test_a_hit_shows_a_short_text_whole_and_of_a_long_one_its_gist_and_that_there_is_more(shown):
    short = replace(A, content="The VPN is down.\nUse the bastion host.", gist="The VPN is down.")
    long = replace(short, content=f"{short.content} {'Ask Maja. ' * 40}")
    for one, text in ((short, "The VPN is down. Use the bastion host."), (long, "The VPN is down. …")):
        lines = shown(render.recall(Recall("r", (Hit(one, 1.0, {}),))))
        assert lines[1] == f"    {text}"
