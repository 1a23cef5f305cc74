"""What a hook and the server that answers it have in common: the program's version, and the variables of a call.

A hook that a server answers imports this and next to nothing else: no module here may import another.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = "0.1.0"
"""The version of the package, as in ``pyproject.toml``."""
UNATTENDED = "PRIMING_UNATTENDED"
_PLACES = ("ARC_DB_PATH", "HOME", "TMPDIR", "XDG_RUNTIME_DIR")


def own_variables() -> dict[str, str]:
    """Return all variables that begin with PRIMING_ and say something about a store."""
    mine = {name: value for name, value in os.environ.items() if name.startswith("PRIMING_")}
    return {name: value for name, value in mine.items() if name != UNATTENDED}


def all_variables() -> dict[str, str]:
    """Return the variables that determine the location and the settings of a store."""
    others = {name: value for name, value in os.environ.items() if name in _PLACES}
    return {**others, **own_variables()}


def identity() -> dict[str, Any]:
    """Return what a hook and the server that answers it have in common: program, version, and variables.

    Variables of servers alone count for neither.
    """
    own = {name: value for name, value in all_variables().items() if not name.startswith("PRIMING_SERVER")}
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return {"version": VERSION, "package": package, "variables": own}


def is_attended() -> bool:
    """Tell whether a person reads what an agent answers, as far as its environment says.

    Not in a command of the loop, not in a job of continuous integration, and not in Claude Code run by a program
    (``claude -p``), whose variable then begins with ``sdk``.
    """
    by_program = os.environ.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")
    return not (by_program or os.environ.get(UNATTENDED) or os.environ.get("CI"))


def hook_installation() -> str:
    """Tell which installation of the hooks runs, as far as Claude Code says: a plugin's folder, a hook's own file.

    Where the hooks of the plugin and those of the settings are both there, each event runs both.
    """
    own_file = os.path.basename(os.environ.get("CLAUDE_ENV_FILE", ""))
    return " ".join(filter(None, (os.environ.get("CLAUDE_PLUGIN_ROOT"), own_file)))


def server_variable() -> str:
    """Return what ``PRIMING_SERVER`` says in small letters, ``on`` where it says nothing."""
    return (os.environ.get("PRIMING_SERVER") or "on").casefold()
