"""The passages of a long memory that answer a cue, best first: the packed text tells these."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from priming.config.params.embedding import PASSAGES
from priming.core.arguments.arrays import Floats
from priming.core.lexical import idf
from priming.embedding.passages import passage_ends, sentence_spans
from priming.index.columns import NONE
from priming.recall.evidence import Evidence
from priming.text.tokens import LANGUAGES, terms
from priming.types import MemoryRecord


def passages_of(evidence: Evidence, row: int, record: MemoryRecord) -> tuple[tuple[int, int], ...]:
    """Where the passages of a memory's text begin and end, those that answer the cue first; none of a short text.

    A passage answers by the idf of the cue's terms that it contains, counted over the passages of this text, by the
    cosine of its vector, if it has one, with the cue's, and a little by what stands beside it. The best is in its
    sentences, those with the most of the cue first.
    """
    working, cue = evidence.working, dict.fromkeys(evidence.terms.ordered)
    document = int(working.document[row])
    vectors, ends = working.passages.of(document) if document != NONE else (None, ())
    if not ends or ends[-1] != len(record.content):
        vectors, ends = None, passage_ends(record.content)
    if not ends:
        return ()
    language = LANGUAGES[int(working.language[document])] if document != NONE else None

    def contained(spans: Iterable[tuple[int, int]]) -> Floats:
        texts = [set(terms(record.content[start:end], language)) for start, end in spans]
        return np.array([[term in text for term in cue] for text in texts], np.float64)

    spans = list(zip((0, *ends[:-1]), ends, strict=True))
    matches = contained(spans)
    rarity = idf(matches.sum(axis=0), len(spans))
    answers = matches @ rarity / np.log(len(spans) + 1)
    if vectors is not None:
        answers += PASSAGES.cosine * (vectors @ evidence.query)
    around = np.pad(answers, 1, constant_values=-np.inf)
    answers += PASSAGES.beside * np.maximum(around[:-2], around[2:])
    best, *others = np.argsort(-answers, kind="stable").tolist()
    sentences = sentence_spans(record.content, *spans[best])
    ranked = np.argsort(-(contained(sentences) @ rarity), kind="stable").tolist()
    return (*(sentences[i] for i in ranked), *(spans[i] for i in others))
