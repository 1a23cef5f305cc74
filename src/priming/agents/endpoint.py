"""An agent behind an OpenAI-compatible endpoint: ``POST {url}/chat/completions`` with the schema of the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from priming.agents.answers import settled
from priming.agents.protocol import Answer, Schema
from priming.errors import AgentError, MissingExtra, ParamError, shown
from priming.params import AGENT, AgentParams

if TYPE_CHECKING:
    from httpx2 import Client, Response

EXTRA, LIBRARY = "openai", "httpx2"
_EXAMPLE = "http://localhost:8080/v1"
_DONE = 200
_BUSY, _BROKEN = 429, 500
"""Too many requests; and from here on, the endpoint's own troubles: both may pass."""


@dataclass(frozen=True, slots=True)
class EndpointAgent:
    """Asks a model by its name. ``key`` goes to this endpoint only: redirects are not followed.

    The request asks for an answer by the schema, but not strictly: few endpoints know every keyword, and every answer
    is checked here. ``wait`` is called with the seconds before a request is sent again.
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    params: AgentParams = AGENT
    wait: Callable[[float], None] = field(default=sleep, repr=False)

    def __post_init__(self) -> None:
        if not _is_url(self.url):
            raise ParamError(
                "url", self.url, f"must be an address before /chat/completions, such as {_EXAMPLE}"
            )
        if not isinstance(self.model, str) or not self.model.strip():
            raise ParamError("model", self.model, "must name a model that the endpoint has")
        if self.key is not None and not (self.key.isascii() and self.key.isprintable() and self.key.strip()):
            raise ParamError("key", "…", "must be printable ASCII characters on one line")
        if find_spec(LIBRARY) is None:
            raise MissingExtra(EXTRA, "an agent behind an endpoint")

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Ask the model, once more if its answer is malformed; ``AgentError`` says why there is none."""
        from httpx2 import Client

        with Client() as client:
            return settled(
                lambda asked: self._said(client, asked, schema), prompt, schema, self._who, self.params
            )

    @property
    def _who(self) -> str:
        return f"the model {self.model!r} at {self.url}"

    def _said(self, client: Client, prompt: str, schema: Schema) -> str:
        """What the model said; requests that the endpoint could not serve now are sent again, within the time."""
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(schema)},
            },
        }
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
            raise self._error(
                f"answered with status {status}: {shown(text, self.params.repeated)};"
                " see that URL, name and PRIMING_AGENT_KEY are right, or try again later"
            )
        return self._content(text)

    def _pause(self, attempt: int, asked: str | None) -> float:
        """What the endpoint asks for, else twice as long each time; never longer than the longest."""
        own = self.params.pause * 2.0**attempt
        wanted = float(asked) if asked is not None and asked.isdecimal() else own
        return min(wanted, self.params.longest_pause)

    def _sent(self, client: Client, body: Any, deadline: float) -> tuple[int, Any, str]:
        """One request: status, headers and text."""
        from httpx2 import HTTPError, InvalidURL, Timeout

        url = f"{self.url.rstrip('/')}/chat/completions"
        headers = {} if self.key is None else {"authorization": f"Bearer {self.key}"}
        left = max(0.0, deadline - monotonic())
        timeout = Timeout(left, connect=min(self.params.connect, left))
        try:
            with client.stream("POST", url, json=body, headers=headers, timeout=timeout) as reply:
                return reply.status_code, reply.headers, self._read(reply, deadline)
        except (HTTPError, InvalidURL) as error:
            what = str(error) or type(error).__name__
            raise self._error(f"gave no answer: {what}; see that it runs and that the URL is right") from None

    def _read(self, reply: Response, deadline: float) -> str:
        """The text of a reply, which may be neither too long nor too late."""
        said = bytearray()
        for part in reply.iter_bytes():
            said += part
            if len(said) > self.params.output:
                raise self._error(f"answered with more than {self.params.output:,} bytes: ask another model")
            if monotonic() > deadline:
                raise self._error(f"gave no answer within {self.params.timeout:g} s: ask a faster one")
        return said.decode("utf-8", "replace")

    def _content(self, text: str) -> str:
        """What the model said, from the reply of a chat completion."""
        try:
            choice = json.loads(text)["choices"][0]
            message = choice["message"]
            content = message.get("content")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise self._error(
                f"answered with what is no chat completion: {shown(text, self.params.repeated)};"
                f" its URL must be the one before /chat/completions, such as {_EXAMPLE}"
            ) from None
        if not isinstance(content, str):
            why = message.get("refusal") or choice.get("finish_reason")
            raise self._error(f"said nothing ({shown(why, self.params.repeated)}): ask another model")
        return content

    def _error(self, what: str) -> AgentError:
        return AgentError(f"{self._who} {what}")


def parsed(text: str) -> tuple[str, str]:
    """URL and name of a model that were given as ``URL,NAME``.

    >>> parsed("http://localhost:8080/v1,qwen3")
    ('http://localhost:8080/v1', 'qwen3')
    """
    url, _, name = text.rpartition(",")
    if not (_is_url(url) and name.strip()):
        raise ParamError("model", text, f"must be URL,NAME, such as {_EXAMPLE},qwen3")
    return url, name.strip()


def _is_url(url: object) -> bool:
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
