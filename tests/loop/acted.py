"""What the tests of runs share: agents by rules, plans, and gates that are files."""

from __future__ import annotations

from priming.llm.scripted import ScriptedAgent
from priming.loop.run import Given, resume, run
from priming.loop.session import limits
from priming.loop.work import Work

LIMITS = limits()


def planned(*tasks, **changed):
    """An answer of the reason phase: tasks as (objective, verify)."""
    made = [{"objective": one, "delta": [], "verify": verify} for one, verify in tasks]
    plain = {"assessment": "simple", "tasks": made, "question": None, "impasse": None, "reasoning": "so"}
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
        self.said, self.allowed, self.asked = answer, allow, []

    def answer(self, _session, question):
        """What they say."""
        self.asked.append(question)
        return self.said

    def allow(self, _session, wait):
        """Whether they allow it."""
        self.asked.append((wait.what, wait.about))
        return self.allowed


class Runs:
    """Runs of scripted agents on one memory and one folder."""

    def __init__(self, memory, folder):
        self.memory, self.folder = memory, folder

    def work(self, answers, **changed):
        """What a run works with; the agent's prompts are kept."""
        self.agent = ScriptedAgent(answers)
        return Work(self.memory, self.agent, **{"yes": True, **changed})

    def run(self, answers, objective="Mend what is broken", limits=LIMITS, fresh_context=False, **changed):
        """Begin a session."""
        work = self.work(answers, **changed)
        return run(work, objective, self.folder, limits, fresh_context=fresh_context)

    def resume(self, session, answers=(), given=None, **changed):
        """Go on with one."""
        return resume(self.work(answers, **changed), session.id, given or Given())

    @property
    def phases(self):
        """The phases that the agent was asked for."""
        return [phase(one) for one in self.agent.prompts]
