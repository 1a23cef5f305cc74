"""One connection to a server, seen from the client: ask, and hear the answer."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from priming.api import frames, places

Progress = Callable[[int, int | None], None]
_READ = 1 << 16


class Broken(Exception):
    """The connection ended before the answer was there: whether the call was carried out is not known."""


class Line:
    """A connection on which one message at a time is asked and answered."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._decoder = frames.Decoder(frames.JSON)

    def ask(self, message: Mapping[str, Any], progress: Progress | None = None) -> dict[str, Any]:
        """The envelope that answers a message; ``progress`` hears how far it is.

        Raises:
            ParamError: the message is too long to be sent.
            Broken: no answer came.

        """
        sent = frames.pack(frames.JSON, message)
        try:
            self._end.sendall(sent)
            for told in self._heard():
                if "status" in told:
                    return told
                if progress is not None:
                    progress(*told["progress"])
        except (OSError, ValueError) as error:
            self.close()
            raise Broken from error
        except BaseException:
            self.close()  # an interrupt: the answer must not be taken for that of the next message
            raise
        self.close()
        raise Broken

    def is_open(self) -> bool:
        """Whether the other end is there, and has said nothing that was not asked for."""
        if self._end.fileno() < 0:
            return False
        looking = select.poll()
        looking.register(self._end, select.POLLIN)
        return not looking.poll(0)

    def close(self) -> None:
        """End the connection: a call that is at work ends after its present step."""
        self._end.close()

    def _heard(self) -> Iterator[dict[str, Any]]:
        while data := self._end.recv(_READ):
            for message in self._decoder.feed(data):
                yield json.loads(message)


def connect(path: Path, wanted: Mapping[str, str], patience: float) -> Line | None:
    """A connection to the server of a socket, if it is there, the user's own, and the one that is wanted."""
    if not places.is_ours(path):
        return None
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line = Line(end)
    end.settimeout(patience)
    try:
        end.connect(str(path))
        if places.peer_is_us(end) and line.ask({"action": "hello"}).get("data") == dict(wanted):
            end.settimeout(None)
            return line
    except (OSError, Broken):
        pass  # nobody is there, or somebody too busy to say so: the file will do
    line.close()
    return None
