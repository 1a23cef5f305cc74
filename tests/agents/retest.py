"""Play the scenes in what npm has today, and write ``docs/tested-clients.md``: ``make retest-agents``.

Another version than the pinned one takes its place for this run. ``FLAGS=--pinned`` plays the pinned ones alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tested-clients.md"
sys.path.insert(0, str(ROOT))

from tests.agents.clients import CLIENTS, NEWEST, Client  # noqa: E402

HEAD = """# Tested clients

`make retest-agents` plays the scenes of `tests/agents`, with a scripted model on loopback, in the newest version of
each client that npm has and in an older one, and writes this page.

"""
_CASE = re.compile(r"\[(?P<client>[^\]]+)\]$")


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the scenes, write the page, and return the exit status of the tests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pinned", action="store_true", help="the pinned versions, whatever npm has")
    options, more = parser.parse_known_args(arguments)
    versions = {} if options.pinned else {client.agent: newest(client) for client in CLIENTS.values()}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-m",
            "agents",
            "tests/agents",
            f"--junitxml={report}",
            *more,
        ]
        status = subprocess.run(
            [*command, "--numprocesses=auto", "--dist=worksteal"],
            cwd=ROOT,
            env={**os.environ, NEWEST: json.dumps(versions)},
            check=False,
        ).returncode
        PAGE.write_text(page(counts(report.read_text("utf-8")), datetime.now(UTC).date()), "utf-8")
    return status


def newest(client: Client) -> str:
    """Return the newest version of a client that npm has."""
    command = ["npm", "view", client.package, "version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def counts(report: str) -> dict[str, Counter[bool]]:
    """Return, by client and version, how many scenes passed and how many did not, of a report in JUnit's form."""
    results: dict[str, Counter[bool]] = {}
    for case in ElementTree.fromstring(report).iter("testcase"):
        if match := _CASE.search(case.get("name", "")):
            passed = case.find("failure") is None and case.find("error") is None
            results.setdefault(match["client"], Counter())[passed] += 1
    return results


def page(results: Mapping[str, Counter[bool]], day: date) -> str:
    """Return the text of the page.

    >>> page({"codex-0.171.0": Counter({True: 17})}, date(2026, 11, 29)).splitlines()[-1]
    '- codex 0.171.0, 2026-11-29: 17 of 17 scenes'
    """
    rows = []
    for name, outcome in sorted(results.items()):
        client, _, version = name.rpartition("-")
        rows.append(f"- {client} {version}, {day}: {outcome[True]} of {outcome.total()} scenes\n")
    return HEAD + "".join(rows)


if __name__ == "__main__":
    sys.exit(main())
