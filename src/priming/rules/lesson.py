"""The checked arguments of ``learn``, and the memories that a correction becomes.

A correction and its rule are two memories, linked by ``learned-from``; both get the lowest trust of their
sources.

A correction that reverses or narrows a rule deprecates the corrections from which the rule was learned: what no
longer holds is not recalled. One that only completes a rule leaves them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from priming.config.params.laws import SCORE
from priming.config.params.limits import STORE
from priming.config.values import dataclass
from priming.config.words import RULES, TRUST, least
from priming.core.arguments.checks import (
    check_choice,
    check_fraction,
    check_name,
    check_predicates,
    check_tags,
    check_text,
)
from priming.core.arguments.normal_forms import normalized
from priming.core.when import scope
from priming.errors import ParamError
from priming.remember.drafts import Draft
from priming.text.statements.kinds import rule_kind_of, without_objection
from priming.types import Cue


def check_lesson(
    *,
    right: Any,
    wrong: Any,
    cue: Cue | None,
    tags: Sequence[str],
    priority: float,
    source: str | None,
    trust: str,
    rule: str | None,
) -> Lesson:
    """Return the arguments of ``learn``, checked."""
    right, wrong = _check_texts(right, wrong)
    return Lesson(
        right=right,
        wrong=wrong,
        when={} if cue is None else _conditions(cue),
        tags=check_tags(tags),
        priority=check_fraction("priority", priority, SCORE.priority_max),
        source=check_name("source", source),
        trust=check_choice("trust", trust, TRUST),
        rule=rule_kind_of(right) if rule is None else check_choice("rule", rule, RULES),
        inferred=rule is None,
        at=None if cue is None else cue.at,
    )


def _check_texts(right: Any, wrong: Any) -> tuple[str, str | None]:
    """Return the texts of a correction, checked."""
    right = without_objection(_check_lesson_text("right", right))
    wrong = None if wrong is None else _check_lesson_text("wrong", wrong)
    if wrong is not None and wrong.split() == right.split():
        raise ParamError("wrong", wrong, "must differ from what is right, or be left out")
    if len(_correction_text(right, wrong)) > STORE.content_limit:
        rule = f"must be at most {STORE.content_limit:,} characters together with what is wrong"
        raise ParamError("right", right, rule)
    return right, wrong


def _check_lesson_text(name: str, value: Any) -> str:
    text = normalized("NFC", check_text(name, value).strip())
    if not text:
        raise ParamError(name, value, "must not be blank")
    return text


def _correction_text(right: str, wrong: str | None) -> str:
    """Return the text of a correction; its gist shows the beginning, which is what is right."""
    return f"Correction: {right}" if wrong is None else f"Correction: {right}\nNot: {wrong}"


def _conditions(cue: Cue) -> Mapping[str, Any]:
    """Return the context of a cue as ``when`` predicates, without empty ones."""
    checked = check_predicates(cue.context())
    return {name: checked[name] for name in scope("when", checked)}


@dataclass(frozen=True, slots=True)
class Lesson:
    """The checked arguments of ``learn``.

    ``inferred``: the kind of rule was read from the words. ``at``: when the correction was made; None: now.
    """

    right: str
    wrong: str | None
    when: Mapping[str, Any]
    tags: tuple[str, ...]
    priority: float
    source: str | None
    trust: str
    rule: str
    inferred: bool
    at: datetime | None = None

    def correction(self) -> Draft:
        """Return the correction as a memory."""
        texts = {"right": self.right} if self.wrong is None else {"right": self.right, "wrong": self.wrong}
        return self._draft("correction", _correction_text(self.right, self.wrong), texts, self.trust)

    def behavior(self) -> Draft:
        """Return the behaviour that follows from the correction, as a memory derived from it."""
        return self._draft("behavior", self.right, {"rule": self.rule}, least([self.trust]))

    def _draft(self, kind: str, content: str, metadata: Mapping[str, Any], trust: str) -> Draft:
        return Draft(
            content,
            kind=kind,
            tags=self.tags,
            metadata=metadata,
            when=self.when,
            occurred_at=self.at,
            source=self.source,
            trust=trust,
        )
