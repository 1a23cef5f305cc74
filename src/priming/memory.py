"""``Memory``: the class that users open, with every verb of the library."""

from __future__ import annotations

from importlib import import_module
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

if TYPE_CHECKING:
    from priming.graph.diff import diff
    from priming.graph.selection import graph
    from priming.history.as_of import as_of
    from priming.history.log import forget, history, identified, log, operation
    from priming.history.rollback import rollback, would_undo
    from priming.history.undo import undo
    from priming.history.weights_over_time import events, normalize_strengths, oscillating, strengths
    from priming.learning.feedback import feedback
    from priming.learning.reviews import done, fading
    from priming.learning.runs import run_end, run_list, run_start, run_used
    from priming.maintenance.aliases import aliases
    from priming.maintenance.contradictions import keep_both, review
    from priming.maintenance.health import backup, restore_backup, stats, status, validate
    from priming.maintenance.merge import deduplicate, deprecate, merge, restore
    from priming.maintenance.purge import purge
    from priming.maintenance.supersede import supersede
    from priming.maintenance.verify import verify
    from priming.recall.recall import recall
    from priming.recall.records import get, list_memories
    from priming.recall.task_files import files
    from priming.remember.links import link, link_many, links, set_strength
    from priming.remember.remember import remember, remember_many
    from priming.remember.vectors import reembed
    from priming.rules.active import active
    from priming.rules.explain import why
    from priming.rules.learn import learn
    from priming.rules.pack_install import pack_install
    from priming.rules.packs import pack_create, pack_list, pack_remove
    from priming.sleep.night import apply, sleep
    from priming.transfer.export import export, import_

_VERBS = {
    "priming.history.as_of": "as_of",
    "priming.history.log": "forget history identified log operation",
    "priming.history.rollback": "rollback would_undo",
    "priming.history.undo": "undo",
    "priming.history.weights_over_time": "events normalize_strengths oscillating strengths",
    "priming.recall.recall": "recall",
    "priming.recall.records": "get list_memories",
    "priming.recall.task_files": "files",
    "priming.learning.feedback": "feedback",
    "priming.learning.reviews": "done fading",
    "priming.learning.runs": "run_end run_list run_start run_used",
    "priming.remember.links": "link link_many links set_strength",
    "priming.remember.remember": "remember remember_many",
    "priming.remember.vectors": "reembed",
    "priming.graph.diff": "diff",
    "priming.graph.selection": "graph",
    "priming.rules.active": "active",
    "priming.rules.explain": "why",
    "priming.rules.learn": "learn",
    "priming.rules.pack_install": "pack_install",
    "priming.rules.packs": "pack_create pack_list pack_remove",
    "priming.sleep.night": "apply sleep",
    "priming.maintenance.aliases": "aliases",
    "priming.maintenance.contradictions": "keep_both review",
    "priming.maintenance.health": "backup restore_backup stats status validate",
    "priming.maintenance.merge": "deduplicate deprecate merge restore",
    "priming.maintenance.purge": "purge",
    "priming.maintenance.supersede": "supersede",
    "priming.maintenance.verify": "verify",
    "priming.transfer.export": "export import_",
}
"""The verbs by their modules. ``list`` is a verb, too, whose function is ``list_memories``."""


class Memory(Namespace):
    """An associative memory: one namespace of one store. Open it with ``Memory.open``.

    Every verb that writes is one operation in the log; reads change nothing. ``key`` is a memory's key or id in every
    verb.
    """

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        profile: str = "priming",
        embedder: Embedder | str | None = None,
        clock: Clock | None = None,
        settings: Settings | None = None,
    ) -> Memory:
        """Open a memory. Without a store, reads return empty answers, and the first write creates it.

        Args:
            url: ``sqlite:///relative.db``, ``sqlite:////absolute.db``, ``sqlite://`` (in memory), or
                ``postgresql://USER@HOST/DATABASE``; None means ``PRIMING_URL``, else ``.priming/memory.db``.
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
        location = locate(url)
        choice = embedder or chosen(settings)
        is_open = isinstance(choice, str) and is_auto(choice)
        own = named(choice) if isinstance(choice, str) else choice
        # The store last: what is refused above leaves no connection open.
        store = open_store(location)
        changed_to = _chosen_embedder(store, name) if is_open else None
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
            """Return a verb that another package adds (``priming.extensions.VERBS``)."""
            if not name.startswith("_"):
                for module in extensions.load(extensions.VERBS):
                    if name in module.__all__:
                        return MethodType(getattr(module, name), self)
            raise AttributeError(f"a memory has no {name!r}")

    if TYPE_CHECKING:  # bound below, each loaded at its first use
        remember = remember
        remember_many = remember_many
        recall = recall
        files = files
        get = get
        list = list_memories
        supersede = supersede
        history = history
        forget = forget
        purge = purge

        link = link
        link_many = link_many
        links = links
        set_strength = set_strength

        feedback = feedback
        run_start = run_start
        run_end = run_end
        run_list = run_list
        run_used = run_used
        done = done
        fading = fading

        learn = learn
        active = active
        why = why
        deprecate = deprecate
        restore = restore
        merge = merge
        deduplicate = deduplicate
        aliases = aliases
        review = review
        keep_both = keep_both
        pack_create = pack_create
        pack_install = pack_install
        pack_list = pack_list
        pack_remove = pack_remove

        as_of = as_of
        diff = diff
        log = log
        operation = operation
        identified = identified
        undo = undo
        rollback = rollback
        would_undo = would_undo
        events = events
        strengths = strengths
        oscillating = oscillating
        normalize_strengths = normalize_strengths
        graph = graph

        sleep = sleep
        apply = apply
        status = status
        stats = stats
        validate = validate
        verify = verify
        export = export
        import_ = import_
        backup = backup
        restore_backup = restore_backup
        reembed = reembed


def _chosen_embedder(store: Store, namespace: str) -> str | None:
    """The embedder that the namespace was changed to, by name; None if it never was.

    One that is a program's address or folder counts if it was chosen on this machine: a log may be another's.
    """
    operations = store.operations(namespace, source=EMBEDDER_CHOICE)
    name = next((logged.message for logged in operations if logged.undone_by is None), None)
    if name is None or is_auto(name) or (reaches_out(name) and answer(name, EMBEDDER_CHOICE) != YES):
        return None
    return name


class _LateVerb:
    """A verb whose module is loaded when it is first used, so that a memory opens quickly."""

    def __init__(self, module: str, function: str, name: str) -> None:
        self._module, self._function, self._name = module, function, name

    def __get__(self, memory: Memory | None, owner: type[Memory]) -> Any:
        verb = getattr(import_module(self._module), self._function)
        setattr(Memory, self._name, verb)
        return verb if memory is None else MethodType(verb, memory)


for _module, _functions in _VERBS.items():
    for _function in _functions.split():
        _name = _function.removesuffix("_memories")
        setattr(Memory, _name, _LateVerb(_module, _function, _name))
