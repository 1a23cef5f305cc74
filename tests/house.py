"""Measure the house: its size, its circles, its names, and what a call walks through.

    python tests/house.py              print the table that ``make house`` shows
    python tests/house.py FOLDER       measure another checkout, such as one of an older commit
    python tests/house.py --install    install the base into a fresh environment too, and weigh it: minutes

``tests/test_house.py`` holds the limits, ``tests/house_calls.py`` makes the calls.
"""

from __future__ import annotations

import ast
import io
import json
import re
import statistics
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
    """One file of a package, or of the tests."""

    path: Path
    source: Path
    """The folder that the packages lie in."""

    @property
    def place(self) -> str:
        """The path below the folder of the packages."""
        return self.path.relative_to(self.source).as_posix()

    @property
    def package(self) -> str:
        """The package that it belongs to."""
        return self.place.partition("/")[0]

    @property
    def name(self) -> str:
        """The path below its package."""
        return self.place.partition("/")[2]

    @property
    def module(self) -> str:
        """The dotted name, the package first."""
        parts = self.path.relative_to(self.source).with_suffix("").parts
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
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of that tree: a walk takes as long as the parse."""
        return tuple(ast.walk(self.tree))

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
            for node in self.nodes
            if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }

    def functions(self) -> Iterator[int]:
        """The code lines of each function."""
        for node in self.nodes:
            if isinstance(node, _FUNCTIONS):
                body = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                yield sum(line in self.code_lines for line in body)

    def imports(self, modules: Collection[str]) -> set[str]:
        """The modules of ours that the file imports, in functions and for type checkers too."""
        targets = set()
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    targets.add(inner if inner in modules else node.module)
            elif isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
        return {target for target in targets if target in modules} - {self.module}


class House:
    """A checkout, measured."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.source = root / "src"
        self.package = self.source / "priming"
        self.files = [SourceFile(path, self.source) for path in sorted(self.source.rglob("*.py"))]
        self.modules = {file.module: file for file in self.files}
        self.tests = [SourceFile(path, root) for path in sorted((root / "tests").rglob("*.py"))]

    def root_entries(self) -> list[str]:
        """What lies at the root of the library, beside its ``__init__``."""
        return sorted(
            path.name
            for path in self.package.iterdir()
            if path.name not in ("__init__.py", "__pycache__", "py.typed")
        )

    def folders(self) -> dict[str, int]:
        """The modules in each folder, ``__init__`` not counted."""
        return dict(
            Counter(
                file.path.parent.relative_to(self.source).as_posix()
                for file in self.files
                if file.path.name != "__init__.py"
            )
        )

    def packages(self) -> dict[str, list[SourceFile]]:
        """The files of each package."""
        packages = defaultdict(list)
        for file in self.files:
            packages[file.package].append(file)
        return dict(packages)

    def cycles(self) -> list[list[str]]:
        """Circles of files that import each other, anywhere and for whatever reason; each as its modules."""
        return _circles({name: file.imports(self.modules) for name, file in self.modules.items()})

    def folder_cycles(self) -> list[list[str]]:
        """Circles within a folder in which a folder takes part: a folder is one with all that is in it."""
        imports = {file.module: file.imports(self.modules) for file in self.files}
        circles = []
        parents = {parent for file in self.files for parent in file.path.parents}
        for folder in sorted(parent for parent in parents if parent.is_relative_to(self.source)):
            part_of = {
                file.module: folder / file.path.relative_to(folder).parts[0]
                for file in self.files
                if file.path.is_relative_to(folder)
            }
            graph: dict[str, set[str]] = defaultdict(set)
            for module, part in part_of.items():
                others = {part_of[name] for name in imports[module] if name in part_of} - {part}
                graph[part.as_posix()] |= {other.as_posix() for other in others}
            circles += [circle for circle in _circles(graph) if any(Path(part).is_dir() for part in circle)]
        return [[self._dotted(Path(part)) for part in circle] for circle in circles]

    def _dotted(self, path: Path) -> str:
        return ".".join(path.relative_to(self.source).with_suffix("").parts)

    def banned(self, *, except_for: Collection[str] = ()) -> list[str]:
        """Each place at which a banned word is bound as a name, but for these fields, each as ``Class.field``."""
        banned = []
        for file in (*self.files, *self.tests):
            # The trees of the tests are read here only, and are half a gigabyte.
            nodes = file.nodes if file.source == self.source else tuple(ast.walk(ast.parse(file.text)))
            excused = _fields(nodes, except_for)
            banned += [
                f"{file.place}:{line} {name}"
                for name, line in bindings(nodes)
                if name.strip("_") in BANNED and (name, line) not in excused
            ]
        return banned

    def classes(self) -> dict[str, list[str]]:
        """The files in which each public or private class is defined."""
        homes: dict[str, list[str]] = defaultdict(list)
        for file in self.files:
            for node in file.nodes:
                if isinstance(node, ast.ClassDef):
                    homes[node.name.lstrip("_")].append(file.place)
        return homes

    def type_aliases(self) -> dict[str, list[str]]:
        """The files in which each alias of a type is defined: a capitalised name bound at the top of a module."""
        homes: dict[str, list[str]] = defaultdict(list)
        for file in self.files:
            for node in file.tree.body:
                targets = node.targets if isinstance(node, ast.Assign) else []
                for target in targets:
                    if isinstance(target, ast.Name) and re.fullmatch(r"[A-Z][a-z]\w+", target.id):
                        homes[target.id].append(file.place)
        return homes

    def places_of(self, name: str) -> int:
        """How often code outside the laws names something: as a variable, a parameter, an attribute or a text."""
        return sum(
            _names(node, name)
            for file in self.files
            if not file.name.startswith("core/")
            for node in file.nodes
        )

    def word_lists(self) -> list[str]:
        """The lists of words: files of them, and constants in the code with at least ten."""
        files = [path.relative_to(self.source).as_posix() for path in self.source.rglob("words/*.txt")]
        return files + [
            f"{file.place}:{node.lineno}"
            for file in self.files
            for node in file.tree.body
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value and _words(node.value) >= 10
        ]

    def patterns(self) -> int:
        """The calls that compile or use a regular expression."""
        return sum(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _USES
            for file in self.files
            for node in file.nodes
        )

    def words(self, *places: str) -> int:
        """The words of these files of prose, code and tables included, links' targets not."""
        texts = (path.read_text("utf-8") for place in places for path in sorted(self.root.glob(place)))
        return sum(len(re.sub(r"\]\([^)]*\)", "]", text).split()) for text in texts)


