"""Who may use a server: tokens, each for one namespace or for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

EVERYWHERE = "*"
"""The namespace of a token that may use all of them."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is listed: its secret is not kept."""

    id: str
    namespace: str
    name: str | None
    created_at: datetime
    revoked_at: datetime | None = None
    used_at: datetime | None = None

    def may_use(self, namespace: str) -> bool:
        """Whether it is for that namespace.

        >>> from datetime import UTC
        >>> token = Token("id", "shop", None, datetime(2026, 3, 1, tzinfo=UTC))
        >>> token.may_use("shop"), token.may_use("other")
        (True, False)
        """
        return self.namespace in (namespace, EVERYWHERE)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just made: the only time that its ``secret`` is told."""

    token: Token
    secret: str = field(repr=False)
