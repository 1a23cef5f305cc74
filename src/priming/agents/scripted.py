"""An agent whose answers are known beforehand: for tests, and for trying things out without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from priming.agents.answers import problem_of
from priming.agents.protocol import Answer, Schema
from priming.errors import AgentError


class ScriptedAgent:
    """Gives the answers of a list, one after the other, or those of a function of prompt and schema.

    ``prompts`` are the prompts that it was asked. They are held against the schema as any agent's are.
    """

    def __init__(self, answers: Iterable[Answer] | Callable[[str, Schema], Answer]) -> None:
        self.prompts: list[str] = []
        self._answers = answers if callable(answers) else _one_by_one(list(answers))

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Give the next answer.

        >>> ScriptedAgent([{"gist": "Disks fill up."}]).answer("PRIMING-PHASE: gist", {"required": ["gist"]})
        {'gist': 'Disks fill up.'}
        """
        self.prompts.append(prompt)
        found = self._answers(prompt, schema)
        problem = problem_of(found, schema)
        if problem is not None:
            raise AgentError(f"the script's answer does not fit the schema: {problem}: give it one that does")
        return found


def _one_by_one(answers: list[Answer]) -> Callable[[str, Schema], Answer]:
    left = iter(answers)

    def next_one(_prompt: str, _schema: Schema) -> Answer:
        found = next(left, None)
        if found is None:
            raise AgentError(f"the script has no answers left, after {len(answers)}: give it more")
        return found

    return next_one
