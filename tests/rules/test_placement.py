"""Where a correction belongs among the rules there are, whichever was learned first."""

from itertools import permutations

import pytest
from tests.rows import each_row

from priming import Cue, Memory

GO, GO_TESTS = Cue(language="go"), Cue(language="go", task="test")
CI = Cue(language="go", task="test", environment="ci")


OPENED = []


def opened():
    """A memory that is closed after the test."""
    OPENED.append(Memory.open("sqlite://"))
    return OPENED[-1]


@pytest.fixture(autouse=True)
def closed():
    yield
    while OPENED:
        OPENED.pop().close()


def learned(*corrections):
    memory = opened()
    for text, cue in corrections:
        memory.learn(text, cue=cue)
    return memory


def rules(memory):
    return {(rule.content, repr(sorted(rule.when.items()))) for rule in memory.list(kinds=["behavior"])}


def rule_links(memory):
    """The links among rules by their texts; the ends of those without a direction in order."""
    texts = {rule.key: rule.content for rule in memory.list(kinds=["behavior"])}
    links = [(texts.get(link.source), link.relation, texts.get(link.target)) for link in memory.links()]
    return {
        (a, relation, b) if relation == "overrides" else (*sorted((a, b)), relation)
        for a, relation, b in links
        if a and b
    }


