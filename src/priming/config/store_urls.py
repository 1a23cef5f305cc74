"""The URLs of stores: what they name, and how they are shown."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from priming.config.values import dataclass
from priming.errors import ParamError

SYNCHRONOUS = ("normal", "full")
FOLDER = ".priming"
"""The folder of a project's store and settings."""
_DATABASE = re.compile(r"postgres(?:ql)?:", re.IGNORECASE)
_SHAPE = re.compile(
    r"[a-z]+://(?P<authority>[^/?#\s]*)(?P<path>/[^?#@\s]*)?(?:\?(?P<query>[^#\s]*))?", re.IGNORECASE
)
_HOST = re.compile(r"(?:\[[\w:.%]+\]|[^\[\]:]*)(?::\d{0,5})?", re.IGNORECASE)
_SCHEMA = re.compile(r"[A-Za-z_]\w{0,62}", re.ASCII)
_PASSWORD = re.compile(r"(://[^:/@]{0,200}:).+", re.DOTALL)
_PARAMETER = re.compile(r"(?<=[?&])([^=&?]+)=[^&]*")
_SECRET = "password", "sslpassword"
_MOST_CONNECTIONS = 10_000
_HOME, _QUOTED_HOME = "~", "%7E"


@dataclass(frozen=True, slots=True)
class Location:
    """A parsed store URL: ``path`` is None for a store in memory, and ``url`` for one in a file.

    ``origin`` is the place of a file to which a folder led: it counts as the user's own only if this machine made or
    adopted it, and no link of the folder leads elsewhere (``priming.config.adoption``).
    """

    scheme: str
    path: Path | None
    synchronous: str = "normal"
    url: str | None = None
    schema: str = "priming"
    pool: int | None = None
    origin: str | None = None

    def as_url(self) -> str:
        """Return the URL of a store in a file or in a database, with all that the location says."""
        if self.url is not None:
            pool = "" if self.pool is None else f"&pool={self.pool}"
            return f"{self.url}{'&' if '?' in self.url else '?'}schema={self.schema}{pool}"
        assert self.path is not None
        origin = "" if self.origin is None else f"&origin={quote(self.origin)}"
        return f"{url_of(self.path)}?synchronous={self.synchronous}{origin}"


def url_of(path: Path) -> str:
    """Return the URL of a store in a file; ``parse_url`` gives the path back."""
    return f"sqlite:///{quote(str(path)).replace(_HOME, _QUOTED_HOME)}"


def with_origin(url: str, origin: str) -> str:
    """Return the URL of a store in a file to which a folder led, with its place."""
    return f"{url}{'&' if '?' in url else '?'}origin={quote(origin)}"


def place_of(root: Path, path: Path) -> str:
    """Return the place of a file of a folder, ``root``: links to the folder are followed, links in it are not.

    A link in a folder is part of what the folder brings: by it a clone could name another project's store.
    """
    with suppress(FileNotFoundError):  # the working directory was removed
        root = Path(os.path.realpath(root if root.is_absolute() else Path.cwd() / root))
    return os.path.normpath(root / path)


def without_password(url: str) -> str:
    """Return a URL as it may be shown.

    >>> without_password("postgresql://ann:secret@db/team?sslpassword=secret")
    'postgresql://ann:***@db/team?sslpassword=***'
    """

    def shown(parameter: re.Match[str]) -> str:
        return f"{parameter[1]}=***" if unquote(parameter[1]) in _SECRET else parameter[0]

    shape = _SHAPE.fullmatch(url)
    is_whole = shape is not None and all(
        map(_HOST.fullmatch, shape["authority"].rpartition("@")[2].split(","))
    )
    end = shape.end("authority") if shape and is_whole else len(url)  # a sign @ behind it ends no password
    user, at, rest = url[:end].rpartition("@")
    rest += url[end:]
    return _PARAMETER.sub(shown, _PASSWORD.sub(r"\1***", user) + at + rest)


def parse_url(url: str) -> Location:
    """Return the store that a URL names: in a file, in memory, or in a PostgreSQL database.

    Raises
    ------
    ParamError : a URL that names no store; without its password.
    """
    return _database(url) if _DATABASE.match(url) else _sqlite(url)


def _sqlite(url: str) -> Location:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    is_file = parts.path in ("", "/") or (parts.path.startswith("/") and not parts.path.endswith("/"))
    if parts.scheme != "sqlite" or parts.netloc or not is_file:
        raise ParamError(
            "url",
            without_password(url),
            "must be sqlite:///relative.db, sqlite:////absolute.db, sqlite:// or postgresql://USER@HOST/DATABASE",
        )
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    synchronous = options.pop("synchronous", "normal").lower()
    origin = options.pop("origin", None)
    if options or synchronous not in SYNCHRONOUS or "#" in url:
        rule = "takes one option: ?synchronous=normal or ?synchronous=full; ? and # of a path are %3F and %23"
        raise ParamError("url", url, rule)
    path = unquote(parts.path)
    if parts.path.startswith(f"/{_HOME}"):
        try:
            path = f"/{Path(path[1:]).expanduser()}"
        except RuntimeError:
            rule = f"names no user's home folder: a file whose name begins with ~ is {_QUOTED_HOME}"
            raise ParamError("url", url, rule) from None
    if path == "/:memory:":
        raise ParamError("url", url, "would be a file of that name: a store in memory is sqlite://")
    if "\x00" in path:
        raise ParamError("url", url, "must not contain the NUL character")
    file = Path(path[1:]) if path not in ("", "/") else None
    return Location("sqlite", file, synchronous, origin=origin)


def _database(url: str) -> Location:
    """Return a store in PostgreSQL: ``?schema=`` and ``?pool=`` are ours, all else is libpq's."""

    def refuse(rule: str) -> ParamError:
        return ParamError("url", without_password(url), rule)

    shape = _SHAPE.fullmatch(url)
    user, _, hosts = shape["authority"].rpartition("@") if shape else ("", "", "")
    if shape is None or "@" in user or not all(map(_HOST.fullmatch, hosts.split(","))):
        raise refuse(
            "must be postgresql://USER:PASSWORD@HOST:PORT/DATABASE, of which parts may be missing;"
            " blanks and the signs @ : / ? # within a part are written %20, %40, %3A, %2F, %3F, %23"
        )
    parameters = [text.partition("=") for text in (shape["query"] or "").split("&") if text]
    if not all(sign for _, sign, _ in parameters):
        raise refuse("must have parameters of the form ?NAME=VALUE&NAME=VALUE")
    own = {name: unquote(value) for name, _, value in parameters if name in ("schema", "pool")}
    schema, pool = own.get("schema", "priming"), own.get("pool", "0")
    if not _SCHEMA.fullmatch(schema):
        raise refuse("must have a ?schema= of letters, digits and _, which begins with no digit")
    if (
        not pool.isascii()
        or not pool.isdecimal()
        or ("pool" in own and not 1 <= int(pool[:6]) <= _MOST_CONNECTIONS)
    ):
        raise refuse(f"must have a ?pool= from 1 to {_MOST_CONNECTIONS}")
    others = "&".join("".join(parameter) for parameter in parameters if parameter[0] not in own)
    plain = f"postgresql://{shape['authority']}{shape['path'] or ''}{'?' * bool(others)}{others}"
    return Location("postgresql", None, url=plain, schema=schema, pool=int(pool) or None)
