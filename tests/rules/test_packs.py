import json
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.rows import each_row

from priming import Conflict, Cue, NotFound, ParamError, SchemaTooNew, StoreError
from priming.config.params.limits import STORE
from priming.config.words import KINDS
from priming.rules.results import Pack
from priming.storage.rows import MemoryRow, RowChange

A = {"key": "tests", "content": "Always run the tests.", "when": {"language": "go"}, "rule": "directive"}
B = {"key": "main", "content": "Never push to main.", "rule": "constraint"}
C = {"key": "short", "content": "Prefer short functions."}
LINK = {"source": "tests", "target": "main", "relation": "requires", "weight": 0.7}


@pytest.fixture
def pack(tmp_path):
    """Writes the file of a pack, and gives its path."""

    def write(*behaviors, links=(), name="go-style", version="1", file="pack.json", **more):
        holder = {
            "format": "priming-pack",
            "format_version": 1,
            "name": name,
            "version": version,
            "description": "How we write Go",
            "behaviors": list(behaviors),
            "links": links and list(links),
        }
        path = tmp_path / file
        path.write_text(json.dumps(holder | more), encoding="utf-8")
        return path

    return write


@pytest.fixture
def full(memory):
    """Behaviours of one's own, with a use, a source and a session, and links."""
    memory.remember("Always run the tests.", key="tests", kind="behavior", when={"language": "go"}, session="monday",
                    source="/home/me/notes", speaker="Ada", tags=["go", "ci"], metadata={"rule": "directive",
                    "by": "Ada"}, importance=0.8)  # fmt: skip
    memory.remember("Never push to main.", key="main", kind="behavior", session="monday", tags=["git"])
    memory.remember("The disk was full.", key="disk", kind="fact", tags=["go"])
    memory.link("tests", "main", "requires", 0.7)
    memory.link("main", "disk", "similar-to", 0.7)
    memory.feedback(memory.recall("tests").recall_id, used=["tests"])
    return memory


def everything(memory):
    return memory.list(kinds=KINDS, status=None), memory.links()


def statuses(memory):
    return {record.key: record.status for record in memory.list(kinds=["behavior"], status=None)}


def refused(memory, error, message, verb, *args, **more):
    before, count = everything(memory), memory.stats().operations
    with pytest.raises(error, match=message) as caught:
        verb(*args, **more)
    assert (everything(memory), memory.stats().operations) == (before, count)
    return str(caught.value)


# Create


def test_a_pack_holds_behaviours_and_the_links_among_them_and_nothing_of_their_use(full, tmp_path):
    new = full.pack_create(tmp_path / "p.json", name="go-style", description="How we write Go")
    assert new == Pack("go-style", "1", "How we write Go", behaviors=2, links=1)
    document = json.loads((tmp_path / "p.json").read_text("utf-8"))
    assert (document["format"], document["format_version"]) == ("priming-pack", 1)
    assert document["behaviors"][0] == {
        "key": "tests",
        "content": "Always run the tests.",
        "when": {"language": "go"},
        "tags": ["go", "ci"],
        "rule": "directive",
        "importance": 0.8,
        "priority": 0.0,
        "confidence": 1.0,
    }
    assert document["links"] == [LINK]
    text = (tmp_path / "p.json").read_text("utf-8")
    assert [word for word in ("monday", "/home/me", "Ada", "uses", "disk") if word in text] == []


@pytest.mark.parametrize(
    ("chosen", "keys"),
    [
        ({"tags": ["go"]}, ["tests"]),
        ({"tags": ["go", "git"]}, ["tests", "main"]),
        ({"keys": ["main"]}, ["main"]),
        ({"keys": ["main"], "tags": ["ci"]}, ["tests", "main"]),
        ({}, ["tests", "main"]),
    ],
)
def test_behaviours_are_chosen_by_tag_or_key(full, tmp_path, chosen, keys):
    full.pack_create(tmp_path / "p.json", name="p", **chosen)
    document = json.loads((tmp_path / "p.json").read_text("utf-8"))
    assert [item["key"] for item in document["behaviors"]] == keys
    assert len(document["links"]) == (len(keys) == 2)


