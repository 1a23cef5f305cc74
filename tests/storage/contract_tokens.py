"""The contract of tokens: kept beside the log, found by id."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from priming.errors import Conflict
from priming.storage.protocol import ReadOnlyRow, Store, TokenRow
from priming.storage.rows import MemoryRow
from priming.types import Token

from .making import added, operation, remember, whole

_AT = datetime(2026, 3, 1, 9, tzinfo=UTC)


def _token(token_id: str, days: int = 0) -> Token:
    return Token(token_id, "mine", None, _AT + timedelta(days=days))


def test_tokens_are_listed_oldest_first(store: Store) -> None:
    assert not store.rows(None, TokenRow, limit=1)
    store.save(None, TokenRow(_token("a", 1), b"digest"), new=True)
    store.save(None, TokenRow(_token("b"), b"digest"), new=True)
    assert [row.token for row in store.rows(None, TokenRow)] == [_token("b"), _token("a", 1)]
    assert store.rows(None, TokenRow, limit=1)


def test_a_token_is_found_with_its_digest(store: Store) -> None:
    store.save(None, TokenRow(_token("a"), b"\x00\xff"), new=True)
    assert store.rows(None, TokenRow, ids=["a"]) == [TokenRow(_token("a"), b"\x00\xff")]
    assert store.rows(None, TokenRow, ids=["b"]) == []


def test_a_token_is_revoked_once(store: Store) -> None:
    store.save(None, TokenRow(_token("a"), b"digest"), new=True)
    at = _AT + timedelta(days=1)
    for later in (at, at + timedelta(days=1)):
        assert store.save(None, TokenRow(replace(_token("a"), revoked_at=later), b""), new=False)
    assert not store.save(None, TokenRow(replace(_token("b"), revoked_at=at), b""), new=False)
    assert store.save(None, TokenRow(replace(_token("a"), used_at=at), b""), new=False)
    assert [row.token.revoked_at for row in store.rows(None, TokenRow)] == [at]


def test_when_a_token_was_used_is_kept(store: Store) -> None:
    store.save(None, TokenRow(_token("a"), b"digest"), new=True)
    store.save(None, TokenRow(replace(_token("a"), used_at=_AT), b""), new=False)
    assert [row.token.used_at for row in store.rows(None, TokenRow)] == [_AT]


def test_a_token_is_no_namespace(store: Store) -> None:
    store.save(None, TokenRow(_token("a"), b"digest"), new=True)
    assert store.namespaces() == []


def test_a_namespace_that_is_read_only_refuses_changes_until_it_is_not(store: Store) -> None:
    remember(store, whole("a"))
    for _ in range(2):
        store.set_read_only("mine", on=True)
    assert store.rows(None, ReadOnlyRow) == store.rows("mine", ReadOnlyRow) == [ReadOnlyRow("mine")]
    assert store.rows("other", ReadOnlyRow) == []
    for change in (lambda: remember(store, whole("b")), lambda: store.purge(operation(), ["a"])):
        with pytest.raises(Conflict, match="'mine' is read-only"):
            change()
    assert (store.head("mine"), len(store.rows("mine", MemoryRow))) == (1, 1)
    store.apply(operation(added(whole("c")), namespace="other"))
    store.set_read_only("mine", on=False)
    assert store.rows(None, ReadOnlyRow) == []
    remember(store, whole("b"))
