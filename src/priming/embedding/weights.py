"""The paths of the bundled weights, without reading them; this module does not import numpy."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from priming.errors import EmbedderError

PACKAGE = "wordllama"
MODEL = "l2_supercat"
WEIGHTS = Path("weights", f"{MODEL}_256.safetensors")
TOKENIZER = Path("tokenizers", f"{MODEL}_tokenizer_config.json")
REMEDY = "reinstall it: pip install --force-reinstall 'wordllama>=0.4,<0.5'"


def folder() -> Path:
    """The folder of the installed package."""
    spec = find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec is not None else None
    if not places:
        raise EmbedderError(f"the package {PACKAGE!r} is not installed; {REMEDY}")
    return Path(places[0])


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
