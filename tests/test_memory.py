import os
import subprocess
import sys
import tempfile
import textwrap
import threading

import pytest
from tests.rows import each_row

from priming import Memory, NotFound, ParamError, SchemaTooNew
from priming.memory import Memory as Facade

# Opening


def test_opening_makes_the_store_and_closing_leaves_it(open_memory, tmp_path):
    url = f"sqlite:///{tmp_path}/deep/er/memory.db"
    with open_memory(url) as memory:
        assert memory.namespace == "default"
        memory.remember("we paint walls")
    with open_memory(url) as memory:
        assert [record.content for record in memory.list()] == ["we paint walls"]


def test_the_default_store_is_beside_the_working_directory(embedder, tmp_path, monkeypatch):
    monkeypatch.delenv("PRIMING_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    with Memory.open(embedder=embedder) as memory:
        memory.remember("we paint walls")
    assert (tmp_path / ".priming" / "memory.db").is_file()
    monkeypatch.setenv("PRIMING_URL", "sqlite:///other.db")
    with Memory.open(embedder=embedder) as memory:
        assert memory.list() == []
        assert not (tmp_path / "other.db").exists()
        memory.remember("we paint doors")
    assert (tmp_path / "other.db").is_file()


def test_the_embedder_is_not_asked_for_anything_before_it_is_needed(open_memory, url):
    class Asleep:
        generation, dimension = "asleep", 8

        def embed(self, texts):
            raise AssertionError(f"{len(texts)} texts were not to be embedded")

    memory = open_memory(url, embedder=Asleep())
    assert memory.list() == memory.log() == memory.links() == []
    assert memory.stats().operations == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"url": "mysql://host/db"}, "url = 'mysql://host/db': must be sqlite:///"),
        ({"url": "memory.db"}, "url = 'memory.db'"),
        ({"url": "sqlite:///x.db?mode=fast"}, "takes one option"),
        ({"namespace": ""}, "namespace = ''"),
        ({"namespace": "two\nlines"}, "namespace"),
        ({"profile": "mem0"}, "profile = 'mem0': must be one of priming, floop, synapse, ethos, arc, poc"),
    ],
)
def test_what_cannot_be_opened_is_named(open_memory, tmp_path, monkeypatch, settings, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParamError) as caught:
        open_memory(**settings)
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_a_newer_schema_is_left_as_it_was(open_memory, url, tmp_path):
    memory = open_memory(url)
    memory.remember("we paint walls")
    memory.close()
    path = tmp_path / "memory.db"
    data = bytearray(path.read_bytes())
    data[60:64] = (10_000).to_bytes(4, "big")
    path.write_bytes(data)
    with pytest.raises(SchemaTooNew, match="install a newer Priming"):
        open_memory(url)
    assert path.read_bytes() == bytes(data)


def test_the_profile_that_is_opened_is_the_one_that_answers(open_memory):
    memory = open_memory(profile="ethos")
    memory.remember("we paint walls")
    assert memory.recall("paint").profile == "ethos"
    assert memory.recall("paint", profile="arc").profile == "arc"


def test_every_verb_says_what_it_does():
    verbs = [verb for name, verb in vars(Facade).items() if not name.startswith("_") and callable(verb)]
    assert all(verb.__doc__ for verb in verbs)


