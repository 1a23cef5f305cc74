"""Care: pairs and rules settled by a key, the log with undo and roll-back, sleep, names, and the loop."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

ROWS = ".rows > li"


def status(served, key):
    return served.done("get", {"key": key})["status"]


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [("n", "deprecated", "active"), ("o", "active", "deprecated"), ("b", "active", "active")],
)
def test_a_pair_is_settled_by_one_key_and_comes_back_by_undo(page, served, key, old, new):
    page.goto("/#/care")
    expect(page.locator(ROWS)).to_contain_text("The port of Kestrel is 8080.")
    page.keyboard.press(key)
    expect(page.get_by_text("Nothing contradicts.")).to_be_visible()
    assert (status(served, "old-port"), status(served, "new-port")) == (old, new)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(ROWS)).to_have_count(1)
    assert (status(served, "old-port"), status(served, "new-port")) == ("active", "active")


def test_a_quiet_rule_speaks_again_once_it_is_confirmed(page):
    page.goto("/#/care/quiet")
    expect(page.locator(ROWS)).to_contain_text("overridden 4 times")
    page.keyboard.press("c")
    expect(page.get_by_text("is confirmed.")).to_be_visible()
    page.keyboard.press("c")
    expect(page.get_by_text("No rule is quiet.")).to_be_visible()


def test_a_quiet_rule_is_dropped_by_a_key(page, served):
    page.goto("/#/care/quiet")
    expect(page.locator(ROWS)).to_have_count(1)
    key = page.locator(ROWS).get_attribute("data-item")
    page.keyboard.press("x")
    expect(page.get_by_text("No rule is quiet.")).to_be_visible()
    assert status(served, key) == "deprecated"


def test_the_log_is_filtered_and_what_is_opened_can_be_undone(page, served):
    page.goto("/#/care/log")
    page.get_by_label("Operation").fill("forget")
    entry = page.locator(ROWS)
    expect(entry).to_have_count(1)
    expect(entry).to_contain_text("nobody asks")
    expect(entry.locator("summary")).to_contain_text("upgraded")
    page.get_by_label("Operation").blur()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(entry.locator("del")).to_have_text("active")
    expect(entry.locator("ins")).to_have_text("forgotten")
    entry.get_by_role("button", name="Undo this").click()
    expect(entry.get_by_text("undone")).to_be_visible()
    assert status(served, "upgraded") == "active"


def test_rows_of_the_log_name_what_they_are_about_as_text(page):
    page.goto("/#/care/log?kind=remember")
    page.get_by_label("Operation").blur()
    row = page.locator(ROWS).filter(has_text="full-tuesday")
    expect(row.locator("summary")).to_contain_text("The disk of Kestrel is full.")
    expect(row.locator("details")).not_to_have_attribute("open", "")
    hostile = page.locator(ROWS).filter(has=page.locator(".subjects", has_text="hostile"))
    expect(hostile.locator("summary")).to_contain_text("<script>document.title='owned'</script>")
    bulk = page.locator(ROWS).filter(has_text="manifest")
    expect(bulk.locator(".subjects bdi")).to_have_count(3)
    expect(bulk.locator(".subjects")).to_contain_text("…")
    row.locator("summary").click()
    row.get_by_role("link", name="full-tuesday").click()
    expect(page).to_have_url(re.compile("#/memory/full-tuesday"))


def test_the_log_of_one_memory_of_a_source_or_before_a_time(page, served):
    page.goto("/#/care/log?key=sign")
    expect(page.locator(ROWS)).to_have_count(len(served.done("log", {"key": "sign"})))
    page.goto("/#/care/log?source=conscious&kind=feedback")
    expect(page.locator(ROWS)).to_have_count(5)
    page.goto("/#/care/log?till=2000-01-01T00:00")
    expect(page.get_by_text("Nothing was done that fits.")).to_be_visible()
    page.goto("/#/care/log?key=nobody")
    expect(page.get_by_role("alert")).to_contain_text("there is no memory")


def test_rolling_back_shows_what_it_would_do_before_it_does_it(page, served):
    served.done("remember", {"content": "The first that is too much.", "key": "first"})
    served.done("remember", {"content": "The second that is too much.", "key": "second"})
    page.goto("/#/care/log?key=first")
    page.locator(f"{ROWS} summary").last.click()
    page.get_by_role("button", name="Roll back to before this").click()
    preview = page.get_by_label("Roll back", exact=True)
    expect(preview).to_contain_text("would roll back 2 operations")
    expect(preview).to_contain_text("The second that is too much.")
    assert status(served, "second") == "active"
    preview.get_by_role("button", name="Roll back", exact=True).click()
    expect(preview).to_have_count(0)
    assert served.ask("get", {"key": "second"}).status_code == 404
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("Taken back.")).to_be_visible()
    assert status(served, "second") == "active"


def test_of_a_night_only_what_is_chosen_is_applied(page, served):
    for key in ("paper", "paper-again"):
        served.done("remember", {"content": "The printer has no paper.", "session": key, "key": key})
    page.goto("/#/care/sleep")
    for stage in ("decay", "deep", "skill", "prune", "link"):
        page.get_by_label(stage).uncheck()
    page.get_by_role("button", name="Propose a night").click()
    expect(page.locator(ROWS)).to_have_count(2)
    item = page.locator(ROWS).filter(has_text="full-tuesday")
    expect(item).to_contain_text("says word for word what full-monday says")
    item.get_by_text("Evidence and changes").click()
    expect(item.locator(".changes")).to_contain_text("importance 0.5 0")
    item.get_by_role("checkbox").uncheck()
    page.get_by_role("button", name="Apply 1 item").click()
    expect(page.get_by_text("1 item is applied.")).to_be_visible()
    assert [importance(served, key) for key in ("paper-again", "full-tuesday")] == [0.0, 0.5]
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("Taken back.")).to_be_visible()
    assert importance(served, "paper-again") == 0.5


def importance(served, key):
    return served.done("get", {"key": key})["importance"]


def test_two_names_become_one_by_a_key(page, served):
    page.goto("/#/care/aliases")
    expect(page.locator(ROWS)).to_contain_text("Kestrel runs on Kubernetes, or K8s.")
    page.keyboard.press("m")
    expect(page.get_by_text("No names are known to mean the same.")).to_be_visible()
    assert status(served, "entity:k8s") == "merged"


def test_what_is_fading_counts_as_used_by_a_key(page, served):
    page.goto("/#/care/fading")
    expect(page.locator(ROWS)).to_contain_text("Rotate the signing key")
    page.keyboard.press("u")
    expect(page.get_by_text("Nothing important is fading.")).to_be_visible()
    assert served.done("get", {"key": "sign"})["use"]["uses"] == 1


def test_sessions_of_the_loop_show_their_tasks_and_gates(page):
    page.goto("/#/care/loop")
    expect(page.locator(ROWS)).to_contain_text("1 of 2 tasks delivered")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    tasks = page.locator(".tasks > li")
    expect(tasks.first).to_contain_text("gate passed (0)")
    expect(tasks.last).to_contain_text("gate failed (1)")
    expect(tasks.last).to_contain_text("The registry answered 403.")
    expect(page.get_by_text("priming loop resume")).to_be_visible()
