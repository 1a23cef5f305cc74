"""Commands as agents: real processes, well-behaved and not."""

import json
import os
import select
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.rows import each_row

from priming import AgentError, CommandAgent, ParamError
from priming.config.params.services import AgentParams
from priming.llm.protocol import Agent

SCHEMA = {"type": "object", "properties": {"gist": {"type": "string"}}, "required": ["gist"]}
PROMPT = "PRIMING-PHASE: gist\n\nSay it: ünïcödé 🙂\n\n{}\n"
ANSWER = {"gist": "Disks fill up."}
PATIENCE = 30

# Holds the write end of the fifo "alive" for as long as it lives: whoever reads it sees when all of these are gone.
LIVES = "import os, signal; os.open('alive', os.O_WRONLY); os.write(1, b'ready'); signal.pause()"
"""A program that says that it lives and then does nothing for ever."""
WITH_CHILD = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {LIVES!r}], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
assert child.stdout.read(5) == b"ready"
"""


@dataclass
class Programs:
    """Writes programs, and knows when those that hold the fifo are gone."""

    folder: Path
    alive: int

    def agent(self, source, **params):
        """An agent that runs a program in Python."""
        path = self.folder / "an agent.py"
        path.write_text(source)
        command = shlex.join([sys.executable, str(path)])
        return CommandAgent(command, AgentParams(**params))

    def wait_until_gone(self):
        """Read until nobody holds the fifo, which must happen."""
        os.set_blocking(self.alive, True)
        ready, _, _ = select.select([self.alive], [], [], PATIENCE)
        assert ready, "a process that should be gone lives on"
        assert os.read(self.alive, 1) == b""


@pytest.fixture
def programs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("alive")
    alive = os.open("alive", os.O_RDONLY | os.O_NONBLOCK)
    yield Programs(tmp_path, alive)
    os.close(alive)


def failure(agent, prompt=PROMPT):
    with pytest.raises(AgentError) as caught:
        agent.answer(prompt, SCHEMA)
    reply = str(caught.value)
    assert reply.startswith(f"the agent {agent.command!r} ")
    return reply.removeprefix(f"the agent {agent.command!r} ")


@pytest.mark.slow
def test_the_prompt_is_on_its_standard_input_and_the_answer_on_its_standard_output(programs):
    echo = "import sys, json; print(json.dumps({'gist': sys.stdin.buffer.read().decode()}))"
    agent = programs.agent(echo)
    assert isinstance(agent, Agent)
    assert agent.answer(PROMPT, SCHEMA) == {"gist": PROMPT}


@pytest.mark.slow
def test_a_prompt_that_is_not_read_and_a_long_one_are_no_trouble(programs):
    agent = programs.agent(f"print({json.dumps(ANSWER)!r})")
    assert agent.answer("x" * 1_000_000, SCHEMA) == ANSWER


@pytest.mark.slow
def test_prose_and_a_fence_about_the_answer_are_no_trouble(programs):
    reply = f"Sure!\n```json\n{json.dumps(ANSWER)}\n```\n"
    assert programs.agent(f"print({reply!r})").answer(PROMPT, SCHEMA) == ANSWER


@pytest.mark.slow
def test_its_complaints_are_no_part_of_the_answer(programs):
    source = f"import sys; print('{{}}' * 100_000, file=sys.stderr); print({json.dumps(ANSWER)!r})"
    assert programs.agent(source, output=1_000).answer(PROMPT, SCHEMA) == ANSWER


def test_it_learns_that_nobody_reads_its_answer(programs):
    source = "import json, os; print(json.dumps({'gist': os.environ['PRIMING_UNATTENDED']}))"
    assert programs.agent(source).answer(PROMPT, SCHEMA) == {"gist": "1"}


def test_arguments_are_split_as_a_shell_would_and_no_shell_is_run():
    agent = CommandAgent('printf %s \'{"gist": "$HOME; ls"}\'')
    assert agent.arguments == ("printf", "%s", '{"gist": "$HOME; ls"}')
    assert agent.answer(PROMPT, SCHEMA) == {"gist": "$HOME; ls"}


REPAIRS = f"""
import sys
prompt = sys.stdin.read()
good = "Your last answer" in prompt and "is not of type 'string'" in prompt
print({json.dumps(ANSWER)!r} if good else '{{"gist": 5}}')
"""


@pytest.mark.slow
def test_a_malformed_answer_is_asked_for_once_more_with_what_was_wrong(programs):
    assert programs.agent(REPAIRS).answer(PROMPT, SCHEMA) == ANSWER
    assert "asked 1 times" in failure(programs.agent(REPAIRS, repairs=0))


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply", ["", "no idea", "{'gist': 'single quotes'}", "\\x00\\xff{", '{"gist": null}']
)
def test_garbage_is_an_error_that_says_what_was_said_and_what_is_wanted(programs, reply):
    values = failure(programs.agent(f"import sys; sys.stdout.buffer.write(b'''{reply}''')"))
    assert values.startswith("gave no valid answer, asked 2 times: ")
    assert "must be one JSON object that fits the schema" in values


def test_a_program_that_is_not_there_is_said_to_be_so():
    values = failure(CommandAgent("no-such-program-anywhere -p"))
    assert (
        values
        == "cannot be run (No such file or directory): name a program that is on the PATH, or its whole path"
    )


@pytest.mark.slow
def test_a_file_that_cannot_be_run_is_said_to_be_so(programs):
    (programs.folder / "notes.txt").write_text("no program")
    assert failure(CommandAgent("./notes.txt")).startswith("cannot be run (Permission denied): ")


@pytest.mark.slow
def test_another_status_than_zero_is_an_error_with_its_complaint(programs):
    source = f"import sys; print({json.dumps(ANSWER)!r}); sys.exit('no credit left')"
    values = failure(programs.agent(source))
    assert values == "ended with status 1, must be 0: try it by hand; it complained 'no credit left'"


@pytest.mark.slow
def test_one_that_was_killed_is_an_error(programs):
    values = failure(programs.agent("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
    assert values.startswith("ended with status -9, must be 0")


@pytest.mark.slow
def test_one_that_is_late_is_killed_with_its_children(programs):
    values = failure(programs.agent(f"{WITH_CHILD}\nchild.wait()", timeout=1.0))
    assert values == "gave no answer within 1 s and was stopped: try it, or take a faster one"
    programs.wait_until_gone()


@pytest.mark.slow
def test_one_that_says_too_much_is_killed_with_its_children(programs):
    values = failure(programs.agent(f"{WITH_CHILD}\nwhile True: print('x' * 1000)", output=50_000))
    assert values == "said more than 50,000 bytes and was stopped: it must print its answer only"
    programs.wait_until_gone()


@pytest.mark.slow
def test_an_answer_of_just_the_limit_is_taken(programs):
    reply = json.dumps(ANSWER)
    assert programs.agent(f"print({reply!r}, end='')", output=len(reply)).answer(PROMPT, SCHEMA) == ANSWER
    assert failure(programs.agent(f"print({reply!r}, end='')", output=len(reply) - 1)).startswith("said more")


@pytest.mark.slow
def test_children_that_it_leaves_behind_are_killed_and_not_waited_for(programs):
    source = WITH_CHILD.replace("stdout=subprocess.PIPE", "stdout=subprocess.PIPE, stderr=sys.stdout")
    agent = programs.agent(f"{source}\nprint({json.dumps(ANSWER)!r}, flush=True)\nimport os; os._exit(0)")
    assert agent.answer(PROMPT, SCHEMA) == ANSWER
    programs.wait_until_gone()


ESCAPES = f"""
import os, sys
if os.fork() == 0:
    os.setsid()
    os.open("alive", os.O_WRONLY)
    with open("end") as end:
        end.read()
    os._exit(0)
print({json.dumps(ANSWER)!r}, flush=True)
os._exit(0)
"""


@pytest.mark.slow
def test_one_that_got_away_with_its_output_does_not_hold_up_the_answer(programs):
    os.mkfifo("end")
    ending = os.open("end", os.O_RDWR)
    assert programs.agent(ESCAPES, drain=0.2).answer(PROMPT, SCHEMA) == ANSWER
    os.close(ending)
    (programs.folder / "end").unlink()


@pytest.mark.slow
def test_an_interrupt_kills_it_with_its_children(programs):
    agent = programs.agent(
        f"{WITH_CHILD}\nimport os, signal; os.kill(os.getppid(), signal.SIGINT); child.wait()"
    )
    asking = f"from priming import CommandAgent; CommandAgent({agent.command!r}).answer('x', {{}})"
    done = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True, check=False)
    assert done.stderr.strip().endswith("KeyboardInterrupt")
    programs.wait_until_gone()


@each_row("command", ["", "  ", "''", "claude 'unclosed", "a\x00b", None, 7, ["claude"]])
def test_what_is_no_command_is_refused(command):
    with pytest.raises(ParamError, match="must be a command, quoted as for a shell, such as 'claude -p'"):
        CommandAgent(command)
