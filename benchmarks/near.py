"""Near words: a look at the first dimensions and then at a few words, beside a whole look at all of them.

The words are those of the standard library's documentation strings, and those asked for are from its sentences. Both
ways have the vectors of all words, and take as many words of each cue together as it has.
"""

from __future__ import annotations

import numpy as np

import corpus
from common import Row, arguments, medians, show, write
from priming.config.params.recall import RecallParams
from priming.embedding.wordllama import StaticEmbedder
from priming.index.vocabulary import Vocabulary
from priming.text.tokens import spelled


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    embedder = StaticEmbedder()
    found: dict[str, str] = {}
    for sentence in corpus.sentences():
        found.update({term: word for term, word in spelled(sentence).items() if term not in found})
    met = list(found.values())
    cues = [list(spelled(cue).values()) for cue in corpus.questions(50 if options.quick else 300)]
    whole = Vocabulary(embedder).vectors(met).packed()
    held = Vocabulary(embedder, whole)
    floor, most = RecallParams().near_floor, RecallParams().near_most
    held.near({"word": None}, met, floor, most)  # the heads are made once

    def heads(words: list[str]) -> dict[str, set[int]]:
        held._lately.clear()
        near = held.near(dict.fromkeys(words), met, floor, most)
        return {word: set(one.codes.tolist()) for word, one in near.items()}

    def everything(words: list[str]) -> dict[str, set[int]]:
        cosines = (whole @ embedder.words(words).T).T
        above = [np.flatnonzero(one > floor) for one in cosines]
        best = [some[np.argsort(-one[some])][:most] for some, one in zip(above, cosines, strict=True)]
        return {word: set(one.tolist()) for word, one in zip(words, best, strict=True)}

    taken = medians({"heads": heads, "whole": everything}, cues)
    hits = wanted = 0
    for words in cues:
        near, all_of_them = heads(words), everything(words)
        hits += sum(len(near[word] & all_of_them[word]) for word in words)
        wanted += sum(map(len, all_of_them.values()))
    rows = [Row(f"near words among {len(met):,}", taken["heads"], taken["whole"], None, "a whole look")]
    show("Near words", rows)
    print(f"found: {100 * hits / wanted:.1f} % of the {most} nearest of each word")
    print(write("near", rows, packages=("wordllama",), quick=options.quick, found=round(hits / wanted, 4)))


if __name__ == "__main__":
    main()
