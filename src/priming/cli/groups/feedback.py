"""Commands that judge recalled memories: verdicts, procedures carried out, runs, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from priming.cli import records
from priming.cli.command import Answer, command, group
from priming.cli.options import Key, StoreOptions, argument, flag, option
from priming.cli.output import DIM, ERROR, KEY, OK, Part, Table, line, timestamp
from priming.cli.plain import plain
from priming.errors import NotFound, ParamError
from priming.text.quotation import condition_text

if TYPE_CHECKING:
    from priming.learning.run_actions import Run
    from priming.rules.results import LinkHistory, Predicate, Why
    from priming.types import Operation

Keys = Annotated[list[str], argument("KEY...", "Keys or ids of memories")]
RecallId = Annotated[
    str | None, option("--recall", "ID", "The recall; by default the latest that returned the memory")
]
RunId = Annotated[str | None, argument("[RUN]", "Id of a run; the latest open run by default")]
_FINDINGS = {"confirmed": OK, "contradicted": ERROR, "absent": DIM}

app = group("Feedback")
runs_app = group("Feedback", "run", "Judge pieces of work by whether their output is used.")
GROUPS = (app, runs_app)


_VERDICTS = {
    "used": "Mark memories as useful. Their weight and the links that led to them become stronger.",
    "not_relevant": "Mark memories as not relevant. The links that led to them become weaker, for similar questions.",
    "not_useful": "Mark memories as relevant but not useful. Their weight becomes smaller.",
    "confirmed": "Mark rules as confirmed. Automatic confirmations count once per session.",
    "overridden": "Mark rules as overridden: something else was done.",
}
"""The verdicts that are commands, with their help."""
_NO_VERDICTS: dict[str, Any] = dict.fromkeys(_VERDICTS, False)
_JUDGED: dict[str, Any] = {
    "recall_id": RecallId,
    "tier": "What it weighs: conscious, or automatic, a thousandth as much",
    "session": "Without --recall: only recalls of this session",
}


def _judged(operation: Operation) -> Iterator[Part]:
    yield from records.operation(operation)
    yield from records.moved_links(operation)


for _verdict, _help in _VERDICTS.items():
    _own = {**_NO_VERDICTS, **_JUDGED, _verdict: Keys}
    plain(app, "feedback", _judged, name=_verdict.replace("_", "-"), help=_help, **_own)
plain(
    app,
    "feedback",
    _judged,
    send=lambda sent: {"not_useful": [sent["not_useful"]]},
    name="wrong",
    help="Mark a memory as wrong. The same as not-useful, with a reason.",
    **{**_NO_VERDICTS, **dict.fromkeys(("recall_id", "tier", "session"), False), "not_useful": Key},
    reason=Annotated[str | None, argument("[CONTEXT]", "What is wrong with it, for the log")],
)
plain(app, "feedback", _judged, help="Give several verdicts in one operation.", **_JUDGED)


plain(
    app,
    "done",
    key="Key or id of a procedure",
    success=Annotated[bool, flag("--success/--fail", "Whether it worked")],
    recall_id=Annotated[str | None, option("--recall", "ID", "The recall that returned it, judged too")],
)


def _why(explanation: Why) -> Iterator[Part]:
    """Yield the reasons first, then the evidence."""
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
    """Yield a run: its state, its session, its start, and the memories it was shown."""
    state = run.settled or ("waits for a verdict on its output" if run.ended_at else "active")
    yield line((run.id, KEY), f"  {state}", (f"  session {run.session}  {timestamp(run.started_at)}", DIM))
    if run.shown:
        yield line(f"shown: {', '.join(run.shown)}", indent=4)


plain(runs_app, "run_start", _run, name="start", session="The session whose recalls belong to it")


@command(runs_app)
def end(
    store: StoreOptions,
    run_id: RunId = None,
    used: Annotated[bool, flag("--used", "Its output was used")] = False,
    unused: Annotated[bool, flag("--unused", "Its output was not used")] = False,
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
    """Return the id of the latest run that is not settled, whether or not it has ended."""
    open_runs = [run for run in runs if run.settled is None and ended in (None, run.ended_at is not None)]
    if not open_runs:
        state = "waits for a verdict" if ended is None else "is active"
        raise NotFound(f"there is no run that {state}: start one with 'priming run start'")
    return open_runs[-1].id
