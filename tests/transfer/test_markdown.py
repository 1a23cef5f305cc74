"""Markdown notes, cut into sections, with their links."""

from __future__ import annotations

import os
from unicodedata import normalize

import pytest
from tests.transfer.conftest import strictly

from priming.errors import ParamError
from priming.transfer import markdown
from priming.transfer.importers import Entry, Tie
from priming.transfer.markdown import MOST_LETTERS
from priming.transfer.run import run


def read(path):
    return strictly(markdown.read(path))


@pytest.fixture
def notes(tmp_path):
    def write(files):
        root = tmp_path / "notes"
        for name, text in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode() if isinstance(text, str) else text)
        return root

    return write


def entries(path):
    return [item.arguments for item in read(path) if isinstance(item, Entry)]


def ties(path):
    return [(item.source, item.target) for item in read(path) if isinstance(item, Tie)]


GUIDE = """Before any heading.

# Guide

What it is.

## Install ##

Run `make`.

### On **Linux**

Run it there.

## Empty

## Use

Use it.
"""


def test_each_section_is_a_fact_under_the_path_of_its_headings(notes):
    root = notes({"guide.md": GUIDE})
    assert [(entry["heading"], entry["content"]) for entry in entries(root)] == [
        ("guide", "Before any heading."),
        ("Guide", "What it is."),
        ("Guide > Install", "Run `make`."),
        ("Guide > Install > On Linux", "Run it there."),
        ("Guide > Use", "Use it."),
    ]
    assert [entry["key"] for entry in entries(root)] == [
        "md:notes/guide.md",
        "md:notes/guide.md#guide",
        "md:notes/guide.md#guide/install",
        "md:notes/guide.md#guide/install/on-linux",
        "md:notes/guide.md#guide/use",
    ]
    assert {(entry["kind"], entry["session"], entry["trust"]) for entry in entries(root)} == {
        ("fact", "notes/guide.md", "tool")
    }


def test_a_file_by_itself_has_the_same_keys_as_in_its_folder(notes):
    root = notes({"guide.md": GUIDE})
    assert [entry["key"] for entry in entries(root / "guide.md")] == [entry["key"] for entry in entries(root)]


def test_underlined_headings_count_and_a_rule_between_paragraphs_does_not(notes):
    root = notes({"a.md": "Title\n=====\n\none\n\n---\n\ntwo\n\nPart\n----\nthree\n\n- item\n---\nfour"})
    assert [(entry["heading"], entry["content"]) for entry in entries(root)] == [
        ("Title", "one\n\n---\n\ntwo"),
        ("Title > Part", "three\n\n- item\n---\nfour"),
    ]


def test_a_heading_inside_a_code_block_is_code(notes):
    text = "# One\n\n```sh\n# comment\n\n\n## more\n```\n\n~~~\n# tilde\n```\n~~~\n\n    # indented\n"
    (entry,) = entries(notes({"a.md": text}))
    assert entry["content"] == text.removeprefix("# One\n\n").rstrip()


def test_the_same_heading_twice_gives_two_keys(notes):
    root = notes({"a.md": "# T\n## Fixed\none\n## Fixed\ntwo\n"})
    assert [entry["key"] for entry in entries(root)] == ["md:notes/a.md#t/fixed", "md:notes/a.md#t/fixed-1"]


def test_a_long_section_is_cut_between_paragraphs(notes):
    paragraphs = [f"{i} " + "word " * 60 for i in range(20)]
    pieces = entries(notes({"a.md": "# Long\n\n" + "\n\n".join(paragraphs)}))
    assert all(len(item["content"]) <= MOST_LETTERS for item in pieces)
    assert "\n\n".join(item["content"] for item in pieces) == "\n\n".join(p.strip() for p in paragraphs)
    assert [item["key"] for item in pieces][:2] == ["md:notes/a.md#long", "md:notes/a.md#long~2"]
    assert {item["heading"] for item in pieces} == {"Long"}


