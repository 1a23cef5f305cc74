"""Who makes a memory? ``RememberPlan``, from checked drafts: it decides all rows, links and vectors before any write.

It runs under the write lock, and its caller writes the rows as one operation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field
from datetime import datetime
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from priming.config.ids import uuid7
from priming.config.params.laws import FORGETTING, PLASTICITY, ForgettingParams, PlasticityParams
from priming.config.params.recall import LINKING, LinkParams
from priming.config.values import dataclass
from priming.config.words import CONFLICTS, KEPT_BESIDE, TOUCHES
from priming.core.arguments.arrays import TextVectors
from priming.core.arguments.normal_forms import free_key, slug
from priming.errors import Conflict
from priming.index.document import RULES, SESSION, TERM, Document, describe, slot_of
from priming.index.working_set import WorkingSet
from priming.namespace import Namespace
from priming.recall.entities import (
    AnyCaseNames,
    FileNames,
    entity_key,
    file_key,
    resolve_entity,
    under_other_names,
)
from priming.remember import similar
from priming.remember.drafts import Draft, bare_text, file_draft, is_bare_name
from priming.storage.protocol import VersionKey
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow, ends_of, record
from priming.text.name_forms.forms import FILE, Name
from priming.text.statements.phrases import as_told
from priming.text.tokens import terms


@dataclass(frozen=True, slots=True)
class PlannedMemory:
    """The result of one draft; links are rows, whose ends are ids."""

    id: str
    key: str
    status: str
    links: tuple[LinkRow, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedText:
    """One draft analysed: its names, and its terms without repeats."""

    names: Sequence[Name]
    words: Sequence[str]


@dataclass
class RememberPlan:
    """The rows that one call to ``remember_many`` writes, built up draft by draft.

    Later drafts see the keys, entities, sessions, words and vectors of earlier ones.
    """

    memory: Namespace
    now: datetime
    params: LinkParams = LINKING
    rows: list[RowChange] = field(default_factory=list)
    vectors: dict[VersionKey, bytes] = field(default_factory=dict)
    results: list[PlannedMemory] = field(default_factory=list)
    echoed: dict[str, None] = field(default_factory=dict)
    """Ids of the memories whose text the drafts repeat."""
    memories: dict[str, tuple[MemoryRow, VersionRow, TextVectors | None]] = field(default_factory=dict)
    _looked_up: set[str] = field(default_factory=set)
    _keys: dict[str, str] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)
    _again: dict[str, int] = field(default_factory=dict)
    _entities: dict[str, str] = field(default_factory=dict)
    _files: FileNames | None = None
    _tails: dict[str, list[str]] = field(default_factory=dict)
    _holders: dict[str, list[str]] = field(default_factory=dict)
    _facts: dict[str, str | None] = field(default_factory=dict)
    """What memories state, planned and those that were read; None for those that state nothing."""
    _added: int = 0
    strengthened: bool = False
    """Whether a duplicate strengthens the links of its memory."""
    plasticity: PlasticityParams = PLASTICITY
    forgetting: ForgettingParams = FORGETTING
    working: WorkingSet = field(init=False)
    echo: similar.EchoGuard | None = None
    """Finds text that a recall emitted, which is not stored again; None stores it."""
    coming: Callable[[Collection[str]], Collection[str]] = lambda _: ()
    """Tells which memories what follows the drafts says again."""

    def __post_init__(self) -> None:
        self.working = self.memory.working(self.now)
        self._any_case = AnyCaseNames(self.working, self._entities, self._holders)
        self._linker = similar.NearestLinker(
            self.memory, self.working, self.now, self.params, self.plasticity.increment
        )

    def add_all(
        self,
        drafts: Sequence[Draft],
        vectors: Sequence[TextVectors] | None,
        *,
        nearest: bool,
        always: bool = False,
    ) -> None:
        """Plan every draft, in order; duplicates and echoes get a result but no rows, unless ``always``.

        Without ``vectors`` the memories wait for theirs, and are linked to nothing by similarity.
        """
        starts = {own: each.start(self.now) for each in drafts for own in each.digests}
        self._digests = self.memory.ids_of_digests(starts)
        self._again = {own: i for i, each in enumerate(drafts) if (own := each.repeated(self._digests))}
        names = [() if is_bare_name(each) else each.names[: self.params.names] for each in drafts]
        words = [() if is_bare_name(each) else tuple(dict.fromkeys(terms(each.content))) for each in drafts]
        self._look_up_keys(drafts, names, words)
        neighbours = self._linker.find_nearest(vectors) if nearest and vectors is not None else None
        if self.echo is not None:
            self.echo.update(self.now)
        for i, draft in enumerate(drafts):
            echo = self.echo if draft.echo_guard and draft.key is None and not always else None
            own = draft.repeated(self._digests)
            if own and (self.params.strengthen or self._is_overtaken(own)):
                echo = None  # the same text again strengthens links or is news, whoever saw it meanwhile
            echoed = () if echo is None else echo.sources(draft.content, draft.occurred_at)
            existing = echoed[0] if echoed else None if always else self._find_duplicate(draft)
            if existing is not None:
                self.echoed |= dict.fromkeys(echoed)
                links: tuple[LinkRow, ...] = ()
                if neighbours is not None and vectors is not None and not echoed:
                    links = self._strengthen_links(existing, vectors[i].whole, neighbours[i])
                status = "echo" if echoed else "duplicate"
                self.results.append(PlannedMemory(existing, self._key_of(existing), status, links))
                continue
            near = None if neighbours is None else neighbours[i]
            self._add(draft, PlannedText(names[i], words[i]), None if vectors is None else vectors[i], near)

    def _look_up_keys(
        self, drafts: Sequence[Draft], names: Sequence[Sequence[Name]], words: Sequence[Sequence[str]]
    ) -> None:
        """Look up in one query which of the keys that the drafts may need are taken."""
        keys = {key for draft in drafts for key in (draft.key, slug(draft.heading or draft.content)) if key}
        keys |= {entity_key(SESSION, draft.session) for draft in drafts if draft.session}
        keys |= {file_key(file) for draft in drafts for file in draft.files}
        keys |= {entity_key(name.kind, name.text) for text_names in names for name in text_names}
        if self._words_can_be_rare(len(drafts)):
            keys |= {entity_key(TERM, word) for text_words in words for word in text_words}
        self._looked_up |= keys
        self._keys |= self.memory.ids_of(keys)

    def documents(self) -> dict[str, Document]:
        """Return the new memories, prepared for the working set."""
        planned = self.memories.values()
        records = [record(self.working.namespace, memory, version) for memory, version, _ in planned]
        documents = describe(records, [vectors for *_, vectors in planned], self.memory.embedder)
        return {document.id: document for document in documents}

    def _find_duplicate(self, draft: Draft) -> str | None:
        """Return the id of the memory that a draft repeats; a key that another memory has raises ``Conflict``."""
        entity = self._existing_entity(draft)
        if entity is not None or draft.key is None:
            repeated = draft.repeated(self._digests)
            return entity or (None if repeated is None or self._is_overtaken(repeated) else repeated)
        holder = self._keys.get(draft.key)
        if holder is None:
            return None
        status, text = self._status_and_text(holder)
        if status == "active" and bare_text(text) == bare_text(draft.content):
            return holder
        by, way = ("", "supersede") if status == "active" else (f" by a {status} memory", "restore")
        raise Conflict(f"key {draft.key!r} is taken{by}: choose another, or {way} the memory it names")

    def _is_overtaken(self, memory_id: str) -> bool:
        """Tell whether a later statement that does not follow again says otherwise now: Oslo, Bergen, Oslo."""
        links = [row.after for row in self.rows if isinstance(row.after, LinkRow)]
        links += self.memory.rows(LinkRow, ids=[memory_id], relation=CONFLICTS)
        later = [each.source for each in links if (each.relation, each.target) == (CONFLICTS, memory_id)]
        last = {other for other in later if self._again.get(other, -1) < len(self.results)}
        last -= {*self.coming(last)} if last else last
        last &= self.memories.keys() | self.memory.records(self.now, ids=last, status="active").keys()
        return not all(self._kept_beside([memory_id, other]) for other in last)

    def _strengthen_links(
        self, memory_id: str, vector: NDArray[np.float32], near: similar.Neighbours
    ) -> tuple[LinkRow, ...]:
        """Return the links that a duplicate strengthens; only in profiles with ``strengthen``."""
        if not self.params.strengthen:
            return ()
        changes = self._linker.strengthen_nearest(memory_id, vector, near)
        links = tuple(change.after for change in changes if isinstance(change.after, LinkRow))
        touched = {(link.source, link.target) for link in links}
        self.rows = [change for change in self.rows if similar.similar_ends(change) not in touched] + changes
        self.strengthened = self.strengthened or bool(changes)
        return links

    def _existing_entity(self, draft: Draft) -> str | None:
        """Return the entity that a bare name stands for, if it exists: a name is one node, whatever its source."""
        if not is_bare_name(draft):
            return None
        slot = slot_of(draft.metadata.get("form"), draft.heading or draft.content)
        return self._entity_of(slot)

    def _status_and_text(self, memory_id: str) -> tuple[str, str]:
        """Return the status and text of a memory, planned or stored."""
        if memory_id in self.memories:
            return "active", self.memories[memory_id][1].content
        existing = self.memory.record_named(memory_id, self.now)
        assert existing is not None, "a key is taken by a memory"
        return existing.status, existing.content

    def _key_of(self, memory_id: str) -> str:
        if memory_id in self.memories:
            return self.memories[memory_id][0].key
        return self.memory.names(ids=[memory_id])[memory_id]

    def _add(
        self, draft: Draft, text: PlannedText, vectors: TextVectors | None, near: similar.Neighbours | None
    ) -> None:
        """Plan a new memory with its links."""
        memory_id = uuid7(self.now)
        key = draft.key or free_key(slug(draft.heading or draft.content), memory_id, self._is_taken)
        self._add_rows(memory_id, key, draft, vectors)
        self._facts[memory_id] = similar.stated(draft)
        if draft.kind == "entity":
            slot = slot_of(draft.metadata.get("form"), draft.heading or draft.content)
            self._entities.setdefault(slot, self.working.entity(slot) or memory_id)
        self._digests[draft.digest] = memory_id
        links = [
            *self._session_links(memory_id, draft),
            *self._mention_links(memory_id, draft, text),
            *self._linker.link_new(memory_id, None if vectors is None else vectors.whole, near),
            *self.conflict_links(memory_id, draft),
        ]
        self._added += 1
        self.rows.extend(RowChange(None, link) for link in links)
        self.results.append(PlannedMemory(memory_id, key, "stored", tuple(links)))

    def _is_taken(self, key: str) -> bool:
        return key in self._keys or (key not in self._looked_up and bool(self.memory.ids_of([key])))

    def _add_rows(self, memory_id: str, key: str, draft: Draft, vectors: TextVectors | None) -> None:
        start, stability = self.plasticity.start, self.forgetting.initial_stability
        memory = MemoryRow(
            memory_id, key, draft.kind, **{"weight": start, "endurance": stability, **draft.state}
        )
        version = draft.version(memory_id, 1, self.now)
        self._keys[key] = memory_id
        self.rows += [RowChange(None, memory), RowChange(None, version)]
        vectors = None if is_bare_name(draft) else vectors
        self.memories[memory_id] = memory, version, vectors
        if vectors is not None:
            self.vectors[memory_id, 1] = vectors.packed()

    def _link(self, source: str, target: str, relation: str, weight: float | None = None) -> LinkRow:
        start = self.plasticity.start
        return LinkRow(source, target, relation, start if weight is None else weight, self.now)

    def _session_links(self, memory_id: str, draft: Draft) -> Iterator[LinkRow]:
        """Yield ``next`` and ``next-but-one`` from the session's last two memories, ``part-of`` to the session."""
        if draft.session is None:
            return
        tail = self._tails.get(draft.session)
        if tail is None:
            tail = list(self.memory.names(session=draft.session, limit=2))
        for previous, relation in zip(tail, ("next", "next-but-one"), strict=False):
            yield self._link(previous, memory_id, relation)
        self._tails[draft.session] = [memory_id, *tail][:2]
        yield self._link(memory_id, self._entity(SESSION, draft.session, draft.trust), "part-of")

    def mention_links(self, memory_id: str, draft: Draft, text: PlannedText) -> list[LinkRow]:
        """Return the links from a stored memory to the names in a text; new names are added to ``rows``."""
        self._look_up_keys([draft], [text.names], [text.words])
        return list(self._mention_links(memory_id, draft, text))

    def _mention_links(self, memory_id: str, draft: Draft, text: PlannedText) -> Iterator[LinkRow]:
        """Yield ``mentions`` links to each name in the text, and each word that hardly any other memory contains."""
        targets = dict.fromkeys(self._entity(name.kind, name.text, draft.trust) for name in text.names)
        targets |= dict.fromkeys(self._any_case.entities(draft.content))
        for word in self._rare_words(text):
            slot = slot_of(TERM, word)
            entity = self._entity_of(slot)
            if entity is None:
                entity = self._entity(TERM, word, draft.trust)
                for holder in self._memories_with(word, self.params.rare_max):
                    yield self._link(holder, entity, "mentions")
            targets[entity] = None
        for word in {*terms(draft.title or ""), *text.words}:
            self._holders.setdefault(word, []).append(memory_id)
        for target in targets:
            if target != memory_id:
                self._any_case.add(target)
                yield self._link(memory_id, target, "mentions")
        for file in dict.fromkeys(self._file(file, draft.trust) for file in draft.files):
            yield self._link(memory_id, file, TOUCHES)

    def _words_can_be_rare(self, planned: int) -> bool:
        return self.working.memories + planned >= self.params.rare_from

    def _rare_words(self, text: PlannedText) -> list[str]:
        """Return the words that few other memories share, and that are not part of a name in the text."""
        if not self._words_can_be_rare(self._added):
            return []
        rare = []
        for word in text.words:
            is_long = len(word) >= self.params.rare_letters
            if is_long and 1 <= self._number_with(word) < self.params.rare_max:
                rare.append(word)
        parts = {part for name in text.names for part in terms(name.text)} if rare else ()
        return [word for word in rare if word not in parts]

    def _number_with(self, term: str) -> int:
        """Return how many memories, stored or planned, contain a term."""
        code = self.working.lexicon.code(term)
        return (0 if code is None else int(self.working.lexicon.df[code])) + len(self._holders.get(term, ()))

    def _memories_with(self, term: str, most: int, *, stating: bool = False) -> list[str]:
        """Return the latest memories, stored or planned, that contain a term, and may state, the oldest first."""
        working, holders = self.working, self._holders.get(term, [])
        planned = [each for each in holders if not stating or self._facts.get(each)][-most:]
        code = working.lexicon.code(term)
        rows = np.zeros(0, np.int64) if code is None else working.lexicon.postings(code).rows
        able = working.living.values[rows] & (working.states.values[rows] if stating else True)
        stored = [working.ids[row] for row in working.row.values[rows[able][-most:]]]
        return [*stored, *planned][-most:]

    def _entity(self, form: str, name: str, trust: str) -> str:
        """Return the id of the entity of a name, which is created at its first mention."""
        slot = slot_of(form, name)
        preferred = entity_key(form, name)
        entity = self._entity_of(slot) or resolve_entity(
            self.memory, self._keys.get(preferred), slot, self.now
        )
        if entity is None and form == FILE:
            entity = self._file_that_ends_in(slot)
        if entity is None:
            entity = uuid7(self.now)
            key = free_key(preferred, entity, self._is_taken)
            metadata = {"form": form}
            new = Draft(name, kind="entity", key=key, source=RULES, trust=trust, metadata=metadata)
            self._add_rows(entity, key, new, None)
        self._entities[slot] = entity
        return entity

    def _entity_of(self, slot: str) -> str | None:
        """Return the id of the entity of a slot, planned or stored."""
        return self._entities.get(slot) or self.working.entity(slot)

    def _file_that_ends_in(self, slot: str) -> str | None:
        """Return the id of the only file whose path ends in a name like "pool.py"; None if there is not just one."""
        if self._files is None:
            self._files = FileNames()
            for other in (*self.working.entities, *self._entities):
                self._files.add(other)
        whole = self._files.whole(slot)
        return None if whole is None else self._entity_of(whole)

    def _file(self, path: str, trust: str) -> str:
        """Return the id of the entity of a file, which is created when the first memory touches it."""
        key = file_key(path)
        entity = self._keys.get(key)
        if entity is None:
            entity = self._keys[key] = uuid7(self.now)
            self._add_rows(entity, key, file_draft(path, trust), None)
            self._entities.setdefault(slot_of(FILE, path), entity)
            if self._files is not None:
                self._files.add(slot_of(FILE, path))
        return entity

    def conflict_links(self, memory_id: str, draft: Draft) -> Iterator[LinkRow]:
        """Yield ``conflicts`` links of weight 0 to the statements that cannot hold beside a new one."""
        if similar.stated(draft) is None:
            return
        names = draft.names[: self.params.names] if self.working.any_merged else ()
        others = under_other_names(self.memory, draft.content, names, self.now)
        texts = [as_told(text, draft.speaker) for text in (draft.content, *others)]
        words = {word: n for text in texts for word in terms(text) if (n := self._number_with(word))}
        by_number = sorted(words, key=words.__getitem__)
        rarest = (self._memories_with(word, self.params.rivals + 1, stating=True) for word in by_number)
        holders = islice((ids for ids in rarest if {*ids} - {memory_id}), similar.RAREST * len(texts))
        likest = similar.latest_holders(holders, self.params.rivals, memory_id)
        if unread := [name for name in likest if name not in self._facts]:
            stored = self.memory.records(self.now, ids=unread, status="active")
            self._facts |= {name: similar.stated(stored[name]) if name in stored else None for name in unread}
        opposed, agreeing = similar.rivals({name: self._facts[name] for name in likest}, texts)
        settled = self._kept_beside([*opposed, *agreeing]) if opposed and agreeing else ()
        for other in opposed:
            if not any({other, same} in settled for same in agreeing):
                yield self._link(memory_id, other, CONFLICTS, 0.0)

    def _kept_beside(self, ids: Sequence[str]) -> set[frozenset[str]]:
        """Return the pairs of some facts of which a user settled that both may hold."""
        rows = self.memory.rows(LinkRow, ids=ids, both=True, relation=KEPT_BESIDE)
        return {frozenset(ends_of(row)) for row in rows}
