"""Sentence vectors by models in ONNX: the installed all-MiniLM-L6-v2, one in a folder, or one of fastembed's list.

Qdrant's library fastembed, multilingual models among its list, needs the extra ``fastembed``. Its models are read
from its cache; nothing is downloaded unless ``PRIMING_DOWNLOAD`` is set.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from difflib import get_close_matches
from functools import cached_property, lru_cache, partial
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priming.config import environment
from priming.config.params.services import ONNX, OnnxParams
from priming.embedding.protocol import Background, Vectors, check_texts, unit
from priming.embedding.weights import EXTRA, RUNTIME, ModelFiles, packaged, within
from priming.embedding.word_pieces import WordPieces
from priming.errors import EmbedderError, MissingExtra, ParamError

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer


PREPROCESSING = "marks at both ends, mean over the tokens, unit length"
"""Names the vectors in a generation. A text of no known word had one too, which others of its kind shared; it has
zeros now, and the vectors of all other texts stay what they were."""
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
RANK = 3
"""The output that is pooled has a row for each token of each text."""
QUICK_TEXTS = 4
FASTEMBED_EXTRA = "fastembed"
"""The library that knows models by name, and the extra that brings it and the library of tokenizers."""
_CHUNK, _TEXTS = 1 << 20, 256
_RECENT = 64
"""The latest texts whose vectors stay: a question is put to many namespaces."""


class OnnxEmbedder:
    """A contextual model: some milliseconds a sentence, and nearer to its meaning than a sum of words.

    One text is one run of the model, so that its vector does not depend on its neighbours, but for rounding in the
    seventh decimal; several run at once, in threads. Of a longer text the first ``params.tokens`` are read. Files are
    opened at first use.
    """

    background = Background(mean=0.06, spread=0.1)

    def __init__(self, files: ModelFiles | Path | str | None = None, params: OnnxParams = ONNX) -> None:
        if find_spec(RUNTIME) is None:
            raise MissingExtra(EXTRA, "the embedder 'onnx'")
        if not isinstance(files, ModelFiles):
            files = packaged() if files is None else within(Path(files))
        self._files = files
        self._params = params
        self._texts = 0
        self._recent = lru_cache(_RECENT)(self._vector_of)

    def __repr__(self) -> str:
        return f"OnnxEmbedder({str(self._files.model.parent)!r})"

    @cached_property
    def generation(self) -> str:
        """For example ``onnx-model/384/1f0c…``: the digest covers model, tokenizer and preprocessing."""
        digest = hashlib.blake2b(f"{PREPROCESSING}, {self._params.tokens}".encode(), digest_size=6)
        for path, pinned in zip_longest(self._files.all, self._files.digests):
            own = hashlib.sha256()
            try:
                with path.open("rb") as file:
                    while chunk := file.read(_CHUNK):
                        digest.update(chunk)
                        if pinned:
                            own.update(chunk)
            except OSError as error:
                raise self._error(f"{path} cannot be read ({error.strerror})") from error
            if pinned and own.hexdigest() != pinned:
                raise self._error(f"{path} is not the file that was examined (SHA-256 {pinned})")
        return f"onnx-{self._files.model.stem}/{self.dimension}/{digest.hexdigest()}"

    @property
    def stamp(self) -> str:
        """Which files it reads, and how much of a text: equal stamps mean equal generations."""
        return f"{self._files.stamp} {self._params.tokens}"

    @cached_property
    def dimension(self) -> int:
        """The dimension that is known or that the model declares, else that of its first vector."""
        if self._files.dimension is not None:
            return self._files.dimension
        declared = self._session.get_outputs()[self._output].shape[-1]
        return (
            declared if isinstance(declared, int) else len(self._vector(self._session, self._tokens_of("a")))
        )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Make unit rows, one a text; the row of a text does not depend on its neighbours."""
        check_texts(texts)
        self._texts += len(texts)
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        vector_of = partial(self._recent, self._session is vars(self).get("_unfolded"))
        at_once = min(len(texts), self._params.threads or _processors())
        with ThreadPoolExecutor(max(1, at_once)) as pool:
            run = pool.map if at_once > 1 else map
            row = 0
            for first in range(0, len(texts), _TEXTS):
                for vector in run(vector_of, texts[first : first + _TEXTS]):
                    out[row] = vector
                    row += 1
        return out

    @property
    def _session(self) -> InferenceSession:
        """The model for the texts so far: unfolding its weights takes longer than the first few texts do without."""
        return self._unfolded if self._texts > QUICK_TEXTS else self._packed

    @cached_property
    def _packed(self) -> InferenceSession:
        return self._loaded(without=["ConstantFolding"])

    @cached_property
    def _unfolded(self) -> InferenceSession:
        vars(self).pop("_packed", None)
        return self._loaded(without=[])

    def _loaded(self, without: list[str]) -> InferenceSession:
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            return InferenceSession(
                self._files.model, options, providers=["CPUExecutionProvider"], disabled_optimizers=without
            )
        except Exception as error:  # the library raises a dozen classes without a root of their own
            raise self._error(
                f"{self._files.model} is not a model that runs here ({_line(error)})"
            ) from error

    @cached_property
    def _tokens_of(self) -> Callable[[str], Sequence[int]]:
        """What gives the numbers of a text's tokens; none of a text without words that the model knows."""
        path, most = self._files.tokenizer, self._params.tokens
        try:
            tokenizer = WordPieces.of(path.read_bytes())
        except (OSError, ValueError) as error:
            raise self._error(f"{path} is not a tokenizer ({_line(error)})") from error
        if tokenizer is not None:
            return lambda text: own if tokenizer.reads(own := tokenizer.tokens(text, most)) else ()
        return partial(_library_tokens, self._library_tokenizer(path, most))

    def _library_tokenizer(self, path: Path, most: int) -> Tokenizer:
        """Return a tokenizer of another kind, by the library that knows all."""
        # The tokenizer's threads do not survive a fork, and it warns of that; whoever wants them sets this.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtra(FASTEMBED_EXTRA, f"the tokenizer {path}, which is none of BERT's,") from None
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises nothing more precise
            raise self._error(f"{path} is not a tokenizer ({_line(error)})") from error
        tokenizer.enable_truncation(most)
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

    def _vector_of(self, _unfolded: bool, text: str) -> Vectors:
        """Return the vector of a text, which differs in the seventh decimal once the weights are unfolded."""
        return self._vector(self._session, self._tokens_of(text))

    def _vector(self, session: InferenceSession, numbers: Sequence[int]) -> Vectors:
        """Return the mean of the model's rows for a text, at unit length; zeros for a text without tokens."""
        if not numbers:
            return np.zeros(self.dimension, dtype=np.float32)
        ids = np.array([numbers], dtype=np.int64)
        columns = zip(INPUTS, (ids, np.ones_like(ids), np.zeros_like(ids)), strict=True)
        feed: Mapping[str, Any] = {name: column for name, column in columns if name in self._inputs}
        try:
            rows: NDArray[np.float32] = session.run(None, feed)[self._output][0]
        except Exception as error:  # as above
            raise self._error(f"{self._files.model} could not read a text ({_line(error)})") from error
        vector = unit(rows.mean(axis=0, dtype=np.float64))
        if not np.isfinite(vector).all():
            raise self._error(f"{self._files.model} gives numbers that are not finite")
        return vector

    def _error(self, what: str) -> EmbedderError:
        return EmbedderError(f"{what}; {self._files.remedy}")


