"""Files as arguments of ``remember``: links to one entity for each, however a text names it."""

import pytest
from tests.rows import each_row

from priming import HashedEmbedder, Memory
from priming.errors import ParamError


@pytest.fixture
def memory():
    with Memory.open("sqlite://", embedder=HashedEmbedder()) as opened:
        yield opened


def targets(memory, key, relation):
    return {link.target for link in memory.links(key, relation=relation)}


def test_a_memory_touches_each_file_once(memory):
    key = memory.remember("Close idle connections", files=["src/pool.py", "./src/pool.py", "README"]).key
    assert targets(memory, key, "touches") == {"file:src/pool.py", "file:README"}
    memory.remember("Count them", files=["src/pool.py"])
    assert len([entity for entity in memory.list(kinds=["entity"]) if entity.key == "file:src/pool.py"]) == 1


def test_a_text_names_the_file_that_ends_in_its_name(memory):
    memory.remember("Close idle connections", files=["src/pool.py", "a/types.py", "b/types.py"])
    assert targets(memory, memory.remember("It hangs in pool.py").key, "mentions") == {"file:src/pool.py"}
    assert targets(memory, memory.remember("It hangs in `src/pool.py`").key, "mentions") == {
        "file:src/pool.py"
    }
    ambiguous = targets(memory, memory.remember("It hangs in types.py").key, "mentions")
    assert ambiguous == {"entity:types-py"}


def test_another_text_leaves_the_files_as_they_are(memory):
    memory.remember("Close idle connections", key="idle", files=["src/pool.py"])
    memory.supersede("idle", "Close idle connections after a minute")
    assert targets(memory, "idle", "touches") == {"file:src/pool.py"}
    memory.supersede("idle", "Close idle connections after an hour", files=["src/clock.py"])
    assert targets(memory, "idle", "touches") == {"file:src/pool.py", "file:src/clock.py"}


def test_undo_takes_the_links_and_the_new_files_back(memory):
    memory.undo(memory.remember("Close idle connections", files=["src/pool.py"]).operation)
    assert memory.links() == []
    assert memory.list(kinds=["entity"]) == []


@each_row("files", ["src/pool.py", [""], ["a\nb"], [3]])
def test_what_is_no_list_of_paths_is_refused(memory, files):
    with pytest.raises(ParamError, match="files"):
        memory.remember("Close idle connections", files=files)
