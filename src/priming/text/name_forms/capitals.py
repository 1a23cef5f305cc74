"""Names made of capitalised words, by rules: which capitals mark a name, in German too, and which are joined."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from priming.text.tokens import is_function_word, is_stop, language_of
from priming.text.word_lists import (
    COMPOUND_PARTS,
    DAYS,
    GENERIC_ACRONYMS,
    GERMAN_DETERMINERS,
    GERMAN_NOUNS,
    LONE_OPENERS,
    MONTHS,
    MONTHS_AS_NAMES,
    PRONOUNS_AND_NUMERALS,
    SENTENCE_OPENERS,
    SOFTWARE,
    UNITS,
    is_common,
    is_formed,
    is_given_name,
    is_past_form,
    read_words,
)

_WORDS_BEFORE = re.compile(r"(?:([^\W\d_]{1,30}|\d[\d.,]{0,12})[ ]+)?([^\W\d_]{1,30}|\d[\d.,]{0,12})[ ]+\Z")
_LETTERS_BEFORE = 66
_NOUN_ENDINGS = tuple(read_words("german_noun_endings"))
_ADJECTIVE = re.compile(r"[a-zäöüß]{3,}(?:e|en|er|es|em)")
_CASES = ("", "s", "es", "e", "en", "n")
_PLACES = frozenset(
    ("berg", "dorf", "feld", "hafen", "haus", "land", "stadt", "stein", "stern", "wald", "insel")
)
"""Nouns in which names of places end: "Nürnberg"."""
_PREPOSITIONS = frozenset(("in", "aus", "nach", "von", "bei", "für", "gegen", "um", "über"))
_TITLES = frozenset(
    ("herr", "herrn", "frau", "dr.", "prof.", "firma", "projekt", "kollege", "kollegin", "stadt")
)


def names_in_german(words: Sequence[str], text: str, start: int) -> list[str]:
    """Return what of some capitalised words, at ``start`` in a German text, is a name; nothing if they are nouns.

    A given name, what stands after a title, and words with a capital or digit inside or all in capitals are names.
    Another word is none after an article, a pronoun, a number or an adjective after these, nor if it is a noun by the
    list, by its end or by the noun that it ends in.

    >>> names_in_german(["Hamburg"], "steht in Hamburg", 10), names_in_german(["Speicher"], "mehr Speicher", 5)
    (['Hamburg'], [])
    >>> names_in_german(["Programm", "Kestrel"], "das Programm Kestrel", 4)
    ['Kestrel']
    """
    plain = 0
    while plain < len(words) and not _is_sure(words[plain]) and _leads(words[plain]):
        plain += 1
    names = [*words[plain:]]
    if not names or any(_is_sure(word) for word in names) or plain or len(names) > 1:
        return names
    before = _WORDS_BEFORE.search(text, max(0, start - _LETTERS_BEFORE), start)
    if names[0].endswith("en") and not (before and before[2].lower() in _PREPOSITIONS):
        return []  # "liefert Schrauben", but "in Bremen"
    return [] if before and _makes_noun(before[1], before[2]) else names


def _is_sure(word: str) -> bool:
    """Tell whether a word is a name wherever it stands: a given name, or one with a capital or digit inside."""
    return is_given_name(word) or not (word[1:].islower() or not word[0].isalpha())


def _leads(word: str) -> bool:
    """Tell whether a word at the start of capitalised words is no part of a name: a noun, a title, a joining word."""
    return not word[0].isupper() or word.lower() in _TITLES or is_noun(word)


def is_noun(word: str) -> bool:
    """Tell whether a German word is a common noun, by a list and by its end.

    >>> is_noun("Datenbank"), is_noun("Verbindungen"), is_noun("Nürnberg"), is_noun("Kestrel")
    (True, True, False, False)
    """
    plain = word.casefold().replace("-", "")
    return any(_is_noun(plain.removesuffix(case)) for case in _CASES if plain.endswith(case))


def _is_noun(plain: str) -> bool:
    if plain in GERMAN_NOUNS or (len(plain) > 5 and plain.endswith(_NOUN_ENDINGS)):
        return True
    return any(
        plain[at:] in GERMAN_NOUNS and plain[at:] not in _PLACES for at in range(2, max(2, len(plain) - 3))
    )


def _makes_noun(first: str | None, second: str) -> bool:
    """Tell whether the two words before a word make it a noun."""
    if second.lower() in GERMAN_DETERMINERS or second[0].isdigit():
        return True
    described = first is not None and (first.lower() in GERMAN_DETERMINERS or first[0].isdigit())
    return described and _ADJECTIVE.fullmatch(second) is not None


_SPELLED = re.compile(r"((?:(?<![\w-])[^\W\d_]+(?:-[^\W\d_]+)*[ ]){2,8})\(([A-Z]{2,6})s?\)")
_SMALL_WORDS = ("of", "the", "and", "for", "in", "on", "to", "de", "von", "van", "la")

SPAN_WORDS = 12
STRETCH_WORDS = 4

UPPER = "A-Z" + "".join(
    letter
    for start, end in ((0xC0, 0x590), (0x1E00, 0x2000))
    for letter in map(chr, range(start, end))
    if letter.isupper()
)
_JOINERS = frozenset(("of", "the", "de", "la", "von", "van", "for"))
_GAP = r"[ \t]{1,3}"
_ABBREVIATION = r"(?:Dr|Mr|Mrs|Ms|St|Prof|Jr|Sr|Mt|Ft|Lt|Col|Gen|Sgt|Capt|Rev|Hon|Gov|Sen)\."
_TITLE = re.compile(_ABBREVIATION)
_INITIALS = rf"(?:[{UPPER}]\.){{2,4}}|[{UPPER}]\.(?=[ ]?[{UPPER}])"
_PLAIN = rf"[{UPPER}]\w{{0,63}}(?:(?:['’&]|-(?!\d))\w{{1,63}}){{0,8}}(?!\w|['’&-]\w|[@\\/_]|\.\w|:[\\/])"
_CAPITAL = rf"(?:{_ABBREVIATION}|{_INITIALS}|{_PLAIN})"
_LINK = rf"(?:(?:{'|'.join(sorted(_JOINERS))}){_GAP}){{0,2}}"
_NUMBER = r"\d+(?:[.,:-]\d+)*(?![\w%]|[.,:-]\d)"
_YEAR = r"(?:1[5-9]|20)\d\d"
_SPAN = re.compile(
    rf"(?<![\w@#\\/.$])(?:{_YEAR}{_GAP})?{_CAPITAL}"
    rf"(?:{_GAP}{_LINK}(?:{_YEAR}{_GAP})?{_CAPITAL}){{0,{SPAN_WORDS - 1}}}(?:{_GAP}{_NUMBER}){{0,2}}"
)
_SMALL = re.compile(r"(?<![\w@#/\\.:-])[^\W\d_]+(?![\w@/\\-]|[.:]\w)")
_CALLED = frozenset(("Will", "Will's", "Will’s"))
_BREAKS = ("", *'.!?…:;\n\r"“”‘(*#>—•')
_BULLET = re.compile(r"(?:^|\n)[ \t]{0,16}(?:[-+*•]|\d{1,3}[.)]|[-*][ ]?\[[ xX]\])[ \t]{1,3}\Z")
_AT_A_TIME = re.compile(
    r"\b(?:in|on|of|since|until|till|by|from|last|next|this|every|each|early|late|mid|before|after|during)[ -]\Z",
    re.IGNORECASE,
)
_BEFORE = 24
"""Letters before a word that tell whether it begins a sentence or names a time."""
_NEXT = re.compile("[ ]([a-z]{2,20})(?![\\w-])")
_PLURAL_LETTERS = 4
_PLURAL_VERBS = frozenset(("are", "were", "have", "do", "don"))
_WORDS_TOO = frozenset(("AM", "PM", "AD", "BC", "BCE", "CE", "Mi", "Gi", "Ti", "Pa", "IST", "MP", "EST"))
"""Units that are words or names where no number is before them."""
_BARE_LANGUAGES = ("czech", "finnish", "indonesian", "polish", "turkish")
_GREEK_OR_CYRILLIC = re.compile("[\u0370-\u052f\u1f00-\u1fff]")
_ROMAN = re.compile("[IVX]+")


def spans(text: str, taken: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield names made of capitalised words; what lies in ``taken``, which is in order, is a date already."""
    before, ended = "", -2
    for start, end, words in _weighed(text, taken):
        whole = _joined(words)
        # "Rochester, New York" is one place; of a longer list each neighbouring pair is.
        if before and start == ended + 2 and text[ended:start] == ", ":
            yield start, f"{before}, {whole}"
        before, ended = whole, end
        for name in _with_parts(words):
            yield start, name


