"""What was done instead of a rule that was overridden without a reason."""

from priming import Cue, Memory

WEB = Cue(language="typescript")


def overridden(memory, key, **verdicts):
    for _ in range(4):
        memory.feedback(memory.active(WEB).recall_id, overridden=[key], **verdicts)


def quiet(memory):
    return {each.key: each.instead for each in memory.review() if each.kind == "quiet-rule"}


def test_what_was_confirmed_with_it_is_what_was_done_instead():
    with Memory.open("sqlite://") as memory:
        old = memory.learn("Format with prettier", cue=WEB).key
        new = memory.learn("Commit small steps", cue=WEB).key
        overridden(memory, old, confirmed=[new])
        assert quiet(memory) == {old: ("Commit small steps",)}


def test_what_was_learned_about_it_at_that_time_is_what_was_done_instead():
    with Memory.open("sqlite://") as memory:
        old = memory.learn("Test components with jest", cue=WEB).key
        memory.learn("Never commit secrets")
        overridden(memory, old)
        assert quiet(memory) == {old: ()}
        memory.learn("Test components with vitest", cue=Cue(task="test"))
        assert quiet(memory) == {old: ("Test components with vitest",)}


def test_a_rule_says_whether_it_is_in_force_or_why_it_is_quiet():
    with Memory.open("sqlite://") as memory:
        old = memory.learn("Format with prettier", cue=WEB).key
        other = memory.learn("Name hooks after their state", cue=WEB).key
        overridden(memory, old)
        states = {rule.key: rule.use.quiet for rule in memory.list(kinds=["behavior"])}
        assert states == {old: memory.get(old).use.quiet, other: None}
        assert "overridden 4 times" in states[old]
        memory.feedback(memory.active(WEB).recall_id, confirmed=[old])
        assert memory.get(old).use.quiet is None
