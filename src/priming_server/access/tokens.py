"""Tokens, which grant access to a server of a store. They are not in the log, because they are not memories.

A backup that is put back keeps the present tokens: it would restore revoked ones. Their kind is checked by the
table of operations, and read-only where the store writes its log.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Self

from priming.config.environment import locate
from priming.config.values import rule_of
from priming.config.words import TOKEN_KINDS
from priming.core.arguments.checks import check_name, check_text, check_time
from priming.errors import NotFound, ParamError, StoreError
from priming.storage.opening import open_store
from priming.storage.protocol import ReadOnlyRow, TokenRow
from priming.types import EVERYWHERE, Clock, NewToken, SystemClock, Token

_PREFIX = "prm"
_ID_BYTES, _SECRET_BYTES = 6, 32
_PRECISION = timedelta(minutes=1)
"""Resolution of the time of last use: a write for each request would cost more than the request."""
_PATIENCE = 0.05
"""Seconds that the record of a use, which can be omitted, waits for another writer."""
_NO_DIGEST = hashlib.sha256(b"").digest()


class Tokens:
    """The tokens of a store. Calls may come from many threads."""

    def __init__(self, url: str | None = None, *, clock: Clock | None = None) -> None:
        self._store = open_store(locate(url))
        self._clock = clock or SystemClock()
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_details: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the store; a second call does nothing."""
        with self._lock:
            self._store.close()

    def new(
        self,
        namespace: str,
        name: str | None = None,
        *,
        kind: str = "write",
        lasts: timedelta | None = None,
    ) -> NewToken:
        """Create a token for a namespace, or for all (``*``); only the digest of its secret is stored.

        Args:
            namespace: the namespace.
            name: the name of its holder.
            kind: ``read``, ``write``, or ``admin``, which may also purge, roll back, restore and export.
            lasts: for how long it is valid; None: until it is revoked.

        """
        if kind not in TOKEN_KINDS:
            raise ParamError("kind", kind, f"must be {rule_of({'choices': TOKEN_KINDS})}")
        own = check_name("namespace", namespace)
        if own is None:
            raise ParamError("namespace", namespace, "must not be null: name one, or * for all")
        now = check_time("clock.now()", self._clock.now())
        token = Token(
            secrets.token_hex(_ID_BYTES),
            own,
            check_name("name", name),
            now,
            kind=kind,
            expires_at=None if lasts is None else _end(now, lasts),
        )
        secret = secrets.token_hex(_SECRET_BYTES)
        with self._lock:
            self._store.save(None, TokenRow(token, digest(secret)), new=True)
        return NewToken(token, f"{_PREFIX}_{token.id}_{secret}")

    def list(self) -> list[Token]:
        """Return all tokens, revoked ones included, oldest first."""
        with self._lock:
            return [row.token for row in self._store.rows(None, TokenRow)]

    def revoke(self, token_id: str) -> Token:
        """Revoke a token, at once and for good.

        Raises:
            NotFound: no token has that id; the message does not repeat it, since it may be a secret.

        """
        with self._lock:
            check_text("id", token_id)
            row = self._stored(token_id)
            if row is None:
                raise NotFound("there is no token with that id: 'priming token list' shows them")
            now = check_time("clock.now()", self._clock.now())
            self._store.save(None, replace(row, token=replace(row.token, revoked_at=now)), new=False)
            revoked = self._stored(token_id) or row
        return revoked.token

    def _stored(self, token_id: str) -> TokenRow | None:
        return next(iter(self._store.rows(None, TokenRow, ids=[token_id])), None)

    def set_read_only(self, namespace: str, *, on: bool) -> tuple[str, ...]:
        """Let nobody write to a namespace, or everybody who may; returns the namespaces that are read-only.

        A role of PostgreSQL that may not list the namespaces learns of this one alone.
        """
        own = check_name("namespace", namespace)
        if own is None or own == EVERYWHERE:
            raise ParamError("namespace", namespace, "must name one namespace")
        with self._lock:
            self._store.set_read_only(own, on=on)
            try:
                return tuple(row.namespace for row in self._store.rows(None, ReadOnlyRow))
            except StoreError:
                return tuple(row.namespace for row in self._store.rows(own, ReadOnlyRow))

    def read_only(self) -> tuple[str, ...]:
        """Return the namespaces that nobody may write to."""
        with self._lock:
            return tuple(row.namespace for row in self._store.rows(None, ReadOnlyRow))

    def namespaces(self) -> tuple[str, ...]:
        """Return all namespaces of the store, sorted."""
        with self._lock:
            return tuple(self._store.namespaces())

    def needed(self) -> bool:
        """Tell whether requests need a token: once one was created, even if it is revoked by now."""
        with self._lock:
            return bool(self._store.rows(None, TokenRow, limit=1))

    def is_writable(self) -> bool:
        """Tell whether the store, which must answer, can be written now."""
        with self._lock:
            self._store.rows(None, TokenRow, limit=1)
            return self._store.is_writable

    def admitted(self, secret: str) -> Token | None:
        """Return the valid token with this secret, or None."""
        prefix, _, rest = secret.partition("_")
        token_id, _, own = rest.partition("_")
        with self._lock:
            row = self._stored(token_id) if prefix == _PREFIX else None
            same = hmac.compare_digest(digest(own), _NO_DIGEST if row is None else row.digest)
            now = check_time("clock.now()", self._clock.now())
            if row is None or not same or row.token.revoked_at is not None:
                return None
            if row.token.expires_at is not None and now >= row.token.expires_at:
                return None
            self._record_use(row, now)
        return row.token

    def _record_use(self, row: TokenRow, now: datetime) -> None:
        """Record the use of a token, at most once a minute, if the store can soon be written."""
        used_at = row.token.used_at
        if used_at is None or not timedelta(0) <= now - used_at < _PRECISION:
            used = replace(row, token=replace(row.token, used_at=now))
            with suppress(StoreError), self._store.transaction(patience=_PATIENCE):
                self._store.save(None, used, new=False)


def _end(now: datetime, lasts: timedelta) -> datetime:
    """Return when a token expires that lasts so long from now on."""
    rule = "must be longer than 0 and end before the year 10000"
    if lasts <= timedelta(0):
        raise ParamError("lasts", str(lasts), rule)
    try:
        return now + lasts
    except OverflowError:
        raise ParamError("lasts", str(lasts), rule) from None


def digest(secret: str) -> bytes:
    """Return what is stored of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "backslashreplace")).digest()
