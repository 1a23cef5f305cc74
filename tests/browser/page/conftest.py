"""A Chromium driven by Playwright, a server process on a store of the test's own, and looks for faults."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import expect, sync_playwright

from priming_server.page import site

from ..finding import REMEDY, find

ROOT = Path(__file__).resolve().parents[3]
FLAGS = ("--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
"""WebGL without a graphics card."""
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE = 600_000
"""Milliseconds until something that does not come about is given up."""
expect.set_options(timeout=PATIENCE)
STORY = ROOT / "demo" / "story" / "documents.jsonl"
SHOTS = ROOT / "build" / "shots"


class Process:
    """A server process of its own, which can be ended and started again at the same port."""

    def __init__(self, folder):
        self.url, self.port, self._folder = f"sqlite:///{folder}/memory.db", 0, folder
        self.start()

    def start(self):
        home = str(self._folder)
        env = {**os.environ, "HOME": home, "PRIMING_HOME": home, "PRIMING_EMBEDDER": "wordllama"}
        program = "from priming.cli.start import main; main()"
        command = [sys.executable, "-c", program, "serve", "--url", self.url, "--port", str(self.port)]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--json"], env=env, stdout=subprocess.PIPE, stderr=log, text=True
            )
        line = self._process.stdout.readline()
        assert line, (self._folder / "log").read_text("utf-8")
        self.at = json.loads(line)["listening"]
        self.port = int(self.at.rpartition(":")[2])

    def stop(self):
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()
        self._process.stdout.close()

    def done(self, operation, token=None, **arguments):
        """What an operation answers, asked by another process than the browser."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        at = f"{self.at}/v1/default/{operation}"
        answer = httpx2.post(at, json=arguments, headers=headers, timeout=600, verify=False)
        assert answer.is_success, answer.text
        return answer.json()

    def tell_story(self):
        """Store the example that the page offers."""
        notes = [json.loads(line) for line in STORY.read_text("utf-8").splitlines()]
        fields = {
            "id": "key",
            "time": "occurred_at",
            "speaker": "speaker",
            "text": "content",
            "files": "files",
        }
        self.done(
            "remember_many",
            items=[{fields[name]: value for name, value in note.items() if name in fields} for note in notes],
        )


@pytest.fixture(scope="package")
def chromium():
    """A browser. It ends with these tests: while it lives, its thread has a running event loop."""
    path = find()
    if path is None:
        pytest.fail(REMEDY)
    if not (ROOT / "build" / "page" / "site" / site.INDEX).is_file() or not AXE.is_file():
        pytest.fail("the page is not built: make page")
    with sync_playwright() as play:
        launched = play.chromium.launch(executable_path=path, args=[*FLAGS])
        yield launched
        launched.close()


@pytest.fixture
def empty(tmp_path):
    """A server on an empty store."""
    process = Process(tmp_path)
    yield process
    process.stop()


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """A server on the example, for the tests of a module that leave it as it is."""
    process = Process(tmp_path_factory.mktemp("story"))
    process.tell_story()
    yield process
    process.stop()


@pytest.fixture
def fresh(empty):
    """A server on the example, for one test."""
    empty.tell_story()
    return empty


@pytest.fixture
def visit(chromium):
    """Opens the page of a server; at the end nothing may have complained, or been asked for elsewhere."""
    visits = []

    def begun(server, route="", *, width=1440, height=900, scheme="light", motion="reduce", calm=True):
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion=motion
        )
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.faults, page.requested = [], []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda message: message.type == "error" and page.faults.append(message.text))
        page.on("request", lambda request: page.requested.append(request.url))
        visits.append((context, page, server, calm))
        page.goto(f"{server.at}/{route}")
        return page

    yield begun
    for context, page, server, calm in visits:
        context.close()
        assert [url for url in page.requested if not url.startswith((server.at, "data:"))] == []
        assert not calm or page.faults == []


def ask(page, text):
    """Ask a question as a person does, and wait for its hits."""
    page.keyboard.press("/")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")


def axe(page):
    """What axe finds wrong with what is shown, in a few words each."""
    page.evaluate(AXE.read_text("utf-8"))
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [(rule["id"], node["html"][:160]) for rule in result["violations"] for node in rule["nodes"]]


def soon(page, condition):
    """Wait until something is so: what a key or a pointer does is drawn with a later frame."""
    end = time.monotonic() + PATIENCE / 1000
    while not condition():
        assert time.monotonic() < end
        page.wait_for_timeout(20)


def keep(page, name):
    """Keep a picture of what is shown, for people to look at."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")
