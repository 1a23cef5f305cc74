"""The tables that the docs paste, each made from the values of the package."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

import priming.errors
from priming import params
from priming.config import profiles
from priming.config import words as fixed
from priming.config.constants import FIELDS, settable
from priming.config.profiles import Profile
from priming.config.values import Checked, rule_of
from priming.maintenance import health, verify
from priming.recall.candidates import TERMS
from priming.storage import filters
from priming.storage.sql.store import RULES
from priming.verbs.rows import SERVED

YES, NO = "yes", "no"

_WHOLE = re.compile(r"\.0(?!\d)")
_MODULES = (params,)
_LIMITS = tuple(
    importlib.import_module(name)
    for name in (
        *("priming.config.params.limits", "priming_agents.limits", "priming_lab.contestants"),
        *("priming_loop.session_store", "priming_loop.codebase"),
        *("priming_server.fleet.journal", "priming_server.postgres.schema"),
    )
)
_ROWS: tuple[tuple[str, Callable[[Profile], Any]], ...] = (
    ("combine", lambda profile: profile.spread.combine),
    ("direction", lambda profile: profile.spread.direction),
    ("normalise", lambda profile: profile.spread.normalise),
    ("steps", lambda profile: profile.spread.steps),
    ("gain", lambda profile: profile.spread.gain),
    ("hop_decay", lambda profile: profile.spread.hop_decay),
    ("retention", lambda profile: profile.spread.retention),
    ("restart", lambda profile: profile.spread.restart),
    ("rho", lambda profile: profile.spread.rho),
    ("epsilon", lambda profile: profile.spread.epsilon),
    ("max_neighbours", lambda profile: profile.spread.max_neighbours),
    ("max_links", lambda profile: profile.spread.max_links),
)
_PARTS: tuple[tuple[str, Callable[[Profile], Any]], ...] = (
    ("anchors", lambda profile: _anchors(profile)),
    ("links that carry nothing", lambda profile: _silent(profile)),
    ("other factors on links", lambda profile: _factors(profile)),
    ("inhibition", lambda profile: _fields(profile.inhibit)),
    ("cut below epsilon", lambda profile: profile.cut),
    ("squash", lambda profile: _fields(profile.squash)),
    ("score", lambda profile: f"`{profile.score}`"),
    ("packing tiers", lambda profile: _fields(profile.tiers)),
)


def classes() -> list[type]:
    """Every ``*Params`` class, by name."""
    names = {
        name: module for module in (*_MODULES, *_LIMITS) for name in dir(module) if name.endswith("Params")
    }
    values = [getattr(module, name) for name, module in sorted(names.items())]
    return [each for each in values if isinstance(each, type) and is_dataclass(each)]


def meanings(cls: type) -> dict[str, str]:
    """What the text below each field of a ``*Params`` value says."""
    body = ast.parse(inspect.getsource(cls)).body[0].body  # type: ignore[attr-defined]
    texts = pairwise(body)
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in texts
        if isinstance(field, ast.AnnAssign)
    }


def parameters(name: str) -> str:
    """Every field of a ``*Params`` value."""
    cls = next(each for each in classes() if each.__name__ == name)
    texts = meanings(cls)
    if not issubclass(cls, Checked):
        limits = [(f"`{field.name}`", value(field.default), texts[field.name]) for field in fields(cls)]
        return table(("name", "value", "meaning"), limits)
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
                texts[field.name],
            )
        )
    return table(("name", "default", "range", "unit", "source", "meaning"), rows)


def designs(*_: str) -> str:
    """The profiles by name."""
    rows = [(f"`{profile.name}`", profile.source, f"`{profile.score}`") for profile in profiles.ALL.values()]
    return table(("profile", "from", "score"), rows)


def spreading(*_: str) -> str:
    """The kernel's constants, a column a profile that spreads."""
    chosen = [profile for profile in profiles.ALL.values() if profile.spread.steps]
    return _across(_ROWS, chosen)


def parts(*_: str) -> str:
    """What stands around the kernel, a row a profile."""
    heads = ("profile", *(name for name, _ in _PARTS))
    rows = [
        (f"`{profile.name}`", *(value(read(profile)) for _, read in _PARTS))
        for profile in profiles.ALL.values()
    ]
    return table(heads, rows)


def laws(*_: str) -> str:
    """What moves the links of each profile, a row a profile."""
    heads = ("profile", *profiles.laws(profiles.PRIMING))
    rows = [(f"`{profile.name}`", *profiles.laws(profile).values()) for profile in profiles.ALL.values()]
    return table(heads, rows)