def test_inactive_behaviours_are_not_packed(full, tmp_path):
    full.forget("tests")
    assert full.pack_create(tmp_path / "p.json", name="p").behaviors == 1
    refused(full, Conflict, "'tests' is forgotten: restore it first", full.pack_create, tmp_path / "q.json",
            name="p", keys=["tests"])  # fmt: skip
    full.deprecate("main")
    refused(
        full,
        NotFound,
        "there is no active behaviour to pack",
        full.pack_create,
        tmp_path / "q.json",
        name="p",
    )
    assert not (tmp_path / "q.json").exists()


@each_row(
    ("arguments", "message"),
    [
        ({"name": "Go Style"}, "name = 'Go Style': must be lower-case letters and digits"),
        ({"name": "../up"}, "name = '../up'"),
        ({"name": ""}, "name = ''"),
        ({"name": "x" * 65}, "at most 64"),
        ({"name": 7}, "name = 7: must be a text"),
        ({"version": "1@2"}, "version = '1@2'"),
        ({"version": ""}, "version = ''"),
        ({"description": "two\nlines"}, "description = "),
        ({"tags": "go"}, "tags = 'go': must be a list"),
        ({"keys": "tests"}, "keys = 'tests': must be a list of keys"),
        ({"keys": ["disk"]}, "keys = 'disk': is of kind fact: a pack contains only behaviours"),
    ],
)
def test_bad_arguments_of_create_are_named_and_no_file_is_made(full, tmp_path, arguments, message):
    refused(full, ParamError, message, full.pack_create, tmp_path / "p.json", **{"name": "p", **arguments})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("relation", ["requires", "overrides"])
def test_a_circle_is_refused_as_the_pack_is_made_and_no_file_is_left(memory, tmp_path, relation):
    verbs = ("Tag", "Test", "Build")
    keys = [
        memory.learn(f"{verb} the release of {noun}.").key for verb, noun in zip(verbs, "ABC", strict=True)
    ]
    for source, target in zip(keys, (*keys[1:], keys[0]), strict=True):
        memory.link(source, target, relation)
    with pytest.raises(ParamError, match="must not form a cycle") as caught:
        memory.pack_create(tmp_path / "pack.json", name="releases")
    assert all(key in str(caught.value) for key in keys)
    assert "choose other behaviours" in str(caught.value)
    assert [*tmp_path.glob("pack*")] == []
    new = memory.pack_create(tmp_path / "pack.json", name="releases", keys=keys[:2])
    assert (new.behaviors, new.links > 0) == (2, True)


def test_a_behaviour_that_no_pack_can_hold_is_named_as_the_pack_is_made(memory, tmp_path):
    key = memory.learn("Tag the release.").key
    with memory.writing() as now:
        (row,) = memory.store.rows(memory.namespace, MemoryRow, ids=[memory.get(key).id])
        memory.write("import", now, [RowChange(row, replace(row, priority=99.0))])
    with pytest.raises(ParamError, match=r"behaviors\[0\]\.priority = 99"):
        memory.pack_create(tmp_path / "pack.json", name="releases")


def test_an_existing_file_is_not_overwritten(full, tmp_path):
    path = tmp_path / "p.json"
    path.write_text("mine")
    refused(full, Conflict, "p.json already exists", full.pack_create, path, name="p")
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]
    refused(full, StoreError, "could not be written", full.pack_create, tmp_path / "no" / "p.json", name="p")


# Install


def test_a_pack_is_installed_under_its_name_with_its_source(memory, pack, clock):
    done = memory.pack_install(pack(A, B, links=[LINK]))
    assert (done.name, done.version, done.description) == ("go-style", "1", "How we write Go")
    assert (done.behaviors, done.links, done.installed_at) == (2, 1, clock.at)
    assert done.metadata == {"added": 2}
    item = memory.get("go-style/tests")
    assert (item.kind, item.content, item.when, item.rule) == (
        "behavior",
        "Always run the tests.",
        {"language": "go"},
        "directive",
    )
    assert (item.source, item.trust, item.session) == ("pack:go-style@1", "tool", None)
    (link,) = memory.links("go-style/tests", relation="requires")
    assert (link.target, link.weight, link.given) == ("go-style/main", 0.7, False)
    (operation,) = memory.log(limit=1)
    assert (operation.id, operation.kind, operation.source) == (
        done.operation,
        "pack-install",
        "pack:go-style@1",
    )
    assert memory.validate() == []


