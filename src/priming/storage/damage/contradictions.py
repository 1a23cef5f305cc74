"""Findings on rows that can be read and contradict one another, in the words of both databases."""

from __future__ import annotations

from collections.abc import Sequence

from priming.results import Finding

REIMPORT = "export the namespace and import it into a new store"
_MOST_SHOWN = 20


def listed_findings(rule: str, subjects: Sequence[str], detail: str, remedy: str) -> list[Finding]:
    """A finding for each of the first subjects, and a last one if there are more."""
    findings = [Finding(rule, subject, detail, remedy) for subject in subjects[:_MOST_SHOWN]]
    more = len(subjects) - _MOST_SHOWN
    return findings + ([Finding(rule, f"and {more:,} more", detail, remedy)] if more > 0 else [])


STALE_WORDS = ("a search by words finds the text by words that are not its own", REIMPORT)


def stale_words(subjects: Sequence[str]) -> list[Finding]:
    """Findings on versions that searches by words find by others than their own."""
    return listed_findings("stale-words", subjects, *STALE_WORDS)
