"""Corrections in a person's prompts, detected by patterns (``hooks/phrases.py``).

English only. A prompt in another language teaches nothing by itself; the agent can still call ``learn``.

Nothing is learned from a long prompt, which may hold other people's text. The scope is the language or the
task, never a single file: a remark about one file is meant for all of its kind.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from priming_agents.limits import HOOK

if TYPE_CHECKING:
    from priming_agents import phrases

_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED = re.compile(r"^(?: {4}|\t|>|\$ |\| ).*$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`(])|\n+|\s+[—–-]\s+|;\s+")
_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HINT = re.compile(
    r"\b(?:no|nope|nah|not|wrong|incorrect|wait|hold|hey|ugh|argh|never|always|only|stop|quit|don['’]?t|do not|didn"
    r"|should\w*|ought|supposed|told|asked|said|mentioned|repeat\w*|prefer|rather|instead|from now|from here|forward"
    r"|future|next time|as a rule|in this|here|whenever|every time|each time|forg\w+|keep|want|we|must|actually|ever"
    r"|again)\b",
    re.IGNORECASE,
)
"""Words of which every correction has one: most prompts have none, and their sentences need not be read."""


def detect(text: str) -> phrases.Correction | None:
    """The first correction in a text, certain ones before others; None where there is none.

    >>> detect("No, use pathlib instead of os.path.")
    Correction(right='Use pathlib instead of os.path', wrong='os.path', certain=True)
    >>> detect("I told you not to push to main").right
    'Do not push to main'
    >>> detect("Use pathlib in the new module"), detect("why don't you use a set here?")
    (None, None)
    """
    if not _HINT.search(text[: HOOK.read]):
        return None
    prose = _QUOTED.sub("", _FENCED.sub("\n", text[: HOOK.read]))
    corrections = list(_corrections(prose))
    is_short = len(_WORD.findall(prose)) <= HOOK.teaching and len(text) <= HOOK.read
    certain = next((correction for correction in corrections if correction.certain), None)
    if certain is not None and is_short:
        return certain
    return dataclasses.replace(corrections[0], certain=False) if corrections else None


def _corrections(prose: str) -> Iterator[phrases.Correction]:
    from priming_agents import phrases

    objected = False
    for part in _SENTENCE.split(prose):
        sentence = _SPACES.sub(" ", part).strip()
        if not sentence:
            continue
        objects = bool(phrases.OBJECTION.match(sentence))
        correction = phrases.correction_in(sentence, objected=objected or objects)
        objected = objects
        if correction is not None and len(phrases.WORD.findall(correction.right)) <= HOOK.rule_words:
            yield correction
