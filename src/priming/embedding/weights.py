"""The files of models, those that are installed with Priming among them, without reading them or importing numpy."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from priming.config.values import dataclass
from priming.errors import EmbedderError, ParamError, PrimingError

PACKAGE = "priming_weights"
"""The folder beside Priming's that the build fills: see ``hatch_build.py``."""
NAME, MODEL = "wordllama", "l2_supercat"
WEIGHTS = Path("weights", f"{MODEL}_256.safetensors")
TOKENIZER = Path("tokenizers", f"{MODEL}_tokenizer_config.json")
DIGESTS = (
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
)
"""The SHA-256 of both files of WordLlama 0.4.0.post1, as they were examined."""
REMEDY = "reinstall Priming: pip install --force-reinstall --no-deps priming, or . in its clone"


def folder(model: str = NAME) -> Path:
    """Return the folder of the weights of a model that is installed with Priming."""
    spec = find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec is not None else None
    if not places:
        raise EmbedderError(f"the weights, {PACKAGE!r}, are not installed; {REMEDY}")
    return Path(places[0], model)


def stamp(folder: Path) -> str:
    """Return the identity of the files, without reading them: equal stamps mean equal generations."""
    return stamp_of([folder / name for name in (WEIGHTS, TOKENIZER)], REMEDY)


def stamp_of(paths: Iterable[Path], remedy: str) -> str:
    """Return the path, size and modification time of files."""
    try:
        stats = [path.resolve().stat() for path in paths]
    except OSError as error:
        raise EmbedderError(f"{error.filename} cannot be read ({error.strerror}); {remedy}") from error
    return " ".join(f"{stat.st_dev}:{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}" for stat in stats)


EXTRA, RUNTIME = "semantic", "onnxruntime"
MINILM = "minilm"
"""The model that is installed with Priming: all-MiniLM-L6-v2 in int8."""
PATTERNS = ("model.onnx", "model*int8*.onnx", "model*quantized*.onnx", "model*.onnx")
"""Names of model files, the best first; each is looked for in the folder and in its folder ``onnx``."""
TOKENIZER_FILE = "tokenizer.json"
DATA = ("_data", ".data")
"""Endings of the files that hold the weights of a model too large for one."""
MINILM_DIGESTS = (
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
        return stamp_of(self.all, self.remedy)


def packaged() -> ModelFiles:
    """Return the files of the model that is installed with Priming."""
    place = folder(MINILM)
    files = ModelFiles(place / PATTERNS[0], place / TOKENIZER_FILE, REMEDY, MINILM_DIGESTS, DIMENSION)
    for path in (files.model, files.tokenizer):
        if not path.is_file():
            raise EmbedderError(f"there is no {path}; {REMEDY}")
    return files


def installed() -> bool:
    """Tell whether the runtime and the packaged model are installed, as they are with Priming itself."""
    try:
        return find_spec(RUNTIME) is not None and bool(packaged())
    except PrimingError:
        return False


def within(place: Path) -> ModelFiles:
    """Return the files of a model in a folder, in the usual layout."""
    for pattern in PATTERNS:
        for path in (place, place / "onnx"):
            for model in sorted(path.glob(pattern)):
                for beside in (path, place):
                    if (beside / TOKENIZER_FILE).is_file():
                        return ModelFiles(model, beside / TOKENIZER_FILE, _FOLDER)
    rule = f"must be a folder with a model, {PATTERNS[0]} or model_int8.onnx, and {TOKENIZER_FILE}"
    raise ParamError("embedder", str(place), rule)
