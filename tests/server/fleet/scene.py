"""Small teams with something to do for each stage of a night, and what their namespaces hold."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from priming import FixedClock, HashedEmbedder, Memory
from priming.cli import start
from priming.storage.rows import LinkRow, MemoryRow, VersionRow

EMBEDDER = "hashed:64"
THEN = datetime.now(UTC) - timedelta(days=40)
TEXTS = (
    ("episode", "The release of {name} failed, the disk of {name} is full"),
    ("episode", "The release of {name} failed again, the disk of {name} is full"),
    ("episode", "{name} failed, the disk is full, the release waits"),
    ("episode", "The full disk of {name} stopped the release"),
    ("episode", "Lunch was late today."),
    ("episode", "Lunch was late today."),
    ("procedure", "1. Stop {name}. 2. Delete old builds. 3. Start the server."),
    ("procedure", "1. Stop {name}. 2. Delete old builds. 3. Check the disk. 4. Start the server."),
    ("failure", "The deploy of {name} broke because the disk was full."),
    ("failure", "The deploy of {name} broke because the disk was full!"),
)


def fill(url, number):
    """Namespaces ``team-000`` and so on, each with its own words."""
    names = [f"team-{index:03}" for index in range(number)]
    for index, name in enumerate(names):
        with Memory.open(url, namespace=name, embedder=HashedEmbedder(64), clock=FixedClock(THEN)) as memory:
            memory.remember_many(
                {
                    "content": text.format(name=f"Kestrel{index}"),
                    "kind": kind,
                    "session": f"s{place}",
                    "key": f"m{place}",
                }
                for place, (kind, text) in enumerate(TEXTS[: 6 + index % 5])
            )
    return names


def picture(url, name):
    """What a namespace holds, by keys, and the operations of its log by kind and reason."""
    with Memory.open(url, namespace=name, embedder=HashedEmbedder(64)) as memory:
        store = memory.store
        rows = store.rows(name, MemoryRow)
        keys = {row.id: row.key for row in rows}
        texts = sorted((keys[row.id], row.version, row.content) for row in store.rows(name, VersionRow))
        links = sorted(
            (keys[link.source], link.relation, keys[link.target], round(link.weight, 4))
            for link in store.rows(name, LinkRow)
        )
        log = [(each.kind, each.reason) for each in reversed(memory.log(limit=1000))]
        assert memory.verify().findings == ()
        return sorted((row.key, row.kind, row.status) for row in rows), texts, links, log


def environment(home):
    """The environment of a command with records of its own."""
    return {**os.environ, "PRIMING_HOME": str(home), "PRIMING_SERVER": "off"}


def command(url, *words):
    """The words of ``priming fleet`` on a store."""
    return [sys.executable, start.__file__, "--url", url, "--embedder", EMBEDDER, "--json", "fleet", *words]


def run(url, home, *words):
    """Run ``priming fleet``."""
    return subprocess.run(
        command(url, *words), env=environment(home), capture_output=True, text=True, check=False
    )


def records(home):
    return Path(home, "fleet")
