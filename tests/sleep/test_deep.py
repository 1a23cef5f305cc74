import numpy as np
import pytest
from tests.rows import each_row

from priming.config.params.laws import ClusterParams
from priming.sleep.deep import DeepStage, KnownEntity, centroid
from priming.storage.rows import LinkRow, MemoryRow, VersionRow
from priming.types import LeftAlone

from .making import NOW, answer, around, embed_words, row

pytestmark = pytest.mark.extra  # HDBSCAN's

DISK = [
    "Kestrel stopped: the disk is full. We waited.",
    "Kestrel has a full disk again.",
    "The disk of Kestrel was cleared.",
    "A full disk stopped Kestrel at noon.",
]
TEA = ["Tea is out.", "The tea tin is empty.", "Nobody bought tea."]


def window(*groups, **fields):
    """Episodes of several themes, each theme about an axis of its own."""
    texts = [text for group in groups for text in group]
    vectors = np.concatenate([around(i, len(group), seed=i, dimension=26) for i, group in enumerate(groups)])
    return [answer(f"m{i}", text, **fields) for i, text in enumerate(texts)], vectors


def deep(episodes, vectors, **more):
    return DeepStage(episodes, vectors, embed_words, NOW, **more).plan()


def new(planned):
    (memory,) = (c.after for c in planned.rows if isinstance(c.after, MemoryRow))
    (version,) = (c.after for c in planned.rows if isinstance(c.after, VersionRow) and c.before is None)
    return memory, version, [c.after for c in planned.rows if isinstance(c.after, LinkRow)]


def as_known(planned):
    """The entity of an earlier night."""
    memory, version, links = new(planned)
    return memory, version, frozenset(link.source for link in links)


def test_each_cluster_makes_an_entity_that_its_episodes_are_sources_of():
    disk, tea = sorted(deep(*window(DISK, TEA)), key=lambda item: -len(item.ids))
    memory, version, links = new(disk)
    assert (memory.kind, memory.key, version.heading) == ("entity", "concept:kestrel", "Kestrel")
    assert [(link.source, link.target, link.relation) for link in links] == [
        (f"m{i}", memory.id, "source-of") for i in range(4)
    ]
    assert new(tea)[1].heading == "tea tin"
    assert disk.ids == ("m0", "m1", "m2", "m3")


def test_the_confidence_is_the_share_of_the_window():
    disk, tea = sorted(deep(*window(DISK, TEA)), key=lambda item: -len(item.ids))
    assert new(disk)[0].confidence == pytest.approx(4 / 7)
    assert new(tea)[0].confidence == pytest.approx(3 / 7)


def test_its_text_is_the_most_central_sentence():
    episodes, _ = window(["Kestrel fell. A disk was full.", "Kestrel fell. A disk was full.", "A disk."])
    (planned,) = deep(episodes, around(0, 3, dimension=26))
    assert new(planned)[1].content == "A disk was full."  # the axis of "a" is that of the cluster


def test_its_trust_is_the_least_of_its_sources():
    episodes, vectors = window(DISK)
    episodes[2] = answer("m2", DISK[2], trust="untrusted")
    (planned,) = deep(episodes, vectors)
    assert new(planned)[1].trust == "untrusted"


@each_row(
    ("texts", "fields", "form", "heading"),
    [
        (DISK, {"metadata": {"project": "Heron"}}, "project", "Heron"),
        ([f"Ran test_db.py, time {i}." for i in range(3)], {}, "tool", "test_db.py"),
        (TEA, {}, "concept", "tea tin"),
    ],
)
def test_the_form_follows_from_what_the_episodes_share(texts, fields, form, heading):
    (planned,) = deep(*window(texts, **fields))
    _, version, _ = new(planned)
    assert (version.metadata["form"], version.heading) == (form, heading)


def test_who_speaks_does_not_name_the_theme():
    (planned,) = deep(*window(TEA, speaker="Ada"))
    assert new(planned)[1].heading == "tea tin"


def test_what_contradicts_a_member_is_left_out():
    episodes, vectors = window(DISK)
    (planned,) = deep(episodes, vectors, conflicts=frozenset({frozenset(("m0", "m1"))}))
    assert len(planned.ids) == 3
    assert not {"m0", "m1"} <= set(planned.ids)
    apart = frozenset(frozenset((f"m{i}", f"m{j}")) for i in range(4) for j in range(i))
    assert deep(episodes, vectors, conflicts=apart) == []


def seen(planned, vectors, rows, **state):
    memory, version, members = as_known(planned)
    memory = row(memory.id, "entity", **{"confidence": memory.confidence, **state})
    return KnownEntity(memory, [version], members, centroid(vectors[rows]))


def test_the_same_cluster_the_next_night_makes_nothing_new():
    episodes, vectors = window(DISK)
    (first,) = deep(episodes, vectors)
    assert deep(episodes, vectors, entities=[seen(first, vectors, range(4))]) == []


def test_more_of_the_same_update_the_entity():
    episodes, vectors = window([*DISK, "Kestrel ran out of disk."])
    (first,) = deep(episodes[:4], vectors[:4])
    (second,) = deep(episodes, vectors, entities=[seen(first, vectors, range(4))])
    assert (second.action, second.ids, second.into) == ("update", ("m4",), first.into)
    assert next(c.after for c in second.rows if isinstance(c.after, LinkRow)).source == "m4"


