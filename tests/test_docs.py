import ast
import inspect
import re
import shlex
import subprocess
import sys
from doctest import DocTestParser
from itertools import zip_longest
from pathlib import Path

import pytest
from tests.rows import each_row

from priming import Memory
from priming.recall.candidates import TERMS
from priming.verbs.op import load
from priming.verbs.rows import BY_NAME, OPS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "priming"
PAGES = sorted([*ROOT.glob("*.md"), *(page for page in DOCS.rglob("*.md") if "scenario" not in page.parts)])
README = (ROOT / "README.md").read_text("utf-8")
VERBS = sorted(
    {
        *(
            name
            for name in vars(Memory)
            if callable(getattr(Memory, name)) and name != "open" and name[0] != "_"
        )
    }
    | {op.name for op in OPS if op.verb}
    | {"identified"}  # Memory has it from Namespace: the one name of a namespace that users call
)
ELLIPSIS = "…"
TOLERANCE = 0.02


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def differences(shown, printed):
    """Lines of a session that were not printed so; numbers may be off by a rounding."""
    expected, actual = shown.splitlines(), printed.splitlines()
    lines = zip_longest(expected, actual, fillvalue="")
    return [f"{line!r} was {other!r}" for line, other in lines if not is_like(line, other)]


def is_like(shown, printed):
    number = re.compile(r"\d+\.\d+")
    parts = [
        r"(-?\d+\.\d+)".join(map(re.escape, number.split(part))) for part in shown.rstrip().split(ELLIPSIS)
    ]
    match = re.fullmatch(".*".join(parts), printed.rstrip())
    if match is None:
        return False
    expected = map(float, number.findall(shown))
    return all(abs(a - abs(float(b))) <= TOLERANCE for a, b in zip(expected, match.groups(), strict=True))


@pytest.fixture
def priming(tmp_path, monkeypatch):
    """Runs a command line in a folder of its own."""
    for name in ("PRIMING_URL", "PRIMING_NAMESPACE", "PRIMING_PROFILE", "PRIMING_EMBEDDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{Path('/usr/bin')}:{Path('/bin')}")
    monkeypatch.setenv("PYTHONUTF8", "1")

    def run(command):
        return subprocess.run(
            command, shell=True, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False
        )

    return run


def test_the_readme_installs_and_connects_in_a_line_each_and_shows_a_link_that_leads_to_the_answer():
    (shell,), (python,) = blocks(README, "sh"), blocks(README, "pycon")
    assert [line.split("  ")[0] for line in shell.splitlines()] == [
        "pip install .",
        "priming setup claude-code",
    ]
    first, plain, *_ = blocks(README, "console")
    assert "─mentions→" in first
    assert "Grace" in first.split("\n 2 ")[1]
    assert "--no-spread" in plain
    assert "Tomas" in plain.split("\n 2 ")[1]
    assert len([line for line in python.splitlines() if line.startswith(">>> ")]) == 5


def test_the_readme_is_short():
    words = re.sub(r"\]\([^)]*\)", "]", README)
    assert len(words.split("## Where things are")[0].split()) <= 600
    assert len(words.split()) <= 900


@pytest.mark.slow
def test_the_shell_session_of_the_readme_prints_what_it_shows(priming):
    session = "".join(blocks(README, "console"))
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        done = priming(command)
        assert done.returncode == 0, done.stderr
        assert differences(shown, done.stdout) == [], command


@pytest.mark.slow
def test_the_python_session_of_the_readme_prints_what_it_shows(priming, tmp_path):
    (session,) = blocks(README, "pycon")
    examples = DocTestParser().get_examples(session)
    source = "".join(example.source for example in examples[:-1])
    (tmp_path / "session.py").write_text(f"{source}print(({examples[-1].source.strip()}))\n", "utf-8")
    done = priming(f"{shlex.quote(sys.executable)} session.py")
    assert done.returncode == 0, done.stderr
    assert differences(examples[-1].want, done.stdout) == []


HOW_TO_ADD = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## How to add")[1].split("\n## ")[0]


