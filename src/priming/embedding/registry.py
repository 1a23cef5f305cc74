"""Embedders by name, as settings and options give them. Light to import: each module is loaded when it is named."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from priming.config import environment
from priming.embedding import weights
from priming.errors import ParamError

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.embedding.protocol import Embedder


AUTO, WORDS, SEMANTIC = "auto", "wordllama", "semantic"
DEFAULT = AUTO
HASHED, ONNX, FASTEMBED, WEB = "hashed", "onnx", "fastembed", ("http", "https")
NAMES = AUTO, WORDS, SEMANTIC, ONNX, HASHED
"""Those that need nothing but their name."""
KNOWN = (
    "auto (the default), wordllama, semantic, semantic:EMBEDDER, onnx, onnx:FOLDER, fastembed:NAME, hashed,"
    " hashed:DIMENSION,"
    " or the address of an endpoint such as http://localhost:8080/v1?model=NAME"
)
_RULE = f"must be one of {KNOWN}"
_OPTIONS = ("model", "dimensions")


def named(text: str) -> Embedder:
    """Make the embedder of a name; its model is loaded at first need.

    ``auto`` is ``semantic`` where its packages are, as they are in every whole installation, else ``wordllama``.

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
    is_bare = head.casefold() in (AUTO, WORDS)
    if make is None or bool(mark) != bool(rest.strip()) or (is_bare and mark):
        raise ParamError("embedder", _bare(text), _RULE)
    return make(text.strip(), rest.strip())


def chosen(settings: Settings | None) -> str:
    """Return the name of the embedder of some settings; without settings the environment's, else the default."""
    return str(settings["store.embedder"]) if settings is not None else environment.embedder() or DEFAULT


def is_auto(name: str) -> bool:
    """Tell whether the installation chooses the embedder, unless the namespace was changed to another."""
    return name.strip().casefold() == AUTO


def reaches_out(name: str) -> bool:
    """Tell whether an embedder is more than a name: an address to which texts are sent, or files of a model."""
    head, mark, _ = name.strip().partition(":")
    return bool(mark) and head.casefold() != HASHED


def stamp(name: str) -> str:
    """Identify the vectors that an embedder computes, across processes; for the default it needs no numpy."""
    plain = name.strip().casefold()
    if plain not in (AUTO, WORDS):
        return stamp_of(named(name))
    words = weights.stamp(weights.folder())
    if plain == WORDS:
        return words
    return f"{AUTO} {words}" + (f" {weights.packaged().stamp}" if weights.installed() else "")


def stamp_of(embedder: Embedder) -> str:
    """Return the stamp of an embedder that is there already: its own, else its generation."""
    return str(getattr(embedder, "stamp", None) or embedder.generation)


def _auto(_text: str, _rest: str) -> Embedder:
    return _shared(SEMANTIC if weights.installed() else WORDS)


@cache
def _shared(name: str) -> Embedder:
    """Return the embedder that a process has once, whichever of its namespaces ask for it."""
    return named(name)


def _semantic(text: str, rest: str) -> Embedder:
    from priming.embedding.protocol import SemanticEmbedder
    from priming.embedding.wordllama import StaticEmbedder

    if rest.partition(":")[0].strip().casefold() in (AUTO, WORDS, SEMANTIC, HASHED):
        raise ParamError(
            "embedder", text, "must name what embeds sentences after the colon, such as semantic:onnx"
        )
    return SemanticEmbedder(StaticEmbedder(), named(rest or ONNX))


def _wordllama(_text: str, _rest: str) -> Embedder:
    from priming.embedding.wordllama import StaticEmbedder

    return StaticEmbedder()


def _hashed(text: str, rest: str) -> Embedder:
    from priming.embedding.protocol import HashedEmbedder

    if rest and not _is_count(rest):
        raise ParamError("embedder", text, "must be hashed:DIMENSION, a whole number ≥ 1")
    return HashedEmbedder(int(rest)) if rest else HashedEmbedder()


def _onnx(_: str, rest: str) -> Embedder:
    from priming.embedding.onnx import OnnxEmbedder

    return OnnxEmbedder(rest or None)


def _fastembed(text: str, rest: str) -> Embedder:
    from priming.embedding.onnx import FastEmbedder

    if not rest:
        raise ParamError("embedder", text, "must name a model, such as fastembed:BAAI/bge-small-en-v1.5")
    return FastEmbedder(rest)


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
    """Return a name as shown in messages: the part of an address before @ or after ? may be a password."""
    head, mark, rest = text.partition("//")
    place, query, _ = rest.rpartition("@")[2].partition("?")
    return f"{head}{mark}{'…@' * ('@' in rest)}{place}{query and '?…'}" if mark else text


_MAKERS: dict[str, Callable[[str, str], Embedder]] = {
    AUTO: _auto,
    WORDS: _wordllama,
    SEMANTIC: _semantic,
    HASHED: _hashed,
    ONNX: _onnx,
    FASTEMBED: _fastembed,
    **dict.fromkeys(WEB, _endpoint),
}
