"""The store that a URL names, opened."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from priming.config.environment import database_place
from priming.config.params.store import POSTGRES
from priming.config.store_urls import Location
from priming.errors import MissingExtra
from priming.storage.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from priming.storage.postgres.store import PostgresStore


def open_store(location: Location) -> SqliteStore | PostgresStore:
    """Open the store at a location."""
    if location.url is None:
        return SqliteStore(location.path, synchronous=location.synchronous, origin=location.origin)
    try:
        from priming.storage.postgres.store import PostgresStore
    except ImportError as error:
        raise MissingExtra("postgres", "a store in PostgreSQL") from error
    return PostgresStore(
        location.url,
        schema=location.schema,
        pool=location.pool or POSTGRES.pool,
        beside=(database_place(location),),
    )


def database_check(location: Location) -> tuple[str, list[tuple[str, str]]]:
    """What a database is and holds, in words; and what is unsafe about it, with the remedies."""
    with closing(open_store(location)) as store:
        return store.description()
