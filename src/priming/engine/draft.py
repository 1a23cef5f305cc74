"""What a caller wants remembered, checked once at the edge."""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from priming.config.params.store import STORE
from priming.engine.ids import gist_of
from priming.errors import ParamError
from priming.serialization import stamp
from priming.store.rows import VersionRow
from priming.types import EMPTY, aware
from priming.words import KINDS, OUTCOMES, TRUST

_NAME_LIMIT = 512
_DEEPEST = 100
_BREAKS = ("Cc", "Zl", "Zp")


@dataclass(frozen=True, slots=True)
class Draft:
    """The arguments of ``remember``, checked."""

    content: str
    heading: str | None = None
    kind: str = "episode"
    key: str | None = None
    session: str | None = None
    speaker: str | None = None
    occurred_at: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    when: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    importance: float = 0.5
    outcome: str | None = None
    source: str | None = None
    trust: str = "user"

    @property
    def title(self) -> str | None:
        """What the memory is indexed under beside its text."""
        return self.heading or self.speaker

    @property
    def digest(self) -> str:
        """Equal for what would be the same memory: kind, title, text, session and time."""
        at = stamp(self.occurred_at) if self.occurred_at else None
        same = json.dumps([self.kind, self.title, self.content, self.session, at], ensure_ascii=False)
        return hashlib.blake2b(same.encode(), digest_size=16).hexdigest()

    def version(
        self, memory_id: str, number: int, now: datetime, start: datetime | None = None
    ) -> VersionRow:
        """What is told here as a version of a memory, recorded now and true from ``start`` on; None: ever since."""
        return VersionRow(
            id=memory_id,
            version=number,
            recorded_at=now,
            valid_from=start,
            content=self.content,
            gist=gist_of(self.content),
            digest=self.digest,
            heading=self.heading,
            session=self.session,
            speaker=self.speaker,
            when=self.when,
            tags=self.tags,
            metadata=self.metadata,
            source=self.source,
            trust=self.trust,
            importance=self.importance,
            outcome=self.outcome,
            occurred_at=self.occurred_at,
        )


FIELDS = tuple(f.name for f in fields(Draft))


def draft(arguments: Mapping[str, Any]) -> Draft:
    """Check the arguments of ``remember``; the first that is wrong raises ``ParamError``."""
    if not isinstance(arguments, Mapping):
        raise ParamError("item", arguments, "must be a mapping of the arguments of remember")
    unknown = [name for name in arguments if name not in FIELDS]
    if unknown:
        raise ParamError("item", unknown[0], f"is not an argument of remember: {', '.join(FIELDS)}")
    given = {name: value for name, value in arguments.items() if value is not None}
    importance = given.get("importance", 0.5)
    kind = one_of("kind", given.get("kind", "episode"), KINDS)
    known = metadata(given.get("metadata", EMPTY))
    if kind == "procedure":
        _check_procedure(known)
    return Draft(
        content=content(given.get("content")),
        heading=name_("heading", given.get("heading")),
        kind=kind,
        key=name_("key", given.get("key")),
        session=name_("session", given.get("session")),
        speaker=name_("speaker", given.get("speaker")),
        occurred_at=aware("occurred_at", given["occurred_at"]) if "occurred_at" in given else None,
        tags=tags(given.get("tags", ())),
        metadata=known,
        when=predicates(given.get("when", EMPTY)),
        importance=fraction("importance", importance),
        outcome=one_of("outcome", given["outcome"], OUTCOMES) if "outcome" in given else None,
        source=name_("source", given.get("source")),
        trust=one_of("trust", given.get("trust", "user"), TRUST),
    )


def content(value: Any) -> str:
    """A text that can be kept: not blank, no NUL, no lone surrogate, not too long."""
    text = text_("content", value)
    if not text.strip():
        raise ParamError("content", text, "must not be blank")
    if len(text) > STORE.content_limit:
        raise ParamError(
            "content",
            text,
            f"has {len(text):,} characters, at most {STORE.content_limit:,}: split it into parts",
        )
    return text


def words(value: Any) -> str:
    """A value of a cue as it is matched by its words; of a list all of them."""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def name_(name: str, value: Any) -> str | None:
    """A short text that names something, or None."""
    if value is None:
        return None
    text = text_(name, value)
    if not text.strip() or len(text) > _NAME_LIMIT or _breaks(text):
        raise ParamError(name, text, f"must be one printable line of 1 to {_NAME_LIMIT} characters")
    return text


