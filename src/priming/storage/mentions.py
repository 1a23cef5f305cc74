"""Whether a value mentions a name, in any of its texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from priming.core.arguments.normal_forms import folded

_BETWEEN = r"[\s_.\-]+"
_GENITIVE = "(?:'?s)?"
_SPACELESS = re.compile(r"[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Letters of scripts that put no space between words."""


def mentions_any(names: Collection[str]) -> Callable[[Any], bool]:
    """Whether a text, or any text within a list or mapping, mentions one of the names.

    Words are whole, in any case, with accents or without.

    >>> is_named = mentions_any(["Ada Byron"])
    >>> is_named("by ada  byron's hand"), is_named({"key": ["ada-byron"]}), is_named("Ada Byrons"), is_named("Adam")
    (True, True, True, False)
    """
    pattern = re.compile("|".join(map(_pattern, map(folded, names))) or r"(?!)")

    def is_named(value: Any) -> bool:
        if isinstance(value, str):
            return pattern.search(folded(value)) is not None
        if isinstance(value, Mapping):
            return any(is_named(key) or is_named(item) for key, item in value.items())
        return isinstance(value, (list, tuple)) and any(map(is_named, value))

    return is_named


def _pattern(name: str) -> str:
    words = _BETWEEN.join(map(re.escape, name.split()))
    before = "" if _SPACELESS.match(name[:1]) else r"(?<![^\W_])"
    after = "" if _SPACELESS.match(name[-1:]) else rf"{_GENITIVE}(?![^\W_])"
    return f"{before}{words}{after}"
