"""The site of the docs, read and searched without a network."""

import importlib
import re
from pathlib import Path

import pytest

from .driving import page

ROOT = Path(__file__).resolve().parent.parent.parent
FETCHED = re.compile(
    r'<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)="(?:https?:)?//', re.IGNORECASE
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def website():
    """The module that builds it, which lies outside of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        yield importlib.import_module("website")


@pytest.fixture(scope="module")
def site(website, tmp_path_factory):
    """The site, built once; a link that leads nowhere fails it."""
    target = tmp_path_factory.mktemp("site")
    assert website.main(target) == 0
    return target


def test_the_site_has_every_page_and_begins_with_the_readme(website, site):
    pages = {str(page.relative_to(ROOT).with_suffix(".html")) for page in website.pages()}
    built = {str(page.relative_to(site)) for page in site.rglob("*.html")}
    assert pages - {"README.html"} <= built
    assert {f"docs/reference/{name}.html" for name in website.reference.PAGES} <= built
    home = (site / "index.html").read_text("utf-8")
    assert all(f'href="docs/start/{reader}.html"' in home for reader in ("users", "agents", "operators"))


HITS = """new Promise(done => {
  const look = () => {
    const links = [...document.querySelectorAll("#search-results li a")].map(link => link.getAttribute("href"));
    links.length ? done(links) : setTimeout(look, 20);
  };
  look();
})"""
"""The addresses of the pages that a search has, as soon as there are some."""


def test_a_reader_searches_the_site_without_a_server_or_a_network(site, browser):
    with page(browser) as view:
        view.open(site / "search.html", "?q=rollback")
        assert any("docs/verbs/rollback.html" in link for link in view.value(HITS))
        assert [url for url in view.requests if not url.startswith(("file:", "data:"))] == []


def test_the_site_fetches_nothing_from_elsewhere(site):
    for file in site.rglob("*.html"):
        assert FETCHED.findall(file.read_text("utf-8")) == [], file.name
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*['\"]?(?:https?:)?//", style.read_text("utf-8")), (
            style.name
        )
