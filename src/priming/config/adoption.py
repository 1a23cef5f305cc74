"""What a folder brings counts only once its user said so on this machine: the room that decides.

A folder may be somebody else's work: a clone, an archive, a share. Its settings count once a person adopted just
these; a store in it, once this machine made or adopted it. Answers are small files in the user's own folder, named by
a keyed hash of a place and of what is there. A store has stamps, which only this machine's key makes, each for one
place: a store that takes its place has none.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from priming.config import environment, private_files
from priming.errors import ParamError, StoreError

YES, NO, SAID = "yes", "no", "said"
"""Answers: those of a person, and that a hook has said why it leaves out what is there."""
FOREIGN = (
    "came with this folder, as far as this machine knows: until you adopt it by `priming trust`, settings do not"
    " count, and a store is untrusted data that is only read"
)
_KEY, _ANSWERS, _BYTES = "key", "adopted", 32


def answer(place: str, content: str) -> str:
    """Return the answer that is kept for a place with this content; empty if there is none."""
    try:
        return private_files.read_text(_answer_file(place, content)).partition("\n")[0]
    except (OSError, ValueError, ParamError):
        return ""


def record(place: str, content: str, value: str) -> None:
    """Keep the answer for a place with this content.

    Raises:
        StoreError: the user's own folder cannot be written.

    """
    try:
        path = _answer_file(place, content, make=True)
        private_files.make_folder(path.parent)
        private_files.write_text(path, f"{value}\n{place}\n")
    except (OSError, ParamError) as error:
        raise _not_kept(error) from error


def forget(place: str, content: str) -> None:
    """Keep no answer for a place with this content."""
    with suppress(OSError, ParamError):
        _answer_file(place, content).unlink()


def new_stamp(place: str) -> str:
    """Make a stamp for a store at a place.

    Raises:
        StoreError: the user's own folder cannot be written.

    """
    nonce = os.urandom(_BYTES // 2).hex()
    try:
        return f"{nonce}:{_digest(_key(make=True), 'store', place, nonce)}"
    except (OSError, ParamError) as error:
        raise _not_kept(error) from error


def is_stamp(text: object, place: str) -> bool:
    """Tell whether this machine made a stamp, for a store at this place."""
    nonce, _, digest = str(text).partition(":")
    with suppress(OSError, ParamError):
        return _digest(_key(), "store", place, nonce) == digest
    return False


def _answer_file(place: str, content: str, *, make: bool = False) -> Path:
    return environment.global_folder() / _ANSWERS / _digest(_key(make=make), "answer", place, content)


def _key(*, make: bool = False) -> bytes:
    """Read the key of this machine, ``make`` it if there is none; several processes make the same."""
    path = environment.global_folder() / _KEY
    with suppress(FileNotFoundError):
        return path.read_bytes()
    if not make:
        raise FileNotFoundError(path)
    import tempfile

    private_files.make_folder(path.parent)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{_KEY}.") as new, suppress(FileExistsError):
        new.write(os.urandom(_BYTES))
        new.flush()
        os.link(new.name, path)
    return path.read_bytes()


def _digest(key: bytes, *parts: str) -> str:
    text = "\0".join(parts).encode("utf-8", "surrogateescape")
    return blake2b(text, key=key, digest_size=_BYTES // 2).hexdigest()


def _not_kept(error: Exception) -> StoreError:
    return StoreError(
        f"that this is yours cannot be kept in your own folder ({error}): set PRIMING_HOME to a folder that can be"
        " written, or name the store by --url or PRIMING_URL with its absolute path"
    )
