"""A command read as a shell reads it, without running it: quotes, escapes, variables, substitutions, here-documents.

What only a run would show is marked as unsure, so that whoever decides can ask.
"""

from __future__ import annotations

import os
import re
from dataclasses import field

from priming.config.values import dataclass

_NAME = re.compile(r"[A-Za-z_]\w*")
_ASSIGNS = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_REDIRECTS = re.compile(r"\d*(?:&>>|&>|<<<|<<-|<<|<>|<&|>&|>>|>\||<|>)")
_UNSURE = re.compile(r"[*?\[]|\{[^{}]*(?:,|\.\.)[^{}]*\}")
"""Patterns and braces, of which a shell makes other words."""
_OPENS = frozenset("! { } if then elif else fi while until do done esac time coproc".split())  # noqa: SIM905
"""Words before a command."""
_NO_COMMANDS = frozenset(("for", "select", "case"))
"""Words with which no command begins, up to the next separator."""
_DECLARES = frozenset(("export", "declare", "local", "readonly", "typeset"))
_SETS = frozenset(("read", "mapfile", "readarray", "getopts", "printf", "eval", "source", "."))
"""Commands after which no variable is sure."""


class UnreadableCommand(ValueError):
    """A command that no shell would read to its end."""


@dataclass(frozen=True, slots=True)
class ShellWord:
    """A word without its quotes; ``is_sure``: a run would not make another word of it."""

    text: str
    is_sure: bool = True


@dataclass(slots=True)
class Command:
    """One program with its arguments; ``written`` are the files that redirections write, and how."""

    words: list[ShellWord] = field(default_factory=list)
    written: list[tuple[str, ShellWord]] = field(default_factory=list)
    source: ShellWord | None = None
    """The file that is its input."""
    text: str | None = None
    """Its input, where the command itself contains it."""
    is_piped: bool = False
    sets: dict[str, str] = field(default_factory=dict)
    """The variables that are set for it, with their values so far as they are known."""


def read_commands(script: str) -> list[Command]:
    r"""Read all commands of a script, those of its substitutions, subshells and functions too.

    Raises:
        UnreadableCommand: a quote or a bracket is not closed.

    >>> [[word.text for word in command.words] for command in read_commands("X=rm; $X -r 'a b' | \\cat")]
    [[], ['rm', '-r', 'a b'], ['cat']]
    """
    commands: list[Command] = []
    _Reader(script, commands, dict(os.environ)).script("")
    return [command for command in commands if command.words or command.written or command.sets]


