"""The files of sentence models in ONNX, without reading them; this module does not import numpy."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from priming.config.values import dataclass
from priming.embedding import weights
from priming.errors import EmbedderError, ParamError, PrimingError

EXTRA, RUNTIME = "semantic", "onnxruntime"
NAME = "minilm"
"""The model that is installed with Priming: all-MiniLM-L6-v2 in int8."""
PATTERNS = ("model.onnx", "model*int8*.onnx", "model*quantized*.onnx", "model*.onnx")
"""Names of model files, the best first; each is looked for in the folder and in its folder ``onnx``."""
TOKENIZER = "tokenizer.json"
DATA = ("_data", ".data")
"""Endings of the files that hold the weights of a model too large for one."""
DIGESTS = (
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
"""The SHA-256 of that model and of its tokenizer, as they were examined."""
DIMENSION = 384
_FOLDER = "give a folder with a sentence model in ONNX and its tokenizer.json"


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of a model, and the remedy if they are damaged."""

    model: Path
    tokenizer: Path
    remedy: str
    digests: tuple[str, ...] = ()
    """The SHA-256 that each file must have; empty: any."""
    dimension: int | None = None
    """The dimension of its vectors, if that is known without loading it."""

    @property
    def all(self) -> tuple[Path, ...]:
        """All files that shape a vector."""
        beside = [self.model.with_name(self.model.name + end) for end in DATA]
        return (self.model, *(path for path in beside if path.is_file()), self.tokenizer)

    @property
    def stamp(self) -> str:
        """The identity of the files, without reading them."""
        return weights.stamp_of(self.all, self.remedy)


def packaged() -> ModelFiles:
    """The files of the model that is installed with Priming."""
    place = weights.folder(NAME)
    files = ModelFiles(place / PATTERNS[0], place / TOKENIZER, weights.REMEDY, DIGESTS, DIMENSION)
    for path in (files.model, files.tokenizer):
        if not path.is_file():
            raise EmbedderError(f"there is no {path}; {weights.REMEDY}")
    return files


def installed() -> bool:
    """Whether the runtime and the packaged model are installed, as they are with Priming itself."""
    try:
        return find_spec(RUNTIME) is not None and bool(packaged())
    except PrimingError:
        return False


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
