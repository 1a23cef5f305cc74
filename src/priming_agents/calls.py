"""A call of a hook: its id, and the limits of what an agent sends and a server answers.

A hook that a server answers imports this: nothing here may be heavy.
"""

from __future__ import annotations

import os
import time

INPUT = 16_777_216
"""Maximum size of an agent's input, in bytes."""
ANSWER = 1.5
"""Time limit for an answer of the session's server, in seconds; beyond it the hook does the work itself."""
_MILLISECONDS = 12


def new_call() -> str:
    """Return an id for one call of a hook: the milliseconds of now, and chance."""
    return f"{time.time_ns() // 1_000_000:0{_MILLISECONDS}x}{os.urandom(10).hex()}"


def moment(call: str) -> int:
    """Return when a call began, in milliseconds: its id begins with them."""
    return int(call[:_MILLISECONDS], 16)


def id_of(call: str, name: str) -> str:
    """Return the id, of version 7, of an operation in a call of a hook.

    >>> id_of("019ab00c0ffe" + "00" * 10, "learn 1")[:15]
    '019ab00c-0ffe-7'
    """
    from hashlib import blake2b

    tail = blake2b(f"{call} {name}".encode(), digest_size=10).hexdigest()
    variant = f"{int(tail[3], 16) & 3 | 8:x}"
    return f"{call[:8]}-{call[8:12]}-7{tail[:3]}-{variant}{tail[4:7]}-{tail[7:19]}"
