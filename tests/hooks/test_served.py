"""The server that a session leaves behind: it answers hooks for its store, is the only one, and does not outstay."""

import fcntl
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import replace

import pytest

from priming.config import variables
from priming.config.params.limits import SOCKET
from priming.config.settings import load
from priming.maintenance.adoption import content_of
from priming.operations import local_server as local_server
from priming.operations.connection import about
from priming.operations.local_http import local_listener
from priming.operations.local_server import LocalServer
from priming.operations.local_socket import end_server, listens, socket_path
from priming.operations.service import LocalService
from priming_agents import calls, client, command
from priming_agents.calls import new_call
from priming_agents.session import folder_of

from .project import COMMAND, Project, context, filled
from .test_command import DEADLINE, HURRIED, locked, until

DEPLOY_PROMPT = "why did the deploy of the build server fail?"


class Running:
    """A server of a project's store, as a session leaves it behind, in a thread of the test."""

    def __init__(self, project, idle=600.0):
        self.project, self.idle, self.exits = project, idle, ExitStack()

    def __enter__(self):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.project.folder)
            settings = load()
        service = self.exits.enter_context(closing(LocalService(self.project.url, settings=settings)))
        local = self.exits.enter_context(local_listener(service))
        self.server = LocalServer(service, local, idle=self.idle)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        with self.exits:
            self.server.run()

    def __exit__(self, *_):
        self.server.stop()
        self.thread.join(DEADLINE)

    @property
    def socket(self):
        return socket_path(self.project.database)

    def ask(self, event, call=None, folder=None, **more):
        """The answer to a hook; ``identity`` replaces what the client says of itself."""
        request = {
            **variables.identity(),
            "event": event,
            "agent": None,
            "store": {},
            "folder": "/",
            "call": call or new_call(),
            **more.pop("identity", {}),
        }
        payload = replace(self.project, folder=folder or self.project.folder).payload(**more)
        return client.ask(str(self.socket), request, payload)

    def text(self, event, **more):
        answer = self.ask(event, **more)
        assert answer["error"] == ""
        return context(json.loads(answer["output"]) if answer["output"] else None)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """However busy the machine is, a server that is there is waited for, and looks around often."""
    monkeypatch.setattr(calls, "ANSWER", DEADLINE)
    monkeypatch.setattr(local_server, "SOCKET", replace(SOCKET, look=0.01))


@pytest.fixture
def running(project):
    with Running(project) as server:
        yield server


def test_it_answers_a_hook_as_a_process_of_its_own_would(running):
    assert "Never push to main" in running.text("session-start")
    assert "Never push to main" not in running.text("prompt", prompt=DEPLOY_PROMPT)
    assert running.ask("prompt", prompt="ok")["output"] == ""
    assert stat.S_IMODE(running.socket.stat().st_mode) == 0o600


def test_a_call_that_comes_twice_is_carried_out_once_and_answered_the_same(project, running):
    call, prompt = new_call(), "No, use ruff instead of flake8."
    first = running.ask("prompt", call, prompt=prompt)
    assert "Use ruff instead of flake8" in first["output"]
    assert running.ask("prompt", call, prompt=prompt) == first
    with project.memory() as memory:
        rule = memory.get("use-ruff-instead-of-flake8")
        assert rule.confidence == memory.get("prefer-small-commits").confidence  # that of a first correction


@pytest.mark.parametrize("event", ["prompt", "nothing"])
def test_what_fails_is_a_line_as_ever(running, event):
    answer = running.ask(event, session_id=7)
    assert answer["output"] == ""
    assert answer["error"].startswith(f"priming hook {event}: ParamError")


def test_a_client_with_other_variables_does_the_work_itself(running):
    assert "refused" in running.ask("session-start", identity={"variables": {"PRIMING_NAMESPACE": "other"}})
    assert "refused" in running.ask("session-start", identity={"package": "/elsewhere", "version": "0"})
    assert "Never push" in running.text("session-start")


def test_a_server_whose_program_was_replaced_ends(running):
    assert "refused" in running.ask("session-start", identity={"version": "9.9"})
    running.thread.join(DEADLINE)
    assert not running.socket.exists()


