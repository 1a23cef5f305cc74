"""The parameters of the hooks of coding agents."""

from __future__ import annotations

from dataclasses import dataclass

from priming.config.params.checked import Checked, param


@dataclass(frozen=True, slots=True)
class HookParams(Checked):
    """What hooks show a coding agent, how often, and how long they may take."""

    tokens: int = param(500, low=0, unit="tokens", source="floop", doc="most that one hook injects")
    again: int = param(
        5,
        low=1,
        unit="prompts",
        doc="after so many what was shown may be shown again; each time twice as many",
    )
    limit: int = param(5, low=1, unit="memories", doc="most that are recalled for a prompt")
    shared: int = param(
        2, low=1, unit="words", doc="words that a memory and a prompt share at least, unless one is a name"
    )
    name_letters: int = param(3, low=1, unit="letters", doc="shortest name that does alone")
    read: int = param(2_000, low=1, unit="characters", doc="most of a prompt that is read")
    recent_days: float = param(
        14.0, low=0.0, unit="days", doc="how old what a session begins with may be, rules aside"
    )
    important: float = param(0.6, low=0.0, high=1.0, doc="its least importance")
    first: int = param(3, low=1, unit="memories", doc="most of it")
    teaching: int = param(
        60,
        low=1,
        unit="words",
        doc="longest prompt that teaches by itself; a longer one may hold pasted text",
    )
    rule_words: int = param(40, low=1, unit="words", doc="longest rule that a prompt teaches")
    remind: int = param(
        3, low=1, unit="memories", doc="so many shown and none judged: the agent is reminded, once a session"
    )
    named: int = param(10, low=1, unit="memories", doc="most that the reminder names, the latest")
    waiting: int = param(10, low=1, unit="runs", doc="latest runs of a session that a commit settles")
    keep_days: float = param(7.0, low=0.0, unit="days", doc="how long the state of a session is kept")
    lock: float = param(2.0, low=0.0, unit="seconds", doc="patience with another hook of the session")
    patience: float = param(
        5.0, low=0.0, unit="seconds", doc="a hook that is not done by then ends, and has said nothing"
    )
    answer: float = param(
        1.5,
        low=0.0,
        unit="seconds",
        doc="patience with the session's server; then the hook does the work itself",
    )
    idle: float = param(
        30.0, low=0.0, unit="minutes", doc="a session's server that is not called for so long ends"
    )
    look: float = param(
        1.0, low=0.0, unit="seconds", doc="how often that server looks whether its store is still there"
    )
    input: int = param(16_777_216, low=1, unit="bytes", doc="most that is read of what an agent says")


HOOK = HookParams()
