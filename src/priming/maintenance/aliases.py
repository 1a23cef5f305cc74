"""Aliases: different names of one thing, detected from what the texts say, and merged in one operation.

English statements that two names mean one thing are read; doubtful ones are not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from heapq import nlargest
from itertools import accumulate, product

from priming.config.params.recall import LINKING
from priming.config.values import dataclass
from priming.config.words import CONFLICTS, TEXT_KINDS, is_trusted_as
from priming.core.arguments.checks import PAGE_LIMIT, check_count
from priming.graph.merge_plan import plan_merge
from priming.index.document import is_rule_made, slot_of_record
from priming.index.topology import MENTIONS
from priming.namespace import Namespace
from priming.remember.similar import stated
from priming.results import Alias, AliasEvidence
from priming.storage.rows import LinkRow, RowChange
from priming.text.gists import gist_of, pieces
from priming.text.name_forms.capitals import UPPER, expansion_of, initialisms, strip_markup
from priming.text.name_forms.forms import HANDLE, IDENTIFIER, NAME, QUOTED
from priming.text.names import normal
from priming.text.statements.judge import differ
from priming.text.word_lists import PLACES_AND_INSTITUTIONS, is_given_name, is_short_for
from priming.types import MemoryRecord

_FORMS = (NAME, IDENTIFIER, QUOTED, HANDLE)
_FEWEST_WORDS, _MOST_WORDS = 2, 3
"""The range of the number of words in a person's full name."""

_EVIDENCE_LIMIT = 3
"""Maximum number of pieces of evidence that an alias lists."""

_MINIMUM_TRUST = "tool"
"""Texts with less trust than this are not evidence for aliases."""


def aliases(memory: Namespace, *, dry_run: bool = False, limit: int = 100) -> list[Alias]:
    """Merge names that mean the same, where texts state it.

    Args:
        dry_run: only list what would be merged.
        limit: maximum number of names to merge.

    Raises:
        ParamError: ``limit`` is outside its range.

    """
    most = check_count("limit", limit, 1, PAGE_LIMIT)
    with memory.reading() if dry_run else memory.changing() as now:
        proposals = _proposals(memory, now)[:most]
        if dry_run or not proposals:
            return memory.listed(alias for _, _, alias in proposals)
        plan = plan_merge(memory, {entity.id for *pair, _ in proposals for entity in pair})
        for source, survivor, _ in proposals:
            plan.merge(source.id, survivor.id, now, vouched=is_trusted_as(source.trust, survivor.trust))
        message = f"{len(proposals)} {'name is' if len(proposals) == 1 else 'names are'} merged"
        rows = [*plan.changes(), *_contradictions(memory, proposals, now)]
        logged = memory.write("alias", now, rows, message=message)
    return [replace(alias, operation=logged.id) for _, _, alias in proposals]


Proposal = tuple[MemoryRecord, MemoryRecord, Alias]
"""The entity to merge, the entity that survives, and the result to report."""


def _contradictions(memory: Namespace, proposals: Sequence[Proposal], now: datetime) -> Iterator[RowChange]:
    """Yield the ``conflicts`` links between facts that cannot both hold, once two names mean one thing."""
    for source, survivor, _ in proposals:
        facts = [_latest_facts(memory, entity, now) for entity in (source, survivor)]
        name = re.compile(rf"\b{re.escape(source.content)}\b", re.IGNORECASE)
        for under_alias, under_name in product(*facts):
            older, newer = sorted((under_alias, under_name), key=lambda fact: fact.id)  # ids sort by time
            link = LinkRow(newer.id, older.id, CONFLICTS, 0.0, now)
            texts = (survivor.content.join(name.split(fact.content)) for fact in (older, newer))
            if older.id != newer.id and differ(*texts) and memory.stored(link) is None:
                yield RowChange(None, link)


def _latest_facts(memory: Namespace, entity: MemoryRecord, now: datetime) -> list[MemoryRecord]:
    links = memory.rows(LinkRow, ids=[entity.id], relation=MENTIONS)
    ids = nlargest(LINKING.rivals, (link.source for link in links if link.target == entity.id))
    records = memory.records(now, ids=ids, status="active")
    return [record for record in records.values() if stated(record) is not None]


