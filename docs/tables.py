"""The tables that the docs paste, each made from the values of the package."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import priming.errors
from priming import params
from priming.config import profiles
from priming.config import words as fixed
from priming.config.params.checked import rule_of
from priming.config.profiles import Profile
from priming.graph import layout
from priming.maintenance import health
from priming.recall.term_weights import TERMS
from priming.storage import filters, sqlite_backup
from priming.transfer import git, markdown

YES, NO = "yes", "no"

_WHOLE = re.compile(r"\.0(?!\d)")
_MODULES = (params, git, markdown, layout)
_ROWS: tuple[tuple[str, Callable[[Profile], Any]], ...] = (
    ("combine", lambda one: one.spread.combine),
    ("direction", lambda one: one.spread.direction),
    ("normalise", lambda one: one.spread.normalise),
    ("steps", lambda one: one.spread.steps),
    ("gain", lambda one: one.spread.gain),
    ("hop_decay", lambda one: one.spread.hop_decay),
    ("retention", lambda one: one.spread.retention),
    ("restart", lambda one: one.spread.restart),
    ("rho", lambda one: one.spread.rho),
    ("epsilon", lambda one: one.spread.epsilon),
    ("max_neighbours", lambda one: one.spread.max_neighbours),
)
_PARTS: tuple[tuple[str, Callable[[Profile], Any]], ...] = (
    ("anchors", lambda one: _anchors(one)),
    ("links that carry nothing", lambda one: _silent(one)),
    ("other factors on links", lambda one: _factors(one)),
    ("inhibition", lambda one: _given(one.inhibit)),
    ("cut below epsilon", lambda one: one.cut),
    ("squash", lambda one: _given(one.squash)),
    ("score", lambda one: f"`{one.score}`"),
    ("packing tiers", lambda one: _given(one.tiers)),
)


def parameters(name: str) -> str:
    """Every field of a ``*Params`` value."""
    cls = next(getattr(module, name) for module in _MODULES if hasattr(module, name))
    rows = []
    for field in fields(cls):
        about = field.metadata
        rows.append(
            (
                f"`{field.name}`",
                value(field.default),
                _WHOLE.sub("", rule_of(about)),
                about["unit"],
                about["source"] or "our choice",
                about["doc"],
            )
        )
    return table(("name", "default", "range", "unit", "source", "meaning"), rows)


def designs(*_: str) -> str:
    """The profiles by name."""
    rows = [(f"`{one.name}`", one.source, f"`{one.score}`") for one in profiles.ALL.values()]
    return table(("profile", "from", "score"), rows)


def spreading(*_: str) -> str:
    """The kernel's constants, a column a profile that spreads."""
    chosen = [one for one in profiles.ALL.values() if one.spread.steps]
    return _across(_ROWS, chosen)


def parts(*_: str) -> str:
    """What stands around the kernel, a row a profile."""
    heads = ("profile", *(name for name, _ in _PARTS))
    rows = [(f"`{one.name}`", *(value(read(one)) for _, read in _PARTS)) for one in profiles.ALL.values()]
    return table(heads, rows)


def words(*names: str) -> str:
    """A fixed set of words, such as the kinds."""
    (name,) = names
    sets = {
        "kinds": fixed.KINDS,
        "relations": fixed.RELATIONS,
        "outcomes": fixed.OUTCOMES,
        "trust": fixed.TRUST,
        "statuses": fixed.STATUSES,
        "terms": TERMS,
        "fields": filters.FIELDS,
        "operators": filters.OPERATORS,
    }
    return ", ".join(f"`{one}`" for one in sets[name])


def findings(*_: str) -> str:
    """What ``validate`` looks for: in a database, and in how memories are linked."""
    rows = [(f"`{rule}`", detail, remedy) for rule, _, detail, remedy in sqlite_backup._RULES]
    rows += [(f"`{rule}`", detail, remedy) for rule, (detail, remedy) in health.VALIDATION_RULES.items()]
    return table(("rule", "what is wrong", "remedy"), rows)


