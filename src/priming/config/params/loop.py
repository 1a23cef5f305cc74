"""The parameters of the loop: how far it may go by itself, what an agent is shown, and what is learnt."""

from __future__ import annotations

from dataclasses import dataclass

from priming.config.params.checked import Checked, param

_COMMANDS = (
    "rm",
    "rmdir",
    "shred",
    "dd",
    "mkfs*",
    "truncate",
    "kill",
    "killall",
    "pkill",
    "shutdown",
    "reboot",
    "sudo",
    "git push",
    "git reset",
    "git clean",
    "git checkout",
    "git restore",
    "git rebase",
    "git branch -D",
    "drop table",
    "drop database",
    "delete from",
    "dropdb",
    "kubectl delete",
    "kubectl apply",
    "helm uninstall",
    "terraform apply",
    "terraform destroy",
    "docker system prune",
    "docker volume rm",
    "npm publish",
    "twine upload",
    "cargo publish",
    "priming purge",
)
_FILES = (
    ".git/*",
    ".priming/*",
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "id_rsa*",
    "*.db",
    "*.sqlite*",
    "*.tfstate",
)


@dataclass(frozen=True, slots=True)
class LoopParams(Checked):
    """How far the loop may go by itself."""

    attempts: int = param(3, low=1, unit="attempts", source="Arc", doc="at one task, then it is blocked")
    tasks: int = param(20, low=1, unit="tasks", doc="most of one session; more are left out, and it says so")
    depth: int = param(2, low=0, unit="levels", doc="of subgoals below the objective")
    subgoals: int = param(3, low=0, unit="subgoals", doc="most of one session")
    timeout: float = param(
        600.0,
        low=0.0,
        unit="seconds",
        doc="patience with one run of a gate; the command line's, with one answer too",
    )
    output: int = param(16_384, low=1, unit="bytes", doc="most that is kept of what a gate prints")
    objective: int = param(8_192, low=1, unit="characters", doc="longest objective")
    proven: int = param(
        3,
        low=1,
        unit="runs",
        source="Arc",
        doc="delivered in the same way, after which an objective needs no reasoning",
    )
    alternatives: int = param(3, low=0, unit="memories", doc="patterns named where the approach is given up")
    destructive: tuple[str, ...] = param(
        _COMMANDS, doc="words of a gate's command, in this order, before which a person is asked"
    )
    precious: tuple[str, ...] = param(
        _FILES, doc="files of a task, or outside the folder, before which a person is asked"
    )


@dataclass(frozen=True, slots=True)
class ContextParams(Checked):
    """What is gathered for an objective, how much of it is shown, and what is learnt."""

    failures: int = param(5, low=0, unit="memories", source="Arc", doc="most failures that are shown")
    patterns: int = param(3, low=0, unit="memories", source="Arc", doc="most patterns that are shown")
    connected: int = param(3, low=0, unit="memories", source="Arc", doc="most memories linked to these")
    hops: int = param(2, low=1, unit="links", source="Arc", doc="how far away those may be")
    link_weight: float = param(
        0.5, low=0.0, high=1.0, source="Arc", doc="least weight of each link on the way to them"
    )
    pool: int = param(20, low=1, unit="memories", doc="recalled of each kind, to choose from")
    relevance: float = param(
        0.45,
        low=0.0,
        high=1.0,
        unit="cosine",
        doc="of the nearest text of a lesson; below it, only what fires in the context is shown",
    )
    answerable: float = param(
        0.6,
        low=0.0,
        high=1.0,
        unit="cosine",
        doc="of the trigger, task or objective of a lesson; below it, the lesson is not blamed",
    )
    fires_terms: int = param(
        2, low=1, unit="terms", doc="fewest terms that a memory shares with an objective"
    )
    around: int = param(10, low=1, unit="memories", doc="recalled for the files that they name")
    memory_length: int = param(240, low=20, unit="characters", doc="most of one memory that is shown")
    text_length: int = param(
        1_200, low=20, unit="characters", doc="most of a question and of its answer that is shown"
    )
    lineage: int = param(5, low=0, unit="deliveries", doc="latest deliveries that are shown")
    gate_length: int = param(1_300, low=20, unit="characters", doc="most of a gate's output that is shown")
    listed: int = param(20_000, low=1, unit="files", doc="most files of a folder that are looked at by name")
    read: int = param(200, low=0, unit="files", doc="most files that are looked into")
    read_bytes: int = param(8_192, low=1, unit="bytes", doc="most of each that is read")
    list_seconds: float = param(10.0, low=0.0, unit="seconds", doc="patience with `git ls-files`")
    relevant: int = param(8, low=0, unit="files", doc="files about the objective that are shown")
    kinds: int = param(5, low=0, unit="names", doc="most languages, frameworks and places of tests shown")
    named: float = param(
        8.0, low=0.0, doc="worth of a file that the objective names, in terms of its content"
    )
    in_path: float = param(2.0, low=0.0, doc="worth of a term of the objective in a file's path")
    remembered: float = param(4.0, low=0.0, doc="worth of a file that a memory about the objective names")
    many_words: int = param(20, low=0, unit="words", source="Arc", doc="an objective of more is moderate")
    most_words: int = param(40, low=0, unit="words", source="Arc", doc="an objective of more is complex")
    tasks: int = param(
        100, low=1, unit="tasks", doc="a plan of more makes no sense; what a run carries out is its own limit"
    )
    delta: int = param(50, low=1, unit="files", doc="most that one task may be about")
    answer_length: int = param(4_000, low=1, unit="characters", doc="longest text in an answer of an agent")
    repairs: int = param(
        1, low=0, unit="rounds", doc="times that an answer that makes no sense is asked for again"
    )
    similar: float = param(
        0.85,
        low=0.0,
        high=1.0,
        unit="cosine",
        source="Arc",
        doc="a lesson this near strengthens the one there",
    )
    repeated: float = param(
        0.9, low=0.0, high=1.0, unit="cosine", doc="a subgoal this near to an open one is the same"
    )
    trigger: int = param(
        10, low=1, unit="characters", source="Arc", doc="shortest trigger that can be stored"
    )
    lesson: int = param(
        600, low=20, unit="characters", doc="most of a trigger and of a resolution that is kept"
    )
    dormant_days: float = param(
        30.0, low=0.0, unit="days", source="Arc", doc="what was not used for longer is dormant …"
    )
    dormant_uses: int = param(2, low=0, unit="verdicts", source="Arc", doc="… unless it has so many verdicts")
    drain: float = param(
        1.0, low=0.0, unit="seconds", doc="patience with the output of a gate that has ended"
    )
    look: float = param(0.1, low=0.001, unit="seconds", doc="how often a gate looks whether it is to stop")


LOOP = LoopParams()
CONTEXT = ContextParams()
