"""The paths of the bundled weights, without reading them; this module does not import numpy."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from priming.errors import EmbedderError

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
    """The identity of the files, without reading them: equal stamps mean equal generations."""
    return stamp_of([folder / name for name in (WEIGHTS, TOKENIZER)], REMEDY)


def stamp_of(paths: Iterable[Path], remedy: str) -> str:
    """The path, size and modification time of files."""
    try:
        stats = [path.resolve().stat() for path in paths]
    except OSError as error:
        raise EmbedderError(f"{error.filename} cannot be read ({error.strerror}); {remedy}") from error
    return " ".join(f"{stat.st_dev}:{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}" for stat in stats)
