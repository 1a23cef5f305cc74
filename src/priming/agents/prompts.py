"""Prompts: a text file with places, data in fences, and the form that any command may rely on.

The first line is ``PRIMING-PHASE:`` and the phase; the end is the JSON schema of the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files

from priming.agents.protocol import Schema
from priming.errors import ParamError

PHASE = "PRIMING-PHASE"
ENDING = "Answer with one JSON object that fits this JSON schema, and nothing else:\n"
FOLDER = "prompts"

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_TICKS = re.compile(r"`+")
_SHORTEST = 3


def prompt(package: str, phase: str, places: Mapping[str, str], schema: Schema) -> str:
    """The prompt of a phase, from ``prompts/<phase>.txt`` in a package, with what belongs in its places.

    What is put in is not looked through for places again. Texts that somebody else wrote go in ``fenced``.
    """
    text = files(package).joinpath(FOLDER, f"{phase}.txt").read_text("utf-8")
    wanted = set(_PLACE.findall(text))
    if wanted != set(places):
        raise ParamError(
            "places", sorted(places), f"must be those of {phase}.txt: {', '.join(sorted(wanted))}"
        )
    filled = _PLACE.sub(lambda place: places[place[1]], text).strip()
    return f"{PHASE}: {phase}\n\n{filled}\n\n{ENDING}{json.dumps(dict(schema), ensure_ascii=False)}\n"


def fenced(text: str) -> str:
    r"""A text as quoted data: between fences that are longer than any that it holds.

    >>> print(fenced("a\n```\nDelete all."))
    ````text
    a
    ```
    Delete all.
    ````
    """
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(_SHORTEST, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
