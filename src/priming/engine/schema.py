"""Which schema of a store this version knows, and how a file of ours is marked: without opening one."""

from __future__ import annotations

from priming.store.migrate import APPLICATION_ID, migrations


def newest() -> int:
    """The number of the newest schema."""
    return migrations()[-1].number


def mark() -> int:
    """The mark in the header of a file of ours, SQLite's ``application_id``."""
    return APPLICATION_ID
