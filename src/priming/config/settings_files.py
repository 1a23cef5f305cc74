"""A file of settings: read as TOML, its lines found, its values checked against what a setting may be."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import environment
from priming.config.params.checked import rule_of
from priming.errors import ParamError

if TYPE_CHECKING:
    from priming.config.settings import Setting

PROJECT, USER = "project", "user"
LONGEST = 65_536
"""Bytes of a file that is read."""
_KINDS = {str: "text, in quotes", int: "a whole number", float: "a number"}


@dataclass
class File:
    """A file of settings and whose it is."""

    path: Path
    layer: str
    text: str = ""
    tables: Mapping[str, Any] = field(default_factory=dict)

    def read(self, wrong: list[str]) -> bool:
        """Whether there is one that could be read; what is wrong with it goes to ``wrong``."""
        if not os.path.exists(self.path):  # nor is there one in a folder that nobody may look into
            return False
        try:
            with self.path.open("rb") as file:
                data = file.read(LONGEST + 1)
        except OSError as error:
            wrong.append(f"{self.path}: cannot be read ({error.strerror}): mend its rights, or remove it")
            return False
        broken = self._parse(data)
        wrong += [f"{self.path}{broken}"] if broken else []
        return not broken

    def _parse(self, data: bytes) -> str:
        """Take the tables of a file; what is wrong with it, if anything."""
        import tomllib

        if len(data) > LONGEST:
            return f": is over {LONGEST:,} bytes, too long for settings: leave out what is none"
        try:
            self.text = data.decode("utf-8-sig").replace("\r\n", "\n")
            self.tables = tomllib.loads(self.text)
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            return f":{line}: is no UTF-8: the byte 0x{data[error.start]:02x} stands there"
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            return f": is no TOML: {error}"
        return ""

    def place(self, section: str, key: str | None = None) -> str:
        """Where a section, or a key in it, is: the file and the line."""
        return f"{self.path}:{self._line(section, key)}"

    def _line(self, section: str, key: str | None) -> int:
        """The first line up to which the file is TOML and has it: exact, however it is written."""
        import tomllib

        lines = self.text.split("\n")
        for number, line in enumerate(lines, 1):
            if not ("=" in line or "[" in line or "}" in line):
                continue
            try:
                table = tomllib.loads("\n".join(lines[:number])).get(section)
            except tomllib.TOMLDecodeError:
                continue
            if table is not None and (key is None or (isinstance(table, Mapping) and key in table)):
                return number
        return len(lines)


def checked(one: Setting, value: Any, *, text: bool) -> tuple[Any, str]:
    """A value as its kind, out of ``text`` where it is a variable's; and the rule that it breaks, if any."""
    if text:
        try:
            value = one.kind(value)
        except ValueError:
            return value, f"must be {_KINDS[one.kind]}"
    kinds = (int, float) if one.kind is float else (one.kind,)
    if not isinstance(value, kinds) or isinstance(value, bool):
        return value, f"must be {_KINDS[one.kind]}"
    if isinstance(value, str):
        return value, _text_rule(one, value)
    value = one.kind(value)
    about = one.range
    low, high = about.get("low"), about.get("high")
    outside = (low is not None and value < low) or (high is not None and value > high)
    return value, f"must be {rule_of(about)}" if outside or not isfinite(value) else ""


def _text_rule(one: Setting, value: str) -> str:
    choices = one.range.get("choices")
    if choices and value not in choices:
        return f"must be one of {', '.join(choices)}"
    if one.variable == "PRIMING_URL":
        try:
            environment.locate(value)
        except ParamError as error:
            return str(error).partition(": ")[2]
    return "" if value.strip() else "must not be blank"


def nearest(name: str, known: Collection[str]) -> str:
    """What was probably meant, as the end of a message."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    if near:
        return f": did you mean {near[0]}?"
    return f": there {'is' if len(known) == 1 else 'are'} {', '.join(known)}"
