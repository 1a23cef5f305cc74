"""The environment variables, and the location of the store.

``settings`` puts the environment between the options of a command and the files. It is read here and in
``variables`` and nowhere else:

- ``PRIMING_URL``: the store, such as ``sqlite:////home/me/memory.db``
- ``ARC_DB_PATH``: the file of the store, where ``PRIMING_URL`` is not set: for what was written for Arc
- ``PRIMING_NAMESPACE``: the namespace of the command line
- ``PRIMING_PROFILE``: the profile of the command line
- ``PRIMING_HOME``: the folder of the user's global store and settings, ``~/.priming`` if it is not set
- ``PRIMING_RETRIEVAL_…``, ``PRIMING_SERVICE_LOG_LEVEL``, ``PRIMING_SERVER_…``, ``PRIMING_MCP_TOOLS``,
  ``PRIMING_HOOKS_SERVER``: any other key of a settings file
- ``PRIMING_PROFILES_NAME_SECTION_KEY``: a constant of a profile, such as ``PRIMING_PROFILES_POC_SPREAD_GAIN``
- ``PRIMING_AGENT``: the command that the command line uses as its agent, such as ``claude -p``
- ``PRIMING_MODEL``: the endpoint and the model that it uses instead, as ``URL,NAME``
- ``PRIMING_AGENT_KEY``: the key for that endpoint
- ``PRIMING_EMBEDDER``: the embedder, such as ``semantic``
- ``PRIMING_EMBEDDER_KEY``: the key for an embedder's endpoint
- ``PRIMING_DOWNLOAD``: ``yes`` to let ``fastembed:NAME`` download a model that is not in its cache
- ``FASTEMBED_CACHE_PATH``: that cache; ``models`` in ``PRIMING_HOME`` if it is not set
- ``PRIMING_SERVER``: ``off`` to work on the file itself even if a server of the store is running
- ``PRIMING_DEBUG``: set to anything, a failing hook prints a traceback
- ``PRIMING_UNATTENDED``: set to anything, hooks ask nothing of an agent, as nobody reads what it answers; set for the
  commands of the loop
- ``CI``, ``CLAUDE_CODE_ENTRYPOINT``: set by others, to the same effect
- ``CLAUDECODE``, ``CLAUDE_PLUGIN_ROOT``, ``CLAUDE_ENV_FILE``: set by Claude Code, they say that it runs a server or a
  hook, and of which installation
- ``LC_ALL``, ``LC_TIME``, ``LANG``: the locale, which tells whether 5/7/2023 is in May or in July
- ``OPENBLAS_NUM_THREADS``: how many threads a product of numpy may use; one in a process of Priming if it is not set
- ``MEMORY_FILE_PATH``: the file that ``priming mcp --compat server-memory`` shares with the original
- ``NOTIFY_SOCKET``: set by systemd, where a server reports that it is ready and that it stops
- ``XDG_RUNTIME_DIR``: where the socket of a server is, if it cannot be beside the store
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field, replace
from importlib import import_module
from pathlib import Path

from priming.config import private_files
from priming.config.repositories import repository_root
from priming.config.store_urls import (
    FOLDER,
    Location,
    parse_url,
    place_of,
    url_of,
    with_origin,
    without_password,
)
from priming.config.values import dataclass
from priming.config.variables import UNATTENDED, server_variable
from priming.errors import ParamError

_THREADS = "OPENBLAS_NUM_THREADS"
_MONTH_FIRST = ("US", "PH", "PR", "GU", "FM", "MH", "PW")
"""The territories that write the month before the day."""
FILE, SETTINGS = "memory.db", "config.toml"
DEFAULT_PATH = Path(FOLDER) / FILE
ACTOR, USER = "PRIMING_ACTOR", "user"
QUEUED = ".queued"
"""The ending of a correction that waits, in the folder of hooks."""
OTHERS = (
    *("PRIMING_EMBEDDER_KEY", "PRIMING_DOWNLOAD", "PRIMING_DEBUG", "PRIMING_BENCH_DATA"),
    *(ACTOR, UNATTENDED),
)
"""Variables that are not settings: a key, a permission, switches of hooks, where benchmark sets are, the caller."""

_LONGEST_ACTOR = 120
_FOLDER: ContextVar[Path | None] = ContextVar("priming_folder", default=None)


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The agent to ask: a command, or an endpoint as ``URL,NAME`` with its key."""

    command: str | None = None
    model: str | None = None
    key: str | None = field(default=None, repr=False)


def default_actor() -> str:
    """Return the actor of this process, for the log: ``PRIMING_ACTOR``, or else the user."""
    return " ".join(os.environ.get(ACTOR, "").split())[:_LONGEST_ACTOR] or USER


def day_comes_first() -> bool | None:
    """Tell whether dates begin with the day where this machine stands; None where the locale names no place."""
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_TIME", "LANG"))), "")
    territory = locale.partition(".")[0].partition("_")[2]
    return territory not in _MONTH_FIRST if territory else None


