import json
import subprocess
import sys
import textwrap
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.rows import each_row

from priming import Conflict, FixedClock, Memory, NotFound, ParamError, StoreError
from priming.serialization import stamp
from priming.storage.rows import MemoryRow, PairRow, RowChange, RunRow, VerdictRow

NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
THEN = datetime(2023, 5, 7, 12, 30, 15, 123456, tzinfo=UTC)


def live(memory, clock):
    """Something of everything: kinds, versions, a forgotten memory, links by rule and by hand, an undo."""
    memory.remember(
        "Then Zed painted “walls” in 東京.\nAnd left.",
        key="a",
        session="s",
        speaker="Ada",
        occurred_at=THEN,
        tags=["x", "y"],
        metadata={"b": 1, "a": {"deep": [None, True, 1.5]}},
        when={"language": ["go"]},
        importance=0.1,
        outcome="partial",
        source="chat",
        trust="tool",
    )
    memory.remember_many([{"content": f"filler note {i}", "session": "s"} for i in range(20)])
    clock.at += timedelta(hours=1)
    memory.supersede("a", "Zed painted doors.", valid_from=clock.at + timedelta(days=2))
    memory.link("a", "filler-note-3", "requires", 0.123456789)
    memory.set_strength("a", "filler-note-3", 0.3)
    memory.forget("filler-note-4")
    memory.undo(memory.forget("filler-note-5").id)
    memory.purge("filler-note-6")
    learn(memory, clock.at)


def learn(memory, now, operation_id="learnt"):
    """Rows as the verbs that learn write them."""
    a, b = sorted(memory.get(key).id for key in ("a", "filler-note-3"))
    with memory.writing():
        (row,) = memory.store.rows(memory.namespace, MemoryRow, ids=[a])
        rows = [
            RowChange(row, replace(row, confidence=0.6, weight=0.51)),
            RowChange(None, VerdictRow(a, "used", operation_id, "r", now, "conscious", "s", {"text": "Zed"})),
            RowChange(None, PairRow(a, b, (stamp(now), stamp(now + timedelta(hours=1))))),
            RowChange(None, RunRow("run", "s", now, now + timedelta(hours=1), "used", (b, a))),
        ]
        memory.write("feedback", now, rows, operation_id=operation_id, source="conscious")


def learnt(memory):
    """Everything that was learnt in a namespace."""
    store = memory.store
    sure = {record.key: record.confidence for record in memory.list(status=None)}
    return [*(store.rows(memory.namespace, kind) for kind in (VerdictRow, PairRow, RunRow)), sure]


