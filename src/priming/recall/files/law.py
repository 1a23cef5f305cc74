"""The arithmetic of files: what a memory releases, and what a task has in common with the path of a file.

Arrays have one element a memory or a file; the constants are those of ``FileParams``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache

import numpy as np

from priming.core.arguments.arrays import Floats, Ints
from priming.core.arguments.normal_forms import caseless
from priming.text.tokens import TERM_CACHE, terms

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NAME = re.compile(r"[\w./\\-]+")
_NO_ENDS = "./\\-"
_SHORTEST = 3
"""Letters of the shortest name without an ending that a word of a task can mean."""


def released(match: Floats, age: Floats, sharpness: float, decay: float) -> Floats:
    """The activation of memories before they divide it: a = (r / max r)^s · (1 + age)^−d.

    Args:
        match: r ≥ 0, how well each memory matches the task, shape (n,).
        age: how many later memories touch files, shape (n,).
        sharpness: s.
        decay: d.

    >>> released(np.array([1.0, 0.5]), np.array([0.0, 3.0]), 2.0, 0.5).tolist()
    [1.0, 0.125]
    """
    best = float(match.max(initial=0.0))
    if not best:
        return np.zeros(len(match))
    values: Floats = (match / best) ** sharpness * (1.0 + age) ** -decay
    return values


def divided(weight: Floats, fan: Ints, power: float) -> Floats:
    """The weight of each link from a memory to a file: w · fan^−f, by the number of files that the memory touches.

    >>> divided(np.array([1.0, 0.5]), np.array([1, 4]), 0.5).tolist()
    [1.0, 0.25]
    """
    values: Floats = weight * np.maximum(fan, 1) ** -power
    return values


def lifted(rate: Floats, half: float) -> Floats:
    """What a file takes of the activation that is passed to it: h / (h + b), by its base rate b.

    A file that nearly every commit touches, such as a changelog, says little about any of them.

    >>> lifted(np.array([0.0, 0.2, 0.6]), 0.2).tolist()
    [1.0, 0.5, 0.25]
    """
    values: Floats = half / (half + rate)
    return values


@lru_cache(maxsize=TERM_CACHE)
def path_terms(path: str) -> tuple[str, ...]:
    """The terms of a path or a task, in which the parts of ``camelCase`` are words too.

    >>> path_terms("src/http/connectionPool.py")
    ('src', 'http', 'connect', 'pool', 'py')
    """
    return tuple(terms(_HUMP.sub(" ", path), "english"))


def named_files(task: str, paths: Sequence[str], stem: float) -> Floats:
    """How much a task names each file: 1 by its path or the end of it, ``stem`` by its name without the ending.

    A name that several files have counts for each in part.

    >>> named_files("fix pool.py and the retry", ["src/pool.py", "src/retry.py", "tests/retry.py"], 0.5).tolist()
    [1.0, 0.25, 0.25]
    """
    names_in_task = filter(None, (name.rstrip(_NO_ENDS) for name in _NAME.findall(caseless(task))))
    words = {word.replace("\\", "/").removeprefix("./") for word in names_in_task}
    names = [_names(path) for path in paths]
    bearers = Counter(name for own in names for name in {*own[0], own[1]} if name in words)
    values = [
        max(
            (1.0 / bearers[name] for name in whole if name in words and ("." in name or "/" in name)),
            default=stem / bearers[bare] if bare in words and len(bare) >= _SHORTEST else 0.0,
        )
        for whole, bare in names
    ]
    return np.array(values, np.float64)


@lru_cache(maxsize=TERM_CACHE)
def _names(path: str) -> tuple[Collection[str], str]:
    """What a file can be called: its path and what follows each of its slashes; and its bare name."""
    parts = caseless(path).split("/")
    ends = frozenset("/".join(parts[i:]) for i in range(len(parts)))
    bare = parts[-1].rpartition(".")[0] or parts[-1]
    return ends, bare.strip("_")
