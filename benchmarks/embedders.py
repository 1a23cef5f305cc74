"""Embedders: what each adds to an installation, what a command and a text cost, and what it finds.

Costs are processor time, the best of several runs. ``--genre`` (repeatable) names a folder of ``documents.jsonl``
and ``questions.jsonl``; questions that share less than a tenth of their words with an answer, or say so as
``jaccard``, are counted apart. ``--add`` keeps the sets that were measured before.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import corpus
from common import RESULTS, arguments, machine, versions
from priming import Memory
from priming.embedding.protocol import Embedder, SemanticEmbedder, Vectors
from priming.embedding.registry import named
from priming.embedding.wordllama import StaticEmbedder

EMBEDDERS = ("wordllama", "semantic", "onnx")
OWN = {"wordllama": (), "semantic": ("onnxruntime",)}
OWN["onnx"] = OWN["semantic"]
LOW, FIRST = 0.1, 10
_NAME = re.compile(r"^[\w.-]+")
_WORDS = re.compile(r"\w+")
_RECALL = "import sys; sys.argv[1:] = {words!r}; from priming.cli.start import main; main()"


def main() -> None:
    parser = arguments((__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--genre", action="append", type=Path, default=[], help="a folder with a set (repeatable)"
    )
    parser.add_argument("--questions", type=int, default=200, help="how many of each set, spread evenly")
    parser.add_argument("--add", action="store_true", help="keep the sets that were measured before")
    parser.add_argument("--no-costs", action="store_true", help="keep the costs that were measured before")
    options = parser.parse_args()
    path = RESULTS / f"{'quick-' * options.quick}embedders.json"
    before: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    sets = dict(before.get("sets", {})) if options.add else {}
    costs = before.get("costs", {}) if options.no_costs else {}
    for name in EMBEDDERS if not options.no_costs else ():
        costs[name] = cost(name, 2 if options.quick else 7)
        print(name, costs[name], flush=True)
    for folder in options.genre:
        sets[folder.name] = quality(folder, 40 if options.quick else options.questions)
        print(folder.name, json.dumps(sets[folder.name]), flush=True)
    content = {
        "machine": machine(),
        "versions": versions(OWN["semantic"]),
        "costs": costs,
        "sets": sets,
    }
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    print(path)


def cost(name: str, runs: int) -> dict[str, float]:
    """What it adds to an installation, and the processor time of a command and of a text."""
    return {
        "mib": round(added(OWN[name]) / 2**20, 1),
        "command_ms": command(name, runs),
        "text_us": text(name, runs),
    }


def added(packages: Sequence[str]) -> int:
    """The bytes of packages and what they require, beside what Priming requires anyway."""
    own = {name for package in packages for name in required(package)}
    return sum(size(name) for name in own - set(required("priming")))


def required(package: str) -> Iterator[str]:
    """A package and all that it requires, without its extras."""
    waiting, seen = [package], set[str]()
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # for another system or version
        waiting += [match[0] for need in needs if "extra ==" not in need and (match := _NAME.match(need))]
        yield name


def size(package: str) -> int:
    files = metadata.files(package) or []
    places = [Path(str(file.locate())) for file in files if file.suffix != ".pyc"]
    return sum(place.stat().st_size for place in places if place.is_file())


def command(name: str, runs: int) -> float:
    """Milliseconds of processor time of a recall on the command line, without a server, among 200 memories."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/memory.db"
        with Memory.open(url, embedder=name) as memory:
            memory.remember_many(
                [{"content": text} for text in list(dict.fromkeys(corpus.sentences()))[:200]]
            )
        with Memory.open(url, embedder=name) as memory:
            memory.recall("how is a file opened?")
        words = ["recall", "how is a file opened?", "--url", url, "--embedder", name, "--no-server"]
        return round(
            min(_process([sys.executable, "-c", _RECALL.format(words=words)]) for _ in range(runs)), 1
        )


def _process(words: Sequence[str]) -> float:
    """The processor time of a process in milliseconds."""
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{words} failed")
    return 1000.0 * (usage.ru_utime + usage.ru_stime)


def text(name: str, runs: int) -> float:
    """Microseconds of processor time of a text, by the hundred."""
    embedder, texts = named(name), list(dict.fromkeys(corpus.sentences()))[:100]
    embedder.embed(texts[:1])

    def once() -> float:
        start = time.process_time()
        embedder.embed(texts)
        return 1e6 * (time.process_time() - start) / len(texts)

    return round(min(once() for _ in range(runs)), 1)


