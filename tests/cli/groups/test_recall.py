"""``priming recall``: what it takes, and what people read."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from math import exp

import pytest
from tests.rows import each_row

from priming.cli.groups import recall
from priming.results import Hit, Omitted, Recall, Step
from priming.types import MemoryRecord

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
A = MemoryRecord("1", "default", "deploy-failed", "episode", "The deploy failed.", "The deploy failed.")
B = replace(A, id="2", key="cleaned-cache", content="We cleaned it.", gist="We cleaned it.", speaker="Ada")
STEP = Step("deploy-failed", "next", "cleaned-cache", 0.31)
FOUND = Recall(
    "r",
    (
        Hit(A, 1.25, {"words": 1.0, "meaning": 0.0, "date": -0.5, "size": 0.001}),
        Hit(B, 0.5, {"activation": 0.31}, (STEP,), 1),
    ),
    timings={"rank": 2.25, "pack": 0.25},
)
DISK = "The deploy failed because the disk was full."
CACHE = "We cleaned the build cache."
DISK_KEY, CACHE_KEY = "the-deploy-failed-because-the-disk", "we-cleaned-the-build-cache"


def monday(shell):
    """Two memories of one session."""
    for text in (DISK, CACHE):
        shell.ask("remember", text, "--session", "monday")


@pytest.fixture
def two(shell, prepared):
    """A store of one's own with two memories of one session."""
    prepared(shell, monday)
    return shell


def test_a_remembered_text_is_recalled(two):
    stored = two.ask("remember", DISK, "--session", "monday")
    assert (stored["status"], stored["key"]) == ("duplicate", DISK_KEY)
    result = two.ask("recall", "why did the deploy fail", "--floor", "0")
    assert [hit["memory"]["key"] for hit in result["hits"]] == [DISK_KEY, CACHE_KEY]


def test_a_procedure_is_shown_with_when_and_how_to_carry_it_out(shell):
    steps = ("--step", "Pull the fuse.", "--step", "Wait.")
    shell.ask(
        "remember", "Reset the lamp", "--kind", "procedure", *steps, "--trigger", "it blinks", "--key", "k"
    )
    for command in (("recall", "pull the fuse"), ("show", "k")):
        text = [each.strip() for each in shell.run(*command).stdout.splitlines()]
        at = text.index("Reset the lamp")
        assert text[at + 1 : at + 4] == ["When: it blinks", "1. Pull the fuse.", "2. Wait."]


def test_recall_takes_what_may_come_up_from_its_options(two):
    two.ask("remember", "The deploy needs a free disk.", "--kind", "fact", "--tag", "ops")

    def keys(*options):
        return [hit["memory"]["key"] for hit in two.ask("recall", "deploy disk", *options)["hits"]]

    assert keys("--kind", "fact") == ["the-deploy-needs-a-free-disk"]
    assert keys("--filter", '{"tags": {"contains": "ops"}}') == ["the-deploy-needs-a-free-disk"]
    assert len(keys("--limit", "1")) == 1
    assert keys("--filter", '{"recorded_at": {"gte": "2999-01-01"}}') == []
    assert len(keys("--filter", '{"recorded_at": {"lt": "2999-01-01"}}')) == 3
    for ablated in (("--ablate", "near", "--ablate", "session"), ("--ablate", "near,session")):
        assert CACHE_KEY not in keys("--no-spread", *ablated, "--limit", "2")


def test_recall_says_nothing_where_it_is_less_sure_than_asked_for(two):
    result = two.ask("recall", "deploy disk", "--floor", "0")
    assert result["hits"]
    assert 0 < result["confidence"] < 1
    silent = two.ask("recall", "deploy disk", "--floor", "1")
    assert (silent["hits"], silent["confidence"]) == ([], result["confidence"])
    assert silent["reason"].endswith(", less than 1")
    assert result["confidence"] == result["hits"][0]["relevance"]


def test_an_explained_recall_shows_the_sum_that_its_percentage_is_made_of(two):
    printed = two.run("recall", "deploy disk", "--explain").stdout
    result = re.search(r"^    (.+)  = (\S+) log-odds, (\S+)%$", printed, re.MULTILINE)
    terms, total, percent = result.groups()
    assert printed.startswith(f" 1  {round(float(percent)):3}%  ")
    assert sum(map(float, re.findall(r"[+-]\d+\.\d\d", terms))) == pytest.approx(float(total), abs=0.05)
    assert 100 / (1 + exp(-float(total))) == pytest.approx(float(percent), abs=0.2)


