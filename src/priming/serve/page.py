"""The page that describes the server and tries its operations, whole in one document: it asks nobody else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib import resources
from typing import Any

_TEMPLATE = resources.files("priming.serve").joinpath("docs.html").read_text("utf-8")


def _digest(tag: str) -> str:
    found = re.search(rf"<{tag}>(.*?)</{tag}>", _TEMPLATE, re.DOTALL)
    text = found[1] if found else ""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


POLICY = (
    f"default-src 'none'; connect-src 'self'; script-src 'sha256-{_digest('script')}';"
    f" style-src 'sha256-{_digest('style')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What a browser is told that the page may do: run its own script, and ask its own server."""


def html(document: Mapping[str, Any]) -> str:
    """The page, from the OpenAPI document."""
    sections = [
        _section(method, path, about)
        for path, methods in document["paths"].items()
        for method, about in methods.items()
    ]
    filled = {"version": escape(document["info"]["version"]), "operations": "\n".join(sections)}
    return re.sub(r"\{\{(\w+)\}\}", lambda met: filled[met[1]], _TEMPLATE)


def _section(method: str, path: str, about: Mapping[str, Any]) -> str:
    """One operation: what it is for, what it takes, and a form that tries it."""
    content = about.get("requestBody", {}).get("content", {}).get("application/json", {})
    examples = [one["value"] for one in content.get("examples", {}).values()]
    body = json.dumps(examples[0], indent=2, ensure_ascii=False) if examples else ""
    box = f'<textarea spellcheck="false" aria-label="body">{escape(body)}</textarea>' if examples else ""
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(_kind(one))}</td>"
        f"<td>{escape(one.get('description', ''))}</td></tr>"
        for name, one in content.get("schema", {}).get("properties", {}).items()
    )
    table = f"<table>{rows}</table>" if rows else ""
    more = "".join(
        f"<p>{escape(one)}</p>" for one in about.get("description", "").replace("`", "").split("\n\n") if one
    )
    needed = "" if "{id}" not in path else '<label>job <input class="job"></label>'
    return (
        f'<details id="{escape(about["operationId"])}"><summary><b>{method.upper()}</b> <code>{escape(path)}</code>'
        f" {escape(about['summary'])}</summary>{more}{table}"
        f'<form data-method="{method.upper()}" data-path="{escape(path)}">{needed}{box}'
        '<button type="submit">Try it</button></form><pre></pre></details>'
    )


def _kind(schema: Mapping[str, Any]) -> str:
    """The type of an argument, in a word or two."""
    several = schema.get("anyOf", [schema])
    names = [one.get("type") or str(one.get("$ref", "object")).rpartition("/")[2] for one in several]
    return " or ".join(dict.fromkeys(str(one) for one in names if one != "null"))
