"""What leads on from the best hit (RECALL.md, per cue 8)."""

import pytest

FIRST = {"key": "first", "content": "The bridge was painted for Zed in red and grey."}
CUE = "bridge painted red sea salt"


def told(memory, *items):
    memory.remember_many([FIRST, *({"key": key, "content": content} for key, content in items)])
    return {hit.memory.key: hit for hit in memory.recall(CUE, limit=20).hits}


def led(hits):
    return {key for key, hit in hits.items() if hit.components["bridge"] > 0}


def test_what_shares_a_name_and_meets_the_rest_of_the_cue_leads_on(memory):
    hits = told(
        memory,
        ("both", "Later we heard that Zed likes sea salt."),
        ("name", "Later we heard that Zed sleeps."),
        ("rest", "Later we heard that the sea is wide."),
    )
    assert led(hits) == {"both"}


def test_what_only_repeats_the_words_of_the_best_hit_leads_nowhere(memory):
    hits = told(memory, ("again", "There is a red bridge near Zed."), ("rest", "Kim likes sea salt."))
    assert led(hits) == set()


def test_a_name_that_the_cue_holds_leads_nowhere(memory):
    memory.remember_many(
        [
            FIRST,
            {"key": "other", "content": "Later we heard that Zed likes sea salt."},
            {"content": "Wide sky."},
        ]
    )
    answer = memory.recall("bridge painted red for Zed with sea salt")
    assert all(hit.components["bridge"] == 0 for hit in answer.hits)


def test_more_of_the_rest_leads_further(memory):
    hits = told(
        memory,
        ("more", "Later we heard that Zed likes sea salt."),
        ("less", "Later we heard that Zed likes wet salt."),
        *((f"filler-{i}", f"A story of number{i} and some sky.") for i in range(8)),
    )
    assert hits["more"].components["bridge"] > hits["less"].components["bridge"] > 0


def test_a_rarer_name_leads_further(memory):
    memory.remember_many(
        [
            {"key": "first", "content": "The bridge was painted red for Zed and Ada."},
            {"key": "common", "content": "Later we heard that Ada likes sea salt."},
            {"key": "rare", "content": "Later we heard that Zed likes sea salt."},
            *({"content": f"A story of number{i} and Ada."} for i in range(6)),
        ]
    )
    hits = {hit.memory.key: hit for hit in memory.recall(CUE, limit=20, floor=0.0).hits}
    assert hits["rare"].components["bridge"] > hits["common"].components["bridge"] > 0


def test_a_name_in_the_heading_leads_further(memory):
    memory.remember_many(
        [
            FIRST,
            {"key": "text", "content": "We heard of the salt of Zed.", "heading": "On cooks"},
            {"key": "heading", "content": "We heard of the salt of cooks.", "heading": "On Zed"},
            *({"content": f"A story of number{i} and some sky."} for i in range(8)),
        ]
    )
    hits = {hit.memory.key: hit for hit in memory.recall(CUE, limit=20).hits}
    assert hits["heading"].components["bridge"] > hits["text"].components["bridge"] > 0


def test_headings_told_later_are_known(memory):
    memory.remember_many([FIRST, {"content": "Zed sleeps."}, {"content": "Wide sky."}])
    memory.recall(CUE)
    memory.remember("We heard of the salt of cooks.", heading="On Zed", key="heading")
    memory.remember("We heard of the salt of Zed.", heading="On cooks", key="text")
    hits = {hit.memory.key: hit for hit in memory.recall(CUE, limit=20).hits}
    assert hits["heading"].components["bridge"] > hits["text"].components["bridge"] > 0


def test_the_best_hit_stays_the_best_however_much_leads_on(memory):
    items = [(f"zed-{i}", f"Zed: sea salt, and salt of the sea {i}.") for i in range(3)]
    memory.remember_many([FIRST, *({"key": key, "content": content} for key, content in items)])
    with_it = memory.recall(CUE, limit=20).hits
    without = memory.recall(CUE, limit=20, ablate=["bridge"]).hits
    assert with_it[0].memory.key == without[0].memory.key
    assert with_it[0].score == without[0].score
    assert with_it[0].components["bridge"] == 0


@pytest.mark.parametrize("off", ["names", "spread", "bridge"])
def test_without_links_through_names_nothing_leads_on(memory, off):
    memory.remember_many([FIRST, {"key": "both", "content": "Later we heard that Zed likes sea salt."}])
    for hit in memory.recall(CUE, ablate=[off]).hits:
        assert hit.components.get("bridge", 0.0) == 0


def test_where_no_memory_shares_a_name_nothing_leads_on(memory):
    memory.remember_many([FIRST, {"content": "Kim likes sea salt."}, {"content": "Wide sky."}])
    assert all(hit.components["bridge"] == 0 for hit in memory.recall(CUE).hits)


def test_a_memory_that_may_not_answer_leads_nobody_on(memory):
    memory.remember_many([FIRST, {"key": "both", "content": "Later we heard that Zed likes sea salt."}])
    memory.remember("Sea salt dries.", kind="fact", key="fact")
    answer = memory.recall(CUE, kinds=["fact"])
    assert [(hit.memory.key, hit.components["bridge"]) for hit in answer.hits] == [("fact", 0.0)]
