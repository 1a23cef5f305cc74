"""What the demo remembers where there is no history: the documentation strings of the standard library."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_MODULES = """
    argparse ast base64 bisect calendar cmd code codecs collections colorsys concurrent.futures._base
    concurrent.futures.thread configparser contextlib copy csv dataclasses datetime difflib dis doctest
    email.message email.utils enum filecmp fileinput fnmatch fractions ftplib functools genericpath
    getopt getpass gettext glob graphlib gzip hashlib heapq hmac html html.parser http.client
    http.cookiejar http.cookies http.server imaplib inspect ipaddress json json.decoder json.encoder
    keyword linecache locale logging logging.handlers mailbox mimetypes netrc numbers operator optparse
    os pathlib pickle pkgutil platform plistlib poplib pprint profile pstats queue quopri random re
    reprlib sched secrets selectors shelve shlex shutil signal smtplib socket socketserver sqlite3.dump
    statistics string stringprep subprocess sysconfig tarfile tempfile textwrap threading timeit tokenize
    trace traceback types typing unittest.case unittest.mock unittest.runner unittest.suite urllib.error
    urllib.parse urllib.request urllib.robotparser uuid venv warnings wave weakref webbrowser
    xml.dom.minidom xml.etree.ElementTree xml.sax.handler zipapp zipfile zipimport
"""
MODULES = tuple(_MODULES.split())
MOST = 2_000
LETTERS = 1_500

Named = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def memories() -> Iterator[dict[str, Any]]:
    """Each documented module, class and function as a fact: its name as heading, its module as session."""
    count = 0
    for module in MODULES:
        for name, text in _documented(module):
            if count == MOST:
                return
            count += 1
            yield {
                "content": text,
                "kind": "fact",
                "key": f"python:{name}",
                "heading": name,
                "session": module,
                "source": "standard library",
                "trust": "tool",
            }


def _documented(module: str) -> Iterator[tuple[str, str]]:
    """Qualified names with their texts, in order of the source; none where the source is not at hand."""
    spec = find_spec(module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return
    source = Path(spec.origin)
    seen: set[str] = set()
    for name, node in _nodes(module, ast.parse(source.read_bytes())) if source.is_file() else ():
        text = inspect.cleandoc(ast.get_docstring(node, clean=False) or "")[:LETTERS].strip()
        if text and name not in seen:
            seen.add(name)
            yield name, text


def _nodes(name: str, node: ast.Module | Named) -> Iterator[tuple[str, ast.Module | Named]]:
    """A definition and those inside it that are public; what is inside a function is its own affair."""
    yield name, node
    if isinstance(node, ast.Module | ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, Named) and not inner.name.startswith("_"):
                yield from _nodes(f"{name}.{inner.name}", inner)
