"""What the next release would do to a store in PostgreSQL: a migration with a step of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from priming import Memory, profiles
from priming.embedding.protocol import Embedder
from priming.types import SystemClock
from priming_server.postgres.schema import declared, migrations
from priming_server.postgres.store import PostgresStore

ADDED = declared(
    migrations()[-1].number + 1,
    """
-- step: short
ALTER TABLE memories ADD COLUMN letters BIGINT;
CREATE FUNCTION count_letters() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.letters := length(NEW.key);
    RETURN NEW;
END $$;
CREATE TRIGGER counted BEFORE INSERT OR UPDATE ON memories FOR EACH ROW EXECUTE FUNCTION count_letters();
-- step: backfill memories (number)
UPDATE memories m SET letters = length(m.key) FROM batch b
    WHERE m.namespace = b.namespace AND m.number = b.number AND m.letters IS NULL;
-- step: online
CREATE INDEX CONCURRENTLY memories_by_letters ON memories (namespace, letters);
-- step: short
ALTER TABLE memories ADD CONSTRAINT letters_counted CHECK (letters IS NOT NULL) NOT VALID;
-- step: online
ALTER TABLE memories VALIDATE CONSTRAINT letters_counted;
""",
)
NEWER = (*migrations(), ADDED)

MISSED = "SELECT count(*) FROM memories WHERE letters IS DISTINCT FROM length(key)"
"""How many rows the migration has missed."""
INDEX = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('memories_by_letters')"
CONSTRAINT = (
    "SELECT convalidated FROM pg_constraint WHERE conrelid = to_regclass('memories')"
    " AND conname = 'letters_counted'"
)


@contextmanager
def upgraded(url: str, schema: str, namespace: str, embedder: Embedder) -> Iterator[Memory]:
    """A memory as the next release opens it."""
    store = PostgresStore(url, schema=schema, steps=NEWER)
    with Memory(store, namespace, embedder, SystemClock(), profiles.get("priming"), profiles.ALL) as memory:
        yield memory
