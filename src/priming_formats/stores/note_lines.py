"""The lines that say something in a note of basic-memory: facts and relations."""

from __future__ import annotations

from priming.transfer.reading import title

_LISTED = ("- ", "* ")


def observation(line: str) -> tuple[str, list[str]] | None:
    """Return the text of a fact, and its category and tags; None for another line, such as a task.

    >>> observation("- [tip] Grind medium-fine for V60 #brewing (from Ada)")
    ('Grind medium-fine for V60 #brewing (from Ada)', ['tip', 'brewing'])
    >>> observation("- [x] Buy beans"), observation("- [[Ethiopia]]")
    (None, None)
    """
    mark, _, rest = line.strip().partition("[")
    category, bracket, text = rest.partition("] ")
    if mark not in _LISTED or not bracket or len(category.strip()) < 2 or {"[", "]"} & {*category}:
        return None
    tags = [word[1:] for word in text.split() if word.startswith("#") and title(word[1:])]
    return (text.strip(), [category.strip(), *tags]) if text.strip() else None


def relation(line: str) -> tuple[str, str] | None:
    """Return the name of a relation, empty if it has none, and the note that it leads to; None for another line.

    >>> relation("- requires [[Burr Grinder]]"), relation('- "pairs well with" [[Dark Chocolate|it]]')
    (('requires', 'Burr Grinder'), ('pairs well with', 'Dark Chocolate'))
    >>> relation("- Worth checking out [[Ethiopia]]")
    """
    before, _, rest = line.strip().partition("[[")
    target, closing, _ = rest.partition("]]")
    name = before[2:].strip()
    if before[:2] not in _LISTED or not closing:
        return None
    if is_quoted := len(name) > 2 and name[0] == name[-1] and name[0] in "\"'":
        name = name[1:-1]
    target = target.partition("|")[0].partition("#")[0].strip()
    return (title(name) or "", target) if target and (is_quoted or len(name.split()) < 2) else None