def agent_settings(command: str | None = None, model: str | None = None) -> AgentSettings:
    """Return the given command or endpoint, else the environment's; without either there is no agent.

    What is given counts alone. A variable that is set to nothing is not set.
    """
    where = "--agent", "--model"
    if command is None and model is None:
        where = "PRIMING_AGENT", "PRIMING_MODEL"
        command, model = (os.environ.get(name) or None for name in where)
    if command is not None and model is not None:
        raise ParamError(
            where[0], command, f"conflicts with {where[1]}, which also names an agent: remove one of them"
        )
    return AgentSettings(command, model, os.environ.get("PRIMING_AGENT_KEY") or None)


def embedder() -> str | None:
    """Return the name of the embedder where no settings are read."""
    return os.environ.get("PRIMING_EMBEDDER") or None


def embedder_key() -> str | None:
    """Return the key for an embedder's endpoint, which is read only from the environment."""
    return os.environ.get("PRIMING_EMBEDDER_KEY") or None


def here() -> Path:
    """Return the folder in which this call works: the working directory, unless the call names another."""
    return _FOLDER.get() or Path.cwd()


@contextmanager
def working_in(folder: str | None) -> Iterator[None]:
    """Work in a folder for the block, in this thread alone; where it is gone or closed to us, stay.

    The process keeps its working directory, and holds no folder that somebody may want to remove.
    """
    chosen = None if folder is None else Path(os.path.realpath(here() / folder))
    token = _FOLDER.set(chosen if chosen is not None and os.access(chosen / ".", os.X_OK) else _FOLDER.get())
    try:
        yield
    finally:
        _FOLDER.reset(token)


def _placed(path: Path) -> Path:
    """Return a path as this call means it: relative to the folder that it names, if it names one."""
    folder = _FOLDER.get()
    return path if folder is None else folder / path


def settings_mention(key: str) -> bool:
    """Tell whether a settings file that applies here contains a word; an unreadable file counts as containing it."""
    for folder in (project_folder(), global_folder()):
        path = folder / SETTINGS
        if os.path.exists(path):
            try:
                if key in private_files.read_text(path):
                    return True
            except (OSError, ValueError):
                return True
    return False


def global_store() -> Path:
    """Return the file of the global store, for memories that apply to every project."""
    return global_folder() / FILE


def global_folder() -> Path:
    """Return the user's folder of Priming: ``PRIMING_HOME``, else ``.priming`` in the home directory."""
    folder = os.environ.get("PRIMING_HOME")
    if folder:
        return _placed(Path(os.path.expanduser(folder)))
    try:
        return Path.home() / DEFAULT_PATH.parent
    except RuntimeError:
        raise ParamError("PRIMING_HOME", folder, "must be set, because there is no home folder") from None


def notify_socket() -> str | None:
    """Return the address at which systemd waits for the state of a service of ``Type=notify``."""
    return os.environ.get("NOTIFY_SOCKET") or None


def server_wanted() -> bool:
    """Tell whether a running server of the store is used: unless ``PRIMING_SERVER`` says ``off``."""
    return _is_set("PRIMING_SERVER", server_variable(), "on", "off")


def may_download() -> bool:
    """Tell whether an embedder may download its model: only if ``PRIMING_DOWNLOAD`` says ``yes``."""
    return _is_set("PRIMING_DOWNLOAD", (os.environ.get("PRIMING_DOWNLOAD") or "no").casefold(), "yes", "no")


def _is_set(name: str, value: str, yes: str, no: str) -> bool:
    if value not in (yes, no):
        raise ParamError(name, value, f"must be {yes} or {no}")
    return value == yes


def models_folder() -> Path:
    """Return the cache of downloaded models: that of fastembed, where its variable names it, else the user's own."""
    folder = os.environ.get("FASTEMBED_CACHE_PATH")
    return Path(folder) if folder else global_folder() / "models"


def is_debugging() -> bool:
    """Tell whether a failing hook prints a traceback: if ``PRIMING_DEBUG`` is set."""
    return bool(os.environ.get("PRIMING_DEBUG"))


def is_in_claude_code() -> bool:
    """Tell whether Claude Code started this process, or a process that did."""
    return bool(os.environ.get("CLAUDECODE"))


def is_of_plugin() -> bool:
    """Tell whether this process belongs to a plugin of Claude Code."""
    return bool(os.environ.get("CLAUDE_PLUGIN_ROOT"))


def claude_servers() -> Path:
    """Return the file in which Claude Code keeps the MCP servers of the user."""
    return (folder_named("CLAUDE_CONFIG_DIR") or Path.home()) / ".claude.json"


def unattended() -> dict[str, str]:
    """Return the environment of a command whose answer goes to a program."""
    return {**os.environ, UNATTENDED: "1"}


