"""Runs in this process: bounds, retries, records, and what is reported."""

import json
import os
from collections import Counter

import pytest

from priming import Conflict, HashedEmbedder, Memory, NotFound, ParamError
from priming.config.settings import load
from priming_server.fleet import plan
from priming_server.fleet.journal import FleetParams, unfinished
from priming_server.fleet.plan import FleetRequest
from priming_server.fleet.run import run_fleet
from priming_server.fleet.task import LOST, FleetOutcome, FleetTask, carry_out


class WorkersHere:
    """Workers in this process. ``losing`` names how many attempts on a namespace end with their worker."""

    def __init__(self, **losing):
        self.losing, self.waiting, self.most, self.ran = Counter(losing), [], Counter(), []
        self.free = 100

    def submit(self, task):
        self.waiting.append(task)
        self.most[task.url] = max(self.most[task.url], sum(task.url == each.url for each in self.waiting))

    def finished(self):
        task = self.waiting.pop(0)
        self.ran.append(task.namespace)
        outcome = carry_out(task)
        if self.losing[task.namespace]:
            self.losing[task.namespace] -= 1
            outcome = FleetOutcome(LOST, "its worker ended")
        return [(task.number, outcome)]

    def close(self):
        pass


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIMING_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PRIMING_EMBEDDER", "hashed:16")
    return tmp_path / "home"


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/teams.db"


@pytest.fixture
def teams(url):
    names = ["ann", "bea", "cem"]
    for name in names:
        with Memory.open(url, namespace=name) as memory:
            memory.remember(f"{name} likes tea.")
    return names


def request(url, verb="verify", **fields):
    return FleetRequest(verb, (url,), settings=load(), **fields)


def records(home):
    return list((home / "fleet").glob("*.jsonl"))


@pytest.mark.usefixtures("teams")
def test_a_run_does_each_namespace_and_leaves_no_record(url, home):
    report = run_fleet(plan.begin(request(url)), WorkersHere())
    assert (report.namespaces, report.done, report.failed, report.retried) == (3, 3, (), 0)
    assert report.counts["findings"] == 0 < report.counts["rows"]
    assert records(home) == []


@pytest.mark.usefixtures("teams")
def test_globs_choose_namespaces(url):
    report = run_fleet(plan.begin(request(url, globs=("a*", "*m"))), WorkersHere())
    assert report.namespaces == 2


@pytest.mark.usefixtures("teams")
@pytest.mark.parametrize(("globs", "rule"), [(("typo*",), "such as ann, bea and 1 more"), (("a*", "z"), "z")])
def test_a_glob_that_matches_no_namespace_is_refused(url, home, globs, rule):
    with pytest.raises(ParamError, match=rule):
        plan.begin(request(url, globs=globs))
    assert records(home) == []


@pytest.mark.usefixtures("teams")
def test_at_most_so_many_are_at_work_in_a_store(url, tmp_path):
    other = f"sqlite:///{tmp_path}/other.db"
    with Memory.open(other, namespace="dee") as memory:
        memory.remember("Dee likes coffee.")
    workers = WorkersHere()
    both = FleetRequest("verify", (url, other), settings=load())
    report = run_fleet(plan.begin(both), workers, at_once=2)
    assert (report.done, sorted(workers.most.values())) == (4, [1, 2])


@pytest.mark.usefixtures("teams")
def test_a_namespace_whose_worker_ends_is_tried_again_behind_the_others(url):
    workers = WorkersHere(ann=2)
    report = run_fleet(plan.begin(request(url)), workers)
    assert (report.done, report.retried, report.lost) == (3, 1, 2)
    assert workers.ran == ["ann", "bea", "cem", "ann", "ann"]


@pytest.mark.usefixtures("teams")
def test_one_that_fails_each_time_is_reported_and_tried_again_when_the_run_is_continued(url, home):
    first = run_fleet(plan.begin(request(url)), WorkersHere(bea=9), params=FleetParams(attempts=2))
    (failure,) = first.failed
    assert (failure.namespace, failure.code, failure.attempts) == ("bea", LOST, 2)
    assert [path.stem for path in records(home)] == [first.run]
    workers = WorkersHere()
    second = run_fleet(plan.resume(request(url), first.run), workers)
    assert (second.done, second.earlier, second.failed, workers.ran) == (3, 2, (), ["bea"])
    assert records(home) == []


def test_an_error_of_the_verb_is_the_reason_and_is_not_tried_again(tmp_path, url):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "ann.jsonl").write_text('{"content": "Ann likes tea."}\n')
    (folder / "bea.jsonl").write_text("no JSON\n")
    workers = WorkersHere()
    arguments = {"source": "jsonl", "path": str(folder)}
    report = run_fleet(plan.begin(request(url, "import", arguments=arguments)), workers)
    (failure,) = report.failed
    assert (report.done, report.counts["memories"], workers.ran) == (1, 1, ["ann", "bea"])
    assert (failure.namespace, failure.code) == ("bea", "refused")
    assert "line 1" in failure.reason
    (folder / "bea.jsonl").write_text('{"content": "Bea likes coffee."}\n')
    continued = request(url, "import", arguments={"source": None, "path": None})
    assert run_fleet(plan.resume(continued, report.run), WorkersHere()).done == 2


