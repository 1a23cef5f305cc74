"""The command that measures retrieval on sets with gold, beside baselines and rivals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from priming.cli.completing import term_names
from priming.cli.options import Place
from priming.cli.screen import Part, Table, line, progress
from priming.cli.verb import Answer, verb

if TYPE_CHECKING:
    from priming.bench.benchmark import Benchmark

app = typer.Typer()


@verb(app)
def bench(
    place: Place,
    name: Annotated[
        str,
        Argument(metavar="SET", help="locomo, hotpot or musique", autocompletion=lambda: list(_names())),
    ],
    data: Annotated[
        Path, Option("--data", metavar="PATH", help="The set's file, or the folder that holds it")
    ],
    ablate: Annotated[
        list[str] | None,
        Option(
            "--ablate",
            metavar="TERM",
            help="Also without this term (repeatable; several joined by commas go together)",
            autocompletion=term_names,
        ),
    ] = None,
    baselines: Annotated[
        bool, Option("--baselines", help="Also BM25, cosine, rank fusion and their min-max hybrid")
    ] = False,
    rival: Annotated[
        list[Path] | None,
        Option("--rival", metavar="FOLDER", help="Also this rival, an adapter's folder (repeatable)"),
    ] = None,
    rivals: Annotated[
        list[Path] | None,
        Option("--rivals", metavar="FOLDER", help="Also every rival in this folder (repeatable)"),
    ] = None,
    environments: Annotated[
        Path, Option("--environments", metavar="FOLDER", help="Where the rivals' environments are kept")
    ] = Path(".bench"),
    tokens: Annotated[
        bool,
        Option("--tokens", help="Also what holding 80 % and 90 % of the evidence costs: asks deep as well"),
    ] = False,
    limit: Annotated[
        int | None, Option("--limit", metavar="N", help="Only so many questions, evenly spaced over all")
    ] = None,
    shuffled: Annotated[
        bool, Option("--shuffled", help="Deal the gold out anew: nothing but chance should be found")
    ] = False,
    out: Annotated[
        Path | None,
        Option("--out", metavar="FILE", help="Write everything as JSON, each question's answers too"),
    ] = None,
    plots: Annotated[
        Path | None, Option("--plots", metavar="FOLDER", help="Draw the figures there, as SVG")
    ] = None,
) -> Answer:
    """Measure recall on a set with gold: quality and latency, beside baselines and rivals."""
    import json
    from datetime import UTC, datetime

    from priming.bench import benchmark, report, sets
    from priming.embed.choose import named

    plan = benchmark.Plan(
        profile=place.chosen_profile(),
        ablate=ablate or (),
        baselines=_baselines() if baselines else (),
        rivals=_rivals(rival or [], rivals or []),
        cache=environments,
        token_costs=tokens,
        shuffled=shuffled,
    )
    _refuse(out, plots)
    of = sets.load(name, data).first(limit)
    found = benchmark.run(of, named(place.chosen_embedder()), plan, progress)
    document = report.document(found, datetime.now(UTC))
    if out is not None:
        report.write(out, json.dumps(document, ensure_ascii=False) + "\n")
    drawn = _drawn(found, plots)
    return Answer(document, [*_told(found), *_written(out, drawn)])


def _names() -> tuple[str, ...]:
    from priming.bench.sets import NAMES

    return tuple(NAMES)


def _baselines() -> tuple[str, ...]:
    from priming.bench.baselines import BASELINES

    return BASELINES


def _rivals(folders: list[Path], parents: list[Path]) -> list[Path]:
    from priming.bench.rival import rivals

    return rivals(folders, parents)


def _refuse(out: Path | None, plots: Path | None) -> None:
    """``ParamError`` for places where nothing can be written: asked before the run is, not after it."""
    from priming.errors import ParamError

    if out is not None and (out.is_dir() or not out.absolute().parent.is_dir()):
        raise ParamError("--out", str(out), "must be a file in a folder that is there")
    if plots is not None and plots.exists() and not plots.is_dir():
        raise ParamError("--plots", str(plots), "must be a folder, there or to be made")


def _drawn(found: Benchmark, folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    from priming.bench import plots

    return plots.write(found, folder)


def _told(found: Benchmark) -> Iterator[Part]:
    """The tables for people."""
    from priming.bench import report

    of = found.of
    said = f"{of.questions:,} questions, {of.memories:,} memories, {found.generation}"
    yield line((of.name, "bold"), f"  {said}" + ("; the gold is shuffled" if found.plan.shuffled else ""))
    yield _table(report.results(found))
    yield line()
    yield _table(report.categories(found))
    for one in (report.differences(found), report.costs(found)):
        if one[1]:
            yield line()
            yield _table(one)
    for name, error in report.failures(found):
        yield line((f"{name} could not run", "red"), f": {error}")


def _table(one: tuple[tuple[str, ...], list[tuple[str, ...]]]) -> Table:
    columns, rows = one
    return Table(columns, tuple(rows))


def _written(out: Path | None, drawn: list[Path]) -> Iterator[Part]:
    for path in (*([] if out is None else [out]), *drawn):
        yield line(("wrote", "green"), f"  {path}")