def test_a_paragraph_without_an_end_is_cut_at_lines_sentences_words_or_anywhere(notes):
    for text in ("line of a list\n" * 300, "A sentence. " * 300, "word " * 900, "x" * 4000):
        pieces = [entry["content"] for entry in entries(notes({"a.md": text}))]
        assert all(len(item) <= MOST_LETTERS for item in pieces)
        assert "".join("".join(pieces).split()) == "".join(text.split())
        assert len(pieces) <= 5


def test_a_code_block_is_kept_whole_however_long(notes):
    code = "```python\n" + "x = 1\n\n" * 600 + "```"
    pieces = [entry["content"] for entry in entries(notes({"a.md": f"before\n\n{code}\n\nafter"}))]
    assert pieces == ["before", code, "after"]


def test_front_matter_gives_title_tags_and_metadata(notes):
    text = (
        '---\ntitle: "My note"\ntags: [one, "two three"]\nauthor: Ada\nsee: http://a.b/c\n'
        "parts:\n  - x\n  - y\n  nested: deep\n---\n\nBody.\n\n## Sub\n\nMore.\n"
    )
    first, second = entries(notes({"a.md": text}))
    assert first["tags"] == ["one", "two three"]
    assert first["metadata"] == {
        "file": "notes/a.md",
        "title": "My note",
        "author": "Ada",
        "see": "http://a.b/c",
        "parts": ["x", "y"],
    }
    assert (first["heading"], second["heading"]) == ("My note", "My note > Sub")


@pytest.mark.parametrize(
    "tags", ["a, b", "[a, b]", "#a #b", "\n- a\n- b", "['a', \"b\"]", "[\n  a,\n  b,\n]", "[a, b\nx: y"]
)
def test_tags_are_understood_in_every_usual_form(notes, tags):
    (entry,) = entries(notes({"a.md": f"---\ntags: {tags}\n---\ntext"}))
    assert entry["tags"] == ["a", "b"]


def test_front_matter_in_toml_is_read(notes):
    text = "+++\ntitle = 'My note'\ndate=2026-08-01\n[taxonomies]\ntags = [\n\"a\",\n'b',\n]\n+++\nBody."
    (entry,) = entries(notes({"a.md": text}))
    assert (entry["heading"], entry["content"], entry["tags"]) == ("My note", "Body.", ["a", "b"])
    assert entry["occurred_at"].isoformat() == "2026-08-01T12:00:00+00:00"


@pytest.mark.parametrize("fence", ["---", "+++"])
@pytest.mark.parametrize(
    "front", ["", "tags: [a", "= 3\n: x\n- y\n ]", "date = [[[\ndate: {{", "a\x00b = '\n\tc: \""]
)
def test_no_front_matter_stops_a_folder(notes, fence, front):
    root = notes({"a.md": f"{fence}\n{front}\n{fence}\nBody.", "b.md": "Other."})
    assert [entry["content"] for entry in entries(root)] == ["Body.", "Other."]


def test_a_rule_that_opens_no_front_matter_is_text(notes):
    (entry,) = entries(notes({"a.md": "---\nno end of this"}))
    assert entry["content"] == "---\nno end of this"


LINKED = {
    "index.md": "# Index\n\nSee [the guide](guide/start.md), [[Other]], [gone](gone.md), [web](https://a.b/c.md).",
    "guide/start.md": "# Start\n\nBack [home](../index.md#index).\n\n## Deep\n\nDeep text.",
    "Other.md": "Straight to [[guide/start#Deep|the depth]] and [there](<guide/start.md#deep>).",
    "code.md": '`[[index]]` and\n\n```\n[a](index.md)\n```\n\n[twice](index.md) [twice](index.md "a title")',
}


def test_links_between_notes_become_ties(notes):
    assert set(ties(notes(LINKED))) == {
        ("md:notes/index.md#index", "md:notes/guide/start.md#start"),
        ("md:notes/index.md#index", "md:notes/Other.md"),
        ("md:notes/guide/start.md#start", "md:notes/index.md#index"),
        ("md:notes/Other.md", "md:notes/guide/start.md#start/deep"),
        ("md:notes/code.md", "md:notes/index.md#index"),
    }
    assert len(ties(notes(LINKED))) == 5


