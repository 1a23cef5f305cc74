"""Sentence vectors of a model that Qdrant's library fastembed knows by name, multilingual ones among them.

Needs the extra ``fastembed``. Models are read from its cache; only ``PRIMING_DOWNLOAD`` lets it download them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from priming.config import environment
from priming.embedding.protocol import Vectors, unit
from priming.errors import EmbedderError, MissingExtra, ParamError

if TYPE_CHECKING:
    from fastembed import TextEmbedding

EXTRA = "fastembed"
_CHUNK = 1 << 20
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
        if find_spec("fastembed") is None:
            raise MissingExtra(EXTRA, "the embedder 'fastembed'")
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
        if isinstance(texts, str):
            raise ParamError("texts", texts, "must be a sequence of texts, not one text")
        if not all(isinstance(text, str) for text in texts):
            raise ParamError("texts", list(texts), "must hold texts only")
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
