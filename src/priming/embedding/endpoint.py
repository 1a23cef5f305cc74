"""Vectors of a model behind an OpenAI-compatible endpoint: ``POST {url}/embeddings``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from ssl import SSLContext
from time import sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.services import EMBEDDER, EmbedderParams
from priming.config.values import dataclass
from priming.core.arguments.arrays import unit_rows
from priming.embedding.protocol import Vectors, check_texts
from priming.errors import EmbedderError, ParamError
from priming.llm.agents import JsonEndpoint, check_endpoint

VARIABLE = "PRIMING_EMBEDDER_KEY"
PROBE = "a"
"""What is sent to learn how many dimensions a model has."""
_EXAMPLE = "http://localhost:8080/v1"
_PATH = "embeddings"


@dataclass(frozen=True)
class EndpointEmbedder:
    """Asks a model by its name, a batch of texts a request; every answer is checked, and brought to unit length.

    ``dimensions`` asks the model for shorter vectors; None takes what it gives. Texts that are empty are not sent,
    and of a longer one ``params.characters`` are. ``wait`` is called with the seconds before a request is sent again.
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    dimensions: int | None = field(default=None, kw_only=True)
    params: EmbedderParams = field(default=EMBEDDER, repr=False)
    wait: Callable[[float], None] = field(default=sleep, repr=False)

    def __post_init__(self) -> None:
        check_endpoint(self.url, self.model, self.key, _PATH, _EXAMPLE, "an embedder behind an endpoint")
        dimensions = self.dimensions
        if dimensions is not None and (
            isinstance(dimensions, bool) or not isinstance(dimensions, int) or dimensions < 1
        ):
            raise ParamError("dimensions", dimensions, "must be a whole number ≥ 1, or none")

    remote = True

    @cached_property
    def generation(self) -> str:
        """For example ``bge-m3/1024/1f0c…``: the digest covers address, model and what is sent of a text.

        The endpoint decides which model the name means: a changed model needs a new name.
        """
        digest = hashlib.blake2b(self.stamp.encode(), digest_size=6).hexdigest()
        return f"{self.model}/{self.dimension}/{digest}"

    @property
    def stamp(self) -> str:
        """The identity of the model, known without a request."""
        return json.dumps([self.url.rstrip("/"), self.model, self.dimensions, self.params.characters])

    @cached_property
    def dimension(self) -> int:
        """The requested dimension, else that of the model's first vector."""
        return self.dimensions or self._request([PROBE], None).shape[1]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Make unit rows, one a text; an empty one gives zeros."""
        check_texts(texts)
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        full = [row for row, text in enumerate(texts) if text.strip()]
        for first in range(0, len(full), self.params.batch):
            rows = full[first : first + self.params.batch]
            out[rows] = self._request([self._cut(texts[row]) for row in rows], self.dimension)
        return out

    @cached_property
    def _trusted(self) -> SSLContext:
        """The certificates that the system trusts: read once, since reading takes longer than most requests."""
        from httpx2 import create_ssl_context

        return create_ssl_context()

    def _cut(self, text: str) -> str:
        """Return the part of a text that is sent: the beginning of a long one, without lone surrogates."""
        return text[: self.params.characters].encode("utf-8", "replace").decode("utf-8")

    def _request(self, texts: list[str], dimension: int | None) -> Vectors:
        """Return the unit vectors of a batch, in its order."""
        from httpx2 import Client

        body: dict[str, Any] = {"model": self.model, "input": texts, "encoding_format": "float"}
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        endpoint = JsonEndpoint(self.url, _PATH, self.key, VARIABLE, self.params, self.wait, self._error)
        with Client(verify=self._trusted) as client:
            return self._checked(endpoint, endpoint.post(client, body), len(texts), dimension)

    def _checked(self, endpoint: JsonEndpoint, text: str, count: int, dimension: int | None) -> Vectors:
        """Return the vectors of an answer, each at the place that its ``index`` names."""
        try:
            data = json.loads(text)["data"]
            places = [item["index"] for item in data]
            lists = [item["embedding"] for item in data]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise self._error(
                f"did not answer with a list of embeddings: {endpoint.excerpt(text)};"
                f" its URL must be the one before /{_PATH}, such as {_EXAMPLE}"
            ) from None
        if len(places) != count:
            raise self._error(f"answered {count} texts with {len(places)} vectors: {_SMALLER}")
        if any(type(item) is not int for item in places) or sorted(places) != list(range(count)):
            raise self._error(f"does not say which vector is whose, from 0 to {count - 1}: {_OTHER}")
        return self._unit(_array(lists), places, dimension)

    def _unit(self, numbers: NDArray[np.float64] | None, places: list[int], dimension: int | None) -> Vectors:
        """Return the rows in the order of the texts, at unit length."""
        if numbers is None:
            raise self._error(f"answered with vectors that are not numbers, or of several lengths: {_OTHER}")
        if dimension is not None and numbers.shape[1] != dimension:
            raise self._error(
                f"answered with {numbers.shape[1]} dimensions, not {dimension}: ask for dimensions that it has,"
                " or leave them out"
            )
        if not np.isfinite(numbers).all():
            raise self._error(f"answered with numbers that are not finite: {_OTHER}")
        top = np.abs(numbers).max(axis=1, keepdims=True)
        rows = np.divide(numbers, top, out=np.zeros_like(numbers), where=top > 0)
        out = np.empty(numbers.shape, dtype=np.float32)
        out[places] = unit_rows(rows)
        return out

    def _error(self, what: str) -> EmbedderError:
        return EmbedderError(f"the embedder {self.model!r} at {self.url} {what}")


_OTHER = "ask another model or endpoint"
_SMALLER = "ask another endpoint, or for fewer texts at once"


def _array(lists: list[Any]) -> NDArray[np.float64] | None:
    """Return lists of numbers, all of one length, as rows; None for anything else."""
    if any(not isinstance(row, list) or not row or len(row) != len(lists[0]) for row in lists):
        return None
    if any(isinstance(x, bool) or not isinstance(x, (int, float)) for row in lists for x in row):
        return None
    try:
        return np.array(lists, dtype=np.float64)
    except OverflowError:
        return None
