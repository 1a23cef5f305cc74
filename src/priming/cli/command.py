"""typer as the command line uses it: the root, groups with panels in the help, functions as commands, and failures.

A failure is one line on stderr, or one JSON object, and an exit status:
0 done · 1 failure · 2 bad input · 130 interrupted · 141 the reader of a pipe went away
"""

from __future__ import annotations

import functools
import inspect
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import fields, is_dataclass
from inspect import Parameter
from types import ModuleType
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from typer.core import TyperGroup

from priming.cli import output
from priming.cli.options import StoreOptions, flag, opened
from priming.cli.output import clean
from priming.config.caller import Caller, calling
from priming.config.environment import default_actor
from priming.config.values import dataclass
from priming.config.variables import VERSION
from priming.errors import Conflict, NotFound, ParamError, PrimingError
from priming.results import Listing
from priming.serialization import encode
from priming.text.quotation import json_text

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Answer:
    """A command's answer: ``value`` for programs, ``parts`` for people, and the exit status."""

    value: Any
    parts: Iterable[output.Part]
    status: int = 0


class Group(TyperGroup):
    """A group whose help lists its commands by panel, each with its whole summary."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands. The classes of the arguments depend on the version of typer."""
        panels: dict[str, list[tuple[str, str]]] = {}
        width = max(map(len, self.list_commands(ctx)))
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                panel = getattr(command, "rich_help_panel", None) or ""
                panels.setdefault(panel, []).append((name.ljust(width), _summary(command.help or "")))
        for panel, rows in panels.items():
            with formatter.section(panel if len(panels) > 1 else "Commands"):
                formatter.write_dl(rows)


class Root(Group):
    """The group of all commands, which reports what they raise."""

    def main(self, *positional: Any, **named: Any) -> Any:
        """Parse, run, and end the process with the exit status, as typer does but for its reports of errors."""
        args = positional[0] if positional else named.get("args")
        name = named.get("prog_name") or "priming"
        words = list(sys.argv[1:] if args is None else args)
        prepare_streams()
        self._main_shell_completion({}, name)

        def run() -> None:
            with self.make_context(name, list(words)) as context:
                self.invoke(context)

        sys.exit(guarded(run, as_json=wants_json(words)))


