"""The seam for importers."""

from __future__ import annotations

import json
import os
import random
import re
from dataclasses import replace

import pytest

from priming.config.params.limits import STORE
from priming.errors import ParamError, PrimingError
from priming.storage.rows import LinkRow
from priming.transfer.importers import Entry, Report, Tie, find, names, recognised
from priming.transfer.run import Interrupted, progress_summary, run

pytestmark = pytest.mark.usefixtures("plugin", "batches")
BATCH = 20


@pytest.fixture
def batches(monkeypatch):
    """Few are written at once."""
    monkeypatch.setattr("priming.config.params.limits.STORE", replace(STORE, batch=BATCH))


def entry(number, **more):
    return {"content": f"Entry number {number}.", "key": f"entry-{number}", **more}


def tie(source, target, weight=0.5):
    return {"source": source, "target": target, "relation": "follows", "weight": weight}


@pytest.fixture
def source(tmp_path):
    """Writes a file for the importer ``lines``."""

    def write(*values):
        path = tmp_path / "source.jsonl"
        path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
        return path

    return write


def test_importers_of_any_distribution_are_found_by_name():
    assert {"lines", "wrong"} <= set(names())
    assert callable(find("lines").read)


def test_an_unknown_importer_is_refused_with_the_names_there_are():
    with pytest.raises(ParamError, match=r"source = 'fax': must be one of priming, .*lines.*"):
        find("fax")


@pytest.mark.parametrize("name", ["gone", "typo"])
def test_an_importer_that_cannot_be_loaded_says_so(name):
    with pytest.raises(PrimingError, match=f"the importer '{name}' .* cannot be loaded"):
        find(name)


def test_entries_are_remembered_and_ties_made(memory, source):
    report = run(memory, "lines", source(entry(1), entry(2), tie("entry-1", "entry-2", 0.7)))
    assert report == Report(stored=2, links=1)
    (link,) = memory.links("entry-1", relation="follows")
    assert (link.source, link.target, link.weight, link.given) == ("entry-1", "entry-2", 0.7, True)


def test_a_tie_may_come_before_its_ends(memory, source):
    assert run(memory, "lines", source(tie("entry-1", "entry-2"), entry(1), entry(2))).links == 1


def test_a_tie_may_end_in_a_memory_that_was_there_already(memory, source):
    memory.remember("Known before.", key="known")
    assert run(memory, "lines", source(entry(1), tie("entry-1", "known"))).links == 1


def test_a_tie_to_nothing_is_skipped_with_its_reason_and_the_others_are_made(memory, source):
    values = [entry(n) for n in range(6)]
    ties = [tie(f"entry-{n}", f"entry-{n + 1}") for n in range(8)]
    report = run(memory, "lines", source(*values, *ties))
    assert (report.links, report.loose, report.refused) == (5, 3, 0)
    assert len(report.skipped) == 3
    assert re.match(r"entry-5 ─follows→ entry-6: there is no memory 'entry-6'", report.skipped[0])


def test_a_tie_out_of_range_is_skipped_with_its_reason(memory, source):
    report = run(memory, "lines", source(entry(1), entry(2), tie("entry-1", "entry-2", 1.5)))
    assert report.loose == 1
    assert "weight = 1.5: must be in [0, 1]" in report.skipped[0]


def test_a_second_run_finds_everything_there(memory, source):
    path = source(entry(1), entry(2), tie("entry-1", "entry-2"))
    run(memory, "lines", path)
    operations = memory.stats().operations
    assert run(memory, "lines", path) == Report(duplicates=2, links=1)
    assert memory.stats().operations == operations


def test_an_entry_that_is_refused_does_not_stop_the_others(memory, source):
    path = source(entry(1), entry(2, kind="rumour"), entry(3, content=" "), entry(4))
    report = run(memory, "lines", path)
    assert (report.stored, report.refused) == (2, 2)
    assert report.skipped[0].startswith("'entry-2': kind = 'rumour': must be one of")
    assert report.skipped[1] == "'entry-3': content = ' ': must not be blank"


def test_a_key_that_is_taken_by_another_text_is_refused(memory, source):
    memory.remember("Another text.", key="entry-1")
    report = run(memory, "lines", source(entry(1), entry(2)))
    assert (report.stored, report.refused) == (1, 1)
    assert "'entry-1' is taken" in report.skipped[0]
    assert memory.get("entry-1").content == "Another text."


