"""The settings of the command line and of servers: options, environment, two files in TOML, defaults, in this order.

``load`` reads them all, checks them all, and keeps where each comes from. The files are ``config.toml`` in the
project's ``.priming`` and in the user's (``PRIMING_HOME``, else ``~/.priming``). What a key may be is a line of
``TABLE``; the keys of ``[server]`` are those of ``ServerParams``. Light to import: each command does.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from math import fsum
from typing import TYPE_CHECKING, Any

from priming.config import environment
from priming.config.environment import AgentSettings
from priming.config.settings_files import PROJECT, USER, File, checked, nearest
from priming.errors import ParamError, violation
from priming.words import PROFILES

if TYPE_CHECKING:
    from priming.config.params.server import ServerParams
    from priming.config.profiles import Profile

DEFAULT, ENVIRONMENT = "default", "environment"
LEVELS = ("debug", "info", "warning", "error")
WEIGHTS = ("weight_similarity", "weight_activation", "weight_structural")
_SHARE = {"low": 0.0, "high": 1.0}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. ``param`` names the field of ``priming.params`` that has its range, as ``Class.field``.

    ``within`` says where it may stand: a project's folder may be somebody else's work, and must not choose what runs
    here; a secret stands in no file.
    """

    section: str
    key: str
    kind: type
    default: Any = None
    variable: str = ""
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
        return self.variable or f"PRIMING_{self.section}_{self.key}".upper()

    @property
    def range(self) -> Mapping[str, Any]:
        """What it may be: bounds and choices."""
        if not self.param:
            return self.about
        owner, _, name = self.param.partition(".")
        fields = getattr(import_module("priming.params"), owner).__dataclass_fields__
        return fields[name].metadata  # type: ignore[no-any-return]


_OWN, _ASKED = (ENVIRONMENT, USER), (ENVIRONMENT,)

TABLE: tuple[Setting, ...] = (
    Setting(
        "store", "url", str, None, "PRIMING_URL", doc="the store; in a file, relative to the file's folder"
    ),
    Setting("store", "namespace", str, "default", "PRIMING_NAMESPACE", doc="the namespace"),
    Setting(
        "store", "profile", str, "priming", "PRIMING_PROFILE", about={"choices": PROFILES}, doc="the profile"
    ),
    Setting("store", "embedder", str, "wordllama", "PRIMING_EMBEDDER", within=_OWN, doc="what makes vectors"),
    Setting(
        "retrieval",
        "spreading_strength",
        float,
        0.85,
        param="SpreadParams.gain",
        doc="of activation that a hop keeps",
    ),
    Setting("retrieval", "iterations", int, 3, param="SpreadParams.steps", doc="steps of spreading; 0: none"),
    Setting("retrieval", WEIGHTS[0], float, 0.5, about=_SHARE, doc="of the cosine in the score"),
    Setting("retrieval", WEIGHTS[1], float, 0.3, about=_SHARE, doc="of the activation"),
    Setting("retrieval", WEIGHTS[2], float, 0.2, about=_SHARE, doc="of the share of links that lead there"),
    Setting(
        "retrieval",
        "anchor_top_k_episodes",
        int,
        10,
        param="AnchorParams.episodes",
        doc="episodes to begin at",
    ),
    Setting("retrieval", "anchor_top_k_facts", int, 10, param="AnchorParams.facts", doc="others to begin at"),
    Setting(
        "service", "log_level", str, "info", about={"choices": LEVELS}, doc="debug: each step of a spread"
    ),
    Setting("agent", "command", str, None, "PRIMING_AGENT", within=_OWN, doc="the command that is asked"),
    Setting("agent", "model", str, None, "PRIMING_MODEL", within=_OWN, doc="or the endpoint, as URL,NAME"),
    Setting(
        "agent",
        "key",
        str,
        None,
        "PRIMING_AGENT_KEY",
        within=_ASKED,
        doc="what the endpoint knows its user by",
    ),
    Setting(
        "store", "home", str, None, "PRIMING_HOME", within=_ASKED, doc="the user's folder, else ~/.priming"
    ),
    Setting("server", "use", str, "on", "PRIMING_SERVER", within=_ASKED, doc="off: work on the file itself"),
    Setting("server", "host", str, "127.0.0.1", doc="the address that `serve` listens at"),
    Setting(
        "server", "port", int, 7777, about={"low": 0, "high": 65535}, doc="its port; 0: any that is free"
    ),
)
STORE, SECRET, SERVER = "store.url", "agent.key", "server"
_PREFIXES = ("PRIMING_RETRIEVAL_", "PRIMING_SERVICE_", "PRIMING_SERVER_", "PRIMING_STORE_")
"""Variables of these names are settings, or mistakes."""
_REFUSED = {
    True: "must not stand in a project's file, whose folder may be another's work: set {variable}, or write it in"
    " config.toml in ~/.priming",
    False: "must not stand in a file: set {variable}",
}
"""Why a value is refused where it stands, by whether it may stand in the user's file."""