def create(*modules: ModuleType, only: str = "") -> typer.Typer:
    """Return the command line with the commands of the given modules, or of ``only`` one name if it is a command."""
    app = typer.Typer(
        name="priming",
        cls=Root,
        help="Associative memory for AI agents.",
        epilog="--url, --namespace, --profile, --embedder, --global, --no-server, --set and --json may come"
        " before or after the command. Exit status: 0 done, 1 failure, 2 bad input, 130 interrupted.",
        invoke_without_command=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    store = Parameter("store", Parameter.KEYWORD_ONLY, annotation=StoreOptions)
    version = Annotated[bool, flag("--version", "Print the version and exit")]
    shown = Parameter("version", Parameter.KEYWORD_ONLY, default=False, annotation=version)
    _declare(root, [*_singles(store), shown])  # each command reads the options of the store from the context
    app.callback()(root)
    parts = [part for module in modules for part in module.GROUPS]
    for part in _named(only, parts) or parts:
        _declare_commands(part)
        app.add_typer(part)
    return app


def _named(only: str, parts: Iterable[typer.Typer]) -> list[typer.Typer]:
    """Return the command or the group of a name, alone: to declare all others takes as long as a recall."""
    for part in parts:
        if part.info.name == only:
            return [part]
        commands = [info for info in part.registered_commands if info.name == only]
        if commands and not isinstance(part.info.name, str):
            alone = copy(part)
            alone.registered_commands = commands
            return [alone]
    return []


def _declare_commands(app: typer.Typer) -> None:
    """Give each command its signature, which is left until here because most calls need that of one command only."""
    for info in app.registered_commands:
        getattr(info.callback, "declare", bool)()
    for inner in app.registered_groups:
        if inner.typer_instance is not None:
            _declare_commands(inner.typer_instance)


def root(context: typer.Context, *, version: bool, as_json: bool, **_others: Any) -> None:
    """Associative memory for AI agents."""
    if version:
        typer.echo(json.dumps({"version": VERSION}) if as_json else f"priming {VERSION}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        if as_json:
            context.fail("Missing command.")
        typer.echo(context.get_help())


def group(
    panel: str, name: str | None = None, help: str | None = None, *, cls: type[Group] = Group
) -> typer.Typer:
    """Return a group of commands, listed in a panel of the help; without a name its commands join the group above."""
    app = typer.Typer(name=name, help=help, cls=cls)
    app.info.rich_help_panel = panel
    return app


def command(app: typer.Typer, name: str | None = None, *, hidden: bool = False) -> Callable[[F], F]:
    """Register a function as a command: its first parameter is ``StoreOptions``, its result an ``Answer``.

    A parameter whose type is a dataclass of options expands to all of them; the options of the store come last
    in the help. Options before the command count unless they are repeated after it.
    """

    def register(function: F) -> F:
        def parameters() -> list[Parameter]:
            return [*inspect.signature(function, eval_str=True).parameters.values()]

        register_lazily(app, name or function.__name__.replace("_", "-"), function, parameters, hidden=hidden)
        return function

    return register


def register_lazily(
    app: typer.Typer,
    name: str,
    function: Callable[..., Answer],
    parameters: Callable[[], Sequence[Parameter]],
    *,
    hidden: bool = False,
) -> None:
    """Register a function as ``command`` does, whose parameters are asked for when its options are needed."""
    parameters = functools.cache(parameters)

    @functools.wraps(function)
    def run(context: typer.Context, **values: Any) -> None:
        store, *own = parameters()
        options = _gather(store, values).within(context.find_root().params)
        opened.clear()  # of a command before, in one process
        with calling(Caller(default_actor(), _command_name(context))):
            respond(options, function(options, **{each.name: _gather(each, values) for each in own}))
            make_vectors(options)

    def declare() -> None:
        store, *own = parameters()
        run.__doc__ = function.__doc__
        _declare(run, [single for each in (*own, store) for single in _singles(each)])

    run.declare = declare  # type: ignore[attr-defined]
    panel = app.info.rich_help_panel
    app.command(name, hidden=hidden, rich_help_panel=panel if isinstance(panel, str) else None)(run)


def _command_name(context: typer.Context) -> str:
    """Return the command as typed, without its options; the log records it as ``via``."""
    _, _, words = context.command_path.partition(" ")
    return f"command {words}"


def respond(store: StoreOptions, answer: Answer) -> None:
    """Print an answer; an empty list with the reason, which goes to stderr where stdout has JSON."""
    reason = answer.value.reason if isinstance(answer.value, Listing) else None
    if reason is not None:
        give_reason(store, reason)
    if store.as_json:
        typer.echo(json_text(encode(answer.value), ascii_only=not output.is_unicode()))
    elif reason is None:
        output.draw(answer.parts)
    if answer.status:
        raise typer.Exit(answer.status)


def make_vectors(store: StoreOptions) -> None:
    """Spend a moment on vectors that memories wait for, once the answer is printed."""
    if opened and getattr(opened.pop(), "waited", False):
        from priming.config.params.limits import VECTORS
        from priming.remember.vectors import follow

        with store.open_file() as memory:
            follow(memory, VECTORS.command)


def give_reason(store: StoreOptions, reason: str, *, apart: bool = False) -> None:
    """Report why an answer is empty; with ``apart`` on stderr, because stdout has a file's content or JSON."""
    if store.as_json:
        typer.echo(json_text({"reason": reason}, ascii_only=True), err=True)
    elif apart:
        typer.echo(output.clean(reason), err=True)
    else:
        output.draw([output.line((reason, output.WARN))])


def _summary(help: str) -> str:
    """Return the first sentence of a help text."""
    return " ".join(help.split("\n\n")[0].split()).split(". ")[0].rstrip(".")


def _declare(run: Any, parameters: list[Parameter]) -> None:
    """Give ``run`` the signature that typer reads."""
    context = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)
    run.__signature__ = inspect.Signature([context, *parameters])
    run.__annotations__ = {each.name: each.annotation for each in (context, *parameters)}


def _singles(parameter: Parameter) -> list[Parameter]:
    """Return the parameter itself, or a parameter for each field of its dataclass."""
    kind = parameter.annotation
    if not is_dataclass(kind):
        return [parameter.replace(kind=Parameter.KEYWORD_ONLY)]
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
        for field in fields(kind)
    ]


