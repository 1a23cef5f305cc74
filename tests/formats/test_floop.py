"""Stores of floop, in the format of its files."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime
from math import exp, log
from pathlib import Path

import pytest
from tests.rows import each_row

from priming import Cue
from priming.errors import ParamError
from priming.remember.drafts import draft
from priming.transfer.importers import Entry, Report, Skipped, Tie
from priming.transfer.run import run
from priming.transfer.state import ImportedState
from priming_formats.floop import read

SCENARIO = Path(__file__).parents[2] / "docs" / "scenario" / "floop"


def behavior(number=1, *, kind="behavior", content=None, metadata=None, **inner):
    """A line of nodes.jsonl as floop writes it."""
    return {
        "id": f"behavior-{number}",
        "kind": kind,
        "content": {
            "content": {"canonical": f"Do thing number {number} first.", **inner},
            "kind": "directive",
            "name": f"learned/do-thing-number-{number}-first",
            "provenance": {"source_type": "learned"},
            **(content or {}),
        },
        "metadata": {
            "confidence": 0.6,
            "priority": 0,
            "scope": "local",
            "stats": {"times_activated": 0, "times_followed": 0, "times_overridden": 0},
            **(metadata or {}),
        },
    }


def edge(source, target, kind="requires", weight=1, **more):
    return {
        "source": f"behavior-{source}",
        "target": f"behavior-{target}",
        "kind": kind,
        "weight": weight,
        "created_at": "2026-02-06T09:52:57-08:00",
        **more,
    }


def correction(number=1, **more):
    return {
        "id": f"c-{number}",
        "timestamp": "2026-02-08T09:09:45.979824699-08:00",
        "context": {"repo": "git@git.example.org:team/shop.git", "task": "release"},
        "agent_action": f"Did thing {number} last.",
        "human_response": "",
        "corrected_action": f"Do thing {number} first.",
        "conversation_id": "",
        "turn_number": 0,
        "corrector": "ada",
        "processed": True,
        **more,
    }


@pytest.fixture
def floop(tmp_path):
    """Writes a store in ``.floop`` of a project; the project."""

    def write(nodes=(), edges=(), corrections=()):
        folder = tmp_path / ".floop"
        folder.mkdir(exist_ok=True)
        named = {"nodes": nodes, "edges": edges, "corrections": corrections}
        for name, values in named.items():
            text = "".join((item if isinstance(item, str) else json.dumps(item)) + "\n" for item in values)
            (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def entries(path):
    return [item for item in read(path) if isinstance(item, Entry)]


def ties(path):
    return [item for item in read(path) if isinstance(item, Tie)]


@pytest.mark.parametrize("linked", [".floop", ".floop/nodes.jsonl", ".floop/edges.jsonl"])
def test_a_link_out_of_the_named_folder_is_refused(floop, linked):
    project = floop([behavior()])
    (project / "outside").mkdir()
    inner = project / "project"
    inner.mkdir()
    (project / ".floop").rename(inner / ".floop")
    (inner / linked).rename(project / "outside" / "target")
    (inner / linked).symlink_to(project / "outside" / "target")
    with pytest.raises(ParamError, match="link out of the folder"):
        entries(inner)


def test_a_behaviour_keeps_its_rule_conditions_tags_and_text(floop):
    node = behavior(
        tags=["release"],
        summary="Thing one first",
        content={
            "kind": "constraint",
            "when": {"language": "go", "task": ["release", "deploy"]},
            "provenance": {
                "source_type": "authored",
                "author": "ada",
                "created_at": "2026-01-29T20:22:55.64732705-08:00",
            },
        },
    )
    (entry,) = entries(floop([node]))
    checked = draft(entry.arguments)
    assert (checked.kind, checked.key, checked.content) == (
        "behavior",
        "behavior-1",
        "Do thing number 1 first.",
    )
    assert (checked.tags, checked.trust) == (("release",), "user")
    assert checked.when == {"language": "go", "task": ["release", "deploy"]}
    assert checked.occurred_at == datetime(2026, 1, 30, 4, 22, 55, 647327, tzinfo=UTC)
    assert (checked.metadata["rule"], checked.metadata["summary"]) == ("constraint", "Thing one first")
    assert checked.metadata["provenance"]["author"] == "ada"


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("behavior", "active"),
        ("forgotten-behavior", "forgotten"),
        ("deprecated-behavior", "deprecated"),
        ("merged-behavior", "merged"),
    ],
)
def test_a_curated_behaviour_keeps_its_status(floop, memory, kind, status):
    run(memory, "floop", floop([behavior(kind=kind)]))
    assert memory.get("behavior-1").status == status


def test_confidence_priority_and_use_come_along(floop, memory):
    stats = {
        "times_activated": 9,
        "times_followed": 5,
        "times_confirmed": 2,
        "times_overridden": 1,
        "last_activated": "2026-02-11T19:19:55-08:00",
        "updated_at": "2026-02-17T22:03:17-08:00",
    }
    run(memory, "floop", floop([behavior(metadata={"confidence": 0.66, "priority": 4, "stats": stats})]))
    record = memory.get("behavior-1")
    assert (record.confidence, record.priority) == (0.66, 4.0)
    assert (record.use.uses, record.use.followed, record.use.confirmed, record.use.overridden) == (9, 5, 2, 1)
    assert record.use.last_used_at == datetime(2026, 2, 12, 3, 19, 55, tzinfo=UTC)
    assert record.metadata["stats"] == {"updated_at": "2026-02-17T22:03:17-08:00"}


@pytest.mark.parametrize(
    ("provenance", "stats", "since"),
    [
        (
            {"created_at": "2026-03-01T00:00:00Z"},
            {"created_at": "2026-01-01T00:00:00Z"},
            datetime(2026, 3, 1, tzinfo=UTC),
        ),
        ({}, {"created_at": "2026-01-20T00:00:00Z"}, datetime(2026, 1, 20, tzinfo=UTC)),
        (
            {},
            {"created_at": "2026-04-01T00:00:00Z", "last_activated": "2026-02-14T00:00:00Z"},
            datetime(2026, 2, 14, tzinfo=UTC),
        ),
        ({}, {"created_at": "0001-01-01T00:00:00Z"}, None),
        ({}, {}, None),
    ],
)
def test_a_behaviour_dates_from_its_provenance_or_else_from_the_earliest_time_of_its_counts(
    floop, provenance, stats, since
):
    (entry,) = entries(floop([behavior(content={"provenance": provenance}, metadata={"stats": stats})]))
    assert entry.arguments.get("occurred_at") == since


def test_the_base_level_of_an_imported_behaviour_counts_from_the_time_in_its_counts(floop, memory):
    stats = {"times_activated": 25, "created_at": "2026-02-01T00:00:00Z"}
    run(memory, "floop", floop([behavior(content={"when": {"language": "go"}}, metadata={"stats": stats})]))
    (hit,) = memory.active(Cue(language="go")).hits
    hours = (datetime.now(UTC) - datetime(2026, 2, 1, tzinfo=UTC)).total_seconds() / 3600
    level = log(25 / 0.5) - 0.5 * log(hours)  # ln(n / (1 − d)) − d ln L
    assert hit.components["base"] == pytest.approx(1 / (1 + exp(-(level + 1))), abs=1e-3)


def test_what_has_no_place_is_kept_as_metadata(floop):
    node = behavior(
        kind="deprecated-behavior",
        structured={"prefer": "this", "avoid": "that"},
        metadata={"deprecation_reason": "old", "replacement_id": "behavior-2", "colour": [1, {"a": None}]},
        content={"conflicts": None, "mood": "calm", "memory_type": "semantic"},
    )
    (entry,) = entries(floop([node]))
    metadata = entry.arguments["metadata"]
    assert metadata["structured"] == {"prefer": "this", "avoid": "that"}
    assert (metadata["deprecation_reason"], metadata["replacement_id"]) == ("old", "behavior-2")
    assert (metadata["colour"], metadata["mood"], metadata["memory_type"]) == (
        [1, {"a": None}],
        "calm",
        "semantic",
    )
    assert (metadata["name"], metadata["scope"]) == ("learned/do-thing-number-1-first", "local")
    assert "conflicts" not in metadata


def test_names_that_come_twice_with_other_values_are_both_kept(floop):
    (entry,) = entries(floop([behavior(content={"scope": "wide", "rule": "of thumb"})]))
    metadata = entry.arguments["metadata"]
    assert (metadata["scope"], metadata["floop_scope"]) == ("wide", "local")
    assert (metadata["rule"], metadata["floop_rule"]) == ("directive", "of thumb")


@each_row(
    ("kind", "rule"),
    [
        ("directive", "directive"),
        ("constraint", "constraint"),
        ("preference", "preference"),
        ("procedure", "procedure"),
        ("workflow", "procedure"),
        ("mantra", "directive"),
    ],
)
def test_every_kind_of_behaviour_is_one_of_our_rules(floop, kind, rule):
    (entry,) = entries(floop([behavior(content={"kind": kind})]))
    assert entry.arguments["metadata"]["rule"] == rule
    assert entry.arguments["metadata"].get("floop_kind") == (None if kind == rule else kind)


def test_an_episodic_behaviour_is_an_episode(floop):
    (entry,) = entries(floop([behavior(content={"kind": "episodic", "episode_data": {"outcome": "ok"}})]))
    assert entry.arguments["kind"] == "episode"
    assert "rule" not in entry.arguments["metadata"]


@pytest.mark.parametrize(
    ("source", "trust"),
    [
        ("authored", "user"),
        ("learned", "agent"),
        ("consolidated", "agent"),
        ("imported", "tool"),
        (None, "tool"),
    ],
)
def test_trust_follows_the_provenance(floop, source, trust):
    (entry,) = entries(floop([behavior(content={"provenance": {"source_type": source}})]))
    assert entry.arguments["trust"] == trust


def test_the_source_names_the_folder_and_the_package(floop):
    package = {"source_type": "imported", "package": "core", "package_version": "1.2"}
    path = floop([behavior(1), behavior(2, content={"provenance": package})])
    assert [entry.arguments["source"] for entry in entries(path)] == [
        f"floop:{path}/.floop",
        f"floop:{path}/.floop core 1.2",
    ]


@pytest.mark.parametrize(
    ("checked", "when"),
    [
        ({"file_path": "mcp/*"}, {"file": "mcp/*"}),
        ({"file.path": ["a/*", "b/*"], "env": "ci"}, {"file": ["a/*", "b/*"], "environment": "ci"}),
        ({"file_language": "go", "branch": "main"}, {"language": "go", "branch": "main"}),
        ({"ext": ".go"}, {"file": ["*.go"]}),
        ({"file_ext": [".go", ".mod"]}, {"file": ["*.go", "*.mod"]}),
        ({"task": "", "user": None, "roles": []}, {}),
    ],
)
def test_predicates_take_the_names_that_a_cue_has(floop, checked, when):
    (entry,) = entries(floop([behavior(content={"when": checked})]))
    assert entry.arguments["when"] == when


def test_conditions_that_no_predicate_can_hold_are_kept_beside(floop):
    checked = {"language": "go", "custom": {"deep": 1}, "file_path": "a/*", "ext": ".go"}
    (entry,) = entries(floop([behavior(content={"when": checked})]))
    assert entry.arguments["when"] == {"language": "go", "file": "a/*"}
    assert entry.arguments["metadata"]["floop_when"] == {"custom": {"deep": 1}, "file_ext": ".go"}


def test_the_last_line_of_an_id_counts(floop):
    (entry,) = entries(floop([behavior(canonical="Old."), behavior(canonical="New.")]))
    assert entry.arguments["content"] == "New."


def test_a_correction_says_what_was_right_and_what_was_wrong(floop):
    (entry,) = entries(floop(corrections=[correction(extra_tags=["git"], conversation_id="talk-1")]))
    checked = draft(entry.arguments)
    assert (checked.kind, checked.key) == ("correction", "c-1")
    assert checked.content == "Correction: Do thing 1 first.\nNot: Did thing 1 last."
    assert (checked.metadata["right"], checked.metadata["wrong"]) == (
        "Do thing 1 first.",
        "Did thing 1 last.",
    )
    assert checked.occurred_at == datetime(2026, 2, 8, 17, 9, 45, 979824, tzinfo=UTC)
    assert (checked.tags, checked.session, checked.trust) == (("git",), "floop:talk-1", "agent")
    assert checked.metadata["context"]["task"] == "release"
    assert checked.metadata["corrector"] == "ada"


def test_a_correction_in_a_persons_words_is_trusted_as_theirs(floop):
    (entry,) = entries(floop(corrections=[correction(human_response="No, first!")]))
    assert entry.arguments["trust"] == "user"
    assert entry.arguments["metadata"]["human_response"] == "No, first!"


def test_a_correction_may_stand_among_the_nodes(floop):
    node = {"id": "c-1", "kind": "correction", "content": correction(), "metadata": {"seen": True}}
    path = floop([node], corrections=[correction()])
    (entry,) = entries(path)
    assert entry.arguments["kind"] == "correction"
    assert entry.arguments["metadata"]["seen"] is True


def test_a_node_of_another_kind_is_a_fact_with_its_content(floop):
    node = {"id": "snap-1", "kind": "context-snapshot", "content": {"branch": "main"}, "metadata": None}
    (entry,) = entries(floop([node]))
    assert (entry.arguments["kind"], entry.arguments["content"]) == ("fact", '{"branch": "main"}')
    assert entry.arguments["metadata"] == {"floop_kind": "context-snapshot"}


KINDS = ["requires", "overrides", "conflicts", "learned-from", "deprecated-to", "merged-into", "smells-like"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_edge_is_a_link_of_its_kind_with_its_weight(floop, memory, kind):
    path = floop([behavior(1), behavior(2)], [edge(2, 1, kind, 0.75, last_activated=None)])
    assert run(memory, "floop", path).links == 1
    (link,) = memory.links("behavior-1", relation=kind)
    assert (link.source, link.target, link.weight) == ("behavior-2", "behavior-1", 0.75)


@pytest.mark.parametrize("kind", ["similar-to", "co-activated"])
def test_an_edge_that_is_stored_both_ways_is_one_link(floop, memory, kind):
    path = floop([behavior(1), behavior(2)], [edge(1, 2, kind, 0.9), edge(2, 1, kind, 0.9)])
    run(memory, "floop", path)
    (link,) = memory.links("behavior-1", relation=kind)
    assert {link.source, link.target} == {"behavior-1", "behavior-2"}
    assert (link.weight, link.given) == (0.9, True)


@pytest.mark.parametrize("kind", ["similar-to", "co-activated"])
@pytest.mark.parametrize("turned", [False, True])
def test_of_an_edge_that_differs_each_way_the_stronger_weight_and_the_earlier_creation_count(
    floop, memory, kind, turned
):
    older = edge(
        1, 2, kind, 0.3, created_at="2026-01-05T23:30:00-08:00", last_activated="2026-01-09T08:00:00Z"
    )
    newer = edge(2, 1, kind, 0.8, created_at="2026-01-06T07:31:00Z", last_activated=None)
    rows = [newer, older] if turned else [older, newer]
    run(memory, "floop", floop([behavior(1), behavior(2)], rows))
    (link,) = memory.links("behavior-1", relation=kind)
    times = datetime(2026, 1, 6, 7, 30, tzinfo=UTC), datetime(2026, 1, 9, 8, tzinfo=UTC)
    assert (link.weight, link.created_at, link.last_activated) == (0.8, *times)


def test_of_an_edge_that_is_stored_anew_the_same_way_the_last_line_counts(floop, memory):
    run(
        memory,
        "floop",
        floop([behavior(1), behavior(2)], [edge(1, 2, "similar-to", weight) for weight in (0.9, 0.6)]),
    )
    (link,) = memory.links("behavior-1", relation="similar-to")
    assert link.weight == 0.6


@pytest.mark.parametrize("weight", [None, 0])
def test_an_edge_without_a_weight_has_the_weight_that_floop_gives_it(floop, weight):
    (tie,) = ties(floop([behavior(1), behavior(2)], [edge(1, 2, weight=weight)]))
    assert tie.weight == 1.0


def test_a_behaviour_is_linked_to_the_correction_that_it_was_learnt_from(floop, memory):
    learned = {"provenance": {"source_type": "learned", "correction_id": "c-1"}}
    lost = {"provenance": {"source_type": "learned", "correction_id": "c-gone"}}
    report = run(
        memory,
        "floop",
        floop([behavior(1, content=learned), behavior(2, content=lost)], corrections=[correction()]),
    )
    (link,) = memory.links(relation="learned-from")
    assert (link.source, link.target) == ("behavior-1", "c-1")
    assert report == Report(stored=3, links=1)


def test_edges_that_only_the_nodes_tell_of_are_links_too(floop):
    content = {
        "requires": ["behavior-2"],
        "overrides": None,
        "similar_to": [{"id": "behavior-2", "score": 0.8}],
    }
    path = floop([behavior(1, content=content), behavior(2)], [edge(1, 2, "requires", 0.6)])
    assert ties(path) == [
        Tie("behavior-1", "behavior-2", "requires", 0.6, fresh=True),
        Tie("behavior-1", "behavior-2", "similar-to", 0.8, fresh=True),
    ]


def test_an_edge_to_a_node_of_another_store_is_reported_and_the_others_are_made(floop, memory):
    path = floop([behavior(1), behavior(2)], [edge(1, "elsewhere"), edge(1, 2)])
    report = run(memory, "floop", path)
    assert (report.links, report.loose) == (1, 1)
    assert "behavior-1 ─requires→ behavior-elsewhere: there is no memory" in report.skipped[0]


def test_a_second_import_adds_nothing(memory):
    first = run(memory, "floop", SCENARIO)
    operations = memory.stats().operations
    again = run(memory, "floop", SCENARIO)
    assert again == Report(duplicates=first.stored)
    assert memory.stats().operations == operations


def test_a_second_import_leaves_what_moved_since(floop, memory):
    path = floop(
        [behavior(1), behavior(2), behavior(3, kind="forgotten-behavior")], [edge(1, 2, "requires", 0.8)]
    )
    run(memory, "floop", path)
    memory.set_strength("behavior-1", "behavior-2", 0.3, "requires")
    memory.forget("behavior-2")
    operations = memory.stats().operations
    assert run(memory, "floop", path) == Report(duplicates=3)
    assert memory.links("behavior-1", relation="requires")[0].weight == 0.3
    assert [memory.get(f"behavior-{n}").status for n in (1, 2, 3)] == ["active", "forgotten", "forgotten"]
    assert memory.stats().operations == operations


def test_what_floop_learnt_since_is_added(floop, memory):
    run(memory, "floop", floop([behavior(1)]))
    report = run(memory, "floop", floop([behavior(1), behavior(2)], [edge(2, 1)]))
    assert report == Report(stored=1, duplicates=1, links=1)


def test_the_import_can_be_undone(memory):
    run(memory, "floop", SCENARIO)
    memory.undo("last")
    assert memory.list(status=None) == []
    assert memory.validate() == []


def test_the_folder_itself_will_do_for_the_project_it_is_in(floop):
    path = floop([behavior()])
    assert [entry.arguments["key"] for entry in read(path / ".floop")] == ["behavior-1"]


def test_a_large_store_is_read_line_by_line(floop):
    items = read(floop([behavior(n) for n in range(20)], ["{broken"]))
    assert [next(items).arguments["key"] for _ in range(20)] == [f"behavior-{n}" for n in range(20)]
    assert "edges.jsonl, line 1" in str(next(items).error)


@each_row(
    ("name", "line", "rule"),
    [
        ("nodes", "{broken", "must be JSON"),
        ("nodes", "[1]", "must be a JSON object on one line"),
        ("nodes", '{"kind": "behavior"}', "id = None: must be the id of a node"),
        ("nodes", '{"id": "a", "kind": "behavior", "content": 7}', "content = 7: must be an object"),
        ("nodes", '{"id": "a", "kind": "behavior", "content": {}}', "content = None: must be a text"),
        (
            "nodes",
            json.dumps(behavior(2, metadata={"priority": "high"})),
            "priority = 'high': must be a finite",
        ),
        (
            "nodes",
            json.dumps(behavior(2, metadata={"confidence": 7})),
            r"confidence = 7: must be in \[0, 1\]",
        ),
        (
            "nodes",
            json.dumps(behavior(2, metadata={"stats": {"times_followed": -1}})),
            "followed = -1: must be a whole number ≥ 0",
        ),
        (
            "nodes",
            json.dumps(behavior(2, metadata={"stats": {"last_activated": "soon"}})),
            "stats.last_activated = 'soon': must be an ISO 8601 time",
        ),
        ("nodes", '{"id": "a", "kind": ["behavior"]}', r"kind = \['behavior'\]: must be a text"),
        ("nodes", json.dumps(behavior(2, content={"requires": "b1"})), "requires = 'b1': must be a list"),
        ("nodes", json.dumps(behavior(2, content={"similar_to": 3})), "similar_to = 3: must be a list"),
        ("edges", "{broken", "must be JSON"),
        ("edges", '{"target": "a", "kind": "requires"}', "source = None: must be the id of a node"),
        ("edges", json.dumps(edge(1, 1, weight=3)), r"weight = 3: must be a number in \[0, 1\]"),
        ("corrections", '"text"', "must be a JSON object on one line"),
        ("corrections", json.dumps(correction(timestamp="noon")), "must be an ISO 8601 time"),
        ("corrections", json.dumps(correction(corrected_action="")), "must say what would have been right"),
    ],
)
def test_a_wrong_line_is_named_by_its_file_and_number_with_the_rule(floop, name, line, rule):
    good = {"nodes": behavior(1), "edges": edge(1, 1), "corrections": correction()}
    path = floop(**{item: [value, *([line] if item == name else [])] for item, value in good.items()})
    items = list(read(path))
    (skipped,) = [str(item.error) for item in items if isinstance(item, Skipped)]
    assert re.search(rule, skipped)
    assert f"{name}.jsonl, line 2" in skipped
    assert {type(item) for item in items} == {Entry, Tie, Skipped}


def test_times_that_go_leaves_empty_are_no_times(floop):
    never = "0001-01-01T00:00:00Z"
    node = behavior(
        content={"provenance": {"created_at": never}}, metadata={"stats": {"last_activated": never}}
    )
    (entry,) = entries(floop([node]))
    assert (entry.arguments["occurred_at"], entry.state) == (None, ImportedState(confidence=0.6))


@pytest.mark.parametrize("name", [None, "floop.db", "edges.jsonl"])
def test_a_folder_that_is_no_store_is_refused_with_what_is_missing(tmp_path, name):
    if name:
        (tmp_path / name).write_text("")
    with pytest.raises(ParamError, match=r"there is no nodes\.jsonl in it or in its \.floop") as caught:
        list(read(tmp_path))
    assert ("floop.db" in str(caught.value)) == (name == "floop.db")


def test_a_path_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ParamError, match="must be the folder of a floop store"):
        list(read(tmp_path / "missing"))


def test_a_store_may_lack_edges_and_corrections(floop, memory):
    path = floop([behavior()])
    for name in ("edges", "corrections"):
        (path / ".floop" / f"{name}.jsonl").unlink()
    assert run(memory, "floop", path) == Report(stored=1)


def test_the_scenario_is_copied_whole_into_another_folder(tmp_path, memory):
    shutil.copytree(SCENARIO, tmp_path / ".floop")
    assert run(memory, "floop", tmp_path) == Report(stored=6, links=5)


def test_a_summary_is_the_gist_until_the_text_changes(floop, memory):
    run(memory, "floop", floop([behavior(1, summary="Thing one, first of all"), behavior(2)]))
    assert memory.get("behavior-1").gist == "Thing one, first of all"
    assert memory.get("behavior-2").gist == "Do thing number 2 first."
    memory.supersede("behavior-1", "Do thing number one last.")
    assert memory.get("behavior-1").gist == "Do thing number one last."


def test_links_keep_the_times_at_which_floop_made_and_activated_them(floop, memory):
    edges = [
        edge(2, 1, "requires", 0.7, last_activated="2026-02-07T10:00:00Z"),
        edge(1, 2, "similar-to", 0.6),
        {**edge(1, 2, "overrides", 0.5), "created_at": None},
    ]
    run(memory, "floop", floop([behavior(1), behavior(2)], edges))
    links = {link.relation: link for link in memory.links("behavior-1") if link.given}
    new = datetime(2026, 2, 6, 17, 52, 57, tzinfo=UTC)
    assert (links["requires"].created_at, links["requires"].last_activated) == (
        new,
        datetime(2026, 2, 7, 10, tzinfo=UTC),
    )
    assert (links["similar-to"].created_at, links["similar-to"].last_activated) == (new, None)
    assert links["overrides"].created_at > new
    memory.set_strength("behavior-1", "behavior-2", 0.9, "similar-to")
    before = memory.links("behavior-1")
    run(memory, "floop", floop([behavior(1), behavior(2)], edges))
    assert memory.links("behavior-1") == before


@pytest.mark.parametrize("name", ["QX77 ZB19", "Never rebase shared branches", "Deploy ABC-42 (3f2c9d1e)"])
def test_the_heading_of_a_behaviour_names_no_entity(floop, memory, name):
    run(memory, "floop", floop([behavior(content={"name": name})]))
    assert memory.get("behavior-1").heading == name
    assert memory.list(kinds=["entity"]) == []


def test_ids_and_names_that_are_identifiers_make_no_entities(floop, memory):
    named = behavior(1, content={"name": "python/use-pathlib"})
    title = behavior(2, content={"name": "How we tag"})
    run(memory, "floop", floop([named, title], corrections=[correction()]))
    entities = {record.content for record in memory.list(kinds=["entity"])}
    assert not [name for name in entities if "/" in name or "behavior" in name or name.startswith("c-")]
    assert memory.get("behavior-1").heading is None
    assert memory.get("behavior-1").metadata["name"] == "python/use-pathlib"
    assert memory.get("behavior-2").heading == "How we tag"
