"""The parameters of the loop: how far it may go by itself, what an agent is shown, and what is learnt."""

from __future__ import annotations

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass

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

    attempts: int = param(
        3,
        low=1,
        unit="attempts",
        source="Arc",
        doc="maximum number of attempts at a task; after that it is blocked",
    )
    tasks: int = param(
        20,
        low=1,
        unit="tasks",
        doc="maximum number of tasks of a session; further ones are dropped, and the session says so",
    )
    depth: int = param(2, low=0, unit="levels", doc="maximum depth of subgoals below the objective")
    subgoals: int = param(3, low=0, unit="subgoals", doc="maximum number of subgoals of a session")
    timeout: float = param(
        600.0,
        low=0.0,
        unit="seconds",
        doc="time limit for one run of a gate, and on the command line for one answer too",
    )
    output: int = param(16_384, low=1, unit="bytes", doc="maximum size of a gate's output that is kept")
    objective: int = param(8_192, low=1, unit="characters", doc="longest objective")
    proven: int = param(
        3,
        low=1,
        unit="runs",
        source="Arc",
        doc="number of deliveries by the same patterns after which an objective needs no reasoning",
    )
    alternatives: int = param(
        3,
        low=0,
        unit="memories",
        doc="maximum number of patterns listed as alternatives if the approach is given up",
    )
    destructive: tuple[str, ...] = param(
        _COMMANDS, doc="words of a gate's command, in this order, that require a person's approval"
    )
    precious: tuple[str, ...] = param(
        _FILES, doc="files of a task that require a person's approval, as does any file outside the folder"
    )


@dataclass(frozen=True, slots=True)
class ContextParams(Checked):
    """What is gathered for an objective, how much of it is shown, and what is learnt."""

    failures: int = param(5, low=0, unit="memories", source="Arc", doc="maximum number of failures shown")
    patterns: int = param(3, low=0, unit="memories", source="Arc", doc="maximum number of patterns shown")
    connected: int = param(
        3,
        low=0,
        unit="memories",
        source="Arc",
        doc="maximum number of memories shown that are linked to these",
    )
    hops: int = param(2, low=1, unit="links", source="Arc", doc="maximum distance of these memories")
    link_weight: float = param(
        0.5, low=0.0, high=1.0, source="Arc", doc="minimum weight of each link on the way to them"
    )
    pool: int = param(
        20, low=1, unit="memories", doc="number of memories of each kind recalled as candidates"
    )
    relevance: float = param(
        0.45,
        low=0.0,
        high=1.0,
        unit="cosine",
        doc="minimum cosine of a lesson's nearest text; below it, a lesson is shown only if it applies here",
    )
    answerable: float = param(
        0.6,
        low=0.0,
        high=1.0,
        unit="cosine",
        doc="minimum cosine of a lesson's trigger, task or objective for a negative verdict",
    )
    fires_terms: int = param(
        2, low=1, unit="terms", doc="minimum number of terms that a memory shares with an objective"
    )
    around: int = param(
        10, low=1, unit="memories", doc="number of memories recalled for the files that they name"
    )
    memory_length: int = param(240, low=20, unit="characters", doc="maximum length shown of a memory")
    text_length: int = param(
        1_200, low=20, unit="characters", doc="maximum length shown of a question and of its answer"
    )
    lineage: int = param(5, low=0, unit="deliveries", doc="number of deliveries shown, the latest first")
    gate_length: int = param(1_300, low=20, unit="characters", doc="maximum length shown of a gate's output")
    listed: int = param(
        20_000, low=1, unit="files", doc="maximum number of files of a folder examined by name"
    )
    read: int = param(200, low=0, unit="files", doc="maximum number of files whose content is read")
    read_bytes: int = param(8_192, low=1, unit="bytes", doc="maximum size read of each")
    list_seconds: float = param(10.0, low=0.0, unit="seconds", doc="time limit for `git ls-files`")
    relevant: int = param(8, low=0, unit="files", doc="maximum number of files shown for the objective")
    kinds: int = param(
        5, low=0, unit="names", doc="maximum number of languages, frameworks and test folders shown"
    )
    named: float = param(
        8.0, low=0.0, doc="score of a file that the objective names, relative to its content"
    )
    in_path: float = param(2.0, low=0.0, doc="score of a term of the objective in a file's path")
    remembered: float = param(4.0, low=0.0, doc="score of a file that a memory about the objective names")
    many_words: int = param(
        20, low=0, unit="words", source="Arc", doc="length above which an objective is moderate"
    )
    most_words: int = param(
        40, low=0, unit="words", source="Arc", doc="length above which an objective is complex"
    )
    tasks: int = param(
        100, low=1, unit="tasks", doc="maximum number of tasks in a valid plan; a run has its own limit"
    )
    delta: int = param(50, low=1, unit="files", doc="maximum number of files of one task")
    answer_length: int = param(
        4_000, low=1, unit="characters", doc="maximum length of a text in an agent's answer"
    )
    repairs: int = param(
        1,
        low=0,
        unit="rounds",
        doc="number of times that the agent is asked to repair an answer that makes no sense",
    )
    similar: float = param(
        0.85,
        low=0.0,
        high=1.0,
        unit="cosine",
        source="Arc",
        doc="minimum cosine at which a lesson strengthens an existing one",
    )
    repeated: float = param(
        0.9,
        low=0.0,
        high=1.0,
        unit="cosine",
        doc="minimum cosine at which a subgoal is the same as an open one",
    )
    trigger: int = param(10, low=1, unit="characters", source="Arc", doc="minimum length of a trigger")
    lesson: int = param(
        600, low=20, unit="characters", doc="maximum stored length of a trigger and of a resolution"
    )
    dormant_days: float = param(
        30.0, low=0.0, unit="days", source="Arc", doc="time without use after which a lesson is dormant …"
    )
    dormant_uses: int = param(2, low=0, unit="verdicts", source="Arc", doc="… unless it has so many verdicts")
    drain: float = param(
        1.0, low=0.0, unit="seconds", doc="time limit for reading the output of a gate that has ended"
    )
    look: float = param(0.1, low=0.001, unit="seconds", doc="interval at which a gate checks whether to stop")


LOOP = LoopParams()
CONTEXT = ContextParams()
