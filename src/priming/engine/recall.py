"""recall: cue → anchors → spread → score → pack → trace. A read: no weight moves."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming import filters as filtering
from priming.checks import check_choice, check_count, check_name, check_number, check_text
from priming.config.params.store import STORE
from priming.config.profiles import ALL, Profile, get
from priming.core.pack import pack
from priming.core.score import partial_activation
from priming.core.when import evaluate
from priming.engine import past, traces
from priming.engine.arrays import ENTITY
from priming.engine.ask import Ask, Ranked
from priming.engine.confidence import certainty
from priming.engine.draft import words
from priming.engine.evidence import Evidence
from priming.engine.opened import Opened
from priming.engine.past import Moment, moment
from priming.engine.present import HEADER, packables
from priming.engine.rank import rank
from priming.engine.standing import named
from priming.engine.weights import in_force
from priming.engine.working import WorkingSet
from priming.errors import ParamError
from priming.ids import uuid7
from priming.types import Cue, Hit, MemoryRecord, Omitted, Recall, Step
from priming.words import KINDS

TERMS = (
    "bm25",
    "cosine",
    "near",
    "pairs",
    "named",
    "date",
    "time",
    "length",
    "question",
    "window",
    "session",
    "gist",
    "answer",
    "details",
    "news",
    "context",
    "proved",
    "refused",
    "retention",
    "base",
    "coverage",
    "spread",
    "next",
    "names",
    "titled",
    "idf",
    "prior",
    "bridge",
    "covered",
    "repeated",
)
"""What ``ablate`` can switch off."""

MOST_HITS = 10_000
_DIGITS = 6
LOG = logging.getLogger(__name__)
"""Tells every iteration of a spread, to those who debug: it names what is remembered, and so nothing above that."""


@dataclass(frozen=True, slots=True)
class Question:
    """The arguments of ``recall``, checked."""

    text: str
    cue: Cue
    profile: Profile
    kinds: tuple[str, ...] | None
    limit: int
    tokens: int | None
    session: str | None
    condition: filtering.Condition | None
    spread: bool
    ablate: frozenset[str]
    trace: bool
    floor: float | None = None
    moment: Moment | None = None


@dataclass(slots=True)
class Stopwatch:
    """Milliseconds a step took, by name."""

    laps: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def lap(self, name: str) -> None:
        """End a step."""
        now = time.perf_counter()
        self.laps[name] = (now - self._last) * 1000.0
        self._last = now


_DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys(
        ("text", "cue", "kinds", "tokens", "session", "filters", "profile", "floor", "valid_at", "known_at")
    ),
    "include_superseded": False,
    "spread": True,
    "ablate": (),
    "trace": False,
}


def question(profile: Profile, given: Mapping[str, Any], profiles: Mapping[str, Profile] = ALL) -> Question:
    """Check the arguments of ``recall``; only the limit must be given."""
    arguments = {**_DEFAULTS, **given}
    cue = arguments["cue"]
    if cue is not None and not isinstance(cue, Cue):
        raise ParamError("cue", cue, "must be a Cue")
    cue = cue or Cue()
    text = arguments["text"] if arguments["text"] is not None else cue.text
    kinds = arguments["kinds"]
    wanted = arguments["filters"]
    profile = get(arguments["profile"], profiles) if arguments["profile"] else profile
    return Question(
        text=_cue_text(text, cue),
        cue=cue,
        profile=profile,
        kinds=None if kinds is None else _some("kinds", kinds, KINDS),
        limit=check_count("limit", arguments["limit"], 1, MOST_HITS),
        tokens=None
        if arguments["tokens"] is None
        else check_count("tokens", arguments["tokens"], 0, 10_000_000),
        session=check_name("session", arguments["session"]),
        condition=None if wanted is None else filtering.parse(wanted),
        spread=bool(arguments["spread"]),
        ablate=frozenset(_some("ablate", arguments["ablate"], TERMS)),
        trace=bool(arguments["trace"]),
        floor=None
        if arguments["floor"] is None
        else check_number("floor", arguments["floor"], low=0.0, high=1.0),
        moment=moment(
            arguments["valid_at"], arguments["known_at"], superseded=arguments["include_superseded"]
        ),
    )


def _some(name: str, value: Any, choices: Sequence[str]) -> tuple[str, ...]:
    """One or several of a fixed set of words."""
    some = (value,) if isinstance(value, str) else value
    if not isinstance(some, Collection):
        raise ParamError(name, value, f"must be some of {', '.join(choices)}")
    return tuple(check_choice(name, one, choices) for one in some)


def _cue_text(text: Any, cue: Cue) -> str:
    """What is matched: the text and who speaks; without a text, the values of the context."""
    context = {name: check_text(f"cue.{name}", words(value)) for name, value in cue.context().items()}
    if text is not None and check_text("text", text).strip():
        if len(text) > STORE.content_limit:
            rule = f"has {len(text):,} characters, at most {STORE.content_limit:,}: ask for less at once"
            raise ParamError("text", text, rule)
        speaker = context.get("speaker", "")
        return f"{text} {speaker}" if speaker and speaker not in text else str(text)
    if not context:
        raise ParamError("text", text, "must not be blank: give a text, a cue with a context, or both")
    return " ".join(context.values())


@dataclass(frozen=True, slots=True)
class Answer:
    """What came up, before it is packed and kept."""

    hits: tuple[Hit, ...]
    kept: traces.Kept
    reason: str | None
    confidence: float | None
    degraded: tuple[str, ...]
    spread: tuple[Mapping[str, float], ...]
    carried: tuple[Step, ...]


def recall(opened: Opened, asked: Question) -> Recall:
    """Answer a checked question."""
    watch = Stopwatch()
    with opened.lock:
        opened.readable()
        asked_of = past.at(opened, asked.moment)
        with asked_of.store.transaction(write=False):
            asked = replace(asked, profile=in_force(asked_of, asked.profile))
            answer = _answer(asked_of, asked, watch)
        hits, tiers = answer.hits, asked.profile.tiers
        packed = (
            pack(packables(hits, tiers=tiers is not None), asked.tokens, tiers=tiers, header=HEADER)
            if hits
            else None
        )
        watch.lap("pack")
        recall_id, untraced = _keep(opened, asked, answer)
        watch.lap("trace")
    return Recall(
        recall_id=recall_id,
        hits=hits,
        reason=answer.reason,
        degraded=(*answer.degraded, *untraced),
        text=packed.text if packed else "",
        omitted=tuple(Omitted(o.key, o.reason, o.tokens) for o in packed.omitted) if packed else (),
        profile=asked.profile.name,
        confidence=answer.confidence,
        timings=MappingProxyType(watch.laps),
        spread=answer.spread,
        carried=answer.carried,
    )


def _keep(opened: Opened, asked: Question, answer: Answer) -> tuple[str, list[str]]:
    """Keep a recall of the present: what is asked about another time says nothing of what is of use now."""
    if asked.moment is not None:
        return uuid7(opened.now()), []
    return traces.keep(
        opened,
        text=asked.text,
        cue=asked.cue,
        profile=asked.profile.name,
        session=asked.session,
        hits=[(hit.memory.id, hit.score) for hit in answer.hits],
        flow=answer.kept,
    )


def _answer(opened: Opened, asked: Question, watch: Stopwatch) -> Answer:
    """Find what answers, in one state of the store: another process may write or purge meanwhile."""
    now = opened.now()
    valid = opened.valid(now)
    working = opened.working(valid)
    watch.lap("refresh")
    context, eligible, pool = who(opened, asked, working, valid)
    profile, at = asked.profile, asked.cue.at or now
    evidence = Evidence(working, opened.embedder, asked.text, profile.recall, at, context, asked.ablate, pool)
    reason = silence(evidence, eligible, pool, asked)
    watch.lap("evidence")
    ranked = Ranked(np.zeros(0, np.int64), np.zeros(0))
    if reason is None:
        ranked = rank(
            Ask(
                working,
                evidence,
                profile,
                eligible,
                pool,
                past.room(opened, asked.limit),
                now,
                lambda rows: _records(opened, working, rows, valid),
                lambda: named(opened.store, working, asked.text, valid),
                asked.spread,
                asked.ablate,
            )
        )
    sure = certainty(evidence, ranked, profile.confidence) if profile.confidence else None
    floor = _floor(asked, evidence)
    if sure is not None and sure < floor:
        reason = f"nothing above the floor: confidence {sure:.3f}, less than {floor:g}"
        ranked = Ranked(np.zeros(0, np.int64), np.zeros(0))
    watch.lap("rank")
    steps = _steps(opened, working, ranked) if asked.trace or LOG.isEnabledFor(logging.DEBUG) else ()
    for at_step, values in enumerate(steps):
        shown = {key: float(f"{value:.{_DIGITS}g}") for key, value in values.items()}
        LOG.debug("step %d of the spread: %s", at_step, json.dumps(shown, ensure_ascii=False))
    kept = traces.kept(working, profile, ranked, _matched(working, profile, evidence))
    hits = past.told(opened, _hits(opened, working, ranked, kept, valid), asked.limit)
    watch.lap("paths")
    return Answer(
        hits=hits,
        kept=kept,
        reason=reason if hits or reason else "nothing above the floor",
        confidence=sure,
        degraded=("vectors",) if working.missing_vectors else (),
        spread=steps if asked.trace else (),
        carried=traces.carried(opened, kept, [hit.memory.id for hit in hits]) if asked.trace else (),
    )


def _matched(working: WorkingSet, profile: Profile, evidence: Evidence) -> traces.Matched | None:
    """How well the cue itself matched some rows, in the design whose anchors have priors too."""
    return (lambda rows: working.at(evidence.match, rows)) if profile.anchors is None else None


def who(
    opened: Opened, asked: Question, working: WorkingSet, valid: datetime
) -> tuple[dict[int, float], NDArray[np.bool_], NDArray[np.bool_]]:
    """Who may be a hit, who may be an anchor, and how well each memory's predicates fit the cue."""
    kinds = working.kind.values
    living = working.alive.values.copy()
    context: dict[int, float] = {}
    given = asked.cue.context()
    for document, when in working.predicates.items() if given else ():
        confirmed, contradicted, _ = evaluate(when, given)
        if contradicted:
            living[working.row[document]] = False
        elif confirmed:
            context[document] = float(partial_activation(confirmed, len(when)))
    if asked.condition is not None:
        found = opened.store.matching(opened.namespace, asked.condition, valid)
        mask = np.zeros(working.rows, np.bool_)
        mask[[working.row_of[one] for one in found if one in working.row_of]] = True
        living &= mask
    if asked.kinds is None:
        eligible = living & (kinds != ENTITY)
    else:
        eligible = living & np.isin(kinds, [KINDS.index(kind) for kind in asked.kinds])
    over_names = asked.kinds is not None and "entity" in asked.kinds
    able = working.alive.values if over_names else eligible
    return context, eligible, able[working.row.values] & working.living.values


