"""Reading pickles of others as data: nothing that they name is imported, and nothing is called."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

from priming.config.params.limits import STORE
from priming.errors import ParamError
from priming.transfer.reading import fields_of, parse_json

_BROKEN = (
    *(pickle.UnpicklingError, EOFError, MemoryError, RecursionError),
    *(AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError),
)
"""What reading a pickle raises that is damaged, or of which more is asked than to be data."""


class _Inert:
    """Stands for every object in a pickle: it holds the state, and does nothing with it."""

    state: Any = None

    def __init__(self, *_: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state


_TUPLES = (pickle.EMPTY_TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3)


def _listing(count: int) -> Callable[[Any], None]:
    """Return what puts a list in the place of the last objects of an unpickler's stack."""

    def load(unpickler: Any) -> None:
        at = len(unpickler.stack) - count
        unpickler.stack[at:] = [unpickler.stack[at:]]

    return load


class _InertUnpickler(pickle._Unpickler):
    """The unpickler in Python: the one in C reserves as much memory as a pickle asks for.

    It knows no bytearray, which would reserve it, too, and nothing of parts that can be a key: a few bytes describe
    one that takes for ever to hash or to compare. A tuple is read as a list.
    """

    dispatch: ClassVar[dict[int, Any]] = {
        code: load
        for code, load in pickle._Unpickler.dispatch.items()
        if code not in (pickle.BYTEARRAY8[0], pickle.FROZENSET[0])
    } | {code[0]: _listing(count) for count, code in enumerate(_TUPLES)}
    dispatch[pickle.TUPLE[0]] = pickle._Unpickler.dispatch[pickle.LIST[0]]

    def find_class(self, _module: str, _name: str, /) -> Any:
        return _Inert


def model_fields(pickled: Any, where: str) -> dict[str, Any]:
    """Return the fields of a pickled model of pydantic, in either version of it, as JSON has them.

    Raises:
        ParamError: it cannot be read, is larger than a memory, or holds more than data.

    """
    try:
        model = _InertUnpickler(io.BytesIO(bytes(pickled))).load()
        fields = fields_of(model.state)["__dict__"]
        fields = {name: value for name, value in fields.items() if name != "vector"}
        written, size = [], 0
        for part in json.JSONEncoder().iterencode(
            fields
        ):  # in parts, since a small pickle can hold a large value
            written.append(part)
            size += len(part)
            if size > STORE.content_limit:
                raise ValueError(f"it has more than {STORE.content_limit:,} letters")
    except _BROKEN as error:
        raise ParamError(where, "a pickle", f"must be a pickled point with data alone ({error})") from None
    return fields_of(parse_json("".join(written), where))
