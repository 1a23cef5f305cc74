"""``Memory`` with the verbs of the loop: written by ``make docs``."""

import priming.memory
import priming_loop.steps.lessons
import priming_loop.steps.report
import priming_loop.steps.tasks

class LoopVerbs(priming.memory.Memory):
    loop_context = priming_loop.steps.lessons.loop_context
    loop_store = priming_loop.steps.lessons.loop_store
    loop_chunk = priming_loop.steps.lessons.loop_chunk
    loop_recall = priming_loop.steps.lessons.loop_recall
    loop_feedback = priming_loop.steps.lessons.loop_feedback
    loop_connected = priming_loop.steps.lessons.loop_connected
    loop_prune = priming_loop.steps.lessons.loop_prune
    loop_consolidate = priming_loop.steps.lessons.loop_consolidate
    loop_decay = priming_loop.steps.lessons.loop_decay
    loop_health = priming_loop.steps.lessons.loop_health
    loop_task_new_session = priming_loop.steps.tasks.loop_task_new_session
    loop_task_add = priming_loop.steps.tasks.loop_task_add
    loop_task_block = priming_loop.steps.tasks.loop_task_block
    loop_task_get = priming_loop.steps.tasks.loop_task_get
    loop_meta_record = priming_loop.steps.report.loop_meta_record
    loop_meta_assess = priming_loop.steps.report.loop_meta_assess
    loop_meta_summary = priming_loop.steps.report.loop_meta_summary
    loop_meta_clear = priming_loop.steps.report.loop_meta_clear
    loop_report = priming_loop.steps.report.loop_report
    loop_list = priming_loop.steps.report.loop_list
    loop_task_complete = priming_loop.steps.tasks.loop_task_complete
