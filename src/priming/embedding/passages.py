"""The passages of a long text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from priming.config.params.embedding import PASSAGES, PassageParams
from priming.text.gists import pieces

_ENDS_SENTENCE = re.compile(r"[.!?。！？][\"'”’)\]]*\s*$")
_WORD_LETTERS = 64
_WORD = re.compile(rf"\S{{1,{_WORD_LETTERS}}}\s*")


def is_long(text: str, params: PassageParams = PASSAGES) -> bool:
    """Whether a text is longer than what a model of sentences reads whole."""
    return _bytes(text) > params.whole


def passage_ends(text: str, params: PassageParams = PASSAGES) -> tuple[int, ...]:
    """Where each passage of a long text ends: after a sentence or line, in a longer one after a word.

    A text that a model of sentences reads whole has no passages. A heading stands with what follows it. Sizes are
    bytes of UTF-8, as the tokens of models are: of Chinese, a third as many characters make a passage.

    >>> passage_ends("It rained. We stayed in.")
    ()
    >>> passage_ends("It rained all day. " * 100, PassageParams(least=300, most=600))[:2]
    (588, 1177)
    """
    if not is_long(text, params):
        return ()
    ends, size = list[int](), 0
    start = before = here = 0
    for end in _places(text, params.most):
        step = _bytes(text[here:end])
        if size and (size + step > params.most or (size >= params.least and text[here - 1] == "\n")):
            is_line = before > start and text[before - 1] == text[here - 1] == "\n"
            is_heading = is_line and not _ENDS_SENTENCE.search(text[before:here])
            ends.append(before if is_heading else here)
            start, size = ends[-1], _bytes(text[ends[-1] : here])
        before, here, size = here, end, size + step
    if size < params.least:
        ends.pop()
    return (*ends, len(text)) if ends else ()


def sentence_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where the sentences of a passage begin and end; a short one, such as a label, goes with the next."""
    spans, begin = list[tuple[int, int]](), start
    for piece in pieces(text[start:end]):
        start += len(piece)
        if start - begin >= PASSAGES.sentence or start == end:
            spans.append((begin, start))
            begin = start
    return spans


def _places(text: str, most: int) -> Iterator[int]:
    """Where a passage may end: after each sentence or line, and after each word of a longer one."""
    end = 0
    for piece in pieces(text):
        start, end = end, end + len(piece)
        if start and not piece.isspace():
            yield start
        if _bytes(piece) > most:
            yield from (start + word.end() for word in _WORD.finditer(piece) if start + word.end() < end)
    yield end


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
