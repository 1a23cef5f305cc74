"""A run is settled by what it wrote, and credits the links that it followed."""

from datetime import timedelta

import pytest

from priming.config.caller import Caller, calling
from priming.config.params.laws import PLASTICITY
from priming.errors import Corrupt

UP = PLASTICITY.automatic
CUE = "who signs the nightly builds on the cliff"


@pytest.fixture(scope="module", params=["poc", "priming"])
def model(request, open_shared):
    """Three memories that a recall shows, each linked with each, and a fourth apart."""
    memory = open_shared(profile=request.param)
    texts = {
        "kestrel": "Kestrel signs the nightly builds with a hardware token.",
        "gulls": "Gulls nest upon tall cliffs beside the lighthouse.",
        "porridge": "Porridge tastes best with honey, cinnamon and walnuts.",
        "apart": "Violins want rosin before a concert.",
    }
    for key, text in texts.items():
        memory.remember(text, key=key)
    for source, target in (("kestrel", "gulls"), ("gulls", "porridge"), ("kestrel", "porridge")):
        memory.link(source, target, "requires", 0.5)
    return memory


@pytest.fixture
def work(model, copy_of, clock):
    clock.at += timedelta(hours=1)
    return copy_of(model, profile=model.profile.name)


def moved(memory):
    """The links between the three that moved, with their steps."""
    steps = {(link.source, link.target): link.weight - 0.5 for link in memory.links(relation="requires")}
    return {ends: pytest.approx(step, abs=1e-9) for ends, step in steps.items() if abs(step) > 1e-9}


def ran(memory, clock, *acts, session="s"):
    """A run that recalls, acts and ends."""
    run = memory.run_start(session)
    clock.at += timedelta(minutes=1)
    hits = memory.recall(CUE, session=session, limit=3, floor=0).hits
    assert {hit.memory.key for hit in hits} == {"kestrel", "gulls", "porridge"}
    for act in acts:
        act(memory)
    clock.at += timedelta(minutes=1)
    memory.run_end(run.id)
    clock.at += timedelta(minutes=1)
    return run


def write(text, key="note", session="s"):
    return lambda memory: memory.remember(text, key=key, session=session)


def states(memory):
    return [run.settled for run in memory.run_list()]


NOTE = "The gulls nest where Kestrel signs builds."


@pytest.mark.parametrize("verdict", ["used", "confirmed"])
def test_a_verdict_on_what_a_run_wrote_settles_it(work, clock, verdict):
    run = ran(work, clock, write(NOTE))
    assert states(work) == [None]
    answer = work.feedback(**{verdict: ["note"]})
    assert answer.message is not None
    assert f"the run {run.id} is settled as used" in answer.message
    assert states(work) == ["used"]
    (operation, judged) = work.log(limit=2)
    assert (operation.kind, judged.kind) == ("run", "feedback")
    clock.at += timedelta(days=30)
    work.run_end(work.run_start("later").id)
    assert states(work)[0] == "used"
    assert moved(work) == {("kestrel", "gulls"): UP}
    assert work.undo(judged.id).message == "undid a feedback, and what it settled: 1 run"
    assert (states(work)[0], moved(work)) == (None, {})


def test_a_verdict_reads_no_run_that_did_not_write_its_memory(work, clock):
    run = ran(work, clock, write(NOTE))
    work.store._db.raw.execute("UPDATE runs SET shown = '[' WHERE id = ?", (run.id,))
    assert "settled" not in work.feedback(used=["apart"]).message
    with pytest.raises(Corrupt, match=run.id):
        work.feedback(used=["note"])


def test_a_verdict_that_blames_what_a_run_wrote_leaves_it_open(work, clock):
    ran(work, clock, write(NOTE))
    work.feedback(not_useful=["note"])
    work.feedback(used=["apart"])
    assert states(work) == [None]
    clock.at += timedelta(days=PLASTICITY.run_days, minutes=5)
    work.run_start("later")
    assert states(work)[0] == "unused"
    assert len(moved(work)) == 3
    assert all(step == -UP for step in moved(work).values())


