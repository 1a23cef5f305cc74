"""Why answers about a namespace without memories are empty, and what a client may learn of others."""

from contextlib import closing

import pytest
from tests.rows import each_row

from priming import HashedEmbedder
from priming.config.caller import Caller, calling
from priming.operations.service import LocalService, reason_of
from priming.verbs.rows import BY_NAME, SERVED

REQUESTS = {
    "recall": {"text": "when does the ferry leave"},
    "files": {"task": "mend the ferry"},
    "active": {"cue": {"language": "go"}},
    "diff": {"d1": "2026-01-01T00:00:00Z", "d2": "2026-02-01T00:00:00Z"},
    "graph": {"format": "json"},
    "would_undo": {"since": "2026-01-01T00:00:00Z"},
    "loop_context": {"objective": "mend the ferry"},
    "loop_recall": {"query": "when does the ferry leave"},
    "loop_connected": {"name": "ferry"},
}
ONE_THING = {
    *("get", "history", "as_of", "why", "operation", "pack_content"),
    *("loop_task_get", "loop_meta_assess", "loop_meta_summary", "loop_report"),
}
"""Operations on something that is named: it is not found."""
READS = [op for op in SERVED if not op.writes and op.name not in ONE_THING]
REASON = 'there are no memories in "harbor"; did you mean "harbour"?'


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A service with one memory in one namespace, which tests only ask."""
    folder = tmp_path_factory.mktemp("service")
    with closing(LocalService(f"sqlite:///{folder}/memory.db", embedder=HashedEmbedder())) as service:
        service.call("harbour", "remember", {"content": "The ferry leaves at nine."})
        yield service


@each_row("op", READS)
def test_every_operation_that_reads_answers_with_the_reason(service, op):
    answer = service.call("harbor", op.name, REQUESTS.get(op.name, {}))
    reason = answer["reason"] if isinstance(answer, dict) else reason_of(service, "harbor", op, answer)
    assert reason == REASON
    full = service.call("harbour", op.name, REQUESTS.get(op.name, {}))
    reason = full["reason"] if isinstance(full, dict) else reason_of(service, "harbour", op, full)
    assert reason is None or "no memories" not in reason


@each_row("op", READS)
def test_no_operation_that_reads_writes_or_makes_a_store(tmp_path, service, op):
    empty = tmp_path / "elsewhere"
    empty.mkdir(exist_ok=True)
    with closing(LocalService(f"sqlite:///{empty}/.priming/memory.db", embedder=HashedEmbedder())) as nowhere:
        for query, namespace in ((nowhere, "default"), (service, "harbor"), (service, "harbour")):
            query.call(namespace, op.name, REQUESTS.get(op.name, {}))
    assert list(empty.iterdir()) == []
    assert [len(service.call(name, "log", {})) for name in ("harbour", "harbor", "default")] == [1, 0, 0]


def test_to_a_caller_of_one_namespace_no_reason_names_another(service):
    plain = 'there are no memories in "harbor"'
    with calling(Caller("token shop", everywhere=False)):
        for name, request in REQUESTS.items():
            if name not in BY_NAME:
                continue  # the loop's, which is not installed
            answer = service.call("harbor", name, request)
            reason = (
                answer["reason"]
                if isinstance(answer, dict)
                else reason_of(service, "harbor", BY_NAME[name], answer)
            )
            assert reason in (plain, None), name
        assert service.call("harbor", "recall", {"text": "ferry"})["reason"] == plain
