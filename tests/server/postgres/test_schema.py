"""The steps that a migration declares."""

import pytest
from tests.rows import each_row

from priming_server.postgres.schema import Backfill, OnlineStep, ShortStep, declared, migrations

FILE = """-- Memories know how long their key is.
-- step: short
-- Of new rows too.
ALTER TABLE memories ADD COLUMN letters BIGINT;
CREATE INDEX later ON memories (letters);
-- step: backfill versions (memory, revision)
UPDATE versions v SET heading = '100 %' FROM batch b
    WHERE v.namespace = b.namespace AND v.memory = b.memory AND v.revision = b.revision;
-- step: online
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS memories_by_letters
    ON memories (namespace, letters);
-- step: online
DROP INDEX CONCURRENTLY IF EXISTS other
"""


def test_a_file_is_divided_into_its_steps_in_order():
    migration = declared(11, FILE)
    assert migration.number == 11
    short, backfill, online, dropped = migration.steps
    assert isinstance(short, ShortStep)
    assert short.sql.count(";") == 2
    assert isinstance(backfill, Backfill)
    assert (backfill.table, backfill.key) == ("versions", ("memory", "revision"))
    assert isinstance(online, OnlineStep)
    assert online.index == "memories_by_letters"
    assert isinstance(dropped, OnlineStep)
    assert dropped.index is None


def test_a_file_without_steps_is_a_short_step():
    assert declared(12, "ALTER TABLE runs ADD COLUMN cost BIGINT;").steps == (
        ShortStep("ALTER TABLE runs ADD COLUMN cost BIGINT;"),
    )


@each_row(
    ("text", "reason"),
    [
        ("ALTER TABLE a ADD b TEXT;\n-- step: short\nSELECT 1;", "before the first step"),
        ("-- step: short\nCREATE INDEX\n    CONCURRENTLY x ON a (b);", "a step of its own"),
        ("-- step: short\nALTER TABLE a VALIDATE CONSTRAINT c;", "a step of its own"),
        ("-- step: online\nCREATE INDEX x ON a (b);", "an online step is"),
        ("-- step: online\nDROP INDEX CONCURRENTLY x;", "IF EXISTS"),
        ("-- step: online\nALTER TABLE a VALIDATE CONSTRAINT c; SELECT 1;", "one statement"),
        ("-- step: online\n", "one statement"),
        ("-- step: backfill a (b)\nUPDATE a SET c = 1;", "reads the rows of `batch`"),
        ("-- step: backfill a\nUPDATE a SET c = 1 FROM batch;", "must be short, online, or backfill"),
        ("-- step: quick\nSELECT 1;", "'quick' must be"),
    ],
)
def test_a_step_that_would_make_others_wait_is_refused(text, reason):
    with pytest.raises(ValueError, match=f"migration 13: .*{reason}"):
        declared(13, text)


def test_the_migrations_of_this_version_are_numbered_in_order():
    numbers = [migration.number for migration in migrations()]
    assert numbers == sorted(set(numbers))
