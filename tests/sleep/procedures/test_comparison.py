import csv
from collections import Counter
from pathlib import Path

import pytest

from priming.sleep.procedures.comparison import actions, compare_procedures
from priming.sleep.procedures.reading import ProcedureText
from priming.sleep.procedures.steps import compare_steps
from priming.text.word_lists import read_word_groups

PAIRS = Path(__file__).with_name("procedure_pairs.tsv")
DIFFERENT = Path(__file__).with_name("different_steps.txt")
LABELS = {"same", "paraphrase", "opposite", "target", "version", "part"}


def read(text):
    title, _, steps = text.partition(":")
    return ProcedureText(title.strip(), tuple(step.strip() for step in steps.split("|")))


def pairs():
    with PAIRS.open(encoding="utf-8") as file:
        lines = (line for line in file if not line.startswith("#"))
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def merges(pair):
    """Whether either may stand for the other, in both orders."""
    left, right = read(pair["left"]), read(pair["right"])
    both = {compare_procedures(a, b).likeness in ("same", "part") for a, b in ((left, right), (right, left))}
    assert len(both) == 1, f"the order decides: {pair}"
    return both.pop()


def test_the_pairs_are_what_they_are_said_to_be():
    sizes = Counter(pair["half"] for pair in pairs())
    assert min(sizes["tuning"], sizes["held-out"]) >= 50
    assert sizes["adversarial"] >= 40
    assert {pair["label"] for pair in pairs()} == LABELS
    assert {pair["merge"] for pair in pairs()} == {"yes", "no"}


def test_nothing_is_merged_wrongly():
    assert [pair for pair in pairs() if pair["merge"] == "no" and merges(pair)] == []


@pytest.mark.parametrize(
    ("half", "least"),
    [
        ("tuning", 0.8),
        ("held-out", 0.8),
        ("adversarial", 0.8),
        ("second", 0.8),
        ("third", 0.8),
        ("fourth", 0.8),
        ("fifth", 0.8),
        ("sixth", 0.8),
        ("seventh", 0.8),
        ("eighth", 0.8),
        ("ninth", 0.8),
    ],
)
def test_most_of_what_may_be_merged_is(half, least):
    right = [merges(pair) for pair in pairs() if pair["half"] == half and pair["merge"] == "yes"]
    assert sum(right) >= least * len(right) > 0


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ("Enable the flag", "Disable the flag", ("enable", "disable")),
        ("Deploy to staging", "Deploy to production", ("staging", "production")),
        ("Install v1", "Install v2", ("v1", "v2")),
        ("Send it on Monday", "Send it on Friday", ("monday", "friday")),
        ("Ask Ada", "Ask Grace", ("ada", "grace")),
        ("Scale the pool up", "Scale the pool down", ("scale up", "scale down")),
        ("Cook it with salt", "Cook it without salt", ("salt", "salt")),
    ],
)
def test_the_words_that_make_the_difference_are_named(left, right, words):
    change = compare_steps(left, right)
    assert (change.kind, tuple(word.casefold() for word in change.words)) == ("variant", words)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Copy the dump from Kestrel to Heron", "Copy the dump from Heron to Kestrel"),
        ("Copy A to B", "Copy B to A"),
        ("Replace salt with sugar", "Replace sugar with salt"),
        ("Merge it before the tests pass", "Merge it after the tests pass"),
        ("Test before you deploy", "Deploy before you test"),
        ("Delete it", "Never delete it"),
        ("Keep at least 3 copies", "Keep at most 3 copies"),
        ("Set flag X to on", "Set flag X to off"),
        ("Set restart to always", "Set restart to never"),
        ("Answer yes", "Answer no"),
        ("Press the on button", "Press the off button"),
        ("Lay the cable over the beam", "Lay the cable under the beam"),
        ("Take it from the shelf", "Put it on the shelf"),
        ("Zoom in", "Zoom out"),
        ("Set the offset to -5", "Set the offset to 5"),
        ("Wait while load > 5", "Wait while load < 5"),
        ("Run chmod +x on it", "Run chmod -x on it"),
        ("Restore the first backup", "Restore the second backup"),
        ("First backup", "Second backup"),
        ("✅", "❌"),
        ("Remove the old lock file", "Unlock the old file"),
        ("Add a second remote", "Add a remote and wait 1 second"),
        ("Add one spoon", "Add two spoons"),
        ("Take one", "Take a dozen"),
        ("Send it every day", "Send it every week"),
        ("Read it. " * 200 + "Keep it.", "Read it. " * 200 + "Delete it."),
    ],
)
def test_the_same_words_the_other_way_round_are_not_the_same(left, right):
    assert compare_steps(left, right).kind != "same"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Shut the server down", "Stop the server."),
        ("Wait for 30s", "Wait 30 seconds"),
        ("Make a backup of the database", "Back up the db"),
        ("Run the test suite", "Run the tests"),
        ("Do not forget to lock the door", "Lock the door"),
        ("In the console, open the log", "Open the log in the console"),
        ("Check the caller's name", "Verify the name of the caller"),
        ("2) Add one spoon of salt", "Add a spoon of salt"),
        ("Commit the lockfile, then force-push it", "Commit the lock file, then force push it"),
        ("Fill in the form", "Fill the form out"),
        ("Sauté 250 grams of onions", "Sauté 250 g of onions"),
        ("Sauté the onions", "Fry the onions"),
        ("Open an issue", "Create an issue"),
    ],
)
def test_a_step_in_other_words_is_that_step(left, right):
    assert compare_steps(left, right).kind == "same"


