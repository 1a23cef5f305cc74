"""The graph of an answer and that of everything, walked by keys alone."""

import re

import pytest
from playwright.sync_api import expect

from .conftest import axe, keep, soon

pytestmark = pytest.mark.slow
ROUTE = "#/recall?q=Why%20could%20customers%20not%20pay%20by%20card%3F"
KINDS = ["episode", "entity"]
FOCUSED = "document.activeElement.getAttribute('aria-label')"


@pytest.fixture
def answered(story, visit):
    page = visit(story, ROUTE)
    page.wait_for_selector(".hit.open")
    page.wait_for_selector(".canvas canvas")
    return page


def name(key):
    """The name of a memory as the page shows it."""
    return key.removeprefix("entity:").removeprefix("file:")


def announced(page):
    """The name of the memory that is announced."""
    return page.locator("[aria-live]", has_text="linked").inner_text().partition(", ")[0]


def press(page, *keys):
    """The names that are announced after each key."""
    names = []
    for key in keys:
        page.keyboard.press(key)
        page.evaluate("new Promise(end => requestAnimationFrame(() => requestAnimationFrame(end)))")
        names.append(announced(page))
    return names


def linked(story, shown):
    """The names of what is linked to a memory."""
    key = next(
        node["key"] for node in story.done("list", kinds=KINDS, limit=1000) if name(node["key"]) == shown
    )
    return {name(end) for link in story.done("links", key=key) for end in (link["source"], link["target"])}


def test_arrows_lead_over_links_and_back(answered, story):
    (first,) = press(answered, "g")
    expect(answered.locator(".ring")).to_be_visible()
    onwards, deeper, other = press(answered, "ArrowDown", "ArrowDown", "ArrowRight")
    assert onwards in linked(story, first)
    assert {deeper, other} <= linked(story, onwards)
    assert deeper != other
    assert press(answered, "ArrowLeft", "ArrowUp", "ArrowUp") == [deeper, onwards, first]
    press(answered, "ArrowDown")
    keep(answered, "walked")
    assert axe(answered) == []


def test_the_arrows_at_the_side_go_through_everything_in_a_round(answered):
    (first,) = press(answered, "g")
    names = [first]
    while (after := press(answered, "ArrowRight")[0]) != first:
        names.append(after)
    assert len(names) == len(set(names)) > 5
    assert press(answered, "ArrowLeft") == names[-1:]


def test_enter_opens_the_page_of_the_memory_that_has_the_focus(answered):
    (at,) = press(answered, "g")
    answered.keyboard.press("Enter")
    answered.wait_for_selector(f"h1:has-text('{at}')")
    expect(answered).to_have_url(re.compile(re.escape(f"#/memory/{at}")))


def test_escape_leaves_the_graph_and_its_keys(answered):
    press(answered, "g", "ArrowDown")
    answered.keyboard.press("Escape")
    soon(answered, lambda: answered.evaluate(FOCUSED) is None)
    expect(answered.locator(".ring")).to_be_hidden()
    answered.keyboard.press("ArrowDown")
    expect(answered).to_have_url(re.compile("hit=bluefin-"))


def test_the_keys_of_the_graph_are_listed_and_it_has_the_focus_after(answered):
    (at,) = press(answered, "g")
    answered.keyboard.press("?")
    answered.wait_for_selector("dialog:has-text('on to what is linked to it')")
    answered.keyboard.press("Escape")
    answered.wait_for_selector("dialog", state="detached")
    soon(answered, lambda: "The graph" in (answered.evaluate(FOCUSED) or ""))
    assert press(answered, "ArrowDown", "ArrowUp")[1] == at


def test_a_pointer_in_the_graph_shows_no_focus_of_the_keyboard(answered):
    answered.locator(".canvas").click(position={"x": 9, "y": 200})
    expect(answered.locator(".ring")).to_be_hidden()


def test_the_graph_of_everything_is_walked_and_read_beside_it(story, visit):
    page = visit(story)
    page.wait_for_selector(".spread[data-ready=true]")
    (at,) = press(page, "g")
    page.wait_for_selector(f".card h2:has-text('{at}')")
    (onwards,) = press(page, "ArrowDown")
    assert onwards in linked(story, at)
    page.wait_for_selector(f".card h2:has-text('{onwards}')")
