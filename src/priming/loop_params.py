"""The tunables of the loop. They are asked for as ``priming.params``."""

from __future__ import annotations

from dataclasses import dataclass

from priming.checked import Checked, param

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
    alternatives: int = param(3, low=0, unit="memories", doc="patterns named where the approach is given up")
    destructive: tuple[str, ...] = param(
        _COMMANDS, doc="words of a gate's command, in this order, before which a person is asked"
    )
    precious: tuple[str, ...] = param(
        _FILES, doc="files of a task, or outside the folder, before which a person is asked"
    )


LOOP = LoopParams()
