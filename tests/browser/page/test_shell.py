"""What is around every view: a first visit, keys, themes, the address, signing in, and what axe says."""

import pytest
from playwright.sync_api import expect

from .conftest import ask, axe, keep, soon

pytestmark = pytest.mark.slow
QUESTION = "Why could customers not pay by card?"
VIEWS = {
    "everything": "",
    "recall": "#/recall?q=Why%20could%20customers%20not%20pay%20by%20card%3F&hit=bluefin-hour",
    "memory": "#/memory/bluefin-hour",
    "time": "#/time?about=Bluefin&span=all",
    "nowhere": "#/nowhere",
}
SHOWN = {
    "everything": ".spread[data-ready=true]",
    "recall": ".hit.open .waterfall",
    "memory": ".facts",
    "time": ".curves canvas",
    "nowhere": ".notice",
}


def test_a_first_visit_offers_an_example_and_leads_to_an_answer(empty, visit):
    page = visit(empty)
    page.wait_for_selector("text=Nothing is remembered yet")
    assert axe(page) == []
    keep(page, "first")
    page.click("text=Fill with an example")
    page.wait_for_selector(".spread[data-ready=true]")
    assert empty.done("status")["memories"] == 32
    ask(page, QUESTION)
    expect(page.locator(".hit .name bdi").first).to_have_text("cards-refused")


def test_the_address_has_all_that_is_shown_and_a_reload_shows_it_again(story, visit):
    page = visit(story)
    page.wait_for_selector(".spread")
    ask(page, QUESTION)
    page.click("text=Settings")
    page.uncheck("label:has-text('meaning') input")
    page.wait_for_selector(".settings b")
    hits = story.done("recall", text=QUESTION, tokens=2000, ablate=["meaning"])["hits"]
    keys = [hit["memory"]["key"] for hit in hits]
    expect(page.locator(".hit .name > bdi")).to_have_text(keys)
    page.reload()
    expect(page.locator(".hit .name > bdi")).to_have_text(keys)
    assert page.locator(".settings b").inner_text().endswith("−meaning")
    assert page.locator("input[name=q]").input_value() == QUESTION


def test_keys_lead_everywhere_and_are_listed(story, visit):
    page = visit(story, VIEWS["recall"])
    page.wait_for_selector(".hit")
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_contain_text("the hit was used")
    assert axe(page) == []
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("/")
    soon(page, lambda: page.evaluate("document.activeElement.name") == "q")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("3")
    page.wait_for_selector("h1:has-text('Time')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_light_or_dark_as_the_system_is_until_the_reader_chooses(story, visit, scheme):
    page = visit(story, scheme=scheme)
    page.wait_for_selector(".spread")
    expect(page.locator("html")).to_have_attribute("data-theme", scheme)
    page.keyboard.press("d")
    other = "light" if scheme == "dark" else "dark"
    expect(page.locator("html")).to_have_attribute("data-theme", other)
    page.reload()
    page.wait_for_selector(".spread")
    expect(page.locator("html")).to_have_attribute("data-theme", other)


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_accessible_and_fits(story, visit, scheme, width):
    for name, route in VIEWS.items():
        page = visit(story, route, scheme=scheme, width=width)
        page.wait_for_selector(SHOWN[name])
        keep(page, f"{name}-{scheme}-{width}")
        assert axe(page) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_a_script_of_a_memory_or_a_stranger_does_not_run(story, visit):
    page = visit(story, calm=False)
    page.wait_for_selector(".spread")
    inline = "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))"
    page.evaluate(inline)
    image = """new Promise(end => {
      const item = new Image();
      item.onerror = item.onload = event => end(event.type);
      item.src = 'http://127.0.0.1:9/';
    })"""
    assert page.evaluate(image) == "error"
    assert page.evaluate("window.ran") is None
    page.requested.clear()


def test_a_token_lets_in_and_its_end_shows_the_form_again(fresh, visit):
    from priming_server.access.tokens import Tokens

    with Tokens(fresh.url) as tokens:
        new = tokens.new("default", "a browser")
        page = visit(fresh, VIEWS["recall"], calm=False)
        page.wait_for_selector("input[name=token]")
        assert axe(page) == []
        keep(page, "sign-in")
        page.fill("input[name=token]", "prm_0_0")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=no valid token")
        page.fill("input[name=token]", new.secret)
        page.keyboard.press("Enter")
        page.wait_for_selector(".hit")
        assert "priming" not in page.evaluate("document.cookie")
        tokens.revoke(new.token.id)
        page.keyboard.press("2")
        page.wait_for_selector("input[name=token]")


def test_a_browser_that_signs_out_is_out(fresh, visit):
    from priming_server.access.tokens import Tokens

    with Tokens(fresh.url) as tokens:
        secret = tokens.new("*", kind="read").secret
    page = visit(fresh, VIEWS["recall"], calm=False)
    page.fill("input[name=token]", secret)
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    expect(page.locator("text=Not relevant")).to_have_count(0)  # it may only read
    page.click("text=Sign out")
    page.wait_for_selector("input[name=token]")
    page.reload()
    page.wait_for_selector("input[name=token]")
