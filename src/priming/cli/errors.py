"""How the command line fails: one line on stderr, or one JSON object, and an exit status.

0 done · 1 failure · 2 bad input · 130 interrupted · 141 the reader of a pipe went away
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import typer

from priming.cli.output import clean
from priming.errors import Conflict, NotFound, ParamError, PrimingError
from priming.text.quotation import json_text

FAILURE, BAD_INPUT, INTERRUPTED, PIPE_CLOSED = 1, 2, 130, 141


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether ``--json`` is among the arguments."""
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
    """The message of a usage error, with the help to consult."""
    message = str(error.format_message()).strip()
    if "unexpected extra argument" in message:
        message = f"{message}: quote a text of several words"
    context = getattr(error, "ctx", None)
    return message if context is None else f"{message} (see {context.command_path} --help)"


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
