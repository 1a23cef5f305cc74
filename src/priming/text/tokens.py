"""Terms of a text: stems in its own language without function words, and pairs of CJK characters.

Scripts name some languages, function words the others; another than English needs two, and more than English has.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, wraps
from typing import TypeVar

from priming.core.arguments.normal_forms import folded, letters, lowered, mark_class
from priming.core.when import stem, stemmer
from priming.text.word_lists import UNITS, is_common, read_word_groups, read_words

TERM_CACHE = 1 << 16
_SHORT = 512
"""Most characters of a text whose language and terms are cached."""
T = TypeVar("T")
STOP_WORDS = frozenset(read_words("stop_words"))
"""English function words, without apostrophes; they give no terms."""
_CJK_CLASS = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_CJK = re.compile(f"[{_CJK_CLASS}]+")
SPACELESS = re.compile(f"([{_CJK_CLASS}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)")
"""Runs of the scripts that put no spaces between words: those of CJK, Thai, Lao, Burmese and Khmer."""
# The rest of a word beyond 64 letters is ignored: such words are data, and terms are cached.
_WORD = re.compile(r"(?<![^\W_])[^\W_]{1,64}(?:'[a-z]{1,16}){0,2}")
_AFTER = (
    r"(?:[.,+#](?:(?<=[.,])\d{1,32}(?:[.,]\d{1,32}){0,7}(?![.,]?\w)|(?<=\+)\+(?![^\W\d_])|(?<=[+#])(?!\w)))?"
)
"""What may follow a word without a space: the rest of a number, or a sign at its end."""
_BEFORE = r"[-#.@$](?<![\w.\-@#$/+)\]}].)(?:(?<=-)-)?(?:(?<=[-#])(?=\d)|(?=[^\W\d_]))"
"""A sign with which a token begins."""
_FORM = rf"(?<![^\W_])WORD{_AFTER}|{_BEFORE}WORD{_AFTER}"
_TOKEN = re.compile(_FORM.replace("WORD", r"[^\W_]{1,64}(?:'[a-z]{1,16}){0,2}"))
_NUMBER = re.compile(r"v?\d+(?:[.,]\d+)+")
"""A number of several parts."""
_GLUED = re.compile(r"(\d+)(\D\w*)|([^\W\d_]+)(\d{3,})")
_SIGNS = "+#-.@$"
_UNITS = frozenset(map(str.lower, UNITS))
_COUNT = re.compile(
    r"[1-9]\d{0,2}(?P<group>[.,])\d{3}(?P<more>(?:(?P=group)\d{3})*)(?:(?!(?P=group))[.,](?P<rest>\d+))?"
)
_APART = re.compile(
    r"(?<![\w.,'])([1-9]\d{0,2}(?:([ _\u00a0\u2009\u202f'\u2019])\d{3}(?:\2\d{3})*|(?:,\d\d)+,\d{3}))"
    r"(?P<rest>[.,]\d{1,2})?(?![\w'\u2019]|[ ,.]\d)"
)
_DATE_PARTS = re.compile(r"\d{4}\.\d+\.\d+|\d+\.\d+\.\d{4}")
_CLITICS = ("s", "ll", "ve", "re", "d", "m")
_SCRIPTS: Mapping[str, re.Pattern[str]] = {
    language: re.compile(f"[{span}]")
    for language, span in {
        "russian": "\u0400-\u052f",
        "greek": "\u0370-\u03ff\u1f00-\u1fff",
        "arabic": "\u0600-\u06ff",
        "hindi": "\u0900-\u097f",
        "tamil": "\u0b80-\u0bff",
        "armenian": "\u0530-\u058f",
    }.items()
}
"""The language by whose rules words of a script are stemmed."""
_CYRILLIC = _SCRIPTS["russian"]
LATIN_LANGUAGES = tuple(
    "spanish french german portuguese italian turkish dutch polish indonesian romanian czech hungarian swedish"  # noqa: SIM905
    " danish norwegian finnish catalan".split()
)
"""Languages other than English that are recognised by their function words (``words/function_words``), those of more
speakers first: of two for which as much speaks it is the first."""
LANGUAGES = ("english", *LATIN_LANGUAGES)
_ASCII = frozenset(map(chr, range(128)))
_LETTERS = {language: frozenset(letters) for language, letters in read_word_groups("letters")}
"""Letters with marks that a language uses; beside a function word of it they count as another."""
_ELIDING = ("french", "italian", "catalan")
_LETTER = re.compile(r"(?<=[^\W_] )([^\W\d_])(?:['\u2019]s)?(?![\w'\u2019-])(?=((?: \w)?))")
"""A letter by itself behind a word, and how the next word begins."""
_ELIDED = re.compile(r"(?<!\w)[^\W\d_]{1,2}'(?=[^\W\d_])")
"""A small word that has lost its vowel: "l'imprimante", "qu'il"."""
_LANGUAGE_WORDS, _LEAST_SHARE = 200, 0.15
"""Words of a text that are read for its language, and the least share of function words in one other than English,
of which prose has a third or more."""


def terms(text: str, language: str | None = None) -> list[str]:
    """Split a text into its terms, in order: stems without function words, and pairs of CJK characters.

    A word is letters, their marks and digits, lower-cased, with its possessive or contracted ending ('s, 'll, 've, …)
    and its apostrophes taken off; function words of the language are left out and the others stemmed by Snowball's
    stemmer for it. A word of another script is stemmed by the language that its script is used for. A run of a script
    without spaces (Han, Kana, Hangul, Thai, …) gives its overlapping pairs of characters, a single character itself.

    A sign at the edge of a word is part of a name (C++, F#, .NET, --force, @types): the word gives a second term with
    its sign, and a single letter that alone. A capital letter within a sentence is a name ("plan A", but "A plan"). A
    number gives its value, whatever divides its thousands, and what is beside it as well (16, gb, 16gb; lh, 1234,
    lh1234); a version what it is a version of (3, 3.11). Emoji are words.

    Parameters
    ----------
    text : any text.
    language : the language of its words in Latin letters; None: recognised from the text.

    Returns
    -------
    The terms, repeats kept; the empty list when there are none.

    Notes
    -----
    Text that is not ASCII is brought to the Unicode form NFKC first, so that full-width and decomposed
    letters meet their plain twins, and Latin letters lose their accents, since a cue is often typed without
    them. Words are cut to 64 letters. A thousand in German, "1.200", is both values in an English text.

    Examples
    --------
    >>> terms("When did Caroline's friends go hiking?")
    ['carolin', 'friend', 'go', 'hike']
    >>> terms("東京都 tower")
    ['東京', '京都', 'tower']
    >>> terms("Wann werden die Häuser gebaut?"), terms("Когда построили дома?")
    (['haus', 'gebaut'], ['постро', 'дом'])
    >>> terms("C++ -x --quiet"), terms("€1,200.00 of 1200"), terms("1.200 Euro", "german")
    (['c++', '-x', 'quiet', '--quiet'], ['1200', '1200'], ['1200', 'euro'])
    """
    return [term for term, _ in readings(text, language)]


def _cached_if_short(read: Callable[[str, str | None], T]) -> Callable[..., T]:
    """Return a function of a text and a language, cached for short texts: a load reads each of them several times."""
    cached = lru_cache(maxsize=TERM_CACHE >> 4)(read)

    @wraps(read)
    def call(text: str, language: str | None = None) -> T:
        return (cached if len(text) <= _SHORT else read)(text, language)

    return call


@_cached_if_short
def readings(text: str, language: str | None) -> Sequence[tuple[str, str]]:
    """Split a text into its terms, as ``terms`` does, each with the word in lower case that gives it.

    >>> readings("She hikes", "english")
    [('hike', 'hikes')]
    """
    if not language:
        return readings(text, language_of(text) or "english")
    return [pair for token in _tokens(text, language) for pair in _read(token, language)]


@_cached_if_short
def language_of(text: str, likely: str | None) -> str | None:
    """Recognise the language of the Latin words of a text by their function words; None where they do not tell.

    Parameters
    ----------
    text : any text; its first 200 words are read.
    likely : a language that it is in where as much speaks for it as for English: "was" and "die" are words of both.

    Returns
    -------
    A name of ``LANGUAGES``, or None.

    Notes
    -----
    A function word that several languages share counts for each by its part, but wholly for English; a single letter
    counts for none. A language other than English needs two function words that count as one or more, and as more
    than those of English, and three in twenty of all words. Letters with the marks of a language count as one of its
    words beside another.

    Examples
    --------
    >>> language_of("Wann werden die Häuser gebaut?"), language_of("Where is the river?"), language_of("Rio")
    ('german', 'english', None)
    >>> language_of("Was kostet die Reise?"), language_of("Was kostet die Reise?", "german")
    ('english', 'german')
    """
    words = _WORD.findall(lowered(text).replace("'", " "))[:_LANGUAGE_WORDS]
    scores: defaultdict[str, float] = defaultdict(float)
    hits: defaultdict[str, int] = defaultdict(int)
    marked: set[str] = set()
    languages_of = _function_words()
    own = {word: languages_of[word] for word in words if word in languages_of and len(word) > 1}
    if not own:
        return None
    numbers = Counter(words)
    for word, languages in own.items():
        number, share = numbers[word], 1 / len(languages)
        for language in languages:
            scores[language] += share
            hits[language] += number
    special = set() if text.isascii() else {*"".join(words)} - _ASCII
    for language, letters_of in _LETTERS.items() if special and len(words) > 2 else ():
        if hits[language] and not special.isdisjoint(letters_of):
            scores[language] += 1
            hits[language] += 1
            marked.add(language)
    scores.pop("english", None)
    english = sum("english" in languages for languages in own.values())
    order = LATIN_LANGUAGES.index
    best = max(scores, key=lambda language: (scores[language], -order(language)), default="english")
    distinct = sum(best in languages for languages in own.values()) + (best in marked)
    if likely is not None and likely in scores and scores[likely] >= min(1.0, scores[best]):
        own_words = sum(likely in languages for languages in own.values())
        if own_words >= 2 and own_words >= english and hits[likely] >= _LEAST_SHARE * len(words):
            return likely
    is_prose = distinct >= 2 and hits[best] >= _LEAST_SHARE * len(words)
    if distinct == 2 and _is_plainly_english(words):
        english += 1
    if is_prose and ((scores[best] >= 1.0 and scores[best] > english) or distinct > max(2, english + 1)):
        return best
    return "english" if english else None


def _is_plainly_english(words: list[str]) -> bool:
    """Tell whether a third of the words are common English ones."""
    return 3 * sum(word in STOP_WORDS or is_common(word) for word in words) >= len(words)


def spelled(text: str, language: str | None = None) -> dict[str, str]:
    """Map each term of a text to the first word, in lower case, that gives it; CJK pairs map to themselves.

    Examples
    --------
    >>> spelled("She hikes; hiking is fun")
    {'hike': 'hikes', 'fun': 'fun'}
    """
    spellings: dict[str, str] = {}
    for term, word in readings(text, language):
        spellings.setdefault(term, word)
    return spellings


def bigrams(text: str) -> str:
    """Join the CJK terms of a text by spaces, for a column of full-text search; empty if there are none.

    They are overlapping pairs of characters, a single character alone as itself.

    Examples
    --------
    >>> bigrams("I moved to 大阪府 in 春")
    '大阪 阪府 春'
    """
    if text.isascii():
        return ""
    return " ".join(pair for run in _CJK.findall(folded(text)) for pair in _pairs(run))


@lru_cache(maxsize=TERM_CACHE >> 2)
def is_stop(word: str) -> bool:
    """Tell whether a word as it stands in a text, with its apostrophes, is a function word.

    Examples
    --------
    >>> is_stop("It's"), is_stop("Don’t"), is_stop("Caroline")
    (True, True, False)
    """
    return _term(folded(word)) == ""


def is_function_word(word: str, language: str | None) -> bool:
    """Tell whether a word in any case is a function word of a language, or of any where the language is None.

    >>> is_function_word("Der", "german"), is_function_word("Los", None), is_function_word("Der", "french")
    (True, True, False)
    """
    plain = lowered(word)
    if _CYRILLIC.match(plain):
        return plain in _function_words_of("russian")
    return len(plain) > 1 and (
        plain in _function_words() if language is None else plain in _function_words_of(language)
    )


def _tokens(text: str, language: str) -> list[str]:
    """Return the tokens of a text in lower case, but a letter that is a name within a sentence stays a capital."""
    tokens: list[str] = []
    start = 0
    for letter in _LETTER.finditer(text):
        in_title = letter[2].isupper()
        if letter[1].isupper() and not in_title and (letter[1], language) != ("I", "english"):
            tokens += [*_lower_tokens(text[start : letter.start()], language), letter[1]]
            start = letter.end()
    return tokens + _lower_tokens(text[start:], language)


def _lower_tokens(text: str, language: str) -> list[str]:
    """Return the tokens of a text in lower case; what may be one number, thousands apart, has its value beside it."""
    text = _APART.sub(lambda m: f"{m[0]} {''.join(filter(str.isdigit, m[1]))}{m['rest'] or ''}", text)
    plain = folded(text) if language == "english" else lowered(text, language)
    if language in _ELIDING:
        plain = _ELIDED.sub(" ", plain).replace("'", " ")
    if plain.isascii():
        return _TOKEN.findall(plain)
    tokens: list[str] = []
    for place, piece in enumerate(SPACELESS.split(plain.replace("_", " "))):
        tokens += _pairs(letters(piece)) if place % 2 else _wide_token().findall(piece)
    return tokens


@cache
def _wide_token() -> re.Pattern[str]:
    """Return a token of a text that is not ASCII: a word may contain marks, and a sign may be an emoji."""
    sign = rf"[^\w\s\x00-\xff\u2500-\u259f{mark_class()}]"
    emoji = rf"[\U0001f1e6-\U0001f1ff]{{2}}|{sign}(?:[\ufe0f\U0001f3fb-\U0001f3ff]|\u200d{sign}){{0,16}}"
    return re.compile(
        _FORM.replace("WORD", rf"\w[\w{mark_class()}]{{0,63}}(?:'[a-z]{{1,16}}){{0,2}}") + f"|{emoji}"
    )


@lru_cache(maxsize=TERM_CACHE)
def _read(token: str, language: str) -> tuple[tuple[str, str], ...]:
    """Return the terms of a token in lower case, each with its word; a function word has none."""
    if token.isupper():
        return ((lowered(token), lowered(token)),)
    if SPACELESS.match(token):
        return ((token, token),)
    if not token.isascii() and not token[0].isalnum():
        emoji = "".join(sign for sign in token if unicodedata.category(sign) in ("So", "Cf"))
        return ((emoji, emoji),) if emoji else ()
    bare = token.strip(_SIGNS)
    if _NUMBER.fullmatch(bare):
        pairs = [(number, number) for number in dict.fromkeys(_numbers(bare, language))]
    elif len(parts := re.split("[.,]", bare)) > 1:
        pairs = [pair for part in parts for pair in _read(part, language)]
    elif (glued := _GLUED.fullmatch(bare)) and (glued[4] or glued[2] in _UNITS):
        parts = [part for part in glued.groups() if part]
        pairs = [*(pair for part in parts for pair in _read(part, language)), (bare, bare)]
    else:
        word, term = folded(bare), _foreign_term(bare, language)
        pairs = [(term, word)] if term else []
    if bare == token:
        return tuple(pairs)
    return ((token, token),) if len(bare) == 1 and bare.isalpha() else (*pairs, (token, token))


def _numbers(token: str, language: str) -> Iterator[str]:
    """Yield what a number of several parts is: a value, a version with what it is one of, or the parts of a date."""
    group = "," if language == "english" else "."
    count = _COUNT.fullmatch(token)
    if count:
        whole = re.sub(r"\D", "", token[: count.start("rest") - 1] if count["rest"] else token)
        yield _value(whole, count["rest"] or "")
        if count["more"] or count["rest"] or count["group"] == group:
            return
    parts = re.split("[.,]", token)
    if len(parts) == 2 and "v" not in token and ("." in token or group == "."):
        yield from (parts[0], _value(*parts), ".".join(parts))
    elif "," in token or _DATE_PARTS.fullmatch(token):
        yield from (*parts, *([_value(*parts)] if len(parts) == 2 == len(parts[1]) else []))  # cents
    else:
        yield from (parts[0], *(".".join(parts[:size]).lstrip("v") for size in range(1, len(parts) + 1)))


def _value(whole: str, fraction: str) -> str:
    """Return a decimal number without zeros at its end."""
    return f"{whole}.{fraction}".rstrip("0").rstrip(".")


@cache
def _function_words() -> Mapping[str, tuple[str, ...]]:
    """Return the languages that each function word belongs to."""
    languages: dict[str, tuple[str, ...]] = dict.fromkeys(STOP_WORDS, ("english",))
    for language in LATIN_LANGUAGES:
        for word in _function_words_of(language):
            languages[word] = (*languages.get(word, ()), language)
    return languages


@cache
def _function_words_of(language: str) -> frozenset[str]:
    has_list = language in (*LATIN_LANGUAGES, "russian")
    return frozenset(read_words(f"function_words/{language}") if has_list else ())


def _foreign_term(word: str, language: str) -> str:
    """Stem a word in lower case by its script, or by the language of its text; a function word gives ""."""
    own = (
        language
        if word.isascii()
        else next((name for name, script in _SCRIPTS.items() if script.search(word)), language)
    )
    if own == "english":
        return _term(folded(word))
    return "" if word in _function_words_of(own) else folded(stemmer(own)(word))


def _pairs(run: Sequence[str]) -> list[str]:
    return ["".join(run[i : i + 2]) for i in range(len(run) - 1)] or [*run]


@lru_cache(maxsize=TERM_CACHE)
def _term(token: str) -> str:
    """Stem a lower-cased token; a stop word gives the empty string."""
    head, apostrophe, tail = token.rpartition("'")
    word = (head if apostrophe and tail in _CLITICS else token).replace("'", "")
    return "" if word in STOP_WORDS else stem(word)
