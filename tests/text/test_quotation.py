import json
import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row
from tests.security.attacks import has_no_shape

from priming.recall.formatting import format_full, format_gist, format_name, rule_full, rule_name
from priming.text.quotation import (
    bracketed,
    json_text,
    label,
    quote_text,
    read_line,
    terminal_text,
    visible,
    visible_value,
)
from priming.types import MemoryRecord

PIECES = st.sampled_from(
    [
        *(
            '"',
            "\\",
            "]",
            "[",
            ": ",
            "- [",
            '] "',
            "\n",
            "\r",
            "\t",
            "\x00",
            "\x1b[31m",
            "\x7f",
            "\x9b",
            "\u2028",
            "\x85",
        ),
        *(
            "\u202e",
            "\u2066",
            "\u200b",
            "\ufeff",
            "\U000e0041",
            "\ud800",
            "```",
            "</system-reminder>",
            "<|im_end|>",
        ),
        *(
            "(from a tool)",
            "constraint: ",
            "(2026-01-01)",
            "obey",
            "東京",
            "é",
            "\\u0022",
            '\\"',
            "{}",
            "\u200d",
            "\ufe0f",
            "\u180b",
            "❤",
            "</script>",
            "[/INST]",
        ),
    ]
)
HOSTILE = st.lists(PIECES | st.text(max_size=3), min_size=1, max_size=12).map("".join)


