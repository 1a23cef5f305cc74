"""The words of a comparison as they were written, for reasons that a person reads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from priming.text.corrections.polarity import SignedText, Word
from priming.text.quotation import quote_text

_GAP = re.compile(r"\s+(?:[\w'’-]+\s+){0,2}")
_LIMIT = re.compile(
    r"(?:\b(?:at|no|not|more|less|fewer|longer|shorter|larger|smaller|higher|lower|most|least|than|up|to|under|below|above|over"
    r"|max\w*\.?|min\w*\.?|of|limit\w*|a)\s+)+$",
    re.IGNORECASE,
)
"""What stands before the number of a limit."""
_MOST = 4
"""Most words by which a quotation is completed."""


def quoted(words: Sequence[Word], statement: SignedText) -> str:
    """The phrases that some words of a statement stand in, in quotation marks.

    >>> from priming.text.corrections.polarity import read_statement
    >>> statement = read_statement("Keep audit logs for 365 days")
    >>> quoted([statement.words[0], statement.words[2]], statement), quoted(statement.words[:1], statement)
    ('"audit logs for 365 days"', '"audit logs"')
    """
    spans: list[tuple[int, int]] = []
    for word in sorted(words, key=lambda word: word.place):
        span = _span(word, statement, spans[-1][1] if spans else 0)
        if span is None:
            continue
        end = spans[-1][1] if spans else 0
        if spans and (spans[-1][0] <= span[0] < end or _GAP.fullmatch(statement.source, end, span[0])):
            spans[-1] = (spans[-1][0], max(span[1], end))
        else:
            spans.append(span)
    texts = list(dict.fromkeys(written(statement.source, *span) for span in sorted(spans)))
    if not texts:
        texts = list(dict.fromkeys(word.text for word in words))
    *first, last = map(quote_text, texts)
    return f"{', '.join(first)} and {last}" if first else last


def limit_of(word: Word, statement: SignedText) -> str:
    """The phrase of a limit, with what was written before its number.

    >>> from priming.text.corrections.polarity import read_statement
    >>> statement = read_statement("Use no more than 3 retries")
    >>> limit_of(statement.words[0], statement)
    '"no more than 3 retries"'
    """
    span = _span(word, statement, 0)
    before = _LIMIT.search(statement.source[: span[0]]) if span else None
    if span is None or before is None:
        return quoted([word], statement)
    return quote_text(written(statement.source, before.start(), span[1]))


def _span(word: Word, statement: SignedText, start: int) -> tuple[int, int] | None:
    """Where a word and what it stands before were written."""
    source = statement.source
    match = _find(word.text, source, start) or _find(word.text, source, 0)
    if match is None:
        return None
    end = match.end()
    for after in statement.words[word.place + 1 : word.place + _MOST]:
        following = _find(after.text, source, end)
        joined = following is not None and re.fullmatch(
            r"\s+(?:(?:the|an?|all|every|of|its|our) )*", source[end : following.start()]
        )
        if (
            after.part != word.part
            or after.lead
            or after.sign != word.sign
            or following is None
            or not joined
        ):
            break
        end = following.end()
    return match.start(), end


def _find(text: str, source: str, start: int) -> re.Match[str] | None:
    """The first place of a text from a position on, as whole words."""
    pattern = r"\s*".join(map(re.escape, text.split()))
    return re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE).search(source, start) if pattern else None


def written(source: str, start: int, end: int) -> str:
    """A phrase as written, without the capital of a sentence."""
    text = source[start:end]
    is_first = start == 0 or source[:start].rstrip().endswith((".", "!", "?", ";", ":"))
    return text[0].lower() + text[1:] if is_first and text[1:2].islower() else text
