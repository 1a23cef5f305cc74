"""The shapes of other libraries: whether they find as much as these, and as fast.

    python benchmarks/dropins.py --genres FOLDER... [--only SET] [--questions N] [--install]
    python benchmarks/dropins.py --install

``--genres`` names folders of sets that ``priming bench`` reads. It runs where the originals are, such as in the
environment of ``make test-adapters``; one that is absent is left out, and ``server-memory`` comes from npm. All get
the same texts, equal ones once, and the same vectors, those of the installed sentence model, uncounted;
only servers make their own. Searches are the libraries' own, for ten, else with their defaults. A start is a process
that imports, opens the largest set and searches once, with vectors at hand. ``--install`` also installs each into an
empty folder and weighs it; alone, it leaves the other results. Results go to ``results/dropins.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import dropin_stores
from common import RESULTS, arguments, medians, write
from dropin_stores import FIRST, SERVER, STORES, Store, Vectors, reopened
from priming_lab.genre import is_genre, load_genre
from priming_lab.metrics import ndcg_at, recall_at
from priming_lab.sets import BenchPart, BenchSet

ROOT = str(Path(__file__).resolve().parent.parent)
PAIRS = {
    "langgraph": {"in_memory_store": "langgraph-checkpoint", "priming_store": f"{ROOT}[langgraph]"},
    "mem0": {"mem0": "mem0ai", "priming_mem0": ROOT},
    "chromadb": {"chroma": "chromadb", "priming_memory": ROOT},
    SERVER: {"server_memory": SERVER, "priming_server": ROOT},
}
"""By what the original needs: the original and ours, each with what is installed for it."""
PACKAGES = {"langgraph": "langgraph-checkpoint", "mem0": "mem0ai", "chromadb": "chromadb"}
Question = tuple[str, str, frozenset[str]]
"""A part, a text, and the keys of the memories that answer it."""


def main() -> None:
    options = _parser().parse_args()
    if options.install and not options.genres:
        print(weigh_again(RESULTS / "dropins.json"))
        return
    folders = sorted(each for genres in options.genres for each in genres.iterdir() if is_genre(each))
    chosen = [each for each in folders if not options.only or each.name in options.only]
    sets = [load_genre(each).first(options.questions) for each in chosen]
    if not sets:
        sys.exit("these folders hold no such set: name folders of sets, such as those of priming bench")
    largest = max(sets, key=lambda of: of.memories)
    pairs = {need: pair for need, pair in PAIRS.items() if _present(need)}
    results, starts, installed = {}, {}, {}
    with tempfile.TemporaryDirectory() as temporary:
        folder, vectors = Path(temporary), Vectors()
        os.environ |= {"HOME": temporary, "PRIMING_HOME": temporary, "NODE_PATH": f"{folder}/node_modules"}
        if SERVER in pairs:
            install_server(folder)
        for of in sets:
            figures = dict(measured(of, pairs.values(), vectors, folder / of.name))
            about = {"memories": of.memories, "questions": of.questions, "sha256": of.digest}
            results[of.name] = {**about, "contestants": figures}
            print(of.name, of.memories, json.dumps(figures), flush=True)
        for pair in pairs.values():
            starts |= started(pair, largest, folder / largest.name, 3 if options.quick else 9)
            if options.install:
                installed |= {name: weighed(what, folder) for name, what in pair.items()}
    path = write(
        "quick-dropins" if options.quick else "dropins",
        [],
        packages=[PACKAGES[need] for need in pairs if need in PACKAGES],
        largest=largest.name,
        sets=results,
        start_ms=starts,
        installed=installed,
    )
    print(path)


def _parser() -> argparse.ArgumentParser:
    parser = arguments((__doc__ or "").partition("\n")[0])
    parser.add_argument("--genres", type=Path, nargs="+", default=[], help="folders of sets")
    parser.add_argument("--only", action="append", metavar="SET", help="only this set (repeatable)")
    parser.add_argument(
        "--questions", type=int, default=100, help="at most so many of each set, evenly spaced"
    )
    parser.add_argument(
        "--install", action="store_true", help="install each into an empty folder, and weigh it"
    )
    return parser


def measured(of: BenchSet, pairs: Iterable[Any], vectors: Vectors, folder: Path) -> Iterator[tuple[str, Any]]:
    """The figures of each contestant on a set; its stores stay in the folder."""
    parts = {str(number): distinct(part) for number, part in enumerate(of.parts)}
    questions = [(name, *each) for name, (_, asked) in parts.items() for each in asked]
    for pair in pairs:
        stores: dict[str, dict[str, Store]] = {}
        seconds: dict[str, float] = {}
        for name in pair:
            stores[name] = {part: _opened(name, folder / name / part, vectors) for part in parts}
            began = time.perf_counter() - vectors.seconds
            for part, (items, _) in parts.items():
                stores[name][part].load(items)
            seconds[name] = round(time.perf_counter() - vectors.seconds - began, 3)
        quality = {name: _quality(name, stores[name], questions) for name in pair}
        cases = {name: lambda each, own=own: own[each[0]].search(each[1]) for name, own in stores.items()}
        for name, ms in medians(cases, questions).items():
            yield name, {"quality": quality[name], "load_s": seconds[name], "search_ms": round(ms, 2)}
        for store in (store for own in stores.values() for store in own.values()):
            store.close()


def distinct(part: BenchPart) -> tuple[list[tuple[str, str]], list[tuple[str, frozenset[str]]]]:
    """The keys and texts of a part, equal texts once, and its questions that have an answer."""
    keys: dict[str, str] = {}
    of = {item.label: keys.setdefault(item.indexed, item.key) for item in part.items}
    asked = [
        (query.text, frozenset(of[label] for label in query.gold)) for query in part.queries if query.gold
    ]
    return [(key, text) for text, key in keys.items()], asked


def _opened(name: str, folder: Path, vectors: Vectors) -> Store:
    folder.mkdir(parents=True)
    return STORES[name](folder, vectors)


def _quality(name: str, stores: dict[str, Store], questions: Sequence[Question]) -> dict[str, float]:
    """nDCG@10 and R@5; of a server, whose answers have no order, how often it returns an answer.

    A server is also asked by the longest word of each question, since the original looks for the text as it is.
    """
    answers = [(gold, stores[part].search(text)) for part, text, gold in questions]
    if name not in PAIRS[SERVER]:
        ndcg, recall = (
            [of(gold, keys, k) for gold, keys in answers] for of, k in ((ndcg_at, FIRST), (recall_at, 5))
        )
        return {"nDCG@10": float(np.mean(ndcg)), "R@5": float(np.mean(recall))}
    words = [stores[part].search(max(text.split(), key=len)) for part, text, _ in questions]
    return {
        "found": float(np.mean([bool(gold & {*keys}) for gold, keys in answers])),
        "found_by_word": float(
            np.mean([bool(gold & {*keys}) for (gold, _), keys in zip(answers, words, strict=True)])
        ),
    }


def started(pair: Iterable[str], of: BenchSet, folder: Path, times: int) -> dict[str, float]:
    """Median milliseconds from nothing to the answer of a first search, in the largest part of a set."""
    number, part = max(enumerate(of.parts), key=lambda each: len(each[1].items))
    items, _ = distinct(part)
    question, places = part.queries[0].text, {name: folder / name / str(number) for name in pair}
    for name, place in places.items():  # once to see which vectors it needs
        (place / "items.json").write_text(json.dumps(items), "utf-8")
        vectors = Vectors()
        _search_once(name, place, vectors, question)
        vectors.save(place)

    def start(name: str) -> None:
        if name in PAIRS[SERVER]:  # a process of its own already
            _search_once(name, places[name], Vectors(), question)
        else:
            command = dropin_stores.__file__, name, str(places[name]), question
            subprocess.run([sys.executable, *command], check=True, stderr=subprocess.DEVNULL)

    cases = {name: lambda _, name=name: start(name) for name in places}
    return {name: round(ms) for name, ms in medians(cases, [None] * times, warm_up=1, block=1).items()}


def _search_once(name: str, place: Path, vectors: Vectors, question: str) -> None:
    store = reopened(name, place, vectors)
    store.search(question)
    store.close()


def install_server(folder: Path) -> None:
    """Install the original of ``server-memory`` into a folder."""
    subprocess.run(["npm", "install", "--silent", "--prefix", str(folder), SERVER], check=True)


def weigh_again(path: Path) -> Path:
    """Weigh each contestant of earlier results, and write that among them."""
    results = json.loads(path.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as temporary:
        install_server(folder := Path(temporary))
        packages = {name: what for pair in PAIRS.values() for name, what in pair.items()}
        results["installed"] = {name: weighed(what, folder) for name, what in packages.items()}
    path.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return path


@cache
def weighed(what: str, folder: Path) -> dict[str, float]:
    """The megabytes and the number of packages of a fresh installation, compiled files aside."""
    place = folder / "node_modules"
    if what == SERVER:
        packages = json.loads((place / ".package-lock.json").read_text("utf-8"))["packages"]
    else:
        place = Path(tempfile.mkdtemp(dir=folder))
        command = ["-m", "pip", "install", "--quiet", "--no-compile", "--target", str(place), what]
        subprocess.run([sys.executable, *command], check=True)
        packages = [*place.glob("*.dist-info")]
    size = sum(each.stat().st_size for each in place.rglob("*") if each.is_file() and not each.is_symlink())
    return {"mb": round(size / 1e6, 1), "packages": len(packages)}


def _present(need: str) -> bool:
    present = bool(shutil.which("npm")) if need == SERVER else find_spec(need) is not None
    if not present:
        print(f"{need} is left out: it is not installed", file=sys.stderr)
    return present


if __name__ == "__main__":
    main()
