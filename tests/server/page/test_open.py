"""``priming open``: a server for the page, or the address of the one that runs."""

import json
import os
import signal
import socket
import subprocess
import sys

import httpx2
import pytest

from priming_server.process import free_port

OPEN = [sys.executable, "-c", "from priming.cli.start import main; main()", "open", "--no-browser", "--json"]


def test_a_port_that_is_taken_is_not_free():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert free_port(port) == 0
    assert free_port(port) == port


@pytest.mark.slow
def test_the_second_finds_the_server_that_the_first_began_and_ctrl_c_ends_it_in_silence(tmp_path):
    home = {**os.environ, "HOME": str(tmp_path), "PRIMING_HOME": str(tmp_path)}
    command = [*OPEN, "--url", f"sqlite:///{tmp_path}/memory.db", "--namespace", "my shop"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    first = subprocess.Popen([*command, "--port", "0"], env=home, **pipes)
    with first:
        page = json.loads(first.stdout.readline())["page"]
        address, _, route = page.partition("/#")
        assert route == "/recall?ns=my+shop"
        assert httpx2.get(f"{address}/session", verify=False).json()["namespace"] == "my shop"
        second = subprocess.run(command, env=home, capture_output=True, text=True, check=True)
        assert json.loads(second.stdout) == {"page": page}
        first.send_signal(signal.SIGINT)
        assert first.wait() in (0, 130)
        assert first.stderr.read() == ""
