"""Whether a text is about somebody: by name, folded as recall folds names; where it only may be, it is doubtful.

A name stands for somebody where its words do, in either order ("Nunez, Jose"). A single word does not where it may be
a word of the language ("al dente"), or part of another's name ("Bob Dylan"). What may be the name beside that is
doubtful: a part of it, an inflected form, other letters for its sounds ("Mueller" for Müller, "Petrov" for Петров).
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection
from functools import lru_cache
from itertools import chain, groupby
from string import ascii_lowercase
from typing import Any

from priming.core.arguments.normal_forms import folded, letters, normalized, plain_words
from priming.maintenance.aliases import alias_statements
from priming.storage.copies import mentions_any, texts_in
from priming.text.gists import ABBREVIATIONS
from priming.text.name_forms.forms import NAME
from priming.text.names import find
from priming.text.quotation import label
from priming.text.time_grammar import dates_in
from priming.text.tokens import SPACELESS, is_function_word, is_stop, language_of, terms
from priming.text.word_lists import NAMES_LIKE_WORDS, is_common, is_past_form

SURE = ""
"""The doubt about a text that names somebody for sure."""
_CALLED = "it has {}, as a text calls the subject"
_TOKEN = re.compile(r"[^\s_.,;:!?()\[\]{}\"“”„«»<>/\\|@#…-]+")
_LATIN = frozenset(ascii_lowercase)
_HISSING, _UMLAUT = re.compile("t?[csz]+h"), re.compile("([aou])e")
_TWICE, _VOWELS = re.compile(r"(.)\1+"), re.compile("[aeiouyj]+")
_SOUNDS = (
    {"æ": "a", "œ": "o", "ph": "f", "kh": "h", "gh": "g", "rh": "r", "th": "t", "x": "ks", "w": "v"}
    | dict.fromkeys("cq", "k")
    | dict.fromkeys("yj", "i")
)
"""What is written for the same sound beside the letters of hissing, in the order in which it is replaced."""
_ENDING = re.compile("'?s?$")
_OPENS = re.compile(r"(?:^|[.!?:\n…])[\s\"'“‘«(\[-]*$")
_BACK, _MOST = 64, 64
"""Letters that are read of a word, and before it for the end of a sentence, and names that are read of a text."""
_RUN = re.compile(r"\d[\d\s()./-]*\d")
_DIALLED = 8
"""The last digits of a telephone number, with and without the code of its country."""
_FEWEST = 3
"""Letters of a name that is no part of a word in a script without spaces."""


class Subject:
    """Somebody or something, by the name that was called and by aliases."""

    def __init__(self, name: str, aliases: Collection[str] = ()) -> None:
        spelled = {name_words(each): each for each in (*aliases, name)}
        self._called = name_words(name)
        self._closed = "".join(self._called)
        is_number = not any(map(str.isalpha, self._closed))
        self._digits = _digits(self._closed)[-_DIALLED:] if is_number else ""
        self._single = {words[0]: text for words, text in spelled.items() if len(words) == 1}
        full = [words for words in spelled if len(words) > 1]
        turned = [f"{last}, {' '.join(first)}" for *first, last in full]
        turned += [f"{' '.join(rest)}, {first}" for first, *rest in full]
        self._is_whole = mentions_any([*map(" ".join, full), *turned])
        self._own = [frozenset(words) for words in full]
        self._are_words = any(map(str.isupper, name)) and all(
            _is_english(word) for own in full for word in own
        )
        self._parts = set() if is_number else {word for words in full for word in words} - set(self._single)
        self._pieces = {word for each in spelled for word in each}
        self._others: dict[str, set[str]] = defaultdict(set)
        self._as_words = set[str]()
        self._names, self._stated = set(spelled), set[str]()
        self.doubt = lru_cache(maxsize=4096)(self._doubt)
        self._likes = lru_cache(maxsize=1 << 16)(self._like)

    def read(self, text: str) -> None:
        """Take note of what else a text calls the subject, and its words mean: to be called before any doubt."""
        plain = folded(text)
        if any(all(word in plain for word in name) for name in self._names):
            for each in alias_statements(text, bool):
                sides = {name_words(each.alias), name_words(each.name)}
                if not sides.isdisjoint(self._names):
                    self._stated |= {" ".join(name) for name in sides - self._names}
        for word in self._single:
            if word in plain:
                self._others[word] |= self._longer(word, text)
                if any(token[0][0].islower() and folded(token[0]) == word for token in _TOKEN.finditer(text)):
                    self._as_words.add(word)

    def names(self, value: Any) -> bool:
        """Tell whether a text, or any text within a list or mapping, names the subject for sure."""
        return any(self.doubt(text) == SURE for text in texts_in(value))

    def _doubt(self, text: str) -> str | None:
        """Say why a text only may name the subject: empty where it does for sure, None where it does not."""
        plain = folded(text)
        doubts = list[str | None]()
        if any(piece in plain for piece in (*self._pieces, *self._stated)):
            if self._is_whole(plain) and not self._may_be_words(text):
                return SURE
            doubts += [self._of_single(word, text) for word in self._single if mentions_any([word])(plain)]
            doubts += [self._of_part(word, text) for word in self._parts if mentions_any([word])(plain)]
        if not any(doubt is not None for doubt in doubts):
            doubts += [_CALLED.format(label(name)) for name in self._stated if mentions_any([name])(plain)]
            doubts.append(self._of_likes(text))
            if SPACELESS.match(self._closed) and self._closed in "".join(plain.split()):
                doubts.append(f"it has {label(self._closed)} with or without spaces")
            if self._digits and any(_digits(run)[-_DIALLED:] == self._digits for run in _RUN.findall(plain)):
                doubts.append(f"it has the digits of {label(' '.join(self._called))}")
            if self._is_whole(plain):
                doubts.append(f"{label(' '.join(self._called))} may be words here")
        return min((doubt for doubt in doubts if doubt is not None), key=len, default=None)

    def _may_be_words(self, text: str) -> bool:
        """Tell whether a full name of words of the language is not written as a name: "will park the car"."""
        if not self._are_words:
            return False
        capitals = {folded(token[0]) for token in _TOKEN.finditer(text) if not token[0][0].islower()}
        return not any(own <= capitals for own in self._own)

    def _of_single(self, word: str, text: str) -> str:
        """Return the doubt about a single word that is a name of the subject."""
        is_called = self._called == (word,)
        if is_called and folded(text).strip() == word:
            return SURE
        if SPACELESS.match(word):
            return SURE if _stands_alone(word, text) else f"{label(word)} may be part of another word"
        others = self._others[word]
        if is_called:
            is_shared = bool(self._own) or len(others) > 1
            others = others & self._longer(word, text) if is_shared else set()
        if others:
            return f"it may mean {label(min(others))}"
        is_name = _is_name(word, self._single[word], text, is_also_word=word in self._as_words)
        return SURE if is_name else f"{label(word)} may be a word here"

    def _longer(self, word: str, text: str) -> set[str]:
        """Return the longest names of others in a text that have a word beside further ones."""
        names = [name.text for name in find(text) if name.kind == NAME and word in _bare(name.text)][:_MOST]
        longest = {name for name in names if not any(name != other and name in other for other in names)}
        return {
            name
            for name in longest
            if _bare(name) != {word} and not any(own <= _bare(name) for own in self._own)
        }

    def _of_part(self, word: str, text: str) -> str | None:
        """Return the doubt about a word of a full name; none where it belongs to the name of another."""
        names = [_bare(name.text) for name in find(text) if word in _bare(name.text)][:_MOST]
        longest = [name for name in names if not any(name < other for other in names)]
        is_cased = word.upper() != word
        if is_cased and not any(name <= own for name in longest for own in self._own):
            return None
        return f"it has {label(word)}, a part of the name"

    def _of_likes(self, text: str) -> str | None:
        """Return the doubt about a text with a name, or a part of it, whose words are like those of the name.

        An article or a title before it is no other name: "The Parkers", "Mrs Krueger" for Zoe Krüger.
        """
        tokens = _TOKEN.findall(text)
        is_caseless, language = text.islower() or text.upper() == text.lower(), language_of(text, None)
        size = len(tokens) if is_caseless else len(self._called) + 1
        for is_lower, group in groupby(tokens, lambda token: not is_caseless and token[0].islower()):
            likes = [] if is_lower else [(token, self._likes(token[:_BACK])) for token in group]
            run = [like for token, like in likes if like or _is_of_name(token, language)]
            spans = (run[at : at + size] for at in range(max(len(run) - size + 1, 1)))
            if run and (all(run) or any(len({*chain(*span)}) == len(self._called) for span in spans)):
                return f"its words are like {label(' '.join(self._called))}"
        return None

    def _like(self, token: str) -> frozenset[str]:
        """Return the words of the name that a word of a text is like."""
        word = _ENDING.sub("", folded(token)) if "'" in token else folded(token)
        is_plain = len(self._called) == 1 and (
            is_common(word) or is_stop(word) or is_function_word(word, None)
        )
        return frozenset(own for own in self._called if not is_plain and _is_like(own, word))


def name_words(name: str) -> tuple[str, ...]:
    """Split a name into its words, folded, the family name last.

    >>> name_words("Núñez, José"), name_words("C++")
    (('jose', 'nunez'), ('c++',))
    """
    family, comma, first = folded(name).partition(", ")
    return (*first.split(), *family.split()) if comma else tuple(family.split())


def _is_like(first: str, second: str) -> bool:
    """Tell whether two words may be one name: inflected, in other letters for the same sounds, or in another script.

    >>> _is_like("muller", "mueller"), _is_like("петров", "петровым"), _is_like("петрова", "petrov")
    (True, True, True)
    """
    if SPACELESS.match(first):
        return {*terms(first)} <= {*terms(second)}
    is_latin = [not _LATIN.isdisjoint(word) for word in (first, second)]
    spelling = _spelling if is_latin[0] == is_latin[1] else _sound
    return not {*map(spelling, _forms(first))}.isdisjoint(filter(None, map(spelling, _forms(second))))


@lru_cache(maxsize=1 << 14)
def _forms(word: str) -> frozenset[str]:
    """Return a word, its stem, and the stems of that: an inflected family name has two endings."""
    forms = {word}
    while more := {term for form in forms for term in terms(form)} - forms:
        forms |= more
    return frozenset(forms)


@lru_cache(maxsize=1 << 14)
def _spelling(word: str) -> str:
    """Return a folded word with one spelling for what European languages spell in several ways, no letter twice.

    >>> _spelling("tschaikowski"), _spelling("tchaikovsky"), _spelling("bass"), _spelling("bach")
    ('Saikovski', 'Saikovski', 'bas', 'baS')
    """
    word = word.replace("-", "").replace("'", "")
    word = _HISSING.sub("S", _UMLAUT.sub(r"\1", word))
    for written, sound in _SOUNDS.items():
        word = word.replace(written, sound)
    return _TWICE.sub(r"\1", word)


@lru_cache(maxsize=1 << 14)
def _sound(word: str) -> str:
    """Return the spelling of a word in Latin letters with an a for all vowels, but the last.

    >>> _sound("чайковский"), _sound("tchaikovsky"), _sound("γιωργοσ"), _sound("giorgos")
    ('Sakavsk', 'Sakavsk', 'gargas', 'gargas')
    """
    return _VOWELS.sub("a", _spelling("".join(map(_latin, word)))).rstrip("a")


def _latin(letter: str) -> str:
    """Return the Latin letters for one by its name in Unicode: "te" and "tau" a t, "es" an s, "iota" a vowel."""
    name = unicodedata.name(letter, "").partition(" LETTER ")[2].partition(" WITH ")[0].split(" ")[-1].lower()
    if letter.isascii() or name in ("", "sign"):
        return letter if letter.isascii() else ""
    consonants = _VOWELS.split(name)
    return consonants[0] or (consonants[1] if len(name) == 2 else "") or "a"


def _bare(name: str) -> frozenset[str]:
    """Return the words of a name, folded, without initials, titles and endings."""
    words = [_ENDING.sub("", word) if "'" in word else word for word in _TOKEN.findall(folded(name))]
    return frozenset(word for word in words if len(word) > 1 and word not in ABBREVIATIONS)


def _is_name(word: str, spelled: str, text: str, *, is_also_word: bool) -> bool:
    """Tell whether a word is a name anywhere in a text, rather than a word of the language."""
    if "'" not in word and plain_words(word) != [word]:
        return True  # C++, auth-proxy
    is_english = _is_english(word)
    is_plain = is_english or is_function_word(word, None)
    composed = normalized("NFC", text)
    tokens = [*_TOKEN.finditer(composed)]
    dates = [place for place in dates_in(composed) if place[2].is_marked] if is_plain else []
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        own = folded(token[0])
        if word not in (own, own.removesuffix("s"), own.removesuffix("'s"), own.removesuffix("'")):
            continue
        if any(start <= token.start() < end for start, end, _ in dates):
            continue  # the month of May
        if not is_plain:
            is_name = not token[0][0].islower() or spelled.islower() or composed.islower()
        else:
            is_inside = not _OPENS.search(composed[max(token.start() - _BACK, 0) : token.start()])
            has_verb = after is not None and _may_be_verb(after[0], is_english)
            is_only_name = is_english and not is_also_word
            is_name = not token[0][0].islower() and (is_inside or has_verb or is_only_name)
        if is_name:
            return True
    return False


def _is_of_name(word: str, language: str | None) -> bool:
    """Tell whether a capitalised word is a part of a name, and no article, title or initial before it."""
    is_small = is_stop(word) or is_function_word(word, language or "english")
    return bool(_bare(word)) and not is_small


def _is_english(word: str) -> bool:
    """Tell whether a name may be a word of English."""
    return is_common(word) or is_stop(word) or word in NAMES_LIKE_WORDS


def _digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


def _may_be_verb(word: str, is_english: bool) -> bool:
    """Tell whether a sentence may go on with a word after a name, which is no English word else unless it says so."""
    return word.endswith("s") or is_past_form(word) or (not is_english and (is_stop(word) or is_common(word)))


def _stands_alone(name: str, text: str) -> bool:
    """Tell whether a name in a script without spaces stands beside other signs, or is too long to be a part."""
    if len(letters(name)) >= _FEWEST or any(folded(each.text) == name for each in find(text)):
        return True
    plain = folded(text)
    places = (at.span() for at in re.finditer(re.escape(name), plain))
    around = ((plain[max(start - 1, 0) : start], plain[end : end + 1]) for start, end in places)
    ends = name[0], name[-1]
    return any(all(map(_differ, sides, ends)) for sides in around)


def _differ(letter: str, other: str) -> bool:
    """Tell whether two characters are of different scripts."""
    first, second = (unicodedata.name(each, "").partition(" ")[0] if each else "" for each in (letter, other))
    return first != second
