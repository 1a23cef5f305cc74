"""The verbs that the loop adds to ``Memory``."""

from typing import TYPE_CHECKING

from priming_loop.steps.lessons import (
    loop_chunk,
    loop_connected,
    loop_context,
    loop_feedback,
    loop_recall,
    loop_store,
)
from priming_loop.steps.report import loop_list, loop_report
from priming_loop.steps.tasks import (
    loop_meta_assess,
    loop_meta_clear,
    loop_meta_record,
    loop_meta_summary,
    loop_task_add,
    loop_task_block,
    loop_task_complete,
    loop_task_get,
    loop_task_new_session,
)
from priming_loop.steps.upkeep import loop_consolidate, loop_decay, loop_health, loop_prune

__all__ = [
    "loop_chunk",
    "loop_connected",
    "loop_consolidate",
    "loop_context",
    "loop_decay",
    "loop_feedback",
    "loop_health",
    "loop_list",
    "loop_meta_assess",
    "loop_meta_clear",
    "loop_meta_record",
    "loop_meta_summary",
    "loop_prune",
    "loop_recall",
    "loop_report",
    "loop_store",
    "loop_task_add",
    "loop_task_block",
    "loop_task_complete",
    "loop_task_get",
    "loop_task_new_session",
]

if TYPE_CHECKING:
    from priming.memory import Memory

    class LoopVerbs(Memory):
        """A ``Memory`` with the verbs of the loop, as type checkers see it."""

        loop_chunk = loop_chunk
        loop_connected = loop_connected
        loop_consolidate = loop_consolidate
        loop_context = loop_context
        loop_decay = loop_decay
        loop_feedback = loop_feedback
        loop_health = loop_health
        loop_list = loop_list
        loop_meta_assess = loop_meta_assess
        loop_meta_clear = loop_meta_clear
        loop_meta_record = loop_meta_record
        loop_meta_summary = loop_meta_summary
        loop_prune = loop_prune
        loop_recall = loop_recall
        loop_report = loop_report
        loop_store = loop_store
        loop_task_add = loop_task_add
        loop_task_block = loop_task_block
        loop_task_complete = loop_task_complete
        loop_task_get = loop_task_get
        loop_task_new_session = loop_task_new_session
