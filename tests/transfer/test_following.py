"""An import that is run again follows its source: what it leaves is what a first import would, and history."""

from __future__ import annotations

import json
import random
import shutil

import pytest

from priming import Memory
from priming.embedding.protocol import HashedEmbedder
from priming.errors import ParamError
from priming.transfer.importers import Stored, recognised
from priming.transfer.run import Follower, run

WORDS = (
    "kettle", "orchard", "ledger", "harbour", "violin", "granite",
    "meadow", "lantern", "copper", "saddle", "thistle", "anchor",
)  # fmt: skip
ORDERED = ("next", "next-but-one", "refers-to")


def state(memory):
    """What a namespace holds of a source: each active memory by its key, and the links that its source makes."""
    memories = {
        item.key: (
            item.content, item.heading, item.session, item.speaker, item.tags, dict(item.metadata),
            item.occurred_at, item.source, item.trust,
        )
        for item in memory.list(kinds=["fact", "episode"], limit=1000)
    }  # fmt: skip
    links = {
        (link.source, link.relation, link.target) for name in ORDERED for link in memory.links(relation=name)
    }
    return memories, {link for link in links if link[0] in memories and link[2] in memories}


def first_import(name, path):
    with Memory.open("sqlite://", embedder=HashedEmbedder()) as other:
        run(other, name, path)
        return state(other)