@pytest.mark.parametrize(
    "corrections",
    [
        [("Use tabs", GO), ("Use spaces", GO_TESTS)],
        [("Use spaces", None), ("Use tabs", GO)],
        [("Name files in snake_case", None), ("Name files in kebab-case", Cue(language="typescript"))],
        [("Never use mocks", GO), ("Use mocks", GO_TESTS)],
        [("Wait 30 seconds between retries", GO), ("Wait a minute between retries", GO_TESTS)],
        [("Log errors with the id of the request", GO), ("Log errors with the id of the request and user", GO_TESTS)],
        [("Prefer tabs over spaces", GO), ("Prefer spaces over tabs", GO_TESTS)],
        pytest.param(
            [("Use tabs to indent", GO), ("Use tabs to indent code", GO_TESTS), ("Use spaces to indent", CI)],
            marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_rules_and_links_are_the_same_in_every_order(corrections):
    outcomes = [
        (rules(memory), rule_links(memory))
        for memory in (learned(*order) for order in permutations(corrections))
    ]
    assert all(outcome == outcomes[0] for outcome in outcomes)
    assert len(outcomes[0][0]) == len(corrections)
    assert outcomes[0][1]


def test_the_narrower_rule_overrides_the_wider_that_came_later():
    memory = learned(("Use spaces", GO_TESTS), ("Use tabs", GO))
    assert ("Use spaces", "overrides", "Use tabs") in rule_links(memory)
    assert [hit.memory.content for hit in memory.active(GO_TESTS).hits] == ["Use spaces"]
    assert [hit.memory.content for hit in memory.active(Cue(language="go", task="build")).hits] == [
        "Use tabs"
    ]


A, B = "Use httpx instead of requests", "Use requests instead of httpx"


@each_row(
    "texts",
    [
        [A, B],
        [A, B, A],
        [A, "Prefer httpx over requests", B],
        [A, "We switched back from httpx to requests"],
        ["Release on Monday", "Release on Friday", "Release on Tuesday", "Release on Monday"],
        ["Set the timeout to 30 seconds", "Set the timeout to 60 s", "The timeout is 90 seconds"],
        ["Always squash commits", "Never squash commits", "Do squash commits"],
        ["Alice reviews what Bob writes", "Bob reviews what Alice writes"],
        ["Retry at most five times", "Retry at least five times"],
    ],
)
def test_the_latest_wish_is_the_rule_and_the_earlier_ones_its_history(texts):
    memory = learned(*((text, None) for text in texts))
    (rule,) = memory.list(kinds=["behavior"])
    assert (rule.content, rule.confidence) == (texts[-1], 0.6)
    contents = [version.content for version in memory.history(rule.key)]
    assert (contents[0], contents[-1]) == (texts[0], texts[-1])
    assert memory.validate() == []


def test_a_correction_of_an_exception_changes_the_exception_and_not_the_rule():
    memory = learned(("Use spaces", None), ("Use tabs", GO))
    done = memory.learn("Use spaces", cue=GO)
    assert done.placement == "supersede"
    assert [hit.memory.content for hit in memory.active(GO).hits] == ["Use spaces", "Use spaces"]
    assert not any(relation in ("conflicts", "overrides") for *_, relation in rule_links(memory))


def test_a_rule_that_no_longer_contradicts_another_is_told_beside_it():
    memory = learned(("Use spaces", GO), ("Use tabs", GO_TESTS))
    memory.learn("Use two spaces", cue=GO_TESTS)
    assert {link[1] for link in rule_links(memory)} <= {"similar-to"} | {text for text, _ in rules(memory)}


def test_an_unclear_change_leaves_both_rules_the_later_first_and_says_so():
    memory = learned(("Ask Dana before deploying", None))
    done = memory.learn("Ask Lee before deploying")
    assert (done.placement, done.change) == ("create", "unclear")
    assert "review lists: it is unclear" in done.reasons[0]
    assert [hit.content for hit in memory.active(GO)] == [
        "Ask Lee before deploying",
        "Ask Dana before deploying",
    ]
    (entry,) = memory.review()
    assert entry.reason.startswith("both are shown: it is unclear")


STAGING, PRODUCTION, LEGACY = (
    Cue(environment="staging"),
    Cue(environment="production"),
    Cue(file="legacy/**"),
)


def test_what_a_hook_heard_changes_the_rules_of_all_places_and_holds_in_all_of_them():
    memory = learned(("Deploy with Helm", PRODUCTION), ("Deploy with compose", STAGING))
    memory.learn("Deploy with Nomad", source="hook")
    (rule,) = memory.list(kinds=["behavior"])
    assert (rule.content, rule.when) == ("Deploy with Nomad", {"environment": ["production", "staging"]})
    assert memory.validate() == []


def test_what_a_hook_heard_changes_the_rule_and_leaves_its_exception_to_be_settled():
    for order in (
        (("Log in German", STAGING), ("Log in English", None)),
        (
            ("Log in English", None),
            ("Log in German", STAGING),
        ),
    ):
        memory = learned(*order)
        done = memory.learn("Log in French", source="hook")
        assert (done.placement, done.previous, done.when) == ("supersede", "Log in English", {})
        assert {rule.content for rule in memory.list(kinds=["behavior"])} == {
            "Log in French",
            "Log in German",
        }
        assert any("review lists both" in reason for reason in done.reasons)


def test_what_says_more_of_a_rule_is_not_taken_for_a_change_of_its_exception():
    memory = learned(("Use tabs", LEGACY), ("Use spaces", None))
    done = memory.learn("Use three spaces", cue=Cue(language="c"), source="hook")
    assert {rule.content for rule in memory.list(kinds=["behavior"])} == {
        "Use tabs",
        "Use spaces",
        "Use three spaces",
    }
    assert any("use-tabs" in reason and "review lists both" in reason for reason in done.reasons)


def test_a_condition_that_a_hook_inferred_is_no_exception():
    memory = opened()
    memory.learn(A, cue=Cue(language="python"), source="hook")
    done = memory.learn(B)
    assert (done.placement, done.when) == ("supersede", {})
    assert [rule.content for rule in memory.list(kinds=["behavior"])] == [B]


def test_a_reversal_takes_the_place_of_every_rule_that_it_reverses():
    memory = opened()
    memory.remember("Use httpx", kind="behavior", key="one")
    memory.remember("Prefer httpx to anything", kind="behavior", key="two")
    memory.learn(B)
    (rule,) = memory.list(kinds=["behavior"])
    assert rule.content == B
    memory.undo(memory.log(limit=1)[0].id)
    assert len(memory.list(kinds=["behavior"])) == 2


def test_a_merge_takes_the_place_of_the_rules_that_it_reverses():
    memory = opened()
    memory.remember(A, kind="behavior", key="a")
    memory.remember(B, kind="behavior", key="b")
    done = memory.learn("Prefer httpx over requests")
    assert (done.placement, done.key) == ("merge", "a")
    assert [rule.key for rule in memory.list(kinds=["behavior"])] == ["a"]
    assert any(reason.startswith("takes the place of b too") for reason in done.reasons)


@each_row(
    "texts",
    [
        ("Start commit messages with the number of the ticket", "Never commit .env files"),
        ("Write comments that say why, not what the code does", "Do not panic in library code"),
        ("Prefer iterators over index loops", "Create indexes concurrently"),
        ("Deploy to staging before production", "Never touch production without a backup"),
    ],
)
def test_a_word_in_another_role_reverses_nothing(texts):
    memory = learned(*((text, None) for text in texts))
    assert {rule.content for rule in memory.list(kinds=["behavior"])} == set(texts)
    assert memory.links(relation="conflicts") == []


@each_row(
    ("general", "exception"),
    [
        ("Never push to main", "Push documentation fixes to main"),
        ("Encrypt backups", "Store test backups without encryption"),
        ("Always ask before deleting a branch", "Delete merged branches without asking"),
        ("Sign all commits", "Do not sign fixup commits"),
        ("Never run migrations without a backup", "Never run migrations with a stale backup"),
        ("Retry failed jobs 3 times", "Retry failed payment jobs 0 times"),
    ],
)
def test_an_exception_takes_the_place_of_no_general_rule(general, exception):
    memory = learned((general, None), (exception, None))
    assert {rule.content for rule in memory.list(kinds=["behavior"])} == {general, exception}


@each_row(
    ("earlier", "later"),
    [
        ("Never push to main", "Push to main"),
        ("Don't fail open", "Fail open"),
        ("Use tabs", "Never use tabs, use spaces"),
    ],
)
def test_what_is_reversed_as_a_whole_is_replaced(earlier, later):
    (rule,) = learned((earlier, None), (later, None)).list(kinds=["behavior"])
    assert rule.content == later


@each_row(
    ("constraint", "lesser"),
    [
        (
            "Never restart the broker during ingestion hours",
            "Prefer restarting the broker with the rolling script",
        ),
        ("Never restart the broker during ingestion hours", "Restart the broker outside ingestion hours"),
        ("Never push to main before the tests pass", "Push to main when the tests pass"),
        ("Never release without a tag", "Release with a changelog"),
        ("Never write files outside the build folder", "Prefer writing files inside the build folder"),
        ("Never store tokens in the settings file", "Store the theme in the settings file"),
    ],
)
@each_row("cue", [None, CI])
def test_a_lesser_rule_silences_no_constraint_unless_it_clearly_says_the_opposite(constraint, lesser, cue):
    for first, second in permutations([(constraint, GO), (lesser, cue)]):
        memory = learned(first, second)
        answer = {hit.memory.content: hit.tier for hit in memory.active(CI).hits}
        assert answer == {constraint: "full", lesser: "full"}


@pytest.mark.parametrize("cue", [None, CI])
def test_a_rule_that_says_the_same_as_a_constraint_leaves_it_in_force(cue):
    for first, second in permutations(
        [("Never release without a tag", GO), ("Always release with a tag", cue)]
    ):
        hits = learned(first, second).active(CI).hits
        assert "Never release without a tag" in [hit.memory.content for hit in hits if hit.tier == "full"]


def test_a_reply_says_that_a_constraint_is_lifted_and_where():
    memory = opened()
    memory.learn("Never restart the broker", cue=GO)
    lifted = memory.learn("Restart the broker", cue=GO_TESTS)
    assert any("the constraint is not told there" in reason for reason in lifted.reasons)
    assert [hit.memory.key for hit in memory.active(GO_TESTS).hits] == ["restart-the-broker"]
    assert "never-restart-the-broker" in [hit.memory.key for hit in memory.active(GO).hits]
    replaced = memory.learn("Always restart the broker", cue=GO)
    assert (replaced.placement, replaced.previous) == ("supersede", "Never restart the broker")


def test_a_prohibition_is_added_to_a_rule_that_asks_for_the_same():
    memory = opened()
    first = memory.learn("Use the logger", cue=GO)
    second = memory.learn("Never use print, use the logger", cue=GO)
    assert (second.id, second.rule, second.previous) == (first.id, "constraint", "Use the logger")
    assert memory.get(first.key).content == "Never use print, use the logger"
    assert memory.learn("Use the logger", cue=GO).placement == "merge"
    assert memory.get(first.key).content == "Never use print, use the logger"


@pytest.mark.parametrize("order", [1, -1])
def test_a_rule_for_a_file_holds_there_against_that_of_its_folder_whichever_came_first(memory, order):
    rules = (("Use single quotes", "src/ui/**"), ("Use double quotes", "src/ui/app.ts"))
    for text, file in rules[::order]:
        memory.learn(text, cue=Cue(file=file))
    applies = {
        file: [hit.content for hit in memory.active(Cue(file=file))]
        for file in ("src/ui/app.ts", "src/ui/b.ts")
    }
    assert applies == {"src/ui/app.ts": ["Use double quotes"], "src/ui/b.ts": ["Use single quotes"]}
    (pair,) = memory.review()
    assert pair.reason.startswith("use-double-quotes is shown where both apply")


def test_a_rule_with_an_exception_takes_the_place_of_the_rule_without():
    memory = learned(("Answer in Portuguese", None), ("Answer in Portuguese except in code comments", None))
    assert [hit.content for hit in memory.active(Cue())] == ["Answer in Portuguese except in code comments"]


def test_a_rule_that_comes_beside_another_replaces_nothing():
    memory = learned(("Deploy on Mondays", None), ("Also deploy on Thursdays", None))
    assert {hit.content for hit in memory.active(Cue())} == {"Deploy on Mondays", "Also deploy on Thursdays"}
