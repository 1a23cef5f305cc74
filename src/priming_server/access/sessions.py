"""Sessions of browsers: a cookie that stands for a token, and the proof that a request comes from the page itself.

The cookie is a random number, which means nothing outside of this process: the server holds the token beside its
digest, and a restart ends all sessions. The token is checked at each request, so that revoking it ends them, too.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock

from starlette.requests import cookie_parser

from priming_server.access.tokens import digest
from priming_server.responses import Refused

HEADER, VALUE = "X-Priming", "page"
"""What the page sends with each request; another site's form cannot, and its script may not."""
SAFE = ("GET", "HEAD")
"""Methods that change and call nothing."""
_BYTES = 32
MOST = 1_000
"""Sessions at once; beyond it the one that was used least recently ends."""
_RULE = "a session of the page is for its own requests: send a token instead"


class BrowserSessions:
    """The sessions of a server, in its memory. Calls may come from many threads."""

    def __init__(self) -> None:
        self._tokens: OrderedDict[bytes, str] = OrderedDict()
        self._lock = Lock()

    def begin(self, token: str) -> str:
        """Begin a session for the secret of a token; returns what its cookie contains."""
        value = secrets.token_urlsafe(_BYTES)
        with self._lock:
            self._tokens[digest(value)] = token
            while len(self._tokens) > MOST:
                self._tokens.popitem(last=False)
        return value

    def token(self, headers: Mapping[str, str]) -> str | None:
        """Return the secret of the token for which the cookie of a request stands."""
        value = cookie_parser(headers.get("cookie", "")).get(cookie_name(headers))
        with self._lock:
            own = None if value is None else digest(value)
            if own is None or own not in self._tokens:
                return None
            self._tokens.move_to_end(own)
            return self._tokens[own]

    def end(self, headers: Mapping[str, str]) -> None:
        """End the session of a request; one that is over is left alone."""
        value = cookie_parser(headers.get("cookie", "")).get(cookie_name(headers), "")
        with self._lock:
            self._tokens.pop(digest(value), None)


def cookie_name(headers: Mapping[str, str]) -> str:
    """Return the name of the cookie: browsers send a machine's cookies to all of its ports, so it has the port.

    >>> cookie_name({"host": "localhost:7777"}), cookie_name({"host": "memory.example"})
    ('priming-7777', 'priming')
    """
    port = headers.get("host", "").rpartition(":")[2]
    return f"priming-{port}" if port.isdecimal() else "priming"


def cookie(headers: Mapping[str, str], value: str) -> str:
    """Return the header that sets the cookie; an empty value takes it away."""
    over = "" if value else "; Max-Age=0"
    secure = "; Secure" if headers.get("origin", "").startswith("https://") else ""
    return f"{cookie_name(headers)}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{over}"


def check_own_page(headers: Mapping[str, str]) -> None:
    """Raise ``Refused`` unless a request comes from the page of this very server.

    The scheme is not compared, because a proxy may speak TLS for the server.
    """
    site = headers.get("sec-fetch-site", "same-origin")
    origin = headers.get("origin")
    elsewhere = origin is not None and origin.partition("://")[2].lower() != headers.get("host", "").lower()
    if site != "same-origin" or elsewhere or headers.get(HEADER.lower()) != VALUE:
        raise Refused(403, "forbidden", _RULE)
