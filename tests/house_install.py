"""Install the base into a fresh environment, and measure it: packages, megabytes, and commands from a cold shell.

    python tests/house_install.py           print the table that ``make house`` shows with ``--install``
    python tests/house_install.py --quick   leave out the store of 10,000 memories

The environment holds what ``pip install .`` brings, without pip itself. Processor time is that of the process and its
children, the least of some runs: other work on the machine makes it longer, never shorter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEMORIES, RUNS = 10_000, 9
OF_SENTENCES = "onnxruntime"
"""The package that only sentence vectors need, with what it brings; of the weights, those of their model."""
MODEL = "priming_weights/minilm/"
NOT_OURS = {"pip", "setuptools", "wheel"}
_MEGABYTE = 1 << 20

_SIZES = """
import json, re
from importlib.metadata import distributions
packages = {}
for package in distributions():
    files = {file.as_posix(): file.locate() for file in package.files or ()}
    sizes = {name: path.stat().st_size for name, path in files.items() if path.is_file()}
    needs = [need for need in package.requires or () if "extra ==" not in need]
    names = [re.split(r"[^\\w.-]", need)[0] for need in needs]
    packages[package.name] = {"sizes": sizes, "requires": names}
print(json.dumps(packages))
"""
_FILL = """
import random, sys
from priming import Memory
rng = random.Random(7)
words = [f"{a}{b}" for a in "ba ce di fo gu ha je ki lo mu na pe".split() for b in "ran tel mis dor gun".split()]
words += "deploy staging database release port gateway kestrel token failed because before every monday".split()
texts = (" ".join(rng.choices(words, k=rng.randrange(8, 30))) for _ in range(int(sys.argv[2])))
with Memory.open(sys.argv[1]) as memory:
    memory.remember_many({"content": f"{text}.", "session": f"s{i // 20}"} for i, text in enumerate(texts))
    memory.recall("why did the release of kestrel fail")
"""
_GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "house", "version": "1"},
    },
}


@dataclass(frozen=True)
class Weight:
    """Some installed packages, and their megabytes."""

    packages: int
    megabytes: float

    def __str__(self) -> str:
        return f"{self.packages} packages, {self.megabytes:.0f} MB"


@dataclass(frozen=True)
class Cost:
    """What a process takes: seconds of processor time, and megabytes of memory at most."""

    seconds: float
    megabytes: float


class Installation:
    """An environment with the base alone."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self._folder = folder
        self.python = Path(sysconfig.get_path("scripts", "venv", {"base": str(folder)})) / "python"
        self.priming = self.python.with_name("priming")
        pip = [str(self.python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", str(ROOT)]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        subprocess.run(pip, check=True, env=environment)

    def weigh(self) -> tuple[Weight, Weight]:
        """Weigh what the base brings, and what of it is not for sentence vectors; Priming itself is no package."""
        done = subprocess.run([self.python, "-c", _SIZES], check=True, capture_output=True, text=True)
        packages: dict[str, dict[str, object]] = json.loads(done.stdout)
        whole = {name for name in packages if name not in NOT_OURS}
        rest = whole - (
            _closure(packages, {OF_SENTENCES}) - _closure(packages, _needed(packages) - {OF_SENTENCES})
        )
        return _weight(packages, whole), _weight(packages, rest, without=MODEL)

    def cost(self, *command: str, stdin: bytes = b"", runs: int = RUNS, **more: str) -> Cost:
        """Measure a command: the least processor time of some runs, and the most memory of the last."""
        environment = {**_clean(os.environ), **more}
        measured = [_cost(command, stdin, environment) for _ in range(runs)]
        return Cost(min(cost.seconds for cost in measured), measured[-1].megabytes)


def table(*, quick: bool = False) -> Iterator[tuple[str, str]]:
    """The measurements of a base install, as rows."""
    with tempfile.TemporaryDirectory() as folder:
        installation = Installation(Path(folder) / "environment")
        whole, without = installation.weigh()
        yield "base install, at most 18 packages and 240 MB", str(whole)
        yield "… not for sentence vectors, at most 13 and 150", str(without)
        url = f"sqlite:///{folder}/greeted.db"
        numpy = installation.cost(str(installation.python), "-c", "import numpy")
        bare = installation.cost(str(installation.python), "-c", "pass")
        greeting = installation.cost(
            str(installation.priming), "--url", url, "mcp", stdin=json.dumps(_GREETING).encode() + b"\n"
        )
        yield (
            "MCP, a greeting, in `python -c pass`",
            f"{greeting.seconds / bare.seconds:.1f} × ({greeting.seconds:.2f} s)",
        )
        if quick:
            return
        for name, limit, vectors in (
            ("word", "4 × and 150 MB", "wordllama"),
            ("sentence", "7 × and 350 MB", "semantic"),
        ):
            url = f"sqlite:///{folder}/{name}.db"
            own = {"PRIMING_EMBEDDER": vectors, "PRIMING_SERVER": "off"}
            fill = [str(installation.python), "-c", _FILL, url, str(MEMORIES)]
            subprocess.run(fill, check=True, env={**_clean(os.environ), **own})
            recall = installation.cost(
                str(installation.priming), "--url", url, "recall", "why did the release fail", **own
            )
            times = f"{recall.seconds / numpy.seconds:.1f} × `import numpy` ({recall.seconds:.2f} s)"
            yield f"cold recall with {name} vectors, at most {limit}", f"{times}, {recall.megabytes:.0f} MB"


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without settings of Priming, and in which bytecode is written."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith("PRIMING_") and name not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
    }


def _cost(command: Sequence[str], stdin: bytes, environment: Mapping[str, str]) -> Cost:
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=subprocess.DEVNULL, env=dict(environment)) as process:
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with status {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / _MEGABYTE)


def _needed(packages: Mapping[str, Mapping[str, object]]) -> set[str]:
    """What Priming itself names."""
    return set(_requires(packages, "priming"))


def _requires(packages: Mapping[str, Mapping[str, object]], name: str) -> Collection[str]:
    by_name = {_normal(installed): about for installed, about in packages.items()}
    requires = by_name.get(_normal(name), {}).get("requires", [])
    assert isinstance(requires, list)
    return requires


def _closure(packages: Mapping[str, Mapping[str, object]], names: Collection[str]) -> set[str]:
    """The installed packages that some packages need, themselves among them."""
    waiting, seen = [*names], set[str]()
    while waiting:
        name = _normal(waiting.pop())
        if name not in seen:
            seen.add(name)
            waiting += _requires(packages, name)
    return {installed for installed in packages if _normal(installed) in seen}


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _weight(
    packages: Mapping[str, Mapping[str, object]], names: Collection[str], without: str | None = None
) -> Weight:
    total = 0
    for name in names:
        sizes = packages[name]["sizes"]
        assert isinstance(sizes, dict)
        total += sum(size for file, size in sizes.items() if without is None or not file.startswith(without))
    return Weight(len(set(names) - {"priming"}), total / _MEGABYTE)


def main() -> None:
    """Print the table."""
    for label, value in table(quick="--quick" in sys.argv):
        print(f"{label:52}  {value}", flush=True)


if __name__ == "__main__":
    main()