def _proposals(memory: Namespace, now: datetime) -> list[Proposal]:
    """Return the entities to merge; an alias that may mean two different names is not merged."""
    names = _NamesInTexts.read(memory, now)
    evidence: dict[str, dict[str, list[AliasEvidence]]] = defaultdict(lambda: defaultdict(list))
    reasons: dict[tuple[str, str], str] = {}
    for reason, pairs in (("said", names.stated_aliases()), ("part", names.partial_names())):
        for alias, name, piece in pairs:
            evidence[alias][name].append(piece)
            reasons.setdefault((alias, name), reason)
    fullest = ((alias, _fullest(list(full_names))) for alias, full_names in evidence.items())
    into = {alias: name for alias, name in fullest if name is not None}
    proposals = []
    for alias, name in into.items():
        root = _root(into, alias)
        if root is not None and is_rule_made(names.entities[alias]):
            source, survivor = names.entities[alias], names.entities[root]
            pieces = tuple(dict.fromkeys(evidence[alias][name]))[:_EVIDENCE_LIMIT]
            result = Alias(source.key, survivor.key, reasons[alias, name], pieces)
            proposals.append((source, survivor, result))
    return sorted(proposals, key=lambda entry: (entry[2].reason != "said", entry[2].name, entry[2].alias))


def _fullest(names: Sequence[str]) -> str | None:
    """Return the name that contains all the others, such as "robert smith" and "robert"; None if there is none."""
    longest = max(names, key=lambda name: len(name.split()))
    return longest if all(set(name.split()) <= set(longest.split()) for name in names) else None


def _root(into: Mapping[str, str], alias: str) -> str | None:
    """Return the name at the end of a chain of aliases; None for a cycle."""
    visited, name = {alias}, into[alias]
    while name in into:
        if name in visited:
            return None
        visited.add(name)
        name = into[name]
    return name


@dataclass
class _NamesInTexts:
    """The active texts of a namespace, its entities by slot, and the ids of the texts that mention each."""

    texts: dict[str, MemoryRecord]
    entities: dict[str, MemoryRecord]
    mentions: dict[str, set[str]] = field(default_factory=dict)
    names_by_word: dict[str, list[str]] = field(default_factory=dict)
    """By word, the names of several words that contain it."""

    @classmethod
    def read(cls, memory: Namespace, now: datetime) -> _NamesInTexts:
        """Read the memories that are active now."""
        texts = {text.id: text for text in memory.page_of(now, kinds=TEXT_KINDS)}
        entities: dict[str, MemoryRecord] = {}
        for entity in memory.page_of(now, kinds=["entity"]):
            slot = slot_of_record(entity)
            if slot is not None and entity.metadata.get("form", NAME) in _FORMS:
                entities.setdefault(slot, entity)
        slots = {entity.id: slot for slot, entity in entities.items()}
        mentions: dict[str, set[str]] = defaultdict(set)
        for link in memory.rows(LinkRow, relation=MENTIONS):
            if link.target in slots and link.source in texts:
                mentions[slots[link.target]].add(link.source)
        return cls(texts, entities, mentions, _names_by_word(entities))

    def stated_aliases(self) -> Iterator[tuple[str, str, AliasEvidence]]:
        """Yield alias, name and evidence, where a text says that two names mean the same.

        A person's short name that is part of another full name too may mean either person, and is left out.
        """
        for text in self.texts.values():
            if is_trusted_as(text.trust, _MINIMUM_TRUST):
                for stated in alias_statements(text.content, self.entities.__contains__):
                    alias, name = normal(stated.alias), normal(stated.name)
                    if not (is_given_name(name.split()[0]) and self._other_full_names(alias, name)):
                        yield alias, name, AliasEvidence(text.key, stated.sentence)

    def partial_names(self) -> Iterator[tuple[str, str, AliasEvidence]]:
        """Yield alias, name and evidence where part of a full name is used in sessions that mention the full name."""
        speakers = {normal(text.speaker) for text in self.texts.values() if text.speaker}
        for full in self.entities:
            if not self._is_person(full, speakers):
                continue
            first, last = full.split()[0], full.split()[-1]
            for alias in (first, last, f"@{first}"):
                if alias in self.entities and not self._other_full_names(alias, full):
                    yield from ((alias, full, evidence) for evidence in self._uses_alone(alias, full))

    def _other_full_names(self, alias: str, full: str) -> list[str]:
        """Return the full names with the alias as a word, apart from ``full`` and its longer and shorter forms."""
        names = self.names_by_word.get(alias.removeprefix("@"), ())
        return [name for name in names if not _overlap(name, full)]

    def _is_person(self, slot: str, speakers: Collection[str]) -> bool:
        """Tell whether a name is a person's full name: it begins with a given name, or is that of a speaker."""
        words = slot.split()
        if self.entities[slot].metadata.get("form", NAME) != NAME:
            return False
        if not _FEWEST_WORDS <= len(words) <= _MOST_WORDS or not all(word.isalpha() for word in words):
            return False
        return slot in speakers or (is_given_name(words[0]) and words[-1] not in PLACES_AND_INSTITUTIONS)

    def _uses_alone(self, alias: str, full: str) -> list[AliasEvidence]:
        """Return the texts with the alias but not the full name; none if one is outside the full name's sessions."""
        sessions = {self.texts[text_id].session for text_id in self.mentions.get(full, ())} - {None}
        text_ids = sorted(self.mentions.get(alias, set()) - self.mentions.get(full, set()))
        texts = [self.texts[text_id] for text_id in text_ids]
        if any(text.session not in sessions for text in texts):
            return []
        return [AliasEvidence(text.key, gist_of(text.content)) for text in texts]


