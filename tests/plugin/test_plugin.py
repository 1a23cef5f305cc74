"""The plugin for Claude Code: every file has the shape that is documented, and every command line in it runs."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import invoke
from tests.rows import each_row

import priming
from priming_agents.client import plain_options
from priming_agents.command import respond
from priming_agents.setup.agent_config import hook_entries
from priming_loop import acting, planning

PLUGIN = Path(__file__).resolve().parents[2] / "plugin"
COMMANDS = sorted((PLUGIN / "commands").glob("*.md"))
AGENTS = sorted((PLUGIN / "agents").glob("*.md"))
SEED = {"arc", "think", "recall", "health", "meta", "chunk", "decay", "consolidate"}
"""The commands of Arc's table."""
OF_RULES = {"rules", "forget"}
MANIFEST = {
    *("name", "version", "description", "author", "homepage", "repository", "license", "keywords"),
    *("commands", "agents", "skills", "hooks", "mcpServers", "outputStyles", "lspServers"),
}
OF_COMMANDS = {"description", "allowed-tools", "argument-hint", "model", "disable-model-invocation"}
OF_AGENTS = {"name", "description", "tools", "model", "color"}
EVENTS = {
    *("PreToolUse", "PostToolUse", "UserPromptSubmit", "Notification", "Stop", "SubagentStop"),
    *("SessionStart", "SessionEnd", "PreCompact"),
}
TOOLS = {"Task", "Bash", "Read", "Grep", "Glob", "Edit", "Write"}
TOOLS |= {"mcp__priming__forget", "mcp__plugin_arc_priming__forget"}
HOSTILE = """Don't break "add" & 'sub'; $(touch pwned) `touch pwned` $HOME \\ 100% #1"""
"""What somebody may type after a command."""
LINES = f"""--json
QUERY
touch pwned
OBJECTIVE
touch pwned
EOF
touch pwned
'; touch pwned; '
"; touch pwned; "
\\'; touch pwned #
$ARGUMENTS ${{IFS}} $((1)) <(touch pwned) > pwned
```
touch pwned
{HOSTILE}"""
"""The same over several lines, with whatever may end a quotation or a here-document."""


def parts(path):
    """The front matter of a file, line by line, and its text."""
    head, text = re.fullmatch(r"---\n(.*?)\n---\n\n(.*)", path.read_text("utf-8"), re.DOTALL).groups()
    return dict(line.split(": ", 1) for line in head.splitlines()), text


def blocks(path, language="sh"):
    return re.findall(rf"^```{language}\n(.*?)^```$", parts(path)[1], re.DOTALL | re.MULTILINE)


def tools(value):
    return re.findall(r"(\w+)(?:\(([^)]*)\))?(?:, |$)", value)


# Shape


def test_the_plugin_has_nothing_but_what_claude_code_looks_for():
    files = {path.relative_to(PLUGIN).as_posix() for path in PLUGIN.rglob("*") if path.is_file()}
    listed = r"\.claude-plugin/(plugin\.json|icon\.png)|\.mcp\.json|hooks/hooks\.json|README\.md"
    documented = rf"{listed}|(commands|agents)/[a-z-]+\.md"
    assert all(re.fullmatch(documented, file) for file in files), files
    assert {".claude-plugin/icon.png", "README.md"} <= files


def test_the_manifest_has_a_name_in_kebab_case_and_only_fields_that_are_documented():
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    assert set(manifest) <= MANIFEST
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", manifest["name"])
    assert manifest["version"] == priming.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert 50 <= len(manifest["description"]) <= 200
    assert set(manifest["author"]) <= {"name", "email", "url"}


def test_the_commands_are_those_of_the_seed_and_two_for_rules():
    assert {path.stem for path in COMMANDS} == SEED | OF_RULES


def test_the_icon_is_a_square_png():
    head = (PLUGIN / ".claude-plugin" / "icon.png").read_bytes()[:24]
    assert head.startswith(b"\x89PNG\r\n")
    assert head[16:20] == head[20:24]


@pytest.mark.parametrize("name", sorted(OF_RULES))
def test_a_command_for_rules_lists_them_with_their_keys(desk, name):
    assert invoke(["learn", "Use uv instead of pip"]).exit_code == 0
    (script,) = blocks(PLUGIN / "commands" / f"{name}.md")
    assert "use-uv-instead-of-pip" in desk.run(script)


