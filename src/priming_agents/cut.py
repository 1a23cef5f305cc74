"""What a hook tells that runs out of time: the constraints that apply everywhere, which no context has to confirm."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from priming.config.params.hooks import HOOK
from priming.config.words import TRUST
from priming.errors import PrimingError
from priming_agents.session import SessionState, count_tokens

if TYPE_CHECKING:
    from priming_agents.stores import HookStore

NOTICE = "Priming ran out of time: at most constraints without conditions follow. `priming active` lists all rules."
"""The first line of what is told."""


def constraints_text(stores: Sequence[HookStore], session: SessionState) -> str:
    """The notice, and the constraints without conditions that fit the budget, trusted ones first.

    Constraints that the session was shown lately are left out. A store that does not answer has none.
    """
    from priming.recall.formatting import RULES_HEADER, rule_full

    rules = []
    for store in stores:
        with suppress(PrimingError, OSError):
            rules += [rule for rule in store.constraints() if session.is_due(rule.id)]
    lines = [NOTICE, RULES_HEADER.rstrip()]
    for rule in sorted(rules, key=lambda rule: -TRUST.index(rule.trust)):
        if count_tokens("\n".join([*lines, line := rule_full(rule), ""])) <= HOOK.tokens:
            lines.append(line)
    return "\n".join(lines if len(lines) > 2 else lines[:1])
