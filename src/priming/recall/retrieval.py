"""The match of each memory with a cue, by words and by meaning (``docs/recall.md``, 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, Ints
from priming.core.lexical import idf, okapi, scaled
from priming.embedding.protocol import Vectors
from priming.embedding.semantic import SemanticEmbedder
from priming.index.columns import NONE
from priming.index.compounds import COMPOUNDING
from priming.index.cue_reading import CueReading
from priming.index.document import slot_of
from priming.index.lexicon import Expansion, Occurrences, among_like, summed
from priming.index.vocabulary import EXACT, Neighbours
from priming.recall.fusion import fuse
from priming.text.name_forms.software_kinds import kinds_of_software
from priming.text.names import marked_words
from priming.text.tokens import spelled, terms
from priming.text.word_lists import is_given_name


@dataclass(frozen=True)
class Retrieval(CueReading):
    """The matches of every document, each computed at its first use.

    Matches are relative to the best of ``pool``, the documents that may answer; other documents match by 0.
    """

    @cached_property
    def literal(self) -> Floats:
        """BM25 of heading and body for the cue's own terms only."""
        return self._living(self.working.lexicon.score(self.terms.codes))

    @cached_property
    def bm25(self) -> Floats:
        """BM25 of heading and body, in which near words count as the cue's in part, and a date as its words.

        Where turns of conversations and other memories share the namespace, each is weighed among its like.
        """
        working, around = self.working, self.working.conversation_context
        occurrences, worths, _ = self.occurrences
        scores = summed(occurrences.rows, worths, working.documents)
        if around.is_mixed:
            scores = among_like(
                scores, occurrences, working.lexicon.norms, around.turn, working.living.values
            )
        return self._living(scores + self.date_rarity)

    @cached_property
    def occurrences(self) -> tuple[Occurrences, Floats, Floats]:
        """The occurrences of the cue's terms or near words, what each adds to BM25, and the idf of each term."""
        lexicon = self.working.lexicon
        if self._expands:
            occurrences, rarity = self._near_occurrences, lexicon.expanded_rarity(self.near)
        else:
            occurrences, rarity = lexicon.occurrences(self.terms.codes), lexicon.rarity(self.terms.codes)
        return occurrences, lexicon.worth(occurrences, rarity), rarity

    @cached_property
    def near(self) -> tuple[Expansion, ...]:
        """The cue's terms, each with the words of the namespace that count as it in part.

        These are the words near enough in meaning, and where the cue names a kind of software, the names of such.
        """
        words = spelled(self.text, self.language)
        neighbours = self._neighbours(words) if self._uses_near_words else {}
        software = {term: runs for kind, runs in self.software.items() for term in kind}
        expansions = [
            self._expansion(term, word, neighbours.get(word), software.get(term, ()))
            for term, word in words.items()
            if term in self.terms.ordered
        ]
        return tuple(expansion for expansion in expansions if expansion is not None)

    def _neighbours(self, words: Mapping[str, str]) -> Mapping[str, Neighbours]:
        """The words near each word of the cue; names, dates, words with a digit and of another script have none."""
        lexicon, p = self.working.lexicon, self.params
        alone = {term for word in self._names for term in terms(word, self.language)} | self.date_terms
        codes = {
            word: lexicon.code(term) for term, word in words.items() if term not in alone and word.isascii()
        }
        return self.working.vocabulary.near(codes, lexicon.words, p.near_floor, p.near_most)

    @cached_property
    def software(self) -> dict[tuple[str, ...], tuple[tuple[int, ...], ...]]:
        """For each kind of software that the cue names, such software of the namespace, as runs of codes.

        The name of a software that is also a word counts only where the namespace has it as a name.
        """
        if not self._reads_kinds:
            return {}
        lexicon, entities = self.working.lexicon, self.working.entities
        software = {}
        for kind, names in kinds_of_software(self.terms.ordered, self.language):
            present = [name for name in names if not name.is_word or slot_of(None, name.text) in entities]
            codes = [[lexicon.code(term) for term in name.terms] for name in present]
            runs = [tuple(code for code in run if code is not None and lexicon.df[code]) for run in codes]
            stored = tuple(run for run, all_ in zip(runs, codes, strict=True) if 0 < len(run) == len(all_))
            if stored:
                software[kind] = stored
        return software

    def rows_of_software(self, kind: tuple[str, ...]) -> Ints:
        """The documents that name software of a kind of ``software``."""
        return np.unique(np.concatenate([self.working.lexicon.rows_with(run) for run in self.software[kind]]))

    @property
    def _names(self) -> list[str]:
        """The cue's capitalised words and words with a digit; a capital that only opens the cue does not count."""
        names = marked_words(self.text, self.language)
        opener = names[0] if names else ""
        opens = self.text.lstrip().startswith(opener) and not any(map(str.isdigit, opener))
        return names[1:] if opens else names

    def _expansion(
        self, term: str, word: str, neighbours: Neighbours | None, software: Sequence[tuple[int, ...]]
    ) -> Expansion | None:
        """The words that count as a term: itself in full, near words, compounds, and software of its kind."""
        own, df = self.working.lexicon.code(term), self.working.lexicon.df.values
        occurs = own is not None and bool(df[own])
        parts = {} if neighbours is None else self._near_shares(neighbours, own if occurs else None)
        if self.joins_words and not is_given_name(word):
            compounds = self.working.lexicon.compounds(word, term)
            parts |= self._by_rarity(compounds, own if occurs else None)
        runs = tuple(run for run in software if len(run) > 1)
        for run in software:
            if len(run) == 1:
                parts[run[0]] = 1.0
        frequency = float(df[own]) if occurs else sum(df[code] * part for code, part in parts.items())
        if own is not None and occurs:
            parts[own] = 1.0
        if not parts and not runs:
            return None
        return Expansion(
            tuple(parts), tuple(parts.values()), max(1.0, float(frequency)), runs, self.params.kind
        )

    def _near_shares(self, neighbours: Neighbours, own: int | None) -> dict[int, float]:
        """To what extent each near word counts as a term: by its similarity, and less if it is the more common.

        A number is near no word: that "many" is near "10" says nothing of a memory.
        """
        lexicon, floor = self.working.lexicon, self.params.near_floor
        words_alone = [
            lexicon.df[c] > 0 and not any(map(str.isdigit, lexicon.words[c]))
            for c in neighbours.codes.tolist()
        ]
        codes, cosines = neighbours.codes[words_alone], neighbours.cosines[words_alone]
        shares = np.minimum(1.0, (cosines - floor) / (1.0 - floor))
        return self._by_rarity(dict(zip(codes.tolist(), shares.tolist(), strict=True)), own)

    def _by_rarity(self, shares: dict[int, float], own: int | None) -> dict[int, float]:
        """The shares of words that count as a term: less, the commoner they are beside the term itself."""
        if own is None or not shares:
            return shares
        lexicon = self.working.lexicon
        rarer = np.sqrt(np.minimum(1.0, lexicon.rarity(list(shares)) / lexicon.rarity([own])))
        return dict(zip(shares, (np.array(list(shares.values())) * rarer).tolist(), strict=True))

    @property
    def _expands(self) -> bool:
        """Whether other words of the namespace count as words of the cue."""
        return self._uses_near_words or self.joins_words or bool(self.software)

    @property
    def joins_words(self) -> bool:
        """Whether a part of a word counts as it in part: where the language writes compounds as one word."""
        return self.params.near and "near" not in self.ablate and self.language in COMPOUNDING

    @property
    def _uses_near_words(self) -> bool:
        """Whether words near in meaning count: the vectors of single words are good for English alone."""
        is_on = self.params.near and "near" not in self.ablate and self.working.vocabulary.embeds_words
        return is_on and self.language == "english"

    @cached_property
    def _near_occurrences(self) -> Occurrences:
        """The occurrences of the cue's terms and near words."""
        return self.working.lexicon.expanded_occurrences(self.near)

    @cached_property
    def query(self) -> Vectors:
        """The cue's vector: its tokens weighted by their rarity in this namespace, unless ``idf`` is off."""
        pooler = self.working.pooler
        if pooler is None or pooler is not self.embedder or not self.params.idf:
            (vector,) = self.embedder.embed([self.text])
            return np.asarray(vector, np.float32)
        ids = pooler.tokens([self.text])[0]
        words = pooler.pool(ids, idf(self.working.token_df[ids], max(self.working.memories, 1)))
        return np.asarray(words, np.float32)

    @cached_property
    def cosine(self) -> Floats:
        """Cosine of the cue and each memory, 0 where it is negative."""
        return self._living(np.maximum(self.signed_cosine, 0.0))

    @cached_property
    def signed_cosine(self) -> Floats:
        """Cosine of the cue and each document, negative ones too."""
        return np.round(self.working.vectors.exact(self.query), EXACT)

    @cached_property
    def pairs(self) -> Floats:
        """The idf of the cue's adjacent terms that are adjacent in a memory too, or that mean software it names."""
        lexicon, living = self.working.lexicon, self.working.living.values
        scores = lexicon.pair_score([lexicon.code(term) for term in self.terms.ordered], living)
        for kind in self.software:
            rows = self.rows_of_software(kind)
            count = int(living[rows].sum())
            if len(kind) > 1 and count:
                scores[rows] += float(idf(count, lexicon.documents)) * (len(kind) - 1)
        return self._living(scores)

    @cached_property
    def literal_occurrences(self) -> Occurrences:
        """The occurrences of the cue's own terms in living documents."""
        occurrences = self.working.lexicon.occurrences(self.terms.codes)
        return occurrences.only(self.working.living[occurrences.rows])

    @cached_property
    def matches(self) -> dict[str, Floats]:
        """The scaled matches that are fused, by name."""
        return {name: np.asarray(scaled(getattr(self, name))) for name in self.match_weights}

    @property
    def match_weights(self) -> dict[str, float]:
        """The weights of the matches that are fused.

        The more words a cue has, the less a sum of their vectors adds to them; the vector of a sentence always adds.
        """
        p = self.params
        short = min(1.0, p.cosine_terms / max(1, len(self.terms.codes)))
        factor = p.sentence if self.reads_sentences else short
        weights = {"bm25": p.bm25, "cosine": p.cosine * factor, "pairs": p.pairs}
        return {name: w for name, w in weights.items() if w and name not in self.ablate}

    @property
    def reads_sentences(self) -> bool:
        """Whether the vectors are also those of sentences, so that a match may be in the meaning alone."""
        return isinstance(self.embedder, SemanticEmbedder)

    @cached_property
    def match(self) -> Floats:
        """r: the fused matches, without the priors."""
        fused = fuse(self.matches, self.match_weights) if self.matches else np.zeros(self.working.documents)
        return self._living(fused)

    @cached_property
    def useful_words(self) -> tuple[Occurrences, Floats]:
        """The cue's terms in the cues for which memories were useful, and the idf of each (``docs/recall.md``, 4).

        A document has a term as often as it was useful for a cue with it.
        """
        working = self.working
        names = list(dict.fromkeys(self.terms.ordered)) if working.cue_feedback else []
        term, rows, counts = list[int](), list[int](), list[float]()
        for at, name in enumerate(names):
            for memory_id, count in working.cue_feedback.uses(name, self.cue_of_feedback).items():
                row = working.row_of.get(memory_id, NONE)
                if row != NONE and working.document[row] != NONE:
                    term.append(at)
                    rows.append(int(working.document[row]))
                    counts.append(count)
        judged = Occurrences(np.array(term, np.int64), np.array(rows, np.int64), np.array(counts), len(names))
        return judged.only(self.texts[judged.rows]), self._idf(names)

    @cached_property
    def useful_bm25(self) -> Floats:
        """What the words for which each memory was useful add to its BM25."""
        words, rarity = self.useful_words
        if not len(words.rows) or not self.params.feedback or "feedback" in self.ablate:
            return np.zeros(self.working.documents)
        own = self._own_counts(words)
        norms, rare = self.working.lexicon.norms[words.rows], rarity[words.term]
        more = okapi(own + words.tf, norms, rare) - okapi(own, norms, rare)
        return summed(words.rows, more, self.working.documents)

    @cached_property
    def useful(self) -> Floats:
        """What useful words add to BM25, relative to the best BM25 with them."""
        added = self.useful_bm25
        return np.asarray(added / (self.bm25 + added).max()) if added.any() else added

    def _own_counts(self, words: Occurrences) -> Floats:
        """How often the text of each document has the term of each occurrence in ``words``."""
        own = np.zeros(len(words.rows))
        for at, name in enumerate(dict.fromkeys(self.terms.ordered)):
            code, here = self.working.lexicon.code(name), np.flatnonzero(words.term == at)
            if code is not None and len(here):
                counts = np.zeros(self.working.documents)
                postings = self.working.lexicon.postings(code)
                counts[postings.rows] = postings.tf
                own[here] = counts[words.rows[here]]
        return own

    @cached_property
    def useful_share(self) -> Floats:
        """The share of the cue, by the idf of its terms, that is in cues for which each memory was useful."""
        words, rarity = self.useful_words
        shares = summed(words.rows, rarity[words.term], self.working.documents)
        return shares / rarity.sum() if len(words.rows) else shares

    @cached_property
    def _all_living(self) -> bool:
        return bool(self.texts.all())

    def _living(self, values: Floats) -> Floats:
        return values if self._all_living else np.where(self.texts, values, 0.0)
