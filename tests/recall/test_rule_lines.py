"""The lines of rules and facts, beside keys that were made from an earlier text."""

from priming import Cue, Memory

RELEASE = Cue(task="release")


def test_a_key_of_an_earlier_text_is_marked_and_never_told_alone():
    with Memory.open("sqlite://") as memory:
        first = memory.learn("Always sign the tags of a release", cue=RELEASE)
        answer = memory.active(RELEASE).text
        assert "earlier text" not in answer
        memory.learn("Never sign the tags of a release", cue=RELEASE)
        assert (
            f'- [{first.key}] constraint (key from an earlier text): "Never sign'
            in memory.active(RELEASE).text
        )
        for _ in range(5):
            recall = memory.active(RELEASE)
            memory.feedback(recall.recall_id, overridden=[first.key])
        quiet = memory.active(RELEASE)
        assert quiet.hits[0].quiet
        assert "Never sign the tags of a release" in quiet.text


def test_a_key_that_fits_its_text_is_told_alone_when_the_rule_is_quiet():
    with Memory.open("sqlite://") as memory:
        key = memory.learn("Never sign the tags of a release", cue=RELEASE).key
        for _ in range(4):
            memory.feedback(memory.active(RELEASE).recall_id, overridden=[key])
        assert memory.active(RELEASE).text.endswith(f"- [{key}] constraint")


def test_a_constraint_without_room_is_named_with_the_warning():
    with Memory.open("sqlite://") as memory:
        reason = "".join(f", and never the tags of the branch number {number}" for number in range(24))
        key = memory.learn(f"Always sign the tags of a release{reason}", cue=RELEASE, rule="constraint").key
        memory.supersede(key, f"Never sign the tags of a release{reason}")
        assert f"{key} (key from an earlier text)" in memory.active(RELEASE, tokens=110).notice


def test_a_rule_that_is_left_out_is_named_with_a_warning_if_its_key_is_of_an_earlier_text():
    with Memory.open("sqlite://") as memory:
        key = memory.learn("Always sign the tags of a release", cue=RELEASE).key
        memory.learn("Never sign the tags of a release", cue=RELEASE)
        memory.learn("Sign the tags of a release", cue=Cue(task="release", environment="production"))
        (omitted,) = memory.active(Cue(task="release", environment="production")).omitted
        assert (omitted.key, omitted.reason.partition("; ")[2]) == (key, "key from an earlier text")


def test_the_key_of_a_fact_is_marked_where_it_says_what_the_text_no_longer_does():
    with Memory.open("sqlite://") as memory:
        for old, new, key in [
            ("Lena lives in Porto", "Lena lives in Bergen", "lena-lives-in-porto"),
            ("The rent is 900", "The rent is due on Mondays, 900", "the-rent-is-900"),
            ("Ada runs the bar", "Bo runs the bar", "bar"),
            ("We mended the pump", "We mended the pump and sealed the hull", "session-2026-11-30-95fc59"),
            ("Tides are early", "Tides are late", "md:log-of-the-club.md#tides"),
        ]:
            memory.remember(old, key=key, kind="fact")
            assert "earlier text" not in memory.recall(old).text
            memory.supersede(key, new)
        assert (
            "[lena-lives-in-porto] (key from an earlier text)" in memory.recall("Where does Lena live?").text
        )
        for cue in ("When is the rent due?", "Who runs the bar?", "Was the hull sealed?", "Are tides late?"):
            assert "earlier text" not in memory.recall(cue).text
