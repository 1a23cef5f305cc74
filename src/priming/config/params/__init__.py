"""Every parameter of Priming, with its default, range, unit and source: a module a subject.

Inside the package, import from the subject: a hook then loads only its own. ``priming.params`` gives them all.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

SUBJECTS = ("laws", "recall", "services", "limits")


def __getattr__(name: str) -> Any:
    """Find a parameter in the module of its subject."""
    for subject in () if name.startswith("__") else SUBJECTS:
        module = import_module(f"{__name__}.{subject}")
        if name in vars(module):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    modules = [import_module(f"{__name__}.{subject}") for subject in SUBJECTS]
    return sorted({name for module in modules for name in vars(module) if not name.startswith("_")})