def test_an_entity_is_known_by_where_it_is_when_its_episodes_left_the_window():
    episodes, vectors = window(DISK)
    (first,) = deep(episodes, vectors)
    later = [answer(f"n{i}", text) for i, text in enumerate(DISK)]
    (second,) = deep(later, vectors, entities=[seen(first, vectors, range(4))])
    assert (second.action, second.into, len(second.ids)) == ("update", first.into, 4)


def test_an_entity_that_somebody_took_out_is_not_made_again():
    episodes, vectors = window(DISK)
    (first,) = deep(episodes, vectors)
    entity = seen(first, vectors, range(4), status="forgotten")
    assert deep(episodes, vectors, entities=[entity]) == []


def test_a_text_that_somebody_wrote_is_left_alone():
    episodes, vectors = window([*DISK, "Kestrel ran out of disk."])
    (first,) = deep(episodes[:4], vectors[:4])
    memory, version, members = as_known(first)
    by_hand = VersionRow(
        memory.id, 1, NOW, "Mind the disk!", "Mind the disk!", "d", heading=version.heading,
        metadata=version.metadata, source=version.source,
    )  # fmt: skip
    entity = KnownEntity(memory, [by_hand], members, centroid(vectors[:4]))
    (second,) = deep(episodes, vectors, entities=[entity])
    assert [c for c in second.rows if isinstance(c.row, VersionRow)] == []


def test_a_source_that_is_trusted_less_lowers_the_trust():
    episodes, vectors = window([*DISK, "Kestrel ran out of disk."])
    (first,) = deep(episodes[:4], vectors[:4])
    episodes[4] = answer("m4", episodes[4].content, trust="tool")
    (second,) = deep(episodes, vectors, entities=[seen(first, vectors, range(4))])
    assert [c.after.trust for c in second.rows if isinstance(c.row, VersionRow) and c.before is None][
        -1
    ] == "tool"


def test_another_theme_of_the_same_name_is_told_apart_by_a_word():
    (planned,) = deep(*window(DISK), taken=lambda key: key == "concept:kestrel")
    assert (new(planned)[0].key, new(planned)[1].heading) == ("concept:kestrel-disk", "Kestrel: disk")


def test_a_key_that_is_taken_gets_an_end():
    (planned,) = deep(*window(DISK), taken=lambda key: key in ("concept:kestrel", "concept:kestrel-disk"))
    assert new(planned)[0].key.startswith("concept:kestrel-disk-")


@each_row(
    ("text", "other"),
    [
        ("Flag X was enabled.", "Flag X was disabled."),
        ("Never deploy Kestrel.", "Always deploy Kestrel."),
        ("Kestrel meets on Monday.", "Kestrel meets on Friday."),
    ],
)
def test_an_episode_that_says_the_opposite_is_no_source_of_the_gist(text, other):
    episodes = [answer(f"m{i}", text) for i in range(4)] + [answer("m4", other)]
    vectors = np.tile(np.eye(26)[0], (5, 1))
    vectors[4, 1] = 0.3
    item, left = sorted(deep(episodes, vectors), key=lambda item: isinstance(item, LeftAlone))
    assert (set(item.ids), item.evidence["text"]) == ({"m0", "m1", "m2", "m3"}, text)
    assert left.keys[1] == "m4"
    memory, version, members = as_known(item)
    familiar = KnownEntity(memory, [version], members, centroid(vectors))
    turned = [answer(f"n{i}", other) for i in range(9)]
    later = deep(
        [*episodes, *turned], np.concatenate([vectors, np.tile(np.eye(26)[0], (9, 1))]), entities=[familiar]
    )
    assert [item for item in later if not isinstance(item, LeftAlone)] == []


OPPOSITES = ["The cache of the shop is enabled.", "The cache of the shop is disabled."]


def test_episodes_that_say_the_opposite_are_never_joined_however_far_apart_they_are():
    texts = [*OPPOSITES, "The cache of the shop was cleared.", "The cache of the shop grew."]
    episodes, _ = window(texts)
    vectors = around(0, 4, dimension=26, spread=0.9)
    for planned in deep(episodes, vectors):
        if hasattr(planned, "ids"):
            assert not {"m0", "m1"} <= set(planned.ids)
    apart = DeepStage(episodes, vectors, embed_words, NOW)._opposed(np.arange(4), np.ones((4, 1)))
    assert frozenset(("m0", "m1")) in apart


@each_row(("least", "count"), [(3, 1), (4, 1), (5, 0)])
def test_an_entity_takes_as_many_episodes_as_the_settings_say(least, count):
    episodes, vectors = window(DISK)
    assert len(deep(episodes, vectors, params=ClusterParams(min_occurrences=least))) == count


def test_a_theme_is_called_by_two_words_that_stand_together():
    texts = ["The coffee machine leaks.", "Somebody cleaned the coffee machine.", "Is the coffee machine on?"]
    (planned,) = deep(*window(texts))
    assert new(planned)[1].heading == "coffee machine"


def test_what_says_the_opposite_in_part_is_of_no_theme_with_it():
    never = "ever open the sluice before the gauge reads two meters."
    texts = [
        f"N{never}",
        f"We n{never}",
        f"Again: n{never}",
        "Always open the sluice before the gauge shows two meters.",
    ]
    item, left = sorted(deep(*window(texts)), key=lambda item: isinstance(item, LeftAlone))
    assert item.ids == ("m0", "m1", "m2")
    assert "m3" in left.keys
    assert left.reason.endswith("in part")
