"""The constants of each profile as settings: ``[profiles.NAME.SECTION]`` in files, ``--set NAME.SECTION.KEY=VALUE``.

``used`` says which constants the laws of a profile read; only these can be set, since any other would change nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from priming.config.params.laws import ClusterParams, ForgettingParams, PlasticityParams
from priming.config.params.recall import (
    AnchorParams,
    LearningParams,
    LinkFactors,
    LinkParams,
    RecallParams,
    RelevanceParams,
)
from priming.config.profiles import ALL, Profile
from priming.config.settings_files import DEFAULT, WEIGHTS, Resolved, Setting, nearest, variable
from priming.errors import ParamError

ROOT = "profiles"
"""The first part of the names of profile settings."""
FIELDS: Mapping[str, str] = {
    field.name.removesuffix("_params"): field.name
    for field in fields(Profile)
    if field.type not in ("str", "bool")
}
"""The field of ``Profile`` that each section sets."""
_BASE_LEVEL = {
    "priming": ("d",),
    "floop": ("d",),
    "world-weaver": ("d", "s_base", "noise"),
}
_FORGETTING = {
    "fsrs": ("fsrs_decay",),
    "power": ("factor", "exponent", "initial_stability", "growth", "shrink", "recency_rate"),
    "half-life": ("half_life",),
    "none": (),
}
_FADING = {"exponential": ("rho",), "linear": ("linear_rate",), "none": ()}
_BLENDS = {"floop": ("floop", "boosts"), "world-weaver": ("episode", "fact", "procedure", "outcomes")}


def used(profile: Profile) -> dict[str, tuple[str, ...]]:
    """Return the constants that the laws of a profile read, by section."""
    spreads = profile.spread.steps > 0 or profile.name not in ("arc", "world-weaver")
    walks = spreads or profile.score == "world-weaver"
    anchors = () if profile.anchors is None else _but(AnchorParams, "pool") if spreads else ("pool",)
    priming = profile.score == "priming"
    links = _names(LinkFactors) if priming else _but(LinkFactors, "fan_out_names")
    learning = profile.learning
    sections = {
        "spread": _names(type(profile.spread)) if spreads else (),
        "anchors": anchors,
        "links": links if walks else (),
        "inhibit": () if profile.inhibit is None else _names(type(profile.inhibit)),
        "squash": () if profile.squash is None else _names(type(profile.squash)),
        "base_level": _BASE_LEVEL.get(profile.name, ()),
        "forgetting": (*_FORGETTING[profile.forgetting], *_FADING[learning.fading], "automatic_days"),
        "plasticity": tuple(_plasticity(profile)),
        "recall": _names(RecallParams) if priming else ("idf",),
        "scoring": () if priming or profile.score == "poc" else _BLENDS.get(profile.score, (profile.score,)),
        "linking": _names(LinkParams),
        "learning": _names(LearningParams),
        "clustering": _names(ClusterParams),
        "tiers": () if profile.tiers is None else _names(type(profile.tiers)),
        "relevance": _names(RelevanceParams) if profile.relevance else (),
    }
    return {section: names for section, names in sections.items() if names}


def _plasticity(profile: Profile) -> Iterator[str]:
    """Yield the constants of plasticity that the laws of learning of a profile read."""
    law = profile.learning
    reads = {
        ("low", "high", "automatic", "conscious"): law.verdicts == "path" or law.runs,
        ("credit_floor", "kept_share"): law.verdicts == "path",
        ("hebb_eta",): law.verdicts == "together",
        ("increment",): profile.linking.strengthen,
        (
            *("oja_eta", "oja_low", "oja_high", "threshold", "matched"),
            *("window_days", "needed", "born"),
        ): law.coactivation,
        ("prune_below",): law.coactivation or law.fading == "exponential",
        ("start",): True,
        ("run_days",): True,
    }
    names = {name for group, applies in reads.items() if applies for name in group}
    yield from (name for name in _names(PlasticityParams) if name in names)


def settable(profile: Profile) -> dict[str, tuple[str, ...]]:
    """Return the constants that can be set: those that are used, and those of learning that another law would use."""
    return used(profile) | {
        "plasticity": _names(PlasticityParams),
        "forgetting": tuple(
            name for name in _names(ForgettingParams) if name in {*_ALL_FORGETTING, "automatic_days"}
        ),
    }


_ALL_FORGETTING = {name for group in (*_FORGETTING.values(), *_FADING.values()) for name in group}


def _names(cls: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls))


def _but(cls: type, *without: str) -> tuple[str, ...]:
    return tuple(name for name in _names(cls) if name not in without)


def table(names: Collection[str] = tuple(ALL)) -> dict[str, Setting]:
    """Return the constants of some profiles as settings, by name."""
    constants: dict[str, Setting] = {}
    for profile in (ALL[name] for name in names):
        for section, keys in settable(profile).items():
            params = getattr(profile, FIELDS[section])
            about = {f.name: f for f in fields(params)}
            for key in keys:
                default, kind, place = (
                    getattr(params, key),
                    str(about[key].type),
                    f"{ROOT}.{profile.name}.{section}",
                )
                setting = Setting(place, key, default, type=kind, about=about[key].metadata)
                constants[setting.name] = setting
    return constants


def split(name: str) -> tuple[str, str, str]:
    """Return the profile, the section and the key of a constant."""
    _, profile, section, key = name.split(".")
    return profile, section, key


def applied(profiles: Mapping[str, Profile], values: Mapping[str, Any]) -> dict[str, Profile]:
    """Return the profiles with constants replaced; ``ParamError`` names the profile if values do not fit together."""
    changes: dict[tuple[str, str], dict[str, Any]] = {}
    for name, value in values.items():
        profile, section, key = split(name)
        changes.setdefault((profile, section), {})[key] = value
    after, violations = dict(profiles), list[str]()
    for (profile, section), changed in changes.items():
        params = getattr(after[profile], FIELDS[section])
        merged = {key: _merged(getattr(params, key), value) for key, value in changed.items()}
        try:
            after[profile] = replace(after[profile], **{FIELDS[section]: replace(params, **merged)})
        except ParamError as error:
            violations += [f"{ROOT}.{profile}.{section}.{each}" for each in error.violations]
    if violations:
        raise ParamError.of(violations)
    return after


def _merged(before: Any, value: Any) -> Any:
    """Return a table with the given numbers replaced."""
    if isinstance(value, Mapping):
        return tuple({**dict(before), **value}.items())
    return value


def find(names: tuple[str, ...]) -> tuple[str, str]:
    """Return the name of the setting for a profile, a section and a key, or the problem with them."""
    profile, section, key = (*names, "", "", "")[0], (*names, "", "")[1], ".".join(names[2:])
    if profile not in ALL:
        return "", f"{profile!r} is not a profile{nearest(profile, ALL)}"
    sections = settable(ALL[profile])
    if section not in sections:
        return "", f"profile {profile} has no section {section!r}{nearest(section, sections)}"
    if key not in sections[section]:
        return "", f"{section} of profile {profile} has no constant {key!r}{nearest(key, sections[section])}"
    return f"{ROOT}.{profile}.{section}.{key}", ""


def constants_in(tables: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the constants in three levels of tables, each with its names; what is no table ends the names early."""
    if isinstance(tables, Mapping) and len(names) < 3:
        for name, inner in tables.items():
            yield from constants_in(inner, (*names, name))
    else:
        yield names, tables


