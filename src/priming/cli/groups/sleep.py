"""The command ``sleep``: once, item by item, or at intervals."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated

from priming.cli import parse, records
from priming.cli.command import Answer, command, group, report, respond
from priming.cli.options import AgentOptions, DryRun, Stages, StoreOptions, Window, flag, option
from priming.cli.output import DIM, KEY, OK, WARN, Part, choose, draw, line, names, progress
from priming.config.words import STAGES
from priming.errors import AgentError, Busy, ParamError
from priming.text.quotation import count_text
from priming.types import Progress

if TYPE_CHECKING:
    from priming.llm.protocol import Agent
    from priming.memory import Memory
    from priming.types import LeftAlone, Proposal, ProposedItem

_INTERVAL = timedelta(seconds=30)
"""How often new memories are counted between two nights."""

app = group("Care")
GROUPS = (app,)


@command(app)
def sleep(
    store: StoreOptions,
    stages: Stages = None,
    dry_run: DryRun = False,
    interactive: Annotated[bool, flag("--interactive", "Ask before each item")] = False,
    every: Annotated[
        str | None, option("--every", "TIME", "Repeat at this interval: 90s, 30m, 8h, 1d; Ctrl-C ends it")
    ] = None,
    window: Window = None,
    *,
    options: AgentOptions,
) -> Answer:
    """Maintain the memory: weaken unused links, mark duplicates, summarise related episodes, archive failures."""
    _check(store, dry_run=dry_run, interactive=interactive, every=every)
    names = _ordered(stages)
    interval = parse.optional_duration("--every", every)
    agent = options.load()
    with store.open() as memory:
        if interval is not None:
            _repeat(store, memory, names, interval, window, agent)
        if not (dry_run or interactive):
            _settle(store, memory, agent)
        with _stage_bars(names or STAGES) as step:
            plan_only = dry_run or interactive
            proposal = memory.sleep(names, dry_run=plan_only, window=window, progress=step, agent=agent)
        if not interactive:
            return Answer(proposal, _proposal(proposal, dry_run=dry_run))
        chosen = _choose(proposal)
        if not chosen:
            text = "nothing was changed" if proposal.items else "nothing to do"
            return Answer(proposal, [line((text, WARN))])
        operation = memory.apply(proposal, only=chosen)
    return Answer(operation, [*records.operation(operation), records.undo_hint(operation.id)])


def _settle(store: StoreOptions, memory: Memory, agent: Agent | None) -> None:
    """Let the agent decide on rules that are unclear, and say what it did; its failure stops no night."""
    from priming.maintenance.contradictions import RuleJudge, settle

    try:
        for operation in () if agent is None else settle(memory, RuleJudge(agent), set()):
            if not store.as_json:
                draw(records.operation(operation))
    except AgentError as error:
        report(error.code, str(error), as_json=store.as_json)


def _check(store: StoreOptions, *, dry_run: bool, interactive: bool, every: str | None) -> None:
    """Refuse options that contradict each other."""
    if interactive and store.as_json:
        raise ParamError("--interactive", True, "cannot be combined with --json: programs use --dry-run")
    if interactive and dry_run:
        raise ParamError("--interactive", True, "cannot be combined with --dry-run: answer n to skip an item")
    if every is not None and (interactive or dry_run):
        rule = "cannot be combined with --interactive or --dry-run: leave one out"
        raise ParamError("--every", every, rule)


def _ordered(stages: Sequence[str] | None) -> list[str] | None:
    """Return the chosen stages in their order, None for all; unknown names remain, for the library to refuse."""
    if not stages:
        return None
    valid = [stage for stage in STAGES if stage in stages]
    return valid + [stage for stage in stages if stage not in STAGES]


@contextmanager
def _stage_bars(stages: Sequence[str]) -> Iterator[Progress]:
    """Show a progress bar for each stage in turn: a stage starts with a total of None."""
    with ExitStack() as shown:
        waiting, bars = iter(stages), list[Progress]()

        def step(done: int, total: int | None) -> None:
            if total is None:
                shown.close()
                bars[:] = [shown.enter_context(progress(next(waiting)))]
            bars[0](done, total)

        yield step


def _choose(proposal: Proposal) -> list[str]:
    """Ask for each item: yes, no, or quit, which skips the rest."""
    chosen = []
    for item in proposal.items:
        draw(_item(item))
        answer = choose("Do it? [y/n/q] ", "yes", "no", "quit")
        if answer == "q":
            break
        if answer == "y":
            chosen.append(item.id)
    return chosen


def _repeat(
    store: StoreOptions,
    memory: Memory,
    stages: Sequence[str] | None,
    interval: timedelta,
    window: int | None,
    agent: Agent | None,
) -> None:
    """Sleep, wait until the next night is due, and so on until an interrupt."""
    while True:
        try:
            _settle(store, memory, agent)
            proposal = memory.sleep(stages, window=window, agent=agent)
            respond(store, Answer(proposal, _proposal(proposal, dry_run=False)))
        except Busy as error:
            report(error.code, str(error), as_json=store.as_json)
        _wait(memory, interval)


def _wait(memory: Memory, interval: timedelta) -> None:
    """Wait until a night is due: after the interval, or sooner after enough new memories."""
    from priming.sleep.plan import is_due
    from priming.types import SystemClock

    clock = SystemClock()
    last, before = clock.now(), _count(memory)
    while not is_due(clock.now(), last, interval, _count(memory) - before):
        time.sleep(min(interval, _INTERVAL).total_seconds())


def _count(memory: Memory) -> int:
    """Return the number of memories without entities."""
    counts = memory.stats().memories
    return sum(sum(statuses.values()) for kind, statuses in counts.items() if kind != "entity")


def _proposal(proposal: Proposal, *, dry_run: bool) -> Iterator[Part]:
    """Yield what a night did, or would do: by stage, with the reasons."""
    for stage in proposal.stages:
        items = [item for item in proposal.items if item.stage == stage]
        left = [entry for entry in proposal.left_alone if entry.stage == stage]
        if items:
            yield line((stage, "bold"), f"  {count_text(len(items), 'item')}")
        elif left:
            yield line((stage, "bold"))
        yield from records.first(items, partial(_item, indent=2), indent=2)
        for check in proposal.checks:
            if check.stage == stage:
                for reason in check.dropped:
                    yield line((f"left out ({check.rule}): {reason}", WARN), indent=2)
        yield from records.first(left, _left_alone, indent=2)
    yield _conclusion(proposal, dry_run)


def _left_alone(entry: LeftAlone) -> Iterator[Part]:
    """Yield similar items that a stage left alone, and the words in which they differ."""
    words = f" ({', '.join(entry.words)})" if entry.words else ""
    if entry.keys:
        yield line("left alone  ", *names(entry.keys), (f": {entry.reason}{words}", DIM), indent=2)
    else:
        yield line((f"left: {entry.reason}", WARN), indent=2)


def _conclusion(proposal: Proposal, dry_run: bool) -> Part:
    if not proposal.items:
        return line(("nothing to do", DIM))
    if dry_run:
        text = "nothing was changed: that was a dry run, with every stage planned against the current state"
        return line((text, WARN))
    return records.undo_hint(proposal.operation, "the night")


def _item(item: ProposedItem, *, indent: int = 0) -> Iterator[Part]:
    """Yield an item: the action, the memories, and why."""
    into = () if item.into is None else (" → ", (item.into, KEY))
    yield line((item.action, OK), "  ", *names(item.keys), *into, indent=indent)
    yield line((item.reason, DIM), indent=indent + 2)
    text = item.evidence.get("text")
    if item.action in ("make", "update") and isinstance(text, str):
        yield line(f"“{text}”", indent=indent + 2)
    elif item.action == "family" and isinstance(text, str):
        yield line(text, indent=indent + 2)
    degraded = item.evidence.get("degraded")
    if degraded is not None:
        yield line((f"without the agent: {degraded}", WARN), indent=indent + 2)
    added = item.evidence.get("added")
    if isinstance(added, list) and added:
        yield line(f"steps added: {'; '.join(map(str, added))}", indent=indent + 2)
