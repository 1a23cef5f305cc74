import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.rows import each_row

from priming import Conflict, FixedClock, HashedEmbedder, Memory, NotFound, ParamError
from priming.config.caller import Caller, calling
from priming.core.bitemporal import visible
from priming.serialization import encode_row
from priming.storage.questions import StoredNamespace
from priming.storage.rows import LinkRow, MemoryRow, RelationRow, VerdictRow, VersionRow, identity

NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
DAY = timedelta(days=1)


def contents(memory, cue):
    """What the words of a cue bring up, and what that leads to."""
    hits = memory.recall(cue, floor=0).hits
    return [hit.memory.content for hit in hits if hit.components.get("words") or hit.path]


def state(memory, folder):
    """The export without its operations: what the namespace holds."""
    memory.export(folder / "state.jsonl")
    return [line for line in (folder / "state.jsonl").read_text().splitlines() if '{"operation"' not in line]


# Supersede


def test_a_new_version_takes_the_place_of_the_old(memory, clock):
    first = memory.remember(
        "The office is in Oslo.", key="office", kind="fact", tags=["place"], speaker="Ada"
    )
    clock.at += DAY
    new = memory.supersede("office", "The office is in Bergen.")
    assert (new.content, new.version, new.id) == ("The office is in Bergen.", 2, first.id)
    assert (new.valid_from, new.recorded_at, new.valid_to) == (clock.at, clock.at, None)
    assert (new.kind, new.tags, new.speaker, new.key) == ("fact", ("place",), "Ada", "office")
    assert memory.get("office") == new
    assert memory.list() == [new]
    assert memory.log()[0].kind == "supersede"
    assert memory.validate() == []


def test_only_the_present_version_is_recalled(memory):
    memory.remember("The office is in Oslo.", key="place")
    memory.supersede("place", "The branch is in Bergen.")
    assert contents(memory, "the office in Oslo") == []
    assert contents(memory, "which branch, Bergen?") == ["The branch is in Bergen."]


def test_what_is_named_changes_with_the_version(memory):
    memory.remember("It is in Oslo.", key="office", importance=0.2, session="a", heading="Office")
    new = memory.supersede("office", "It is in Bergen.", importance=0.9, session=None, tags=["moved"])
    assert (new.importance, new.session, new.tags, new.heading) == (0.9, None, ("moved",), "Office")


def test_history_shows_each_version_once_with_the_time_that_it_held(memory, clock):
    start = clock.at
    memory.remember("It is in Oslo.", key="office")
    for i, place in enumerate(["Bergen", "Bodø"], 1):
        clock.at = start + i * DAY
        memory.supersede("office", f"It is in {place}.")
    first, second, third = memory.history("office")
    assert [item.version for item in (first, second, third)] == [1, 2, 3]
    assert [item.content for item in (first, second, third)] == [
        f"It is in {x}." for x in ("Oslo", "Bergen", "Bodø")
    ]
    assert (first.valid_from, first.valid_to) == (None, start + DAY)
    assert (second.valid_from, second.valid_to) == (start + DAY, start + 2 * DAY)
    assert (third.valid_from, third.valid_to) == (start + 2 * DAY, None)
    assert [item.recorded_at for item in (first, second, third)] == [start, start + DAY, start + 2 * DAY]
    assert [item.retired_at for item in (first, second, third)] == [start + DAY, start + 2 * DAY, None]


def test_a_memory_may_be_superseded_at_the_instant_that_it_was_remembered(memory):
    memory.remember("It is in Oslo.", key="office")
    for place in ("Bergen", "Bodø"):
        memory.supersede("office", f"It is in {place}.")
    assert [version.content for version in memory.history("office")] == [
        "It is in Oslo.",
        "It is in Bergen.",
        "It is in Bodø.",
    ]
    assert memory.get("office").content == "It is in Bodø."
    assert contents(memory, "Oslo Bergen Bodø") == ["It is in Bodø."]
    assert memory.validate() == []


@pytest.mark.parametrize("rest", ["open", "reopened"])
def test_a_version_of_the_future_waits_for_its_day(open_memory, url, clock, rest):
    memory = open_memory(url)
    memory.remember("The office is in Oslo.", key="office")
    memory.remember("A filler about the sea.")
    memory.recall("office")
    memory.supersede("office", "The office is in Bergen.", valid_from=clock.at + 7 * DAY)
    for days, place in ((0, "Oslo"), (6.999, "Oslo"), (7, "Bergen"), (400, "Bergen")):
        clock.at = NOW + days * DAY
        query = memory if rest == "open" else open_memory(url)
        assert contents(query, "where is the office") == [f"The office is in {place}."]
        assert query.get("office").content == f"The office is in {place}."
        assert query.list()[0].content == f"The office is in {place}."
    assert len(memory.history("office")) == 2


