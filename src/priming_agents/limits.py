"""Limits and patience of the hooks of coding agents."""

from __future__ import annotations

from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class HookParams:
    """What hooks show a coding agent, how often, and how long they may take."""

    tokens: int = 500
    """Maximum that one hook injects, in tokens (floop)."""
    memories: int = 200
    """Share of that for the memories that a prompt recalls, in tokens; what these do not need, rules have, and
    the other way round."""
    again: int = 5
    """Prompts after which a memory may be shown again; doubles each time."""
    limit: int = 5
    """Maximum number of memories recalled for a prompt."""
    shared: int = 2
    """Minimum number of words that a memory shares with the prompt, unless one of them is a name."""
    files: int = 5
    """Maximum number of files listed that a prompt is likely to touch."""
    reasons: int = 2
    """Maximum number of memories shown for each of these files."""
    name_letters: int = 3
    """Minimum length of a name that suffices alone."""
    read: int = 2_000
    """Maximum length of a prompt that is read, in characters."""
    recent_days: float = 14.0
    """Maximum age of memories shown at the start of a session, rules excepted, in days."""
    important: float = 0.6
    """Minimum importance of these memories."""
    first: int = 3
    """Maximum number of these memories."""
    teaching: int = 60
    """Maximum length of a prompt that teaches a rule by itself; a longer one may contain pasted text."""
    rule_words: int = 40
    """Maximum length of a rule learned from a prompt."""
    remind: int = 3
    """Number of memories shown without any verdict after which the agent is reminded, once a session."""
    named: int = 10
    """Maximum number of memories that the reminder names, the latest first."""
    waiting: int = 10
    """Maximum number of runs of a session that a commit settles, the latest first."""
    beside: float = 10.0
    """Time in which another installation of the hooks reports the same event, where that has no id of its own, in
    seconds."""
    captured: int = 12
    """Maximum number of prompts, of files and of commits that the memory of a session has."""
    captured_letters: int = 400
    """Maximum length of each, and of the answer, in letters."""
    last_letters: int = 200
    """Maximum length of a line about the last session, in letters."""
    last_items: int = 5
    """Maximum number of files, and of commits, that such a line names."""
    keep_days: float = 7.0
    """How long the state of a session is kept, in days."""
    lock: float = 2.0
    """Time limit for waiting for another hook of the session, in seconds."""
    patience: float = 5.0
    """Time limit of a hook, in seconds; beyond it the hook ends."""
    rest: float = 1.0
    """Time before that limit at which a hook gives up its work and reads only constraints without conditions, in
    seconds."""
    connect: int = 2
    """Time limit for a connection to a store in a database, in seconds."""
    away: float = 60.0
    """Time for which a database that did not answer is not asked again, in seconds."""
    idle: float = 30.0
    """Time without a call after which a session's server ends, in minutes."""
    version: float = 15.0
    """Time limit for an agent's program to state its version, in `setup` and `doctor`, in seconds."""


HOOK = HookParams()
