"""Agents from settings: a command, or a model behind an endpoint.

An endpoint, of an embedder too, is OpenAI-compatible: ``POST {url}/chat/completions`` with the schema of the answer.
It needs the extra ``openai``. Redirects are not followed, so that a key is sent to its endpoint only.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import field
from importlib.util import find_spec
from threading import Thread
from time import monotonic, sleep
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from priming.config import environment
from priming.config.environment import AgentSettings
from priming.config.params.services import AGENT, AgentParams, EmbedderParams
from priming.config.values import dataclass
from priming.errors import AgentError, MissingExtra, ParamError, PrimingError, shown
from priming.llm.protocol import Agent, Answer, Schema, request_answer

if TYPE_CHECKING:
    from httpx2 import Client, Response

EXTRA, LIBRARY = "openai", "httpx2"
_DONE = 200
_BUSY, _BROKEN = 429, 500
"""Too many requests, and the first of the server errors: both may pass."""


@dataclass(frozen=True, slots=True)
class JsonEndpoint:
    """An endpoint, and the error to raise if it gives no answer. ``variable`` is the name of the key's variable."""

    url: str
    path: str
    key: str | None = field(repr=False)
    variable: str
    params: AgentParams | EmbedderParams
    wait: Callable[[float], None] = field(repr=False)
    error: Callable[[str], PrimingError] = field(repr=False)

    def post(self, client: Client, body: Any) -> str:
        """Return the text of the answer; repeat a request that the endpoint could not serve, within the timeout."""
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
        """Return an answer for an error message: shortened, and without the key."""
        return shown(text.replace(self.key, "…") if self.key else text, self.params.repeated)

    def _pause(self, attempt: int, retry_after: str | None) -> float:
        """Return the pause the endpoint requests, or else one that doubles each time; at most the longest pause."""
        own = self.params.pause * 2.0**attempt
        requested = float(retry_after) if retry_after is not None and retry_after.isdecimal() else own
        return min(requested, self.params.longest_pause)

    def _sent(self, client: Client, body: Any, deadline: float) -> tuple[int, Mapping[str, str], str]:
        """Send one request; return status, headers and text."""
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
        """Return the text of a reply that is neither too long nor too late."""
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
    """Tell whether a text is an endpoint's URL: without query, fragment and password, so that a path can follow."""
    if not isinstance(url, str) or not url.isprintable():
        return False
    try:
        parts = urlsplit(url)
        is_whole = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    is_bare = not (parts.query or parts.fragment or parts.username)
    return is_whole and is_bare and parts.scheme in ("http", "https")


_EXAMPLE = "http://localhost:8080/v1"
_PATH = "chat/completions"


@dataclass(frozen=True, slots=True)
class EndpointAgent:
    """Asks a model by its name. ``key`` is sent to this endpoint only: redirects are not followed.

    The request names the schema of the answer, but not as strict: few endpoints support every keyword, and every
    answer is checked here. ``wait`` is called with the seconds before a request is sent again.
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    params: AgentParams = AGENT
    wait: Callable[[float], None] = field(default=sleep, repr=False)

    def __post_init__(self) -> None:
        check_endpoint(self.url, self.model, self.key, _PATH, _EXAMPLE, "an agent behind an endpoint")

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Ask the model, again if its answer is malformed; ``AgentError`` says why there is no answer."""
        from httpx2 import Client

        with Client() as client:
            return request_answer(
                lambda text: self._reply(client, text, schema), prompt, schema, self._name, self.params
            )

    @property
    def _name(self) -> str:
        return f"the model {self.model!r} at {self.url}"

    def _reply(self, client: Client, prompt: str, schema: Schema) -> str:
        """Return the text of the model's reply to a prompt."""
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(schema)},
            },
        }
        endpoint = JsonEndpoint(
            self.url, _PATH, self.key, "PRIMING_AGENT_KEY", self.params, self.wait, self._error
        )
        return self._content(endpoint, endpoint.post(client, body))

    def _content(self, endpoint: JsonEndpoint, text: str) -> str:
        """Return the content of a chat completion."""
        try:
            choice = json.loads(text)["choices"][0]
            message = choice["message"]
            content = message.get("content")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise self._error(
                f"did not answer with a chat completion: {endpoint.excerpt(text)};"
                f" its URL must be the one before /{_PATH}, such as {_EXAMPLE}"
            ) from None
        if not isinstance(content, str):
            why = message.get("refusal") or choice.get("finish_reason")
            raise self._error(f"said nothing ({shown(why, self.params.repeated)}): ask another model")
        return content

    def _error(self, what: str) -> AgentError:
        return AgentError(f"{self._name} {what}")