def _gather(parameter: Parameter, values: Mapping[str, Any]) -> Any:
    """Return the value of a parameter, assembled from its options."""
    kind = parameter.annotation
    if not isinstance(kind, type) or not is_dataclass(kind):
        return values[parameter.name]
    return kind(**{field.name: values[field.name] for field in fields(kind)})


FAILURE, BAD_INPUT, INTERRUPTED, PIPE_CLOSED = 1, 2, 130, 141


def wants_json(arguments: Sequence[str]) -> bool:
    """Tell whether ``--json`` is among the arguments."""
    return "--json" in (arguments[: list(arguments).index("--")] if "--" in arguments else arguments)


def guarded(run: Callable[[], None], *, as_json: bool) -> int:
    """Run, report expected errors, and return the exit status; other errors are bugs and keep their traceback."""
    try:
        run()
    except typer.Exit as done:
        return done.exit_code
    except PrimingError as error:
        notes = getattr(error, "__notes__", [])
        report(error.code, "; ".join([str(error), *notes]), as_json=as_json)
        return status_of(error)
    except KeyboardInterrupt as error:
        message = str(error) or "interrupted: finished work is kept, nothing is half-written"
        report("interrupted", message, as_json=as_json)
        return INTERRUPTED
    except BrokenPipeError:
        _discard_stdout()
        return PIPE_CLOSED
    except OSError as error:
        _discard_stdout()
        report("system", f"the system refused: {error}", as_json=as_json)
        return FAILURE
    except Exception as error:
        # The class of a usage error depends on the version of typer; its methods do not.
        if not hasattr(error, "format_message"):
            raise
        report("usage", _usage(error), as_json=as_json)
        return BAD_INPUT
    return 0


def status_of(error: PrimingError) -> int:
    """2 for errors that the caller can correct, 1 for failures."""
    return BAD_INPUT if isinstance(error, (ParamError, NotFound, Conflict)) else FAILURE


def report(code: str, message: str, *, as_json: bool) -> None:
    """Print an error on stderr: one line, or one JSON document."""
    if as_json:
        typer.echo(json_text({"error": {"code": code, "message": message}}, ascii_only=True), err=True)
    else:
        typer.echo(f"error: {clean(' '.join(message.split()))}", err=True)


def _usage(error: Any) -> str:
    """Return the message of a usage error, with the help to consult."""
    message = str(error.format_message()).strip()
    if "unexpected extra argument" in message:
        message = f"{message}: quote a text of several words"
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    near = _meant(error, message, context)
    if near:  # more than what is near by its letters
        message = message.partition(" Did you mean ")[0]
    return f"{message}{near} (see {context.command_path} --help)"


def _meant(error: Any, message: str, context: Any) -> str:
    """Return what another word for a command or an option may mean."""
    from priming.verbs.op import SCOPES
    from priming.verbs.rows import OTHER_VERBS, find, meant

    option, op = getattr(error, "option_name", None), find((context.info_name or "").replace("-", "_"))
    name = option.lstrip("-").replace("-", "_") if option else ""
    own = "namespace" if name in SCOPES else op.other_names.get(name) if op else None
    options = [each for parameter in context.command.params for each in parameter.opts]
    if own is not None and (f"--{own}" in options or own == "namespace"):
        return f": did you mean --{own.replace('_', '-')}?"
    before, _, rest = message.partition("'")
    word = rest.partition("'")[0] if before == "No such command " else ""
    verb = meant(word.replace("-", "_")) if word else None
    commands = context.command.list_commands(context) if verb else ()
    words = (verb, *OTHER_VERBS.get(verb, "").split()) if verb else ()
    command = next((each for name in words if (each := name.replace("_", "-")) in commands), None)
    return f" Did you mean '{command}'?" if command else ""


def prepare_streams() -> None:
    """Replace closed streams by empty ones, and escape characters that an encoding lacks."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _discard_stdout() -> None:
    """Discard the buffer of stdout: the interpreter must not write it again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
