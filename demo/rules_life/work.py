"""What a coding agent works on: sessions of prompts, files and commands over four programming languages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from wishes import Scope

SUFFIXES = {
    "py": "python",
    "go": "go",
    "tsx": "typescript",
    "ts": "typescript",
    "rs": "rust",
    "md": "markdown",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One moment of a session: a prompt, a file that is changed, or a command with its task and environment."""

    prompt: str = ""
    file: str = ""
    command: str = ""
    task: str = ""
    environment: str = ""

    def meets(self, scope: Scope) -> bool:
        """Whether all conditions hold here; no condition of a file, language or task holds in a mere prompt."""
        return bool(self.file or self.command) and all(
            self._holds(name, value) for name, value in scope.items()
        )

    def _holds(self, name: str, value: str) -> bool:
        if name == "language":
            return SUFFIXES.get(self.file.rpartition(".")[2]) == value
        if name == "file":
            return fnmatchcase(self.file, value)
        return getattr(self, name) == value


@dataclass(frozen=True, slots=True)
class Activity:
    """A kind of session, how often it comes, and its steps."""

    name: str
    share: float
    steps: tuple[Step, ...]

    def meets(self, scope: Scope) -> bool:
        """Whether each condition holds at some step of it: what a wish of that scope says is of use here."""
        return all(any(step.meets({name: value}) for step in self.steps) for name, value in scope.items())


def _steps(*lines: str) -> Iterator[Step]:
    for line in lines:
        text, _, context = line.partition("  # ")
        task, _, environment = context.partition(" ")
        if text.startswith("> "):
            yield Step(prompt=text[2:])
        elif text.startswith("$ "):
            yield Step(command=text[2:], task=task, environment=environment)
        else:
            yield Step(file=text, task=task)


def _activity(name: str, share: float, *lines: str) -> Activity:
    return Activity(name, share, tuple(_steps(*lines)))


ACTIVITIES = (
    _activity(
        "api",
        5,
        "> Add a filter by country to the list of orders",
        "services/api/orders.py",
        "services/api/client.py",
        "> Cover that with a case for an unknown country",
        "services/api/tests/test_orders.py  # test",
        "$ pytest -q services/api  # test",
        "> Good, keep that",
        "$ git commit -m 'Filter orders by country'  # commit",
    ),
    _activity(
        "worker",
        5,
        "> The queue loses messages when the broker restarts",
        "services/worker/queue.go",
        "services/worker/retry.go",
        "> Show that it survives two restarts in a row",
        "services/worker/queue_test.go  # test",
        "$ go test ./...  # test",
        "> Fine, that is it",
        "$ git commit -m 'Keep messages over a restart'  # commit",
        "$ git push origin queue-restarts  # push",
    ),
    _activity(
        "web",
        5,
        "> The cart should show delivery dates",
        "web/src/Cart.tsx",
        "web/src/delivery.ts",
        "> What if there is no date yet?",
        "web/src/Cart.test.tsx  # test",
        "$ npx vitest run  # test",
        "> Looks right",
        "$ git commit -m 'Show delivery dates in the cart'  # commit",
    ),
    _activity(
        "engine",
        5,
        "> Parsing stops at the first comment",
        "engine/src/parse.rs",
        "engine/src/lib.rs",
        "> Add a nested comment as an example",
        "engine/tests/parse.rs  # test",
        "$ cargo test  # test",
        "> Thanks, done",
        "$ git commit -m 'Parse past comments'  # commit",
    ),
    _activity(
        "schema",
        2,
        "> Orders need a column for the country",
        "services/api/migrations/0042_country.py",
        "services/api/models.py",
        "$ alembic upgrade head  # migrate",
        "> And the other way round?",
        "$ alembic downgrade -1  # migrate",
        "$ git commit -m 'Add the country of an order'  # commit",
    ),
    _activity(
        "release",
        2,
        "> Prepare version 2.4",
        "CHANGELOG.md",
        "VERSION",
        "> The notes read well",
        "$ git tag v2.4.0  # release",
        "$ git push origin v2.4.0  # push",
    ),
    _activity(
        "deploy",
        2,
        "> The new worker should go out today",
        "deploy/worker.yaml",
        "services/worker/Dockerfile",
        "$ docker build -t worker services/worker  # build",
        "$ kubectl --context staging apply -f deploy/worker.yaml  # deploy staging",
        "> No errors there, go on",
        "$ kubectl --context production apply -f deploy/worker.yaml  # deploy production",
    ),
    _activity(
        "docs",
        2,
        "> Explain how orders are filtered",
        "docs/orders.md",
        "docs/index.md",
        "> Shorter, please",
        "docs/orders.md",
        "$ git commit -m 'Explain filters'  # commit",
    ),
    _activity(
        "review",
        2,
        "> Open a request for the filters",
        "$ git push origin filters  # push",
        "$ gh pr create --fill  # review",
        "> Grace asks for another name of that function",
        "services/api/orders.py",
        "$ git commit -m 'Name the filter after what it keeps'  # commit",
        "$ git push origin filters  # push",
    ),
    _activity(
        "upkeep",
        1,
        "> Bring what we depend on up to date",
        "$ uv add httpx  # install",
        "services/api/client.py",
        "$ npm install  # install",
        "web/src/api.ts",
        "> Does everything still pass?",
        "$ pytest -q services/api  # test",
        "$ npx vitest run  # test",
        "$ git commit -m 'Update dependencies'  # commit",
    ),
)