def test_two_versions_of_the_future_come_one_after_the_other(memory, clock):
    memory.remember("The office is in Oslo.", key="office")
    memory.supersede("office", "The office is in Bergen.", valid_from=NOW + DAY)
    memory.supersede("office", "The office is in Bodø.", valid_from=NOW + 2 * DAY)
    for days, place in ((0, "Oslo"), (1, "Bergen"), (2, "Bodø")):
        clock.at = NOW + days * DAY
        assert contents(memory, "where is the office") == [f"The office is in {place}."]


def test_a_boundary_may_lie_in_the_past_but_not_before_the_versions_own_start(memory, tmp_path):
    memory.remember("The office is in Oslo.", key="office")
    memory.supersede("office", "The office is in Bergen.", valid_from=NOW - 5 * DAY)
    before = state(memory, tmp_path), memory.log()
    with pytest.raises(ParamError, match=r"^valid_from = '2024-05-11.*: must be ≥ 2024-05-12.*the start"):
        memory.supersede("office", "The office is in Bodø.", valid_from=NOW - 6 * DAY)
    assert (state(memory, tmp_path), memory.log()) == before
    assert memory.supersede("office", "The office is in Bodø.", valid_from=NOW - 5 * DAY).version == 3


@pytest.mark.parametrize("days", [None, 0, 3])
def test_a_version_fits_in_before_a_planned_one_which_stays(open_memory, url, clock, days):
    memory = open_memory(url)
    memory.remember("The office is in Oslo.", key="office")
    memory.supersede("office", "The office is in Bergen.", valid_from=NOW + 7 * DAY)
    start = None if days is None else NOW + days * DAY
    done = memory.supersede("office", "The office is in Bodø.", valid_from=start)
    assert (done.version, done.valid_to) == (3, NOW + 7 * DAY)
    places = ["Oslo", "Bodø", "Bergen"]
    assert [version.content.split()[-1][:-1] for version in memory.history("office")] == places
    assert [version.retired_at for version in memory.history("office")] == [NOW, None, None]
    for at, place in ((days or 0, "Bodø"), (6.999, "Bodø"), (7, "Bergen"), (400, "Bergen")):
        clock.at = NOW + at * DAY
        assert contents(memory, "where is the office") == [f"The office is in {place}."]
        assert contents(open_memory(url), f"who is in {place}?") == [f"The office is in {place}."]
    earlier = memory.recall("where is the office", include_superseded=True)
    assert sorted(hit.memory.content.split()[-1][:-1] for hit in earlier.hits) == sorted(places)
    memory.supersede("office", "The office is in Kiruna.")
    assert memory.get("office").content == "The office is in Kiruna."
    assert memory.validate() == []


def test_the_present_and_the_planned_version_are_undone_one_after_the_other(memory):
    memory.remember("The office is in Oslo.", key="office")
    memory.supersede("office", "The office is in Bergen.", valid_from=NOW + 7 * DAY)
    planned, _ = (memory.log(limit=1)[0].id, memory.supersede("office", "The office is in Bodø."))
    with pytest.raises(Conflict, match="undo that first"):
        memory.undo(planned)
    memory.undo("last")
    assert [(version.version, version.valid_to) for version in memory.history("office")] == [
        (1, NOW + 7 * DAY),
        (2, None),
    ]
    memory.undo(planned)
    assert [(version.content, version.valid_to) for version in memory.history("office")] == [
        ("The office is in Oslo.", None)
    ]


@each_row(
    ("changes", "name"),
    [
        ({"content": " "}, "content"),
        ({"kind": "fact"}, "kind"),
        ({"valid_from": datetime(2024, 5, 17)}, "valid_from"),
        ({"valid_from": "tomorrow"}, "valid_from"),
        ({"importance": 2}, "importance"),
        ({"colour": "red"}, "item"),
    ],
)
def test_a_bad_supersede_changes_nothing(memory, tmp_path, changes, name):
    memory.remember("The office is in Oslo.", key="office")
    before = state(memory, tmp_path), memory.log()
    with pytest.raises(ParamError, match=f"^{name} = "):
        memory.supersede("office", **{"content": "The office is in Bergen.", **changes})
    assert (state(memory, tmp_path), memory.log()) == before


def test_only_what_is_there_and_active_is_superseded(memory):
    memory.remember("The office is in Oslo.", key="office")
    memory.forget("office")
    with pytest.raises(Conflict, match="is forgotten"):
        memory.supersede("office", "The office is in Bergen.")
    with pytest.raises(NotFound, match="there is no memory 'home'"):
        memory.supersede("home", "The home is in Bergen.")