@each_row("path", COMMANDS)
def test_a_command_says_what_it_does_what_it_takes_and_what_it_may_use(path):
    head, text = parts(path)
    assert set(head) <= OF_COMMANDS
    assert len(head["description"]) <= 60
    assert ("argument-hint" in head) is ("$ARGUMENTS" in text)
    if "argument-hint" in head:
        assert re.fullmatch(r'"\[\w+\]"', head["argument-hint"])
    assert {name for name, _ in tools(head["allowed-tools"])} <= TOOLS


@each_row("path", COMMANDS)
def test_a_command_may_run_each_line_that_it_names_and_nothing_else(path):
    allowed = [rule for name, rule in tools(parts(path)[0]["allowed-tools"]) if name == "Bash"]
    lines = [block.splitlines()[0] for block in blocks(path)]
    prefixes = [rule.removesuffix(":*") for rule in allowed]
    assert all(rule.startswith("priming ") and rule.endswith(":*") for rule in allowed)
    assert all(any(line.startswith(f"{prefix} ") for prefix in prefixes) for line in lines)
    assert all(any(line.startswith(f"{prefix} ") for line in lines) for prefix in prefixes)


@pytest.mark.parametrize("path", AGENTS, ids=lambda path: path.stem)
def test_an_agent_has_its_name_says_when_it_is_wanted_and_may_use_what_it_needs(path):
    head, text = parts(path)
    assert {"name", "description", "model"} <= set(head) <= OF_AGENTS
    assert head["name"] == path.stem
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{1,48}[a-z0-9]", head["name"])
    assert head["description"].startswith("Use this agent")
    assert head["model"] in ("inherit", "sonnet", "opus", "haiku")
    assert head["color"] in ("blue", "cyan", "green", "yellow", "magenta", "red")
    assert {name for name, _ in tools(head.get("tools", ""))} <= TOOLS
    assert 20 <= len(text) <= 10_000


def test_who_reasons_may_only_read():
    assert {name for name, _ in tools(parts(PLUGIN / "agents" / "arc-reason.md")[0]["tools"])} == {
        *("Read", "Grep", "Glob")
    }


@pytest.mark.parametrize(("name", "schema"), [("arc-reason", planning.SCHEMA), ("arc-act", acting.SCHEMA)])
def test_an_agent_is_asked_for_what_the_loop_asks_for(name, schema):
    (shown,) = blocks(PLUGIN / "agents" / f"{name}.md", "json")
    answer = json.loads(shown)
    assert list(answer) == list(schema["properties"])
    choices = "status" if name == "arc-act" else "assessment"
    assert answer[choices].split(" | ") == schema["properties"][choices]["enum"]
    if name == "arc-reason":
        assert list(answer["tasks"][0]) == list(schema["properties"]["tasks"]["items"]["properties"])
        text = parts(PLUGIN / "agents" / "arc-reason.md")[1]
        kinds = schema["properties"]["impasse"]["properties"]["type"]["enum"]
        assert all(kind in text for kind in kinds)


def test_commands_name_the_agents_that_exist():
    names = {name for path in COMMANDS for name in re.findall(r"`([\w:]*arc-\w+)`", path.read_text("utf-8"))}
    assert names == {
        f"arc:{path.stem}" for path in AGENTS
    }  # Claude Code knows them by the plugin's name as well


def test_the_hooks_are_those_that_setup_writes():
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text("utf-8"))
    assert set(hooks) <= {"description", "hooks"}
    assert set(hooks["hooks"]) <= EVENTS
    for groups in hooks["hooks"].values():
        for group in groups:
            assert set(group) <= {"matcher", "hooks"}
            for hook in group["hooks"]:
                assert set(hook) == {"type", "command", "timeout"}
                assert hook["type"] == "command"
    entries = hook_entries("claude-code", ["priming"])
    assert hooks["hooks"] == {event: [entry] for event, entry in entries}


# Every command line, run on a store


class Desk:
    """A project in which the command lines of the plugin are run in process."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, script, status=0):
        """What a command line prints; ``< FILE`` gives it the file as standard input."""
        line, _, file = script.strip().partition(" < ")
        program, *arguments = shlex.split(line)
        assert program == "priming"
        text = (self.folder / file).read_text("utf-8") if file else None
        done = invoke(arguments, text)
        assert done.exit_code == status, (script, done.stdout, done.stderr)
        return done.stdout

    def write(self, path, text):
        """Write a file, as an agent's tool does; values as JSON."""
        file = self.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")

    def ask(self, script, status=0):
        """The JSON that a command line answers."""
        return json.loads(self.run(script, status=status))


