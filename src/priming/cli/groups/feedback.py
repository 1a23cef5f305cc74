"""Commands that judge recalled memories: verdicts, procedures carried out, runs, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from priming.cli import records
from priming.cli.command import Answer, command, group
from priming.cli.options import Key, Reason, StoreOptions
from priming.cli.output import DIM, ERROR, KEY, OK, Part, Table, line, timestamp
from priming.cli.parse import complete
from priming.cli.plain import plain
from priming.config.values import dataclass
from priming.errors import NotFound, ParamError
from priming.text.quotation import condition_text

if TYPE_CHECKING:
    from priming.learning.run_actions import Run
    from priming.rules.results import LinkHistory, Predicate, Why

Keys = Annotated[list[str], Argument(metavar="KEY...", help="Keys or ids of memories")]
RecallId = Annotated[
    str | None,
    Option("--recall", metavar="ID", help="The recall; by default the latest that returned the memory"),
]
RunId = Annotated[str | None, Argument(metavar="[RUN]", help="Id of a run; the latest open run by default")]
_FINDINGS = {"confirmed": OK, "contradicted": ERROR, "absent": DIM}

app = group("Feedback")
runs_app = group("Feedback", "run", "Judge pieces of work by whether their output is used.")
GROUPS = (app, runs_app)


@dataclass(frozen=True, slots=True)
class FeedbackOptions:
    """Which recall is judged, how much the verdict weighs, and why."""

    recall: RecallId = None
    session: Annotated[
        str | None, Option("--session", metavar="NAME", help="Without --recall: only recalls of this session")
    ] = None
    tier: Annotated[
        str,
        Option(
            "--tier",
            metavar="NAME",
            help="conscious, or automatic, which weighs a thousandth as much",
            autocompletion=complete(("conscious", "automatic")),
        ),
    ] = "conscious"
    reason: Reason = None


def _verdict(verdict: str, help: str) -> None:
    """Register the command of a verdict."""

    def judge(store: StoreOptions, keys: Keys, options: FeedbackOptions) -> Answer:
        return _judge(store, options, **{verdict: keys})

    judge.__doc__ = help
    command(app, verdict.replace("_", "-"))(judge)


_verdict("used", "Mark memories as useful. Their weight and the links that led to them become stronger.")
_verdict(
    "not_relevant",
    "Mark memories as not relevant. The links that led to them become weaker, for similar questions.",
)
_verdict("not_useful", "Mark memories as relevant but not useful. Their weight becomes smaller.")
_verdict("confirmed", "Mark rules as confirmed. Automatic confirmations count once per session.")
_verdict("overridden", "Mark rules as overridden: something else was done.")


@command(app)
def wrong(
    store: StoreOptions,
    key: Key,
    about: Annotated[
        str | None, Argument(metavar="[CONTEXT]", help="What is wrong with it, for the log")
    ] = None,
) -> Answer:
    """Mark a memory as wrong. The same as not-useful, with a reason."""
    return _judge(store, FeedbackOptions(reason=about), not_useful=[key])


@command(app)
def feedback(
    store: StoreOptions,
    used: Annotated[
        list[str] | None, Option("--used", metavar="KEY", help="A useful memory (repeatable)")
    ] = None,
    not_relevant: Annotated[
        list[str] | None, Option("--not-relevant", metavar="KEY", help="Not relevant (repeatable)")
    ] = None,
    not_useful: Annotated[
        list[str] | None, Option("--not-useful", metavar="KEY", help="Relevant but not useful (repeatable)")
    ] = None,
    confirmed: Annotated[
        list[str] | None, Option("--confirmed", metavar="KEY", help="A confirmed rule (repeatable)")
    ] = None,
    overridden: Annotated[
        list[str] | None, Option("--overridden", metavar="KEY", help="An overridden rule (repeatable)")
    ] = None,
    *,
    options: FeedbackOptions,
) -> Answer:
    """Give several verdicts in one operation."""
    return _judge(
        store,
        options,
        used=used or [],
        not_relevant=not_relevant or [],
        not_useful=not_useful or [],
        confirmed=confirmed or [],
        overridden=overridden or [],
    )


def _judge(store: StoreOptions, options: FeedbackOptions, **verdicts: Any) -> Answer:
    with store.open() as memory:
        try:
            operation = memory.feedback(
                options.recall, **verdicts, tier=options.tier, session=options.session, reason=options.reason
            )
        except NotFound as error:
            raise _in_global(store, error, [key for keys in verdicts.values() for key in keys]) from None
    return Answer(operation, (*records.operation(operation), *records.moved_links(operation)))


def _in_global(store: StoreOptions, error: NotFound, keys: list[str]) -> NotFound:
    """The error, with a hint if the memories are in the store of all projects."""
    other = store.open_global()
    if other is None:
        return error
    with other:
        try:
            for key in keys:
                other.get(key)
        except NotFound:
            return error
    return NotFound(f"{error}; it is in the store of all projects: add --global")


plain(
    app,
    "done",
    key="Key or id of a procedure",
    success=Annotated[bool, Option("--success/--fail", help="Whether it worked")],
    recall_id=Annotated[
        str | None, Option("--recall", metavar="ID", help="The recall that returned it, judged too")
    ],
)


def _why(explanation: Why) -> Iterator[Part]:
    """The reasons first, then the evidence."""
    yield line((explanation.memory.key, KEY), f"  {explanation.memory.gist}")
    for reason in explanation.reasons:
        yield line(f"- {reason}", indent=2)
    if explanation.route is not None:
        yield from _route(explanation.route)
    for predicate in explanation.predicates:
        yield _predicate(predicate)
    if explanation.verdicts:
        yield line(("verdicts", "bold"))
        rows = [
            (timestamp(v.at), v.verdict, v.tier, str(v.cue.get("text", ""))) for v in explanation.verdicts
        ]
        yield Table(("", "", "", ""), tuple(rows), cut=True)
    if explanation.operations:
        yield line(("latest operations", "bold"))
        yield from records.operations(explanation.operations)


plain(
    app,
    "why",
    _why,
    recall_id=RecallId,
    help="Explain why a memory is recalled: its path, conditions, competitors, verdicts and changes.",
)


def _route(route: LinkHistory) -> Iterator[Part]:
    yield line(("recall", "bold"), f"  {route.recall_id}", (f"  {route.profile}  {timestamp(route.at)}", DIM))
    yield line(f"rank {route.rank}, score {route.score:.3f}", indent=2)
    if route.path:
        yield line((records.path(route.path), OK), indent=2)
    for source, relation, target, share, weight in route.shares:
        today = "removed" if weight is None else f"{weight:.2f} today"
        yield line((f"{share:.0%} over {records.edge(source, relation, target)} ({today})", DIM), indent=2)


def _predicate(predicate: Predicate) -> Part:
    present = "" if predicate.present is None else f", the cue has {condition_text(predicate.present)}"
    return line(
        ("condition", "bold"),
        f"  {predicate.name} = {condition_text(predicate.wanted)}{present}: ",
        (predicate.finding, _FINDINGS[predicate.finding]),
    )


def _run(run: Run) -> Iterator[Part]:
    """A run: its state, its session, its start, and the memories it was shown."""
    state = run.settled or ("waits for a verdict on its output" if run.ended_at else "active")
    yield line((run.id, KEY), f"  {state}", (f"  session {run.session}  {timestamp(run.started_at)}", DIM))
    if run.shown:
        yield line(f"shown: {', '.join(run.shown)}", indent=4)


plain(runs_app, "run_start", _run, name="start", session="The session whose recalls belong to it")


@command(runs_app)
def end(
    store: StoreOptions,
    run_id: RunId = None,
    used: Annotated[bool, Option("--used", help="Its output was used")] = False,
    unused: Annotated[bool, Option("--unused", help="Its output was not used")] = False,
) -> Answer:
    """End a run. Without --used or --unused it stays open until its output is judged."""
    if used and unused:
        raise ParamError("--unused", True, "cannot be combined with --used: leave one out")
    with store.open() as memory:
        chosen = run_id or _latest(memory.run_list(), ended=False)
        run = memory.run_end(chosen, used=True if used else False if unused else None)
    return Answer(run, _run(run))


@command(runs_app, "used")
def run_used(store: StoreOptions, run_id: RunId = None) -> Answer:
    """Mark the output of a run as used. Links among the memories it was shown become a little stronger."""
    with store.open() as memory:
        run = memory.run_used(run_id or _latest(memory.run_list(), ended=None))
    return Answer(run, _run(run))


def _runs(runs: Sequence[Run]) -> Iterator[Part]:
    for run in runs:
        yield from _run(run)
    if not runs:
        yield line(("no runs", DIM))


plain(runs_app, "run_list", _runs, name="list")


def _latest(runs: list[Run], *, ended: bool | None) -> str:
    """The id of the latest run that is not settled, whether or not it has ended."""
    open_runs = [run for run in runs if run.settled is None and ended in (None, run.ended_at is not None)]
    if not open_runs:
        state = "waits for a verdict" if ended is None else "is active"
        raise NotFound(f"there is no run that {state}: start one with 'priming run start'")
    return open_runs[-1].id
