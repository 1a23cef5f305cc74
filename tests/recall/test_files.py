"""Which files a task brings up: from the memories that match it, over files that change together and later names."""

import pytest

from priming import HashedEmbedder, Memory
from priming.errors import ParamError

HISTORY = [
    ("Close idle connections", ["src/pool.py", "tests/test_pool.py"]),
    ("Read the proxy from the environment", ["src/proxy.py"]),
    ("Give up after three redirects", ["src/redirect.py", "docs/guide.md"]),
    ("Count the connections of each host", ["src/pool.py"]),
    ("Format everything", ["src/pool.py", "src/proxy.py", "src/redirect.py", "docs/guide.md", "setup.py"]),
    ("Raise an error for an empty host", ["src/url.py"]),
]


@pytest.fixture
def memory():
    with Memory.open("sqlite://", embedder=HashedEmbedder(256)) as opened:
        opened.remember_many(
            {"content": text, "key": f"c{i}", "files": files} for i, (text, files) in enumerate(HISTORY)
        )
        yield opened


def paths(memory, task, **more):
    return [hit.memory.content for hit in memory.recall(task, kinds=["file"], **more).hits]


@pytest.mark.parametrize(
    ("task", "file"),
    [
        ("idle connections leak", "src/pool.py"),
        ("proxy variables in the environment", "src/proxy.py"),
        ("too many redirects", "src/redirect.py"),
        ("an empty host is an error", "src/url.py"),
    ],
)
def test_a_task_brings_up_the_files_of_the_memories_that_match_it(memory, task, file):
    assert paths(memory, task)[0] == file


def test_the_path_of_a_file_leads_from_the_memory_that_matches(memory):
    hit = memory.recall("proxy from the environment", kinds=["file"]).hits[0]
    (step,) = hit.path
    assert (step.source, step.relation, step.target) == ("c1", "touches", "file:src/proxy.py")


def test_a_memory_of_many_files_says_less_about_each(memory):
    memory.remember("Rename the timeout option", files=["src/options.py"])
    memory.remember("Rename the timeout option everywhere", files=[f"docs/{i}.md" for i in range(20)])
    assert paths(memory, "rename the timeout option")[0] == "src/options.py"


def test_a_later_memory_says_more_than_an_earlier_one(memory):
    for i, file in enumerate(("old.py", *(f"between/{i}.py" for i in range(8)), "new.py")):
        memory.remember(
            "Parse the header" if file in ("old.py", "new.py") else f"Other thing {i}", files=[file], key=file
        )
    assert paths(memory, "parse the header")[:2] == ["new.py", "old.py"]


@pytest.mark.parametrize(
    "task", ["clean up src/url.py", "clean up url.py", "clean up URL.py!", "clean ./src/url.py"]
)
def test_a_file_that_the_task_names_comes_first(memory, task):
    hit = memory.recall(task, kinds=["file"]).hits[0]
    assert hit.memory.content == "src/url.py"
    assert hit.components["named"] == 1.0


def test_a_word_of_the_task_can_be_the_name_of_a_file(memory):
    assert "src/redirect.py" in paths(memory, "the redirect module is untidy")[:2]


def test_the_words_of_a_path_bring_up_what_touched_it(memory):
    memory.remember("Say more", files=["src/http/cookieJar.py"])
    assert paths(memory, "expire a cookie")[0] == "src/http/cookieJar.py"


def test_files_are_no_hits_of_an_ordinary_recall_and_memories_none_of_files(memory):
    assert {hit.memory.kind for hit in memory.recall("connections of a host").hits} == {"episode"}
    assert {hit.memory.kind for hit in memory.recall("connections of a host", kinds=["file"]).hits} == {
        "entity"
    }


def test_names_of_other_things_are_no_files(memory):
    memory.remember("Grace Hopper moved RetryPolicy into `policy.py`", speaker="Ada Byron")
    result = paths(memory, "Grace Hopper and the RetryPolicy of policy.py", limit=100)
    assert not {"Grace Hopper", "RetryPolicy", "policy.py", "Ada Byron"} & set(result)


