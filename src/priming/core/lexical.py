"""Words as evidence: how a text becomes terms, and what they are worth (LAWS §10)."""

from __future__ import annotations

import math
import re
import sys
import threading
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from priming.config.params.laws import BM25
from priming.core.check import Floats, floats, like
from priming.core.stop_words import STOP_WORDS
from priming.errors import ParamError

TERM_CACHE = 1 << 16

_CJK_CLASS = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_CJK = re.compile(f"[{_CJK_CLASS}]+")
_CJK_PARTS = re.compile(f"([{_CJK_CLASS}]+)")
# The rest of a word beyond 64 letters is passed over: such words are data, and terms are cached.
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
    """Give the first word, in lower case, that stands for each term of a text; CJK pairs stand for themselves.

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


def idf(df: ArrayLike, n: ArrayLike) -> Any:
    """Weigh a term by its rarity: ln(1 + (n − df + ½)/(df + ½)).

    Parameters
    ----------
    df : documents that hold the term, 0 ≤ df ≤ n.
    n : documents in all.

    Returns
    -------
    A positive number, largest for the rarest; arrays broadcast.

    Raises
    ------
    ParamError : a negative count, or df > n.

    References
    ----------
    .. [1] S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009. The 1
       under the logarithm keeps terms of more than half of the documents positive.

    Examples
    --------
    >>> round(idf(1, 10), 4)
    1.9924
    """
    return like(_idf(df, n))


def tf_part(
    tf: ArrayLike, length: ArrayLike, mean_length: ArrayLike, k1: float = BM25.k1, b: float = BM25.b
) -> Any:
    """Saturate occurrences: tf / (tf + k1·(1 − b + b·length/mean_length)).

    BM25 is idf · (k1 + 1) · this.

    Parameters
    ----------
    tf : occurrences of the term in the document.
    length : terms in the document.
    mean_length : mean terms in a document; 0 (nothing has terms) counts as a length of 0.
    k1 : saturation, ≥ 0.
    b : length normalisation, in [0, 1].

    Returns
    -------
    A share in [0, 1], 0 without occurrences, towards 1 with many; arrays broadcast.

    Raises
    ------
    ParamError : a negative or non-finite argument, or b above 1.

    Examples
    --------
    >>> round(tf_part(1, 20, 20.0) * 2.2, 4)
    1.0
    """
    return like(_tf_part(tf, length, mean_length, k1, b))


def bm25(
    tf: ArrayLike,
    df: ArrayLike,
    n: ArrayLike,
    length: ArrayLike,
    mean_length: ArrayLike,
    k1: float = BM25.k1,
    b: float = BM25.b,
) -> Any:
    """Weigh a term in a document by Okapi BM25.

    ln(1 + (n − df + ½)/(df + ½)) · tf·(k1 + 1) / (tf + k1·(1 − b + b·length/mean_length)).

    Parameters
    ----------
    tf : occurrences of the term in the document.
    df : documents that hold the term, 0 ≤ df ≤ n.
    n : documents in all.
    length : terms in the document.
    mean_length : mean terms in a document.
    k1 : saturation, ≥ 0.
    b : length normalisation, in [0, 1].

    Returns
    -------
    One weight for each broadcast element; a document's score is the sum over the cue's terms.

    Raises
    ------
    ParamError : a negative or non-finite argument, df > n, or b above 1.

    References
    ----------
    .. [1] S. Robertson et al., Okapi at TREC-3, 1994.

    Examples
    --------
    >>> round(bm25(2, 1, 10, 8, 8.0), 4)
    2.7396
    """
    part = _tf_part(tf, length, mean_length, k1, b)
    return like(np.asarray(_idf(df, n) * (k1 + 1.0) * part))


def length_norm(length: ArrayLike, mean_length: ArrayLike, k1: float = BM25.k1, b: float = BM25.b) -> Any:
    """What the occurrences of a term are saturated by in a document: k1·(1 − b + b·length/mean_length).

    Parameters
    ----------
    length, mean_length, k1, b : as in ``tf_part``.

    Returns
    -------
    A number ≥ 0 for each length; tf / (tf + this) is ``tf_part``. No cue plays a part in it.

    Raises
    ------
    ParamError : as ``tf_part``.

    Examples
    --------
    >>> length_norm(20, 20.0) == BM25.k1
    True
    """
    return like(_length_norm(length, mean_length, k1, b))


def okapi(tf: Floats, norm: Floats, rarity: Floats, k1: float = BM25.k1) -> Floats:
    """Weigh occurrences by BM25 where its parts are known already: rarity · (k1 + 1) · tf/(tf + norm).

    Parameters
    ----------
    tf : occurrences, > 0.
    norm : ``length_norm`` of their documents.
    rarity : ``idf`` of their terms.
    k1 : saturation, ≥ 0, as in the norm.

    Returns
    -------
    What ``bm25`` returns. Nothing is checked: this is for statistics that the caller counted himself.

    Examples
    --------
    >>> norm = np.array([length_norm(8, 8.0)])
    >>> float(okapi(np.array([2.0]), norm, np.array([idf(1, 10)]))[0]) == bm25(2, 1, 10, 8, 8.0)
    True
    """
    weighed: Floats = rarity * (k1 + 1.0) * (tf / (tf + norm))
    return weighed


def minmax(x: ArrayLike) -> Floats:
    """Move scores to [0, 1]: (x − min)/(max − min); where all are equal, 1 if they are positive, else 0.

    Parameters
    ----------
    x : scores, shape (n,).

    Returns
    -------
    float64, shape (n,).

    Raises
    ------
    ParamError : a score that is NaN or infinite.

    Examples
    --------
    >>> minmax([2.0, 4.0, 3.0]).tolist(), minmax([5.0, 5.0]).tolist(), minmax([0.0]).tolist()
    ([0.0, 1.0, 0.5], [1.0, 1.0], [0.0])
    """
    values = floats("x", x)
    if values.size == 0:
        return values.copy()
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.full_like(values, 1.0 if high > 0 else 0.0)
    if not np.isfinite(high - low):
        values, low, high = values / 2, low / 2, high / 2
    return (values - low) / (high - low)


def scaled(x: ArrayLike) -> Floats:
    """Take scores as shares of the best: s(x) = max(x, 0)/max x; zeros when none is positive.

    Parameters
    ----------
    x : scores, shape (n,).

    Returns
    -------
    float64 in [0, 1], shape (n,).

    Raises
    ------
    ParamError : a score that is NaN or infinite.

    Examples
    --------
    >>> scaled([-1.0, 1.0, 2.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    values = np.maximum(floats("x", x), 0.0)
    top = float(values.max(initial=0.0))
    return values / top if top > 0 else values


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
    return "" if word in STOP_WORDS else _stemmer()(word)


@cache
def _stemmer() -> Callable[[str], str]:
    # The stemmer keeps its state in the object, hence the lock.
    import Stemmer

    stemmer, lock = Stemmer.Stemmer("english"), threading.Lock()

    def stem(word: str) -> str:
        with lock:
            return str(stemmer.stemWord(word))

    return stem


def _idf(df: ArrayLike, n: ArrayLike) -> Floats:
    frequency, documents = _checked("df", df), _checked("n", n)
    if np.any(frequency > documents):
        raise ParamError("df", float(np.max(frequency)), "must be ≤ n")
    return np.asarray(np.log1p((documents - frequency + 0.5) / (frequency + 0.5)))


def _tf_part(tf: ArrayLike, length: ArrayLike, mean_length: ArrayLike, k1: float, b: float) -> Floats:
    count = _checked("tf", tf)
    total: Floats = np.asarray(count + _length_norm(length, mean_length, k1, b))
    part: Floats = np.divide(count, total, out=np.zeros_like(total), where=total > 0)
    return part


def _length_norm(length: ArrayLike, mean_length: ArrayLike, k1: float, b: float) -> Floats:
    terms_here, mean = _checked("length", length), _checked("mean_length", mean_length)
    k1, b = _checked("k1", k1), _checked("b", b, high=1.0)
    ratio = terms_here / np.where(mean > 0, mean, np.inf)
    return np.asarray(k1 * (1.0 - b + b * ratio))


def _checked(name: str, value: Any, *, high: float = math.inf) -> Any:
    """Check a number or array to lie in [0, high]; plain numbers, the usual case in a loop, the short way."""
    if type(value) in (int, float) and 0.0 <= value <= min(high, sys.float_info.max):
        return float(value)
    return floats(name, value, low=0.0, high=high)
