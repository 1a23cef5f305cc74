"""Software with its version: "sqlalchemy 2.0.31", "node v20", "numpy==1.26.4"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from priming.text.name_forms.kinds import IDENTIFIER, Name
from priming.text.tokens import is_stop
from priming.text.word_lists import MEASURED_NOUNS, SENTENCE_OPENERS, SOFTWARE, is_common, is_formed

_BEFORE = 56
"""Letters before a version in which its software stands."""
_VERSION = re.compile(
    r"(?<![\w.,/:@=<>~^!$€£#+-])[vV]?\d{1,4}(?:\.\d{1,6}){0,4}(?:[-.+]?(?:rc|a|b|alpha|beta|dev|post|pre|lts)[.-]?\d{0,4})?"
    r"(?![\w%°/:$€£]|[.,]\d|-\d)"
)
_SOFTWARE = re.compile(
    r"(?<![\w./@-])([A-Za-z@][\w.+/@-]{0,40})[ ](?:(?:version|release|ver\.|v\.)[ ])?\(?\Z", re.IGNORECASE
)
_MEASURE = re.compile(
    r"[ ]?(?:percent|sec(?:ond)?s?|m?s|min(?:ute)?s?|h(?:ou)?rs?|h|days?|weeks?|months?|years?|times|millions?"
    r"|billions?|thousand|hundred|points?|[kxµ]|[KMGT]i?[Bb]?|[kKMGT]?bit|[A-Z]{3}|k?m|cm|mm|kg|g|mg|euros?|dollars?)(?!\w)"
)
_PLURAL = re.compile(r"[ ][a-z]{3,40}s(?!\w)")
_PINNED = re.compile(r"(@?[A-Za-z][\w.-]*(?:/[\w.-]+)?)(?:\[[\w,-]+\])?(?:===?|[~<>!^]=|@|=)[vV]?\d[\w*.+-]*")


def versioned(text: str) -> Iterator[tuple[int, Name]]:
    """Yield software with its version, and the software alone; versions after measures and common words are none.

    >>> [name.text for _, name in versioned("We pinned sqlalchemy 2.0.31; it took 3.5 hours.")]
    ['sqlalchemy 2.0.31', 'sqlalchemy']
    """
    for match in _VERSION.finditer(text):
        before = _SOFTWARE.search(text, max(0, match.start() - _BEFORE), match.start())
        version = match[0].lstrip("vV")
        if before and _has_versions(before[1], match[0], text, match.end()):
            yield before.start(1), Name(f"{before[1]} {version}", IDENTIFIER)
            yield before.start(1), Name(before[1], IDENTIFIER)


def _has_versions(word: str, version: str, text: str, end: int) -> bool:
    plain = word.lower()
    if plain in MEASURED_NOUNS or plain in SENTENCE_OPENERS or is_stop(word) or word[0].isupper():
        return False  # a capitalised word takes its number as part of its name
    points = version.count(".")
    if plain in SOFTWARE:
        return points > 1 or not (_MEASURE.match(text, end) or (not points and _PLURAL.match(text, end)))
    if is_formed(plain) or not points:
        return points > 0 and "-" in plain
    return points > 1 or version[0] in "vV" or not (is_common(plain) or _MEASURE.match(text, end))


def pinned(token: str) -> Iterator[Name]:
    """Yield the software that a token pins, with its version and alone.

    >>> [name.text for name in pinned("numpy==1.26.4")]
    ['numpy==1.26.4', 'numpy']
    """
    match = _PINNED.fullmatch(token)
    if match:
        yield Name(token, IDENTIFIER)
        yield Name(match[1], IDENTIFIER)