def test_a_verdict_before_the_end_settles_the_run_when_it_ends(work, clock):
    ran(work, clock, write(NOTE), lambda memory: memory.feedback(used=["note"]))
    assert states(work) == ["used"]


def overdue(memory, clock, days=PLASTICITY.run_days + 2, *, interrupted):
    """Days pass; if ``interrupted``, a run about something else begins on the last of them."""
    clock.at += timedelta(days=days)
    if interrupted:
        memory.run_end(memory.run_start("the harvest").id)
    clock.at += timedelta(minutes=1)


@pytest.mark.parametrize("interrupted", [False, True], ids=["quiet", "another run began"])
@pytest.mark.parametrize(
    "report",
    [
        lambda memory, _: memory.feedback(used=["note"]),
        lambda memory, _: memory.feedback(confirmed=["note"]),
        lambda memory, run: memory.run_used(run.id),
    ],
    ids=["used", "confirmed", "run_used"],
)
def test_a_late_report_settles_a_run_whatever_began_meanwhile(work, clock, report, interrupted):
    run = ran(work, clock, write(NOTE))
    overdue(work, clock, interrupted=interrupted)
    assert (states(work)[0] == "unused") is interrupted
    report(work, run)
    assert (states(work)[0], moved(work)) == ("used", {("kestrel", "gulls"): UP})


def test_a_late_verdict_taken_back_leaves_the_run_open_again(work, clock):
    ran(work, clock, write(NOTE))
    overdue(work, clock, interrupted=True)
    judged = work.feedback(used=["note"])
    work.undo(judged.id)
    assert (states(work)[0], moved(work)) == (None, {})
    work.run_start("sowing")
    assert states(work)[0] == "unused"


def test_a_run_reported_as_unused_stays_so_whatever_is_judged_later(work, clock):
    run = work.run_start("s")
    clock.at += timedelta(minutes=1)
    work.recall(CUE, session="s", limit=3, floor=0)
    write(NOTE)(work)
    work.run_end(run.id, used=False)
    clock.at += timedelta(days=1)
    work.feedback(used=["note"])
    assert states(work) == ["unused"]
    assert set(moved(work)) == {("kestrel", "gulls"), ("gulls", "porridge"), ("kestrel", "porridge")}


def recipe(memory):
    memory.remember(
        "Sign the nightly builds: 1. plug the token in 2. sign 3. upload",
        key="recipe",
        kind="procedure",
        session="s",
    )


@pytest.mark.parametrize("when", ["before the end", "at once", "a week later", "after it counted as unused"])
def test_a_procedure_that_a_run_wrote_settles_it_when_it_works(work, clock, when):
    acts = [recipe, lambda memory: memory.done("recipe")] if when == "before the end" else [recipe]
    ran(work, clock, *acts)
    if when == "a week later":
        overdue(work, clock, interrupted=False)
    elif when == "after it counted as unused":
        overdue(work, clock, interrupted=True)
    if when != "before the end":
        operation = work.done("recipe")
        assert "settled as used, by what it wrote" in operation.message
    assert states(work)[0] == "used"
    overdue(work, clock, interrupted=True)
    assert states(work)[0] == "used"
    if when == "at once":
        assert "and what it settled: 1 run" in work.undo(operation.id).message
        assert (states(work)[0], moved(work)) == (None, {})


def test_a_procedure_that_fails_leaves_the_run_that_wrote_it_open(work, clock):
    ran(work, clock, recipe, lambda memory: memory.done("recipe", success=False))
    work.done("recipe", success=False)
    assert states(work) == [None]


def note_again(memory):
    memory.remember("A memo for whoever keeps the harbour.", key="twin")


