"""The plugin of opencode that setup writes, run in Node.js with a program in the place of ``priming``."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from priming.hooks import setup
from priming.hooks.client import plain_options
from priming.hooks.command import respond

pytestmark = pytest.mark.slow

SCRIPT = """
import plugin from "./.opencode/plugins/priming.js"
const hooks = {}
const domain = (name) => ({ hook: async (event, call) => { hooks[`${name}.${event}`] = call } })
await plugin.setup({ session: domain("session"), tool: domain("tool"), location: { directory: process.cwd() } })
const sessionID = "ses_1"
await hooks["session.prompt"]({ sessionID, prompt: { text: "why did the deploy of the server fail?" } })
await hooks["tool.execute.before"]({ sessionID, tool: "bash", input: { command: "git push" } })
const done = { status: "completed", result: { content: [] } }
await hooks["tool.execute.after"]({ sessionID, tool: "bash", input: {}, ...done })
const event = { sessionID, system: [] }
hooks["session.context"](event)
const other = { sessionID: "ses_2", system: [] }
hooks["session.context"](other)
console.log(JSON.stringify({ id: plugin.id, texts: event.system.map((part) => part.text), other: other.system }))
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
    setup.write(setup.plan("opencode", "project", remove=False))
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
    assert output["id"] == "priming.memory"
    assert output["other"] == []
    assert output["texts"] == ["text of session-start", "text of prompt", "text of pre-tool"]
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    texts = {}
    for arguments, data in calls:
        options = plain_options(arguments)
        assert options["agent"] == "opencode"
        data = json.dumps({**json.loads(data), "directory": str(project.folder)}).encode()
        texts[options["event"]] = respond(options["event"], data, "opencode", server=False)
    assert list(texts) == ["session-start", "prompt", "pre-tool", "post-tool"]
    assert "Never push to main" in json.loads(texts["session-start"])["context"]
    assert "disk of the build server" in json.loads(texts["prompt"])["context"]


def test_without_the_command_the_plugin_does_nothing(tmp_path):
    assert run_plugin(tmp_path, str(tmp_path), patience=100)["texts"] == []