def test_settings_that_change_hold_at_once(project, running, monkeypatch):
    monkeypatch.chdir(project.folder)
    settings = project.folder / ".priming" / "config.toml"
    settings.write_text('[store]\nnamespace = "other"\n')
    content_of(load()).settle(adopt=True)
    assert "Never push" not in running.text("session-start")
    settings.write_text('[hooks]\nserver = "off"\n')
    content_of(load()).settle(adopt=True)
    assert running.ask("session-start") == {"refused": command.OFF}
    running.thread.join(DEADLINE)
    assert not running.thread.is_alive()


def test_a_server_answers_for_its_own_store_only(project, running, tmp_path):
    other = filled(Project(tmp_path / "other", embedder=project.embedder))
    other.adopt()
    assert running.ask("session-start", folder=other.folder) == {"refused": command.OTHER}


def test_it_ends_when_nobody_calls(project):
    with Running(project, idle=0.0) as running:
        running.thread.join(DEADLINE)
        assert not running.socket.exists()


@pytest.mark.parametrize("gone", ["folder", "database", "socket"])
def test_it_ends_when_what_it_serves_is_gone(project, gone):
    with Running(project) as running:
        if gone == "folder":
            shutil.rmtree(project.folder / ".priming")
        else:
            (project.database if gone == "database" else running.socket).unlink()
        running.thread.join(DEADLINE)
        assert not running.thread.is_alive()
        assert not running.socket.exists()
        assert (project.folder / ".priming").exists() == (gone != "folder")


def test_it_says_how_it_is(running):
    state = about(running.socket, DEADLINE)
    assert (state["pid"], state["calls"], state["ends_after"]) == (os.getpid(), 0, 600.0)
    running.ask("session-start")
    assert about(running.socket, DEADLINE)["calls"] == 1


def test_it_works_in_the_folder_of_the_agent_and_leaves_the_process_where_it_is(running):
    before = os.getcwd()
    assert "Never push to main" in running.text("session-start")
    assert os.getcwd() == before != str(running.project.folder)


def test_what_is_no_request_does_not_end_it(running):
    head = b"POST /local/hook HTTP/1.1\r\nContent-Length: "
    for nonsense in (
        b"",
        b"nonsense\n",
        b"POST x\r\n",
        head + b"2\r\n\r\n[]",
        head + b"2\r\n\r\n{}",
        head + b"-1\r\n",
    ):
        with socket.socket(socket.AF_UNIX) as end:
            end.connect(str(running.socket))
            end.sendall(nonsense)
            end.shutdown(socket.SHUT_WR)
            with suppress(ConnectionResetError):
                end.recv(100)
    assert "Never push" in running.text("session-start")


def test_asking_about_a_server_makes_nothing(tmp_path):
    path = socket_path(tmp_path / ".priming" / "memory.db")
    assert not listens(path)
    assert about(path, DEADLINE) is None
    assert not end_server(path)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_the_user_starts_takes_its_place(project):
    left = subprocess.Popen(
        [*SERVE, "--idle", "30m"],
        env={**project.environment, "PRIMING_URL": project.url},
        stdout=subprocess.PIPE,
    )
    with left, closing(LocalService(project.url, embedder=project.embedder)) as service:
        assert left.stdout.readline()
        with local_listener(service, takes_over=True) as local:
            assert left.wait(DEADLINE) == 0
            assert local.is_in_place()


SERVE = [sys.executable, "-m", "priming.cli.start", "serve", "--local"]


class Session:
    """Hooks as an agent starts them, each a process, where sessions leave servers behind."""

    def __init__(self, project):
        self.project = project

    @property
    def environment(self):
        return {**self.project.environment, "PRIMING_HOOKS_SERVER": "on"}

    def hook(self, event, data=None, **more):
        """What a hook's process answers; it must succeed without a complaint."""
        done = self.project.process(event, data or self.project.payload(**more), PRIMING_HOOKS_SERVER="on")
        assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
        return context(json.loads(done.stdout) if done.stdout else None)

    @property
    def socket(self):
        return socket_path(self.project.database)

    def state(self):
        """What the server says of itself, as soon as it listens."""
        until(lambda: about(self.socket, DEADLINE))
        return about(self.socket, DEADLINE)

    def begin(self):
        """A session's first hook; the state of the server that it leaves behind."""
        assert "Never push" in self.hook("session-start")
        return self.state()

    def end(self):
        """End the server, and wait until it is gone."""
        end_server(self.socket)


