"""A name and its kind."""

from __future__ import annotations

from priming.config.values import dataclass

NAME, FILE, IDENTIFIER, QUOTED, HANDLE, DATE = FORMS = (
    "name",
    "file",
    "identifier",
    "quoted",
    "handle",
    "date",
)

NAME_LETTERS = 256


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it stands in the text, and what kind of thing it is by its form."""

    text: str
    kind: str