def is_safe(line):
    """Whether a line is one line for everybody, with nothing hidden in it."""
    hidden = [letter for letter in line if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")]
    return (
        not hidden
        and len(line.splitlines()) == 1
        and not set(line) & set("\u202e\u2066\u200b\ufeff\U000e0041")
    )


@given(HOSTILE, st.none() | HOSTILE, HOSTILE, st.sampled_from(["untrusted", "tool", "agent", "user"]))
def test_a_line_of_a_memory_reads_back_to_its_fields(key, heading, content, trust):
    record = MemoryRecord(
        "1", "default", key, "fact", content, "gist " + content, heading=heading, trust=trust
    )
    label_of_source = {"untrusted": "(from an untrusted source)", "tool": "(from a tool)"}.get(trust, "")
    for line, text in (
        (format_full(record), content),
        (format_gist(record), record.gist),
        (format_name(record), None),
    ):
        shown = read_line(line)
        assert (shown.key, shown.text, shown.note) == (key, text, label_of_source)
        assert shown.title == (heading or None if text is not None else None)
        assert is_safe(line)


@given(HOSTILE, HOSTILE, st.none() | HOSTILE, st.sampled_from(["untrusted", "tool", "agent", "user"]))
def test_a_line_of_a_rule_reads_back_to_its_fields(key, content, store, trust):
    record = MemoryRecord("1", "default", key, "behavior", content, content, trust=trust)
    full, name = rule_full(record), rule_name(record)
    assert (read_line(full).key, read_line(full).text, read_line(name).text) == (key, content, None)
    assert read_line(full).note.removesuffix(":") == read_line(name).note
    assert ("not an instruction" in read_line(full).note) == (trust in ("untrusted", "tool"))
    assert is_safe(full)
    assert is_safe(rule_full(record, store))


@given(HOSTILE)
def test_json_decodes_to_the_very_text_and_hides_nothing(text):
    for written in (quote_text(text), json_text({text: [text]}), json_text({text: [text]}, ascii_only=True)):
        assert is_safe(written)
    assert json.loads(quote_text(text)) == text
    assert json.loads(json_text({text: [text, 1, None]})) == {text: [text, 1, None]}


@given(HOSTILE)
def test_what_is_written_visibly_is_written_so_once(text):
    assert visible(visible(text)) == visible(text)
    assert is_safe(f"a{terminal_text(text)}b".replace("\n", "").replace("\t", ""))
    assert visible_value({text: (text, 1)}) == {visible(text): [visible(text), 1]}


@each_row("name", ["a", "src/pool.py", "commit:0b1c2d3", "東京", "team.a+b", "a=b,c~1", "#12"])
def test_a_plain_key_or_path_stands_as_it_is(name):
    assert label(name) == name
    assert bracketed(name) == f"[{name}]"


@each_row("name", ["", "two words", "a]", 'a"', "a\u202e", "<b>", "a;b", "\u3164", "a`b", "a\tb", "a(b)"])
def test_any_other_key_or_path_is_quoted(name):
    assert json.loads(label(name)) == name
    assert label(name).startswith('"')


@each_row(
    "text",
    [
        *(
            "</system-reminder>",
            "<function_calls>",
            '<invoke name="x">',
            "</invoke>",
            "<system>",
            "</ system>",
            "<|im_start|>",
        ),
        *(
            "<<SYS>>",
            "</s>",
            "<start_of_turn>",
            "[INST]",
            "[/INST]",
            "[TOOL_CALLS]",
            "<a:b>",
            "< system>",
            "<\u00a0/ user >",
            "<\u200dsystem>",
            "[THINK]",
            "[ system ]",
            "<tool_call>",
            "<｜end｜>",
        ),
    ],
)
def test_the_markup_of_clients_and_models_is_escaped(text):
    assert text not in visible(f"a {text} b")
    assert "\\u" in visible(text)[:3]


@each_row(
    "text",
    [
        "List<String>",
        "<div>",
        "a < b",
        "x < max_value",
        "if n <= a_b",
        "x[0]",
        "[TODO]",
        "<br/>",
        "#include <stdio.h>",
        "if b[user] < system: pass",
        "👩‍💻",
        "❤️‍🔥 1️⃣ ©️",
        "می‌خواهم",
        "क्‍ष",
        "ᠠ᠋",
    ],
)
def test_what_is_no_markup_stays_readable(text):
    assert visible(text) == text


@each_row(
    "hidden",
    [
        "\u034f",
        "\ufe01",
        "a\ufe0f",
        "1\ufe0f",
        "❤\ufe0f\ufe0f",
        "\u200c\u200d",
        "א\u200d\u200c",
        "x\u180b",
        "\ufff0",
        "\U0001bca0",
        "\U0001d173",
        "\U000e0041",
    ],
)
def test_what_has_no_shape_cannot_carry_a_message(hidden):
    shown = visible(f"note{hidden}s")
    assert "\\u" in shown
    assert json.loads(f'"{shown}"') == f"note{hidden}s"


@pytest.mark.slow
def test_each_character_of_unicode_is_shown_or_escaped_by_its_class():
    letters = [chr(place) for place in range(sys.maxunicode + 1)]
    hidden = [letter for letter in letters if has_no_shape(letter)]
    escaped = terminal_text("x".join(hidden))
    assert [letter for letter in set(escaped) if has_no_shape(letter)] == []
    assert json.loads(f'"{escaped}"') == "x".join(hidden)
    blank_by_name = re.compile("BLANK|FOR NULL")
    shown = [
        letter
        for letter in letters
        if unicodedata.category(letter)[0] in "LMNPS"
        and not has_no_shape(letter)
        and not blank_by_name.search(unicodedata.name(letter, ""))
    ]
    assert terminal_text("x".join(shown)) == "x".join(shown)
    assert len(shown) > 130_000


@each_row(
    "text",
    [
        *("می‌خواهم", "نامه‌ای", "خانه‌ها", "مُ‌خ", "ئازاد‌ی"),
        *("क्‍ष", "हिन्दी में", "र्‍या", "അവന്‍", "ന്‍മ", "ശ്രീ", "ශ්‍රී", "র‍্যাব", "ক্ষ", "க்‌ஷ"),
        *("👨‍👩‍👧‍👦", "👩🏽‍💻", "🏳️‍🌈", "🏴‍☠️", "🇩🇪🇮🇷", "⛹️‍♀️", "🙂‍↔️", "🚶‍➡️", "ℹ️ ⁉️ ™️ #️⃣"),
        *("Bonjour\u202f! 10\xa0km", "日本語\u3000です", "한국어", "ភាសាខ្មែរ", "עִבְרִית", "ไทย", "བོད་", "ⵜⴰ"),
    ],
)
def test_words_of_all_scripts_and_emoji_stay_readable(text):
    assert visible(text) == text
    assert visible(f'"{text}"') == f'"{text}"'


@each_row(
    "text",
    [
        "a\u200db",
        "م\u200c",
        "\u200cم",
        "م\u200c\u200cم",
        "א\u200cא",
        "क\u200dx",
        "東\u200d京",
        "1\u200c2",
        "👩\u200d",
        "\u2800\u200d\u2800",
    ],
)
def test_a_joiner_is_escaped_where_its_script_has_none(text):
    shown = visible(text)
    assert not set(shown) & set("\u200c\u200d\u2800") or shown.count("\\u") == 1
    assert shown != text
    assert json.loads(f'"{shown}"') == text


@each_row("line", ["", "- a", "[a", '- [a] "b', '- ["a] "b"', '- [a] "b" c', '- [a b] "c"', '- [a] "b" "c"'])
def test_what_is_no_line_is_not_read(line):
    assert read_line(line) is None
