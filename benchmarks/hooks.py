"""How long an agent waits for each of its hooks: with the session's server, with ``priming serve``, and alone.

Each hook is a process from nothing. The first is that of a session that begins, each other the first after it, so
that it has something to bring up; servers are warm, and so are the files. The store holds 10,000 memories and twenty
rules. What any hook in Python takes, ``python -c pass``, stands beside.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import common
import corpus
from priming import Cue, Memory
from priming.operations.connection import about
from priming.operations.local_socket import end_server, socket_path

HOOK = [sys.executable, "-c", "from priming.cli.start import main; main()"]
DATABASE = Path(".priming", "memory.db")
EVENTS = ("session-start", "prompt", "pre-tool", "post-tool", "stop")
MOST, MOST_ALONE = 120.0, 350.0
"""Milliseconds that a hook may take with the session's server, and without any."""
_SESSIONS = itertools.count()
_BEGUN: list[str] = []
_OFF = {"PRIMING_HOOKS_SERVER": "off"}


def main() -> None:
    options = common.arguments(__doc__ or "").parse_args()
    count, times = (500, 7) if options.quick else (10_000, 25)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages have their bytecode
    os.environ["PRIMING_EMBEDDER"] = "wordllama"  # the base install, whatever extras are there
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve() / "shop"
        (project / ".priming").mkdir(parents=True)
        (project / "go.mod").touch()  # a session begins with the rules of its language
        os.environ["PRIMING_HOME"] = str(project.parent / "home")
        asked = filled(project, count)
        with own_server(project, asked):
            begin(project, asked, 6 * times * len(EVENTS))
            own = measured(project, asked, times)
        with served(project):
            quick = measured(project, asked, times, **_OFF)
        alone = measured(project, asked, max(3, times // 3), **_OFF)
    rows = []
    for name, taken, most in (
        ("the session's server running", own, MOST),
        ("priming serve running", quick, None),
        ("without a server", alone, MOST_ALONE),
    ):
        for event in EVENTS:
            title = f"{event}, {name}"
            if most is not None:
                rows.append(common.Row(title, taken[event], most, 1.0, f"{most:g} ms", growth=True))
            rows.append(common.Row(title, taken[event], taken["pass"], None, "python -c pass", growth=True))
    common.show("Hooks of a coding agent", rows)
    common.write("hooks", rows, memories=count)


def filled(project: Path, count: int) -> str:
    """A project with a store, and a prompt that one of its memories answers."""
    memories = corpus.memories(count)
    with Memory.open(f"sqlite:///{project / DATABASE}") as memory:
        memory.remember_many(memories)
        for i in range(20):
            memory.learn(
                f"Never use the module number {i} in new code", cue=Cue(language=("go", "python")[i % 2])
            )
    subprocess.run([*HOOK, "trust"], cwd=project, check=True, capture_output=True)
    return str(memories[count // 2]["content"])


@contextmanager
def served(project: Path) -> Iterator[None]:
    """A running server of the store of a project."""
    with subprocess.Popen(
        [*HOOK, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=project,
        env={**os.environ, **_OFF},  # it answers hooks with the same variables
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline(), "the server did not start"
        try:
            yield
        finally:
            server.send_signal(signal.SIGTERM)


@contextmanager
def own_server(project: Path, asked: str) -> Iterator[None]:
    """The server that a session leaves behind."""
    database = project / DATABASE
    run(project, "session-start", asked)
    deadline = time.monotonic() + 60.0
    while about(socket_path(database), 5.0) is None:
        assert time.monotonic() < deadline, "no server was left behind"
        time.sleep(0.05)
    try:
        yield
        answer = about(socket_path(database), 5.0)
        assert answer is not None, "the server has ended"
        assert answer["calls"] >= len(EVENTS), "the server was not called"
    finally:
        end_server(socket_path(database))


def begin(project: Path, asked: str, count: int) -> None:
    """Begin the sessions of which later hooks are."""
    for number in range(count):
        run(project, "session-start", asked, f"begun {number}")
        _BEGUN.append(f"begun {number}")


def measured(project: Path, asked: str, times: int, **variables: str) -> dict[str, float]:
    """Median milliseconds of each hook, and of a Python that does nothing."""
    cases = {event: lambda _, event=event: run(project, event, asked, **variables) for event in EVENTS}
    return common.medians({**cases, "pass": lambda _: nothing()}, [None] * times, warm_up=1, block=5)


def run(project: Path, event: str, asked: str, session: str = "", **variables: str) -> None:
    """One hook, of a session of its own that has begun, unless it begins one."""
    session = session or (f"new {next(_SESSIONS)}" if event == "session-start" else _BEGUN.pop())
    said = {
        "session_id": f"{os.getpid()} {session}",
        "cwd": str(project),
        "prompt": asked,
        "tool_name": "Edit",
        "tool_input": {"file_path": "a.py"},
    }
    done = subprocess.run(
        [*HOOK, "hook", event, "--agent", "claude-code"],
        cwd=project,
        input=json.dumps(said).encode(),
        capture_output=True,
        check=True,
        env={**os.environ, **variables},
    )
    assert not done.stderr, done.stderr
    assert bool(done.stdout) == (event in ("session-start", "prompt", "pre-tool")), event


def nothing() -> None:
    """What any hook in Python takes."""
    subprocess.run([sys.executable, "-c", "pass"], check=True)


if __name__ == "__main__":
    main()
