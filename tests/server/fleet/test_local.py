"""Runs on the processes of this machine, one of which is killed."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from priming import Memory
from priming_server.fleet.task import LOST, FleetTask
from priming_server.fleet.workers import LocalWorkers

from .scene import command, environment, fill, picture, records, run

IDS = [f"0197a3b2-1c4d-7e5f-8a6b-9c0d1e2f3a4{digit}" for digit in "abc"]


@pytest.mark.slow
def test_a_killed_process_loses_its_own_task_and_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIMING_EMBEDDER", "hashed:16")
    url = f"sqlite:///{tmp_path}/a.db"
    with Memory.open(url, namespace="ann") as memory:
        memory.remember("Ann likes tea.")
    workers = LocalWorkers(2)
    try:
        workers.submit(FleetTask(0, url, "ann", "verify", IDS[0]))
        ((number, outcome),) = workers.finished()
        assert (number, outcome.code) == (0, None)
        pid = int(outcome.worker.rpartition(" ")[2])
        os.kill(pid, signal.SIGKILL)
        workers.submit(FleetTask(1, url, "ann", "verify", IDS[1]))
        ((number, outcome),) = workers.finished()
        assert (number, outcome.code) == (1, LOST)
        assert f"process {pid} ended" in outcome.reason
        workers.submit(FleetTask(2, url, "ann", "verify", IDS[2]))
        ((number, outcome),) = workers.finished()
        assert (number, outcome.code, workers.free) == (2, None, workers._most)
    finally:
        workers.close()
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.slow
def test_an_interrupted_run_is_continued_by_its_id_and_ends_as_one_that_was_not(tmp_path):
    urls = [f"sqlite:///{tmp_path}/{name}.db" for name in "ab"]
    names, _ = (fill(url, 8) for url in urls)
    folder = records(tmp_path / "a")
    began = subprocess.Popen(
        command(urls[0], "sleep"),
        env=environment(tmp_path / "a"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while began.poll() is None:
        if sum(path.read_text().count("\n") for path in folder.glob("*.jsonl")) > 3:
            os.killpg(began.pid, signal.SIGKILL)
            break
    began.communicate()
    assert began.returncode == -signal.SIGKILL
    (record,) = folder.glob("*.jsonl")
    done = run(urls[0], tmp_path / "a", "sleep", "--run", record.stem)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["run"], report["done"]) == (record.stem, 8)
    assert report["earlier"] >= 3
    assert json.loads(run(urls[1], tmp_path / "b", "sleep").stdout)["done"] == 8
    for name in names:
        assert picture(urls[0], name) == picture(urls[1], name), name
