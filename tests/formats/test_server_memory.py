"""The graph of the reference memory server: entities, what was observed of them, and how they are related."""

from __future__ import annotations

import pytest

from priming.transfer.run import run

from .samples import SERVER_MEMORY, lines


def entity(name, *observations, kind="person"):
    return {"type": "entity", "name": name, "entityType": kind, "observations": list(observations)}


def relation(start, end, kind):
    return {"type": "relation", "from": start, "to": end, "relationType": kind}


@pytest.fixture
def follow(tmp_path, memory):
    """Imports a graph of these lines, each time from the same file."""

    def imported(*values):
        path = tmp_path / "memory.json"
        path.write_text(lines(*values))
        return run(memory, "server-memory", path)

    return imported


def contents(memory):
    return sorted(record.content for record in memory.list())


def relations(memory, name):
    return sorted((link.source, link.target) for link in memory.links(relation=name))


def test_an_observation_names_its_entity_and_is_a_part_of_it(memory, tmp_path):
    run(memory, "server-memory", SERVER_MEMORY.write(tmp_path))
    assert contents(memory) == [
        "Ada Byron (person)",
        "Ada Byron: Rises early",
        "Ada Byron: Speaks Danish",
        "Kestrel (program)",
    ]
    assert relations(memory, "maintains") == [("server-memory:Ada Byron", "server-memory:Kestrel")]
    assert {target for _, target in relations(memory, "part-of")} == {"server-memory:Ada Byron"}
    assert {record.kind for record in memory.list()} == {"fact"}
    assert memory.recall("What does Ada Byron speak?").hits[0].memory.content == "Ada Byron: Speaks Danish"


def test_an_observation_that_names_its_entity_is_not_given_its_name_again(memory, follow):
    follow(entity("Kestrel", "kestrel signs the builds", kind=""))
    assert contents(memory) == ["Kestrel", "kestrel signs the builds"]


def test_a_graph_that_changed_is_followed(memory, follow):
    follow(entity("Ada", "Lives in Aarhus", "Has a dog"), entity("Bo"), relation("Ada", "Bo", "knows"))
    report = follow(
        entity("Ada", "Lives in Odense", "Has a dog", "Plays chess"),
        entity("Bo"),
        entity("Cy"),
        relation("Ada", "Cy", "knows"),
    )
    assert (report.stored, report.changed, report.gone) == (2, 1, 0)
    assert "Ada: Lives in Odense" in contents(memory)
    assert "Ada: Lives in Aarhus" not in contents(memory)
    assert relations(memory, "knows") == [("server-memory:Ada", "server-memory:Cy")]


def test_an_observation_that_was_deleted_is_gone_and_those_after_it_stay(follow):
    follow(entity("Ada", "Lives in Aarhus", "Has a dog", "Plays chess"))
    report = follow(entity("Ada", "Has a dog", "Plays chess"))
    assert (report.stored, report.changed, report.gone) == (0, 0, 1)


def test_a_relation_to_nothing_and_an_odd_line_are_skipped_and_named(follow):
    report = follow(
        entity("Ada"), relation("Ada", "Bo", "knows"), {"type": "other"}, entity("Cy", 7, "Is here")
    )
    assert (report.stored, report.loose, report.refused) == (3, 1, 2)
    assert any("line 3" in reason for reason in report.skipped)
    assert any("line 4, observation 0" in reason for reason in report.skipped)
