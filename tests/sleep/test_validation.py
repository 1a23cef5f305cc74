from dataclasses import replace

from priming.sleep.plan import RULES, CheckContext, PlannedItem, sound_items
from priming.storage.rows import RowChange

from .making import link, row, version


def judged(item, **around):
    """The items that stand, and the rules that dropped the others."""
    rest, checks = sound_items("light", [item], CheckContext(**around), set())
    return rest, [check.rule for check in checks if check.dropped]


def leaving(status="archived", **more):
    a = row("a")
    return PlannedItem("archive", ("a",), None, "", rows=(RowChange(a, replace(a, status=status)),), **more)


def merging(*rows, **more):
    return PlannedItem("merge", ("a",), "b", "", rows=rows, **more)


def test_every_rule_is_told_with_how_many_stood():
    rest, checks = sound_items("light", [leaving()], CheckContext(), set())
    assert [check.rule for check in checks] == [*RULES, "one-change-a-row"]
    assert [check.held for check in checks] == [1, 1, 1, 1]
    assert rest == [leaving()]


def test_a_source_of_something_in_use_may_not_leave():
    assert judged(leaving(), sources=frozenset("a")) == ([], ["sources-reachable"])
    assert judged(leaving(), sources=frozenset("b")) == ([leaving()], [])


def test_a_source_may_leave_where_its_twin_stays_or_a_link_leads_on():
    twin = leaving(evidence={"duplicate_of": "key-b"})
    assert judged(twin, sources=frozenset("a")) == ([twin], [])
    a, b = row("a", failed=1), row("b")
    led = merging(
        RowChange(a, replace(a, status="merged")),
        RowChange(b, replace(b, failed=1)),
        RowChange(None, link("a", "b", "merged-into")),
    )
    assert judged(led, sources=frozenset("a")) == ([led], [])


def test_a_merge_that_leads_nowhere_is_dropped():
    a, b = row("a"), row("b")
    assert judged(merging(RowChange(a, replace(a, status="merged"))))[1] == ["sources-reachable"]
    both = merging(
        RowChange(a, replace(a, status="merged")),
        RowChange(b, replace(b, status="merged")),
        RowChange(None, link("a", "b", "merged-into")),
    )
    assert judged(both)[1] == ["sources-reachable"]


def test_nothing_but_links_is_ever_removed():
    assert judged(PlannedItem("fade", ("a",), None, "", rows=(RowChange(version("a", "x"), None),)))[0] == []
    fading = PlannedItem(
        "fade", ("a", "b"), None, "", rows=(RowChange(link("a", "b", "co-activated"), None),)
    )
    assert judged(fading) == ([fading], [])


def test_what_contradicts_is_never_made_one():
    apart = frozenset({frozenset("ab")})
    assert judged(merging(), conflicts=apart) == ([], ["no-contradiction-merged"])
    assert judged(PlannedItem("link", ("a", "b"), None, ""), conflicts=apart)[1] == []


def test_counts_that_do_not_add_up_drop_an_item():
    a, b = row("a", helped=2), row("b", helped=1)
    led = RowChange(a, replace(a, status="merged")), RowChange(None, link("a", "b", "merged-into"))
    assert judged(merging(*led, RowChange(b, replace(b, helped=3))))[1] == []
    assert judged(merging(*led, RowChange(b, replace(b, helped=2))))[1] == ["counts-conserved"]
    assert judged(merging(*led))[1] == ["counts-conserved"]
    assert judged(PlannedItem("mark", ("a",), None, "", rows=(RowChange(a, replace(a, helped=0)),)))[1] == [
        "counts-conserved"
    ]


def test_of_two_that_change_the_same_row_the_second_waits():
    rest, checks = sound_items(
        "prune", [leaving(), leaving("deprecated")], CheckContext(names={"a": "key-a"}), set()
    )
    assert rest == [leaving()]
    assert checks[-1].dropped == (
        "archive key-a: another item changes the same row: it waits for the next night",
    )
