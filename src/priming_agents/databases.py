"""A store in a database, as hooks use it: a folder of this machine for their files, and a note while it is away.

Light to import: a hook that hands its work to the session's server loads no driver.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from priming.config import environment, private_files
from priming.config.params.hooks import HOOK
from priming.config.store_urls import Location, without_password

_AWAY = ".away"


class DatabaseAway(Exception):
    """A database that does not answer, said to the user once."""


def place_of(location: Location) -> Path:
    """The file that stands for a store in a database: the hooks' files are beside it, as beside a store in a file.

    It says which store that is, without a password.
    """
    path = environment.database_place(location)
    if not path.exists():
        with suppress(OSError):
            private_files.make_folder(path.parent)
            path.write_text(f"{without_password(location.as_url())}\n", "utf-8")
    return path


def hook_url(location: Location) -> str:
    """The URL of a store that gives up a connection in time for a hook."""
    url = location.as_url()
    if "connect_timeout=" in url:
        return url
    return f"{url}{'&' if '?' in url else '?'}connect_timeout={HOOK.connect}"


def is_away(database: Path) -> bool:
    """Whether a database did not answer a moment ago, so that it is not asked again yet."""
    try:
        age = time.time() - Path(f"{database}{_AWAY}").stat().st_mtime
    except OSError:
        return False
    return 0 <= age < HOOK.away


def note_away(database: Path) -> bool:
    """Note that a database does not answer; whether it did until now."""
    note = Path(f"{database}{_AWAY}")
    is_new = not note.exists()
    with suppress(OSError):
        note.touch()
    return is_new


def note_back(database: Path) -> None:
    """Forget that a database did not answer."""
    with suppress(OSError):
        Path(f"{database}{_AWAY}").unlink()
