"""A namespace and the installation: settings, embedders, counts."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from tests.rows import each_row

from priming.cli import records
from priming.cli.groups import care, stores
from priming.results import Finding, Stats
from priming.transfer.importers import Report

from ..conftest import invoke

DISK = "The deploy failed because the disk was full."
CACHE = "We cleaned the build cache."


@pytest.fixture
def home(shell, monkeypatch):
    """The user's folder."""
    folder = shell.folder / "home"
    folder.mkdir()
    monkeypatch.setenv("PRIMING_HOME", str(folder))
    monkeypatch.delenv("PRIMING_URL", raising=False)
    return folder


def of_project(shell, text):
    (shell.folder / ".priming").mkdir(exist_ok=True)
    (shell.folder / ".priming" / "config.toml").write_text(text, "utf-8")
    shell.ask("trust", "--yes")


def settings(shell, *arguments):
    return {item["name"]: item for item in shell.ask("config", *arguments)}


def test_every_setting_is_shown_with_its_source_and_what_it_shadows(shell, home):
    (home / "config.toml").write_text("[retrieval]\niterations = 2\n")
    of_project(shell, "[retrieval]\niterations = 4\n")
    result = settings(shell, "--profile", "ethos")
    assert result["retrieval.iterations"] == {
        "name": "retrieval.iterations",
        "value": 4,
        "source": ".priming/config.toml:2",
        "shadows": [[f"{home}/config.toml:2", 2], ["default", 3]],
    }
    assert (result["store.profile"]["value"], result["store.profile"]["source"]) == ("ethos", "--profile")
    assert (result["store.url"]["value"], result["store.url"]["source"]) == (shell.url, "PRIMING_URL")
    assert result["server.body_bytes"]["source"] == "default"


def test_people_see_a_table_without_the_limits_that_nobody_chose(shell, home):
    (home / "config.toml").write_text("[server]\nrate = 20\n")
    shown = shell.run("config").stdout
    (rate,) = [row.split() for row in shown.splitlines() if row.startswith("server.rate ")]
    assert rate == ["server.rate", "20", f"{home}/config.toml:2", "500", "(default)"]
    assert "server.body_bytes" not in shown
    assert "limits of the server are the default" in shown


def test_a_secret_is_not_shown(shell, monkeypatch):
    monkeypatch.setenv("PRIMING_AGENT_KEY", "sk-123")
    assert settings(shell)["agent.key"]["value"] == "set"
    assert "sk-123" not in shell.run("config").stdout


def test_what_is_wrong_is_listed_by_check_and_stops_everything_else(shell, home):
    (home / "config.toml").write_text("[retrieval]\niteration = 2\niterations = -1\n")
    done = shell.run("config", "--check", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout) == [
        f"{home}/config.toml:2: retrieval.iteration is not a setting: did you mean iterations?",
        f"{home}/config.toml:3: retrieval.iterations = -1: must be a whole number in [0, 1000]",
    ]
    for command in (["config"], ["list"], ["recall", "x"]):
        done = shell.run(*command)
        assert done.exit_code == 2
        assert "did you mean iterations?; " in done.stderr


def test_check_is_content_where_nothing_is_wrong(shell, home):
    assert home.is_dir()
    done = shell.run("config", "--check")
    assert (done.exit_code, done.stdout) == (0, "no errors\n")


def test_the_files_choose_store_namespace_and_profile_of_a_command(shell, home):
    assert home.is_dir()
    of_project(shell, '[store]\nurl = "sqlite:///own.db"\nnamespace = "shop"\nprofile = "ethos"\n')
    done = invoke(["remember", "The disk was full.", "--json"], environment={"PRIMING_URL": ""})
    assert done.exit_code == 2
    assert "PRIMING_URL = ''" in done.stderr
    elsewhere = {"PRIMING_URL": None, "PRIMING_EMBEDDER": "hashed"}
    invoke(["remember", "The disk was full."], environment=elsewhere)
    status = json.loads(invoke(["status", "--json"], environment=elsewhere).stdout)
    assert (status["namespace"], status["profile"], status["memories"]) == ("shop", "ethos", 1)
    assert (shell.folder / ".priming" / "own.db").is_file()


