"""The command ``recall``, and how a recall and its spread of activation are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any

from priming.cli import records
from priming.cli.command import group
from priming.cli.options import KnownThen, argument, option
from priming.cli.output import DIM, KEY, OK, WARN, Part, Span, Table, Tree, line, timestamp
from priming.cli.parse import complete_terms
from priming.cli.plain import plain
from priming.config.values import dataclass
from priming.config.words import source_note
from priming.text.quotation import count_text, label

if TYPE_CHECKING:
    from priming.results import Hit, Recall, Step, TaskFiles

MIN_SHARE = 0.05
"""Share of a hit's activation below which a link is not drawn, unless it is on the strongest path."""
_MOST_ACTIVE = 10
_WHOLE = 240
"""Characters of a text that is shown whole."""

app = group("Memory")
GROUPS = (app,)


def _task_files(result: TaskFiles, *, explain: bool, tokens: int | None) -> Iterator[Part]:
    """Yield the files, each with its reasons; or the reason why there are none."""
    if result.reason is not None:
        yield line((result.reason, WARN))
    for rank, file in enumerate(result.files, 1):
        score = f"  {file.activation:.3f}" if explain else ""
        yield line((f"{rank:>2}  ", DIM), (file.path, KEY), score, ("  named", OK) if file.named else "")
        for reason in file.reasons:
            share = f"{reason.share:4.0%}  " if explain else ""
            at = f"{reason.at:%Y-%m-%d}  " if reason.at else ""
            yield line((f"{share}{at}", DIM), reason.gist, (f"  {label(reason.key)}", DIM), indent=4)
    if tokens is not None:
        yield from records.packed(result.text)
    if explain and result.recorded and result.files:
        yield line((f"recall {result.recall_id}", DIM))


def shown(
    result: Recall,
    *,
    explain: bool = False,
    trace: bool = False,
    packed: bool = False,
) -> Iterator[Part]:
    """Yield the hits, or the reason why there are none; ``explain`` adds the evidence."""
    if result.reason is not None:
        yield line((result.reason, WARN))
    for rank, hit in enumerate(result.hits, 1):
        yield from _hit(rank, hit, explain)
    yield from records.left_out(result)
    if result.notice is not None:
        yield line((result.notice, WARN))
    if packed:
        yield from records.packed(result.text)
    if trace:
        yield from tree(result)
        yield from _steps(result.spread)
    if explain:
        yield from _summary(result)


