"""Names that may have been meant by another."""

from __future__ import annotations

from collections.abc import Sequence

_CLOSE = 3
"""Maximum number of names that are close in their letters."""


def resembling(name: str, others: Sequence[str]) -> list[str]:
    """Those of the names that resemble a name, or contain it, or are part of it."""
    from difflib import get_close_matches

    by_form = {other.casefold(): other for other in others}
    form = name.casefold()
    near = get_close_matches(form, by_form, n=_CLOSE)
    near += [other for other in by_form if (form in other or other in form) and other not in near]
    return [by_form[other] for other in near]
