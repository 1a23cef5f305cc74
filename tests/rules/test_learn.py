"""learn: what becomes of a correction, and of the behaviour that follows from it."""

import math
from datetime import timedelta

import pytest
from tests.rows import each_row

from priming import Cue, ParamError

PYTHON, GO = Cue(language="python"), Cue(language="go")
TESTS = Cue(language="python", task="tests")
PRINT = "Use the logger for output of any kind"


def links_of(memory, key):
    return {(link.source, link.relation, link.target): link.weight for link in memory.links(key)}


def everything(memory):
    return memory.list(kinds=["behavior", "correction", "entity"]), memory.links()


def test_a_correction_becomes_two_memories_in_one_operation(memory):
    done = memory.learn(PRINT, wrong="print(x)", cue=PYTHON, tags=["output"], source="review", trust="agent")
    behavior, correction = memory.get(done.key), memory.get(done.correction)
    assert (behavior.kind, behavior.content, behavior.rule) == ("behavior", PRINT, "directive")
    assert (correction.kind, correction.metadata) == ("correction", {"right": PRINT, "wrong": "print(x)"})
    assert PRINT in correction.content
    assert "print(x)" in correction.content
    assert PRINT in correction.gist
    for item in (behavior, correction):
        assert (item.when, item.tags, item.source, item.trust) == (
            {"language": "python"},
            ("output",),
            "review",
            "agent",
        )
    assert behavior.confidence == done.confidence == 0.6
    assert links_of(memory, done.correction)[done.key, "learned-from", done.correction] == 0.5
    (operation,) = memory.log()
    assert (operation.id, operation.kind, operation.source) == (done.operation, "learn", "conscious")
    assert memory.validate() == []


def test_the_answer_names_the_new_behaviour_and_the_reasons(memory):
    done = memory.learn("Never push to main", priority=7)
    assert (done.placement, done.rule, done.when, done.beside, done.similarity) == (
        "create",
        "constraint",
        {},
        None,
        None,
    )
    assert done.reasons == ("created: it is the first behaviour here", "constraint: read from its words")
    assert ("learned-from", done.correction) in {(link.relation, link.target) for link in done.links}
    assert memory.get(done.key).priority == 7


def test_a_rule_and_the_names_of_its_conditions_are_the_same_however_their_letters_are_composed(memory):
    composed, apart = (
        ("Close the caf\u00e9 at ten", "s\u00e4le"),
        ("Close the cafe\u0301 at ten", "sa\u0308le"),
    )
    first = memory.learn(composed[0], cue=Cue(**{composed[1]: "bar"}))
    again = memory.learn(apart[0], cue=Cue(**{apart[1]: "bar"}))
    assert (again.placement, again.key) == ("merge", first.key)
    memory.remember("Nobody comes.", kind="behavior", key="late", when={apart[1]: "bar"})
    for name in (composed[1], apart[1]):
        assert {hit.key for hit in memory.active(Cue(**{name: "bar"}))} == {first.key, "late"}


def test_a_given_kind_of_rule_takes_precedence_over_the_words(memory):
    done = memory.learn("Never push to main", rule="preference")
    assert done.rule == memory.get(done.key).rule == "preference"
    assert "preference: as given" in done.reasons


def test_the_conditions_are_those_of_the_cue_without_its_text_and_time_and_empty_values(memory, clock):
    cue = Cue("a text", file="src/*.py", at=clock.now(), team=("a", "b"), language="", level=3)
    assert memory.learn(PRINT, cue=cue).when == {"file": "src/*.py", "team": ["a", "b"], "level": 3}


def test_the_same_correction_again_changes_nothing(memory):
    first = memory.learn(PRINT, wrong="print", cue=PYTHON)
    before = everything(memory)
    again = memory.learn(f"  {PRINT}\n", wrong="print", cue=Cue("now", language=" Python"))
    assert (again.placement, again.key, again.correction, again.operation) == (
        "merge",
        first.key,
        first.correction,
        None,
    )
    assert everything(memory) == before
    assert len(memory.log()) == 1