def test_a_text_that_names_a_file_speaks_for_it_too(memory):
    memory.remember("Sockets hang at exit, see proxy.py")
    assert paths(memory, "sockets hang at exit")[0] == "src/proxy.py"
    assert memory.list(kinds=["entity"], matching="proxy.py")[0].key == "file:src/proxy.py"


def test_a_file_that_was_removed_is_not_offered_until_something_touches_it_again(memory):
    memory.remember("Drop the proxy", key="drop")
    memory.link("file:src/proxy.py", "drop", "removed-in")
    assert "src/proxy.py" not in paths(memory, "proxy from the environment", limit=100)
    memory.remember("Bring the proxy back", files=["src/proxy.py"])
    assert paths(memory, "proxy from the environment")[0] == "src/proxy.py"


def test_a_renamed_file_has_the_history_of_its_earlier_names(memory):
    for old, new in (("src/proxy.py", "src/tunnel.py"), ("src/tunnel.py", "src/net/tunnel.py")):
        memory.remember(f"Move {old}", key=f"move {old}", files=[new])
        memory.link(old := f"file:{old}", f"file:{new}", "renamed-to", 0.95)
        memory.link(old, f"move {old.removeprefix('file:')}", "removed-in")
    hits = memory.recall("read variables of the environment", kinds=["file"]).hits
    assert hits[0].memory.content == "src/net/tunnel.py"
    assert [step.relation for step in hits[0].path] == ["touches", "renamed-to", "renamed-to"]


def test_a_file_that_changes_with_an_active_one_is_offered(memory):
    memory.remember("Keep a list", files=["AUTHORS"])
    memory.link("file:src/url.py", "file:AUTHORS", "co-changed", 0.9)
    assert "AUTHORS" in paths(memory, "error for an empty host", limit=100)
    assert "AUTHORS" not in paths(memory, "error for an empty host", limit=100, spread=False)


def test_verdicts_on_files_move_the_links_to_them(memory):
    def weight():
        (link,) = [
            link for link in memory.links("c1", relation="touches") if link.target == "file:src/proxy.py"
        ]
        return link.weight

    before = weight()
    recall = memory.recall("proxy from the environment", kinds=["file"])
    memory.feedback(recall.recall_id, used=["file:src/proxy.py"])
    assert weight() > before
    memory.undo(memory.log(limit=1)[0].id)
    assert weight() == before


def test_a_task_that_shares_nothing_with_the_history_brings_up_nothing(memory):
    answer = memory.recall("zwölf Boxkämpfer", kinds=["file"])
    assert (answer.hits, answer.reason) == ((), "nothing above the floor")


def test_without_files_the_answer_says_how_to_get_some():
    with Memory.open("sqlite://", embedder=HashedEmbedder(256)) as memory:
        memory.remember("A note without a file.")
        answer = memory.recall("a note", kinds=["file"])
    assert answer.hits == ()
    assert answer.reason == "no memory touches a file: import a git history, or remember with files"


def test_files_cannot_be_asked_for_beside_other_kinds(memory):
    with pytest.raises(ParamError, match="must be the only kind"):
        memory.recall("pool", kinds=["file", "fact"])


def test_what_was_known_earlier_brings_up_what_was_touched_by_then(memory):
    at = memory.get("c5").recorded_at
    memory.remember("An empty host is an error", files=["src/later.py"])
    assert "src/later.py" in paths(memory, "an empty host is an error")
    assert "src/later.py" not in paths(memory, "an empty host is an error", known_at=at)


def test_a_file_that_every_memory_touches_comes_after_the_one_that_the_task_is_about(memory):
    works = [
        f"{verb} the {thing}"
        for verb in ["paint", "oil", "mend", "sweep"]
        for thing in ["fence", "hinge", "gate"]
    ]
    memory.remember_many(
        {"content": f"{work} {i}", "key": f"w{i}", "files": ["DIARY.txt", f"{work.split()[0]}.txt"]}
        for i, work in enumerate(works * 10)
    )
    hits = memory.recall("oil hinge", kinds=["file"]).hits
    assert [hit.memory.content for hit in hits[:2]] == ["oil.txt", "DIARY.txt"]
    assert hits[0].score > 2 * hits[1].score
    assert memory.recall("write DIARY.txt anew", kinds=["file"]).hits[0].memory.content == "DIARY.txt"
