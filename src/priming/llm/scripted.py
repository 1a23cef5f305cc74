"""An agent with prepared answers: for tests, and for experiments without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from priming.errors import AgentError
from priming.llm.answers import problem_of
from priming.llm.protocol import Answer, Schema


class ScriptedAgent:
    """Returns the answers of a list in turn, or those of a function of prompt and schema.

    ``prompts`` are the prompts so far. The answers are checked against the schema like those of any agent.
    """

    def __init__(self, answers: Iterable[Answer] | Callable[[str, Schema], Answer]) -> None:
        self.prompts: list[str] = []
        self._answers = answers if callable(answers) else _in_turn(list(answers))

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Return the next answer.

        >>> ScriptedAgent([{"gist": "Disks fill up."}]).answer("PRIMING-PHASE: gist", {"required": ["gist"]})
        {'gist': 'Disks fill up.'}
        """
        self.prompts.append(prompt)
        answer = self._answers(prompt, schema)
        problem = problem_of(answer, schema)
        if problem is not None:
            raise AgentError(
                f"the script's answer does not fit the schema: {problem}: give an answer that does"
            )
        return answer


def _in_turn(answers: list[Answer]) -> Callable[[str, Schema], Answer]:
    left = iter(answers)

    def next_answer(_prompt: str, _schema: Schema) -> Answer:
        answer = next(left, None)
        if answer is None:
            raise AgentError(f"the script has no answers left, after {len(answers)}: give it more")
        return answer

    return next_answer
