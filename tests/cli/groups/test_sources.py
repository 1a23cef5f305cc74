"""Files and folders that commands bring in and follow."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from priming import Memory

WITHOUT = "import sys; sys.modules['watchfiles'] = None\n"
MAIN = "from priming.cli.start import main; main()"


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "wifi.md").write_text("# Wifi\nThe password is hunter2.\n", "utf-8")
    return folder


def texts(url):
    with Memory.open(url) as memory:
        return sorted(item.content for item in memory.list(kinds=["fact"]))


@pytest.mark.slow
@pytest.mark.parametrize("start", ["", WITHOUT], ids=["events", "looking"])
def test_a_folder_that_is_watched_is_in_step_until_the_command_is_interrupted(notes, tmp_path, start):
    url = f"sqlite:///{tmp_path / 'm.db'}"
    command = [sys.executable, "-c", start + MAIN, "watch", str(notes), "--url", url, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        first = json.loads(process.stdout.readline())
        assert (first["path"], first["report"]["stored"]) == (str(notes), 1)
        (notes / "wifi.md").write_text("# Wifi\nThe password is tr0ub4dor.\n", "utf-8")
        assert json.loads(process.stdout.readline())["report"]["changed"] == 1
        (notes / "wifi.md").unlink()
        (notes / "tea.md").write_text("# Tea\nWe like tea.\n", "utf-8")
        deadline = time.monotonic() + 60
        while texts(url) != ["We like tea."] and time.monotonic() < deadline:
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert texts(url) == ["We like tea."]


def test_the_format_of_a_path_is_recognised(notes, shell):
    assert shell.run("import", str(notes)).stdout.startswith("imported  1 new")
    assert shell.run("import", "markdown", str(notes)).stdout.startswith("imported  0 new, 1 already stored")


def test_files_of_a_folder_that_the_format_does_not_read_are_counted(notes, shell):
    for name in ("plan.png", "roof.PNG", "log.jsonl", ".hidden.txt"):
        (notes / name).touch()
    for _ in range(2):
        assert shell.run("import", str(notes)).stdout.endswith(
            "not read, of another kind: 2 .png, 1 .jsonl\n"
        )


def test_formats_are_listed_with_what_they_read(shell):
    listed = json.loads(shell.run("import", "--list", "--json").stdout)
    assert {"git", "markdown", "jsonl", "chat", "priming"} <= listed.keys()


def test_a_path_of_two_formats_or_of_none_is_refused_with_what_to_do(notes, shell, tmp_path):
    subprocess.run(["git", "init", "--quiet", str(notes)], check=True)
    refused = shell.run("import", str(notes))
    assert refused.exit_code == 2
    assert "can be read as git or markdown: name the one you mean" in refused.stderr
    (tmp_path / "x.bin").write_bytes(bytes(range(256)))
    assert "priming import --list" in shell.run("import", str(tmp_path / "x.bin")).stderr
    assert "nothing exists there" in shell.run("import", str(tmp_path / "away")).stderr
    assert "priming import PATH" in shell.run("import").stderr


def test_what_changed_and_what_is_gone_is_named_and_pruned_on_request(notes, shell):
    (notes / "tea.md").write_text("# Tea\nWe like tea.\n", "utf-8")
    shell.run("import", str(notes))
    (notes / "tea.md").unlink()
    (notes / "wifi.md").write_text("# Wifi\nThe password is tr0ub4dor.\n", "utf-8")
    shown = shell.run("import", str(notes)).stdout
    assert "1 changed" in shown
    assert "1 gone" in shown
    assert "gone: md:notes/tea.md#tea" in shown
    assert "--prune deprecates what is gone" in shown
    assert "1 deprecated" in shell.run("import", str(notes), "--prune").stdout
    assert os.listdir(notes) == ["wifi.md"]


def test_a_bad_item_makes_the_exit_status_1_and_stops_a_strict_import(notes, shell):
    (notes / "latin.md").write_bytes("# Fr\nété\n".encode("latin-1"))
    done = shell.run("import", str(notes))
    assert (done.exit_code, "1 refused" in done.stdout) == (1, True)
    assert "latin.md" in done.stdout
    assert shell.run("import", str(notes), "--strict").exit_code == 2
