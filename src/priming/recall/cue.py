"""A cue as its namespace reads it: its language, date and speakers, its terms and what counts as one in part."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from functools import cached_property

import numpy as np

from priming.config.environment import day_comes_first
from priming.config.params.laws import BASE_LEVEL, FORGETTING, BaseLevelParams, ForgettingParams
from priming.config.params.recall import RecallParams
from priming.config.values import dataclass
from priming.core.arguments.arrays import Bools, Floats, Ints
from priming.core.lexical import idf
from priming.embedding.protocol import Embedder
from priming.index.columns import NONE
from priming.index.cue_feedback import AskedCue
from priming.index.document import slot_of
from priming.index.lexicon import NO_POSTINGS, Expansion, Postings
from priming.index.vocabulary import COMPOUNDING, Neighbours
from priming.index.working_set import WorkingSet
from priming.text.dates import cue_date, date_match, local_time, naming
from priming.text.name_forms.forms import kinds_of_software, sought_terms
from priming.text.names import marked_words
from priming.text.time_grammar import CueDate
from priming.text.tokens import language_of, spelled, terms
from priming.text.word_lists import is_given_name, read_word_groups, read_words

USER, ASSISTANT = ("user", "human"), ("assistant", "ai", "model", "bot")
"""The speakers that "I" and "you" are in a cue, by the roles that the interfaces of models give them."""
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
    pool: Bools | None = None
    base_level: BaseLevelParams = BASE_LEVEL
    forgetting: ForgettingParams = FORGETTING

    @cached_property
    def language(self) -> str:
        """The language of the cue, or where its words do not tell it or tell two, that of most memories."""
        main = self.working.main_language
        return language_of(self.text, main) or main

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The cue's distinct terms in order; of one that asks for a date, those that name it, and who spoke."""
        return tuple(dict.fromkeys(self._sought))

    @property
    def _sought(self) -> list[str]:
        idle = self._reporting_terms if self.asks_for_date else frozenset()
        return [term for term in self._ordered if term not in idle]

    @cached_property
    def codes(self) -> list[int]:
        """The codes of its terms that any memory has."""
        lexicon = self.working.lexicon
        codes = map(lexicon.code, self.terms)
        return [code for code in codes if code is not None and lexicon.df[code]]

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
        """How well the time of each memory or of its telling fits the date of the cue; 1 where its text names it."""
        if (named := self.named_date) is None:
            return np.zeros(self.working.documents)
        times, now = (self.working.occurred.values, self.working.told_at.values), local_time(self.now)
        fits = np.maximum(*(date_match(named, at, self.params.date_fade, now) for at in times))
        for document, share in naming(self.working.named_days, named):
            fits[document] = max(fits[document], share)
        return fits

    @cached_property
    def of_the_date(self) -> Bools:
        """The memories of the day or month that the cue names; of a year only where it asks for nothing else."""
        named = self.named_date
        if named is None or (named.month is None and not self.asks_for_time) or not self._reads_dates:
            return np.zeros(self.working.documents, np.bool_)
        return np.asarray(self.dated == 1.0, np.bool_)

    @property
    def _reads_dates(self) -> bool:
        return self.params.date > 0 and "date" not in self.ablate

    @cached_property
    def speakers(self) -> Bools:
        """The titles that are speakers' names, by number."""
        return np.asarray(self.working.title_spoken.values > 0)

    @cached_property
    def speaker_terms(self) -> frozenset[str]:
        """The terms of the names of speakers."""
        working = self.working
        titles = np.flatnonzero(self.speakers).tolist()
        return frozenset(term for title in titles for term in working.title_terms[title])

    @cached_property
    def named_speakers(self) -> Ints:
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
        user, you = map(self._speaker, (USER, ASSISTANT))
        others = [code for code in speakers if code != you]
        i = others[0] if user is None and you is not None and len(others) == 1 else user
        for start, person in persons(self.text, self.language):
            code = i if person == "i" else you
            if code is not None:
                places.setdefault(code, start)
        return np.array(sorted(places, key=lambda code: places[code]), np.int64)

    def _speaker(self, roles: Sequence[str]) -> int | None:
        """Return the title of a speaker by roles, in small letters, with a capital or in capitals."""
        names = (name for role in roles for name in (role, role.capitalize(), role.upper()))
        codes = map(self.working.titles.get, names)
        return next((code for code in codes if code is not None and self.speakers[code]), None)

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
    def names_the_date(self) -> Bools:
        """The documents whose text names the date of the cue, or has its words; a speaker's name is no date."""
        right = self._with_all(self.date_terms) & ~self._said_by(self.date_terms)
        if self.named_date is not None:
            right[[document for document, _ in naming(self.working.named_days, self.named_date)]] = True
        return right

    def _with_all(self, names: Collection[str]) -> Bools:
        """Return the documents whose text has every one of some terms, and there are any."""
        counts, lexicon = np.zeros(self.working.documents, np.int64), self.working.lexicon
        for code in (code for code in map(lexicon.code, names) if code is not None):
            counts[lexicon.postings(code).rows] += 1
        return np.asarray((counts == len(names)) & (counts > 0), np.bool_)

    def _said_by(self, names: Collection[str]) -> Bools:
        """Return the documents whose speaker's name has one of some terms."""
        titles = map(frozenset, self.working.title_terms)
        own = np.array([*(not title.isdisjoint(names) for title in titles), False], np.bool_)
        own[:-1] &= self.speakers
        return np.asarray(own[self.working.title.values], np.bool_)

    @cached_property
    def _of_the_time(self) -> Bools:
        """The documents that are of the date or name it, said by whom the cue names."""
        right = self._pool & (self.of_the_date | self.names_the_date)
        spoken = self.speaker_terms.intersection(self._ordered) - self.date_terms
        if spoken:
            return right & self._said_by(spoken)
        others = np.append(self.speakers, False)
        others[self.named_speakers[:1]] = False
        return right & ~others[self.working.title.values] if self.named_speakers.size else right

    @cached_property
    def asks_for_date(self) -> bool:
        """Whether the cue asks for whatever is of its date, "what did Ana say on Monday?", and there is something."""
        return self.asks_for_time and bool(self._of_the_time.any())

    @cached_property
    def texts(self) -> Bools:
        """The documents that may answer; to a cue that asks for a date, those that are of it or name it."""
        return self._of_the_time if self.asks_for_date else self._pool

    @property
    def _pool(self) -> Bools:
        return self.working.living.values if self.pool is None else self.pool

    def rarity(self, term: str) -> float:
        """Return the idf of a term; a term that no memory contains has the greatest."""
        lexicon = self.working.lexicon
        code = lexicon.code(term)
        df = 0 if code is None else min(int(lexicon.df[code]), lexicon.documents)
        return float(idf(df, max(lexicon.documents, 1)))

    @cached_property
    def postings(self) -> list[Postings]:
        """For each term the memories that have it or a word that counts as it, and how often: the best word counts.

        A memory also has the terms that it lacks of the cues for which it was useful.
        """
        postings = [self._own_postings(term) for term in self.terms]
        if not self.working.cue_feedback or not self.params.feedback or "feedback" in self.ablate:
            return postings
        return [own.with_others(self._uses(term)) for term, own in zip(self.terms, postings, strict=True)]

    def _own_postings(self, term: str) -> Postings:
        near, code = self.near.get(term), self.working.lexicon.code(term)
        if near is not None:
            return self.working.lexicon.expanded(near)
        return NO_POSTINGS if code is None else self.working.lexicon.postings(code)

    def _uses(self, term: str) -> Postings:
        """Return the memories that were useful for cues with a term, and for how many."""
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
            if term in self.terms
        }
        return {term: expansion for term, expansion in expansions.items() if expansion is not None}

    def _neighbours(self, words: Mapping[str, str]) -> Mapping[str, Neighbours]:
        """Return words near each word of the cue; names, dates, words with a digit or of another script have none."""
        lexicon, p = self.working.lexicon, self.params
        alone = self.named_terms | self.date_terms
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
        for kind, names in kinds_of_software(self._sought, self.language):
            present = [name for name in names if not name.is_word or slot_of(None, name.text) in entities]
            codes = [[lexicon.code(term) for term in name.terms] for name in present]
            runs = [tuple(code for code in run if code is not None and lexicon.df[code]) for run in codes]
            stored = tuple(run for run, all_ in zip(runs, codes, strict=True) if 0 < len(run) == len(all_))
            if stored:
                software[kind] = stored
        return software

    @cached_property
    def named_terms(self) -> frozenset[str]:
        """The terms of its capitalised words and words with a digit; a capital that only opens it does not count."""
        names = marked_words(self.text, self.language)
        opener = names[0] if names else ""
        opens = self.text.lstrip().startswith(opener) and not any(map(str.isdigit, opener))
        return frozenset(term for word in names[opens:] for term in terms(word, self.language))

    def _expansion(
        self, term: str, word: str, neighbours: Neighbours | None, software: Sequence[tuple[int, ...]]
    ) -> Expansion | None:
        """Return the words that count as a term: itself in full, near words, compounds, and software of its kind."""
        df, same = self.working.lexicon.df.values, self.working.lexicon.same(term, self._rereads)
        own = same[0] if same else None
        parts = {} if neighbours is None else self._near_shares(neighbours, own)
        if self._joins_words and not is_given_name(word):
            parts |= self._by_rarity(self.working.lexicon.compounds(word, term), own)
        runs = tuple(run for run in software if len(run) > 1)
        parts |= {run[0]: 1.0 for run in software if len(run) == 1}
        frequency = sum(df[code] for code in same) or sum(df[code] * part for code, part in parts.items())
        parts |= dict.fromkeys(same, 1.0)
        if not parts and not runs:
            return None
        return Expansion(
            tuple(parts), tuple(parts.values()), max(1.0, float(frequency)), runs, self.params.kind
        )

    @cached_property
    def _rereads(self) -> str | None:
        """The language of the cue where any memory was read in another."""
        return None if {*self.working.read_in} <= {self.language} else self.language

    def _near_shares(self, neighbours: Neighbours, own: int | None) -> dict[int, float]:
        """Tell to what extent each near word counts as a term: by its similarity, and less if it is the more common.

        A number is near no word: that "many" is near "10" says nothing of a memory.
        """
        lexicon, floor = self.working.lexicon, self.params.near_floor
        is_word = [not any(map(str.isdigit, lexicon.words[code])) for code in neighbours.codes.tolist()]
        alone = (lexicon.df[neighbours.codes] > 0) & np.array(is_word, np.bool_)
        codes, cosines = neighbours.codes[alone], neighbours.cosines[alone]
        shares = np.minimum(1.0, (cosines - floor) / (1.0 - floor))
        return self._by_rarity(dict(zip(codes.tolist(), shares.tolist(), strict=True)), own)

    def _by_rarity(self, shares: dict[int, float], own: int | None) -> dict[int, float]:
        """Return the shares of words that count as a term: less, the commoner they are beside the term itself."""
        if own is None or not shares:
            return shares
        rarity = self.working.lexicon.rarity([own, *shares])
        rarer = np.sqrt(np.minimum(1.0, rarity[1:] / rarity[0]))
        return dict(zip(shares, (np.array(list(shares.values())) * rarer).tolist(), strict=True))

    @property
    def _expands(self) -> bool:
        """Whether other words of the namespace count as words of the cue."""
        return bool(self._uses_near_words or self._joins_words or self._rereads or self.software)

    @property
    def _joins_words(self) -> bool:
        """Whether a part of a word counts as it in part: where the language writes compounds as one word."""
        return self.params.near and "near" not in self.ablate and self.language in COMPOUNDING

    @property
    def _uses_near_words(self) -> bool:
        """Whether words near in meaning count: the vectors of single words are good for English alone."""
        is_on = self.params.near and "near" not in self.ablate and self.working.vocabulary.embeds_words
        return is_on and self.language == "english"
