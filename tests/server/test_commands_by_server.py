"""The command line says the same whether it works on the file or by a server of it."""

import json
import re

import pytest
from tests.cli.conftest import invoke

SESSION = "SESSION"
"""It stands for the session of the loop that began last."""
SCRIPT = [
    ["status"],
    ["remember", "Ada wrote the first program.", "--key", "ada", "--session", "monday", "--tag", "history"],
    ["remember", "The port is 8080.", "--key", "port", "--kind", "fact", "--when", "language=go"],
    ["remember", "The port is 8080.", "--kind", "fact"],
    ["remember", "Then Bob wrote the second program.", "--key", "bob", "--session", "monday"],
    ["remember", "x", "--importance", "nan"],
    ["recall", "who wrote the program", "--language", "go", "--trace"],
    ["recall", "which port", "--tokens", "40"],
    ["recall", "nothing of the kind", "--kind", "fact"],
    ["recall", "x", "--filter", '{"recorded_at": {"at_most": "2020-01-01T00:00:00Z"}}'],
    ["used", "ada"],
    ["not-relevant", "bob", "--reason", "off the point"],
    ["link", "ada", "bob", "requires", "0.7"],
    ["links", "ada"],
    ["supersede", "port", "The port is 9090."],
    ["show", "port"],
    ["show", "prt"],
    ["history", "port"],
    ["learn", "--right", "Use tabs", "--wrong", "spaces", "--language", "go"],
    ["active", "--language", "go"],
    ["list", "--status", "any"],
    ["why", "ada"],
    ["forget", "bob"],
    ["forget", "bob"],
    ["log"],
    ["log", "--events"],
    ["graph", "dot"],
    ["graph", "strengths"],
    ["sleep", "--dry-run"],
    ["sleep"],
    ["sleep", "dreaming"],
    ["export", "out.jsonl"],
    ["run", "start", "tuesday"],
    ["run", "list"],
    ["fading"],
    ["review"],
    ["deduplicate"],
    ["rollback", "--since", "1h", "--dry-run"],
    ["loop", "store", "--trigger", "Release a version: 403", "--resolution", "Log in first"],
    ["loop", "store", "--trigger", "short", "--resolution", "x"],
    ["loop", "context", "Release a version"],
    ["loop", "recall", "release a version"],
    ["loop", "get", "release-a-version-403"],
    ["loop", "relate", "--from", "release-a-version-403", "--to", "port", "--type", "requires"],
    ["loop", "connected", "release-a-version-403"],
    ["loop", "feedback", "--utilized", '["port"]', "--injected", '["port", "nobody"]'],
    ["loop", "chunk", "--task", "Tidy up here", "--outcome", "success", "--approach", "Sweep"],
    ["loop", "task", "new-session"],
    ["loop", "task", "add", "--session", SESSION, "--seq", "1", "--objective", "Mend", "--verify", "true"],
    ["loop", "task", "add", "--session", SESSION, "--seq", "2", "--objective", "Paint"],
    ["loop", "task", "complete", "--session", SESSION, "--seq", "1", "--delivered", "Mended."],
    ["loop", "task", "block", "--session", SESSION, "--seq", "2", "--reason", "No paint."],
    ["loop", "task", "get", "--session", SESSION],
    ["loop", "task", "summary", "--session", SESSION],
    ["loop", "meta", SESSION],
    ["loop", "meta", "should-pivot", "--session", SESSION],
    ["loop", "meta", "summary", "--session", SESSION],
    ["loop", "report", SESSION],
    ["loop", "status"],
    ["loop", "list"],
    ["loop", "health"],
    ["loop", "decay", "--days", "0"],
    ["loop", "prune"],
    ["loop", "consolidate"],
    ["purge", "ada", "--yes"],
    ["stats"],
    ["validate"],
    ["log", "--limit", "3"],
]
MASKS = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:\d\d|Z)?", "TIME"),
    (r'\d+(\.\d+)? ms:.*|"?seconds"?:? [\d.]+', "TIMINGS"),
    (r'"digest": "[0-9a-f]+"', "DIGEST"),  # of a lesson: it covers the id of its session
    (r'"timings": \{[^}]*\}', "TIMINGS"),
    (r'"bytes": \d+|\d[\d.,]* (bytes|[KMG]i?B)', "SIZE"),
]


def masked(text):
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    return re.sub(r"-?\d+\.\d{4,}(e-?\d+)?", lambda number: f"{float(number[0]):.3f}", text)


def output(folder, command, *options):
    """What a command says, and its status."""
    environment = {
        "PRIMING_URL": f"sqlite:///{folder}/memory.db",
        "PRIMING_HOME": str(folder),
        "PRIMING_NAMESPACE": None,
        "PRIMING_PROFILE": None,
        "PRIMING_SERVER": None,
        "PRIMING_EMBEDDER": "hashed",
    }
    if SESSION in command:
        listed = invoke(["loop", "list", "--json", "--limit", "1"], environment=environment)
        session = json.loads(listed.stdout)[0]["session"]
        command = [session if word == SESSION else word for word in command]
    result = invoke([*command, *options], environment=environment)
    return masked(result.stdout), masked(result.stderr), result.exit_code


@pytest.mark.slow
@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["for people", "for programs"])
def test_every_command_says_the_same_with_and_without_a_server(
    tmp_path, tmp_path_factory, monkeypatch, options
):
    monkeypatch.chdir(tmp_path_factory.mktemp("project"))
    alone = tmp_path_factory.mktemp("alone")
    for command in SCRIPT:
        expected = output(alone, command, *options)
        shown, *rest = output(tmp_path, command, *options)
        own = [line for line in shown.splitlines(keepends=True) if line.startswith("server ")]
        assert (shown.replace("".join(own), ""), *rest) == expected, command
        assert bool(own) == (command[0] == "status" and not options), "status names the server that runs"
        assert "Traceback" not in expected[1]
