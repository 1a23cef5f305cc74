"""The options of the commands, and the groups of options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from priming.cli import parse
from priming.cli.parse import complete, complete_embedders, complete_profiles
from priming.config import environment
from priming.config.store_urls import url_of, without_password
from priming.config.values import dataclass
from priming.config.words import PACK, RECALLED, RELATIONS, SOURCES, STAGES
from priming.errors import ParamError, PrimingError

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.llm.protocol import Agent
    from priming.memory import Memory
    from priming.operations.service import Service
    from priming.types import Cue

Words = Sequence[str] | Callable[[str], list[str]] | None
"""What the shell completes a value with."""


def option(name: str, word: str, help: str, words: Words = None, **more: Any) -> Any:
    """Declare an option with a value, for which ``word`` stands in the help."""
    return Option(name, metavar=word, help=help, autocompletion=_completing(words), **more)


def argument(word: str, help: str, words: Words = None) -> Any:
    """Declare a value that is typed without the name of an option."""
    return Argument(metavar=word, help=help, autocompletion=_completing(words))


def flag(name: str, help: str) -> Any:
    """Declare an option without a value."""
    return Option(name, help=help)


def _completing(words: Words) -> Callable[[str], list[str]] | None:
    return words if words is None or callable(words) else complete(words)


TIME = "ISO 8601, in local time unless it has a zone; a day in words, such as yesterday; or how long ago, such as 10m"

Url = Annotated[str | None, option("--url", "URL", "The store, e.g. sqlite:///notes.db [env: PRIMING_URL]")]
Namespace = Annotated[str | None, option("--namespace", "NAME", "The namespace [env: PRIMING_NAMESPACE]")]
ProfileName = Annotated[
    str | None,
    option(
        "--profile", "NAME", "The profile, see 'priming profiles' [env: PRIMING_PROFILE]", complete_profiles
    ),
]
EmbedderName = Annotated[
    str | None,
    option(
        "--embedder",
        "NAME",
        "The embedder: auto, wordllama, semantic, onnx or the URL of an endpoint [env: PRIMING_EMBEDDER]",
        complete_embedders,
    ),
]
Global = Annotated[bool, flag("--global", "Use the store of all projects, in ~/.priming [env: PRIMING_HOME]")]
Json = Annotated[bool, flag("--json", "Print one JSON document")]
Constants = Annotated[
    list[str] | None,
    option("--set", "NAME=V", "Set a constant of a profile, such as poc.spread.gain=0.9 (repeatable)"),
]
NoServer = Annotated[
    bool, flag("--no-server", "Use the file even if a server of it runs [env: PRIMING_SERVER=off]")
]

Key = Annotated[str, argument("KEY", "Key or id of a memory")]
Text = Annotated[str, argument("TEXT", "The text; - reads it from stdin")]
Source = Annotated[str, argument("SOURCE", "Key of the memory at which the link starts")]
Target = Annotated[str, argument("TARGET", "Key of the memory at which the link ends")]
Kinds = Annotated[list[str] | None, option("--kind", "KIND", "Only this kind (repeatable)", RECALLED)]
Relation = Annotated[str | None, option("--relation", "NAME", "Only this relation", RELATIONS)]
Since = Annotated[str | None, option("--since", "TIME", f"Only from this time on: {TIME}")]
KnownAt = Annotated[str | None, option("--known-at", "TIME", f"The state recorded at this time: {TIME}")]
ValidThen = Annotated[str | None, option("--valid-at", "TIME", f"What was true at this time: {TIME}")]
KnownThen = Annotated[str | None, option("--known-at", "TIME", f"What was recorded at this time: {TIME}")]
LogSource = Annotated[
    str | None,
    option(
        "--source",
        "NAME",
        f"Only changes made by this source: {', '.join(SOURCES)}, {PACK}NAME@VERSION",
        SOURCES,
    ),
]
When = Annotated[
    list[str] | None, option("--when", "KEY=VALUE", "Where it applies: a pair or a JSON object (repeatable)")
]
Limit = Annotated[int, option("--limit", "N", "Maximum number of results")]
Session = Annotated[str | None, option("--session", "NAME", "The session of the recall")]
Tokens = Annotated[int | None, option("--tokens", "N", "Also pack the hits into at most N tokens")]
Reason = Annotated[str | None, option("--reason", "TEXT", "The reason, for the log")]
DryRun = Annotated[bool, flag("--dry-run", "Only show what would change")]
Stages = Annotated[
    list[str] | None, argument("[STAGE]...", f"Only these stages: {', '.join(STAGES)}", STAGES)
]
Window = Annotated[int | None, option("--window", "N", "Latest episodes that deep reads; 500 by default")]
Yes = Annotated[bool, flag("--yes", "Do not ask for confirmation")]
Explain = Annotated[bool, flag("--explain", "Also show what each score is the sum of, recall id and timings")]


opened: list[Memory] = []
"""The memory that the command opened last."""


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Which store a command uses, and whether a person or a program reads its answer."""

    url: Url = None
    namespace: Namespace = None
    profile: ProfileName = None
    embedder: EmbedderName = None
    everywhere: Global = False
    as_json: Json = False
    file_only: NoServer = False
    constants: Constants = None

    def within(self, outer: Mapping[str, Any]) -> StoreOptions:
        """Return these options, completed by those before the command."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        chosen = {
            name: outer.get(name, value) if value in (None, False) else value for name, value in own.items()
        }
        constants = [*(outer.get("constants") or ()), *(self.constants or ())]
        return StoreOptions(**{**chosen, "constants": constants or None})

    def open(self) -> Memory:
        """Return the memory, through a running server of its store if there is one; the caller closes it."""
        from priming.maintenance.adoption import content_of

        settings = self.settings()
        server = not self.file_only and content_of(settings).store is None
        opened[:] = [self._open(settings, server=server)]
        return opened[0]

    def open_file(self) -> Memory:
        """Return the memory in the file itself, for commands that read or write files; the caller closes it."""
        return self._open(self.settings())

    def open_global(self) -> Memory | None:
        """Return the global store, if it exists and is not the store of ``open``; the caller closes it."""
        path = environment.global_store()
        own = path if self.everywhere else environment.locate(self.location()).path
        if not path.is_file() or (own is not None and own.exists() and own.samefile(path)):
            return None
        try:
            return self._open(self.settings(), url_of(path))
        except PrimingError as error:
            error.add_note("that is the global store: --no-global leaves it out")
            raise

    def service(self) -> Service:
        """Return what answers calls: a running server or this process; the caller closes it."""
        from priming.operations.client import reach
        from priming.operations.service import LocalService

        settings = self.settings(servers=True)
        url, profile = settings.store_url, settings["store.profile"]
        client = None if self.file_only else reach(url, profile=profile, settings=settings)
        return client or LocalService(url, profile=profile, settings=settings)

    def settings(self, *, servers: bool = False) -> Settings:
        """Load the settings from options, environment and files; with ``servers`` those of a server, or a refusal."""
        from priming.cli.output import settled, start_logging
        from priming.config.settings import load

        options, constants = self.overrides(), parse.constants(self.constants)
        settings = settled(
            lambda: load(options, project=not self.everywhere, servers=servers, constants=constants),
            as_json=self.as_json,
            serves=servers,
        )
        start_logging(settings["service.log_level"])
        return settings

    def overrides(self) -> dict[str, tuple[str, str]]:
        """Return the settings that options set, with the options; the library refuses a blank value."""
        values = {
            "store.url": (self._url(), "--global" if self.everywhere else "--url"),
            "store.namespace": (self.namespace, "--namespace"),
            "store.profile": (self.profile, "--profile"),
            "store.embedder": (self.embedder, "--embedder"),
        }
        return {name: (value, option) for name, (value, option) in values.items() if value is not None}

    def location(self) -> str | None:
        """Return the URL of the store, if any is set."""
        return self.settings().store_url

    def socket(self) -> Path | None:
        """Return the socket of a server of the store, where there can be one."""
        from priming.operations import local_socket

        return local_socket.of_store(self.location()) if local_socket.available() else None

    def server(self, patience: float) -> dict[str, Any] | None:
        """Return what a server of the store says of itself; None if none answers in time."""
        from priming.operations.connection import about

        path = self.socket()
        return None if path is None else about(path, patience)

    def _url(self) -> str | None:
        """Return the URL of the store that an option sets."""
        if self.url is not None and not self.url.strip():
            raise ParamError("url", self.url, "must name a store, e.g. sqlite:///notes.db, or be left out")
        if self.everywhere and self.url is not None:
            rule = "cannot be combined with --global, which names a store too: leave one out"
            raise ParamError("url", without_password(self.url), rule)
        return url_of(environment.global_store()) if self.everywhere else self.url

    def _open(self, settings: Settings, url: str | None = None, *, server: bool = False) -> Memory:
        from priming.operations.client import open_memory

        return open_memory(
            url or settings.store_url,
            namespace=settings["store.namespace"],
            profile=settings["store.profile"],
            settings=settings,
            server=server,
        )


@dataclass(frozen=True, slots=True)
class ScopeOptions:
    """Where a rule applies; any of several values of an option matches."""

    file: Annotated[list[str] | None, option("--file", "PATH", "The file being worked on (repeatable)")] = (
        None
    )
    language: Annotated[list[str] | None, option("--language", "NAME", "Its language (repeatable)")] = None
    task: Annotated[list[str] | None, option("--task", "TEXT", "The task at hand (repeatable)")] = None
    environment: Annotated[
        list[str] | None, option("--environment", "NAME", "Where it runs, e.g. production (repeatable)")
    ] = None
    project: Annotated[list[str] | None, option("--project", "NAME", "The project (repeatable)")] = None
    speaker: Annotated[list[str] | None, option("--speaker", "NAME", "The speaker (repeatable)")] = None
    others: Annotated[
        list[str] | None, option("--context", "KEY=VALUE", "Any other predicate (repeatable)")
    ] = None

    def cue(self, text: str | None = None) -> Cue:
        """Return the scope, or the context, as a cue."""
        from priming.types import Cue

        others = parse.predicates("context", self.others or [])
        for name in others:
            if name in _RESERVED:
                raise ParamError("context", name, "has its own option or argument: use that")
        own = {name: _single(getattr(self, name)) for name in _PREDICATES}
        return Cue(text, **own, at=parse.optional_moment("at", getattr(self, "at", None)), **others)


_PREDICATES = tuple(field.name for field in fields(ScopeOptions) if field.name != "others")


@dataclass(frozen=True, slots=True)
class ContextOptions(ScopeOptions):
    """The context of a question."""

    at: Annotated[str | None, option("--at", "TIME", f"The time of the question: {TIME}")] = None


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """The agent that writes text: a command or an endpoint, or none."""

    agent: Annotated[
        str | None,
        option(
            "--agent", "CMD", "The command of the agent: prompt on stdin, JSON on stdout [env: PRIMING_AGENT]"
        ),
    ] = None
    model: Annotated[
        str | None,
        option(
            "--model",
            "URL,NAME",
            "A model of an OpenAI-compatible endpoint [env: PRIMING_MODEL, PRIMING_AGENT_KEY]",
        ),
    ] = None

    def load(self) -> Agent | None:
        """Return the agent from the options, else the environment, else the user's settings."""
        from priming.config.settings import load
        from priming.llm.agents import open_agent

        return open_agent(load().agent(self.agent, self.model))


def _single(values: list[str] | None) -> str | list[str] | None:
    """Return a single value as itself, several as a list."""
    return values[0] if values and len(values) == 1 else values or None


_RESERVED = ("self", "text", *(field.name for field in fields(ContextOptions)))
