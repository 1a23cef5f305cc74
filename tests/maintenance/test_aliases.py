"""Names that stand for one thing are merged on evidence."""

from __future__ import annotations

import pytest

from priming import ParamError


def mentioned(memory, key):
    return {link.target for link in memory.links(key, relation="mentions") if link.source == key}


def recalled_keys(memory, **settings):
    return {(alias.alias, alias.name): alias for alias in memory.aliases(**settings)}


@pytest.fixture
def cluster(memory):
    """Two memories, one of which says that two names are one."""
    memory.remember("We moved it to Kubernetes, or K8s. It took a week.", key="moved")
    memory.remember("The K8s upgrade failed.", key="upgrade", trust="tool")
    return memory


def test_what_a_text_says_is_proposed_with_its_sentence(cluster):
    (alias,) = cluster.aliases(dry_run=True)
    assert (alias.alias, alias.name, alias.reason, alias.operation) == (
        "entity:k8s",
        "entity:kubernetes",
        "said",
        None,
    )
    assert [(stated.key, stated.text) for stated in alias.evidence] == [
        ("moved", "We moved it to Kubernetes, or K8s.")
    ]
    assert cluster.get("entity:k8s").status == "active"


def test_mentions_move_to_the_name_that_stands(cluster):
    (alias,) = cluster.aliases()
    assert cluster.get("entity:k8s").status == "merged"
    assert mentioned(cluster, "upgrade") == {"entity:kubernetes"}
    assert mentioned(cluster, "moved") == {"entity:kubernetes"}
    (into,) = [link for link in cluster.links("entity:k8s") if link.relation == "merged-into"]
    assert (into.source, into.target) == ("entity:k8s", "entity:kubernetes")
    assert cluster.log(limit=1)[0].id == alias.operation
    assert cluster.aliases() == []


def test_undo_takes_an_alias_back(cluster):
    before = (cluster.links(), cluster.list(kinds=["entity"]))
    (alias,) = cluster.aliases()
    cluster.undo(alias.operation)
    assert (cluster.links(), cluster.list(kinds=["entity"])) == before
    assert len(cluster.aliases(dry_run=True)) == 1


def test_what_is_remembered_later_mentions_the_name_that_stands(cluster):
    cluster.aliases()
    cluster.remember("K8s is slow today.", key="slow")
    assert mentioned(cluster, "slow") == {"entity:kubernetes"}
    cluster.remember_many([{"content": f"K8s node {i} is down.", "key": f"n{i}"} for i in range(3)])
    assert all("entity:kubernetes" in mentioned(cluster, f"n{i}") for i in range(3))


def test_what_is_remembered_after_the_undo_mentions_the_alias_again(cluster):
    (alias,) = cluster.aliases()
    cluster.undo(alias.operation)
    cluster.remember("K8s is slow today.", key="slow")
    assert mentioned(cluster, "slow") == {"entity:k8s"}


def test_an_alias_of_a_forgotten_name_is_a_name_of_its_own(cluster):
    cluster.aliases()
    cluster.forget("entity:kubernetes")
    cluster.remember("K8s is slow today.", key="slow")
    (name,) = mentioned(cluster, "slow")
    assert cluster.get(name).content == "K8s"
    assert cluster.get(name).status == "active"


def test_aliases_hold_after_opening_again(open_memory, url):
    memory = open_memory(url)
    memory.remember("We moved it to Kubernetes, or K8s.", key="moved")
    memory.aliases()
    memory.close()
    again = open_memory(url)
    again.remember("K8s is slow today.", key="slow")
    assert mentioned(again, "slow") == {"entity:kubernetes"}


def test_a_chain_of_aliases_ends_at_one_name(memory):
    memory.remember("Bob is short for Robert. I call Robert Smith, a.k.a. Robert, at noon.", key="a")
    memory.aliases()
    memory.remember("Bob left.", key="b")
    assert mentioned(memory, "b") == {"entity:robert-smith"}
    assert memory.validate() == []


def test_a_name_that_could_be_two_is_left_alone(memory):
    memory.remember("Robert Smith (Bob) left.")
    memory.remember("Robert Jones (Bob) came.")
    assert ("entity:bob", "entity:robert-smith") not in recalled_keys(memory)
    assert memory.get("entity:bob").status == "active"


def test_untrusted_texts_rename_nobody(memory):
    memory.remember("Robert Smith (Bob) left.", trust="untrusted")
    assert memory.aliases() == []


def test_the_part_of_a_full_name_in_its_session_means_that_person(memory):
    memory.remember("I met Robert Smith today.", key="full", session="monday")
    memory.remember("Then Robert told a joke, and Smith left.", key="part", session="monday")
    proposed = recalled_keys(memory, dry_run=True)
    assert set(proposed) == {
        ("entity:robert", "entity:robert-smith"),
        ("entity:smith", "entity:robert-smith"),
    }
    item = proposed["entity:robert", "entity:robert-smith"]
    assert (item.reason, item.evidence[0].key) == ("part", "part")


@pytest.mark.parametrize(
    ("text", "session"),
    [
        ("I met Robert Jones too.", "monday"),
        ("Robert called.", "tuesday"),
        ("Robert called.", None),
    ],
)
def test_a_part_that_may_mean_another_is_left_alone(memory, text, session):
    memory.remember("I met Robert Smith today.", session="monday")
    memory.remember("Then Robert told a joke.", session="monday")
    memory.remember(text, session=session)
    assert ("entity:robert", "entity:robert-smith") not in recalled_keys(memory, dry_run=True)


def test_the_part_of_a_place_is_no_alias(memory):
    memory.remember("I was in New York and at the University of Oslo.", session="s")
    memory.remember("I like York and Oslo.", session="s")
    assert memory.aliases(dry_run=True) == []


def test_a_speaker_with_a_full_name_is_a_person(memory):
    memory.remember("I am here.", speaker="Xiulan Okafor", session="s")
    memory.remember("I saw Xiulan there.", speaker="Ann", session="s")
    assert ("entity:xiulan", "entity:xiulan-okafor") in recalled_keys(memory, dry_run=True)


def test_only_so_many_are_merged(memory):
    memory.remember("Robert Smith (Bob) uses Kubernetes (K8s).")
    assert len(memory.aliases(limit=1)) == 1
    with pytest.raises(ParamError, match="limit = 0"):
        memory.aliases(limit=0)


def test_nothing_said_changes_nothing(memory):
    memory.remember("Oslo (Norway) is cold.")
    before = memory.log()
    assert memory.aliases() == []
    assert memory.log() == before


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Anna Lopez, also known as Ann.", "Ann Miller called."),
        ("Samantha (Sam) sings.", "Sam Smith works."),
        ("William Cody, nicknamed Bill, rode.", "Bill Gates wrote."),
    ],
)
def test_a_short_name_that_another_person_has_too_is_nobodys_alias(memory, first, second):
    memory.remember_many([{"content": first}, {"content": second}])
    assert memory.aliases() == []


def test_a_short_form_of_a_thing_may_be_part_of_other_names(memory):
    memory.remember_many([{"content": "We use Kubernetes, or K8s."}, {"content": "K8s Cluster One is up."}])
    assert [alias.alias for alias in memory.aliases()] == ["entity:k8s"]


@pytest.mark.parametrize("place", ["Victoria Park", "Virginia Beach", "Charlotte Airport"])
def test_a_place_that_begins_with_a_given_name_is_nobody(memory, place):
    memory.remember(f"We saw {place}.", session="s")
    memory.remember(f"We met {place.split()[0]}.", session="s")
    assert memory.aliases() == []