def silence(
    evidence: Evidence, eligible: NDArray[np.bool_], pool: NDArray[np.bool_], asked: Question
) -> str | None:
    """Why nothing can come up, if nothing can."""
    if not evidence.working.memories:
        return "nothing is remembered in this namespace yet"
    if not eligible.any():
        return "no memory passes the kinds, filters and predicates asked for"
    if not pool.any():
        return "no memory with a text may answer"
    if evidence.context or pool[evidence.found.rows].any() or asked.floor == 0:
        return None
    nearest, floor = float(evidence.cosine[pool].max()), asked.profile.recall.floor
    if nearest >= floor:
        return None
    told = f"no memory holds a word of the cue, and the best cosine is {nearest:.3f}, less than {floor:g}"
    return f"nothing above the floor: {told}"


def _floor(asked: Question, evidence: Evidence) -> float:
    """How sure an answer must be. Who narrows a recall says that there is something; few memories tell little."""
    if asked.floor is not None:
        return asked.floor
    law = asked.profile.confidence
    narrowed = asked.kinds is not None or asked.condition is not None or bool(evidence.context)
    return 0.0 if law is None or narrowed or evidence.working.memories < law.least else law.floor


def _records(
    opened: Opened, working: WorkingSet, rows: Collection[int], valid: datetime
) -> dict[int, MemoryRecord]:
    ids = {working.ids[row]: int(row) for row in rows}
    found = opened.store.records(opened.namespace, list(ids), valid)
    return {ids[one]: memory for one, memory in found.items()}


