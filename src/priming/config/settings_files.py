"""The table of settings, and a file of them in TOML: the lines of its keys, and the checks of its values."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from hashlib import blake2b
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any

from priming.config import adoption, environment, private_files
from priming.config.store_urls import place_of
from priming.config.values import dataclass, fits, rule_of
from priming.config.words import PROFILES, TOOL_GROUPS
from priming.errors import ParamError

PROJECT, USER = "project", "user"
LONGEST = 65_536
"""Bytes of a file that is read."""
_PAIRS, _WORDS, _NUMBERS = "tuple[tuple[str, float], ...]", "tuple[str, ...]", "tuple[float, ...]"
_KINDS = {
    "str": "text, in quotes",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    _PAIRS: "a table of names and numbers",
    _WORDS: "a list of words",
    _NUMBERS: "a list of numbers",
}
"""What a value of each type is called."""


@dataclass
class File:
    """A file of settings and whose it is."""

    path: Path
    layer: str
    text: str = ""
    tables: Mapping[str, Any] = field(default_factory=dict)
    data: bytes = b""

    @property
    def content(self) -> str:
        """What the file has, as answers about it name it."""
        return f"settings {blake2b(self.data).hexdigest()}"

    @property
    def is_adopted(self) -> bool:
        """Whether the file counts: the user's own does, and that of a project if its user adopted just this text."""
        return self.layer != PROJECT or adoption.answer(self.origin, self.content) == adoption.YES

    @property
    def origin(self) -> str:
        """Where the file is, as answers about it name it."""
        return place_of(self.path.parent.parent, Path(self.path.parent.name, self.path.name))

    def read(self, violations: list[str]) -> bool:
        """Tell whether the file exists, counts and could be read; problems are appended to ``violations``."""
        if not os.path.exists(self.path):  # false also in a folder without permission
            return False
        try:
            with private_files.open_file(self.path) as file:
                self.data = file.read(LONGEST + 1)
        except OSError as error:
            if self.layer == PROJECT:  # nothing that a folder brings stops what is the user's own
                self.data = str(error).encode()
                return False
            violations.append(
                f"{self.path}: cannot be read ({error.strerror}): change its permissions, or remove it"
            )
            return False
        if not self.is_adopted:
            return False
        self.tables, problem = self.parsed()
        violations += [f"{self.path}{problem}"] if problem else []
        return not problem

    def parsed(self) -> tuple[Mapping[str, Any], str]:
        """Return the tables, and the problem that leaves them empty, if any."""
        import tomllib

        if len(self.data) > LONGEST:
            return (
                {},
                f": has more than {LONGEST:,} bytes, too long for settings: remove what is not a setting",
            )
        try:
            self.text = self.data.decode("utf-8-sig").replace("\r\n", "\n")
            return tomllib.loads(self.text), ""
        except UnicodeDecodeError as error:
            line = self.data[: error.start].count(b"\n") + 1
            return {}, f":{line}: is not UTF-8: byte 0x{self.data[error.start]:02x}: save it as UTF-8"
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            return {}, f": is not TOML: {error}"

    def place(self, *names: str) -> str:
        """Return where a section, or a key in it, is: the file and the line."""
        return f"{self.path}:{self._line(names)}"

    def _line(self, names: Sequence[str]) -> int:
        """Return the first line up to which the file is TOML and has it: exact, however it is written."""
        import tomllib

        lines = self.text.split("\n")
        for number, line in enumerate(lines, 1):
            if not ("=" in line or "[" in line or "}" in line):
                continue
            try:
                table: Any = tomllib.loads("\n".join(lines[:number]))
            except tomllib.TOMLDecodeError:
                continue
            for name in names:
                table = table.get(name) if isinstance(table, Mapping) else None
            if table is not None:
                return number
        return len(lines)


_WRONG = object()


def _literal(text: str) -> Any:
    """Return the value of an option or variable: a TOML value or a number, else a bare word."""
    import tomllib

    with suppress(ValueError):
        return tomllib.loads(f"value = {text}")["value"]
    with suppress(ValueError):
        return float(text)
    return text