def test_a_pack_has_the_same_content_where_it_is_installed(full, open_memory, tmp_path):
    full.pack_create(tmp_path / "p.json", name="p")
    other = open_memory()
    other.pack_install(tmp_path / "p.json", trust="user")
    for key in ("tests", "main"):
        mine, theirs = full.get(key), other.get(f"p/{key}")
        for name in ("content", "when", "tags", "rule", "importance", "priority", "confidence"):
            assert getattr(mine, name) == getattr(theirs, name)
    assert other.get("p/tests").use.uses == 0
    assert other.get("p/tests").trust == "user"
    other.pack_create(tmp_path / "again.json", name="p")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "p.json").read_text()


@pytest.mark.parametrize(("relation", "sign"), [("shields", -1), ("negates", 1), ("Löscht Aus", -1)])
def test_a_pack_carries_the_sign_of_a_relation_that_was_set_by_hand(
    memory, open_memory, tmp_path, relation, sign
):
    memory.remember("Spray the vines in May.", key="spray", kind="behavior")
    memory.remember("Keep bees near the vines.", key="bees", kind="behavior")
    memory.link("spray", "bees", relation, 0.9, sign)
    memory.pack_create(tmp_path / "vines.json", name="vines")
    elsewhere = open_memory()
    installed = elsewhere.pack_install(tmp_path / "vines.json")
    assert [(link.relation, link.sign) for link in elsewhere.links(relation=relation)] == [(relation, sign)]
    elsewhere.undo(installed.operation)
    assert elsewhere.signs() == open_memory().signs()


@pytest.mark.parametrize(("sign", "comes_up"), [(-1, False), (1, True)])
def test_a_suppressing_link_of_a_pack_brings_nothing_up_where_it_is_installed(
    memory, open_memory, tmp_path, sign, comes_up
):
    memory.remember("Spray the vines in May.", key="spray", kind="behavior")
    memory.remember("Keep bees close to the house.", key="bees", kind="behavior")
    memory.link("spray", "bees", "shields", 0.9, sign)
    memory.pack_create(tmp_path / "vines.json", name="vines")
    elsewhere = open_memory()
    elsewhere.pack_install(tmp_path / "vines.json", trust="user")
    hits = elsewhere.recall("When do we spray the vines?", profile="floop")
    assert ("vines/bees" in [hit.memory.key for hit in hits.hits if hit.path]) is comes_up


def test_a_pack_without_relations_of_its_own_is_readable_by_older_versions(full, tmp_path):
    full.pack_create(tmp_path / "p.json", name="p")
    packed = json.loads((tmp_path / "p.json").read_text())
    assert (packed["format_version"], "relations" in packed) == (1, False)


def test_a_relation_with_the_other_sign_is_refused_where_other_links_have_it(memory, pack):
    memory.remember("One.", key="one")
    memory.remember("Two.", key="two")
    memory.link("one", "two", "shields")
    path = pack(A, B, links=[{**LINK, "relation": "shields"}], format_version=2, relations={"shields": -1})
    message = (
        "links of the relation 'shields' take activation away in the pack 'go-style' and bring activation in"
    )
    refused(memory, Conflict, message, memory.pack_install, path)
    memory.link("one", "two", "shields", sign=-1)
    memory.pack_install(path)
    assert {link.sign for link in memory.links(relation="shields")} == {-1}


def test_another_version_of_a_pack_may_change_the_sign_of_its_own_relation(memory, pack):
    links = [{**LINK, "relation": "shields"}]
    memory.pack_install(pack(A, B, links=links))
    second = pack(A, B, links=links, format_version=2, version="2", relations={"shields": -1}, file="2.json")
    memory.pack_install(second)
    assert [link.sign for link in memory.links(relation="shields")] == [-1]


def test_installed_behaviours_apply_and_come_up(memory, pack):
    memory.pack_install(pack(A, B))
    assert [hit.memory.key for hit in memory.recall("tests", cue=Cue(language="go")).hits] == [
        "go-style/tests"
    ]
    others = memory.recall("tests", cue=Cue(language="python")).hits
    assert "go-style/tests" not in [hit.memory.key for hit in others]


