from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.core.arguments.normal_forms import Globs, backwards
from priming.core.when import findings

parts = st.sampled_from(
    ["a", "b", "ab", "*", "a*", "*b", "?", "**", "***", "[ab]", "[!a]*", "[b-a]", "A[", "]b", "{a,*}b", "."]
)
patterns = st.tuples(
    st.sampled_from(["", "/"]),
    st.lists(parts, min_size=1, max_size=5),
    st.sampled_from(["", "/", "/", "/**"]),
).map(lambda pieces: pieces[0] + "/".join(pieces[1]) + pieces[2])
paths = st.lists(st.sampled_from(["a", "b", "ab", "ba", "B", "a[", "]b", ".", "*", "?"]), max_size=6).map(
    "/".join
)


def matches_by_trial(pattern, path):
    """The same law in the plainest way, part by part with every choice."""
    if "{a,*}" in pattern:
        return any(matches_by_trial(pattern.replace("{a,*}", each, 1), path) for each in ("a", "*"))
    steps = [part for part in path.casefold().split("/") if part not in ("", ".")]
    globs = [part for part in pattern.casefold().split("/") if part not in ("", ".")]
    globs = ["**"] * (not pattern.startswith("/")) + globs + ["**"] * pattern.endswith("/")

    def fits(globs, steps):
        if not globs:
            return not steps
        if globs[0] == "**":
            return any(fits(globs[1:], steps[number:]) for number in range(len(steps) + 1))
        return bool(steps) and fnmatchcase(steps[0], globs[0]) and fits(globs[1:], steps[1:])

    return fits(globs, steps)


@given(st.lists(patterns, min_size=1, max_size=3), st.lists(paths, min_size=1, max_size=3))
def test_a_path_matches_the_globs_that_a_trial_of_each_part_matches(patterns, paths):
    expected = [[matches_by_trial(pattern, path) for path in paths] for pattern in patterns]
    assert [
        [Globs(frozenset((pattern,))).match(backwards(path)) for path in paths] for pattern in patterns
    ] == expected
    message = findings({"file": patterns}, {"file": paths})["file"]
    assert message == "absent" or (message == "confirmed") is any(
        hit for hits in expected for hit, path in zip(hits, paths, strict=True) if path
    )


@each_row("unit", ["**/*/", "*a", "?*", "**/*a*/", "[!b]*", "[a-z]", "{,*}", "a/"])
def test_many_memories_of_fifty_kilobytes_end_at_once_whatever_they_repeat(unit):
    cue = {"file": ["a/" * 2_000, "a" * 4_000, "ab" * 100]}
    for number in range(2):
        globs = [f"z{number}/{at}/{unit * 400}"[:500] for at in range(100)]
        assert findings({"file": globs}, cue) == {"file": "contradicted"}


def test_a_plain_glob_counts_beside_any_number_of_alternatives():
    crowd = ["{a,b}" * 6 + "/" + "c" * 400 + str(number) for number in range(99)]
    assert findings({"file": [*crowd, "*.py"]}, {"file": "src/app.py"}) == {"file": "confirmed"}
