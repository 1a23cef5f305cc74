"""What is to be written when texts are remembered: rows, links and vectors, decided before anything is.

Under the write lock, with arrays in hand: keys that are free, names that are known, the end of the session, the
words that are rare and the memories that are near.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from priming.config.params.laws import FORGETTING, PLASTICITY
from priming.config.params.learning import LINKING, LinkParams
from priming.embedding.protocol import Embedder, Vectors
from priming.errors import Conflict
from priming.index.columns import NONE
from priming.index.document import (
    CONFLICTS,
    FACT,
    KEPT_BESIDE,
    RULES,
    SESSION,
    TERM,
    Document,
    Statements,
    describe,
    embedded_text,
    slot_of,
)
from priming.index.working_set import WorkingSet
from priming.remember.drafts import Draft, free_key, slug
from priming.remember.echo_filter import EchoGuard
from priming.remember.entity_resolution import equivalent_names, resolve_entity
from priming.remember.links import SIMILAR, Linker, Neighbour
from priming.storage.protocol import Store, VersionKey
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow, record
from priming.text.names import Name, find
from priming.text.statements import statement, values_differ
from priming.text.tokens import terms
from priming.types import uuid7


def embed_drafts(drafts: Sequence[Draft], embedder: Embedder) -> Vectors:
    """The vectors of some drafts, made before the write lock is taken; a bare name has none."""
    return embedder.embed(
        ["" if _is_bare_name(one) else embedded_text(one.title, one.content) for one in drafts]
    )


@dataclass(frozen=True, slots=True)
class PlannedMemory:
    """What becomes of one draft; the links are rows, their ends are ids."""

    id: str
    key: str
    status: str
    links: tuple[LinkRow, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedText:
    """What was read out of one draft: its names, its terms without repeats, its vector."""

    named: Sequence[Name]
    words: Sequence[str]
    vector: NDArray[np.float32]


@dataclass
class RememberPlan:
    """What one call to ``remember_many`` will write, built up draft by draft.

    Later drafts see earlier ones: their keys, entities, sessions, words and vectors.
    """

    store: Store
    working: WorkingSet
    embedder: Embedder
    now: datetime
    echo: EchoGuard
    params: LinkParams = LINKING
    rows: list[RowChange] = field(default_factory=list)
    vectors: dict[VersionKey, bytes] = field(default_factory=dict)
    results: list[PlannedMemory] = field(default_factory=list)
    echoed: dict[str, None] = field(default_factory=dict)
    """Ids of the memories whose text came back."""
    made: list[tuple[MemoryRow, VersionRow, NDArray[np.float32] | None]] = field(default_factory=list)
    _asked: set[str] = field(default_factory=set)
    _keys: dict[str, str] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)
    _entities: dict[str, str] = field(default_factory=dict)
    _tails: dict[str, list[str]] = field(default_factory=dict)
    _holders: dict[str, list[str]] = field(default_factory=dict)
    _stated: Statements = field(default_factory=Statements)
    _told: int = 0
    again: bool = False
    """Whether a memory that is there already was told again, and its links with it."""

    def __post_init__(self) -> None:
        self._linker = Linker(self.store, self.working, self.now, self.params)

    def add_all(
        self, drafts: Sequence[Draft], vectors: Vectors, *, nearest: bool, always: bool = False
    ) -> None:
        """Plan every draft, in order; duplicates and echoes are answered, not stored, unless ``always``."""
        namespace = self.working.namespace
        self._digests = self.store.digests(namespace, [one.digest for one in drafts])
        bare = [_is_bare_name(one) for one in drafts]
        named = [
            () if is_name else find(one.content, one.title)[: self.params.names]
            for one, is_name in zip(drafts, bare, strict=True)
        ]
        words = [
            () if is_name else tuple(dict.fromkeys(terms(one.content)))
            for one, is_name in zip(drafts, bare, strict=True)
        ]
        self._look_up_keys(drafts, named, words)
        near = self._linker.nearest(vectors) if nearest else None
        self.echo.listen(self.now)
        for i, one in enumerate(drafts):
            told = always or one.key is not None
            echoed = () if told else self.echo.sources(one.content, one.occurred_at)
            same = echoed[0] if echoed else None if always else self._same(one)
            if same is not None:
                status = "echo" if echoed else "duplicate"
                self.echoed |= dict.fromkeys(echoed)
                links = () if echoed or near is None else self._told_again(same, vectors[i], near[i])
                self.results.append(PlannedMemory(same, self._key_of(same), status, links))
                continue
            text = PlannedText(named[i], words[i], vectors[i])
            self._add(one, text, None if near is None else near[i])

    def _look_up_keys(
        self, drafts: Sequence[Draft], named: Sequence[Sequence[Name]], words: Sequence[Sequence[str]]
    ) -> None:
        """Ask once which of the keys that may be wanted are taken."""
        wanted = {key for one in drafts for key in (one.key, slug(one.heading or one.content)) if key}
        wanted |= {_entity_key(SESSION, one.session) for one in drafts if one.session}
        wanted |= {_entity_key(name.kind, name.text) for names in named for name in names}
        if self._words_can_be_rare(len(drafts)):
            wanted |= {_entity_key(TERM, word) for some in words for word in some}
        self._asked |= wanted
        self._keys |= self.store.keys(self.working.namespace, wanted)

    def documents(self) -> dict[str, Document]:
        """The new memories, prepared for the working set."""
        namespace = self.working.namespace
        records = [record(namespace, memory, version) for memory, version, _ in self.made]
        described = describe(records, [vector for _, _, vector in self.made], self.embedder)
        return {one.id: one for one in described}

    def _same(self, one: Draft) -> str | None:
        named = self._named_already(one)
        if named is not None or one.key is None:
            return named or self._digests.get(one.digest)
        holder = self._keys.get(one.key)
        if holder is None:
            return None
        status, text = self._present(holder)
        if status == "active" and text == one.content:
            return holder
        state = "" if status == "active" else f" by a {status} memory"
        raise Conflict(f"key {one.key!r} is taken{state}: choose another, or supersede the memory it names")

    def _told_again(
        self, memory_id: str, vector: NDArray[np.float32], near: Neighbour
    ) -> tuple[LinkRow, ...]:
        """The links that a duplicate strengthens, in a profile whose linker does so."""
        if not self.params.strengthen:
            return ()
        changes = self._linker.again(memory_id, vector, near)
        touched = {
            (one.after.source, one.after.target): one for one in changes if isinstance(one.after, LinkRow)
        }
        self.rows = [one for one in self.rows if _similar_ends(one) not in touched] + changes
        self.again = self.again or bool(changes)
        return tuple(one.after for one in changes if isinstance(one.after, LinkRow))

    def _named_already(self, one: Draft) -> str | None:
        """The entity that a bare name stands for, if there is one: a name is one node, whoever brings it."""
        if not _is_bare_name(one):
            return None
        slot = slot_of(one.metadata.get("form"), one.heading or one.content)
        return self._entities.get(slot) or self._known(slot)

    def _present(self, memory_id: str) -> tuple[str, str]:
        """Status and text of a memory, planned or stored."""
        planned = (version for memory, version, _ in self.made if memory.id == memory_id)
        there = next(planned, None) or self.store.get(self.working.namespace, memory_id, self.now)
        assert there is not None, "a key is taken by a memory"
        return getattr(there, "status", "active"), there.content

    def _key_of(self, memory_id: str) -> str:
        for memory, _, _ in reversed(self.made):
            if memory.id == memory_id:
                return memory.key
        return self.store.names(self.working.namespace, [memory_id])[memory_id]

    def _add(
        self,
        one: Draft,
        text: PlannedText,
        near: Neighbour | None,
    ) -> None:
        memory_id = uuid7(self.now)
        key = one.key or free_key(slug(one.heading or one.content), memory_id, self._taken)
        self._write(memory_id, key, one, text.vector)
        if one.kind == "entity":
            slot = slot_of(one.metadata.get("form"), one.heading or one.content)
            self._entities.setdefault(slot, self._known(slot) or memory_id)
        self._digests.setdefault(one.digest, memory_id)
        links = [
            *self._session_links(memory_id, one),
            *self._mention_links(memory_id, one, text),
            *(() if near is None else self._linker.link(memory_id, text.vector, near)),
            *self.conflicts(memory_id, one),
        ]
        self._told += 1
        self.rows.extend(RowChange(None, link) for link in links)
        if near is not None:
            self._linker.remember(memory_id, text.vector)
        self.results.append(PlannedMemory(memory_id, key, "stored", tuple(links)))

    def _taken(self, key: str) -> bool:
        if key in self._keys:
            return True
        return key not in self._asked and bool(self.store.keys(self.working.namespace, [key]))

    def _write(self, memory_id: str, key: str, one: Draft, vector: NDArray[np.float32] | None) -> None:
        memory = MemoryRow(
            memory_id, key, one.kind, weight=PLASTICITY.start, endurance=FORGETTING.initial_stability
        )
        version = one.version(memory_id, 1, self.now)
        self._keys[key] = memory_id
        self.rows += [RowChange(None, memory), RowChange(None, version)]
        if vector is not None:
            vector = vector if vector.any() else None
        self.made.append((memory, version, vector))
        if vector is not None:
            self.vectors[memory_id, 1] = vector.astype("<f4").tobytes()

    def _link(self, source: str, target: str, relation: str, weight: float = PLASTICITY.start) -> LinkRow:
        return LinkRow(source, target, relation, weight, self.now)

    def _session_links(self, memory_id: str, one: Draft) -> Iterator[LinkRow]:
        """``next`` from the previous memory of the session and from the one before it, ``part-of`` the session."""
        if one.session is None:
            return
        tail = self._tails.get(one.session)
        if tail is None:
            tail = self.store.session_tail(self.working.namespace, one.session, 2)
        for previous, relation in zip(tail, ("next", "next-but-one"), strict=False):
            yield self._link(previous, memory_id, relation)
        self._tails[one.session] = [memory_id, *tail][:2]
        yield self._link(memory_id, self._entity(SESSION, one.session, one.trust), "part-of")

    def mentions(self, memory_id: str, one: Draft, text: PlannedText) -> list[LinkRow]:
        """The links to what the text of a memory names, that is there already; names that are new become ``rows``."""
        self._look_up_keys([one], [text.named], [text.words])
        return list(self._mention_links(memory_id, one, text))

    def _mention_links(self, memory_id: str, one: Draft, text: PlannedText) -> Iterator[LinkRow]:
        """``mentions`` each name in the text, and each word that hardly any other memory holds."""
        targets = dict.fromkeys(self._entity(name.kind, name.text, one.trust) for name in text.named)
        for word in self._rare(text):
            slot = slot_of(TERM, word)
            entity = self._entities.get(slot) or self._known(slot)
            if entity is None:
                entity = self._entity(TERM, word, one.trust)
                for holder in self._holding(word):
                    yield self._link(holder, entity, "mentions")
            targets[entity] = None
        for word in {*terms(one.title or ""), *text.words}:
            self._holders.setdefault(word, []).append(memory_id)
        for target in targets:
            if target != memory_id:
                yield self._link(memory_id, target, "mentions")

    def _words_can_be_rare(self, planned: int) -> bool:
        return self.working.memories + planned >= self.params.rare_from

    def _rare(self, text: PlannedText) -> list[str]:
        """The words that this memory shares with hardly any other, and that are no part of a name in it."""
        if not self._words_can_be_rare(self._told):
            return []
        found = []
        for word in text.words:
            if len(word) >= self.params.rare_letters:
                code = self.working.lexicon.code(word)
                df = 0 if code is None else int(self.working.lexicon.df[code])
                if 1 <= df + len(self._holders.get(word, ())) < self.params.rare_max:
                    found.append(word)
        parts = {part for name in text.named for part in terms(name.text)} if found else ()
        return [word for word in found if word not in parts]

    def _holding(self, term: str) -> list[str]:
        """The memories, stored or planned, that hold a rare term."""
        code = self.working.lexicon.code(term)
        found = [] if code is None else self.working.lexicon.postings(code).rows.tolist()
        working = self.working
        living = [working.ids[working.row[one]] for one in found if working.living[one]]
        return living + self._holders.get(term, [])

    def _entity(self, form: str, name: str, trust: str) -> str:
        """The id of an entity, made at first mention."""
        slot = slot_of(form, name)
        wanted = _entity_key(form, name)
        known = self._entities.get(slot) or self._known(slot) or self._stands_for(slot, wanted)
        if known is None:
            known = uuid7(self.now)
            key = free_key(wanted, known, self._taken)
            self._write(
                known,
                key,
                Draft(name, kind="entity", key=key, source=RULES, trust=trust, metadata={"form": form}),
                None,
            )
        self._entities[slot] = known
        return known

    def _stands_for(self, slot: str, key: str) -> str | None:
        """The id of the entity that a name was merged into: the merged one keeps the key that it had."""
        return resolve_entity(self.store, self.working.namespace, self._keys.get(key), slot, self.now)

    def _known(self, slot: str) -> str | None:
        row = self.working.entities.get(slot, NONE)
        return None if row == NONE else self.working.ids[row]

    def conflicts(self, memory_id: str, one: Draft) -> Iterator[LinkRow]:
        """``conflicts`` with facts that give the same subject another value in the same slot; it carries nothing."""
        stated = statement(one.content, one.speaker) if one.kind == FACT else None
        if stated is None:
            return
        most = self.params.rivals
        told = [
            pair
            for subject in sorted(
                equivalent_names(self.store, self.working.namespace, stated.subject, self.now)
            )
            for some in (self._stated, self.working.statements)
            for pair in some.in_slot(replace(stated, subject=subject), most)
        ]
        agreeing = [other for other, value in told if not values_differ(value, stated.value)]
        for other, value in told[:most]:
            if other == memory_id or not values_differ(value, stated.value):
                continue  # what a fact said itself before is no contradiction
            if not any(self._kept_beside(other, same) for same in agreeing):
                yield self._link(memory_id, other, CONFLICTS, 0.0)
        self._stated.put(memory_id, stated)

    def _kept_beside(self, one: str, other: str) -> bool:
        """Whether somebody said of two facts that both may hold."""
        pairs = ((one, other), (other, one))
        namespace = self.working.namespace
        return any(
            self.store.present(namespace, self._link(*pair, KEPT_BESIDE)) is not None for pair in pairs
        )


def _similar_ends(change: RowChange) -> tuple[str, str] | None:
    """The ends of a ``similar-to`` link that changes."""
    row = change.after
    return (row.source, row.target) if isinstance(row, LinkRow) and row.relation == SIMILAR else None


def _is_bare_name(one: Draft) -> bool:
    return one.kind == "entity" and one.source == RULES


def _entity_key(form: str, name: str) -> str:
    return f"{form if form in (SESSION, TERM) else 'entity'}:{slug(name)}"
