"""The parameters of the embedders that are not the bundled one."""

from __future__ import annotations

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass


@dataclass(frozen=True, slots=True)
class OnnxParams(Checked):
    """How a model runs on this machine, and what of a text it reads."""

    tokens: int = param(
        256,
        low=3,
        unit="tokens",
        source="model card of all-MiniLM-L6-v2",
        doc="maximum length of a text, including the two marks at its ends; the rest is not read",
    )
    threads: int = param(
        0, low=0, unit="texts", doc="number of texts processed at once; 0: one for each processor"
    )


@dataclass(frozen=True, slots=True)
class EmbedderParams(Checked):
    """Patience and limits of an embedder behind an endpoint, and of making vectors after a text is stored."""

    batch: int = param(64, low=1, unit="texts", doc="texts in one request")
    characters: int = param(
        32_768, low=1, unit="characters", doc="maximum length of a text; the rest is not sent"
    )
    timeout: float = param(60.0, low=0.0, unit="seconds", doc="time limit for one batch, including retries")
    connect: float = param(10.0, low=0.0, unit="seconds", doc="time limit for connecting to the endpoint")
    output: int = param(67_108_864, low=1, unit="bytes", doc="longest answer")
    retries: int = param(3, low=0, unit="requests", doc="maximum number of retries after status 429 or 5xx")
    pause: float = param(
        1.0, low=0.0, unit="seconds", doc="wait before the first retry; it doubles with each further one"
    )
    longest_pause: float = param(
        30.0, low=0.0, unit="seconds", doc="maximum wait before a retry, whatever `Retry-After` says"
    )
    repeated: int = param(300, low=1, unit="characters", doc="maximum length of an answer quoted in an error")
    reembed_batch: int = param(
        16, low=1, unit="texts", doc="number of vectors that are computed and stored at once"
    )
    at_once: int = param(
        64, low=0, unit="texts", doc="most texts of a load that get their vectors as they are stored"
    )
    followed: int = param(
        4_096, low=1, unit="texts", doc="most texts that are looked at in one go of what follows a load"
    )
    command: float = param(
        0.5,
        low=0.0,
        unit="seconds",
        doc="what a command spends, after its answer, on vectors that are waited for",
    )
    server: float = param(5.0, low=0.0, unit="seconds", doc="what a server spends on them each time it looks")
    idle: float = param(
        0.2, low=0.0, unit="seconds", doc="what the server of a session's hooks spends on them between calls"
    )
    night: float = param(600.0, low=0.0, unit="seconds", doc="what a night of sleep spends on them")
    turn: float = param(
        0.05,
        low=0.0,
        unit="seconds",
        doc="pause before the next look whether another process still makes them",
    )


@dataclass(frozen=True, slots=True)
class PassageParams(Checked):
    """How a long text is cut into passages."""

    whole: int = param(
        900,
        low=1,
        unit="bytes",
        source="about 150 English words, which all-MiniLM-L6-v2 reads whole",
        doc="maximum size of a text that is a single passage",
    )
    least: int = param(200, low=1, unit="bytes", doc="size from which a passage ends with a line")
    most: int = param(400, low=1, unit="bytes", doc="maximum size of a passage but the last")
    sentence: int = param(60, low=1, unit="characters", doc="minimum length of a sentence that stands alone")
    cosine: float = param(
        6.0, low=0.0, doc="weight of the cosine of passage and cue, beside the share of the cue's words"
    )
    beside: float = param(
        0.3,
        low=0.0,
        high=1.0,
        doc="part of what the better of its two neighbours answers that a passage answers",
    )


ONNX, EMBEDDER, PASSAGES = OnnxParams(), EmbedderParams(), PassageParams()
