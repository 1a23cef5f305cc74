"""What a statement asks for and what it rejects: "use A instead of B", "never B", "A, not B", by rules.

Words are stems, with one word for each group of synonyms; numbers, code and names with alternatives stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal

from priming.errors import ParamError
from priming.text.tokens import terms
from priming.text.word_lists import read_word_groups

_READ = 2_000
"""Characters of a statement that are compared."""

_TOKEN = re.compile(
    r"--?[a-z][\w-]*|[*.~]*[\w$]+(?:[./:@*\\_+'-]+[\w$*…]+)*(?:\+\+|#|/)?|%|[.;:!?\n]+|,|→", re.IGNORECASE
)
_QUANTITY = re.compile(r"^(\d+(?:[.,]\d+)*)([a-z%]+)$")
_NUMBER = re.compile(r"^v?\d+(?:[.,:/x-]\d+)*(?:\.x|\+)?$")
_BREAK = re.compile(r"^(?:[.;:!?\n]+|,)$")
_CODE = re.compile(r"[_*./\\$@:]|^--?\w|\d")
_DIGITS = {
    word: str(number)
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
}
_UNITS = {
    "ms": "millisecond", "s": "second", "sec": "second", "secs": "second", "min": "minute", "mins": "minute",
    "h": "hour", "hr": "hour", "hrs": "hour", "d": "day", "w": "week", "kb": "kb", "mb": "mb", "gb": "gb",
    "%": "percent", "px": "px", "k": "k", "m": "m", "g": "g",
}  # fmt: skip

_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "`": "", '"': "", "“": "", "”": ""})
_NOT = r"(?:not|n't|nt)"
_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\bnever (?:forget|hesitate|fail|omit|neglect)(?: to)?\b", " always "),
        (r"\b(?:do not|don't) (?:forget|hesitate|fail|omit|neglect)(?: to)?\b", " always "),
        (r"\b(?:do not|don't|dont|never)\s+(?:skip|leave out)\b", " always "),
        (r"(?:,\s*)?\b(?:and |but )(?=(?:never|do not|don't|dont|avoid|no|must not|mustn't)\b)", " ; "),
        (r"\bonly (?=(?:after|before|when|if|once|on|with)\b)", " "),
        (r"^(?P<order> *(?:before|after|when|whenever|if|once) [^,;.]+),\s*(?P<rest>[^.;]+)", r" \g<rest> \g<order> "),  # noqa: E501
        (r"\bfirst\b(?=.*\bthen\b)", " "),
        (r",?\s*(?:and )?\b(?:then|followed by|and only then)\b", " before "),
        (r"\b(?:turn|switch)(?:ed|ing)? on\b|\bon(?= *(?:[.;,!]|$))", " enabled "),
        (r"\b(?:turn|switch)(?:ed|ing)? off\b|\boff(?= *(?:[.;,!]|$))", " disabled "),
        (r"\b(?:limit(?:ed)?|cap(?:ped)?|restrict(?:ed)?|(?:under|below|within|maximum of)(?= \d)|maximum|upper bound)\b(?= )", " max "),  # noqa: E501
        (r"\b(?:minimum of|lower bound|minimum)\b", " min "),
        (r"\b(?:at most|no more than|no longer than|not more than|up to|or fewer|or less)\b", " max "),
        (r"\b(?:at least|no less than|no fewer than|not less than|or more)\b", " min "),
        (r"\b(?:instead of|rather than|in place of|as opposed to|in favou?r of not)\b", " ⊖ "),
        (r"\bin favou?r of\b", " ⊕ "),
        (r"\b(?:and|but|,)?\s*not\b(?=\s+(?:with |in |on |at |to |by |the |a |an )?[\w.*`_-]+)(?<!do not)(?<!should not)(?<!must not)", " ⊖ "),  # noqa: E501
        (r"\b(?:can not|cannot|can't|must not|mustn't|should not|shouldn't|shall not|may not|do not|does not|don't|dont"  # noqa: E501
         r"|doesn't|isn't allowed to|are not allowed to|is not|isn't|are not|aren't|won't|will not)\b", " ⊝ "),
        (r"\b(?:never|avoid|refrain from|stop|quit|no longer|no more|ban|cease|forbidden|prohibited|neither|nor)\b", " ⊝ "),  # noqa: E501
        (r"(?:^|(?<=[.;:,!?\n] ))\s*no(?= \w)", " ⊝ "),
        (r"\bwithout\b", " ⊘ "),
        (r"\bcheck(?:s|ed|ing)? (?P<what>\w+ )?in(?:to)?\b", r" commit \g<what> "),
        (r"\bas soon as\b", " when "),
    )
)  # fmt: skip
_REPLACE = re.compile(
    r"\b(?:replace|swap|substitute)\s+(?P<old>.+?)\s+(?:with|by|for)\s+(?P<new>[^.;,]+)"
    r"|\b(?:switch|move|migrate|change|go)(?:ed|d|ing|ing over)?(?:\s+over)?\s+from\s+(?P<from>.+?)\s+to\s+(?P<to>[^.;,]+)"  # noqa: E501
)
_CHOOSING = frozenset(["use", "prefer", "choose", "pick", "favour", "favor"])
_FILLERS = frozenset(
    """a an the please always must should shall need have has do does did be is are was it its this that these
    those we you i our your my they them to of and or so then just also really very only-if too as such
    any every all each everywhere anywhere here there now from-now instead want like would can will make
    sure remember ok okay actually again ever anymore whenever-possible possible better best good rule
    policy convention practice which who time let keep us me one same own other another""".split()  # noqa: SIM905
)
"""Words that say that something is asked for, or for all of it, and not what."""
_SCOPING = frozenset(
    (
        "for", "in", "when", "whenever", "if", "while", "during", "inside", "within", "under",
        "unless", "except", "until", "across", "where",
    )
)  # fmt: skip
_VALUING = frozenset(
    (
        "with", "to", "on", "at", "by", "as", "from", "into", "onto", "using", "via", "through",
        "than", "max", "min", "be", "is", "are",
    )
)  # fmt: skip
ORDERING = frozenset({"before", "after"})
_EXPRESSING = frozenset(
    {
        "write",
        "name",
        "store",
        "keep",
        "save",
        "export",
        "format",
        "spell",
        "express",
        "serialis",
        "serial",
        "return",
    }
)
"""Verbs after which "in" leads to a value: "write it in YAML"."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a statement: its stem, as it was written, its sign (asked for or rejected), and its role."""

    stem: str
    text: str
    sign: int
    role: Literal["head", "scope", "value", "plain"]


