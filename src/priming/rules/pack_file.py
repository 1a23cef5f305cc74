"""Pack files: behaviours and the links among them, as JSON that is checked completely when it is read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, fields
from functools import partial
from pathlib import Path
from typing import Any

from priming.config.params.laws import SCORE
from priming.config.params.limits import STORE
from priming.config.values import dataclass
from priming.config.words import BRINGS, BUILT_IN, RANKED, REPLACED, RULES, TAKES, sign_of_name
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
from priming.core.graph import cycles
from priming.errors import MOST_VIOLATIONS, Conflict, ParamError, SchemaTooNew, StoreError
from priming.remember.links import LinkRequest
from priming.storage.rows import LinkIdentity
from priming.types import EMPTY

FORMAT, FORMAT_VERSION = "priming-pack", 2
"""Format 2 adds ``relations``; a pack without relations of its own has format 1, which older versions read."""
OWN_HISTORY = ("next", "next-but-one", "co-activated", "learned-from", "consolidated-into", *REPLACED)
"""Relations that record what happened in a store: packs do not contain them."""

_SOURCE = re.compile(rf"pack:({PACK_NAME})@({PACK_VERSION})")


@dataclass(frozen=True, slots=True)
class Origin:
    """The pack and version that a behaviour comes from."""

    name: str
    version: str

    @property
    def source(self) -> str:
        """The ``source`` of a memory from the pack."""
        return f"pack:{self.name}@{self.version}"

    def key(self, own: str) -> str:
        """Return the key in a store of a behaviour with the key ``own`` in the pack."""
        return f"{self.name}/{own}"


def pack_of(source: str | None) -> Origin | None:
    """Return the pack that a ``source`` names; None if it names none.

    >>> pack_of("pack:go-style@1.2")
    Origin(name='go-style', version='1.2')
    """
    match = _SOURCE.fullmatch(source or "")
    return Origin(match[1], match[2]) if match else None


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
class PackFile:
    """The content of a pack file; ``signs`` are those of its relations that are not built in, by name."""

    name: str
    version: str
    description: str
    rules: tuple[PackRule, ...]
    links: tuple[LinkRequest, ...]
    signs: Mapping[str, int] = field(default_factory=lambda: EMPTY)

    @property
    def origin(self) -> Origin:
        """The origin of its behaviours."""
        return Origin(self.name, self.version)


def write_pack(path: Path, pack: PackFile) -> None:
    """Write a pack to a new file, atomically, after the checks of ``read_pack``: what is written can be installed."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION if pack.signs else 1,
        "name": pack.name,
        "version": pack.version,
        "description": pack.description,
        "behaviors": [_to_json(rule) for rule in pack.rules],
        "links": [_to_json(link) for link in pack.links],
    }
    if pack.signs:
        document["relations"] = dict(pack.signs)
    data = (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()
    if len(data) > STORE.pack_bytes:
        rule = f"would have {len(data):,} bytes, at most {STORE.pack_bytes:,}: choose fewer by tags or keys"
        raise ParamError("path", str(path), rule)
    try:
        _PackReader().pack(json.loads(data))
    except ParamError as error:
        rule = "no store could install this pack: correct what follows, or choose other behaviours by tags or keys"
        raise ParamError.of([rule, *error.violations]) from None
    _write_new(path, data)


def _to_json(value: PackRule | LinkRequest) -> dict[str, Any]:
    """Return the fields of a value that are not empty."""
    values = {f.name: getattr(value, f.name) for f in fields(value)}
    return {
        name: dict(content) if isinstance(content, Mapping) else content
        for name, content in values.items()
        if content not in (None, (), {})
    }


def _write_new(path: Path, data: bytes) -> None:
    partial_path = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with partial_path.open("xb") as file:
            file.write(data)
        os.link(partial_path, path)
    except FileExistsError:
        raise Conflict(f"{path} already exists: choose another file, or remove that one") from None
    except OSError as error:
        raise StoreError(f"{path} could not be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            partial_path.unlink(missing_ok=True)


def read_pack(path: Path) -> PackFile:
    """Read a pack; ``ParamError`` names every violation."""
    document = _read_object(path)
    version = document.get("format_version")
    if document.get("format") != FORMAT:
        raise ParamError("path", str(path), f'must be a pack: a JSON object with "format": "{FORMAT}"')
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise SchemaTooNew(
            f"{path} is a pack of format {version}, this Priming reads up to {FORMAT_VERSION}:"
            " install a newer Priming"
        )
    return _PackReader().pack(document)


def _read_object(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            data = file.read(STORE.pack_bytes + 1)
    except OSError as error:
        raise ParamError("path", str(path), f"cannot be read: {error.strerror}") from None
    if len(data) > STORE.pack_bytes:
        raise ParamError("path", str(path), f"must have at most {STORE.pack_bytes:,} bytes: split the pack")
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ParamError("path", str(path), "must be UTF-8 text in JSON") from None
    except ValueError as error:
        raise ParamError("path", str(path), f"must be JSON ({error})") from None
    except RecursionError:
        raise ParamError("path", str(path), "is nested too deeply") from None
    return document if isinstance(document, dict) else {}


Check = Callable[[Any], Any]


@dataclass(slots=True)
class _PackReader:
    """Reads a pack and collects its violations, so that a single error reports them all."""

    violations: list[str] = field(default_factory=list)
    more: int = 0
    """How many violations there are that are not in the list."""

    def pack(self, document: Mapping[str, Any]) -> PackFile:
        values = self.fields("", document, _PACK)
        if self.violations:
            raise self.error()
        rules = tuple(self.rules(values["behaviors"], values["name"]))
        links = tuple(self.links(values["links"], {rule.key for rule in rules}))
        self.check_cycles(links)
        if self.violations:
            raise self.error()
        return PackFile(
            values["name"],
            values["version"],
            values["description"],
            rules,
            links,
            values.get("relations", EMPTY),
        )

    def fields(self, where: str, value: Any, checks: Mapping[str, tuple[Check, bool]]) -> dict[str, Any]:
        """Return the valid fields of an object; missing, invalid and unknown fields become violations."""
        if not isinstance(value, Mapping):
            self.add("", ParamError(where, value, f"must be an object with {', '.join(checks)}"))
            return {}
        for name in sorted(value.keys() - checks.keys()):
            self.add(where, ParamError(name, value[name], f"is not a known field: {', '.join(checks)}"))
        valid = {}
        for name, (check, required) in checks.items():
            if required or value.get(name) is not None:
                try:
                    valid[name] = check(value.get(name))
                except ParamError as error:
                    self.add(where, error)
        return valid

    def rules(self, items: Sequence[Any], pack: str) -> Iterator[PackRule]:
        """Yield the behaviours, each with a key of its own."""
        keys: set[str] = set()
        for i, item in enumerate(items):
            where = f"behaviors[{i}]"
            values = self.fields(where, item, _RULE)
            key = values.get("key")
            if key in keys:
                self.add(where, ParamError("key", key, "must differ from those before"))
            if key is not None:
                keys.add(key)
                try:
                    check_name("key", Origin(pack, "").key(key))
                except ParamError as error:
                    self.add(where, error)
            if "key" in values and "content" in values:
                yield PackRule(**values)

    def links(self, items: Sequence[Any], keys: set[str]) -> Iterator[LinkRequest]:
        """Yield the links, each between two behaviours of the pack."""
        seen: set[LinkIdentity] = set()
        for i, item in enumerate(items):
            where = f"links[{i}]"
            values = self.fields(where, item, _LINK)
            if len(values) < len(_LINK):
                continue
            link = LinkRequest(**values)
            for name in ("source", "target"):
                if values[name] not in keys:
                    self.add(where, ParamError(name, values[name], "must be the key of a behaviour here"))
            if link.source == link.target:
                self.add(where, ParamError("target", link.target, "must differ from the source"))
            if (link.source, link.target, link.relation) in seen:
                self.add(where, ParamError("relation", link.relation, "already links these two"))
            seen.add((link.source, link.target, link.relation))
            yield link

    def check_cycles(self, links: Sequence[LinkRequest]) -> None:
        """Add a violation for each cycle of a relation that ranks."""
        for relation in RANKED:
            for cycle in cycles((link.source, link.target) for link in links if link.relation == relation):
                path = " → ".join((*cycle, cycle[0]))
                self.add("links", ParamError("relation", relation, f"must not form a cycle: {path}"))

    def add(self, where: str, error: ParamError) -> None:
        """Add the violations of an error at a place of the document."""
        if len(self.violations) < MOST_VIOLATIONS:
            self.violations += [f"{where}.{text}" if where else text for text in error.violations]
        else:
            self.more += len(error.violations)

    def error(self) -> ParamError:
        """Return the violations as an error, the first of them in full."""
        return ParamError.of(self.violations, self.more)


def _check_list(name: str, value: Any, least: int) -> Sequence[Any]:
    if not isinstance(value, list) or len(value) < least:
        raise ParamError(name, value, "must be a list" + (" of at least one behaviour" if least else ""))
    return value


def _check_required(name: str, value: Any) -> str:
    return check_name(name, check_text(name, value)) or ""


def _check_format_version(value: Any) -> int:
    if isinstance(value, bool) or value not in range(1, FORMAT_VERSION + 1):
        raise ParamError("format_version", value, f"must be in [1, {FORMAT_VERSION}]")
    return int(value)


def check_relation(value: Any) -> str:
    """Return a relation that a pack may contain, checked."""
    relation = _check_required("relation", value)
    if relation in OWN_HISTORY:
        raise ParamError("relation", relation, "records what happened in a store: leave it out of the pack")
    return relation


def _check_signs(value: Any) -> dict[str, int]:
    """Return the signs of relations by name: 1 or −1, and for a built-in relation only its own."""
    if not isinstance(value, Mapping):
        raise ParamError("relations", value, "must map names of relations to 1 or -1")
    for relation, sign in value.items():
        check_relation(relation)
        if isinstance(sign, bool) or sign not in (BRINGS, TAKES):
            rule = "must be 1, to bring activation, or -1, to take it away"
            raise ParamError(f"relations.{relation}", sign, rule)
        if relation in BUILT_IN and sign != (own := sign_of_name(relation)):
            rule = f"must be {own}: the relation is built in; choose another name"
            raise ParamError(f"relations.{relation}", sign, rule)
    return {relation: int(sign) for relation, sign in value.items() if relation not in BUILT_IN}


_PACK: dict[str, tuple[Check, bool]] = {
    "format": (partial(check_text, "format"), True),
    "format_version": (_check_format_version, True),
    "name": (partial(check_pack_name, "name"), True),
    "version": (partial(check_pack_version, "version"), True),
    "description": (partial(check_description, "description"), True),
    "behaviors": (partial(_check_list, "behaviors", least=1), True),
    "links": (partial(_check_list, "links", least=0), True),
    "relations": (_check_signs, False),
}
_RULE: dict[str, tuple[Check, bool]] = {
    "key": (partial(_check_required, "key"), True),
    "content": (check_content, True),
    "heading": (partial(_check_required, "heading"), False),
    "when": (check_predicates, False),
    "tags": (check_tags, False),
    "rule": (partial(check_choice, "rule", choices=RULES), False),
    "importance": (partial(check_fraction, "importance"), False),
    "priority": (partial(check_fraction, "priority", high=SCORE.priority_max), False),
    "confidence": (partial(check_fraction, "confidence"), False),
}
_LINK: dict[str, tuple[Check, bool]] = {
    "source": (partial(_check_required, "source"), True),
    "target": (partial(_check_required, "target"), True),
    "relation": (check_relation, True),
    "weight": (partial(check_fraction, "weight"), True),
}