@each_row("entry", re.findall(r"^\*\*(?:.+\n)+", HOW_TO_ADD, re.MULTILINE))
def test_the_guide_for_additions_names_files_that_hold_what_it_names(entry):
    homes = (ROOT / "src" / "priming", ROOT / "src", ROOT)
    files = re.findall(r"`((?:\w+/)+(?:\w+\.py)?|\w+\.(?:py|toml))`", entry)
    paths = [next((home / file for home in homes if (home / file).exists()), None) for file in files]
    assert None not in paths, dict(zip(files, paths, strict=True))
    texts = [path.read_text("utf-8") for path in paths if path.is_file()]
    symbols = re.findall(r"`((?:[A-Z]\w*\.)?_?[A-Za-z]\w*)`", entry)
    for name in (symbol.split(".")[-1] for symbol in symbols if not symbol.islower() or "." in symbol):
        assert any(re.search(rf"\b{name}\b", text) for text in texts), name


def verb_of(name):
    """The function of a verb: of the library's class, or of what is installed beside it."""
    return getattr(Memory, name, None) or load(BY_NAME[name].method)


LOOP = [verb for verb in VERBS if verb.startswith("loop_")]
"""The verbs of the loop have one page for all of them."""


@each_row("verb", LOOP)
def test_every_verb_of_the_loop_has_a_row_with_its_parameters(verb):
    page = (DOCS / "loop.md").read_text("utf-8")
    (row,) = re.findall(
        rf"^\| `{verb}` \|(.*)\|.*\|$", page.split("## As operations")[1].split("### ", 1)[1], re.MULTILINE
    )
    parameters = [name for name in inspect.signature(verb_of(verb)).parameters if name != "memory"]
    assert [name for name in parameters if f"`{name}`" not in row] == []


@each_row("verb", sorted({*VERBS} - {*LOOP}))
def test_every_verb_has_a_page_that_names_its_parameters(verb):
    page = (DOCS / "verbs" / f"{verb}.md").read_text("utf-8")
    assert page.startswith(f"# {verb}\n")
    method = inspect.signature(verb_of(verb))
    missing = [
        name for name in method.parameters if name not in {"self", "memory"} and f"`{name}`" not in page
    ]
    assert missing == []


def test_every_page_of_a_verb_is_of_a_verb():
    pages = {path.stem for path in (DOCS / "verbs").glob("*.md")} - {"README"}
    assert pages == {*VERBS} - {*LOOP}


def test_opening_is_described_with_the_verbs():
    page = (DOCS / "verbs" / "README.md").read_text("utf-8")
    assert [name for name in inspect.signature(Memory.open).parameters if f"`{name}`" not in page] == []


@each_row("term", TERMS)
def test_every_term_that_can_be_ablated_is_explained(term):
    page = (DOCS / "recall.md").read_text("utf-8").split("## Terms")[1]
    assert f"`{term}`" in page.split("| term |")[1]


@each_row("page", PAGES)
def test_every_relative_link_leads_to_a_file_and_a_heading(page):
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        name, _, heading = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.is_file(), target
        assert not heading or heading in headings(linked), target


def headings(page):
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@each_row("page", PAGES)
def test_every_source_file_that_is_named_is_there(page):
    folders = "|".join(path.name for path in SOURCE.iterdir() if path.is_dir())
    named = re.findall(rf"`((?:{folders})/[\w/]+\.(?:py|sql))`", page.read_text("utf-8"))
    assert [name for name in named if not (SOURCE / name).is_file() and not (ROOT / name).is_file()] == []


def test_every_decision_is_in_the_index():
    index = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    for path in sorted((DOCS / "decisions").glob("*.md")):
        title = path.read_text("utf-8").split("\n", 1)[0].removeprefix("# ")
        assert f"- [{title}](docs/decisions/{path.name})" in index


def test_every_page_can_be_reached_from_the_readme():
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        targets = re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
        waiting += [path for target in targets if (path := (page.parent / target).resolve()).is_file()]
    assert [page for page in PAGES if page not in reached] == []