def test_two_entries_for_a_namespace_or_a_file_in_place_of_the_folder_are_refused(tmp_path):
    for name in ("ann.md", "ann.jsonl"):
        (tmp_path / name).write_text("x")
    with pytest.raises(ParamError, match=r"two entries for the namespace 'ann': ann.jsonl and ann.md"):
        plan.import_files(tmp_path)
    with pytest.raises(ParamError, match="must be a folder"):
        plan.import_files(tmp_path / "ann.md")


def test_an_import_refuses_what_is_no_file_or_folder_of_its_folder(tmp_path, url):
    folder, outside = tmp_path / "in", tmp_path / "secret.jsonl"
    folder.mkdir()
    outside.write_text('{"content": "The code of the safe is 4711."}\n')
    ask = request(url, "import", arguments={"source": "jsonl", "path": str(folder)})
    (folder / "own.jsonl").write_text('{"content": "We sing."}\n')
    (folder / "also.jsonl").symlink_to(folder / "own.jsonl")
    for make in (
        lambda path: path.symlink_to(outside),
        lambda path: path.symlink_to(tmp_path),
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to(folder / "nothing"),
        os.mkfifo,
    ):
        make(folder / "team")
        with pytest.raises(ParamError, match=r"link out of the folder|must be a file or a folder"):
            plan.begin(ask)
        (folder / "team").unlink()
    assert run_fleet(plan.begin(ask), WorkersHere()).done == 2


def test_the_runs_that_are_not_done_are_listed_the_latest_first(url, teams, home):
    first = run_fleet(plan.begin(request(url)), WorkersHere(bea=9), params=FleetParams(attempts=1))
    second = plan.begin(request(url, "sleep"))
    (home / "fleet" / "broken.jsonl").write_text('{"run": 3}\n')
    (home / "fleet" / "empty.jsonl").write_text("")
    assert [(run.run, run.verb, run.namespaces, run.done, run.failed) for run in unfinished()] == [
        (second.journal.header.run, "sleep", len(teams), 0, 0),
        (first.run, "verify", len(teams), len(teams) - 1, 1),
    ]
    run_fleet(second, WorkersHere())
    assert [run.run for run in unfinished()] == [first.run]


@pytest.mark.usefixtures("teams")
def test_a_run_is_continued_by_its_own_verb_on_its_own_stores_with_its_own_arguments(url, tmp_path):
    run = run_fleet(plan.begin(request(url)), WorkersHere(ann=9)).run
    with pytest.raises(Conflict, match="a run of 'fleet verify'"):
        plan.resume(request(url, "sleep"), run)
    with pytest.raises(Conflict, match="name the same stores"):
        plan.resume(request(f"sqlite:///{tmp_path}/other.db"), run)
    with pytest.raises(Conflict, match="leave all but --run"):
        plan.resume(request(url, globs=("a*",)), run)
    with pytest.raises(NotFound, match=rf"no unfinished run 'x' .* there are {run}"):
        plan.resume(request(url), "x")


@pytest.mark.usefixtures("teams")
def test_a_record_whose_last_line_was_cut_off_is_continued_from_the_line_before(url, home):
    run = run_fleet(plan.begin(request(url)), WorkersHere(cem=9)).run
    (record,) = records(home)
    record.write_text(record.read_text()[:-20])
    assert {task.namespace for task in plan.resume(request(url), run).tasks} == {"cem"}


def test_a_record_has_no_password_and_is_private(home, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "ann.jsonl").write_text('{"content": "Ann likes tea."}\n')
    arguments = {"source": "jsonl", "path": str(folder)}
    plan.begin(request("postgresql://ann:secret@db/team", "import", arguments=arguments))
    (record,) = records(home)
    header = json.loads(record.read_text())
    assert header["stores"] == ["postgresql://ann:***@db/team"]
    assert record.stat().st_mode & 0o777 == 0o600


def test_a_store_in_memory_and_a_store_that_is_named_twice_are_refused(url):
    with pytest.raises(ParamError, match="in memory"):
        plan.begin(request("sqlite://"))
    with pytest.raises(ParamError, match="each store once"):
        plan.begin(FleetRequest("verify", (url, url), settings=load()))


def test_another_version_on_a_worker_is_refused(url):
    outcome = carry_out(
        FleetTask(0, url, "ann", "verify", "0197a3b2-1c4d-7e5f-8a6b-9c0d1e2f3a4b", version="9.9")
    )
    assert (outcome.code, "install the same" in outcome.reason) == ("version", True)


