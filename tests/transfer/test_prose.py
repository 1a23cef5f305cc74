"""Laws of cutting Markdown, whatever the text."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from priming.transfer.markdown import document, links, pieces

LIMIT = 40
LINE = st.one_of(
    st.sampled_from(
        [
            "",
            "# A",
            "## B #",
            "#",
            "---",
            "===",
            "```",
            "~~~",
            "````py",
            "- item",
            "a" * 90,
            "[[x]]",
            "[a](b.md)",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=60),
)
TEXT = st.lists(LINE, max_size=25).map("\n".join)


def squeezed(text):
    return "".join(text.split())


@given(TEXT)
def test_no_word_of_a_section_is_lost_or_made_up_by_cutting(text):
    for section in document(text)[1]:
        assert squeezed("".join(pieces(section.lines, LIMIT))) == squeezed("".join(section.lines))


@given(TEXT)
def test_a_piece_is_short_and_not_blank_unless_it_is_one_code_block(text):
    for section in document(text)[1]:
        for piece in pieces(section.lines, LIMIT):
            assert piece.strip()
            assert len(piece) <= LIMIT or re.match(r"[ \t]*(```|~~~)", piece)


@given(TEXT)
def test_every_line_is_in_one_section_a_heading_or_front_matter(text):
    front, sections = document(text)
    body = [line for section in sections for line in section.lines]
    rows = text.split("\n")
    remaining = iter(rows)
    assert all(line in remaining for line in body)
    if not front and "---" not in rows[0]:
        headings = len(sections) - 1
        assert headings <= len(rows) - len(body) <= 2 * headings


@given(TEXT)
def test_links_are_read_from_any_text(text):
    assert all(target for target, _ in links(text))


def test_text_made_to_slow_a_pattern_down_is_read_like_any_other():
    for hostile in (
        "#" + " " * 200_000 + "x",
        "[" * 100_000,
        "`" * 50_000,
        "- " * 50_000,
        "[[" * 50_000,
        "key " * 50_000 + ":",
    ):
        front, sections = document(f"---\n{hostile}\n---\n{hostile}")
        assert [
            piece for section in sections for piece in pieces(section.lines, 1500) if list(links(piece))
        ] == []
        assert len(front) <= 1
