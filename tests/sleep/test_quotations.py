"""What a night quoted of a memory follows its text."""

import json
from datetime import timedelta

import pytest

from priming import NotFound
from priming.storage.rows import VersionRow

pytestmark = pytest.mark.extra  # HDBSCAN's

TEXTS = (
    "The release of Kestrel failed, the disk of Kestrel is full",
    "The release of Kestrel failed again, the disk of Kestrel is full",
    "Kestrel failed, the disk is full, the release waits",
    "The full disk of Kestrel stopped the release",
)
MENDED = "The release of Kestrel went well, the disk of Kestrel was mended"
ENTITY = "concept:kestrel"


@pytest.fixture(scope="module")
def model(open_shared):
    """Four episodes of one theme, and the entity that quotes one of them."""
    memory = open_shared()
    for number, text in enumerate(TEXTS):
        memory.clock.at += timedelta(hours=1)
        memory.remember(text, key=f"e{number}")
    for text in ("nobody bought green tea", "nobody bought more green tea", "nobody ever bought green tea"):
        memory.remember(text)
    memory.sleep(["deep"])
    return memory


@pytest.fixture
def slept(model, copy_of, clock):
    clock.at = model.clock.at + timedelta(hours=1)
    return copy_of(model)


def quoted(memory):
    """The key of the episode that the entity quotes."""
    text = memory.get(ENTITY).content
    return next(f"e{number}" for number, item in enumerate(TEXTS) if item == text)


def state(memory, folder):
    memory.export(folder / "state.jsonl")
    return [line for line in (folder / "state.jsonl").read_text().splitlines() if '{"operation"' not in line]


def test_a_gist_does_not_stand_beside_the_correction_of_what_it_quotes(slept):
    wrong = slept.get(ENTITY).content
    slept.supersede(quoted(slept), MENDED)
    assert slept.get(ENTITY).content != wrong
    assert slept.get(ENTITY).content in {slept.get(f"e{number}").content for number in range(4)}
    recall = slept.recall(wrong, kinds=["entity", "episode"], tokens=4000)
    assert wrong not in [hit.memory.content for hit in recall.hits]
    assert f'"{wrong}"' not in recall.text
    assert slept.history(ENTITY)[0].content == wrong
    assert slept.validate() == []


def test_it_is_one_operation_and_undone_with_it(slept, tmp_path):
    before = state(slept, tmp_path)
    slept.supersede(quoted(slept), MENDED)
    slept.undo(slept.log(limit=1)[0].id)
    assert state(slept, tmp_path) == before


def test_a_gist_that_quotes_another_stays(slept):
    text = slept.get(ENTITY).content
    slept.supersede(next(f"e{n}" for n in range(4) if f"e{n}" != quoted(slept)), MENDED)
    assert (slept.get(ENTITY).content, slept.get(ENTITY).version) == (text, 1)


def test_a_sentence_that_the_new_text_still_holds_stays(slept):
    text = slept.get(ENTITY).content
    slept.supersede(quoted(slept), f"{text}. It was mended at night.")
    assert slept.get(ENTITY).version == 1


def test_what_somebody_wrote_of_an_entity_stays(slept):
    key = quoted(slept)
    slept.supersede(ENTITY, slept.get(key).content, heading="Mine")
    slept.supersede(key, MENDED)
    assert (slept.get(ENTITY).version, slept.get(ENTITY).heading) == (2, "Mine")


def test_a_text_that_holds_later_takes_no_gist_away_yet(slept, clock):
    slept.supersede(quoted(slept), MENDED, valid_from=clock.at + timedelta(days=1))
    assert slept.get(ENTITY).version == 1


def test_what_an_agent_wrote_gives_way_too(slept):
    from priming.sleep.entities import rewrite_entity
    from priming.sleep.gist import MODEL, Gist

    entity = slept.get(ENTITY)
    with slept.writing() as now:
        versions = slept.store.rows("default", VersionRow, ids=[entity.id])
        message = Gist("The disk of Kestrel was always full.", MODEL)
        slept.write("sleep", now, rewrite_entity(versions, versions[-1], message, entity.trust, now))
    slept.supersede("e2", MENDED)
    assert slept.get(ENTITY).content in {slept.get(f"e{number}").content for number in range(4)}


def test_a_purge_erases_the_gists_that_ever_quoted_it(slept, tmp_path):
    wrong, key = slept.get(ENTITY).content, quoted(slept)
    slept.supersede(key, MENDED)
    slept.purge(key)
    with pytest.raises(NotFound):
        slept.get(ENTITY)
    slept.export(tmp_path / "all.jsonl")
    assert json.dumps(wrong)[1:-1] + '"' not in (tmp_path / "all.jsonl").read_text()
    slept.sleep(["deep"])
    assert {link.target for link in slept.links("e3", relation="source-of")}
    assert slept.validate() == []


def test_a_purge_erases_gists_that_only_the_log_still_holds(slept, tmp_path):
    wrong, key = slept.get(ENTITY).content, quoted(slept)
    (night,) = [entry for entry in slept.log() if entry.kind == "sleep"]
    slept.undo(night.id)
    slept.purge(key)
    slept.export(tmp_path / "all.jsonl")
    assert json.dumps(wrong)[1:-1] + '"' not in (tmp_path / "all.jsonl").read_text()


def test_a_purge_of_what_no_gist_quotes_leaves_them(slept):
    slept.purge(next(f"e{n}" for n in range(4) if f"e{n}" != quoted(slept)))
    assert slept.get(ENTITY).version == 1
