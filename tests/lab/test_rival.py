"""Rivals are real processes here, in real environments, and fail in all the ways that processes can."""

import json
import os
import sys
import threading
import time
import zipfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from priming import BenchError, ParamError
from priming_lab.contestants import BENCH
from priming_lab.rivals import Process, Rival, rivals
from priming_lab.run import attempt, measure, prepare

from .rivalling import rival

PATIENT = replace(BENCH, close_seconds=2.0)
HASTY = replace(BENCH, close_seconds=0.2)


def silent(_done, _total):
    """Nobody watches."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Where environments are kept: made once for all tests."""
    return tmp_path_factory.mktemp("environments")


@pytest.fixture
def ask(small, embedder, cache):
    """Runs a rival on the small set."""
    parts = prepare(small, embedder)
    return lambda folder, params=PATIENT: attempt(Rival(folder, cache, params), parts, 3, silent)


@pytest.mark.slow
def test_a_rival_answers_over_the_pipe_in_the_order_that_it_ranks(tmp_path, ask, small):
    result = ask(rival(tmp_path, "toy"))
    assert result.error is None
    assert (result.name, result.what, result.versions) == ("toy", "A toy.", {"toy": "1.2"})
    assert len(result.answers) == small.questions
    # "What does the cat of Ada eat?": what, does, the and cat stand in D1:2, more than in any other turn.
    (query,) = [answer for answer in result.answers if answer.part == "one" and answer.category == "1"]
    assert query.keys[0] == "D1:2"
    assert len(query.keys) == 3


@pytest.mark.slow
def test_a_rival_gets_texts_titles_and_dates_and_each_part_in_a_new_store(tmp_path, small, embedder, cache):
    note = """open("seen.jsonl", "a").write(json.dumps(asked) + "\\n")"""
    rest = tmp_path / "kept.jsonl"
    folder = rival(
        tmp_path, "noting", before=note.replace("seen.jsonl", str(rest)), search='{"ok": True, "keys": []}'
    )
    measure(Rival(folder, cache, PATIENT), prepare(small, embedder), 3, silent)
    message = [json.loads(line) for line in rest.read_text("utf-8").splitlines()]
    assert [item["op"] for item in message if item["op"] != "search"] == ["hello", "load", "load", "close"]
    assert message[1]["memories"][3] == {
        "key": "D2:1",
        "text": "My bicycle was stolen from the station.",
        "heading": "Ben",
        "session": "session_2",
        "occurred_at": "2023-05-25T09:05:00+00:00",
    }
    assert message[1]["vectors"] is None
    assert message[2] == {
        "op": "search",
        "text": "What is the name of Ada's cat?",
        "vector": None,
        "limit": 3,
    }


@pytest.mark.slow
def test_a_rival_that_wants_vectors_gets_those_of_the_embedder(tmp_path, small, embedder, cache):
    rest = tmp_path / "kept"
    note = f"""asked["op"] == "load" and __import__("shutil").copy(asked["vectors"], {str(rest)!r})"""
    folder = rival(
        tmp_path,
        "near",
        before=note,
        vectors=True,
        search="""{"ok": True, "keys": [memories[len(asked["vector"]) % 2]["key"]]}""",
    )
    measure(Rival(folder, cache, PATIENT), prepare(small, embedder), 3, silent)
    texts = [item.indexed for item in small.parts[1].items]
    assert np.array_equal(np.load(rest), embedder.embed(texts))


@pytest.mark.slow
def test_the_time_that_a_rival_says_it_took_stands_before_what_the_pipe_took(tmp_path, ask):
    result = ask(rival(tmp_path, "timed", search="""{"ok": True, "keys": [], "ms": 4321.5}"""))
    assert {answer.ms for answer in result.answers} == {4321.5}


@pytest.mark.slow
def test_the_time_of_the_cues_vector_counts_for_who_uses_it(tmp_path, small, embedder, cache):
    parts = prepare(small, embedder)
    result = {}
    for vectors in (False, True):
        folder = rival(
            tmp_path, f"v{vectors}", vectors=vectors, search="""{"ok": True, "keys": [], "ms": 1}"""
        )
        result[vectors] = [
            answer.ms for answer in measure(Rival(folder, cache, PATIENT), parts, 3, silent).answers
        ]
    more = [ms for part in parts for ms in part.cue_ms]
    assert result[True] == [1.0 + ms for ms in more]
    assert set(result[False]) == {1.0}


