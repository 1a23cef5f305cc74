"""The behaviours that apply in a context: seeds → spread → inhibit → score → resolve → pack → trace. No weight moves.

Where several stores are read together, activation spreads in each separately; then all behaviours compete. The best
are written in full. Rules are shortened, least active first, to the tier of their activation before any is dropped:
the loss is shared. In a crowd of more than seven, general rules are shown by their gist even where there is room. A
constraint that applies is never below its gist; if it does not fit, the text says so first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

import numpy as np

from priming.config.params.laws import TierParams
from priming.config.profiles import FLOOP
from priming.config.values import dataclass
from priming.core.arguments.checks import check_count, check_name
from priming.core.pack import OMIT, Packable, Packed, estimate_tokens, pack, short_notice
from priming.errors import ParamError
from priming.namespace import Namespace
from priming.recall import traces
from priming.recall.formatting import (
    EARLIER_KEY,
    RULES_HEADER,
    has_earlier_key,
    rule_full,
    rule_packable,
    shortfall,
)
from priming.recall.relevance import context_of, cue_relevance, words
from priming.results import Hit, Omitted, Recall
from priming.rules.activation import MOST, StoreActivation, activate, compete
from priming.rules.conflicts import RuleCandidate, duplicates_across_stores, resolve_candidates
from priming.text.quotation import label
from priming.types import EMPTY, Cue, MemoryRecord

_TOKENS = 2_000
"""The budget of ``active`` in tokens (floop)."""

_MOST_TOKENS = 10_000_000
_DECIMALS = 12  # of a score: the order in which links are summed does not change these


def active(
    memory: Namespace,
    cue: Cue | None = None,
    *,
    tokens: int = _TOKENS,
    session: str | None = None,
    beside: Mapping[str, Namespace] = EMPTY,
) -> Recall:
    """Return the behaviours that apply in a context, without those that others override or contradict.

    Args:
        cue: the context; its text confirms ``text`` and ``task`` predicates. None: nothing is known of it.
        tokens: budget of ``Recall.text``, never exceeded.
        session: the session that the recall belongs to.
        beside: other memories by name, read together with this one, such as ``{"global": memory}``.

    Raises:
        ParamError: no cue, or an argument outside its range.

    """
    cue = cue or Cue()
    context, budget = context_of(cue), check_count("tokens", tokens, 0, _MOST_TOKENS)
    session = check_name("session", session)
    _check_others(memory, beside)
    now = memory.now()
    # One lock at a time: two memories that read each other must not wait for each other.
    others = []
    for name, other in beside.items():
        with other.lock:
            others.append(activate(other, name, context, now))
    with memory.lock:
        stores = [activate(memory, None, context, now), *others]
        rules, losses = _hits(stores, now)
        packed = pack_rules(rules, budget, memory.profiles[FLOOP.name].tiers)
        hits = packed.hits
        has_rules = any(store.behaviors for store in stores)
        reason = None if hits or has_rules else memory.empty_reason()
        recall_id, untraced = _store_trace(stores[0], cue, context, session, hits)
    for store in others:
        if any(hit.origin == store.name for hit in hits):
            with store.memory.lock:
                untraced += _store_trace(store, cue, context, session, hits, recall_id)[1]
    return Recall(
        recall_id=recall_id,
        hits=hits,
        reason=None if hits else reason or _no_result_reason(stores),
        degraded=tuple(dict.fromkeys(untraced)),
        text=packed.text,
        omitted=_constraints_first(packed.omitted, losses),
        profile=FLOOP.name,
        notice=packed.notice,
        recorded=any(store.memory.store.place.exists for store in stores) and not untraced,
    )


def _check_others(memory: Namespace, beside: Any) -> None:
    """Refuse other memories that cannot be read together with this one."""
    if not isinstance(beside, Mapping):
        raise ParamError("beside", beside, "must be a mapping of name to open memory")
    for name, other in beside.items():
        check_name("beside", name)
        if not isinstance(other, Namespace) or other is memory:
            raise ParamError("beside", name, "must name another open memory, not this one")


def _constraints_first(unpacked: Sequence[Omitted], losses: Sequence[Omitted]) -> tuple[Omitted, ...]:
    """Return everything left out, for lack of space or because it lost against another rule; constraints first."""
    first = [item for item in unpacked if item.reason != BUDGET]
    return (*first, *losses, *(item for item in unpacked if item.reason == BUDGET))


def _hits(stores: Sequence[StoreActivation], now: datetime) -> tuple[list[RuleCandidate], list[Omitted]]:
    """Return the behaviours to return, best first, and those left out, with reasons."""
    candidates = _candidates(stores, now)
    duplicates = duplicates_across_stores(candidates)
    losses = resolve_candidates(
        [store.overrides for store in stores], [store.conflicts for store in stores], candidates, duplicates
    )
    reasons = {i: f"also in {candidates[by].hit.origin or 'this store'}" for i, by in duplicates.items()}
    for i, loss in losses.items():
        relation = "overridden by" if loss.how == "overridden" else "conflicts with"
        reasons[i] = f"{relation} {label(candidates[loss.by].hit.memory.key)}"
    remaining = [candidate for i, candidate in enumerate(candidates) if i not in reasons]
    best = sorted(remaining, key=RuleCandidate.rank)
    omitted = [_omit(candidates[i].hit, reason) for i, reason in sorted(reasons.items())]
    omitted += _omitted_before_scoring(stores, candidates)
    omitted += [_omit(rule.hit, f"beyond the best {MOST}") for rule in best[MOST:]]
    return best[:MOST], omitted


def _omitted_before_scoring(
    stores: Sequence[StoreActivation], candidates: Sequence[RuleCandidate]
) -> list[Omitted]:
    """Return the behaviours that the context confirms but that were left out before the scoring, with reasons."""
    scored = {(candidate.store, candidate.hit.memory.id) for candidate in candidates}
    omitted = []
    for i, store in enumerate(stores):
        by_id = {record.id: record for record in store.records.values()}
        for loser, winner in store.losses:
            hit = Hit(by_id[loser], 0.0, {}, origin=store.name)
            omitted.append(_omit(hit, f"conflicts with {label(by_id[winner].key)}"))
        for row in store.seeds:
            record = store.records.get(row)
            if record is not None and (i, record.id) not in scored:
                hit = Hit(record, 0.0, {}, origin=store.name)
                omitted.append(_omit(hit, "too little activation was left"))
    return omitted


def _omit(hit: Hit, reason: str) -> Omitted:
    reason = f"{reason}; {EARLIER_KEY}" if has_earlier_key(hit.memory) else reason
    return Omitted(hit.memory.key, reason, estimate_tokens(rule_full(hit.memory, hit.origin)))


def _candidates(stores: Sequence[StoreActivation], now: datetime) -> list[RuleCandidate]:
    """Return the behaviours of all stores that stay active, scored; in the order of the stores, the oldest first."""
    floop = stores[0].memory.profiles[FLOOP.name]
    rules = compete(floop, stores)
    records = [stores[rule.store].records[rule.row] for rule in rules]
    fits = [stores[rule.store].fits[rule.row] for rule in rules]
    levels, shares = np.array([rule.level for rule in rules]), np.array([fit.share for fit in fits])
    counts = {memory_id: count for store in stores for memory_id, count in store.counts.items()}
    scored = cue_relevance(records, levels, shares, counts, now, floop)
    columns = {name: np.atleast_1d(np.asarray(column)) for name, column in scored.components.items()}
    totals = np.round(np.atleast_1d(np.asarray(scored.total)), _DECIMALS)
    candidates = []
    for n, rule in enumerate(rules):
        store = stores[rule.store]
        components = {name: float(column[n]) for name, column in columns.items()}
        path = store.paths.get(records[n].id, ())
        hit = Hit(
            records[n],
            float(totals[n]),
            MappingProxyType({**components, "activation": rule.level}),
            path,
            len(path),
            store.name,
        )
        holding, is_quiet = len(fits[n].confirmed), records[n].id in store.quiet
        candidates.append(
            RuleCandidate(rule.store, hit, holding, rule.is_protected, rule.is_general, is_quiet)
        )
    return candidates


def _no_result_reason(stores: Sequence[StoreActivation]) -> str:
    behaviors = sum(store.behaviors for store in stores)
    fitting = sum(len(store.fits) for store in stores)
    if not behaviors:
        return "there is no active behaviour: learn one, or restore one"
    if not fitting:
        return f"no behaviour applies: the context contradicts all {behaviors:,}"
    if fitting == behaviors:
        which = "the only one" if behaviors == 1 else f"any of {behaviors:,}"
        return f"no behaviour applies: nothing in the context confirms {which}"
    others = "the other" if fitting == 1 else f"the other {fitting:,}"
    contradicted = f"contradicts {behaviors - fitting:,} of {behaviors:,}"
    return f"no behaviour applies: the context {contradicted} and does not confirm {others}"


def _store_trace(
    store: StoreActivation,
    cue: Cue,
    context: Mapping[str, Any],
    session: str | None,
    hits: Sequence[Hit],
    recall_id: str | None = None,
) -> tuple[str, list[str]]:
    """Store the trace of a store's hits in that store, where verdicts on them look for it."""
    values = [words(value) for name, value in context.items() if name != "text"]
    return traces.store_trace(
        store.memory,
        text=context.get("text", " ".join(values)),
        cue=cue,
        profile=FLOOP.name,
        session=session,
        hits=[(hit.memory.id, hit.score) for hit in hits if hit.origin == store.name],
        flow=store.trace,
        recall_id=recall_id,
        counted=True,
    )


