"""Names by what stands beside them: software with its version, and names in scripts without capitals.

Software is "sqlalchemy 2.0.31", "node v20", "numpy==1.26.4"; the scripts are Chinese, Japanese, Korean, Arabic and
Devanagari. Software has kinds:
"Which message broker" asks for RabbitMQ or Kafka, whose names do not say what they are. The list of kinds was written
for Priming, from what makers call their software. A cue that names its software is not looked for under the kind.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from functools import cache
from itertools import islice

from priming.config.values import dataclass
from priming.text.tokens import is_stop, language_of, terms
from priming.text.word_lists import (
    MEASURED_NOUNS,
    SENTENCE_OPENERS,
    SOFTWARE,
    is_common,
    is_formed,
    read_lines,
    read_words,
)

NAME, FILE, IDENTIFIER, QUOTED, HANDLE, DATE = FORMS = (
    "name",
    "file",
    "identifier",
    "quoted",
    "handle",
    "date",
)

NAME_LETTERS = 256


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it stands in the text, and what kind of thing it is by its form."""

    text: str
    kind: str


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
    if points > 1 or version[0] in "vV":
        return True
    # Which words are common is known of English alone, and elsewhere a point may part thousands.
    return language_of(text) in (None, _ENGLISH) and not (is_common(plain) or _MEASURE.match(text, end))


def pinned(token: str) -> Iterator[Name]:
    """Yield the software that a token pins, with its version and alone.

    >>> [name.text for name in pinned("numpy==1.26.4")]
    ['numpy==1.26.4', 'numpy']
    """
    match = _PINNED.fullmatch(token)
    if match:
        yield Name(token, IDENTIFIER)
        yield Name(match[1], IDENTIFIER)


_LIST = "kinds_of_software"
_ENGLISH = "english"
_WORD = re.compile(r"\w+")
_OPENING = 3
"""The words at the beginning of a text among which one may ask."""

Terms = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SoftwareName:
    """The name of a software as terms, and whether it is an English word or a given name as well."""

    text: str
    terms: Terms
    is_word: bool


def kinds_of_software(
    ordered: Sequence[str], language: str
) -> Iterator[tuple[Terms, Sequence[SoftwareName]]]:
    """Yield the kinds of software that a text names, the longest where several begin, each with its software.

    Parameters
    ----------
    ordered : the terms of the text in order, as ``terms`` gives them for the language.
    language : the language of the text; kinds have their English names in each.

    Returns
    -------
    The terms of each kind as they stand in the text, and the names of its software.

    Examples
    --------
    >>> [(kind, names[0].text) for kind, names in kinds_of_software(terms("Which message broker?"), "english")]
    [(('messag', 'broker'), 'rabbitmq')]
    """
    kinds, longest = _kinds(language)
    at = 0
    while at < len(ordered):
        for size in range(min(longest, len(ordered) - at), 0, -1):
            kind = tuple(ordered[at : at + size])
            names = kinds.get(kind)
            if names:
                yield kind, tuple(map(_name, names))
                at += size - 1
                break
        at += 1


def sought_terms(text: str, language: str) -> list[str]:
    """Return the terms of a text, in order; where it asks for a kind of software, without verbs one merely has it by.

    "Which cache do we run?" asks for the cache, and not for what runs.

    Parameters
    ----------
    text : any text; one of its first three words has to ask.
    language : the language of the text.

    Examples
    --------
    >>> sought_terms("Which message broker do we run?", "english")
    ['messag', 'broker']
    >>> sought_terms("Run the message broker first", "english")
    ['run', 'messag', 'broker', 'first']
    """
    ordered = terms(text, language)
    opening = {word[0].lower() for word in islice(_WORD.finditer(text), _OPENING)}
    if opening.isdisjoint(_row("interrogatives", language)):
        return ordered
    kinds = {term for kind, _ in kinds_of_software(ordered, language) for term in kind}
    idle = _having(language) - kinds if kinds else frozenset[str]()
    return [term for term in ordered if term not in idle]


@cache
def _having(language: str) -> frozenset[str]:
    """Return the terms of a language that say no more of a software than that one has it."""
    return frozenset(terms(" ".join(_row("having_verbs", language)), language))


@cache
def _row(name: str, language: str) -> tuple[str, ...]:
    """Return the words of a language in a list with a line for each."""
    lines = (line.partition(": ") for line in read_lines(name))
    return next((tuple(words.split()) for line, _, words in lines if line == language), ())