CRASH = """asked["op"] == "search" and (print("the disk is on fire", file=sys.stderr), sys.exit(3))"""
HANG = """asked["op"] == "search" and __import__("threading").Event().wait()"""
BABBLE = """input()  # hello is asked before the first answer
while True: print('{"ok": true}')"""
DEAF = "import threading; threading.Event().wait()"
ORPHAN = """import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
sys.exit(4)"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("new", "problem"),
    [
        ({"before": CRASH}, r"ended at search with status 3; on stderr it said: the disk is on fire"),
        (
            {"search": "0; print('not json', flush=True); continue"},
            r"answered search with 'not json\\n', which is no JSON",
        ),
        ({"search": "[1, 2]"}, r"answered search with '\[1, 2\]\\n', which is no JSON object"),
        ({"search": '{"ok": False, "error": "KeyError: x"}'}, r"failed at search: KeyError: x"),
        ({"search": '{"ok": True, "keys": "D1:1"}'}, r"answered a search without a list of keys"),
        ({"search": '{"ok": True, "keys": ["D8:8"]}'}, r"the key 'D8:8' was never handed over"),
        (
            {"search": '{"ok": True, "keys": ["D1:1"], "scores": [float("nan")]}'},
            r"scores and times must be finite",
        ),
        ({"search": '{"ok": True, "keys": [], "ms": float("nan")}'}, r"scores and times must be finite"),
        ({"before": HANG}, r"gave no answer to search within 0\.5 seconds"),
        ({"adapter": DEAF}, r"gave no answer to hello within 1 seconds"),
        ({"adapter": ORPHAN}, r"ended at hello with status 4"),
        ({"adapter": "syntax error"}, r"ended at hello with status 1; on stderr it said: .*SyntaxError"),
        ({"requirements": "no requirement at all !!"}, r"could not be installed: "),
    ],
    ids=lambda item: None if isinstance(item, str) else next(iter(item)),
)
def test_what_goes_wrong_with_a_rival_is_told_and_ends_only_its_own_run(tmp_path, ask, new, problem):
    # Only who never answers is given up after a short time: another may take long on a busy machine.
    hasty = {DEAF: {"hello_seconds": 1.0}, HANG: {"search_seconds": 0.5}}
    limits = hasty.get(new.get("adapter", new.get("before")), {})
    result = ask(rival(tmp_path, "broken", **new), replace(HASTY, **limits))
    assert result.answers == ()
    assert result.error is not None
    with pytest.raises(BenchError, match=problem):
        raise BenchError(result.error)


def test_a_rival_without_its_papers_is_an_error_of_that_rival(tmp_path, cache):
    folder = rival(tmp_path, "nameless")
    (folder / "about.json").write_text("{}", "utf-8")
    with pytest.raises(BenchError, match="must be JSON with name, what, url and vectors"):
        Rival(folder, cache)
    (folder / "about.json").unlink()
    with pytest.raises(BenchError, match=r"about\.json"):
        Rival(folder, cache)


@pytest.mark.slow
def test_an_environment_is_made_once_and_anew_for_other_requirements(tmp_path, cache, ask):
    folder = rival(tmp_path, "kept")
    ask(folder)
    (new,) = cache.glob("kept-*")
    (new / "sign").touch()
    ask(folder)
    assert (new / "sign").exists()
    (folder / "requirements.txt").write_text("# nothing, in other words\n", "utf-8")
    ask(folder)
    assert len(list(cache.glob("kept-*"))) == 2


def wheel(folder):
    """A package with one word in it, as a file that pip installs without asking anybody."""
    path = folder / "onlyword-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("onlyword.py", "WORD = 'heliotrope'")
        info = "onlyword-1.0.dist-info"
        packed.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: onlyword\nVersion: 1.0\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(
            f"{info}/RECORD", f"onlyword.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n"
        )
    return path


@pytest.mark.slow
def test_what_a_rival_requires_is_installed_for_it_alone(tmp_path):
    adapter = """
