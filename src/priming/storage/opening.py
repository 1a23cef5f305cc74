"""The store that a URL names, opened."""

from __future__ import annotations

from typing import Protocol, cast

from priming.config.store_urls import Location
from priming.errors import MissingExtra
from priming.storage.protocol import Store
from priming.storage.sqlite.store import SqliteStore

STORES = "priming.stores"
"""The group of entry points that open the stores of a scheme, by its name."""


class OpenedStore(Store, Protocol):
    """A store as it is opened by its URL."""

    @property
    def is_writable(self) -> bool:
        """Whether the store can be written now, or made."""

    def description(self) -> tuple[str, list[tuple[str, str]]]:
        """Return what the store is, in words; and what is unsafe about it, with the remedies."""


def open_store(location: Location) -> OpenedStore:
    """Open the store at a location.

    Raises:
        MissingExtra: what opens a store of this scheme is not installed.

    """
    if location.url is None:
        return SqliteStore(location.path, synchronous=location.synchronous, origin=location.origin)
    from importlib.metadata import entry_points

    for entry in entry_points(group=STORES, name=location.scheme):
        try:
            opened = entry.load()
        except ImportError as error:
            raise MissingExtra("postgres", "a store in PostgreSQL") from error
        return cast("OpenedStore", opened(location))
    raise MissingExtra("postgres", "a store in PostgreSQL")