def test_of_two_notes_with_one_name_a_wiki_link_means_the_nearest(notes):
    root = notes({"a/x.md": "one", "b/x.md": "two", "b/y.md": "[[x]] and [[a/x]]"})
    assert set(ties(root)) == {
        ("md:notes/b/y.md", "md:notes/b/x.md"),
        ("md:notes/b/y.md", "md:notes/a/x.md"),
    }


def test_a_link_to_a_heading_without_text_leads_to_what_follows_it(notes):
    root = notes({"a.md": "# Empty\n\n## Full\n\ntext", "b.md": "[there](a.md#empty)"})
    assert ties(root) == [("md:notes/b.md", "md:notes/a.md#empty/full")]


def test_an_encoded_link_is_understood(notes):
    root = notes({"a b.md": "text", "c.md": "[there](a%20b.md) and [from the top](/a%20b.md)"})
    assert ties(root) == [("md:notes/c.md", "md:notes/a b.md")]


@pytest.mark.parametrize("link", ["[[Über#Ziele]]", "[there](Über.md#ziele)"])
def test_a_link_leads_to_a_note_whose_name_is_written_in_the_other_normal_form(notes, link):
    root = notes(
        {normalize("NFD", "Über.md"): "# Ziele\nAcht.", "b.md": link, "c.md": normalize("NFD", link)}
    )
    assert set(ties(root)) == {(f"md:notes/{name}.md", "md:notes/Über.md#ziele") for name in "bc"}


def test_imported_notes_are_linked_and_follow_each_other(notes, memory):
    report = run(memory, "markdown", notes(LINKED))
    assert (report.links, report.skipped) == (5, ())
    assert {link.relation for link in memory.links("md:notes/guide/start.md#start")} >= {"refers-to", "next"}


def test_importing_twice_stores_nothing_new(notes, memory):
    root = notes({**LINKED, "long.md": "word " * 2000})
    first = run(memory, "markdown", root)
    second = run(memory, "markdown", root)
    assert (second.stored, second.duplicates) == (0, first.stored)


def test_hidden_folders_other_files_and_loops_of_links_are_passed_over(notes):
    root = notes({"a.md": "one", ".git/b.md": "no", ".hidden.md": "no", "c.txt": "no", "sub/d.MD": "two"})
    (root / "sub" / "loop").symlink_to(root)
    (root / "same.md").symlink_to(root / "a.md")
    (root / "broken.md").symlink_to(root / "nowhere.md")
    assert sorted(entry["content"] for entry in entries(root)) == ["one", "two"]


def test_a_note_is_known_by_its_own_name_and_not_by_that_of_a_link_to_it(notes):
    root = notes({"rye.md": "Rye needs hours. See [[oat]].", "z/oat.md": "Oat", ".kept/spelt.md": "Spelt"})
    (root / "bread.md").symlink_to("rye.md")
    (root / "a").symlink_to("z")
    (root / "spelt.md").symlink_to(".kept/spelt.md")  # which nothing else reads
    keys = sorted(entry["key"].removeprefix(f"md:{root.name}/") for entry in entries(root))
    assert [key.partition("#")[0] for key in keys] == ["rye.md", "spelt.md", "z/oat.md"]


def test_links_that_leave_the_folder_are_passed_over(notes, tmp_path):
    root = notes({"a.md": "one", "sub/b.md": "two"})
    private = tmp_path / f"{root.name}-private"
    private.mkdir()
    (private / "key.md").write_text("secret", "utf-8")
    (root / "file.md").symlink_to(private / "key.md")
    (root / "relative.md").symlink_to(f"../{private.name}/key.md")
    (root / "folder").symlink_to(private)
    (root / "sub" / "all").symlink_to("/")
    (root / "sub" / "chain").symlink_to(root / "folder")
    (root / "zz").symlink_to(root / "sub")
    assert sorted(entry["content"] for entry in entries(root)) == ["one", "two"]