def in_a_child(script, *args):
    """What a script prints that runs in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *args], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.slow
def test_a_folder_that_is_read_only_is_a_store_error():
    script = """
        import os, sys
        from priming import HashedEmbedder, Memory, StoreError
        Memory.open("sqlite://", embedder=HashedEmbedder(8)).remember("all that is needed is loaded now")
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            Memory.open(f"sqlite:///{sys.argv[1]}/memory.db", embedder=HashedEmbedder(8)).remember("we paint")
        except StoreError as error:
            print(error)
    """
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        assert "cannot be written" in in_a_child(script, folder)
        assert os.listdir(folder) == []
        os.chmod(folder, 0o755)


@pytest.mark.slow
def test_a_full_disk_loses_nothing_that_was_told(url):
    script = """
        import resource, signal, sys
        from pathlib import Path
        from priming import HashedEmbedder, Memory, StoreError
        memory = Memory.open(sys.argv[1], embedder=HashedEmbedder(64))
        memory.remember("we paint walls", key="first")
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        files = [path for path in Path(sys.argv[1][10:]).parent.iterdir() if path.is_file()]
        room = max(path.stat().st_size for path in files) + 200_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        stored = ["first"]
        try:
            for i in range(1000):
                stored.append(memory.remember(f"note number{i} " + "of many words " * 50).key)
        except StoreError as error:
            print(error)
        found = memory.recall("who paints").hits[0].memory.key
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert found == "first"
        assert [one.key for one in memory.list(limit=2000)] == stored
        assert memory.validate() == []
        stored.append(memory.remember("there is room again", key="last").key)
        memory.close()
        memory = Memory.open(sys.argv[1], embedder=HashedEmbedder(64))
        assert [one.key for one in memory.list(limit=2000)] == stored
        print(len(stored))
    """
    message, count = in_a_child(script, url).splitlines()
    assert "is the disk full? Nothing was changed" in message
    assert int(count) > 2


# Get and list


def test_a_memory_is_found_by_key_or_id(memory):
    answer = memory.remember("we paint walls")
    assert memory.get(answer.key) == memory.get(answer.id)


@pytest.mark.parametrize("key", ["", " ", None, 7])
def test_a_key_is_a_text(memory, key):
    for verb in (memory.get, memory.history, memory.forget, memory.purge):
        with pytest.raises(ParamError, match="key = "):
            verb(key)


def test_an_unknown_key_is_not_found_and_its_like_are_named(memory):
    memory.remember("we paint walls")
    with pytest.raises(
        NotFound, match="there is no memory 'paint' in 'default': did you mean we-paint-walls"
    ):
        memory.get("paint")
    with pytest.raises(NotFound, match=r"there is no memory 'sea' in 'default'$"):
        memory.get("sea")


def test_memories_are_listed_in_order_a_page_at_a_time(memory):
    memory.remember_many({"content": f"note {i}", "key": f"n{i}", "session": "s"} for i in range(25))
    pages, after = [], None
    while page := memory.list(limit=10, after=after):
        pages.append([item.key for item in page])
        after = page[-1].id
    assert [len(page) for page in pages] == [10, 10, 5]
    assert [key for page in pages for key in page] == [f"n{i}" for i in range(25)]
    assert [record.key for record in memory.list(after="n22")] == ["n23", "n24"]


def test_lists_are_of_the_kinds_status_and_words_asked_for(memory):
    memory.remember("Then Zed painted.", key="a", kind="fact")
    memory.remember("We sing.", key="b")
    memory.remember("We sang.", key="c")
    memory.forget("c")

    def keys(**query):
        return [record.key for record in memory.list(**query)]

    assert keys() == ["a", "b"]
    assert keys(kinds=["fact"]) == keys(kinds="fact") == ["a"]
    assert keys(kinds=["entity"]) == ["entity:zed"]
    assert keys(kinds=[]) == keys()
    assert keys(status="forgotten") == ["c"]
    assert keys(status=None) == ["a", "b", "c"]
    assert keys(matching="sing") == ["b"]
    assert keys(matching="we sing") == ["b"]
    assert keys(matching='"') == []


@each_row(
    ("query", "error"),
    [
        ({"kinds": ["dream"]}, ParamError),
        ({"status": "asleep"}, ParamError),
        ({"limit": 0}, ParamError),
        ({"limit": 2.5}, ParamError),
        ({"limit": True}, ParamError),
        ({"after": "nothing"}, NotFound),
        ({"matching": "\x00"}, ParamError),
    ],
)
def test_bad_arguments_of_a_list_are_named(memory, query, error):
    memory.remember("we sing")
    with pytest.raises(error):
        memory.list(**query)


# Threads


def test_threads_share_a_memory_and_lose_nothing(open_memory, url):
    memory, errors, each = open_memory(url), [], 5
    start = threading.Barrier(8)

    def work(name):
        start.wait()
        try:
            for i in range(each):
                memory.remember(f"thread {name} saw item{name}x{i} with Zed", session=f"s{name}")
                assert memory.recall(f"item{name}x{i}").hits[0].memory.session == f"s{name}"
                memory.list(limit=3)
        except BaseException as error:
            errors.append(error)
            raise

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert memory.stats().memories["episode"] == {"active": 8 * each}
    assert memory.stats().links["next"] == 8 * (each - 1)
    assert [record.key for record in memory.list(kinds=["entity"]) if record.content == "Zed"] == [
        "entity:zed"
    ]
    assert memory.validate() == []
    fresh = open_memory(url)
    for name in range(8):
        a, b = (item.recall(f"item{name}x3 Zed").hits for item in (memory, fresh))
        assert [hit.memory.id for hit in a] == [hit.memory.id for hit in b]


def test_a_wrong_name_on_an_answer_is_refused_with_the_right_ones():
    with Memory.open("sqlite://") as memory:
        memory.remember("Rye rises for a day.", key="rye")
        answer = memory.recall("How long does rye rise?")
        for value, wrong, right in (
            (answer, "results", "hits"),
            (answer[0], "text", "content"),
            (memory.get("rye"), "text", "content"),
        ):
            assert not hasattr(value, wrong)
            with pytest.raises(AttributeError, match=f"has no '{wrong}': it has .*{right}"):
                getattr(value, wrong)


def test_an_undo_of_nothing_says_what_may_be_undone():
    with Memory.open("sqlite://") as memory, pytest.raises(ParamError, match="last"):
        memory.undo()