def test_a_pronoun_means_the_object_of_the_step_before():
    text = ProcedureText("", ("Copy the dump to the server.", "Delete it."))
    assert compare_procedures(text, ProcedureText("", (text.steps[0], "Delete the dump."))).likeness == "same"
    assert (
        compare_procedures(text, ProcedureText("", (text.steps[0], "Delete the server."))).likeness == "alike"
    )


def test_one_step_can_be_two():
    left = ProcedureText("", ("Build and push the image.", "Tell Ada."))
    right = ProcedureText("", ("Build the image.", "Push the image.", "Tell Ada."))
    assert compare_procedures(left, right).likeness == "same"
    assert actions("Stop the server; delete the builds") == ["Stop the server", "delete the builds"]
    assert actions("Stop") == ["Stop"]


def test_the_order_of_steps_counts():
    steps = ("Stop the service.", "Copy the files.", "Start the service.")
    change = compare_procedures(ProcedureText("", steps), ProcedureText("", steps[::-1]))
    assert change.likeness in ("alike", "other")
    assert change.reason == "the same steps in another order"


def test_a_title_that_only_one_has_counts_if_it_names_something():
    steps = ("Open the console.", "Save it.")
    bare = ProcedureText("", steps)
    assert compare_procedures(ProcedureText("Deploy to staging", steps), bare).words == ("deploy", "staging")
    assert compare_procedures(ProcedureText("Open the console", steps), bare).likeness == "same"


def test_triggers_that_differ_keep_procedures_apart():
    full, empty = (
        ProcedureText("Look at the disk", ("Open it.",), f"the disk is {word}") for word in ("full", "empty")
    )
    change = compare_procedures(full, empty)
    assert (change.likeness, change.words) == ("alike", ("full", "empty"))


def test_steps_that_ask_for_different_things_are_not_the_same():
    lines = DIFFERENT.read_text("utf-8").splitlines()[1:]
    same = [
        line
        for line in lines
        if any(is_same(*order) for order in (line.split(" / "), line.split(" / ")[::-1]))
    ]
    assert same == []


def is_same(left, right):
    return compare_steps(left, right).kind == "same"


@pytest.mark.parametrize("step", ["{} the widget", "Look first, then {} it to Heron"])
def test_no_actions_listed_as_distinct_are_the_same(step):
    same = []
    for words in read_word_groups("step_distinct"):
        sides = [side.split() for side in " ".join(words).split(" - ")]
        pairs = [
            (a, b) for i, ours in enumerate(sides) for theirs in sides[i + 1 :] for a in ours for b in theirs
        ]
        texts = [(a.replace("_", " "), b.replace("_", " ")) for a, b in pairs]
        same += [pair for pair in texts if is_same(*map(step.format, pair))]
    assert same == []


@pytest.mark.parametrize(
    ("left", "right", "other"),
    [
        ("Purge the cache", "Clear the cache", "log"),
        ("Fill in the form", "Complete the form", "hole"),
        ("Tag the issue", "Label the issue", "commit"),
        ("Terminate the contract", "Cancel the contract", "process"),
    ],
)
def test_the_object_decides_whether_two_verbs_mean_the_same(left, right, other):
    noun = left.split()[-1]
    assert is_same(left, right)
    assert not is_same(left.replace(noun, other), right.replace(noun, other))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (("Unmount it.", "Grow it.", "Mount it again."), ("Unmount it.", "Grow it.", "Mount it.")),
        (("Make a new key.", "Save the key."), ("Make a new key.", "Save the new key.")),
        (("Export the table.", "Send the file."), ("Export the table.", "Send the export.")),
        (
            ("Open the form.", "Read the notes.", "Sign it."),
            ("Open the form.", "Read the notes.", "Sign the form."),
        ),
    ],
)
def test_a_step_is_read_in_the_light_of_the_steps_before_it(left, right):
    assert compare_procedures(ProcedureText("", left), ProcedureText("", right)).likeness == "same"
    alone = [ProcedureText("", steps[-1:]) for steps in (left, right)]
    assert compare_procedures(*alone).likeness != "same" or "it" in right[-1].split()


def test_verbs_of_titles_that_are_near_each_other_mean_the_same_where_all_steps_do():
    steps = ("Build the site.", "Copy it to the host.", "Tell the team.")
    titles = ("Deploy the site", "Release the site")
    assert compare_procedures(*(ProcedureText(title, steps) for title in titles)).likeness == "same"
    longer = ProcedureText(titles[1], (*steps, "Check the log."))
    assert compare_procedures(ProcedureText(titles[0], steps), longer).likeness == "alike"


OPPOSITES = [
    (left, right)
    for group in read_word_groups("antonyms")
    for left in group[: group.index("-")]
    for right in group[group.index("-") + 1 :]
]


@pytest.mark.parametrize("step", ["{} the widget", "Set it to {}", "{}"])
def test_no_listed_opposites_are_the_same(step):
    same = [
        (left, right)
        for left, right in OPPOSITES
        if compare_steps(step.format(left), step.format(right)).kind == "same"
    ]
    assert same == []
