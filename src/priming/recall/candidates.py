"""The query of a recall, its terms and their weights, the memories that can answer it, and their floor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.limits import STORE
from priming.config.params.recall import RecallParams
from priming.config.profiles import Profile
from priming.config.values import dataclass
from priming.config.words import FILE, KINDS
from priming.core.arguments.checks import check_number, check_text
from priming.core.arguments.normal_forms import normalized
from priming.errors import Conflict, ParamError
from priming.history.as_of import Moment, naming_versions
from priming.index.working_set import WorkingSet
from priming.namespace import Namespace
from priming.recall.evidence import Evidence
from priming.recall.files import files_of
from priming.recall.relevance import context_of, fits_of, words
from priming.storage import filters as filtering
from priming.storage.protocol import Logged
from priming.storage.rows import RowChange, WeightsRow
from priming.types import EMPTY, Cue

_NEAR_IT = 0.5
"""How well a memory fits a date, from which it may tell of it: within the time in which half of its bonus is lost."""


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """The checked arguments of ``recall``."""

    text: str
    cue: Cue
    profile: Profile
    limit: int
    kinds: tuple[str, ...] | None = None
    """The kinds of memories that may be hits; ``("file",)`` asks for files."""
    tokens: int | None = None
    session: str | None = None
    condition: filtering.Condition | None = None
    floor: float | None = None
    moment: Moment | None = None
    spread: bool = True
    ablate: frozenset[str] = frozenset()
    trace: bool = False
    context: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    """The context in which conditions are evaluated."""

    @property
    def of_files(self) -> bool:
        """Whether files are the answer."""
        return self.kinds == (FILE,)


def cue_text(text: Any, cue: Cue) -> str:
    """Return the text to match: the cue's text and its speaker; without a text, the values of the context."""
    context = {name: check_text(f"cue.{name}", words(value)) for name, value in cue.context().items()}
    if text is not None and check_text("text", text).strip():
        if len(text) > STORE.content_limit:
            rule = f"has {len(text):,} characters, at most {STORE.content_limit:,}: ask for less at once"
            raise ParamError("text", text, rule)
        speaker = context.get("speaker", "")
        return normalized("NFC", f"{text} {speaker}" if speaker and speaker not in text else str(text))
    if not context:
        raise ParamError("text", text, "must not be blank: give a text, a cue with a context, or both")
    return " ".join(context.values())


def cue_texts(text: str, cue: Cue) -> list[str]:
    """Return the texts in which a cue may name what it is about: what is asked, and the values of its context."""
    return [text, *(words(value) for value in cue.context().values())]


def recall_context(profile: Profile, cue: Cue, text: str | None) -> Mapping[str, Any]:
    """Return the context in which a recall evaluates conditions: in the profile of rules, that of ``active``."""
    return context_of(cue, text) if profile.score == "floop" else cue.context()


