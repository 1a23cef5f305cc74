"""First guesses: results stand for their names, and what is misnamed is answered with the right name, everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import invoke
from tests.rows import each_row

import priming
from priming import HashedEmbedder, Hit, Memory, NotFound, ParamError, PrimingError, Recall
from priming.operations.service import LocalService
from priming.verbs.rows import OPS, named


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open("sqlite://", embedder=HashedEmbedder()) as opened:
        opened.remember("The tap in the kitchen is blue.", key="tap")
        opened.remember("The door of the cellar is green.", key="door")
        yield opened


def test_a_recall_is_a_sequence_of_hits_with_key_and_content(memory: Memory) -> None:
    answer = memory.recall("what colour is the tap in the kitchen")
    assert isinstance(answer, Recall)
    assert [hit.key for hit in answer] == [hit.memory.key for hit in answer.hits]
    assert (len(answer), answer[0].content) == (len(answer.hits), "The tap in the kitchen is blue.")
    assert isinstance(answer[0], Hit)


USES: dict[str, Callable[[Memory, Hit], Any]] = {
    "get": lambda memory, hit: memory.get(hit),
    "history": lambda memory, hit: memory.history(hit),
    "why": lambda memory, hit: memory.why(hit),
    "feedback": lambda memory, hit: memory.feedback(used=[hit], not_relevant=[memory.get("door")]),
    "supersede": lambda memory, hit: memory.supersede(hit, "The tap is red."),
    "forget": lambda memory, hit: memory.forget(hit),
    "deprecate": lambda memory, hit: memory.deprecate(hit, reason="sold"),
    "link": lambda memory, hit: memory.link(hit, memory.get("door"), "causes", 0.5),
    "links": lambda memory, hit: memory.links(hit),
    "purge": lambda memory, hit: memory.purge(hit),
}


@pytest.mark.parametrize("verb", USES)
def test_a_hit_and_a_record_are_taken_where_keys_are(memory: Memory, verb: str) -> None:
    (hit, *_) = memory.recall("what colour is the tap in the kitchen")
    assert hit.key == "tap"
    USES[verb](memory, hit)


def test_an_answer_that_wrote_is_undone_by_itself_or_its_operation(memory: Memory) -> None:
    stored = memory.remember("The lamp in the hall is broken.")
    memory.undo(stored)
    assert memory.stats().memories["episode"]["active"] == 2
    forgotten = memory.forget(memory.get("tap"))
    memory.undo(forgotten)
    assert memory.get("tap").status == "active"


def test_a_recall_is_taken_where_its_id_is(memory: Memory) -> None:
    answer = memory.recall("what colour is the tap in the kitchen")
    operation = memory.feedback(recall_id=answer, used=[answer[0]])
    assert answer.recall_id in (operation.reason or "")


@each_row(
    ("call", "answer"),
    [
        (
            lambda memory: memory.recall("tap", k=3),
            "k = 3: is not an argument: did you mean limit? recall takes text",
        ),
        (lambda memory: memory.recall(query="tap"), "query = 'tap': is not an argument: did you mean text?"),
        (lambda memory: memory.recall("tap", limt=3), "did you mean limit?"),
        (lambda memory: memory.recall("tap", 3), "argument 2 = 3: recall takes text by position"),
        (lambda memory: memory.recall(), "text = None: must not be blank: give a text"),
        (lambda memory: memory.remember(text="x"), "did you mean content?"),
        (lambda memory: memory.remember("x", user_id="ada"), "the memories of a user are a namespace"),
        (lambda memory: memory.learn(rule="always run the tests"), "right = None: must be given: what to do"),
        (lambda memory: memory.undo(), "operation_id = None: must be given"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_one(memory: Memory, call: Any, answer: str) -> None:
    before = memory.log()
    with pytest.raises(ParamError) as refused:
        call(memory)
    assert answer in str(refused.value)
    assert memory.log() == before


@pytest.mark.parametrize(("guess", "verb"), [("search", "recall"), ("add", "remember"), ("delete", "forget")])
def test_a_verb_of_another_library_names_ours(memory: Memory, guess: str, verb: str) -> None:
    with pytest.raises(AttributeError, match=f"did you mean '{verb}'"):
        getattr(memory, guess)
    with pytest.raises(ParamError, match=f"did you mean {verb}\\?"):
        LocalService("sqlite://", embedder=HashedEmbedder()).call("default", guess, {})


def test_an_operation_that_is_no_method_says_what_is_called_instead(memory: Memory) -> None:
    with pytest.raises(AttributeError) as refused:
        _ = memory.pack_ad  # type: ignore[attr-defined]
    hint = "call priming.operations.wire_calls.pack_add(memory, …)"
    assert str(refused.value) == f"a memory has no 'pack_ad': {hint}"


def test_the_class_itself_says_how_it_is_opened() -> None:
    with pytest.raises(ParamError, match=r"use Memory.open\(\)"):
        Memory()


def test_a_memory_opens_at_a_path(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "notes.db", embedder=HashedEmbedder()) as memory:
        memory.remember("The tap is blue.")
    assert (tmp_path / "notes.db").exists()


def test_a_request_is_answered_with_the_right_names() -> None:
    service = LocalService("sqlite://", embedder=HashedEmbedder())
    with pytest.raises(ParamError) as refused:
        service.call("default", "recall", {"query": "tap", "top_k": 3})
    assert [text.partition("?")[0] for text in refused.value.violations if "mean" in text] == [
        "query = 'tap': is not an argument: did you mean text",
        "top_k = 3: is not an argument: did you mean limit",
    ]
    with pytest.raises(ParamError, match="did you mean recall"):
        service.call("default", "recal", {"text": "tap"})


@each_row(
    ("typed", "answer"),
    [
        (("recal", "tap"), "'recall'"),
        (("search", "tap"), "Did you mean 'recall'?"),
        (("recall", "tap", "--top-k", "3"), "did you mean --limit?"),
        (("remember", "tap", "--user-id", "ada"), "did you mean --namespace?"),
    ],
)
def test_a_command_is_answered_with_the_right_names(typed: tuple[str, ...], answer: str) -> None:
    done = invoke(typed)
    assert (done.exit_code, done.stdout) == (2, "")
    assert answer in done.stderr


def test_the_names_of_results_are_the_packages_own() -> None:
    assert {"Hit", "Link", "MemoryRecord", "Operation", "Recall", "Remembered"} <= {*priming.__all__}


def test_a_hit_is_no_text_and_no_new_key(memory: Memory) -> None:
    (hit, *_) = memory.recall("what colour is the tap in the kitchen")
    before = memory.log()
    for call in (
        lambda: memory.remember(hit),
        lambda: memory.supersede("door", hit),
        lambda: memory.learn(hit),
        lambda: memory.recall(hit),
        lambda: memory.purge(subject=hit),
    ):
        with pytest.raises(ParamError):
            call()
    assert memory.log() == before


def test_a_record_of_another_memory_is_none_of_this_one(memory: Memory) -> None:
    with Memory.open("sqlite://", embedder=HashedEmbedder()) as other:
        other.remember("The tap in the bath is silver.", key="tap")
        with pytest.raises(NotFound):
            memory.forget(other.get("tap"))
    assert memory.get("tap").status == "active"


def test_lists_take_a_recall_a_listing_and_one_hit(memory: Memory) -> None:
    answer = memory.recall("what colour is the tap in the kitchen")
    for used in (answer, answer[0], memory.list(), {"tap"}, (answer[0], "door")):
        assert memory.feedback(used=used).kind == "feedback"


def test_a_run_is_taken_where_its_id_is(memory: Memory) -> None:
    run = memory.run_start(session="monday")
    assert memory.run_end(run).id == run.id


FLAGS = [
    (op.name, name)
    for op in OPS
    if op.verb
    for name, argument in op.declared.arguments.items()
    if argument.hint == "bool"
]


@each_row(("verb", "flag"), FLAGS)
def test_what_is_true_or_false_is_nothing_else(memory: Memory, verb: str, flag: str) -> None:
    required = {name: "x" for name, each in named(verb).declared.arguments.items() if each.is_required}
    for value in ("yes", 1, None):
        with pytest.raises(ParamError, match=f"{flag} = {value!r}: must be true or false"):
            getattr(memory, verb)(**{**required, flag: value})


def test_a_flag_is_taken_by_position_too(memory: Memory) -> None:
    with pytest.raises(ParamError, match="gists = 'no': must be true or false"):
        memory.list(gists="no")  # type: ignore[arg-type]


SERVED_VERBS = [op for op in OPS if op.verb and op.group and not op.local and not op.asks]


@pytest.mark.parametrize("verb", [op.name for op in SERVED_VERBS])
def test_whatever_a_verb_is_passed_it_raises_errors_of_the_tree_only(memory: Memory, verb: str) -> None:
    arguments = named(verb).declared.arguments
    required = {name: "tap" for name, each in arguments.items() if each.is_required}
    for name in set(arguments) - {"progress", "agent", "beside"}:
        for value in (5, {"a": 1}, ["a"], [5], "\udc80", "a\0"):
            with suppress(PrimingError):
                getattr(memory, verb)(**{**required, name: value})


@pytest.mark.parametrize("verb", [op.name for op in SERVED_VERBS if not op.wire])
def test_what_must_be_given_is_said_alike_in_python_and_of_a_request(memory: Memory, verb: str) -> None:
    service = LocalService("sqlite://", embedder=HashedEmbedder())
    required = [name for name, each in named(verb).declared.arguments.items() if each.is_required]
    if required:
        with pytest.raises(ParamError) as in_python:
            getattr(memory, verb)()
        with pytest.raises(ParamError) as of_a_request:
            service.call("default", verb, {})
        assert str(in_python.value) == of_a_request.value.violations[0]
        assert "source" not in required or "where the link starts" in str(of_a_request.value)


@pytest.mark.parametrize("cue", [{"language": "go"}, "go"])
def test_what_is_no_cue_is_answered_with_how_one_is_written(memory: Memory, cue: Any) -> None:
    with pytest.raises(ParamError, match=r"must be a Cue, such as Cue\('a text', language='python'\)"):
        memory.learn(right="Run gofmt", cue=cue)