def test_a_text_that_a_recall_has_just_returned_can_be_learned(memory):
    memory.remember("Use the logger for all output", kind="fact")
    memory.recall("logger output")
    done = memory.learn("Use the logger for all output")
    assert memory.get(done.key).kind == "behavior"


def test_a_similarity_above_nine_tenths_raises_the_confidence_of_the_existing_behaviour(memory):
    first = memory.learn(PRINT, cue=PYTHON, priority=2)
    again = memory.learn(PRINT.upper(), wrong="print", cue=PYTHON, priority=5)
    record = memory.get(first.key)
    assert (again.placement, again.id, again.key, again.beside) == ("merge", first.id, first.key, first.key)
    assert again.similarity == 1
    assert record.content == PRINT
    assert record.confidence == again.confidence == pytest.approx(0.6 + 0.1)
    assert record.priority == 5
    assert (first.key, "learned-from", again.correction) in links_of(memory, first.key)
    assert len(memory.list(kinds=["behavior"])) == 1
    memory.learn(PRINT.title(), priority=1)
    assert memory.get(first.key).priority == 5


def test_confidence_stays_at_1(memory):
    first = memory.learn(PRINT)
    for wrong in "abcdef":
        last = memory.learn(PRINT, wrong=wrong)
    assert last.confidence == memory.get(first.key).confidence == 1


def test_a_merge_says_what_it_does_not_take_over(memory):
    first = memory.learn(PRINT)
    again = memory.learn(PRINT, cue=PYTHON, rule="constraint")
    assert again.key == first.key
    assert (again.rule, again.when) == ("directive", {})
    assert f"{first.key} applies everywhere, not where language = python" in again.reasons
    assert f"{first.key} stays a directive, not a constraint" in again.reasons
    assert memory.get(again.correction).when == {"language": "python"}


def test_a_less_trusted_correction_is_stored_but_moves_nothing(memory):
    first = memory.learn(PRINT, trust="user")
    again = memory.learn(PRINT, wrong="print", trust="agent", priority=9)
    record = memory.get(first.key)
    assert again.placement == "merge"
    assert (record.confidence, record.priority, record.trust) == (0.6, 0, "user")
    assert "a correction from agent does not change a rule from user" in again.reasons
    assert memory.get(again.correction).trust == "agent"


def test_a_correction_from_a_user_is_not_merged_into_one_from_a_tool(memory):
    data = memory.learn(PRINT, trust="tool")
    done = memory.learn(PRINT, wrong="print")
    assert (done.placement, memory.get(done.key).trust, memory.get(data.key).trust) == (
        "create",
        "user",
        "tool",
    )
    assert f"created: {data.key} is similar (1.00), but from tool, which may not instruct" in done.reasons


def test_a_narrower_rule_of_similarity_between_seven_and_nine_tenths_specialises(memory):
    # .4 · 2·1/(1+2) + .6 · 1 = .867
    wide = memory.learn(PRINT, cue=PYTHON)
    done = memory.learn(PRINT, cue=TESTS)
    assert (done.placement, done.beside) == ("specialise", wide.key)
    assert done.similarity == pytest.approx(0.4 * 2 / 3 + 0.6)
    assert links_of(memory, wide.key)[done.key, "overrides", wide.key] == 0.5
    assert memory.get(done.key).confidence == 0.6


def test_the_same_rule_for_fewer_conditions_holds_more_widely(memory):
    narrow = memory.learn(PRINT, cue=TESTS)
    done = memory.learn(PRINT, cue=PYTHON)
    assert (done.placement, done.key, done.when) == ("widen", narrow.key, {"language": "python"})
    assert memory.get(narrow.key).when == {"language": "python"}
    assert [version.when for version in memory.history(narrow.key)] == [TESTS.context(), PYTHON.context()]
    assert "before, it applied where language = python, task = tests" in done.reasons
    assert memory.learn(PRINT, wrong="print").when == {}
    assert len(memory.list(kinds=["behavior"])) == 1
    assert memory.validate() == []