class Vault:
    """A folder of notes that is changed at random; a note is a list of sections."""

    def __init__(self, folder, rng):
        self.folder, self.rng, self.notes, self.count, self.earlier = folder, rng, {}, 0, []
        for _ in range(3):
            self.add()

    def sentence(self):
        self.count += 1
        return f"{' '.join(self.rng.sample(WORDS, 4))} {self.count}."

    def section(self):
        target = self.rng.choice([*self.notes, "later"]) if self.rng.random() < 0.5 else None
        link = f" See [[{target}]]." if target else ""
        return [f"{self.rng.choice(WORDS).title()} {self.count}", self.sentence() + link]

    def add(self):
        name = self.rng.choice(["later", *WORDS])
        self.notes.setdefault(name, [self.section() for _ in range(self.rng.randint(1, 4))])

    def change(self):
        name = self.rng.choice([*self.notes])
        sections = self.notes[name]
        place = self.rng.randrange(len(sections))
        match self.rng.randrange(7):
            case 0:
                sections[place][1] = self.sentence()
            case 1:
                sections.insert(place, self.section())
            case 2 if len(sections) > 1:
                del sections[place]
            case 3:
                self.notes[f"{name}-moved"] = self.notes.pop(name)
            case 4 if len(self.notes) > 1:
                del self.notes[name]
            case 5 if self.earlier:
                self.notes = json.loads(self.rng.choice(self.earlier))
            case _:
                self.add()

    def write(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.earlier.append(json.dumps(self.notes))
        for name, sections in self.notes.items():
            text = "".join(f"# {heading}\n{body}\n\n" for heading, body in sections)
            (self.folder / f"{name}.md").write_text(text, "utf-8")


@pytest.mark.parametrize("seed", range(6))
def test_notes_that_change_at_random_leave_what_a_first_import_would(tmp_path, memory, seed):
    vault = Vault(tmp_path / "notes", random.Random(seed))
    for _ in range(6):
        vault.write()
        run(memory, "markdown", vault.folder, prune=True)
        assert state(memory) == first_import("markdown", vault.folder)
        for _ in range(vault.rng.randint(1, 3)):
            vault.change()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("named", [True, False])
def test_lines_that_change_at_random_leave_what_a_first_import_would(tmp_path, memory, seed, named):
    rng, path, count = random.Random(seed), tmp_path / "lines.jsonl", 0
    lines, earlier = [], []
    for _ in range(6):
        for _ in range(rng.randint(1, 4)):
            count += 1
            fresh = {"content": f"{' '.join(rng.sample(WORDS, 5))} {count}", "tags": [rng.choice(WORDS)]}
            fresh |= {"id": count} if named else {}
            match rng.randrange(4) if lines else 3:
                case 0 if earlier:
                    lines = rng.choice(earlier)
                case 1:
                    del lines[rng.randrange(len(lines))]
                case 2:
                    lines[rng.randrange(len(lines))]["content"] = fresh["content"]
                case _:
                    lines.insert(rng.randint(0, len(lines)), fresh)
        lines = lines or [{"content": "left", "id": 0}]
        earlier.append([{**line} for line in lines])
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        run(memory, "jsonl", path, prune=True)
        memories, links = first_import("jsonl", path)
        assert sorted(map(str, state(memory)[0].values())) == sorted(map(str, memories.values()))
        assert not named or state(memory) == (memories, links)


@pytest.mark.parametrize("seed", range(3))
def test_chats_that_change_at_random_leave_what_a_first_import_would(tmp_path, memory, seed):
    rng, path, count = random.Random(seed), tmp_path / "talk.json", 0
    talk = []
    for _ in range(6):
        for _ in range(rng.randint(1, 3)):
            count += 1
            fresh = {
                "role": "user",
                "content": f"{' '.join(rng.sample(WORDS, 5))} {count}",
                "id": f"m{count}",
            }
            match rng.randrange(4) if talk else 3:
                case 0:
                    del talk[rng.randrange(len(talk))]
                case 1:
                    talk[rng.randrange(len(talk))]["content"] = fresh["content"]
                case _:
                    talk.append(fresh)
        talk = talk or [{"role": "user", "content": "left", "id": "m0"}]
        path.write_text(json.dumps(talk), "utf-8")
        run(memory, "chat", path, prune=True)
        assert state(memory) == first_import("chat", path)


def test_an_edited_note_is_a_new_version_and_the_former_stays_in_its_history(tmp_path, memory):
    note = tmp_path / "wifi.md"
    note.write_text("# Wifi\nThe password is hunter2.\n", "utf-8")
    run(memory, "markdown", note)
    (item,) = memory.list(kinds=["fact"])
    note.write_text("# Wifi\nThe password is tr0ub4dor.\n", "utf-8")
    report = run(memory, "markdown", note)
    assert (report.changed, report.stored, report.refused) == (1, 0, 0)
    assert report.moved == (f"changed: {item.key}",)
    assert memory.get(item.key).content == "The password is tr0ub4dor."
    assert [version.content for version in memory.history(item.key)] == [
        "The password is hunter2.",
        "The password is tr0ub4dor.",
    ]
    assert all("hunter2" not in hit.memory.content for hit in memory.recall("wifi password").hits)


def test_what_the_user_changed_since_stays_until_the_source_changes_too(tmp_path, memory):
    note = tmp_path / "wifi.md"
    note.write_text("# Wifi\nThe password is hunter2.\n", "utf-8")
    run(memory, "markdown", tmp_path)
    (item,) = memory.list(kinds=["fact"])
    memory.supersede(item.key, "The password is corrected by hand.")
    (tmp_path / "other.md").write_text("# Other\nNew.\n", "utf-8")
    assert run(memory, "markdown", tmp_path).changed == 0
    assert memory.get(item.key).content == "The password is corrected by hand."
    note.write_text("# Wifi\nThe password is newer.\n", "utf-8")
    assert run(memory, "markdown", tmp_path).changed == 1
    assert memory.get(item.key).content == "The password is newer."


def test_what_the_user_forgot_stays_forgotten(tmp_path, memory):
    (tmp_path / "wifi.md").write_text("# Wifi\nThe password is hunter2.\n", "utf-8")
    run(memory, "markdown", tmp_path)
    (item,) = memory.list(kinds=["fact"])
    memory.forget(item.key)
    (tmp_path / "wifi.md").write_text("# Wifi\nThe password is newer.\n", "utf-8")
    run(memory, "markdown", tmp_path)
    assert memory.get(item.key).status == "forgotten"


def test_a_renamed_note_keeps_its_links_and_uses_under_its_new_key(tmp_path, memory):
    (tmp_path / "a.md").write_text("# Kestrel\nKestrel signs the builds.\n", "utf-8")
    run(memory, "markdown", tmp_path)
    (item,) = memory.list(kinds=["fact"])
    memory.remember("The release failed.", key="failure")
    memory.link("failure", item.key, "causes", 0.9)
    (tmp_path / "a.md").rename(tmp_path / "b.md")
    report = run(memory, "markdown", tmp_path)
    assert (report.renamed, report.gone, report.stored) == (1, 0, 0)
    (new,) = memory.list(kinds=["fact"])
    assert [link.target for link in memory.links("failure", relation="causes")] == [new.key] != [item.key]


def test_a_folder_with_another_name_is_followed_and_what_it_lost_is_gone(tmp_path, memory):
    old, other, new = (tmp_path / name for name in ("old", "other", "new"))
    for folder, name, text in [
        (old, "wifi", "# Wifi\nThe password is swordfish.\n"),
        (old, "boat", "# Boat\nThe boat leaks.\n## Engine\nIt is a diesel.\n"),
        (old, "mast", "# Mast\nThe mast is oak.\n"),
        (other, "cora", "# Cora\nCora sings.\n"),
    ]:
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.md").write_text(text, "utf-8")
    run(memory, "markdown", old)
    run(memory, "markdown", other)
    memory.remember("The crew waits.", key="crew")
    memory.link("crew", "md:old/boat.md#boat", "causes", 0.9)
    (other / "cora.md").unlink()
    old.rename(new)
    (new / "wifi.md").write_text("# Wifi\nThe password is trout.\n", "utf-8")
    (new / "mast.md").unlink()
    report = run(memory, "markdown", new)
    assert (report.stored, report.renamed, report.changed, report.gone) == (0, 2, 1, 1)
    assert {item.content for item in memory.list(kinds=["fact"])} == {
        *("The password is trout.", "The boat leaks.", "It is a diesel."),
        *("The mast is oak.", "Cora sings."),
    }
    assert [link.target for link in memory.links("crew", relation="causes")] == ["md:new/boat.md#boat"]
    report = run(memory, "markdown", new, prune=True)
    assert (report.stored, report.renamed, report.retired) == (0, 0, 1)
    assert "The mast is oak." not in {item.content for item in memory.list(kinds=["fact"])}


def test_what_is_gone_is_reported_each_time_and_deprecated_on_request(tmp_path, memory):
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\nNote {name}.\n", "utf-8")
    run(memory, "markdown", tmp_path)
    (tmp_path / "b.md").unlink()
    for _ in range(2):
        report = run(memory, "markdown", tmp_path)
        assert (report.gone, report.retired) == (1, 0)
        assert len(memory.list(kinds=["fact"])) == 2
    report = run(memory, "markdown", tmp_path, prune=True)
    assert (report.gone, report.retired) == (1, 1)
    (left,) = memory.list(kinds=["fact"])
    assert left.content == "Note a."
    assert run(memory, "markdown", tmp_path).gone == 0


@pytest.mark.parametrize("ending", ["md", "jsonl"])
def test_a_folder_that_lost_its_last_file_is_followed_as_what_it_was(tmp_path, memory, ending):
    folder = tmp_path / "cellar"
    folder.mkdir()
    vat = folder / f"vat.{ending}"
    text = {"md": "# Vat\nIt has 300 litres.\n", "jsonl": '{"id": "vat", "content": "It has 300 litres."}\n'}
    vat.write_text(text[ending], "utf-8")
    follower = Follower([folder])
    assert [report.stored for _, report in follower.follow(memory)] == [1]
    vat.unlink()
    name = {"md": "markdown"}.get(ending, ending)
    assert recognised(folder, Stored(memory)) == name
    report = run(memory, name, folder)
    assert (report.gone, report.retired) == (1, 0)
    assert [report.retired for _, report in follower.follow(memory)] == [1]
    assert not memory.recall("how many litres?").hits
    with pytest.raises(ParamError):
        run(memory, name, folder)
    vat.write_text(text[ending], "utf-8")
    list(follower.follow(memory))
    assert memory.recall("how many litres?").hits


def test_what_comes_back_is_active_again(tmp_path, memory):
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\nNote {name}.\n", "utf-8")
    run(memory, "markdown", tmp_path)
    (tmp_path / "b.md").unlink()
    run(memory, "markdown", tmp_path, prune=True)
    (tmp_path / "b.md").write_text("# b\nNote b, better.\n", "utf-8")
    run(memory, "markdown", tmp_path)
    assert {item.content for item in memory.list(kinds=["fact"])} == {"Note a.", "Note b, better."}


def test_a_text_that_is_again_as_it_was_is_so_in_the_memory_too(tmp_path, memory):
    note = tmp_path / "door.md"
    for word in ("copper", "granite", "copper", "granite"):
        note.write_text(f"# Door\nThe word at the door is {word}.\n", "utf-8")
        run(memory, "markdown", tmp_path)
        (item,) = memory.list(kinds=["fact"])
        assert item.content == f"The word at the door is {word}."


def test_what_has_its_former_name_again_is_told_by_it_with_its_links_and_uses(tmp_path, memory):
    (tmp_path / "a.md").write_text("# Weir\nThe heron nests at the weir.\n", "utf-8")
    run(memory, "markdown", tmp_path)
    (former,) = memory.list(kinds=["fact"])
    (tmp_path / "a.md").rename(tmp_path / "b.md")
    run(memory, "markdown", tmp_path)
    (renamed,) = memory.list(kinds=["fact"])
    memory.remember("Herons eat eels.", key="eels")
    memory.link("eels", renamed.key, "explains")
    (tmp_path / "b.md").rename(tmp_path / "a.md")
    report = run(memory, "markdown", tmp_path, prune=True)
    assert (report.renamed, report.stored, report.gone) == (1, 0, 0)
    assert [item.key for item in memory.list(kinds=["fact"])] == [former.key]
    assert [link.target for link in memory.links("eels", relation="explains")] == [former.key]


def test_what_the_user_merged_stays_merged(tmp_path, memory):
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\nNote {name}.\n", "utf-8")
    run(memory, "markdown", tmp_path)
    a, b = (item.key for item in memory.list(kinds=["fact"]))
    memory.merge(a, b)
    (tmp_path / "c.md").write_text("# c\nNote c.\n", "utf-8")
    run(memory, "markdown", tmp_path, prune=True)
    assert [item.content for item in memory.list(kinds=["fact"])] == ["Note b.", "Note c."]


def test_a_second_run_without_changes_writes_nothing_and_one_after_an_undo_reads_again(tmp_path, memory):
    (tmp_path / "a.md").write_text("# a\nNote a.\n", "utf-8")
    run(memory, "markdown", tmp_path)
    operations = memory.stats().operations
    assert run(memory, "markdown", tmp_path).duplicates == 1
    assert memory.stats().operations == operations
    memory.undo("last")
    assert memory.list(kinds=["fact"]) == []
    assert run(memory, "markdown", tmp_path).stored == 1


def test_an_import_is_undone_as_a_whole_and_nothing_else_with_it(tmp_path, memory):
    memory.remember("Before.", key="before")
    for number in range(30):
        (tmp_path / f"{number}.md").write_text(f"# {number}\nNote {number}. See [[{number + 1}]].\n", "utf-8")
    run(memory, "markdown", tmp_path)
    run(memory, "markdown", tmp_path)
    undone = memory.undo("last")
    assert undone.message.startswith("undid an import")
    assert [item.key for item in memory.list(status=None, kinds=["fact", "episode"])] == ["before"]
    assert memory.validate() == []
    memory.undo(undone.id)
    assert len(memory.list(kinds=["fact"])) == 30


def test_an_import_that_left_something_open_is_undone_as_a_whole_too(tmp_path, memory):
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("gone", "open", "moved"):
        (notes / f"{name}.md").write_text(f"# {name}\nNote {name}.\n", "utf-8")
    run(memory, "markdown", notes)
    before = memory.list(status=None)
    (notes / "gone.md").unlink()
    (notes / "moved.md").rename(notes / "here.md")
    (notes / "latin.md").write_bytes("# b\nétat\n".encode("latin-1"))
    report = run(memory, "markdown", notes)
    assert (report.renamed, report.gone, report.refused) == (1, 1, 1)
    assert memory.undo("last").message.startswith("undid an import")
    assert memory.list(status=None) == before
    assert run(memory, "markdown", notes).renamed == 1
    written = len(memory.log())
    assert run(memory, "markdown", notes).gone == 1
    assert len(memory.log()) == written


def test_two_folders_of_one_name_do_not_take_turns(tmp_path, memory):
    for place in ("home", "work"):
        (tmp_path / place / "notes").mkdir(parents=True)
        (tmp_path / place / "notes" / "a.md").write_text(f"# A\nAt {place}.\n", "utf-8")
    run(memory, "markdown", tmp_path / "home" / "notes")
    report = run(memory, "markdown", tmp_path / "work" / "notes")
    assert report.refused == 1
    assert "is taken" in report.skipped[0]
    assert [item.content for item in memory.list(kinds=["fact"])] == ["At home."]


def test_a_folder_that_moved_is_followed(tmp_path, memory):
    (tmp_path / "home" / "notes").mkdir(parents=True)
    (tmp_path / "home" / "notes" / "a.md").write_text("# A\nThe first.\n", "utf-8")
    run(memory, "markdown", tmp_path / "home" / "notes")
    (tmp_path / "home").rename(tmp_path / "away")
    (tmp_path / "away" / "notes" / "a.md").write_text("# A\nThe second.\n", "utf-8")
    run(memory, "markdown", tmp_path / "away" / "notes")
    assert state(memory) == first_import("markdown", tmp_path / "away" / "notes")


def test_commits_that_were_amended_or_rebased_are_followed(work, memory):
    work.commit("Base", ["base.py"])
    work.commit("Add the parser", ["parser.py"])
    run(memory, "git", work.folder)
    work.git("commit", "--quiet", "--amend", "-m", "Add the parser and its test")
    report = run(memory, "git", work.folder)
    assert (report.changed, report.gone) == (1, 0)
    work.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    work.commit("On the side", ["side.py"], at="2026-03-02T09:00:00+01:00")
    work.git("checkout", "--quiet", "main")
    run(memory, "git", work.folder)
    work.git("rebase", "--quiet", "side")
    report = run(memory, "git", work.folder)
    assert report.renamed == 1
    fresh, _ = first_import("git", work.folder)
    assert state(memory)[0] == fresh
    assert [item.content for item in memory.list(kinds=["episode"])].count("On the side") == 1


def test_a_commit_comes_back_when_its_amending_or_its_removal_is_taken_back(work, memory):
    work.commit("Base", ["base.py"])
    first = work.commit("Add the parser", ["parser.py"])
    for step in (("commit", "--amend", "-m", "Add the parser and its test"), ("reset", "--hard", "HEAD~1")):
        run(memory, "git", work.folder, prune=True)
        work.git(step[0], "--quiet", *step[1:])
        run(memory, "git", work.folder, prune=True)
        work.git("reset", "--quiet", "--hard", first)
        run(memory, "git", work.folder, prune=True)
        assert state(memory)[0] == first_import("git", work.folder)[0]


def test_commits_of_another_branch_are_not_gone(work, memory):
    work.commit("Base", ["base.py"])
    work.git("checkout", "--quiet", "-b", "side")
    work.commit("On the side", ["side.py"], at="2026-03-02T09:00:00+01:00")
    run(memory, "git", work.folder)
    work.git("checkout", "--quiet", "main")
    assert run(memory, "git", work.folder).gone == 0


def test_a_bad_item_is_skipped_and_named_and_the_rest_stored(tmp_path, memory):
    (tmp_path / "good.md").write_text("# Good\nA note.\n", "utf-8")
    (tmp_path / "latin.md").write_bytes("# Fr\nété\n".encode("latin-1"))
    report = run(memory, "markdown", tmp_path)
    assert (report.stored, report.refused) == (1, 1)
    assert "latin.md" in report.skipped[0]
    with pytest.raises(ParamError, match=r"latin\.md"):
        run(memory, "markdown", tmp_path, strict=True)


def test_a_half_written_last_line_is_skipped_until_it_is_whole(tmp_path, memory):
    first, second = (json.dumps({"role": "user", "content": text, "id": text}) for text in ("one", "two"))
    path = tmp_path / "talk.jsonl"
    path.write_text(f"{first}\n{second[:-9]}", "utf-8")
    assert (run(memory, "chat", path).stored, run(memory, "chat", path).refused) == (1, 1)
    path.write_text(f"{first}\n{second}\n", "utf-8")
    report = run(memory, "chat", path)
    assert (report.stored, report.duplicates, report.refused) == (1, 1, 0)


def test_a_purge_names_the_source_that_still_has_what_it_erased(tmp_path, memory):
    (tmp_path / "jose.md").write_text("# José\nJosé Núñez lives in Lima.\n", "utf-8")
    run(memory, "markdown", tmp_path)
    receipt = memory.purge(subject="Jose Nunez")
    assert any(str(tmp_path / "jose.md") in text for text in receipt.not_reached)
    assert run(memory, "markdown", tmp_path).stored == 0


def _commit(work, rng, number):
    """A commit, or another of what rewrites a history."""
    message = f"{' '.join(rng.sample(WORDS, 4))} {number}"
    many = int(work.git("rev-list", "--count", "HEAD"))
    at = f"2026-03-01T{9 + number // 60:02}:{number % 60:02}:00+01:00"
    match rng.randrange(7):
        case 0:
            work.git("commit", "--quiet", "--amend", "-m", message)
        case 1:
            work.write("amended.py", message)
            work.git("add", "--all")
            work.git("commit", "--quiet", "--amend", "--no-edit")
        case 2 if many > 2:
            work.git("reset", "--quiet", "--hard", "HEAD~1")
        case 3 if many > 2:
            work.git("rebase", "--quiet", "--onto", "HEAD~2", "HEAD~1")  # without the last but one
        case 4:
            moves = len(work.git("reflog").splitlines())
            work.git("reset", "--quiet", "--hard", f"HEAD@{{{rng.randrange(moves)}}}")
        case _:
            work.commit(message, [f"{rng.choice(WORDS)}-{number}.py"], at=at)


@pytest.mark.parametrize("seed", range(2))
def test_histories_that_are_rewritten_at_random_leave_what_a_first_import_would(work, memory, seed):
    rng, number = random.Random(seed), 0
    work.commit("The beginning", ["begin.py"])
    for _ in range(5):
        for _ in range(rng.randint(1, 4)):
            number += 1
            _commit(work, rng, number)
        run(memory, "git", work.folder, prune=True)
        assert state(memory) == first_import("git", work.folder)
    assert memory.validate() == []


def test_a_second_run_tells_how_many_items_there_are_of_thousands(tmp_path, memory):
    path = tmp_path / "many.jsonl"
    events = ({"content": f"Crate {n}", "id": n, "occurred_at": "2024-05-01T00:00:00Z"} for n in range(1_000))
    path.write_text("".join(json.dumps(event) + "\n" for event in events), "utf-8")
    run(memory, "jsonl", path, later=True)
    assert run(memory, "jsonl", path, prune=True).duplicates == 1_000
    assert memory.log(limit=1)[0].message.startswith("1,000 items since operation 0")


def test_what_cannot_be_read_for_now_is_not_gone_and_hides_nothing_else(tmp_path, memory):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\nNote {name}.\n", "utf-8")
    run(memory, "markdown", tmp_path)
    (tmp_path / "b.md").write_bytes("# b\nétat\n".encode("latin-1"))
    report = run(memory, "markdown", tmp_path, prune=True)
    assert (report.refused, report.gone, report.retired) == (1, 0, 0)
    assert {item.content for item in memory.list(kinds=["fact"])} == {"Note a.", "Note b.", "Note c."}
    (tmp_path / "a.md").unlink()
    report = run(memory, "markdown", tmp_path, prune=True)
    assert (report.refused, report.gone, report.retired) == (1, 1, 1)
    assert {item.content for item in memory.list(kinds=["fact"])} == {"Note b.", "Note c."}
    (tmp_path / "b.md").unlink()
    assert run(memory, "markdown", tmp_path, prune=True).retired == 1
