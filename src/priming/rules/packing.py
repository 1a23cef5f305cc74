"""Active rules as one text within a budget: the best are written in full, and constraints are shortened last.

Rules are shortened, least active first, to the tier of their activation before any is dropped: the loss is
shared. In a crowd of more than seven, general rules are shown by their gist even where there is room. A
constraint that applies is never below its gist; if it does not fit, the text says so first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from priming.config.params.laws import TierParams
from priming.config.values import dataclass
from priming.core.pack import OMIT, Packable, Packed, estimate_tokens, pack, short_notice
from priming.recall.formatting import EARLIER_KEY, RULES_HEADER, has_earlier_key, rule_packable, shortfall
from priming.results import Hit, Omitted
from priming.rules.conflicts import RuleCandidate
from priming.text.quotation import label
from priming.types import MemoryRecord

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
    """The forms of a rule, and how far it may be shortened. ``key`` is unique, even across two stores."""
    most = "name" if rule.is_quiet else "gist" if rule.is_general else "full"
    least = "omit" if not rule.is_protected else "name" if rule.is_quiet else "gist"
    form = rule_packable(rule.hit)
    return replace(form, key=key, most=most, least=least, rank=int(rule.is_protected))


def _named(rule: MemoryRecord) -> str:
    """The key of a rule, marked if its text has changed since."""
    name = label(rule.key)
    return f"{name} ({EARLIER_KEY})" if has_earlier_key(rule) else name


def _tiers(packed: Packed) -> dict[str, str]:
    return {entry.key: entry.tier for entry in packed.entries}


def _constraints_alone(
    forms: Sequence[Packable], names: Mapping[str, str], tokens: int, tiers: TierParams | None
) -> tuple[str, dict[str, str], str]:
    """The constraints that fit below a notice that names the others: the text, the tiers, and the notice."""
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
    """The constraints that are left out; only their number if their names exceed the budget."""
    which = (
        "1 constraint that applies is" if len(missing) == 1 else f"{len(missing)} constraints that apply are"
    )
    remedy = f"left out for lack of space; {needed} tokens hold all constraints."
    named = f"{which} {remedy[:-1]}: {', '.join(missing[:_NAMED])}{', …' if len(missing) > _NAMED else ''}."
    return named if 2 * estimate_tokens(named) <= tokens else f"{which} {remedy}"