@each_row("floor", ["-0.1", "1.5", "nan"])
def test_a_floor_outside_its_range_is_refused(two, floor):
    done = two.run("recall", "deploy disk", f"--floor={floor}")
    assert done.exit_code == 2
    assert "floor = " in done.stderr


def test_recall_takes_a_context(shell):
    shell.ask("remember", "Use tabs in makefiles.", "--when", "language=make")
    result = shell.ask("recall", "--language", "make", "--context", "shell=zsh")
    assert result["hits"][0]["components"]["context"] > 0


def test_recall_answers_in_another_profile_and_traces_its_steps(two):
    result = two.ask("recall", "deploy", "--profile", "floop", "--trace")
    assert result["profile"] == "floop"
    assert DISK_KEY in result["spread"][0]


def test_a_recall_shows_rank_key_text_and_path(shown):
    assert shown(recall.shown(FOUND)) == [
        " 1  deploy-failed",
        "    The deploy failed.",
        " 2  cleaned-cache",
        "    Ada: We cleaned it.",
        "    deploy-failed ─next→ cleaned-cache",
    ]


def test_an_explained_recall_adds_scores_components_amounts_id_and_timings(shown):
    assert shown(recall.shown(FOUND, explain=True)) == [
        " 1  deploy-failed  1.250",
        "    The deploy failed.",
        "    words 1.00  date -0.50",
        " 2  cleaned-cache  0.500",
        "    Ada: We cleaned it.",
        "    activation 0.31",
        "    deploy-failed ─next→ cleaned-cache (0.31)",
        "recall r",
        "2.5 ms: rank 2.2 · pack 0.2",
    ]


def test_an_empty_recall_says_why(shown):
    assert shown(recall.shown(Recall("r", (), reason="nothing above the floor"))) == [
        "nothing above the floor"
    ]


def test_a_degraded_recall_names_what_is_missing(shown):
    parts = recall.shown(Recall("r", (), reason="nothing", degraded=("vectors", "trace")))
    assert shown(parts)[1] == (
        "degraded: some memories wait for their vectors, which priming reembed makes at once;"
        " this recall could not be stored and cannot receive feedback"
    )


def test_what_did_not_fit_is_named_and_the_packed_block_shown(shown):
    result = Recall(
        "r", (), omitted=(Omitted("a", "budget", 15),), text="- [b] text", notice="3 more match", more=3
    )
    assert shown(recall.shown(result, packed=True)) == [
        "omitted: a (budget, 15 tokens)",
        "3 more match",
        "packed:",
        "- [b] text",
    ]


def test_a_trace_shows_the_most_active_of_each_step(shown):
    spread = ({"a": 1.0}, {f"m{n:02}": n / 100 for n in range(12)})
    assert shown(recall.shown(Recall("r", (), spread=spread), trace=True)) == [
        "1 more anchor led to no hit",
        "step 0",
        "1.0000  a",
        "step 1",
        *(f"0.{n:02}00  m{n:02}" for n in range(11, 1, -1)),
        "    … and 2 more",
    ]


def test_a_hit_shows_a_short_text_whole_and_of_a_long_one_its_gist_and_that_there_is_more(shown):
    short = replace(A, content="The VPN is down.\nUse the bastion host.", gist="The VPN is down.")
    long = replace(short, content=f"{short.content} {'Ask Maja. ' * 40}")
    for item, text in ((short, "The VPN is down. Use the bastion host."), (long, "The VPN is down. …")):
        lines = shown(recall.shown(Recall("r", (Hit(item, 1.0, {}),))))
        assert lines[1] == f"    {text}"


def hit(key, *path):
    return Hit(replace(A, key=key), 0.5, {}, tuple(path))


A_TO_E, E_TO_B, E_TO_C = (
    Step("a", "mentions", "e", 0.4),
    Step("e", "mentions", "b", 0.2),
    Step("e", "mentions", "c", 0.1),
)
D_TO_B, D_TO_C = Step("d", "next", "b", 0.3), Step("d", "next", "c", 0.001)
SPREAD = Recall(
    "r",
    (hit("a"), hit("b", A_TO_E, E_TO_B), hit("c", A_TO_E, E_TO_C), hit("d")),
    spread=(
        {"a": 1.0, "d": 0.5, "idle": 0.25},
        {"a": 0.5, "e": 0.75, "b": 0.25, "c": 0.125, "d": 0.5, "idle": 0.0625},
    ),
    carried=(replace(A_TO_E, amount=0.8), D_TO_B, E_TO_B, E_TO_C, D_TO_C),
)
"""Two ways from a, which begin alike, and one from d to the same hit; d gave hardly anything to c."""


