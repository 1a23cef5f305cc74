"""What Priming creates, only its user can read, whatever the umask."""

import os
import stat

import pytest

from priming.config.private_files import create_file, make_folder, open_file, read_text, write_text


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o277], ids=oct)
def umask(request):
    former = os.umask(request.param)
    yield request.param
    os.umask(former)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("umask")
def test_every_folder_that_is_created_is_the_users_alone(tmp_path):
    make_folder(tmp_path / "a" / "b" / "c")
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/b/c")] == [0o700] * 3


@pytest.mark.usefixtures("umask")
def test_files_are_the_users_alone_from_their_first_moment(tmp_path):
    create_file(tmp_path / "empty")
    write_text(tmp_path / "text", "Grüße")
    assert [mode(tmp_path / name) for name in ("empty", "text")] == [0o600] * 2
    assert (tmp_path / "text").read_text("utf-8") == "Grüße"


def test_folders_and_files_that_exist_stay_as_their_user_set_them(tmp_path):
    shared, file = tmp_path / "shared", tmp_path / "shared" / "notes"
    shared.mkdir()
    shared.chmod(0o775)
    file.write_text("text", "utf-8")
    file.chmod(0o664)
    make_folder(shared / "own")
    make_folder(shared)
    create_file(file)
    assert (mode(shared), mode(shared / "own"), mode(file)) == (0o775, 0o700, 0o664)
    assert file.read_text("utf-8") == "text"


def test_a_text_that_replaces_a_file_others_could_read_is_private(tmp_path):
    file = tmp_path / "state"
    file.write_text("old", "utf-8")
    file.chmod(0o666)
    write_text(file, "new")
    assert (mode(file), file.read_text("utf-8")) == (0o600, "new")


@pytest.mark.parametrize(
    "place", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.mkdir()]
)
def test_what_is_no_file_is_neither_waited_for_nor_read(tmp_path, place):
    place(tmp_path / "x")
    for read in (open_file, read_text):
        with pytest.raises(OSError, match="is no file"):
            read(tmp_path / "x")


def test_a_text_that_is_too_long_is_not_read(tmp_path):
    with (tmp_path / "x").open("wb") as file:
        file.truncate((1 << 24) + 1)
    with pytest.raises(ValueError, match="more than 16,777,216 bytes"):
        read_text(tmp_path / "x")