@cache
def _kinds(language: str) -> tuple[dict[Terms, tuple[str, ...]], int]:
    """Return the software of each kind, by the terms of the kind in a language, and the most terms of a kind."""
    kinds: dict[Terms, tuple[str, ...]] = {}
    for block in _blocks():
        called = [*block.get(_ENGLISH, ()), *block.get(language, ())]
        for kind in called:
            phrase = tuple(terms(kind, language))
            if phrase:
                kinds[phrase] = tuple(dict.fromkeys((*kinds.get(phrase, ()), *block["="])))
    return kinds, max(map(len, kinds))


@cache
def _name(name: str) -> SoftwareName:
    return SoftwareName(name.lower(), tuple(terms(name, _ENGLISH)), is_word=name[0].isupper())


@cache
def _blocks() -> tuple[dict[str, list[str]], ...]:
    """Return the blocks of the list: what a kind is called, by language, and after "=" its software."""
    blocks: list[dict[str, list[str]]] = [{}]
    for line in read_lines(_LIST):
        head, colon, rest = line.partition(": ")
        if line.startswith("="):
            blocks[-1]["="] = _words(line[1:])
            blocks.append({})
        elif colon:
            blocks[-1][head] = _words(rest)
        else:
            blocks[-1][_ENGLISH] = _words(line)
    return tuple(blocks[:-1])


def _words(line: str) -> list[str]:
    return [word.strip() for word in line.split(",") if word.strip()]


