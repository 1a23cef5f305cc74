"""Measure the house: how large its rooms are, what its names are, and which files a call walks through.

    python tests/house.py              print the table that ``make house`` shows
    python tests/house.py FOLDER       measure another checkout, such as one of an older commit

``tests/test_house.py`` holds the limits.
"""

from __future__ import annotations

import ast
import io
import re
import statistics
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BANNED = frozenset(
    [
        "one",
        "some",
        "found",
        "told",
        "said",
        "given",
        "asked",
        "wanted",
        "kept",
        "met",
        "held",
        "made",
        "there",
        "known",
    ]
)
"""Words that are no names: a name says what the thing is."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IGNORED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True)
class SourceFile:
    """One file of the package."""

    path: Path
    package: Path

    @property
    def name(self) -> str:
        """The path below the package."""
        return self.path.relative_to(self.package).as_posix()

    @property
    def module(self) -> str:
        """The dotted name, ``priming`` first."""
        parts = ("priming", *self.path.relative_to(self.package).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def text(self) -> str:
        """The file as text."""
        return self.path.read_text("utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The file as a syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def lines(self) -> int:
        """All lines."""
        return self.text.count("\n")

    @cached_property
    def code_lines(self) -> frozenset[int]:
        """The lines that hold code: no blanks, comments or docstrings."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        lines = {
            line
            for token in tokens
            if token.type not in _IGNORED
            for line in range(token.start[0], token.end[0] + 1)
        }
        return frozenset(lines - self._docstrings())

    def _docstrings(self) -> set[int]:
        return {
            line
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }

    def functions(self) -> Iterator[int]:
        """The code lines of each function."""
        for node in ast.walk(self.tree):
            if isinstance(node, _FUNCTIONS):
                body = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                yield sum(line in self.code_lines for line in body)

    def import_lines(self) -> int:
        """The code lines that import."""
        return sum(
            (node.end_lineno or node.lineno) - node.lineno + 1
            for node in ast.walk(self.tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
        )

    def imports(self, modules: Mapping[str, SourceFile], *, lazy: bool = True) -> set[str]:
        """The modules of ours that the file imports, for type checkers too; in functions only with ``lazy``."""
        nodes = ast.walk(self.tree) if lazy else _outside_functions(self.tree)
        targets = set()
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    targets.add(inner if inner in modules else node.module)
            elif isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
        return {target for target in targets if target in modules} - {self.module}


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, _FUNCTIONS):
            yield node
            yield from _outside_functions(node)


class House:
    """A checkout, measured."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.package = root / "src" / "priming"
        self.files = [SourceFile(path, self.package) for path in sorted(self.package.rglob("*.py"))]
        self.modules = {file.module: file for file in self.files}

    def root_entries(self) -> list[str]:
        """What lies at the root of the package, beside its ``__init__``."""
        return sorted(
            path.name
            for path in self.package.iterdir()
            if path.name not in ("__init__.py", "__pycache__", "py.typed")
        )

    def folders(self) -> dict[str, int]:
        """The modules in each folder, ``__init__`` not counted."""
        sizes = Counter(
            file.path.parent.relative_to(self.package).as_posix()
            for file in self.files
            if file.path.name != "__init__.py"
        )
        return dict(sizes)

    def cycles(self) -> list[list[str]]:
        """Circles of imports at import time, those for type checking included; each as its modules."""
        graph = {name: file.imports(self.modules, lazy=False) for name, file in self.modules.items()}
        return [component for component in _components(graph) if len(component) > 1]

    def bound_names(self) -> Counter[str]:
        """How often each name is bound: variables, parameters, functions, classes and attributes."""
        names: Counter[str] = Counter()
        for file in self.files:
            names.update(name for name, _ in bindings(file.tree))
        return names

    def banned(self, *, except_for: Collection[str] = ()) -> list[str]:
        """Each place at which a banned word is bound as a name, but for these fields, each as ``Class.field``."""
        return [
            f"{file.name}:{line} {name}"
            for file in self.files
            for excused in [_fields(file.tree, except_for)]
            for name, line in bindings(file.tree)
            if name.strip("_") in BANNED and (name, line) not in excused
        ]

    def classes(self) -> dict[str, list[str]]:
        """The files in which each public or private class is defined."""
        homes: dict[str, list[str]] = defaultdict(list)
        for file in self.files:
            for node in ast.walk(file.tree):
                if isinstance(node, ast.ClassDef):
                    homes[node.name.lstrip("_")].append(file.name)
        return homes

    def type_aliases(self) -> dict[str, list[str]]:
        """The files in which each alias of a type is defined: a capitalised name bound at the top of a module."""
        homes: dict[str, list[str]] = defaultdict(list)
        for file in self.files:
            for node in file.tree.body:
                targets = node.targets if isinstance(node, ast.Assign) else []
                for target in targets:
                    if isinstance(target, ast.Name) and re.fullmatch(r"[A-Z][a-z]\w+", target.id):
                        homes[target.id].append(file.name)
        return homes

    def importers(self) -> dict[str, int]:
        """How many other files import each module."""
        count: Counter[str] = Counter()
        for file in self.files:
            count.update(file.imports(self.modules))
        return {name: count[name] for name in self.modules}

    def readme_words(self) -> int:
        """Words of the README, code and tables included, links' targets not."""
        text = re.sub(r"\]\([^)]*\)", "]", (self.root / "README.md").read_text("utf-8"))
        return len(text.split())


