"""Where a server listens: the socket beside its store belongs to one server, and to its owner alone."""

import socket
import stat
from contextlib import ExitStack

import pytest

from priming import HashedEmbedder
from priming.errors import Conflict, ParamError, StoreError
from priming.operations.local_http import create_store, local_listener
from priming.operations.service import LocalService
from priming_server.listeners import beside_store, listening

from .conftest import DEADLINE


@pytest.fixture
def service(tmp_path):
    opened = LocalService(f"sqlite:///{tmp_path}/memory.db", embedder=HashedEmbedder())
    opened.call("default", "remember", {"content": "The ferry leaves at nine."})
    yield opened
    opened.close()


def test_the_socket_is_its_owners_alone_and_goes_with_its_server(service, tmp_path):
    with local_listener(service) as local:
        assert local.path == tmp_path / "memory.db.sock"
        assert stat.S_IMODE(local.path.lstat().st_mode) == 0o600
    assert not local.path.exists()


def test_a_server_creates_its_store_so_that_the_first_write_can_come_by_the_socket(tmp_path):
    service = LocalService(f"sqlite:///{tmp_path}/new/memory.db", embedder=HashedEmbedder())
    with beside_store(service) as early:
        assert early is None
    create_store(service)
    with beside_store(service) as local:
        assert local.path == tmp_path / "new" / "memory.db.sock"
    service.close()


def test_the_socket_of_a_dead_server_is_replaced(service, tmp_path):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(f"{tmp_path}/memory.db.sock")
    with local_listener(service) as local, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(local.path))


def test_the_socket_of_a_living_server_is_left_alone(service, caplog):
    with local_listener(service) as local:
        with pytest.raises(Conflict, match=r"already listening on"), local_listener(service):
            pass
        with beside_store(service) as second:
            assert second is None
        assert "another server of this store has its socket" in caplog.text
        assert local.path.exists()


def test_a_server_removes_no_socket_but_its_own(service):
    with ExitStack() as stack, socket.socket(socket.AF_UNIX) as other:
        path = stack.enter_context(local_listener(service)).path
        path.unlink()
        other.bind(str(path))
        stack.close()
        assert path.exists()


def test_something_else_in_the_place_of_the_socket_is_left_alone(service, tmp_path):
    path = tmp_path / "own.sock"
    path.write_text("mine")
    with pytest.raises(Conflict, match="not a socket of yours"), local_listener(service, path):
        pass
    assert path.read_text() == "mine"


def test_a_socket_is_not_made_where_others_may_put_files(service, tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(StoreError, match="other users may write to"):
        local_listener(service, tmp_path / "open" / "x.sock").__enter__()


def test_a_store_in_memory_has_no_socket():
    service = LocalService("sqlite://", embedder=HashedEmbedder())
    with pytest.raises(ParamError, match="must be a store in a file"):
        local_listener(service).__enter__()
    with beside_store(service) as local:
        assert local is None
    service.close()


def test_a_path_too_long_for_a_socket_is_refused(service, tmp_path):
    with pytest.raises(ParamError, match="at most 107 bytes"):
        local_listener(service, tmp_path / ("x" * 107)).__enter__()


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="the system cannot end such a connection")
def test_the_system_ends_the_connection_of_a_client_that_reads_nothing():
    with listening("127.0.0.1", 0, None, patience=0.2) as listener, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(listener.getsockname())
        end, _ = listener.accept()
        end.settimeout(DEADLINE)
        with end, pytest.raises(OSError, match="Errno"):
            end.sendall(bytes(100_000_000))