import json, sys
import onlyword
for line in sys.stdin:
    print(json.dumps({"ok": True, "versions": {"word": onlyword.WORD}}), flush=True)
"""
    folder = rival(tmp_path, "needy", adapter=adapter, requirements=f"{wheel(tmp_path)}\n")
    item = Rival(folder, tmp_path / "cache", PATIENT)
    item.begin()
    item.close()
    assert item.versions == {"word": "heliotrope"}
    assert find_spec("onlyword") is None


@pytest.mark.slow
def test_an_environment_that_was_left_half_made_is_made_again(tmp_path, cache, ask):
    folder = rival(tmp_path, "half")
    ask(folder)
    (new,) = cache.glob("half-*")
    (new / ".ready").unlink()
    (new / "sign").touch()
    assert ask(folder).error is None
    assert not (new / "sign").exists()


@pytest.mark.slow
def test_no_process_and_no_folder_is_left_of_a_rival_that_does_not_end(tmp_path, cache):
    adapter = """
import json, os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(json.dumps({"ok": True, "versions": {"pid": os.getpid()}}), flush=True)
__import__("threading").Event().wait()
"""
    item = Rival(rival(tmp_path, "stubborn", adapter=adapter), cache, HASTY)
    item.begin()
    process, pid = item._running(), int(item.versions["pid"])
    item.close()
    assert not process.folder.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.slow
def test_what_a_rival_started_ends_with_it(tmp_path, cache):
    adapter = """
import json, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
for line in sys.stdin:
    if json.loads(line)["op"] == "close":
        break
    print(json.dumps({"ok": True, "versions": {"child": child.pid}}), flush=True)
"""
    item = Rival(rival(tmp_path, "parent", adapter=adapter), cache, PATIENT)
    item.begin()
    child = int(item.versions["child"])
    item.close()
    end = time.monotonic() + 30  # killed at once, and taken down when the system comes to it
    while _runs(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not _runs(child)


def _runs(pid):
    """Tell whether a process has not ended; one that nobody waited for yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.mark.slow
def test_a_rival_that_talks_without_being_asked_is_stopped_and_leaves_no_thread(tmp_path, cache, small):
    before = {thread.ident for thread in threading.enumerate()}
    item = Rival(rival(tmp_path, "babbling", adapter=BABBLE), cache, HASTY)
    item.begin()
    part, none = small.parts[0], np.zeros((6, 1), np.float32)

    def often():
        while True:  # each answer was there before its question, though it may be read later
            item.load(part, none)

    with pytest.raises(BenchError, match="babbling spoke before load was asked"):
        often()
    item.close()
    assert {thread.ident for thread in threading.enumerate()} <= before


@pytest.mark.slow
def test_messages_quote_files_without_the_folders_of_this_machine(tmp_path):
    script = tmp_path / "raising.py"
    script.write_text("raise KeyError('x')", "utf-8")

    process = Process([sys.executable, str(script)], "raising", PATIENT)
    with pytest.raises(BenchError, match=r'File "…/raising\.py", line 1') as raised:
        process.ask({"op": "hello"}, 10.0)
    process.end()
    assert str(tmp_path) not in str(raised.value)


def test_the_folders_of_rivals_are_those_with_an_adapter_by_name(tmp_path):
    for name in ("b", "a"):
        rival(tmp_path / "all", name)
    (tmp_path / "all" / "notes").mkdir()
    own = rival(tmp_path, "own")
    assert [item.name for item in rivals([own], [tmp_path / "all"])] == ["own", "a", "b"]


@pytest.mark.parametrize("what", ["rival", "rivals"])
def test_a_folder_that_holds_no_rival_is_refused(tmp_path, what):
    folders = ([tmp_path], []) if what == "rival" else ([], [tmp_path])
    with pytest.raises(ParamError, match=r"adapter\.py"):
        rivals(*folders)
    with pytest.raises(ParamError, match="must be a folder"):
        rivals(*((([tmp_path / "x"]), []) if what == "rival" else ([], [tmp_path / "x"])))
