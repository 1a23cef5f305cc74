"""``recall``: cue → anchors → spread → score → pack → trace. A read: it changes no weight."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config import profiles
from priming.config.ids import uuid7
from priming.config.values import dataclass
from priming.config.words import FILE, RECALLED
from priming.core.arguments.checks import (
    absent_if_empty,
    check_choices,
    check_count,
    check_name,
)
from priming.core.pack import Packed, pack
from priming.errors import ParamError
from priming.history.as_of import describe_moment, moment, namespace_at, past_room
from priming.index.working_set import WorkingSet
from priming.namespace import Namespace
from priming.recall import traces
from priming.recall.candidates import (
    TERMS,
    RecallQuery,
    anchor_pool,
    check_floor,
    cue_text,
    cue_texts,
    eligible_candidates,
    no_result_reason,
    recall_context,
    relevance_floor,
    weighted_profile,
)
from priming.recall.designs import rank
from priming.recall.entities import entities_in_cue
from priming.recall.evidence import Evidence
from priming.recall.files import files_of, rank_files
from priming.recall.formatting import HEADER, packables, packed_text, passages_of, shortfall
from priming.recall.ranking import Ranked, RankingQuery, bar
from priming.results import Hit, Omitted, Recall
from priming.storage import filters as filtering
from priming.types import Cue, MemoryRecord

MOST_HITS = 10_000
_DIGITS = 6
LOG = logging.getLogger(__name__)
"""Logs every iteration of a spread, at the level DEBUG only, because the log names memories."""


@dataclass(slots=True)
class Stopwatch:
    """The milliseconds that each step took, by name."""

    laps: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def lap(self, name: str) -> None:
        """End a step."""
        now = time.perf_counter()
        self.laps[name] = (now - self._last) * 1000.0
        self._last = now


def recall(
    memory: Namespace,
    text: str | None = None,
    *,
    cue: Cue | None = None,
    kinds: Collection[str] | None = None,
    limit: int = 10,
    tokens: int | None = None,
    session: str | None = None,
    filters: Mapping[str, Any] | None = None,
    profile: str | None = None,
    floor: float | None = None,
    valid_at: datetime | None = None,
    known_at: datetime | None = None,
    include_superseded: bool = False,
    spread: bool = True,
    ablate: Collection[str] = (),
    trace: bool = False,
) -> Recall:
    """Return the memories that are relevant to a cue, each with its relevance, its score and its path.

    Args:
        text: the question, or what the agent sees; ``cue`` can add a context, or replace the text.
        cue: a context: file, language, task, environment, project, speaker, and others by name.
        kinds: the kinds of memory to return; None: all but entities and corrections, which rules repeat.
            "file" alone: the files that a task will touch.
        limit: maximum number of hits.
        tokens: budget of ``Recall.text``; None: no limit.
        session: the session under which the recall is recorded.
        filters: conditions on the memories to return (see ``priming.storage.filters``).
        profile: another profile for this recall.
        floor: the least relevance of a hit, in [0, 1]: others are left out; None: what raises the expected F-measure.
            A profile whose hits have no relevance takes only 0, by which nothing is left out.
        valid_at: recall what was true at this time.
        known_at: recall what was known at this time, by the clock of that time.
        include_superseded: whether superseded versions may be hits too, marked as such. A recall with any of
            these last three is not recorded, so that it cannot be judged.
        spread: whether activation spreads; otherwise the anchors are the answer.
        ablate: names of terms to leave out (``priming.recall.candidates.TERMS``).
        trace: whether ``Recall.spread`` lists the activations of every step.

    Raises:
        ParamError: a blank cue, or an argument outside its range.

    """
    cue = cue or Cue()
    chosen = profiles.get(profile, memory.profiles) if profile else memory.profile
    query = RecallQuery(
        text=cue_text(cue.text if text is None else text, cue),
        cue=cue,
        profile=chosen,
        kinds=None if absent_if_empty(kinds) is None else _kinds(kinds),
        limit=check_count("limit", limit, 1, MOST_HITS),
        tokens=None if tokens is None else check_count("tokens", tokens, 0, 10_000_000),
        session=check_name("session", session),
        condition=None if absent_if_empty(filters) is None else filtering.parse(filters),
        spread=bool(spread),
        ablate=frozenset(check_choices("ablate", ablate, TERMS)),
        trace=bool(trace),
        floor=None if floor is None else check_floor(floor, chosen, memory),
        moment=moment(valid_at, known_at, superseded=include_superseded),
        context=recall_context(chosen, cue, text),
    )
    return _answer(memory, query)


def _kinds(kinds: Any) -> tuple[str, ...]:
    """Return the kinds to return; files cannot stand beside others, as they are ranked by a law of their own."""
    chosen = check_choices("kinds", kinds, RECALLED)
    if FILE in chosen and set(chosen) != {FILE}:
        rule = "must be the only kind: files are ranked by a law of their own, so recall them apart"
        raise ParamError("kinds", kinds, rule)
    return tuple(dict.fromkeys(chosen))


def _answer(memory: Namespace, query: RecallQuery) -> Recall:
    """Answer a checked query."""
    watch = Stopwatch()
    with memory.lock:
        queried = namespace_at(memory, query.moment)
        with queried.store.transaction(write=False):
            query = replace(query, profile=weighted_profile(queried, query.profile))
            answer, flow = _find_hits(queried, query, watch)
        packed = _pack_hits(query, answer.hits)
        watch.lap("pack")
        reason = answer.reason
        if not answer.hits and queried.empty_reason():
            reason = memory.empty_reason() or reason
        recall_id, untraced = _store_trace(memory, query, answer.hits, flow)
        watch.lap("trace")
    return replace(
        answer,
        recall_id=recall_id,
        reason=reason,
        degraded=(*answer.degraded, *untraced),
        text=packed_text(packed, query.tokens),
        omitted=tuple(Omitted(o.key, o.reason, o.tokens) for o in packed.omitted) if packed else (),
        notice=shortfall(answer.more, query.limit, packed, query.tokens),
        timings=MappingProxyType(watch.laps),
        recorded=query.moment is None and memory.store.place.exists and not untraced,
    )


def _pack_hits(query: RecallQuery, hits: Sequence[Hit]) -> Packed | None:
    """Return the text of the hits within the budget; None without hits."""
    tiers = query.profile.tiers
    shown = packables(hits, query.tokens, tiers=tiers is not None) if hits else ()
    return pack(shown, query.tokens, tiers=tiers, header=HEADER) if hits else None


def _store_trace(
    memory: Namespace, query: RecallQuery, hits: Sequence[Hit], flow: traces.StoredTrace
) -> tuple[str, list[str]]:
    """Record the trace of a recall of the present; a recall of another time is not recorded."""
    if query.moment is not None:
        return uuid7(memory.now()), []
    return traces.store_trace(
        memory,
        text=query.text,
        cue=query.cue,
        profile=query.profile.name,
        session=query.session,
        hits=[(hit.memory.id, hit.score) for hit in hits],
        flow=flow,
    )


_NO_ROWS = Ranked(np.zeros(0, np.int64), np.zeros(0))


def _find_hits(memory: Namespace, query: RecallQuery, watch: Stopwatch) -> tuple[Recall, traces.StoredTrace]:
    """Find the answer before it is packed and traced, in one state of the store, and how activation reached its hits.

    Another process may write or purge at the same time.
    """
    now = memory.now()
    valid = memory.valid_time(now)
    working = memory.working(valid)
    watch.lap("refresh")
    context, eligible, pool = eligible_candidates(memory, query, working, valid)
    profile, at = query.profile, query.cue.at or now
    laws = profile.base_level_params, profile.forgetting_params
    evidence = Evidence(
        working, memory.embedder, query.text, profile.recall, at, context, query.ablate, pool, *laws
    )
    reason = no_result_reason(evidence, eligible, pool, query)
    watch.lap("evidence")
    ranked = _NO_ROWS
    if reason is None:
        ranking = _ranking_query(memory, query, evidence, eligible, pool, now)
        ranked = rank_files(ranking, files_of(memory, working)) if query.of_files else rank(ranking)
    law, floor = profile.relevance, relevance_floor(query)
    least = 0.0 if law is None else bar(evidence, ranked, law) if floor is None else floor
    above = np.ones(len(ranked.rows), np.bool_) if law is None or query.of_files else ranked.scores >= least
    best = None if law is None or query.of_files or not len(above) else float(ranked.scores[0])
    if best is not None and floor is None and not above.any():
        # Among thousands alike none is probable, and what has the whole cue is no answer about something else.
        above = evidence.have_all(working.document[ranked.rows])
        least = float(ranked.scores[above].min(initial=least))
    if best is not None and not above.any():
        reason = f"nothing above the floor: the best relevance is {best:.3f}, less than {least:.3g}"
    ranked = ranked.only(np.flatnonzero(above)[: past_room(memory, query.limit)])
    watch.lap("rank")
    steps = _spread_steps(memory, working, ranked) if query.trace or LOG.isEnabledFor(logging.DEBUG) else ()
    _log_steps(steps)
    # In a design without anchors of its own, what starts activation has priors too.
    flow = traces.stored_trace(working, profile, ranked, None if profile.anchors else evidence.match)
    ranked_hits = _to_hits(memory, evidence, ranked, flow, valid, is_probable=best is not None)
    hits = describe_moment(memory, ranked_hits, query.limit)
    watch.lap("paths")
    answer = Recall(
        recall_id="",
        hits=hits,
        reason=reason if hits or reason else "nothing above the floor",
        degraded=("vectors",) if working.missing_vectors else (),
        profile=profile.name,
        confidence=best,
        floor=None if best is None else least,
        spread=steps if query.trace else (),
        carried=traces.link_activations(memory, flow, [hit.memory.id for hit in hits]) if query.trace else (),
        more=max(0, int(np.count_nonzero(above)) - len(hits)),
    )
    return answer, flow


def _ranking_query(
    memory: Namespace,
    query: RecallQuery,
    evidence: Evidence,
    eligible: NDArray[np.bool_],
    pool: NDArray[np.bool_],
    now: datetime,
) -> RankingQuery:
    working, valid = evidence.working, memory.valid_time(now)
    return RankingQuery(
        evidence,
        query.profile,
        eligible,
        anchor_pool(query.profile, working, pool),
        limit=_most_ranked(memory, query),
        now=now,
        records=lambda rows: _records(memory, working, rows, valid),
        named=lambda: entities_in_cue(memory, working, cue_texts(query.text, query.cue), valid),
        spreading=query.spread,
        context=query.context,
        activations=lambda records: memory.activations(query.profile.name, [record.id for record in records]),
    )


def _most_ranked(memory: Namespace, query: RecallQuery) -> int:
    """Return the number of hits to rank: their relevance depends on more hits than a short answer returns."""
    most, law = past_room(memory, query.limit), query.profile.relevance
    return most if law is None or query.of_files else max(most, law.width)


def _log_steps(steps: Sequence[Mapping[str, float]]) -> None:
    """Log the activations of every step, at the level DEBUG."""
    for step, values in enumerate(steps):
        shown = {key: float(f"{value:.{_DIGITS}g}") for key, value in values.items()}
        LOG.debug("step %d of the spread: %s", step, json.dumps(shown, ensure_ascii=False))


def _records(
    memory: Namespace, working: WorkingSet, rows: Collection[int], valid: datetime
) -> dict[int, MemoryRecord]:
    ids = {working.ids[row]: int(row) for row in rows}
    records = memory.records(valid, ids=list(ids))
    return {ids[memory_id]: record for memory_id, record in records.items()}


def _to_hits(
    memory: Namespace,
    evidence: Evidence,
    ranked: Ranked,
    flow: traces.StoredTrace,
    valid: datetime,
    *,
    is_probable: bool,
) -> tuple[Hit, ...]:
    records = _records(memory, evidence.working, ranked.rows.tolist(), valid)
    paths = traces.steps_of(memory, flow, [record.id for record in records.values()])
    columns = {name: column.tolist() for name, column in ranked.components.items()}
    hits = []
    for i, row in enumerate(ranked.rows.tolist()):
        if row in records:
            values = {name: float(column[i]) for name, column in columns.items()}
            shown = {name: value for name, value in values.items() if value == value}  # not NaN
            path, score = paths.get(records[row].id, ()), float(ranked.scores[i])
            hit = Hit(
                records[row],
                score=score,
                components=MappingProxyType(shown),
                path=path,
                distance=len(path),
                relevance=score if is_probable else None,
                passages=passages_of(evidence, row, records[row]),
            )
            hits.append(hit)
    return tuple(hits)


def _spread_steps(memory: Namespace, working: WorkingSet, ranked: Ranked) -> tuple[Mapping[str, float], ...]:
    """Return the activation of every row after each step, by key."""
    if ranked.activation is None:
        return ()
    flow = ranked.activation.flow
    steps = [flow.values(step) for step in range(flow.steps + 1)]
    rows = {row for step in steps for row in step}
    names = memory.names(ids=[working.ids[row] for row in rows])
    return tuple(
        MappingProxyType({names[working.ids[row]]: value for row, value in step.items()}) for step in steps
    )
