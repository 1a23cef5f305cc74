import pytest

from priming import HashedEmbedder, Memory, NotFound
from priming.storage.rows import LinkRow, MemoryRow


def test_stats_count_what_the_namespace_holds(memory, embedder):
    empty = memory.stats()
    assert (empty.namespace, empty.memories, empty.links) == ("default", {}, {})
    assert (empty.operations, empty.traces, empty.generation) == (0, 0, None)
    memory.remember("Then Zed painted.", session="s")
    memory.remember("We sing.", session="s", kind="fact")
    memory.forget("we-sing")
    memory.recall("paint")
    stats = memory.stats()
    assert stats.memories == {"entity": {"active": 2}, "episode": {"active": 1}, "fact": {"forgotten": 1}}
    assert stats.links == {"mentions": 1, "next": 1, "part-of": 2}
    assert (stats.operations, stats.traces, stats.generation) == (3, 1, embedder.generation)
    assert stats.bytes > 0


def test_status_counts_the_rows_that_there_are(memory, embedder):
    memory.remember_many(
        {"content": text, "session": "s"} for text in ("Zed painted.", "We sing.", "We fly.")
    )
    memory.remember("Zed paints no more.", kind="fact", key="zed")
    memory.supersede("zed", "Zed paints again.")
    memory.forget("we-sing")
    memory.link("we-fly", "zed", "next")
    memory.undo("last")
    rows = memory.store.rows("default", MemoryRow)
    status = memory.status()
    assert status.memories == sum(row.status == "active" and row.kind != "entity" for row in rows) == 3
    assert status.links == len(memory.store.rows("default", LinkRow)) == sum(memory.stats().links.values())
    assert status.operations == len(memory.log())
    assert (status.waiting, status.generation) == (0, embedder.generation)


def test_what_needs_a_memory_finds_none_in_a_namespace_without_memories(open_memory, url):
    open_memory(url, namespace="ours").remember("We sing.")
    theirs = open_memory(url, namespace="theirs")
    needing = (
        lambda: theirs.get("we-sing"),
        lambda: theirs.history("we-sing"),
        lambda: theirs.forget("we-sing"),
        lambda: theirs.purge("we-sing"),
        lambda: theirs.supersede("we-sing", "We fly."),
        lambda: theirs.link("we-sing", "we-fly"),
        lambda: theirs.set_strength("we-sing", "we-fly", 0.5),
        lambda: theirs.undo("1"),
    )
    for verb in needing:
        with pytest.raises(NotFound, match=r"there is no .* in 'theirs'") as caught:
            verb()
        assert caught.value.__notes__ == ['there are no memories in "theirs"; there are some in "ours"']


def test_nothing_crosses_a_namespace(open_memory, url):
    ours, theirs = open_memory(url, namespace="ours"), open_memory(url, namespace="theirs")
    mine = ours.remember("Then Zed painted walls.", key="a", session="s")
    theirs.remember("Zed sings.", key="b", session="s")
    assert [hit.memory.key for hit in theirs.recall("who painted walls, Zed?").hits] == ["b"]
    assert {record.key for record in theirs.list(kinds=["entity", "episode"])} == {
        "b",
        "entity:zed",
        "session:s",
    }
    for verb in (theirs.get, theirs.forget, theirs.purge, theirs.history, theirs.links):
        for name in ("a", mine.id):
            with pytest.raises(NotFound):
                verb(name)
    with pytest.raises(NotFound):
        theirs.undo(mine.operation)
    with pytest.raises(NotFound):
        theirs.link("b", mine.id)
    assert [operation.id for operation in ours.log()] == [mine.operation]


def test_memories_without_a_vector_of_this_embedder_are_found(open_memory, url):
    open_memory(url, embedder=HashedEmbedder(64)).remember("Then Zed painted.")
    (finding,) = open_memory(url, embedder=HashedEmbedder(32)).validate()
    assert finding.rule == "missing-vectors"
    assert HashedEmbedder(32).generation in finding.detail
    assert open_memory(url, embedder=HashedEmbedder(64)).validate() == []


def linked(memory, *links):
    """Memories with one-letter keys, and links between them: "a overrides b"."""
    for key in sorted({key for link in links for key in link.split()[::2]}):
        memory.remember(f"{key} says nothing of the others", key=key, kind="fact")
    for source, relation, target in (link.split() for link in links):
        memory.link(source, target, relation)
    return {(finding.rule, finding.subject) for finding in memory.validate()}


@pytest.mark.parametrize("relation", ["overrides", "requires"])
def test_links_that_lead_in_a_circle_are_found_one_finding_a_circle(memory, relation):
    findings = linked(
        memory,
        *(f"{a} {relation} {b}" for a, b in ("ab", "bc", "ca", "cd", "de", "ed", "ef")),
    )
    assert findings == {
        ("circle", f"{relation}: a → b → c → a"),
        ("circle", f"{relation}: d → e → d"),
    }


def test_links_of_two_relations_or_of_one_that_may_make_no_circle_of_them(memory):
    links = (
        "a overrides b",
        "b requires a",
        "a similar-to b",
        "b similar-to a",
        "a conflicts b",
        "b conflicts a",
    )
    assert linked(memory, *links, "a overrides c", "b overrides c", "a overrides d", "d overrides c") == set()


@pytest.mark.parametrize("relation", ["merged-into", "deprecated-to"])
def test_what_is_active_though_another_took_its_place_is_found(memory, relation):
    assert linked(memory, f"a {relation} b") == {("replaced-but-active", f"a ─{relation}→ b")}
    finding = memory.validate()[0]
    assert finding.remedy == "deprecate or merge it, or undo the operation that made the link"
    memory.deprecate("a")
    assert memory.validate() == []


def test_what_took_the_places_of_one_another_is_a_circle(memory):
    findings = linked(memory, "a deprecated-to b", "b deprecated-to a")
    assert ("circle", "deprecated-to: a → b → a") in findings


def test_the_remedy_of_a_circle_mends_it(memory):
    linked(memory, "a overrides b")
    created = memory.link("b", "a", "overrides")
    assert [finding.rule for finding in memory.validate()] == ["circle"]
    (operation,) = memory.log(key="b", limit=1)
    memory.undo(operation.id)
    assert created not in memory.links()
    assert memory.validate() == []


def test_status_counts_what_is_active_and_says_where():
    with Memory.open("sqlite://", embedder=HashedEmbedder(), namespace="work") as memory:
        before = memory.status()
        memory.remember("the first", key="one")
        memory.remember("the second", key="two")
        memory.link("one", "two")
        memory.forget("two")
        after = memory.status()
    assert (before.namespace, before.memories, before.operations) == ("work", 0, 0)
    assert (after.memories, after.links, after.operations) == (1, 1, 4)
    assert (after.profile, after.generation) == ("priming", HashedEmbedder().generation)