def _names_by_word(slots: Iterable[str]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = defaultdict(list)
    for slot in slots:
        words = slot.split()
        if len(words) > 1 and "and" not in words:
            for word in set(words):
                names[word].append(slot)
    return names


def _overlap(a: str, b: str) -> bool:
    """Tell whether the words of one name are a run of words of the other."""
    return f" {a} " in f" {b} " or f" {b} " in f" {a} "


_WORD = rf"[{UPPER}][\w’'&+-]{{0,63}}(?![\w’'&+-])"
_NAME = rf"[\"“‘'`]?(?:@\w[\w-]{{0,63}}(?![\w-])|{_WORD}(?:[ ]{_WORD}){{0,3}}|[a-z]\d{{1,2}}[a-z])[\"”’'`]?"
_KNOWN_AS = (
    r"(?:(?:is|was)[ ])?(?:also[ ](?:known[ ]as|called)|better[ ]known[ ]as|a\.?k\.?a\.?|nicknamed|goes[ ]by)"
)
_SHORT_FOR = (
    r"(?:(?:is|was)[ ])?(?:short[ ]for|an?[ ](?:abbreviation|alias|nickname)[ ](?:of|for)|stands[ ]for)"
)
_EXPLICIT = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w@])(?P<name>{_NAME})(?:,|[ ]\(|[ ][–—-])?[ ]?{_KNOWN_AS}[ ](?:the[ ])?(?P<alias>{_NAME})",
        rf"(?<![\w@])(?P<alias>{_NAME})(?:,|[ ]\(|[ ][–—-])?[ ]?{_SHORT_FOR}[ ](?:the[ ])?(?P<name>{_NAME})",
        rf"(?<![\w@])(?P<name>{_NAME}),?[ ]\(?or[ ](?P<alias>{_NAME}),?[ ]for[ ]short\b",
    )
)
_ADJACENT = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w@])(?P<name>{_NAME})[ ]\((?:or[ ])?(?P<alias>{_NAME})\)",
        rf"(?<![\w@])(?P<name>{_NAME}),[ ]or[ ](?P<alias>{_NAME})(?=[,.;:)]|\s|$)",
    )
)
_NUMERONYM = re.compile(r"([a-z])(\d{1,2})([a-z])")
_SENTENCE_LETTERS = 400
_QUOTES = "\"“”‘'`’"
_ALIKE = 3
"""Letters that an abbreviation shares with the beginning of what it stands for, at least."""


@dataclass(frozen=True, slots=True)
class AliasStatement:
    """That two names mean one thing, and the sentence that says so; ``alias`` is the shorter."""

    alias: str
    name: str
    sentence: str