def _library_tokens(tokenizer: Tokenizer, text: str) -> Sequence[int]:
    # Half a surrogate pair is the one thing a str may hold that UTF-8 may not.
    encoding = tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8"))
    return [] if all(encoding.special_tokens_mask) else list(encoding.ids)


def _processors() -> int:
    own = getattr(os, "sched_getaffinity", None)
    return len(own(0)) if own is not None else os.cpu_count() or 1


_NOT_WEIGHTS = "files_metadata.json"


class FastEmbedder:
    """A model of fastembed's list. One text is one run of the model, so that its vector does not depend on others.

    Args:
        model: its name in that list, such as ``BAAI/bge-small-en-v1.5``.
        cache: the folder of models; None: ``FASTEMBED_CACHE_PATH``, else ``models`` in the user's global folder.
        may_download: whether a missing model may be downloaded; None: what ``PRIMING_DOWNLOAD`` says.

    """

    def __init__(
        self, model: str, cache: Path | str | None = None, *, may_download: bool | None = None
    ) -> None:
        if find_spec(FASTEMBED_EXTRA) is None:
            raise MissingExtra(FASTEMBED_EXTRA, "the embedder 'fastembed'")
        self.model = model
        self.cache = environment.models_folder() if cache is None else Path(cache)
        self._may_download = environment.may_download() if may_download is None else may_download

    def __repr__(self) -> str:
        return f"FastEmbedder({self.model!r})"

    @cached_property
    def generation(self) -> str:
        """For example ``fastembed-bge-small-en-v1.5/384/1f0c…``: the digest covers the files of the model."""
        digest = hashlib.blake2b(self.model.casefold().encode(), digest_size=6)
        for path in self._files:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
        return f"fastembed-{self.model.rpartition('/')[2]}/{self.dimension}/{digest.hexdigest()}"

    @property
    def stamp(self) -> str:
        """The name of the model and the folder that it is read from."""
        return f"fastembed {self.model.casefold()} {self.cache}"

    @cached_property
    def dimension(self) -> int:
        """The dimension that the library states."""
        return int(self._model.embedding_size)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Make unit rows, one a text; an empty text gives a row of zeros."""
        check_texts(texts)
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        rows = [row for row, text in enumerate(texts) if text.strip()]
        clean = [texts[row].encode("utf-8", "replace").decode("utf-8") for row in rows]
        try:
            for row, vector in zip(rows, self._model.embed(clean, batch_size=1), strict=True):
                out[row] = unit(np.asarray(vector, np.float64))
        except Exception as error:  # the runtime raises a dozen classes without a root of their own
            raise EmbedderError(
                f"{self.model} could not read a text ({_line(error)}); {self._remedy}"
            ) from error
        if not np.isfinite(out).all():
            raise EmbedderError(f"{self.model} gives numbers that are not finite; {self._remedy}")
        return out

    @cached_property
    def _model(self) -> TextEmbedding:
        from fastembed import TextEmbedding
        from loguru import logger

        logger.disable("fastembed")  # what it reports, the error below says
        names = [str(each["model"]) for each in TextEmbedding.list_supported_models()]
        if self.model.casefold() not in {name.casefold() for name in names}:
            near = get_close_matches(self.model, names, 3, 0.4) or names[:3]
            raise ParamError(
                "embedder",
                f"fastembed:{self.model}",
                f"must name a model of fastembed's list, such as {', '.join(near)}",
            )
        try:
            return TextEmbedding(
                self.model,
                cache_dir=str(self.cache),
                providers=["CPUExecutionProvider"],
                local_files_only=not self._may_download,
            )
        except Exception as error:  # as above
            if self._may_download:
                what = f"{self.model} could not be downloaded to {self.cache} ({_line(error)})"
            else:
                what = (
                    f"{self.model} is not, or not whole, in {self.cache}, and nothing is downloaded unasked"
                )
            raise EmbedderError(f"{what}; {self._remedy}") from error

    @property
    def _remedy(self) -> str:
        return (
            f"download it once: PRIMING_DOWNLOAD=yes priming reembed --embedder 'fastembed:{self.model}',"
            " or copy fastembed's cache of a machine that has it and name that folder in FASTEMBED_CACHE_PATH"
        )

    @property
    def _files(self) -> list[Path]:
        """The files that shape a vector, in the order of their names."""
        folder = Path(str(getattr(self._model.model, "_model_dir", self.cache)))
        files = (path for path in folder.rglob("*") if path.is_file() and path.name != _NOT_WEIGHTS)
        return sorted(files, key=lambda path: path.relative_to(folder).as_posix())


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
