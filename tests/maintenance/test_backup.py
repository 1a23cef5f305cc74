"""Backups: the whole store to a file and back, under the eyes of others that have it open."""

import signal
import subprocess
import sys
import textwrap

import pytest

from priming import Conflict, Corrupt, ParamError, StoreError


def keys(memory):
    return [record.key for record in memory.list()]


def recalled_keys(memory, cue):
    return [hit.memory.key for hit in memory.recall(cue).hits if hit.components.get("words")]


@pytest.fixture
def painted(open_memory, url):
    memory = open_memory(url)
    memory.remember("We paint the walls.", key="paint", session="s")
    return memory


def test_a_backup_is_named_by_the_time_in_a_folder_beside_the_store(painted, clock, tmp_path):
    assert painted.backup() == tmp_path / "memory.db.backups" / "2024-05-17T09-30-00Z.db"
    assert painted.backup() == tmp_path / "memory.db.backups" / "2024-05-17T09-30-00Z-2.db"
    clock.at = clock.at.replace(day=18)
    assert painted.backup().name == "2024-05-18T09-30-00Z.db"


def test_a_backup_can_be_put_where_one_likes(painted, open_memory, tmp_path):
    path = tmp_path / "kept" / "it.db"
    assert painted.backup(path) == path
    copy = open_memory(f"sqlite:///{path}")
    assert copy.list() == painted.list()
    assert copy.log() == painted.log()
    assert recalled_keys(copy, "walls") == ["paint"]
    with pytest.raises(Conflict, match=r"it\.db already exists: name another file"):
        painted.backup(str(path))


def test_what_was_backed_up_comes_back_and_what_was_there_is_kept(painted, clock):
    path = painted.backup()
    before = painted.list(), painted.links(), painted.log()
    clock.at = clock.at.replace(day=18)
    painted.remember("They sing about xylophones.", key="sing", session="s")
    painted.forget("paint")
    after = painted.list(), painted.links(), painted.log()
    saved = painted.restore_backup(path)
    assert saved.name == "2024-05-18T09-30-00Z.db"
    assert (painted.list(), painted.links(), painted.log()[1:]) == before
    assert (painted.log()[0].kind, painted.log()[0].changes) == ("restore-backup", ())
    assert painted.log()[0].message == f"put back {path}"
    assert recalled_keys(painted, "xylophones or walls?") == ["paint"]
    assert painted.validate() == []
    painted.restore_backup(saved)
    assert (painted.list(), painted.links(), painted.log()[1:]) == after
    assert recalled_keys(painted, "xylophones or walls?") == ["sing"]


def test_all_namespaces_are_put_back(painted, open_memory, url):
    theirs = open_memory(url, namespace="theirs")
    theirs.remember("We sing.", key="sing")
    path = painted.backup()
    theirs.remember("We also paint.", key="paint")
    late = open_memory(url, namespace="late")
    late.remember("We came late.", key="late")
    assert recalled_keys(theirs, "paint") == ["paint"]
    assert recalled_keys(late, "late") == ["late"]
    painted.restore_backup(path)
    assert keys(theirs) == ["sing"]
    assert recalled_keys(theirs, "sing") == ["sing"]
    assert (recalled_keys(theirs, "paint"), recalled_keys(late, "late")) == ([], [])
    assert [operation.kind for operation in late.log()] == ["restore-backup"]


def test_what_is_remembered_afterwards_is_linked_to_what_was_put_back(painted):
    path = painted.backup()
    painted.remember("Zed sings.", key="sing", session="s")
    painted.restore_backup(path)
    done = painted.remember("Zed sings again.", key="again", session="s")
    assert ("paint", "next") in {(link.source, link.relation) for link in done.links}
    assert painted.validate() == []


def test_what_was_done_before_a_backup_can_be_undone_after_it(painted):
    forgotten = painted.forget("paint")
    path = painted.backup()
    painted.undo(forgotten.id)
    painted.restore_backup(path)
    assert keys(painted) == []
    painted.undo(forgotten.id)
    assert keys(painted) == ["paint"]
    with pytest.raises(Conflict, match="changed nothing"):
        painted.undo(next(operation.id for operation in painted.log() if operation.kind == "restore-backup"))


def test_a_snapshot_from_before_is_not_taken_for_what_was_put_back(painted, open_memory, url):
    path = painted.backup()
    painted.remember("They sing about xylophones.", key="sing")
    assert recalled_keys(painted, "xylophones") == ["sing"]
    other = open_memory(url)
    assert recalled_keys(other, "xylophones") == ["sing"]
    painted.restore_backup(path)
    other.close()  # it leaves the snapshot of a state that is no more
    painted.close()
    again = open_memory(url)
    assert (recalled_keys(again, "xylophones"), recalled_keys(again, "walls")) == ([], ["paint"])


