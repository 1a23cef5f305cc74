"""What the demo asks: of this repository what its history can answer, of another what stands in its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from priming import Memory
from priming.text.tokens import terms
from priming.types import MemoryRecord

ABOUT_PRIMING = (
    "Why does every error message name a remedy?",
    "Where is Chinese text turned into terms?",
    "What makes sure that forgetting equals the fsrs package?",
    "Where are dates in a cue handled?",
    "What keeps memories within a token budget?",
)
ABOUT_PYTHON = (
    "How can I cancel work that has not started yet?",
    "How do I wait for several tasks to finish?",
    "How can a directory be deleted with everything in it?",
)
FORMS = ("What was done about {}?", "Why was this done: {}?", "Where was this done: {}?")
COUNT = 3
PAGE = 500
NEWEST = 5_000
WORDS_ASKED = 3

_WORD = re.compile(r"[^\W\d_][^\W_]{3,}")


def about_history(memory: Memory) -> list[str]:
    """Three questions that the commits remembered can answer; fewer if they hardly say anything."""
    commits = list(_commits(memory))[-NEWEST:]
    held = [frozenset(terms(one.content)) for one in commits]
    fixed = [question for question in ABOUT_PRIMING if _fits(question, held)]
    return [*fixed, *_made(commits, held)][:COUNT]


def _commits(memory: Memory) -> Iterator[MemoryRecord]:
    after = None
    while page := memory.list(kinds=["episode"], limit=PAGE, after=after):
        yield from (one for one in page if one.key.startswith("commit:"))
        after = page[-1].id


def _fits(question: str, held: Sequence[frozenset[str]]) -> bool:
    """Whether one commit speaks of the question: it holds half of its words, and two at least."""
    asked = set(terms(question))
    return any(len(asked & words) >= max(2, len(asked) / 2) for words in held)


def _made(commits: Sequence[MemoryRecord], held: Sequence[frozenset[str]]) -> list[str]:
    """Questions made of the least frequent words of some subjects, from all over the history."""
    df = Counter(word for words in held for word in words)
    told = [words for one in commits if len(words := _rarest(one.content.split("\n", 1)[0], df)) > 1]
    chosen = [told[(2 * i + 1) * len(told) // (2 * COUNT)] for i in range(COUNT)] if told else []
    return [form.format(", ".join(words)) for form, words in zip(FORMS, chosen, strict=False)]


def _rarest(subject: str, df: Counter[str]) -> list[str]:
    """The least frequent words of a subject, in its order; none from a merge, which tells of branches."""
    if subject.startswith("Merge "):
        return []
    words = dict.fromkeys(word.lower() for word in _WORD.findall(subject) if terms(word))
    rarest = sorted(words, key=lambda word: min(df[term] for term in terms(word)))[:WORDS_ASKED]
    return [word for word in words if word in rarest]