def test_installed_behaviours_are_not_linked_to_existing_ones(memory, pack):
    memory.remember("Always run the tests.", key="mine", kind="behavior", when={"language": "go"})
    before = memory.links("mine")
    memory.pack_install(pack(A, B, links=[LINK]))
    assert memory.links("mine") == before
    assert statuses(memory) == {"mine": "active", "go-style/tests": "active", "go-style/main": "active"}


def test_priority_and_confidence_are_installed(memory, pack):
    memory.pack_install(pack({**B, "priority": 4, "confidence": 0.6}))
    item = memory.get("go-style/main")
    assert (item.priority, item.confidence) == (4.0, 0.6)


def test_the_same_version_again_changes_nothing(memory, pack, clock):
    first = memory.pack_install(pack(A, B, links=[LINK]))
    before, count = everything(memory), memory.stats().operations
    clock.at += timedelta(days=1)
    again = memory.pack_install(pack(A, B, links=[LINK]))
    assert again == replace(first, operation=None, metadata=again.metadata)
    assert (everything(memory), memory.stats().operations) == (before, count)


def test_undo_of_an_installation_removes_all_of_it(memory, pack):
    memory.remember("Ada pushes to main.", key="ada")
    before = everything(memory)
    done = memory.pack_install(pack(A, {**B, "content": "Ada never pushes to main."}, links=[LINK]))
    undone = memory.undo(done.operation)
    assert everything(memory) == before
    assert memory.pack_list() == []
    memory.undo(undone.id)
    assert [item.version for item in memory.pack_list()] == ["1"]
    assert memory.recall("tests", cue=Cue(language="go")).hits != ()


# Another version


@pytest.fixture
def first(memory, pack, clock):
    """Version 1 of a pack with three behaviours, installed a day ago."""
    requires = {**LINK, "source": "short"}
    memory.pack_install(pack(A, B, C, links=[LINK, requires]))
    clock.at += timedelta(days=1)
    return memory


NEW = {"key": "new", "content": "Format before a commit."}
CHANGED = {**A, "content": "Always run all the tests."}


def test_another_version_replaces_the_installed_one(first, pack, clock):
    overrides = {**LINK, "relation": "overrides", "weight": 0.4}
    done = first.pack_install(pack(CHANGED, B, NEW, links=[overrides], version="2"), trust="agent")
    assert done.metadata == {"added": 1, "changed": 1, "deprecated": 1}
    assert statuses(first) == {
        "go-style/tests": "active",
        "go-style/main": "active",
        "go-style/short": "deprecated",
        "go-style/new": "active",
    }
    assert [version.content for version in first.history("go-style/tests")] == [
        "Always run the tests.",
        "Always run all the tests.",
    ]
    assert [version.version for version in first.history("go-style/main")] == [1]
    for key in ("tests", "main", "new"):
        item = first.get(f"go-style/{key}")
        assert (item.source, item.trust) == ("pack:go-style@2", "agent")
    new = {
        (link.source, link.relation, link.target) for link in first.links() if "mentions" not in link.relation
    }
    assert new == {
        ("go-style/tests", "overrides", "go-style/main"),
        ("go-style/short", "requires", "go-style/main"),
    }
    (listed,) = first.pack_list()
    assert (listed.version, listed.behaviors, listed.links, listed.installed_at) == ("2", 3, 1, clock.at)
    assert first.validate() == []
    result = first.recall("all tests", cue=Cue(language="go")).hits
    assert result[0].memory.content == "Always run all the tests."


def test_the_names_in_a_replaced_text_are_linked_and_those_only_in_the_old_one_go(memory, pack):
    memory.pack_install(pack({**A, "content": "Run Kestrel first."}, {**B, "content": "Never push to main."}))
    before = everything(memory)
    changed = [{**A, "content": "Run Harrier first."}, {**B, "content": "Never push what Harrier built."}]
    done = memory.pack_install(pack(*changed, {**C, "content": "Ask Harrier."}, version="2"))
    mentions = {(link.source, link.target) for link in memory.links(relation="mentions")}
    assert mentions == {(f"go-style/{key}", "entity:harrier") for key in ("tests", "main", "short")}
    assert memory.validate() == []
    memory.undo(done.operation)
    assert everything(memory) == before


