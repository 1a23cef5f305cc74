"""What the machine, its settings and its interpreter have no say in."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SETTINGS = (
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Auckland", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "2", "TZ": "America/St_Johns", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "0"},
)


def output(script, *arguments, **environment):
    """What a script of this folder prints."""
    command = [sys.executable, HERE / script, *arguments]
    done = subprocess.run(command, capture_output=True, env={**os.environ, **environment}, check=True)
    return done.stdout.decode()


@pytest.mark.slow
def test_names_keys_digests_and_links_are_the_same_whatever_the_seed_of_hashes_the_place_and_the_locale():
    first, other = (output("behaviour.py", **settings) for settings in SETTINGS)
    assert first == other
    facts = {line.split(",")[0].lstrip("[") for line in first.splitlines()}
    assert facts >= {'"memory"', '"version"', '"link"', '"recall"', '"packed"', '"active"'}


@pytest.mark.slow
def test_it_is_said_which_interpreters_there_are_and_which_are_lacking():
    present, lacking = output("portability.py", "--list").splitlines()
    own = ".".join(map(str, sys.version_info[:3]))
    assert re.search(rf"\b{re.escape(own)} \(", present)
    for series in ("3.11", "3.12", "3.13", "3.14"):
        assert bool(re.search(rf"\b{re.escape(series)}\.\d+ \(", present)) != (
            series in lacking.split(": ")[1].split(", ")
        )