BUDGET = "budget"
"""Why a rule that exceeds the budget is left out."""
_NAMED = 12
"""Maximum number of constraints that the notice names."""


@dataclass(frozen=True, slots=True)
class RulesText:
    """The text, its hits with their tiers, what was left out, and the notice that comes first, if there is one."""

    text: str
    hits: tuple[Hit, ...]
    omitted: tuple[Omitted, ...]
    notice: str | None


def pack_rules(rules: Sequence[RuleCandidate], tokens: int, tiers: TierParams | None) -> RulesText:
    """Write rules, best first, within a budget.

    While it lasts all are told whole; what a crowd of more specific rules outdoes is told by its gist, and a quiet
    rule by its name. Where it does not last, all other rules give way before a constraint that applies does. Where
    the constraints do not fit even so, the text begins with a notice of those that are left out, and tells nothing
    but constraints.
    """
    forms = {str(i): _form(rule, str(i)) for i, rule in enumerate(rules)}
    packed = pack(forms.values(), tokens, tiers=tiers, header=RULES_HEADER)
    text, shown, notice = packed.text, _tiers(packed), None
    constraints = [forms[str(i)] for i, rule in enumerate(rules) if rule.is_protected]
    if any(form.key not in shown for form in constraints):
        names = {str(i): _named(rule.hit.memory) for i, rule in enumerate(rules)}
        text, shown, notice = _constraints_alone(constraints, names, tokens, tiers)
    elif rules and not text:
        text, notice = short_notice(len(rules), tokens), shortfall(0, 0, packed, tokens)
    left_out = sorted(
        (i for i in range(len(rules)) if str(i) not in shown), key=lambda i: not rules[i].is_protected
    )
    return RulesText(
        text,
        tuple(replace(rule.hit, tier=shown.get(str(i)), quiet=rule.is_quiet) for i, rule in enumerate(rules)),
        tuple(
            Omitted(
                rules[i].hit.memory.key,
                f"{BUDGET}: a constraint that applies" if rules[i].is_protected else BUDGET,
                estimate_tokens(forms[str(i)].full),
            )
            for i in left_out
        ),
        notice,
    )


