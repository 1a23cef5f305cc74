"""Commands that serve a store to other processes, and say who may use it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from priming.cli import parse
from priming.cli.options import Place
from priming.cli.screen import line
from priming.cli.verb import Answer, give, verb

if TYPE_CHECKING:
    from priming.engine.tokens import Tokens

app = typer.Typer()
token = typer.Typer()


@verb(app)
def serve(
    place: Place,
    host: Annotated[
        str | None,
        Option(
            "--host",
            metavar="ADDRESS",
            help="Where to listen, 127.0.0.1 if not given; beyond this machine a token is needed",
        ),
    ] = None,
    port: Annotated[
        int | None,
        Option(
            "--port",
            metavar="N",
            min=0,
            max=65535,
            help="At which port, 7777 if not given; 0: any that is free",
        ),
    ] = None,
    uds: Annotated[
        Path | None, Option("--uds", metavar="PATH", help="Listen at this Unix socket instead")
    ] = None,
    sleep_every: Annotated[
        str | None,
        Option("--sleep-every", metavar="TIME", help="Sleep by itself, so often: 90s, 30m, 8h, 1d"),
    ] = None,
    rate: Annotated[
        float | None,
        Option("--rate", metavar="N", help="Requests a second of one client; 500 if not given, 0: no limit"),
    ] = None,
) -> Answer:
    """Serve the store over HTTP, all of its namespaces, until Ctrl-C. What is begun by then is finished."""
    from priming.server import process

    found = place.settings(servers=True)

    def ready(where: str) -> None:
        said = line(f"listening at {where}", ("  Ctrl-C ends it, /docs describes it", "dim"))
        give(place, Answer({"listening": where}, [said]))

    process.run(
        url=found["store.url"],
        profile=found["store.profile"],
        settings=found,
        host=found["server.host"] if host is None else host,
        port=found["server.port"] if port is None else port,
        uds=uds,
        sleep_every=None if sleep_every is None else parse.duration("--sleep-every", sleep_every),
        params=found.server if rate is None else replace(found.server, rate=rate),
        ready=ready,
    )
    return Answer({"listening": None}, [line(("ended", "dim"))])


@verb(token)
def new(
    place: Place,
    whose: Annotated[
        str, Argument(metavar="NAMESPACE", help="The namespace that it is for; '*' stands for all of them")
    ],
    name: Annotated[str | None, Option("--name", metavar="TEXT", help="Whom it is for")] = None,
) -> Answer:
    """Make a token and show it, once. As soon as a store has had one, a server of it asks for one."""
    with _tokens(place) as tokens:
        made = tokens.new(whose, name)
    said = "only its digest is kept: it cannot be shown again"
    return Answer(made, [line(made.secret), line((said, "dim"))])


@verb(token, "list")
def list_(place: Place) -> Answer:
    """List the tokens, revoked ones too, without their secrets."""
    from priming.cli import render_serving

    with _tokens(place) as tokens:
        found = tokens.list()
    return Answer(found, render_serving.tokens(found))


@verb(token)
def revoke(
    place: Place, token_id: Annotated[str, Argument(metavar="ID", help="The id that 'token list' shows")]
) -> Answer:
    """Revoke a token, for good: servers refuse it from now on."""
    with _tokens(place) as tokens:
        done = tokens.revoke(token_id)
    return Answer(done, [line(f"revoked {done.id}")])


def _tokens(place: Place) -> Tokens:
    from priming.engine.tokens import Tokens

    return Tokens(place.store())
