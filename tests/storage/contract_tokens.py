"""The contract of tokens: kept beside the log, found by id."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from priming.errors import Conflict
from priming.storage.protocol import Store
from priming.types import Token

from .making import added, operation, remember, whole

_AT = datetime(2026, 3, 1, 9, tzinfo=UTC)


def _token(token_id: str, days: int = 0) -> Token:
    return Token(token_id, "mine", None, _AT + timedelta(days=days))


def test_tokens_are_listed_oldest_first(store: Store) -> None:
    assert not store.any_token()
    store.add_token(_token("a", 1), b"digest")
    store.add_token(_token("b"), b"digest")
    assert store.tokens() == [_token("b"), _token("a", 1)]
    assert store.any_token()


def test_a_token_is_found_with_its_digest(store: Store) -> None:
    store.add_token(_token("a"), b"\x00\xff")
    assert store.token("a") == (_token("a"), b"\x00\xff")
    assert store.token("b") is None


def test_a_token_is_revoked_once(store: Store) -> None:
    store.add_token(_token("a"), b"digest")
    at = _AT + timedelta(days=1)
    assert store.revoke_token("a", at)
    assert not store.revoke_token("a", at + timedelta(days=1))
    assert not store.revoke_token("b", at)
    (found,) = store.tokens()
    assert found.revoked_at == at


def test_when_a_token_was_used_is_kept(store: Store) -> None:
    store.add_token(_token("a"), b"digest")
    store.use_token("a", _AT)
    (found,) = store.tokens()
    assert found.used_at == _AT


def test_a_token_is_no_namespace(store: Store) -> None:
    store.add_token(_token("a"), b"digest")
    assert store.namespaces() == []


def test_a_namespace_that_is_read_only_refuses_changes_until_it_is_not(store: Store) -> None:
    remember(store, whole("a"))
    for _ in range(2):
        store.set_read_only("mine", on=True)
    assert store.all_read_only() == store.all_read_only("mine") == ["mine"]
    assert store.all_read_only("other") == []
    for change in (lambda: remember(store, whole("b")), lambda: store.purge(operation(), ["a"])):
        with pytest.raises(Conflict, match="'mine' is read-only"):
            change()
    assert (store.head("mine"), len(store.memories("mine"))) == (1, 1)
    store.apply(operation(added(whole("c")), namespace="other"))
    store.set_read_only("mine", on=False)
    assert store.all_read_only() == []
    remember(store, whole("b"))
