"""The options of the commands, and the groups of options that several commands share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from priming.cli import parse
from priming.cli.parse import complete, complete_embedders, complete_profiles
from priming.config import environment
from priming.config.store_urls import url_of, without_password
from priming.config.values import dataclass
from priming.config.words import PACK, RECALLED, RELATIONS, SOURCES
from priming.errors import ParamError, PrimingError

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.llm.protocol import Agent
    from priming.memory import Memory
    from priming.operations.service import Service
    from priming.types import Cue

TIME = "ISO 8601, in local time unless it has a zone; a day in words, such as yesterday; or how long ago, such as 10m"

Url = Annotated[
    str | None, Option("--url", metavar="URL", help="The store, e.g. sqlite:///notes.db [env: PRIMING_URL]")
]
Namespace = Annotated[
    str | None, Option("--namespace", metavar="NAME", help="The namespace [env: PRIMING_NAMESPACE]")
]
ProfileName = Annotated[
    str | None,
    Option(
        "--profile",
        metavar="NAME",
        help="The profile, see 'priming profiles' [env: PRIMING_PROFILE]",
        autocompletion=complete_profiles,
    ),
]
EmbedderName = Annotated[
    str | None,
    Option(
        "--embedder",
        metavar="NAME",
        help="The embedder: auto, wordllama, semantic, onnx or the URL of an endpoint [env: PRIMING_EMBEDDER]",
        autocompletion=complete_embedders,
    ),
]
Global = Annotated[
    bool, Option("--global", help="Use the store of all projects, in ~/.priming [env: PRIMING_HOME]")
]
Json = Annotated[bool, Option("--json", help="Print one JSON document")]
Constants = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="NAME=V",
        help="Set a constant of a profile, such as poc.spread.gain=0.9 (repeatable)",
    ),
]
NoServer = Annotated[
    bool, Option("--no-server", help="Use the file even if a server of it runs [env: PRIMING_SERVER=off]")
]

Key = Annotated[str, Argument(metavar="KEY", help="Key or id of a memory")]
Text = Annotated[str, Argument(metavar="TEXT", help="The text; - reads it from stdin")]
Source = Annotated[str, Argument(metavar="SOURCE", help="Key of the memory at which the link starts")]
Target = Annotated[str, Argument(metavar="TARGET", help="Key of the memory at which the link ends")]
Kinds = Annotated[
    list[str] | None,
    Option("--kind", metavar="KIND", help="Only this kind (repeatable)", autocompletion=complete(RECALLED)),
]
Relation = Annotated[
    str | None,
    Option("--relation", metavar="NAME", help="Only this relation", autocompletion=complete(RELATIONS)),
]
Since = Annotated[str | None, Option("--since", metavar="TIME", help=f"Only from this time on: {TIME}")]
KnownAt = Annotated[
    str | None, Option("--known-at", metavar="TIME", help=f"The state recorded at this time: {TIME}")
]
ValidThen = Annotated[
    str | None, Option("--valid-at", metavar="TIME", help=f"What was true at this time: {TIME}")
]
KnownThen = Annotated[
    str | None, Option("--known-at", metavar="TIME", help=f"What was recorded at this time: {TIME}")
]
LogSource = Annotated[
    str | None,
    Option(
        "--source",
        metavar="NAME",
        help=f"Only changes made by this source: {', '.join(SOURCES)}, {PACK}NAME@VERSION",
        autocompletion=complete(SOURCES),
    ),
]
When = Annotated[
    list[str] | None,
    Option("--when", metavar="KEY=VALUE", help="Where it applies: a pair or a JSON object (repeatable)"),
]
Limit = Annotated[int, Option("--limit", metavar="N", help="Maximum number of results")]
Session = Annotated[str | None, Option("--session", metavar="NAME", help="The session of the recall")]
Tokens = Annotated[
    int | None, Option("--tokens", metavar="N", help="Also pack the hits into at most N tokens")
]
Reason = Annotated[str | None, Option("--reason", metavar="TEXT", help="The reason, for the log")]
DryRun = Annotated[bool, Option("--dry-run", help="Only show what would change")]
Yes = Annotated[bool, Option("--yes", help="Do not ask for confirmation")]
Explain = Annotated[
    bool, Option("--explain", help="Also show what each score is the sum of, recall id and timings")
]


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
        """These options, completed by those before the command."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        chosen = {
            name: outer.get(name, value) if value in (None, False) else value for name, value in own.items()
        }
        constants = [*(outer.get("constants") or ()), *(self.constants or ())]
        return StoreOptions(**{**chosen, "constants": constants or None})

    def open(self) -> Memory:
        """The memory, through a running server of its store if there is one; the caller closes it."""
        from priming.maintenance.adoption import content_of

        settings = self.settings()
        server = not self.file_only and content_of(settings).store is None
        opened[:] = [self._open(settings, server=server)]
        return opened[0]

    def open_file(self) -> Memory:
        """The memory in the file itself, for commands that read or write files; the caller closes it."""
        return self._open(self.settings())

    def open_global(self) -> Memory | None:
        """The global store, if it exists and is not the store of ``open``; the caller closes it."""
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
        """What answers calls: a running server or this process; the caller closes it."""
        from priming.operations.client import reach
        from priming.operations.service import LocalService

        settings = self.settings(servers=True)
        url, profile = settings.store_url, settings["store.profile"]
        client = None if self.file_only else reach(url, profile=profile, settings=settings)
        return client or LocalService(url, profile=profile, settings=settings)

    def settings(self, *, servers: bool = False) -> Settings:
        """The settings from options, environment and files; with ``servers`` those of a server, or a refusal."""
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
        """The settings that options set, with the options; the library refuses a blank value."""
        values = {
            "store.url": (self._url(), "--global" if self.everywhere else "--url"),
            "store.namespace": (self.namespace, "--namespace"),
            "store.profile": (self.profile, "--profile"),
            "store.embedder": (self.embedder, "--embedder"),
        }
        return {name: (value, option) for name, (value, option) in values.items() if value is not None}

    def location(self) -> str | None:
        """The URL of the store, if any is set."""
        return self.settings().store_url

    def _url(self) -> str | None:
        """The URL of the store that an option sets."""
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

    file: Annotated[
        list[str] | None, Option("--file", metavar="PATH", help="The file being worked on (repeatable)")
    ] = None
    language: Annotated[
        list[str] | None, Option("--language", metavar="NAME", help="Its language (repeatable)")
    ] = None
    task: Annotated[
        list[str] | None, Option("--task", metavar="TEXT", help="The task at hand (repeatable)")
    ] = None
    environment: Annotated[
        list[str] | None,
        Option("--environment", metavar="NAME", help="Where it runs, e.g. production (repeatable)"),
    ] = None
    project: Annotated[
        list[str] | None, Option("--project", metavar="NAME", help="The project (repeatable)")
    ] = None
    speaker: Annotated[
        list[str] | None, Option("--speaker", metavar="NAME", help="The speaker (repeatable)")
    ] = None
    others: Annotated[
        list[str] | None, Option("--context", metavar="KEY=VALUE", help="Any other predicate (repeatable)")
    ] = None

    def cue(self, text: str | None = None) -> Cue:
        """The scope, or the context, as a cue."""
        from priming.types import Cue

        others = parse.predicates("context", self.others or [])
        for name in others:
            if name in _RESERVED:
                raise ParamError("context", name, "has its own option or argument: use that")
        return Cue(
            text,
            file=_single(self.file),
            language=_single(self.language),
            task=_single(self.task),
            environment=_single(self.environment),
            project=_single(self.project),
            speaker=_single(self.speaker),
            at=parse.optional_moment("at", getattr(self, "at", None)),
            **others,
        )


@dataclass(frozen=True, slots=True)
class ContextOptions(ScopeOptions):
    """The context of a question."""

    at: Annotated[str | None, Option("--at", metavar="TIME", help=f"The time of the question: {TIME}")] = None


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """The agent that writes text: a command or an endpoint, or none."""

    agent: Annotated[
        str | None,
        Option(
            "--agent",
            metavar="CMD",
            help="The command of the agent: prompt on stdin, JSON on stdout [env: PRIMING_AGENT]",
        ),
    ] = None
    model: Annotated[
        str | None,
        Option(
            "--model",
            metavar="URL,NAME",
            help="A model of an OpenAI-compatible endpoint [env: PRIMING_MODEL, PRIMING_AGENT_KEY]",
        ),
    ] = None

    def load(self) -> Agent | None:
        """The agent from the options, else the environment, else the user's settings."""
        from priming.config.settings import load
        from priming.llm.agents import open_agent

        return open_agent(load().agent(self.agent, self.model))


def _single(values: list[str] | None) -> str | list[str] | None:
    """A single value as itself, several as a list."""
    return values[0] if values and len(values) == 1 else values or None


_RESERVED = ("self", "text", *(field.name for field in fields(ContextOptions)))
