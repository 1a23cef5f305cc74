"""A night that asks an agent what clusters have in common."""

import threading

import pytest
from tests.rows import each_row

from priming import AgentError, CommandAgent, ParamError, ScriptedAgent

pytestmark = pytest.mark.extra  # HDBSCAN's

DISK = [
    f"The release {name} of Kestrel failed, the disk of Kestrel is full"
    for name in ("one", "two", "three", "four")
]
MORE = "The release five of Kestrel failed, the disk of Kestrel is full"
TEA = ["nobody bought green tea", "nobody bought more green tea", "nobody ever bought green tea"]
GIST = "Releases of Kestrel fail when its disk is full."
LATER = "Kestrel cannot be released from a full disk."


def saying(*gists):
    return ScriptedAgent([{"gist": gist} for gist in gists])


def failing(*_):
    raise AgentError("the agent 'x' is tired")


def answer(memory, texts, **fields):
    for number, text in enumerate(texts):
        memory.remember(text, session=f"{text[:3]}{number}", **fields)


@pytest.fixture
def lived(memory):
    answer(memory, DISK)
    return memory


def entity(memory):
    (result,) = [record for record in memory.list(kinds=["entity"]) if record.source == "sleep"]
    return result


def deep(memory, agent=None, **more):
    return memory.sleep(["deep"], agent=agent, **more)


def test_the_agents_words_are_the_text_of_the_entity_and_the_item_says_so(lived):
    agent = saying(GIST)
    (item,) = deep(lived, agent).items
    assert (item.evidence["text"], item.evidence["gist"]) == (GIST, "model")
    assert "degraded" not in item.evidence
    new = entity(lived)
    assert (new.content, new.gist, new.metadata["gist"]) == (GIST, GIST, "model")
    (prompt,) = agent.prompts
    assert all(text in prompt for text in DISK)


def test_without_an_agent_the_item_says_that_a_sentence_stands(lived):
    (item,) = deep(lived).items
    assert item.evidence["gist"] == "extractive"
    assert entity(lived).content in DISK
    assert "gist" not in entity(lived).metadata


def test_an_agent_that_fails_does_not_stop_the_night_and_the_item_says_why(lived):
    answer(lived, TEA)
    lived.remember("Lunch was late today.", session="x")
    lived.remember("Lunch was late today.", session="y")
    night = lived.sleep(agent=ScriptedAgent(failing))
    new = [item for item in night.items if item.stage == "deep"]
    assert [item.evidence["gist"] for item in new] == ["extractive"] * 2
    assert [item.evidence["degraded"] for item in new] == ["the agent 'x' is tired"] * 2
    assert {item.stage for item in night.items} >= {"light", "deep"}


def test_other_stages_do_not_ask(lived):
    agent = saying()
    lived.sleep(["decay", "light", "skill", "prune", "link"], agent=agent)
    assert agent.prompts == []


def test_a_cluster_that_is_the_same_is_not_asked_about_again(lived):
    deep(lived, saying(GIST))
    agent = saying(LATER)
    assert deep(lived, agent).items == ()
    assert agent.prompts == []
    assert deep(lived).items == ()
    assert entity(lived).content == GIST


def test_a_cluster_that_grew_is_asked_about_again(lived):
    deep(lived, saying(GIST))
    lived.remember(MORE, session="more")
    agent = saying(LATER)
    (item,) = deep(lived, agent).items
    assert (item.action, item.evidence["gist"], item.evidence["text"]) == ("update", "model", LATER)
    assert MORE in agent.prompts[0]
    assert (entity(lived).content, entity(lived).version) == (LATER, 2)


def test_a_sentence_of_the_cluster_takes_the_place_of_old_words_where_the_agent_fails(lived):
    deep(lived, saying(GIST))
    lived.remember(MORE, session="more")
    (item,) = deep(lived, ScriptedAgent(failing)).items
    assert item.evidence["degraded"] == "the agent 'x' is tired"
    assert entity(lived).content in [*DISK, MORE]
    assert "gist" not in entity(lived).metadata


def test_the_same_words_again_are_the_agents_from_then_on(lived):
    deep(lived)
    lived.remember(MORE, session="more")
    deep(lived, ScriptedAgent(lambda *_: {"gist": entity(lived).content}))
    assert entity(lived).metadata["gist"] == "model"
    assert deep(lived, saying()).items == ()