def nearest_variable(name: str, others: Collection[str]) -> str:
    """Return the nearest variable, as the end of a message: PRIMING_PLASTICITY_LOW lacks the name of a profile."""
    own = [variable(setting) for setting in table()]
    ending = name.removeprefix("PRIMING")
    same = [each for each in own if each.endswith(ending)]
    if same:
        return f": did you mean {same[0]}{', or that of another profile' if len(same) > 1 else ''}?"
    near = nearest(name, [each for each in own if name.startswith(variable(ROOT))] or others)
    return near if near.startswith(": did") else ": see 'priming config'"


def shown(profile: Profile, resolved: Mapping[str, Resolved]) -> list[Resolved]:
    """Return the constants that a profile uses, by ``SECTION.KEY``, with value, source and overridden values."""
    shown = []
    for section, keys in used(profile).items():
        for key in keys:
            name, value = f"{section}.{key}", getattr(getattr(profile, FIELDS[section]), key)
            default = resolved.get(_SOURCES.get(name, "")) if profile.name == "ethos" else None
            setting = resolved.get(f"{ROOT}.{profile.name}.{name}") or default
            shown.append(
                Resolved(name, value, DEFAULT)
                if setting is None
                else replace(setting, name=name, value=value)
            )
    return shown


_RETRIEVAL = {
    "spreading_strength": "spread.gain",
    "iterations": "spread.steps",
    "anchor_top_k_episodes": "anchors.episodes",
    "anchor_top_k_facts": "anchors.facts",
}
"""The constants of ``ethos`` that settings of retrieval set under the names of its design, beside its weights."""
_WEIGHTS = dict(zip(WEIGHTS, ("cosine", "spread", "in_degree"), strict=True))
_SOURCES = {name: f"retrieval.{key}" for key, name in _RETRIEVAL.items()}
_SOURCES["scoring.ethos"] = f"retrieval.{WEIGHTS[0]}"


def of_retrieval(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constants that settings of retrieval set, by name."""
    own = {_RETRIEVAL[key]: value for key, value in values.items() if key in _RETRIEVAL}
    shares = {_WEIGHTS[key]: value for key, value in values.items() if key in _WEIGHTS}
    return {f"{ROOT}.ethos.{name}": value for name, value in {**own, "scoring.ethos": shares}.items()}