@dataclass(frozen=True, slots=True)
class Found:
    """A value and where it comes from: a file with its line, a variable, an option, or the default."""

    name: str
    value: Any
    source: str
    shadows: tuple[tuple[str, Any], ...] = ()
    """What it stands before, nearest first: sources and their values."""


@dataclass(frozen=True)
class Settings:
    """All settings with their values, by name."""

    found: Mapping[str, Found]

    def __getitem__(self, name: str) -> Any:
        """The value of a setting, such as ``store.url``."""
        return self.found[name].value

    @cached_property
    def retrieval(self) -> Mapping[str, Any]:
        """The settings of retrieval that are not the default, by key: as a server and its clients compare them."""
        own = [one for one in TABLE if one.section == "retrieval"]
        return {one.key: self[one.name] for one in own if self[one.name] != one.default}

    @cached_property
    def profiles(self) -> Mapping[str, Profile]:
        """The profiles by name, ``ethos`` as the settings of retrieval have it."""
        from dataclasses import replace

        from priming.config.profiles import ALL

        ethos, value = ALL["ethos"], {one.key: self[one.name] for one in TABLE if one.section == "retrieval"}
        blend = tuple(zip(("cosine", "spread", "in_degree"), (value[one] for one in WEIGHTS), strict=True))
        assert ethos.anchors is not None, "Ethos starts from anchors of its own"
        changed = replace(
            ethos,
            spread=replace(ethos.spread, gain=value["spreading_strength"], steps=value["iterations"]),
            scoring=replace(ethos.scoring, ethos=blend),
            anchors=replace(
                ethos.anchors, episodes=value["anchor_top_k_episodes"], facts=value["anchor_top_k_facts"]
            ),
        )
        return {**ALL, "ethos": changed}

    @cached_property
    def server(self) -> ServerParams:
        """Limits and patience of the HTTP server."""
        from priming.config.params.server import ServerParams

        return ServerParams(**{name: self[f"server.{name}"] for name in ServerParams.__dataclass_fields__})

    def agent(self, command: str | None = None, model: str | None = None) -> AgentSettings:
        """The agent that options name, else the environment, else the user's file; the first counts alone."""
        chosen = environment.agent_settings(command, model)
        if chosen.command is not None or chosen.model is not None:
            return chosen
        return AgentSettings(self["agent.command"], self["agent.model"], chosen.key)


@dataclass(frozen=True, slots=True)
class _Given:
    """A value that a source has."""

    value: Any
    source: str


