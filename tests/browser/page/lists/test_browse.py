"""Browsing: lists and searches, sessions in time, rules and names, and what can be done with a memory."""

import re

import pytest
from playwright.sync_api import expect

from .team import HOSTILE, LONG

pytestmark = pytest.mark.slow

ROWS = ".rows > li"


def row(page, key):
    return page.locator(f'li[data-item="{key}"]')


def test_memories_come_the_latest_first_and_a_page_at_a_time(page, served):
    keys = [served.done("remember", {"content": f"Note number {i} of many."})["key"] for i in range(60)]
    total = len(served.done("list", {"limit": 1000}))
    page.goto("/#/browse")
    expect(page.locator(ROWS)).to_have_count(50)
    expect(page.locator(ROWS).first).to_contain_text("Note number 59 of many.")
    expect(page.get_by_text(f"1–50 of {total} memories")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(row(page, keys[9])).to_be_visible()
    served.done("remember", {"content": "What is remembered meanwhile moves no page."})
    page.reload()
    expect(row(page, keys[9])).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(row(page, keys[50])).to_be_visible()


def test_a_search_finds_while_somebody_types(page):
    page.goto("/#/browse")
    expect(page.locator(ROWS)).to_have_count(50)
    page.keyboard.press("f")
    page.keyboard.type("passenger list of each crossing")
    expect(page.locator(ROWS).first).to_have_attribute("data-item", "harbour-list")
    expect(page.get_by_text("that fit, the best first")).to_be_visible()
    expect(page).to_have_url(re.compile("q=passenger"))
    page.get_by_label("Find memories").fill("")
    expect(page.locator(ROWS)).to_have_count(50)


@pytest.mark.parametrize("narrowed", ["", "&kind=fact", "&from=2020-01-01"])
def test_what_no_memory_says_matches_nothing(page, narrowed):
    page.goto(f"/#/browse?q=blorp%20xyzzy{narrowed}")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()


def test_filters_narrow_the_list_down(page):
    page.goto("/#/browse")
    page.get_by_role("button", name="fact", exact=True).click()
    expect(page.locator(ROWS)).to_have_count(3)
    page.get_by_role("button", name="all", exact=True).click()
    row(page, "full-tuesday").get_by_role("link", name="tuesday", exact=True).click()
    expect(page.locator(ROWS)).to_have_count(1)
    page.get_by_label("Session").fill("no such session")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    page.get_by_role("button", name="Show everything").click()
    expect(page.locator(ROWS)).to_have_count(50)
    page.get_by_label("Source").fill("mail")
    expect(row(page, "hostile")).to_be_visible()
    expect(page.locator(ROWS)).to_have_count(1)


def test_days_narrow_the_list_by_when_it_happened_or_was_told(page):
    page.goto("/#/browse?from=2026-02-03&till=2026-02-03&source=notes")
    expect(row(page, "manifest")).to_be_visible()
    expect(row(page, "machines")).to_have_count(0)
    page.get_by_label("Until").fill("2026-02-02")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()


def test_a_name_leads_to_what_mentions_it(page):
    page.goto("/#/browse/names")
    page.get_by_label("Find names").fill("kestr")
    page.get_by_role("link", name="kestrel").click()
    expect(row(page, "new-port")).to_be_visible()
    expect(row(page, "machines")).to_have_count(0)
    page.get_by_label("Find memories").fill("disk")
    expect(page.locator(ROWS).first).to_contain_text("The disk of Kestrel is full.")
    page.get_by_role("button", name="mentions kestrel").click()
    expect(page.get_by_role("button", name="mentions kestrel")).to_have_count(0)


def test_an_edit_is_a_new_version_which_can_be_taken_back(page, served):
    page.goto("/#/browse?kind=fact")
    row(page, "new-port").get_by_role("button", name="Edit").click()
    page.get_by_label("Text").fill("Kestrel's port is 9191.")
    page.keyboard.press("Control+Enter")
    expect(row(page, "new-port")).to_contain_text("version 2")
    assert served.done("get", {"key": "new-port"})["content"] == "Kestrel's port is 9191."
    page.get_by_role("button", name="Undo").click()
    expect(row(page, "new-port")).to_contain_text("9090")
    assert served.done("get", {"key": "new-port"})["version"] == 1


def test_what_is_forgotten_can_be_restored(page, served):
    page.goto("/#/browse?kind=fact")
    row(page, "sign").get_by_role("button", name="Forget").click()
    expect(row(page, "sign")).to_have_count(0)
    assert served.done("get", {"key": "sign"})["status"] == "forgotten"
    page.get_by_label("Status").select_option("forgotten")
    row(page, "sign").get_by_role("button", name="Restore").click()
    expect(row(page, "sign")).to_have_count(0)
    assert served.done("get", {"key": "sign"})["status"] == "active"


def test_sessions_show_what_was_asked_and_what_came_of_it(page):
    page.goto("/#/browse/sessions")
    sessions = page.locator(".timeline li[data-item]")
    expect(sessions).to_have_count(3)
    expect(sessions.last).to_contain_text("Why does the passenger list arrive late?")
    for text in ("manifest.py now tries the next", "jobs/queue.py", "0a1b2c3 Try the next worker"):
        expect(sessions.last).to_contain_text(text)
    expect(sessions.last).not_to_contain_text("docs/jobs.md")
    sessions.last.get_by_role("button", name="1 more").click()
    expect(sessions.last).to_contain_text("docs/jobs.md")
    sessions.last.get_by_role("link", name="all of this session").click()
    expect(page.locator(ROWS)).to_have_count(1)


def test_rules_show_when_they_apply_and_how_often_they_were_followed(page, served):
    page.goto("/#/browse/rules")
    rule = page.locator(ROWS).filter(has_text="Write every commit message")
    expect(rule.locator(".chip").first).to_have_text("task: commit")
    expect(rule.locator("dl")).to_contain_text("overridden4")
    expect(rule.locator("dl")).to_contain_text("confirmed1")
    rule.get_by_text("What told it").click()
    expect(rule.get_by_role("link", name="correction-write-every")).to_be_visible()
    page.get_by_label("Find rules").fill("uv")
    expect(page.locator(ROWS)).to_have_count(1)
    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_text("No rule has these words.")).to_be_visible()
    assert len(served.done("list", {"kinds": ["behavior"]})) == 2


