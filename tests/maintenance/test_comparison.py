"""Two working sets are compared memory by memory."""

from priming.maintenance.verify import differences


def test_working_sets_of_the_same_rows_do_not_differ_and_others_do_by_name(open_memory, url):
    memory = open_memory(url)
    for text in ("Ada tuned the violin.", "Bob tuned the cello in Oslo."):
        memory.remember(text, session="s")
    first, second = memory.working(memory.now()), open_memory(url).working(memory.now())
    assert list(differences(first, second)) == []
    bob = memory.get("bob-tuned-the-cello-in-oslo").id
    second.topology.weight[0] = 0.011
    assert [difference.split()[1] for difference in differences(first, second)] == ["link"]
    second.remove(bob)
    assert f"it has {bob}, which is not in recall" in list(differences(first, second))
    assert f"it lacks {bob}" in list(differences(second, first))
