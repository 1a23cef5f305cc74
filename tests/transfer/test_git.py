"""Git histories, made by the real git, as memories."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from priming import Memory
from priming.embedding.protocol import HashedEmbedder
from priming.errors import ParamError
from priming.transfer.git import MOST_FILES, MOST_LETTERS, YOUNG, open_repository, read
from priming.transfer.importers import Entry, Tie
from priming.transfer.run import run

pytestmark = pytest.mark.slow


def episodes(path):
    return [item.arguments for item in read(path) if isinstance(item, Entry)]


def ties(path):
    return [item for item in read(path) if isinstance(item, Tie)]


def test_a_commit_is_an_episode_with_its_author_time_files_and_counts_and_no_address(work):
    name = work.commit("Add the parser\n\nIt reads.", {"a.py": "1\n2\n"}, at="2026-03-01T23:30:00+02:00")
    (episode,) = episodes(work.folder)
    assert episode["key"] == f"commit:{name[:12]}"
    assert episode["content"] == "Add the parser\n\nIt reads."
    assert episode["files"] == ["a.py"]
    assert episode["speaker"] == "Ada Byron"
    assert "session" not in episode
    assert episode["occurred_at"] == datetime.fromisoformat("2026-03-01T23:30:00+02:00")
    assert episode["metadata"] == {
        "commit": name,
        "author": "Ada Byron",
        "files": 1,
        "insertions": 2,
        "deletions": 0,
    }
    assert "example.org" not in str(episode)
    assert (episode["source"], episode["trust"]) == (f"git:{work.folder}", "tool")


def test_commits_come_oldest_first_and_a_day_is_no_session(work, memory):
    for day, message in ((1, "one"), (1, "two"), (2, "three")):
        work.commit(message, [f"{message}.py"], at=f"2026-03-0{day}T09:00:00+01:00")
    run(memory, "git", work.folder)
    stored = memory.list(kinds=["episode"])
    assert [item.gist for item in stored] == ["one", "two", "three"]
    assert memory.links(relation="next") == []
    assert memory.links(relation="part-of") == []


def test_a_file_is_a_bare_name_to_which_the_commits_that_changed_it_are_linked(work, memory):
    first = work.commit("first", ["src/a.py"])
    second = work.commit("second", ["src/a.py", "src/b.py"])
    run(memory, "git", work.folder)
    file = memory.get("file:src/a.py")
    assert (file.content, file.kind, file.source, dict(file.metadata)) == (
        "src/a.py",
        "entity",
        "rules",
        {"form": "file"},
    )
    touched = [(link.source, link.target) for link in memory.links(relation="touches")]
    assert sorted(touched) == sorted(
        [
            (f"commit:{first[:12]}", "file:src/a.py"),
            (f"commit:{second[:12]}", "file:src/a.py"),
            (f"commit:{second[:12]}", "file:src/b.py"),
        ]
    )


ODD = [
    "a file.py",
    'it\'s "quoted".txt',
    "Grüße/日本.md",
    "tab\there.c",
    "line\nbreak.c",
    " leading",
    "`ticked`.sh",
    "commit",
    "-dash",
    "no_ending",
    "a => b",
    "{x => y}/z.py",
    "x" * 90 + ".py",
]


def test_odd_file_names_stay_apart_and_fit_on_a_line(work, memory):
    work.commit("odd", ODD)
    (episode,) = episodes(work.folder)
    assert episode["metadata"]["files"] == len(ODD)
    assert run(memory, "git", work.folder).skipped == ()
    files = memory.list(kinds=["entity"])
    assert {name for name in ODD if name.isprintable()} < {file.content for file in files}
    assert all(file.key.isprintable() for file in files)
    assert len({link.target for link in memory.links(relation="touches")}) == len(ODD)


@pytest.mark.parametrize(
    "name", ["src/app.py", "a file.py", "Grüße/日本.md", "Makefile", "no_ending", "LICENSE"]
)
def test_a_commit_touches_the_files_that_it_changed(work, memory, name):
    commit = work.commit("change it", [name])
    run(memory, "git", work.folder)
    touched = {link.target for link in memory.links(f"commit:{commit[:12]}", relation="touches")}
    assert touched == {f"file:{name}"}


def test_importing_twice_stores_nothing_new(work, memory):
    for i in range(5):
        work.commit(f"step {i}", ["a b.py", f"part{i}.py"], at=f"2026-03-0{i + 1}T09:00:00Z")
    work.git("mv", "a b.py", "c.py")
    work.commit("rename")
    first = run(memory, "git", work.folder)
    before = memory.stats()
    second = run(memory, "git", work.folder)
    assert (first.stored, first.skipped) == (6, ())
    assert (second.stored, second.duplicates, second.links, second.skipped) == (0, 6, 0, ())
    assert (memory.stats().memories, memory.stats().links) == (before.memories, before.links)


def test_new_commits_join_those_imported_before(work, memory):
    work.commit("old", ["a.py"])
    run(memory, "git", work.folder)
    work.commit("new", ["a.py"])
    report = run(memory, "git", work.folder)
    assert (report.stored, report.duplicates) == (1, 1)
    assert [record.gist for record in memory.list(kinds=["episode"])] == ["old", "new"]


def test_a_history_imported_in_parts_gives_the_links_of_one_imported_at_once(work, memory):
    steps = (["a", "b"], ["a", "b"], ["b", "c"], ["a", "b"], ["b", "c"])
    names = [work.commit(f"step {i}", files) for i, files in enumerate(steps)]
    work.git("mv", "a", "d")
    work.commit("rename")
    for until in (names[1], names[3][:9], "main"):
        run(memory, "git", work.folder, until=until)
    with Memory.open("sqlite://", embedder=HashedEmbedder()) as whole:
        run(whole, "git", work.folder)
        assert links_of(memory) == links_of(whole)


def links_of(memory):
    return {
        (link.source, link.relation, link.target, round(link.weight, 4)) for link in memory.links(limit=1000)
    }


def test_only_commits_up_to_a_revision_are_read(work, memory):
    work.commit("one", ["a"])
    work.git("tag", "v1")
    work.commit("two", ["b"])
    run(memory, "git", work.folder, until="v1")
    assert [record.gist for record in memory.list(kinds=["episode"])] == ["one"]
    run(memory, "git", work.folder)
    assert [record.gist for record in memory.list(kinds=["episode"])] == ["one", "two"]


@pytest.mark.parametrize("revision", ["no-such-branch", "--all", "", "HEAD:a"])
def test_a_revision_that_does_not_exist_is_refused(work, memory, revision):
    work.commit("one", ["a"])
    with pytest.raises(ParamError, match="must be a commit, a branch or a tag of the repository"):
        run(memory, "git", work.folder, until=revision)


def test_an_option_that_the_importer_does_not_have_is_refused(work, memory):
    with pytest.raises(ParamError, match="is no option of the importer 'git': leave it out"):
        run(memory, "git", work.folder, since="yesterday")


def test_a_renamed_file_is_linked_to_its_later_name_and_to_the_commit_that_removed_it(work):
    work.commit("first", {"old.py": "the same\ntext\nstays\n"})
    work.git("mv", "old.py", "new name.py")
    commit = work.commit("rename")
    assert episodes(work.folder)[1]["files"] == ["new name.py"]
    assert Tie("file:old.py", "file:new name.py", "renamed-to", 0.95) in ties(work.folder)
    assert Tie("file:old.py", f"commit:{commit[:12]}", "removed-in", 0.5) in ties(work.folder)


def test_a_file_that_was_removed_and_came_back_is_not_gone(work, memory):
    work.commit("first", ["a", "b"])
    work.git("rm", "--quiet", "a", "b")
    gone = work.commit("remove")
    run(memory, "git", work.folder)
    work.commit("again", ["a"])
    assert [(tie.source, tie.target) for tie in ties(work.folder) if tie.relation == "removed-in"] == [
        ("file:b", f"commit:{gone[:12]}")
    ]


def test_a_file_that_a_merged_branch_still_touched_after_its_removal_is_gone(work, memory):
    work.commit("first", ["a", "b"], at="2026-03-01T09:00:00Z")
    work.git("switch", "--quiet", "--create", "side")
    work.commit("on the side", {"a": "changed"}, at="2026-03-03T09:00:00Z")
    work.git("switch", "--quiet", "main")
    work.git("rm", "--quiet", "a")
    work.commit("remove", at="2026-03-02T09:00:00Z")
    work.git("merge", "--quiet", "--strategy=ours", "--no-edit", "side", at="2026-03-04T09:00:00Z")
    run(memory, "git", work.folder)
    assert [file.path for file in memory.files("first, on the side").files] == ["b"]


def test_a_merge_is_kept_and_changes_no_file_itself(work):
    work.commit("base", ["a.py"])
    work.git("switch", "--quiet", "--create", "side")
    work.commit("on the side", ["b.py"])
    work.git("switch", "--quiet", "main")
    work.commit("on main", ["c.py"])
    work.git("merge", "--quiet", "--no-edit", "side")
    last = episodes(work.folder)[-1]
    assert last["content"] == "Merge branch 'side'"
    assert last["metadata"]["files"] == 0
    assert len(episodes(work.folder)) == 4


def test_a_commit_without_message_or_change_is_still_something_that_happened(work):
    work.commit("", ["a.py"])
    work.commit("")
    assert [episode["content"] for episode in episodes(work.folder)] == [
        "(no message)",
        "(no message)",
    ]


def test_a_message_that_looks_like_the_format_of_the_log_is_a_message(work):
    message = "commit\n\n1\t2\tnot-a-file.py\n\n-\t-\tnor-this"
    work.commit(message, ["real.py"])
    (episode,) = episodes(work.folder)
    assert episode["content"] == message
    assert episode["metadata"]["files"] == 1


def made_by_hand(work, person, message):
    """A commit that git's own commands would refuse to make."""
    tree = work.git("rev-parse", "HEAD^{tree}").encode()
    raw = b"tree %b\nauthor %b\ncommitter %b\n\n%b\n" % (tree, person, person, message)
    name = work.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=raw)
    work.git("update-ref", "HEAD", name)


