"""The limits of the house: how large its rooms are, what its names are, and which rooms import which.

``tests/house.py`` measures, ``make house`` shows it.
"""

import ast
import gc
import importlib.util
import re
import sys
from pathlib import Path

import pytest

import priming

_SPEC = importlib.util.spec_from_file_location("house", Path(__file__).with_name("house.py"))
sys.modules["house"] = house = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(house)
NO_VERBS = frozenset(
    "The A An All Every Each Those These Whether What Which When Where Why How By Of For".split()  # noqa: SIM905
)
BANNED, ROOT, House = house.BANNED, house.ROOT, house.House

MOST_ENTRIES, MOST_MODULES, MOST_LINES = 30, 14, 400
MOST_FILES = {
    "recall": 60,
    "remember": 48,
    "feedback": 41,
    "learn": 66,
    "sleep": 72,
    "HTTP recall": 73,
    "hook prompt": 109,
}
"""The files that a call may enter: those of today and three; the aims are 35, 35, -, 40, -, 45 and 50."""
ON_THE_WIRE = {"Link.given", "LinkRow.given", "Predicate.wanted", "NearDuplicates.kept", "StageCheck.held"}
"""Fields of results and rows whose names users and stored rows rely on."""

ORDER = (
    *("errors", "extensions", "config", "profiles", "core", "types", "serialization", "results"),
    *("text", "llm", "embedding", "storage", "index", "namespace"),
    *("history", "recall", "learning", "remember", "graph", "rules", "sleep", "maintenance"),
    *("transfer", "verbs", "memory", "operations", "mcp", "cli"),
)
"""Each folder, and each file beside the folders, imports from those before it: imports in functions count too."""
RANK = {room: rank for rank, room in enumerate(ORDER)}
VERBS = ORDER[RANK["history"] : RANK["transfer"]]
IMPURE = {
    "logging",
    "os",
    "pathlib",
    "random",
    "secrets",
    "socket",
    "sqlite3",
    "subprocess",
    "tempfile",
    "time",
}
BESIDE = {
    "adapters": "priming_adapters",
    "formats": "priming_formats",
    "hooks": "priming_agents",
    "lab": "priming_lab",
    "loop": "priming_loop",
    "server": "priming_server",
}
"""The folders of tests of the packages beside the library."""
OTHER_TESTS = {"agents", "browser", "growth", "lives", "plugin", "security", "stress"}
"""Folders of tests that name no folder of the package: they test the whole of it."""


def room(module):
    """The folder, or the file beside the folders, that a module lies in."""
    return module.split(".")[1]


@pytest.fixture(scope="module")
def ours():
    """This checkout, measured: each file is parsed once, and forgotten when the last test is done.

    Until then the garbage collector rests, which would look at all trees again with every few that are added.
    """
    gc.disable()
    yield House()
    gc.enable()


def files(ours):
    """The files of the library except its front."""
    return [file for file in ours.files if file.module.startswith("priming.")]


def test_few_things_lie_at_the_root_of_the_package(ours):
    assert len(ours.root_entries()) <= MOST_ENTRIES


def test_no_folder_is_full(ours):
    assert {folder: size for folder, size in ours.folders().items() if size > MOST_MODULES} == {}


def test_no_file_is_long(ours):
    assert {file.name: file.lines for file in ours.files if file.lines > MOST_LINES} == {}


def test_no_files_or_folders_import_in_a_circle_those_in_functions_included(ours):
    assert ours.cycles() == []
    assert ours.folder_cycles() == []


def test_a_name_says_what_the_thing_is(ours):
    assert ours.banned(except_for=ON_THE_WIRE) == []


def test_the_docstring_of_a_function_begins_with_its_verb(ours):
    nouns = [
        f"{file.place}:{node.lineno} {text.splitlines()[0]}"
        for file in ours.files
        for node in file.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if not any("property" in ast.unparse(each) for each in node.decorator_list)
        if (text := ast.get_docstring(node)) and text.split()[0] in NO_VERBS
    ]
    assert nouns == []


def test_the_fields_that_are_excused_from_that_are_there(ours):
    fields = {
        f"{node.name}.{statement.target.id}"
        for file in ours.files
        for node in file.nodes
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    }
    assert fields >= ON_THE_WIRE


