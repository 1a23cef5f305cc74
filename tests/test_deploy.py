"""The files of ``deploy/`` start and stop the server as they claim; systemd and Docker themselves are not needed."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
import yaml

from priming.cli.start import main
from priming.config.environment import locate
from priming.config.params.services import SERVER
from priming_server.access.auth import ALIVE

from .server.conftest import DEADLINE, Process

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"
UNIT = (DEPLOY / "priming.service").read_text("utf-8")
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]["priming"]
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")


def settings(name):
    """The values of a setting of the unit, in order."""
    return re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)


def test_both_wait_until_calls_in_progress_are_finished():
    drain = float(COMPOSE["environment"]["PRIMING_SERVER_DRAIN_SECONDS"])
    assert int(settings("TimeoutStopSec")[0]) > SERVER.drain_seconds + SERVER.grace_seconds
    assert int(COMPOSE["stop_grace_period"].removesuffix("s")) > drain + SERVER.grace_seconds
    assert "STOPSIGNAL SIGTERM" in DOCKERFILE


def test_the_probe_asks_for_a_path_that_needs_no_token():
    (path,) = re.findall(r"7777(/\w+)", COMPOSE["healthcheck"]["test"][-1])
    assert path in ALIVE


def test_the_image_installs_what_the_package_is_built_from():
    for name in re.search(r"^COPY (.*) /build/$", DOCKERFILE, re.MULTILINE)[1].split():
        assert (DEPLOY.parent / name).is_file()


@pytest.mark.parametrize("words", [settings("ExecStart")[0].split()[1:], ["serve", "--host", "0.0.0.0"]])
def test_their_commands_exist(words, monkeypatch, capsys):
    assert " ".join(words) in UNIT or str(words).replace("'", '"') in DOCKERFILE
    monkeypatch.setattr(sys, "argv", ["priming", *words, "--help"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, "Serve the store" in capsys.readouterr().out) == (0, True)


@pytest.mark.slow
def test_the_unit_starts_reports_and_stops(tmp_path):
    folder = "/var/lib/priming"
    variables = dict(shlex.split(line)[0].split("=", 1) for line in settings("Environment"))
    program, *words = shlex.split(settings("ExecStart")[0])
    assert (Path(program).name, settings("StateDirectory")) == ("priming", [Path(folder).name])
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(str(tmp_path / "notify"))
        supervisor.settimeout(DEADLINE)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PRIMING_")}
        environment |= {name: value.replace(folder, str(tmp_path)) for name, value in variables.items()}
        environment |= {"NOTIFY_SOCKET": str(tmp_path / "notify"), "PRIMING_SERVER_PORT": "0"}
        command = [sys.executable, "-m", "priming.cli.start", *words]
        with subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
            assert supervisor.recv(100) == b"READY=1"
            assert (tmp_path / "memory.db").exists()
            process.send_signal(signal.SIGTERM)
            assert supervisor.recv(100) == b"STOPPING=1"
            assert process.wait(DEADLINE) == 0


@pytest.mark.slow
def test_the_probe_passes_while_the_server_is_ready_and_fails_afterwards(tmp_path):
    server = Process(tmp_path)
    _, _, *words = COMPOSE["healthcheck"]["test"]
    probe = [sys.executable, *(word.replace("http://127.0.0.1:7777", server.at) for word in words)]
    assert subprocess.run(probe, capture_output=True, check=False).returncode == 0
    assert server.end() == 0
    server.close()
    assert subprocess.run(probe, capture_output=True, check=False).returncode != 0


def test_a_database_of_a_team_is_the_same_server_with_another_store():
    services = yaml.safe_load((DEPLOY / "compose.postgres.yaml").read_text("utf-8"))["services"]
    assert set(services) == {"priming", "database"}
    assert "pgvector" in services["database"]["image"]
    url = re.sub(r"\$\{.*\}", "secret", services["priming"]["environment"]["PRIMING_URL"])
    assert locate(url).scheme == "postgresql"
    assert "postgres]" in DOCKERFILE


def test_every_table_is_distributed_by_namespace_or_named_as_one_that_is_not():
    """The commands of ``docs/scaling.md`` are those for the tables that there are."""
    folder = resources.files("priming_server.postgres").joinpath("migrations")
    text = "\n".join(file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".sql"))
    tables = re.findall(r"^CREATE TABLE (\w+) \((.*?)^\)", text, re.DOTALL | re.MULTILINE)
    page = (DEPLOY.parent / "docs" / "scaling.md").read_text("utf-8")
    (sql,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    distributed = {"namespaces", *re.findall(r"'(\w+)'", re.search(r"ARRAY\[(.*?)\]", sql, re.DOTALL)[1])}
    assert distributed == {name for name, columns in tables if re.match(r"\s*namespace\s", columns)}
    others = {name for name, _ in tables} - distributed
    assert set(re.findall(r"create_reference_table\('(\w+)'\)", sql)) == others == {"tokens"}
