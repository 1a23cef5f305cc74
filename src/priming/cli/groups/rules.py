"""Commands on rules: learn, active, deprecate, restore, merge, deduplicate, and packs of rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from priming.cli import parse, records
from priming.cli.command import Answer, command, group
from priming.cli.options import ScopeOptions, Session, StoreOptions, Tokens, argument, flag, option
from priming.cli.output import DIM, KEY, OK, WARN, Part, Table, line, timestamp
from priming.cli.plain import plain
from priming.config.words import RULES, TRUST
from priming.text.quotation import conditions_text, count_text, label

if TYPE_CHECKING:
    from priming.memory import Memory
    from priming.results import Hit, Recall
    from priming.rules.results import Learned, NearDuplicates, Pack

GLOBAL = "global"
"""The origin of hits from the global store."""
_PLACEMENTS = {
    "create": "created",
    "specialise": "specialised",
    "merge": "merged",
    "widen": "widened",
    "supersede": "superseded",
    "overtaken": "overtaken",
}

app = group("Rules")
packs_app = group("Rules", "pack", "Share rules as packs, and install those of others.")
GROUPS = (app, packs_app)

PackFile = Annotated[Path, argument("FILE", "The file of the pack")]


def learned_lines(learned: Learned) -> Iterator[Part]:
    """Yield what a correction changed, and why."""
    has_changed = learned.operation is not None
    status = _PLACEMENTS[learned.placement] if has_changed else "unchanged"
    scope = conditions_text(learned.when)
    yield line((status, OK if has_changed else WARN), "  ", (learned.key, KEY), f"  {learned.rule} {scope}")
    for reason in learned.reasons:
        yield line((reason, DIM), indent=2)
    for link in learned.links:
        if link.relation != "mentions":
            yield line(
                (f"─{label(link.relation)}→ {label(link.target)} {records.strength(link)}", DIM), indent=2
            )


def _stated(sent: Mapping[str, Any], *, text: str | None = None) -> dict[str, str]:
    """Return the text of a rule, which may be typed as an argument or as an option."""
    return {"right": parse.only_text(text, sent.get("right"), "right")}


plain(
    app,
    "learn",
    learned_lines,
    send=_stated,
    text=Annotated[str | None, argument("TEXT", "What to do; - reads it from stdin")],
    right=Annotated[str | None, option("--right", "TEXT", "The same as TEXT")],
    cue=ScopeOptions,
    tags="A tag",
    priority="Priority in [0, 10]",
    rule=f"{', '.join(RULES)}; derived from the text by default",
    source="Where it comes from",
    trust=", ".join(TRUST),
    help="Learn a rule from a correction. The context says where it applies; without one, everywhere.",
)


@command(app)
def active(
    store: StoreOptions,
    text: Annotated[str | None, argument("[TEXT]", "The question or task; - reads it from stdin")] = None,
    tokens: Tokens = None,
    session: Session = None,
    alone: Annotated[bool, flag("--no-global", "Do not read the global store as well")] = False,
    *,
    scope: ScopeOptions,
) -> Answer:
    """List the rules that apply in a context, from the project and the global store."""
    cue = scope.cue(parse.optional_text(text, "text"))
    budget = {} if tokens is None else {"tokens": tokens}
    with ExitStack() as stack:
        memory = stack.enter_context(store.open())
        beside: dict[str, Memory] = {}
        other = None if alone else store.open_global()
        if other is not None:
            beside[GLOBAL] = stack.enter_context(other)
        result = memory.active(cue, session=session, beside=beside, **budget)
    return Answer(result, active_lines(result, packed=tokens is not None))


def active_lines(result: Recall, *, packed: bool = False) -> Iterator[Part]:
    """Yield the rules that apply, how much of each is shown, and what was left out."""
    for first in (result.reason, result.notice):
        if first is not None:
            yield line((first, WARN))
    for rank, hit in enumerate(result.hits, 1):
        yield from _rule(rank, hit)
    yield from records.left_out(result)
    if packed:
        yield from records.packed(result.text)
    yield from records.recall_id(result)


def _rule(rank: int, hit: Hit) -> Iterator[Part]:
    from priming.config.words import instructs
    from priming.recall.formatting import EARLIER_KEY, has_earlier_key, rule_kind, rule_text

    memory = hit.memory
    notes = [f"from {hit.origin}"] if hit.origin else []
    notes += [] if instructs(memory.trust) else [f"{memory.trust}: quoted, not an instruction"]
    notes += ["quiet: mostly overridden"] if hit.quiet else []
    notes += [EARLIER_KEY] if has_earlier_key(memory) else []
    tier = hit.tier or "not shown"
    summary = "  ".join([f"{hit.score:.3f}", rule_kind(memory) or "rule", tier, *notes])
    yield line((f"{rank:>2}  ", DIM), (memory.key, KEY), f"  {summary}")
    for text in rule_text(hit).splitlines():
        yield line(text, indent=4)
    components = "  ".join(f"{name} {value:.2f}" for name, value in hit.components.items())
    yield line((f"{components}  {conditions_text(memory.when)}", DIM), indent=4)
    if hit.path:
        yield line((records.path(hit.path), OK), indent=4)


plain(app, "deprecate", by="The memory that replaces it")


plain(app, "restore")


plain(app, "merge", into="Key of the memory that remains")


def _duplicates(pairs: Sequence[NearDuplicates], *, dry_run: bool) -> Iterator[Part]:
    if not pairs:
        yield line(("no duplicates", DIM))
        return
    for pair in pairs:
        yield line((pair.merged, KEY), " → ", (pair.kept, KEY), f"  similarity {pair.similarity:.2f}")
    if dry_run:
        yield line(("nothing was merged: that was a dry run", WARN))
    else:
        yield records.undo_hint(pairs[0].operation)


plain(app, "deduplicate", _duplicates, kind="The kind of memories")


def _created(pack: Pack, *, path: Path) -> Iterator[Part]:
    yield line(("packed", OK), "  ", _name(pack), f"  {_size(pack)} to {path}")


plain(packs_app, "pack_create", _created, name="create", path=PackFile)


def _installed(pack: Pack) -> Iterator[Part]:
    if pack.operation is None:
        yield line(("already installed", WARN), "  ", _name(pack), f"  {_size(pack)}")
        return
    yield line(("installed", OK), "  ", _name(pack), f"  {_size(pack)}")
    changes = [f"{number} {change}" for change, number in pack.metadata.items()]
    if changes:
        yield line((", ".join(changes), DIM), indent=2)
    yield records.undo_hint(pack.operation, indent=2)


plain(
    packs_app,
    "pack_install",
    _installed,
    name="install",
    path=PackFile,
    trust=f"How far its author is trusted: {', '.join(TRUST)}",
)


def _packs(packs: Sequence[Pack]) -> Iterator[Part]:
    if not packs:
        yield line(("no packs", DIM))
        return
    columns = ("pack", "version", "behaviours", "links", "installed", "description")
    rows = [
        (
            label(pack.name),
            pack.version,
            str(pack.behaviors),
            str(pack.links),
            timestamp(pack.installed_at)[:10],
            pack.description,
        )
        for pack in packs
    ]
    yield Table(columns, tuple(rows), cut=True)


plain(packs_app, "pack_list", _packs, name="list")


plain(packs_app, "pack_remove", name="remove")


def _name(pack: Pack) -> tuple[str, str]:
    return f"{label(pack.name)} {pack.version}", "bold"


def _size(pack: Pack) -> str:
    rules = count_text(pack.behaviors, "behaviour")
    return f"{rules}, {count_text(pack.links, 'link')}" if pack.links else rules