def test_bytes_that_are_no_utf_8_become_replacement_characters(work):
    work.commit("first", [b"na\xefve.txt"])
    made_by_hand(work, b"Andr\xe9 <a@example.org> 1700000000 +0000", b"caf\xe9 closed")
    (episode,) = episodes(work.folder)
    assert episode["content"] == "caf� closed"
    assert episode["files"] == ["na�ve.txt"]
    assert episode["speaker"] == "Andr�"


def test_a_binary_file_counts_as_changed_with_no_lines(work):
    (work.folder / "data.bin").write_bytes(b"\0\1\2")
    work.commit("data")
    assert episodes(work.folder)[0]["metadata"]["files"] == 1
    assert episodes(work.folder)[0]["metadata"]["insertions"] == 0


def test_trailers_and_numbers_of_pull_requests_are_metadata_and_no_text(work):
    work.commit("Fix (#12)\n\nSee a<b@c>d, #3\n\nCo-authored-by: Grace <grace@example.org>\nChange-Id: I1f\n")
    (episode,) = episodes(work.folder)
    assert episode["content"] == "Fix\n\nSee a<b@c>d, #3"
    assert episode["metadata"]["pull_requests"] == ["#12"]
    assert episode["metadata"]["trailers"] == ["Co-authored-by: Grace", "Change-Id: I1f"]


