"""Time on the page: a memory's versions and weights, what changed, and links that swing."""

import re

import pytest
from playwright.sync_api import expect

from .conftest import keep

pytestmark = pytest.mark.slow
LATER = "Bluefin closes its books on Saturdays at ten in the evening and answers nobody for two hours."


@pytest.fixture
def lived(fresh):
    """A store in which a text was replaced and a link swung."""
    fresh.done("supersede", key="bluefin-hour", content=LATER, valid_from="2026-04-01T00:00:00Z")
    ends = {"source": "bluefin-hour", "target": "entity:bluefin", "relation": "mentions"}
    for weight in (0.7, 0.3, 0.8, 0.4):
        fresh.done("set_strength", **ends, weight=weight)
    return fresh


def test_a_memory_has_its_versions_with_what_changed_in_their_words(lived, visit):
    page = visit(lived, "#/memory/bluefin-hour")
    page.wait_for_selector(".versions ins")
    expect(page.locator(".prose.large")).to_have_text(LATER)
    assert "Saturdays" in " ".join(page.locator(".versions ins").all_inner_texts())
    assert "Sundays" in " ".join(page.locator(".versions del").all_inner_texts())
    assert "true since 1 Apr 2026" in page.locator(".versions").inner_text()
    expect(page.locator("a:has-text('tomas')")).to_have_count(1)
    keep(page, "versions")


def test_the_slider_of_a_memory_shows_the_text_that_was_true(lived, visit):
    page = visit(lived, "#/memory/bluefin-hour?valid=2026-03-01T00%3A00%3A00Z")
    page.wait_for_selector(".prose.large:has-text('Sundays at eleven')")
    page.click("text=Back to now")
    page.wait_for_selector(".prose.large:has-text('Saturdays')")


def test_the_weights_of_a_memory_are_drawn_over_time(lived, visit):
    page = visit(lived, "#/memory/bluefin-hour")
    page.wait_for_selector(".curves canvas")
    expect(page.locator(".u-legend")).to_contain_text("bluefin-hour mentions bluefin")


def test_time_shows_strengths_swinging_links_and_what_changed(lived, visit):
    page = visit(lived, "#/time?span=day&about=When%20does%20Bluefin%20close%20its%20books%3F")
    page.wait_for_selector(".curves canvas")
    page.wait_for_selector(".moves")
    expect(page.locator(".moves")).to_contain_text(re.compile("superseded|new"))
    expect(page.locator(".moves")).to_contain_text("bluefin-hour · mentions · bluefin")
    page.click("button:has-text('bluefin-hour · mentions · bluefin')")
    page.wait_for_selector("li .curves canvas")
    keep(page, "swinging")


def test_a_memory_that_is_not_there_is_an_error_that_says_so(lived, visit):
    page = visit(lived, "#/memory/nothing-of-that-name", calm=False)
    page.wait_for_selector('[role=alert]:has-text("there is no memory")')
