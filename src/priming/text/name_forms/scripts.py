"""Names in scripts without capitals, by what stands beside them: Chinese, Japanese, Korean, Arabic, Devanagari."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from priming.text.name_forms.kinds import NAME, QUOTED, Name
from priming.text.word_lists import read_words

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
