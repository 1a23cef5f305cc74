"""Where Priming's settings come from: arguments first, then the environment, then defaults.

The environment is read here and nowhere else:

- ``PRIMING_URL``: the store, such as ``sqlite:////home/me/memory.db``
- ``PRIMING_NAMESPACE``: the namespace of the command line
- ``PRIMING_PROFILE``: the profile of the command line
- ``PRIMING_HOME``: the folder of the user's global store, ``~/.priming`` if it is not set
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from priming.errors import ParamError

FILE = "memory.db"
DEFAULT_PATH = Path(".priming") / FILE
SYNCHRONOUS = ("normal", "full")


@dataclass(frozen=True, slots=True)
class Location:
    """A parsed store URL: ``path`` is None for a store in memory."""

    scheme: str
    path: Path | None
    synchronous: str = "normal"


def setting(name: str, given: str | None, default: str) -> str:
    """An argument if given, else ``PRIMING_<NAME>``, else the default."""
    return given or os.environ.get(f"PRIMING_{name.upper()}") or default


def global_store() -> Path:
    """The file of what holds in every project: in ``PRIMING_HOME``, else in ``.priming`` in the user's home."""
    folder = os.environ.get("PRIMING_HOME")
    if folder:
        return Path(folder) / FILE
    try:
        return Path.home() / DEFAULT_PATH
    except RuntimeError:
        raise ParamError("PRIMING_HOME", folder, "must be set, since there is no home folder") from None


def url_of(path: Path) -> str:
    """The URL of a store in a file; ``locate`` gives the path back."""
    return f"sqlite:///{quote(str(path))}"


def locate(url: str | None) -> Location:
    """The store that ``url`` names; None means ``PRIMING_URL``, else the project's ``.priming/memory.db``.

    ``sqlite:///relative.db`` is relative to the working directory, ``sqlite:////absolute.db`` absolute,
    ``sqlite://`` in memory; ``?synchronous=full`` survives power loss as well as a killed process.
    """
    url = os.environ.get("PRIMING_URL") if url is None else url
    if url is None:
        return Location("sqlite", _of_project())
    parts = urlsplit(url)
    if parts.scheme != "sqlite" or parts.netloc:
        raise ParamError("url", url, "must be sqlite:///relative.db, sqlite:////absolute.db or sqlite://")
    options = dict(parse_qsl(parts.query))
    synchronous = options.pop("synchronous", "normal").lower()
    if options or synchronous not in SYNCHRONOUS:
        raise ParamError("url", url, "takes one option: ?synchronous=normal or ?synchronous=full")
    path = unquote(parts.path)
    if path == "/:memory:":
        raise ParamError("url", url, "would be a file of that name: a store in memory is sqlite://")
    if "\x00" in path:
        raise ParamError("url", url, "must not contain the NUL character")
    return Location("sqlite", Path(path[1:]) if path not in ("", "/") else None, synchronous)


def _of_project() -> Path:
    """The project's store: in the working directory, else in the nearest folder above that has one.

    The search ends at a repository's root and below the home folder, whose store is that of all projects.
    """
    if DEFAULT_PATH.exists():
        return DEFAULT_PATH
    here = Path.cwd()
    everywhere = global_store()
    for folder in (here, *here.parents):
        path = folder / DEFAULT_PATH
        if path == everywhere or path.parent == everywhere.parent:
            break
        if path.exists():
            return path
        if (folder / ".git").exists():
            break
    return DEFAULT_PATH
