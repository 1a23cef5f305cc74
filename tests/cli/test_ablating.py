"""The command that replays judged recalls without each term."""

import re

import pytest

from priming import Memory
from priming.engine import weights
from priming.engine.recall import TERMS


@pytest.fixture
def judged(shell):
    """A store in which two recalls were judged."""
    shell.ask("remember", "Kestrel signs the builds.", "--key", "signs")
    shell.ask("remember", "Gulls nest upon the cliff.", "--key", "gulls")
    for text, key in (("who signs builds", "signs"), ("where do gulls nest", "gulls")):
        found = shell.ask("recall", text)
        shell.ask("feedback", "--recall", found["recall_id"], "--used", key)
    return shell


def test_each_term_stands_in_a_row_with_its_worth_and_interval(judged):
    done = judged.run("ablate", "--no-propose")
    assert done.exit_code == 0
    assert done.stdout.startswith("priming  2 judged recalls, 2 cues\naverage precision at 10: 1.000\n")
    for term in TERMS:
        assert re.search(rf"^{term} +[+-]\d\.\d{{3}} +[+-]\d\.\d{{3}} … [+-]\d\.\d{{3}} ", done.stdout, re.M)


def test_some_terms_alone_are_asked_for_by_name(judged):
    found = judged.ask("ablate", "spread", "bm25", "--no-propose")
    assert [one["term"] for one in found["terms"]] == ["bm25", "spread"]
    assert (found["recalls"], found["cues"], found["measure"]) == (2, 2, "average precision at 10")


def test_too_few_judged_recalls_are_counted(judged):
    done = judged.run("ablate", "bm25", "--apply")
    assert done.exit_code == 0
    assert "no weights are proposed: 2 judged cues" in done.stdout
    assert judged.ask("log", "--limit", "1")[0]["kind"] == "feedback"


def test_an_unknown_term_is_refused_with_those_there_are(judged):
    done = judged.run("ablate", "luck")
    assert done.exit_code == 2
    assert "terms = 'luck': must be one of bm25, cosine" in done.stderr


def test_to_apply_without_looking_for_weights_is_refused(judged):
    done = judged.run("ablate", "--apply", "--no-propose")
    assert done.exit_code == 2
    assert "cannot stand without propose" in done.stderr


def test_weights_that_are_set_stand_in_the_figures_of_the_namespace(judged):
    with Memory.open(judged.url) as memory:
        own = memory.profile.recall.date
        with memory.writing() as now:
            weights.write(memory, memory.profile, {"date": 0.5}, {"date": own}, now)
    assert re.search(r"^priming +date +0\.5$", judged.run("stats").stdout, re.M)
    assert judged.ask("stats")["weights"] == {"priming": {"date": 0.5}}
    assert f"weights of priming: date {own:g} → 0.5" in judged.run("log", "--limit", "1").stdout
    judged.run("undo", "last")
    assert judged.ask("stats")["weights"] == {}
