"""A distribution of importers, installed for one test the way any other is: as files on the path."""

from __future__ import annotations

import pytest

from priming import Memory
from priming.embed.hashed import HashedEmbedder

MODULE = """
import json
from priming.transfer.importers import Entry, Tie

def lines(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            value = json.loads(line)
            if value == "stop":
                raise KeyboardInterrupt
            yield Tie(**value) if "relation" in value else Entry(value)

def wrong(path):
    yield {"content": "neither an Entry nor a Tie"}
"""


@pytest.fixture
def memory():
    with Memory.open("sqlite://", embedder=HashedEmbedder()) as opened:
        yield opened


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Importers ``lines``, ``wrong``, ``gone`` and ``typo``, as real entry points."""
    site = tmp_path / "site"
    about = site / "mail_importers-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "mail_importers.py").write_text(MODULE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mail-importers\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[priming.importers]\nlines = mail_importers:lines\nwrong = mail_importers:wrong\n"
        "gone = no_such_module:read\ntypo = mail_importers:lnes\n"
    )
    monkeypatch.syspath_prepend(str(site))
    return site
