"""The steps of a procedure: read from its text, put together with another's, and written down again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from priming.engine.ids import SENTENCE_END

STEPS = "steps"
"""Where metadata may list the steps of a procedure; else they are read from its text."""
_NUMBER = re.compile(r"^\s*(?:step\s+)?\d{1,3}[.):]\s+|^\s*[-*•]\s+", re.IGNORECASE)
_INLINE = re.compile(r"(?:^|(?<=\s))\d{1,2}[.)]\s+")


def steps_of(content: str, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The steps that metadata lists, else the numbered parts of the text, else its lines or sentences.

    >>> steps_of("1. Stop the server. 2. Delete old builds.", {})
    ('Stop the server.', 'Delete old builds.')
    """
    listed = metadata.get(STEPS)
    if isinstance(listed, (list, tuple)) and listed and all(isinstance(part, str) for part in listed):
        return tuple(part.strip() for part in listed if part.strip())
    numbered = [part.strip() for part in _INLINE.split(content)]
    if len(numbered) > 2 and not numbered[0]:
        return tuple(part for part in numbered if part)
    parts = (_NUMBER.sub("", part).strip() for part in SENTENCE_END.split(content))
    return tuple(part for part in parts if part)


def written(content: str, steps: Sequence[str], metadata: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    r"""The text and the metadata of a procedure with these steps: they stand where they stood before.

    >>> written("Stop the server.", ("Stop the server.", "Delete old builds."), {})
    ('1. Stop the server.\n2. Delete old builds.', {})
    """
    if metadata.get(STEPS):
        return content, {**metadata, STEPS: list(steps)}
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1)), dict(metadata)


def merged(steps: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Steps with those of another procedure that they lack, each before the step that follows it in both.

    >>> merged(("stop", "delete", "start"), ("Stop", "look", "start", "tell"))
    ('stop', 'delete', 'look', 'start', 'tell')
    """
    steps_so_far, waiting = list(steps), list[str]()
    once: dict[str, str] = {}
    for step in others:
        once.setdefault(_plain(step), step)
    for plain, step in once.items():
        place = next((i for i, step_before in enumerate(steps_so_far) if _plain(step_before) == plain), None)
        if place is None:
            waiting.append(step)
        else:
            steps_so_far[place:place] = waiting
            waiting = []
    return (*steps_so_far, *waiting)


def _plain(step: str) -> str:
    return " ".join(step.casefold().split()).rstrip(".;,!")
