"""How well each memory meets a cue, by words and by meaning (RECALL.md, per cue 1 and 2)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from priming.config.params.recall import RecallParams
from priming.core.arguments.arrays import Floats
from priming.core.lexical import idf, scaled
from priming.embedding.protocol import Embedder, Vectors
from priming.index.lexicon import Expansion, Occurrences, summed
from priming.index.vocabulary import EXACT, Neighbours
from priming.index.working_set import WorkingSet
from priming.recall.fusion import fuse
from priming.text.tokens import spelled, terms

NAMES = re.compile(r"\b[^\W\d_a-z]\w*|\b\w*\d\w*")
"""A word with a capital, or one with a digit."""


@dataclass(frozen=True, slots=True)
class CueTerms:
    """A cue's terms: in order, and without repeats with their codes in the lexicon."""

    ordered: tuple[str, ...]
    codes: tuple[int, ...]

    @classmethod
    def of(cls, text: str, working: WorkingSet) -> CueTerms:
        """Read a cue against the words of a namespace."""
        ordered = tuple(terms(text))
        lexicon = working.lexicon
        found = [lexicon.code(term) for term in dict.fromkeys(ordered)]
        return cls(ordered, tuple(code for code in found if code is not None and lexicon.df[code]))


@dataclass(frozen=True)
class Retrieval:
    """The matches of every document, each computed when first asked for.

    They are relative to the best of ``pool``, the documents that may answer; the others have none.
    """

    working: WorkingSet
    embedder: Embedder
    text: str
    params: RecallParams
    now: datetime
    context: Mapping[int, float] = field(default_factory=dict)
    ablate: Collection[str] = ()
    pool: NDArray[np.bool_] | None = None

    @cached_property
    def terms(self) -> CueTerms:
        """The cue's terms."""
        return CueTerms.of(self.text, self.working)

    @cached_property
    def literal(self) -> Floats:
        """BM25 of heading and body, of the cue's own terms only."""
        return self._living(self.working.lexicon.score(self.terms.codes))

    @cached_property
    def bm25(self) -> Floats:
        """BM25 of heading and body, in which near words stand for the cue's in part."""
        if not self._looks_near:
            return self.literal
        found, worth, _ = self.occurrences
        return self._living(summed(found.rows, worth, self.working.documents))

    @cached_property
    def occurrences(self) -> tuple[Occurrences, Floats, Floats]:
        """Where the cue's terms, or near words, stand, what each adds to BM25, and the idf of each term."""
        lexicon = self.working.lexicon
        if self._looks_near:
            found, rarity = self._nearby, lexicon.expanded_rarity(self.near)
        else:
            found, rarity = lexicon.occurrences(self.terms.codes), lexicon.rarity(self.terms.codes)
        return found, lexicon.worth(found, rarity), rarity

    @cached_property
    def near(self) -> tuple[Expansion, ...]:
        """The cue's terms, each with the words of the namespace that are near enough to stand for it in part.

        Names stand for themselves alone, and so do words with a digit.
        """
        lexicon, p = self.working.lexicon, self.params
        words = spelled(self.text)
        names = {term for word in self._names for term in terms(word)}
        asked = {word: lexicon.code(term) for term, word in words.items() if term not in names}
        found = self.working.vocabulary.near(asked, lexicon.words, p.near_floor, p.near_most)
        made = [self._stands_for(lexicon.code(term), found.get(word)) for term, word in words.items()]
        return tuple(one for one in made if one is not None)

    @property
    def _names(self) -> list[str]:
        """The cue's capitalised words and those with a digit; a capital that opens the cue tells nothing."""
        found = NAMES.findall(self.text)
        opens = self.text.lstrip()[:1].isupper() and not any(map(str.isdigit, found[0]))
        return found[1:] if opens else found

    def _stands_for(self, own: int | None, found: Neighbours | None) -> Expansion | None:
        """The words that stand for one term: itself whole, others by their likeness."""
        df, p = self.working.lexicon.df.values, self.params
        parts: dict[int, float] = {}
        if found is not None and len(found.codes):
            codes = found.codes[df[found.codes] > 0]
            above = found.cosines[df[found.codes] > 0] - p.near_floor
            shares = np.minimum(1.0, p.near_gain * above / (1.0 - p.near_floor))
            parts = dict(zip(codes.tolist(), shares.tolist(), strict=True))
        known = own is not None and bool(df[own])
        held = float(df[own]) if known else sum(df[code] * part for code, part in parts.items())
        if own is not None and known:
            parts[own] = 1.0
        return Expansion(tuple(parts), tuple(parts.values()), max(1.0, float(held))) if parts else None

    @property
    def _looks_near(self) -> bool:
        return self.params.near and "near" not in self.ablate and self.working.vocabulary.embeds_words

    @cached_property
    def _nearby(self) -> Occurrences:
        """Where the cue's terms or near words stand."""
        return self.working.lexicon.expanded_occurrences(self.near)

    @cached_property
    def query(self) -> Vectors:
        """The cue's vector: its tokens weighted by how rare they are in this namespace, unless that is off."""
        pooler = self.working.pooler
        if pooler is None or not self.params.idf or "idf" in self.ablate:
            (vector,) = self.embedder.embed([self.text])
            return np.asarray(vector, np.float32)
        ids = pooler.tokens([self.text])[0]
        return pooler.pool(ids, idf(self.working.token_df[ids], max(self.working.memories, 1)))

    @cached_property
    def cosine(self) -> Floats:
        """Cosine of the cue and each memory, 0 where it is negative."""
        return self._living(np.maximum(self._products, 0.0))

    @cached_property
    def _products(self) -> Floats:
        return np.round(self.working.vectors.exact(self.query), EXACT)

    @cached_property
    def pairs(self) -> Floats:
        """Worth of the cue's adjacent terms that stand side by side in a memory."""
        codes = [self.working.lexicon.code(term) for term in self.terms.ordered]
        return self._living(self.working.lexicon.pair_score(codes, self.working.living.values))

    @cached_property
    def found(self) -> Occurrences:
        """Where the cue's terms stand among the living."""
        found = self.working.lexicon.occurrences(self.terms.codes)
        return found.only(self.working.living[found.rows])

    @cached_property
    def matches(self) -> dict[str, Floats]:
        """The scaled matches that are fused, by name."""
        return {name: np.asarray(scaled(getattr(self, name))) for name in self._matched}

    @property
    def _matched(self) -> dict[str, float]:
        """Weights of the fused matches."""
        p = self.params
        weights = {"bm25": p.bm25, "cosine": p.cosine, "pairs": p.pairs}
        return {name: w for name, w in weights.items() if w and name not in self.ablate}

    @cached_property
    def match(self) -> Floats:
        """r: the fused matches, without what else speaks for a memory."""
        fused = fuse(self.matches, self._matched) if self.matches else np.zeros(self.working.documents)
        return self._living(fused)

    @cached_property
    def worth(self) -> dict[str, float]:
        """How much each of the cue's terms tells."""
        some = tuple(dict.fromkeys(self.terms.ordered))
        return dict(zip(some, self._rarities(some).tolist(), strict=True))

    def rarity(self, term: str) -> float:
        """How much a term tells: its idf, that of a term no memory has being the greatest."""
        known = self.worth.get(term)
        return float(self._rarities([term])[0]) if known is None else known

    def _rarities(self, some: Sequence[str]) -> Floats:
        lexicon = self.working.lexicon
        codes = [lexicon.code(term) for term in some]
        df = [0 if code is None else min(int(lexicon.df[code]), lexicon.documents) for code in codes]
        return np.asarray(idf(df, max(lexicon.documents, 1)), np.float64)

    @cached_property
    def speakers(self) -> NDArray[np.bool_]:
        """Which titles stand over so many memories that they are of speakers, not of what is told."""
        bar = max(self.params.speaker_share * self.working.memories, 2)
        return np.asarray(self.working.title_count.values >= bar)

    @property
    def texts(self) -> NDArray[np.bool_]:
        """Which documents may answer."""
        return self.working.living.values if self.pool is None else self.pool

    @cached_property
    def _all_living(self) -> bool:
        return bool(self.texts.all())

    def _living(self, values: Floats) -> Floats:
        return values if self._all_living else np.where(self.texts, values, 0.0)
