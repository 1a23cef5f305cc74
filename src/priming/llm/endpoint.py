"""An agent behind an OpenAI-compatible endpoint: ``POST {url}/chat/completions`` with the schema of the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import field
from time import sleep
from typing import TYPE_CHECKING

from priming.config.params.llm import AGENT, AgentParams
from priming.config.values import dataclass
from priming.errors import AgentError, ParamError, shown
from priming.llm.answers import request_answer
from priming.llm.json_endpoint import JsonEndpoint, check_endpoint, is_url
from priming.llm.protocol import Answer, Schema

if TYPE_CHECKING:
    from httpx2 import Client

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
        """The text of the model's reply to a prompt."""
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
        """The content of a chat completion."""
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
    """The URL and the name of a model written as ``URL,NAME``.

    >>> parse_model("http://localhost:8080/v1,qwen3")
    ('http://localhost:8080/v1', 'qwen3')
    """
    url, _, name = text.rpartition(",")
    if not (is_url(url) and name.strip()):
        raise ParamError("model", text, f"must be URL,NAME, such as {_EXAMPLE},qwen3")
    return url, name.strip()
