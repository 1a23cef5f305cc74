"""How long an agent waits for each of its hooks: a process from nothing, with and without a running server.

The session is new in each run, so that every hook has something to bring up. The store holds 10,000 memories and
twenty rules. What any hook in Python takes, ``python -c pass``, stands beside.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import common
import corpus
from priming import Cue, Memory

HOOK = [sys.executable, "-c", "from priming.cli.start import main; main()"]
EVENTS = ("session-start", "prompt", "pre-tool", "post-tool", "stop")
MOST = 150.0
"""Milliseconds that a hook may take with a server running."""
_SESSIONS = itertools.count()


def main() -> None:
    options = common.arguments(__doc__ or "").parse_args()
    count, times = (500, 7) if options.quick else (10_000, 25)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/memory.db"
        asked = filled(url, count)
        with served(url):
            quick = measured(url, asked, times)
        slow = measured(url, asked, max(3, times // 3))
    rows = [
        common.Row(f"{event}, a server running", quick[event], MOST, 1.0, f"{MOST:g} ms", growth=True)
        for event in EVENTS
    ]
    rows += [
        common.Row(
            f"{event}, a server running", quick[event], quick["pass"], None, "python -c pass", growth=True
        )
        for event in EVENTS
    ]
    rows += [
        common.Row(
            f"{event}, without a server", slow[event], slow["pass"], None, "python -c pass", growth=True
        )
        for event in EVENTS
    ]
    common.show("Hooks of a coding agent", rows)
    common.write("hooks", rows, memories=count)


def filled(url: str, count: int) -> str:
    """A store to ask, and a prompt that one of its memories answers."""
    memories = corpus.memories(count)
    with Memory.open(url) as memory:
        memory.remember_many(memories)
        for i in range(20):
            memory.learn(f"Never use the module number {i} in new code", cue=Cue(language="python"))
    return str(memories[count // 2]["content"])


@contextmanager
def served(url: str) -> Iterator[None]:
    """A running server of a store."""
    with subprocess.Popen(
        [*HOOK, "serve", "--port", "0", "--url", url], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline(), "the server did not start"
        try:
            yield
        finally:
            server.send_signal(signal.SIGTERM)


def measured(url: str, asked: str, times: int) -> dict[str, float]:
    """Median milliseconds of each hook, and of a Python that does nothing."""
    cases = {event: lambda _, event=event: run(url, event, asked) for event in EVENTS}
    return common.medians({**cases, "pass": lambda _: nothing()}, [None] * times, warm_up=1, block=5)


def run(url: str, event: str, asked: str) -> None:
    """One hook, of a session of its own."""
    said = {
        "session_id": f"{os.getpid()}-{next(_SESSIONS)}",
        "cwd": str(Path(__file__).parent.parent),
        "prompt": asked,
        "tool_name": "Edit",
        "tool_input": {"file_path": "a.py"},
    }
    done = subprocess.run(
        [*HOOK, "hook", event, "--url", url], input=json.dumps(said).encode(), capture_output=True, check=True
    )
    assert not done.stderr, done.stderr
    assert bool(done.stdout) == (event in ("session-start", "prompt", "pre-tool")), event


def nothing() -> None:
    """What any hook in Python takes."""
    subprocess.run([sys.executable, "-c", "pass"], check=True)


if __name__ == "__main__":
    main()
