"""Commands that measure recall: ``bench`` on sets with gold, ``ablate`` on a store's own judged recalls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from priming.cli.command import Answer, command, group
from priming.cli.options import StoreOptions, argument, flag, option
from priming.cli.output import DIM, ERROR, KEY, OK, WARN, Part, Table, line, progress
from priming.cli.parse import complete_from, complete_terms
from priming.cli.plain import plain
from priming.errors import ParamError
from priming.text.quotation import count_text

if TYPE_CHECKING:
    from priming_lab.results import Ablation, Reweighing, Worth
    from priming_lab.run import Benchmark
    from priming_lab.sets import BenchSet

_TERM_COLUMNS = ("term", "is worth", "95 % interval", "better", "worse", "weight")

app = group("Care")
GROUPS = (app,)


@command(app)
def bench(
    store: StoreOptions,
    name: Annotated[
        str,
        argument(
            "SET",
            "Folder with documents.jsonl and questions.jsonl; or locomo, hotpot or musique, with --data",
            complete_from("priming_lab.sets:NAMES"),
        ),
    ],
    data: Annotated[
        Path | None, option("--data", "PATH", "File of locomo, hotpot or musique, or the folder it is in")
    ] = None,
    ablate: Annotated[
        list[str] | None,
        option(
            "--ablate",
            "TERM",
            "Also measure without this term (repeatable; commas join several terms)",
            complete_terms,
        ),
    ] = None,
    baselines: Annotated[
        bool, flag("--baselines", "Also measure BM25, cosine, rank fusion and their min-max hybrid")
    ] = False,
    rival: Annotated[
        list[Path] | None,
        option("--rival", "FOLDER", "Also measure this rival, the folder of an adapter (repeatable)"),
    ] = None,
    rivals: Annotated[
        list[Path] | None,
        option("--rivals", "FOLDER", "Also measure every rival in this folder (repeatable)"),
    ] = None,
    environments: Annotated[
        Path, option("--environments", "FOLDER", "Folder of the rivals' environments")
    ] = Path(".bench"),
    tokens: Annotated[
        bool, flag("--tokens", "Also measure the tokens that hold 80 % and 90 % of the evidence")
    ] = False,
    limit: Annotated[
        int | None, option("--limit", "N", "Maximum number of questions, evenly spaced over all")
    ] = None,
    shuffled: Annotated[bool, flag("--shuffled", "Shuffle the gold: only chance should find it")] = False,
    out: Annotated[
        Path | None, option("--out", "FILE", "Write all results as JSON, with the answers to each question")
    ] = None,
    plots: Annotated[Path | None, option("--plots", "FOLDER", "Write figures there, as SVG")] = None,
) -> Answer:
    """Measure recall on questions with known answers, your own or a public set's, beside plain methods and rivals.

    SET is a folder in the genre format, with a memory a line in documents.jsonl (id and text, and if there are any:
    heading, speaker, session, time, part, files) and a question a line in questions.jsonl (text, and gold, the list
    of the ids that answer it). The store is neither read nor changed.
    """
    import json
    from datetime import UTC, datetime

    from priming.embedding.registry import named
    from priming_lab import report, run, sets
    from priming_lab.contestants import BASELINES
    from priming_lab.rivals import rivals as folders_of

    settings = store.settings()
    own = data is None
    plan = run.BenchPlan(
        profile=str(settings["store.profile"]),
        ablate=_terms(ablate or [], own),
        baselines=BASELINES if baselines else _OWN_BASELINES if own else (),
        rivals=folders_of(rival or [], rivals or []),
        cache=environments,
        token_costs=tokens,
        shuffled=shuffled,
    )
    _check_paths(out, plots)
    question_set = (_own_set(name) if data is None else sets.load(name, data)).first(limit)
    result = run.run(question_set, named(str(settings["store.embedder"])), plan, progress)
    document = report.report_document(result, datetime.now(UTC))
    if out is not None:
        report.write_report(out, json.dumps(document, ensure_ascii=False) + "\n")
    figures = _figures(result, plots)
    files = [*([] if out is None else [out]), *figures]
    return Answer(document, [*_result(result), *(line(("wrote", OK), f"  {path}") for path in files)])


_OWN_BASELINES = ("bm25", "cosine", "hybrid")
_SPREAD = "spread"


def _own_set(name: str) -> BenchSet:
    """Return the set in a folder that the user wrote."""
    from priming_lab.genre import DOCUMENTS, QUESTIONS, load_genre
    from priming_lab.sets import NAMES

    folder = Path(name)
    if folder.is_dir():
        return load_genre(folder)
    if name in NAMES:
        raise ParamError("--data", None, f"must be given: the file of {name}, or the folder it is in")
    if folder.exists():
        raise ParamError("set", name, f"must be the folder of {DOCUMENTS} and {QUESTIONS}, not a file")
    raise ParamError("set", name, f"must be a folder with {DOCUMENTS} and {QUESTIONS}, or {', '.join(NAMES)}")


def _terms(ablate: list[str], own: bool) -> list[str]:
    """Return the terms to go without; a set of the user's own is always measured without spreading, too."""
    return [_SPREAD, *(term for term in ablate if term != _SPREAD)] if own else ablate


