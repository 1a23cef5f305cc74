"""The commands of ``fleet``: a verb over all namespaces of a store or of many, here or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import echo

from priming.cli.command import FAILURE, Answer, command, group
from priming.cli.groups.stores import hindrance
from priming.cli.options import AgentOptions, Stages, StoreOptions, Window, argument, flag, option
from priming.cli.output import DIM, ERROR, OK, Part, Table, line, progress, timestamp
from priming.cli.parse import complete_embedders, complete_importers
from priming.config.values import dataclass
from priming.config.words import STAGES
from priming.errors import ParamError
from priming.text.quotation import count_text

if TYPE_CHECKING:
    from priming_server.fleet.journal import UnfinishedRun
    from priming_server.fleet.plan import FleetPlan, FleetRequest
    from priming_server.fleet.run import FleetReport
    from priming_server.fleet.workers import Workers

_SHOWN = 20
"""Failures that are shown to people; programs get all."""

app = group(
    "Care", "fleet", "A verb over all namespaces of a store or of many, on this machine or on a cluster."
)
GROUPS = (app,)


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """Which namespaces a run works on, where, and how many at once."""

    address: Annotated[
        str | None,
        option(
            "--address",
            "ADDR",
            "A Ray cluster that this machine is part of: auto, or HOST:PORT; by default this machine's"
            " processors, without Ray",
        ),
    ] = None
    namespaces: Annotated[
        list[str] | None, option("--namespaces", "GLOB", "Only these, such as 'team-*' (repeatable)")
    ] = None
    stores: Annotated[
        Path | None, option("--stores", "FILE", "A file with the URL of a store on each line")
    ] = None
    at_once: Annotated[
        int | None, option("--at-once", "N", "Namespaces of a store at work at once; 8 by default")
    ] = None
    run: Annotated[
        str | None, option("--run", "ID", "Continue this run: what failed, and what was not begun")
    ] = None


@command(app)
def sleep(
    store: StoreOptions,
    stages: Stages = None,
    window: Window = None,
    *,
    fleet: FleetOptions,
    options: AgentOptions,
) -> Answer:
    """Maintain every namespace by a night of sleep. Exit status 1 if one fails."""
    from priming.core.arguments.checks import check_choice

    chosen = [check_choice("stages", stage, STAGES) for stage in stages or ()] or None
    return _answer(store, fleet, "sleep", {"stages": chosen, "window": window}, options)


@command(app)
def reembed(
    store: StoreOptions,
    to: Annotated[
        str | None,
        option(
            "--to",
            "EMBEDDER",
            "Change each to this embedder, where it answers judged recalls no worse",
            complete_embedders,
        ),
    ] = None,
    switch: Annotated[bool, flag("--switch", "Change even where it answers worse")] = False,
    stay: Annotated[bool, flag("--keep", "Only compute and compare; keep the embedders")] = False,
    roll_back: Annotated[
        bool, flag("--roll-back", "Return to the former embedders; with --to, where that one was chosen")
    ] = False,
    *,
    fleet: FleetOptions,
) -> Answer:
    """Compute the missing vectors of every namespace, or change its embedder. Exit status 1 if one fails."""
    if (switch and stay) or ((roll_back or to is None) and (switch or stay)):
        rule = "must be given with --to EMBEDDER, at most one of --switch and --keep, or --roll-back"
        raise ParamError("--to", to, rule)
    if to is not None:
        from priming.maintenance.generations import check_new_embedder

        to = check_new_embedder(to)
    arguments = {
        "to": to,
        "switch": True if switch else False if stay else None,
        "roll_back": roll_back or None,
    }
    answer = _answer(store, fleet, "reembed", arguments)
    has_changed = answer.value.counts.keys() & {"changed", "rolled back"}
    return replace(answer, parts=(*answer.parts, *(hindrance(store) if has_changed else ())))


@command(app, "import")
def import_(
    store: StoreOptions,
    source: Annotated[
        str | None,
        argument(
            "SOURCE", "Format: 'priming' for exports, or an importer such as 'markdown'", complete_importers
        ),
    ] = None,
    folder: Annotated[
        Path | None, argument("FOLDER", "Has a file or folder for each namespace, of that name")
    ] = None,
    *,
    fleet: FleetOptions,
) -> Answer:
    """Import a folder: each file, or folder in it, into the namespace of its name. Exit status 1 if one fails."""
    if fleet.run is None and (source is None or folder is None):
        raise ParamError("folder", None, "must be given, after the SOURCE: priming fleet import jsonl FOLDER")
    if source is not None:
        from priming_server.fleet.plan import check_source

        check_source(source)
    path = None if folder is None else str(folder.absolute())
    return _answer(store, fleet, "import", {"source": source, "path": path})


@command(app)
def verify(store: StoreOptions, *, fleet: FleetOptions) -> Answer:
    """Check every namespace against its log. Exit status 1 if one differs."""
    return _answer(store, fleet, "verify", {})


@command(app)
def runs(_: StoreOptions) -> Answer:
    """List the runs of this machine that are not done, the latest first: interrupted, at work, or with failures."""
    from priming_server.fleet.journal import unfinished

    records = unfinished()
    return Answer(records, tuple(_listed(records)) if records else (line("no run is unfinished"),))


def _listed(records: Sequence[UnfinishedRun]) -> Iterator[Part]:
    rows = [
        (
            record.run,
            record.verb,
            timestamp(record.at),
            f"{record.done:,} of {record.namespaces:,}",
            f"{record.failed:,}",
            _named(record.stores),
        )
        for record in records
    ]
    yield Table(("run", "verb", "begun", "done", "failed", "store"), tuple(rows))
    yield line(("priming fleet VERB --run ID continues one, with the same stores", DIM))


def _answer(
    store: StoreOptions,
    fleet: FleetOptions,
    verb: str,
    arguments: Mapping[str, Any],
    agent: AgentOptions | None = None,
) -> Answer:
    """Carry out a run, and report."""
    from priming.core.arguments.checks import check_count
    from priming_server.fleet import plan as planning
    from priming_server.fleet.journal import FLEET
    from priming_server.fleet.run import run_fleet

    if store.namespace is not None:
        raise ParamError("--namespace", store.namespace, "is one namespace: choose with --namespaces GLOB")
    at_once = FLEET.at_once if fleet.at_once is None else check_count("at_once", fleet.at_once, 1, 10_000)
    settings = store.settings()
    request = planning.FleetRequest(
        verb,
        (settings.store_url,) if fleet.stores is None else _urls(store, fleet.stores),
        tuple(fleet.namespaces or ()),
        arguments,
        settings["store.profile"],
        settings,
        agent and agent.load(),
    )
    with closing(_workers(fleet.address, request, at_once)) as workers:
        plan = planning.begin(request) if fleet.run is None else planning.resume(request, fleet.run)
        if plan.tasks:
            echo(f"run {plan.journal.header.run}", err=True)
        try:
            with progress(f"{verb} of {count_text(len(plan.journal.header.names), 'namespace')}") as step:
                report = run_fleet(plan, workers, at_once=at_once, progress=step)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_interrupted(plan)) from None
    return Answer(report, _lines(report), FAILURE if report.failed else 0)


def _interrupted(plan: FleetPlan) -> str:
    header = plan.journal.header
    done = f"{len(plan.journal.done):,} of {count_text(len(header.names), 'namespace')}"
    return f"interrupted: {done} are done; priming fleet {header.verb} --run {header.run} continues"


def _urls(store: StoreOptions, path: Path) -> tuple[str, ...]:
    """Return the URLs of a file, without blank lines and comments."""
    if store.url is not None or store.everywhere:
        raise ParamError("--stores", str(path), "cannot be combined with --url or --global: leave one out")
    try:
        lines = [text.strip() for text in path.read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise ParamError("--stores", str(path), f"cannot be read: {error}") from None
    urls = tuple(text for text in lines if text and not text.startswith("#"))
    if not urls:
        raise ParamError("--stores", str(path), "must have the URL of a store on each line")
    return urls


def _workers(address: str | None, request: FleetRequest, at_once: int) -> Workers:
    """Return the processes of this machine, or the machines of a cluster that reach the stores."""
    if address is None:
        from priming_server.fleet.workers import LocalWorkers

        return LocalWorkers(at_once * len(request.urls))
    from priming_server.fleet.cluster import RayWorkers, check_reach
    from priming_server.fleet.journal import FLEET
    from priming_server.fleet.plan import portable

    workers = RayWorkers(address, FLEET.window)
    try:
        check_reach([portable(url) for url in request.urls], workers.hosts)
    except ParamError:
        workers.close()
        raise
    return workers


def _lines(report: FleetReport) -> Iterator[Part]:
    """Yield what a run did, and what failed."""
    total = f"{report.done:,} of {count_text(report.namespaces, 'namespace')}"
    yield line((report.verb, OK), f"  {total} of {_named(report.stores)} in {report.seconds:.1f} s")
    if report.counts:
        counted = ", ".join(f"{number:,} {name}" for name, number in report.counts.items())
        yield line(counted, indent=2)
    if report.earlier:
        yield line((f"{report.earlier:,} of them were done before", DIM), indent=2)
    if report.retried:
        lost = f", as {count_text(report.lost, 'worker')} ended" if report.lost else ""
        yield line((f"{count_text(report.retried, 'namespace')} tried again{lost}", DIM), indent=2)
    for failure in report.failed[:_SHOWN]:
        where = f"{failure.namespace} of {failure.store}" if len(report.stores) > 1 else failure.namespace
        yield line(("failed", ERROR), f"  {where}: {failure.reason} ({failure.code})")
    if len(report.failed) > _SHOWN:
        yield line((f"… and {len(report.failed) - _SHOWN:,} more: --json lists all", DIM), indent=2)
    if report.failed:
        yield line((f"priming fleet {report.verb} --run {report.run} tries these again", DIM), indent=2)


def _named(stores: Sequence[str]) -> str:
    return stores[0] if len(stores) == 1 else count_text(len(stores), "store")