def test_a_class_or_an_alias_of_a_type_has_one_home(ours):
    for homes in (ours.classes(), ours.type_aliases()):
        assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_the_tests_mirror_the_package(ours):
    folders = {path.name for path in (ROOT / "tests").iterdir() if any(path.glob("**/*.py"))}
    package = {path.name for path in ours.package.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders - OTHER_TESTS - {*BESIDE} <= package
    assert package - {"mcp"} <= folders, "each folder of the package has its tests"


def test_every_room_has_its_place_in_the_order(ours):
    assert {room(file.module) for file in files(ours)} == set(RANK)


def test_no_file_imports_from_a_room_after_its_own(ours):
    later = [
        (file.name, module)
        for file in files(ours)
        for module in file.imports(ours.modules)
        if module.startswith("priming.") and RANK[room(module)] > RANK[room(file.module)]
    ]
    assert later == []


def importing(ours, *rooms):
    """The files that import from some rooms, by the room they lie in."""
    return {
        (room(file.module), file.name)
        for file in files(ours)
        for module in file.imports(ours.modules)
        if module.startswith("priming.") and room(module) in rooms
    }


def test_only_what_works_on_an_open_namespace_touches_the_storage(ours):
    inside = {"storage", "index", "namespace", "memory", "transfer", *VERBS}
    outside = {name for folder, name in importing(ours, "storage") if folder not in inside}
    assert outside <= {"cli/doctor.py"}


def test_only_care_sleep_the_loop_and_the_command_line_talk_to_a_language_model(ours):
    rooms = {folder for folder, file in importing(ours, "llm") if file != "embedding/endpoint.py"}
    assert rooms <= {"llm", "maintenance", "sleep", "cli"}


def test_no_module_is_imported_by_a_relative_name(ours):
    relative = [
        (file.name, node.lineno)
        for file in files(ours)
        for node in file.nodes
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_the_core_reads_no_clock_disk_log_or_chance(ours):
    for file in files(ours):
        if room(file.module) == "core":
            roots = set()
            for node in file.nodes:
                if isinstance(node, ast.Import):
                    roots |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    roots.add(node.module.partition(".")[0])
            paths = (
                {"pathlib"} if file.name == "core/arguments/checks.py" else set()
            )  # a path is checked there, and not opened
            assert not roots & IMPURE - paths, file.name


def reads_a_variable(node):
    """Whether a node asks for a variable of the environment: os.getenv, os.environ[…] or os.environ.get."""
    if isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr == "get"):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "environ"
    return isinstance(node, ast.Attribute) and node.attr == "getenv"


def test_the_environment_is_read_by_its_two_modules_alone(ours):
    reading = {file.name for file in ours.files for node in file.nodes if reads_a_variable(node)}
    assert reading == {"config/environment.py", "config/variables.py"}


def test_no_pattern_repeats_a_group_possessively_which_python_before_3_11_5_does_wrongly(ours):
    wrong = re.compile(r"\)(?:[*+?]|\{[\d,{}]+\})\+|\(\?>")
    patterns = {
        (file.name, node.value)
        for file in ours.files
        for node in file.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value
    }
    assert [(file, text) for file, text in sorted(patterns) if wrong.search(text)] == []


def checkout(folder, **files):
    """A checkout of a package with these files, measured."""
    for path, text in files.items():
        file = folder / "src" / "priming" / f"{path.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return House(folder)


@pytest.mark.parametrize(
    "text",
    [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from priming.a import A\n",
        "def f():\n    from priming import a\n",
        "import priming.a\n",
    ],
)
def test_a_circle_is_seen_wherever_it_is_closed(tmp_path, text):
    house = checkout(tmp_path, a="from priming import b\n", b=text, c="import priming.a\n")
    assert house.cycles() == [["priming.a", "priming.b"]]


def test_folders_can_be_a_circle_where_no_files_are(tmp_path):
    files = {
        "one__a": "from priming.two import c\n",
        "one__b": "",
        "two__c": "",
        "two__d": "import priming.one.b\n",
    }
    house = checkout(tmp_path, **files)
    assert (house.cycles(), house.folder_cycles()) == ([], [["priming.one", "priming.two"]])


def test_a_folder_is_one_beside_the_files_of_its_parent(tmp_path):
    files = {
        "one__a": "from priming.one.sub import c\n",
        "one__b": "",
        "one__sub__c": "import priming.one.b\n",
    }
    assert checkout(tmp_path, **files, one__sub__d="").folder_cycles() == []
    house = checkout(tmp_path, **files | {"one__b": "import priming.one.sub.d\n"})
    assert (house.cycles(), house.folder_cycles()) == ([], [["priming.one.b", "priming.one.sub"]])


def test_a_walk_counts_what_is_entered_and_how_often_it_comes_back():
    steps = [("a", "f"), ("a", "g"), ("b", "h"), ("a", "g"), ("b", "h"), ("c", "i")]
    assert house.Walk.of(steps) == house.Walk(("a", "b", "c"), 4, 2)


def test_a_parameter_is_counted_where_it_is_named_but_not_in_laws(tmp_path):
    text = "def f(known_at):\n    g(known_at=known_at, x=s.known_at)\n    return known, 'known_at'\n"
    assert checkout(tmp_path, a=text, core__b=text).places_of("known_at") == 5


def test_lists_of_words_and_patterns_are_counted(tmp_path):
    words = " ".join("abcdefghij")
    text = (
        f"import re\nA = '{words}'.split()\nB = {tuple(words.split())}\nC = ('x', 'y')\nD = re.compile('x')\n"
    )
    house = checkout(tmp_path, a=text)
    assert (house.word_lists(), house.patterns()) == (["priming/a.py:2", "priming/a.py:3"], 1)


@pytest.mark.parametrize(
    "text",
    [
        "some = 1\n",
        "def f(_given): ...\n",
        "class kept: ...\n",
        "for told in (): ...\n",
        "import os as held\n",
        "def f(self): self.met = 1\n",
        "def found(): ...\n",
    ],
)
def test_a_banned_name_is_seen_wherever_it_is_bound(tmp_path, text):
    assert len(checkout(tmp_path, a=text).banned()) == 1


def test_only_the_excused_field_of_the_named_class_is_excused(tmp_path):
    text = "class Link:\n    given: float\n\nclass Other:\n    given: float\n"
    assert checkout(tmp_path, a=text).banned(except_for={"Link.given"}) == ["priming/a.py:5 given"]


def test_two_homes_of_a_class_or_an_alias_are_seen(tmp_path):
    text = "class _Run: ...\nPair = tuple[str, str]\n"
    house = checkout(tmp_path, a=text, b=text)
    assert house.classes() == {"Run": ["priming/a.py", "priming/b.py"]}
    assert house.type_aliases() == {"Pair": ["priming/a.py", "priming/b.py"]}
    assert {"given", "kept"} <= BANNED


def test_the_package_measured_is_the_one_that_the_tests_import(ours):
    assert Path(priming.__file__).parent == ours.package


@pytest.mark.slow
def test_calls_enter_few_files():
    entered = {name: len(walk.files) for name, walk in house.walks().items()}
    assert {name: files for name, files in entered.items() if files > MOST_FILES[name]} == {}
    assert entered.keys() == MOST_FILES.keys()
