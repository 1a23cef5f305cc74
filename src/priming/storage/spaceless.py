"""Words of a search, and texts of scripts without spaces, as pairs of characters: the same in every database."""

from __future__ import annotations

from priming.text.tokens import bigrams


def cjk_pairs(text: str) -> str | None:
    """The pairs of adjacent characters of each run without spaces, and the run's last character alone.

    A run then matches the phrase of its pairs, and a single character matches the pairs that begin with it.

    >>> cjk_pairs("I moved to 大阪府")
    '大阪 阪府 府'
    """
    return " ".join(pair for run in _runs(text) for pair in (*run, run[-1][1:])).strip() or None


def phrases(words: str) -> list[tuple[str, bool]]:
    """The phrases that a text must contain to contain all of the words; of some, only the beginning of a word.

    >>> phrases("moved 大阪府 春")
    [('moved', False), ('大阪 阪府', False), ('春', True)]
    """
    return [phrase for word in words.replace("\x00", " ").split() for phrase in _phrases(word)]


def _phrases(word: str) -> list[tuple[str, bool]]:
    runs = _runs(word)
    spaced = "".join(" " if bigrams(letter) else letter for letter in word) if runs else word
    return [(part, False) for part in spaced.split()] + [(" ".join(run), len(run[0]) == 1) for run in runs]


def _runs(text: str) -> list[list[str]]:
    """The pairs of a text, in runs in which each begins with the last character of the previous one."""
    runs: list[list[str]] = []
    for pair in bigrams(text).split():
        if runs and len(runs[-1][-1]) > 1 and runs[-1][-1][-1] == pair[0]:
            runs[-1].append(pair)
        else:
            runs.append([pair])
    return runs
