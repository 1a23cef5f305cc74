"""Limits and patience that no setting changes: each a plain value with its meaning, and its source if it has one."""

from __future__ import annotations

from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class StoreParams:
    """Limits and patience of a store."""

    busy_timeout: float = 30.0
    """Time limit for waiting for another writer, in seconds."""
    turn_after: float = 1.0
    """Time after which a waiting writer of a SQLite file goes before those that come later, in seconds."""
    content_limit: int = 1_048_576
    """Longest memory, in characters."""
    tags: int = 256
    """Most tags of a memory."""
    files: int = 1_000
    """Most files that a memory touches."""
    conditions: int = 64
    """Most conditions of a memory, in `when`."""
    condition_values: int = 100
    """Most values of a condition."""
    condition_letters: int = 512
    """Longest value of a condition: a glob pattern, a phrase, in characters."""
    batch: int = 500
    """Number of memories in one transaction of a bulk load."""
    trace_days: float = 30.0
    """Time for which traces are kept, in days."""
    copy_days: float = 30.0
    """Time for which backups made unasked are kept, in days (docs/security.md)."""
    trace_count: int = 10_000
    """Maximum number of traces kept."""
    flow_count: int = 1_000
    """Number of traces that keep their flow, the latest first."""
    echo_hours: float = 24.0
    """Time for which returning text counts as an echo, in hours."""
    echo_traces: int = 500
    """Number of recalls, the latest first, whose text can be an echo."""
    echo_words: int = 4
    """Minimum length of an echo."""
    line_bytes: int = 33_554_432
    """Longest line of a file that is imported, and longest message of a commit, in bytes."""
    file_bytes: int = 268_435_456
    """Largest file that is imported as a whole: a note, a JSON document, in bytes."""
    pack_bytes: int = 8_388_608
    """Maximum size of a pack, in bytes."""
    why_operations: int = 10
    """Number of operations that `why` shows, the latest first."""
    copy_lock: float = 2.0
    """Time limit for waiting for another process that makes or removes such backups, in seconds."""


@dataclass(frozen=True, slots=True)
class VectorParams:
    """How the vectors follow the texts that wait for them."""

    reembed_batch: int = 16
    """Number of vectors that are computed and stored at once."""
    at_once: int = 64
    """Most vectors that are made as their texts are stored."""
    a_second: int = 20
    """Vectors a second that are counted on, so that no text is begun that takes longer than there is time for."""
    followed: int = 4_096
    """Most texts that are looked at in one go of what follows a load."""
    command: float = 0.5
    """What a command spends, after its answer, on vectors that are waited for, in seconds."""
    server: float = 5.0
    """What a server spends on them each time it looks, in seconds."""
    idle: float = 0.2
    """What the server of a session's hooks spends on them between calls, in seconds."""
    night: float = 600.0
    """What a night of sleep spends on them, in seconds."""
    turn: float = 0.05
    """Pause before the next look whether another process still makes them, in seconds."""


@dataclass(frozen=True, slots=True)
class PassageParams:
    """How a long text is cut into passages."""

    whole: int = 900
    """Maximum size of a text that is a single passage, in bytes (about 150 English words, which all-MiniLM-L6-v2
    reads whole)."""
    least: int = 100
    """Size from which a passage ends with a line, in bytes."""
    most: int = 400
    """Maximum size of a passage but the last, in bytes."""
    sentence: int = 60
    """Minimum length of a sentence that stands alone, in characters."""
    beside: float = 0.3
    """Part of what the better of its two neighbours answers that a passage answers."""


