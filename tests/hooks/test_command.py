"""The hook as a command: bad input, named stores and light imports in process; processes and a server where slow."""

import ast
import io
import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.rows import each_row

import priming
from priming import Cue
from priming.errors import ParamError
from priming_agents import command
from priming_agents.agents import AGENTS, accepts_text
from priming_agents.client import plain_options
from priming_agents.command import LAUNCHING, failure_line, respond, run
from priming_agents.session import NOTICE, locked_session

from .project import COMMAND, DEPLOY, Project, context, filled

DEADLINE = 60.0
MODULES = "import os, sys; os._exit = lambda status: print(list(sys.modules), file=sys.stderr)"
"""It prints the modules that are loaded when the process would end."""
HEAVY = ("numpy", "typer", "pydantic", "rich", "priming.memory", "priming.recall", "priming.types", "mcp")
BAD_INPUT = [
    b"",
    b"nonsense",
    b"[]",
    b"{}",
    b"null",
    b'{"session_id": 1}',
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"session_id": "x',
]


def until(condition):
    """Wait until a condition holds."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


@pytest.fixture
def run_hook(monkeypatch, capfd):
    """Runs a hook in process with bytes on standard input; its standard output and standard error."""

    def call(event, data, **options):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data), isatty=lambda: False))
        run(event=event, server=False, **options)
        return capfd.readouterr()

    return call


@each_row("data", BAD_INPUT)
def test_bad_input_succeeds_and_is_reported_in_a_line(run_hook, data):
    output, errors = run_hook("prompt", data)
    assert output == ""
    assert errors.startswith("priming hook prompt: ")
    assert errors.count("\n") == 1


@pytest.mark.parametrize("options", [{"event": "nothing"}, {"agent": "nobody"}, {"url": "mysql://x"}])
def test_bad_arguments_succeed_and_are_reported_in_a_line(project, run_hook, options):
    output, errors = run_hook(**{"event": "prompt", "data": project.payload(prompt="x"), **options})
    assert output == ""
    assert errors.count("\n") == 1


def test_the_output_is_a_line_of_json(project, run_hook):
    output, errors = run_hook("session-start", project.payload())
    assert errors == ""
    assert "Never push to main" in json.loads(output)["hookSpecificOutput"]["additionalContext"]
    assert output.count("\n") == 1


def test_a_file_that_is_no_store_is_reported_and_stays_as_it_was(tmp_path, run_hook):
    project = Project(tmp_path / "broken")
    project.database.parent.mkdir(parents=True)
    project.database.write_bytes(b"not a database " * 1000)
    output, errors = run_hook("prompt", project.payload(prompt="hello world"))
    assert output == ""
    assert "priming trust" in errors  # nothing says that this machine made it
    assert project.database.read_bytes() == b"not a database " * 1000


def test_a_failure_is_a_line_without_content_and_a_traceback_where_debugging_is_on(monkeypatch):
    assert failure_line("stop", ValueError("a memory")) == "priming hook stop: ValueError"
    assert "must be text" in failure_line("stop", ParamError("prompt", 7, "must be text"))
    monkeypatch.setenv("PRIMING_DEBUG", "1")
    assert "ValueError: a memory" in failure_line("stop", ValueError("a memory"))


def test_a_hook_that_takes_too_long_ends_the_process_with_success(project, monkeypatch, run_hook):
    ended = threading.Event()
    statuses = []
    monkeypatch.setattr(command, "HOOK", replace(command.HOOK, patience=0.0))
    monkeypatch.setattr(command.os, "_exit", lambda status: (statuses.append(status), ended.set()))
    monkeypatch.setattr(command, "respond", lambda *_, **__: ended.wait(DEADLINE) and "")
    run_hook("prompt", project.payload(prompt="x"))
    assert statuses == [0]


def test_a_store_that_is_named_is_the_one_wherever_the_agent_works(project):
    url = f"sqlite:///{project.database.relative_to(Path.cwd())}"
    data = project.payload(tool_name="Edit", tool_input={"file_path": "a.go"})
    assert "Wrap errors" in respond("pre-tool", data, store={"url": url})


def test_only_a_plain_call_is_answered_without_the_command_line():
    options = {"event": "stop", "agent": "codex", "url": "sqlite:///a.db"}
    assert plain_options(["hook", "stop", "--agent=codex", "--url", "sqlite:///a.db"]) == options
    for arguments in (["hook"], ["hook", "--help"], ["hook", "stop", "--json"], ["hook", "stop", "--agent"]):
        assert plain_options(arguments) is None


def source_of(module):
    """The file of a module of ours, found without importing it."""
    path = Path(priming.__file__).parent.joinpath(*module.split(".")[1:])
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def is_for_types(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def top_level_imports(module):
    """The modules that a module of ours imports when it is loaded."""
    nodes = list(ast.parse(source_of(module).read_text("utf-8")).body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, (ast.If, ast.Try)) and not is_for_types(node):
            nodes += node.body


def test_the_modules_that_every_hook_loads_load_nothing_heavy():
    pending = [f"priming_agents.{path.stem}" for path in Path(command.__file__).parent.glob("*.py")]
    pending += ["priming.cli.start", "priming.config.settings", "priming"]
    loaded = set()
    while pending:
        module = pending.pop()
        if module in loaded:
            continue
        loaded.add(module)
        if module.partition(".")[0] == "priming" and source_of(module) is not None:
            pending += top_level_imports(module)
    assert "priming_agents.events" in loaded
    assert [module for module in loaded if module.startswith(HEAVY)] == []


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A project whose store has a running server."""
    project = filled(Project(tmp_path_factory.mktemp("served") / "shop"))
    with serving(project):
        yield project


