"""The names that somebody may have meant."""

from __future__ import annotations

from collections.abc import Sequence

_SUGGESTED = 3
"""Maximum number of other namespaces that a reason names."""


def similar_namespaces(name: str, others: Sequence[str]) -> str:
    """The namespaces with memories that resemble a name, else the first of all; empty if there are none."""
    from difflib import get_close_matches

    by_form = {other.casefold(): other for other in others}
    form = name.casefold()
    near = get_close_matches(form, by_form, n=_SUGGESTED)
    near += [other for other in by_form if (form in other or other in form) and other not in near]
    if near:
        return f"; did you mean {_either([by_form[other] for other in near[:_SUGGESTED]])}?"
    if not others:
        return ""
    more = f" and {len(others) - _SUGGESTED:,} more" if len(others) > _SUGGESTED else ""
    return f"; there are some in {', '.join(_quoted(other) for other in others[:_SUGGESTED])}{more}"


def _either(names: Sequence[str]) -> str:
    *first, last = map(_quoted, names)
    return f"{', '.join(first)} or {last}" if first else last


def _quoted(name: str) -> str:
    return f'"{name}"'