_LATER = r"(?:later|following|coming|upcoming|future)"
_MISSING = (
    r"(?:learns|(?:mov|read|us|call|add|support|implement|buil|wir|hook|fad|appl|work|avail|schedul)\w*)"
)
_CLAUSE = r"(?:^|[.:;,] |\b(?:and|but|so) )(?!none\b)(?:(?!that\b|which\b|who\b|what\b|as\b)\w+ ){1,4}"
PROMISES = re.compile(
    "|".join(
        (
            # a main clause about what comes: "The loop will use it", "a later release adds decay"
            rf"{_CLAUSE}(?:will|shall|(?:is|are) going to)\b(?! not exist)",
            r"\b(?:will|shall) be (?:added|built|implemented|supported|used by)\b",
            rf"\b{_LATER} (?:releases?|milestones?|iterations?|work)\b|\bnext (?:release|milestone|iteration)\b(?!-)",
            rf"\b(?:{_LATER}|next) versions? (?:will|adds?|brings?|fades?|lets?|supports?|uses?|removes?|makes?)\b",
            rf"\b(?:in|with|until) (?:a|the) (?:{_LATER}|next) version\b|\bin the future\b|\bcomes later\b",
            r"\bis to (?:come|follow)\b|\bfor (?:now|the moment|the time being)\b|\b(?:used|uses it) today\b",
            # what is missing: "Not implemented.", "no verb reads it yet", "has no caller", "currently unused"
            rf"\b(?:no|not|nothing|nobody|never|neither)\b(?: \w+){{0,4}}? {_MISSING}(?: \w+){{0,2}} yet\b",
            r"\bnot yet (?:at work|available|built|hooked|implemented|in use|read|supported|used|wired)\b",
            r"(?:^|[.:;] )(?:not |un)(?:implemented|supported|used|wired|built|available)[.;]",
            r"\bnot (?:implemented|wired|hooked)\b|\byet to be\b|\bnot all \w+ are at work\b",
            r"\b(?:currently|presently|at present|so far) (?:un\w+|not|no|nothing)\b|\bhas no callers?\b",
            r"\b(?:nobody|nothing|no verb|no code) (?:calls|reads|uses) (?:it|this|them)[.;,]",
            r"\ba place-?holder\b|\bstub\b|\bwork in progress\b|\bunder construction\b",
            # plans: "we plan to", "support is planned", "remains to be done"
            r"\bwe (?:plan|intend) to\b|\b(?<!nothing else )is planned(?: for\b|\.)|\bplanned (?:for|features?)\b",
            r"\bremains? to be\b|\bleft for later\b|\bcoming soon\b|\bto be (?:added|implemented|written)\b",
            r"\b(?:TODO|FIXME|XXX|TBD|WIP)\b|\bwaits for the (?:loop|server|hooks|command line)\b",
        )
    ),
    re.IGNORECASE,
)
"""Words in which documents speak of software that does not exist. Decisions record what was thought at their time."""
DECISIONS = DOCS / "decisions"


def promises(text):
    """The promises of a text, line by line."""
    return [match[0] for match in PROMISES.finditer(" ".join(text.split()))]


@each_row("page", [page for page in PAGES if DECISIONS not in page.parents])
def test_a_page_speaks_of_what_the_software_does_and_not_of_its_future(page):
    assert promises(page.read_text("utf-8")) == []


def test_docstrings_and_comments_speak_of_what_the_software_does_and_not_of_its_future():
    spoken = {}
    for file in sorted(SOURCE.rglob("*.py")):
        text = file.read_text("utf-8")
        if not promises(text):  # parsing takes longer
            continue
        notes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
        strings = [
            node.value.value
            for node in notes
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        ]
        comments = [line.partition("#")[2] for line in text.splitlines() if line.lstrip().startswith("#")]
        if words := promises("\n".join([*strings, *comments])):
            spoken[str(file.relative_to(SOURCE))] = words
    assert spoken == {}


@each_row(
    "text",
    [
        "Nothing learns yet, and nothing will from a plain read.",
        "Asking as of another time comes later.",
        "It waits for the loop.",
        "Not all laws are in use: this one is not yet implemented.",
        "Future versions will add decay for unused relationships.",
        "Clustering will be added.",
        "A later release adds decay.",
        "The loop will use it.",
        "Not implemented.",
        "This law is not wired up yet.",
        "The weight is ignored for now.",
        "Currently unused.",
        "The function has no caller.",
        "In a later version unused links fade.",
        "We plan to read it from the log.",
        "Support for folders is planned.",
        "The following version brings profiles of one's own.",
        "No verb reads it yet.",
        "The rest remains to be done.",
        "It is a placeholder.",
        "Sleep is going to fade them.",
    ],
)
def test_words_about_the_future_are_found(text):
    assert promises(text)


@each_row(
    "text",
    [
        "Rank the files that a task will touch.",
        "None where the namespace does not exist yet.",
        "A later verdict counts more, and a later version of a text supersedes it.",
        "Of a list of values any will do.",
        "What was planned is shown before it is applied.",
    ],
)
def test_words_about_what_happens_in_use_are_no_promises(text):
    assert promises(text) == []
