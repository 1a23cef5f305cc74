import pytest

from priming.text.verbs import infinitive, is_participle


@pytest.mark.parametrize(
    "verb",
    [
        "ask",
        "push",
        "merge",
        "delete",
        "release",
        "create",
        "update",
        "rename",
        "add",
        "pass",
        "log",
        "drop",
        "commit",
        "tag",
        "edit",
        "check",
        "document",
        "apply",
        "handle",
        "enable",
        "cache",
        "escape",
        "parse",
        "raise",
        "store",
        "ignore",
        "configure",
        "include",
        "provide",
        "describe",
        "type",
        "define",
        "explain",
        "migrate",
        "generate",
        "format",
        "mock",
        "install",
        "rebase",
        "wrap",
        "validate",
        "move",
        "save",
        "start",
        "end",
        "name",
        "pin",
        "share",
        "declare",
        "package",
    ],
)
def test_the_infinitive_of_a_regular_participle(verb):
    double = (
        verb if verb not in ("log", "drop", "tag", "commit", "format", "wrap", "pin") else verb + verb[-1]
    )
    participle = double[:-1] + "ied" if verb == "apply" else double + ("d" if double.endswith("e") else "ed")
    assert (infinitive(participle), is_participle(participle)) == (verb, True)


def test_irregular_participles_are_listed():
    assert [infinitive(word) for word in ("written", "ran", "kept", "put", "Thrown")] == [
        "write", "run", "keep", "put", "throw",
    ]  # fmt: skip