def load_numpy() -> None:
    """Load numpy for a process of Priming: starting and waking threads would take longer than their help saves.

    What the variable says already holds, and commands that are run later are not told.
    """
    if _THREADS in os.environ or "numpy" in sys.modules:
        return
    os.environ[_THREADS] = "1"
    try:
        import_module("numpy")
    finally:
        del os.environ[_THREADS]


def folder_named(variable: str) -> Path | None:
    """Return the folder named by another program's variable, such as ``CODEX_HOME``, or None."""
    folder = os.environ.get(variable)
    return Path(folder) if folder else None


def memory_file() -> Path | None:
    """Return the file that the reference memory server of MCP is told to use, or None."""
    return None if (path := folder_named("MEMORY_FILE_PATH")) is None else path.absolute()


def hooks_folder(database: Path) -> Path:
    """Return the folder of a store's session files, in the user's own: a folder that brings a store brings none."""
    from hashlib import blake2b

    name = blake2b(os.fsencode(database), digest_size=8).hexdigest()
    return global_folder().absolute() / "hooks" / name


def database_place(location: Location) -> Path:
    """Return the path that stands for a store in a database: files that this machine has of it are beside it."""
    from hashlib import blake2b

    digest = blake2b(without_password(location.as_url()).encode(), digest_size=8).hexdigest()
    return global_folder().absolute() / "databases" / digest / "store"


def runtime_folder() -> Path:
    """Return the user's folder for runtime files, which may not exist yet."""
    import tempfile

    folder = os.environ.get("XDG_RUNTIME_DIR")
    return Path(folder, "priming") if folder else Path(tempfile.gettempdir(), f"priming-{os.getuid()}")


def locate(url: str | None) -> Location:
    """Locate the store ``url`` names; None: ``PRIMING_URL``, ``ARC_DB_PATH``, else the ``memory.db`` of the project.

    ``sqlite:///relative.db`` is relative to the working directory, ``sqlite:////absolute.db`` absolute,
    ``sqlite://`` in memory; ``?synchronous=full`` survives power loss as well as a killed process.
    ``postgresql://USER:PASSWORD@HOST:PORT/DATABASE`` is the store of a team, in the schema
    ``?schema=priming``, over at most ``?pool=16`` connections of this process. Where the working directory decides
    which file that is, the location says so: see ``Location.origin``.
    """
    if url is None:
        url = os.environ.get("PRIMING_URL", arc_store())
        url = None if url is None else led_by_folder(url)
    if url is not None:
        location = parse_url(url)
        return location if location.path is None else replace(location, path=_placed(location.path))
    folder = project_folder(store=True)
    place = place_of(folder.parent, DEFAULT_PATH)
    return Location("sqlite", folder / FILE, origin=None if _is_users(place) else place)


def led_by_folder(url: str, root: Path | None = None) -> str:
    """Return a store's URL, with its origin where a folder leads to it: a relative path, with ``root`` any path."""
    path = parse_url(url).path
    if path is None or (path.is_absolute() and root is None):
        return url
    if path.is_absolute() and root is not None and not path.is_relative_to(root):
        root = path.parent
    return with_origin(url, place_of(root or _placed(Path()), path.relative_to(root) if root else path))


def _is_users(place: str) -> bool:
    """Tell whether a place is that of the store of all projects, which no folder brings."""
    try:
        return place == place_of(global_folder().parent, Path(global_folder().name, FILE))
    except ParamError:
        return False


def arc_store() -> str | None:
    """Return the URL of the store whose path is in Arc's own variable, or None."""
    path = os.environ.get("ARC_DB_PATH")
    return url_of(Path(os.path.expanduser(path))) if path else None


def project_folder(*, store: bool = False) -> Path:
    """Return the project's ``.priming``: in the working directory, else in the nearest folder above that has one.

    It is one where it has a store or settings. The search ends at a repository's root and below the home folder,
    whose store is that of all projects. A linked work tree has that of its repository, if there is one; a ``store``
    that is still to be made is made there, as a work tree is removed with all that git ignores in it.
    """
    own = _placed(DEFAULT_PATH.parent)
    try:
        start = here()
    except FileNotFoundError:  # somebody removed it; what names its store works on all the same
        return own
    everywhere, nearest = global_folder(), None
    for folder in (start, *start.parents):
        path = folder / DEFAULT_PATH.parent
        if path == everywhere and folder != start:
            break
        if nearest is None and _is_used(path):
            nearest = own if _is_used(own) else path
        if os.path.lexists(folder / ".git"):
            shared = repository_root(folder) / DEFAULT_PATH.parent
            if shared != path and (
                nearest is None or _is_used(shared) or (store and not _has(nearest, FILE))
            ):
                return shared
            return nearest or own
    return nearest or own


def _is_used(folder: Path) -> bool:
    """Tell whether a readable folder has a store or a file of settings."""
    return _has(folder, FILE) or _has(folder, SETTINGS)


def _has(folder: Path, name: str) -> bool:
    return os.path.exists(folder / name)
