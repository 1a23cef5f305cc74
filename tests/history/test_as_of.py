"""Questions about other times: what was known, what was true, and what is superseded."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.rows import each_row

from priming import Conflict, FixedClock, HashedEmbedder, Memory, NotFound, ParamError

DAY = timedelta(days=1)
MEETING = "We meet on Tuesdays at ten in the long room."
MOVED = "We meet on Wednesdays at nine in the long room."


def keys(result):
    return [hit.memory.key for hit in result.hits]


def texts(result):
    return [hit.memory.content for hit in result.hits]


@pytest.fixture
def moved(memory, clock):
    """A memory that was corrected five days after it was made, as of two days before."""
    memory.remember(MEETING, key="meeting")
    clock.at += 5 * DAY
    memory.supersede("meeting", MOVED, valid_from=clock.at - 2 * DAY)
    clock.at += 5 * DAY
    return memory


def test_what_was_not_remembered_yet_does_not_come_up(memory, clock):
    memory.remember("Gulls nest on cliffs.", key="gulls")
    then = clock.at
    clock.at += DAY
    memory.remember("Terns nest on cliffs.", key="terns")
    assert keys(memory.recall("what nests on cliffs?", known_at=then)) == ["gulls"]
    assert set(keys(memory.recall("what nests on cliffs?", known_at=clock.at))) == {"gulls", "terns"}


def test_what_is_forgotten_came_up_before(memory, clock):
    memory.remember("Gulls nest on cliffs.", key="gulls")
    then = clock.at
    clock.at += DAY
    memory.forget("gulls")
    assert keys(memory.recall("gulls", known_at=then)) == ["gulls"]
    assert memory.recall("gulls").hits == ()


def test_what_an_undo_removed_came_up_before_with_its_vector(memory, clock):
    memory.remember("Gulls nest on cliffs.", key="gulls")
    then, before = clock.at, memory.recall("gulls")
    clock.at += DAY
    memory.undo(memory.log()[0].id)
    again = memory.recall("gulls", known_at=then)
    assert again.hits == before.hits
    assert again.degraded == ()


def test_a_version_that_was_undone_keeps_its_meaning_where_its_number_was_given_again(memory, clock):
    memory.remember("Gulls nest on cliffs.", key="birds")
    clock.at += DAY
    memory.supersede("birds", "Terns nest on beaches.")
    then, before = clock.at, memory.recall("terns on beaches")
    clock.at += DAY
    memory.undo(memory.log()[0].id)
    memory.supersede("birds", "Puffins dig burrows.")
    again = memory.recall("terns on beaches", known_at=then)
    assert again.hits == before.hits
    assert again.hits[0].components["meaning"] > 0


def test_before_anything_was_remembered_nothing_is(memory, clock):
    memory.remember("Gulls nest on cliffs.", key="gulls")
    recall = memory.recall("gulls", known_at=clock.at - DAY)
    assert recall.hits == ()
    assert recall.reason == "nothing was remembered at that time"


def test_the_future_knows_what_is_known_now(memory, clock):
    memory.remember("Gulls nest on cliffs.", key="gulls")
    assert keys(memory.recall("gulls", known_at=clock.at + 400 * DAY)) == ["gulls"]
    far = datetime.max.replace(tzinfo=UTC)
    assert keys(memory.recall("gulls", known_at=far, valid_at=far)) == ["gulls"]


def test_what_was_written_at_the_very_instant_was_known(memory, clock):
    memory.remember("Gulls nest on cliffs.", key="gulls")
    assert keys(memory.recall("gulls", known_at=clock.at)) == ["gulls"]
    assert keys(memory.recall("gulls", known_at=clock.at - timedelta(microseconds=1))) == []


def test_where_the_clock_was_set_back_the_last_operation_dated_so_counts(memory, clock):
    start = clock.at
    clock.at = start + 10 * DAY
    memory.remember("Gulls nest on cliffs.", key="gulls")
    clock.at = start + 5 * DAY
    memory.remember("Terns nest on cliffs.", key="terns")
    then = memory.recall("cliffs")
    clock.at = start + 20 * DAY
    memory.forget("terns")
    assert memory.recall("cliffs", known_at=start + 5 * DAY).hits == then.hits
    assert len(then.hits) == 2


def test_where_the_clock_was_set_back_all_that_is_known_is_asked_what_is_true_at_a_time(memory, clock):
    memory.remember("Gulls nest on cliffs.", key="gulls")
    memory.supersede("gulls", "Gulls nest on roofs.", valid_from=clock.at - DAY)
    clock.at -= 5 * DAY
    for days, text in ((0, "cliffs"), (4, "roofs"), (9, "roofs")):
        valid = clock.at + days * DAY
        assert texts(memory.recall("gulls", valid_at=valid)) == [f"Gulls nest on {text}."]
        assert memory.as_of("gulls", valid_at=valid).content == f"Gulls nest on {text}."
    assert [hit.superseded_by for hit in memory.recall("gulls", include_superseded=True).hits] == [None]
    with pytest.raises(NotFound, match="was known"):
        memory.as_of("gulls", known_at=clock.at)


def test_memories_that_went_and_came_back_stand_where_they_stood(memory, clock):
    for name in ("x", "y", "z"):
        memory.remember("The very same words.", key=name, session=name)
        clock.at += DAY
    ties = {"ablate": ["spread", "outdated"]}
    then = memory.recall("the very same words", **ties)
    assert keys(then) == ["x", "y", "z"]
    clock.at += DAY
    undone = memory.undo(memory.log()[-1].id)
    clock.at += DAY
    memory.undo(undone.id)
    assert keys(memory.recall("the very same words", **ties)) == ["y", "z", "x"]
    clock.at += DAY
    before = memory.recall("the very same words", known_at=clock.at - 3 * DAY, **ties)
    assert keys(before) == ["x", "y", "z"]


@pytest.mark.parametrize(("days", "text"), [(1, MEETING), (4, MEETING), (6, MOVED)])
def test_what_was_known_to_be_true_then(moved, clock, days, text):
    """It was corrected on day 5, as of day 3."""
    start = clock.at - 10 * DAY
    assert texts(moved.recall("when do we meet?", known_at=start + days * DAY)) == [text]
    assert moved.as_of("meeting", known_at=start + days * DAY).content == text


@pytest.mark.parametrize(
    ("valid", "seen", "text"),
    [(2, 10, MEETING), (3, 10, MOVED), (4, 10, MOVED), (4, 4, MEETING), (9, 4, MEETING)],
)
def test_what_was_true_at_one_time_as_known_at_another(moved, clock, valid, seen, text):
    start = clock.at - 10 * DAY
    times = {"valid_at": start + valid * DAY, "known_at": start + seen * DAY}
    assert texts(moved.recall("when do we meet?", **times)) == [text]
    assert moved.as_of("meeting", **times).content == text
    assert [record.content for record in moved.list(**times)] == [text]


def test_what_is_true_then_is_asked_of_what_is_known_now(moved, clock):
    start = clock.at - 10 * DAY
    assert texts(moved.recall("when do we meet?", valid_at=start + 2 * DAY)) == [MEETING]
    assert moved.as_of("meeting", valid_at=start + 2 * DAY).content == MEETING
    assert moved.as_of("meeting").content == MOVED


def test_a_version_that_is_to_come_is_true_then(memory, clock):
    memory.remember(MEETING, key="meeting")
    clock.at += DAY
    memory.supersede("meeting", MOVED, valid_from=clock.at + 7 * DAY)
    assert texts(memory.recall("when do we meet?")) == [MEETING]
    assert texts(memory.recall("when do we meet?", valid_at=clock.at + 7 * DAY)) == [MOVED]
    assert texts(memory.recall("when do we meet?", valid_at=clock.at + 6 * DAY)) == [MEETING]


def test_a_superseded_version_never_comes_up_beside_its_correction(moved):
    assert texts(moved.recall("when do we meet? on Tuesdays at ten?")) == [MOVED]


def test_asked_for_it_comes_up_marked_below_its_correction(moved, clock):
    recall = moved.recall("when do we meet? on Tuesdays at ten?", include_superseded=True, tokens=1000)
    assert texts(recall) == [MOVED, MEETING]
    now, old = recall.hits
    assert (now.superseded_by, old.superseded_by) == (None, 2)
    assert (now.memory.key, old.memory.key) == ("meeting", "meeting")
    assert (now.memory.id, old.memory.version) == (old.memory.id, 1)
    assert old.memory.valid_to == clock.at - 7 * DAY
    assert old.score <= now.score
    first, second = recall.text.splitlines()[1:]
    assert "superseded" not in first
    assert f"(superseded until {old.memory.valid_to:%Y-%m-%d})" in second


def test_where_there_is_room_for_one_it_is_the_one_that_holds(moved):
    recall = moved.recall("when do we meet? on Tuesdays at ten?", include_superseded=True, limit=1)
    assert texts(recall) == [MOVED]


@pytest.mark.parametrize("valid", [0, 2])
def test_it_has_when_it_was_told_and_closed_as_its_history_has(moved, clock, valid):
    moved.supersede("meeting", "We meet no more in the long room.")
    at = clock.at + valid * DAY
    recall = moved.recall("we meet in the long room", include_superseded=True, valid_at=at)
    times = {hit.memory.version: (hit.memory.recorded_at, hit.memory.retired_at) for hit in recall.hits}
    history = moved.history("meeting")
    assert times == {version.version: (version.recorded_at, version.retired_at) for version in history}
    assert times[1] == (clock.at - 10 * DAY, clock.at - 5 * DAY)


def test_a_filter_on_the_time_of_recording_means_when_the_version_was_told(moved, clock):
    moved.remember("We eat in the long room.", key="lunch")
    answer, changed = clock.at - 10 * DAY, clock.at - 5 * DAY
    in_between = {"recorded_at": {"gte": answer, "lt": changed}}
    query = {"text": "what do we do in the long room?", "filters": in_between}
    assert texts(moved.recall(**query)) == []
    assert texts(moved.recall(**query, include_superseded=True)) == [MEETING]
    assert texts(moved.recall(**query, known_at=answer + DAY)) == [MEETING]
    assert texts(moved.recall(**query, valid_at=answer + DAY)) == [MEETING]
    assert texts(moved.recall(**{**query, "filters": {"recorded_at": changed}})) == [MOVED]


def test_what_sleep_changed_about_a_memory_leaves_the_time_at_which_it_was_told(memory, clock):
    for key in ("first", "second"):
        memory.remember("The mill grinds rye.", key=key, session=key)
    answer, before = clock.at, memory.get("first").recorded_at
    clock.at += DAY
    memory.merge("second", "first")
    recent = memory.recall("what does the mill grind", filters={"recorded_at": {"gt": answer}})
    assert (memory.get("first").recorded_at, recent.hits) == (before, ())


@pytest.mark.parametrize(
    ("filters", "versions"),
    [
        ({"key": "meeting"}, {1, 2}),
        ({"key": {"in": ["meeting", "gulls"]}, "version": 1}, {1}),
        ({"not": {"key": "meeting"}}, set()),
        ({"key": {"ne": "meeting"}}, set()),
        ({"or": [{"key": "gulls"}, {"key": {"contains": "meet"}}]}, {1, 2}),
        ({"key": "gulls"}, set()),
    ],
)
def test_a_filter_on_the_key_of_a_memory_admits_its_superseded_versions(moved, filters, versions):
    for each in (filters, {**filters, "id": moved.get("meeting").id}):
        recall = moved.recall("we meet in the long room", include_superseded=True, filters=each)
        assert {hit.memory.version for hit in recall.hits} == versions


def test_of_two_corrections_each_names_the_one_that_followed(moved):
    moved.supersede("meeting", "We meet no more in the long room.")
    recall = moved.recall("we meet in the long room", include_superseded=True)
    marks = {hit.memory.version: hit.superseded_by for hit in recall.hits}
    assert marks == {1: 2, 2: 3, 3: None}


def test_what_is_superseded_passes_filters_and_kinds_like_others(moved):
    query = {"text": "when do we meet?", "include_superseded": True}
    assert texts(moved.recall(**query, filters={"version": 1})) == [MEETING]
    assert moved.recall(**query, kinds=["fact"]).hits == ()
    moved.forget("meeting")
    assert moved.recall(**query).hits == ()


def test_a_key_that_looks_like_a_version_stays_its_own(moved):
    moved.remember("The meeting room has a long table.", key="meeting@1")
    recall = moved.recall("the long room where we meet", include_superseded=True)
    assert sorted((hit.memory.key, hit.superseded_by) for hit in recall.hits if hit.superseded_by) == [
        ("meeting", 2)
    ]
    assert "meeting@1" in keys(recall)


def test_a_question_about_another_time_is_not_kept_and_takes_no_verdict(moved, clock):
    rest = moved.stats().traces
    query = ({"known_at": clock.at}, {"valid_at": clock.at}, {"include_superseded": True})
    result = [moved.recall("when do we meet?", **item) for item in query]
    assert len({item.recall_id for item in result}) == 3
    assert moved.stats().traces == rest
    with pytest.raises(NotFound, match="none that asked about another time"):
        moved.feedback(result[0].recall_id, used=["meeting"])


def test_what_is_purged_is_not_in_any_past(open_memory, url, clock):
    memory, other = open_memory(url), open_memory(url)
    memory.remember("Gulls nest on cliffs.", key="gulls")
    memory.remember("Terns nest on cliffs.", key="terns")
    then = clock.at
    clock.at += DAY
    assert len(other.recall("cliffs", known_at=then).hits) == 2
    assert len(memory.recall("cliffs", known_at=then).hits) == 2
    memory.purge("gulls")
    assert keys(memory.recall("cliffs", known_at=then)) == ["terns"]
    assert keys(other.recall("cliffs", known_at=then)) == ["terns"]


def test_a_backup_that_is_put_back_brings_its_own_past(open_memory, url, clock, tmp_path):
    memory = open_memory(url)
    memory.remember("Gulls nest on cliffs.", key="gulls")
    memory.backup(tmp_path / "copy.db")
    clock.at += DAY
    memory.remember("Terns nest on cliffs.", key="terns")
    then = clock.at
    clock.at += DAY
    assert len(memory.recall("cliffs", known_at=then).hits) == 2
    memory.restore_backup(tmp_path / "copy.db")
    assert keys(memory.recall("cliffs", known_at=then)) == ["gulls"]


def test_why_an_answer_is_empty_is_told_of_that_time_though_all_is_forgotten_since(memory, clock):
    memory.remember("Gulls nest on cliffs.", key="gulls")
    then = memory.recall("gulls", kinds=["procedure"])
    asked_at = clock.at
    clock.at += DAY
    memory.forget("gulls")
    again = memory.recall("gulls", kinds=["procedure"], known_at=asked_at)
    assert again.reason == then.reason == "no memory passes the kinds, filters and predicates asked for"


def test_a_past_is_read_once_and_read_anew_where_the_clock_went_back(memory, clock):
    memory.remember("Gulls nest on cliffs.", key="gulls")
    then = clock.at
    clock.at += DAY
    memory.recall("cliffs", known_at=then)
    (past,) = memory.pasts
    memory.remember("Terns nest on cliffs.", key="terns")
    assert keys(memory.recall("cliffs", known_at=then)) == ["gulls"]
    assert memory.pasts == [past]
    clock.at = then
    memory.remember("Puffins nest on cliffs.", key="puffins")
    assert len(memory.recall("cliffs", known_at=then).hits) == 3


def test_only_the_latest_pasts_are_kept(memory, clock):
    for number in range(4):
        memory.remember(f"Gull number {number} nests on a cliff.")
        clock.at += DAY
    for number in range(4):
        assert (
            len(memory.recall("gulls on a cliff", known_at=clock.at - (4 - number) * DAY).hits) == number + 1
        )
    assert len(memory.pasts) == 2


def test_predicates_and_sessions_are_those_of_then(memory, clock):
    memory.remember("Use tabs.", key="tabs", when={"language": "go"}, session="s")
    then = clock.at
    clock.at += DAY
    memory.supersede("tabs", "Use tabs.", when={"language": "python"})
    from priming import Cue

    query = {"text": "tabs", "cue": Cue(language="go")}
    assert keys(memory.recall(**query, known_at=then)) == ["tabs"]
    assert memory.recall(**query).hits == ()


def test_as_of_names_what_was_not_known_and_what_was_not_true(moved, clock):
    start = clock.at - 10 * DAY
    with pytest.raises(NotFound, match="no memory 'meeting' was known"):
        moved.as_of("meeting", known_at=start - DAY)
    with pytest.raises(NotFound, match="no memory 'nothing' was known"):
        moved.as_of("nothing")
    moved.remember("Doors open at nine.", key="doors")
    moved.supersede("doors", "Doors open at ten.", valid_from=clock.at)
    moved.supersede("doors", "Doors open at noon.", valid_from=clock.at)
    assert moved.as_of("doors").content == "Doors open at noon."


def test_as_of_finds_what_an_undo_removed_and_whose_key_was_taken_since(memory, clock):
    memory.remember("Gulls nest on cliffs.", key="birds")
    then = clock.at
    clock.at += DAY
    memory.undo(memory.log()[0].id)
    with pytest.raises(NotFound):
        memory.as_of("birds")
    memory.remember("Terns nest on beaches.", key="birds")
    assert memory.as_of("birds", known_at=then).content == "Gulls nest on cliffs."
    assert memory.as_of("birds").content == "Terns nest on beaches."


def test_as_of_gives_state_and_use_as_they_were(memory, clock):
    memory.remember("Gulls nest on cliffs.", key="gulls")
    then, before = clock.at, memory.get("gulls")
    clock.at += DAY
    recall = memory.recall("gulls")
    memory.feedback(recall.recall_id, used=["gulls"])
    memory.forget("gulls")
    assert memory.as_of("gulls", known_at=then) == before
    assert memory.as_of("gulls") == memory.get("gulls")


def test_superseding_what_has_ended_is_a_conflict_and_before_its_start_a_bad_argument(moved, clock):
    with pytest.raises(ParamError, match="valid_from"):
        moved.supersede("meeting", "We meet on Fridays.", valid_from=clock.at - 8 * DAY)
    with pytest.raises(ParamError, match="time zone"):
        moved.supersede("meeting", "We meet on Fridays.", valid_from=datetime(2024, 6, 1))
    moved.forget("meeting")
    with pytest.raises(Conflict, match="forgotten"):
        moved.supersede("meeting", "We meet on Fridays.")


NAIVE = datetime(2024, 5, 1)


@each_row("times", [{"valid_at": NAIVE}, {"known_at": NAIVE}, {"known_at": "yesterday"}])
def test_a_time_that_is_none_or_has_no_zone_is_refused(moved, times):
    (name,) = times
    for verb in (moved.recall, moved.as_of):
        with pytest.raises(ParamError, match=name):
            verb("meeting", **times)
    with pytest.raises(ParamError, match=name):
        moved.list(**times)


def test_what_is_no_yes_or_no_is_refused(moved):
    with pytest.raises(ParamError, match="include_superseded"):
        moved.recall("when?", include_superseded="yes")


def test_of_another_namespace_nothing_is_known(open_memory):
    with pytest.raises(NotFound, match="no memory 'meeting' was known in 'elsewhere'"):
        open_memory(namespace="elsewhere").as_of("meeting")


def test_an_imported_history_answers_as_where_it_was_made(moved, clock, open_memory, tmp_path):
    moved.export(tmp_path / "all.jsonl")
    other = open_memory(embedder=HashedEmbedder(256))
    other.import_(tmp_path / "all.jsonl")
    then = clock.at - 8 * DAY
    query = {"text": "when do we meet?", "known_at": then}
    assert other.recall(**query).hits == moved.recall(**query).hits != ()


def test_pages_of_another_time_follow_each_other(memory, clock):
    for name in "abc":
        memory.remember(f"Note {name}.", key=name)
    then = clock.at
    clock.at += DAY
    memory.undo(memory.log(key="b")[-1].id)
    first = memory.list(limit=2, known_at=then)
    rest = memory.list(limit=2, after=first[-1].id, known_at=then)
    assert [item.key for item in (*first, *rest)] == ["a", "b", "c"]
    assert [record.key for record in memory.list(matching="note b", known_at=then)] == ["b"]


def test_each_version_has_when_it_was_told_and_when_it_was_closed(memory, clock):
    answer, closed = clock.at, clock.at + timedelta(days=3)
    memory.remember("The ferry leaves at nine.", key="ferry")
    clock.at = closed
    memory.supersede("ferry", "The ferry leaves at ten.", valid_from=answer + timedelta(days=1))
    first, second = memory.history("ferry")
    assert (first.recorded_at, first.retired_at) == (answer, closed)
    assert (first.valid_from, first.valid_to) == (None, answer + timedelta(days=1))
    assert (second.recorded_at, second.retired_at) == (closed, None)
    for before in (
        memory.as_of("ferry", valid_at=answer),
        memory.list(valid_at=answer)[0],
        memory.recall("when does the ferry leave", valid_at=answer).hits[0].memory,
    ):
        assert (before.content, before.recorded_at) == ("The ferry leaves at nine.", answer)
        assert before.retired_at == closed
    then = memory.as_of("ferry", known_at=answer)
    assert (then.recorded_at, then.retired_at, then.valid_to) == (answer, None, None)
    assert (memory.get("ferry").recorded_at, memory.list()[0].retired_at) == (closed, None)


def test_a_version_that_is_superseded_from_a_later_time_on_is_closed_already(memory, clock):
    answer = clock.at
    memory.remember("The ferry leaves at nine.", key="ferry")
    clock.at += timedelta(days=1)
    memory.supersede("ferry", "The ferry leaves at ten.", valid_from=answer + timedelta(days=30))
    present = memory.get("ferry")
    assert present.content == "The ferry leaves at nine."
    assert (present.recorded_at, present.retired_at) == (answer, clock.at)
    memory.undo(memory.log(limit=1)[0].id)
    assert (memory.get("ferry").recorded_at, memory.get("ferry").retired_at) == (answer, None)


def test_of_more_equals_than_are_scored_the_same_were_so_then(memory, clock):
    """The cut among equals must not tell which of them was changed last."""
    crews = [f"The crew of the {name} sails." for name in _names(90)]
    memory.remember_many([{"content": crew, "key": f"crew-{i}"} for i, crew in enumerate(crews)])
    for i in range(0, 90, 3):
        memory.supersede(f"crew-{i}", crews[i].replace("sails", "sails again"))
    then = clock.at
    live = {hit.memory.key: hit.score for hit in memory.recall("crew sails", limit=90, floor=0).hits}
    clock.at += timedelta(days=1)
    past = memory.recall("crew sails", limit=90, floor=0, known_at=then)
    assert {hit.memory.key: hit.score for hit in past.hits} == live


def _names(count):
    return [first + middle + "ra" for first in ("Ma", "Ke", "Lo", "Vi", "Su", "To") for middle in _MIDDLES][
        :count
    ]


_MIDDLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu")


def test_an_episode_is_recalled_only_from_when_it_happened_on():
    happened = datetime(2026, 5, 1, tzinfo=UTC)
    with Memory.open(
        "sqlite://", embedder=HashedEmbedder(256), clock=FixedClock(happened + timedelta(days=9))
    ) as memory:
        memory.remember("The bridge collapsed.", kind="episode", occurred_at=happened, key="collapse")
        memory.remember("The bridge is long.", kind="fact", occurred_at=happened, key="length")
        memory.remember(
            "The bridge opens.", kind="episode", occurred_at=happened + timedelta(days=90), key="plan"
        )

        def recalled(at):
            return {hit.memory.key for hit in memory.recall("the bridge", valid_at=at).hits}

        assert recalled(happened - timedelta(seconds=1)) == {"length", "plan"}
        assert recalled(happened) == {"collapse", "length", "plan"}
        assert memory.get("collapse").valid_from is None
