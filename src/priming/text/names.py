"""Names in a text, by rules: people, places, titles, files, identifiers, handles.

The form of words decides, not a model: a tagger would need megabytes, and would not know ``auth-proxy`` either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from priming.core.arguments.normal_forms import caseless
from priming.text.dates import dates
from priming.text.name_forms.capitals import UPPER, initialisms, spans
from priming.text.name_forms.forms import (
    DATE,
    FILE,
    IDENTIFIER,
    NAME,
    NAME_LETTERS,
    QUOTED,
    Name,
    versioned,
)
from priming.text.name_forms.technical import is_file, technical_names
from priming.text.tokens import TERM_CACHE, is_function_word, is_stop
from priming.text.word_lists import (
    COMPONENT_NOUNS,
    INDEFINITE_WORDS,
    PLAIN_MODIFIERS,
    SENTENCE_OPENERS,
    read_words,
)

QUOTED_WORDS = 5
QUOTED_LETTERS = 80

_PARENTHESIS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")

_DOUBLE = re.compile(rf'"([^"\n]{{1,{QUOTED_LETTERS}}})"|“([^“”\n]{{1,{QUOTED_LETTERS}}})”')
_TYPEWRITTEN = re.compile(rf"(?<![\w'])'([{UPPER}][^'\n]{{1,{QUOTED_LETTERS}}})'(?![\w'])")
_CORNERED = re.compile(rf"[「『《]([^「」『』《》\n]{{1,{QUOTED_LETTERS}}})[」』》]")
_SINGLE = re.compile(rf"‘([^‘’\n]{{1,{QUOTED_LETTERS}}}(?:’\w[^‘’\n]{{0,{QUOTED_LETTERS}}}){{0,3}})’(?!\w)")
_QUOTE = re.compile(r"[\"'“‘「『《]")
_JOINED = re.compile("[-_]")
_CAMEL = re.compile("[A-Z][a-z]+")
_PIN = re.compile(r"(?<=[\w\]])(?:===?|@)[vV]?(?=\d+\.\d)")
_TICKED = re.compile(rf"`([^`\n]{{1,{QUOTED_LETTERS}}})`")

_WORD = re.compile(r"\b\w+")
_CAPITALISING = ("german",)
"""Languages that write every noun with a capital."""


def find(text: str, heading: str | None = None) -> tuple[Name, ...]:
    """Find the names of a text by their form.

    Capitalised words make a name, joined over of, the, de, la, von, van, for, over a year before and
    numbers after it. The shorter names inside it, down to single words, are names too, and so are two
    neighbours with a comma between ("Rochester, New York"). Function words are taken off its ends, and
    openers such as "Thanks" where a sentence begins. A single word that begins a sentence is no name if it
    is a common word, has the ending of a verb or adverb, or stands in small letters elsewhere in the text.
    Days, months, units ("GB") and common acronyms ("API") are none either.

    In any case: software (``redis``, ``sqlalchemy 2.0.31``), components by a noun for what they are
    (``billing service``), machines and packages by a hyphen or a digit (``worker-3``, ``auth-proxy``,
    ``lb3``), flags, environment variables, files and folders, branches, hosts and ports, web addresses,
    identifiers (``snake_case``, ``camelCase``, ``dotted.name``, anything in backticks, ``ABC-123``, ``#42``,
    ``v1.2.3``, hashes), short quotations with a capital, handles (``@name``, ``#channel``, e-mail addresses),
    and dates with a year, in the form 2024-05-17 or 2024-05.

    Parameters
    ----------
    text : the text of a memory or of a cue; any length, the work is linear in it.
    heading : its speaker or title, if it has one; read first, and without its parenthesis a name itself.

    Returns
    -------
    Names that differ in ``normal`` form, in order of first appearance.

    Examples
    --------
    >>> [(name.text, name.kind) for name in find("See src/app.py, @mia: `run_all` fails")]
    [('src/app.py', 'file'), ('app.py', 'file'), ('@mia', 'handle'), ('run_all', 'identifier')]
    """
    names: dict[str, Name] = {}
    for name in (*(_in_heading(heading) if heading else ()), *_in_order(text)):
        names.setdefault(normal(name.text), name)
    names.pop("", None)
    return tuple(names.values())


@lru_cache(maxsize=256)
def _in_heading(heading: str) -> tuple[Name, ...]:
    return (Name(heading_name(heading), NAME), *_in_order(heading))


def heading_name(heading: str) -> str:
    """Take a heading without its parenthesis, as a name.

    Parameters
    ----------
    heading : a speaker or a title.

    Returns
    -------
    The heading without what stands in brackets; the whole heading if nothing else is left.

    Examples
    --------
    >>> heading_name("Lilu (mythology)")
    'Lilu'
    """
    return " ".join(_PARENTHESIS.sub(" ", heading).split()) or " ".join(heading.split())


@lru_cache(maxsize=TERM_CACHE >> 2)
def normal(name: str) -> str:
    """Bring a name to the form by which names are compared.

    Parameters
    ----------
    name : a name as it stands in a text.

    Returns
    -------
    Case-folded, spaces collapsed, a leading article and the possessive dropped; empty for nothing. A component is one
    name however its words are joined, and so is software with its version.

    Examples
    --------
    >>> normal("The  Beatles’"), normal("Caroline's"), normal("numpy==1.26.4")
    ('beatles', 'caroline', 'numpy 1.26.4')
    >>> {normal(name) for name in ("the Ledger Service", "ledger-service", "ledger_service", "LedgerService")}
    {'ledger service'}
    """
    words = caseless(_apart(name)).replace("’", "'").split()
    if len(words) > 1 and words[0] in ("the", "a", "an"):
        del words[0]
    joined = " ".join(words)
    return joined[:-2] if joined.endswith("'s") else joined.rstrip("'")


def _apart(name: str) -> str:
    """Put spaces between the words of a component and before the version of software."""
    if " " in name:
        return name
    parts = _CAMEL.findall(name) if name.isalpha() else _JOINED.split(name)
    if (
        len(parts) > 1
        and sum(map(len, parts)) + name.count("-") + name.count("_") == len(name)
        and parts[-1].casefold() in COMPONENT_NOUNS
        and all(map(str.isalnum, parts))
    ):
        return " ".join(parts)
    return _PIN.sub(" ", name, count=1)


def _in_order(text: str) -> list[Name]:
    """List names by place; of two rules that give a name at one place, the more telling kind is first."""
    names: list[tuple[int, Name]] = []
    if "`" in text:
        names += _ticked(text)
    if _QUOTE.search(text):
        names += _quoted(text)
    versions = list(versioned(text))
    numbers = {name.text.split()[-1] for _, name in versions}
    names += versions
    names += (pair for pair in technical_names(text) if pair[1].text.lstrip("vV") not in numbers)
    names += components(text)
    if not text.isascii():
        from priming.text.name_forms.forms import names_without_case  # large patterns, which few texts need

        names += names_without_case(text)
    if ")" in text:
        names += ((start, Name(words, NAME)) for start, words, _ in initialisms(text))
    written_dates = dates(text)
    names += ((start, Name(day, DATE)) for start, _, day in written_dates)
    taken = [(start, end) for start, end, _ in written_dates]
    names += ((start, Name(name, NAME)) for start, name in spans(text, taken))
    names.sort(key=lambda pair: pair[0])
    return [name for _, name in names if len(name.text) <= NAME_LETTERS]


def marked_words(text: str, language: str) -> list[str]:
    """Return the words of a text with a capital or a digit, which mark a name; in German it has to be a later letter.

    >>> marked_words("When did Ann move to room 12?", "english")
    ['When', 'Ann', '12']
    >>> marked_words("Wann lief die NATO-Frist ab?", "german")
    ['NATO']
    """
    first = int(language in _CAPITALISING)
    return [
        word
        for word in _WORD.findall(text)
        if any(map(str.isdigit, word))
        or (any(map(str.isupper, word[first:])) if first else word[0].isupper())
    ]


def _ticked(text: str) -> Iterator[tuple[int, Name]]:
    for match in _TICKED.finditer(text):
        inside = match[1].strip()
        if inside:
            kind = FILE if is_file(inside) else IDENTIFIER
            yield match.start(1), Name(inside.removesuffix("()"), kind)


def _quoted(text: str) -> Iterator[tuple[int, Name]]:
    for match in _DOUBLE.finditer(text):
        inside = (match[1] or match[2]).strip(" ,.;:!?")
        if len(inside.split()) <= QUOTED_WORDS and any(map(str.isupper, inside)) and not is_stop(inside):
            yield match.start() + 1, Name(inside, QUOTED)
    for pattern in (_SINGLE, _TYPEWRITTEN, _CORNERED):
        for match in pattern.finditer(text):
            inside = match[1].strip(" ,.;:!?")
            if inside and len(inside.split()) <= QUOTED_WORDS and not is_stop(inside):
                yield match.start() + 1, Name(inside, QUOTED)


_NOUNS = "|".join(sorted(COMPONENT_NOUNS))
_NOUN = re.compile(rf"(?<=[^\W_] )(?:{_NOUNS})(?![\w-]|[ ](?:{_NOUNS})(?![\w-]))", re.IGNORECASE)
_VERBS = frozenset(read_words("component_verbs"))
"""Nouns of components that are verbs before an object: "does the project store its files"."""
_OBJECT = re.compile(
    r"[ ](?:its|their|his|her|my|our|your|the|an?|all|every|any|no|these|those|this|that)[ ]", re.IGNORECASE
)
_BEFORE = re.compile(r"(?<![\w./@#$'’-])(?:[A-Za-z][A-Za-z0-9_-]{0,30}[ ]){1,4}\Z")
_WINDOW = 96
_MOST_WORDS = 3
_ADJECTIVES = re.compile(r".{2,}(?:ed|able|ible|ous|ful|less|ly)")


def components(text: str) -> Iterator[tuple[int, Name]]:
    """Yield the components that a text names by a noun for what they are, and the words before it.

    Words that only say what a component is like name nothing, and neither does one of many: "a new service".

    >>> [name.text for _, name in components("The ledger service is slow, a server is not.")]
    ['ledger service']
    """
    if text.isascii() and COMPONENT_NOUNS.isdisjoint(_WORD.findall(text.lower())):
        return
    for noun in _NOUN.finditer(text):
        if noun[0].lower() in _VERBS and _OBJECT.match(text, noun.end()):
            continue
        before = _BEFORE.search(text, max(0, noun.start() - _WINDOW), noun.start())
        if before is not None:
            names = _modifiers(before[0].split(), _opens(text, before.start()))
            if names:
                whole = " ".join((*names, noun[0]))
                yield noun.end() - len(whole), Name(whole, NAME)


def _modifiers(words: list[str], opening: bool) -> list[str]:
    """Return the words before a noun that name a component; none where it is one of many."""
    last = len(words)
    while last and not (_bounds(words[last - 1]) or _describes(words, last - 1, opening)):
        last -= 1
    names, before = words[last:], last
    while before and _describes(words, before - 1, opening) and not _bounds(words[before - 1]):
        before -= 1
    if before and words[before - 1].lower() in INDEFINITE_WORDS:
        return []
    bounded = last > 0 or opening
    return names[-_MOST_WORDS:] if bounded else names[-1:]


def _bounds(word: str) -> bool:
    return is_stop(word) or word.lower() in INDEFINITE_WORDS or is_function_word(word, None)


def _describes(words: list[str], place: int, opening: bool) -> bool:
    """Tell whether a word says what a component is like, or what is done with it."""
    word = words[place].lower()
    if word in PLAIN_MODIFIERS or (not place and opening and word in SENTENCE_OPENERS):
        return True
    return "-" not in word and _ADJECTIVES.fullmatch(word) is not None


def _opens(text: str, start: int) -> bool:
    return text[max(0, start - 2) : start].strip(" ")[-1:] in ("", *".!?:;,(\n-–—")
