"""The drawn page in a real Chromium: what a reader sees, and what it never does."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from priming import FixedClock, HashedEmbedder, Memory

from .driving import page

pytestmark = pytest.mark.slow
EVIL = (
    "</script><script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
    "</title></svg>&lt;b&gt; <!-- ]]> {{data}} 'quoted' \"twice\" ünïcode 𝔘"
)
TEXTS = {
    "disk": "The deploy failed because the disk was full.",
    "cache": "Clearing the cache frees the disk.",
    "evil": EVIL,
}


@pytest.fixture(scope="module")
def memory():
    clock = FixedClock(datetime(2026, 3, 4, 9, tzinfo=UTC))
    with Memory.open("sqlite://", embedder=HashedEmbedder(256), clock=clock) as opened:
        for key, text in TEXTS.items():
            kind = "procedure" if key == "cache" else "episode"
            opened.remember(text, key=key, kind=kind, occurred_at=datetime(2026, 3, 3, 17, tzinfo=UTC))
        opened.link("cache", "disk", "solves", 0.8)
        opened.link("evil", "disk", "<i>said</i>", 0.25)
        yield opened


@pytest.fixture(scope="module")
def drawn(memory, tmp_path_factory):
    path = tmp_path_factory.mktemp("drawn") / "graph.html"
    path.write_text(memory.graph("html"), encoding="utf-8")
    return path


@pytest.fixture
def view(browser, drawn):
    with page(browser) as item:
        item.open(drawn)
        yield item
        assert item.complaints == []
        assert item.requests == [drawn.as_uri()]


def node(key):
    return f"#nodes circle[aria-label$={json.dumps(' ' + key)}]"


def shown(view, name):
    return view.value(f"document.getElementById({json.dumps(name)}).textContent")


def test_every_memory_and_link_is_drawn(view, memory):
    graph = json.loads(memory.graph("json"))
    assert view.value("document.querySelectorAll('#nodes circle').length") == len(graph["nodes"])
    assert view.value("document.querySelectorAll('#links line').length") == len(graph["links"])
    assert view.value("document.querySelectorAll('#nodes .procedure').length") == 1
    assert f"{len(graph['nodes'])} memories, {len(graph['links'])} links" in shown(view, "summary")


def test_every_node_is_within_the_picture(view):
    inside = """[...document.querySelectorAll('#nodes circle')].every((one) => {
      const box = one.getBoundingClientRect(), all = document.getElementById('map').getBoundingClientRect();
      return box.width > 2 && box.left >= all.left && box.right <= all.right && box.top >= 0
        && box.bottom <= all.bottom;
    })"""
    assert view.value(inside) is True


def test_a_click_shows_the_text_and_the_links_of_a_memory(view):
    assert view.value("document.getElementById('details').hidden") is True
    view.click(node("cache"))
    assert view.value("document.getElementById('details').hidden") is False
    assert shown(view, "key") == "cache"
    assert shown(view, "text") == TEXTS["cache"]
    assert shown(view, "facts").startswith("procedure · 2026-03-03 17:00 · ")
    assert "→ solves 0.80, by hand" in shown(view, "ties")


def test_a_link_of_the_list_leads_to_its_other_end(view):
    view.click(node("cache"))
    view.value("[...document.querySelectorAll('#ties button')].find((b) => b.title === 'disk').click()")
    assert shown(view, "key") == "disk"
    assert "← solves 0.80, by hand" in shown(view, "ties")


def test_a_click_beside_and_escape_let_go(view):
    view.click(node("cache"))
    view.press("Escape")
    assert view.value("document.getElementById('details').hidden") is True
    view.click(node("disk"))
    corner = {"x": 3, "y": 3}
    for kind in ("mousePressed", "mouseReleased"):
        view.mouse(kind, corner, button="left", clickCount=1)
    assert view.value("document.getElementById('details').hidden") is True


def test_the_keyboard_reaches_every_memory(view):
    view.value(f"document.querySelector({json.dumps(node('disk'))}).focus()")
    view.press("Enter")
    assert shown(view, "key") == "disk"


def test_pointing_at_a_memory_shows_its_gist_and_what_it_is_linked_to(view):
    view.mouse("mouseMoved", view.centre(node("cache")))
    assert view.value("document.getElementById('tip').hidden") is False
    assert shown(view, "tip") == "cache" + TEXTS["cache"]
    near = "[...document.querySelectorAll('#nodes .near')].map((one) => one.getAttribute('aria-label'))"
    assert {"procedure cache", "episode disk"} <= set(view.value(near))
    assert "episode evil" not in view.value(near)
    named = "[...document.querySelectorAll('#names text:not(.off)')].map((one) => one.textContent)"
    assert not any(item.startswith("</script>") for item in view.value(named))
    view.mouse("mouseMoved", {"x": 3, "y": 3})
    assert view.value("document.getElementById('tip').hidden") is True


def test_a_search_finds_by_key_and_by_text(view):
    view.click("#search")
    view.type("frees DISK")
    assert view.value("document.querySelectorAll('#found button').length") == 1
    view.press("Enter")
    assert shown(view, "key") == "cache"
    view.value("document.getElementById('search').value = ''")
    view.click("#search")
    view.type("nowhere")
    assert shown(view, "found") == "nothing found"


def test_the_wheel_zooms_and_a_drag_moves(view):
    before = view.value("document.getElementById('scene').getAttribute('transform')")
    middle = view.centre("#map")
    width = f"document.querySelector({json.dumps(node('disk'))}).getBoundingClientRect().width"
    small = view.value(width)
    view.mouse("mouseWheel", middle, deltaX=0, deltaY=-300)
    assert view.value(width) > small
    at = view.centre(node("disk"))
    view.drag({"x": 20, "y": 20}, {"x": 60, "y": 40})
    moved = view.centre(node("disk"))
    assert (round(moved["x"] - at["x"]), round(moved["y"] - at["y"])) == (60, 40)
    view.click("#fit")
    assert view.value("document.getElementById('scene').getAttribute('transform')") == before


def test_a_text_that_is_markup_is_shown_and_does_not_run(view):
    view.click(node("evil"))
    assert shown(view, "text") == EVIL
    assert "→ <i>said</i> 0.25" in shown(view, "ties")
    assert view.value("document.title") == "default · Priming"
    assert view.value("document.querySelectorAll('img, i, b:not(#tip b)').length") == 0
    assert view.value("document.scripts.length") == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_follows_the_readers_light_or_dark(view, scheme):
    view.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    paper, ink = view.value("[getComputedStyle(document.body)].flatMap((s) => [s.backgroundColor, s.color])")
    is_light = sum(map(int, paper[4:-1].split(","))) > sum(map(int, ink[4:-1].split(",")))
    assert is_light == (scheme == "light")


def test_the_policy_forbids_every_request_and_every_foreign_script(browser, drawn):
    with page(browser) as view:
        view.open(drawn)
        stopped = """new Promise((done) => {
          const seen = [];
          addEventListener('securitypolicyviolation', (event) => {
            seen.push(event.effectiveDirective);
            if (seen.length === 4) done(seen.sort());
          });
          fetch('http://127.0.0.1:9/').catch(() => {});
          document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:9/a.png'}));
          document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}));
          document.body.append(Object.assign(document.createElement('iframe'), {src: 'http://127.0.0.1:9/'}));
        })"""
        assert view.value(stopped) == ["connect-src", "frame-src", "img-src", "script-src-elem"]
        assert view.value("window.ran") is None


def test_the_map_shows_without_scripting_too(browser, drawn):
    with page(browser) as view:
        view.ask("Emulation.setScriptExecutionDisabled", value=True)
        view.open(drawn)
        root = view.ask("DOM.getDocument")["root"]["nodeId"]
        for selector, least in (
            ("#nodes circle", 3),
            ("#nodes circle title", 3),
            ("#links line", 2),
            ("#names text", 3),
        ):
            assert len(view.ask("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"]) >= least


def test_five_hundred_memories_are_drawn_and_named_as_far_as_there_is_room(browser, tmp_path):
    with Memory.open("sqlite://", embedder=HashedEmbedder(64)) as memory:
        memory.remember_many([{"content": f"note {n}", "key": f"n{n}", "kind": "fact"} for n in range(500)])
        memory.link_many([{"source": f"n{n}", "target": f"n{(n - 1) // 3}"} for n in range(1, 500)])
        path = tmp_path / "many.html"
        path.write_text(memory.graph("html", kinds=["fact"]), encoding="utf-8")
    with page(browser) as view:
        view.open(path)
        assert view.value("document.querySelectorAll('#nodes circle').length") == 500
        named = "[...document.querySelectorAll('#names text:not(.off)')].map((one) => one.getBoundingClientRect())"
        crossed = f"""(() => {{
          const boxes = {named};
          return boxes.some((a, i) => boxes.slice(i + 1).some((b) =>
            a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
        }})()"""
        assert 10 <= view.value(f"{named}.length") <= 100
        assert view.value(crossed) is False
        assert view.complaints == []


def test_an_empty_graph_is_a_page_too(browser, tmp_path):
    path = tmp_path / "empty.html"
    with Memory.open("sqlite://", embedder=HashedEmbedder(64)) as memory:
        path.write_text(memory.graph("html"), encoding="utf-8")
    with page(browser) as view:
        view.open(path)
        assert shown(view, "summary") == "0 memories, 0 links"
        assert view.complaints == []
