"""The embedder that a command works with, and the command that makes its vectors."""

import pytest

PORT = "The server listens on port 8080."
ASKED = "which port does the server listen on"


@pytest.fixture
def stored(shell):
    """A store whose two memories have vectors of the default embedder."""
    shell.ask("remember", PORT, "--key", "port")
    shell.ask("remember", "Gulls nest upon the cliff.", "--key", "gulls")
    return shell


def test_vectors_of_another_embedder_are_made_once(stored):
    found = stored.ask("reembed", "--embedder", "hashed")
    assert found["vectors"] == 2
    assert found["generation"].startswith("hashed")
    again = stored.ask("reembed", "--embedder", "hashed")
    assert again == {"vectors": 0, "generation": found["generation"]}


def test_people_are_told_how_many_texts_have_new_vectors(stored):
    done = stored.run("reembed", "--embedder", "hashed")
    assert done.exit_code == 0
    assert done.stdout.startswith("embedded  2 texts by hashed")
    assert (
        "nothing: every text has a vector of hashed" in stored.run("reembed", "--embedder", "hashed").stdout
    )


def test_a_recall_without_vectors_names_the_command_that_makes_them(stored):
    before = stored.run("recall", ASKED, "--embedder", "hashed").stdout
    assert "port" in before
    assert "degraded: some memories have no vector of this model, and priming reembed makes them" in before
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


@pytest.mark.parametrize("command", [["recall", ASKED], ["reembed"], ["remember", "New."]])
def test_a_name_that_is_no_embedder_is_refused_with_those_there_are(stored, command):
    done = stored.run(*command, "--embedder", "bert")
    assert done.exit_code == 2
    assert "embedder = 'bert': must be one of wordllama (the default), hashed," in done.stderr
    assert [one["key"] for one in stored.ask("list")] == ["port", "gulls"]