def test_a_rule_that_holds_more_widely_keeps_its_words(memory):
    narrow = memory.learn("Run the linter before each commit", cue=TESTS)
    done = memory.learn("Run the linter before every commit", cue=PYTHON)
    assert (done.placement, done.key, done.content) == ("widen", narrow.key, narrow.content)
    assert memory.get(narrow.key).content == "Run the linter before each commit"


def test_the_same_rule_for_other_values_holds_for_both(memory):
    first = memory.learn(PRINT, cue=PYTHON)
    done = memory.learn(PRINT, cue=GO)
    assert (done.placement, done.key, done.when) == ("widen", first.key, {"language": ["python", "go"]})
    for language in ("python", "go"):
        assert [hit.memory.key for hit in memory.active(Cue(language=language)).hits] == [first.key]
    assert memory.active(Cue(language="rust")).hits == ()


def test_a_rule_without_conditions_narrows_nothing(memory):
    # Against an empty scope content alone counts: 8 of 9 words, .89.
    wide = memory.learn(PRINT)
    done = memory.learn(f"{PRINT} indoors", cue=PYTHON)
    assert (done.placement, done.beside) == ("create", wide.key)
    assert done.similarity == pytest.approx(8 / 9)
    assert "overrides" not in {link.relation for link in memory.links()}


@pytest.mark.parametrize(
    ("words", "linked"), [("one two three four", True), ("one two three four five", False)]
)
def test_a_similarity_of_a_half_makes_a_link_of_that_weight(memory, words, linked):
    # {one} against n words shared with 2 of them: 2/4 and 2/5.
    first = memory.learn("one two")
    done = memory.learn(words)
    weight = links_of(memory, first.key).get((done.key, "similar-to", first.key))
    assert weight == (pytest.approx(0.5) if linked else None)


def test_similar_behaviours_are_linked_by_their_own_law_and_not_by_cosine(memory):
    memory.learn(PRINT, wrong="print", cue=PYTHON)
    memory.learn(f"{PRINT} indoors", wrong="print", cue=GO)
    links = memory.links(relation="similar-to")
    assert [item.weight for item in links] == [pytest.approx(0.6 * 8 / 9)]


def test_a_behaviour_is_linked_to_similar_memories_of_other_kinds(memory):
    fact = memory.remember("Use the logger for output of every kind", kind="fact")
    done = memory.learn(PRINT)
    assert (done.key, "similar-to", fact.key) in links_of(memory, fact.key)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Use httpx instead of requests", "Use requests instead of httpx"),
        ("Prefer tabs over spaces", "Prefer spaces over tabs"),
        ("Never squash commits", "Always squash commits"),
        ("Deploy on Tuesday, cut the branch on Thursday", "Deploy on Thursday, cut the branch on Tuesday"),
        (
            "When the upload of a report to the archive fails on a slow network, wait 30 seconds and retry once",
            "When the upload of a report to the archive fails on a slow network, wait 90 seconds and retry once",
        ),
        ("Keep lines under 80 characters", "Keep lines under 100 characters"),
        ("Write docstrings for public functions", "Write docstrings for all functions"),
    ],
)
def test_a_correction_that_changes_a_rule_takes_its_place_and_leaves_it_in_its_history(
    memory, clock, earlier, later
):
    first = memory.learn(earlier, cue=PYTHON)
    memory.active(PYTHON)
    memory.feedback(confirmed=[first.key], tier="conscious")
    memory.learn(earlier, cue=PYTHON, wrong="zarf")
    assert memory.get(first.key).confidence > 0.6
    clock.at += timedelta(days=3)
    done = memory.learn(later, cue=PYTHON)
    rule = memory.get(first.key)
    assert (done.placement, done.key) == ("supersede", first.key)
    assert (rule.content, rule.confidence) == (later, 0.6)
    assert (done.content, done.previous) == (later, earlier)
    assert f'before: "{earlier}"' in done.reasons
    assert [version.content for version in memory.history(first.key)] == [earlier, later]
    assert [hit.memory.content for hit in memory.active(PYTHON).hits] == [later]
    assert (rule.key, "learned-from", done.correction) in links_of(memory, rule.key)
    assert memory.validate() == []
    memory.undo(done.operation)
    assert memory.get(first.key).content == earlier