def test_a_very_long_message_is_cut(work):
    work.commit("word " * 10_000)
    content = episodes(work.folder)[0]["content"]
    assert len(content) == MOST_LETTERS
    assert content.endswith("more characters)")


def test_a_commit_of_very_many_files_touches_all_and_ties_none(work):
    work.commit("everything", [f"f{i:02}.py" for i in range(MOST_FILES + 5)])
    (episode,) = episodes(work.folder)
    assert len(episode["files"]) == episode["metadata"]["files"] == MOST_FILES + 5
    assert ties(work.folder) == []


def test_files_are_tied_by_how_often_they_changed_together_of_how_often_either_did(work):
    for i, files in enumerate((["a", "b"], ["a", "b"], ["a"], ["b", "c"])):
        work.commit(f"step {i}", files)
    weights = {(tie.source, tie.target): tie.weight for tie in ties(work.folder)}
    assert weights == {("file:a", "file:b"): 2 / 4, ("file:b", "file:c"): 1 / 3}


def test_in_a_longer_history_once_together_is_no_habit(work):
    for i in range(YOUNG):
        work.commit(f"step {i}", ["a", "b"] if i < 2 else ["b", "c"] if i == 2 else ["z"])
    assert [(tie.source, tie.target, tie.relation) for tie in ties(work.folder)] == [
        ("file:a", "file:b", "co-changed")
    ]