def test_what_somebody_wrote_is_not_asked_about(lived):
    deep(lived, saying(GIST))
    lived.supersede(entity(lived).key, "Mind the disk!")
    lived.remember(MORE, session="more")
    agent = saying(LATER)
    (item,) = deep(lived, agent).items
    assert (item.evidence["gist"], agent.prompts) == ("hand", [])
    assert entity(lived).content == "Mind the disk!"


@pytest.mark.parametrize(
    ("trusts", "least"),
    [
        (("user", "user", "user", "user"), "agent"),
        (("user", "agent", "user", "user"), "agent"),
        (("user", "agent", "tool", "user"), "tool"),
        (("untrusted", "agent", "tool", "user"), "untrusted"),
    ],
)
def test_its_words_are_trusted_as_the_least_of_their_sources_and_never_above_an_agent(memory, trusts, least):
    for number, (text, trust) in enumerate(zip(DISK, trusts, strict=True)):
        memory.remember(text, session=f"s{number}", trust=trust)
    deep(memory, saying(GIST))
    assert entity(memory).trust == least


def test_words_for_an_entity_that_was_a_users_make_it_an_agents(lived):
    deep(lived)
    assert entity(lived).trust == "user"
    lived.remember(MORE, session="more")
    deep(lived, saying(LATER))
    assert entity(lived).trust == "agent"


def test_what_a_dry_run_showed_is_what_is_applied_without_asking_again(lived):
    agent = saying(GIST)
    proposal = deep(lived, agent, dry_run=True)
    assert [item.evidence["text"] for item in proposal.items] == [GIST]
    assert not [record for record in lived.list(kinds=["entity"]) if record.source == "sleep"]
    lived.apply(proposal)
    assert entity(lived).content == GIST
    assert len(agent.prompts) == 1


def exported(memory, path):
    memory.export(path)
    return [line for line in path.read_text().splitlines() if '{"operation"' not in line]


def test_undo_takes_its_words_back(lived, tmp_path):
    before = exported(lived, tmp_path / "before.jsonl")
    night = deep(lived, saying(GIST))
    lived.undo(night.operation)
    assert exported(lived, tmp_path / "after.jsonl") == before


def test_while_it_thinks_others_write(open_memory, url):
    memory, other = open_memory(url), open_memory(url)
    answer(memory, DISK)

    def think(*_):
        other.remember("Lunch was late today.", key="meanwhile")
        writing = threading.Thread(target=memory.remember, args=("Tea was early.",), kwargs={"key": "beside"})
        writing.start()
        writing.join()
        return {"gist": GIST}

    (item,) = deep(memory, ScriptedAgent(think)).items
    assert item.evidence["gist"] == "model"
    assert entity(memory).content == GIST
    assert {memory.get(key).status for key in ("meanwhile", "beside")} == {"active"}


def test_what_changed_while_it_thought_is_left_for_the_next_night(lived):
    def think(*_):
        lived.forget(lived.list()[0].key)
        return {"gist": GIST}

    night = deep(lived, ScriptedAgent(think))
    assert (night.items, night.operation) == ((), None)
    assert [check.rule for check in night.checks if check.dropped] == ["unchanged-since"]


def test_an_interrupt_while_it_thinks_leaves_the_stages_before(lived):
    lived.remember("Lunch was late today.", session="x")
    lived.remember("Lunch was late today.", session="y", key="again")

    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lived.sleep(agent=ScriptedAgent(interrupted))
    assert lived.get("again").importance == 0.0
    assert not [record for record in lived.list(kinds=["entity"]) if record.source == "sleep"]
    assert lived.validate() == []
    assert deep(lived, saying(GIST)).items


def test_progress_is_told_of_each_question(lived):
    answer(lived, TEA)
    steps = []
    agent = ScriptedAgent(lambda *_: steps.append("asked") or {"gist": GIST})
    deep(lived, agent, progress=lambda done, total: steps.append((done, total)))
    assert [step for step in steps if step in ("asked", (0, 2), (1, 2))] == [(0, 2), "asked", (1, 2), "asked"]


def test_a_real_command_is_asked(lived):
    agent = CommandAgent(f'printf \'{{"gist": "{GIST}"}}\'')
    assert deep(lived, agent).items[0].evidence["text"] == GIST


@each_row("agent", ["claude -p", 7, ScriptedAgent, object()])
def test_what_is_no_agent_is_refused(lived, agent):
    with pytest.raises(ParamError, match=r"^agent = .*such as CommandAgent\('claude -p'\)$"):
        deep(lived, agent)