def test_what_was_done_instead_shows_that_a_correction_reverses_a_rule(memory):
    first = memory.learn("Use zarf")
    done = memory.learn("Use bloop", wrong="zarf")
    assert (done.placement, done.key, memory.get(first.key).content) == ("supersede", first.key, "Use bloop")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Use httpx instead of requests", "Prefer httpx over requests"),
        ("Never commit secrets", "Don't commit credentials"),
        ("Wait 30 seconds between retries", "Wait 30s between retries"),
    ],
)
def test_a_paraphrase_is_merged_and_raises_the_confidence(memory, earlier, later):
    first = memory.learn(earlier)
    done = memory.learn(later)
    assert (done.placement, done.key, done.content, done.change) == ("merge", first.key, earlier, "same")
    assert done.confidence > first.confidence


def test_a_less_trusted_correction_does_not_reverse_a_rule(memory):
    first = memory.learn("Use tabs for indentation", trust="user")
    done = memory.learn("Use spaces for indentation", trust="agent")
    assert (done.placement, memory.get(first.key).content) == ("create", "Use tabs for indentation")
    assert any("is trusted more" in reason for reason in done.reasons)


def test_the_names_of_a_language_are_one_condition(memory):
    first = memory.learn("Indent with spaces", cue=Cue(language="golang"))
    assert memory.learn("Indent with tabs", cue=GO).key == first.key
    assert [hit.memory.content for hit in memory.active(Cue(language="Go")).hits] == ["Indent with tabs"]


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("Use pnpm instead of npm", "Use bun instead of pnpm", "pnpm add zod"),
        ("Log with slog, not with the log package", "Log with zap, not with slog", "slog.Info"),
        ("Format dates with date-fns instead of moment", "Format dates with Temporal", "date-fns format"),
        ("Use the standard testing package instead of testify", "Use testify, not plain testing", "t.Errorf"),
        ("Use httpx instead of requests", "Go back to requests", "client = httpx.Client()"),
    ],
)
def test_what_was_done_wrong_does_not_hide_a_reversal(memory, old, new, wrong):
    memory.learn(old, cue=PYTHON)
    again = memory.learn(new, wrong=wrong, cue=PYTHON)
    assert (again.placement, again.content) == ("supersede", new)


def test_a_rule_that_only_shares_a_word_with_a_correction_stays(memory):
    texts = (
        "Go back to httpx for HTTP calls, not requests",
        "Every outgoing HTTP request gets a timeout of 10 seconds",
        "Log each request with its id",
        "Keep pull requests small",
    )
    for text in texts:
        memory.learn(text, cue=PYTHON)
    assert {hit.memory.content for hit in memory.active(PYTHON).hits} == {*texts}


def test_an_exception_for_a_narrower_context_stays_beside_the_general_rule(memory):
    memory.learn("Use spaces for indentation")
    done = memory.learn("Use tabs for indentation", cue=GO)
    assert done.placement == "create"
    assert [hit.memory.content for hit in memory.active(GO).hits] == ["Use tabs for indentation"]
    assert [hit.memory.content for hit in memory.active(PYTHON).hits] == ["Use spaces for indentation"]


def test_the_opposite_for_another_context_is_no_conflict(memory):
    memory.learn("Use tabs to indent", cue=GO)
    memory.learn("Never use tabs to indent", cue=PYTHON)
    assert "conflicts" not in {link.relation for link in memory.links()}