class _Reader:
    def __init__(self, text: str, commands: list[Command], variables: dict[str, str]) -> None:
        self.text, self.at = text, 0
        self.commands, self.variables = commands, variables
        self.documents: list[tuple[Command, str, bool, bool]] = []

    def script(self, end: str) -> None:
        """Read commands up to a closing bracket, or to the end of the text."""
        command, is_piped = Command(), False
        while self.at < len(self.text):
            char = self.text[self.at]
            redirect = _REDIRECTS.match(self.text, self.at)
            if char in " \t\r" or self.text.startswith("\\\n", self.at):
                self.at += 1 + (char == "\\")
            elif redirect is not None:
                self.at = redirect.end()
                self._redirect(command, redirect[0].lstrip("0123456789"))
            elif char == "#":
                self.at = (self.text.find("\n", self.at) + 1 or len(self.text) + 1) - 1
            elif char in "\n;&|()":
                self.at += 1
                self._end(command, is_piped)
                is_piped = char == "|" and not self.text.startswith("|", self.at)
                command = Command()
                if char == "\n":
                    self._read_documents()
                elif char == "(":
                    self.script(")")
                elif char == ")" and end:
                    return
            else:
                command.words += self._words()
        self._end(command, is_piped)
        self._read_documents()
        if end:
            raise UnreadableCommand(f"{end} is missing")

    def _end(self, command: Command, is_piped: bool) -> None:
        """Take in a command: without the words of the shell, and with what it sets."""
        words = command.words
        while words and words[0].text in (*_OPENS, "function"):
            words = words[2:] if words[0].text == "function" else words[1:]
        if words and words[0].text in _NO_COMMANDS:
            self.variables.clear()
            words = []
        sets: dict[str, str] = {}
        while words and (match := _ASSIGNS.fullmatch(words[0].text)):
            sets[match[1]] = match[2]
            self._set(match[1], match[2], words[0].is_sure)
            words = words[1:]
        if words and words[0].text in _DECLARES:
            for word in words[1:]:
                if match := _ASSIGNS.fullmatch(word.text):
                    sets[match[1]] = match[2]
                    self._set(match[1], match[2], word.is_sure)
        if words and words[0].text in _SETS:
            self.variables.clear()
        command.words, command.is_piped, command.sets = words, is_piped, sets
        self.commands.append(command)

    def _set(self, name: str, value: str, is_sure: bool) -> None:
        self.variables.pop(name, None)
        if is_sure:
            self.variables[name] = value

    def _redirect(self, command: Command, operator: str) -> None:
        if self.text.startswith("(", self.at):  # of a process
            self.at += 1
            self.script(")")
            command.words.append(ShellWord("/dev/fd", is_sure=False))
            return
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        start = self.at
        target = (self._words() or [ShellWord("", is_sure=False)])[0]
        if operator in ("<<", "<<-"):
            is_quoted = any(char in self.text[start : self.at] for char in "'\"\\")
            self.documents.append((command, target.text, is_quoted, operator == "<<-"))
        elif operator == "<<<":
            command.text = target.text if target.is_sure else None
            command.is_piped = not target.is_sure
        elif operator in ("<", "<&"):
            command.source = target
        elif not (operator == ">&" and (target.text.isdigit() or target.text == "-")):
            command.written.append((operator, target))

    def _read_documents(self) -> None:
        """Read the here-documents that the line before began."""
        documents, self.documents = self.documents, []
        for command, delimiter, is_quoted, is_indented in documents:
            lines = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = end + 1
                if (line.lstrip("\t") if is_indented else line) == delimiter:
                    break
                lines.append(line)
            command.text = "\n".join(lines)
            if not is_quoted:
                command.text = self._inner(command.text).quoted("").text

    def _inner(self, text: str) -> _Reader:
        return _Reader(text, self.commands, self.variables)

    def _words(self) -> list[ShellWord]:
        """Read one word; a variable outside of quotes may make several of it."""
        text, bare, sure, parts = "", "", True, list[ShellWord]()
        begun = False
        while self.at < len(self.text) and (char := self.text[self.at]) not in " \t\r\n;&|()<>":
            if char == "'":
                text += self._until("'", self.at + 1)
            elif char == '"':
                self.at += 1
                inner = self.quoted('"')
                text, sure = text + inner.text, sure and inner.is_sure
            elif char == "\\":
                text += self.text[self.at + 1 : self.at + 2].replace("\n", "")
                self.at += 2
            elif self.text.startswith("$'", self.at):
                text += self._escaped()
            elif self.text.startswith('$"', self.at):
                self.at += 1
            elif char in "$`":
                value = self._expansion()
                pieces = value.text.split() if value.is_sure else [value.text]
                if len(pieces) > 1:
                    parts += [ShellWord(text + pieces[0], sure), *map(ShellWord, pieces[1:-1])]
                    text, sure = pieces[-1], True
                else:
                    text, sure = text + "".join(pieces), sure and value.is_sure
                    begun = begun or bool(pieces)
                    continue
            else:
                text, bare = text + char, bare + char
                self.at += 1
            begun = True
        sure = sure and (text in ("[", "[[") or not _UNSURE.search(bare))
        return [*parts, ShellWord(text, sure)] if begun or not sure else parts

    def quoted(self, end: str) -> ShellWord:
        """Read up to a double quote, or to the end of the text."""
        text, sure = "", True
        while self.at < len(self.text) and (char := self.text[self.at]) != end:
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                text += self.text[self.at + 1].replace("\n", "")
                self.at += 2
            elif char in "$`":
                value = self._expansion()
                text, sure = text + value.text, sure and value.is_sure
            else:
                text += char
                self.at += 1
        if end and self.at >= len(self.text):
            raise UnreadableCommand(f"{end} is missing")
        self.at += 1
        return ShellWord(text, sure)

    def _until(self, end: str, start: int) -> str:
        at = self.text.find(end, start)
        if at < 0:
            raise UnreadableCommand(f"{end} is missing")
        self.at = at + 1
        return self.text[start:at]

    def _escaped(self) -> str:
        """Read ``$'…'``, whose escapes are those of C."""
        match = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL).match(self.text, self.at)
        if match is None:
            raise UnreadableCommand("' is missing")
        self.at = match.end()
        return match[1].encode("latin-1", "backslashreplace").decode("unicode_escape")

    def _expansion(self) -> ShellWord:
        """Read a variable or a substitution, whose commands count too."""
        if self.text[self.at] == "`":
            match = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL).match(self.text, self.at)
            if match is None:
                raise UnreadableCommand("` is missing")
            self.at = match.end()
            self._inner(re.sub(r"\\([`$\\])", r"\1", match[1])).script("")
            return ShellWord("", is_sure=False)
        self.at += 1
        if self.text.startswith("((", self.at):
            self._inner(self._until("))", self.at + 2)).quoted("")
            return ShellWord("1")
        if self.text.startswith("(", self.at):
            self.at += 1
            self.script(")")
            return ShellWord("", is_sure=False)
        if self.text.startswith("{", self.at):
            depth, start = 0, self.at + 1
            while depth >= 0:
                if self.at >= len(self.text) - 1:
                    raise UnreadableCommand("} is missing")
                self.at += 1
                depth += {"{": 1, "}": -1}.get(self.text[self.at], 0)
            inner, self.at = self.text[start : self.at], self.at + 1
            if _NAME.fullmatch(inner):
                return self._value(inner)
            self._inner(inner).quoted("")
            return ShellWord("", is_sure=False)
        name = _NAME.match(self.text, self.at)
        if name is None:
            is_special = self.text[self.at : self.at + 1] not in ("", " ", '"', "'")
            self.at += is_special
            return ShellWord("" if is_special else "$", not is_special)
        self.at = name.end()
        return self._value(name[0])

    def _value(self, name: str) -> ShellWord:
        value = self.variables.get(name)
        return ShellWord("", is_sure=False) if value is None else ShellWord(value)