def test_a_clock_that_steps_back_does_not_hinder_a_supersede(memory, clock):
    memory.remember("The office is in Oslo.", key="office")
    clock.at -= timedelta(hours=5)
    for place in ("Bergen", "Bodø"):
        memory.supersede("office", f"The office is in {place}.")
        assert contents(memory, "where is the office") == [f"The office is in {place}."]
        assert memory.as_of("office").content == f"The office is in {place}."
    clock.at += timedelta(hours=5)
    assert memory.get("office").content == "The office is in Bodø."
    assert len(memory.history("office")) == 3


def test_before_the_start_of_a_version_that_the_clock_has_left_again_the_one_before_it_holds(memory, clock):
    memory.remember("The office is in Oslo.", key="office")
    memory.supersede("office", "The office is in Bergen.")
    clock.at -= timedelta(hours=5)
    memory.supersede("office", "The office is in Bodø.")
    assert memory.get("office").content == "The office is in Oslo."
    clock.at += timedelta(hours=5)
    assert memory.get("office").content == "The office is in Bodø."


@settings(max_examples=settings.default.max_examples // 4)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(-4, 6))), min_size=1, max_size=6)
)
def test_at_every_pair_of_times_one_version_is_visible_and_stays_so(embedder, steps):
    clock = FixedClock(NOW)
    hours = [NOW + timedelta(hours=h) for h in range(-6, 26)]
    seen = {}
    with Memory.open("sqlite://", embedder=embedder, clock=clock) as memory:
        memory.remember("Version 1", key="x")
        for wait, boundary in [(0, None), *steps]:
            clock.at += timedelta(hours=wait)
            at = None if boundary is None else clock.at + timedelta(hours=boundary)
            try:
                new = memory.supersede("x", f"Version at {clock.at} from {at}", valid_from=at)
            except ParamError:
                continue
            rows = memory.store.rows("default", VersionRow, ids=[new.id])
            live = [row for row in rows if row.retired_at is None]
            assert sum(row.valid_to is None for row in live) == 1  # the last has no end: none leaves a gap
            assert {row.valid_to for row in live} - {None} == {row.valid_from for row in live} - {None}
            for familiar in (hour for hour in hours if hour < clock.at):
                for valid in hours:
                    result = [row for row in rows if visible(row, valid_at=valid, known_at=familiar)]
                    assert len(result) <= 1
                    message = [item.content for item in result]
                    assert seen.setdefault((valid, familiar), message) == message


# Forget


def test_a_forgotten_memory_is_out_of_recall_and_lists_but_can_be_read(memory):
    memory.remember("The office is in Oslo.", key="office", session="s")
    memory.remember("It has a garden.", key="garden", session="s")
    operation = memory.forget("office")
    assert operation.kind == "forget"
    assert contents(memory, "the office in Oslo") == []
    assert contents(memory, "garden") == ["It has a garden."]
    assert [record.key for record in memory.list()] == ["garden"]
    assert [record.key for record in memory.list(status="forgotten")] == ["office"]
    assert memory.get("office").status == "forgotten"
    assert memory.stats().memories["episode"] == {"active": 1, "forgotten": 1}


def test_what_is_forgotten_cannot_be_forgotten_again(memory):
    memory.remember("The office is in Oslo.", key="office")
    memory.forget("office")
    with pytest.raises(Conflict, match="forgotten already: restore makes it active again"):
        memory.forget("office")
    with pytest.raises(NotFound):
        memory.forget("home")


def test_a_forgotten_name_leads_nowhere(memory):
    memory.remember("There Zed painted walls.")
    memory.remember("Then Zed slept.")

    def arrived():
        (hit,) = (
            hit for hit in memory.recall("paint", floor=0).hits if hit.memory.content == "Then Zed slept."
        )
        return hit.components.get("arrival", 0.0)

    assert arrived() > 0.1
    memory.forget("entity:zed")
    assert arrived() < 0.001


# Purge


SECRET = ("zanzibar", "quetzal", "tamarind", "oxidation", "marzipan", "nightjar", "xenolith", "periwinkle")


def everything(folder):
    """The bytes of every file, in small letters."""
    return {path.name: path.read_bytes().lower() for path in folder.rglob("*") if path.is_file()}


