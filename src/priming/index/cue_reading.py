"""A cue as its namespace reads it: its language, its terms and their rarity, and the date that it names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from priming.config.environment import day_comes_first
from priming.config.params.laws import BASE_LEVEL, FORGETTING, BaseLevelParams, ForgettingParams
from priming.config.params.recall import RecallParams
from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats
from priming.core.lexical import idf
from priming.embedding.protocol import Embedder
from priming.index.cue_feedback import AskedCue
from priming.index.working_set import WorkingSet
from priming.text.dates import cue_date, date_match, local_time
from priming.text.name_forms.software_kinds import sought_terms
from priming.text.time_grammar import CueDate
from priming.text.tokens import language_of, spelled, terms
from priming.text.word_lists import read_word_groups, read_words

USER, ASSISTANT = "user", "assistant"
"""The speakers that "I" and "you" are in a cue."""
_REPORTING = frozenset(read_words("reporting_words"))
"""Words by which one asks for whatever happened."""
_PERSONS = {
    (language, word): person for language, person, *words in read_word_groups("persons") for word in words
}
"""Who a pronoun of a language is: "i", "you", or "now" for what makes a "you" one that is asked for something."""


def persons(text: str, language: str) -> Iterator[tuple[int, str]]:
    """Yield the places of "I" and "you" in a text: not of a "you" that is asked for something now.

    >>> list(persons("What did I ask you?", "english")), list(persons("Can you tell me?", "english"))
    ([(9, 'i'), (15, 'you')], [])
    """
    words = list(re.finditer(r"[^\W\d_]+", text))
    kinds = ["", *(_PERSONS.get((language, word[0].lower()), "") for word in words), ""]
    for at, word in enumerate(words, 1):
        if kinds[at] == "i" or (kinds[at] == "you" and "now" not in kinds[at - 1 : at + 2]):
            yield word.start(), kinds[at]


@dataclass(frozen=True, slots=True)
class CueTerms:
    """The terms of a cue in order, and the codes in the lexicon of the distinct ones."""

    ordered: tuple[str, ...]
    codes: tuple[int, ...]

    @classmethod
    def of(cls, ordered: Sequence[str], working: WorkingSet) -> CueTerms:
        """Read the terms of a cue against the words of a namespace."""
        lexicon = working.lexicon
        codes = [lexicon.code(term) for term in dict.fromkeys(ordered)]
        return cls(tuple(ordered), tuple(code for code in codes if code is not None and lexicon.df[code]))


@dataclass(frozen=True)
class CueReading:
    """A cue, what it is asked of, and what of its reading depends on the namespace."""

    working: WorkingSet
    embedder: Embedder
    text: str
    params: RecallParams
    now: datetime
    context: Mapping[int, float] = field(default_factory=dict)
    ablate: Collection[str] = ()
    pool: NDArray[np.bool_] | None = None
    base_level: BaseLevelParams = BASE_LEVEL
    forgetting: ForgettingParams = FORGETTING

    @cached_property
    def language(self) -> str:
        """The language of the cue, or where its words do not tell it or tell two, that of most memories."""
        main = self.working.main_language
        return language_of(self.text, main) or main

    @cached_property
    def terms(self) -> CueTerms:
        """The cue's terms; of one that asks for a date, those that name it, and who spoke."""
        ordered = self._ordered
        if self.asks_for_date:
            ordered = [term for term in ordered if term not in self._reporting_terms]
        return CueTerms.of(ordered, self.working)

    @cached_property
    def _ordered(self) -> list[str]:
        read = sought_terms if self._reads_kinds else terms
        return read(self.text, self.language)

    @property
    def _reads_kinds(self) -> bool:
        """Whether a kind of software that the cue names counts as a kind."""
        return self.params.kind and "near" not in self.ablate

    @cached_property
    def cue_of_feedback(self) -> AskedCue:
        """The cue as verdicts on it are found."""
        main_language = self.working.main_language
        self.working.cue_feedback.read_in(main_language)
        return AskedCue.of(self.text, self.now, main_language)

    @cached_property
    def named_date(self) -> CueDate | None:
        """The date that the cue names."""
        day_first = self.working.day_first
        if day_first is None:
            day_first = day_comes_first() if self.language == "english" else True
        return cue_date(self.text, local_time(self.now), self.working.main_language, day_first)

    @cached_property
    def date_terms(self) -> frozenset[str]:
        """The cue's terms that name its date."""
        named = self.named_date
        return frozenset(() if named is None else terms(named.words, self.language))

    @cached_property
    def dated(self) -> Floats:
        """How well the time of each memory, or of its telling, fits the date of the cue; 0 where there is none."""
        if self.named_date is None:
            return np.zeros(self.working.documents)
        ahead = local_time(self.now).utcoffset() or timedelta(0)
        times = self.working.occurred.values, self.working.told_at.values
        return np.maximum(*(date_match(self.named_date, at, self.params.date_fade, ahead) for at in times))

    @cached_property
    def of_the_date(self) -> NDArray[np.bool_]:
        """The memories of the day or month that the cue names; of a year only where it asks for nothing else."""
        named = self.named_date
        if named is None or (named.month is None and not self.asks_for_time) or not self._reads_dates:
            return np.zeros(self.working.documents, np.bool_)
        return np.asarray(self.dated == 1.0, np.bool_)

    @property
    def _reads_dates(self) -> bool:
        return self.params.date > 0 and "date" not in self.ablate

    @cached_property
    def speakers(self) -> NDArray[np.bool_]:
        """The titles that are speakers' names, by number."""
        return np.asarray(self.working.title_spoken.values > 0)

    @cached_property
    def speaker_terms(self) -> frozenset[str]:
        """The terms of the names of speakers."""
        working = self.working
        titles = np.flatnonzero(self.speakers).tolist()
        return frozenset(term for title in titles for term in working.title_terms[title])

    @cached_property
    def named_speakers(self) -> NDArray[np.int64]:
        """The titles of the speakers that the cue names, by name or as "I" and "you", in its order.

        "I" is the user, or the only speaker beside the assistant, and "you" the assistant: not where it is asked for
        something now, as in "can you tell me". Without a speaker so named they are nobody.
        """
        working, date = self.working, self.named_date
        named = {*self._ordered} - (self.date_terms if date is not None and date.is_marked else frozenset())
        spelling, text = spelled(self.text, self.language), self.text.lower()
        places = {
            code: text.find(spelling.get(term, ""))
            for term in named
            for code in working.titles_by_term.get(term, ())
            if self.speakers[code] and named.issuperset(working.title_terms[code][: working.title_bare[code]])
        }
        speakers = np.flatnonzero(self.speakers).tolist()
        user, you = (
            next(
                (
                    code
                    for name in (role, role.capitalize())
                    if (code := working.titles.get(name)) in speakers
                ),
                None,
            )
            for role in (USER, ASSISTANT)
        )
        others = [code for code in speakers if code != you]
        i = others[0] if user is None and you is not None and len(others) == 1 else user
        for start, person in persons(self.text, self.language):
            code = i if person == "i" else you
            if code is not None:
                places.setdefault(code, start)
        return np.array(sorted(places, key=lambda code: places[code]), np.int64)

    @cached_property
    def _reporting_terms(self) -> frozenset[str]:
        """The cue's terms by which one asks for whatever there was."""
        spelling = spelled(self.text, self.language)
        return frozenset(term for term, word in spelling.items() if word in _REPORTING) - self.date_terms

    @cached_property
    def asks_for_time(self) -> bool:
        """Whether the cue asks for whatever is of its date, or was said then by somebody."""
        named = self.named_date
        if named is None or not named.is_marked or not self.date_terms or not self._reads_dates:
            return False
        idle = self.date_terms | self._reporting_terms
        return all(term in idle or term in self.speaker_terms for term in self._ordered)

    @cached_property
    def names_the_date(self) -> NDArray[np.bool_]:
        """The documents whose text has all words by which the cue names its date; a speaker's name is no date."""
        counts = np.zeros(self.working.documents, np.int64)
        for term in self.date_terms:
            code = self.working.lexicon.code(term)
            if code is not None:
                counts[self.working.lexicon.postings(code).rows] += 1
        right = (counts == len(self.date_terms)) & (counts > 0)
        return np.asarray(right & ~self._said_by(self.date_terms), np.bool_)

    def _said_by(self, names: Collection[str]) -> NDArray[np.bool_]:
        """The documents whose speaker's name has one of some terms."""
        titles = map(frozenset, self.working.title_terms)
        own = np.array([*(not title.isdisjoint(names) for title in titles), False], np.bool_)
        own[:-1] &= self.speakers
        return np.asarray(own[self.working.title.values], np.bool_)

    @cached_property
    def _of_the_time(self) -> NDArray[np.bool_]:
        """The documents that are of the date or name it, said by whom the cue names."""
        texts = self.working.living.values if self.pool is None else self.pool
        right = texts & (self.of_the_date | self.names_the_date)
        spoken = self.speaker_terms.intersection(self._ordered) - self.date_terms
        if spoken:
            return np.asarray(right & self._said_by(spoken), np.bool_)
        others = np.append(self.speakers, False)
        others[self.named_speakers[:1]] = False
        return np.asarray(
            right & ~others[self.working.title.values] if self.named_speakers.size else right, np.bool_
        )

    @cached_property
    def asks_for_date(self) -> bool:
        """Whether the cue asks for whatever is of its date, "what did Ana say on Monday?", and there is something."""
        return self.asks_for_time and bool(self._of_the_time.any())

    @cached_property
    def texts(self) -> NDArray[np.bool_]:
        """The documents that may answer; to a cue that asks for a date, those that are of it or name it."""
        if self.asks_for_date:
            return self._of_the_time
        return self.working.living.values if self.pool is None else self.pool

    def rarity(self, term: str) -> float:
        """The idf of a term; a term that no memory contains has the greatest."""
        lexicon = self.working.lexicon
        code = lexicon.code(term)
        df = 0 if code is None else min(int(lexicon.df[code]), lexicon.documents)
        return float(idf(df, max(lexicon.documents, 1)))