@pytest.mark.parametrize("judged_first", [False, True])
def test_an_output_that_was_merged_since_settles_its_run_through_what_stands_for_it(
    work, clock, judged_first
):
    note_again(work)
    if judged_first:
        work.feedback(used=["twin"])
    ran(work, clock, write(NOTE))
    merged = work.merge("note", "twin")
    overdue(work, clock, interrupted=True)
    assert states(work)[0] == "unused", "a verdict from before the merge is not about the output"
    work.recall(CUE, session="t", floor=0)
    judged = work.feedback(confirmed=["twin"])
    assert (states(work)[0], moved(work)) == ("used", {("kestrel", "gulls"): UP})
    work.undo(judged.id)
    work.undo(merged.id)
    work.recall(CUE, session="u", floor=0)
    work.feedback(used=["twin"])
    assert states(work)[0] is None


def test_an_output_merged_twice_and_executed_settles_its_run_at_its_end(work, clock):
    for key in ("second", "third"):
        work.remember("Bake bread: 1. knead 2. wait 3. heat", key=key, kind="procedure")

    def merge_and_execute(memory):
        memory.merge("recipe", "second")
        memory.merge("second", "third")
        clock.at += timedelta(seconds=1)
        memory.done("third")

    ran(work, clock, recipe, merge_and_execute)
    assert states(work) == ["used"]


def test_what_was_written_in_another_session_settles_nothing(work, clock):
    ran(work, clock, write(NOTE, session="elsewhere"))
    work.feedback(used=["note"])
    assert states(work) == [None]


def test_what_was_written_without_a_session_is_of_the_only_run_under_way(work, clock):
    ran(work, clock, write("Marigold seeds keep in a dry cellar.", session=None))
    work.feedback(used=["note"])
    assert states(work) == ["used"]
    other = work.run_start("other")
    ran(work, clock, write("Nobody knows whose text this is.", key="unclear", session=None), session="third")
    work.run_end(other.id)
    work.feedback(used=["unclear"])
    assert states(work)[1:] == [None, None]


def test_what_was_written_before_or_after_a_run_is_not_of_it(work, clock):
    write("A first note on gulls and cliffs.", key="before")(work)
    ran(work, clock)
    write("A last note on gulls and cliffs.", key="after")(work)
    work.feedback(used=["before", "after"])
    assert states(work) == [None]


def test_a_note_that_was_taken_back_settles_nothing(work, clock):
    operations = []
    ran(work, clock, lambda memory: operations.append(write(NOTE)(memory).operation))
    undone = work.undo(operations[0])
    work.undo(undone.id)
    work.feedback(used=["note"])
    assert states(work) == ["used"]


def test_a_run_that_wrote_nothing_credits_all_that_it_was_shown(work, clock):
    run = ran(work, clock)
    work.run_used(run.id)
    assert len(moved(work)) == 3


def test_a_text_credits_the_links_between_the_memories_whose_words_it_uses(work, clock):
    run = ran(work, clock, write("Honey and cinnamon for the gulls that nest here."))
    work.run_used(run.id)
    assert moved(work) == {("gulls", "porridge"): UP}
    work.undo(work.log(limit=1)[0].id)
    assert moved(work) == {}


def test_a_link_credits_the_links_between_its_ends(work, clock):
    run = ran(work, clock, lambda memory: memory.link("kestrel", "porridge", "reminds-of", 0.4))
    work.run_used(run.id)
    assert moved(work) == {("kestrel", "porridge"): UP}
    (own,) = work.links(relation="reminds-of")
    assert own.weight == 0.4


def test_a_link_between_memories_that_are_not_linked_credits_the_way_between_them(work, clock):
    (direct,) = [
        operation
        for operation in work.log(limit=20)
        if operation.kind == "link"
        and "kestrel requires porridge" in {change.key for change in operation.changes}
    ]
    work.undo(direct.id)
    run = ran(work, clock, lambda memory: memory.link("porridge", "kestrel", "reminds-of"))
    work.run_used(run.id)
    assert moved(work) == {("kestrel", "gulls"): UP, ("gulls", "porridge"): UP}


