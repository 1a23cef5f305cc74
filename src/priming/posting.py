"""JSON to an endpoint and its answer back, with patience: what agents and embedders behind one have in common.

Needs the extra ``openai``. Redirects are not followed, so that a key goes nowhere but to its endpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from priming.errors import MissingExtra, ParamError, PrimingError, shown

if TYPE_CHECKING:
    from httpx2 import Client, Response

EXTRA, LIBRARY = "openai", "httpx2"
_DONE = 200
_BUSY, _BROKEN = 429, 500
"""Too many requests; and from here on, the endpoint's own troubles: both may pass."""


class Patience(Protocol):
    """How long an endpoint may take, and how much it may say: the parameters of who asks it."""

    @property
    def timeout(self) -> float:
        """Seconds for one answer, repetitions included."""
        ...

    @property
    def connect(self) -> float:
        """Seconds until a connection is taken."""
        ...

    @property
    def output(self) -> int:
        """Most bytes of an answer."""
        ...

    @property
    def retries(self) -> int:
        """How often a request is sent again."""
        ...

    @property
    def pause(self) -> float:
        """Seconds before the first of these; each next waits twice as long."""
        ...

    @property
    def longest_pause(self) -> float:
        """Longest of these."""
        ...

    @property
    def repeated(self) -> int:
        """Most characters of an answer that an error repeats."""
        ...


@dataclass(frozen=True, slots=True)
class Posting:
    """Where requests go, and what is raised when no answer comes. ``variable`` names where the key is from."""

    url: str
    path: str
    key: str | None = field(repr=False)
    variable: str
    params: Patience
    wait: Callable[[float], None] = field(repr=False)
    error: Callable[[str], PrimingError] = field(repr=False)

    def said(self, client: Client, body: Any) -> str:
        """The text of an answer; what the endpoint could not serve now is sent again, within the time."""
        deadline = monotonic() + self.params.timeout
        for attempt in range(self.params.retries + 1):
            status, headers, text = self._sent(client, body, deadline)
            if status != _BUSY and status < _BROKEN:
                break
            pause = self._pause(attempt, headers.get("retry-after"))
            if attempt == self.params.retries or monotonic() + pause > deadline:
                break
            self.wait(pause)
        if status != _DONE:
            raise self.error(
                f"answered with status {status}: {self.repeated(text)};"
                f" see that URL, name and {self.variable} are right, or try again later"
            )
        return text

    def repeated(self, text: str) -> str:
        """What was said, as an error repeats it: not too much, and without the key."""
        return shown(text.replace(self.key, "…") if self.key else text, self.params.repeated)

    def _pause(self, attempt: int, asked: str | None) -> float:
        """What the endpoint asks for, else twice as long each time; never longer than the longest."""
        own = self.params.pause * 2.0**attempt
        wanted = float(asked) if asked is not None and asked.isdecimal() else own
        return min(wanted, self.params.longest_pause)

    def _sent(self, client: Client, body: Any, deadline: float) -> tuple[int, Mapping[str, str], str]:
        """One request: status, headers and text."""
        from httpx2 import HTTPError, InvalidURL, Timeout

        url = f"{self.url.rstrip('/')}/{self.path}"
        headers = {} if self.key is None else {"authorization": f"Bearer {self.key}"}
        left = max(0.0, deadline - monotonic())
        timeout = Timeout(left, connect=min(self.params.connect, left))
        try:
            with client.stream("POST", url, json=body, headers=headers, timeout=timeout) as reply:
                return reply.status_code, reply.headers, self._read(reply, deadline)
        except (HTTPError, InvalidURL) as error:
            what = str(error) or type(error).__name__
            raise self.error(f"gave no answer: {what}; see that it runs and that the URL is right") from None

    def _read(self, reply: Response, deadline: float) -> str:
        """The text of a reply, which may be neither too long nor too late."""
        said = bytearray()
        for part in reply.iter_bytes():
            said += part
            if len(said) > self.params.output:
                raise self.error(f"answered with more than {self.params.output:,} bytes: ask another model")
            if monotonic() > deadline:
                raise self.error(f"gave no answer within {self.params.timeout:g} s: ask a faster one")
        return said.decode("utf-8", "replace")


def check_endpoint(url: object, model: object, key: str | None, path: str, example: str, what: str) -> None:
    """Refuse what cannot be an endpoint, a model's name or a key; and say so where the extra is missing."""
    if not is_url(url):
        raise ParamError("url", url, f"must be an address before /{path}, such as {example}")
    if not isinstance(model, str) or not model.strip():
        raise ParamError("model", model, "must name a model that the endpoint has")
    if key is not None and not (key.isascii() and key.isprintable() and key.strip()):
        raise ParamError("key", "…", "must be printable ASCII characters on one line")
    if find_spec(LIBRARY) is None:
        raise MissingExtra(EXTRA, what)


def is_url(url: object) -> bool:
    """Whether a text is the URL of an endpoint: one that a path can be put at the end of, without a password."""
    if not isinstance(url, str) or not url.isprintable():
        return False
    try:
        parts = urlsplit(url)
        is_whole = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    return (
        is_whole
        and parts.scheme in ("http", "https")
        and not (parts.query or parts.fragment or parts.username)
    )
