"""The words of a cue, and the words of the namespace that count as one of them in part (``docs/recall.md``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, Ints
from priming.core.lexical import evidence_idf, okapi
from priming.index.columns import NONE
from priming.index.compounds import COMPOUNDING
from priming.index.cue_reading import CueReading
from priming.index.document import slot_of
from priming.index.lexicon import Expansion, Postings, summed
from priming.index.vocabulary import Neighbours
from priming.text.name_forms.software_kinds import kinds_of_software
from priming.text.names import marked_words
from priming.text.tokens import spelled, terms
from priming.text.word_lists import is_given_name


@dataclass(frozen=True)
class CueWords(CueReading):
    """The distinct terms of a cue, in order, each with the memories that have it and what it tells."""

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """The distinct terms, those included that no memory has."""
        return tuple(dict.fromkeys(self.terms.ordered))

    @cached_property
    def postings(self) -> list[Postings]:
        """For each term the memories that have it or a word that counts as it, and how often: the best word counts.

        A memory also has the terms of the cues for which it was useful.
        """
        postings = [self._own_postings(term, self.near.get(term)) for term in self.distinct]
        if not self.working.cue_feedback or not self.params.feedback or "feedback" in self.ablate:
            return postings
        return [_with_uses(own, self._uses(term)) for term, own in zip(self.distinct, postings, strict=True)]

    @cached_property
    def idf(self) -> Floats:
        """What each term tells by itself, in nats (``evidence_idf``)."""
        lexicon, df = self.working.lexicon, []
        for term in self.distinct:
            code, near = lexicon.code(term), self.near.get(term)
            own = 0 if code is None else int(lexicon.df[code])
            df.append(float(own) if near is None else near.df)
        count = max(lexicon.documents, 1)
        return np.asarray(evidence_idf(np.minimum(df, count), count), np.float64)

    @cached_property
    def words(self) -> Floats:
        """The evidence of words for every document, in nats: Σ idf · part over the cue's terms."""
        norms, total = self.working.lexicon.norms, np.zeros(self.working.documents)
        for own, rarity in zip(self.postings, self.idf.tolist(), strict=True):
            total[own.rows] += okapi(own.tf, norms[own.rows], rarity)
        return self._living(total)

    def covered(self, documents: Ints) -> Floats:
        """How much of each term each document has: min(1, part), shape (documents, terms)."""
        norms, parts = self.working.lexicon.norms[documents], np.zeros((len(documents), len(self.distinct)))
        for at, own in enumerate(self.postings):
            parts[:, at] = okapi(own.counts(documents), norms, 1.0)
        return np.minimum(1.0, parts)

    def _own_postings(self, term: str, near: Expansion | None) -> Postings:
        lexicon, code = self.working.lexicon, self.working.lexicon.code(term)
        if near is not None:
            return lexicon.expanded(near)
        return Postings(np.zeros(0, np.int64), np.zeros(0)) if code is None else lexicon.postings(code)

    def _uses(self, term: str) -> Postings:
        """The memories that were useful for cues with a term, and for how many."""
        working, rows, counts = self.working, list[int](), list[float]()
        for memory_id, count in working.cue_feedback.uses(term, self.cue_of_feedback).items():
            row = working.row_of.get(memory_id, NONE)
            if row != NONE and working.document[row] != NONE:
                rows.append(int(working.document[row]))
                counts.append(count * self.params.first_verdict)
        return Postings(np.array(rows, np.int64), np.array(counts, np.float64))

    @cached_property
    def near(self) -> Mapping[str, Expansion]:
        """For terms of the cue, the words of the namespace that count as it in part, itself included.

        These are the words near enough in meaning, and where the cue names a kind of software, the names of such.
        """
        if not self._expands:
            return {}
        words = spelled(self.text, self.language)
        neighbours = self._neighbours(words) if self._uses_near_words else {}
        software = {term: runs for kind, runs in self.software.items() for term in kind}
        expansions = {
            term: self._expansion(term, word, neighbours.get(word), software.get(term, ()))
            for term, word in words.items()
            if term in self.terms.ordered
        }
        return {term: expansion for term, expansion in expansions.items() if expansion is not None}

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
        if self._joins_words and not is_given_name(word):
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
        is_word = [not any(map(str.isdigit, lexicon.words[code])) for code in neighbours.codes.tolist()]
        alone = (lexicon.df[neighbours.codes] > 0) & np.array(is_word, np.bool_)
        codes, cosines = neighbours.codes[alone], neighbours.cosines[alone]
        shares = np.minimum(1.0, (cosines - floor) / (1.0 - floor))
        return self._by_rarity(dict(zip(codes.tolist(), shares.tolist(), strict=True)), own)

    def _by_rarity(self, shares: dict[int, float], own: int | None) -> dict[int, float]:
        """The shares of words that count as a term: less, the commoner they are beside the term itself."""
        if own is None or not shares:
            return shares
        rarity = self.working.lexicon.rarity([own, *shares])
        rarer = np.sqrt(np.minimum(1.0, rarity[1:] / rarity[0]))
        return dict(zip(shares, (np.array(list(shares.values())) * rarer).tolist(), strict=True))

    @property
    def _expands(self) -> bool:
        """Whether other words of the namespace count as words of the cue."""
        return self._uses_near_words or self._joins_words or bool(self.software)

    @property
    def _joins_words(self) -> bool:
        """Whether a part of a word counts as it in part: where the language writes compounds as one word."""
        return self.params.near and "near" not in self.ablate and self.language in COMPOUNDING

    @property
    def _uses_near_words(self) -> bool:
        """Whether words near in meaning count: the vectors of single words are good for English alone."""
        is_on = self.params.near and "near" not in self.ablate and self.working.vocabulary.embeds_words
        return is_on and self.language == "english"

    @cached_property
    def _all_living(self) -> bool:
        return bool(self.texts.all())

    def _living(self, values: Floats) -> Floats:
        return values if self._all_living else np.where(self.texts, values, 0.0)


def _with_uses(own: Postings, uses: Postings) -> Postings:
    """The postings of a term with those of the cues for which memories were useful."""
    if not len(uses.rows):
        return own
    rows, at = np.unique(np.concatenate([own.rows, uses.rows]), return_inverse=True)
    return Postings(rows, summed(at, np.concatenate([own.tf, uses.tf]), len(rows)))