def _form(rule: RuleCandidate, key: str) -> Packable:
    """Return the forms of a rule, and how far it may be shortened. ``key`` is unique, even across two stores."""
    most = "name" if rule.is_quiet else "gist" if rule.is_general else "full"
    least = "omit" if not rule.is_protected else "name" if rule.is_quiet else "gist"
    form = rule_packable(rule.hit)
    return replace(form, key=key, most=most, least=least, rank=int(rule.is_protected))


def _named(rule: MemoryRecord) -> str:
    """Return the key of a rule, marked if its text has changed since."""
    name = label(rule.key)
    return f"{name} ({EARLIER_KEY})" if has_earlier_key(rule) else name


def _tiers(packed: Packed) -> dict[str, str]:
    return {entry.key: entry.tier for entry in packed.entries}


def _constraints_alone(
    forms: Sequence[Packable], names: Mapping[str, str], tokens: int, tiers: TierParams | None
) -> tuple[str, dict[str, str], str]:
    """Return the constraints that fit below a notice that names the others: the text, the tiers, and the notice."""
    shortest = [form.form(OMIT - 2 if form.least == "gist" else OMIT - 1) for form in forms]
    needed = estimate_tokens(RULES_HEADER + "\n".join(shortest))
    left_out = [form.key for form in forms]
    notice, packed = "", pack((), 0)
    for _ in forms:  # the notice takes room too, so that a further constraint may have to go
        notice = _notice([names[key] for key in left_out], needed, tokens)
        packed = pack(forms, tokens, tiers=tiers, header=f"{notice}\n{RULES_HEADER}")
        left_out, before = [form.key for form in forms if form.key not in _tiers(packed)], left_out
        if left_out == before:
            break
    text = packed.text or (notice if estimate_tokens(notice) <= tokens else short_notice(len(forms), tokens))
    return text, _tiers(packed), notice


def _notice(missing: Sequence[str], needed: int, tokens: int) -> str:
    """Return the constraints that are left out; only their number if their names exceed the budget."""
    which = (
        "1 constraint that applies is" if len(missing) == 1 else f"{len(missing)} constraints that apply are"
    )
    remedy = f"left out for lack of space; {needed} tokens hold all constraints."
    named = f"{which} {remedy[:-1]}: {', '.join(missing[:_NAMED])}{', …' if len(missing) > _NAMED else ''}."
    return named if 2 * estimate_tokens(named) <= tokens else f"{which} {remedy}"
