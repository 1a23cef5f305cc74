"""The SQLite store's tokens: who may use a server of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from priming.access import Token
from priming.serialization import stamp
from priming.store.connection import Connection

_PATIENCE = 0.05
_TOKEN = "id, namespace, name, created_at, revoked_at, used_at"


class SqliteTokens:
    """Tokens over one connection."""

    _db: Connection

    def add_token(self, token: Token, digest: bytes) -> None:
        """Keep a new token, by the digest of its secret."""
        with self._db.transaction():
            self._db.change(
                "INSERT INTO tokens (id, namespace, name, created_at, digest) VALUES (?, ?, ?, ?, ?)",
                (token.id, token.namespace, token.name, stamp(token.created_at), digest),
            )

    def tokens(self) -> list[Token]:
        """All that were ever made, oldest first."""
        return [_token(*row) for row in self._db.run(f"SELECT {_TOKEN} FROM tokens ORDER BY created_at, id")]

    def any_token(self) -> bool:
        """Whether one was ever made."""
        return bool(self._db.run("SELECT 1 FROM tokens LIMIT 1"))

    def token(self, token_id: str) -> tuple[Token, bytes] | None:
        """A token and the digest of its secret."""
        rows = self._db.run(f"SELECT {_TOKEN}, digest FROM tokens WHERE id = ?", (token_id,))
        return (_token(*rows[0][:-1]), rows[0][-1]) if rows else None

    def revoke_token(self, token_id: str, at: datetime) -> bool:
        """Revoke a token; whether there is one of that id that was not revoked yet."""
        with self._db.transaction():
            sql = "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
            return bool(self._db.change(sql, (stamp(at), token_id)))

    def use_token(self, token_id: str, at: datetime) -> None:
        """Note when a token was last used; ``Busy`` soon, rather than after the timeout."""
        with self._db.transaction(patience=_PATIENCE):
            self._db.change("UPDATE tokens SET used_at = ? WHERE id = ?", (stamp(at), token_id))


def _token(token_id: str, namespace: str, name: str | None, *times: Any) -> Token:
    created, revoked, used = (None if time is None else datetime.fromisoformat(time) for time in times)
    assert created is not None
    return Token(token_id, namespace, name, created, revoked, used)