def _weighed(text: str, taken: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the spans whose capitals mean something: start, end, words."""
    doubtful: dict[str, list[tuple[int, int, list[str]]]] = {}
    candidates: list[tuple[int, int, list[str]]] = []
    sure: set[str] = set()
    unsure: list[tuple[int, str]] = []
    language = language_of(text)
    for match in _SPAN.finditer(text):
        start, end = match.span()
        opening = _opens(text, start)
        words = _trimmed(match[0].split(), opening=opening, language=language)
        if words and language == "german":
            words = names_in_german(words, text, start + match[0].index(words[0]))
        if not words or _is_time(text, start, end, words) or _lies_in(start, end, taken):
            continue
        if all(word in GENERIC_ACRONYMS or word in _JOINERS for word in words):
            continue
        if len(words) == 1 and _is_unit(text, start, words[0]):
            continue
        if opening and len(words) == 1 and words[0] == match[0]:
            if _only_opens(words[0], text, end):
                continue
            if _may_be_any_word(words[0], language):
                unsure.append((start, words[0].lower()))
            doubtful.setdefault(strip_markup(words[0]).lower(), []).append((start, end, words))
        else:
            sure.update(strip_markup(word).lower() for word in words)
        candidates.append((start, end, words))
    # "Coffee is good. I drink coffee": what stands in small letters too is a word, unless it is a name elsewhere.
    common = doubtful.keys() & set(_SMALL.findall(text)) - sure if doubtful else ()
    dropped = {start for word in common for start, _, _ in doubtful[word]}
    dropped |= {start for start, word in unsure if word not in sure}
    yield from (candidate for candidate in candidates if candidate[0] not in dropped)


def _may_be_any_word(word: str, language: str | None) -> bool:
    """Tell whether a bare word that begins a sentence may be any noun or verb in its language."""
    bare = language in _BARE_LANGUAGES or _GREEK_OR_CYRILLIC.match(word) is not None
    return bare and not (word.isupper() or is_given_name(strip_markup(word)))


def _lies_in(start: int, end: int, taken: Sequence[tuple[int, int]]) -> bool:
    at = bisect_right(taken, (end,))
    return at > 0 and start < taken[at - 1][1]


def _is_unit(text: str, start: int, word: str) -> bool:
    """Tell whether a word is the unit of the number before it."""
    return word in UNITS and (
        (len(word) > 1 and word not in _WORDS_TOO) or text[max(0, start - 2) : start].strip()[-1:].isdigit()
    )


def _only_opens(word: str, text: str, end: int) -> bool:
    """Tell whether a word has its capital only because it begins a sentence."""
    plain = word.lower()
    if plain in LONE_OPENERS or is_formed(word):
        return True
    if is_given_name(word) or plain in SOFTWARE or word.isupper() or strip_markup(word) != word:
        return False
    if "-" in word:
        first, _, rest = plain.partition("-")
        return word[1:].islower() and (
            is_common(first) or f"{first}-" in COMPOUND_PARTS or rest in COMPOUND_PARTS
        )
    return is_common(word) or _is_plural(word, text, end)


def _is_plural(word: str, text: str, end: int) -> bool:
    """Tell whether the verb after a word shows it to be a plural: "Printers are", "Thumbnails go"."""
    if not word.endswith("s") or len(word) < _PLURAL_LETTERS or word.endswith(("ss", "us", "is", "os", "as")):
        return False
    verb = _NEXT.match(text, end)
    if verb is None:
        return False
    if verb[1] in _PLURAL_VERBS:
        return True
    return not (
        verb[1].endswith(("s", "ed")) or is_stop(verb[1]) or verb[1] in SENTENCE_OPENERS
    ) and is_common(verb[1])


def _is_time(text: str, start: int, end: int, words: list[str]) -> bool:
    """Tell whether a span is a day or month, with or without a number: "Tuesday", "in May", "July 1"."""
    first, *rest = words
    plain = strip_markup(first).lower()
    if plain in DAYS:
        return not rest
    if plain not in MONTHS or any(word[0].isalpha() for word in rest):
        return False
    if rest or plain not in MONTHS_AS_NAMES or text[end : end + 2].strip(" ").isdigit():
        return True
    return _AT_A_TIME.search(text, max(0, start - _BEFORE), start) is not None


def _opens(text: str, start: int) -> bool:
    """Tell whether a sentence may start here: nothing, a line's end, a bullet or more than a comma is before."""
    if text[max(0, start - 2) : start].strip(" ")[-1:] in _BREAKS:
        return True
    return _BULLET.search(text, max(0, start - _BEFORE), start) is not None


def _trimmed(words: list[str], *, opening: bool, language: str | None) -> list[str]:
    """Take function words off both ends, and openers off the start of a sentence."""
    first, last = 0, len(words)
    while first < last and (
        _dull(words[first], opening=opening and first == 0)
        or (
            _foreign(words, first, language)
            if opening and first == 0
            else language == "german" and is_function_word(words[first], language)
        )
        or (opening and words[first].lower() in SENTENCE_OPENERS)
        or (opening and first == 0 and last > 1 and words[1][0].isupper() and is_past_form(words[0]))
        or (
            0 < first < last - 1 and words[first].lower() in (DAYS | MONTHS) and words[first + 1][0].isalpha()
        )
    ):
        first += 1
    while last > first and _dull(words[last - 1], opening=opening and last == 1):
        last -= 1
    # What is left of "In 2023" is a number, which names nothing.
    return words[first:last] if any(word[0].isalpha() for word in words[first:last]) else []


def _foreign(words: list[str], first: int, language: str | None) -> bool:
    """Tell whether a word that begins a sentence is a function word of the language of the text, or of any."""
    word = words[first]
    if language == "english" or word.isupper() or is_given_name(word):
        return False
    if language is None and len(words) > 1:
        return len(word) == 1 and not word.isascii()
    return len(word) == 1 or is_function_word(word, language)


def _dull(word: str, *, opening: bool = True) -> bool:
    """Tell whether a word is part of no name. "Will" is a name inside a sentence."""
    if word in _JOINERS or word.lower() in PRONOUNS_AND_NUMERALS:
        return True
    return is_stop(word) and (opening or word not in _CALLED)


def _with_parts(words: list[str]) -> Iterator[str]:
    """Yield the whole span, the shorter spans inside its stretches between joiners, and its words."""
    yield _joined(words)
    if len(words) == 1:
        yield from _pieces(words[0])
        return
    for stretch in _stretches(words):
        for size in range(min(len(stretch), len(words) - 1, STRETCH_WORDS), 1, -1):
            for first in range(len(stretch) - size + 1):
                part = stretch[first : first + size]
                if _carries(part[0], part[-1]):
                    yield _joined(part)
        for place, word in enumerate(stretch):
            is_title = not place and len(stretch) > 1 and _TITLE.fullmatch(f"{word}.")
            if _stands_alone(word) and not is_title:
                yield strip_markup(word)
            yield from _pieces(word)


def _carries(first: str, last: str) -> bool:
    """Tell whether a shorter span may begin and end with these words: no "the", not initials alone."""
    return (_stands_alone(first) or _stands_alone(last)) and not (_dull(first) or _dull(last))


def _pieces(word: str) -> list[str]:
    """Split a compound: "Detroit-based" names Detroit."""
    return [piece for piece in word.split("-") if _stands_alone(piece)] if "-" in word else []


def _stretches(words: list[str]) -> list[list[str]]:
    stretches: list[list[str]] = [[]]
    for word in words:
        if word in _JOINERS:
            stretches.append([])
        else:
            stretches[-1].append(word)
    return stretches


def _stands_alone(word: str) -> bool:
    """Tell whether a word of a longer name is a name itself: no number, initial or function word."""
    if len(word) < 2 or not word[0].isupper() or word[-1] == ".":
        return False
    return not (_ROMAN.fullmatch(word) or is_stop(word))


def _joined(words: list[str]) -> str:
    return strip_markup(" ".join(words))


def strip_markup(name: str) -> str:
    """Take a possessive ending off."""
    return name[:-2] if name.endswith(("'s", "’s")) else name


def expansion_of(words: str, initials: str) -> str | None:
    """Return the last words that an initialism abbreviates, or None; small words may be skipped.

    >>> expansion_of("It is spreading activation ", "SA"), expansion_of("we use spreading activation", "KB")
    ('spreading activation', None)
    """
    parts = words.replace("-", "- ").split()
    letters = [letter for letter in initials.casefold() if letter.isalpha()]
    at = len(parts)
    for letter in reversed(letters):
        at -= 1
        while at > 0 and parts[at].casefold() in _SMALL_WORDS and not parts[at].casefold().startswith(letter):
            at -= 1
        if at < 0 or not parts[at].casefold().startswith(letter):
            return None
    if not letters or at == len(parts) or parts[at].casefold() in _SMALL_WORDS:
        return None
    return " ".join(parts[at:]).replace("- ", "-")


def initialisms(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the initialisms that a text spells out in small letters: position, words, initialism.

    >>> list(initialisms("We use spreading activation (SA)."))
    [(7, 'spreading activation', 'SA')]
    """
    for match in _SPELLED.finditer(text):
        words = expansion_of(match[1], match[2])
        if words:
            yield match.end(1) - 1 - len(words), words, match[2]
