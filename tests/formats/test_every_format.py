"""What holds of every format: exports are recognised by their shape, followed, and read around what is broken."""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.errors import ParamError
from priming.transfer.importers import Item, Report, find, formats, recognised
from priming.transfer.run import run

from .samples import CHATGPT, CODEX, GEMINI_CHECKPOINT, SAMPLES, SERVER_MEMORY, lines

SCENARIO = Path(__file__).parents[2] / "docs" / "scenario"
every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.format} {sample.path}")


def fitting(path):
    return [name for name, form in formats().items() if form.fits(path)]


def texts(memory):
    return sorted(record.content for record in memory.list())


@every_sample
def test_an_export_has_the_shape_of_one_format(sample, tmp_path):
    path = sample.write(tmp_path)
    assert fitting(path) == [sample.format]
    assert recognised(path) == sample.format


@every_sample
def test_its_name_does_not_matter(sample, tmp_path):
    path = sample.write(tmp_path / "written")
    for number, file in enumerate(sorted(path.rglob("*.json*")) if path.is_dir() else [path]):
        if sample.format in ("slack", "discord") and path.is_dir():
            continue  # their files name each other
        file.rename(file.with_name(f"{number}{file.suffix}"))
    folder = path if path.is_dir() else path.parent
    assert fitting(folder if path.is_dir() else next(folder.iterdir())) == [sample.format]


