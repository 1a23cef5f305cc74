"""Files of memories, one JSON object a line."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.rows import each_row
from tests.transfer.conftest import strictly

from priming.errors import ParamError
from priming.transfer import jsonl
from priming.transfer.importers import recognised
from priming.transfer.run import run


def read(path):
    return strictly(jsonl.read(path))


@pytest.fixture
def file(tmp_path):
    def write(*lines, raw=None):
        path = tmp_path / "memories.jsonl"
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        path.write_bytes(text.encode() if raw is None else raw)
        return path

    return write


def arguments(path):
    return [item.arguments for item in read(path)]


def test_a_line_gives_the_arguments_of_remember(file):
    path = file(
        {
            "content": "Ada wrote the first program.",
            "kind": "fact",
            "key": "ada",
            "heading": "Ada Lovelace",
            "occurred_at": "1843-07-10T12:00:00+01:00",
            "valid_from": "1843-08-01T00:00:00Z",
            "tags": ["history"],
            "when": {"language": "python"},
            "importance": 0.9,
            "trust": "user",
        }
    )
    (item,) = arguments(path)
    assert item["occurred_at"] == datetime(1843, 7, 10, 11, tzinfo=UTC)
    assert item["valid_from"] == datetime(1843, 8, 1, tzinfo=UTC)
    assert (item["key"], item["trust"], item["importance"]) == ("ada", "user", 0.9)
    assert item["source"] == f"jsonl:{path}"


def test_text_will_do_for_content_and_what_is_unknown_is_metadata(file):
    path = file({"text": "hello there", "colour": "red", "metadata": {"size": 2}, "n": [1, {"a": None}]})
    (item,) = arguments(path)
    assert item["content"] == "hello there"
    assert item["metadata"] == {"colour": "red", "size": 2, "n": [1, {"a": None}]}
    assert item["trust"] == "tool"


def test_a_text_beside_a_content_is_metadata(file):
    (item,) = arguments(file({"content": "kept", "text": "beside"}))
    assert (item["content"], item["metadata"]) == ("kept", {"text": "beside"})


def test_null_is_the_same_as_nothing(file):
    (item,) = arguments(
        file({"content": None, "text": "said", "key": None, "metadata": None, "source": None})
    )
    assert item["content"] == "said"
    assert not {"key", "metadata"} & set(item)


def test_blank_lines_a_byte_order_mark_and_windows_line_ends_do_no_harm(file):
    path = file(raw=b'\xef\xbb\xbf{"content": "one"}\r\n\r\n  \n{"content": "two \\u00fc"}\r\n')
    assert [item["content"] for item in arguments(path)] == ["one", "two ü"]


def test_importing_twice_stores_nothing_new_with_or_without_keys(file, memory):
    path = file({"content": "without a key"}, {"content": "with a key", "key": "mine"})
    assert run(memory, "jsonl", path).stored == 2
    again = run(memory, "jsonl", path)
    assert (again.stored, again.duplicates) == (0, 2)


def test_a_changed_line_holds_from_when_it_says(file, memory):
    item = {"content": "The fee is 5.", "key": "fee", "valid_from": "2026-01-01T00:00:00Z"}
    run(memory, "jsonl", file(item))
    changed = file({**item, "content": "The fee is 6.", "valid_from": "2026-02-01T00:00:00Z"})
    assert [run(memory, "jsonl", changed).changed for _ in range(2)] == [1, 0]
    assert [version.valid_from.month for version in memory.history("fee")] == [1, 2]


def test_a_file_is_read_line_by_line(file):
    path = file({"content": "good"}, "{broken")
    items = read(path)
    assert next(items).arguments["content"] == "good"
    with pytest.raises(ParamError):
        next(items)


@each_row(
    ("line", "rule"),
    [
        ("{broken", "must be JSON"),
        ('{"content": "a"} trailing', "must be JSON"),
        ('["content"]', "must be a JSON object on one line"),
        ('"content"', "must be a JSON object on one line"),
        ("{}", "must have a content"),
        ('{"heading": "only"}', "must have a content"),
        ('{"content": "   "}', "must not be blank"),
        ('{"content": 7}', "must be a text"),
        ('{"content": "a\\u0000b"}', "NUL"),
        ('{"content": "a\\ud800b"}', "lone surrogates"),
        ('{"content": "a", "kind": "dream"}', "must be one of episode"),
        ('{"content": "a", "importance": 2}', r"must be in \[0, 1\]"),
        ('{"content": "a", "occurred_at": "2026-03-01T12:00:00"}', "must carry a time zone: add Z"),
        ('{"content": "a", "occurred_at": "2026-03-01"}', "must carry a time zone: add Z"),
        ('{"content": "a", "occurred_at": "yesterday"}', "must be an ISO 8601 time, such as"),
        ('{"content": "a", "occurred_at": 1700000000}', "must be an ISO 8601 time, such as"),
        ('{"content": "a", "occurred_at": "0001-01-01T00:00:00+10:00"}', "must be an ISO 8601 time"),
        ('{"content": "a", "metadata": [1]}', "must be a mapping"),
        ('{"content": "a", "more": NaN}', "must hold what JSON holds"),
        ('{"content": "a", "tags": "one"}', "must be a list of texts"),
        ("[" * 100_000, "must be JSON"),
        ('{"content": ' + "9" * 5000 + "}", "must be JSON"),
    ],
)
def test_a_wrong_line_is_named_by_its_number_with_the_rule(file, line, rule):
    with pytest.raises(ParamError, match=rule) as caught:
        arguments(file({"content": "good"}, line, {"content": "also good"}))
    assert "memories.jsonl, line 2" in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_wrong_line_is_skipped_and_the_others_are_stored(file, memory):
    report = run(memory, "jsonl", file({"content": "one"}, {"content": "two"}, "{"))
    assert (report.stored, report.refused) == (2, 1)
    assert "line 3" in report.skipped[0]


@pytest.mark.parametrize("broken", ['{"content": "half a li', "no JSON at all"])
def test_a_broken_first_line_hides_no_shape(file, broken):
    path = file(f'{broken}\n{{"content": "Kestrel signs every build."}}\n')
    assert recognised(path) == "jsonl"


def test_an_export_of_priming_is_refused_as_a_whole(file):
    with pytest.raises(ParamError, match="is an export of Priming: priming import priming PATH reads it"):
        arguments(file({"format": "priming", "version": 1}, {"memory": {}}))


def test_a_line_with_an_id_is_known_by_it(file, memory):
    run(memory, "jsonl", file({"content": "The gate opens at 8.", "id": 7}))
    report = run(memory, "jsonl", file({"content": "The gate opens at 9.", "id": 7}))
    assert (report.changed, report.stored) == (1, 0)
    assert memory.get("memories:7").content == "The gate opens at 9."


def test_bytes_that_are_no_utf_8_are_refused_with_their_line(file):
    with pytest.raises(ParamError, match=r"line 2 = b'\\xe9': must be UTF-8"):
        arguments(file(raw=b'{"content": "a"}\n{"content": "caf\xe9"}\n'))


@pytest.mark.parametrize("raw", [b"", b"\n \n"])
def test_an_empty_file_is_refused(file, raw):
    with pytest.raises(ParamError, match="is empty: each line must be a JSON object"):
        arguments(file(raw=raw))


def test_a_file_that_is_not_there_and_a_folder_without_any_are_refused(tmp_path):
    for path in (tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(ParamError, match=r"cannot be read: No such file|no file below it ends in .jsonl"):
            arguments(path)


def test_a_folder_is_followed_file_by_file_and_a_broken_line_stops_none(memory, tmp_path):
    (tmp_path / "north").mkdir()
    flat, north = tmp_path / "flats.jsonl", tmp_path / "north" / "flats.ndjson"
    flat.write_text(
        '{"id": 1, "content": "The lift is serviced in March."}\n{"id": 2, "content": "The cellar fl'
    )
    north.write_text('{"id": 1, "content": "The north gate opens at 7."}\n')
    (tmp_path / "empty.jsonl").touch()
    assert recognised(tmp_path) == "jsonl"
    report = run(memory, "jsonl", tmp_path)
    assert (report.stored, report.refused, report.others) == (2, 2, {})
    assert [memory.get(key).content[:8] for key in ("flats:1", "north/flats:1")] == ["The lift", "The nort"]
    flat.write_text('{"id": 1, "content": "The lift is serviced in May."}\n')
    (tmp_path / "empty.jsonl").unlink()
    north.unlink()
    report = run(memory, "jsonl", tmp_path)
    assert (report.changed, report.gone, report.refused) == (1, 1, 0)


def test_a_folder_with_files_of_another_kind_is_no_folder_of_json_lines(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"content": "kept"}\n')
    (tmp_path / "photo.png").touch()
    with pytest.raises(ParamError, match="has the shape of no format"):
        recognised(tmp_path)


def test_a_path_that_no_source_can_hold_is_made_printable(tmp_path):
    path = tmp_path / "two\nlines.jsonl"
    path.write_text('{"content": "kept"}')
    (item,) = arguments(path)
    assert item["source"].isprintable()


def test_a_pipe_can_be_imported():
    ours, theirs = os.pipe()
    os.write(theirs, b'{"content": "through a pipe"}\n')
    os.close(theirs)
    with os.fdopen(ours):
        assert [item["content"] for item in arguments(Path(f"/dev/fd/{ours}"))] == ["through a pipe"]