class ShellDesk(Desk):
    """A project in which a shell runs the command lines, as an agent does."""

    def run(self, script, status=0, stdin=""):
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["/bin/sh", "-c", script],
            cwd=self.folder,
            env={**os.environ, "PATH": path, "PYTHONUTF8": "1"},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == status, (script, done.stdout, done.stderr)
        assert not (self.folder / "pwned").exists(), script
        return done.stdout


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty project, which is the working directory."""
    for name in [name for name in os.environ if name.startswith(("PRIMING_", "ARC_"))]:
        monkeypatch.delenv(name)
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def desk(project):
    return Desk(project)


@pytest.fixture
def shell_desk(project):
    return ShellDesk(project)


def filled(script, **values):
    """A command line of the plugin as an agent fills it in; nothing may be left open."""
    for name, value in values.items():
        script = script.replace(f"'{name}'", shlex.quote(value))
    assert not re.search(r"'[A-Z]{2,}'(?!\n)", script), script
    return script


def drive(desk, text):
    """Drive the loop with the command lines of ``/arc:arc``; ``text`` is what a user, or a sub-agent, says."""
    new, context, add, pivot, complete, block, store, report = blocks(PLUGIN / "commands" / "arc.md")
    desk.write(".priming/lesson.json", {"trigger": "Make the file done", "resolution": text})
    desk.ask(filled(store, SESSION="earlier"))
    desk.write(".priming/objective.txt", text)
    session = desk.ask(filled(new))["session_id"]
    assert desk.ask(filled(context, SESSION=session))["objective"] == text
    (shown,) = [memory["name"] for memory in desk.ask("priming loop recall 'make a file' --json")]
    first = {"seq": 1, "objective": text, "delta": ["done"], "verify": "test -e done", "injected": [shown]}
    second = {"seq": 2, "objective": "Reach the moon", "delta": [], "verify": "false", "injected": []}
    for task in (first, second):
        desk.write(".priming/task.json", task)
        desk.ask(filled(add, SESSION=session))
    desk.ask(filled(pivot, SESSION=session))
    desk.write(".priming/done.json", {"seq": 1, "delivered": text, "utilized": [shown]})
    done = filled(complete, SESSION=session)
    assert desk.ask(done, status=3)["status"] == "pending"
    (desk.folder / "done").touch()
    assert desk.ask(done)["feedback"]["helped"] == 1
    desk.write(".priming/blocked.json", {"seq": 2, "reason": text, "utilized": []})
    blocked = desk.ask(filled(block, SESSION=session))
    assert (blocked["status"], blocked["reason"]) == ("blocked", text)
    tasks = desk.ask(f"priming loop task get --session {session} --json")
    assert [task["delivered"] for task in tasks] == [text, f"BLOCKED: {text}"]
    desk.run(filled(report, SESSION=session))
    kinds = {memory["type"] for memory in desk.ask("priming loop recall 'reach the moon' --json")}
    assert "failure" in kinds


@pytest.mark.slow
@pytest.mark.parametrize("text", ["Make the file done", HOSTILE, LINES], ids=["plain", "line", "lines"])
def test_the_loop_is_driven_from_begin_to_end(desk, text):
    drive(desk, text)


@pytest.mark.slow
def test_a_shell_that_drives_the_loop_reads_none_of_what_is_said(shell_desk):
    drive(shell_desk, LINES)


def test_no_command_line_holds_what_a_user_or_an_agent_says():
    lines = [line for path in COMMANDS for block in blocks(path) for line in block.splitlines()]
    assert not [line for line in lines if "$" in line or "<<" in line or "`" in line]
    # The only value in a command line is an id that Priming made.
    assert {value for line in lines for value in re.findall(r"'(\w+)'", line)} == {"SESSION"}
    written = {file for line in lines for file in re.findall(r"(?:< |--values )(\S+)", line)}
    texts = "".join(path.read_text("utf-8") for path in COMMANDS)
    assert all(f"`{file}`" in texts for file in written)


@pytest.mark.slow
def test_thinking_gathers_and_changes_nothing(desk):
    (context,) = blocks(PLUGIN / "commands" / "think.md")
    desk.write(".priming/objective.txt", LINES)
    assert desk.ask(filled(context))["objective"] == LINES
    assert desk.ask("priming log --json") == []


@pytest.mark.parametrize("text", [HOSTILE, LINES])
def test_recall_takes_whatever_is_typed(desk, text):
    (recall,) = blocks(PLUGIN / "commands" / "recall.md")
    desk.write(".priming/query.txt", text)
    assert desk.ask(filled(recall)) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "file"), [("recall", "query"), ("think", "objective")])
@pytest.mark.parametrize("text", [HOSTILE, LINES], ids=["line", "lines"])
def test_a_shell_passes_on_whatever_is_typed_and_runs_none_of_it(shell_desk, name, file, text):
    (script,) = blocks(PLUGIN / "commands" / f"{name}.md")
    shell_desk.write(f".priming/{file}.txt", text)
    shell_desk.ask(filled(script))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[1]", "a JSON object"),
        ("{", "must be JSON"),
        ("[" * 100_000, "nested"),
        (None, "must be a file"),
        ('{"colour": "red"}', "--colour"),
    ],
)
def test_values_that_are_no_options_are_refused(desk, text, rule):
    if text is not None:
        desk.write("values.json", text)
    done = invoke(["loop", "task", "block", "--session", "s", "--values", "values.json"])
    assert done.exit_code == 2
    assert rule in done.stderr


@pytest.mark.parametrize("name", ["health", "decay", "consolidate"])
def test_the_care_of_the_memory_runs(desk, name):
    desk.write(".priming/decay.json", {"days": 3})
    for script in blocks(PLUGIN / "commands" / f"{name}.md"):
        desk.run(filled(script))


@pytest.mark.parametrize("name", ["meta", "chunk"])
def test_what_looks_at_a_session_runs(desk, name):
    session = desk.ask("priming loop task new-session --json")["session_id"]
    desk.write(".priming/session.txt", f"{session}\n")
    desk.write(".priming/chunk.json", {"task": "Mend the gate", "approach": LINES})
    for script in blocks(PLUGIN / "commands" / f"{name}.md"):
        desk.run(filled(script))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["meta", "chunk"])
@pytest.mark.parametrize("text", [HOSTILE, LINES], ids=["line", "lines"])
def test_a_shell_reads_nothing_of_what_is_typed_for_a_session(shell_desk, name, text):
    shell_desk.write(".priming/session.txt", text)
    for script in blocks(PLUGIN / "commands" / f"{name}.md"):
        if "session.txt" in script:
            shell_desk.run(script, status=2)


EXAMPLES = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "No, use touch, never cat."},
    "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}},
    "PostToolUse": {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": ""}},
    "Stop": {"stop_hook_active": False},
    "SessionEnd": {"reason": "exit"},
}


@pytest.mark.parametrize("event", EXAMPLES)
def test_each_hook_runs_and_outputs_nothing_or_what_claude_code_reads(desk, event):
    desk.run("priming remember 'Use touch, never cat.' --kind behavior")
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
    ((hook,),) = [group["hooks"] for group in hooks[event]]
    common = {"session_id": "s1", "cwd": str(desk.folder), "hook_event_name": event}
    options = plain_options(shlex.split(hook["command"])[1:])
    output = respond(options["event"], json.dumps({**common, **EXAMPLES[event]}).encode(), options["agent"])
    if output:
        assert json.loads(output)["hookSpecificOutput"]["hookEventName"] == event


def test_all_hooks_are_run_here():
    assert set(json.loads((PLUGIN / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]) == set(EXAMPLES)


@pytest.mark.slow
def test_the_server_that_is_named_speaks_mcp(shell_desk):
    servers = json.loads((PLUGIN / ".mcp.json").read_text("utf-8"))
    assert set(servers) == {"mcpServers"}
    entry = servers["mcpServers"]["priming"]
    assert set(entry) <= {"command", "args", "env", "alwaysLoad"}
    assert entry["alwaysLoad"]
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    printed = shell_desk.run(shlex.join([entry["command"], *entry["args"]]), stdin=json.dumps(hello) + "\n")
    assert json.loads(printed.splitlines()[0])["result"]["serverInfo"]["name"] == "priming"
