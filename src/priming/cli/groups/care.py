"""Commands on a namespace and the installation: status, checks, settings, import and export, and MCP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from priming import extensions
from priming.cli import parse, records
from priming.cli.command import FAILURE, Answer, command, group
from priming.cli.options import AgentOptions, StoreOptions, argument, flag, option
from priming.cli.output import DIM, ERROR, KEY, OK, WARN, Part, Table, line
from priming.cli.parse import complete_profiles
from priming.cli.plain import plain
from priming.config.words import TOOL_GROUPS
from priming.errors import ParamError
from priming.text.quotation import label
from priming.verbs import rows as table

if TYPE_CHECKING:
    from priming.cli.doctor import Check
    from priming.config.profiles import Profile
    from priming.config.settings import Settings
    from priming.config.settings_files import Resolved
    from priming.results import Finding, Stats, Status

_UNITS = ("bytes", "KiB", "MiB", "GiB")
_CHECK_STYLES = {"ok": OK, "warn": WARN, "fail": ERROR}

Tools = Annotated[
    str | None,
    option(
        "--tools",
        "GROUPS",
        f"Tools that MCP offers: {', '.join(TOOL_GROUPS)}; several with commas between; core by default",
        TOOL_GROUPS,
    ),
]

server_app, app = group("Server"), group("Care")
GROUPS = (server_app, app)


@command(app)
def status(store: StoreOptions) -> Answer:
    """Show the version, the namespace and profile in use, and how much is stored."""
    with store.open() as memory:
        current = memory.status()
    return Answer(current, _status(current, _server(store)))


def _server(store: StoreOptions) -> str | None:
    """Return the server at the socket of the store, in a few words, or None."""
    from priming.config.params.limits import SOCKET

    state = store.server(SOCKET.knock)
    if state is None:
        return None
    if state["ends_after"] is None:
        return f"process {state['pid']}"
    left = max(0.0, state["ends_after"] - state["idle"])
    return f"process {state['pid']}, which ends after {left / 60:.0f} minutes without a call"


def _status(status: Status, server: str | None) -> Iterator[Part]:
    rows = (
        ("priming", status.version),
        ("namespace", status.namespace),
        ("profile", status.profile),
        ("memories", f"{status.memories:,}"),
        ("links", f"{status.links:,}"),
        ("operations", f"{status.operations:,}"),
        ("embedding", status.generation),
        *([("waiting", f"{status.waiting:,} for their vectors")] if status.waiting else []),
        *([("server", server)] if server else []),
    )
    yield Table(("", ""), rows)
    yield from records.reason(status.reason)


def stats_tables(stats: Stats) -> Iterator[Part]:
    """Yield what a namespace holds."""
    rows = [
        (kind, status, f"{number:,}")
        for kind, statuses in stats.memories.items()
        for status, number in statuses.items()
    ]
    yield line("namespace  ", (stats.namespace, KEY))
    yield from records.reason(stats.reason)
    yield line()
    if rows:
        yield Table(("memories", "status", "number"), tuple(rows))
        yield line()
    if stats.links:
        yield Table(
            ("links", "number"), tuple((label(name), f"{number:,}") for name, number in stats.links.items())
        )
        yield line()
    totals = (
        ("operations", f"{stats.operations:,}"),
        ("recalls stored", f"{stats.traces:,}"),
        ("size", size(stats.bytes)),
        ("embedding", stats.generation or "none yet"),
    )
    yield Table(("", ""), totals)
    weights = [
        (label(profile), name, f"{value:g}")
        for profile, values in stats.weights.items()
        for name, value in values.items()
    ]
    if weights:
        yield line()
        yield Table(("profile", "weight", "here"), tuple(weights))


plain(app, "stats", stats_tables)


def size(number: float) -> str:
    """Return bytes in the largest unit that leaves at least one.

    >>> size(1023), size(1536)
    ('1023 bytes', '1.5 KiB')
    """
    for unit in _UNITS[:-1]:
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == _UNITS[0] else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} {_UNITS[-1]}"


def _validated(findings: Sequence[Finding]) -> Answer:
    return Answer(findings, records.findings_lines(findings), FAILURE if findings else 0)


plain(
    app,
    "validate",
    _validated,
    help="Check the store for inconsistencies. Exit status 1 if there are any.",
)


@command(app)
def doctor(store: StoreOptions) -> Answer:
    """Check the installation, and say how to repair it. Exit status 1 if a check fails."""
    from priming.cli import doctor as checks
    from priming.cli.doctor import FAIL

    results = checks.run(store)
    failed = any(check.status == FAIL for check in results)
    return Answer(results, _checks(results), FAILURE if failed else 0)


def _checks(results: Iterable[Check]) -> Iterator[Part]:
    for check in results:
        yield line((f"{check.status:<4}", _CHECK_STYLES[check.status]), f"  {check.name}  {check.detail}")
        if check.remedy:
            yield line((f"→ {check.remedy}", DIM), indent=6)


@command(app)
def config(
    store: StoreOptions,
    check: Annotated[bool, flag("--check", "Only report errors; exit status 1 if there are any")] = False,
) -> Answer:
    """Show every setting: its value, its source, and what it overrides."""
    from priming.config.settings import load, read

    options, project, constants = store.overrides(), not store.everywhere, parse.constants(store.constants)
    if check:
        errors = read(options, project=project, constants=constants)[1]
        lines = [line((error, WARN)) for error in errors] or [line(("no errors", OK))]
        return Answer(errors, lines, FAILURE if errors else 0)
    store.settings()  # says what does not count
    settings = load(options, project=project, servers=True, constants=constants)
    values = [_masked(value) for value in settings.resolved.values()]
    return Answer(values, _settings(values))


def _masked(setting: Resolved) -> Resolved:
    """Return the setting; of a secret only that it is set, and of the store's URL all but its password."""
    from priming.config.settings import SECRET, STORE
    from priming.config.store_urls import without_password

    if setting.name == STORE:
        values = [(source, url and without_password(url)) for source, url in setting.shadows]
        return replace(
            setting, value=setting.value and without_password(setting.value), shadows=tuple(values)
        )
    is_secret = setting.name == SECRET and setting.value is not None
    return replace(setting, value="set") if is_secret else setting


