"""Server and client meet in one place, which is the user's own."""

import os
import socket
from pathlib import Path

import pytest

from priming import Memory, ParamError, StoreError
from priming.operations import local_socket


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    """The user's own folder for what lives no longer than the session."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    return tmp_path / "run" / "priming"


def test_the_socket_is_beside_the_database(tmp_path):
    assert local_socket.socket_path(tmp_path / "memory.db") == tmp_path / "memory.db.sock"


def test_a_path_of_107_bytes_is_the_longest(runtime):
    folder = Path("/tmp")
    name = "é" * ((107 - len("/tmp/.sock")) // 2)
    fits = folder / f"{name}{'x' * (107 - len(os.fsencode(folder / f'{name}.sock')))}"
    assert len(os.fsencode(f"{fits}.sock")) == 107
    assert local_socket.socket_path(fits) == Path(f"{fits}.sock")
    assert local_socket.socket_path(Path(f"{fits}x")).parent == runtime


def test_a_socket_elsewhere_is_one_for_each_database(runtime):
    first, second = (local_socket.socket_path(Path("/" + "x" * 200, name)) for name in ("a.db", "b.db"))
    assert first == local_socket.socket_path(Path("/" + "x" * 200, "a.db"))
    assert first != second
    assert first.parent == second.parent == runtime


def test_where_others_may_put_files_the_socket_is_elsewhere(tmp_path, runtime):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert local_socket.socket_path(shared / "memory.db").parent == runtime
    shared.chmod(0o1777)  # nobody takes away what is another's
    assert local_socket.socket_path(shared / "memory.db").parent == shared


def test_there_must_be_room_somewhere(monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/" + "x" * 100)
    with pytest.raises(ParamError, match="set XDG_RUNTIME_DIR"):
        local_socket.socket_path(Path("/" + "y" * 200))


def test_the_folder_of_a_socket_is_made_for_its_owner_alone(runtime):
    runtime.parent.mkdir()
    local_socket.prepare(runtime)
    assert runtime.stat().st_mode & 0o777 == 0o700
    runtime.chmod(0o770)
    with pytest.raises(StoreError, match="other users may write to"):
        local_socket.prepare(runtime)


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be created"):
        local_socket.prepare(tmp_path / "file" / "within")


def test_only_a_socket_of_ours_is_ours(tmp_path):
    path = tmp_path / "x.sock"
    assert not local_socket.is_ours(path)
    path.write_text("")
    assert not local_socket.is_ours(path)
    path.unlink()
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(path))
        assert local_socket.is_ours(path)
        (tmp_path / "link").symlink_to(path)
        assert not local_socket.is_ours(tmp_path / "link")


def test_the_other_end_of_a_pair_is_us():
    near, far = socket.socketpair(socket.AF_UNIX)
    with near, far:
        assert local_socket.peer_is_us(near)


def test_a_greeting_changes_with_file_and_care(tmp_path):
    def greeting(options=""):
        with Memory.open(f"sqlite:///{tmp_path}/memory.db") as memory:
            memory.remember("The ferry leaves at nine.")
        return local_socket.greeting(local_socket.real(f"sqlite:///{tmp_path}/memory.db{options}"), "priming")

    first = greeting()
    assert greeting() == first
    assert greeting("?synchronous=full") != first
    for path in tmp_path.glob("memory.db*"):
        if path.is_file():
            path.rename(path.with_name(f"old-{path.name}"))
    assert {name for name, value in greeting().items() if value != first[name]} == {"file"}


def test_a_store_in_memory_is_nowhere():
    assert local_socket.real("sqlite://") is None


def test_a_closed_end_hangs_up_and_one_that_only_stopped_sending_does_not():
    near, far = socket.socketpair(socket.AF_UNIX)
    with near:
        far.shutdown(socket.SHUT_WR)
        assert not local_socket.hung_up(near.fileno())
        far.close()
        assert local_socket.hung_up(near.fileno())
