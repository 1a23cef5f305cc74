"""What the tests of runs share: answers of agents, gates that are functions, a person, and runs."""

from __future__ import annotations

from pathlib import Path

from priming.llm.protocol import ScriptedAgent
from priming_loop.environment import LoopEnvironment
from priming_loop.run import ResumeOptions, resume, run
from priming_loop.session import Verification
from priming_loop.session_store import limits

LIMITS = limits()
PASSES, FAILS = "true", "false"
REMOVES, REMOVES_ALL = "sh -c 'rm -f left-over'", "rm -rf ."
GATES = {PASSES: None, FAILS: "", REMOVES: None, "echo 'Still loose' && false": "Still loose"}
"""What gates print when they fail, None where they pass."""


def verifier(check):
    """A verifier that calls a function of command and folder: None if the task is done, or what its gate prints."""

    def verify(command, folder, *, timeout, most_output):
        if command is None:
            return Verification(None, "unverified")
        assert timeout > 0
        output = check(command, Path(folder))
        if output is None:
            return Verification(command, "passed", 0)
        return Verification(command, "failed", 1, output[:most_output])

    return verify


verify = verifier(lambda command, _folder: GATES[command])


def statuses(session):
    """How the tasks of a session stand."""
    return [task.status for task in session.tasks]


def planned(*tasks, **changed):
    """An answer of the reason phase: tasks as (objective, verify)."""
    built = [{"objective": item, "delta": [], "verify": verify} for item, verify in tasks]
    plain = {"assessment": "simple", "tasks": built, "question": None, "impasse": None, "reasoning": "so"}
    return {**plain, **changed}


def delivered(details="Done.", **changed):
    """An answer of the act phase."""
    plain = {
        "status": "delivered",
        "details": details,
        "utilized": [],
        "obstacle": None,
        "learning": None,
    }
    return {**plain, **changed}


def blocked(obstacle="The server is down.", **changed):
    """An answer of the act phase that owns up to it."""
    return delivered("", status="blocked", obstacle=obstacle, **changed)


def impasse(subgoal="Find out how", kind="no_approach"):
    """An answer of the reason phase that owns up to it."""
    return planned(assessment="impasse", impasse={"type": kind, "subgoal": subgoal})


def unclear(question="Which of the two?"):
    """An answer of the reason phase that asks."""
    return planned(assessment="unclear", question=question)


def phase(prompt):
    """Of which phase a prompt is."""
    return prompt.split("\n")[0].removeprefix("PRIMING-PHASE: ")


class Anna:
    """A person who is there: answers and allows what they are told to, and remembers what they were asked."""

    def __init__(self, answer=None, allow=True):
        self.reply, self.allowed, self.questions = answer, allow, []

    def answer(self, _session, question):
        """What they say."""
        self.questions.append(question)
        return self.reply

    def allow(self, _session, wait):
        """Whether they allow it."""
        self.questions.append((wait.what, wait.about))
        return self.allowed


class Runs:
    """Runs of scripted agents on one memory and one folder."""

    def __init__(self, memory, folder):
        self.memory, self.folder = memory, folder
        self.gates = {}

    def _check(self, command, _folder):
        gate = self.gates.get(command)
        return GATES[command] if gate is None else gate()

    def work(self, answers, **changed):
        """What a run works with; the agent's prompts are kept."""
        self.agent = ScriptedAgent(answers)
        return LoopEnvironment(
            self.memory, self.agent, **{"yes": True, "verify": verifier(self._check), **changed}
        )

    def run(
        self,
        answers,
        objective="Mend what is broken",
        limits=LIMITS,
        fresh_context=False,
        deliberate=False,
        **changed,
    ):
        """Begin a session."""
        work = self.work(answers, **changed)
        return run(work, objective, self.folder, limits, fresh_context=fresh_context, deliberate=deliberate)

    def resume(self, session, answers=(), options=None, **changed):
        """Go on with one."""
        return resume(self.work(answers, **changed), session.id, options or ResumeOptions())

    @property
    def phases(self):
        """The phases that the agent was asked for."""
        return [phase(item) for item in self.agent.prompts]