def test_the_global_store_heeds_no_project(shell, home):
    of_project(shell, '[store]\nnamespace = "shop"\n')
    (home / "config.toml").write_text('[store]\nnamespace = "mine"\n')
    assert shell.ask("status")["namespace"] == "shop"
    assert settings(shell, "--global")["store.namespace"]["value"] == "mine"


def test_debug_logs_the_steps_of_a_spread_to_stderr(shell, home, monkeypatch):
    assert home.is_dir()
    for text in ("the disk was full", "the disk is full again"):
        shell.ask("remember", text, "--session", "monday")
    monkeypatch.setenv("PRIMING_SERVICE_LOG_LEVEL", "debug")
    done = shell.run("recall", "disk", "--json")
    steps = json.loads(shell.run("recall", "disk", "--json", "--trace").stdout)["spread"]
    message = [json.loads(row.partition(": step ")[2].partition(": ")[2]) for row in done.stderr.splitlines()]
    assert message == [pytest.approx(step, rel=1e-5) for step in steps]
    monkeypatch.delenv("PRIMING_SERVICE_LOG_LEVEL")
    assert shell.run("recall", "disk", "--json").stderr == ""


PORT = "The server listens on port 8080."
ASKED = "which port does the server listen on"


def embedded(shell):
    """Two memories with vectors of the default embedder."""
    shell.embedder = None
    shell.ask("remember", PORT, "--key", "port")
    shell.ask("remember", "Gulls nest upon the cliff.", "--key", "gulls")


@pytest.fixture
def stored(shell, prepared):
    """A store whose two memories have vectors of the default embedder."""
    shell.embedder = None
    prepared(shell, embedded)
    return shell


def test_vectors_of_another_embedder_are_made_once(stored):
    result = stored.ask("reembed", "--embedder", "hashed")
    assert result["vectors"] == 2
    assert result["generation"].startswith("hashed")
    again = stored.ask("reembed", "--embedder", "hashed")
    assert again == {"vectors": 0, "generation": result["generation"]}


def test_people_are_told_how_many_texts_have_new_vectors(stored):
    done = stored.run("reembed", "--embedder", "hashed")
    assert done.exit_code == 0
    assert done.stdout.startswith("embedded  2 texts by hashed")
    assert "nothing: all texts have vectors of hashed" in stored.run("reembed", "--embedder", "hashed").stdout


def test_a_recall_without_vectors_names_the_command_that_makes_them(stored):
    before = stored.run("recall", ASKED, "--embedder", "hashed").stdout
    assert "port" in before
    assert "degraded: some memories wait for their vectors, which priming reembed makes at once" in before
    stored.ask("reembed", "--embedder", "hashed")
    assert "degraded" not in stored.run("recall", ASKED, "--embedder", "hashed").stdout


def test_the_embedder_of_the_store_keeps_its_vectors(stored):
    stored.ask("reembed", "--embedder", "hashed")
    assert stored.ask("reembed")["vectors"] == 0
    assert stored.ask("recall", ASKED)["degraded"] == []


def test_the_environment_names_the_embedder_and_the_option_goes_before_it(stored, monkeypatch):
    monkeypatch.setenv("PRIMING_EMBEDDER", "hashed")
    assert stored.ask("status")["generation"].startswith("hashed")
    assert not stored.ask("status", "--embedder", "wordllama")["generation"].startswith("hashed")


@each_row("command", [["recall", ASKED], ["reembed"], ["remember", "New."]])
def test_a_name_that_is_no_embedder_is_refused_with_those_there_are(stored, command):
    done = stored.run(*command, "--embedder", "bert")
    assert done.exit_code == 2
    assert "embedder = 'bert': must be one of auto (the default), wordllama," in done.stderr
    assert [item["key"] for item in stored.ask("list")] == ["port", "gulls"]