def test_undo_of_a_replacement_restores_the_exact_rows(first, pack):
    before, packs = everything(first), first.pack_list()
    texts = [first.history(f"go-style/{key}") for key in ("tests", "main", "short")]
    done = first.pack_install(pack(CHANGED, B, NEW, version="2"))
    first.undo(done.operation)
    assert everything(first) == before
    assert first.pack_list() == packs
    assert [first.history(f"go-style/{key}") for key in ("tests", "main", "short")] == texts


def test_learned_weights_and_manual_links_stay(first, pack):
    first.set_strength("go-style/tests", "go-style/main", 0.9)
    first.link("go-style/main", "go-style/short", "similar-to", 0.3)
    first.pack_install(pack(A, B, C, links=[LINK], version="2"))
    weights = {(link.relation, link.weight) for link in first.links() if link.relation != "mentions"}
    assert weights == {("requires", 0.9), ("similar-to", 0.3)}


def test_a_forgotten_behaviour_stays_out_and_a_dropped_one_can_be_restored(first, pack):
    first.deprecate("go-style/main")
    second = first.pack_install(pack(A, B, version="2"))
    assert second.metadata == {"left out as before": 1, "deprecated": 1}
    third = first.pack_install(pack(A, B, C, version="3"))
    assert third.metadata == {"brought back": 1, "left out as before": 1}
    assert statuses(first) == {
        "go-style/tests": "active",
        "go-style/main": "deprecated",
        "go-style/short": "active",
    }


@pytest.mark.parametrize("change", ["learn", "supersede"])
def test_a_rule_of_a_pack_that_the_user_changed_is_the_users(first, pack, change):
    if change == "learn":
        first.learn("Pushing to main is fine.")
    else:
        first.supersede("go-style/main", "Pushing to main is fine.")
    longer = {**C, "content": "Prefer functions of ten lines."}
    done = first.pack_install(pack(A, B, longer, links=[LINK], version="2"))
    assert done.metadata == {"kept as taught here": 1, "changed": 1}
    texts = {rule.key: rule.content for rule in first.list(kinds=["behavior"])}
    assert texts["go-style/main"] == "Pushing to main is fine."
    assert texts["go-style/short"] == "Prefer functions of ten lines."
    first.pack_remove("go-style")
    assert [rule.key for rule in first.list(kinds=["behavior"])] == ["go-style/main"]
    assert first.pack_install(pack(A, B, longer, version="3")).metadata["kept as taught here"] == 1


def test_a_rule_of_a_pack_that_the_user_also_taught_outlives_the_pack(memory, pack):
    memory.pack_install(pack(A, B), trust="user")
    assert memory.learn("Never push to main.").placement == "merge"
    memory.pack_remove("go-style")
    assert [rule.key for rule in memory.list(kinds=["behavior"])] == ["go-style/main"]


def test_a_key_that_another_memory_has_is_a_conflict(memory, pack):
    memory.remember("Mine.", key="go-style/main")
    message = "the keys 'go-style/main' are taken by memories outside the pack 'go-style'"
    refused(memory, Conflict, message, memory.pack_install, pack(A, B))


# List and remove


def test_packs_are_listed_by_name(memory, pack):
    assert memory.pack_list() == []
    memory.pack_install(pack(A, name="zebra"))
    memory.pack_install(pack(B, C, name="ant", version="1.0-rc1"))
    assert [(item.name, item.version, item.behaviors) for item in memory.pack_list()] == [
        ("ant", "1.0-rc1", 2),
        ("zebra", "1", 1),
    ]


def test_a_removed_pack_is_out_of_recall_until_it_is_installed_again(first, pack):
    before = everything(first)
    operation = first.pack_remove("go-style")
    assert (operation.kind, operation.source) == ("pack-remove", "pack:go-style@1")
    assert operation.message == "3 behaviours are out of recall: install it again to restore it"
    assert set(statuses(first).values()) == {"forgotten"}
    assert first.pack_list() == []
    assert first.recall("tests", cue=Cue(language="go")).hits == ()
    done = first.pack_install(pack(A, B, C))
    assert done.metadata == {"brought back": 3}
    first.undo(done.operation)
    first.undo(operation.id)
    assert everything(first) == before


