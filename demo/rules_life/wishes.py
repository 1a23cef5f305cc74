"""What the user of a coding agent wishes, how each wish is put into words, and how it changes in three eras."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Scope = Mapping[str, str]

PYTHON, GO, TYPESCRIPT, RUST = ({"language": name} for name in ("python", "go", "typescript", "rust"))
MARKDOWN = {"language": "markdown"}
EVERYWHERE: Scope = {}


@dataclass(frozen=True, slots=True)
class Saying:
    """A correction in the user's words, and what the agent had done instead."""

    text: str
    wrong: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """What is wished from an era on, and where; without sayings: nothing any more.

    The user says the first of the sayings when the agent first does otherwise, and repeats it in the words of the
    others later. A ``silent`` state is never put into words: the user does it differently, and says so in verdicts.
    """

    era: int
    scope: Scope
    sayings: tuple[Saying, ...] = ()
    silent: bool = False
    value: str = ""
    """What the sayings ask for, by a name of the script's own: states of a wish with one value wish the same."""

    @property
    def texts(self) -> tuple[str, ...]:
        """What the sayings say."""
        return tuple(saying.text for saying in self.sayings)


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that the user cares about: what is wished of it in each era.

    ``forbids``: whether it forbids something. ``exceptions`` are wishes that hold instead where both apply.
    """

    name: str
    states: tuple[State, ...]
    forbids: bool = False
    exceptions: tuple[str, ...] = field(default=())

    def state(self, era: int) -> State | None:
        """What is wished in an era; None before the wish has begun."""
        return next((state for state in reversed(self.states) if state.era <= era), None)

    def ways(self, state: State) -> tuple[str, ...]:
        """Every way in which the value of a state is put into words, in whatever era."""
        return tuple(text for each in self.states if each.value == state.value for text in each.texts)


def steady(name: str, scope: Scope, *texts: str, wrong: str | None = None, forbids: bool = False) -> Wish:
    """A wish that never changes."""
    return Wish(name, (State(0, scope, _sayings(texts, wrong), value="always"),), forbids)


def changing(name: str, *states: State, forbids: bool = False, exceptions: tuple[str, ...] = ()) -> Wish:
    """A wish that changes with the eras."""
    return Wish(name, states, forbids, exceptions)


def since(era: int, scope: Scope, *texts: str, wrong: str | None = None, value: str = "") -> State:
    """What is wished from an era on."""
    return State(era, scope, _sayings(texts, wrong), value=value or f"era {era}")


def dropped(era: int, scope: Scope) -> State:
    """Wished no longer, and never said: the user does without."""
    return State(era, scope, silent=True)


def _sayings(texts: tuple[str, ...], wrong: str | None) -> tuple[Saying, ...]:
    return tuple(Saying(text, wrong if number == 0 else None) for number, text in enumerate(texts))


WISHES = (
    # Python
    changing(
        "http-client",
        since(
            0,
            PYTHON,
            "Use httpx instead of requests",
            "Make HTTP calls with httpx, not requests",
            wrong="requests",
            value="httpx",
        ),
        since(1, PYTHON, "Use requests instead of httpx", wrong="httpx"),
        since(2, PYTHON, "Go back to httpx for HTTP calls, not requests", wrong="requests", value="httpx"),
    ),
    changing(
        "timeout",
        since(0, PYTHON, "Set a timeout of 30 seconds on every outgoing HTTP request"),
        since(1, PYTHON, "Set a timeout of 90 seconds on every outgoing HTTP request"),
        since(2, PYTHON, "Every outgoing HTTP request gets a timeout of 10 seconds"),
    ),
    steady(
        "paths",
        PYTHON,
        "Use pathlib instead of os.path",
        "Build paths with pathlib, not with os.path",
        wrong="os.path.join",
    ),
    steady("logging", PYTHON, "Use the logging module instead of print", "Don't print, log", wrong="print"),
    changing(
        "line-length",
        since(0, PYTHON, "Keep lines under 88 characters"),
        since(1, PYTHON, "Keep lines under 100 characters", "Lines may be up to 100 characters long"),
    ),
    changing(
        "dataclasses",
        since(0, PYTHON, "Use frozen dataclasses for values, not dictionaries", wrong="dict"),
        dropped(1, PYTHON),
    ),
    steady(
        "sql",
        PYTHON,
        "Never build SQL by formatting strings",
        "Do not put values into SQL with f-strings",
        wrong="f-string",
        forbids=True,
    ),
    steady("hints", PYTHON, "Annotate the arguments and results of every public function"),
    changing(
        "factories",
        since(
            0,
            {"language": "python", "task": "test"},
            "Use factory functions instead of fixtures for test data",
            wrong="fixtures",
        ),
        dropped(2, {"language": "python", "task": "test"}),
    ),
    steady(
        "mocks",
        {"language": "python", "task": "test"},
        "Never mock the database in tests",
        "Tests must not mock the database",
        forbids=True,
    ),
    steady("bare-except", PYTHON, "Do not catch Exception without a reason in a comment", forbids=True),
    # Go
    steady(
        "wrapping",
        GO,
        "Wrap errors with fmt.Errorf and %w",
        "Use %w to wrap errors so that errors.Is still works",
        wrong="%v",
    ),
    steady("tables", {"language": "go", "task": "test"}, "Write table-driven tests"),
    changing(
        "testify",
        since(
            0,
            {"language": "go", "task": "test"},
            "Use the standard testing package instead of testify",
            wrong="testify",
        ),
        since(2, {"language": "go", "task": "test"}, "Use testify instead of plain testing", wrong="testing"),
    ),
    steady("contexts", GO, "Pass a context.Context as the first argument of everything that waits"),
    steady("goroutines", GO, "Never start a goroutine without a way to stop it", forbids=True),
    steady(
        "panics",
        GO,
        "Do not panic in library code",
        "Library code must never panic, it returns errors",
        forbids=True,
    ),
    changing(
        "go-logger",
        since(0, GO, "Log with slog, not with the log package", wrong="log.Printf"),
        since(1, GO, "Log with zap, not with slog", wrong="slog"),
    ),
    changing(
        "receivers",
        since(0, GO, "Prefer pointer receivers on structs"),
        dropped(2, GO),
    ),
    # TypeScript
    steady(
        "any",
        TYPESCRIPT,
        "Never use the type any",
        "Don't type anything as any, use unknown",
        wrong="any",
        forbids=True,
    ),
    changing(
        "semicolons",
        since(0, TYPESCRIPT, "Leave out semicolons at the end of statements", wrong=";"),
        since(1, TYPESCRIPT, "End every statement with a semicolon"),
    ),
    steady(
        "components",
        TYPESCRIPT,
        "Write function components instead of class components",
        wrong="class components",
    ),
    changing(
        "packages",
        since(0, TYPESCRIPT, "Use pnpm instead of npm", wrong="npm install", value="pnpm"),
        since(1, TYPESCRIPT, "Use bun instead of pnpm", wrong="pnpm"),
        since(2, TYPESCRIPT, "We are back on pnpm, don't use bun", wrong="bun", value="pnpm"),
    ),
    steady(
        "roles",
        {"language": "typescript", "task": "test"},
        "Query elements by role in component tests, not by test id",
        wrong="getByTestId",
    ),
    changing(
        "dates",
        since(0, TYPESCRIPT, "Format dates with date-fns instead of moment", wrong="moment"),
        since(2, TYPESCRIPT, "Format dates with Temporal instead of date-fns", wrong="date-fns"),
    ),
    changing(
        "enums",
        since(0, TYPESCRIPT, "Prefer string unions to enums", wrong="enum"),
        dropped(1, TYPESCRIPT),
    ),
    # Rust
    steady(
        "unwraps",
        RUST,
        "Never call unwrap outside tests",
        "No unwrap in production code, propagate the error with ?",
        wrong=".unwrap()",
        forbids=True,
    ),
    changing(
        "rust-errors",
        since(0, RUST, "Use anyhow for errors", wrong="Box<dyn Error>"),
        since(1, RUST, "Use thiserror for errors, not anyhow", wrong="anyhow"),
    ),
    steady("iterators", RUST, "Prefer iterators over index loops", wrong="for i in 0..n"),
    steady("unsafe", RUST, "No unsafe blocks without a comment that proves them sound", forbids=True),
    steady(
        "clippy", {"language": "rust", "task": "test"}, "Run the doc tests too when you change an example"
    ),
    # Generalised, and told again for other values
    changing(
        "early-return",
        since(0, GO, "Return early instead of nesting conditions", value="early"),
        since(1, EVERYWHERE, "Return early instead of nesting conditions", value="early"),
    ),
    changing(
        "function-length",
        since(0, PYTHON, "Keep functions under 40 lines", value="40"),
        since(1, EVERYWHERE, "Keep every function under 40 lines", value="40"),
    ),
    steady(
        "comments",
        EVERYWHERE,
        "Write comments that say why, not what the code does",
        "A comment gives the reason, never what the next line does",
    ),
    # The same slot, with another value in another language
    steady("python-indent", PYTHON, "Indent with four spaces"),
    steady("go-indent", GO, "Indent with tabs"),
    changing(
        "quotes",
        since(0, EVERYWHERE, "Use single quotes for strings", wrong="double quotes"),
        exceptions=("python-quotes",),
    ),
    steady("python-quotes", PYTHON, "Use double quotes for strings", wrong="single quotes"),
    # Tasks
    steady(
        "imperative",
        {"task": "commit"},
        "Write commit messages in the imperative mood",
        "Commit messages start with a verb in the imperative",
    ),
    changing(
        "tickets",
        since(0, {"task": "commit"}, "Start commit messages with the number of the ticket"),
        since(
            2,
            {"task": "commit"},
            "Put the number of the ticket at the end of the commit message, not at the start",
        ),
    ),
    steady(
        "secrets",
        {"task": "commit"},
        "Never commit .env files",
        "Keep .env files out of commits, always",
        forbids=True,
    ),
    steady(
        "main",
        {"task": "push"},
        "Never push to main",
        "Do not push directly to the main branch",
        wrong="git push origin main",
        forbids=True,
    ),
    steady("force", {"task": "push"}, "Never force-push to a branch that others use", forbids=True),
    steady("dependencies", {"task": "install"}, "Never add a dependency without asking first", forbids=True),
    changing(
        "coverage",
        since(0, {"task": "test"}, "Keep test coverage above 80 percent"),
        since(1, {"task": "test"}, "Keep test coverage above 90 percent"),
    ),
    changing(
        "request-size",
        since(0, {"task": "review"}, "Keep pull requests under 400 changed lines"),
        since(1, {"task": "review"}, "Keep pull requests under 200 changed lines"),
    ),
    # Releases and deployments
    changing(
        "release-day",
        since(0, {"task": "release"}, "Do not release on a Friday"),
        since(2, {"task": "release"}, "Do not release on a Monday, Fridays are fine now"),
        forbids=True,
    ),
    steady(
        "signing", {"task": "release"}, "Sign every release tag", "Release tags are signed, with git tag -s"
    ),
    steady(
        "changelog",
        {"file": "CHANGELOG.md"},
        "Describe changes in the changelog for users, not for developers",
    ),
    steady("sections", {"file": "CHANGELOG.md"}, "Sort changelog entries under Added, Changed and Fixed"),
    steady("staging", {"task": "deploy"}, "Deploy to staging before production"),
    changing(
        "replicas",
        since(0, {"file": "deploy/*.yaml"}, "Run three replicas of every service"),
        since(1, {"file": "deploy/*.yaml"}, "Run five replicas of every service"),
    ),
    steady("images", {"file": "*/Dockerfile"}, "Pin base images by their digest", wrong=":latest"),
    steady("backups", {"environment": "production"}, "Never touch production without a backup", forbids=True),
    steady(
        "reversible",
        {"file": "services/api/migrations/*"},
        "Every migration needs a downgrade that works",
        "Make each migration reversible",
    ),
    steady("indexes", {"task": "migrate"}, "Create indexes concurrently"),
    # Prose
    changing(
        "spelling",
        since(0, MARKDOWN, "Write docs in British English"),
        since(1, MARKDOWN, "Write docs in American English", wrong="British spelling"),
    ),
    steady(
        "headings",
        MARKDOWN,
        "Use sentence case in headings",
        "Headings take a capital on the first word only",
        wrong="title case",
    ),
)
