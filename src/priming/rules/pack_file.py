"""The file of a pack: behaviours and the links among them, as JSON that is checked whole when it is read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from priming.config.params.laws import SCORE
from priming.config.params.store import STORE
from priming.config.words import RULES
from priming.core.arguments.checks import (
    PACK_NAME,
    PACK_VERSION,
    check_choice,
    check_content,
    check_description,
    check_fraction,
    check_name,
    check_pack_name,
    check_pack_version,
    check_predicates,
    check_tags,
    check_text,
)
from priming.errors import Conflict, ParamError, SchemaTooNew, StoreError
from priming.graph.traversal import cycles
from priming.maintenance.merge import RANKED, REPLACED
from priming.types import EMPTY

FORMAT, FORMAT_VERSION = "priming-pack", 1
OWN_HISTORY = ("next", "next-but-one", "co-activated", "learned-from", "consolidated-into", *REPLACED)
"""Relations that tell what happened in a store: they stay there."""

_SOURCE = re.compile(rf"pack:({PACK_NAME})@({PACK_VERSION})")
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Origin:
    """The pack that a behaviour is from."""

    name: str
    version: str

    @property
    def source(self) -> str:
        """How it is written as the source of a memory."""
        return f"pack:{self.name}@{self.version}"

    def key(self, own: str) -> str:
        """The key that a behaviour of the pack has in a store."""
        return f"{self.name}/{own}"


def pack_of(source: str | None) -> Origin | None:
    """The pack that a source names; None if it names something else.

    >>> pack_of("pack:go-style@1.2")
    Origin(name='go-style', version='1.2')
    """
    found = _SOURCE.fullmatch(source or "")
    return Origin(found[1], found[2]) if found else None


@dataclass(frozen=True, slots=True)
class PackRule:
    """A behaviour of a pack."""

    key: str
    content: str
    heading: str | None = None
    when: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    tags: tuple[str, ...] = ()
    rule: str | None = None
    importance: float = 0.5
    priority: float = 0.0
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class PackLink:
    """A link between two behaviours of a pack."""

    source: str
    target: str
    relation: str
    weight: float


@dataclass(frozen=True, slots=True)
class PackFile:
    """What the file of a pack says."""

    name: str
    version: str
    description: str
    rules: tuple[PackRule, ...]
    ties: tuple[PackLink, ...]

    @property
    def origin(self) -> Origin:
        """What its behaviours name as their source."""
        return Origin(self.name, self.version)


def write_pack(path: Path, pack: PackFile) -> None:
    """Write a pack to a new file, whole or not at all."""
    held = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "name": pack.name,
        "version": pack.version,
        "description": pack.description,
        "behaviors": [_plain(one) for one in pack.rules],
        "links": [_plain(one) for one in pack.ties],
    }
    data = (json.dumps(held, ensure_ascii=False, indent=2) + "\n").encode()
    if len(data) > STORE.pack_bytes:
        rule = f"would have {len(data):,} bytes, at most {STORE.pack_bytes:,}: choose fewer by tags or keys"
        raise ParamError("path", str(path), rule)
    _write_new(path, data)


def _plain(one: PackRule | PackLink) -> dict[str, Any]:
    """What is given of a value, as JSON holds it."""
    given = {f.name: getattr(one, f.name) for f in fields(one)}
    return {
        name: dict(value) if isinstance(value, Mapping) else value
        for name, value in given.items()
        if value not in (None, (), {})
    }


def _write_new(path: Path, data: bytes) -> None:
    partial_path = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with partial_path.open("xb") as file:
            file.write(data)
        os.link(partial_path, path)
    except FileExistsError:
        raise Conflict(f"{path} is there already: choose another file, or remove that one") from None
    except OSError as error:
        raise StoreError(f"{path} could not be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            partial_path.unlink(missing_ok=True)


def read_pack(path: Path) -> PackFile:
    """Read a pack; ``ParamError`` names everything that is wrong with it."""
    held = _object(path)
    found = held.get("format_version")
    if held.get("format") != FORMAT:
        raise ParamError("path", str(path), f'must be a pack: a JSON object with "format": "{FORMAT}"')
    if isinstance(found, int) and found > FORMAT_VERSION:
        raise SchemaTooNew(
            f"{path} is a pack of format {found}, this Priming reads up to {FORMAT_VERSION}: install a newer Priming"
        )
    return _Reader().pack(held)


def _object(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            data = file.read(STORE.pack_bytes + 1)
    except OSError as error:
        raise ParamError("path", str(path), f"cannot be read: {error.strerror}") from None
    if len(data) > STORE.pack_bytes:
        raise ParamError("path", str(path), f"must have at most {STORE.pack_bytes:,} bytes: split the pack")
    try:
        held = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ParamError("path", str(path), "must be UTF-8 text in JSON") from None
    except ValueError as error:
        raise ParamError("path", str(path), f"must be JSON ({error})") from None
    except RecursionError:
        raise ParamError("path", str(path), "must not be nested so deep") from None
    return held if isinstance(held, dict) else {}


Check = Callable[[Any], Any]


@dataclass(slots=True)
class _Reader:
    """Reads the parts of a pack, and goes on where one is wrong, so that all can be told at once."""

    violations: list[str] = field(default_factory=list)

    def pack(self, held: Mapping[str, Any]) -> PackFile:
        made = self.fields("", held, _PACK)
        if self.violations:
            raise self.error()
        rules = tuple(self.rules(made["behaviors"], made["name"]))
        ties = tuple(self.ties(made["links"], {one.key for one in rules}))
        self.circles(ties)
        if self.violations:
            raise self.error()
        return PackFile(made["name"], made["version"], made["description"], rules, ties)

    def fields(self, where: str, held: Any, checks: Mapping[str, tuple[Check, bool]]) -> dict[str, Any]:
        """The fields that are given and right; those that are missing or not known are told."""
        if not isinstance(held, Mapping):
            self.note("", ParamError(where, held, f"must be an object with {', '.join(checks)}"))
            return {}
        for name in sorted(held.keys() - checks.keys()):
            self.note(where, ParamError(name, held[name], f"is not known here: {', '.join(checks)}"))
        made = {}
        for name, (check, required) in checks.items():
            if required or held.get(name) is not None:
                try:
                    made[name] = check(held.get(name))
                except ParamError as error:
                    self.note(where, error)
        return made

    def rules(self, held: Sequence[Any], pack: str) -> Iterator[PackRule]:
        keys: set[str] = set()
        for i, one in enumerate(held):
            where = f"behaviors[{i}]"
            made = self.fields(where, one, _RULE)
            key = made.get("key")
            if key in keys:
                self.note(where, ParamError("key", key, "must be another than those before"))
            if key is not None:
                keys.add(key)
                try:
                    check_name("key", Origin(pack, "").key(key))
                except ParamError as error:
                    self.note(where, error)
            if "key" in made and "content" in made:
                yield PackRule(**made)

    def ties(self, held: Sequence[Any], keys: set[str]) -> Iterator[PackLink]:
        there: set[tuple[str, str, str]] = set()
        for i, one in enumerate(held):
            where = f"links[{i}]"
            made = self.fields(where, one, _TIE)
            if len(made) < len(_TIE):
                continue
            tie = PackLink(**made)
            for name in ("source", "target"):
                if made[name] not in keys:
                    self.note(where, ParamError(name, made[name], "must be the key of a behaviour here"))
            if tie.source == tie.target:
                self.note(where, ParamError("target", tie.target, "must be another than the source"))
            if (tie.source, tie.target, tie.relation) in there:
                self.note(where, ParamError("relation", tie.relation, "links these two already"))
            there.add((tie.source, tie.target, tie.relation))
            yield tie

    def circles(self, ties: Iterable[PackLink]) -> None:
        some = list(ties)
        for relation in RANKED:
            for ring in cycles((one.source, one.target) for one in some if one.relation == relation):
                way = " → ".join((*ring, ring[0]))
                self.note("links", ParamError("relation", relation, f"must not lead in a circle: {way}"))

    def note(self, where: str, error: ParamError) -> None:
        self.violations += [f"{where}.{one}" if where else one for one in error.violations]

    def error(self) -> ParamError:
        shown = self.violations[:_SHOWN]
        if len(self.violations) > _SHOWN:
            shown.append(f"and {len(self.violations) - _SHOWN:,} more")
        return ParamError.of(shown)


def _list(name: str, value: Any, least: int) -> Sequence[Any]:
    if not isinstance(value, list) or len(value) < least:
        raise ParamError(name, value, "must be a list" + (" of at least one behaviour" if least else ""))
    return value


def _named(name: str, value: Any) -> str:
    return check_name(name, check_text(name, value)) or ""


def _format_version(value: Any) -> int:
    if isinstance(value, bool) or value != FORMAT_VERSION:
        raise ParamError("format_version", value, f"must be {FORMAT_VERSION}")
    return FORMAT_VERSION


def _priority(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= SCORE.priority_max:
        raise ParamError("priority", value, f"must be in [0, {SCORE.priority_max:g}]")
    return float(value)


def check_relation(value: Any) -> str:
    """A relation that a pack can hold."""
    relation = _named("relation", value)
    if relation in OWN_HISTORY:
        raise ParamError("relation", relation, "tells what happened in a store, and is not for packs")
    return relation


_PACK: dict[str, tuple[Check, bool]] = {
    "format": (partial(check_text, "format"), True),
    "format_version": (_format_version, True),
    "name": (partial(check_pack_name, "name"), True),
    "version": (partial(check_pack_version, "version"), True),
    "description": (partial(check_description, "description"), True),
    "behaviors": (partial(_list, "behaviors", least=1), True),
    "links": (partial(_list, "links", least=0), True),
}
_RULE: dict[str, tuple[Check, bool]] = {
    "key": (partial(_named, "key"), True),
    "content": (check_content, True),
    "heading": (partial(_named, "heading"), False),
    "when": (check_predicates, False),
    "tags": (check_tags, False),
    "rule": (partial(check_choice, "rule", choices=RULES), False),
    "importance": (partial(check_fraction, "importance"), False),
    "priority": (_priority, False),
    "confidence": (partial(check_fraction, "confidence"), False),
}
_TIE: dict[str, tuple[Check, bool]] = {
    "source": (partial(_named, "source"), True),
    "target": (partial(_named, "target"), True),
    "relation": (check_relation, True),
    "weight": (partial(check_fraction, "weight"), True),
}