def test_a_deprecated_behaviour_stays_so_after_removal_and_installation(first, pack):
    first.deprecate("go-style/main")
    first.pack_remove("go-style")
    first.pack_install(pack(A, B, C))
    assert statuses(first)["go-style/main"] == "deprecated"


def test_only_an_installed_pack_is_removed(first):
    refused(first, NotFound, "there is no pack 'rust'.*installed are go-style", first.pack_remove, "rust")
    first.pack_remove("go-style")
    refused(first, Conflict, "the pack 'go-style' is removed already", first.pack_remove, "go-style")
    refused(first, ParamError, "name = 7", first.pack_remove, 7)


def test_packs_of_one_namespace_are_not_those_of_another(open_memory, url, pack):
    ours, theirs = open_memory(url, namespace="ours"), open_memory(url, namespace="theirs")
    ours.pack_install(pack(A))
    assert theirs.pack_list() == []
    refused(theirs, NotFound, "there is no pack 'go-style' in 'theirs'", theirs.pack_remove, "go-style")
    assert theirs.pack_install(pack(A)).metadata == {"added": 1}


# Files that are none


@each_row(
    ("text", "message"),
    [
        ("", "must be JSON"),
        ("{", "must be JSON"),
        ("[" * 100_000, "is nested too deeply|must be JSON"),
        ("[]", 'must be a pack: a JSON object with "format": "priming-pack"'),
        ('{"format": "priming"}', "must be a pack"),
        (
            '{"format": "priming-pack"}',
            r"format_version = None: must be in \[1, 2\]; name = None: must be a text",
        ),
    ],
)
def test_a_file_that_is_no_pack_is_refused(memory, tmp_path, text, message):
    path = tmp_path / "p.json"
    path.write_text(text)
    refused(memory, ParamError, message, memory.pack_install, path)


def test_a_file_that_cannot_be_read_is_named(memory, tmp_path):
    refused(memory, ParamError, "cannot be read: No such file", memory.pack_install, tmp_path / "none")
    refused(memory, ParamError, "cannot be read: Is a directory", memory.pack_install, tmp_path)
    (tmp_path / "latin").write_bytes(b'{"format": "\xe9"}')
    refused(memory, ParamError, "must be UTF-8 text in JSON", memory.pack_install, tmp_path / "latin")
    refused(memory, ParamError, "path = ''", memory.pack_install, "")


def test_a_file_that_is_too_large_is_refused(memory, tmp_path):
    path = tmp_path / "p.json"
    path.write_text(" " * (STORE.pack_bytes + 1))
    refused(
        memory, ParamError, "must have at most 8,388,608 bytes: split the pack", memory.pack_install, path
    )


def test_a_pack_of_a_newer_format_is_refused_by_name(memory, pack):
    path = pack({"something": "new"}, format_version=3)
    refused(memory, SchemaTooNew, "is a pack of format 3, this Priming reads up to 2: install a newer Priming",
            memory.pack_install, path)  # fmt: skip


