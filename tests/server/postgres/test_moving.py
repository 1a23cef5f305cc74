"""A store moved from a file to PostgreSQL and back: the same content, the same answers, also after interruptions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from priming import Conflict, Cue, FixedClock, HashedEmbedder, Memory
from priming.config.environment import locate
from priming.maintenance.migrate import TABLES, migrate
from priming.storage.opening import open_store
from priming.storage.protocol import PARTS
from priming.storage.rows import ActivationCount

from .server import empty

pytestmark = pytest.mark.slow

NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
EMBEDDER = HashedEmbedder(32)


def opened(url: str, namespace: str = "default") -> Memory:
    return Memory.open(url, namespace=namespace, embedder=EMBEDDER, clock=FixedClock(NOW))


def content(url: str) -> dict[str, dict[str, list[Any]]]:
    """Everything that a store holds, by namespace and table."""
    with closing(open_store(locate(url))) as store:
        return {
            name: {TABLES[kind]: list(store.part(name, kind)) for kind in PARTS}
            for name in store.namespaces()
        }


def fill(url: str) -> None:
    for namespace in ("default", "Ünion"):
        with opened(url, namespace) as memory:
            for number in range(12):
                text = f"Ada tuned violin {number} in Oslo, 大阪 and Ålesund."
                memory.remember(text, session="s", metadata={"n": 1, "x": 1.0}, tags=["b", "a"])
            memory.undo(memory.remember("Bob tuned nothing.", key="bob").operation)
            memory.undo(memory.log(limit=1)[0].id)
            memory.supersede("bob", "Bob tuned the cello.")
            memory.remember("The strings of the cello were changed. " * 40, key="strings")
            memory.link("bob", memory.list(limit=1)[0].key, "hates", 0.1 + 0.2, sign=-1)
            memory.learn("Use gut strings.", wrong="Use steel strings.", cue=Cue(task="strings"))
            memory.purge(memory.list(limit=3)[-1].key)
            recall = memory.recall("who tuned a violin", session="s")
            memory.feedback(recall.recall_id, used=[recall.hits[0].memory.key])
            memory.run_start("s")
            memory.loop_task_new_session(objective="Tune everything")
            memory.store.append(namespace, [ActivationCount("poc", memory.get("bob").id, "2026-05-01", 2)])
            memory.sleep()


@pytest.fixture
def server_store(postgres: str) -> Iterator[str]:
    """The URL of a store that does not exist yet."""
    yield f"{postgres}{'&' if '?' in postgres else '?'}schema=moving"
    empty(postgres, "moving")


def hits(url: str) -> dict[str, float]:
    with opened(url) as memory:
        return {hit.memory.key: hit.score for hit in memory.recall("Who tuned violin 7 in Oslo?").hits}


def test_a_store_moved_to_a_server_and_back_is_the_same(server_store: str, tmp_path: Path) -> None:
    source, back = f"sqlite:///{tmp_path}/source.db", f"sqlite:///{tmp_path}/back.db"
    fill(source)
    before = content(source)
    present = migrate(source, server_store)
    assert present.is_verified
    assert content(server_store) == before
    assert migrate(server_store, back).is_verified
    assert content(back) == before
    digests = [(moved.namespace, moved.tables) for moved in present.namespaces]
    assert digests == [(moved.namespace, moved.tables) for moved in migrate(source, back).namespaces]
    assert hits(server_store) == pytest.approx(hits(source))
    for url in (server_store, back):
        for namespace in before:
            with opened(url, namespace) as memory:
                assert memory.verify().findings == ()


@pytest.mark.parametrize("to_server", [True, False])
def test_an_interrupted_move_goes_on_and_ends_the_same(
    server_store: str, tmp_path: Path, to_server: bool
) -> None:
    first = f"sqlite:///{tmp_path}/first.db"
    source, target = (first, server_store) if to_server else (server_store, first)
    fill(source)
    before = content(source)
    for after in (1, 4, 9, 20):
        steps: list[int] = []

        def stop(done: int, _total: int | None, steps: list[int] = steps, after: int = after) -> None:
            steps.append(done)
            if len(steps) == after:
                raise KeyboardInterrupt

        try:
            migrate(source, target, progress=stop)
        except KeyboardInterrupt:
            continue
    assert migrate(source, target).is_verified
    assert content(target) == before
    with opened(target) as memory:
        memory.remember("The target goes on by itself.")
    with pytest.raises(Conflict, match="'default' has operations that the source has not"):
        migrate(source, target)
