"""The verbs of ``Memory``: written by ``make docs``."""

import priming.graph.diff
import priming.graph.drawing
import priming.history.as_of
import priming.history.log
import priming.history.undo
import priming.history.weights_over_time
import priming.learning.feedback
import priming.learning.reviews
import priming.learning.runs
import priming.maintenance.aliases
import priming.maintenance.contradictions
import priming.maintenance.health
import priming.maintenance.purge
import priming.maintenance.replacing
import priming.maintenance.verify
import priming.namespace
import priming.recall.recall
import priming.recall.records
import priming.recall.task_files
import priming.remember.links
import priming.remember.remember
import priming.remember.vectors
import priming.rules.active
import priming.rules.explain
import priming.rules.learn
import priming.rules.pack_install
import priming.rules.packs
import priming.sleep.night
import priming.transfer.export

class Verbs(priming.namespace.Namespace):
    remember = priming.remember.remember.remember
    remember_many = priming.remember.remember.remember_many
    recall = priming.recall.recall.recall
    get = priming.recall.records.get
    feedback = priming.learning.feedback.feedback
    learn = priming.rules.learn.learn
    active = priming.rules.active.active
    forget = priming.history.log.forget
    link = priming.remember.links.link
    status = priming.maintenance.health.status
    list = priming.recall.records.list_memories
    files = priming.recall.task_files.files
    history = priming.history.log.history
    as_of = priming.history.as_of.as_of
    diff = priming.graph.diff.diff
    why = priming.rules.explain.why
    links = priming.remember.links.links
    graph = priming.graph.drawing.graph
    log = priming.history.log.log
    operation = priming.history.log.operation
    events = priming.history.weights_over_time.events
    strengths = priming.history.weights_over_time.strengths
    oscillating = priming.history.weights_over_time.oscillating
    stats = priming.maintenance.health.stats
    validate = priming.maintenance.health.validate
    verify = priming.maintenance.verify.verify
    fading = priming.learning.reviews.fading
    review = priming.maintenance.contradictions.review
    supersede = priming.maintenance.replacing.supersede
    purge = priming.maintenance.purge.purge
    link_many = priming.remember.links.link_many
    set_strength = priming.remember.links.set_strength
    normalize_strengths = priming.history.weights_over_time.normalize_strengths
    deprecate = priming.maintenance.replacing.deprecate
    restore = priming.maintenance.replacing.restore
    merge = priming.maintenance.replacing.merge
    deduplicate = priming.maintenance.replacing.deduplicate
    done = priming.learning.reviews.done
    keep_both = priming.maintenance.contradictions.keep_both
    aliases = priming.maintenance.aliases.aliases
    undo = priming.history.undo.undo
    would_undo = priming.history.undo.would_undo
    rollback = priming.history.undo.rollback
    run_start = priming.learning.runs.run_start
    run_used = priming.learning.runs.run_used
    run_end = priming.learning.runs.run_end
    run_list = priming.learning.runs.run_list
    sleep = priming.sleep.night.sleep
    apply = priming.sleep.night.apply
    reembed = priming.remember.vectors.reembed
    pack_list = priming.rules.packs.pack_list
    pack_remove = priming.rules.packs.pack_remove
    pack_create = priming.rules.packs.pack_create
    pack_install = priming.rules.pack_install.pack_install
    export = priming.transfer.export.export
    import_ = priming.transfer.export.import_
    backup = priming.maintenance.health.backup
    restore_backup = priming.maintenance.health.restore_backup