@dataclass(frozen=True, slots=True)
class SignedText:
    """A statement as signed words in order; ``chooses``: it says which of several to use; ``only``: it restricts."""

    words: tuple[Word, ...]
    chooses: bool
    only: bool


@lru_cache(maxsize=4_096)
def read_statement(text: str) -> SignedText:
    """Read a statement as words that it asks for and words that it rejects.

    >>> [(word.stem, word.sign) for word in read_statement("Use httpx instead of requests").words]
    [('httpx', 1), ('request', -1)]
    """
    if not isinstance(text, str):
        raise ParamError("text", text, "must be a text")
    plain = f" {text[:_READ].casefold().translate(_APOSTROPHES).strip()} "
    plain = _REPLACE.sub(_as_contrast, plain)
    for pattern, replacement in _PHRASES:
        plain = pattern.sub(replacement, plain)
    return _parse(re.findall(rf"[⊖⊕⊝⊘]|{_TOKEN.pattern}", plain, re.IGNORECASE))


def _as_contrast(match: re.Match[str]) -> str:
    """Write "replace A with B" as "use B ⊖ A"."""
    old, new = match["old"] or match["from"], match["new"] or match["to"]
    return f" use {new} ⊖ {old} "


def _parse(tokens: Sequence[str]) -> SignedText:
    """Give each token its sign and its role, clause by clause."""
    words: list[Word] = []
    clause = _Clause()
    chooses = only = False
    for token in _spread_quantities(tokens):
        if _BREAK.match(token):
            words += clause.ordered()
            clause = _Clause()
        elif token == "only":
            only = True
        else:
            clause.read(token)
            chooses |= clause.chooses
    return SignedText((*words, *clause.ordered()), chooses, only)