_USES = ("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")


def _names(node: ast.AST, name: str) -> bool:
    """Whether a node itself names something."""
    return name == (
        getattr(node, "id", None)
        or getattr(node, "arg", None)
        or getattr(node, "attr", None)
        or (isinstance(node, ast.Constant) and node.value)
    )


def _words(value: ast.AST) -> int:
    """The words in the value of a constant: texts of one word in a collection, or one text that is split."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "split":
        text = value.func.value
        return len(text.value.split()) if isinstance(text, ast.Constant) else 0
    texts = [node.value for node in ast.walk(value) if isinstance(node, ast.Constant)]
    return sum(isinstance(text, str) and text.isalpha() and text.islower() for text in texts)


def bindings(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """Every name that the nodes of a file bind, with its line."""
    for node in nodes:
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


def _fields(nodes: Iterable[ast.AST], names: Collection[str]) -> set[tuple[str, int]]:
    """Where fields that are named ``Class.field`` are declared in the bodies of their classes."""
    return {
        (statement.target.id, statement.lineno)
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        if f"{node.name}.{statement.target.id}" in names
    }


def _circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    return [component for component in _components(graph) if len(component) > 1]


def _components(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of a graph (Tarjan 1972)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    components: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for neighbour in sorted(graph.get(node, ())):
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


@dataclass(frozen=True)
class Walk:
    """What a call enters: its files in the order of their first entry, its functions, and its returns."""

    files: tuple[str, ...]
    functions: int
    returns: int
    """How often the call enters a file that it has left."""

    @classmethod
    def of(cls, steps: Sequence[Sequence[str]]) -> Walk:
        """Read the entries of a call, each the file and the function.

        >>> Walk.of([("a", "f"), ("a", "g"), ("b", "h"), ("a", "f")])
        Walk(files=('a', 'b'), functions=3, returns=1)
        """
        entered = [file for file, _ in steps]
        visits = sum(file != before for file, before in zip(entered, ["", *entered], strict=False))
        files = tuple(dict.fromkeys(entered))
        return cls(files, len({tuple(step) for step in steps}), visits - len(files))


def walks(root: Path = ROOT) -> dict[str, Walk]:
    """Make the calls of ``house_calls.py`` on the packages of a checkout, in a process of their own."""
    script = Path(__file__).with_name("house_calls.py")
    command = [sys.executable, str(script), str(root / "src")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name: Walk.of(steps) for name, steps in json.loads(printed).items()}


def table(house: House) -> Iterator[tuple[str, str]]:
    """The measurements that need no call, a row each."""
    for package, files in house.packages().items():
        code = sum(len(file.code_lines) for file in files)
        yield f"{package}: code lines in files", f"{code:,} in {len(files)}"
    sizes = sorted(size for file in house.files for size in file.functions())
    yield "functions, code lines: median / p90 / most", _quantiles(sizes)
    yield "longest file, in lines", _longest(house)
    yield "modules in the fullest folder", _fullest(house)
    yield "circles of files", _circled(house.cycles())
    yield "circles of folders", _circled(house.folder_cycles())
    yield "places that name `known_at`, a parameter of recall", str(house.places_of("known_at"))
    yield "word lists · regular expressions", f"{len(house.word_lists())} · {house.patterns()}"
    yield "banned names, in src and tests", str(len(house.banned()))
    yield (
        "words: README · docs · CHANGELOG",
        f"{house.words('README.md'):,} · {house.words('docs/**/*.md'):,} · {house.words('CHANGELOG.md'):,}",
    )
    yield "decision records", str(len(list(house.root.glob("docs/decisions/*.md"))))
    yield "lines of tests, in files", f"{sum(file.lines for file in house.tests):,} in {len(house.tests)}"


def _quantiles(sizes: Sequence[int]) -> str:
    return f"{statistics.median(sizes):.0f} / {sizes[int(len(sizes) * 0.9)]} / {sizes[-1]}"


def _longest(house: House) -> str:
    longest = max(house.files, key=lambda file: file.lines)
    return f"{longest.lines} ({longest.place})"


def _fullest(house: House) -> str:
    sizes = house.folders()
    folder = max(sizes, key=lambda name: sizes[name])
    return f"{sizes[folder]} ({folder})"


def _circled(circles: Sequence[Sequence[str]]) -> str:
    sizes = ", ".join(f"{len(circle)} with {circle[0]}" for circle in circles)
    return f"{len(circles)}: {sizes}" if circles else "0"


def main() -> None:
    """Print the table, and the walks."""
    options = [argument for argument in sys.argv[1:] if argument != "--install"]
    house = House(Path(options[0]).resolve() if options else ROOT)
    for label, value in table(house):
        print(f"{label:52}  {value}", flush=True)
    if "--install" in sys.argv:  # a child begins with the memory of its parent: this one is large
        subprocess.run([sys.executable, str(Path(__file__).with_name("house_install.py"))], check=True)
    print(f"\n{'a call enters':18}{'files':>8}{'functions':>12}{'returns':>10}")
    for name, walk in walks(house.root).items():
        print(f"{name:18}{len(walk.files):8}{walk.functions:12,}{walk.returns:10,}")


if __name__ == "__main__":
    main()