def test_reasons_are_listed_up_to_a_hundred(memory, source):
    report = run(memory, "lines", source(*(entry(n, kind="rumour") for n in range(120))))
    assert report.refused == 120
    assert len(report.skipped) == 100


def test_progress_is_told_after_each_batch(memory, source):
    calls = []
    path = source(*(entry(n) for n in range(BATCH + 1)))
    run(memory, "lines", path, lambda done, total: calls.append((done, total)))
    assert calls == [(BATCH, None), (BATCH + 1, None)]


def test_each_batch_is_one_operation(memory, source):
    run(memory, "lines", source(*(entry(n) for n in range(BATCH + 1))))
    assert memory.stats().operations == 2


def test_an_interrupt_keeps_the_batches_before_it_and_says_so(memory, source):
    path = source(*(entry(n) for n in range(BATCH + 5)), "stop")
    with pytest.raises(Interrupted, match=f"^interrupted: {BATCH} new memories are kept") as caught:
        run(memory, "lines", path)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert caught.value.report.stored == BATCH
    assert memory.stats().memories["episode"]["active"] == BATCH


def test_an_error_of_the_importer_keeps_the_batches_before_it_and_notes_it(memory, source):
    path = source(*(entry(n) for n in range(BATCH + 200)))
    with path.open("ab") as file:
        file.write(b"\xff\n")
    with pytest.raises(ParamError, match="must be UTF-8 text") as caught:
        run(memory, "lines", path)
    stored = memory.stats().memories["episode"]["active"]
    assert BATCH <= stored < BATCH + 200
    assert stored % BATCH == 0
    assert caught.value.__notes__ == [progress_summary(Report(stored=stored))]


def test_a_path_that_cannot_be_read_is_bad_input(memory, tmp_path):
    with pytest.raises(ParamError, match=r"path = .*missing.*: cannot be read: No such file"):
        run(memory, "lines", tmp_path / "missing")


def test_the_format_of_a_pipe_must_be_named_since_its_shape_can_be_read_only_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(
        ParamError, match=r"path = .*pipe.*: must be a file or a folder: of a pipe, name the format"
    ):
        recognised(tmp_path / "pipe")


def test_an_importer_that_yields_something_else_is_named_as_at_fault(memory, tmp_path):
    with pytest.raises(ParamError, match="must be an Entry, a Tie or a Present"):
        run(memory, "wrong", tmp_path)


def test_an_import_of_nothing_is_an_empty_report(memory, source):
    assert run(memory, "lines", source()) == Report()


def test_items_are_values():
    assert Tie("a", "b", "next", 0.5) == Tie("a", "b", "next", 0.5)
    assert Entry({"content": "x"}) == Entry({"content": "x"})


@pytest.mark.usefixtures("short_batches")
def test_an_import_by_an_id_that_is_repeated_after_an_interruption_ends_as_one_that_was_not(
    open_memory, tmp_path
):
    """In the profile ``ethos``, a text that comes twice strengthens links: a batch that is stored comes once."""
    path = tmp_path / "notes.jsonl"
    chance, words = (
        random.Random(5),
        ["tea", "disk", "harbour", "gull", "winter", "ladder", "copper", "violin", "meadow", "lantern"],
    )
    texts = [f"{' '.join(chance.sample(words, 4))} {number}" for number in range(48)]
    path.write_text("".join(json.dumps({"content": text}) + "\n" for text in texts))

    def stop(done, _total):
        if done == 40:
            raise EndOfImportError

    def links(memory):
        rows = memory.store.rows(memory.namespace, LinkRow)
        keys = memory.store.names(
            memory.namespace, ids={end for row in rows for end in (row.source, row.target)}
        )
        return {(keys[row.source], row.relation, keys[row.target]): row.weight for row in rows}

    import_id = "0197a3b2-1c4d-7e5f-8a6b-9c0d1e2f3a4b"
    whole, broken, again = (open_memory(profile="ethos") for _ in range(3))
    run(whole, "jsonl", path, operation_id=import_id)
    with pytest.raises(EndOfImportError):
        run(broken, "jsonl", path, stop, operation_id=import_id)
    report = run(broken, "jsonl", path, operation_id=import_id)
    assert links(broken) == links(whole)
    assert report.stored + report.duplicates == 48
    for _ in range(2):
        run(again, "jsonl", path)
    assert links(again) == links(whole), "a source that did not change is not told again"


class EndOfImportError(Exception):
    """What happens in the middle of an import."""