def test_a_purge_leaves_no_word_anywhere(open_memory, url, tmp_path):
    memory = open_memory(url)
    memory.remember_many(
        {"content": f"filler note {i} about the wide sea", "occurred_at": NOW} for i in range(300)
    )
    memory.remember(
        f"{SECRET[0]} and {SECRET[1].title()} met. {'They spoke. ' * 20} {SECRET[2]}",
        key=SECRET[3],
        heading=SECRET[4].title(),
        tags=[SECRET[5]],
        metadata={SECRET[6]: 1},
        session=SECRET[7],
    )
    memory.recall(f"sea and {SECRET[0]}")
    memory.link(SECRET[3], memory.list(limit=1)[0].key, "requires")
    memory.feedback(not_useful=[SECRET[3]], reason=f"{SECRET[3]} is no help")
    memory.supersede(SECRET[3], f"{SECRET[0]} of old")
    memory.undo(memory.forget(SECRET[3]).id)
    memory.close()
    holder = everything(tmp_path)
    assert any(name.endswith(".snapshot") for name in holder)
    assert all(any(word.encode() in data for data in holder.values()) for word in SECRET)
    memory = open_memory(url)
    memory.recall(f"{SECRET[0]} of old")
    receipt = memory.purge(SECRET[3])
    memory.recall("the wide sea")
    memory.export(tmp_path / "export.jsonl")
    for _ in range(2):
        holder = everything(tmp_path)
        assert [
            (word, name) for word in SECRET for name, data in holder.items() if word.encode() in data
        ] == []
        memory.close()
    assert receipt.key == SECRET[3]
    assert receipt.erased["versions"] == 3 + 2 + len({"session"})
    memory = open_memory(url)
    assert memory.validate() == []
    assert len(memory.list(limit=1000)) == 300
    assert "entity" not in memory.stats().memories


def test_a_purge_says_what_it_erased_and_stands_in_the_log(memory):
    answer = memory.remember("Then Zed painted.", session="s")
    receipt = memory.purge(answer.key)
    assert receipt.key == answer.key
    assert receipt.erased["memories"] == 3
    assert receipt.erased["links"] == 2
    purged, remembered = memory.log()
    assert (purged.kind, purged.id) == ("purge", receipt.operation)
    assert answer.id in {change.key for change in purged.changes}
    assert remembered.changes == ()
    for gone in (answer.key, answer.id, "entity:zed", "session:s"):
        with pytest.raises(NotFound):
            memory.get(gone)


def test_names_and_sessions_that_others_share_stay(memory):
    memory.remember("Then Zed painted Oslo.", key="a", session="s")
    memory.remember("Here Zed slept.", key="b", session="s")
    memory.purge("a")
    assert {record.key for record in memory.list(kinds=["entity"])} == {"entity:zed", "session:s"}
    assert [(x.source, x.relation, x.target) for x in memory.links("b")] == [
        ("b", "mentions", "entity:zed"),
        ("b", "part-of", "session:s"),
    ]


def test_an_entity_told_by_hand_is_not_taken_along(memory):
    memory.remember("The painter of walls.", heading="Zed", kind="entity", key="zed")
    memory.remember("Then Zed painted.", key="a")
    memory.purge("a")
    assert memory.get("zed").content == "The painter of walls."


def test_what_an_undo_removed_can_still_be_purged_by_its_id(open_memory, url, tmp_path):
    memory = open_memory(url)
    memory.remember("the wide sea")
    answer = memory.remember("zanzibar and Quetzal met", session="marzipan")
    memory.undo(answer.operation)
    with pytest.raises(NotFound):
        memory.purge("zanzibar-and-quetzal-met")
    memory.purge(answer.id)
    memory.close()
    holder = everything(tmp_path)
    assert not [
        name
        for name, data in holder.items()
        if b"zanzibar" in data or b"quetzal" in data or b"marzipan" in data
    ]


def test_a_snapshot_of_another_process_does_not_bring_a_purged_word_back(open_memory, url, tmp_path):
    ours, theirs = open_memory(url), open_memory(url)
    ours.remember_many({"content": f"filler note {i} about the wide sea"} for i in range(60))
    ours.remember("zanzibar", key="secret")
    theirs.recall("sea")
    ours.recall("sea")
    ours.purge("secret")
    theirs.close()
    ours.close()
    assert not [name for name, data in everything(tmp_path).items() if b"zanzibar" in data]


# Undo


def remember(memory):
    return memory.remember("Then Zed painted walls in Oslo.", session="s", heading="Walls")


def change_a_link(memory):
    memory.link("a", "b", "requires", 0.9)


def import_more(memory, tmp_path, open_memory):
    other = open_memory()
    memory.export(tmp_path / "base.jsonl")
    other.import_(tmp_path / "base.jsonl")
    other.remember("Then Zed flew to Mars.", session="s")
    other.export(tmp_path / "more.jsonl")
    memory.import_(tmp_path / "more.jsonl")


