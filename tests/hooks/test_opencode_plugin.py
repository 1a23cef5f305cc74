"""The plugin of opencode that setup writes, run in Node.js as opencode runs it."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from priming import Cue, Memory
from priming.hooks import setup

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


def run_plugin(folder, **environment):
    """What the plugin puts before the model, run in Node.js."""
    node = shutil.which("node")
    assert node, "install Node.js, for instance Debian's package nodejs: these tests run a plugin in it"
    setup.write(setup.plan("opencode", "project", remove=False))
    (folder / "run.mjs").write_text(SCRIPT)
    done = subprocess.run(
        [node, "run.mjs"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_texts_of_the_hooks_are_put_before_the_model(tmp_path):
    launcher = tmp_path / "bin" / "priming"
    launcher.parent.mkdir()
    launcher.write_text(f"#!{sys.executable}\nfrom priming.cli.start import main\nmain()\n")
    launcher.chmod(0o755)
    url = f"sqlite:///{tmp_path}/memory.db"
    with Memory.open(url) as memory:
        memory.learn("Never push to main", cue=Cue(task="push"))
        memory.remember("The deploy failed because the server was full.")
    inherited = {name: value for name, value in os.environ.items() if name != "PRIMING_EMBEDDER"}
    path = f"{launcher.parent}:{os.environ['PATH']}"
    output = run_plugin(tmp_path, **{**inherited, "PATH": path, "PRIMING_URL": url, "PYTHONUTF8": "1"})
    assert output["id"] == "priming.memory"
    assert output["other"] == []
    assert any("server was full" in text for text in output["texts"])
    assert any("Never push to main" in text for text in output["texts"])


def test_without_the_command_the_plugin_does_nothing(tmp_path):
    assert run_plugin(tmp_path, PATH=str(tmp_path))["texts"] == []
