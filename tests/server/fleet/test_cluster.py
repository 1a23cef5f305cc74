"""A run on a real cluster of Ray: two nodes of this machine, in a network of their own, and one of them is killed."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.rows import each_row

from priming import Memory
from priming.errors import ParamError
from priming.maintenance.generations import latest_choice
from priming_server.fleet.cluster import check_reach, is_local_server

from .scene import EMBEDDER, command, environment, fill, picture, records, run

TEAMS = 24
SCRIPT = Path(__file__).with_name("two_nodes.py")


def on_two_nodes(url, home, *words, after=0, address="127.0.0.1"):
    """Run ``priming fleet`` on two nodes; the second is killed after some namespaces, and has an address."""
    if os.geteuid():
        pytest.skip("only root makes a network")
    script = [sys.executable, str(SCRIPT), str(records(home)), str(after), address, *command(url, *words)]
    done = subprocess.run(
        ["unshare", "--net", *script], env=environment(home), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def check_a_killed_node(url_of, tmp_path):
    """A night with a node killed in the middle, and one on this machine with nothing killed, end in the same."""
    for attempt in range(
        5
    ):  # on a busy machine one node may do all before the other is up: that kills nothing
        url, home = url_of(f"killed_{attempt}"), tmp_path / f"home_{attempt}"
        names = fill(url, TEAMS)
        ran = on_two_nodes(url, home, "sleep", after=5)
        assert ran["status"] == 0, ran
        if ran["killed_at"]:
            break
    report, whole = json.loads(ran["out"]), url_of("whole")
    assert 5 <= ran["killed_at"] < TEAMS
    assert (report["done"], report["failed"]) == (TEAMS, [])
    assert report["retried"] == report["lost"] == 1
    assert len({worker.partition(",")[0] for worker in report["workers"]}) == 2, "both nodes did a part"
    fill(whole, TEAMS)
    assert json.loads(run(whole, tmp_path / "home", "sleep").stdout)["done"] == TEAMS
    for name in names:
        assert picture(url, name) == picture(whole, name), name


@pytest.mark.slow
def test_a_node_killed_half_way_through_a_night_changes_nothing_in_its_result(tmp_path):
    check_a_killed_node(lambda name: f"sqlite:///{tmp_path}/{name}.db", tmp_path)


@pytest.fixture
def url():
    """The URL of a server whose socket is reached from a network of its own."""
    path = Path(__file__).parents[1] / "postgres" / "server.py"
    spec = importlib.util.spec_from_file_location("postgres_server", path)
    server = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(server)
    with server.running() as url:
        yield url


@pytest.mark.slow
def test_nor_does_it_in_postgresql(tmp_path, url):
    check_a_killed_node(lambda name: f"{url}&schema=fleet_{name}", tmp_path)


@pytest.mark.slow
def test_each_namespace_changes_its_embedder_once_and_back_though_a_node_is_killed(tmp_path, url):
    url = f"{url}&schema=fleet"
    names = fill(url, TEAMS)
    for words, word, after in (("--to hashed:16 --switch", "changed", 5), ("--roll-back", "rolled back", 0)):
        ran = on_two_nodes(url, tmp_path, "reembed", *words.split(), after=after)
        assert ran["status"] == 0, ran
        report = json.loads(ran["out"])
        assert (report["done"], report["counts"][word], report["failed"]) == (TEAMS, TEAMS, [])
    for name in names:
        *_, log = picture(url, name)
        assert [kind for kind, _ in log].count("reembed") == 2
        with Memory.open(url, namespace=name, embedder=EMBEDDER) as memory:
            assert latest_choice(memory) == "auto", "as before any change"


@pytest.mark.slow
def test_a_file_of_this_machine_is_refused_on_a_cluster_of_two(tmp_path):
    url = f"sqlite:///{tmp_path}/a.db"
    fill(url, 1)
    ran = on_two_nodes(url, tmp_path, "verify", address="127.0.0.2")
    assert ran["status"] == 2, ran
    assert "is a file of this machine, and the cluster has 2 machines (127.0.0.1, 127.0.0.2)" in ran["error"]
    assert ran["out"] == ""


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_an_error_that_names_the_remedy(tmp_path):
    failed = run(f"sqlite:///{tmp_path}/a.db", tmp_path, "verify", "--address", "127.0.0.1:9")
    assert failed.returncode == 1
    assert "ray start --head" in json.loads(failed.stderr.splitlines()[-1])["error"]["message"]


TWO = {"10.0.0.1", "10.0.0.2"}


@each_row(
    "url",
    [
        "sqlite:////srv/memory.db",
        "postgresql://ann@localhost/team",
        "postgresql://ann@127.0.0.1:5432/team",
        "postgresql:///team",
        "postgresql:///team?host=/var/run/postgresql",
    ],
)
def test_a_store_of_one_machine_is_refused_where_there_are_two_and_fine_where_there_is_one(url):
    with pytest.raises(ParamError, match="the cluster has 2 machines"):
        check_reach([url], TWO)
    check_reach([url], {"10.0.0.1"})


def test_a_server_with_a_name_or_an_address_is_reached_from_every_machine():
    urls = ["postgresql://ann@db.example/team", "postgresql://ann@10.0.0.9/team"]
    check_reach(urls, TWO)
    assert not any(map(is_local_server, urls))
    with pytest.raises(ParamError) as refused:
        check_reach([*urls, "postgresql://ann:secret@localhost/team"], TWO)
    assert "secret" not in str(refused.value)