def _number(value: Any) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and isfinite(value) else _WRONG


def _word(value: Any) -> Any:
    return value if isinstance(value, str) and value.strip() else _WRONG


def _list_of(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def converted(value: Any) -> Any:
        items = tuple(map(convert, value)) if isinstance(value, (list, tuple)) else (_WRONG,)
        return _WRONG if _WRONG in items else items

    return converted


def _pairs(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return _WRONG
    numbers = {str(name): _number(number) for name, number in value.items()}
    return _WRONG if any(number is _WRONG or number < 0 for number in numbers.values()) else numbers


_CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    "str": lambda value: value if isinstance(value, str) else _WRONG,
    "int": lambda value: value if isinstance(value, int) and not isinstance(value, bool) else _WRONG,
    "float": _number,
    "bool": lambda value: value if isinstance(value, bool) else _WRONG,
    _WORDS: _list_of(_word),
    _NUMBERS: _list_of(_number),
    _PAIRS: _pairs,
}
"""Each brings a value to a type, or returns ``_WRONG``."""


def _text_rule(setting: Setting, value: str) -> str:
    members = setting.range.get("members")
    if members and not {word.strip() for word in value.split(",")} <= {*members, ""}:
        return f"must be {setting.rule}"
    if setting.variable == "PRIMING_URL":
        try:
            if environment.locate(value).origin is not None:
                return "must have no origin: it is for Priming to say where a folder leads"
        except ParamError as error:
            return str(error).partition(": ")[2]
    return "" if value.strip() or setting.default == "" else "must not be blank"


def nearest(name: str, names: Collection[str]) -> str:
    """Return the nearest name, else all names, as the end of a message."""
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=1)
    if near:
        return f": did you mean {near[0]}?"
    return f": use {'one of ' if len(names) > 1 else ''}{', '.join(names)}"


DEFAULT, ENVIRONMENT = "default", "environment"


def variable(name: str) -> str:
    """Return the variable of a setting, by its name.

    >>> variable("profiles.world-weaver.plasticity.hebb_eta")
    'PRIMING_PROFILES_WORLD_WEAVER_PLASTICITY_HEBB_ETA'
    """
    return f"PRIMING_{name}".upper().replace(".", "_").replace("-", "_")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. ``type`` is that of a field, as written; empty: that of the default, a text where there is none.

    ``param`` names the field of ``priming.config.params`` that has its range, as ``Class.field``. ``within`` lists
    the layers that may set it: a project's folder may be somebody else's work and must not choose what runs here; a
    secret is never in a file.
    """

    section: str
    key: str
    default: Any = None
    variable: str = ""
    type: str = ""
    param: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    within: tuple[str, ...] = (ENVIRONMENT, PROJECT, USER)
    doc: str = ""

    @property
    def name(self) -> str:
        """Its name in messages: section and key."""
        return f"{self.section}.{self.key}"

    @property
    def environment(self) -> str:
        """Its variable."""
        return self.variable or variable(self.name)

    @property
    def kind(self) -> str:
        """The type of a value, as written."""
        own = "str" if self.default is None else type(self.default).__name__
        return self.type.removesuffix(" | None") or own

    @property
    def rule(self) -> str:
        """What a value must be, in words."""
        allowed, kind = rule_of(self.range), _KINDS[self.kind]
        if allowed == "any":
            return kind
        return f"{kind} {allowed}" if self.kind in ("int", "float") else allowed

    def check(self, value: Any, *, text: bool) -> tuple[Any, str]:
        """Return the value as its type takes it, from ``text`` of an option or variable, and the rule it breaks."""
        value = _literal(value) if text and self.kind != "str" else value
        if self.range.get("optional") and value == "none":
            return None, ""
        converted = _CONVERTERS[self.kind](value)
        if converted is _WRONG or not fits(converted, self.range):
            return value, f"must be {self.rule}"
        return converted, _text_rule(self, converted) if self.kind == "str" else ""

    @property
    def range(self) -> Mapping[str, Any]:
        """Its bounds and choices."""
        if not self.param:
            return self.about
        owner, _, name = self.param.partition(".")
        fields = getattr(import_module("priming.config.params"), owner).__dataclass_fields__
        return fields[name].metadata  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A value and its source: a file with its line, a variable, an option, or the default."""

    name: str
    value: Any
    source: str
    shadows: tuple[tuple[str, Any], ...] = ()
    """The values that it overrides, nearest first: sources and values."""

    @property
    def file(self) -> str:
        """The file that the value is from; empty for any other source."""
        return self.source.rpartition(":")[0]


