"""Paths of a task: where they lead, and which files a person must say yes to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath, PureWindowsPath

from priming.errors import ParamError

_ROOTED = re.compile(
    r"\s*(?:[/~\\]|\$\w+(?:[/\\]|$)|\$[{(]|`|%\w+%|[a-z][a-z\d+.-]+:(?:[/\\]|$))", re.IGNORECASE
)
SECRET = (
    *(".git/*", ".priming/*", ".ssh/*", ".gnupg/*", ".aws/*", ".kube/*", ".docker/*", ".config/gh/*", ".env"),
    *(".env.*", ".envrc", ".netrc", ".pgpass", ".npmrc", ".pypirc", ".htpasswd", ".git-credentials"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*"),
    *("id_ed25519*", "authorized_keys", ".vault-token", ".gitconfig", ".bashrc", ".profile", ".zshrc"),
    *(".zshenv", ".zprofile", ".bash_profile", ".bash_login"),
)
"""Files that open doors, or steer what runs."""
PRECIOUS = (
    *(*SECRET, "*.db", "*.sqlite*", "*.tfstate", ".husky/*", ".github/workflows/*", ".vscode/*", ".mcp.json"),
    *(".devcontainer/*", ".claude/*", ".cursor/*", ".codex/*", ".gemini/*"),
)
"""Also data that nothing brings back, and what runs commands of its own."""


def project_path(name: str, path: str) -> str:
    """Return a path in the project, without detours; a path that leaves the project is refused.

    >>> project_path("delta", "./src/../src/app.py")
    'src/app.py'
    >>> project_path("delta", "src/../../../etc/passwd")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    priming.errors.ParamError: delta = ...: must be the path of a file in the project, such as src/app.py
    """
    parts: list[str] = []
    for part in PurePosixPath(path.replace("\\", "/")).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    if not parts or is_rooted(path) or ".." in parts or not path.isprintable():
        raise ParamError(name, path, "must be the path of a file in the project, such as src/app.py")
    return "/".join(parts)


def is_rooted(path: str) -> bool:
    """Tell whether a path does not begin in the project, but at a root, a drive, a home, a variable or an address.

    >>> [is_rooted(path) for path in ("$HOME/x", "file:///etc/passwd", "~/x", "app/routes/$user.tsx")]
    [True, True, True, False]
    """
    return bool(_ROOTED.match(path) or PureWindowsPath(path).drive)


def place_of(path: str, folder: Path) -> str | None:
    """Return the target of a path, as a path in the folder; None if it is outside, or if a link has no target."""
    if is_rooted(path) and not Path(path).is_absolute():
        return None
    try:
        root = folder.resolve()
        target = (root / path.replace("\\", "/")).resolve()
        return None if target.is_symlink() else target.relative_to(root).as_posix()  # a link to itself
    except (OSError, RuntimeError, ValueError):
        return None


def fits(path: str, rules: Sequence[str]) -> bool:
    """Tell whether the end of a path has the form of a rule; capitals do not count, as on many file systems."""
    parts = path.removeprefix("./").rstrip("/").casefold().split("/")
    ends = ["/".join(parts[place:]) for place in range(len(parts))]
    return any(fnmatchcase(end, rule) or end == rule.removesuffix("/*") for end in ends for rule in rules)
