"""Drives a Chromium over its DevTools protocol, through a pair of pipes: no library is needed, no port opened."""

from __future__ import annotations

import json
import os
import select
import signal
from contextlib import contextmanager, suppress
from pathlib import Path

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
PATIENCE = 600.0
"""Seconds until a browser that does not answer is given up."""


class Browser:
    """A Chromium process of our own, with a profile that nobody had before."""

    def __init__(self, path, profile, log):
        their_in, self._out = os.pipe()
        self._in, their_out = os.pipe()
        command = [path, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self._log = log
        # A pipe may have the number 3 or 4 itself: both are moved out of the way before they are put there.
        high = [os.dup(fd) for fd in (their_in, their_out)]
        while min(high) <= 4:
            high = [os.dup(fd) for fd in high]
        actions = [
            (os.POSIX_SPAWN_OPEN, 2, str(log), os.O_WRONLY | os.O_CREAT, 0o600),
            *((os.POSIX_SPAWN_DUP2, fd, number) for fd, number in zip(high, (3, 4), strict=True)),
        ]
        for fd in high:
            os.set_inheritable(fd, True)
        self._pid = os.posix_spawn(path, command, os.environ, file_actions=actions, setpgroup=0)
        for fd in {their_in, their_out, *high}:
            os.close(fd)
        self._rest, self._number = b"", 0
        self.events = []

    def call(self, method, session=None, **params):
        """Ask for something and wait for the answer; what happens meanwhile is kept in ``events``."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            output = self._read()
            if output.get("id") == self._number:
                assert "error" not in output, f"{method}: {output['error']}"
                return output["result"]

    def wait(self, method, session):
        """Wait until something has happened."""
        while not any(
            event["method"] == method and event.get("sessionId") == session for event in self.events
        ):
            self._read()

    def _read(self):
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], PATIENCE)
            data = os.read(self._in, 1 << 16) if ready else b""
            assert data, f"the browser does not answer: {self._log.read_text('utf-8', 'replace')}"
            self._rest += data
        message, self._rest = self._rest.split(b"\0", 1)
        document = json.loads(message)
        if "method" in document:
            self.events.append(document)
        return document

    def close(self):
        """End it, and all that it started."""
        with suppress(AssertionError, OSError):
            self.call("Browser.close")
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._in)
        os.close(self._out)


class Page:
    """One page, looked at and used as a reader would."""

    def __init__(self, browser, session):
        self._browser, self._session = browser, session
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **params):
        """A call of the protocol, for this page."""
        return self._browser.call(method, self._session, **params)

    def open(self, path, query=""):
        """Load a file, to the end."""
        self.ask("Page.navigate", url=f"{Path(path).as_uri()}{query}")
        self._browser.wait("Page.loadEventFired", self._session)

    def value(self, expression):
        """What an expression of JavaScript is, as JSON holds it; promises are waited for."""
        done = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def centre(self, selector):
        """The middle of an element on the screen."""
        box = self.value(
            f"(({{left, top, width, height}}) => [left + width / 2, top + height / 2])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        return {"x": box[0], "y": box[1]}

    def mouse(self, kind, at, **more):
        """Something done with the mouse at a point: mouseMoved, mousePressed, mouseReleased, mouseWheel."""
        self.ask("Input.dispatchMouseEvent", type=kind, **at, **more)

    def click(self, selector):
        """A click in the middle of an element."""
        at = self.centre(selector)
        self.mouse("mouseMoved", at)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, at, button="left", clickCount=1)

    def drag(self, start, by):
        """Press, move and let go."""
        end = {"x": start["x"] + by["x"], "y": start["y"] + by["y"]}
        self.mouse("mousePressed", start, button="left", clickCount=1)
        self.mouse("mouseMoved", end, button="left", buttons=1)
        self.mouse("mouseReleased", end, button="left", clickCount=1)

    def type(self, text):
        """Text typed into what has the focus."""
        self.ask("Input.insertText", text=text)

    def press(self, key):
        """A key that writes nothing."""
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def _events(self, method):
        return [
            event["params"]
            for event in self._browser.events
            if event["method"] == method and event.get("sessionId") == self._session
        ]

    @property
    def requests(self):
        """The addresses that the page asked for."""
        return [event["request"]["url"] for event in self._events("Network.requestWillBeSent")]

    @property
    def complaints(self):
        """Errors of scripts, and whatever the browser or the page wrote to the console."""
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event for kind in kinds for event in self._events(kind)]


@contextmanager
def page(browser):
    """A page in a context of its own, closed in the end."""
    context = browser.call("Target.createBrowserContext")["browserContextId"]
    target = browser.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    yield Page(browser, session)
    browser.call("Target.disposeBrowserContext", browserContextId=context)
