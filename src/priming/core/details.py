"""Details in a memory: what a text holds beside talk that could have been said of anything (RECALL)."""

from __future__ import annotations

import re

from priming.core.dates import has_time

_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twice"
_DETAIL = re.compile(
    r"(?:(?<=[a-z0-9] )|(?<=[a-z0-9][,;:] ))[A-Z]\w+"
    rf"|[\"“]|\d[\d.,:]*|\b(?:{_NUMBERS})\b"
)


def details(text: str) -> int:
    """Count the details of a text: names inside its sentences, quotation marks, numbers, and one for a time.

    Parameters
    ----------
    text : the text of a memory; the work is linear in it.

    Returns
    -------
    The count, repeats included. A capital that begins a sentence tells nothing and is not counted.

    Examples
    --------
    >>> details("Thanks, that is so kind!"), details("We saw two otters in Oslo last week.")
    (0, 3)
    """
    return sum(1 for _ in _DETAIL.finditer(text)) + has_time(text)
