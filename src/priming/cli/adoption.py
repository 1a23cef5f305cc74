"""How the command line asks about what a folder brings: once, a person at a terminal; elsewhere the answer is no."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from priming.cli.output import clean, confirm
from priming.config.adoption import NO
from priming.errors import StoreError
from priming.maintenance.adoption import FolderContent, content_of

if TYPE_CHECKING:
    from priming.config.settings import Settings

_HANDLED = set[str]()
"""The messages that this process has printed, or asked about."""


def settled(read: Callable[[], Settings], *, as_json: bool, serves: bool) -> Settings:
    """Read settings, ask or tell what of the folder they leave out, and read them again if it was adopted.

    Raises:
        StoreError: ``serves`` them to others, and the folder has what nobody adopted.

    """
    settings = read()
    content = content_of(settings)
    if not content.message:
        return settings
    is_new = content.message not in _HANDLED
    _HANDLED.add(content.message)
    if is_new and not as_json and content.answer != NO and is_attended() and ask(content):
        return read()
    if serves:
        raise StoreError(content.message)
    if is_new:
        typer.echo(f"note: {clean(content.message)}", err=True)
    return settings


def is_attended() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(content: FolderContent) -> bool:
    """Show a person what would count, and ask; the answer is kept."""
    for text in (f"{content.message}.", "It has:", *content.description()):
        typer.echo(clean(text), err=True)
    agreed = confirm("Adopt it as your own? [y/N] ")
    if agreed:
        content.settle(adopt=True)
    else:
        content.record(NO)
    return agreed
