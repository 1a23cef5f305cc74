"""What prompts of the loop say of memories, files and earlier work: as quoted data, in sections, short."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from priming.agents.prompts import fenced
from priming.config.params.loop import CONTEXT, ContextParams
from priming.core.metacognition import Assessment
from priming.engine.present import quoted
from priming.loop.context import cut
from priming.looping import Codebase, Gathered, Verified

PACKAGE = "priming.loop"

_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
"""Colours, titles and the like."""
_ADVICE = {
    "pivot_now": "The tasks before failed one after the other: what was tried does not work. Take another approach.",
    "consider_pivot": "Most tasks so far failed: consider another approach than the one so far.",
    "slow_down": "The last task failed: take smaller steps, and check each.",
}


def advice(assessment: Assessment | None) -> str | None:
    """What metacognition says to the next step; nothing where all goes well."""
    if assessment is None or assessment.advice not in _ADVICE:
        return None
    failed = assessment.consecutive_failures
    counted = f" Failures in a row: {failed}." if failed > 1 else ""
    return f"{_ADVICE[assessment.advice]}{counted}"


def sections(some: Iterable[str | None]) -> str:
    """Sections of a prompt, those that are there."""
    return "\n\n".join(one for one in some if one)


def memories(gathered: Gathered) -> str:
    """Each memory on a line with its key, those first that fire."""
    shown = gathered.shown
    if not shown:
        return "There are no memories about this."
    lines = []
    for one in shown:
        fires = "applies here, " if one.key in gathered.fired else ""
        lines.append(f"[{_label(one.key)}] {fires}{one.kind}: {quoted(one.text)}")
    return "Memories of earlier work, by key:\n" + fenced("\n".join(lines))


def project(codebase: Codebase) -> str | None:
    """What stands in the folder."""
    named = {"languages": codebase.languages, "frameworks": codebase.frameworks, "tests in": codebase.tests}
    lines = [f"{what}: {', '.join(names)}" for what, names in named.items() if names]
    lines += ["files about it:", *map(quoted, codebase.relevant)] if codebase.relevant else []
    return f"The project has {codebase.files:,} files:\n" + fenced("\n".join(lines)) if lines else None


def earlier(lineage: Sequence[str], params: ContextParams = CONTEXT) -> str | None:
    """What was done before, the latest few."""
    latest = lineage[len(lineage) - params.lineage :] if len(lineage) > params.lineage else lineage
    lines = [quoted(cut(one, params.memory_length)) for one in latest]
    return "Earlier tasks and attempts:\n" + fenced("\n".join(lines)) if lines else None


def gate(failed: Verified, params: ContextParams = CONTEXT) -> str:
    """What the gate of the last attempt found: its command, how it ended, and the end of what it printed."""
    how = "was late" if failed.status == "late" else f"ended with status {failed.exit_status}"
    said = shortened(plain(failed.output), params.gate_length) or "(it printed nothing)"
    return f"The last attempt did not pass: its command {how}, and printed:\n" + fenced(said)


def plain(text: str) -> str:
    """What a terminal would show of a text, line by line, and what it would hide written out."""
    lines = _TERMINAL.sub("", text).replace("\t", "    ").splitlines()
    return "\n".join(quoted(one)[1:-1].replace('\\"', '"').replace("\\\\", "\\") for one in lines)


def shortened(text: str, most: int) -> str:
    """A long text without its middle: of a failure the end says more than the beginning."""
    if len(text) <= most:
        return text
    head = most // 4
    return f"{text[:head]}\n… {len(text) - most:,} characters left out …\n{text[head - most :]}"


def _label(key: str) -> str:
    return quoted(key) if any(one in key for one in '"[]') else quoted(key)[1:-1]