@dataclass(frozen=True, slots=True)
class FileParams:
    """How activation is released from memories to the files that they touch."""

    anchors: int = 200
    """Number of best memories that release activation (docs/files.md)."""
    sharpness: float = 3.0
    """Power of a memory's match, relative to the best (docs/files.md)."""
    fan: float = 0.5
    """Power of the number of files over which a memory divides its activation (docs/files.md)."""
    half: float = 0.3
    """Share of the memories touching a file at which it takes half of what is passed to it (docs/files.md)."""
    unseen: int = 100
    """Memories touching other files that are added to all, so that in a small history no share is large
    (docs/files.md)."""
    decay: float = 0.2
    """Power by which a memory fades with each later memory that touches files (docs/files.md)."""
    named: float = 1.0
    """Activation of a file that the task names by its path or the end of it; the best vote is 1 (docs/files.md)."""
    stem: float = 0.25
    """Share of that for a file whose name without the ending is a word of the task (docs/files.md)."""
    least: float = 0.01
    """Share of the best file's activation that a file needs (docs/files.md)."""
    together: float = 0.03
    """Share that a file passes on to one always changed with it (docs/files.md)."""


@dataclass(frozen=True, slots=True)
class MetricParams:
    """How intervals are made."""

    resamples: int = 1_000
    """Bootstrap samples of an interval."""
    level: float = 0.95
    """Share of the samples that the interval holds."""


@dataclass(frozen=True, slots=True)
class SleepParams:
    """What a night does, and when it is due."""

    light_window: int = 1_000
    """Number of episodes that `light` compares, the latest first (World Weaver)."""
    window: int = 500
    """Number of episodes that `deep` clusters, the latest first (World Weaver)."""
    batch: int = 8_000
    """Maximum number of episodes clustered at once."""
    epsilon: float = 0.15
    """Epsilon of the second attempt, if everything counted as noise."""
    tight: float = 0.8
    """Minimum cosine to the centroid for members of a single theme, and for clusters that are merged."""
    coherent: float = 0.2
    """Mean cosine to the other members below which a member is noise."""
    alike: float = 0.4
    """Minimum cosine of procedures that are compared word by word."""
    compared: int = 50
    """Maximum number of procedures with which one is compared, the nearest first."""
    listed: int = 200
    """Maximum number of similar items reported as left alone by a stage."""
    steps: int = 60
    """Most steps of a procedure that is compared with others, pair by pair."""
    shared: float = 0.5
    """Minimum share of a cluster's episodes that must name its heading."""
    central: int = 32
    """Number of central members from which a gist is taken."""
    gist_shown: int = 8_000
    """Maximum length of a cluster's texts shown to an agent, shared evenly, in characters."""
    gist_length: int = 400
    """Maximum length of an agent's gist, in characters."""
    gist_failures: int = 2
    """Number of failures in a row after which a night stops asking the agent."""
    skill_gain: float = 0.05
    """Increase of the success estimate for each procedure merged in (World Weaver)."""
    uses: int = 3
    """Minimum number of verdicts on a memory that is pruned (Arc)."""
    effectiveness: float = 0.25
    """Effectiveness below which a memory is pruned (Arc)."""
    days: float = 1.0
    """Minimum age of a memory that is pruned, in days."""
    duplicate_days: float = 30.0
    """Time after which a marked duplicate is pruned, in days."""
    merge: float = 0.9
    """Minimum cosine at which failures, and patterns, are merged (Arc)."""
    linked: int = 1_000
    """Maximum number of memories that a night examines for missing links."""
    fresh: int = 100
    """Number of new memories at which sleep is due early."""


@dataclass(frozen=True, slots=True)
class SocketParams:
    """Limits and patience of the socket, on both of its ends."""

    waiting: int = 1_024
    """Maximum number of connections waiting to be accepted."""
    settle: float = 0.05
    """Time after which a first line of under four bytes is taken as a line, in seconds."""
    between: float = 0.1
    """Minimum interval between progress messages, in seconds."""
    drain: float = 5.0
    """Time limit at shutdown for a client that does not read its answer, in seconds."""
    knock: float = 0.25
    """A client's time limit for a server's greeting, in seconds."""
    look: float = 1.0
    """Interval at which a session's server checks that its store still exists, in seconds."""


STORE = StoreParams()
VECTORS = VectorParams()
PASSAGES = PassageParams()
FILES = FileParams()
METRICS = MetricParams()
SLEEP = SleepParams()
SOCKET = SocketParams()
