"""The parameters of the hooks of coding agents."""

from __future__ import annotations

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class HookParams(Checked):
    """What hooks show a coding agent, how often, and how long they may take."""

    tokens: int = param(500, low=0, unit="tokens", source="floop", doc="maximum that one hook injects")
    again: int = param(
        5,
        low=1,
        unit="prompts",
        doc="prompts after which a memory may be shown again; doubles each time",
    )
    limit: int = param(5, low=1, unit="memories", doc="maximum number of memories recalled for a prompt")
    shared: int = param(
        2,
        low=1,
        unit="words",
        doc="minimum number of words that a memory shares with the prompt, unless one of them is a name",
    )
    files: int = param(
        5, low=1, unit="files", doc="maximum number of files listed that a prompt is likely to touch"
    )
    reasons: int = param(
        2, low=0, unit="memories", doc="maximum number of memories shown for each of these files"
    )
    name_letters: int = param(3, low=1, unit="letters", doc="minimum length of a name that suffices alone")
    read: int = param(2_000, low=1, unit="characters", doc="maximum length of a prompt that is read")
    recent_days: float = param(
        14.0,
        low=0.0,
        unit="days",
        doc="maximum age of memories shown at the start of a session, rules excepted",
    )
    important: float = param(0.6, low=0.0, high=1.0, doc="minimum importance of these memories")
    first: int = param(3, low=1, unit="memories", doc="maximum number of these memories")
    teaching: int = param(
        60,
        low=1,
        unit="words",
        doc="maximum length of a prompt that teaches a rule by itself; a longer one may contain pasted text",
    )
    rule_words: int = param(40, low=1, unit="words", doc="maximum length of a rule learned from a prompt")
    remind: int = param(
        3,
        low=1,
        unit="memories",
        doc="number of memories shown without any verdict after which the agent is reminded, once a session",
    )
    named: int = param(
        10, low=1, unit="memories", doc="maximum number of memories that the reminder names, the latest first"
    )
    waiting: int = param(
        10,
        low=1,
        unit="runs",
        doc="maximum number of runs of a session that a commit settles, the latest first",
    )
    beside: float = param(
        10.0,
        low=0.0,
        high=604_800.0,
        unit="seconds",
        doc="time in which another installation of the hooks reports the same event, where that has no id of its own",
    )
    keep_days: float = param(7.0, low=0.0, unit="days", doc="how long the state of a session is kept")
    lock: float = param(
        2.0, low=0.0, unit="seconds", doc="time limit for waiting for another hook of the session"
    )
    patience: float = param(5.0, low=0.0, unit="seconds", doc="time limit of a hook; beyond it the hook ends")
    rest: float = param(
        1.0,
        low=0.0,
        unit="seconds",
        doc="time before that limit at which a hook gives up its work and reads only constraints without conditions",
    )
    answer: float = param(
        1.5,
        low=0.0,
        unit="seconds",
        doc="time limit for an answer of the session's server; beyond it the hook does the work itself",
    )
    connect: int = param(2, low=1, unit="seconds", doc="time limit for a connection to a store in a database")
    away: float = param(
        60.0, low=0.0, unit="seconds", doc="time for which a database that did not answer is not asked again"
    )
    idle: float = param(
        30.0, low=0.0, unit="minutes", doc="time without a call after which a session's server ends"
    )
    look: float = param(
        1.0, low=0.0, unit="seconds", doc="interval at which that server checks that its store still exists"
    )
    input: int = param(16_777_216, low=1, unit="bytes", doc="maximum size of an agent's input")
    version: float = param(
        15.0,
        low=0.0,
        unit="seconds",
        doc="time limit for an agent's program to state its version, in `setup` and `doctor`",
    )


HOOK = HookParams()
