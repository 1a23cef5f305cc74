"""What becomes of the names in a memory whose text is superseded."""

from __future__ import annotations

from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from priming.index.columns import NONE
from priming.index.document import TERM, slot_of
from priming.index.topology import MENTIONS
from priming.namespace import Namespace
from priming.remember.drafts import Draft
from priming.remember.planner import PlannedText, RememberPlan
from priming.storage.rows import RowChange, VersionRow
from priming.text.names import find
from priming.text.tokens import terms


def relink_mentions(
    memory: Namespace,
    old: VersionRow,
    wanted: Draft,
    vector: NDArray[np.float32],
    now: datetime,
    *,
    at_once: bool,
) -> list[RowChange]:
    """Links to the names of the new text that are not there yet; those of rules to names of the old one only go.

    Not ``at_once``, where the old text holds for a while yet: then none goes.
    """
    plan = RememberPlan(memory.store, memory.working(now), memory.embedder, now, memory.echo)
    links = relink(plan, old, wanted, vector, at_once=at_once)
    return [*plan.rows, *links]


def relink(
    plan: RememberPlan, old: VersionRow, wanted: Draft, vector: NDArray[np.float32], *, at_once: bool = True
) -> list[RowChange]:
    """The same as part of a plan: the links; names that are new become rows of the plan."""
    words = tuple(dict.fromkeys(terms(wanted.content)))
    before = set(terms(old.content))
    named = find(wanted.content, wanted.title)[: plan.params.names]
    # A word of the old text counts among those that hold it: whether it is rare was decided then.
    text = PlannedText(named, [word for word in words if word not in before], vector)
    made = [*plan.mentions(old.id, wanted, text), *plan.conflicts(old.id, wanted)]
    store, namespace = plan.store, plan.working.namespace
    there = store.links(namespace, [old.id], MENTIONS)
    rows = [RowChange(None, one) for one in made if store.present(namespace, one) is None]
    if at_once:
        kept = {one.target for one in made} | {_word(plan, word) for word in words}
        gone = [one for one in there if one.source == old.id and not one.given and one.target not in kept]
        rows += [RowChange(one, None) for one in gone]
    return rows


def _word(plan: RememberPlan, word: str) -> str | None:
    """The id of the entity of a rare word, if the word is one."""
    row = plan.working.entities.get(slot_of(TERM, word), NONE)
    return None if row == NONE else plan.working.ids[row]
