"""Names in 300 labelled technical sentences, half of which no rule was tuned on, and what takes long to read."""

import csv
import re
from collections import Counter
from hashlib import blake2b
from pathlib import Path

import pytest
from tests.growth.measuring import growth
from tests.rows import each_row

from priming import Memory
from priming.text.name_forms.forms import DATE
from priming.text.names import find, normal

SENTENCES = Path(__file__).with_name("names_in_sentences.tsv")


def sentences():
    with SENTENCES.open(encoding="utf-8") as file:
        lines = (line for line in file if not line.startswith("#"))
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def listed(cell):
    return {normal(name) for name in cell.split(" | ") if name}


def is_part(name, whole):
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", whole) is not None


def precision_and_recall(half):
    """What share of the found is right, and of the names is found; parts of names and dates count as neither."""
    right = wrong = expected = 0
    for row in sentences():
        if row["half"] == half:
            names, either = listed(row["names"]), listed(row["either"])
            seen = {normal(name.text) for name in find(row["sentence"]) if name.kind != DATE}
            right += len(names & seen)
            expected += len(names)
            wrong += sum(not any(is_part(name, whole) for whole in names | either) for name in seen)
    return right / (right + wrong), right / expected


def test_the_halves_are_drawn_by_the_digests_of_the_sentences():
    rows = sorted(sentences(), key=lambda row: blake2b(row["sentence"].encode(), digest_size=8).hexdigest())
    assert Counter(row["half"] for row in rows) == {"tuning": 150, "held-out": 150}
    assert {row["half"] for row in rows[:150]} == {"tuning"}


def test_the_labels_stand_in_their_sentences():
    for row in sentences():
        for name in (name for name in (row["names"], row["either"]) if name):
            assert all(part.casefold() in row["sentence"].casefold() for part in name.split(" | ")), row


@pytest.mark.parametrize("half", ["tuning", "held-out"])
def test_nine_in_ten_names_are_found_and_nine_in_ten_of_those_found_are_names(half):
    precision, recall = precision_and_recall(half)
    assert precision >= 0.9
    assert recall >= 0.9


@each_row(
    ("text", "name"),
    [
        ("queue-7 is drained, then rack2", "queue-7"),
        ("queue-7 is drained, then rack2", "rack2"),
        ("we went back to uvicorn v0.29.0", "uvicorn 0.29.0"),
        ("tokio version 1.38.1 leaks", "tokio 1.38.1"),
        ("our java 21 image", "java 21"),
        ("Call it with --jobs=4 and -x", "--jobs"),
        ("Call it with --jobs=4 and -x", "-x"),
        ("${CACHE_DIR} is full", "CACHE_DIR"),
        ("(see https://example.org/a_(b)?c=1).", "https://example.org/a_(b)?c=1"),
        ("Post it to #releases.", "#releases"),
        ("ssh to 10.1.2.3:2222", "10.1.2.3"),
        ("it is fe80::1 there", "fe80::1"),
        ("error 0xDEADBEEF", "0xDEADBEEF"),
        ("hotfix/login-loop is merged", "hotfix/login-loop"),
        ("@acme/icons@3.1.0 is gone", "@acme/icons"),
        ("the new invoice service", "invoice service"),
        ("Restart the session cache now", "session cache"),
    ],
)
def test_names_of_the_trade_are_found_in_other_sentences_too(text, name):
    assert normal(name) in {normal(other.text) for other in find(text)}


@each_row(
    "text",
    [
        "A read-only, well-known, long-term workaround from mid-2023 in the top-10",
        "Uploads fail. Queries are slow. Deletes work. Thumbnails go missing.",
        "It took 3.5 hours at 20 GB and 40 Mbit per second, 3 to 1.5 times more",
        "each worker, every server, another queue and some new service",
        "the API and the CI use 4 CPUs",
        "- and -- or -ing",
        "about p95, v, x2 and e2e",
    ],
)
def test_what_looks_like_a_name_of_the_trade_is_none(text):
    assert find(text) == ()


def test_a_component_is_one_name_however_it_is_written():
    texts = ("the ledger service", "The Ledger Service", "ledger-service", "ledger_service", "LedgerService")
    for text in texts:
        assert "ledger service" in {normal(name.text) for name in find(f"Here {text} fails")}, text


def test_a_question_leads_over_a_machine_to_what_is_said_of_it():
    with Memory.open("sqlite://", embedder="auto") as memory:
        memory.remember("The export ran on worker-3.", key="ran")
        memory.remember("worker-3 has only 40 GB.", key="disk")
        memory.remember("The kitchen gets a new kettle.", key="kettle")
        memory.remember("worker-4 was bought in March.", key="other")
        hits = [hit.memory.key for hit in memory.recall("why did the export fail?").hits]
        assert hits[:2] == ["ran", "disk"]


def test_two_spellings_of_a_service_lead_to_one_memory_from_another():
    with Memory.open("sqlite://") as memory:
        memory.remember("Refunds go through the ledger service.", key="refunds")
        memory.remember("The Ledger Service is down on Sundays.", key="down")
        memory.remember("Lunch is at noon.", key="lunch")
        hits = [hit.memory.key for hit in memory.recall("why are refunds late?").hits]
        assert hits[:2] == ["refunds", "down"]


UNITS = (
    "a-",
    "a-1",
    "--",
    "$",
    "${",
    "$a",
    "a/",
    "a=1",
    "a=1a",
    "@a/",
    "1.",
    "1.2",
    "::",
    "a::",
    "ab:",
    "%a",
    "://",
    "a://",
    "0x",
)
WORDS = (
    "a service ",
    "service ",
    "the new ",
    "redis ",
    "redis 1.2 ",
    "a 1 ",
    "A'A",
    "A-A",
    "Aa's ",
    "feature/",
    "#a",
    "C:\\A ",
)


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS + WORDS)
def test_reading_takes_time_in_proportion_to_the_length(unit):
    assert growth(find, lambda length: unit * (length // len(unit)) + "!") is None