def uuid_(name: str, value: Any) -> str:
    """A UUID in its usual form."""
    try:
        return str(UUID(text_(name, value)))
    except ValueError:
        raise ParamError(
            name, value, "must be a UUID, such as 01890a5d-ac96-774b-bcce-b302099a8057"
        ) from None


def _breaks(text: str) -> bool:
    """Whether a text has a line break or a control character; other scripts' spaces and joiners may stand."""
    return not text.isprintable() and any(unicodedata.category(one) in _BREAKS for one in text)


def one_of(name: str, value: Any, choices: Sequence[str]) -> str:
    """One of a fixed set of words."""
    if value not in choices:
        raise ParamError(name, value, f"must be one of {', '.join(choices)}")
    return str(value)


def fraction(name: str, value: Any) -> float:
    """A number in [0, 1]."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ParamError(name, value, "must be in [0, 1]")
    return float(value)


def tags(value: Any) -> tuple[str, ...]:
    """Short texts, each once, in their order."""
    if isinstance(value, (str, Mapping)) or not isinstance(value, (Sequence, set, frozenset)):
        raise ParamError("tags", value, "must be a list of texts")
    checked = [name_("tags", text_("tags", one)) or "" for one in value]
    return tuple(dict.fromkeys(sorted(checked) if isinstance(value, (set, frozenset)) else checked))


def metadata(value: Any) -> Mapping[str, Any]:
    """A mapping that JSON can hold."""
    if not isinstance(value, Mapping):
        raise ParamError("metadata", value, "must be a mapping")
    try:
        encoded = json.dumps(dict(value), allow_nan=False, ensure_ascii=False)
        encoded.encode()
    except (TypeError, ValueError) as error:
        raise ParamError("metadata", value, f"must hold what JSON holds ({error})") from None
    except RecursionError:
        raise ParamError("metadata", list(value), "must not be nested so deep") from None
    decoded: Mapping[str, Any] = json.loads(encoded)
    level: list[Any] = [decoded]
    for _ in range(_DEEPEST + 1):
        level = [inner for one in level for inner in _inside(one)]
    if level:
        raise ParamError("metadata", list(value), f"must be nested at most {_DEEPEST} deep")
    return decoded


def _inside(value: Any) -> Collection[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _check_procedure(known: Mapping[str, Any]) -> None:
    """What the metadata of a procedure say of how and when it is carried out."""
    steps = known.get("steps", [])
    if not isinstance(steps, list) or not all(isinstance(one, str) and one.strip() for one in steps):
        raise ParamError("metadata.steps", steps, "must be a list of texts, one for each step")
    trigger = known.get("trigger")
    if trigger is not None and not (isinstance(trigger, str) and trigger.strip()):
        raise ParamError("metadata.trigger", trigger, "must be a text that says when to do it")


def predicates(value: Any) -> Mapping[str, Any]:
    """Conditions under which a memory applies: a value, or a list of which any will do, by predicate."""
    if not isinstance(value, Mapping):
        raise ParamError("when", value, "must be a mapping of predicates, such as {'language': 'python'}")
    for name, wanted in value.items():
        where = f"when.{text_('when', name)}"
        some = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        if not some or not all(_is_plain(where, one) for one in some):
            raise ParamError(where, wanted, "must be a text, a number, true, false or a list of these")
    return {str(name): list(one) if isinstance(one, tuple) else one for name, one in value.items()}


def _is_plain(name: str, value: Any) -> bool:
    """Whether a value is a text that can be kept, a finite number, true or false."""
    if isinstance(value, str):
        return text_(name, value) == value
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def text_(name: str, value: Any) -> str:
    """A text without NUL and lone surrogates."""
    if not isinstance(value, str):
        raise ParamError(name, value, "must be a text")
    if "\x00" in value:
        raise ParamError(name, value, "must not contain the NUL character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ParamError(name, value, "must be valid Unicode, without lone surrogates") from None
    return value


def count(name: str, value: Any, low: int, high: int) -> int:
    """A whole number in a range."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ParamError(name, value, f"must be a whole number in [{low:,}, {high:,}]")
    return value


MOST = 1_000_000
"""The longest page that may be asked for at once."""
