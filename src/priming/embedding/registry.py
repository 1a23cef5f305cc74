"""Embedders by name, as settings and options give them. Light to import: each module is loaded when it is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from priming.config import environment
from priming.embedding import weights
from priming.errors import ParamError

if TYPE_CHECKING:
    from priming.embedding.protocol import Embedder


DEFAULT = "wordllama"
HASHED, ONNX, WEB = "hashed", "onnx", ("http", "https")
NAMES = DEFAULT, HASHED, ONNX
"""Those that need nothing but their name."""
KNOWN = (
    "wordllama (the default), hashed, hashed:DIMENSION, onnx, onnx:FOLDER,"
    " or the address of an endpoint such as http://localhost:8080/v1?model=NAME"
)
_RULE = f"must be one of {KNOWN}"
_OPTIONS = ("model", "dimensions")


def named(text: str) -> Embedder:
    """Make the embedder of a name; its model is loaded at first need.

    Raises:
        ParamError: no such embedder; the message lists those there are.
        MissingExtra: it needs an extra that is not installed.

    >>> named("hashed:8").dimension
    8
    """
    if not isinstance(text, str):
        raise ParamError("embedder", text, _RULE)
    head, mark, rest = text.strip().partition(":")
    make = _MAKERS.get(head.casefold())
    if make is None or bool(mark) != bool(rest.strip()):
        raise ParamError("embedder", _bare(text), _RULE)
    return make(text.strip(), rest.strip())


def stamp(name: str) -> str:
    """Identifies the vectors that an embedder computes, across processes; for the default it needs no numpy."""
    if name.strip().casefold() == DEFAULT:
        return weights.stamp(weights.folder())
    return stamp_of(named(name))


def stamp_of(embedder: Embedder) -> str:
    """The stamp of an embedder that is there already: its own, else its generation."""
    return str(getattr(embedder, "stamp", None) or embedder.generation)


def _wordllama(text: str, rest: str) -> Embedder:
    from priming.embedding.wordllama import StaticEmbedder

    if rest:
        raise ParamError("embedder", text, _RULE)
    return StaticEmbedder()


def _hashed(text: str, rest: str) -> Embedder:
    from priming.embedding.hashed import HashedEmbedder

    if rest and not _is_count(rest):
        raise ParamError("embedder", text, "must be hashed:DIMENSION, a whole number ≥ 1")
    return HashedEmbedder(int(rest)) if rest else HashedEmbedder()


def _onnx(_: str, rest: str) -> Embedder:
    from priming.embedding.onnx import OnnxEmbedder

    return OnnxEmbedder(rest or None)


def _endpoint(text: str, _: str) -> Embedder:
    from priming.embedding.endpoint import EndpointEmbedder

    try:
        address = urlsplit(text)
        pairs = parse_qsl(address.query, keep_blank_values=True, strict_parsing=bool(address.query))
    except ValueError as error:
        raise ParamError("embedder", _bare(text), f"is not an address: {error}") from None
    if address.username is not None:
        raise ParamError("embedder", _bare(text), "must be without a key: PRIMING_EMBEDDER_KEY holds it")
    options = dict(pairs)
    length = options.get("dimensions")
    if set(options) - set(_OPTIONS) or len(options) < len(pairs) or not options.get("model"):
        raise ParamError("embedder", _bare(text), "must end in ?model=NAME, and may go on with &dimensions=N")
    if length is not None and not _is_count(length):
        raise ParamError("embedder", _bare(text), "must ask for a whole number of dimensions ≥ 1")
    return EndpointEmbedder(
        address._replace(query="").geturl(),
        options["model"],
        environment.embedder_key(),
        dimensions=None if length is None else int(length),
    )


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) >= 1


def _bare(text: str) -> str:
    """A name as shown in messages: the part of an address before @ or after ? may be a password."""
    head, mark, rest = text.partition("//")
    place, query, _ = rest.rpartition("@")[2].partition("?")
    return f"{head}{mark}{'…@' * ('@' in rest)}{place}{query and '?…'}" if mark else text


_MAKERS: dict[str, Callable[[str, str], Embedder]] = {
    DEFAULT: _wordllama,
    HASHED: _hashed,
    ONNX: _onnx,
    **dict.fromkeys(WEB, _endpoint),
}
