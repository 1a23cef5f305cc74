"""A command as ``/bin/sh`` reads it, if it is plain: quotes, variables, substitutions, pipes, conditions and loops.

What else a shell can do is not read, and the error names it, so that a person can be asked about it.
"""

from __future__ import annotations

import re
from dataclasses import field

from priming.config.values import dataclass

UNKNOWN = "\x00"
"""Stands in a word for what only the run would show."""
_OPENS = frozenset("! { } if then elif else fi while until do done time".split())  # noqa: SIM905
"""Words before a command, and after the last."""
_ASSIGNS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_REDIRECTS = re.compile(r"[0-9]*(>>?&?|<)[ \t]*(?![&<>|(])")
_VARIABLE = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\}|[0-9?#$!@*-])")
_NOWHERE = re.compile(r"/dev/(?:null|stdout|stderr)")
_BLANKS, _ENDS = " \t", " \t\n;&|()<>"


class NotPlain(ValueError):
    """What a command contains that is not read."""


@dataclass(slots=True)
class Command:
    """One program with its arguments and its input file, and the variables that are set for it: ``NAME=value``."""

    words: list[str] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)


def read_commands(script: str) -> list[Command]:
    r"""Read all commands of a script, those of its substitutions too.

    Raises:
        NotPlain: something else than commands, lists, pipes, subshells, ``if``, ``while`` and ``for``.

    >>> [command.words for command in read_commands("if grep -q 'a b' x; then \\cat $X > /dev/null; fi")]
    [['grep', '-q', 'a b', 'x'], ['cat', '\x00']]
    """
    reader = _Reader(script)
    try:
        reader.script("")
    except RecursionError:
        raise NotPlain("is nested too deep to be read") from None
    return [command for command in reader.commands if command.words or command.sets]


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.commands: list[Command] = []

    def script(self, end: str) -> None:
        """Read commands up to a closing bracket, or to the end of the text."""
        words: list[tuple[str, str]] = []
        inputs: list[str] = []
        while self.at < len(self.text):
            start, char = self.at, self.text[self.at]
            if self._is_blank(char):
                continue
            if redirect := _REDIRECTS.match(self.text, start):
                self.at = redirect.end()
                inputs += self._redirected(redirect[1])
            elif char not in _ENDS:
                words.append((self._word(), self.text[start : self.at]))
            elif char == "(" and all(raw in _OPENS for _, raw in words):
                self.at += 1
                self.script(")")
            else:
                self._operator(char, end)
                self._end(words, inputs)
                words, inputs = [], []
                if char == ")":
                    return
        self._end(words, inputs)
        if end:
            raise NotPlain("has an open bracket")

    def _is_blank(self, char: str) -> bool:
        """Tell whether nothing stands here but a blank, a continued line or a comment, which is passed over."""
        start = self.at
        if char == "#":
            self.at = (self.text.find("\n", start) + 1 or len(self.text) + 1) - 1
        elif char in _BLANKS or self.text.startswith("\\\n", start):
            self.at += 1 + (char == "\\")
        return self.at > start

    def _operator(self, char: str, end: str) -> None:
        """Read what ends a command."""
        pair = self.text[self.at : self.at + 2]
        if char == "&" and pair != "&&":
            raise NotPlain("has an '&', which leaves something running")
        if char in "(<>" or (char == ")" and not end):
            raise NotPlain(f"has a {pair!r}")
        self.at += 1 + (char == "&")

    def _end(self, words: list[tuple[str, str]], inputs: list[str]) -> None:
        """Take in a command, without the words of the shell before it."""
        while words and words[0][1] in _OPENS:
            words = words[1:]
        sets = []
        while words and _ASSIGNS.match(words[0][1]):
            sets.append(words[0][0])
            words = words[1:]
        if inputs and not words:
            raise NotPlain(f"reads {inputs[0].replace(UNKNOWN, '…')} into several commands")
        self.commands.append(Command([word for word, _ in words] + inputs, sets))

    def _redirected(self, operator: str) -> list[str]:
        """Read the target of a redirection, and return it if it is an input."""
        target = self._word()
        if operator == "<":
            return [target]
        if not (re.fullmatch("[0-9]+|-", target) if operator.endswith("&") else _NOWHERE.fullmatch(target)):
            raise NotPlain(f"writes {target.replace(UNKNOWN, '…')}")
        return []

    def _word(self, end: str = _ENDS) -> str:
        """Read one word, or the rest of a text in double quotes; unknown parts may be several words, or none."""
        text, is_quoted = "", end == '"'
        while self.at < len(self.text) and (char := self.text[self.at]) not in end:
            if self.text.startswith("\\\n", self.at):
                raise NotPlain("has a word on two lines")
            if char in "$`":
                text += self._expansion()
                continue
            self.at += 1
            following = self.text[self.at : self.at + 1]
            if char == "\\" and (not is_quoted or following in tuple('$`"\\')):
                text += following
                self.at += 1
            else:
                text += char if is_quoted else self._unquoted(char, following, is_first=not text)
        return text

    def _unquoted(self, char: str, following: str, *, is_first: bool) -> str:
        """Read what a character begins that stands in no quotes: a text in quotes, a pattern, or itself."""
        if char in "'\"":
            end = self.text.find("'", self.at) if char == "'" else self.at
            text = self.text[self.at : end] if char == "'" else self._word(char)
            self.at = max(self.at, end)
            if end < 0 or self.at >= len(self.text):
                raise NotPlain("has an open quote")
            self.at += 1
            return text
        # Braces, and a pattern at the beginning, may make an option.
        is_test = char == "[" and following in _BLANKS
        return UNKNOWN if char == "{" or (char in "*?[" and is_first and not is_test) else char

    def _expansion(self) -> str:
        """Read a variable, or a substitution, whose commands count too."""
        if variable := _VARIABLE.match(self.text, self.at):
            self.at = variable.end()
            return UNKNOWN
        after = self.text[self.at + 1 : self.at + 2]
        if self.text[self.at] == "`" or after in ("{", "'", '"', "[") or self.text.startswith("$((", self.at):
            raise NotPlain(f"has a {self.text[self.at : self.at + 2]!r}")
        self.at += 1
        if after != "(":
            return "$"
        self.at += 1
        self.script(")")
        return UNKNOWN
