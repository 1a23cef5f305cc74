from tests.rows import each_row

from priming.config.words import BUILT_IN, RelationSigns, sign_of_name


@each_row(
    "name",
    [
        *("contradicts", "refutes", "negates", "conflicts", "disproves", "opposes", "denies", "rebuts"),
        *("contradicted-by", "is refuted by", "conflicts_with", "in-conflict-with", "isIncompatibleWith"),
        *("NEGATES", "evidence-against", "counter-argument", "counterexample-of", "mutually-exclusive"),
        *("disagrees-with", "invalidates", "falsified_by", "undermines", "inhibits", "attacks", "undercuts"),
        *(
            "contrary-to",
            "rules-out",
            "ruled out by",
            "not-the-same-as",
            "notEqualTo",
            "unlike",
            "isn't like",
            "at-odds-with",
        ),
        *(
            "does-not-support",
            "doesn’t agree with",
            "never-true-with",
            "no-longer-holds-given",
            "unsupported-by",
        ),
        *(
            "cannot-be-reconciled-with",
            "lacks_support_from",
            "fails-to-confirm",
            "no-evidence-for-agreement-with",
        ),
        *(
            "dissimilar_to",
            "differs-from",
            "distinct-from",
            "mismatches",
            "prohibits",
            "FORBIDS",
            "objects-to",
            "vs",
        ),
        *(
            "nonequivalent",
            "non-equivalent",
            "anti-pattern-of",
            "does-not-resolve-conflict-with",
            "disallowed-by",
        ),
    ],
)
def test_names_of_opposition_suppress(name):
    assert sign_of_name(name) == -1


@each_row(
    "name",
    [
        *("supports", "reminds-of", "explains", "causes", "blocks", "counterpart-of", "renegade", "negative"),
        *("does-not-contradict", "doesn't contradict", "non-conflicting", "resolves-conflict-with", "见"),
        *("similar-to", "requires", "kept-beside", "follows", "denotes", "dense-with", "objective-of"),
        *(
            "not-unlike",
            "does-not-rule-out",
            "isn't opposed to",
            "cannot exclude",
            "free-of-conflict",
            "settles",
            "undisputed",
        ),
        *(
            "non-blocking",
            "improves",
            "informs",
            "includes",
            "objects-in",
            "notes",
            "contract-of",
            "works-without",
            "note",
        ),
        *(
            "no-longer-conflicts",
            "content-of",
            "current-with",
            "distinctive-of",
            "anticipates",
            "agrees-with",
            "like",
        ),
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