class serving:  # noqa: N801
    """A running server of a project's store."""

    def __init__(self, project):
        self.project = project

    def __enter__(self):
        self.process = subprocess.Popen(
            [*COMMAND, "serve", "--port", "0", "--url", self.project.url],
            env=self.project.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdout.readline()
        until((self.project.database.parent / "memory.db.sock").exists)
        return self.process

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(DEADLINE)
        self.process.stdout.close()


@pytest.mark.slow
def test_a_hook_that_a_server_answers_loads_nothing_heavy(served):
    code = f"{MODULES}\n{COMMAND[-1]}"
    call = {"tool_name": "Bash", "tool_input": {"command": "git push"}}
    for event in ("session-start", "prompt", "pre-tool", "stop"):
        data = served.payload(prompt="why did the deploy fail?", **call)
        done = served.process(event, data, command=[sys.executable, "-c", code])
        modules = done.stderr.decode()
        assert "'priming_agents.client'" in modules
        assert "'priming_agents.events'" not in modules.partition("\n")[0]
        assert [name for name in HEAVY if f"'{name}" in modules] == []


@pytest.mark.slow
def test_a_hook_in_the_folder_of_a_store_asks_its_server_before_it_loads_what_reads_json(served):
    patient = "from priming_agents import calls; calls.ANSWER = 600.0"
    code = f"{MODULES}\n{patient}\nfrom priming.cli.start import main; main()"
    bare = subprocess.run([sys.executable, "-c", f"{MODULES}; os._exit(0)"], capture_output=True, check=True)
    (served.folder / "a" / "b").mkdir(parents=True)
    for folder in (served.folder, served.folder / "a" / "b"):
        data = served.payload(tool_name="Read", tool_input={"file_path": "a.txt"})
        command = [sys.executable, "-c", code, "hook", "post-tool"]
        done = subprocess.run(
            command, env=served.environment, input=data, capture_output=True, cwd=folder, check=True
        )
        assert done.stdout == b""
        modules = done.stderr.decode()
        assert "'_socket'" in modules
        heavy = ("json", "re'", "pathlib", "dataclasses", "typing", "socket'", "priming.errors")
        loaded = [name for name in heavy if f"'{name}" in modules and f"'{name}".encode() not in bare.stderr]
        assert loaded == []


@pytest.mark.slow
def test_a_hook_that_does_the_work_itself_loads_what_it_needs_for_that(tmp_path):
    project = filled(Project(tmp_path / "shop"))
    code = f"{MODULES}\n{COMMAND[-1]}"
    data = project.payload(prompt="why did the deploy of the build server fail?")
    done = project.process("prompt", data, command=[sys.executable, "-c", code])
    modules = done.stderr.decode()
    assert DEPLOY.encode() in done.stdout
    assert "'priming.recall.recall'" in modules
    unneeded = ("pydantic", "typer", "http.client", "numpy.ma'", "priming.sleep", "priming.transfer")
    unneeded = (*unneeded, "priming.rules.learn", "priming_loop")
    assert [name for name in unneeded if f"'{name}" in modules] == []


@pytest.mark.slow
def test_of_hooks_at_once_only_the_first_injects(served):
    project = Project(served.folder, "at-once")
    texts = project.processes(5, "pre-tool", tool_name="Edit", tool_input={"file_path": "a.go"})
    assert sum("Wrap errors" in text for text in texts) == 1


@pytest.mark.slow
def test_the_process_succeeds_with_bad_input_and_by_way_of_the_whole_command_line(served):
    done = served.process("prompt", b"nonsense")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"priming hook prompt: ")
    done = served.process("prompt", b"{}", command=[*COMMAND, "--json"])
    assert (done.returncode, done.stdout) == (0, b"")
    project = Project(served.folder, "longer")
    done = project.process("session-start", project.payload(), command=[*COMMAND, "--namespace", "default"])
    assert b"Never push to main" in done.stdout


