"""The commands that are known to be harmless: programs that only look, test or build, with options that do no more.

They are in ``harmless.txt``, where the further lines of a row are indented. A row is a list of beginnings of
commands, and what may follow them: ``any`` words; any but what may be a secret, where files are ``shown``, or
folders too are ``compared``, or ``searched``, unless they are only counted or named; or these options only, with
words that are ``data``, with ``files`` of the folder, with ``tests``, which are no other files, with one or more
``targets`` that by their names test or build, or with another ``command``; ``options`` stand alone. An option that
writes a file, or runs what it names, is in no row.
"""

from __future__ import annotations

import re
from pathlib import Path

from priming.config.values import dataclass

TARGET = re.compile(
    r"(?:(?:tests?|units?|integration|e2e|spec|check|lint|types?|typecheck|build|compile|verify|validate|coverage"
    r"|cov|all|fast|quick|slow|mypy|ruff|eslint|py[0-9]*|js|ts|css|docs?)(?:[:_-](?!$)|$))+"
)
"""A target, or several words of such, that tests or builds."""
SETS = re.compile(
    r"(?:CI|NO_COLOR|FORCE_COLOR|RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONHASHSEED|TZ|LANG|LC_ALL"
    r"|CGO_ENABLED|COLUMNS|DEBUG)=[\w.:/+-]*|(?:NODE|RAILS|RACK|MIX|APP|FLASK)_ENV=test",
    re.ASCII,
)
"""A variable that may be set for a program."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What may follow a beginning of a command."""

    kind: str
    words: frozenset[str]

    def names(self, word: str) -> bool:
        """Tell whether a word is one of the rule's options, or several of one letter each, or one with a value."""
        if word in self.words or word.partition("=")[0] in self.words:
            return True
        letters = word[1:] if word.startswith("-") else ""
        return (
            letters.isascii()
            and letters.isalnum()
            and all(letter.isdigit() or f"-{letter}" in self.words for letter in letters)
        )


def _rules() -> dict[tuple[str, ...], Rule]:
    rules = {}
    table = Path(__file__).with_suffix(".txt").read_text("utf-8").replace("\n ", " ")
    for line in filter(None, table.splitlines()):
        beginnings, _, allowed = line.partition(" = ")
        kind, *words = allowed.split()
        rule = Rule(kind, frozenset(words))
        rules.update({tuple(beginning.split()): rule for beginning in beginnings.split(", ")})
    return rules


RULES = _rules()
LONGEST = max(map(len, RULES))
"""The most words of a beginning."""
BLIND = frozenset(
    words[0] for words, rule in RULES.items() if rule.kind in ("any", "shown", "compared", "searched", "data")
)
"""Programs that take almost any word, as nothing else of their names does."""
