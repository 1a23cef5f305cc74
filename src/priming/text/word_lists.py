"""Word lists: text files in ``words/``, a list in each."""

from __future__ import annotations

from importlib.resources import files


def read_words(name: str) -> list[str]:
    """Read the words of ``words/<name>.txt``, in order; lines that begin with "#" are comments.

    >>> read_words("pronouns_and_numerals")[:2]
    ['anybody', 'anyone']
    """
    text = files(__package__).joinpath("words", f"{name}.txt").read_text("utf-8")
    return [word for line in text.splitlines() if not line.startswith("#") for word in line.split()]


def read_word_groups(name: str) -> list[list[str]]:
    """Read the lines of ``words/<name>.txt`` as groups of words; lines that begin with "#" are comments.

    >>> read_word_groups("alternatives")[0]
    ['tab', 'space']
    """
    text = files(__package__).joinpath("words", f"{name}.txt").read_text("utf-8")
    return [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def read_rewritings(name: str) -> list[tuple[str, str]]:
    """Read the lines of ``words/<name>.txt`` as a pattern and what takes its place, in order.

    >>> read_rewritings("rewritings")[-1][1]
    'set'
    """
    text = files(__package__).joinpath("words", f"{name}.txt").read_text("utf-8")
    rows = (line.split(" ⇒") for line in text.splitlines() if " ⇒" in line and not line.startswith("#"))
    return [(pattern, replacement.strip()) for pattern, replacement in rows]
