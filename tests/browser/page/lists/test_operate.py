"""Operating: health and figures, namespaces, jobs and tokens; and every section for all people."""

import httpx2
import pytest
from playwright.sync_api import expect
from tests.server.conftest import bearer

from ..conftest import PATIENCE, axe, keep

pytestmark = pytest.mark.slow

ROWS = ".rows > li"
PARTS = {
    "browse": ("", "sessions", "rules", "names"),
    "care": ("", "log", "sleep", "quiet", "aliases", "fading", "loop"),
    "operate": ("", "namespaces", "jobs", "tokens"),
}


def test_health_shows_what_the_store_holds_and_that_it_is_sound(page, served):
    stats = served.done("stats")
    page.goto("/#/operate")
    expect(page.locator(".figures")).to_contain_text(f"operations{stats['operations']}")
    expect(page.locator(".facts")).to_contain_text("ready")
    page.get_by_role("button", name="Look for faults").click()
    expect(page.get_by_text("No faults: the rules of the store hold.")).to_be_visible()
    page.get_by_role("button", name="Read every row").click()
    expect(page.get_by_text("operations were read.")).to_be_visible()
    expect(page.locator("tbody tr").filter(has_text="stats")).to_have_count(1)


def test_namespaces_are_counted_and_opened(page, served):
    served.done("remember", {"content": "Another project."}, namespace="other")
    page.goto("/#/operate/namespaces")
    line = page.get_by_role("row").filter(has_text="other")
    expect(line.get_by_role("cell").nth(1)).to_have_text("1")
    line.get_by_role("link", name="other").click()
    expect(page.locator(ROWS)).to_have_count(1)
    page.goto("/#/operate/namespaces")
    page.get_by_label("Another namespace").fill("new one")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text("Nothing is remembered yet")).to_be_visible()


def test_a_job_is_begun_followed_and_forgotten(page):
    page.goto("/#/operate/jobs")
    expect(page.get_by_text("No jobs.")).to_be_visible()
    page.get_by_role("button", name="Verify the store").click()
    expect(page.locator(ROWS)).to_contain_text("done")
    page.get_by_role("button", name="Forget this job").click()
    expect(page.get_by_text("No jobs.")).to_be_visible()


def test_a_job_is_cancelled(page, served):
    items = [{"content": f"Number {i} of many, which takes its time."} for i in range(3000)]
    body = {"items": items}
    page.goto("/#/operate/jobs")
    expect(page.get_by_text("No jobs.")).to_be_visible()
    served.client.post("/v1/default/jobs/remember_many", json=body).raise_for_status()
    page.reload()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(ROWS)).to_contain_text("cancelled")


def test_the_first_token_closes_the_server_and_signs_the_page_in(page, served, capfd):
    page.goto("/#/operate/tokens")
    expect(page.get_by_text("There are no tokens")).to_be_visible()
    page.get_by_label("For whom").fill("Ada's <i>browser</i>")
    page.get_by_role("button", name="Make a token").click()
    secret = page.locator(".secret pre").inner_text()
    expect(page.get_by_role("cell", name="Ada's <i>browser</i> yours")).to_be_visible()
    assert served.ask("status").status_code == 401
    assert served.ask("status", token=secret).status_code == 200
    page.get_by_role("button", name="I have it").click()
    page.reload()
    expect(page.get_by_role("cell", name="yours")).to_be_visible()
    assert secret not in page.content()
    assert secret.rpartition("_")[2] not in "".join(capfd.readouterr())


