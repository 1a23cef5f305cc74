"""How the command line fails: one line on stderr, or one JSON object, and an exit status.

0 done · 1 a failure · 2 bad input · 130 interrupted · 141 the reader of a pipe went away
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from priming.cli.screen import clean
from priming.errors import Conflict, NotFound, ParamError, PrimingError

FAILURE, BAD_INPUT, INTERRUPTED, PIPE_CLOSED = 1, 2, 130, 141


class Commands(TyperGroup):
    """The group of all commands; whatever they raise on purpose ends here."""

    def main(self, *positional: Any, **named: Any) -> Any:
        """Parse, run, and end the process with the status: typer's own, but for what errors become."""
        args = positional[0] if positional else named.get("args")
        name = named.get("prog_name") or "priming"
        given = list(sys.argv[1:] if args is None else args)
        _prepare_streams()
        self._main_shell_completion({}, name)

        def run() -> None:
            with self.make_context(name, list(given)) as context:
                self.invoke(context)

        sys.exit(guarded(run, as_json=wants_json(given)))


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether ``--json`` stands among the arguments."""
    return "--json" in (arguments[: list(arguments).index("--")] if "--" in arguments else arguments)


def guarded(run: Callable[[], None], *, as_json: bool) -> int:
    """The exit status of ``run``, its expected errors told; others are bugs, and keep their traceback."""
    try:
        run()
    except typer.Exit as done:
        return done.exit_code
    except PrimingError as error:
        notes = getattr(error, "__notes__", [])
        tell(error.code, "; ".join([str(error), *notes]), as_json=as_json)
        return status_of(error)
    except KeyboardInterrupt as error:
        said = str(error) or "interrupted: what was finished is kept, nothing is half-written"
        tell("interrupted", said, as_json=as_json)
        return INTERRUPTED
    except BrokenPipeError:
        _give_up_stdout()
        return PIPE_CLOSED
    except OSError as error:
        _give_up_stdout()
        tell("system", f"the system refused: {error}", as_json=as_json)
        return FAILURE
    except Exception as error:
        # The class of a usage error depends on the version of typer; what it can do does not.
        if not hasattr(error, "format_message"):
            raise
        tell("usage", _usage(error), as_json=as_json)
        return BAD_INPUT
    return 0


def status_of(error: PrimingError) -> int:
    """2 for what the caller can put right, 1 for a failure."""
    return BAD_INPUT if isinstance(error, (ParamError, NotFound, Conflict)) else FAILURE


def tell(code: str, message: str, *, as_json: bool) -> None:
    """One line on stderr, or one JSON document."""
    if as_json:
        typer.echo(json.dumps({"error": {"code": code, "message": message}}), err=True)
    else:
        typer.echo(f"error: {clean(' '.join(message.split()))}", err=True)


def _usage(error: Any) -> str:
    """What is wrong with the words typed, and where to read on."""
    message = str(error.format_message()).strip()
    if "unexpected extra argument" in message:
        message = f"{message}: a text of several words stands in quotes"
    context = getattr(error, "ctx", None)
    return message if context is None else f"{message} (see {context.command_path} --help)"


def _prepare_streams() -> None:
    """Closed streams become empty ones; a character that an encoding lacks is escaped, never a crash."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _give_up_stdout() -> None:
    """What is left in the buffer has nowhere to go: the interpreter must not try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
