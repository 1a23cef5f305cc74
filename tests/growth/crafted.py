"""Crafted texts: a head, a unit that is repeated, and a tail; general, or derived from a pattern.

From each repetition of a pattern come texts that feed it and do not match: what precedes it, its body many times, and
a character that nothing matches. From each prefix of a pattern comes a text that repeats it: many half matches.
"""

import re
import re._constants as node
import re._parser as sre
from collections.abc import Iterator
from typing import NamedTuple


class Crafted(NamedTuple):
    head: str
    unit: str
    tail: str

    def text(self, size: int) -> str:
        """The text of about this size."""
        room = size - len(self.head) - len(self.tail)
        return self.head + self.unit * max(1, room // len(self.unit)) + self.tail


STRANGE = "\x01"
"""A character that hardly any pattern matches."""

_RUNS = (
    *"aAzé1٣_-.,:;!?'\"`’“”‘()[]{}<>/\\|@#$%^&*+=~ \t\n\r\u00a0\u0301中アگहहK→—…",
    *(
        "ab",
        "\u0315\u0300",
        "Ab",
        "a1",
        "1a",
        "1.",
        "1,",
        "a.",
        "A.",
        "a-",
        "a_",
        "a/",
        "a@",
        "@a",
        "#a",
        "a'",
        "'a",
        "a:",
        "a\\",
    ),
    *(
        "aA",
        "aAa ",
        "a b ",
        "A b ",
        "Ab ",
        "Ab-",
        "Ab's ",
        "A.B.",
        "Ab of ",
        "Ab, ",
        "1-1",
        "2024-",
        "1/1/",
        "May ",
    ),
    *(
        "()",
        "[]",
        "{}",
        "({[",
        "[(",
        "](",
        "[a](",
        "[[",
        "]]",
        "{a,",
        "{a,b}",
        "${",
        "$a",
        "<!--",
        "-->",
        "</",
        "<a ",
    ),
    *("``", "```", "```\n", "~~~\n", "`a", "'A", "‘A", "“A", '"A', "「", "「a", "《", "《a", "(A", "(AB) "),
    *(
        "a\n",
        "\n\n",
        "- a\n",
        "* ",
        "1. a\n",
        "1. ",
        "1) ",
        "# a\n",
        "> ",
        "> a\n",
        "| a ",
        "|",
        "---\n",
        "===\n",
        "a: b\n",
    ),
    *(
        "a. ",
        "A. ",
        "a! ",
        "a? ",
        ".. ",
        "e.g. ",
        "Dr. ",
        "no, ",
        "No. ",
        "not ",
        "never ",
        "don't ",
        "do not ",
        "always ",
    ),
    *(
        "use a ",
        "use ",
        "instead of ",
        "rather than ",
        "then ",
        "first ",
        "step 1 ",
        "step 2 ",
        "from a to ",
        "before ",
        "if a, ",
    ),
    *(
        "and ",
        "or ",
        ", and ",
        ", or ",
        "the ",
        "of ",
        "the a of ",
        "a is ",
        "my a is ",
        "is ",
        "Ann, also known as ",
        "Ab (A",
    ),
    *(
        "a b c d e f g h ",
        "we use a, ",
        "a's ",
        "http://",
        "http://a/",
        "a://",
        "a.b.",
        "a/b/",
        "\\\\a",
        "C:\\a ",
        "a=b ",
        "--a ",
    ),
    *(
        "\\",
        '\\"',
        "\\u",
        '"a":',
        '{"a":',
        "[[",
        '["',
        "[1,",
        "{},",
        "//",
        "/*",
        "/**/",
        "# ",
        "\x1b[",
        "\ud7ff",
        "\U0001f600",
    ),
    *("**", "**/", "*a", "?", "[a", "[!", "{a,b}", "{,}", "a*", "*/", "[]]"),
)


def general() -> Iterator[Crafted]:
    """Runs of characters, of delimiters and of usual phrases, alone and before what ends them unexpectedly."""
    for unit in dict.fromkeys(_RUNS):
        yield Crafted("", unit, "")
        yield Crafted("", unit, STRANGE)
    for opening, closing in ("()", "[]", "{}", "<>", "“”", "‘’", "「」", '""', "''", "``"):
        yield Crafted(opening, "a ", "")
        yield Crafted("", f"{opening}a{closing} ", "")
        yield Crafted("", f"{opening}A b", closing)


def derived(pattern: re.Pattern[str]) -> Iterator[Crafted]:
    """The texts that a pattern is slow on, if any are."""
    tree = sre.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    seen: set[Crafted] = set()
    for palette in _PALETTES:
        for crafted in _within(list(tree), "", palette):
            if crafted.unit and crafted not in seen:
                seen.add(crafted)
                yield crafted


_PALETTES = ("aA1_-. ,", "1aA.-, ", " \n\t,.-aA", "A-a.1'_ ", "._-/@:aA1")
"""The characters to take from a class, the first of a palette that it has."""

_DEEP = 3


_REPEATS = (node.MAX_REPEAT, node.MIN_REPEAT, node.POSSESSIVE_REPEAT)


def _within(items: list, head: str, palette: str, depth: int = 0) -> Iterator[Crafted]:
    before = head
    for op, value in items:
        if op in _REPEATS and value[1] > _DEEP and (unit := _sample(list(value[2]), palette)):
            yield Crafted(before, unit, "")
            yield Crafted(before, unit, STRANGE)
            yield Crafted("", before + unit, "")
        for part in _parts(op, value):
            yield from _within(list(part), before, palette, depth + 1)
        before += _sample([(op, value)], palette)
        if before and not depth:
            yield Crafted("", before, "")
            yield Crafted("", f"{before} ", STRANGE)
            yield Crafted("", f"{before}\n", "")


def _parts(op: object, value: object) -> list:
    """The patterns inside an item of a pattern."""
    if op in _REPEATS:
        return [value[2]]
    if op is node.BRANCH:
        return value[1]
    if op is node.SUBPATTERN:
        return [value[3]]
    if op in (node.ASSERT, node.ASSERT_NOT):
        return [value[1]]
    return [value] if op is node.ATOMIC_GROUP else []


def _sample(items: list, palette: str) -> str:
    """A text that the items of a pattern match, as far as that is easy to tell."""
    return "".join(_sample_of(op, value, palette) for op, value in items)


def _sample_of(op: object, value: object, palette: str) -> str:
    if op is node.LITERAL:
        return chr(value)
    if op is node.NOT_LITERAL:
        return next(letter for letter in palette if ord(letter) != value)
    if op is node.ANY:
        return palette[0]
    if op is node.IN:
        return _of_class(value, palette)
    if op in (node.MAX_REPEAT, node.MIN_REPEAT, node.POSSESSIVE_REPEAT):
        least, most, body = value
        return _sample(list(body), palette) * (max(1, least) if most else 0)
    if op is node.BRANCH:
        return _sample(list(value[1][len(palette) % len(value[1])]), palette)
    if op is node.SUBPATTERN:
        return _sample(list(value[3]), palette)
    if op is node.ATOMIC_GROUP:
        return _sample(list(value), palette)
    if op is node.ASSERT and value[0] < 0:
        return _sample(list(value[1]), palette)
    return ""


_OTHER = "bzBZ02359/\\@:;!?'\"`’“”‘()[]{}<>|#$%^&*+=~éÉж中アگह가\u0301→…—–\x00"


def _of_class(items: list, palette: str) -> str:
    negated = items[0][0] is node.NEGATE
    fits = [letter for letter in palette + _OTHER if any(_fits(letter, item) for item in items) != negated]
    if fits:
        return fits[0]
    for op, value in items:
        if op is node.LITERAL:
            return chr(value)
        if op is node.RANGE:
            return chr(value[0])
    return "a"


def _fits(letter: str, item: tuple) -> bool:
    op, value = item
    if op is node.LITERAL:
        return ord(letter) == value
    if op is node.RANGE:
        return value[0] <= ord(letter) <= value[1]
    if op is node.CATEGORY:
        return {
            node.CATEGORY_DIGIT: letter.isdigit(),
            node.CATEGORY_NOT_DIGIT: not letter.isdigit(),
            node.CATEGORY_SPACE: letter.isspace(),
            node.CATEGORY_NOT_SPACE: not letter.isspace(),
            node.CATEGORY_WORD: letter.isalnum() or letter == "_",
            node.CATEGORY_NOT_WORD: not (letter.isalnum() or letter == "_"),
        }[value]
    return False
