"""The settings of the command line and of servers: options, environment, two files in TOML, defaults, in this order.

``load`` reads and checks all of them, and records the source of each value. The files are ``config.toml`` in the
project's ``.priming`` and in the user's (``PRIMING_HOME``, else ``~/.priming``). Each key is a row of ``TABLE``; the
keys of ``[server]`` are the fields of ``ServerParams``. Every command imports this module, so it is light.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import environment
from priming.config.environment import AgentSettings
from priming.config.settings_files import (
    DEFAULT,
    ENVIRONMENT,
    PROJECT,
    TABLE,
    USER,
    WEIGHTS,
    File,
    Resolved,
    Setting,
    nearest,
)
from priming.config.store_urls import parse_url, url_of
from priming.config.values import dataclass
from priming.config.variables import own_variables
from priming.errors import ParamError, violation

if TYPE_CHECKING:
    from priming.config.params.services import ServerParams
    from priming.config.profiles import Profile


STORE, SECRET, SERVER, FOLLOWED = "store.url", "agent.key", "server", "sources.follow"
PROFILES_ROOT = "profiles"
"""``[profiles.NAME.SECTION]`` sets constants of a profile (``priming.config.constants``)."""
_PROFILE_VARIABLES, _STORE_VARIABLES = "PRIMING_PROFILES_", ("PRIMING_URL", "ARC_DB_PATH")
_REFUSED = {
    True: "must not be set in a project's file, which may come from somebody else: set {variable}, or add it to"
    " config.toml in ~/.priming",
    False: "must not be set in a file: set {variable}",
}
"""Why a value is refused, by whether it may be set in the user's file."""


@dataclass(frozen=True)
class Settings:
    """All settings with their values, by name; and the project's file, whether it counts or not."""

    resolved: Mapping[str, Resolved]
    project_file: File | None = None

    def __getitem__(self, name: str) -> Any:
        """Return the value of a setting, such as ``store.url``."""
        return self.resolved[name].value

    @property
    def store_url(self) -> str | None:
        """The URL of the store, which says if a folder leads to it: the working directory, or the project's file."""
        url, source = self[STORE], self.resolved[STORE].source
        of_project = self.project_file is not None and source.startswith(f"{self.project_file.path}:")
        if url is None or not (of_project or source in _STORE_VARIABLES):
            return None if url is None else str(url)
        file = self.project_file if of_project else None
        return environment.led_by_folder(url, None if file is None else file.path.parent.parent.absolute())

    @cached_property
    def retrieval(self) -> Mapping[str, Any]:
        """The settings of retrieval that are not the default, by key: a server and its clients compare them."""
        return {
            setting.key: self[setting.name]
            for setting in TABLE
            if setting.section == "retrieval" and self[setting.name] != setting.default
        }

    @cached_property
    def constants(self) -> Mapping[str, Any]:
        """The constants of profiles that are set, by name: a server and its clients compare them too."""
        return {
            name: setting.value
            for name, setting in self.resolved.items()
            if name.startswith(f"{PROFILES_ROOT}.") and setting.source != DEFAULT
        }

    @cached_property
    def profiles(self) -> Mapping[str, Profile]:
        """The profiles by name, ``ethos`` with the settings of retrieval, and each with the constants set for it."""
        from priming.config.profiles import ALL

        if not (self.retrieval or self.constants):
            return ALL
        from priming.config.constants import applied, of_retrieval

        return applied(applied(ALL, of_retrieval(self.retrieval)), self.constants)

    @cached_property
    def followed(self) -> tuple[Path, ...]:
        """The files and folders that servers keep in step: in a file of settings, relative to its project."""
        setting = self.resolved[FOLLOWED]
        base = Path(setting.file).parent.parent if setting.file else Path()
        paths = (Path(text.strip()).expanduser() for text in setting.value.split(os.pathsep) if text.strip())
        return tuple(base / path for path in paths)

    @cached_property
    def server(self) -> ServerParams:
        """Limits and patience of the HTTP server."""
        from priming.config.params.services import ServerParams

        return ServerParams(**{name: self[f"server.{name}"] for name in ServerParams.__dataclass_fields__})

    def agent(self, command: str | None = None, model: str | None = None) -> AgentSettings:
        """Return the agent of the options, else the environment, else the user's file; the first counts alone."""
        chosen = environment.agent_settings(command, model)
        if chosen.command is not None or chosen.model is not None:
            return chosen
        return AgentSettings(self["agent.command"], self["agent.model"], chosen.key)


