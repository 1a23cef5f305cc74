"""How many terms each document was the first to bring: of all that hold a term, the oldest memory brought it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from priming.engine.columns import Ints
from priming.engine.lexicon import BREAK

if TYPE_CHECKING:
    from priming.engine.arrays import Arrays


def brought(arrays: Arrays) -> Ints:
    """Count them for every document; 0 for those that are gone."""
    start, codes = arrays.lexicon.sequences.packed()
    documents = np.repeat(np.arange(arrays.documents), np.diff(start))
    told = arrays.living.values[documents] & (codes != BREAK)
    first = np.full(len(arrays.lexicon.terms), arrays.rows, np.int64)
    np.minimum.at(first, codes[told], arrays.row.values[documents[told]])
    return np.bincount(arrays.document[first[first < arrays.rows]], minlength=arrays.documents)


def tally(arrays: Arrays, news: Ints, number: int, sign: int) -> None:
    """Change the counts as one document comes (1), whatever its age, or goes (−1).

    What it brought, the next oldest of those that hold the term brought before it came, and brings after it went.
    """
    own = int(arrays.row[number])
    news[number] = 0
    for code in np.unique(arrays.lexicon.sequences[number]).tolist():
        if code == BREAK:
            continue
        others = arrays.lexicon.postings(code).rows
        others = others[arrays.living[others] & (others != number)]
        rows = arrays.row.values[others]
        if len(others) and rows.min() < own:
            continue
        if len(others):
            news[others[np.argmin(rows)]] -= sign
        if sign > 0:
            news[number] += 1
