"""Split a text into words and what its small words and phrases say (``words/phrases.txt``), in English and German."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from priming.config.values import dataclass
from priming.text.word_lists import read_lines

READ = 2_000
"""Characters of a statement that are read."""
_WORD = (
    r"[$€£]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|(?<![\w)\]])[-+−]\d+(?:[.,:]\d+)*%?\w*|--?[a-zA-Z][\w-]*"
    r"|[*.~/#@:<>=!^$€£]{0,16}\w+(?:[./:@*\\_+'-]+[\w$*…>]+)*(?:\+\+|#|/|\(\)|>|-\*|\*|-(?=\s|$)|_(?=\s|$))?"
)
_TOKENS = re.compile(
    rf"`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|(?<=\s)[-–—]+>?(?=\s)|→|{_WORD}|%|[=!<>&|?*+]{{1,3}}(?=[\s;,.]|$)|[.;:?!\n]+|[,()]"
    r"|[^\w\s'’\"“”`.,;:?!()–—-]"
)
"""Words with the signs that belong to them, marks, and whatever else is written: no sign is lost."""
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "−": "-"})
_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_WRITTEN_OUT = (
    (re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.)? (?:of )?{_MONTH}\b", re.IGNORECASE), r"\2/\1"),
    (re.compile(rf"\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)", re.IGNORECASE), r"\1/\2"),
    (re.compile(r"\b0(?=\d:\d\d)"), ""),
    (re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+"), ""),
    (re.compile(r"(?<![\w*])\*{1,3}(?=\w)([^*\n]+?)(?<=\w)\*{1,3}(?![\w*])"), r"\1"),
    (re.compile(r"(?<!\w)_{1,2}(?=\w)([^_\n]+?)(?<=\w)_{1,2}(?!\w)"), r"\1"),
    (re.compile(r"\b(ca|wo|sha)n'?t\b|\bcannot\b", re.IGNORECASE), "can not"),
    (
        re.compile(r"\b(do|does|did|is|are|was|were|should|must|need|has|have|would|could)n'?t\b", re.I),
        r"\1 not",
    ),
    (re.compile(r"\n(?=[a-z])"), " "),
    (re.compile(r"\b(let)'s\b", re.IGNORECASE), r"\1 us"),
    (re.compile(r"\b(it|that|there|he|she|what)'s\b", re.IGNORECASE), r"\1 is"),
    (re.compile(r"\b(I|you|we|they)'(re|ve|d|ll|m)\b", re.IGNORECASE), r"\1"),
    (re.compile(r"\bw/o\b"), "without"),
    (re.compile(r"\bw/(?=\s)"), "with"),
    (re.compile(r"\b(Dr|Mr|Mrs|Ms|Prof|St|approx|vs|etc|fig)\.(?=\s)", re.IGNORECASE), r"\1"),
    (re.compile(r"\bleave ([^.,;]+?) alone\b", re.IGNORECASE), r"avoid \1"),
    (re.compile(r"\b(?:turn|switch)(?:ed)? ((?:[\w.-]+ ){0,5}?)on\b(?! the\b)", re.IGNORECASE), r"enable \1"),
    (re.compile(r"\b(?:turn|switch)(?:ed)? ((?:[\w.-]+ ){0,5}?)off\b", re.IGNORECASE), r"avoid enable \1"),
    (re.compile(r"\b(?:leave|keep) ((?:[\w.-]+ ){1,6}?)out of\b", re.IGNORECASE), r"avoid \1in"),
    (re.compile(r"\blimit(?:ed)? ([^.,;]+?) to (?=\d)", re.IGNORECASE), r"keep \1 at most "),
    (re.compile(r"\b(\d+ \w+) (?:long|wide|deep|old)\b", re.IGNORECASE), r"\1"),
    (re.compile(r"\b(?:disable|deactivate)(s|d|)\b", re.IGNORECASE), r"avoid enable\1"),
    (re.compile(r"\bexclude(s|d|)\b", re.IGNORECASE), r"avoid include\1"),
    (re.compile(r"\b((?:\w+ )?\w+) (at (?:most|least))(?=$|[.,;])", re.IGNORECASE), r"\2 \1"),
    (
        re.compile(r"\b(?:replace|swap|substitute) ([^.,;]+?) (?:with|by|for) ([^.,;]+)", re.I),
        r"use \2 instead of \1",
    ),
    (
        re.compile(
            r"\b(?:switch|move|migrate|change)(?:ed|d)?(?: back| over)* from ([^.,;]+?) to ([^.,;]+)", re.I
        ),
        r"use \2 instead of \1",
    ),
    (
        re.compile(
            r"\b(?:opt|go|reach|settle|stick)(?:s|ing)? (?:for|with)\b|\b(?:go|switch) back to\b",
            re.IGNORECASE,
        ),
        "use",
    ),
    (re.compile(r"\b(?:half an?|an? half) (?=second|minute|hour|day|year)", re.IGNORECASE), "0.5 "),
    (re.compile(r"\b(?:an?|one|per) (?=(?:second|minute|hour|day|week|month|year)\b)", re.IGNORECASE), "1 "),
    (re.compile(r"\b(?:every|each) (?=(?:second|minute|hour|day|week|month|year)s?\b)", re.IGNORECASE), "1 "),
)
"""How a text is written out before it is read: contractions, and times in words."""
_BREAK = re.compile(r"[.;:?!\n]+")
LEADS = frozenset(
    (
        *(
            "min",
            "max",
            "out",
            "around",
            "in",
            "on",
            "at",
            "to",
            "from",
            "with",
            "without",
            "for",
            "of",
            "as",
            "by",
        ),
        *("before", "after", "until", "if", "unless", "against", "under", "next", "per", "between"),
    )
)
"""The marks of prepositions and of limits."""
_ENDING = frozenset(("stop", "stopped", "quit", "cease"))
_NOT_NAMES = frozenset(("us", "it", "or", "all", "on", "in", "may", "a", "i"))


@dataclass(frozen=True, slots=True)
class PhraseToken:
    """A word as it was written, or what a phrase of the list says."""

    text: str
    mark: str | None = None
    quoted: bool = False
    form: str = ""
    """A word with its numbers as figures."""


@cache
def _phrases() -> tuple[dict[tuple[str, ...], str], int]:
    table: dict[tuple[str, ...], str] = {}
    for line in read_lines("phrases"):
        mark, *phrases = line.split()
        table |= {tuple(phrase.split("_")): "" if mark == "~" else mark for phrase in phrases}
    return table, max(map(len, table))


def tokens_of(text: str) -> list[PhraseToken]:
    """Split a text into words and marks, the longest phrase of the list first."""
    text = text[:READ].translate(_APOSTROPHES)
    for pattern, replacement in _WRITTEN_OUT:
        text = pattern.sub(replacement, text)
    raw = _TOKENS.findall(text)
    table, longest = _phrases()
    result: list[PhraseToken] = []
    i = 0
    while i < len(raw):
        token, size = raw[i], 1
        if _BREAK.fullmatch(token):
            result.append(PhraseToken(token, "break"))
        elif token == "→" or (token[-1:] == ">" and token[0] in "-–"):
            result.append(PhraseToken(token, "then"))
        elif token in ",()" or set(token) <= set("-–—"):
            result.append(PhraseToken(token, "comma"))
        elif token[0] == "`" and len(token) > 2:
            result += [PhraseToken(word, quoted=not word.islower()) for word in token[1:-1].split()]
        elif token[0] in '"“' and len(token) > 2:
            result.append(PhraseToken(token[1:-1], quoted=True))
        else:
            if (
                token.lower() == "only"
                and i + 1 < len(raw)
                and raw[i + 1].lower() in ("after", "if", "when", "before", "once")
            ):
                i += 1
                continue
            lower = tuple(word.lower() for word in raw[i : i + longest])
            sizes = (size for size in range(len(lower), 0, -1) if lower[:size] in table)
            size = next(sizes, 0)
            if size and not (size == 1 and (_is_name(raw, i) or _is_act(raw, i))):
                result.append(PhraseToken(" ".join(raw[i : i + size]), table[lower[:size]]))
            else:
                size = 1
                result.append(PhraseToken(token))
        i += size
    return result


def _is_name(raw: Sequence[str], i: int) -> bool:
    """Whether a small word is written as a name: "US", "copy from A to B"."""
    token = raw[i]
    if token.lower() == "a":
        after = raw[i + 1] if i + 1 < len(raw) else "."
        table, _ = _phrases()
        return (
            (token == "A" and i > 0) or not after[0].isalnum() or (after.lower(),) in table or len(after) == 1
        )
    if token.lower() == "us" and i and raw[i - 1].lower() == "the":
        return True
    return len(token) > 1 and token.isupper() and token.lower() in _NOT_NAMES


def _is_act(raw: Sequence[str], i: int) -> bool:
    """Whether "stop" and its like have an object: "stop the server", beside "stop using it"."""
    after = raw[i + 1].lower() if i + 1 < len(raw) else ""
    return raw[i].lower() in _ENDING and not after.endswith("ing")