def test_a_token_is_made_for_one_namespace_and_revoked(page, served):
    admin = served.tokens.new("*", "me", kind="admin").secret
    sign_in(page, admin)
    page.goto("/#/operate/tokens")
    page.get_by_label("For whom").fill("a reader")
    page.get_by_label("Namespace, * for all").fill("default")
    page.get_by_label("May").select_option("read")
    page.get_by_label("Days until it expires").fill("30")
    page.get_by_role("button", name="Make a token").click()
    secret = page.locator(".secret pre").inner_text()
    assert served.ask("status", token=secret).status_code == 200
    assert served.ask("remember", {"content": "No."}, token=secret).status_code == 403
    assert served.ask("status", token=secret, namespace="other").status_code == 403
    line = page.get_by_role("row").filter(has_text="a reader")
    line.get_by_role("button", name="Revoke").click()
    line.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(line).to_contain_text("revoked")
    assert served.ask("status", token=secret).status_code == 401


def test_who_revokes_the_own_token_is_signed_out(page, served):
    sign_in(page, served.tokens.new("*", "me", kind="admin").secret)
    page.goto("/#/operate/tokens")
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("you will be signed out")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


@pytest.mark.parametrize(("namespace", "kind"), [("*", "write"), ("default", "admin"), ("*", "read")])
def test_lesser_tokens_may_not_see_tokens(page, served, namespace, kind):
    sign_in(page, served.tokens.new(namespace, kind=kind).secret)
    page.goto("/#/operate/tokens")
    expect(page.get_by_text("Tokens are for a token of the kind admin")).to_be_visible()
    answer = page.evaluate(
        "fetch('/page/tokens', {method: 'POST', headers: {'X-Priming': 'page'}, body: '{\"namespace\": \"*\", "
        '"kind": "admin"}\'}).then(({status}) => status)'
    )
    assert answer == 403
    assert len(served.tokens.list()) == 1


def test_who_may_only_read_is_offered_no_change(page, served):
    sign_in(page, served.tokens.new("*", kind="read").secret)
    page.goto("/#/browse")
    expect(page.locator(ROWS)).to_have_count(50)
    assert page.get_by_role("button", name="Forget").count() == 0
    page.goto("/#/care")
    expect(page.locator(ROWS)).to_have_count(1)
    page.keyboard.press("n")
    page.goto("/#/care/sleep")
    expect(page.get_by_text("sleep needs one that may write")).to_be_visible()
    reader = {"key": "old-port"}
    assert served.service.call("default", "get", reader)["status"] == "active"


def test_an_error_says_what_to_do(page):
    page.route("**/v1/default/review", lambda route: route.abort())
    page.goto("/#/care")
    expect(page.locator(".failure")).to_contain_text(
        "see whether “priming open” or “priming serve” still runs"
    )
    page.unroute("**/v1/default/review")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(ROWS)).to_have_count(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_every_section_can_be_used_by_all_people(chromium, served, scheme, width):
    size = {"width": width, "height": 900}
    context = chromium.new_context(base_url=served.at, viewport=size, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    seen = {}
    for view, parts in PARTS.items():
        for part in parts:
            address = f"#/{view}{part and '/'}{part}"
            page.goto(f"/{address}")
            expect(page.locator(".sections [aria-current]")).to_have_attribute("href", address)
            expect(page.locator(".waiting")).to_have_count(0)
            keep(page, f"{view}-{part or 'first'}-{scheme}-{width}")
            wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            complaints = axe(page)
            if complaints or wider > 0:
                seen[view, part] = complaints, wider
    context.close()
    assert seen == {}


def sign_in(page, secret):
    page.goto("/")
    page.get_by_label("Token").fill(secret)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_the_address_of_tokens_is_for_the_page_alone(served):
    admin = served.tokens.new("*", kind="admin").secret
    with httpx2.Client(base_url=served.at, verify=False) as client:
        assert client.get("/page/tokens", headers=bearer(admin)).status_code == 403
        page = {**bearer(admin), "X-Priming": "page"}
        assert client.get("/page/tokens", headers=page).status_code == 200
        elsewhere = {**page, "Origin": "http://elsewhere.example"}
        assert (
            client.post(
                "/page/tokens", headers=elsewhere, json={"namespace": "*", "kind": "admin"}
            ).status_code
            == 403
        )