def test_a_sign_for_a_stream_is_no_file(open_memory, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    memory = open_memory()
    for write, others in ((memory.export, {}), (memory.backup, {}), (memory.pack_create, {"name": "a"})):
        with pytest.raises(ParamError, match="path = '-': must name a file"):
            write("-", **others)
    assert not (tmp_path / "-").exists()


def test_an_export_comes_back_as_it_was(open_memory, clock, tmp_path):
    ours, theirs = open_memory(), open_memory()
    live(ours, clock)
    first, again = tmp_path / "first.jsonl", tmp_path / "again.jsonl"
    count = ours.export(first)
    assert count == sum(sum(counts.values()) for counts in ours.stats().memories.values())
    assert theirs.import_(first) == count
    assert theirs.export(again) == count
    assert again.read_bytes() == first.read_bytes()
    assert theirs.log() == ours.log()
    assert theirs.links() == ours.links()
    assert theirs.history("a") == ours.history("a")
    assert theirs.list(status=None) == ours.list(status=None)
    assert learnt(theirs) == learnt(ours)
    assert [len(counts) for counts in learnt(theirs)[:3]] == [1, 1, 1]
    assert theirs.validate() == []
    for cue in ("who painted walls", "filler note 7", "Zed"):
        a, b = ours.recall(cue), theirs.recall(cue)
        assert [(x.memory, x.score) for x in a.hits] == [(x.memory, pytest.approx(x.score)) for x in b.hits]


def test_an_import_goes_on_as_if_nothing_had_happened(open_memory, clock, tmp_path):
    ours, theirs = open_memory(), open_memory()
    live(ours, clock)
    ours.export(tmp_path / "x.jsonl")
    theirs.import_(tmp_path / "x.jsonl")
    for memory in (ours, theirs):
        memory.undo(next(operation.id for operation in memory.log() if operation.kind == "supersede"))
        memory.remember("Here Zed slept.", session="s")
        with pytest.raises(Conflict):
            memory.undo(next(operation.id for operation in memory.log() if operation.kind == "purge"))
    assert theirs.get("a") == ours.get("a")
    assert theirs.stats().links == ours.stats().links


def test_what_was_learnt_can_be_undone_after_an_import(open_memory, clock, tmp_path):
    ours, theirs = open_memory(), open_memory()
    live(ours, clock)
    ours.export(tmp_path / "x.jsonl")
    theirs.import_(tmp_path / "x.jsonl")
    theirs.undo("learnt")
    assert learnt(theirs)[:3] == [[], [], []]
    assert {theirs.get(key).confidence for key in ("a", "filler-note-3")} == {1.0}


def test_an_export_from_before_learning_is_read(open_memory, tmp_path):
    ours, theirs = open_memory(), open_memory()
    ours.remember("we paint", key="a")
    ours.forget("a")
    ours.export(tmp_path / "x.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    lines[0]["version"] = 1
    for line in lines:
        rows = [line.get("memories", {})]
        for change in line.get("operation", {}).get("changes", ()):
            rows += [side for side in (change["before"], change["after"]) if side is not None]
        for row in rows:
            row.pop("confidence", None)
        line.get("operation", {}).pop("undoes", None)
    (tmp_path / "old.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "confidence" not in (tmp_path / "old.jsonl").read_text()
    theirs.import_(tmp_path / "old.jsonl")
    assert theirs.list(status=None) == ours.list(status=None)
    theirs.undo(theirs.log(limit=1)[0].id)
    assert (theirs.get("a").status, theirs.get("a").confidence) == ("active", 1.0)


def test_an_empty_namespace_is_exported_too(open_memory, tmp_path):
    assert open_memory().export(tmp_path / "x.jsonl") == 0
    memory = open_memory()
    assert memory.import_(tmp_path / "x.jsonl") == 0
    assert memory.list() == []


def test_namespaces_may_be_copied(open_memory, url, clock, tmp_path):
    ours, theirs = open_memory(url), open_memory(url, namespace="copy")
    live(ours, clock)
    ours.export(tmp_path / "x.jsonl")
    theirs.import_(tmp_path / "x.jsonl")
    assert [record.content for record in theirs.list()] == [record.content for record in ours.list()]
    assert {record.namespace for record in theirs.list()} == {"copy"}
    theirs.purge("a")
    assert ours.get("a").content
    assert ours.validate() == theirs.validate() == []


# Into a namespace that is not empty


def test_an_import_adds_what_is_not_there_as_one_operation(open_memory, clock, tmp_path):
    ours, theirs = open_memory(), open_memory()
    live(ours, clock)
    ours.export(tmp_path / "base.jsonl")
    theirs.import_(tmp_path / "base.jsonl")
    ours.remember("Here Zed slept.", session="s", key="new")
    ours.export(tmp_path / "more.jsonl")
    theirs.recall("Zed")
    assert theirs.import_(tmp_path / "more.jsonl") == 1
    assert theirs.log()[0].kind == "import"
    assert theirs.links("new") == ours.links("new")
    assert [x.memory.key for x in theirs.recall("who slept").hits] == [
        x.memory.key for x in ours.recall("who slept").hits
    ]
    assert theirs.validate() == []
    operations = theirs.stats().operations
    assert theirs.import_(tmp_path / "more.jsonl") == 0
    assert theirs.stats().operations == operations


def test_an_import_that_contradicts_what_is_there_changes_nothing(open_memory, clock, tmp_path):
    ours, theirs = open_memory(), open_memory()
    live(ours, clock)
    ours.export(tmp_path / "base.jsonl")
    theirs.import_(tmp_path / "base.jsonl")
    ours.remember("Here Zed slept.", session="s", key="new")
    ours.set_strength("a", "filler-note-3", 0.9)
    ours.export(tmp_path / "more.jsonl")
    before = theirs.stats(), theirs.log(), theirs.links()
    with pytest.raises(
        Conflict, match=r"differ in the link 'requires' from .*: import into an empty namespace"
    ):
        theirs.import_(tmp_path / "more.jsonl")
    assert (theirs.stats(), theirs.log(), theirs.links()) == before


CONTRADICTIONS = {
    "verdicts": ({"tier": "manual"}, "the verdict 'used' on"),
    "pairs": ({"times": []}, "the pair of"),
    "runs": ({"settled": "unused"}, "the run run"),
}


@pytest.mark.parametrize("table", CONTRADICTIONS)
def test_what_was_learnt_is_added_where_it_is_not_there_and_never_mixed(open_memory, clock, tmp_path, table):
    ours, theirs = open_memory(), open_memory()
    live(ours, clock)
    whole, rest = tmp_path / "whole.jsonl", tmp_path / "rest.jsonl"
    ours.export(whole)
    lines = whole.read_text().splitlines()
    number = a_line(lines, table)
    rest.write_text("\n".join(lines[:number] + lines[number + 1 :]))
    theirs.import_(rest)
    assert learnt(theirs) != learnt(ours)
    assert theirs.import_(whole) == 0
    assert learnt(theirs) == learnt(ours)
    assert [operation.table for operation in theirs.log(limit=1)[0].changes] == [table]
    values, words = CONTRADICTIONS[table]
    lines[number] = changed(lines[number], **values)
    rest.write_text("\n".join(lines))
    with pytest.raises(Conflict, match=f"differ in {words}"):
        theirs.import_(rest)
    assert learnt(theirs) == learnt(ours)


def test_an_import_of_a_key_that_another_memory_has_is_a_conflict(open_memory, tmp_path):
    ours, theirs = open_memory(), open_memory()
    ours.remember("we paint", key="a")
    theirs.remember("we sing", key="a")
    ours.export(tmp_path / "x.jsonl")
    with pytest.raises(Conflict, match="key 'a' is taken"):
        theirs.import_(tmp_path / "x.jsonl")
    assert theirs.get("a").content == "we sing"


# Files that are no export


@pytest.fixture(scope="module")
def exported(tmp_path_factory, embedder):
    """The lines of an export of something of everything, and what time it is then."""
    clock, path = FixedClock(NOW), tmp_path_factory.mktemp("exported") / "x.jsonl"
    with Memory.open("sqlite://", embedder=embedder, clock=clock) as memory:
        live(memory, clock)
        memory.export(path)
    return tuple(path.read_text().splitlines()), clock.at


@pytest.fixture
def lines(exported, clock):
    lines, clock.at = exported
    return [*lines]


def changed(line, **values):
    """A line with some values of its row replaced."""
    ((kind, row),) = json.loads(line).items()
    return json.dumps({kind: {**row, **values}})


def a_line(lines, kind):
    return next(i for i, line in enumerate(lines) if line.startswith(f'{{"{kind}"'))


@each_row(
    ("kind", "broken", "message"),
    [
        ("links", lambda line: line[:-5], "must be JSON"),
        ("links", lambda _: "[]", "must begin an export"),
        ("links", lambda _: "7", "must begin an export"),
        ("links", lambda _: "{}", "is not a row of an export"),
        ("links", lambda _: '{"link": {}}', "is not a row of an export"),
        ("links", lambda _: '{"links": {}}', "is not a row of an export"),
        ("links", lambda _: '{"links": "x"}', "is not a row of an export"),
        ("links", lambda line: changed(line, weight=2), "weight = 2: must be in [0, 1]"),
        ("links", lambda line: changed(line, relation=None), "relation = None: must be a text"),
        ("links", lambda line: changed(line, created_at="yesterday"), "yesterday"),
        ("links", lambda line: changed(line, created_at="2024-05-17T00:00:00"), "must carry a time zone"),
        ("memories", lambda line: changed(line, kind="dream"), "kind = 'dream': must be one of"),
        ("memories", lambda line: changed(line, status="asleep"), "status = 'asleep': must be one of"),
        ("memories", lambda line: changed(line, weight=float("nan")), "weight = nan: must be in [0, 1]"),
        ("memories", lambda line: changed(line, key="\x00"), "NUL"),
        ("versions", lambda line: changed(line, content=7), "content = 7: must be a text"),
        ("versions", lambda line: changed(line, speaker="\ud800"), "surrogates"),
        ("versions", lambda line: changed(line, trust="boss"), "trust = 'boss': must be one of"),
        (
            "versions",
            lambda line: changed(
                line, valid_from="2024-05-02T00:00:00+00:00", valid_to="2024-05-01T00:00:00+00:00"
            ),
            "valid_to = '2024-05-01T00:00:00+00:00': must be ≥ 2024-05-02T00:00:00+00:00, which is valid_from",
        ),
        (
            "versions",
            lambda line: changed(line, retired_at="2001-01-01T00:00:00+00:00"),
            "retired_at = '2001-01-01T00:00:00+00:00': must be ≥",
        ),
        ("memories", lambda line: changed(line, confidence=2), "confidence = 2: must be in [0, 1]"),
        ("memories", lambda line: changed(line, endurance=-1), "endurance = -1"),
        (
            "memories",
            lambda line: changed(line, stability=2.3),
            "stability = 2.3: must be given together with difficulty",
        ),
        (
            "memories",
            lambda line: changed(line, stability=0, difficulty=5, reviewed_at="2024-05-17T00:00:00+00:00"),
            "stability = 0: must be > 0",
        ),
        (
            "memories",
            lambda line: changed(line, stability=1, difficulty=11, reviewed_at="2024-05-17T00:00:00+00:00"),
            "difficulty = 11",
        ),
        ("memories", lambda line: changed(line, recent=["yesterday"]), "yesterday"),
        ("memories", lambda line: changed(line, recent=["2024-05-17T00:00:00"]), "must carry a time zone"),
        ("verdicts", lambda line: changed(line, at=None), "is not a row of an export"),
        ("verdicts", lambda line: changed(line, verdict=7), "verdict = 7: must be a text"),
        ("pairs", lambda line: changed(line, times=["yesterday"]), "yesterday"),
        ("pairs", lambda line: changed(line, times=["2024-05-17T00:00:00"]), "must carry a time zone"),
        ("pairs", lambda line: changed(line, source=None), "source = None: must be a text"),
        ("runs", lambda line: changed(line, settled="lost"), "settled = 'lost': must be one of used, unused"),
        ("runs", lambda line: changed(line, shown=[7]), "shown = 7: must be a text"),
        ("operation", lambda line: changed(line, at=None), "is not a row of an export"),
        ("operation", lambda line: changed(line, changes=[{"table": "x"}]), "is not a row of an export"),
    ],
)
def test_a_malformed_line_is_named_and_nothing_is_imported(
    open_memory, tmp_path, lines, kind, broken, message
):
    number = a_line(lines, kind)
    spoilt = [*lines[:number], broken(lines[number]), *lines[number + 1 :]]
    path = tmp_path / "broken.jsonl"
    path.write_text("\n".join(spoilt))
    empty = open_memory()
    with pytest.raises(ParamError) as caught:
        empty.import_(path)
    assert str(caught.value).startswith(f"{path}, line {number + 1} = ")
    assert message in str(caught.value)
    assert (empty.list(), empty.log()) == ([], [])


@each_row(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "line 1 = .*: must be JSON"),
        (b"hello", "line 1 = 'hello': must be JSON"),
        (b'{"a": 1}', "line 1 = .*: must begin an export of Priming"),
        (b'{"format": "priming", "version": 99}', "line 1 = 99: must be format version 5 or older: update"),
        (b"\xff\xfe\x00", "must be UTF-8 text"),
        (b"SQLite format 3\x00" + bytes(range(256)), "UTF-8|JSON"),
    ],
)
def test_what_is_no_export_is_refused(memory, tmp_path, content, message):
    path = tmp_path / "other.jsonl"
    path.write_bytes(content)
    with pytest.raises(ParamError, match=message):
        memory.import_(path)


def test_a_file_that_is_not_there_is_named(memory, tmp_path):
    with pytest.raises(ParamError, match=r"path = '.*gone.jsonl': cannot be read: No such file"):
        memory.import_(tmp_path / "gone.jsonl")
    with pytest.raises(ParamError, match="cannot be read: Is a directory"):
        memory.import_(tmp_path)
    for bad in ("", "a\x00b"):
        with pytest.raises(ParamError, match="path"):
            memory.import_(bad)
        with pytest.raises(ParamError, match="path"):
            memory.export(bad)


def test_a_link_to_a_memory_that_the_file_lacks_imports_nothing(open_memory, tmp_path, lines):
    number = a_line(lines, "links")
    lines[number] = changed(lines[number], target="00000000-0000-7000-8000-000000000000")
    (tmp_path / "broken.jsonl").write_text("\n".join(lines))
    empty = open_memory()
    with pytest.raises((NotFound, ParamError), match="00000000-0000-7000-8000-000000000000"):
        empty.import_(tmp_path / "broken.jsonl")
    assert (empty.list(), empty.log()) == ([], [])


def test_rows_without_a_log_are_added_as_one_operation(open_memory, tmp_path, lines):
    (tmp_path / "rows.jsonl").write_text("\n".join(line for line in lines if '{"operation"' not in line))
    memory = open_memory()
    assert memory.import_(tmp_path / "rows.jsonl") > 0
    assert [operation.kind for operation in memory.log()] == ["import"]
    assert memory.recall("who painted").hits
    memory.undo(memory.log()[0].id)
    assert memory.list() == []


# An export appears only when it is whole


def test_an_export_replaces_the_one_before_it(memory, tmp_path, clock):
    live(memory, clock)
    path = tmp_path / "x.jsonl"
    path.write_text("old")
    memory.export(path)
    assert path.read_text().startswith('{"format": "priming"')
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]


def test_an_export_to_where_nothing_can_be_written_is_a_store_error(memory, tmp_path):
    memory.remember("we paint")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "no" / "such" / "x.jsonl", tmp_path / "folder"):
        with pytest.raises(StoreError, match="could not be written"):
            memory.export(path)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_an_interrupted_export_leaves_no_file(memory, clock, tmp_path):
    memory.remember_many([{"content": f"filler note {i}", "occurred_at": clock.at} for i in range(600)])

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.export(tmp_path / "x.jsonl", progress=interrupt)
    assert list(tmp_path.iterdir()) == []
    assert memory.export(tmp_path / "x.jsonl") == 600


@pytest.mark.slow
def test_a_full_disk_leaves_no_export(tmp_path):
    script = """
        import resource, signal, sys
        from priming import HashedEmbedder, Memory, StoreError
        memory = Memory.open("sqlite://", embedder=HashedEmbedder(8))
        memory.remember_many([{"content": f"filler note {i}"} for i in range(100)])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            memory.export(sys.argv[1])
        except StoreError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), tmp_path / "x.jsonl"], capture_output=True, text=True
    )
    assert "could not be written: File too large" in done.stdout
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []
