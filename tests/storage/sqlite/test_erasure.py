"""After a purge and a flush, no byte of what was erased is left in any file of the store."""

import os
import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from priming import FixedClock, HashedEmbedder, Memory
from priming.storage.protocol import Changes, Store
from priming.storage.rows import PairRow, Row, RowChange, RunRow, VersionRow
from priming.storage.sqlite.store import SqliteStore

from ..making import DAY, GENERATION, NOW, added, link, memory, operation, pair, run, trace, verdict, version
from .files import check_text_index, contents

pytestmark = pytest.mark.slow  # reads every byte of files; the contract tests purge in process

LETTERS = "bcdfghjklmnpqrstvwxz"


class Crowd:
    """Many memories of words that occur nowhere else, and what each of them would leave behind."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.random = Random(seed)
        self.secrets: dict[str, list[bytes]] = {}

    def words(self, count: int) -> list[str]:
        return ["".join(self.random.choices(LETTERS, k=14)) for _ in range(count)]

    def remember(self, count: int) -> None:
        """Memories that are linked to earlier ones, as one operation."""
        rows: list[Row] = []
        vectors = {}
        for _ in range(count):
            name = f"m{len(self.secrets)}"
            words = self.words(self.random.choice([3, 10, 60, 600]))
            key, heading, note = self.words(3)
            rows += [
                memory(name, key=key),
                version(name, " ".join(words), heading=heading, metadata={"note": note}, tags=(words[0],)),
                *(
                    link(name, other)
                    for other in self.random.sample(list(self.secrets), min(4, len(self.secrets)))
                ),
            ]
            vectors[name, 1] = self.random.randbytes(128)
            self.secrets[name] = [item.encode() for item in (*words, key, heading, note)] + [vectors[name, 1]]
        self.store.apply(operation(added(*rows), vectors=vectors, generation=GENERATION))

    def supersede(self, name: str) -> None:
        old = self.store.rows("mine", VersionRow, ids=[name])[-1]
        words = self.words(40)
        fresh = replace(
            old, content=" ".join(words), gist=words[0], version=old.version + 1, revision=old.revision + 1
        )
        self.store.apply(operation([RowChange(old, replace(old, retired_at=NOW)), *added(fresh)]))
        self.secrets[name] += [word.encode() for word in words]

    def learn(self, name: str, other: str) -> None:
        """What recalls, their flows, verdicts and a run leave of a memory."""
        query, answer = self.words(2)
        flow = self.random.randbytes(64)
        hit = trace("hit", NOW, other, name, cue={"text": query})
        passed = trace("passed", NOW, other, nodes=(other, name), flow=flow)
        for item in (hit, passed):
            self.store.add_trace("mine", item, keep=9, keep_flows=9, not_before=NOW)
        message = verdict(name, recall="hit", cue={"text": answer})
        self.store.apply(operation(added(message, pair(name, other), run("n", name, other))))
        self.store.apply(operation([RowChange(message, None)]))
        self.secrets[name] += [query.encode(), answer.encode(), flow]


def left_over(secrets: list[bytes], holder: dict[str, bytes]) -> set[bytes]:
    """What is still in a file; an index keeps only the end of a word that begins like the one before."""
    ends: set[bytes] = set()
    for data in holder.values():
        for letters in re.findall(rb"[%s]{11,}" % LETTERS.encode(), data):
            ends |= {letters[i : i + 11] for i in range(len(letters) - 10)}
    blobs = {
        secret for secret in secrets if len(secret) > 14 and any(secret in data for data in holder.values())
    }
    return blobs | {secret for secret in secrets if secret[3:] in ends}


@pytest.mark.parametrize("seed", [0, 4, pytest.param(10, marks=pytest.mark.slow)])
def test_a_purge_leaves_no_byte_in_the_file_or_its_journal(tmp_path: Path, seed: int) -> None:
    store = SqliteStore(tmp_path / "memory.db", synchronous="off")
    crowd = Crowd(store, seed)
    for _ in range(8):
        crowd.remember(crowd.random.choice([1, 1, 5, 60]))
        crowd.supersede(crowd.random.choice(list(crowd.secrets)))
    names = list(crowd.secrets)
    crowd.learn(names[0], names[1])
    purged = [names[0], *crowd.random.sample(names[1:], len(names) // 5)]
    gone = [secret for name in purged for secret in crowd.secrets[name]]
    rest = [secret for name in set(names) - set(purged) for secret in crowd.secrets[name]]
    assert left_over(gone, contents(tmp_path)) == set(gone)
    for name in purged:
        store.purge(Changes("mine", f"purge {name}", "purge", NOW), [name])
    store.flush()
    assert left_over(gone, contents(tmp_path)) == set()
    assert left_over(rest, contents(tmp_path)) == set(rest)
    assert store.check("mine") == []
    shown = [name for name in names[:2] if name not in purged]
    assert (store.rows("mine", PairRow), store.rows("mine", RunRow)) == ([], [run("n", *shown)])
    store.close()
    check_text_index(tmp_path / "memory.db")


def test_the_verb_leaves_no_byte_under_the_whole_folder(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    text = "Quetzalcoatlus landed beside Xylophonist-Harbour on zirconium-feet."
    for turn in range(2):
        with Memory.open(url, embedder=HashedEmbedder(8), clock=FixedClock(NOW + turn * DAY)) as memory:
            if turn == 0:
                memory.remember("Something quite ordinary.", session="monday")
                memory.remember(text, key="secret-slug", session="monday", tags=["unspeakable"])
                memory.supersede("secret-slug", f"{text} Thunderously.")
            assert memory.recall("who landed beside the harbour").hits
    with Memory.open(url, embedder=HashedEmbedder(8), clock=FixedClock(NOW + 2 * DAY)) as memory:
        assert any(b"zirconium" in data for data in contents(tmp_path).values())
        memory.purge("secret-slug")
        holder = contents(tmp_path)
    words = [b"uetzalcoatlus", b"ylophonist", b"irconium", b"hunderously", b"secret-slug", b"unspeakable"]
    for result in (holder, contents(tmp_path)):
        assert [(name, word) for word in words for name, data in result.items() if word in data.lower()] == []
    assert os.listdir(tmp_path)