class _Clause:
    """A clause that is being read: its words, and the sign and role of the next one."""

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.sign, self.denied, self.chooses = 1, 1, False
        self.role: Literal["head", "scope", "value", "plain"] = "head"

    def read(self, token: str) -> None:
        """Read a token: a mark changes the sign, a function word the role, and the others are words."""
        if token == "⊝":
            # "Passwords must not be logged" rejects what stands before the denial too.
            self.words = [replace(word, sign=-1) for word in self.words]
            self.sign = self.denied = -1
        elif token == "⊖" or (token == "over" and self.chooses):
            self.sign = -self.denied
        elif token == "⊘":
            self.sign = -self.sign
        elif token == "⊕":
            self.sign = 1
        elif token in _SCOPING:
            expresses = token == "in" and self.words and self.words[0].stem in _EXPRESSING
            self.role = "value" if expresses else "scope"
        elif token in _CHOOSING:
            self.chooses, self.role = True, "value"
        elif token in _VALUING:
            self.role = "value"
        elif token not in _FILLERS and (stem := _stem(token)):
            self.words.append(Word(stem, token, self.sign, self.role))
            self.role = "plain" if self.role == "head" else self.role

    def ordered(self) -> list[Word]:
        """The words, with "B after A" as "A before B"."""
        stems = [word.stem for word in self.words]
        if stems.count("after") != 1 or "before" in stems:
            return self.words
        place = stems.index("after")
        before = replace(self.words[place], stem="before", text="before")
        verb = place > 1 and self.words[0].role == "head"
        return [*self.words[:verb], *self.words[place + 1 :], before, *self.words[verb:place]]


def _spread_quantities(tokens: Iterable[str]) -> Iterable[str]:
    """Tokens with "30s" as "30 second", and words joined by hyphens apart unless they are rivals as a whole."""
    for token in tokens:
        token = token.strip("'")
        quantity = _QUANTITY.match(token)
        if quantity and quantity[2] in _UNITS:
            yield quantity[1]
            yield _UNITS[quantity[2]]
        elif (
            "-" in token
            and token not in _groups()
            and re.fullmatch(r"[a-z]+(?:-[a-z]+)+|\d+-[a-z]+(?:-[a-z]+)*", token)
        ):
            yield from token.split("-")
        else:
            yield _DIGITS.get(token, token)


@cache
def _groups() -> dict[str, frozenset[int]]:
    """For each word with alternatives, the groups of them that it belongs to, by the word and by its stem."""
    groups: dict[str, set[int]] = {}
    for number, group in enumerate(read_word_groups("alternatives")):
        for word in group:
            for form in {word, f"{word}s", _bare_stem(word), _stem(word)}:
                groups.setdefault(form, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in groups.items()}


@cache
def _targets() -> frozenset[str]:
    return frozenset(
        form for group in read_word_groups("targets") for word in group for form in (word, _stem(word))
    )


@cache
def _representatives() -> dict[str, str]:
    """For each stem with synonyms, the stem that stands for its group."""
    return {
        _bare_stem(word): _bare_stem(group[0]) for group in read_word_groups("synonyms") for word in group
    }


@cache
def _antonyms() -> frozenset[tuple[str, str]]:
    """Pairs of stems that say the opposite, both ways."""
    pairs = set()
    for group in read_word_groups("antonyms"):
        dash = group.index("-")
        for left in group[:dash]:
            for right in group[dash + 1 :]:
                pairs |= {(_stem(left), _stem(right)), (_stem(right), _stem(left))}
    return frozenset(pairs)


def _bare_stem(word: str) -> str:
    stems = terms(word)
    return stems[0] if len(stems) == 1 and "-" not in word else word


@lru_cache(maxsize=1 << 15)
def _stem(token: str) -> str:
    """The stem of a token: numbers and code as they are, a synonym as the word that stands for its group."""
    if _NUMBER.match(token) or _CODE.search(token):
        return token.lstrip("v") if _NUMBER.match(token) else token
    if token in ORDERING or token in ("max", "min"):
        return token
    stem = _bare_stem(token)
    return _representatives().get(stem, stem)


def are_antonyms(a: str, b: str) -> bool:
    """Tell whether two stems say the opposite: by the word list, or by a prefix such as un-, dis-, non-, de-.

    >>> are_antonyms("enabl", "disabl"), are_antonyms("cach", "uncach"), are_antonyms("tab", "space")
    (True, True, False)
    """
    if (a, b) in _antonyms():
        return True
    short, long = sorted((a, b), key=len)
    return len(short) >= 3 and any(
        long == prefix + short for prefix in ("un", "dis", "non", "de", "in", "im")
    )


def value_type(stem: str) -> str | None:
    """The type of a word that is a value: number, code, or the alternatives it belongs to; None for other words."""
    if _NUMBER.match(stem):
        return "number"
    if stem in _targets():
        return "target"
    groups = _groups().get(stem)
    if groups:
        return f"alternatives {min(groups)}"
    if stem in _UNIT_STEMS:
        return "unit"
    return "code" if _CODE.search(stem) else None


_UNIT_STEMS = frozenset(
    (
        "millisecond", "second", "minut", "hour", "day", "week", "month", "year", "kb", "mb", "gb",
        "percent", "px", "k", "m", "g", "charact", "line", "column", "byte",
    )
)  # fmt: skip
