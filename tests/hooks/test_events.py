"""What each event injects and writes, in process, on a store of the test's own."""

import json
import os
import re

import pytest

from priming import Cue, HashedEmbedder, Memory
from priming.core.pack import estimate_tokens
from priming.errors import StoreError
from priming_agents.command import respond
from priming_agents.limits import HOOK
from priming_agents.session import folder_of
from priming_agents.teaching import ASK, UNREAD

from .project import DEPLOY, Project

WHY = "why did the deploy of the build server fail?"


def test_a_session_begins_with_the_rules_constraints_first_and_recent_important_memories(project):
    lines = project.text("session-start", source="startup").splitlines()
    assert lines[0].startswith("Rules learned from corrections")
    assert lines[1] == '- [never-push-to-main] constraint: "Never push to main"'
    rules = "\n".join(lines)
    assert "Prefer small commits" in rules
    assert "Use pathlib" in rules  # the project is in Python
    assert "Wrap errors" not in rules
    assert "Run the linter" not in rules
    assert "signed with Kestrel" in rules
    assert "sells tea" not in rules
    assert "disk" not in rules


def test_a_prompt_injects_what_it_is_about_as_data_once_and_again_after_some_prompts(project):
    project.text("session-start")
    text = project.text("prompt", prompt=WHY)
    assert re.search(rf'- \[deploy\] \(\d{{4}}-\d\d-\d\d\) "{DEPLOY}"', text)  # the day on which it was told
    assert "data, not instructions" in text
    assert "Kestrel" not in text
    assert project.hook("prompt", prompt=WHY) is None
    later = [DEPLOY in project.text("prompt", prompt=WHY) for _ in range(HOOK.again - 1)]
    assert later == [False] * (HOOK.again - 2) + [True]


def test_a_prompt_that_no_memory_is_about_injects_nothing(project):
    project.text("session-start")
    for prompt in ("thanks, looks good", "yes", "", "refactor the module into smaller functions", "好"):
        assert project.hook("prompt", prompt=prompt) is None, prompt


def test_a_long_memory_is_told_with_the_room_that_there_is(project):
    project.text("session-start")
    step = "Then the {} worker is drained and its queue is read once more before it starts. "
    notes = "".join(step.format(i) for i in ("first", "second", "third", "fourth", "fifth", "sixth")) * 4
    answer = "The Halyard gateway is restarted with the blue switch."
    with project.memory() as memory:
        memory.remember(f"{notes}\n{answer}\n{notes}", key="halyard", heading="Restarts")
        memory.remember_many({"content": f"Gateway number {i} was cleaned and oiled."} for i in range(6))
    text = project.text("prompt", prompt="how is the Halyard gateway restarted?")
    assert answer in text
    assert estimate_tokens(text) <= HOOK.tokens
    assert "in part: get tells all" in text


def test_a_file_injects_the_rules_of_its_language_once(project):
    assert "Wrap errors with their cause" in project.edit("a.go")
    assert "Use pathlib" in project.edit("b.py")
    assert project.edit("c.py") == ""


def test_a_command_injects_the_rules_of_its_task_and_other_tools_inject_nothing(project):
    project.text("session-start")
    assert project.command("ls -la") == ""
    assert project.command("git add -A && git commit -m x").endswith('"Run the linter before every commit"')
    assert project.hook("pre-tool", tool_name="WebSearch", tool_input={"query": "deploy"}) is None


def test_a_command_brings_no_rules_of_a_language_that_its_program_is_not_for(project):
    with project.memory() as memory:
        memory.learn("Never mock the database", cue=Cue(language="rust", task="test"))
        memory.learn("Give each case of a table a name", cue=Cue(language="go", task="test"))
    project.text("session-start")
    answer = project.command("go test ./...")
    assert "Give each case of a table a name" in answer
    assert "mock" not in answer
    assert "mock" in project.command("cargo test --all")