DEEDS = {
    "remember": remember,
    "remember a rare word": lambda memory: memory.remember("their xylophone"),
    "remember many": lambda memory: memory.remember_many(
        [{"content": f"Zed saw {x}.", "session": "t", "when": {"language": x}} for x in ("go", "ada", "rust")]
    ),
    "link": lambda memory: memory.link("a", "b", "overrides"),
    "set the weight of a link": change_a_link,
    "link by hand what was linked by rule": lambda memory: memory.link("a", "b", "next", 0.8),
    "set strength": lambda memory: memory.set_strength("a", "b", 0.2),
    "supersede": lambda memory: memory.supersede("a", "We paint windows.", tags=["x"]),
    "supersede in the future": lambda memory: memory.supersede(
        "a", "We paint windows.", valid_from=NOW + DAY
    ),
    "supersede again": lambda memory: memory.supersede("c", "We never paint."),
    "forget": lambda memory: memory.forget("a"),
    "forget a name": lambda memory: memory.forget("entity:zed"),
    "undo": lambda memory: memory.undo(memory.log()[0].id),
    "import": import_more,
}


@pytest.fixture(scope="module")
def life(open_shared):
    """A memory with some history in it."""
    memory = open_shared()
    memory.remember_many([{"content": f"filler note {i}"} for i in range(10)])
    for key, text in (("a", "We paint walls."), ("b", "There Zed slept."), ("c", "We often paint.")):
        memory.remember(text, key=key, session="s")
    memory.remember("a xylophone")
    memory.link("a", "b", "requires", 0.3)
    memory.supersede("c", "We seldom paint.")
    memory.forget(memory.remember("We sing.", session="s").key)
    return memory


@pytest.fixture
def lived(life, copy_of):
    return copy_of(life)


@pytest.mark.parametrize("deed", DEEDS)
def test_an_undo_restores_exactly_what_was_there(lived, deed, tmp_path, open_memory):
    before, cues = state(lived, tmp_path), ("who paints walls", "Zed", "xylophone")
    answers = [contents(lived, cue) for cue in cues]
    more = (tmp_path, open_memory) if deed == "import" else ()
    DEEDS[deed](lived, *more)
    (done, *_) = lived.log()
    after, new_answers = state(lived, tmp_path), [contents(lived, cue) for cue in cues]
    assert after != before
    undone = lived.undo(done.id)
    assert undone.kind == "undo"
    assert undone.message == f"undid a {done.kind}" or undone.message == f"undid an {done.kind}"
    assert state(lived, tmp_path) == before
    assert [contents(lived, cue) for cue in cues] == answers
    assert lived.log()[1].undone_by == undone.id
    lived.undo(undone.id)
    assert sorted(state(lived, tmp_path)) == sorted(after)
    assert [contents(lived, cue) for cue in cues] == new_answers
    assert lived.validate() == []


def test_an_operation_is_undone_once(memory):
    operation = memory.remember("We paint walls.").operation
    undone = memory.undo(operation)
    with pytest.raises(Conflict, match=f"is undone already, by {undone.id}"):
        memory.undo(operation)


def test_undo_and_redo_may_alternate(memory, tmp_path):
    operation = memory.remember("Then Zed painted.", session="s").operation
    whole = state(memory, tmp_path)
    for _ in range(3):
        operation = memory.undo(operation).id
        assert memory.list() == memory.links() == []
        operation = memory.undo(operation).id
        assert state(memory, tmp_path) == whole


def test_what_was_redone_counts_as_done_and_can_be_undone_again(memory):
    done = memory.remember("Then Zed painted.", session="s").operation
    marks = []
    for _ in range(3):
        undone = memory.undo(done)
        marks.append((undone.id, memory.log()[-1].undone_by))
        redone = memory.undo(undone.id)
        assert memory.log()[-1].undone_by is None
        assert memory.log()[1].undone_by == redone.id
    assert [by for by, _ in marks] == [by for _, by in marks]
    # Taking the last redo back brings the undo before it back.
    memory.undo(redone.id)
    assert memory.log()[-1].undone_by == undone.id
    assert memory.list() == []


def test_an_undo_stands_again_when_a_later_one_of_the_same_operation_is_taken_back(memory):
    memory.remember("We paint walls.", key="a")
    memory.remember("We sing.", key="b")
    memory.link("a", "b", "requires", 0.3)
    (done, *_) = memory.log()
    first = memory.undo(done.id)
    redone = memory.undo(first.id)
    second = memory.undo(done.id)
    memory.undo(second.id)
    assert memory.undo(redone.id).kind == "undo"
    assert StoredNamespace(memory.store, "default").operation_of(done.id).undone_by == first.id
    assert memory.links() == []


def test_there_is_no_undo_of_what_was_not_done(memory):
    memory.remember("We paint walls.")
    with pytest.raises(NotFound, match="there is no operation 'x'"):
        memory.undo("x")