def errors(*_: str) -> str:
    """The tree of errors, as the module draws it."""
    drawing = (priming.errors.__doc__ or "").split("\n\n")[1]
    return f"```text\n{drawing}\n```"


def environment(*_: str) -> str:
    """The settings that the environment gives."""
    doc = (importlib.import_module("priming.config.environment").__doc__ or "").split("\n\n", 2)[2]
    return doc.replace("``", "`")


def settings(*_: str) -> str:
    """What files and the environment may set."""
    module = importlib.import_module("priming.config.settings")
    rows = [
        (f"`{one.name}`", value(one.default), f"`{one.environment}`", _allowed(one.range), one.doc)
        for one in module.TABLE
    ]
    return table(("setting", "default", "variable", "allowed", "meaning"), rows)


def _allowed(about: Mapping[str, Any]) -> str:
    return "" if rule_of(about) == "any" else _WHOLE.sub("", rule_of(about))


def value(one: Any) -> str:
    """A value as a table shows it."""
    if one is None:
        return "none"
    if isinstance(one, bool):
        return YES if one else NO
    if isinstance(one, tuple):
        if one and isinstance(one[0], tuple):
            return ", ".join(f"{name} {value(part)}" for name, part in one)
        return ", ".join(map(value, one)) or "none"
    return f"{one:.10g}" if isinstance(one, float) else str(one)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(one.replace("|", "\\|") for one in row) + " |" for row in lines)


def _across(rows: Sequence[tuple[str, Callable[[Profile], Any]]], chosen: Sequence[Profile]) -> str:
    heads = ("", *(f"`{one.name}`" for one in chosen))
    return table(heads, [(f"`{name}`", *(value(read(one)) for one in chosen)) for name, read in rows])


def _given(one: Any) -> str:
    if one is None:
        return "no"
    return ", ".join(f"{field.name} {value(getattr(one, field.name))}" for field in fields(one))


def _anchors(one: Profile) -> str:
    if one.anchors is None:
        return "[the recipe](recall.md)"
    if not one.spread.steps:
        return "the nearest by cosine"
    return f"by {one.anchors.evidence}: {one.anchors.episodes} episodes, {one.anchors.facts} others"


def _silent(one: Profile) -> str:
    if not one.spread.steps:
        return "no spread"
    names = [f"`{name}`" for name, factor in one.links.by_relation if factor == 0]
    names += ["`similar-to` made by rule"] if one.links.similar == 0 else []
    names += ["`mentions` of rare words"] if one.links.terms == 0 else []
    return ", ".join(names) or "none"


def _factors(one: Profile) -> str:
    if not one.spread.steps:
        return "no spread"
    said = [f"`{name}` × {value(factor)}" for name, factor in one.links.by_relation if factor]
    said += ["`mentions` of names by how many share them"] if one.links.fan_out_names else []
    said += ["`similar-to` walked both ways"] if one.links.mirror else []
    return ", ".join(said) or "none"


def year(days: str, episodes: str) -> str:
    """What a short life prints, without what is the machine's."""
    life = Path(__file__).resolve().parent.parent / "demo" / "year"
    words = [sys.executable, str(life), "--days", days, "--episodes", episodes, "--plain"]
    settings = os.environ | {"PYTHONUTF8": "1"}
    done = subprocess.run(words, env=settings, capture_output=True, text=True, encoding="utf-8", check=True)
    return "\n".join(["```text", *(line.rstrip() for line in done.stdout.splitlines()), "```"])


TABLES: dict[str, Callable[..., str]] = {
    "parameters": parameters,
    "profiles": designs,
    "spreading": spreading,
    "parts": parts,
    "words": words,
    "errors": errors,
    "findings": findings,
    "environment": environment,
    "settings": settings,
    "year": year,
}