def _hits(
    opened: Opened, working: WorkingSet, ranked: Ranked, kept: traces.Kept, valid: datetime
) -> tuple[Hit, ...]:
    known = _records(opened, working, ranked.rows.tolist(), valid)
    paths = traces.steps_of(opened, kept, [one.id for one in known.values()])
    columns = {name: column.tolist() for name, column in ranked.components.items()}
    hits = []
    for i, row in enumerate(ranked.rows.tolist()):
        if row in known:
            values = {name: float(column[i]) for name, column in columns.items()}
            shown = {name: value for name, value in values.items() if value == value}  # not NaN
            score = float(ranked.scores[i])
            path = paths.get(known[row].id, ())
            hits.append(Hit(known[row], score, MappingProxyType(shown), path, distance=len(path)))
    return tuple(hits)


def _steps(opened: Opened, working: WorkingSet, ranked: Ranked) -> tuple[Mapping[str, float], ...]:
    """The activation of every row after each step, by key."""
    if ranked.activation is None or ranked.activation.flow is None:
        return ()
    flow = ranked.activation.flow
    steps = [flow.values(step) for step in range(flow.steps + 1)]
    rows = {row for step in steps for row in step}
    names = opened.store.names(opened.namespace, [working.ids[row] for row in rows])
    return tuple(
        MappingProxyType({names[working.ids[row]]: value for row, value in step.items()}) for step in steps
    )