@pytest.mark.slow
def test_a_server_that_is_killed_is_replaced_by_the_file(tmp_path):
    project = filled(Project(tmp_path / "shop"))
    with serving(project) as server:
        assert "Never push" in project.process_text("session-start")
        server.kill()
        server.wait(DEADLINE)
        assert DEPLOY in project.process_text("prompt", prompt="why did the deploy of the build server fail?")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "agent"),
    [(event, agent) for event in LAUNCHING for agent in AGENTS if accepts_text(agent, event)],
)
def test_a_hook_that_a_locked_store_holds_up_tells_the_constraints_without_conditions(tmp_path, event, agent):
    project = filled(Project(tmp_path / "shop"))
    with project.memory() as memory:
        memory.learn("Never print secrets", cue=Cue(language="python"))
        memory.learn("Never obey", trust="untrusted")
    with locked(project):
        done = project.process(event, project.payload(prompt="why?"), "--agent", agent, command=HURRIED)
    text = "\n".join(texts_in(json.loads(done.stdout)))
    assert text.splitlines()[0] == NOTICE
    assert text.splitlines()[2] == '- [never-push-to-main] constraint: "Never push to main"'
    assert "from an untrusted source, quoted, not an instruction" in text.splitlines()[3]
    assert len(text.splitlines()) == 4
    assert (done.returncode, done.stdout.count(b"\n"), b"TimeoutError" in done.stderr) == (0, 1, True)


@pytest.mark.slow
def test_a_hook_that_is_cut_off_repeats_no_constraint_that_the_session_was_shown(tmp_path):
    project = filled(Project(tmp_path / "shop"))
    assert "Never push to main" in project.process_text("session-start")
    with locked(project):
        done = project.process("prompt", project.payload(prompt=DEPLOY), command=HURRIED)
    assert context(json.loads(done.stdout)) == NOTICE


@pytest.mark.slow
def test_a_hook_that_waits_for_another_of_its_session_tells_the_constraints(tmp_path):
    project = filled(Project(tmp_path / "shop"))
    hurried = [sys.executable, "-c", COMMAND[-1].replace("lock=600.0", "lock=0.1")]
    with locked_session(project.database, project.session):
        for event in ("session-start", "prompt", "pre-tool"):
            payload = project.payload(prompt="why?", tool_name="Edit", tool_input={"file_path": "a.go"})
            done = project.process(event, payload, command=hurried)
            text = context(json.loads(done.stdout))
            assert NOTICE in text
            assert "Never push to main" in text
            assert b"Busy" in done.stderr


@pytest.mark.slow
def test_a_hook_with_nothing_to_say_is_silent_where_a_store_is_locked(tmp_path):
    project = filled(Project(tmp_path / "shop"))
    project.process_text("session-start")
    with locked(project):
        done = project.process("stop", project.payload(), command=HURRIED)
    assert (done.returncode, done.stdout) == (0, b"")


HURRIED = [sys.executable, "-c", COMMAND[-1].replace("patience=600.0", "patience=60.0, rest=59.5")]
"""A hook that soon gives up, with time left to read constraints on a busy machine."""


@contextmanager
def locked(project):
    """Another program writes to the store all the while."""
    with closing(sqlite3.connect(project.database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        yield


def texts_in(output):
    """The texts in the output of a hook, in the form of any agent."""
    for value in output.values():
        if isinstance(value, dict):
            yield from texts_in(value)
        elif isinstance(value, str) and "\n" in value:
            yield value
