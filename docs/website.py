"""Build the docs as a static site with a search that needs no network: Sphinx with MyST and the theme Furo.

The site holds the pages of the repository, in their folders, and the reference that ``docs/reference.py`` makes. It
begins with the README, and has a start page for users, for authors of agents and for operators. A link that leads
nowhere is an error.

    python docs/website.py [FOLDER]     build it into FOLDER, build/site by default
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import reference

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
FOLDER = Path("build/site")
HOME = "README.md"

_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_LINK = re.compile(r"\]\(([^)#\s:]+)(#[^)\s]*)?\)")
_TREES = {
    HOME: {
        "Start": ["docs/start/users", "docs/start/agents", "docs/start/operators"],
        "Use": [
            f"docs/{name}"
            for name in (
                "page",
                "verbs/README",
                "command-line",
                "importers",
                "filters",
                "files",
                "configuration",
            )
        ],
        "Agents": [
            f"docs/{name}"
            for name in (
                "hooks",
                "mcp",
                "plugin",
                "loop",
                "agents",
                "chat",
                "adapters",
                "coming-from",
                "tested-clients",
            )
        ],
        "Operate": [
            f"docs/{name}"
            for name in ("http", "socket", "security", "scaling", "postgresql", "moving", "fleet")
        ],
        "Understand": [
            f"docs/{name}"
            for name in ("recall", "laws", "profiles", "embedders", "quality", "bench", "lives")
        ],
        "Reference": ["docs/reference"],
        "Project": ["ARCHITECTURE", "CONTRIBUTING", "CHANGELOG", "SECURITY"],
    },
    "docs/verbs/README.md": {"": ["*"]},
    "docs/coming-from.md": {"": ["coming-from/*"]},
    "docs/reference.md": {"": [f"reference/{name}" for name in reference.PAGES]},
    "ARCHITECTURE.md": {"": ["docs/decisions/*", "benchmarks/notes/*", "benchmarks/rivals/README"]},
}
"""The pages below each page that has some, by captions."""


def main(target: Path) -> int:
    """Build the site; the status of Sphinx."""
    with tempfile.TemporaryDirectory(prefix="priming-site-") as folder:
        source = Path(folder) / "source"
        gather(source)
        options = (
            "--fail-on-warning",
            "--keep-going",
            "--quiet",
            "--doctree-dir",
            str(Path(folder) / "trees"),
        )
        build = [sys.executable, "-m", "sphinx", *options, str(source), str(target)]
        return subprocess.run(build, check=False).returncode


def gather(source: Path) -> None:
    """Copy the pages, what they link to and the reference into the folder that Sphinx reads."""
    for page in pages():
        name = str(page.relative_to(ROOT))
        text = _COMMENT.sub("", page.read_text("utf-8"))
        _copy_linked(page, text, source)
        _write(source / name, _begun(text, page) + _tree(_TREES.get(name, {})))
    reference.write(source / "docs" / "reference")
    shutil.copy(DOCS / "conf.py", source)
    (source / HOME).rename(source / "index.md")


def pages() -> Iterator[Path]:
    """The pages of the site, but for the reference."""
    yield from sorted(ROOT.glob("*.md"))
    yield from sorted(page for page in DOCS.rglob("*.md") if "scenario" not in page.parts)
    yield from sorted((ROOT / "benchmarks" / "notes").glob("*.md"))
    yield ROOT / "benchmarks" / "rivals" / "README.md"


def _begun(text: str, page: Path) -> str:
    """A page whose links to the README lead to the beginning of the site."""

    def led(link: re.Match[str]) -> str:
        if (page.parent / link[1]).resolve() != ROOT / HOME:
            return link[0]
        return f"]({link[1].removesuffix(HOME)}index.md{link[2] or ''})"

    return _LINK.sub(led, text)


def _copy_linked(page: Path, text: str, source: Path) -> None:
    """Copy the files of the repository, no pages, that a page links to."""
    for link in _LINK.finditer(text):
        path = (page.parent / link[1]).resolve()
        if path.is_file() and path.is_relative_to(ROOT) and path not in set(pages()):
            _write(source / path.relative_to(ROOT), path.read_text("utf-8"))


def _tree(captions: dict[str, list[str]]) -> str:
    return "".join(
        "\n".join(
            (
                "\n```{toctree}",
                f":caption: {caption}" if caption else ":maxdepth: 1",
                ":hidden:" if caption else ":glob:",
                "",
                *entries,
                "```\n",
            )
        )
        for caption, entries in captions.items()
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER))
