"""The namespaces that a reader may have meant."""

from __future__ import annotations

from collections.abc import Callable, Collection

_MOST_NAMES, _MOST_ASKED = 3, 20
"""Namespaces that a reason names, and whose memories are looked for."""


def suggestion(name: str, others: Collection[str], has_memories: Callable[[str], bool]) -> str:
    """The namespaces with memories that resemble a name, else a few with memories; empty if there are none.

    >>> suggestion("prod", ["production", "staging"], lambda name: True)
    '; did you mean "production"?'
    """
    from difflib import get_close_matches

    by_form = {other.casefold(): other for other in others}
    form = name.casefold()
    near = get_close_matches(form, by_form, n=_MOST_NAMES)
    near += [other for other in by_form if (form in other or other in form) and other not in near]
    similar = [by_form[other] for other in near[:_MOST_ASKED] if has_memories(by_form[other])][:_MOST_NAMES]
    if similar:
        *first, last = (f'"{other}"' for other in similar)
        return f"; did you mean {', '.join(first)}{' or ' if first else ''}{last}?"
    filled = [other for other in list(others)[:_MOST_ASKED] if has_memories(other)]
    if not filled:
        return ""
    names = ", ".join(f'"{other}"' for other in filled[:_MOST_NAMES])
    rest = len(filled) - _MOST_NAMES
    more = f" and {'at least ' if len(others) > _MOST_ASKED else ''}{rest:,} more" if rest > 0 else ""
    return f"; there are some in {names}{more}"