def test_a_purge_is_not_undone(memory):
    memory.remember("We paint walls.", key="a")
    with pytest.raises(Conflict, match="is a purge: what it erased is gone"):
        memory.undo(memory.purge("a").operation)


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (lambda m: m.remember("We paint.", key="x").operation, lambda m: m.supersede("x", "We sing.")),
        (lambda m: m.supersede("a", "We sing.") and m.log()[0].id, lambda m: m.supersede("a", "We fly.")),
        (
            lambda m: m.link("a", "b", "requires", 0.8) and m.log()[0].id,
            lambda m: m.set_strength("a", "b", 0.2),
        ),
        (lambda m: m.set_strength("a", "b", 0.7).id, lambda m: m.link("a", "b", "requires", 0.8)),
    ],
)
def test_an_undo_that_a_later_operation_forbids_names_it(lived, tmp_path, first, later):
    operation = first(lived)
    later(lived)
    (stands, *_) = lived.log()
    before = state(lived, tmp_path)
    with pytest.raises(
        Conflict, match=f"operation {stands.id} \\({stands.kind}\\) changed the same memory since"
    ):
        lived.undo(operation)
    assert state(lived, tmp_path) == before
    lived.undo(lived.undo(stands.id).id)
    with pytest.raises(Conflict, match=f"operation {stands.id} \\({stands.kind}\\)"):
        lived.undo(operation)
    lived.undo(stands.id)
    assert lived.undo(operation).kind == "undo"


def test_a_redo_that_a_later_memory_forbids_names_it(memory):
    first = memory.remember("We paint walls.", key="x")
    undone = memory.undo(first.operation)
    second = memory.remember("We sing.", key="x")
    with pytest.raises(Conflict, match=f"operation {second.operation} \\(remember\\)"):
        memory.undo(undone.id)
    memory.undo(second.operation)
    memory.undo(undone.id)
    assert memory.get("x").content == "We paint walls."


def test_a_name_that_a_later_memory_mentions_outlives_the_operation_that_made_it(memory):
    first = memory.remember("Then Zed painted Oslo.", session="s")
    second = memory.remember("Here Zed slept.", session="s")
    memory.undo(first.operation)
    assert {record.key for record in memory.list(kinds=["entity"])} == {"entity:zed", "session:s"}
    assert {(x.source, x.target) for x in memory.links()} == {
        (second.key, "entity:zed"),
        (second.key, "session:s"),
    }
    assert memory.validate() == []


def test_undoing_a_memory_takes_the_links_that_were_made_to_it_since(memory):
    first = memory.remember("We paint walls.", session="s")
    second = memory.remember("We sing.", session="s")
    memory.link(second.key, first.key, "requires")
    memory.undo(first.operation)
    assert [(x.source, x.relation) for x in memory.links()] == [(second.key, "part-of")]
    assert memory.validate() == []


def test_an_undone_batch_keeps_what_was_purged_away(memory):
    answers = memory.remember_many([{"content": "We paint."}, {"content": "We sing."}])
    memory.purge(answers[0].key)
    memory.undo(answers[0].operation)
    assert memory.list() == []
    assert memory.validate() == []


def test_what_changed_nothing_cannot_be_taken_back(memory):
    memory.remember("We paint walls.", key="a")
    memory.remember("We sing.", key="b")
    memory.link("a", "b", weight=0.5)
    with pytest.raises(Conflict, match="changed nothing"):
        memory.undo(memory.set_strength("a", "b", 0.5).id)


def test_a_link_that_is_gone_already_cannot_be_taken_back(memory):
    memory.remember("We paint walls.", key="a")
    second = memory.remember("We sing.", key="b")
    memory.link("a", "b")
    (linked, *_) = memory.log()
    memory.undo(second.operation)
    count = memory.stats().operations
    with pytest.raises(Conflict):
        memory.undo(linked.id)
    assert memory.stats().operations == count


# The log


def test_the_log_is_newest_first_and_can_be_narrowed(memory, clock):
    memory.remember("We paint walls.", key="a", session="s")
    clock.at += DAY
    memory.remember("We sing.", key="b")
    memory.link("a", "b")
    memory.forget("b")
    assert [entry.kind for entry in memory.log()] == ["forget", "link", "remember", "remember"]
    assert [entry.kind for entry in memory.log(key="a")] == ["link", "remember"]
    assert [entry.kind for entry in memory.log(since=clock.at)] == ["forget", "link", "remember"]
    assert [entry.kind for entry in memory.log(limit=1)] == ["forget"]
    (forgotten, linked, *_) = memory.log()
    (change,) = forgotten.changes
    assert (change.table, change.key) == ("memories", "b")
    assert (change.before["status"], change.after["status"]) == ("active", "forgotten")
    assert linked.changes[0].key == "a similar-to b"
    assert linked.changes[0].before is None
    assert forgotten.at == clock.at
    assert forgotten.actor == "user"


