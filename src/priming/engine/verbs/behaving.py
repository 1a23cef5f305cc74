"""Behaviours: rules learnt from corrections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from priming.behaviors import Learned, Twins, Why
from priming.config.params.recall import ACTIVE
from priming.engine import curate
from priming.engine.active import active, situation
from priming.engine.learn import learn, lesson
from priming.engine.verbs.base import Verbs
from priming.engine.why import why
from priming.types import EMPTY, Cue, Operation, Recall


class Behaving(Verbs):
    """Behaviours: rules learnt from corrections."""

    def learn(
        self,
        right: str,
        *,
        wrong: str | None = None,
        cue: Cue | None = None,
        tags: Sequence[str] = (),
        priority: float = 0.0,
        source: str | None = None,
        trust: str = "user",
        rule: str | None = None,
    ) -> Learned:
        """Learn from a correction: a behaviour that applies in the context of ``cue``, placed beside its like.

        Args:
            right: what to do; the text of the behaviour.
            wrong: what was done instead.
            cue: the context in which it applies, its text and time aside; None: everywhere.
            tags: short texts to filter by.
            priority: in [0, 10].
            source: where the correction comes from.
            trust: who vouches for it: untrusted, tool, agent or user.
            rule: constraint, directive, procedure or preference; None: read from the words of ``right``.

        Raises:
            ParamError: a blank text, the same text right and wrong, or an argument outside its range.

        """
        arguments = {
            "wrong": wrong,
            "cue": cue,
            "tags": tags,
            "priority": priority,
            "source": source,
            "trust": trust,
            "rule": rule,
        }
        return learn(self._opened, lesson(right, arguments))

    def active(
        self,
        cue: Cue,
        *,
        tokens: int = ACTIVE.tokens,
        session: str | None = None,
        beside: Mapping[str, Verbs] = EMPTY,
    ) -> Recall:
        """Bring up the behaviours that apply in a context, those that others override or contradict left out.

        Args:
            cue: the context; its text confirms ``text`` and ``task`` predicates.
            tokens: budget of ``Recall.text``, never exceeded.
            session: the session that the recall is kept under.
            beside: other memories by name, read together with this one, such as ``{"global": memory}``.

        Raises:
            ParamError: no cue, or an argument outside its range.
            NotFound: a namespace that does not exist.

        """
        return active(self._opened, situation(self._opened, cue, tokens, session, _opened(beside)))

    def why(self, key: str, *, recall_id: str | None = None, cue: Cue | None = None) -> Why:
        """Why a memory is what it is and comes up as it does, with the evidence.

        Args:
            key: the memory.
            recall_id: the recall to explain; None: the latest that brought it up.
            cue: the context to hold its conditions against; None: that of the recall.

        Raises:
            NotFound: no such memory, or no such recall.
            ParamError: ``cue`` is no Cue.

        """
        with self._opened.lock:
            return why(self._opened, key, recall_id=recall_id, cue=cue)

    def deprecate(self, key: str, *, by: str | None = None, reason: str | None = None) -> Operation:
        """Take a memory out of recall because it no longer holds; ``by`` names what holds instead.

        Raises:
            NotFound: no such memory.
            Conflict: one of the two is not active.
            ParamError: ``by`` is the memory itself, or ``reason`` more than one line.

        """
        return curate.deprecate(self._opened, key, by, reason)

    def restore(self, key: str) -> Operation:
        """Bring back a memory that was deprecated, merged, archived or forgotten; what took its place no longer does.

        Raises:
            NotFound: no such memory.
            Conflict: it is active.

        """
        return curate.restore(self._opened, key)

    def merge(self, key: str, into: str) -> Operation:
        """Merge a memory into another of its kind: that one keeps its text, and takes over uses and links.

        Raises:
            NotFound: no such memory.
            Conflict: one of the two is not active, or they are of two kinds.
            ParamError: ``into`` is the memory itself.

        """
        return curate.merge(self._opened, key, into)

    def deduplicate(
        self, *, kind: str = "behavior", threshold: float | None = None, dry_run: bool = False
    ) -> list[Twins]:
        """Merge memories that say the same, all in one operation; what has proved itself most is kept.

        Args:
            kind: the kind to look at, any but entity.
            threshold: merge above this similarity, in [0, 1]; None: above .9.
            dry_run: only say what would be merged.

        Raises:
            ParamError: an argument outside its range.

        """
        return curate.deduplicate(self._opened, kind=kind, threshold=threshold, dry_run=dry_run)


def _opened(beside: Mapping[str, Verbs]) -> Mapping[str, object]:
    """What other memories have opened; what is no memory stays as it is, to be refused."""
    if not isinstance(beside, Mapping):
        return beside
    return {name: one._opened if isinstance(one, Verbs) else one for name, one in beside.items()}
