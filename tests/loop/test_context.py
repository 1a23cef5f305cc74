"""What is gathered for an objective: few memories, those that apply, and nothing that is not shown."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.rows import each_row

from priming import Cue, Memory
from priming_loop import context
from priming_loop.codebase import CONTEXT
from priming_loop.context import complexity, fires, gather, shown_memory
from priming_loop.knowledge import cut, lesson, occasions_of

OBJECTIVE = "Make the tests of subtract pass"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "calc.py").write_text("def subtract(a, b): ...\n")
    return tmp_path


def values(memory, kind, trigger, resolution="Mind the sign", **about):
    return memory.remember(**lesson(kind, trigger, resolution, **about)).key


def applies(memory, record, objective, cue):
    return fires(record, cue, occasions_of(memory, record, objective))


def test_no_more_than_five_failures_three_patterns_and_three_connected_are_shown(memory, folder):
    for n in range(8):
        values(memory, "failure", f"Make the tests of subtract pass number {n}")
        key = values(memory, "pattern", f"Make the tests of subtract pass way {n}")
        fact = memory.remember(f"Zebra {n} grazes alone at noon.", kind="fact").key
        memory.link(key, fact, "requires", 0.9)
    result = gather(memory, OBJECTIVE, folder, session="s")
    assert (len(result.failures), len(result.patterns), len(result.connected)) == (5, 3, 3)
    assert len(set(result.injected)) == 11


def test_what_is_about_something_else_is_not_shown(memory, folder):
    values(memory, "failure", "Deploy the website to staging", "Run the migration first")
    assert gather(memory, OBJECTIVE, folder, session="s").injected == ()


def test_what_is_shown_was_recalled_under_the_session_so_that_verdicts_find_it(memory, folder):
    key = values(memory, "pattern", OBJECTIVE)
    gather(memory, OBJECTIVE, folder, session="s")
    memory.feedback(used=[key], session="s")
    assert memory.get(key).use.helped == 1


def test_what_proved_effective_comes_before_what_did_not(memory, folder):
    bad, good = values(memory, "pattern", f"{OBJECTIVE} ever"), values(memory, "pattern", f"{OBJECTIVE} soon")
    memory.feedback(not_useful=[bad])
    memory.feedback(used=[good])
    assert [item.key for item in gather(memory, OBJECTIVE, folder, session="s").patterns] == [good, bad]


def test_what_was_not_used_for_long_comes_after_what_is_fresh(memory, folder, clock):
    old = values(memory, "pattern", f"{OBJECTIVE} ever")
    clock.at += timedelta(days=30)
    new = values(memory, "pattern", f"{OBJECTIVE} soon")
    assert [item.key for item in gather(memory, OBJECTIVE, folder, session="s").patterns] == [new, old]


def test_a_pattern_that_fires_is_shown_first_though_others_score_higher(memory, folder):
    trigger = "Make the tests of subtract pass"
    fired = values(
        memory, "pattern", trigger, "Look at how the rows are ordered before anything else is touched"
    )
    for n in range(4):
        key = values(
            memory, "pattern", f"Nightly build broke, attempt {n}", "Make the tests of subtract pass"
        )
        memory.feedback(used=[key])
    result = gather(memory, OBJECTIVE, folder, session="s")
    assert result.shown[0].key == fired
    assert fired in result.fired


@pytest.mark.parametrize(
    ("when", "expected"),
    [({"language": "python"}, True), ({"language": "go"}, False), ({"file": "calc.*"}, True), ({}, False)],
)
def test_a_memory_fires_where_its_conditions_are_confirmed(memory, when, expected):
    key = memory.remember("Zebras graze.", kind="pattern", when=when).key
    context = Cue(OBJECTIVE, file=["calc.py"], language=["python"])
    assert applies(memory, memory.get(key), OBJECTIVE, context) is expected


@pytest.mark.parametrize(
    ("trigger", "expected"),
    # The objective has the terms make, test, subtract, pass; a trigger fires with three fifths of its own, and two.
    [("tests of subtract", True), ("subtract", False), ("subtract, test, add, divide", False), ("", False)],
)
def test_a_memory_fires_where_the_objective_has_most_of_its_trigger(memory, trigger, expected):
    key = memory.remember("Zebras graze.", kind="pattern", metadata={"trigger": trigger}).key
    assert applies(memory, memory.get(key), OBJECTIVE, Cue(OBJECTIVE)) is expected


ABOUT = {"objective": "Upgrade Django", "task": "Change the pin", "trigger": "Change the pin: no match"}


@pytest.mark.parametrize(
    "objective",
    [
        "Upgrade Django and run the tests",
        "Read the changelog, then upgrade Django",
        "Please try to upgrade Django",
        "Don't forget to upgrade Django",
        "After the backup, upgrade Django",
        "Change the pin of Django",
    ],
)
def test_a_lesson_applies_where_its_action_is_to_be_done(memory, objective):
    key = memory.remember("Take the pin out.", kind="failure", metadata=ABOUT).key
    assert applies(memory, memory.get(key), objective, Cue(objective))


@pytest.mark.parametrize(
    "objective",
    [
        "Write a page on how to upgrade Django",
        "Explain why we upgrade Django",
        "Look at the log of the Django upgrade",
        "Before you upgrade Django, back up the data",
        'Add the heading "Upgrade Django" to the page',
        "The upgrade of Django broke the build: find out why",
    ],
)
def test_a_lesson_does_not_apply_where_its_action_is_only_mentioned(memory, folder, objective):
    key = memory.remember("Take the pin out.", kind="failure", metadata=ABOUT).key
    assert not applies(memory, memory.get(key), objective, Cue(objective))
    result = gather(memory, objective, folder, session="s")
    assert (result.fired, result.injected) == ((), ())


@pytest.mark.parametrize(
    "objective",
    ["Do not upgrade Django", "Never upgrade Django on a Friday", "Ship it without upgrading Django"],
)
def test_a_lesson_is_not_shown_where_its_action_is_rejected(memory, folder, objective):
    memory.remember("Upgrade Django: Take the pin out.", kind="failure", metadata=ABOUT)
    assert gather(memory, objective, folder, session="s").injected == ()


@pytest.mark.parametrize(
    ("trigger", "objective"),
    [
        ("The parquet reader does not decode: no codec", "Decode with the parquet reader"),
        ("Cannot mount the backup volume", "Mount the backup volume"),
        ("The message broker won't restart: stale lock", "Restart the message broker"),
        ("The index was never compacted", "Compact the index"),
        ("Can’t sign the release artifact: no key", "Sign the release artifact"),
        ("The invoices are no longer printed, because the queue is full", "Print the invoices"),
        ("The grammar file couldn't be parsed", "Parse the grammar file"),
        ("The beamer refuses to wake", "Wake the beamer"),
        ("Unable to render the weekly chart", "Render the weekly chart"),
    ],
)
def test_a_failure_told_with_a_negation_applies_to_the_action_that_failed(memory, folder, trigger, objective):
    key = values(memory, "failure", trigger, "Do it from a clean shell")
    result = gather(memory, objective, folder, session="s")
    assert (result.injected, result.fired) == ((key,), (key,))
    assert gather(memory, f"Never {objective.lower()}", folder, session="s").fired == ()


def test_a_failure_that_warns_of_an_action_is_shown_to_who_asks_for_it(memory, folder):
    key = values(memory, "failure", "Never rotate the signing key on a Friday", "Nobody is there to answer")
    result = gather(memory, "Rotate the signing key on Friday", folder, session="s")
    assert (result.injected, result.fired) == ((key,), ())


@pytest.mark.parametrize("which", ["the other", "another", "a second", "the old", "our new"])
def test_a_lesson_does_not_apply_to_another_thing_of_the_same_name(memory, which):
    about = {"trigger": "Restore the snapshot to the cluster: disk full"}
    key = memory.remember("Free some space.", kind="failure", metadata=about).key
    objective = f"Restore the snapshot to {which} cluster"
    assert not applies(memory, memory.get(key), objective, Cue(objective))
    same = "Restore the snapshot to that cluster"
    assert applies(memory, memory.get(key), same, Cue(same))


@pytest.mark.parametrize(
    ("objective", "expected"),
    [("Upgrade Django to 4.2", True), ("upgrade Django", True), ("Upgrade Django to 4.3", False)],
)
def test_a_lesson_of_another_version_does_not_apply(memory, objective, expected):
    about = {"objective": "Upgrade Django to 4.2", "trigger": "Change the pin: no matching distribution"}
    key = memory.remember("Take the pin out first.", kind="failure", metadata=about).key
    assert applies(memory, memory.get(key), objective, Cue(objective)) is expected


@pytest.mark.parametrize(
    "about",
    [
        {"trigger": "Make pytest pass: ModuleNotFoundError: No module named kernel", "delta": ["calc.py"]},
        {"trigger": "Compile the printer driver", "objective": "Ship the printer", "delta": ["calc.py"]},
        {"trigger": "Make the tests of the module pass", "task": "Make the tests pass"},
    ],
)
def test_common_files_a_common_word_or_a_common_language_make_nothing_fire(memory, about):
    key = memory.remember("Mind it.", kind="failure", metadata=about, when={"language": "c"}).key
    cue = Cue("Compile the kernel module", file=["calc.py"], language=["c"])
    assert not applies(memory, memory.get(key), "Compile the kernel module", cue)


@pytest.mark.parametrize(
    "objective", ["Deploy to staging", "deploy to Staging!", "Deploy it to staging today"]
)
def test_a_lesson_fires_at_its_task_and_at_its_objective_alike(memory, objective):
    about = {
        "trigger": "Copy the pages: no space left",
        "task": "Copy the pages",
        "objective": "Deploy to staging",
    }
    record = memory.get(memory.remember("Mind it.", kind="failure", metadata=about).key)
    assert applies(memory, record, objective, Cue(objective))
    assert not applies(memory, record, "Deploy to production", Cue("Deploy to production"))
    assert applies(memory, record, "Copy the pages", Cue("Copy the pages"))


def test_a_lesson_is_shown_for_the_best_of_its_texts(memory, folder):
    rest = {"objective": "Release version 2.1", "task": "Push the tag", "failed": "remote: 403 Forbidden"}
    key = values(memory, "failure", "Push the tag: 403", "Zebras graze on the savannah all day long", **rest)
    for text in ("Release version 2.1", "release of version 2.1", "Push that tag"):
        result = gather(memory, text, folder, session="s")
        assert (result.injected, result.fired) == ((key,), (key,)), text


def test_a_lesson_that_is_shown_for_what_failed_or_helped_does_not_answer_for_the_task(memory, folder):
    rest = {"objective": "Release version 2.1", "task": "Push the tag", "failed": "remote: 403 Forbidden"}
    key = values(memory, "failure", "Push the tag: 403", "Bring a token that may write", **rest)
    for text in ("remote says 403 forbidden", "Bring that token that may write"):
        result = gather(memory, text, folder, session="s")
        assert (result.injected, result.fired) == ((key,), ()), text


def test_a_lesson_of_the_whole_objective_is_shown_to_its_tasks_without_applying(memory, folder):
    rest = {"objective": "Release version 2.1", "task": "Push the tag"}
    key = values(memory, "failure", "Push the tag: 403", "Bring a token", **rest)
    result = gather(memory, "Bake a cake", folder, session="s", within="Release version 2.1")
    assert (result.injected, result.fired) == ((key,), ())
    assert gather(memory, "Bake a cake", folder, session="s").injected == ()


def test_a_name_in_common_alone_brings_no_lesson_up(tmp_path, clock):
    with Memory.open("sqlite://", clock=clock) as memory:
        values(memory, "pattern", "Write the greeting in Danish", "Keep the placeholder {name}")
        krone = gather(memory, "Support the Danish krone as a currency", tmp_path, session="s")
        greeting = gather(memory, "Compose a greeting in Danish", tmp_path, session="s")
    assert (krone.injected, len(greeting.injected)) == ((), 1)


def test_what_applies_elsewhere_is_not_shown(memory, folder):
    memory.remember(f"{OBJECTIVE}, so: mind the sign", kind="pattern", when={"language": "go"})
    assert gather(memory, OBJECTIVE, folder, session="s").patterns == ()


def test_links_lead_over_two_hops_if_both_are_strong(memory, folder):
    key = values(memory, "pattern", OBJECTIVE)
    near, far, beyond, weak = (
        memory.remember(text, kind="fact").key
        for text in ("Zebras graze.", "Ferns uncurl.", "Comets return.", "Kelp sways.")
    )
    for source, target, weight in ((key, near, 0.5), (near, far, 0.6), (far, beyond, 0.9), (key, weak, 0.49)):
        memory.link(source, target, "requires", weight)
    connected = gather(memory, OBJECTIVE, folder, session="s").connected
    assert [item.key for item in connected] == [near, far]


def test_links_that_nobody_made_connect_nothing(memory, folder):
    key = values(memory, "pattern", OBJECTIVE, session="work")
    memory.remember("Zebras graze.", kind="pattern", session="work")
    memory.remember("Ferns uncurl.", kind="pattern", session="work")
    assert any(link.relation == "next" and link.weight >= 0.5 for link in memory.links(key))
    assert gather(memory, OBJECTIVE, folder, session="s").injected == (key,)


def test_files_that_a_memory_about_the_objective_names_are_relevant(memory, folder):
    (folder / "ledger.py").write_text("rows = []\n")
    memory.remember("When subtract was wrong, the cause was in ledger.py.")
    assert "ledger.py" in gather(memory, "subtract is wrong", folder, session="s").codebase.relevant


@pytest.mark.parametrize(
    "objective", ["Compile the kernel", "Translate the manual into French", "Bake bread"]
)
def test_files_of_memories_about_something_else_are_not_relevant(memory, folder, objective):
    for text in ("When subtract was wrong, the cause was in calc.py.", "calc.py holds the sums."):
        memory.remember(text)
    values(memory, "pattern", OBJECTIVE, delta=["calc.py"])
    assert gather(memory, objective, folder, session="s").codebase.relevant == ()


def test_files_that_earlier_deliveries_name_are_relevant(memory, folder):
    (folder / "ledger.py").write_text("rows = []\n")
    result = gather(memory, "subtract is wrong", folder, session="s", lineage=["changed ledger.py"])
    assert "ledger.py" in result.codebase.relevant


def test_a_lesson_is_shown_memory_when_and_what_within_its_length(memory, monkeypatch):
    key = values(memory, "failure", "a" * 500, "b" * 500)
    monkeypatch.setattr(context, "CONTEXT", replace(CONTEXT, memory_length=100))
    shown = shown_memory(memory.get(key))
    assert shown.text == f"{'a' * 49}… → {'b' * 49}…"


def test_a_namespace_in_which_nobody_wrote_gives_no_memories(embedder, clock, folder):
    with Memory.open("sqlite://", namespace="new", embedder=embedder, clock=clock) as memory:
        result = gather(memory, OBJECTIVE, folder, session="s")
    assert result.injected == ()
    assert result.codebase.relevant == ("calc.py",)


def test_gathering_writes_nothing_to_the_log(memory, folder):
    values(memory, "pattern", OBJECTIVE)
    before = len(memory.log())
    gather(memory, OBJECTIVE, folder, session="s")
    assert len(memory.log()) == before


def test_a_cut_text_is_one_line():
    assert cut("one\ntwo", 20) == "one two"
    assert cut("one two three", 7) == "one tw…"


# Complexity


@each_row(
    ("objective", "level", "signals"),
    [
        ("Fix the parser", "simple", ()),
        ("Standardise the plush handler, authentically", "simple", ()),
        ("Profile the landing page", "simple", ()),
        ("Rename this function", "simple", ("function",)),
        ("Fix the parser AND the printer", "moderate", ("and",)),
        ("Fix it, then rename the module", "complex", ("then", "module")),
        ("word " * 20, "simple", ()),
        ("word " * 21, "moderate", ("21 words",)),
        ("word " * 41, "complex", ("41 words",)),
        ("", "simple", ()),
    ],
)
def test_whole_words_and_their_number_decide(objective, level, signals):
    result = complexity(objective)
    assert (result.level, result.signals) == (level, signals)
