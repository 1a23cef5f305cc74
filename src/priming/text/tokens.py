"""Terms of a text: English stems without stop words, and pairs of CJK characters."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from priming.core.when import stem
from priming.text.word_lists import read_words

TERM_CACHE = 1 << 16
STOP_WORDS = frozenset(read_words("stop_words"))
"""English function words, without apostrophes; they give no terms."""

_CJK_CLASS = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_CJK = re.compile(f"[{_CJK_CLASS}]+")
_CJK_PARTS = re.compile(f"([{_CJK_CLASS}]+)")
# The rest of a word beyond 64 letters is ignored: such words are data, and terms are cached.
_TOKEN = re.compile(r"(?<![^\W_])[^\W_]{1,64}(?:'[a-z]{1,16}){0,2}")
_CLITICS = ("s", "ll", "ve", "re", "d", "m")
_MARKS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
_APOSTROPHES = dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u2032\uff07"), "'")


def terms(text: str) -> list[str]:
    """Split a text into its terms, in order: English stems without stop words, and pairs of CJK characters.

    A word is letters and digits, lower-cased, with its possessive or contracted ending ('s, 'll, 've, …)
    and its apostrophes taken off; words of ``STOP_WORDS`` are left out and the others stemmed by Snowball's
    English stemmer. A run of Han, Hiragana, Katakana or Hangul gives its overlapping pairs of characters, a
    single character itself.

    Parameters
    ----------
    text : any text.

    Returns
    -------
    The terms, repeats kept; the empty list when there are none.

    Notes
    -----
    Text that is not ASCII is brought to the Unicode form NFKC first, so that full-width and decomposed
    letters meet their plain twins, and Latin letters lose their accents, since a cue is often typed without
    them. Words are cut to 64 letters.

    References
    ----------
    .. [1] M. F. Porter, Snowball: a language for stemming algorithms, 2001.

    Examples
    --------
    >>> terms("When did Caroline's friends go hiking?")
    ['carolin', 'friend', 'go', 'hike']
    >>> terms("東京都 tower")
    ['東京', '京都', 'tower']
    """
    if text.isascii():
        return _words(text)
    stems: list[str] = []
    for place, piece in enumerate(_CJK_PARTS.split(_plain(text))):
        stems += _pairs(piece) if place % 2 else _words(piece)
    return stems


def spelled(text: str) -> dict[str, str]:
    """Map each term of a text to the first word, in lower case, that gives it; CJK pairs map to themselves.

    Examples
    --------
    >>> spelled("She hikes; hiking is fun")
    {'hike': 'hikes', 'fun': 'fun'}
    """
    spellings: dict[str, str] = {}
    for place, piece in enumerate(_CJK_PARTS.split(_plain(text))):
        words = _pairs(piece) if place % 2 else _TOKEN.findall(piece.lower())
        for word in words:
            term = word if place % 2 else _term(word)
            if term:
                spellings.setdefault(term, word)
    return spellings


def bigrams(text: str) -> str:
    """Join the CJK terms of a text by spaces, for a column of full-text search; empty if there are none.

    Parameters
    ----------
    text : any text.

    Returns
    -------
    Overlapping pairs of characters, a single character alone as itself.

    Examples
    --------
    >>> bigrams("I moved to 大阪府 in 春")
    '大阪 阪府 春'
    """
    if text.isascii():
        return ""
    return " ".join(pair for run in _CJK.findall(_plain(text)) for pair in _pairs(run))


def is_stop(word: str) -> bool:
    """Tell whether a word as it stands in a text, with its apostrophes, is a function word.

    Examples
    --------
    >>> is_stop("It's"), is_stop("Don’t"), is_stop("Caroline")
    (True, True, False)
    """
    return _term(_plain(word).lower()) == ""


def _plain(text: str) -> str:
    """Bring a text to NFKC, Latin letters without their accents: a cue is often typed without them."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES))
    return unicodedata.normalize("NFKC", _MARKS.sub("", apart))


def _words(text: str) -> list[str]:
    return [term for term in map(_term, _TOKEN.findall(text.lower())) if term]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@lru_cache(maxsize=TERM_CACHE)
def _term(token: str) -> str:
    """Stem a lower-cased token; a stop word gives the empty string."""
    head, apostrophe, tail = token.rpartition("'")
    word = (head if apostrophe and tail in _CLITICS else token).replace("'", "")
    return "" if word in STOP_WORDS else stem(word)


_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twice"
_DETAIL = re.compile(
    r"(?:(?<=[a-z0-9] )|(?<=[a-z0-9][,;:] ))[A-Z]\w+"
    rf"|[\"“]|\d[\d.,:]*|\b(?:{_NUMBERS})\b"
)


def specificity(text: str) -> int:
    """Count the details of a text: names inside its sentences, quotation marks, numbers, and one for a time.

    Parameters
    ----------
    text : the text of a memory; the work is linear in it.

    Returns
    -------
    The count, repeats included. A capital at the beginning of a sentence is not counted.

    Examples
    --------
    >>> specificity("Thanks, that is so kind!"), specificity("We saw two otters in Oslo last week.")
    (0, 3)
    """
    from priming.text.dates import has_time  # dates need numpy, which the words of a hook do not

    return sum(1 for _ in _DETAIL.finditer(text)) + has_time(text)