def parse_model(text: str) -> tuple[str, str]:
    """Return the URL and the name of a model written as ``URL,NAME``.

    >>> parse_model("http://localhost:8080/v1,qwen3")
    ('http://localhost:8080/v1', 'qwen3')
    """
    url, _, name = text.rpartition(",")
    if not (is_url(url) and name.strip()):
        raise ParamError("model", text, f"must be URL,NAME, such as {_EXAMPLE},qwen3")
    return url, name.strip()


_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class CommandAgent:
    """Asks a command, such as ``claude -p``: split as a shell would, but run without one.

    It runs in a session of its own. Its process group is killed when it ends, when it is late or prints too much, and
    when we are interrupted.
    """

    command: str
    params: AgentParams = AGENT
    arguments: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", _split(self.command))

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Run the command, again if its answer is malformed; ``AgentError`` says why there is no answer."""
        return request_answer(self._output, prompt, schema, f"the agent {self.command!r}", self.params)

    def _output(self, prompt: str) -> str:
        with tempfile.TemporaryFile() as file:
            # A file, not a pipe: a command that does not read its input cannot block us.
            file.write(prompt.encode("utf-8", "replace"))
            file.seek(0)
            run = _CommandRun(self._started(file), self.params)
        status = run.status()
        if run.too_much:
            raise self._error(
                f"said more than {self.params.output:,} bytes and was stopped: it must print its answer only"
            )
        if status is None:
            raise self._error(
                f"gave no answer within {self.params.timeout:g} s and was stopped: try it, or take a faster one"
            )
        if status != 0:
            complaint = shown(run.complaint.decode("utf-8", "replace").strip(), self.params.repeated)
            raise self._error(
                f"ended with status {status}, must be 0: try it by hand; it complained {complaint}"
            )
        return run.output.decode("utf-8-sig", "replace")

    def _started(self, prompt: IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self.arguments,
                stdin=prompt,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment.unattended(),
                start_new_session=True,
            )
        except OSError as error:
            raise self._error(
                f"cannot be run ({error.strerror}): name a program that is on the PATH, or its whole path"
            ) from None

    def _error(self, what: str) -> AgentError:
        return AgentError(f"the agent {self.command!r} {what}")


def _split(command: str) -> tuple[str, ...]:
    try:
        arguments = tuple(shlex.split(command)) if isinstance(command, str) else ()
    except ValueError:  # a quote that is not closed
        arguments = ()
    if not arguments or not arguments[0] or "\x00" in command:
        raise ParamError("agent", command, "must be a command, quoted as for a shell, such as 'claude -p'")
    return arguments


class _CommandRun:
    """One run of a command: its output is read as it arrives, up to a limit."""

    def __init__(self, process: subprocess.Popen[bytes], params: AgentParams) -> None:
        self.output, self.complaint = bytearray(), bytearray()
        self.too_much = False
        self._process, self._params = process, params
        self._deadline = monotonic() + params.timeout
        assert process.stdout is not None, "requested when the process started"
        assert process.stderr is not None, "requested when the process started"
        self._readers = [
            Thread(target=self._read, args=(process.stdout, self.output, True), daemon=True),
            Thread(target=self._read, args=(process.stderr, self.complaint, False), daemon=True),
        ]

    def status(self) -> int | None:
        """Return its exit status once it has ended, None if it was late; its process group is killed."""
        for reader in self._readers:
            reader.start()
        try:
            return waited_for(self._process, self._deadline - monotonic())
        finally:
            self._read_rest()

    def _read_rest(self) -> None:
        """Read its output so far."""
        deadline = monotonic() + self._params.drain
        for reader in self._readers:
            # A process that left the group may hold the pipe for ever: its output is not part of the answer.
            reader.join(max(0.0, deadline - monotonic()))

    def _read(self, pipe: IO[bytes], into: bytearray, counts: bool) -> None:
        """Read to the end; output beyond the limit ends the command if it counts, and is dropped otherwise."""
        with pipe:
            while part := os.read(pipe.fileno(), _CHUNK):
                room = self._params.output - len(into)
                into += part[:room]
                if len(part) > room and counts:
                    self.too_much = True
                    _kill(self._process.pid)
                    return


def waited_for(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Return the exit status of a process, None if it did not end in time; its group is killed."""
    try:
        return process.wait(max(0.0, seconds))
    except subprocess.TimeoutExpired:
        return None
    finally:
        _kill(process.pid)
        process.wait()


def _kill(group: int) -> None:
    """Kill a process group, which may have ended."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def open_agent(settings: AgentSettings) -> Agent | None:
    """Return the agent that settings name; None if they name none."""
    if settings.model is not None:
        return EndpointAgent(*parse_model(settings.model), settings.key)
    return None if settings.command is None else CommandAgent(settings.command)


def check_agent(value: Any) -> Agent | None:
    """Return an argument that must be an agent or None."""
    if value is not None and (isinstance(value, type) or not isinstance(value, Agent)):
        raise ParamError("agent", value, "must have a method answer, such as CommandAgent('claude -p')")
    agent: Agent | None = value
    return agent