def _without_terms(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the terms that are left out, of which commas join several."""
    return {"ablate": [term for terms in sent.get("ablate", ()) for term in terms.split(",")]}


def _recalled(result: Recall, *, tokens: int | None, trace: bool, explain: bool) -> Iterator[Part]:
    return shown(result, explain=explain, trace=trace, packed=tokens is not None)


plain(
    app,
    "recall",
    _recalled,
    send=_without_terms,
    text=Annotated[str | None, argument("[TEXT]", "The question; - reads it from stdin")],
    floor="Minimum relevance, 0 to 1; hits below it are left out",
    filters=Annotated[
        str | None, option("--filter", "JSON", 'Only matching memories: {"tags": {"contains": "db"}}')
    ],
    known_at=KnownThen,
    include_superseded="Also return superseded versions, marked as such",
    spread="Whether activation spreads along links",
    ablate=Annotated[
        list[str] | None,
        option(
            "--ablate", "TERM", "Leave out a term (repeatable; commas join several terms)", complete_terms
        ),
    ],
    trace="Draw how activation spread, and list it after each step",
    help="Recall the memories that matter for a question.\n\n"
    "Prints rank, relevance, key, text and the path that led to each memory.",
)
plain(app, "files", _task_files, task="What is to be done; - reads it from stdin")


def _summary(result: Recall) -> Iterator[Part]:
    """Yield the id of the recall, the relevance where it ends, and its timings."""
    yield from records.recall_id(result, f"hits from {result.floor:.1%}" if result.floor else "")
    if result.timings:
        steps = " · ".join(f"{name} {spent:.1f}" for name, spent in result.timings.items())
        yield line((f"{sum(result.timings.values()):.1f} ms: {steps}", DIM))


def _hit(rank: int, hit: Hit, explain: bool) -> Iterator[Part]:
    from priming.recall.formatting import procedure_lines

    score = f"  {hit.score:.3f}" if explain and hit.relevance is None else ""
    title = f"{hit.memory.title}: " if hit.memory.title else ""
    relevance = "" if hit.relevance is None else f"{_relevance(hit.relevance)}  "
    yield line((f"{rank:>2}  ", DIM), (relevance, DIM), (hit.memory.key, KEY), score, *_notes(hit))
    yield line((title, DIM), _text(hit), indent=4)
    yield from (line(each, indent=4) for each in procedure_lines(hit.memory))
    if explain and (sum_of_terms := _components(hit)):
        yield line((sum_of_terms, DIM), indent=4)
    if explain and hit.memory.recorded_at is not None:
        yield line((f"version {hit.memory.version}  {records.version_times(hit.memory)}", DIM), indent=4)
    if hit.path:
        yield line((records.path(hit.path, amounts=explain), OK), indent=4)


def _components(hit: Hit) -> str:
    """Return what the score is made of; of a probability, its log-odds as a sum that can be checked."""
    shown = {name: value for name, value in hit.components.items() if f"{abs(value):.2f}" != "0.00"}
    sign = "" if hit.relevance is None else "+"
    terms = "  ".join(f"{name} {value:{sign}.2f}" for name, value in shown.items())
    total = sum(hit.components.values())
    return terms if hit.relevance is None else f"{terms}  = {total:+.2f} log-odds, {hit.relevance:.1%}"


def _relevance(probability: float) -> str:
    """Return a probability as a percentage, of four places; what rounds to a certainty is not certain.

    >>> [_relevance(probability) for probability in (0.004, 0.071, 0.5, 0.999)]
    [' <1%', '  7%', ' 50%', '>99%']
    """
    if probability < 0.005:
        return " <1%"
    return ">99%" if probability > 0.99 else f"{probability:4.0%}"


def _text(hit: Hit) -> str:
    """Return the text of a hit in one line: whole if it is short, else what of it answers, or its gist."""
    memory, whole = hit.memory, " ".join(hit.content.split())
    if len(whole) <= _WHOLE:
        return whole
    if hit.passages:
        sizes = accumulate(end - start for start, end in hit.passages)
        fitting = sum(1 for size in sizes if size <= _WHOLE)
        return " ".join(hit.excerpt(hit.passages[: max(1, fitting)]).split())
    return memory.gist if memory.gist.endswith("…") else f"{memory.gist} …"


def _notes(hit: Hit) -> Iterator[Span]:
    """Tell whether its key is of an earlier text, what its source may not do, and whether it is superseded."""
    from priming.recall.formatting import EARLIER_KEY, has_earlier_key

    if has_earlier_key(hit.memory):
        yield f"  {EARLIER_KEY}", DIM
    if note := source_note(hit.memory.trust):
        yield f"  {note}", WARN
    if hit.superseded_by is not None:
        until, closed = timestamp(hit.memory.valid_to), timestamp(hit.memory.retired_at)
        yield f"  superseded by version {hit.superseded_by} from {until} on, recorded {closed}", WARN


def _steps(spread: Sequence[Mapping[str, float]]) -> Iterator[Part]:
    """Yield the most active memories after each step."""
    for number, values in enumerate(spread):
        yield line((f"step {number}", "bold"))
        ranked = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
        yield Table(("", ""), tuple((f"{value:.4f}", label(key)) for key, value in ranked[:_MOST_ACTIVE]))
        if len(ranked) > _MOST_ACTIVE:
            yield line((f"… and {len(ranked) - _MOST_ACTIVE:,} more", DIM), indent=4)


@dataclass
class _Node:
    """A memory in the tree, the link that leads to it, and the links that leave it."""

    key: str
    link: Step | None = None
    repeated: bool = False
    """Whether the tree has this memory elsewhere, with its branches."""
    children: dict[str, _Node] = field(default_factory=dict)


@dataclass(frozen=True)
class _SpreadView:
    """The values of the tree's labels: first and last activation, rank as a hit, amounts carried by links."""

    first: Mapping[str, float]
    last: Mapping[str, float]
    ranks: Mapping[str, int]
    carried: Mapping[tuple[str, str, str], float]


def tree(result: Recall) -> Iterator[Part]:
    """Yield the anchors that led to hits, or are hits, best hit first; below each the paths that activation took."""
    if not result.spread:
        yield line(("nothing spread", DIM))
        return
    ranks = {hit.memory.key: rank for rank, hit in enumerate(result.hits, 1)}
    carried = {(step.source, step.relation, step.target): step.amount for step in result.carried}
    activation = _SpreadView(result.spread[0], result.spread[-1], ranks, carried)
    roots = _strongest_paths(result)
    drawn = _add_other_links(roots, result.carried, ranks)
    for root in roots.values():
        yield _branch(root, activation)
    idle = len(activation.first.keys() - drawn)
    if idle:
        yield line((f"{count_text(idle, 'more anchor')} led to no hit", DIM))


def _strongest_paths(result: Recall) -> dict[str, _Node]:
    """Return the strongest path to each hit; paths share their common beginnings."""
    roots: dict[str, _Node] = {}
    for hit in result.hits:
        start = hit.path[0].source if hit.path else hit.memory.key
        node = roots.setdefault(start, _Node(start))
        for step in hit.path:
            node = node.children.setdefault(f"{step.relation} {step.target}", _Node(step.target, step))
    return roots


def _add_other_links(
    roots: Mapping[str, _Node], carried: Sequence[Step], ranks: Mapping[str, int]
) -> set[str]:
    """Add the other links that carried a share to a hit, where their sources first occur; return all keys."""
    nodes: dict[str, _Node] = {}
    waiting = [*roots.values()][::-1]
    while waiting:
        node = waiting.pop()
        nodes.setdefault(node.key, node)
        waiting += [*node.children.values()][::-1]
    totals: dict[str, float] = {}
    for step in carried:
        totals[step.target] = totals.get(step.target, 0.0) + step.amount
    for step in carried:
        is_large = step.amount >= MIN_SHARE * totals[step.target]
        if is_large and step.target in ranks and step.source in nodes:
            repeated = _Node(step.target, step, repeated=True)
            nodes[step.source].children.setdefault(f"{step.relation} {step.target}", repeated)
    return set(nodes)


def _branch(node: _Node, activation: _SpreadView) -> Tree:
    children = tuple(_branch(child, activation) for child in node.children.values())
    rank = activation.ranks.get(node.key)
    ending: tuple[Span, ...] = () if rank is None else ((f"  hit {rank}", "bold green"),)
    return Tree((*_label(node, activation), *ending), children)


def _label(node: _Node, activation: _SpreadView) -> Iterator[Span]:
    last = f"{activation.last.get(node.key, 0.0):.4f}"
    if node.link is None:
        yield node.key, KEY
        first = activation.first.get(node.key)
        yield f"  {last}" if first is None else f"  {first:.4f} → {last}", DIM
    else:
        yield f"─{label(node.link.relation)}→ ", DIM
        yield (label(node.key), "") if node.repeated else (node.key, KEY)
        ends = node.link.source, node.link.relation, node.link.target
        yield f"  +{activation.carried.get(ends, node.link.amount):.4f}", OK
        if not node.repeated:
            yield f"  → {last}", DIM
