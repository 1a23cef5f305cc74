"""Who may use a server, in a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from priming.cli.render import DIM, at
from priming.cli.screen import Part, Table, line

if TYPE_CHECKING:
    from priming.access import Token

_COLUMNS = ("id", "namespace", "name", "created", "last used", "revoked")


def tokens(found: Sequence[Token]) -> Iterator[Part]:
    """The tokens, oldest first."""
    rows = [
        (one.id, one.namespace, one.name or "", at(one.created_at), at(one.used_at), at(one.revoked_at))
        for one in found
    ]
    yield Table(_COLUMNS, tuple(rows)) if rows else line(("no tokens", DIM))