def test_anchors_are_roots_and_hits_have_their_ranks(shown):
    assert shown(recall.tree(SPREAD)) == [
        "a  1.0000 → 0.5000  hit 1",
        "└── ─mentions→ e  +0.8000  → 0.7500",
        "    ├── ─mentions→ b  +0.2000  → 0.2500  hit 2",
        "    └── ─mentions→ c  +0.1000  → 0.1250  hit 3",
        "d  0.5000 → 0.5000  hit 4",
        "└── ─next→ b  +0.3000  hit 2",
        "1 more anchor led to no hit",
    ]


def test_where_nothing_spread_it_says_so(shown):
    assert shown(recall.tree(Recall("r", (hit("a"),)))) == ["nothing spread"]


def test_a_traced_recall_draws_its_tree_before_its_steps(shell):
    for text in ("The disk was full.", "We cleaned the cache."):
        shell.ask("remember", text, "--session", "monday")
    lines = shell.run("recall", "disk", "--floor", "0", "--trace").stdout.splitlines()
    root = next(i for i, line in enumerate(lines) if line.startswith("the-disk-was-full  0."))
    assert lines[root].endswith("  hit 1")
    assert lines[root + 1].startswith("└── ─next→ we-cleaned-the-cache  +")
    assert root < lines.index("step 0")


def test_what_links_carried_is_their_sum_over_all_steps(shell):
    shell.ask("remember", "red green blue", "--key", "a")
    shell.ask("remember", "one two three", "--key", "b")
    shell.ask("link", "a", "b", "--relation", "requires", "--weight", "0.5")
    result = shell.ask("recall", "red green blue", "--trace", "--profile", "ethos")
    start = result["spread"][0]["a"]
    (carried,) = result["carried"]
    # a keeps what it has and emits .85 · .5 of it in each of three steps.
    assert carried == {
        "source": "a",
        "relation": "requires",
        "target": "b",
        "amount": pytest.approx(3 * 0.425 * start),
    }
    assert shell.ask("recall", "red green blue", "--profile", "ethos")["carried"] == []


def test_a_recall_that_is_not_recorded_shows_no_id(shell):
    assert shell.ask("recall", "when do we meet", "--explain")["recorded"] is False
    assert shell.ask("active", "--language", "go")["recorded"] is False
    assert "recall 0" not in shell.run("active", "--language", "go").stdout
    shell.ask("learn", "--right", "Wrap errors with context.", "--language", "go")
    answer = shell.ask("active", "--language", "go")
    assert answer["recorded"] is True
    assert f"recall {answer['recall_id'][:2]}" in shell.run("active", "--language", "go").stdout
    shown = shell.run("recall", "wrap errors", "--explain", "--known-at", "2999-01-01").stdout
    assert "not recorded: it takes no verdicts" in shown
    assert "recall 0" not in shown


def test_files_prints_paths_with_the_memories_that_say_so(two):
    two.ask(
        "remember", "Close idle connections", "--file", "src/pool.py", "--occurred-at", "2026-03-01T12:00:00Z"
    )
    printed = two.run("files", "idle connections", "--explain").stdout
    assert " 1  src/pool.py  1.000\n" in printed
    assert "    100%  2026-03-01  Close idle connections  close-idle-connections\n" in printed
    result = two.ask("files", "idle connections", "--reasons", "0")
    assert [(file["path"], file["reasons"]) for file in result["files"]] == [("src/pool.py", [])]
    assert "packed:\nFiles that" in two.run("files", "idle connections", "--tokens", "60").stdout
    assert (
        two.ask("recall", "idle connections", "--kind", "file")["hits"][0]["memory"]["key"]
        == "file:src/pool.py"
    )


def test_files_without_a_history_says_how_to_get_one(two):
    assert two.run("files", "idle connections").stdout == (
        "no memory touches a file: import a git history, or remember with files\n"
    )


def test_of_a_long_text_what_answers_is_shown(shell):
    filler = "The board met and talked about the garden at length. " * 20
    answer = "The spare key of the engine room hangs behind the stairs."
    shell.ask("remember", f"{filler}{answer} {filler}", "--key", "minutes")
    shown = shell.run("recall", "Where is the spare key of the engine room?").stdout
    assert answer in " ".join(shown.split())
    assert len(shown) < 600
    assert "…" in shown