@each_row(
    ("behaviors", "links", "message"),
    [
        ([], [], "behaviors = []: must be a list of at least one behaviour"),
        (["x"], [], "behaviors[0]"),
        ([{**A, "key": None}], [], "behaviors[0].key = None: must be a text"),
        ([{**A, "key": "two\nlines"}], [], "behaviors[0].key"),
        ([{**A, "key": "x" * 510}], [], "behaviors[0].key"),
        ([A, A], [], "behaviors[1].key = 'tests': must differ from those before"),
        ([{**A, "content": " "}], [], "behaviors[0].content = ' ': must not be blank"),
        ([{**A, "when": ["go"]}], [], "behaviors[0].when = ['go']: must be a mapping"),
        ([A, {**B, "when": {"language": {"is": "go"}}}], [], "behaviors[1].when.language = {'is': 'go'}"),
        ([{**A, "when": {"language": []}}], [], "behaviors[0].when.language = []"),
        ([{**A, "tags": "go"}], [], "behaviors[0].tags = 'go': must be a list"),
        ([{**A, "rule": "law"}], [], "behaviors[0].rule = 'law': must be one of directive"),
        ([{**A, "importance": 2}], [], "behaviors[0].importance = 2: must be in [0, 1]"),
        ([{**A, "priority": 11}], [], "behaviors[0].priority = 11: must be in [0, 10]"),
        ([{**A, "priority": float("nan")}], [], "behaviors[0].priority = nan: must be in [0, 10]"),
        ([{**A, "confidence": True}], [], "behaviors[0].confidence = True: must be in [0, 1]"),
        ([{**A, "wen": {}}], [], "behaviors[0].wen = {}: is not a known field: key, content"),
        ([{**A, "session": "s"}], [], "behaviors[0].session = 's': is not a known field"),
        ([A, B], ["x"], "links[0]"),
        (
            [A, B],
            [{**LINK, "target": "none"}],
            "links[0].target = 'none': must be the key of a behaviour here",
        ),
        ([A, B], [{**LINK, "target": "tests"}], "links[0].target = 'tests': must differ from the source"),
        ([A, B], [LINK, LINK], "links[1].relation = 'requires': already links these two"),
        ([A, B], [{**LINK, "weight": 1.5}], "links[0].weight = 1.5: must be in [0, 1]"),
        ([A, B], [{**LINK, "weight": None}], "links[0].weight = None: must be in [0, 1]"),
        (
            [A, B],
            [{**LINK, "relation": "merged-into"}],
            "links[0].relation = 'merged-into': records what happened",
        ),
        (
            [A, B],
            [LINK, {**LINK, "source": "main", "target": "tests"}],
            "links.relation = 'requires': must not form a cycle: main → tests → main",
        ),
    ],
)
def test_a_violation_in_a_pack_is_named_with_its_place(memory, pack, behaviors, links, message):
    path = pack(*behaviors, links=links)
    assert message in refused(memory, ParamError, ".", memory.pack_install, path)


@each_row(
    ("more", "message"),
    [
        ({"name": "Go Style"}, "name = 'Go Style': must be lower-case"),
        ({"version": 1}, "version = 1: must be a text"),
        ({"description": None}, "description = None: must be a text"),
        ({"behaviors": {}}, "behaviors = {}: must be a list"),
        ({"links": None}, "links = None: must be a list"),
        ({"format_version": True}, "format_version = True: must be in [1, 2]"),
        ({"format_version": 0}, "format_version = 0: must be in [1, 2]"),
        ({"format_version": "2"}, "format_version = '2': must be in [1, 2]"),
        ({"author": "x"}, "author = 'x': is not a known field"),
        ({"relations": ["shields"]}, "relations = ['shields']: must map names of relations to 1 or -1"),
        ({"relations": {"shields": 0}}, "relations.shields = 0: must be 1, to bring activation, or -1"),
        ({"relations": {"shields": True}}, "relations.shields = True: must be 1"),
        ({"relations": {"requires": -1}}, "relations.requires = -1: must be 1: the relation is built in"),
        ({"relations": {"merged-into": 1}}, "relation = 'merged-into': records what happened"),
    ],
)
def test_a_violation_of_a_whole_pack_is_named(memory, pack, more, message):
    assert message in refused(memory, ParamError, ".", memory.pack_install, pack(A, **more))


def test_all_violations_are_reported_at_once(memory, pack):
    path = pack({**A, "importance": 2, "rule": "law"}, {**B, "content": ""}, links=[{**LINK, "weight": -1}])
    with pytest.raises(ParamError) as caught:
        memory.pack_install(path)
    assert [violation.split(" = ")[0] for violation in caught.value.violations] == [
        "behaviors[0].rule",
        "behaviors[0].importance",
        "behaviors[1].content",
        "links[0].weight",
    ]
    many = [{**A, "key": f"k{i}", "importance": 2} for i in range(80)]
    with pytest.raises(ParamError, match="… and 30 more"):
        memory.pack_install(pack(*many))


def test_a_bad_trust_is_named(memory, pack):
    refused(
        memory, ParamError, "trust = 'friend': must be one of", memory.pack_install, pack(A), trust="friend"
    )


def test_a_pack_survives_export_and_import(first, open_memory, url, tmp_path):
    first.export(tmp_path / "all.jsonl")
    other = open_memory(url)
    other.import_(tmp_path / "all.jsonl")
    assert other.pack_list() == first.pack_list()