def alias_statements(text: str, is_known: Callable[[str], bool]) -> Iterator[AliasStatement]:
    """Find where a text says that two names mean one thing.

    "Robert Smith (Bob)", "Kubernetes, or K8s", "Bob, short for Robert", "Ann, also known as Mia", "a.k.a.",
    "spreading activation (SA)". Of names that only stand beside each other, in brackets or with "or", one must be
    an initialism, an abbreviation, a nickname or a handle of the other. Questions say nothing.

    Parameters
    ----------
    text : the text of a memory.
    is_known : reports whether the normal form of a name may be meant.

    Examples
    --------
    >>> text = "We use Kubernetes, or K8s, in Oslo (Norway)."
    >>> [(statement.alias, statement.name) for statement in alias_statements(text, lambda name: True)]
    [('K8s', 'Kubernetes')]
    """
    statements: dict[tuple[str, str], AliasStatement] = {}
    for start, end, alias, name in _pairs(text, is_known):
        if normal(name) == normal(alias):
            continue
        if _precedence(alias) > _precedence(name):
            alias, name = name, alias
        sentence = _sentence(text, start, end)
        if not sentence.rstrip(_QUOTES + " )").endswith("?"):
            statements.setdefault(
                (normal(alias), normal(name)),
                AliasStatement(strip_markup(alias), strip_markup(name), sentence),
            )
    yield from statements.values()


def is_short_form(alias: str, name: str) -> bool:
    """Tell whether one name is an initialism, an abbreviation, a nickname or a handle of another.

    >>> is_short_form("K8s", "Kubernetes"), is_short_form("Bob", "Robert Smith"), is_short_form("Oslo", "Norway")
    (True, True, False)
    """
    words, short = name.split(), alias.casefold()
    if not words:
        return False
    if alias.startswith("@"):
        return is_given_name(words[0]) or short[1:] in [word.casefold() for word in words]
    if len(short) > 1 and len(words) > 1 and expansion_of(name, alias) == name:
        return True
    letters, numbered = name.casefold(), _NUMERONYM.fullmatch(short)
    if numbered is not None and len(words) == 1:
        return (
            letters[:1] == numbered[1]
            and letters[-1:] == numbered[3]
            and len(letters) - 2 == int(numbered[2])
        )
    if is_short_for(short, words[0]):
        return True
    return " " not in alias and len(words) == 1 and len(short) >= _ALIKE and letters.startswith(short)


def _pairs(text: str, is_known: Callable[[str], bool]) -> Iterator[tuple[int, int, str, str]]:
    """Yield start, end, alias and name of what may say that two known names are one."""
    for pattern in (*_EXPLICIT, *_ADJACENT):
        for match in pattern.finditer(text):
            name = _ending(match["name"].strip(_QUOTES), is_known)
            alias = _beginning(match["alias"].strip(_QUOTES), is_known)
            if name and alias and (pattern in _EXPLICIT or _may_be_aliases(alias, name)):
                yield *match.span(), alias, name
    for start, words, short in initialisms(text):
        if is_known(normal(words)) and is_known(normal(short)):
            yield start, start + len(words) + len(short) + 3, short, words


def _may_be_aliases(first: str, second: str) -> bool:
    return is_short_form(first, second) or is_short_form(second, first)


def _ending(words: str, is_known: Callable[[str], bool]) -> str | None:
    """Return the longest known name at the end of some words: "Yesterday Robert Smith" ends in one."""
    parts = words.split()
    endings = (" ".join(parts[first:]) for first in range(len(parts)))
    return next((name for name in endings if is_known(normal(name))), None)


def _beginning(words: str, is_known: Callable[[str], bool]) -> str | None:
    parts = words.split()
    beginnings = (" ".join(parts[:last]) for last in range(len(parts), 0, -1))
    return next((name for name in beginnings if is_known(normal(name))), None)


def _sentence(text: str, start: int, end: int) -> str:
    low, high = max(0, start - _SENTENCE_LETTERS), min(len(text), end + _SENTENCE_LETTERS)
    edges = [low, *(low + place for place in accumulate(map(len, pieces(text[low:high]))))]
    first = max(edge for edge in edges if edge <= start)
    return " ".join(text[first : min((edge for edge in edges if edge >= end), default=high)].split())


def _precedence(name: str) -> tuple[bool, int, int]:
    """Rank a name as the main one of two: no handle, more words, more letters."""
    return not name.startswith("@"), len(name.split()), len(name)