def test_the_log_tells_the_source_and_is_narrowed_by_it_and_by_time(memory, clock):
    memory.remember("We paint walls.", key="a")
    memory.remember("We sing.", key="b")
    memory.link("a", "b")
    memory.link_many([{"source": "b", "target": "a", "relation": "requires"}])
    clock.at += DAY
    memory.set_strength("a", "b", 0.7)
    clock.at += DAY
    memory.undo(memory.log(limit=1)[0].id)
    assert [(entry.kind, entry.source) for entry in memory.log(limit=4)] == [
        ("undo", None),
        ("set-strength", "manual"),
        ("link", None),
        ("link", "manual"),
    ]
    assert [entry.kind for entry in memory.log(source="manual")] == ["set-strength", "link"]
    assert memory.log(source="automatic") == memory.log(source="conscious") == []
    assert [entry.kind for entry in memory.log(since=NOW + DAY, until=NOW + 2 * DAY)] == ["set-strength"]
    assert len(memory.log(until=NOW + DAY)) == 4
    assert memory.log(until=NOW) == []
    assert [entry.kind for entry in memory.log(key="b", source="manual", limit=1)] == ["set-strength"]


def test_bad_arguments_of_the_log_are_named(memory):
    with pytest.raises(ParamError, match="since"):
        memory.log(since=datetime(2024, 5, 17))
    for limit in (0, -1, "many", True):
        with pytest.raises(ParamError, match="limit"):
            memory.log(limit=limit)
    with pytest.raises(NotFound):
        memory.log(key="nothing")


# A life at random

LOOKED_AT = 10
"""After so many steps, and at the end, a life is checked from its first operation on."""


class Life(RuleBasedStateMachine):
    """Whatever is done: weights stay in range, the log tells how the rows came about, undo restores them."""

    embedder = HashedEmbedder(256)

    @initialize()
    def open(self):
        self.clock = FixedClock(NOW)
        self.memory = Memory.open("sqlite://", embedder=self.embedder, clock=self.clock)
        self.before, self.steps = {}, 0

    def teardown(self):
        if hasattr(self, "memory"):
            try:
                self.check()
            finally:
                self.memory.close()

    def rows(self):
        store = self.memory.store
        memories = store.rows("default", MemoryRow)
        every = [*memories, *store.rows("default", LinkRow), *store.rows("default", VerdictRow)]
        every += store.rows("default", RelationRow)
        every += [
            version for memory in memories for version in store.rows("default", VersionRow, ids=[memory.id])
        ]
        return {identity(row): encode_row(row) for row in every}

    def do(self, verb, *args, **more):
        before, head = self.rows(), self.memory.stats().operations
        try:
            verb(*args, **more)
        except (Conflict, NotFound, ParamError):
            assert self.rows() == before
            assert self.memory.stats().operations == head
            return
        if self.memory.stats().operations > head:
            self.before[self.memory.log(limit=1)[0].id] = before

    def key(self, which):
        keys = [
            record.key for record in self.memory.list(kinds=["episode", "entity"], status=None, limit=1000)
        ]
        return keys[which % len(keys)] if keys else "nothing"

    texts = st.sampled_from(
        ["Then Zed painted.", "Oslo is far.", "Zed saw Oslo.", "we sing", "We sing in s.py"]
    )
    numbers = st.integers(0, 50)

    @rule(text=texts, session=st.sampled_from([None, "s", "t"]))
    def remember(self, text, session):
        self.do(self.memory.remember, text, session=session)

    @rule(a=numbers, b=numbers, weight=st.floats(0, 1), relation=st.sampled_from(["near", "mentions"]))
    def link(self, a, b, weight, relation):
        self.do(self.memory.link, self.key(a), self.key(b), relation, weight)

    @rule(a=numbers, b=numbers, relation=st.sampled_from(["near", "opposes"]), sign=st.sampled_from([-1, 1]))
    def sign(self, a, b, relation, sign):
        self.do(self.memory.link, self.key(a), self.key(b), relation, sign=sign)

    @rule(a=numbers, b=numbers, weight=st.floats(0, 1))
    def set_strength(self, a, b, weight):
        self.do(self.memory.set_strength, self.key(a), self.key(b), weight)

    @rule(a=numbers, text=texts, hours=st.sampled_from([None, -1, 0, 3]))
    def supersede(self, a, text, hours):
        at = None if hours is None else self.clock.at + timedelta(hours=hours)
        self.do(self.memory.supersede, self.key(a), text, valid_from=at)

    @rule(a=numbers)
    def forget(self, a):
        self.do(self.memory.forget, self.key(a))

    @rule(a=numbers)
    def undo(self, a):
        log = self.memory.log(limit=1000)
        if log:
            self.do(self.memory.undo, log[a % len(log)].id)

    @rule()
    def undo_and_redo_the_latest(self):
        log = self.memory.log(limit=1)
        if log and log[0].changes:
            present = self.rows()
            undone = self.memory.undo(log[0].id)
            assert self.rows() == self.before[log[0].id]
            self.do(self.memory.undo, undone.id)
            assert self.rows() == present

    @rule(hours=st.integers(0, 4))
    def wait(self, hours):
        self.clock.at += timedelta(hours=hours)

    @rule()
    def recall(self):
        before = self.rows()
        self.memory.recall("did Zed paint in Oslo")
        assert self.rows() == before

    @invariant()
    def look(self):
        if hasattr(self, "memory"):
            self.steps += 1
            if self.steps % LOOKED_AT == 0:
                self.check()

    def check(self):
        """Weights are in range, the log tells how the rows came about, and nothing is found wrong."""
        assert all(0 <= link.weight <= 1 for link in self.memory.links())
        rows = {}
        for operation in reversed(self.memory.store.operations("default")):
            for change in operation.rows:
                name = identity(change.row)
                assert rows.get(name) == (change.before and encode_row(change.before))
                rows[name] = change.after and encode_row(change.after)
        assert {name: row for name, row in rows.items() if row} == self.rows()
        assert self.memory.validate() == []


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=1 + settings.default.max_examples // 15, stateful_step_count=25)


