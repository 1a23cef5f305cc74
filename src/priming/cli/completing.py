"""What the shell completes options with; nothing is loaded before it asks."""

from __future__ import annotations

from collections.abc import Callable


def one_of(choices: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Shell completion from a fixed list."""
    return lambda incomplete: [one for one in choices if one.startswith(incomplete)]


def profile_names(incomplete: str) -> list[str]:
    """Shell completion of profiles."""
    from priming.profiles import ALL

    return [name for name in ALL if name.startswith(incomplete)]


def embedder_names(incomplete: str) -> list[str]:
    """Shell completion of embedders."""
    from priming.embed.choose import NAMES

    return [name for name in NAMES if name.startswith(incomplete)]


def relation_names(incomplete: str) -> list[str]:
    """Shell completion of relations."""
    from priming.words import RELATIONS

    return [name for name in RELATIONS if name.startswith(incomplete)]


def importer_names(incomplete: str) -> list[str]:
    """Shell completion of what can be imported."""
    from priming.transfer.importers import OWN, names

    return [name for name in (OWN, *names()) if name.startswith(incomplete)]


def term_names(incomplete: str) -> list[str]:
    """Shell completion of the terms of recall."""
    from priming.engine.recall import TERMS

    return [name for name in TERMS if name.startswith(incomplete)]
