"""The reference, made from the code: commands, verbs, HTTP, parameters, settings, profiles and checks.

The pages are not in the repository. ``docs/website.py`` builds them into the site, and

    python docs/reference.py [FOLDER]     writes them, and ``openapi.json``, into FOLDER, build/reference by default
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import tables
import typer.main

from priming import HashedEmbedder, Memory, extensions
from priming.cli.start import app
from priming.operations import schema
from priming.operations.service import LocalService
from priming.verbs.op import load
from priming.verbs.rows import SERVED
from priming_server.access.tokens import Tokens
from priming_server.http import create_app

FOLDER = Path("build/reference")
WIDTH = "100"

_COMMAND = typer.main.get_command(app)
_QUOTED = re.compile(r"(: |-> )'([^']*)'")
_SECTION = re.compile(r"^(Args|Returns|Raises|Yields):\n", re.MULTILINE)
_PART = re.compile(r"^    (\S[^:\n]*): (.*(?:\n {5,}.*)*)", re.MULTILINE)


def commands() -> str:
    """Every command with its options, as ``--help`` prints it."""
    parts = [f"## {' '.join(name)}\n\n```text\n{_help(name)}\n```" for name, _ in each_command()]
    return _page("Commands", "What `priming COMMAND --help` prints, for every command.", parts)


def verbs() -> str:
    """Every verb of ``Memory``, with its signature and its docstring."""
    parts = [
        f"## {name}\n\n```python\n{name}{_signature(function)}\n```\n\n{_described(function)}"
        for name, function in each_verb()
    ]
    return _page("Verbs in Python", "The methods of `Memory`, as `help(Memory.recall)` shows them.", parts)


def http() -> str:
    """Every operation over HTTP, with the fields of its request."""
    parts = []
    for op in SERVED:
        fields = schema.request_schema(op, own=False)
        rows = [
            (f"`{name}`", _type(about), _default(about), _line(about.get("description", "")))
            for name, about in fields["properties"].items()
        ]
        heads = ("field", "type", "default", "meaning")
        table = tables.table(heads, rows) if rows else "It takes no fields."
        heading = f"## {op.name}\n\n`POST /v1/{{namespace}}/{op.name}`, for a token of kind `{op.needs}`."
        parts.append(f"{heading} {_plain(op.declared.summary)}\n\n{table}\n\nThe answer: `{op.answers}`.")
    about = "Each operation takes a JSON object. With schemas of answers and errors: [openapi.json](openapi.json)."
    return _page("HTTP operations", about, parts)


def parameters() -> str:
    """Every ``*Params`` value, with default, range, unit, source and meaning of each field."""
    parts = [
        f"## {values.__name__}\n\n{_plain(inspect.getdoc(values) or '')}\n\n{tables.parameters(values.__name__)}"
        for values in tables.classes()
    ]
    about = "The constants of laws and limits. `priming profiles NAME` shows those that a profile reads."
    return _page("Parameters", about, parts)


def settings() -> str:
    """Every setting, and every variable of the environment."""
    parts = [f"## Settings\n\n{tables.settings()}", f"## The environment\n\n{tables.environment()}"]
    return _page(
        "Settings", "What files and the environment may set. `priming config` shows what is in force.", parts
    )


def profiles() -> str:
    """What each profile is made of."""
    parts = [
        f"## {title}\n\n{part()}"
        for title, part in (
            ("The profiles", tables.designs),
            ("How they spread", tables.spreading),
            ("Before and after the spread", tables.parts),
            ("What moves their links", tables.laws),
            ("The constants that can be set", tables.constants),
        )
    ]
    return _page("Profiles in figures", "The values of each profile, as the code reads them.", parts)


def checks() -> str:
    """What ``validate`` and ``verify`` look for."""
    parts = [f"## validate\n\n{tables.findings()}", f"## verify\n\n{tables.verification()}"]
    return _page("Checks of a store", "The findings of `priming validate` and `priming verify`.", parts)


PAGES: Mapping[str, Callable[[], str]] = {
    page.__name__: page for page in (commands, verbs, http, parameters, settings, profiles, checks)
}


def write(folder: Path) -> None:
    """Write every page and ``openapi.json`` into a folder, which is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / f"{name}.md").write_text(page(), "utf-8")
    (folder / "openapi.json").write_text(json.dumps(openapi(), indent=1, sort_keys=True), "utf-8")


def openapi() -> dict[str, Any]:
    """Return the OpenAPI document of a server."""
    with Tokens("sqlite://") as tokens:
        return create_app(LocalService("sqlite://", embedder=HashedEmbedder()), tokens).openapi()


def each_command(group: Any = None, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The commands that are shown, each with its name in words."""
    for name, command in sorted((group or _COMMAND).commands.items()):
        if hasattr(command, "commands"):
            yield from each_command(command, (*prefix, name))
        elif not command.hidden:
            yield (*prefix, name), command


def each_verb() -> Iterator[tuple[str, Any]]:
    """The public methods of an open memory, by name."""
    for name in sorted(vars(Memory)):
        if not name.startswith("_") and callable(getattr(Memory, name)):
            yield name, getattr(Memory, name)
    for op in (op for more in extensions.load(extensions.OPERATIONS) for op in more):
        if op.verb:
            yield op.name, load(op.method)


def _page(title: str, about: str, parts: list[str]) -> str:
    return "\n\n".join((f"# {title}", about, *parts)) + "\n"


def _help(name: tuple[str, ...]) -> str:
    screen = io.StringIO()
    before = dict(os.environ)
    os.environ |= {"COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb"}
    try:
        with contextlib.redirect_stdout(screen), contextlib.suppress(SystemExit):
            _COMMAND.main([*name, "--help"], prog_name="priming")
    finally:
        os.environ.clear()
        os.environ.update(before)
    return "\n".join(line.rstrip() for line in screen.getvalue().strip().splitlines())


def _signature(function: Any) -> str:
    signature = inspect.signature(function)
    parts = [part for name, part in signature.parameters.items() if name not in ("memory", "self", "cls")]
    return _QUOTED.sub(r"\1\2", str(signature.replace(parameters=parts)))


def _described(function: Any) -> str:
    about, *sections = _SECTION.split(inspect.getdoc(function) or "")
    parts = [_plain(about)]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        items = [f"- `{name}`: {_line(text)}" for name, text in _PART.findall(body)]
        parts.append("\n".join((f"**{title}**\n", *(items or [_plain(body)]))))
    return "\n\n".join(parts)


def _plain(text: str) -> str:
    """A docstring as Markdown: its literals have one mark, its lines no indent."""
    return "\n".join(line.strip() for line in text.replace("``", "`").strip().splitlines())


def _line(text: str) -> str:
    return " ".join(_plain(text).split())


def _default(about: Mapping[str, Any]) -> str:
    return f"`{json.dumps(about['default'])}`" if "default" in about else ""


def _type(about: Mapping[str, Any]) -> str:
    """The type of a field in words, from its schema."""
    if "anyOf" in about:
        return " or ".join(_type(each) for each in about["anyOf"])
    if "$ref" in about:
        return str(about["$ref"].rsplit("/", 1)[-1]).removesuffix("Shape").lower()
    if "enum" in about:
        return ", ".join(f"`{each}`" for each in about["enum"])
    return str(about.get("format") or about.get("type") or "any")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="where the pages go")
    write(parser.parse_args().folder)