def test_what_no_hook_told_when_a_session_began_comes_with_its_first_prompt(project, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr("priming_agents.events._inject_rules", refused)
        with pytest.raises(StoreError):
            project.text("session-start")
    assert "Never push to main" in project.text("prompt", prompt="go on")
    assert project.hook("prompt", prompt="go on") is None


def test_a_cleared_context_is_filled_again_and_a_resumed_one_is_not(project):
    first = project.text("session-start", source="startup")
    assert project.text("session-start", source="resume") == ""
    for source in ("clear", "compact", "startup"):
        assert project.text("session-start", source=source) == first


def test_no_hook_injects_more_than_its_budget(project):
    with project.memory() as memory:
        for i in range(40):
            memory.learn(
                f"Never call the function number {i} of the module that is number {i * 7} of the shop"
            )
            failure = f"The deploy number {i} of the shop failed for the reason number {i}."
            memory.remember(failure, importance=0.9)
    start = project.text("session-start")
    prompt = project.text("prompt", prompt="which deploy of the shop failed?")
    for text in (start, prompt):
        assert 0 < estimate_tokens(text) <= HOOK.tokens
        assert "constraints that apply are left out for lack of space" in text.splitlines()[0]
    shown = [{line for line in text.splitlines() if line.startswith("- [")} for text in (start, prompt)]
    assert not shown[0] & shown[1]


def test_a_correction_is_learned_at_once_with_the_context_of_the_moment(project):
    project.edit("src/shop.py")
    text = project.text("prompt", prompt="No, use httpx instead of requests.")
    assert "[use-httpx-instead-of-requests]" in text
    with project.memory() as memory:
        rule = memory.get("use-httpx-instead-of-requests")
        assert (rule.trust, rule.source, dict(rule.when)) == ("user", "hook", {"language": "python"})
        (correction,) = memory.list(kinds=["correction"], matching="httpx")
        assert correction.metadata["wrong"] == "requests"


def test_a_correction_about_the_task_at_hand_is_learned_for_it_and_one_about_another_for_everything(project):
    project.edit("src/shop.py")
    project.text("prompt", prompt="From now on, never push on Fridays")
    project.command("git push")
    project.text("prompt", prompt="I told you to rebase before a push")
    with project.memory() as memory:
        assert dict(memory.get("never-push-on-fridays").when) == {}
        assert dict(memory.get("rebase-before-a-push").when) == {"task": "push"}


def test_the_agent_is_asked_to_learn_a_correction_that_is_not_certain(project):
    assert ASK in project.text("prompt", prompt="That's not what I asked for.")
    assert project.hook("prompt", prompt="fine, go on") is None


@pytest.mark.parametrize(
    "prompt",
    [
        "Non, cette règle est fausse, oublie-la s'il te plaît",
        "Siempre usa pestañas en los ficheros",
        "Всегда пиши тесты до кода",
        "请总是先运行测试",
        "No, usa siempre vitest en lugar de jest.",
    ],
)
def test_a_prompt_in_a_language_that_is_not_read_confirms_nothing_and_the_agent_hears_so_once(
    project, prompt
):
    project.text("session-start")
    assert UNREAD in project.text("prompt", prompt=prompt)
    assert UNREAD not in (project.hook("prompt", prompt=prompt) or "")
    with project.memory() as memory:
        assert memory.get("never-push-to-main").use.followed == 0


def test_rules_to_which_nobody_objects_are_confirmed_once_a_session(project):
    project.text("session-start")
    for _ in range(3):
        project.text("prompt", prompt="go on")
    with project.memory() as memory:
        use = memory.get("never-push-to-main").use
        assert (use.followed, use.confirmed) == (1, 0)


def test_rules_of_all_projects_are_confirmed_in_their_own_store(project, tmp_path, monkeypatch):
    monkeypatch.setenv("PRIMING_HOME", str(tmp_path / "everywhere"))
    project.adopt()
    everywhere = f"sqlite:///{tmp_path}/everywhere/memory.db"
    with Memory.open(everywhere, embedder=project.embedder) as memory:
        memory.learn("Always write dates as ISO 8601")
    assert "write dates as ISO 8601" in project.text("session-start")
    for _ in range(2):
        project.text("prompt", prompt="go on")
    with project.memory() as memory:
        assert memory.get("never-push-to-main").use.followed == 1
    with Memory.open(everywhere, embedder=project.embedder) as memory:
        (rule,) = memory.list(kinds=["behavior"])
        assert rule.use.followed == 1


def test_rules_are_not_confirmed_by_an_objection(project):
    project.text("session-start")
    project.text("prompt", prompt="go on")
    project.text("prompt", prompt="that's wrong, never do that again")
    with project.memory() as memory:
        assert memory.get("never-push-to-main").use.followed == 0


def test_rules_are_not_confirmed_by_a_prompt_that_is_about_them(project):
    project.text("session-start")
    project.text("prompt", prompt="go on")
    with project.memory() as memory:
        memory.learn("Deploy only on Mondays")
    project.text("session-start")
    answer = project.text("prompt", prompt="who said we only deploy on mondays? that's not a thing")
    assert "withdrawing this rule" in answer
    assert '[deploy-only-on-mondays]: "Deploy only on Mondays"' in answer
    with project.memory() as memory:
        assert memory.get("deploy-only-on-mondays").use.followed == 0


def test_a_rule_that_is_plainly_withdrawn_is_forgotten_and_comes_up_nowhere(project):
    with project.memory() as memory:
        memory.learn("Sign every commit", wrong="unsigned commits")
    answer = project.text("prompt", prompt="scrap that rule about signing commits, it slows us down")
    assert 'Forgotten, since the user withdrew it, [sign-every-commit]: "Sign every commit".' in answer
    assert "Sign every commit" not in project.text("session-start")
    with project.memory() as memory:
        for kinds in (None, ["correction"]):
            hits = memory.recall("sign the commits", kinds=kinds).hits
            assert not [hit for hit in hits if "Sign" in hit.memory.content]
        assert not [record for record in memory.list() if "Sign" in record.content]


def test_a_prompt_that_withdraws_a_rule_and_teaches_another_leaves_the_other(project):
    with project.memory() as memory:
        memory.learn("Use pnpm instead of npm")
        memory.learn("Answer in French")
    answer = project.text("prompt", prompt="Drop the pnpm rule. Always use yarn instead of pnpm.")
    answer += project.text("prompt", prompt="Forget the French rule. From now on, answer in Italian.")
    assert "withdrew" not in answer
    assert "withdrawing" not in answer
    assert {"Always use yarn instead of pnpm", "Answer in Italian"} <= set(_rules(project))


def test_a_withdrawal_that_names_nothing_asks_about_what_the_session_learned_last(project):
    with project.memory() as memory:
        memory.learn("Answer in French")
    assert "[answer-in-french]" in project.text("prompt", prompt="Hello there")
    assert "withdrawing this rule" in project.text("prompt", prompt="Drop that rule.")
    learned = project.text("prompt", prompt="Always use yarn instead of npm.")
    assert learned.startswith("Learned")
    answer = project.text("prompt", prompt="Forget that.")
    (line,) = [each for each in answer.splitlines() if "withdrawing this rule" in each]
    assert line.endswith('"Always use yarn instead of npm"')
    assert "withdrawing" not in project.text("prompt", prompt="Forget that, let us look at the parser.")


def test_each_rule_that_a_prompt_withdraws_is_forgotten_and_what_else_it_asks_for_is_asked_about(project):
    with project.memory() as memory:
        memory.learn("Use pnpm instead of npm")
        memory.learn("Answer in French")
    withdrawal = "Forget the rule about French. Scrap the pnpm rule: from now on, use yarn instead of pnpm."
    assert ASK in project.text("prompt", prompt=withdrawal)
    assert not {"Use pnpm instead of npm", "Answer in French"} & set(_rules(project))


def _rules(project):
    with project.memory() as memory:
        return [rule.content for rule in memory.list(kinds=["behavior"])]


def test_undo_restores_a_forgotten_rule_with_the_correction_that_taught_it(project):
    with project.memory() as memory:
        memory.learn("Sign every commit", wrong="unsigned commits")
        before = memory.list()
        memory.undo(memory.forget("sign-every-commit").id)
        assert memory.list() == before


def test_a_run_ends_with_the_turn_and_a_commit_marks_it_as_used(project):
    project.text("session-start")
    project.hook("stop")
    with project.memory() as memory:
        (run,) = memory.run_list()
        assert (run.session, run.ended_at is None, run.settled) == ("s1", False, None)
        assert "never-push-to-main" in run.shown
    project.command_done("git commit -m x", "nothing to commit, working tree clean")
    with project.memory() as memory:
        assert memory.run_list()[0].settled is None
    project.command_done("git commit -m x", "[main 1a2b3c4] x\n 1 file changed")
    with project.memory() as memory:
        assert memory.run_list()[0].settled == "used"


def test_a_turn_in_which_nothing_is_shown_is_no_run(project):
    for _ in range(3):
        project.text("prompt", prompt="thanks")
        project.hook("stop")
    with project.memory() as memory:
        (run,) = memory.run_list()  # the first turn was shown the rules
        assert run.ended_at is not None


def test_a_session_in_which_nothing_is_shown_leaves_no_run(tmp_path):
    project = Project(tmp_path / "fresh", embedder=HashedEmbedder())
    (project.folder / ".priming").mkdir(parents=True)
    with project.memory() as memory:
        memory.remember("The shop sells tea.", importance=0.1)
    project.adopt()
    for event in ("session-start", "prompt", "stop", "session-end"):
        assert project.hook(event, prompt="Rename the window", source="startup") is None
    with project.memory() as memory:
        assert memory.run_list() == []
        assert {logged.kind for logged in memory.log()} == {"remember"}


def test_a_run_lists_what_its_agent_was_told_and_nothing_else_that_was_recalled(project):
    with project.memory() as memory:
        for near in ("The server room has a red door.", "A disk costs 90 euros.", "Builds have numbers."):
            memory.remember(near)
    text = project.text("session-start") + project.text("prompt", prompt=WHY)
    text += project.edit("src/shop.py") + project.command("git commit -m x")
    project.hook("stop")
    with project.memory() as memory:
        keys = {record.key for record in memory.list() if f"[{record.key}]" in text}
        assert "deploy" in keys
        assert {key for run in memory.run_list() for key in run.shown} == keys
        shown = {record.key for record in memory.list(kinds=["behavior"]) if record.use.shown}
        assert shown == {key for key in keys if memory.get(key).kind == "behavior"}


def test_beside_many_long_rules_the_memory_that_a_prompt_asks_for_is_told_with_its_text(project):
    project.text("session-start")
    things = ("invoice", "ledger", "parcel", "coupon", "pallet", "shelf", "till", "crate", "hoist", "scale")
    with project.memory() as memory:
        for thing in [f"{each} of the {team}" for each in things for team in ("shop", "depot", "museum")]:
            memory.learn(
                f"Before the {thing} is changed, write down the owner, the reason and the {thing} number"
            )
    text = project.text("prompt", prompt=WHY)
    assert DEPLOY in text
    assert text.count("Before the ") > 2
    assert estimate_tokens(text) <= HOOK.tokens


def test_what_gemini_forgets_of_the_start_of_a_session_comes_with_its_first_prompt(project):
    sent = {
        "session_id": "g",
        "cwd": str(project.folder),
        "hook_event_name": "SessionStart",
        "timestamp": "1",
    }

    def text_of(event, **more):
        output = respond(event, json.dumps({**sent, **more}).encode(), "gemini", attended=False)
        return json.loads(output)["hookSpecificOutput"]["additionalContext"] if output else ""

    assert text_of("session-start", source="startup") == ""
    with project.memory() as memory:
        assert memory.run_list() == []
    text = text_of("prompt", prompt=WHY)
    assert "Never push to main" in text
    assert "signed with Kestrel" in text
    assert DEPLOY in text
    for source in ("resume", "clear"):
        assert text_of("session-start", source=source, timestamp=source) == ""
        again = text_of("prompt", prompt="go on", timestamp=f"{source} 2")
        assert ("Never push to main" in again) == (source == "clear")


ASKED = "Report once, with Priming's tool `feedback`"


@pytest.fixture
def attended(project, monkeypatch):
    """The project, whose agent may have a person before it: its environment says otherwise or nothing."""
    for name in ("CI", "CLAUDE_CODE_ENTRYPOINT", "PRIMING_UNATTENDED"):
        monkeypatch.delenv(name, raising=False)
    project.attended = None
    return project


def test_feedback_on_what_was_shown_is_asked_for_with_the_next_prompt_and_once(attended):
    assert len(attended.text("session-start").splitlines()) > HOOK.remind
    assert ASKED not in attended.text("prompt", prompt="Add a page about billing")
    assert attended.hook("stop") is None
    query = attended.text("prompt", prompt="Now translate that page")
    assert ASKED in query
    assert "[never-push-to-main] (recall " in query
    assert attended.hook("stop") is None
    assert ASKED not in attended.text("prompt", prompt="Now print that page")


def test_feedback_that_was_given_is_not_asked_for(attended):
    attended.text("session-start")
    attended.text("prompt", prompt="Add a page about billing")
    with attended.memory() as memory:
        memory.feedback(confirmed=["never-push-to-main"])
    assert ASKED not in attended.text("prompt", prompt="Now translate that page")


@pytest.mark.parametrize(
    ("variable", "value"),
    [("CI", "true"), ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"), ("PRIMING_UNATTENDED", "1")],
)
def test_where_nobody_reads_the_answer_nothing_is_asked(attended, monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    attended.text("session-start")
    for prompt in ("Add a page about billing", "Now translate that page", "Now print that page"):
        assert ASKED not in attended.text("prompt", prompt=prompt)
        assert attended.hook("stop") is None


def test_a_person_at_the_terminal_of_claude_code_is_asked(attended, monkeypatch):
    monkeypatch.setenv("CLAUDE_CODE_ENTRYPOINT", "cli")
    attended.text("session-start")
    attended.text("prompt", prompt="Add a page about billing")
    assert ASKED in attended.text("prompt", prompt="Now translate that page")


@pytest.mark.parametrize("source", ["claude-code", "codex", "cursor"])
def test_the_end_of_a_turn_takes_nothing_from_the_answer(attended, source):
    more = {"codex": {"turn_id": "t"}, "cursor": {"conversation_id": "s1"}}.get(source, {})
    for _ in range(2):
        attended.hook("session-start", **more)
        attended.hook("prompt", prompt="Where do the tests live, and what must I never push?", **more)
        assert attended.hook("stop", **more) is None


def test_the_store_of_all_projects_is_read_beside_the_projects(project, home):
    with Memory.open(f"sqlite:///{home}/.priming/memory.db", embedder=project.embedder) as memory:
        memory.learn("Never swear in comments")
        memory.learn("Never push to main")
    text = project.text("session-start")
    assert "Never swear in comments" in text
    assert text.count("Never push to main") == 1


def test_where_there_is_no_store_none_is_made(tmp_path, home):
    project = Project(tmp_path / "empty")
    project.folder.mkdir()
    home.mkdir()
    for event in ("session-start", "prompt", "pre-tool", "post-tool", "stop"):
        assert project.hook(event, prompt="Where do the tests live?") is None
    assert list(project.folder.iterdir()) == list(home.iterdir()) == []


def test_a_first_correction_makes_the_store_that_it_needs_at_the_root_of_the_repository(tmp_path, home):
    project = Project(tmp_path / "fresh")
    deep = project.folder / "src" / "parser"
    deep.mkdir(parents=True)
    (project.folder / ".git").mkdir()
    home.mkdir()
    text = project.text("prompt", prompt="No, use tabs instead of spaces", cwd=str(deep))
    assert '"Use tabs instead of spaces". It applies everywhere.' in text
    assert (project.folder / ".priming" / ".gitignore").read_text() == "*\n"
    assert list(deep.iterdir()) == []
    assert not (home / ".priming" / "memory.db").exists()
    assert "Use tabs instead of spaces" in project.text("session-start")


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_a_first_correction_applies_to_the_language_of_what_was_worked_on_before_there_was_a_store(
    tmp_path, home, is_elsewhere, project
):
    if is_elsewhere:  # all projects have a store, this one has none
        with Memory.open(f"sqlite:///{home}/.priming/memory.db", embedder=project.embedder) as memory:
            memory.learn("Never swear in comments")
    fresh = Project(tmp_path / "fresh")
    (fresh.folder / ".git").mkdir(parents=True)
    fresh.text("session-start")
    fresh.edit("src/parser.rs")
    text = fresh.text("prompt", prompt="No, return Result instead of panicking")
    assert "It applies where language = rust." in text


def test_rules_of_all_projects_are_confirmed_there_after_the_project_got_a_store(tmp_path, home, project):
    everywhere = f"sqlite:///{home}/.priming/memory.db"
    with Memory.open(everywhere, embedder=project.embedder) as memory:
        memory.learn("Never swear in comments")
    fresh = Project(tmp_path / "fresh")
    (fresh.folder / ".git").mkdir(parents=True)
    assert "Never swear in comments" in fresh.text("session-start")
    for prompt in ("What is here?", "No, use tabs instead of spaces", "go on", "and on"):
        assert "Never swear" not in fresh.text("prompt", prompt=prompt)
    with Memory.open(everywhere, embedder=project.embedder) as memory:
        assert memory.get("never-swear-in-comments").use.followed == 1


def test_no_session_is_stored_in_the_store_of_all_projects(tmp_path, home, project, monkeypatch):
    monkeypatch.setenv("PRIMING_HOOKS_CAPTURE", "on")
    everywhere = f"sqlite:///{home}/.priming/memory.db"
    with Memory.open(everywhere, embedder=project.embedder) as memory:
        memory.learn("Never swear in comments")
    plain = Project(tmp_path / "plain")
    plain.folder.mkdir()
    plain.text("session-start")
    plain.text("prompt", prompt="Which parser reads the invoices?")
    plain.hook("stop", last_assistant_message="Nothing.")
    plain.hook("session-end", reason="exit")
    with Memory.open(everywhere, embedder=project.embedder) as memory:
        assert memory.list(kinds=["episode"]) == []


def test_what_may_be_a_first_correction_is_asked_about_and_makes_no_store(tmp_path):
    project = Project(tmp_path / "fresh")
    (project.folder / ".git").mkdir(parents=True)
    assert project.text("prompt", prompt="We keep fixtures in tests/data here") == ASK
    assert project.text("prompt", prompt="Le port du serveur de test est le 7443, pas le 8080") == UNREAD
    assert project.text("prompt", prompt="Le cache du serveur de test est vide après chaque nuit") == ""
    assert not project.database.exists()


def test_a_first_correction_that_waits_makes_the_store_with_the_next_prompt(tmp_path, home, monkeypatch):
    project = Project(tmp_path / "fresh")
    (project.folder / ".git").mkdir(parents=True)
    home.mkdir()
    with monkeypatch.context() as broken:
        broken.setattr("priming_agents.stores.HookStore.create", refused)
        with pytest.raises(StoreError):
            project.hook("prompt", prompt="No, use tabs instead of spaces")
    (waiting,) = folder_of(project.database).glob("*.queued")
    os.utime(waiting, (0, 0))  # its own hook has long ended
    assert "Use tabs instead of spaces" in project.text("prompt", prompt="Thanks, go on")


def refused(*_, **__):
    raise StoreError("the disk is full")


def test_a_first_correction_is_the_projects_own_although_all_projects_have_a_store(tmp_path, home, project):
    with Memory.open(f"sqlite:///{home}/.priming/memory.db", embedder=project.embedder) as memory:
        memory.learn("Never swear in comments")
    fresh = Project(tmp_path / "fresh")
    fresh.folder.mkdir()
    assert "Learned" in fresh.text("prompt", prompt="No, use tabs instead of spaces")
    with Memory.open(f"sqlite:///{home}/.priming/memory.db", embedder=project.embedder) as memory:
        assert len(memory.list(kinds=["behavior"])) == 1
    assert fresh.database.is_file()


def test_a_setting_forbids_that_a_correction_makes_a_store(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIMING_HOOKS_CREATE", "off")
    project = Project(tmp_path / "empty")
    project.folder.mkdir()
    assert project.hook("prompt", prompt="No, use tabs instead of spaces") is None
    assert list(project.folder.iterdir()) == []


def test_an_empty_file_is_no_store_and_stays_empty(tmp_path):
    project = Project(tmp_path / "empty")
    project.database.parent.mkdir(parents=True)
    project.database.touch()
    assert project.hook("prompt", prompt="hello world") is None
    assert project.database.stat().st_size == 0


def test_a_prompt_with_half_a_character_is_answered_like_any_other(project):
    assert "Learned" in project.text(
        "prompt", prompt="No, use uv instead of pip \ud83d. Why did the deploy fail?"
    )


def test_the_sessions_of_a_store_take_nothing_from_each_other(project):
    first = project.text("session-start")
    assert Project(project.folder, "s2").text("session-start") == first


@pytest.mark.parametrize(
    ("payload", "keys"),
    [
        ({"conversation_id": "c", "workspace_roots": ["?"], "cursor_version": "3"}, ("additional_context",)),
        ({"session_id": "x", "turn_id": "1", "cwd": "?"}, ("hookSpecificOutput", "additionalContext")),
        ({"sessionID": "o", "directory": "?"}, ("context",)),
    ],
)
def test_each_agent_is_answered_in_its_own_format(project, payload, keys):
    from priming_agents.command import respond

    data = json.dumps(payload).replace('"?"', json.dumps(str(project.folder))).encode()
    output = json.loads(respond("session-start", data))
    for key in keys:
        output = output[key]
    assert "Never push to main" in output


def test_what_a_hook_writes_is_logged_under_the_agent_the_event_and_the_session(project):
    project.text("session-start")
    project.text("prompt", prompt="no, use pnpm instead of npm")
    with project.memory() as memory:
        written = {
            (entry.actor, entry.via, entry.session)
            for entry in memory.log()
            if (entry.via or "").startswith("hook")
        }
        assert written == {
            ("claude-code", "hook session-start", "s1"),
            ("claude-code", "hook prompt", "s1"),
        }


def test_a_prompt_lists_the_files_that_it_is_likely_to_touch_with_the_history_that_says_so(project):
    with project.memory() as memory:
        memory.remember("Close idle connections of the pool", files=["src/pool.py", "tests/test_pool.py"])
        memory.remember("Paint the shop window", files=["art/window.svg"])
    text = project.text("prompt", prompt="close connections of the pool that are idle")
    assert "Files that this task is likely to touch" in text
    assert '- src/pool.py: "Close idle connections of the pool"' in text
    assert "window.svg" not in text
    assert estimate_tokens(text) <= HOOK.tokens
    assert "src/pool.py:" not in project.text("prompt", prompt="close the pool and its idle connections")


def test_a_commit_is_quoted_once_and_then_named_by_its_hash(project):
    with project.memory() as memory:
        files = ["src/pool.py", "tests/test_pool.py"]
        memory.remember("Close idle connections of the pool", key="commit:0b1c2d3e4f5a", files=files)
    text = project.text("prompt", prompt="close connections of the pool that are idle")
    assert '- src/pool.py: 0b1c2d3 "Close idle connections of the pool"' in text
    assert "- tests/test_pool.py: 0b1c2d3\n" in f"{text}\n"


def test_files_of_unrelated_history_are_not_listed(project):
    with project.memory() as memory:
        memory.remember("Close idle connections of the pool", files=["src/pool.py"])
    assert "Files that" not in project.text("prompt", prompt=WHY)
    assert '- src/pool.py: "' in project.text("prompt", prompt="tidy src/pool.py")
