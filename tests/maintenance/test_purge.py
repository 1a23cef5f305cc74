"""A purge of all that is about somebody: what it reaches, what it answers, and that no byte remains."""

import pytest
from tests.storage.making import loop_session

from priming import Conflict, Cue, NotFound, ParamError


def fill(memory):
    """Memories that are about Zenobia in every way that a memory can be, and others that are not."""
    for text in (
        "Zenobia wrote the first program.",
        "The mill ran all night.",
        "Grace liked ZENOBIA's notes.",
    ):
        memory.remember(text, session="s1")
    memory.remember("I love mills.", speaker="Zenobia", key="mill-love", session="s1")
    memory.remember("12 Main Street", key="zenobia-address")
    memory.remember("A call took place.", session="zenobia-call")
    memory.remember("A note with a tag.", tags=["zenobia"])
    memory.remember("A note with details.", metadata={"who": {"name": "Zenobia King"}})
    memory.remember("A letter came.", source="mail of zenobia")
    memory.undo(memory.remember("Zenobia undone.", key="undone").operation)
    memory.remember("Grace built a compiler.", key="compiler")
    memory.supersede("compiler", "Grace and Zenobia built a compiler.")
    memory.supersede("compiler", "Grace built it alone.")
    memory.remember("Zenobias Mühle steht noch.", key="german")
    memory.remember("Zenobian rites are old.", key="another-word")
    recall = memory.recall("did Zenobia see the mill", session="zenobia-chat")
    memory.feedback(recall.recall_id, used=["the-mill-ran-all-night"], reason="Zenobia agreed")
    memory.run_start("zenobia-work")
    memory.learn("Ask Zenobia first.", wrong="Ask nobody.", cue=Cue(task="ask"))
    loop_session(memory.store, memory.namespace, "Thank Zenobia")
    memory.sleep()


REMAINING = {"the-mill-ran-all-night", "another-word"}


def texts(memory):
    return {record.key for record in memory.list(limit=1000)}


def test_all_that_is_about_somebody_is_erased_with_a_reason_for_each(open_memory, url, tmp_path):
    memory = open_memory(url)
    fill(memory)
    receipt = memory.purge(subject="zenobia")
    assert texts(memory) == REMAINING
    reasons = {row.key: row.reason for row in receipt.memories}
    assert reasons["mill-love"] == "it is the speaker"
    assert reasons["zenobia-address"] == "its key names it"
    assert reasons["a-call-took-place"] == "its session is named after it"
    assert reasons["a-note-with-a-tag"] == "its tags, metadata or conditions name it"
    assert reasons["a-letter-came"] == "its source names it"
    assert reasons["compiler"] == reasons["german"] == "its text mentions it"
    assert "only in the log" in {row.kind for row in receipt.memories}
    assert receipt.erased["loop_sessions"] == 1
    assert receipt.erased["traces"] >= 1
    assert memory.verify().findings == ()
    assert memory.log(limit=1)[0].id == receipt.operation
    memory.close()
    files = {path: path.read_bytes().lower() for path in tmp_path.rglob("*") if path.is_file()}
    assert not any(b"zenobia" in data.replace(b"zenobian", b"") for data in files.values())


def test_a_dry_run_answers_the_same_and_changes_nothing(open_memory, url):
    memory = open_memory(url)
    fill(memory)
    before = texts(memory), memory.store.head("default")
    planned = memory.purge(subject="Zenobia", dry_run=True)
    assert (texts(memory), memory.store.head("default")) == before
    assert (planned.dry_run, planned.operation) == (True, "")
    memory.recall("mill")
    done = memory.purge(subject="Zenobia")
    assert done.memories == planned.memories
    assert (done.subject, done.dry_run) == ("Zenobia", False)


def test_a_dry_run_of_a_memory_changes_nothing(open_memory):
    memory = open_memory()
    memory.remember("We sing.", key="sing")
    assert memory.purge("sing", dry_run=True).erased["memories"] == 1
    assert texts(memory) == {"sing"}
    assert [row.reason for row in memory.purge("sing").memories] == ["it was to be purged"]


def test_what_was_derived_from_it_goes_too_and_says_from_what(open_memory):
    memory = open_memory()
    memory.remember("Zenobia fed the falcon.", key="origin")
    memory.remember("The falcon is fed at noon.", key="pattern")
    memory.remember("Feeding follows the clock.", key="second")
    memory.remember("Clocks tick.", key="unrelated")
    memory.link("origin", "pattern", "consolidated-into")
    memory.link("pattern", "second", "source-of")
    memory.link("second", "unrelated", "requires")
    receipt = memory.purge(subject="Zenobia")
    reasons = {row.key: row.reason for row in receipt.memories}
    assert reasons["pattern"] == "derived from origin (consolidated-into)"
    assert reasons["second"] == "derived from pattern (source-of)"
    assert texts(memory) == {"unrelated"}


def test_aliases_are_the_same_subject(open_memory):
    memory = open_memory()
    memory.remember("Robert Smith runs the mill.", session="s")
    memory.remember("Bobby owns a falcon.", key="alias", session="s")
    memory.remember("Bobby, also known as Robert Smith, sings.", key="stated", session="s")
    assert [alias.alias for alias in memory.aliases()]
    memory.purge(subject="Robert Smith")
    assert texts(memory) == set()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("大阪", "私は大阪で働く。"),
        ("Zoë", "ZOË came."),
        ("O'Neil", "o'neil's boat"),
        ("Ada Byron", "ada\nbyron"),
    ],
)
def test_names_of_any_script_and_spelling_are_reached(open_memory, name, text):
    memory = open_memory()
    memory.remember(text, key="k1")
    memory.remember("Nothing of that.", key="k2")
    memory.purge(subject=name)
    assert texts(memory) == {"k2"}


def test_backups_are_named_as_not_reached(open_memory, url):
    memory = open_memory(url)
    memory.remember("Zenobia came.")
    path = memory.backup()
    assert f"the backup {path}" in memory.purge(subject="Zenobia").not_reached


def test_other_namespaces_are_left_alone(open_memory, url):
    other = open_memory(url, namespace="other")
    other.remember("Zenobia came.")
    memory = open_memory(url)
    memory.remember("Zenobia went.")
    memory.purge(subject="Zenobia")
    assert len(texts(other)) == 1


def test_what_nobody_mentions_is_an_error_and_so_is_a_name_without_letters(open_memory):
    memory = open_memory()
    memory.remember("We sing.")
    with pytest.raises(NotFound, match="nothing in 'default' mentions 'Zenobia'"):
        memory.purge(subject="Zenobia")
    for arguments in ({}, {"key": "we-sing", "subject": "x"}, {"subject": " . "}):
        with pytest.raises(ParamError):
            memory.purge(**arguments)
    for key in ("\udc80", "a\0"):
        with pytest.raises(ParamError, match=r"key = .*must (be valid Unicode|not contain the NUL)"):
            memory.purge(key)
    assert texts(memory) == {"we-sing"}


def test_a_purge_that_came_last_is_named_when_the_last_operation_is_to_be_undone(open_memory):
    memory = open_memory()
    memory.remember("We sing.", key="sing")
    memory.remember("We dance.", key="dance")
    purged = memory.purge("dance").operation
    with pytest.raises(Conflict, match=f"operation {purged} is a purge: what it erased is gone"):
        memory.undo("last")
    assert texts(memory) == {"sing"}