def test_a_link_that_a_run_made_settles_it_when_it_leads_to_what_is_used(work, clock):
    ran(work, clock, lambda memory: memory.link("kestrel", "apart", "reminds-of", 0.9))
    recall = work.recall("hardware token of Kestrel", limit=10)
    path = next(hit.path for hit in recall.hits if hit.memory.key == "apart")
    assert [step.relation for step in path] == ["reminds-of"]
    work.feedback(recall.recall_id, used=["apart"])
    assert states(work) == ["used"]


def test_of_an_unused_run_all_links_sink_but_those_of_its_output(work, clock):
    ran(work, clock, lambda memory: memory.link("kestrel", "porridge", "reminds-of", 0.4))
    clock.at += timedelta(days=PLASTICITY.run_days)
    work.run_start("later")
    assert states(work)[0] == "unused"
    assert len(moved(work)) == 3
    assert [link.weight for link in work.links(relation="reminds-of")] == [0.4]


def test_a_link_that_is_set_anew_is_followed_and_credited(work, clock):
    run = ran(work, clock, lambda memory: memory.link("gulls", "porridge", "requires", 0.5 + 1e-12))
    work.run_used(run.id)
    assert moved(work) == {("gulls", "porridge"): UP}


def test_a_memory_that_is_revised_is_followed(work, clock):
    text = "Kestrel signs the nightly builds with a passkey."
    revised = ran(work, clock, lambda memory: memory.supersede("kestrel", f"{text} Gulls nest on cliffs."))
    work.run_used(revised.id)
    assert moved(work) == {("kestrel", "gulls"): UP}
    work.feedback(used=["kestrel"])
    assert states(work) == ["used"]


def test_a_text_that_follows_nothing_credits_nothing(work, clock):
    run = ran(work, clock, write("Tomorrow we shall paint a wooden fence green."))
    work.run_used(run.id)
    assert moved(work) == {}


def test_a_memory_that_is_followed_alone_credits_the_way_to_it(work, clock):
    paths = {hit.memory.key: hit.path for hit in work.recall(CUE, limit=3, floor=0).hits}
    way = {tuple(sorted((step.source, step.target))) for step in (*paths["gulls"], *paths["porridge"])}
    run = ran(
        work,
        clock,
        write("Gulls nest on cliffs.", key="one-note"),
        write("Cinnamon with walnuts, then honey.", key="other-note"),
    )
    work.run_used(run.id)
    assert {tuple(sorted(ends)) for ends in moved(work)} == way


def test_a_memory_named_by_its_key_is_followed(work, clock):
    run = ran(work, clock, write("See kestrel and gulls for the reasons."))
    work.run_used(run.id)
    assert moved(work) == {("kestrel", "gulls"): UP}


def by_agent(session, act):
    """What an agent does in a session of its own."""

    def acted(memory):
        with calling(Caller("agent", "mcp remember", session)):
            act(memory)

    return acted


def test_what_an_agent_writes_in_its_session_belongs_to_the_run_of_that_session(work, clock):
    other = work.run_start("beside")
    act = by_agent("s", write(NOTE, session="minutes-of-monday"))
    linked = by_agent("s", lambda memory: memory.link("note", "apart", "requires"))
    run = ran(work, clock, act, linked)
    work.feedback(used=["note"])
    assert states(work) == [None, "used"]
    assert run.id != other.id


def test_what_an_agent_writes_in_the_session_of_another_run_does_not(work, clock):
    work.run_start("beside")
    ran(work, clock, by_agent("beside", lambda memory: memory.link("kestrel", "apart", "requires")))
    ran(work, clock, by_agent("beside", write(NOTE, session=None)))
    work.feedback(used=["note"])
    assert states(work) == [None, None, None]


def test_in_a_session_without_a_run_it_belongs_to_the_run_under_way(work, clock):
    ran(work, clock, by_agent("connection-7", write(NOTE, session=None)))
    work.feedback(used=["note"])
    assert states(work) == ["used"]