@dataclass(slots=True)
class _Reading:
    """What was read so far: for each setting its values, nearest first, and all that is wrong."""

    table: Mapping[str, Setting]
    given: dict[str, list[_Given]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    """The settings of which some value is wrong."""

    def take(self, one: Setting, value: Any, layer: str, source: str) -> None:
        """Check a value that a layer has, and keep it."""
        label = source if layer == ENVIRONMENT else f"{source}: {one.name}"
        if layer not in one.within:
            secret = one.name == SECRET
            rule = _REFUSED[USER in one.within].format(variable=one.environment)
            self.wrong.append(violation(label, "…" if secret else value, rule))
            return
        value, broken = checked(one, value, text=layer == ENVIRONMENT)
        if broken:
            self.wrong.append(violation(label, value, broken))
            self.broken.add(one.name)
        else:
            self.given.setdefault(one.name, []).append(_Given(value, source))


def load(
    options: Mapping[str, tuple[Any, str]] | None = None, *, project: bool = True, servers: bool = False
) -> Settings:
    """Read the settings that hold here.

    Args:
        options: values that options gave, by setting, each with the option's name; what takes them checks them.
        project: whether the project's file is read.
        servers: whether ``Settings.server`` is wanted too.

    Raises:
        ParamError: everything that is wrong with the files and the environment, each with its place.

    """
    found, wrong = read(options, project=project, servers=servers)
    if wrong:
        raise ParamError.of(wrong)
    return found


def read(
    options: Mapping[str, tuple[Any, str]] | None = None, *, project: bool = True, servers: bool = True
) -> tuple[Settings, list[str]]:
    """The settings, and all that is wrong with them, which is left out of them."""
    variables, wrong = environment.variables(), list[str]()
    files = [one for one in _files(project) if one.read(wrong)]
    named = any(SERVER in one.tables for one in files) or any(map(_is_of_server, variables))
    reading = _Reading(_table(servers=servers or named), wrong=wrong)
    for name, (value, option) in (options or {}).items():
        reading.given[name] = [_Given(value, option)]
    _take_environment(reading, variables)
    for one in files:
        _take_file(reading, one)
    _check_agents(reading)
    settings = Settings(
        {one.name: _found(one, reading.given.get(one.name, [])) for one in reading.table.values()}
    )
    _check_weights(settings, reading)
    return settings, reading.wrong


def _files(project: bool) -> Iterator[File]:
    """The project's file and the user's, which are one in the user's own folder."""
    users = environment.global_folder()
    own = environment.project_folder()
    one = os.path.exists(users) and os.path.exists(own) and os.path.samefile(own, users)
    if project and not one:
        yield File(own / environment.SETTINGS, PROJECT)
    yield File(users / environment.SETTINGS, USER)


def _is_of_server(variable: str) -> bool:
    return variable.startswith(f"PRIMING_{SERVER}_".upper())


def _table(*, servers: bool) -> dict[str, Setting]:
    """All settings by name; those of the server are the parameters of ``ServerParams``."""
    found = {one.name: one for one in TABLE}
    if servers:
        from priming.config.params.server import ServerParams

        for name, about in ServerParams.__dataclass_fields__.items():
            kind = int if str(about.type) == "int" else float
            doc = about.metadata["doc"]
            one = Setting(SERVER, name, kind, about.default, param=f"ServerParams.{name}", doc=doc)
            found[one.name] = one
    return found


def _take_environment(reading: _Reading, variables: Mapping[str, str]) -> None:
    """A variable that is set to nothing is not set, but for the store: it must not lead to another one."""
    known = {one.environment: one for one in reading.table.values()}
    for name, value in variables.items():
        if name in known and (value or name == "PRIMING_URL"):
            reading.take(known[name], value, ENVIRONMENT, name)
        elif name not in known and name.startswith(_PREFIXES):
            reading.wrong.append(violation(name, value, f"is no setting{nearest(name, known)}"))
    arc = environment.arc_store()
    if arc is not None and "PRIMING_URL" not in variables:
        reading.take(known["PRIMING_URL"], arc, ENVIRONMENT, "ARC_DB_PATH")


def _take_file(reading: _Reading, file: File) -> None:
    sections = {one.section for one in reading.table.values()}
    for section, table in file.tables.items():
        if section not in sections:
            said = f"{file.place(section)}: [{section}] is no section{nearest(section, sections)}"
            reading.wrong.append(said)
        elif not isinstance(table, Mapping):
            rule = f"must be a section: write [{section}] above its keys"
            reading.wrong.append(violation(f"{file.place(section)}: {section}", table, rule))
        else:
            for key, value in table.items():
                _take_key(reading, file, section, key, value)


def _take_key(reading: _Reading, file: File, section: str, key: str, value: Any) -> None:
    known = [one.key for one in reading.table.values() if one.section == section]
    source = file.place(section, key)
    if key not in known:
        reading.wrong.append(f"{source}: {section}.{key} is no setting{nearest(key, known)}")
        return
    one = reading.table[f"{section}.{key}"]
    if one.name == STORE and isinstance(value, str):
        value = _beside(file, value)
    reading.take(one, value, file.layer, source)


def _beside(file: File, url: str) -> str:
    """A URL of a file, a relative path taken from the file's own folder; what is none is left to be refused."""
    try:
        where = environment.locate(url)
    except ParamError:
        return url
    if where.path is None or where.path.is_absolute():
        return url
    return environment.url_of(file.path.parent.absolute() / where.path) + url[url.find("?") :] * ("?" in url)


def _found(one: Setting, given: Iterable[_Given]) -> Found:
    first, *others = [*given, _Given(one.default, DEFAULT)]
    return Found(one.name, first.value, first.source, tuple((other.source, other.value) for other in others))


def _check_agents(reading: _Reading) -> None:
    """A command and an endpoint of one source are one agent too many; those of the environment count alone."""
    for one in reading.given.get("agent.model", []):
        for other in reading.given.get("agent.command", []):
            if _file_of(one) == _file_of(other):
                rule = f"cannot stand with {one.source}, which names an agent too: leave one out"
                reading.wrong.append(violation(other.source, other.value, rule))
    agents = [reading.given[name] for name in ("agent.command", "agent.model") if name in reading.given]
    if any(not _file_of(one) for given in agents for one in given):
        for given in agents:
            given[:] = [one for one in given if not _file_of(one)]


def _file_of(one: _Given) -> str:
    """The file that a value is from; none for a variable."""
    return one.source.rpartition(":")[0]


def _check_weights(settings: Settings, reading: _Reading) -> None:
    """Weights sum to 1, wherever each of them is from."""
    names = [f"retrieval.{key}" for key in WEIGHTS]
    if not reading.given.keys() & set(names) or reading.broken & set(names):
        return
    from priming.config.params.laws import SCORE

    weights = [settings.found[name] for name in names]
    total = fsum(one.value for one in weights)
    if not abs(total - 1.0) <= SCORE.tolerance:
        told = ", ".join(f"{one.name} {one.value:g} ({one.source})" for one in weights)
        reading.wrong.append(f"weights must sum to 1, not {total:g}: {told}")