def constants(*_: str) -> str:
    """The sections of constants that can be set, a row each, with the profiles that read them."""
    sections = {name: settable(profile) for name, profile in profiles.ALL.items()}
    rows = []
    for section, field in FIELDS.items():
        readers = [name for name, own in sections.items() if section in own]
        params = type(getattr(profiles.ALL[readers[0]], field)).__name__
        shown = "all" if len(readers) == len(sections) else ", ".join(f"`{name}`" for name in readers)
        rows.append((f"`{section}`", f"`{params}`", shown))
    return table(("section", "constants", "profiles"), rows)


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
    return ", ".join(f"`{word}`" for word in sets[name])


def findings(*_: str) -> str:
    """What ``validate`` looks for: in a database, and in how memories are linked."""
    rows = [(f"`{rule}`", detail, remedy) for rule, _, detail, remedy in RULES]
    rows += [(f"`{rule}`", detail, remedy) for rule, (detail, remedy) in health.VALIDATION_RULES.items()]
    return table(("rule", "what is wrong", "remedy"), rows)


def verification(*_: str) -> str:
    """What ``verify`` looks for beside that."""
    rows = [(f"`{rule}`", detail, remedy) for rule, (detail, remedy) in verify.VERIFICATION_RULES.items()]
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
        (
            f"`{setting.name}`",
            value(setting.default),
            f"`{setting.environment}`",
            _allowed(setting.range),
            setting.doc,
        )
        for setting in module.TABLE
    ]
    return table(("setting", "default", "variable", "allowed", "meaning"), rows)


def tools(*_: str) -> str:
    """The groups of tools that MCP offers, and the operations of each."""
    rows = [
        (f"`{group}`", ", ".join(f"`{op.name}`" for op in SERVED if op.group == group))
        for group in fixed.TOOL_GROUPS
        if group != "all"
    ]
    return table(("group", "tools"), [*rows, ("`all`", f"all of these: {len(SERVED)}")])


def _allowed(about: Mapping[str, Any]) -> str:
    return "" if rule_of(about) == "any" else _WHOLE.sub("", rule_of(about))


def value(item: Any) -> str:
    """A value as a table shows it."""
    if item is None:
        return "none"
    if isinstance(item, bool):
        return YES if item else NO
    if isinstance(item, tuple):
        if item and isinstance(item[0], tuple):
            return ", ".join(f"{name} {value(part)}" for name, part in item)
        return ", ".join(map(value, item)) or "none"
    return f"{item:.10g}" if isinstance(item, float) else str(item)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines)


def _across(rows: Sequence[tuple[str, Callable[[Profile], Any]]], chosen: Sequence[Profile]) -> str:
    heads = ("", *(f"`{profile.name}`" for profile in chosen))
    return table(heads, [(f"`{name}`", *(value(read(profile)) for profile in chosen)) for name, read in rows])


def _fields(parts: Any) -> str:
    if parts is None:
        return "no"
    return ", ".join(f"{field.name} {value(getattr(parts, field.name))}" for field in fields(parts))


def _anchors(profile: Profile) -> str:
    if profile.anchors is None:
        return "[the recipe](../recall.md)"
    if not profile.spread.steps:
        return "the nearest by cosine"
    return (
        f"by {profile.anchors.evidence}: {profile.anchors.episodes} episodes, {profile.anchors.facts} others"
    )


def _silent(profile: Profile) -> str:
    if not profile.spread.steps:
        return "no spread"
    names = [f"`{name}`" for name, factor in profile.links.by_relation if factor == 0]
    names += ["`similar-to` made by rule"] if profile.links.similar == 0 else []
    names += ["`mentions` of rare words"] if profile.links.terms == 0 else []
    return ", ".join(names) or "none"


def _factors(profile: Profile) -> str:
    if not profile.spread.steps:
        return "no spread"
    factors = [f"`{name}` × {value(factor)}" for name, factor in profile.links.by_relation if factor]
    factors += ["`mentions` of names by how many share them"] if profile.links.fan_out_names else []
    factors += ["`similar-to` walked both ways"] if profile.links.mirror else []
    return ", ".join(factors) or "none"


TABLES: dict[str, Callable[..., str]] = {
    "parameters": parameters,
    "profiles": designs,
    "spreading": spreading,
    "parts": parts,
    "laws": laws,
    "constants": constants,
    "words": words,
    "errors": errors,
    "findings": findings,
    "verification": verification,
    "environment": environment,
    "settings": settings,
    "tools": tools,
}
