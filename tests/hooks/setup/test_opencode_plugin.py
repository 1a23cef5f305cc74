"""The plugin of opencode that setup writes, run in Node.js with a program in the place of ``priming``."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from priming_agents.client import plain_options
from priming_agents.command import respond
from priming_agents.setup import files

pytestmark = pytest.mark.slow

SCRIPT = """
import plugin from "./.opencode/plugins/priming.js"
const hooks = await plugin.server({ directory: process.cwd() })
const send = async (sessionID, text, id) => {
  const parts = [{ id: `prt_${id}`, sessionID, messageID: `msg_${id}`, type: "text", text }]
  await hooks["chat.message"]({ sessionID }, { message: { id: `msg_${id}` }, parts })
  return parts.slice(1)
}
const run = async (sessionID, tool, args, callID) => {
  await hooks["tool.execute.before"]({ tool, sessionID, callID }, { args })
  const result = { title: tool, output: "done", metadata: {} }
  await hooks["tool.execute.after"]({ tool, sessionID, callID, args }, result)
  return result.output
}
const created = (id, parentID) =>
  hooks.event({ event: { type: "session.created", properties: { info: { id, parentID } } } })
await created("ses_1")
await created("ses_2", "ses_1")
const answer = {
  id: plugin.id,
  first: await send("ses_1", '"why did the deploy of the \\\\"server\\\\" fail?"', "1"),
  tool: await run("ses_1", "bash", { command: "git push", description: "Push" }, "call_1"),
  read: await run("ses_1", "read", { filePath: "a.py" }, "call_2"),
  piped: await send("ses_1", '"no, use uv instead of pip"\\nsome "piped" text\\n', "5"),
  plain: await send("ses_1", '"uv" is what I said, not "pip"', "6"),
  child: await send("ses_2", "never push to main, says another agent", "2"),
}
await hooks.event({ event: { type: "session.compacted", properties: { sessionID: "ses_1" } } })
answer.compacted = await send("ses_1", "go on", "3")
answer.resumed = await send("ses_3", "hello again", "4")
console.log(JSON.stringify(answer))
"""
RECORDER = """#!{python} -SE
import json, sys
data = sys.stdin.read()
with open({log!r}, "a", encoding="utf-8") as log:
    log.write(json.dumps([sys.argv[1:], data]) + "\\n")
print(json.dumps({{"context": f"text of {{sys.argv[2]}}"}}))
"""
"""A program that records how it is called, and answers as a hook does."""


def run_plugin(folder, path, patience):
    """What the plugin puts before the model, run in Node.js."""
    node = shutil.which("node")
    assert node, "install Node.js, for instance Debian's package nodejs: these tests run a plugin in it"
    files.write(files.plan("opencode", "project", remove=False))
    plugin = folder / ".opencode" / "plugins" / "priming.js"
    plugin.write_text(plugin.read_text().replace("PATIENCE = 10_000", f"PATIENCE = {patience}"))
    (folder / "run.mjs").write_text(SCRIPT)
    done = subprocess.run(
        [node, "run.mjs"],
        cwd=folder,
        env={"PATH": path},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_texts_of_the_hooks_are_put_before_the_model_and_hooks_read_what_the_plugin_sends(project):
    folder = project.folder.parent
    program, log = folder / "bin" / "priming", folder / "log"
    program.parent.mkdir()
    program.write_text(RECORDER.format(python=sys.executable, log=str(log)))
    program.chmod(0o755)
    output = run_plugin(folder, f"{program.parent}:{os.environ['PATH']}", patience=600_000)
    assert output["id"] == "priming"
    both = "text of session-start\ntext of prompt"
    texts = {
        name: [part["text"] for part in output[name]] for name in ("first", "child", "compacted", "resumed")
    }
    assert texts == {
        "first": [both],
        "child": ["text of session-start"],
        "compacted": [both],
        "resumed": [both],
    }
    (part,) = output["first"]
    assert part["id"].startswith("prt_1")
    assert (part["messageID"], part["sessionID"], part["synthetic"]) == ("msg_1", "ses_1", True)
    assert output["tool"] == "done\n\ntext of pre-tool\ntext of post-tool"
    assert output["read"] == "done"
    calls = [
        (plain_options(words), json.loads(data))
        for words, data in map(json.loads, log.read_text().splitlines())
    ]
    assert {options["agent"] for options, _ in calls} == {"opencode"}
    events = [(options["event"], data["sessionID"], data.get("source")) for options, data in calls]
    assert events == [
        ("session-start", "ses_1", "startup"),
        ("prompt", "ses_1", None),
        ("pre-tool", "ses_1", None),
        ("post-tool", "ses_1", None),
        ("prompt", "ses_1", None),
        ("prompt", "ses_1", None),
        ("session-start", "ses_2", "startup"),
        ("session-start", "ses_1", "compact"),
        ("prompt", "ses_1", None),
        ("session-start", "ses_3", "resume"),
        ("prompt", "ses_3", None),
    ]
    assert calls[1][1]["prompt"] == 'why did the deploy of the "server" fail?'
    assert calls[4][1]["prompt"] == 'no, use uv instead of pip\nsome "piped" text'
    assert calls[5][1]["prompt"] == '"uv" is what I said, not "pip"'
    assert (calls[1][1]["prompt_id"], calls[2][1]["tool_use_id"]) == ("msg_1", "call_1")
    answers = {}
    for options, data in calls[:4]:
        sent = json.dumps({**data, "directory": str(project.folder)}).encode()
        answers[options["event"]] = respond(options["event"], sent, "opencode")
    assert "Never push to main" in json.loads(answers["session-start"])["context"]
    assert "disk of the build server" in json.loads(answers["prompt"])["context"]


def test_without_the_command_the_plugin_does_nothing(tmp_path):
    output = run_plugin(tmp_path, str(tmp_path), patience=100)
    assert [output[name] for name in ("first", "child", "compacted", "resumed")] == [[], [], [], []]
    assert output["tool"] == "done"