@pytest.mark.parametrize("content", [None, b"", b"no database at all " * 100])
def test_what_is_no_backup_is_refused_and_leaves_nothing(painted, tmp_path, content):
    path = tmp_path / "other.db"
    if content is not None:
        path.write_bytes(content)
    before = painted.list(), painted.log()
    with pytest.raises((ParamError, Corrupt)):
        painted.restore_backup(path)
    assert (painted.list(), painted.log()) == before
    assert list((tmp_path / "memory.db.backups").glob("*")) == []


@pytest.mark.parametrize("bad", ["", "a\x00b"])
def test_a_path_that_no_file_can_have_is_refused(painted, bad):
    for verb in (painted.backup, painted.restore_backup):
        with pytest.raises(ParamError, match="path"):
            verb(bad)


def test_where_nothing_can_be_written_there_is_no_backup(painted, tmp_path):
    (tmp_path / "memory.db.backups").write_text("in the way")
    path = tmp_path / "backup.db"
    painted.backup(path)
    for attempt in (painted.backup, lambda: painted.restore_backup(path)):
        with pytest.raises(StoreError):
            attempt()
    assert keys(painted) == ["paint"]


def test_a_store_in_memory_is_backed_up_to_a_path_and_not_put_back(memory, open_memory, tmp_path):
    memory.remember("Zed paints.", key="paint")
    with pytest.raises(ParamError, match="path = None: must be given"):
        memory.backup()
    path = memory.backup(tmp_path / "backup.db")
    assert keys(open_memory(f"sqlite:///{path}")) == ["paint"]
    with pytest.raises(ParamError, match="one in memory is not put back"):
        memory.restore_backup(path)
    with pytest.raises(Conflict, match="open one in a file"):
        memory.restore_backup(path, tmp_path / "previous.db")
    assert not (tmp_path / "previous.db").exists()


OTHER = """
    import sys
    from priming import HashedEmbedder, Memory, NotFound
    with Memory.open(sys.argv[1], embedder=HashedEmbedder(256)) as memory:
        for cue in sys.stdin:
            hits = memory.recall(cue).hits
            print(*(hit.memory.key for hit in hits if hit.components.get("words")), flush=True)
"""


@pytest.mark.slow
def test_another_process_sees_what_was_put_back_at_its_next_recall(painted, url):
    path = painted.backup()
    command = [sys.executable, "-c", textwrap.dedent(OTHER), url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:

        def answer(cue):
            other.stdin.write(f"{cue}\n")
            other.stdin.flush()
            return other.stdout.readline().split()

        assert answer("walls?") == ["paint"]
        painted.remember("They sing about xylophones.", key="sing")
        painted.forget("paint")
        assert answer("xylophones?") == ["sing"]
        painted.restore_backup(path)
        assert answer("xylophones?") == []
        assert answer("walls?") == ["paint"]
        # As many operations as there were before: the number alone does not tell the states apart.
        painted.remember("Nobody dances tango.", key="dance")
        assert answer("tango?") == ["dance"]
        other.stdin.close()
    assert other.returncode == 0


KILLED = """
    import os, signal, sqlite3, sys
    from priming import HashedEmbedder, Memory
    connect = sqlite3.connect

    def watched(*arguments, **named):
        connection = connect(*arguments, **named)
        connection.set_trace_callback(
            lambda statement: sys.argv[3] in statement and os.kill(os.getpid(), signal.SIGKILL)
        )
        return connection

    memory = Memory.open(sys.argv[1], embedder=HashedEmbedder(256))
    memory.recall("who paints?")
    sqlite3.connect = watched
    memory.store._db._sqlite.set_trace_callback(
        lambda statement: sys.argv[3] in statement and os.kill(os.getpid(), signal.SIGKILL)
    )
    memory.restore_backup(sys.argv[2])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement", ["integrity_check", "DELETE FROM memories", "INSERT INTO versions", "'rebuild'", "COMMIT"]
)
def test_a_process_killed_while_it_puts_a_backup_back_leaves_what_was_there(
    painted, open_memory, url, statement
):
    path = painted.backup()
    painted.remember("They sing about xylophones.", key="sing")
    painted.close()
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED), url, path, statement], check=False)
    assert done.returncode == -signal.SIGKILL
    again = open_memory(url)
    assert keys(again) == ["paint", "sing"]
    assert recalled_keys(again, "xylophones?") == ["sing"]
    assert again.validate() == []
    again.restore_backup(path)
    assert keys(again) == ["paint"]