def _check_paths(out: Path | None, plots: Path | None) -> None:
    """Refuse paths that cannot be written, before the run rather than after it."""
    if out is not None and (out.is_dir() or not out.absolute().parent.is_dir()):
        raise ParamError("--out", str(out), "must be a file in an existing folder")
    if plots is not None and plots.exists() and not plots.is_dir():
        raise ParamError("--plots", str(plots), "must be a folder, existing or new")


def _figures(result: Benchmark, folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    from priming_lab import plots

    return plots.write_figures(result, folder)


def _result(result: Benchmark) -> Iterator[Part]:
    from priming_lab import report

    questions = result.of
    summary = f"{questions.questions:,} questions, {questions.memories:,} memories, {result.generation}"
    yield line(
        (questions.name, "bold"), f"  {summary}" + ("; the gold is shuffled" if result.plan.shuffled else "")
    )
    yield _table(report.results(result))
    grouped = [table for table in (report.parts(result), report.categories(result)) if len(table[1]) > 1]
    for table in (report.differences(result), *grouped, report.costs(result)):
        if table[1]:
            yield line()
            yield _table(table)
    for name, error in report.failures(result):
        yield line((f"{name} failed", ERROR), f": {error}")


def _table(table: tuple[tuple[str, ...], list[tuple[str, ...]]]) -> Table:
    columns, rows = table
    return Table(columns, tuple(rows))


def _ablation(result: Ablation, *, apply: bool) -> Iterator[Part]:
    """Yield what was replayed, what each term is worth, and what is proposed."""
    replayed = f"{count_text(result.recalls, 'judged recall')}, {count_text(result.cues, 'cue')}"
    yield line((result.profile, KEY), f"  {replayed}")
    for reason, number in result.left_out.items():
        yield line((f"left out: {number:,} ({reason})", DIM), indent=2)
    if result.quality is not None:
        yield line(f"{result.measure}: {result.quality:.3f}")
        yield line()
        yield Table(_TERM_COLUMNS, tuple(map(_term, result.terms)))
        yield line()
    if result.proposal is not None:
        yield from _proposal(result.proposal)
    if result.reason is not None:
        yield line((f"no weights are proposed: {result.reason}", WARN))
    if result.operation is not None:
        yield line((f"applied; to undo this: priming undo {result.operation}", DIM))
    elif result.proposal is not None:
        yield _not_applied(result.proposal, apply)


plain(
    app,
    "ablate",
    _ablation,
    terms=Annotated[
        list[str] | None,
        argument("[TERM]...", "Only these terms, such as spread; all by default", complete_terms),
    ],
    limit="Maximum number of judged recalls to replay, latest first",
    propose="Search for better weights, which takes longest",
    apply="Set the proposed weights if they pass the checks",
    help="Measure what each term of recall contributes on judged recalls, and propose weights.",
)


def _term(worth: Worth) -> tuple[str, ...]:
    weights = " + ".join(f"{value:g}" for value in worth.weights.values())
    return (
        worth.term,
        f"{worth.worth:+.3f}",
        f"{worth.low:+.3f} … {worth.high:+.3f}",
        f"{worth.better:,}",
        f"{worth.worse:,}",
        weights or "-",
    )


def _proposal(proposal: Reweighing) -> Iterator[Part]:
    rows = ((name, f"{proposal.before[name]:g}", f"{value:g}") for name, value in proposal.weights.items())
    yield Table(("weight", "now", "proposed"), tuple(rows))
    interval = f"{proposal.low:+.3f} … {proposal.high:+.3f}"
    yield line(f"gain on held-out cues: {proposal.gain:+.3f}, 95 % interval {interval}")
    yield line(f"{count_text(proposal.worse, 'held-out cue')} worse; largest loss: {proposal.worst:.3f}")


def _not_applied(proposal: Reweighing, apply: bool) -> Part:
    if not proposal.stands:
        refused = ", and was not applied" if apply else ""
        return line((f"the proposal fails the checks{refused}: {proposal.reason}", WARN))
    return line((f"the proposal passes the checks: {proposal.reason}; priming ablate --apply sets it", DIM))