def test_an_operation_shows_its_rows_as_json(memory):
    memory.remember("We paint walls.", when={"language": ["go"]}, metadata={"a": [1]})
    (operation,) = memory.log()
    assert json.loads(json.dumps([dict(change.after) for change in operation.changes]))


# Who, by what, and why


def test_every_operation_says_who_by_what_and_why(memory):
    memory.remember("Gulls nest in Oslo.", key="gulls")
    memory.remember("Terns nest.", key="terns")
    memory.link("gulls", "terns")
    memory.set_strength("gulls", "terns", 0.7)
    memory.supersede("gulls", "Gulls nest upon cliffs in Oslo.")
    memory.feedback(used=["gulls"])
    memory.undo(memory.forget("terns").id)
    memory.learn("Count the gulls.")
    run = memory.run_start("s")
    memory.run_end(run.id, used=True)
    operations = memory.log()
    assert {(operation.actor, operation.via) for operation in operations} == {("user", "library")}
    assert [operation.kind for operation in operations if not operation.reason] == []
    assert [
        event
        for event in memory.events()
        if not (event.actor and event.via and event.source and event.reason)
    ] == []
    assert {event.source for event in memory.events()} == {"linker", "manual", "conscious"}


def test_a_callers_operations_are_logged_under_its_name_and_session(memory):
    with calling(Caller("codex", "hook prompt", "s1")):
        memory.learn("Count the gulls.")
    memory.remember("Gulls nest.")
    assert [(entry.actor, entry.via, entry.session) for entry in memory.log()] == [
        ("user", "library", None),
        ("codex", "hook prompt", "s1"),
    ]


def test_who_and_by_what_survive_an_export(memory, open_memory, tmp_path):
    with calling(Caller("codex", "mcp remember", "s1")):
        memory.remember("Gulls nest.")
    memory.export(tmp_path / "all.jsonl")
    other = open_memory("sqlite://")
    other.import_(tmp_path / "all.jsonl")
    assert ("codex", "mcp remember", "s1") in [
        (entry.actor, entry.via, entry.session) for entry in other.log()
    ]


def test_what_is_changed_by_hand_may_have_a_reason(memory):
    memory.remember("The ferry leaves at nine.", key="ferry")
    memory.remember("The harbour freezes in March.", key="ice")
    memory.link("ferry", "ice", reason="the skipper says so")
    memory.set_strength("ferry", "ice", 0.8, reason="twice this winter")
    memory.forget("ice", reason="it no longer freezes")
    assert [operation.reason for operation in memory.log(limit=3)] == [
        "it no longer freezes",
        "twice this winter",
        "the skipper says so",
    ]
    memory.restore("ice")
    memory.forget("ice")
    assert memory.log()[0].reason == "it was taken out of recall by hand"
    with pytest.raises(ParamError, match="reason"):
        memory.forget("ferry", reason="two\nlines")


def test_a_text_that_a_memory_has_makes_no_version(memory):
    memory.remember("The rent is 1,200.", key="rent")
    memory.supersede("rent", "The rent is 1,300.")
    before = memory.log()
    assert memory.supersede("rent", "The rent is 1,300.").version == 2
    assert memory.log() == before
    assert memory.supersede("rent", "The rent is 1,300.", tags=["home"]).version == 3