def eligible_candidates(
    memory: Namespace, query: RecallQuery, working: WorkingSet, valid: datetime
) -> tuple[dict[int, float], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return how well each document's predicates fit the cue, the rows that may be hits, the possible anchors."""
    if query.kinds is None and query.condition is None and not query.context:
        return {}, working.eligible, working.pool
    living = working.alive.values.copy()
    context: dict[int, float] = {}
    fits = fits_of(working.predicates.values(), query.context) if query.context else ()
    for document, fit in zip(working.predicates, fits, strict=False):
        if fit is None:
            living[working.row[document]] = False
        elif fit.confirmed:
            context[document] = fit.start
    excluded = None if query.condition is None else filtering.excluded_ids(query.condition)
    if excluded is not None:  # without a pass over the store
        living[[working.row_of[memory_id] for memory_id in excluded if memory_id in working.row_of]] = False
    elif query.condition is not None:
        condition = naming_versions(memory, query.condition)
        ids = list(memory.names(condition=condition, at=valid))
        mask = np.zeros(working.rows, np.bool_)
        mask[[working.row_of[memory_id] for memory_id in ids if memory_id in working.row_of]] = True
        living &= mask
    if query.of_files:
        files, rows = files_of(memory, working), working.rows
        return (
            context,
            living & files.offered(rows),
            files.touching(rows)[working.row.values] & working.living.values,
        )
    if query.kinds is None:
        eligible = living & working.eligible
    else:
        eligible = living & np.isin(working.kind.values, [KINDS.index(kind) for kind in query.kinds])
    over_names = query.kinds is not None and "entity" in query.kinds
    able = working.alive.values if over_names else eligible
    return context, eligible, able[working.row.values] & working.living.values


def anchor_pool(profile: Profile, working: WorkingSet, pool: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return those of ``pool`` from which the profile starts: zero anchors of a kind mean none of that kind."""
    counts = _anchor_counts(profile)
    if all(counts.values()):
        return pool
    episodes = working.kind[working.row.values] == KINDS.index("episode")
    return pool & np.where(episodes, counts["episodes"] > 0, counts["facts"] > 0)


def _anchor_counts(profile: Profile) -> dict[str, int]:
    """Return how many episodes and how many others a profile starts from; empty where it does not tell them apart."""
    anchors = profile.anchors
    if anchors is None or profile.score in ("arc", "world-weaver"):
        return {}
    return {"episodes": anchors.episodes, "facts": anchors.facts}


def no_result_reason(
    evidence: Evidence, eligible: NDArray[np.bool_], pool: NDArray[np.bool_], query: RecallQuery
) -> str | None:
    """Return the reason why a recall has no result; None where it can have one."""
    if not evidence.working.memories:
        now = "no memory holds now: valid_at asks for another time"
        return now if query.moment is None else "nothing was remembered at that time"
    if query.of_files and not pool.any():
        return "no memory touches a file: import a git history, or remember with files"
    if not eligible.any():
        return "no memory passes the kinds, filters and predicates asked for"
    if not pool.any():
        return "no memory with a text may answer"
    if not anchor_pool(query.profile, evidence.working, pool).any():
        zeros = [f"anchors.{kind} = 0" for kind, count in _anchor_counts(query.profile).items() if not count]
        return f"there is nothing to start from: the profile {query.profile.name} has {' and '.join(zeros)}"
    if query.floor != 0 and (missing := _missing_date(evidence, pool)):
        return f"nothing above the floor: no memory is of {missing!r}, nor names it"
    # A probability tells of itself that nothing fits; and the paths of files may match where no text does.
    if query.floor == 0 or query.of_files or query.profile.relevance is not None or _is_met(evidence, pool):
        return None
    nearest, floor = float(evidence.cosine[pool].max()), query.profile.recall.floor
    if query.profile.score == "ethos" or nearest >= floor:
        return None
    why = f"no memory holds a word of the cue, and the best cosine is {nearest:.3f}, less than {floor:g}"
    return f"nothing above the floor: {why}"


def _missing_date(evidence: Evidence, pool: NDArray[np.bool_]) -> str | None:
    """Return what the cue calls its date, if it asks for nothing else and no memory is of it, near it or names it."""
    named = evidence.named_date
    if named is None or not evidence.asks_for_time:
        return None
    right = (evidence.dated >= _NEAR_IT) | evidence.names_the_date
    return None if (pool & right).any() else named.words


def _is_met(evidence: Evidence, pool: NDArray[np.bool_]) -> bool:
    """Tell whether any memory that may answer has a word or a condition that the cue names."""
    return bool(evidence.context or (evidence.words[pool] > 0).any())


def check_floor(floor: Any, profile: Profile, memory: Namespace) -> float:
    """Return a floor of relevance, checked: a profile without relevance has none but 0."""
    least = check_number("floor", floor, low=0.0, high=1.0)
    if least and profile.relevance is None:
        others = ", ".join(name for name, other in memory.profiles.items() if other.relevance)
        rule = f"must be 0, or left out, in the profile {profile.name}, whose hits have no relevance"
        raise ParamError("floor", floor, f"{rule}; it counts in {others}")
    return least


def relevance_floor(query: RecallQuery) -> float | None:
    """Return the relevance below which hits are left out; None: where the answer ends by itself.

    By default, filtered recalls leave nothing out.
    """
    if query.floor is not None:
        return query.floor
    moment = query.moment
    narrowed = query.kinds is not None or query.condition is not None
    return 0.0 if query.profile.relevance is None or narrowed or (moment and moment.superseded) else None


TERMS = (
    *("words", "meaning", "near", "vocabulary", "size", "date", "named", "rest", "outdated"),
    *("other", "asks", "information", "session", "answered"),
    *("context", "feedback", "use", "spread", "next", "names"),
)
"""The terms that ``ablate`` can switch off."""

KIND = "ablate"
NAMES = tuple(field.name for field in fields(RecallParams) if field.type == "float")
"""The parameters that a namespace can set: the numbers of the recipe. Unknown names have no effect."""


def current_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Return stored weights without those of terms that recall no longer has."""
    return {name: value for name, value in weights.items() if name in NAMES}


def with_weights(params: RecallParams, weights: Mapping[str, float]) -> RecallParams:
    """Return the recipe with some of its weights replaced; ``ParamError`` names those that are out of their range."""
    for name, value in weights.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ParamError(name, value, "must be a number")
    values: dict[str, Any] = {name: float(value) for name, value in current_weights(weights).items()}
    return replace(params, **values)


def weighted_profile(memory: Namespace, profile: Profile) -> Profile:
    """Return a profile with the weights that this namespace gives it."""
    rows = memory.rows(WeightsRow, profile=profile.name)
    weights = current_weights(rows[0].weights) if rows else {}
    return replace(profile, recall=with_weights(profile.recall, weights)) if weights else profile


def write_weights(
    memory: Namespace,
    profile: Profile,
    weights: Mapping[str, float],
    before: Mapping[str, float],
    now: datetime,
) -> Logged:
    """Set some weights of a profile, as one operation. A weight that equals the profile's own is not stored.

    Raises:
        Conflict: the present weights differ from ``before``.

    """
    row = next(iter(memory.rows(WeightsRow, profile=profile.name)), None)
    stored = {} if row is None else current_weights(row.weights)
    present = with_weights(profile.recall, stored)
    for name, value in before.items():
        if getattr(present, name) != value:
            raise Conflict(
                f"{name} is {getattr(present, name):g} by now, where {value:g} was measured: ablate again"
            )
    merged = {**stored, **weights}
    changed = {
        name: merged[name] for name in sorted(merged) if merged[name] != getattr(profile.recall, name, None)
    }
    after = WeightsRow(profile.name, changed) if changed else None
    moves = [f"{name} {before[name]:g} → {weights[name]:g}" for name in weights]
    message = f"weights of {profile.name}: {', '.join(moves)}"
    return memory.write(KIND, now, [RowChange(row, after)], message=message)
