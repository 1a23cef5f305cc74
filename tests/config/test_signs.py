from tests.rows import each_row

from priming.config.words import BUILT_IN, RelationSigns, sign_of_name


@each_row(
    "name",
    [
        *("contradicts", "is refuted by", "NEGATES", "in-conflict-with", "falsified_by", "counterexample-of"),
        *("ruled out by", "at-odds-with", "objects-to", "vs", "isIncompatibleWith", "mismatches"),
        *("not-the-same-as", "isn't like", "doesn’t agree with", "never-true-with", "nonequivalent"),
        *(
            "lacks_support_from",
            "fails-to-confirm",
            "no-evidence-for-agreement-with",
            "cannot-be-reconciled-with",
        ),
        "does-not-resolve-conflict-with",
    ],
)
def test_names_of_opposition_suppress(name):
    assert sign_of_name(name) == -1


@each_row(
    "name",
    [
        *("supports", "见", "similar-to", "renegade", "counterpart-of", "objects-in", "contract-of", "notes"),
        *("does-not-contradict", "doesn't contradict", "not-unlike", "does-not-rule-out", "cannot exclude"),
        *("non-conflicting", "resolves-conflict-with", "free-of-conflict", "no-longer-conflicts"),
        *("undisputed", "non-blocking", "works-without", "agrees-with", "negative"),
    ],
)
def test_all_other_names_excite(name):
    assert sign_of_name(name) == 1


def test_a_stored_sign_goes_before_the_name_but_not_for_what_is_built_in():
    signs = RelationSigns({"contradicts": 1, "helps": -1, "requires": -1, "conflicts": 1})
    assert [signs.sign(name) for name in ("contradicts", "helps", "requires", "conflicts", "other")] == [
        *(1, -1, 1, -1, 1)
    ]


def test_what_suppresses_is_what_a_profile_lists_and_what_is_not_built_in_and_opposes():
    signs = RelationSigns({"helps": -1})
    names = ("conflicts", "helps", "refutes", "requires", "merged-into")
    assert signs.suppressing(names, ("conflicts",)) == ("conflicts", "helps", "refutes")
    assert "conflicts" in BUILT_IN
