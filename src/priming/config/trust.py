"""Trust: the trust of derived memories, and the trust that a rule needs to instruct an agent.

Below ``agent`` a rule is quoted data: it neither overrides nor contradicts rules that may instruct, and absorbs
no correction of a source that may.
"""

from __future__ import annotations

from collections.abc import Iterable

from priming.config.words import TRUST
from priming.errors import ParamError

INSTRUCTING = "agent"
"""The lowest trust at which rules are shown as rules; below it they are quoted data."""
_SOURCES = {"untrusted": "from an untrusted source", "tool": "from a tool"}


def least(trusts: Iterable[str]) -> str:
    """Return the trust of a memory derived from sources with these trusts: the lowest of them.

        untrusted < tool < agent < user

    Parameters
    ----------
    trusts : at least one of ``priming.types.TRUST``.

    Raises
    ------
    ParamError : an unknown trust, or no trust at all.

    Examples
    --------
    >>> least(["user", "tool", "agent"])
    'tool'
    """
    ranks = [_rank(trust) for trust in trusts]
    if not ranks:
        raise ParamError("trusts", [], f"must be at least one of {', '.join(TRUST)}")
    return TRUST[min(ranks)]


def is_trusted_as(trust: str, other: str) -> bool:
    """Tell whether ``trust`` is at least ``other``.

    >>> is_trusted_as("agent", "tool"), is_trusted_as("tool", "agent")
    (True, False)
    """
    return _rank(trust) >= _rank(other)


def instructs(trust: str) -> bool:
    """Tell whether a rule of this trust may be put before an agent as a rule, rather than as quoted data.

    >>> instructs("user"), instructs("tool")
    (True, False)
    """
    return is_trusted_as(trust, INSTRUCTING)


def source_note(trust: str) -> str:
    """Say where a memory comes from if its source may not instruct; empty for others.

    >>> source_note("tool"), source_note("user")
    ('from a tool', '')
    """
    return _SOURCES.get(trust, "")


def _rank(trust: str) -> int:
    if trust not in TRUST:
        raise ParamError("trust", trust, f"must be one of {', '.join(TRUST)}")
    return TRUST.index(trust)
