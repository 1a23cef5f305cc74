import csv
from collections import Counter
from pathlib import Path

from tests.rows import each_row

from priming.sleep.procedures import ProcedureText, compare_procedures, differing, observes
from priming.text.statements.judge import judge

PAIRS = Path(__file__).with_name("procedure_pairs.tsv")
DIFFERENT = Path(__file__).with_name("different_steps.txt")


def read(text):
    title, _, steps = text.partition(":")
    return ProcedureText(title.strip(), tuple(step.strip() for step in steps.split("|")))


def likeness(*steps):
    return compare_procedures(*(ProcedureText("", each) for each in steps)).likeness


def pairs():
    with PAIRS.open(encoding="utf-8") as file:
        lines = (line for line in file if not line.startswith("#"))
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def both_ways(pair):
    """What either is to the other, the same in both orders."""
    left, right = read(pair["left"]), read(pair["right"])
    ways = {compare_procedures(a, b).likeness for a, b in ((left, right), (right, left))}
    assert len(ways) == 1, f"the order decides: {pair}"
    return ways.pop()


def test_nothing_is_merged_wrongly_and_what_is_unclear_stays_beside_its_like():
    counts = Counter((pair["merge"], both_ways(pair)) for pair in pairs())
    assert counts["no", "same"] == counts["no", "part"] == 0
    # Of what may be merged the judge proves a tenth: a synonym is no proof. Most of the rest is told as alike.
    assert counts["yes", "same"] + counts["yes", "part"] >= 28
    assert counts["yes", "alike"] >= 190
    assert counts["yes", "other"] <= 10


def test_steps_that_ask_for_different_things_are_hardly_ever_the_same():
    lines = [line.split(" / ") for line in DIFFERENT.read_text("utf-8").splitlines()[1:]]
    same = [line for line in lines if "same" in (judge(*line).kind, judge(*line[::-1]).kind)]
    assert len(same) <= 4


@each_row(
    ("left", "right", "words"),
    [
        ("Enable the flag", "Disable the flag", ("enable", "disable")),
        ("Deploy to staging", "Deploy to production", ("staging", "production")),
        ("Install v1", "Install v2", ("v1", "v2")),
        ("Copy A to B", "Copy B to A", ()),
        ("Scale the pool up", "Scale the pool down", ("up", "down")),
    ],
)
def test_the_words_that_make_the_difference_are_named(left, right, words):
    first, second = (ProcedureText(title, ("Open the console.", "Save it.")) for title in (left, right))
    change = compare_procedures(first, second)
    assert (change.likeness, change.words) == ("alike", words)
    assert differing([left], [right]) == words


@each_row(
    ("left", "right"),
    [
        ("Wait for 30s", "Wait for 30 seconds"),
        ("Do not forget to lock the door", "Lock the door"),
        ("In the console, open the log", "Open the log in the console"),
        ("2) Add two spoons of salt", "Add two spoons of salt"),
        ("Then run `git fetch`.", "run git fetch"),
        ("Heat 250 grams of butter", "Heat 250 g of butter"),
        ("Finally, please delete the folder", "Remove the directory"),
        ("The door must be locked", "Lock the door"),
    ],
)
def test_a_step_whose_every_difference_is_explained_is_that_step(left, right):
    assert likeness((left, "Save."), (right, "Save.")) == "same"


@each_row(
    ("left", "right"),
    [
        ("Delete it", "Never delete it"),
        ("Test before you deploy", "Deploy before you test"),
        ("Wait while load > 5", "Wait while load < 5"),
        ("Run chmod +x on it", "Run chmod -x on it"),
        ("Send the form", "Sign the form"),
        ("✅", "❌"),
        ("Read it. " * 400 + "Keep it.", "Read it. " * 400 + "Delete it."),
    ],
)
def test_a_step_with_a_difference_is_another(left, right):
    assert likeness((left, "Save."), (right, "Save.")) in ("alike", "other")


def test_the_order_of_steps_counts():
    steps = ("Stop the service.", "Copy the files.", "Start the service.")
    change = compare_procedures(ProcedureText("", steps), ProcedureText("", steps[::-1]))
    assert change.likeness in ("alike", "other")
    assert change.reason == "the same steps in another order"


def test_a_step_that_only_looks_is_taken_over():
    steps = ("Stop the service.", "Start the service.")
    change = compare_procedures(
        *(ProcedureText("Restart it", each) for each in (steps, (*steps, "Check the log.")))
    )
    assert (change.likeness, change.added) == ("part", ("Check the log.",))
    assert likeness(steps, (*steps, "Delete the log.")) == "alike"
    assert not observes("Check the log and delete it.")
    assert not observes("Never look at it.")


def test_a_title_that_only_one_has_counts_if_it_says_more_than_the_steps():
    steps = ("Open the console.", "Save it.")
    bare = ProcedureText("", steps)
    change = compare_procedures(ProcedureText("Deploy to staging", steps), bare)
    assert (change.likeness, set(change.words) >= {"deploy", "staging"}) == ("alike", True)
    assert compare_procedures(ProcedureText("Open the console", steps), bare).likeness == "same"


def test_triggers_that_differ_keep_procedures_apart():
    full, empty = (
        ProcedureText("Look at the disk", ("Open it.",), f"the disk is {word}") for word in ("full", "empty")
    )
    change = compare_procedures(full, empty)
    assert (change.likeness, change.words) == ("alike", ("full", "empty"))