@pytest.fixture
def session(tmp_path, monkeypatch):
    opened = Session(filled(Project(tmp_path / "a project" / "shop")))
    monkeypatch.setenv("HOME", str(tmp_path / "a project" / "home"))  # that of its processes
    yield opened
    opened.end()


@pytest.mark.slow
def test_a_session_leaves_one_server_behind_that_answers_its_hooks(session):
    first = session.begin()
    assert "deploy" in session.hook("prompt", prompt=DEPLOY_PROMPT)
    session.project.session = "s2"
    again = session.begin()
    assert (again["pid"], again["calls"]) == (first["pid"], first["calls"] + 2)
    assert session.state()["pid"] == first["pid"]
    assert os.getsid(first["pid"]) == first["pid"]
    for number in os.listdir(f"/proc/{first['pid']}/fd"):
        assert "pipe:" not in os.readlink(f"/proc/{first['pid']}/fd/{number}")


@pytest.mark.slow
def test_hooks_at_once_are_all_carried_out(session):
    session.begin()
    prompts = [f"No, use tool{number} instead of thing{number}." for number in range(4)]

    def learn(number):
        name = f"at-once-{number}"
        return session.hook("prompt", Project(session.project.folder, name).payload(prompt=prompts[number]))

    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(learn, range(4)))
    for number, text in enumerate(texts):
        assert f"Use tool{number} instead of thing{number}" in text
    assert session.state()["calls"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_server_that_does_not_answer_loses_nothing(session, how):
    pid = session.begin()["pid"]
    os.kill(pid, how)
    try:
        quick = hurried(0.2)
        data = session.project.payload(prompt="No, use ruff instead of flake8.")
        done = session.project.process("prompt", data, command=quick, PRIMING_HOOKS_SERVER="on")
        assert b"Use ruff instead of flake8" in done.stdout
    finally:
        os.kill(pid, signal.SIGCONT) if how == signal.SIGSTOP else None
    with session.project.memory() as memory:
        assert sum("ruff" in rule.content for rule in memory.list(kinds=["behavior"])) == 1
    assert session.state()["pid"] == pid if how == signal.SIGSTOP else session.state()["pid"] != pid


def hurried(seconds):
    """The command line of a hook that waits for an answer no longer than that."""
    from .project import PATIENT

    late = f"calls.ANSWER = {seconds}\nfrom priming.cli.start import main\n"
    return [sys.executable, "-c", PATIENT.replace("from priming.cli.start import main\n", late)]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_leaves_no_socket(session, number):
    pid = session.begin()["pid"]
    os.kill(pid, number)
    until(lambda: not listens(session.socket))
    until(lambda: not session.socket.exists())


def test_a_server_that_does_not_answer_is_asked_once(project, monkeypatch):
    monkeypatch.setattr(calls, "ANSWER", 0.05)
    path = socket_path(project.database)
    request = {
        "store": dict.fromkeys(("url", "namespace", "profile", "embedder")),
        "folder": str(project.folder),
    }
    monkeypatch.setattr(client, "_nearest", lambda *_: str(path))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        server.settimeout(0.0)
        assert client._served(request, project.payload()) is None
        server.accept()[0].close()
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.slow
def test_a_signal_ends_it_whatever_the_call_that_it_answers_waits_for(session):
    project = session.project
    hurried = [sys.executable, "-c", HURRIED[-1].replace("HOOK = 600.0,", "HOOK = 0.2,")]
    with locked(project):
        variables = {**session.environment, "PRIMING_SERVER_GRACE_SECONDS": "1"}
        server = subprocess.Popen([*SERVE, "--idle", "30m", "--url", project.url], env=variables)
        session.state()
        data = project.payload(prompt="why?")
        done = project.process("prompt", data, command=hurried, PRIMING_HOOKS_SERVER="on")
        assert b"Never push to main" in done.stdout
        server.send_signal(signal.SIGTERM)
        assert server.wait(DEADLINE) == 128 + signal.SIGTERM
        assert not listens(session.socket)
    assert "Never push" in session.hook("session-start", project.payload())


@pytest.mark.slow
def test_nobody_waits_for_the_server_who_reads_the_pipes_of_the_hook(session):
    process = subprocess.Popen(
        [*COMMAND, "hook", "session-start"],
        env=session.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    output, _ = process.communicate(session.project.payload(), timeout=DEADLINE)  # reads to the end
    assert b"Never push" in output
    session.state()


@pytest.mark.slow
def test_no_server_is_left_where_the_setting_forbids_it_or_no_store_is(session, tmp_path, monkeypatch):
    project = session.project
    says = "from priming_agents import command\ncommand.launch = lambda *_: print('launched', flush=True)\n"
    telling = [sys.executable, "-c", f"{says}{COMMAND[-1]}"]

    def launches():
        done = project.process("session-start", project.payload(), command=telling, PRIMING_HOOKS_SERVER="")
        assert b"Never push" in done.stdout
        return b"launched" in done.stdout

    assert launches()
    (project.folder / ".priming" / "config.toml").write_text('[hooks]\nserver = "off"\n')
    monkeypatch.chdir(project.folder)
    content_of(load()).settle(adopt=True)
    assert not launches()
    empty = Project(tmp_path / "empty")
    empty.folder.mkdir()
    assert Session(empty).hook("session-start") == ""
    assert list(empty.folder.iterdir()) == []


@pytest.mark.slow
def test_the_command_line_tells_of_it_and_ends_it(session):
    def say(*words):
        command = [sys.executable, "-m", "priming.cli.start", *words, "--url", session.project.url]
        done = subprocess.run(command, env=session.environment, capture_output=True, text=True, check=False)
        return done.stdout

    assert "process" not in say("status")
    pid = session.begin()["pid"]
    assert f"process {pid}, which ends after 30 minutes" in say("status")
    assert "running, with this version and store" in " ".join(say("doctor").split())
    assert "ended the server of the store" in say("serve", "--stop")
    assert "no server of the store runs" in say("serve", "--stop")
    assert not listens(session.socket)


@pytest.mark.slow
def test_a_server_that_hangs_is_told_to_end(session, monkeypatch):
    monkeypatch.setattr("priming.operations.local_socket._ENDING", 0.2)
    pid = session.begin()["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        assert listens(session.socket)
        assert about(session.socket, 0.2) is None
        assert end_server(session.socket)
    finally:
        os.kill(pid, signal.SIGCONT)
    until(lambda: not listens(session.socket))


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_has_the_lock_of_its_store_as_long_as_it_lives(session, how):
    """So that hooks that begin together start one server, even before it listens."""
    pid = session.begin()["pid"]
    with (folder_of(session.project.database) / "server.lock").open() as lock:

        def is_free():
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fcntl.flock(lock, fcntl.LOCK_UN)
                return True

        assert not is_free()
        os.kill(pid, how)
        until(is_free)


@pytest.mark.slow
def test_a_socket_whose_path_would_be_too_long_is_elsewhere(tmp_path):
    project = filled(Project(tmp_path / ("x" * 100) / "shop"))
    project.folder.parent.joinpath("run").mkdir(mode=0o700)
    session = Session(project)
    session.begin()
    try:
        assert "deploy" in session.hook("prompt", prompt=DEPLOY_PROMPT)
        assert session.state()["calls"] == 1
    finally:
        session.end()


def test_it_carries_out_once_what_two_installations_of_the_hooks_report(running):
    answers = [
        running.text("session-start", source="compact", identity={"installation": place})
        for place in ("/plugins/arc", "", "/plugins/arc")
    ]
    assert [bool(text) for text in answers] == [True, False, True]