class Cached:
    """An embedder that reads each text once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._rows = embedder, dict[str, Any]()
        self.generation, self.dimension = embedder.generation, embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Make its rows, one a text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        self._rows.update(zip(new, self._embedder.embed(new), strict=True))
        rows = [self._rows[text] for text in texts]
        return np.array(rows, np.float32).reshape(len(rows), self.dimension)


def quality(folder: Path, most: int) -> dict[str, Any]:
    """nDCG@10 and R@10 of each embedder, and R@10 of the questions that share few words with their answers."""
    documents = [json.loads(line) for line in (folder / "documents.jsonl").open(encoding="utf-8")]
    questions = [json.loads(line) for line in (folder / "questions.jsonl").open(encoding="utf-8")]
    keys = {document["id"]: f"d{number}" for number, document in enumerate(documents)}
    questions = [question for question in questions if any(gold in keys for gold in question["gold"])]
    chosen = (
        [questions[at * len(questions) // most] for at in range(most)] if len(questions) > most else questions
    )
    texts = {document["id"]: document["text"] for document in documents}
    few = [shared(question, texts) < LOW for question in chosen]
    found: dict[str, Any] = {"questions": len(chosen), "few": sum(few)}
    words, sentences = StaticEmbedder(), Cached(named("onnx"))
    embedders = {"wordllama": words, "semantic": SemanticEmbedder(words, sentences), "onnx": sentences}
    for name, embedder in embedders.items():
        answers = dict(enumerate(ask(documents, keys, chosen, embedder)))
        golds = [{keys[gold] for gold in question["gold"] if gold in keys} for question in chosen]
        hits = [bool(golds[at] & set(answers[at][:FIRST])) for at in answers]
        low = [hit for hit, is_low in zip(hits, few, strict=True) if is_low]
        found[name] = {
            "ndcg": percent([gain(answers[at], golds[at]) for at in answers]),
            "r10": percent(hits),
            "few_r10": percent(low) if low else None,
        }
    return found


def ask(
    documents: Sequence[Mapping[str, Any]],
    keys: Mapping[str, str],
    questions: Sequence[Mapping[str, Any]],
    embedder: Embedder,
) -> Iterator[list[str]]:
    """The keys that each question recalls."""
    parts: dict[str, list[dict[str, Any]]] = {}
    for document in documents:
        parts.setdefault(str(document.get("part")), []).append(memory_of(document, keys[document["id"]]))
    stores = {part: Memory.open("sqlite://", embedder=embedder) for part in parts}
    for part, memories in parts.items():
        stores[part].remember_many(memories)
    for question in questions:
        hits = stores[str(question.get("part"))].recall(question["text"], limit=FIRST, floor=0.0).hits
        yield [hit.memory.key for hit in hits]
    for store in stores.values():
        store.close()


def memory_of(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A document as importers make a memory of it: a commit has an author and no session."""
    memory = {"content": document["text"], "key": key}
    heading, speaker = document.get("heading") or document.get("title"), document.get("speaker")
    named_by = {
        "heading": heading,
        "speaker": speaker or document.get("author"),
        "session": document.get("session"),
    }
    memory |= {name: str(value) for name, value in named_by.items() if value}
    if document.get("time"):
        time_of_it = datetime.fromisoformat(document["time"])
        memory["occurred_at"] = time_of_it if time_of_it.tzinfo else time_of_it.replace(tzinfo=UTC)
    return memory


def shared(question: Mapping[str, Any], texts: Mapping[str, str]) -> float:
    """The share of words that a question and the nearest of its answers have in common, by Jaccard."""
    if "jaccard" in question:
        return float(question["jaccard"])
    own = set(_WORDS.findall(question["text"].casefold()))
    others = [set(_WORDS.findall(texts[gold].casefold())) for gold in question["gold"] if gold in texts]
    return max(len(own & other) / max(1, len(own | other)) for other in others)


def gain(keys: Sequence[str], gold: Set[str]) -> float:
    """The nDCG of the first ten."""
    own = sum(1 / math.log2(place + 2) for place, key in enumerate(keys[:FIRST]) if key in gold)
    return own / sum(1 / math.log2(place + 2) for place in range(min(FIRST, len(gold))))


def percent(values: Sequence[float]) -> float:
    """Their mean, in percent."""
    return round(100.0 * sum(values) / len(values), 1)


if __name__ == "__main__":
    main()
