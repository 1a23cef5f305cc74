"""The title and the steps of a procedure, as they are read from its text and metadata, and written again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from priming.config.values import dataclass
from priming.sleep.gist import SENTENCE_END

STEPS, TRIGGER = "steps", "trigger"
"""The metadata keys that may list the steps of a procedure, and say when it is carried out."""
_NUMBER = re.compile(r"^\s*(?:step\s+)?\d{1,3}[.):]\s+|^\s*[-*•]\s+", re.IGNORECASE)
_MARKER = re.compile(r"(?:^|(?<=\s))(?P<step>step\s+)?(?P<number>\d{1,3})[.):]\s+", re.IGNORECASE)
_ENDS = (".", "!", "?", ";", ":", ",", ")", "\n")
_TITLE_LINE = re.compile(r"^[^\n]{1,200}?\s{0,20}:\s{0,20}\n|^[^\n.:!?]{1,100}:\s+(?=\S)")
_ARROW = re.compile(r"→|->|=>")
_LISTED = tuple(re.compile(rf"{mark}\s+(?:and\s+|then\s+|and then\s+)?") for mark in ";,")


@dataclass(frozen=True, slots=True)
class ProcedureText:
    """The content of a procedure: its title, which may be empty, its steps, and when it is carried out."""

    title: str
    steps: tuple[str, ...]
    trigger: str = ""


def read_procedure(heading: str | None, content: str, metadata: Mapping[str, Any]) -> ProcedureText:
    """Read the title and the steps of a procedure.

    >>> read_procedure(None, "Clear the disk: 1. Stop the server. 2. Delete old builds.", {}).title
    'Clear the disk'
    """
    listed, lead = _listed(metadata), _lead(content)
    steps = listed or _written(content[len(lead) :], titled=bool(lead))
    lead = lead.strip(" \t\n:-–—")
    if listed and not lead and _plain(_written(content)) != _plain(listed):
        lead = content.strip()
    title = ". ".join(part for part in (heading, lead) if part and part.strip())
    trigger = metadata.get(TRIGGER)
    return ProcedureText(title, steps, trigger if isinstance(trigger, str) else "")


def _listed(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    listed = metadata.get(STEPS)
    if isinstance(listed, (list, tuple)) and listed and all(isinstance(part, str) for part in listed):
        return tuple(part.strip() for part in listed if part.strip())
    return ()


def _markers(content: str) -> list[re.Match[str]]:
    """The numbers 1, 2, 3 … that begin the steps of a text; other numbers before a full stop are part of a step.

    They begin lines, if the first does and there are several lines; else the first that follows a sentence counts.
    """
    matches = list(_MARKER.finditer(content))
    first = next((match for match in matches if match["number"] == "1"), None)
    if first is None:
        return []
    lines = _begins_line(content, first) and "\n" in content[first.end() :].strip()
    if lines:
        matches = [match for match in matches if _begins_line(content, match)]
    markers = [first]
    by_number: dict[int, list[re.Match[str]]] = {}
    for match in matches:
        by_number.setdefault(int(match["number"]), []).append(match)
    while True:
        candidates = by_number.get(len(markers) + 1, ())
        following = [match for match in candidates if match.start() > markers[-1].start()]
        if not following:
            return markers
        clean = (match for match in following if _follows_end(content, match.start()))
        markers.append(next(clean, following[0]))


def _begins_line(content: str, match: re.Match[str]) -> bool:
    at = match.start()
    while at and content[at - 1].isspace() and content[at - 1] != "\n":
        at -= 1
    return content[at - 1 : at] in ("", "\n")


def _follows_end(content: str, at: int) -> bool:
    """Whether a mark that ends something is before a place."""
    while at and content[at - 1] in " \t":
        at -= 1
    return content[at - 1 : at] in _ENDS


def _lead(content: str) -> str:
    """The text before the first numbered step, or a first line that ends in a colon."""
    markers = _markers(content)
    if len(markers) > 1:
        return content[: markers[0].start()]
    lines = content.split("\n")
    listed = [bool(_NUMBER.match(line)) for line in lines]
    if any(listed):
        return "\n".join(lines[: listed.index(True)]) + ("\n" if listed.index(True) else "")
    title = _TITLE_LINE.match(content)
    return title.group(0) if title is not None else ""


def _written(content: str, *, titled: bool = False) -> tuple[str, ...]:
    """The numbered parts of a text, else its lines, sentences or parts between arrows, else a title's list."""
    markers = _markers(content)
    if len(markers) > 1:
        ends = [*(marker.start() for marker in markers[1:]), len(content)]
        parts = (content[marker.end() : end].strip() for marker, end in zip(markers, ends, strict=True))
    else:
        split = [part for part in SENTENCE_END.split(content) if part.strip()]
        if len(split) == 1:
            arrows = _ARROW.split(content)
            split = arrows if len(arrows) > 1 or not titled else _LISTED[";" not in content].split(content)
        parts = (_NUMBER.sub("", part).strip() for part in split)
    return tuple(part for part in parts if part)


def steps_as_text(
    content: str, steps: Sequence[str], metadata: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    r"""The text and the metadata of a procedure with these steps, kept in metadata if they were listed there.

    >>> steps_as_text("Stop the server.", ("Stop the server.", "Delete old builds."), {})
    ('1. Stop the server.\n2. Delete old builds.', {})
    """
    if metadata.get(STEPS):
        return content, {**metadata, STEPS: list(steps)}
    lead = _lead(content).rstrip()
    lines = [*([lead] if lead else []), *(f"{number}. {step}" for number, step in enumerate(steps, start=1))]
    return "\n".join(lines), dict(metadata)


def _plain(steps: Sequence[str]) -> list[str]:
    return [" ".join(step.casefold().split()).rstrip(".;,!") for step in steps]
