"""Posts JSON to an endpoint and returns the answer, with retries: for agents and embedders behind an endpoint.

Needs the extra ``openai``. Redirects are not followed, so that a key is sent to its endpoint only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from importlib.util import find_spec
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from priming.config.values import dataclass
from priming.errors import MissingExtra, ParamError, PrimingError, shown

if TYPE_CHECKING:
    from httpx2 import Client, Response


EXTRA, LIBRARY = "openai", "httpx2"
_DONE = 200
_BUSY, _BROKEN = 429, 500
"""Too many requests, and the first of the server errors: both may pass."""


class EndpointLimits(Protocol):
    """How long an endpoint may take, and how much it may answer."""

    @property
    def timeout(self) -> float:
        """Seconds for one answer, retries included."""
        ...

    @property
    def connect(self) -> float:
        """Seconds to establish a connection."""
        ...

    @property
    def output(self) -> int:
        """Maximum bytes of an answer."""
        ...

    @property
    def retries(self) -> int:
        """Number of retries."""
        ...

    @property
    def pause(self) -> float:
        """Seconds before the first retry; each further retry waits twice as long."""
        ...

    @property
    def longest_pause(self) -> float:
        """Maximum seconds before a retry."""
        ...

    @property
    def repeated(self) -> int:
        """Maximum characters of an answer in an error message."""
        ...


@dataclass(frozen=True, slots=True)
class JsonEndpoint:
    """An endpoint, and the error to raise if it gives no answer. ``variable`` is the name of the key's variable."""

    url: str
    path: str
    key: str | None = field(repr=False)
    variable: str
    params: EndpointLimits
    wait: Callable[[float], None] = field(repr=False)
    error: Callable[[str], PrimingError] = field(repr=False)

    def post(self, client: Client, body: Any) -> str:
        """The text of the answer; a request that the endpoint could not serve is sent again, within the timeout."""
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
                f"answered with status {status}: {self.excerpt(text)};"
                f" see that URL, name and {self.variable} are right, or try again later"
            )
        return text

    def excerpt(self, text: str) -> str:
        """An answer for an error message: shortened, and without the key."""
        return shown(text.replace(self.key, "…") if self.key else text, self.params.repeated)

    def _pause(self, attempt: int, retry_after: str | None) -> float:
        """The pause that the endpoint requests, or else one that doubles each time; at most the longest pause."""
        own = self.params.pause * 2.0**attempt
        requested = float(retry_after) if retry_after is not None and retry_after.isdecimal() else own
        return min(requested, self.params.longest_pause)

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
        """The text of a reply that is neither too long nor too late."""
        content = bytearray()
        for part in reply.iter_bytes():
            content += part
            if len(content) > self.params.output:
                raise self.error(f"answered with more than {self.params.output:,} bytes: ask another model")
            if monotonic() > deadline:
                raise self.error(f"gave no answer within {self.params.timeout:g} s: ask a faster one")
        return content.decode("utf-8", "replace")


def check_endpoint(url: object, model: object, key: str | None, path: str, example: str, what: str) -> None:
    """Refuse an invalid URL, model name or key; ``MissingExtra`` if the extra is not installed."""
    if not is_url(url):
        raise ParamError("url", url, f"must be an address before /{path}, such as {example}")
    if not isinstance(model, str) or not model.strip():
        raise ParamError("model", model, "must name a model that the endpoint has")
    if key is not None and not (key.isascii() and key.isprintable() and key.strip()):
        raise ParamError("key", "…", "must be printable ASCII characters on one line")
    if find_spec(LIBRARY) is None:
        raise MissingExtra(EXTRA, what)


def is_url(url: object) -> bool:
    """Whether a text is the URL of an endpoint: without query, fragment and password, so that a path can follow."""
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
