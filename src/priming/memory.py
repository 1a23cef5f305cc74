"""``Memory``: the class that users open, with every verb of the library."""

from __future__ import annotations

import os
from types import MethodType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from priming import extensions
from priming.config import profiles
from priming.config.adoption import YES, answer
from priming.config.environment import locate
from priming.config.settings import Settings
from priming.config.words import EMBEDDER_CHOICE
from priming.core.arguments.checks import check_name
from priming.embedding.protocol import Embedder
from priming.embedding.registry import chosen, is_auto, named, reaches_out
from priming.errors import ParamError
from priming.namespace import DEFAULT_NAMESPACE, Namespace
from priming.storage.opening import open_store
from priming.storage.protocol import Store
from priming.types import Clock, SystemClock
from priming.verbs.calls import called
from priming.verbs.op import Op, load
from priming.verbs.rows import ROWS, find, meant

if TYPE_CHECKING:
    from priming.verbs.bound import Verbs
else:
    Verbs = Namespace


class Memory(Verbs):
    """An associative memory: one namespace of one store. Open it with ``Memory.open``.

    Every verb that writes is one operation in the log; reads change nothing. ``key`` is a memory's key or id in every
    verb.
    """

    def __init__(self, store: Any = None, *parts: Any, **named: Any) -> None:
        """Use ``Memory.open``, which makes the parts."""
        if not parts and not named:
            raise ParamError(
                "store", store, "must be open: use Memory.open(), or Memory.open(url, namespace=…)"
            )
        super().__init__(store, *parts, **named)

    @classmethod
    def open(
        cls,
        url: str | os.PathLike[str] | None = None,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        profile: str = "priming",
        embedder: Embedder | str | None = None,
        clock: Clock | None = None,
        settings: Settings | None = None,
    ) -> Memory:
        """Open a memory. Without a store, reads return empty answers, and the first write creates it.

        Args:
            url: ``sqlite:///relative.db``, ``sqlite:////absolute.db``, ``sqlite://`` (in memory),
                ``postgresql://USER@HOST/DATABASE``, or the ``Path`` of a file; None means ``PRIMING_URL``, else
                ``.priming/memory.db``.
            namespace: the scope of every memory; recalls and links stay within it.
            profile: one of ``priming.profiles``.
            embedder: the embedder, or its name (``docs/embedders.md``); None: that of the settings, else
                ``PRIMING_EMBEDDER``, else ``auto``. It is loaded at its first use.
            clock: the source of the present time.
            settings: the settings that change the profiles, as ``priming.config.settings.load`` reads them. Their
                store, namespace and profile have no effect here: pass them as arguments.

        Raises:
            ParamError: an invalid URL, namespace or profile.
            Corrupt, SchemaTooNew, StoreError: a file that cannot be used; it is not changed.

        >>> with Memory.open("sqlite://") as memory:
        ...     memory.remember("Ada wrote the first program.").key
        'ada-wrote-the-first-program'
        """
        by_name = profiles.ALL if settings is None else settings.profiles
        laws = profiles.get(profile, by_name)
        name = check_name("namespace", namespace)
        if name is None:
            raise ParamError("namespace", namespace, "must be given")
        location = locate(f"sqlite:///{os.fspath(url)}" if isinstance(url, os.PathLike) else url)
        choice = embedder or chosen(settings)
        is_open = isinstance(choice, str) and is_auto(choice)
        own = named(choice) if isinstance(choice, str) else choice
        # The store last: what is refused above leaves no connection open.
        store = open_store(location)
        changed_to = chosen_embedder(store, name) if is_open else None
        own = own if changed_to is None else named(changed_to)
        return cls(store, name, own, clock or SystemClock(), laws, by_name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return a verb that another package adds (``priming.extensions.OPERATIONS``)."""
            if not name.startswith("_"):
                for op in (op for more in extensions.load(extensions.OPERATIONS) for op in more):
                    if op.verb and op.name == name:
                        return MethodType(called(op, load(op.method)), self)
                if near := meant(name):
                    op = find(near)
                    own = op.stands_for or near
                    is_method = op.verb or own != near
                    hint = (
                        f"did you mean {own!r}?"
                        if is_method
                        else f"call {op.method.replace(':', '.')}(memory, …)"
                    )
                    raise AttributeError(f"a memory has no {name!r}: {hint}")
            raise AttributeError(f"a memory has no {name!r}")


def chosen_embedder(store: Store, namespace: str) -> str | None:
    """Return the embedder that the namespace was changed to, by name; None if it never was.

    One that is a program's address or folder counts if it was chosen on this machine: a log may be another's.
    """
    operations = store.operations(namespace, source=EMBEDDER_CHOICE)
    name = next((logged.message for logged in operations if logged.undone_by is None), None)
    if name is None or is_auto(name) or (reaches_out(name) and answer(name, EMBEDDER_CHOICE) != YES):
        return None
    return name


class _LateVerb:
    """A verb whose module is loaded when it is first used, so that a memory opens quickly."""

    def __init__(self, op: Op) -> None:
        self._op = op

    def __get__(self, memory: Memory | None, owner: type[Memory]) -> Any:
        verb = called(self._op, load(self._op.method))
        setattr(Memory, self._op.name, verb)
        return verb if memory is None else MethodType(verb, memory)


for _op in ROWS:
    if _op.verb:
        setattr(Memory, _op.name, _LateVerb(_op))