def _settings(settings: Sequence[Resolved]) -> Iterator[Part]:
    """Yield a table; of the server's many limits only those that are not the default."""
    from priming.config.settings_files import DEFAULT, TABLE

    names = {row.name for row in TABLE}
    rows = tuple(
        (setting.name, _value(setting.value), setting.source, _overridden(setting))
        for setting in settings
        if setting.name in names or setting.source != DEFAULT
    )
    yield Table(("setting", "value", "from", "instead of"), rows)
    if len(rows) < len(settings):
        hidden = len(settings) - len(rows)
        yield line((f"{hidden} limits of the server are the default: --json lists them too", DIM))


def _overridden(setting: Resolved) -> str:
    return ", ".join(f"{_value(value)} ({source})" for source, value in setting.shadows)


def _value(value: object) -> str:
    """Return a value in words: a list with commas, a table as names and values."""
    if isinstance(value, Mapping):
        value = tuple(value.items())
    if isinstance(value, (tuple, list)):
        items = [" ".join(map(_value, item)) if isinstance(item, tuple) else _value(item) for item in value]
        return ", ".join(items) or "none"
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


@command(app)
def profiles(
    store: StoreOptions,
    name: Annotated[
        str | None, argument("[NAME]", "Show this profile's laws and constants", complete_profiles)
    ] = None,
) -> Answer:
    """List the profiles, or show a profile: what it learns, forgets and links by, and each constant's source."""
    from priming.config import profiles as named
    from priming.config.constants import shown

    if name is None:
        return Answer(list(named.ALL.values()), _profiles(named.ALL.values()))
    settings = store.settings()
    profile = named.get(name, settings.profiles)
    constants = shown(profile, settings.resolved)
    value = {
        "name": profile.name,
        "source": profile.source,
        "laws": named.laws(profile),
        "constants": constants,
    }
    return Answer(value, _profile(profile, named.laws(profile), constants))


def _profile(profile: Profile, laws: Mapping[str, str], constants: Sequence[Resolved]) -> Iterator[Part]:
    yield line((profile.name, KEY), f"  {profile.source}")
    yield line()
    yield Table(("law", "what moves"), tuple(laws.items()))
    yield line()
    rows = ((each.name, _value(each.value), each.source, _overridden(each)) for each in constants)
    yield Table(("constant", "value", "from", "instead of"), tuple(rows))


def _profiles(profiles: Iterable[Profile]) -> Iterator[Part]:
    rows = tuple((profile.name, profile.source, profile.score) for profile in profiles)
    yield Table(("profile", "from", "score"), rows)


Compat = Annotated[
    str | None, option("--compat", "NAME", "Answer as another memory server does, such as server-memory")
]


@command(server_app)
def mcp(store: StoreOptions, tools: Tools = None, compat: Compat = None) -> Answer:
    """Serve MCP on stdin and stdout. An agent starts this command, and it ends with the agent."""
    from priming.mcp import stdio

    if store.as_json:
        raise ParamError(
            "--json", True, "cannot be combined with mcp, which has its own protocol: leave it out"
        )
    settings = store.settings()
    groups, namespace = chosen_tools(tools, settings), str(settings["store.namespace"])
    if compat is not None:
        other = conversation(compat)
        stdio.run(service=store.service, namespace=namespace, conversation=other)
        return Answer(None, ())
    stdio.run(
        service=store.service,
        namespace=namespace,
        groups=groups,
        agent=AgentOptions().load,
        url=store.location(),
    )
    return Answer(None, ())


def conversation(name: str) -> Any:
    """Return what answers as another server does, by the server's name."""
    for answering in extensions.load(extensions.CONVERSATIONS, name):
        return answering
    names = ", ".join(extensions.names(extensions.CONVERSATIONS))
    raise ParamError("--compat", name, f"must be one of {names}" if names else "no other server is installed")


def chosen_tools(tools: str | None, settings: Settings) -> str:
    """Return the groups of tools of the option, else those of the settings."""
    if tools is None:
        return str(settings["mcp.tools"])
    table.tools(tools, "--tools")
    return tools