@pytest.mark.parametrize(
    ("right", "cue"), [("Never use the logger for output of any kind", PYTHON), (f"{PRINT} ok", TESTS)]
)
def test_a_correction_that_may_not_instruct_makes_no_conflict_with_a_rule_that_may(memory, right, cue):
    memory.learn(PRINT, cue=PYTHON)
    done = memory.learn(right, cue=cue, trust="tool")
    assert done.placement == "create"
    assert not {"overrides", "conflicts"} & {link.relation for link in memory.links()}


def test_only_behaviours_that_are_active_are_compared(memory):
    first = memory.learn(PRINT)
    memory.forget(first.key)
    done = memory.learn(PRINT)
    assert (done.placement, done.beside) == ("create", None)
    assert done.key != first.key


def test_a_correction_of_one_namespace_does_not_reach_another(open_memory, url):
    open_memory(url, namespace="a").learn(PRINT)
    assert open_memory(url, namespace="b").learn(PRINT).placement == "create"


def test_an_undo_reverses_all_changes(memory):
    memory.learn(PRINT, cue=PYTHON)
    states, operations = [everything(memory)], []
    for right, cue in ((PRINT.upper(), PYTHON), (PRINT, TESTS), ("Never use the logger for output", PYTHON)):
        operations.append(memory.learn(right, wrong="print", cue=cue).operation)
        states.append(everything(memory))
    for operation, state in zip(reversed(operations), reversed(states[:-1]), strict=True):
        memory.undo(operation)
        assert everything(memory) == state


def test_learned_rules_survive_a_restart(open_memory, url):
    with open_memory(url) as memory:
        key = memory.learn(PRINT, cue=PYTHON).key
    again = open_memory(url).learn(PRINT, wrong="print", cue=PYTHON)
    assert (again.placement, again.key) == ("merge", key)