def monday(shell):
    """Two memories of one session."""
    for text in (DISK, CACHE):
        shell.ask("remember", text, "--session", "monday")


@pytest.fixture
def two(shell, prepared):
    """A store of one's own with two memories of one session."""
    prepared(shell, monday)
    return shell


def test_an_export_is_imported_elsewhere_with_nothing_lost(two):
    assert two.ask("export", "all.jsonl") == {"path": "all.jsonl", "memories": 4, "reason": None}
    assert two.ask("import", "priming", "all.jsonl", "--namespace", "copy")["stored"] == 4
    mine, copied = (two.ask("list", *place) for place in ((), ("--namespace", "copy")))
    assert [{**item, "namespace": ""} for item in mine] == [{**item, "namespace": ""} for item in copied]


def test_an_importer_is_found_by_its_name_and_reports(shell):
    path = shell.file(
        {"content": DISK, "key": "a"},
        {"content": CACHE, "key": "b"},
        {"source": "a", "target": "b", "relation": "then", "weight": 0.5},
        {"source": "a", "target": "c", "relation": "then", "weight": 0.5},
    )
    report = shell.ask("import", "lines", path)
    assert (report["stored"], report["links"], report["loose"]) == (2, 1, 1)


def test_an_import_that_refused_something_fails_and_keeps_the_rest(shell):
    done = shell.run("import", "lines", shell.file({"content": DISK}, {"content": " "}))
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0] == "imported  1 new, 1 refused"
    assert "must not be blank" in done.stdout.splitlines()[1]


def test_the_profiles_are_listed_whole(shell):
    result = {item["name"]: item for item in shell.ask("profiles")}
    assert result["floop"]["spread"]["hop_decay"] == 0.5


def test_a_sound_store_has_no_findings(two):
    assert two.ask("validate") == []
    assert two.run("validate").stdout == "no inconsistencies\n"


def test_findings_are_told_and_fail(shell):
    shell.ask("remember", DISK)
    with closing(sqlite3.connect(shell.folder / "memory.db")) as database, database:
        database.execute("DELETE FROM vectors")
    database.close()
    done = shell.run("validate", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)[0]["rule"]


def test_stats_are_tables(shown):
    stats = Stats("default", {"fact": {"active": 1200}}, {"next": 3}, 4, 5, 2048, None)
    assert shown(care.stats_tables(stats)) == [
        "namespace  default",
        "",
        "memories  status  number",
        "fact      active   1,200",
        "",
        "links  number",
        "next        3",
        "",
        "operations      4",
        "recalls stored  5",
        "size            2.0 KiB",
        "embedding       none yet",
    ]


@each_row(
    ("number", "words"), [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (3 * 2**40, "3072.0 GiB")]
)
def test_sizes_are_in_the_largest_unit_that_fits(number, words):
    assert care.size(number) == words


def test_findings_come_with_their_remedy(shown):
    result = [Finding("rule", "a", "is wrong", "mend it")]
    assert shown(records.findings_lines(result)) == ["rule  a: is wrong", "  remedy: mend it"]


def test_an_import_says_what_it_did_and_left_out(shown):
    report = Report(stored=1200, duplicates=2, refused=1, skipped=("'a': must not be blank",))
    assert shown(stores.import_lines(report)) == [
        "imported  1,200 new, 2 already stored, 1 refused",
        "  skipped: 'a': must not be blank",
    ]


LOAD = "".join(json.dumps({"content": f"Crate {number} holds bolts."}) + "\n" for number in range(3))


def test_an_import_leaves_vectors_to_the_commands_that_follow(shell, tmp_path):
    shell.embedder = "semantic"
    (tmp_path / "load.jsonl").write_text(LOAD)
    shell.ask("import", "jsonl", str(tmp_path / "load.jsonl"), "--later")
    waiting = shell.run("status")
    assert "3 for their vectors" in waiting.stdout
    assert shell.ask("status")["waiting"] == 0
    assert "waiting" not in shell.run("status").stdout