@dataclass(slots=True)
class _Reading:
    """Everything read so far: the values of each setting, nearest first, and all violations."""

    table: Mapping[str, Setting]
    violations: list[str] = field(default_factory=list)
    values: dict[str, list[Resolved]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    """The settings that have an invalid value in some source."""

    def take(self, setting: Setting, value: Any, layer: str, source: str) -> None:
        """Check a value of a layer, and add it."""
        label = source if layer == ENVIRONMENT else f"{source}: {setting.name}"
        if layer not in setting.within:
            shown = "…" if setting.name == SECRET else value
            rule = _REFUSED[USER in setting.within].format(variable=setting.environment)
            self.violations.append(violation(label, shown, rule))
            return
        value, rule = setting.check(value, text=layer == ENVIRONMENT)
        if rule:
            self.violations.append(violation(label, value, rule))
            self.broken.add(setting.name)
        else:
            self.values.setdefault(setting.name, []).append(Resolved(setting.name, value, source))

    def resolve(self, setting: Setting) -> Resolved:
        """Return the nearest value of a setting, and those that it overrides."""
        first, *others = *self.values.get(setting.name, []), Resolved(setting.name, setting.default, DEFAULT)
        return replace(first, shadows=tuple((other.source, other.value) for other in others))


def load(
    options: Mapping[str, tuple[Any, str]] | None = None,
    *,
    project: bool = True,
    servers: bool = False,
    constants: Mapping[str, tuple[str, str]] | None = None,
) -> Settings:
    """Read the settings that apply here.

    Args:
        options: values of options, by setting, each with the option's name; the command has checked them.
        project: whether the project's file is read.
        servers: whether ``Settings.server`` is needed too.
        constants: texts of options that set constants of profiles, by ``NAME.SECTION.KEY``, each with the option.

    Raises:
        ParamError: everything that is wrong with the files and the environment, each with its place.

    """
    settings, violations = read(options, project=project, servers=servers, constants=constants)
    if violations:
        raise ParamError.of(violations)
    return settings


def read(
    options: Mapping[str, tuple[Any, str]] | None = None,
    *,
    project: bool = True,
    servers: bool = True,
    constants: Mapping[str, tuple[str, str]] | None = None,
) -> tuple[Settings, list[str]]:
    """Return the settings, and all violations, whose values are left out."""
    variables, violations = own_variables(), list[str]()
    existing = list(_files(project))
    files = [file for file in existing if file.read(violations)]
    of_project = next((file for file in existing if file.data and file.layer == PROJECT), None)
    named = any(SERVER in file.tables for file in files) or any(
        name.startswith(f"PRIMING_{SERVER}_".upper()) for name in variables
    )
    set_anywhere = bool(constants) or any(PROFILES_ROOT in file.tables for file in files)
    set_anywhere = set_anywhere or any(name.startswith(_PROFILE_VARIABLES) for name in variables)
    reading = _Reading(_table(servers=servers or named, profiles=set_anywhere), violations)
    for name, (value, option) in (options or {}).items():
        reading.values[name] = [Resolved(name, value, option)]
    for name, (value, option) in (constants or {}).items():
        _take_constant(reading, tuple(name.split(".")), value, ENVIRONMENT, f"{option} {name}")
    _take_environment(reading, variables)
    for file in files:
        _take_file(reading, file)
    _check_agents(reading)
    resolved = [
        reading.resolve(setting)
        for setting in reading.table.values()
        if setting.name in reading.values or not setting.name.startswith(f"{PROFILES_ROOT}.")
    ]
    settings = Settings({setting.name: setting for setting in resolved}, of_project)
    _check_weights(settings, reading)
    _check_constants(settings, reading)
    return settings, reading.violations


def _files(project: bool) -> Iterator[File]:
    """Yield the project's file and the user's, which are one in the user's own folder."""
    users, own = environment.global_folder(), environment.project_folder()
    same = os.path.exists(users) and os.path.exists(own) and os.path.samefile(own, users)
    if project and not same:
        yield File(own / environment.SETTINGS, PROJECT)
    yield File(users / environment.SETTINGS, USER)


def _table(*, servers: bool, profiles: bool = False) -> dict[str, Setting]:
    """Return all settings by name; the server's are fields of ``ServerParams``, those of profiles their constants."""
    table = {setting.name: setting for setting in TABLE}
    if servers:
        from priming.config.params.services import ServerParams

        for name, about in ServerParams.__dataclass_fields__.items():
            setting = Setting(SERVER, name, about.default, param=f"ServerParams.{name}")
            table[setting.name] = setting
    if profiles:
        from priming.config import constants

        table.update(constants.table())
    return table


def _take_environment(reading: _Reading, variables: Mapping[str, str]) -> None:
    """Take the variables; an empty one counts as unset, except the store's: it must not lead to another store."""
    settings = {setting.environment: setting for setting in reading.table.values()}
    for name, value in variables.items():
        if name in settings and (value or name == "PRIMING_URL"):
            reading.take(settings[name], value, ENVIRONMENT, name)
        elif name not in (*settings, *environment.OTHERS):
            from priming.config import constants

            near = constants.nearest_variable(name, (*settings, *environment.OTHERS))
            reading.violations.append(violation(name, value, f"is not a setting{near}"))
    arc = environment.arc_store()
    if arc is not None and "PRIMING_URL" not in variables:
        reading.take(settings["PRIMING_URL"], arc, ENVIRONMENT, "ARC_DB_PATH")


def _take_constant(reading: _Reading, names: tuple[str, ...], value: Any, layer: str, source: str) -> None:
    """Take a constant of a profile, by the names of profile, section and key."""
    from priming.config import constants

    name, rule = constants.find(names)
    setting = reading.table.get(name)
    if setting is None:
        reading.violations.append(f"{source}: {rule}")
    else:
        reading.take(setting, value, layer, source)


def _nearest_section(section: str, sections: Collection[str]) -> str:
    """Return the nearest section, as the end of a message; what is a section of profiles belongs to one of them."""
    from priming.config.constants import FIELDS

    if section in FIELDS:
        return f": write [{PROFILES_ROOT}.NAME.{section}], with the name of a profile"
    return nearest(section, sections)


def _take_file(reading: _Reading, file: File) -> None:
    sections = sorted(
        {setting.section.partition(".")[0] for setting in reading.table.values()} | {PROFILES_ROOT}
    )
    for section, table in file.tables.items():
        if section == PROFILES_ROOT:
            from priming.config.constants import constants_in

            for names, value in constants_in(table):
                _take_constant(reading, names, value, file.layer, file.place(PROFILES_ROOT, *names))
        elif section not in sections:
            rule = f"[{section}] is not a section{_nearest_section(section, sections)}"
            reading.violations.append(f"{file.place(section)}: {rule}")
        elif not isinstance(table, Mapping):
            rule = f"must be a section: write [{section}] above its keys"
            reading.violations.append(violation(f"{file.place(section)}: {section}", table, rule))
        else:
            for key, value in table.items():
                _take_key(reading, file, section, key, value)


def _take_key(reading: _Reading, file: File, section: str, key: str, value: Any) -> None:
    keys = [setting.key for setting in reading.table.values() if setting.section == section]
    source = file.place(section, key)
    if key not in keys:
        reading.violations.append(f"{source}: {section}.{key} is not a setting{nearest(key, keys)}")
        return
    setting = reading.table[f"{section}.{key}"]
    if setting.name == STORE and isinstance(value, str):
        value = _beside(file, value)
    reading.take(setting, value, file.layer, source)


def _beside(file: File, url: str) -> str:
    """Return a file's URL, a relative path resolved from the file's own folder; an invalid URL is left as it is."""
    try:
        path = parse_url(url).path
    except ParamError:
        return url
    if path is None or path.is_absolute():
        return url
    return url_of(file.path.parent.absolute() / path) + url[url.find("?") :] * ("?" in url)


def _check_agents(reading: _Reading) -> None:
    """Check that no command and endpoint come from one source; those of the environment count alone."""
    for model in reading.values.get("agent.model", []):
        for command in reading.values.get("agent.command", []):
            if model.file == command.file:
                rule = f"conflicts with {model.source}, which also names an agent: remove one of them"
                reading.violations.append(violation(command.source, command.value, rule))
    agents = [reading.values[name] for name in ("agent.command", "agent.model") if name in reading.values]
    if any(not value.file for values in agents for value in values):
        for values in agents:
            values[:] = [value for value in values if not value.file]


def _check_constants(settings: Settings, reading: _Reading) -> None:
    """Check that the constants of a profile fit together: its blends sum to 1, its bounds are in order."""
    if not settings.constants or reading.broken:
        return
    try:
        _ = settings.profiles
    except ParamError as error:
        reading.violations.extend(error.violations)


def _check_weights(settings: Settings, reading: _Reading) -> None:
    """Check that the weights sum to 1, whatever their sources."""
    names = [f"retrieval.{key}" for key in WEIGHTS]
    if not reading.values.keys() & set(names) or reading.broken & set(names):
        return
    from priming.config.params.laws import SCORE

    weights = [settings.resolved[name] for name in names]
    total = fsum(weight.value for weight in weights)
    if not abs(total - 1.0) <= SCORE.tolerance:
        shares = ", ".join(f"{weight.name} {weight.value:g} ({weight.source})" for weight in weights)
        reading.violations.append(f"weights must sum to 1, not {total:g}: {shares}")