def test_a_folder_that_is_named_by_a_link_is_read(notes, tmp_path):
    (tmp_path / "way").symlink_to(notes({"a.md": "one"}))
    assert [entry["content"] for entry in entries(tmp_path / "way")] == ["one"]


def test_files_come_in_order_of_name(notes):
    root = notes({name: name for name in ("b.md", "a/z.md", "a.md", "c/a.md")})
    assert [entry["content"] for entry in entries(root)] == ["a.md", "b.md", "a/z.md", "c/a.md"]


def test_odd_file_names_and_headings_are_kept_as_far_as_they_can_be(notes, memory):
    root = notes({"two\nlines.md": "# Tab\there\ntext", "é 'q'.md": "# " + "long " * 200 + "\ntext"})
    (root / os.fsdecode(b"na\xefve.md")).write_text("text")
    report = run(memory, "markdown", root)
    assert (report.stored, report.skipped) == (3, ())
    assert "Tab here" in {record.heading for record in memory.list(kinds=["fact"])}


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(notes):
    (entry,) = entries(notes({"a.md": b"\xef\xbb\xbf# Title\r\n\r\ntext\r\nmore\r\n"}))
    assert (entry["heading"], entry["content"]) == ("Title", "text\nmore")


@pytest.mark.parametrize("files", [{}, {"a.txt": "text"}, {"a.md": ""}, {"a.md": "# Only a heading\n"}])
def test_a_folder_without_text_in_markdown_is_refused(notes, tmp_path, files):
    (tmp_path / "notes").mkdir()
    with pytest.raises(ParamError, match="must contain text in Markdown"):
        entries(notes(files))


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(ParamError, match="nothing exists there"):
        entries(tmp_path / "missing.md")


@pytest.mark.parametrize(
    ("raw", "rule"), [(b"caf\xe9", "must be UTF-8 text"), (b"# A\n\na\0b", "NUL character")]
)
def test_a_file_that_is_no_text_is_refused_by_name(notes, raw, rule):
    with pytest.raises(ParamError, match=rf"bad\.md.*{rule}"):
        entries(notes({"a.md": "good", "bad.md": raw}))


def test_the_day_of_a_note_is_in_its_front_matter_or_its_name(notes):
    root = notes(
        {
            "2026-01-15.md": "The boiler leaked.",
            "2026-01-16 plans.md": "Call the plumber.",
            "trip.md": "---\ndate: 2026-02-03\n---\nWe went to Bergen.",
            "call.md": "---\ndate: 2026-02-03T10:30:00+01:00\n---\nThe bank called.",
            "2026-13-45.md": "No day.",
            "2026-08 review.md": "A month.",
            "german.md": "---\ndate: 15.02.2026\n---\nThe day comes first.",
            "late.md": "---\ndate: 2026-02-15 10:30:00 +0200  # after lunch\n---\nA comment.",
            "both.md": "---\ndate: 5/2/2026\n---\nMay or February.",
        }
    )
    days = {item["content"]: item["occurred_at"] for item in entries(root)}
    assert {text: at and at.isoformat() for text, at in days.items()} == {
        "The boiler leaked.": "2026-01-15T12:00:00+00:00",
        "Call the plumber.": "2026-01-16T12:00:00+00:00",
        "We went to Bergen.": "2026-02-03T12:00:00+00:00",
        "The bank called.": "2026-02-03T09:30:00+00:00",
        "No day.": None,
        "A month.": "2026-08-01T12:00:00+00:00",
        "The day comes first.": "2026-02-15T12:00:00+00:00",
        "A comment.": "2026-02-15T12:00:00+00:00",
        "May or February.": None,
    }


def test_another_name_of_a_note_leads_to_it_and_is_a_word_of_it(notes, memory):
    root = notes(
        {
            "robert.md": "---\nalias: The Landlord\naliases: [Bob]\n---\nLikes tea.",
            "flat.md": "Ask [[bob]] or [[The Landlord]].",
        }
    )
    run(memory, "markdown", root)
    assert [link.target for link in memory.links(relation="refers-to")] == ["md:notes/robert.md"]
    assert memory.get("md:notes/robert.md").tags == ("Bob", "The Landlord")
