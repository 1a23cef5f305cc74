"""Parameters that know their range: what every ``*Params`` value is made with.

Such a value is frozen and checks itself when made: all violations are reported at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, fields
from numbers import Integral, Real
from typing import Any

from priming.errors import ParamError, violation

_MOST: Mapping[str, float] = {
    "": 100.0,
    "1/hour": 100.0,
    "1/day": 100.0,
    "seconds": 604_800.0,
    "minutes": 525_600.0,
    "hours": 876_000.0,
    "days": 36_500.0,
    "levels": 1_000,
    "links": 1_000,
    "steps": 1_000,
    "bytes": 2**40,
}
"""The ceiling of a number that has none of its own, by its unit; of all other units, ``_MOST_COUNTED``."""
_MOST_COUNTED = 2**32
"""The ceiling of what is counted, and of whole numbers without a unit."""


def param(
    default: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[Any, ...] = (),
    optional: bool = False,
    unit: str = "",
    source: str = "",
    doc: str = "",
) -> Any:
    """A dataclass field that knows its range (inclusive), its unit and where the default comes from.

    A number without a stated bound gets one by its unit, so that none can be absurd.
    """
    if not isinstance(default, (bool, str, tuple)) and not choices and not (default is None and low is None):
        whole = isinstance(default if default is not None else low, int)
        most = _MOST_COUNTED if whole and not unit else _MOST.get(unit, _MOST_COUNTED)
        high = (most if whole else float(most)) if high is None else high
        low = -high if low is None else low
    about = {"low": low, "high": high, "choices": choices, "optional": optional}
    return field(default=default, metadata={**about, "unit": unit, "source": source, "doc": doc})


def rule_of(about: Mapping[str, Any]) -> str:
    """The range of a parameter in words, as messages and tables print it."""
    if about.get("choices"):
        return "one of " + ", ".join(str(choice) for choice in about["choices"])
    if about.get("members"):
        return f"one or several of {', '.join(about['members'])}, with commas between"
    low, high = about.get("low"), about.get("high")
    if about.get("below") is not None:
        return f"≥ {low} and < {about['below']}"
    if low is not None and high is not None:
        rule = f"in [{low}, {high}]"
    else:
        rule = f"≥ {low}" if low is not None else f"≤ {high}" if high is not None else "any"
    return rule + " or none" if about.get("optional") else rule


def _broken(value: Any, about: Mapping[str, Any]) -> bool:
    if value is None:
        return not about["optional"]
    if about["choices"]:
        return value not in about["choices"]
    if about["low"] is None and about["high"] is None:
        return False
    if not isinstance(value, Real) or math.isnan(value):
        return True
    return (about["low"] is not None and value < about["low"]) or (
        about["high"] is not None and value > about["high"]
    )


class Checked:
    """Mixed into the ``*Params`` values: checks every field against its range."""

    __slots__ = ()

    def __post_init__(self) -> None:
        broken = []
        for f in fields(self):  # type: ignore[arg-type]
            about = f.metadata
            if "choices" not in about:
                continue
            value = getattr(self, f.name)
            whole = f.type == "int" or f.type == "int | None"
            if whole and value is not None and (isinstance(value, bool) or not isinstance(value, Integral)):
                broken.append(violation(f.name, value, "must be a whole number"))
            elif _broken(value, about):
                broken.append(violation(f.name, value, f"must be {rule_of(about)}"))
        if broken:
            raise ParamError.of(broken)