@each_row(
    ("arguments", "rule"),
    [
        ({"right": " \n"}, "right = .*must not be blank"),
        ({"right": None}, "right = None: must be a text"),
        ({"right": "a\x00"}, "right = .*NUL"),
        ({"right": "x" * 1_048_576}, "right = .*must be at most 1,048,576 characters"),
        ({"wrong": ""}, "wrong = '': must not be blank"),
        ({"wrong": " do  this "}, "wrong = .*must differ from what is right"),
        ({"cue": {"language": "go"}}, "cue = .*must be a Cue"),
        ({"cue": Cue(language={"a": 1})}, "when.language = "),
        ({"cue": Cue(level=math.nan)}, "when.level = nan"),
        ({"cue": Cue(level=[])}, r"when.level = \[\]"),
        ({"tags": "one"}, "tags = 'one'"),
        ({"priority": -0.1}, r"priority = -0.1: must be in \[0, 10\]"),
        ({"priority": 10.1}, "priority = 10.1"),
        ({"priority": math.nan}, "priority = nan"),
        ({"priority": True}, "priority = True"),
        ({"priority": "5"}, "priority = '5'"),
        ({"source": "a\nb"}, "source = "),
        ({"trust": "admin"}, "trust = 'admin': must be one of untrusted, tool, agent, user"),
        ({"rule": "law"}, "rule = 'law': must be one of directive, constraint, preference, procedure"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_changed(memory, arguments, rule):
    with pytest.raises(ParamError, match=rule):
        memory.learn(**{"right": "do this", **arguments})
    assert memory.log() == []


def test_a_correction_made_before_a_wider_or_narrower_rule_stays_beside_it(memory, clock):
    before = clock.now()
    clock.at += timedelta(hours=1)
    memory.learn("Never use tabs", cue=GO, source="hook")
    late = memory.learn("Use tabs", cue=Cue(at=before), source="hook")
    assert late.placement == "create"
    assert memory.get("never-use-tabs").content == "Never use tabs"
    assert links_of(memory, "never-use-tabs")["never-use-tabs", "overrides", late.key] == 0.5
    assert "never-use-tabs, learned after this was said, stays in force" in late.reasons


def test_a_rule_that_was_repeated_after_a_correction_was_made_is_not_reversed_by_it(memory, clock):
    memory.learn("Ship on Tuesdays")
    clock.at += timedelta(hours=1)
    message = clock.now()
    clock.at += timedelta(hours=1)
    memory.learn("Always ship on Tuesdays")
    late = memory.learn("Never ship on Tuesdays", cue=Cue(at=message))
    assert (late.placement, memory.get(late.key).status) == ("overtaken", "deprecated")
    assert memory.get("ship-on-tuesdays").content == "Ship on Tuesdays"
    assert memory.get(late.correction).occurred_at == message
    memory.undo(late.operation)
    assert [rule.key for rule in memory.list(kinds=["behavior"])] == ["ship-on-tuesdays"]


def test_a_reversed_correction_is_no_longer_recalled(memory):
    first = memory.learn("Cite with footnotes instead of endnotes")
    again = memory.learn("Always cite with footnotes instead of endnotes", wrong="endnotes at the end")
    assert again.placement == "merge"
    turned = memory.learn("Cite with endnotes instead of footnotes")
    assert turned.placement == "supersede"
    assert {memory.get(key).status for key in (first.correction, again.correction)} == {"deprecated"}
    assert (first.correction, "deprecated-to", turned.correction) in links_of(memory, first.correction)
    recalled = [hit.memory.key for hit in memory.recall("footnotes or endnotes?").hits]
    assert recalled == [turned.key]  # a rule costs one hit, not a second of the correction that it repeats
    corrections = memory.recall("footnotes or endnotes?", kinds=["correction"]).hits
    assert [hit.memory.key for hit in corrections] == [turned.correction]
    memory.undo(turned.operation)
    assert memory.get(first.correction).status == "active"


def test_a_correction_that_is_only_completed_stays(memory):
    first = memory.learn("Number the figures")
    fuller = memory.learn("Never leave figures without a number, number the figures")
    widened = memory.learn("Number the figures", cue=GO)
    assert memory.get(first.correction).status == "active", (fuller, widened)


def test_corrections_of_other_rules_that_are_replaced_go_with_them(memory):
    first = memory.learn("Use npm")
    other = memory.learn("Use npm for packages")
    assert other.placement == "create"
    memory.learn("Use pnpm, not npm")
    assert [record.content for record in memory.list(kinds=["behavior"])] == ["Use pnpm, not npm"]
    assert {memory.get(item.correction).status for item in (first, other)} == {"deprecated"}


def test_a_correction_learned_too_late_is_not_in_force_either(memory, clock):
    memory.learn("Answer the phone in Welsh")
    late = memory.learn("Answer the phone in Basque", cue=Cue(at=clock.at - timedelta(hours=1)))
    assert (late.placement, memory.get(late.correction).status) == ("overtaken", "deprecated")


@pytest.mark.parametrize(
    "words",
    [
        "No, ship the crates 90 minutes before noon",
        "Nope! Ship the crates 90 minutes before noon",
        "Actually, ship the crates 90 minutes before noon",
        "wait - ship the crates 90 minutes before noon",
        "No. Sorry: please ship the crates 90 minutes before noon",
    ],
)
def test_how_an_objection_begins_is_no_part_of_the_rule(memory, words):
    memory.learn("Ship the crates 60 minutes before noon")
    done = memory.learn(words)
    assert done.placement == "supersede", done.reasons
    assert done.content.casefold() == "ship the crates 90 minutes before noon"


@pytest.mark.parametrize(
    "words", ["No spaces in names", "Well-known ports only", "Wait 3 seconds", "No, never"]
)
def test_what_only_looks_like_an_objection_stays(memory, words):
    assert memory.learn(words).content == words


def test_rules_that_say_nothing_by_themselves_do_not_confirm_each_other(memory):
    first = memory.learn("Don't do that")
    for text in ("ok thanks", "Not like that", "Do it again"):
        assert memory.learn(text).placement == "create"
    assert memory.get(first.key).confidence == 0.6
    assert memory.learn("don't do that").placement == "merge"
