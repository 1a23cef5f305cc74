"""Is the passage that a question asks for in the packed text? Short texts are joined to few long ones, and asked for.

    python benchmarks/passages.py FOLDER [FOLDER ...]

Each folder is in the genre format. Its texts of at most 80 words are joined, blank lines between them, with those of
the folders after it; a passage counts as told where it stands whole in the text that recall packs for its question,
in a budget of tokens. Questions whose answer is the latest of several texts, or of two, are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from priming.cli.output import Table, draw
from priming.memory import Memory
from priming.remember.vectors import follow
from priming_lab.genre import load_genre

LONGEST = 80
"""Most words of a text that is joined to others."""
WORDS = (1_000, 3_000, 10_000)
"""Least words of a long text."""
BUDGETS = (500, 1_000, 2_000)
PATIENCE = 600.0
"""Most seconds for the vectors of a store."""


def passages(folders: Sequence[Path]) -> tuple[list[str], list[tuple[str, str]]]:
    """The short texts of some folders in their order, and each question with the text that it asks for."""
    texts, asked = list[str](), list[tuple[str, str]]()
    for folder in folders:
        for part in load_genre(folder).parts:
            short = {item.label: item.text for item in part.items if len(item.text.split()) <= LONGEST}
            texts += short.values()
            single = [query for query in part.queries if len(query.gold) == 1 and query.gold <= short.keys()]
            asked += [(query.text, short[label]) for query in single for label in query.gold]
    return texts, asked


def joined(texts: Sequence[str], words: int) -> Iterator[str]:
    """Long texts of at least so many words; the last has the rest."""
    parts, size = list[str](), 0
    for text in texts:
        parts.append(text)
        size += len(text.split())
        if size >= words:
            yield "\n\n".join(parts)
            parts, size = [], 0
    if parts:
        yield "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    options = parser.parse_args()
    texts, asked = passages(options.folders)
    rows = []
    for words in WORDS:
        with Memory.open("sqlite://") as memory:
            memory.remember_many([{"content": text} for text in joined(texts, words)])
            follow(memory, PATIENCE)
            told = [
                sum(passage in memory.recall(text, tokens=budget).text for text, passage in asked)
                for budget in BUDGETS
            ]
        rows.append((f"{words:,}", *(f"{100 * number / len(asked):.0f}" for number in told)))
    heads = ("words of a text", *(f"{budget:,} tokens" for budget in BUDGETS))
    draw([Table(heads, tuple(rows))])
    print(f"of {len(asked)} questions, in percent")


if __name__ == "__main__":
    main()