def bindings(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that a file binds, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield node.name, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name, node.lineno
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname, node.lineno


def _fields(tree: ast.Module, names: Collection[str]) -> set[tuple[str, int]]:
    """Where fields that are named ``Class.field`` are declared in the bodies of their classes."""
    return {
        (statement.target.id, statement.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        if f"{node.name}.{statement.target.id}" in names
    }


def _components(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of a graph (Tarjan 1972)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    components: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for neighbour in sorted(graph[node]):
            if neighbour not in order:
                visit(neighbour)
                low[node] = min(low[node], low[neighbour])
            elif neighbour in stack:
                low[node] = min(low[node], order[neighbour])
        if low[node] == order[node]:
            cut = stack.index(node)
            components.append(sorted(stack[cut:]))
            del stack[cut:]

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return components


WALKS: Mapping[str, str] = {
    "recall": "memory.recall('why did the release fail?')",
    "verdict": "memory.feedback(used=['outage'])",
    "sleep": "memory.sleep()",
}
SUBJECTS: Mapping[str, Sequence[str]] = {
    "recall": ("memory.py", "namespace.py", "recall/"),
    "verdict": ("memory.py", "namespace.py", "learning/", "recall/traces.py"),
    "sleep": ("memory.py", "namespace.py", "sleep/"),
}
"""The files and folders that a reader of each call follows; laws, arrays and the store are looked up."""
_WALK = """
import sys
sys.path.insert(0, {source!r})
import priming
assert priming.__file__.startswith({source!r}), priming.__file__
from priming import HashedEmbedder, Memory
memory = Memory.open("sqlite://", embedder=HashedEmbedder(256))
for day in range(3):
    text = f"The release failed on day {{day}} because Kestrel was down."
    memory.remember(text, session="s", key=f"outage-{{day}}")
memory.remember("The release failed because Kestrel was down.", key="outage")
memory.remember("The key to Kestrel hangs in room 12.", key="kestrel-key")
memory.recall("why did the release fail?")
files, calls = [], []
def trace(frame, event, argument):
    if event != "call":
        return
    name = frame.f_code.co_filename
    if "/src/priming/" in name:
        files.append(name.split("/src/priming/")[1])
sys.setprofile(trace)
{call}
sys.setprofile(None)
print("\\n".join(files))
"""


def walk(root: Path, call: str) -> list[str]:
    """The files of the package whose functions a call enters, in the order in which they are entered."""
    source = str(root / "src")
    code = _WALK.format(source=source, call=call)
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    steps = shown.stdout.split()
    return [step for step, before in zip(steps, ["", *steps], strict=False) if step != before]


def subject_files(steps: Sequence[str], name: str) -> list[str]:
    """The files of a walk that belong to the subject of its call, in the order in which they are first entered."""
    return [step for step in dict.fromkeys(steps) if step.startswith(tuple(SUBJECTS[name]))]


def table(house: House) -> list[tuple[str, str]]:
    """The measurements, a row each."""
    sizes = sorted(size for file in house.files for size in file.functions())
    code = [len(file.code_lines) for file in house.files]
    importers = house.importers()
    alone = sum(importers[file.module] == 1 for file in house.files)
    names = house.bound_names()
    classes = {name: files for name, files in house.classes().items() if len(files) > 1}
    aliases = {name: files for name, files in house.type_aliases().items() if len(files) > 1}
    tests = sorted((house.root / "tests").rglob("*.py"))
    return [
        ("code lines a function: median / p90 / most", f"{_quantiles(sizes)}"),
        ("files × mean code lines", f"{len(code)} × {statistics.mean(code):.0f} = {sum(code):,}"),
        (
            "files under 100 lines, imported by one other file only",
            f"{sum(file.lines < 100 for file in house.files)}, {alone}",
        ),
        ("longest file, in lines", _longest(house)),
        ("imports, share of code", f"{sum(file.import_lines() for file in house.files) / sum(code):.1%}"),
        ("entries at the root", str(len(house.root_entries()))),
        ("modules in the fullest folder", _fullest(house)),
        ("circles of imports", str(len(house.cycles()))),
        ("banned names: bindings", str(len(house.banned()))),
        ("  of them `one`; `self` for comparison", f"{names['one']:,}; {names['self']:,}"),
        ("class names with two homes", f"{len(classes)}: {', '.join(sorted(classes)[:8])}"),
        ("type aliases with two homes", f"{len(aliases)}: {', '.join(sorted(aliases)[:8])}"),
        ("words in the README", f"{house.readme_words():,}"),
        ("lines of tests", f"{sum(path.read_text('utf-8').count(chr(10)) for path in tests):,}"),
    ]


def _quantiles(sizes: Sequence[int]) -> str:
    return f"{statistics.median(sizes):.0f} / {sizes[int(len(sizes) * 0.9)]} / {sizes[-1]}"


def _longest(house: House) -> str:
    longest = max(house.files, key=lambda file: file.lines)
    return f"{longest.lines} ({longest.name})"


def _fullest(house: House) -> str:
    sizes = house.folders()
    folder = max(sizes, key=lambda name: sizes[name])
    return f"{sizes[folder]} ({folder})"


def main() -> None:
    """Print the table, and the walks."""
    house = House(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
    for label, value in table(house):
        print(f"{label:58}  {value}")
    for name, call in WALKS.items():
        steps = walk(house.root, call)
        files = list(dict.fromkeys(steps))
        own = subject_files(steps, name)
        print(f"\n{name}: {len(own)} files of its subject: {', '.join(own)}")
        print(f"  of {len(files)} files entered, with {len(steps) - len(files)} returns: {', '.join(files)}")


if __name__ == "__main__":
    main()