def test_a_habit_without_exception_weighs_what_a_weight_may(work):
    for i in range(3):
        work.commit(f"step {i}", ["a", "b"])
    assert [tie.weight for tie in ties(work.folder)] == [0.95]


def test_imported_ties_lead_from_file_to_file(work, memory):
    for i in range(3):
        work.commit(f"step {i}", ["a.py", "b.py"])
    assert run(memory, "git", work.folder).links == 1
    (link,) = memory.links(relation="co-changed")
    assert (link.source, link.target, link.weight) == ("file:a.py", "file:b.py", 0.95)


def test_what_the_first_commits_of_a_shallow_clone_changed_is_not_known(work, tmp_path):
    for i in range(4):
        work.commit(f"step {i}", [f"f{i}.py"])
    shallow = tmp_path / "shallow"
    work.git("clone", "--quiet", "--depth=2", work.folder.as_uri(), str(shallow))
    assert open_repository(shallow).shallow
    assert not open_repository(work.folder).shallow
    assert [episode["content"] for episode in episodes(shallow)] == ["step 2", "step 3"]
    assert [episode["files"] for episode in episodes(shallow)] == [[], ["f3.py"]]


def test_a_bare_repository_a_subfolder_and_a_worktree_give_the_same_history(work, tmp_path):
    work.commit("only", ["deep/a.py"])
    work.git("clone", "--quiet", "--bare", str(work.folder), str(tmp_path / "bare.git"))
    work.git("worktree", "add", "--quiet", str(tmp_path / "other"), "HEAD")
    places = (tmp_path / "bare.git", work.folder / "deep", tmp_path / "other")
    commits = [(episode["key"], episode["content"]) for path in places for episode in episodes(path)]
    assert len(commits) == 3
    assert len(set(commits)) == 1
    assert [open_repository(path).name for path in places] == ["bare", "work", "work"]


def test_an_environment_that_points_elsewhere_is_not_followed(work, tmp_path, monkeypatch):
    work.commit("mine", ["a.py"])
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert episodes(work.folder)[0]["content"].startswith("mine")


def test_settings_of_the_user_do_not_change_what_is_read(work):
    work.commit("mine", ["ü.py"])
    for setting in (
        "log.showRoot=false",
        "core.quotePath=true",
        "log.showSignature=true",
        "diff.relative=true",
    ):
        work.git("config", *setting.split("="))
    assert episodes(work.folder)[0]["files"] == ["ü.py"]


def test_a_year_that_no_calendar_has_gives_no_time(work):
    work.commit("first", ["a.py"])
    made_by_hand(work, b"A <a@example.org> 99999999999999 +0000", b"far future")
    (episode,) = episodes(work.folder)
    assert episode["occurred_at"] is None


def test_a_folder_without_repository_is_refused(tmp_path):
    with pytest.raises(ParamError, match="must be a git repository that git can read"):
        list(read(tmp_path))


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ParamError, match=r"missing'.*the folder does not exist"):
        list(read(tmp_path / "missing"))


def test_a_repository_without_commits_is_refused(work):
    with pytest.raises(ParamError, match="without commits: commit something first"):
        list(read(work.folder))


def test_without_the_program_git_the_error_says_so(work, tmp_path, monkeypatch):
    work.commit("only", ["a.py"])
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(ParamError, match="needs the program git"):
        list(read(work.folder))


def test_a_damaged_repository_is_an_error_and_no_shorter_history(work):
    work.commit("first", ["a.py"])
    work.commit("second", ["a.py"])
    blob = work.git("rev-parse", "HEAD:a.py")
    (work.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(ParamError, match="a history that git cannot read"):
        list(read(work.folder))


def test_a_reader_that_is_left_early_leaves_no_git_behind(work):
    for i in range(3):
        work.commit(f"step {i}", ["a.py"])
    items = read(work.folder)
    next(items)
    items.close()
    children = Path("/proc/self/task").glob("*/children")
    running = [child for file in children for child in file.read_text().split()]
    named = [
        Path(f"/proc/{child}/comm").read_text().strip()
        for child in running
        if Path(f"/proc/{child}").exists()
    ]
    assert "git" not in named


def test_a_link_to_a_repository_is_the_repository(work, tmp_path):
    work.commit("only", ["a.py"])
    (tmp_path / "link").symlink_to(work.folder)
    assert [entry["key"] for entry in episodes(tmp_path / "link")] == [
        entry["key"] for entry in episodes(work.folder)
    ]