@pytest.mark.usefixtures("teams")
def test_an_attempt_after_one_that_was_carried_out_sleeps_no_second_time(url):
    """The worker ended after its night and before its answer: the log has one night a namespace."""
    with Memory.open(url, namespace="ann") as memory:
        for number in range(3):
            memory.remember("Lunch was late today.", session=f"s{number}", key=f"lunch-{number}")
    report = run_fleet(plan.begin(request(url, "sleep")), WorkersHere(ann=1))
    assert (report.done, report.lost) == (3, 1)
    with Memory.open(url, namespace="ann") as memory:
        nights = [each for each in memory.log(limit=1000) if each.kind == "sleep"]
    assert len({each.source for each in nights}) == 1
    assert len(nights) == len({each.reason for each in nights}) > 0
    assert {each.via for each in nights} == {"fleet sleep"}


@pytest.fixture
def judged(url, monkeypatch):
    """Namespaces that differ in what their judged recalls say of another embedder; a third has none."""
    monkeypatch.delenv("PRIMING_EMBEDDER")
    for name, place in (("worse", 0), ("better", 2), ("quiet", None)):
        with Memory.open(url, namespace=name, embedder=HashedEmbedder(256)) as memory:
            for i, thing in enumerate(THINGS):
                memory.remember(f"The {thing} was tuned by Ada in hall {i} with the {THINGS[(i + 3) % 8]}.")
            for i, thing in enumerate(THINGS if place is not None else ()):
                recall = memory.recall(f"who tuned the {thing} and {THINGS[(i + 1) % 8]}", limit=8)
                memory.feedback(recall.recall_id, used=[recall.hits[place].memory.key])
    return url


THINGS = ("violin", "cello", "oboe", "tuba", "horn", "lute", "piano", "banjo")


def reembed(url, workers=None, *, run=None, **arguments):
    every = {"to": None, "switch": None, "roll_back": None, **arguments}
    query = request(url, "reembed", arguments=every)
    planned = plan.begin(query) if run is None else plan.resume(query, run)
    return run_fleet(planned, workers or WorkersHere())


def answering(url):
    """By namespace the size of the vectors that answer."""
    sizes = {}
    for name in ("better", "quiet", "worse"):
        with Memory.open(url, namespace=name) as memory:
            sizes[name] = memory.embedder.dimension
    return sizes


@pytest.mark.slow
def test_each_namespace_is_changed_to_an_embedder_by_its_own_judged_recalls_and_back(judged):
    with_first = lambda: reembed(judged, to="hashed:256", switch=True)  # noqa: E731
    assert with_first().counts["changed"] == 3
    report = reembed(judged, to="hashed:16")
    assert dict(report.counts) == {
        "vectors": 24,
        "changed": 1,
        "kept, as it answers worse": 1,
        "kept, without judged recalls": 1,
    }
    assert answering(judged) == {"better": 16, "quiet": 256, "worse": 256}
    again = reembed(judged, to="hashed:16", switch=True)
    assert dict(again.counts) == {"vectors": 0, "changed": 2, "answered by it already": 1}
    assert set(answering(judged).values()) == {16}
    assert reembed(judged, roll_back=True, to="hashed:99").counts == {"left as they are": 3}
    assert reembed(judged, roll_back=True, to="hashed:16").counts["rolled back"] == 3
    assert set(answering(judged).values()) == {256}


@pytest.mark.slow
def test_a_change_and_a_return_whose_worker_ends_after_it_are_made_once(judged):
    assert reembed(judged, to="hashed:16", switch=True).counts["changed"] == 3
    report = reembed(judged, WorkersHere(quiet=1, worse=2), to="hashed:32", switch=True)
    assert (report.counts["changed"], report.lost, report.failed) == (3, 3, ())
    assert set(answering(judged).values()) == {32}
    report = reembed(judged, WorkersHere(quiet=1, better=2), roll_back=True)
    assert (report.counts["rolled back"], report.lost) == (3, 3)
    assert set(answering(judged).values()) == {16}
    with Memory.open(judged, namespace="quiet") as memory:
        choices = [each.message for each in memory.log(limit=100) if each.kind == "reembed"]
        assert choices == ["hashed:16", "hashed:32", "hashed:16"]


@pytest.mark.slow
def test_a_run_that_changes_embedders_is_continued_with_what_it_was_begun_with(judged):
    first = run_fleet(
        plan.begin(
            request(judged, "reembed", arguments={"to": "hashed:16", "switch": True, "roll_back": None})
        ),
        WorkersHere(quiet=9),
        params=FleetParams(attempts=2),
    )
    assert (first.done, len(first.failed)) == (2, 1)
    assert reembed(judged, run=first.run).done == 3
    assert set(answering(judged).values()) == {16}