_HAN = "\u3400-\u4dbf\u4e00-\u9fff々"
_KATAKANA = "\u30a1-\u30faー"
_HANGUL = "\uac00-\ud7af"
_SURNAMES = sorted(read_words("chinese_surnames"), key=len, reverse=True)
_NO_NAMES = frozenset(read_words("chinese_words"))
_ORDINARY = frozenset(read_words("caseless_words"))
_ROLES = (
    "先生|女士|小姐|老师|老師|经理|經理|总监|總監|总裁|博士|教授|主任|医生|醫生|同学|同學|工程师|工程師|律师"
)
_AFTER_NAME = (
    "说說讲讲问問答告表认認负負主管写寫做去来來到在是有和与與及的了也都将將把被会會要想能可已正就不没沒从從向对對给給让讓请請"
    "为為用提修重更参參发發打开開关關昨今刚剛还還把，。、：；！？,.:;!?）)"
)
_BEFORE_NAME = r"(?:^|(?<=[\s，。、：；！？,.:;!?（(“「和与與由让讓请請给給对對向找问問跟叫是说說]))"
_PERSON = re.compile(
    rf"{_BEFORE_NAME}(?:{'|'.join(_SURNAMES)})(?:(?=(?:{_ROLES}))|[{_HAN}]{{1,2}}?(?=[{_AFTER_NAME}]|\s|$|{_ROLES}))(?:{_ROLES})?",
    re.MULTILINE,
)
_PLACE_ENDS = "市|省|县|縣|自治区|大学|大學|医院|醫院|公司|银行|銀行|集团|集團|机场|機場|车站|車站"
_PLACE = re.compile(
    rf"(?:^|(?<=[\s，。、：；！？,.:;!?（(“「在于於从從到去自往由住和与與的是]))(?:(?![在于於从從到去自往由住是和與与的她他我你它])[{_HAN}]){{2,4}}?(?:{_PLACE_ENDS})",
    re.MULTILINE,
)
_NO_PLACES = re.compile(
    "(?:城|都|各|全|本|该|該|这个|那个|一个|每个|某个|这家|那家|一家|股|超|夜|上|门|子|总|分|母)?(?:"
    + _PLACE_ENDS
    + ")"
)
_DOTTED = re.compile(
    rf"[{_HAN}]{{1,6}}(?:[·・][{_HAN}]{{1,6}}){{1,3}}|[{_KATAKANA}]{{2,16}}(?:[・＝=·][{_KATAKANA}]{{1,16}}){{1,4}}"
)
_QUOTED = re.compile(rf"“([{_HAN}{_KATAKANA}\u3041-\u3096A-Za-z0-9·]{{2,12}})”")
_HONOURED = re.compile(
    rf"(?<![{_HAN}{_KATAKANA}お])([{_HAN}]{{1,4}}|[{_KATAKANA}]{{2,12}})(?:さん|様|氏|君|くん|ちゃん|先生|社長|部長|課長)"
)
_JAPANESE_PLACE = re.compile(rf"(?<![{_HAN}])[{_HAN}]{{1,4}}(?:都|府|県|市|駅|大学|空港|銀行)(?![{_HAN}])")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_KOREAN = re.compile(
    rf"(?<![{_HANGUL}])([{_HANGUL}]{{2,4}})(?:[ ]?(?:씨|님)|시|대학교|주식회사)"
    rf"(?=은|는|이|가|을|를|의|에|와|과|도|[^{_HANGUL}]|$)"
)
_ARABIC = "\u0621-\u064a\u0671-\u06d3"
_ARABIC_TITLES = (
    "السيد|السيدة|الدكتور|الدكتورة|المهندس|المهندسة|الأستاذ|الأستاذة|الآنسة|الشيخ|الملك|مدينة|شركة|جامعة|بنك"
)
_TITLED_ARABIC = re.compile(
    rf"(?<![{_ARABIC}])(?:{_ARABIC_TITLES})[ ]"
    rf"((?:(?:أبو|عبد|بن|ابن)[ ])?[{_ARABIC}]{{2,20}}(?:[ ](?:بن|ابن|آل)[ ][{_ARABIC}]{{2,20}}){{0,2}})"
)
_CHAINED_ARABIC = re.compile(
    rf"(?<![{_ARABIC}])[{_ARABIC}]{{2,20}}(?:[ ](?:بن|ابن)[ ][{_ARABIC}]{{2,20}}){{1,3}}"
    rf"|(?<![{_ARABIC}])عبد[ ]?ال[{_ARABIC}]{{2,16}}"
)
_DEVANAGARI = "\u0900-\u0963\u0970-\u097f"
_TITLED_HINDI = re.compile(
    rf"(?<![{_DEVANAGARI}])(?:श्री|श्रीमती|सुश्री|डॉ\.?|डॉक्टर|प्रोफेसर|कुमारी)[ ]([{_DEVANAGARI}]{{2,20}})"
)
_HINDI = re.compile(
    rf"(?<![{_DEVANAGARI}])([{_DEVANAGARI}]{{2,20}})[ ]"
    rf"(?:जी(?![{_DEVANAGARI}])|(?=(?:शहर|नगर|विश्वविद्यालय|जिला|ज़िला|राज्य|नदी)(?![{_DEVANAGARI}])))"
)
_CASELESS = re.compile("[\u0600-\u06ff\u0900-\u097f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def names_without_case(text: str) -> Iterator[tuple[int, Name]]:
    """Yield names in scripts without capitals, with their places.

    Chinese persons by a surname where a clause begins, with a role or with what follows persons; Japanese ones by
    what honours them; Korean, Arabic and Hindi ones by titles; places, schools and companies by their last word;
    foreign persons by the dots between their names; short quotations.

    >>> [name.text for _, name in names_without_case("王芳负责数据库，她在上海市。")]
    ['王芳', '上海市']
    """
    if text.isascii() or not _CASELESS.search(text):
        return
    japanese = _KANA.search(text) is not None
    yield from _matches(_DOTTED, text)
    yield from _matches(_QUOTED, text, 1, kind=QUOTED)
    yield from _japanese(text) if japanese else _chinese(text)
    for match in _KOREAN.finditer(text):
        if match[1] not in _ORDINARY:
            whole = match[1] if match[0].endswith(("씨", "님")) else match[0]
            yield match.start(), Name(whole, NAME)
    for pattern in (_TITLED_ARABIC, _TITLED_HINDI, _HINDI):
        yield from _matches(pattern, text, 1, _ORDINARY)
    yield from _matches(_CHAINED_ARABIC, text)


def _matches(
    pattern: re.Pattern[str], text: str, group: int = 0, but: Container[str] = (), kind: str = NAME
) -> Iterator[tuple[int, Name]]:
    for match in pattern.finditer(text):
        if match[group] not in but:
            yield match.start(group), Name(match[group], kind)


def _chinese(text: str) -> Iterator[tuple[int, Name]]:
    for match in _PERSON.finditer(text):
        if match[0][:2] not in _NO_NAMES:
            yield match.start(), Name(match[0], NAME)
    for match in _PLACE.finditer(text):
        if not _NO_PLACES.fullmatch(match[0]):
            yield match.start(), Name(match[0], NAME)


def _japanese(text: str) -> Iterator[tuple[int, Name]]:
    yield from _matches(_HONOURED, text, 1, _ORDINARY)
    yield from _matches(_JAPANESE_PLACE, text, 0, _ORDINARY)
