"""Which conditions of a memory hold in the context of a cue, read alike by ``active`` and by recall of rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from priming.config.profiles import Profile
from priming.core.arguments.checks import check_text
from priming.core.score import context_score, partial_activation
from priming.core.when import findings
from priming.remember.drafts import words
from priming.text.languages import language_of, languages_in, task_of
from priming.types import Cue


@dataclass(frozen=True, slots=True)
class Fit:
    """The conditions of a memory that a context confirms, by name, and the number of all its conditions."""

    confirmed: tuple[str, ...]
    total: int

    @property
    def share(self) -> float:
        """The share of conditions that hold; .5 without conditions."""
        return float(context_score(len(self.confirmed), self.total))

    @property
    def is_seed(self) -> bool:
        """Whether activation starts here: a condition holds, or there is none."""
        return bool(self.confirmed) or not self.total

    @property
    def is_whole(self) -> bool:
        """Whether every condition holds."""
        return len(self.confirmed) == self.total

    @property
    def start(self) -> float:
        """The activation that a seed starts with."""
        return float(partial_activation(len(self.confirmed), self.total))


def context_of(cue: Cue, text: str | None = None) -> Mapping[str, Any]:
    """The context of a cue, its text included, with the language that a file or the text names if it gives none.

    ``text`` replaces that of the cue.
    """
    context = cue.context()
    for name, value in context.items():
        check_text(f"cue.{name}", words(value))
    text = cue.text if text is None else text
    if text is not None and check_text("cue.text", text).strip():
        context["text"] = text
    return _with_language(context)


def recall_context(profile: Profile, cue: Cue, text: str | None) -> Mapping[str, Any]:
    """The context in which a recall evaluates conditions: in the profile of rules, that of ``active``."""
    return context_of(cue, text) if profile.score == "floop" else cue.context()


def _with_language(context: dict[str, Any]) -> dict[str, Any]:
    if context.get("language"):
        return context
    named = [language_of(file) for file in _files(context)]
    languages = [language for language in named if language] or languages_in(context.get("text", ""))
    return {**context, "language": languages} if languages else context


def _files(context: Mapping[str, Any]) -> list[str]:
    """The files of a context."""
    files = context.get("file") or ()
    return [files] if isinstance(files, str) else [str(file) for file in files]


def condition_findings(when: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, str]:
    """The finding for each condition. A text or a test file may confirm a task; neither contradicts any."""
    results: dict[str, str] = dict(findings(when, context))
    if results.get("task") == "absent":
        hints = [context["text"]] if "text" in context else []
        hints += [task for file in _files(context) if (task := task_of(file))]
        confirms = (findings({"task": when["task"]}, {"task": hint})["task"] == "confirmed" for hint in hints)
        results["task"] = "confirmed" if any(confirms) else "absent"
    return results


def fit_of(when: Mapping[str, Any], context: Mapping[str, Any]) -> Fit | None:
    """How conditions fit a context; None where it contradicts any of them."""
    results = condition_findings(when, context)
    if "contradicted" in results.values():
        return None
    return Fit(tuple(name for name, finding in results.items() if finding == "confirmed"), len(results))
