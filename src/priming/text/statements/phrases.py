"""Split a text into words and what its small words and phrases say (``words/phrases.txt``), in English and German."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from priming.config.values import dataclass
from priming.text.tokens import SPACELESS
from priming.text.word_lists import GERMAN_NOUNS, PRONOUNS_AND_NUMERALS, is_common, read_lines, read_words

READ = 2_000
"""Characters of a statement that are read."""
_WORD = (
    r"[$€£]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|[$€£]?(?<![\d,])\d[\d.]*,\d{1,2}(?![\d,])(?:-?[^\W\d][\w-]*)?"
    r"|(?<![\w)\]])[-+−]\d+(?:[.,:]\d+)*%?\w*|--?[a-zA-Z][\w-]*"
    r"|[*.~/#@:<>=!^$€£]{0,16}\w+(?:[./:@*\\_+'-]+[\w$*…<>]+)*(?:\+\+|#|/|\(\)|>|-\*|\*|-(?=\s|$)|_(?=\s|$))?"
)
_TOKENS = re.compile(
    rf"`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|(?<=\s)[-–—]+>?(?=\s)|→|{_WORD}|%|[=!<>&|?*+]{{1,3}}(?=[\s;,.]|$)|[.;:?!\n]+|[,()]"
    r"|[^\w\s'’\"“”`.,;:?!()–—-]"
)
"""Words with the signs that belong to them, marks, and whatever else is written: no sign is lost."""
_LETTERS = re.compile(r"[^\W\d_]+")
_LEAST, _COMMON, _LATIN = 4, 3, "\u024f"
"""The fewest words, or letters that are not Latin, by which a language shows; of so many words one is common; the
last of Latin letters."""
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "−": "-"})
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_UNITS = "second|minute|hour|day|week|month|year"
_WRITTEN_OUT = tuple(
    (needs.split("|"), re.compile(pattern, re.IGNORECASE), replacement)
    for needs, pattern, replacement in (
        (_MONTHS, rf"\b0?(\d{{1,2}})(?:st|nd|rd|th|\.)? (?:of )?({_MONTHS})[a-z]*\b", r"\2/\1"),
        (_MONTHS, rf"\b({_MONTHS})[a-z]* 0?(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)", r"\1/\2"),
        (":", r"\b0(?=\d:\d\d)", ""),
        (":", r"^\s*((?:[\w.'-]+ ){0,3}[\w.'-]+): (?=(?:[-+]?\d\S*(?: (?:\w+|[$€£%])){0,4}|[^\s:]+)\.?$)", r"\1 is "),
        ("", r"^\s*(?:[-*•]|\d+[.)])\s+", ""),
        ("*", r"(?<![\w*])\*{1,3}(?=\w)([^*\n]+?)(?<=\w)\*{1,3}(?![\w*])", r"\1"),
        ("_", r"(?<!\w)_{1,2}(?=\w)([^_\n]+?)(?<=\w)_{1,2}(?!\w)", r"\1"),
        ("can't|cant|won't|wont|shan't|shant|cannot", r"\b(ca|wo|sha)n'?t\b|\bcannot\b", "can not"),
        ("n't|nt", r"\b(do|does|did|is|are|was|were|should|must|need|has|have|would|could)n'?t\b", r"\1 not"),
        ("\n", r"\n(?=(?-i:[a-z]))", " "),
        ("let's", r"\b(let)'s\b", r"\1 us"),
        ("'s", r"\b(it|that|there|he|she|what)'s\b", r"\1 is"),
        ("'", r"\b(I|you|we|they)'(?:ve|d|ll)\b", r"\1"),
        ("'|am", r"\b(I|you|we|they)(?:'re|'m| am)\b", r"\1 is"),
        ("w/o", r"\b(?-i:w/o)\b", "without"),
        ("w/", r"\b(?-i:w)/(?=\s)", "with"),
        ("r.|s.|f.|t.|x.|c.|g.", r"\b(Dr|Mr|Mrs|Ms|Prof|St|approx|vs|etc|fig)\.(?=\s)", r"\1"),
        ("alone", r"\bleave ([^.,;]+?) alone\b", r"avoid \1"),
        ("turn|switch", r"\b(?:turn|switch)(?:ed)? ((?:[\w.-]+ ){0,5}?)on\b(?! the\b)", r"enable \1"),
        ("off", r"\b(?:turn|switch)(?:ed)? ((?:[\w.-]+ ){0,5}?)off\b", r"avoid enable \1"),
        ("out of", r"\b(?:leave|keep) ((?:[\w.-]+ ){1,6}?)out of\b", r"avoid \1in"),
        ("limit", r"\blimit(?:ed)? ([^.,;]+?) to (?=\d)", r"keep \1 at most "),
        (" long| wide| deep| old", r"\b(\d+ \w+) (?:long|wide|deep|old)\b", r"\1"),
        ("disable|deactivate", r"\b(?:disable|deactivate)(s|d|)\b", r"avoid enable\1"),
        ("exclude", r"\bexclude(s|d|)\b", r"avoid include\1"),
        ("at most|at least", r"\b((?:\w+ )?\w+) (at (?:most|least))(?=$|[.,;])", r"\2 \1"),
        ("replace|swap|substitute",
         r"\b(?:replace|swap|substitute) ([^.,;]+?) (?:with|by|for) ([^.,;]+)", r"use \2 instead of \1"),
        (" from ", r"\b(?:switch|move|migrate|change)(?:ed|d)?(?: back| over)* from ([^.,;]+?) to ([^.,;]+)",
         r"use \2 instead of \1"),
        (" for| with|back to", r"\b(?:opt|go|reach|settle|stick)(?:s|ing)? (?:for|with)\b|\b(?:go|switch) back to\b",
         "use"),
        (" in the ", r"(?<= at )(\w+) in the (morning|afternoon|evening)\b", r"\1 in_\2"),
        ("half", r"\b(?:half an?|an? half) (?=second|minute|hour|day|year)", "0.5 "),
        (_UNITS, rf"\b(?:an?|one|per) (?=(?:{_UNITS})\b)", "1 "),
        (_UNITS, rf"\b(?:every|each) (?=(?:{_UNITS})s?\b)", "1 "),
    )
)  # fmt: skip
"""How a text is written out before it is read: contractions, and times in words; a rule needs one of its texts."""
_BREAKS, _DASHES = ".;:?!\n", "-–—"
LEADS = frozenset(
    ["min", "max", "out", "around", "in", "on", "at", "to", "from", "with", "without", "for", "of", "as", "by",
     "before", "after", "until", "if", "unless", "against", "under", "next", "per", "between"]
)  # fmt: skip
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


def as_told(text: str, speaker: str | None) -> str:
    """Return a text with its speaker named where it says "I" and "my".

    >>> as_told("My port is 80", "Ada")
    "Ada's port is 80"
    """
    if not speaker:
        return text
    named = re.sub(r"\b(?:my|My)\b", lambda _: f"{speaker}'s", text)
    return re.sub(r"\bI\b", lambda _: speaker, named)


def is_read(*texts: str) -> bool:
    """Tell whether texts are in English or German, or too short to tell.

    >>> is_read("Fix the parser"), is_read("Utilise pnpm", "N'utilise pas pnpm")
    (True, False)
    """
    words, familiar, foreign = map(sum, zip(*map(_letters_and_words, texts), strict=True))
    return max(words, foreign) < _LEAST or _COMMON * familiar >= words


@lru_cache(maxsize=1 << 12)
def _letters_and_words(text: str) -> tuple[int, int, int]:
    """Return the number of words, of familiar ones, and of letters that are not Latin."""
    words = [word.lower() for word in _LETTERS.findall(text[:READ])]
    foreign = 0 if text.isascii() else sum(letter > _LATIN for word in words for letter in word)
    return len(words), sum(map(_is_familiar, words)), foreign


def _is_familiar(word: str) -> bool:
    return word in _small_words() or is_common(word)


@cache
def _small_words() -> frozenset[str]:
    words = {word for phrase in _phrases()[0] for word in phrase}
    return GERMAN_NOUNS.union(
        words, PRONOUNS_AND_NUMERALS, read_words("stop_words"), read_words("function_words/german")
    )


@cache
def _phrases() -> tuple[dict[tuple[str, ...], str], dict[str, int]]:
    """Return what each phrase says, and the length of the longest phrase that begins with a word."""
    table: dict[tuple[str, ...], str] = {}
    longest: dict[str, int] = {}
    for line in read_lines("phrases"):
        mark, *phrases = line.split()
        table |= {tuple(phrase.split("_")): "" if mark == "~" else mark for phrase in phrases}
    for phrase in table:
        longest[phrase[0]] = max(len(phrase), longest.get(phrase[0], 0))
    return table, longest


def _written_out(text: str) -> str:
    plain = text.casefold()
    for needs, pattern, replacement in _WRITTEN_OUT:
        for need in needs:
            if need in plain:
                before, text = text, pattern.sub(replacement, text)
                plain = plain if text == before else text.casefold()
                break
    return text


@lru_cache(maxsize=4)
def tokens_of(text: str) -> tuple[PhraseToken, ...]:
    """Split a text into words and marks, the longest phrase of the list first."""
    raw = _TOKENS.findall(_written_out(text[:READ].translate(_APOSTROPHES)))
    raw = [part for token in raw for part in ([token] if token.isascii() else _characters(token))]
    words = tuple(word.lower() for word in raw)
    table, longest = _phrases()
    result: list[PhraseToken] = []
    i = 0
    while i < len(raw):
        token, size = raw[i], 1
        if not token.strip(_BREAKS):
            result.append(PhraseToken(token, "break"))
        elif token == "→" or (token[-1:] == ">" and token[0] in "-–"):
            result.append(PhraseToken(token, "then"))
        elif token in ",()" or not token.strip(_DASHES):
            result.append(PhraseToken(token, "comma"))
        elif token[0] == "`" and len(token) > 2:
            result += [PhraseToken(word, quoted=not word.islower()) for word in token[1:-1].split()]
        elif token[0] in '"“' and len(token) > 2:
            result.append(PhraseToken(token[1:-1], quoted=True))
        else:
            if words[i] == "only" and {*words[i + 1 : i + 2]} & {"after", "if", "when", "before", "once"}:
                i += 1
                continue
            most = min(longest.get(words[i], 0), len(raw) - i)
            size = most and next((size for size in range(most, 0, -1) if words[i : i + size] in table), 0)
            if size and not (size == 1 and (_is_name(raw, i) or _is_act(raw, i))):
                result.append(PhraseToken(" ".join(raw[i : i + size]), table[words[i : i + size]]))
            else:
                size = 1
                result.append(PhraseToken(token))
        i += size
    return tuple(result)


def _characters(token: str) -> Iterator[str]:
    """Yield the parts of a token: characters of scripts without spaces between words, and what is between them."""
    for run in SPACELESS.split(token):
        yield from run if SPACELESS.match(run) else [run] * bool(run)


def _is_name(raw: Sequence[str], i: int) -> bool:
    """Tell whether a small word is written as a name: "US", "copy from A to B"."""
    token = raw[i]
    if token.lower() == "a":
        after = raw[i + 1] if i + 1 < len(raw) else "."
        table, _ = _phrases()
        return (
            (token == "A" and i > 0) or not after[0].isalnum() or (after.lower(),) in table or len(after) == 1
        )
    if token == "am" and i and raw[i - 1][0].isdigit():
        return not raw[i + 1 : i + 2] or not raw[i + 1][0].isupper()  # 9 am, beside the German "9 am Montag"
    if i and (
        (token == "None" and raw[i - 1].strip(_BREAKS))
        or (token.lower() == "us" and raw[i - 1].lower() == "the")
    ):
        return True
    return len(token) > 1 and token.isupper() and token.lower() in _NOT_NAMES


def _is_act(raw: Sequence[str], i: int) -> bool:
    """Tell whether "stop" and "optional" deny nothing: "stop the server", "optional fields"; not "stop using it"."""
    table, longest = _phrases()
    word, after = (each.lower() for each in (*raw[i : i + 2], ".")[:2])
    modifies = table[word,] == "free" and after[0].isalnum() and after not in longest
    return modifies or (word in _ENDING and not after.endswith("ing"))