def test_texts_of_others_stay_texts(page):
    page.goto("/#/browse?source=mail")
    shown = row(page, "hostile")
    expect(shown).to_contain_text("<script>document.title='owned'</script><img src=x onerror=alert(1)>")
    expect(shown).to_contain_text("⟨202E⟩abc⟨202C⟩ ⟨0007⟩⟨001B⟩[31m red")
    expect(shown.get_by_role("link", name="<b>mail</b>")).to_be_visible()
    assert "owned" not in page.title()
    for part in ("browse/sessions", "care/log?key=hostile"):
        page.goto(f"/#/{part}")
        expect(page.locator("[data-item]").first).to_be_visible()
        assert page.locator("main script, main img, main b:text('mail')").count() == 0
    assert HOSTILE


def test_a_megabyte_is_shown_by_its_beginning(page):
    page.goto("/#/browse?session=logs")
    expect(row(page, "long")).to_contain_text(f"Show all {len(LONG):,} characters")
    assert len(row(page, "long").inner_text()) < 1000


def test_rows_are_walked_over_by_arrows_and_opened_by_enter(page):
    page.goto("/#/browse?kind=fact")
    expect(page.locator(ROWS)).to_have_count(3)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(ROWS).nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator(ROWS).first).to_be_focused()
    page.keyboard.press("]")
    expect(page.get_by_role("link", name="Sessions")).to_have_attribute("aria-current", "page")
    page.keyboard.press("[")
    expect(page.locator(ROWS)).to_have_count(50)
    page.keyboard.press("ArrowDown")
    expect(page.locator(ROWS).first).to_be_focused()
    key = page.locator(ROWS).first.get_attribute("data-item")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/#/memory/{key}")


def test_enter_on_a_button_is_for_the_button(page):
    page.goto("/#/browse?kind=fact")
    row(page, "sign").get_by_role("button", name="Edit").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Text")).to_have_value("Rotate the signing key before every release.")
    page.keyboard.press("Escape")
    expect(page.get_by_label("Text")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("memory"))


def test_what_another_process_writes_appears_by_itself(page, served):
    page.goto("/#/browse")
    expect(page.locator(ROWS)).to_have_count(50)
    served.done("remember", {"content": "Somebody else wrote this.", "key": "else"})
    expect(row(page, "else")).to_be_visible()