LEVELS = ("debug", "info", "warning", "error")
WEIGHTS = ("weight_similarity", "weight_activation", "weight_structural")
_SHARE = {"low": 0.0, "high": 1.0}


_OWN, _SECRET = (ENVIRONMENT, USER), (ENVIRONMENT,)
_SWITCH = {"choices": ("on", "off")}

TABLE: tuple[Setting, ...] = (
    Setting("store", "url", None, "PRIMING_URL", doc="the store; in a file, relative to the file's folder"),
    Setting("store", "namespace", "default", "PRIMING_NAMESPACE", doc="the namespace"),
    Setting("store", "profile", "priming", "PRIMING_PROFILE", about={"choices": PROFILES}, doc="the profile"),
    Setting("store", "embedder", "auto", "PRIMING_EMBEDDER", within=_OWN, doc="the embedder"),
    Setting(
        "retrieval",
        "spreading_strength",
        0.85,
        about={"low": 0.0, "below": 1.0},
        doc="share of activation that a hop keeps",
    ),
    Setting("retrieval", "iterations", 3, param="SpreadParams.steps", doc="steps of spreading; 0: none"),
    Setting("retrieval", WEIGHTS[0], 0.5, about=_SHARE, doc="weight of the cosine in the score"),
    Setting("retrieval", WEIGHTS[1], 0.3, about=_SHARE, doc="of the activation"),
    Setting(
        "retrieval", WEIGHTS[2], 0.2, about=_SHARE, doc="weight of the share of incoming links in the score"
    ),
    Setting(
        "retrieval",
        "anchor_top_k_episodes",
        10,
        param="AnchorParams.episodes",
        doc="number of episodes to start from; 0: none",
    ),
    Setting(
        "retrieval",
        "anchor_top_k_facts",
        10,
        param="AnchorParams.facts",
        doc="number of other memories to start from; 0: none",
    ),
    Setting("service", "log_level", "info", about={"choices": LEVELS}, doc="debug: each step of a spread"),
    Setting("agent", "command", None, "PRIMING_AGENT", within=_OWN, doc="the command of the agent"),
    Setting("agent", "model", None, "PRIMING_MODEL", within=_OWN, doc="or the endpoint, as URL,NAME"),
    Setting("agent", "key", None, "PRIMING_AGENT_KEY", within=_SECRET, doc="the key for the endpoint"),
    Setting("store", "home", None, "PRIMING_HOME", within=_SECRET, doc="the user's folder, else ~/.priming"),
    Setting(
        "mcp", "tools", "core", within=_OWN, about={"members": TOOL_GROUPS}, doc="the tools that MCP offers"
    ),
    Setting("hooks", "server", "on", about=_SWITCH, doc="off: sessions start no server for their hooks"),
    Setting(
        "hooks", "create", "on", about=_SWITCH, doc="off: a first correction creates no store for its project"
    ),
    Setting(
        "sources",
        "follow",
        "",
        doc=f"files and folders that a session's server keeps in step, with {os.pathsep} between",
    ),
    Setting(
        "hooks",
        "capture",
        "ask",
        within=_OWN,
        about={"choices": ("off", "ask", "on")},
        doc="on: a memory of each session is stored; ask: not before `setup` was answered",
    ),
    Setting("server", "use", "on", "PRIMING_SERVER", within=_SECRET, doc="off: work on the file itself"),
    Setting("server", "host", "127.0.0.1", doc="the address on which `serve` listens"),
    Setting("server", "port", 7777, about={"low": 0, "high": 65535}, doc="its port; 0: any free port"),
)
