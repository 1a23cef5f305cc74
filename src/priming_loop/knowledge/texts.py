"""Texts as prompts and lessons hold them: shortened, as a terminal shows them; and the telling line of an output."""

from __future__ import annotations

import re

from priming.text.quotation import visible
from priming_loop.session import Verification

DELTA = "delta"
"""The metadata of a failure or a pattern that lists the files that it concerned."""
_CUT = "…"
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
"""Control sequences of terminals: colours, titles and the like."""
_TELLING = re.compile(r"error|exception|fail|assert|not found|denied|refused|expected", re.IGNORECASE)
_SYMPTOM = re.compile(r"^E\s+(\S.*)$")
"""How pytest marks an error."""
_RAISED = re.compile(r"[\w.]*(?:Error|Exception)\b")
"""How Python names an exception."""


def cut(text: str, most: int) -> str:
    r"""A text on one line, shortened at its end.

    >>> cut("a long\nline", 8)
    'a long…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}{_CUT}"


def plain(text: str) -> str:
    """A text line by line as a terminal shows it, with hidden characters written out."""
    lines = _TERMINAL.sub("", text).replace("\t", "    ").splitlines()
    return "\n".join(map(visible, lines))


def shortened(text: str, most: int) -> str:
    """A text shortened in its middle: the end of a failure says more than its beginning."""
    if len(text) <= most:
        return text
    head = most // 4
    return f"{text[:head]}\n… {len(text) - most:,} characters left out …\n{text[head - most :]}"


def symptom(verified: Verification) -> str | None:
    r"""The most telling line of a gate's output.

    >>> symptom(Verification("pytest", "failed", 1, "E   NameError: x\n1 failed in 0.1s"))
    'NameError: x'
    """
    lines = [text for line in plain(verified.output).splitlines() if (text := line.strip())]
    marked = [match[1] for line in lines if (match := _SYMPTOM.match(line))]
    raised = [line for line in lines if _RAISED.match(line)]
    telling = [line for line in lines if _TELLING.search(line)]
    # Pytest's first mark, Python's last line of a traceback, a compiler's first error, anything's last word.
    return next(iter((*marked[:1], *raised[-1:], *telling[:1], *lines[-1:])), None)
