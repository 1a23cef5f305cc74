"""Others beside the page: hostile memories, two tabs, another process, and a server that starts again."""

import pytest
from playwright.sync_api import expect

from .conftest import ask, axe, soon

pytestmark = pytest.mark.slow
HOSTILE = {
    "script": "Falcon <script>window.ran = 1</script><img src=x onerror='window.ran = 1'>{{1+1}}",
    "direction": "Falcon \u202egnihtemos\u202c \u2066hidden\u2069 שלום עולם",
    "control": "Falcon \x1b[31mred\x1b[0m \x07bell \u200bzero",
    "wide": "Falcon " + "w" * 5_000,
    "great": "Falcon " + "many words of no use " * 47_000,
}


@pytest.fixture
def hostile(empty):
    """A store of memories that want to be more than text."""
    for key, content in HOSTILE.items():
        empty.done(
            "remember", content=content, key=f"{key}</b><script>window.ran=1</script>", speaker="<i>me</i>"
        )
    return empty


def test_hostile_memories_are_text_everywhere(hostile, visit):
    page = visit(hostile)
    page.wait_for_selector(".spread[data-ready=true]")
    ask(page, "Falcon")
    for route in ("recall?q=Falcon&limit=100", "time?span=all&about=Falcon"):
        page.goto(f"{hostile.at}/#/{route}")
        page.wait_for_selector(".hit, .moves")
        assert page.evaluate("window.ran") is None
        assert page.locator("main img, main script, main i:not(.path i)").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 1440
        assert axe(page) == []


def test_hidden_characters_are_shown_by_their_codes(hostile, visit):
    page = visit(hostile, "#/recall?q=Falcon&limit=100")
    page.wait_for_selector(".hit")
    text = page.locator(".hits").inner_text()
    assert "⟨202E⟩" in text
    assert "⟨001B⟩" in text
    assert not {"\u202e", "\x1b", "\u2066", "\u200b"} & set(text)


def test_a_megabyte_is_shown_in_part_until_it_is_asked_for(hostile, visit):
    key = next(record["key"] for record in hostile.done("list") if record["key"].startswith("great"))
    page = visit(hostile)
    page.wait_for_selector(".spread")
    page.evaluate(f"location.hash = '#/memory/' + encodeURIComponent({key!r})")
    page.wait_for_selector(".facts")
    assert len(page.locator(".prose.large p").inner_text()) < 2_000
    page.click("text=Show all 987,007 characters")
    soon(page, lambda: len(page.locator(".prose.large p").text_content()) == len(HOSTILE["great"]))


def test_what_another_process_writes_is_told_and_shown_when_asked_for(fresh, visit):
    page = visit(fresh)
    page.wait_for_selector(".spread")
    ask(page, "Who repairs the coffee machine?")
    fresh.done("remember", content="Yusuf repairs the coffee machine.", key="coffee")
    page.click("text=Ask again")
    page.wait_for_selector(".hit:has-text('coffee')")


def test_two_tabs_judge_and_take_back_without_losing_anything(fresh, visit):
    first, second = (
        visit(fresh, "#/recall?q=Why%20did%20the%20nightly%20export%20fail%3F") for _ in range(2)
    )
    for page in (first, second):
        page.wait_for_selector(".hit")
        page.click("button[aria-label='Used: export-failed']")
        page.wait_for_selector(".moved")
    first.click(".moved >> text=Undo")
    first.wait_for_selector("body:not(:has(.moved))", state="attached")
    assert len(fresh.done("why", key="export-failed")["verdicts"]) == 1
    expect(second.locator(".moved")).to_have_count(1)


def test_a_server_that_goes_and_comes_again_is_noticed(fresh, visit):
    page = visit(fresh, "#/recall?q=printer", calm=False)
    page.wait_for_selector(".hit")
    fresh.stop()
    page.wait_for_selector(".lost")
    fresh.start()
    page.wait_for_selector(".lost", state="detached")
    ask(page, "Who is on call?")