@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("a.json", json.dumps([{"role": "user", "content": "Hello"}]), "chat"),
        ("a.json", json.dumps({"messages": [{"role": "user", "content": "Hello", "id": "x"}]}), "chat"),
        ("a.json", json.dumps([{"id": "c", "messages": [{"role": "user", "content": "Hello"}]}]), "chat"),
        ("a.jsonl", lines({"role": "user", "content": "Hello"}), "chat"),
        (
            "a.jsonl",
            lines(
                {
                    "type": "user",
                    "uuid": "u",
                    "sessionId": "s",
                    "message": {"role": "user", "content": "Hello"},
                    "timestamp": "2026-01-02T00:00:00Z",
                }
            ),
            "chat",
        ),
        ("a.jsonl", lines({"content": "A fact."}), "jsonl"),
        ("a.md", "# A note\n\n12/03/2026, 14:05 - Ada: hello\n", "markdown"),
    ],
)
def test_other_formats_stay_what_they_are(name, text, format, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    assert fitting(path) == [format]


def test_a_repository_and_a_store_of_floop_stay_what_they_are(tmp_path):
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    shutil.copytree(SCENARIO / "floop", tmp_path / "store")
    assert fitting(tmp_path / "repository") == ["git"]
    assert fitting(tmp_path / "store") == ["floop"]


@each_row(
    "text",
    [
        "",
        "[]",
        "{}",
        "[[]]",
        "7",
        "null",
        '"text"',
        "[" * 100_000,
        '{"messages": []}',
        '{"a": [',
        "\x00",
        '[null, {"role": 7}]',
    ],
)
@each_row("ending", [".json", ".jsonl", ".txt", ".csv"])
def test_what_is_no_export_has_the_shape_of_none(text, ending, tmp_path):
    path = tmp_path / f"a{ending}"
    path.write_text(text)
    assert fitting(path) == []


@each_row("format", sorted({each.format for each in SAMPLES} - {"server-memory"}))
@each_row("text", ["[]", "{}", "7", "null", "[null]", '{"messages": 7}', "Dear diary,\n", ""])
def test_a_file_of_another_shape_is_refused_with_what_it_must_hold(format, text, tmp_path, memory):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(ParamError, match="must hold"):
        run(memory, format, path)


@every_sample
def test_an_export_is_read_once(sample, tmp_path, memory):
    path = sample.write(tmp_path)
    first = run(memory, sample.format, path)
    assert (first.stored, first.refused, first.skipped) == (sample.memories, 0, ())
    number = memory.stats().operations
    again = run(memory, sample.format, path)
    assert (again.stored, again.changed, again.duplicates) == (0, 0, sample.memories)
    assert memory.stats().operations == number


@every_sample
def test_an_export_taken_again_elsewhere_adds_nothing(sample, tmp_path, memory):
    run(memory, sample.format, sample.write(tmp_path / "first"))
    again = run(memory, sample.format, sample.write(tmp_path / "second"))
    assert (again.stored, again.refused, len(memory.list())) == (0, 0, sample.memories)


@pytest.mark.parametrize(
    "sample",
    [sample for sample in SAMPLES if sample not in (CODEX, GEMINI_CHECKPOINT, SERVER_MEMORY)],
    ids=lambda sample: sample.path,
)
def test_an_edit_is_followed_in_a_later_export_elsewhere(sample, tmp_path, memory):
    first = sample.write(tmp_path / "first")
    run(memory, sample.format, first)
    second = sample.replaced(tmp_path / "second", sample.edit)
    report = run(memory, sample.format, second)
    assert (report.stored, report.refused, report.changed, report.gone) == (0, 0, 1, 0)
    shutil.rmtree(tmp_path / "first")
    assert run(memory, sample.format, second).changed == 0
    assert any(sample.edit[2] in text for text in texts(memory))


@every_sample
def test_an_edit_is_followed(sample, tmp_path, memory):
    path = sample.write(tmp_path)
    run(memory, sample.format, path)
    sample.replaced(tmp_path, sample.edit)
    report = run(memory, sample.format, path)
    assert (report.stored, report.refused, report.changed + report.renamed, report.gone) == (0, 0, 1, 0)
    present = texts(memory)
    assert len(present) == sample.memories
    assert any(sample.edit[2] in text for text in present)
    assert not any(sample.edit[1] in text.replace(sample.edit[2], "") for text in present)


@every_sample
def test_a_broken_item_is_skipped_by_its_place_and_the_rest_is_stored(sample, tmp_path, memory):
    path = sample.replaced(tmp_path, sample.spoil)
    report = run(memory, sample.format, path)
    assert (report.stored, report.refused, len(report.skipped)) == (sample.memories - 1, 1, 1)
    assert str(tmp_path / sample.spoil[0]) in report.skipped[0]


@every_sample
def test_a_half_written_file_gives_what_is_whole_and_says_so(sample, tmp_path, memory):
    name = sample.edit[0]
    path = sample.write(tmp_path, lambda file, text: text[:-3] if file == name else text)
    report = run(memory, sample.format, path)
    assert report.stored >= 1
    if sample.format != "whatsapp":  # a text may end anywhere
        assert report.refused == 1
        assert "must be JSON" in report.skipped[0]


@pytest.mark.parametrize(
    "sample",
    [sample for sample in SAMPLES if sample is not SERVER_MEMORY],
    ids=lambda sample: f"{sample.format} {sample.path}",
)
def test_a_zip_file_is_read_as_the_folder_in_it(sample, tmp_path, memory):
    sample.write(tmp_path / "unpacked")
    archive = Path(shutil.make_archive(str(tmp_path / "export"), "zip", tmp_path / "unpacked"))
    assert fitting(archive) == [sample.format]
    report = run(memory, sample.format, archive)
    assert (report.stored, report.refused) == (sample.memories, 0)
    assert run(memory, sample.format, archive) == Report(duplicates=len(memory.list()))


@every_sample
def test_every_memory_has_a_time_with_a_zone_a_key_and_a_source(sample, tmp_path, memory):
    path = sample.write(tmp_path)
    run(memory, sample.format, path)
    for record in memory.list():
        assert record.key.startswith(f"{sample.format}:")
        assert record.source.startswith(f"{sample.format}:{tmp_path}")
        assert record.occurred_at is None or record.occurred_at.tzinfo is not None
        assert record.occurred_at is not None or sample in (SERVER_MEMORY, GEMINI_CHECKPOINT)
        assert (
            record.trust in {"user", "agent"}
            if record.metadata.get("role") != "person"
            else record.trust == "tool"
        )


def test_a_damaged_zip_file_is_named(tmp_path, memory):
    CHATGPT.write(tmp_path / "unpacked")
    archive = Path(shutil.make_archive(str(tmp_path / "export"), "zip", tmp_path / "unpacked"))
    whole = archive.read_bytes()
    start = whole.index(b"conversations.json") + 40
    archive.write_bytes(whole[:start] + bytes(60) + whole[start + 60 :])
    assert fitting(archive) == []
    with pytest.raises(ParamError, match="must hold an export of ChatGPT"):
        run(memory, "chatgpt", archive)
    archive.write_bytes(b"".join([whole[:-30], whole[-22:]]))
    with pytest.raises(ParamError, match=r"export.zip.*: (cannot be read|must)"):
        run(memory, "chatgpt", archive)


ODD = (None, True, 7, -1.5, 1e300, float("nan"), "", "x", "\ud800", [], {}, [None], [[7]], {"a": 1}, 10**400)


def places(value, place=()):
    """The place of each value within a value."""
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield from places(item, (*place, name))


def changed(value, place, odd):
    """A value with another at a place in it."""
    if not place:
        return odd
    copy = value.copy()
    copy[place[0]] = changed(value[place[0]], place[1:], odd)
    return copy


@given(st.data())
def test_whatever_stands_in_an_export_it_is_read_or_named(data):
    sample = data.draw(st.sampled_from([each for each in SAMPLES if each.format != "whatsapp"]))
    name = sample.edit[0]
    values = [json.loads(line) for line in sample.files[name].splitlines()]
    place = data.draw(st.sampled_from([*places(values)][1:]))
    values = changed(values, place, data.draw(st.sampled_from(ODD)))
    text = "".join(json.dumps(value) + "\n" for value in values)
    with tempfile.TemporaryDirectory() as folder:
        path = sample.write(Path(folder), lambda file, whole: text if file == name else whole)
        fitting(path)
        with suppress(ParamError):
            items = [*find(sample.format).read(path)]
            assert all(isinstance(item, Item) for item in items)
