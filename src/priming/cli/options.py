"""The options of the commands, and the groups of them that several share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from priming import config
from priming.cli import parse
from priming.cli.completing import embedder_names, one_of, profile_names, relation_names
from priming.errors import ParamError, PrimingError
from priming.words import KINDS, OUTCOMES, PACK, SOURCES, STATUSES, TRUST

if TYPE_CHECKING:
    from priming.engine.asking import Agent
    from priming.engine.memory import Memory
    from priming.operations.service import Service
    from priming.settings import Settings
    from priming.types import Cue

TIME = "ISO 8601, local time without a zone; or how long ago, as 10m"


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
        autocompletion=profile_names,
    ),
]
EmbedderName = Annotated[
    str | None,
    Option(
        "--embedder",
        metavar="NAME",
        help="What makes vectors: wordllama, onnx, hashed or an endpoint [env: PRIMING_EMBEDDER]",
        autocompletion=embedder_names,
    ),
]
Global = Annotated[
    bool, Option("--global", help="Work on the store of all projects, in ~/.priming [env: PRIMING_HOME]")
]
Json = Annotated[bool, Option("--json", help="Print one JSON document")]
NoServer = Annotated[
    bool,
    Option("--no-server", help="Work on the file even where a server of it runs [env: PRIMING_SERVER=off]"),
]

Key = Annotated[str, Argument(metavar="KEY", help="A memory's key or id")]
Text = Annotated[str, Argument(metavar="TEXT", help="The text; - reads it from stdin")]
Source = Annotated[str, Argument(metavar="SOURCE", help="Key of the memory that the link leaves")]
Target = Annotated[str, Argument(metavar="TARGET", help="Key of the memory that the link reaches")]
Kinds = Annotated[
    list[str] | None,
    Option("--kind", metavar="KIND", help="Only this kind (repeatable)", autocompletion=one_of(KINDS)),
]
Relation = Annotated[
    str | None,
    Option("--relation", metavar="NAME", help="Only this relation", autocompletion=relation_names),
]
Since = Annotated[str | None, Option("--since", metavar="TIME", help=f"Only from then on: {TIME}")]
Mover = Annotated[
    str | None,
    Option(
        "--source",
        metavar="NAME",
        help=f"Only what this moved: {', '.join(SOURCES)}, {PACK}NAME@VERSION",
        autocompletion=one_of(SOURCES),
    ),
]
Limit = Annotated[int, Option("--limit", metavar="N", help="At most so many")]
Status = Annotated[
    str,
    Option(
        "--status",
        metavar="NAME",
        help=f"{', '.join(STATUSES)} or any",
        autocompletion=one_of((*STATUSES, "any")),
    ),
]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command works, and whether a person or a program reads its answer."""

    url: Url = None
    namespace: Namespace = None
    profile: ProfileName = None
    embedder: EmbedderName = None
    everywhere: Global = False
    as_json: Json = False
    file_only: NoServer = False

    def within(self, outer: Mapping[str, Any]) -> Place:
        """The place, completed by options that stood before the command."""
        return Place(
            url=outer.get("url") if self.url is None else self.url,
            namespace=outer.get("namespace") if self.namespace is None else self.namespace,
            profile=outer.get("profile") if self.profile is None else self.profile,
            embedder=outer.get("embedder") if self.embedder is None else self.embedder,
            everywhere=self.everywhere or bool(outer.get("everywhere")),
            as_json=self.as_json or bool(outer.get("as_json")),
            file_only=self.file_only or bool(outer.get("file_only")),
        )

    def memory(self) -> Memory:
        """The memory to work on, by a running server of its store if there is one; to be closed by the caller."""
        from priming.operations.remote_memory import open_memory

        found = self.settings()
        return open_memory(
            found["store.url"],
            namespace=found["store.namespace"],
            profile=found["store.profile"],
            settings=found,
            server=not self.file_only,
        )

    def file(self) -> Memory:
        """The memory in the file itself, for what names files; to be closed by the caller."""
        return self._open(self.settings())

    def service(self) -> Service:
        """What answers the calls of a surface that this command is, to be closed by the caller."""
        from priming.operations.client import reach
        from priming.operations.service import LocalService

        found = self.settings()
        url, profile = found["store.url"], found["store.profile"]
        client = None if self.file_only else reach(url, profile=profile, settings=found)
        return client or LocalService(url, profile=profile, settings=found)

    def settings(self, *, servers: bool = False) -> Settings:
        """What holds here: the options, the environment and the files; those of a server where they are wanted."""
        from priming.cli.logs import begin
        from priming.settings import load

        found = load(self.options(), project=not self.everywhere, servers=servers)
        begin(found["service.log_level"])
        return found

    def options(self) -> dict[str, tuple[str, str]]:
        """The settings that options name, with the options; a blank one stays blank, for the library to refuse."""
        given = {
            "store.url": (self._url(), "--global" if self.everywhere else "--url"),
            "store.namespace": (self.namespace, "--namespace"),
            "store.profile": (self.profile, "--profile"),
            "store.embedder": (self.embedder, "--embedder"),
        }
        return {name: (value, option) for name, (value, option) in given.items() if value is not None}

    def chosen_namespace(self) -> str:
        """The namespace to work in."""
        return str(self.settings()["store.namespace"])

    def chosen_profile(self) -> str:
        """The profile to work with."""
        return str(self.settings()["store.profile"])

    def chosen_embedder(self) -> str:
        """The name of the embedder to work with."""
        return str(self.settings()["store.embedder"])

    def store(self) -> str | None:
        """The URL of the store, if one is named."""
        url: str | None = self.settings()["store.url"]
        return url

    def _url(self) -> str | None:
        """The URL of the store that an option names."""
        if self.url is not None and not self.url.strip():
            raise ParamError("url", self.url, "must name a store, e.g. sqlite:///notes.db, or be left out")
        if self.everywhere and self.url is not None:
            raise ParamError(
                "url", self.url, "cannot stand with --global, which names a store too: leave one out"
            )
        return config.url_of(config.global_store()) if self.everywhere else self.url

    def beside(self) -> Memory | None:
        """The global store, where it is there and is another one than that of ``memory``; to be closed, too."""
        path = config.global_store()
        own = path if self.everywhere else config.locate(self.store()).path
        if not path.is_file() or (own is not None and own.exists() and own.samefile(path)):
            return None
        try:
            return self._open(self.settings(), config.url_of(path))
        except PrimingError as error:
            error.add_note("that is the global store: --no-global leaves it out")
            raise

    def _open(self, found: Settings, url: str | None = None) -> Memory:
        from priming.engine.memory import Memory

        return Memory.open(
            url or found["store.url"],
            namespace=found["store.namespace"],
            profile=found["store.profile"],
            settings=found,
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a memory beside its text."""

    heading: Annotated[str | None, Option("--heading", metavar="TEXT", help="A title to find it under")] = (
        None
    )
    session: Annotated[
        str | None, Option("--session", metavar="NAME", help="The conversation that it belongs to")
    ] = None
    speaker: Annotated[str | None, Option("--speaker", metavar="NAME", help="Who said it")] = None
    occurred_at: Annotated[
        str | None, Option("--occurred-at", metavar="TIME", help=f"When it happened: {TIME}")
    ] = None
    tag: Annotated[list[str] | None, Option("--tag", metavar="TAG", help="A tag (repeatable)")] = None
    metadata: Annotated[
        str | None, Option("--metadata", metavar="JSON", help="A JSON object to keep with it")
    ] = None
    when: Annotated[
        list[str] | None,
        Option("--when", metavar="KEY=VALUE", help="Where it applies: a pair or a JSON object (repeatable)"),
    ] = None
    importance: Annotated[
        float | None, Option("--importance", metavar="X", help="In [0, 1]; 0.5 if not given")
    ] = None
    outcome: Annotated[
        str | None,
        Option("--outcome", metavar="NAME", help=", ".join(OUTCOMES), autocompletion=one_of(OUTCOMES)),
    ] = None
    source: Annotated[str | None, Option("--source", metavar="TEXT", help="Where it comes from")] = None
    trust: Annotated[
        str | None,
        Option("--trust", metavar="NAME", help=", ".join(TRUST), autocompletion=one_of(TRUST)),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Those that were given, as arguments of ``remember``."""
        given = {
            "heading": self.heading,
            "session": self.session,
            "speaker": self.speaker,
            "occurred_at": parse.optional_moment("occurred_at", self.occurred_at),
            "tags": self.tag or None,
            "metadata": None if self.metadata is None else parse.json_object("metadata", self.metadata),
            "when": parse.predicates("when", self.when) if self.when else None,
            "importance": self.importance,
            "outcome": self.outcome,
            "source": self.source,
            "trust": self.trust,
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Scope:
    """Where something applies; of what is given more than once any will do."""

    file: Annotated[
        list[str] | None, Option("--file", metavar="PATH", help="The file being worked on (repeatable)")
    ] = None
    language: Annotated[
        list[str] | None, Option("--language", metavar="NAME", help="Its language (repeatable)")
    ] = None
    task: Annotated[
        list[str] | None, Option("--task", metavar="TEXT", help="What is being done (repeatable)")
    ] = None
    environment: Annotated[
        list[str] | None,
        Option("--environment", metavar="NAME", help="Where it runs, e.g. production (repeatable)"),
    ] = None
    project: Annotated[
        list[str] | None, Option("--project", metavar="NAME", help="The project (repeatable)")
    ] = None
    speaker: Annotated[
        list[str] | None, Option("--speaker", metavar="NAME", help="Who asks (repeatable)")
    ] = None
    others: Annotated[
        list[str] | None, Option("--context", metavar="KEY=VALUE", help="Any other predicate (repeatable)")
    ] = None

    def cue(self, text: str | None = None) -> Cue:
        """The scope as a cue."""
        return _cue(self, text, None)


@dataclass(frozen=True, slots=True)
class Context(Scope):
    """What surrounds a question."""

    at: Annotated[str | None, Option("--at", metavar="TIME", help=f"The time asked from: {TIME}")] = None

    def cue(self, text: str | None = None) -> Cue:
        """The context as a cue."""
        return _cue(self, text, parse.optional_moment("at", self.at))


@dataclass(frozen=True, slots=True)
class Asked:
    """The agent that is asked where words are wanted: a command or an endpoint, or none."""

    agent: Annotated[
        str | None,
        Option(
            "--agent",
            metavar="CMD",
            help="Ask this command: prompt on its stdin, JSON on its stdout [env: PRIMING_AGENT]",
        ),
    ] = None
    model: Annotated[
        str | None,
        Option(
            "--model",
            metavar="URL,NAME",
            help="Ask this model of an OpenAI-compatible endpoint [env: PRIMING_MODEL, PRIMING_AGENT_KEY]",
        ),
    ] = None

    def agent_of(self) -> Agent | None:
        """The agent that the options name, else the environment, else the user's file of settings."""
        from priming.engine.asking import agent_of
        from priming.settings import load

        return agent_of(load().agent(self.agent, self.model))


@dataclass(frozen=True, slots=True)
class Then:
    """Another time to ask about."""

    valid_at: Annotated[
        str | None, Option("--valid-at", metavar="TIME", help=f"What was true then: {TIME}")
    ] = None
    known_at: Annotated[
        str | None, Option("--known-at", metavar="TIME", help=f"What was known then: {TIME}")
    ] = None

    def times(self) -> dict[str, datetime | None]:
        """The two times, as arguments."""
        return {
            "valid_at": parse.optional_moment("valid_at", self.valid_at),
            "known_at": parse.optional_moment("known_at", self.known_at),
        }


def _cue(scope: Scope, text: str | None, at: datetime | None) -> Cue:
    from priming.types import Cue

    other = parse.predicates("context", scope.others or [])
    for name in other:
        if name in _OPTIONS_OF_THEIR_OWN:
            raise ParamError("context", name, "has an option or argument of its own: use that")
    return Cue(
        text,
        file=_given(scope.file),
        language=_given(scope.language),
        task=_given(scope.task),
        environment=_given(scope.environment),
        project=_given(scope.project),
        speaker=_given(scope.speaker),
        at=at,
        **other,
    )


def _given(values: list[str] | None) -> str | list[str] | None:
    """One value as itself, several as a list of which any will do."""
    return values[0] if values and len(values) == 1 else values or None


_OPTIONS_OF_THEIR_OWN = ("self", "text", *(field.name for field in fields(Context)))
