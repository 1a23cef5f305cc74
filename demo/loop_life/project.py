"""The project of the life: a small package under git, whose unit tests hold what nobody says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from objectives import RULES

_TESTS = {
    "currency": """
    def test_1(self):
        wrong = [code for code, rate in RATES.items() if not isinstance(rate, str)]
        self.assertEqual(wrong, [], "{0}")

    def test_2(self):
        self.assertEqual(list(RATES), sorted(RATES), "{1}")
""",
    "command": """
    def test_1(self):
        wrong = [file.stem for file in FILES if not file.read_text().startswith('"')]
        self.assertEqual(wrong, [], "{0}")

    def test_2(self):
        self.assertEqual([file.stem for file in FILES if file.stem not in NAMES], [], "{1}")
""",
    "message": """
    def test_1(self):
        wrong = [file.stem for file in FILES if "{{name}}" not in file.read_text()]
        self.assertEqual(wrong, [], "{0}")

    def test_2(self):
        wrong = [file.stem for file in FILES if not file.read_text().endswith("\\n")]
        self.assertEqual(wrong, [], "{1}")
""",
    "migration": """
    def test_1(self):
        self.assertEqual([file.name for file in FILES if not file.name[:4].isdigit()], [], "{0}")

    def test_2(self):
        wrong = [file.name for file in FILES if not file.read_text().rstrip().endswith(";")]
        self.assertEqual(wrong, [], "{1}")
""",
    "route": """
    def test_1(self):
        self.assertEqual([route for route in ROUTES if route.endswith("/")], [], "{0}")

    def test_2(self):
        self.assertEqual([route for route in ROUTES if not route.startswith("GET ")], [], "{1}")
""",
    "fee": """
    def test_1(self):
        self.assertEqual([name for name, fee in FEES.items() if type(fee) is not int], [], "{0}")

    def test_2(self):
        lines = Path("parcel/fees.py").read_text().splitlines()
        self.assertEqual([line for line in lines if ":" in line and "#" not in line], [], "{1}")
""",
    "sandbox": """
    def test_1(self):
        self.assertEqual([code for code, rate in RATES.items() if isinstance(rate, str)], [], "{0}")
""",
    "page": """
    def test_1(self):
        self.assertTrue(all(file.read_text().startswith("# ") for file in FILES))
""",
}
_HEADS = {
    "currency": "from parcel.currencies import RATES",
    "command": 'from parcel.commands import NAMES\nFILES = [f for f in Path("parcel/commands").glob("*.py")'
    ' if f.stem != "__init__"]',
    "message": 'FILES = sorted(Path("parcel/messages").glob("*.txt"))',
    "migration": 'FILES = sorted(Path("migrations").glob("*.sql"))',
    "route": "from parcel.routes import ROUTES",
    "fee": "from parcel.fees import FEES",
    "sandbox": "from parcel.sandbox import RATES",
    "page": 'FILES = sorted(Path("docs").glob("*.md"))',
}
_SOURCES = {
    "parcel/__init__.py": "",
    "parcel/currencies.py": "RATES = {\n    'EUR': '1',\n    'USD': '1.08',\n}\n",
    "parcel/sandbox.py": "RATES = {\n    'EUR': 1.0,\n}\n",
    "parcel/commands/__init__.py": "NAMES = ['send']\n",
    "parcel/commands/send.py": '"""Send a parcel."""\n',
    "parcel/messages/en.txt": "Hello {name}\n",
    "parcel/routes.py": "ROUTES = ['GET /home']\n",
    "parcel/fees.py": "FEES = {\n    'parcel': 450,  # why: the postage\n}\n",
    "migrations/0001_begin.sql": "CREATE TABLE shipments (id INTEGER);\n",
    "docs/index.md": "# Parcels\n",
}


def make(folder: Path) -> None:
    """Write the project into a folder, and commit it."""
    files = dict(_SOURCES)
    for kind, body in _TESTS.items():
        head = f"from pathlib import Path\nfrom unittest import TestCase\n\n{_HEADS[kind]}\n\n\nclass Test(TestCase):"
        files[f"tests/test_{kind}.py"] = head + body.format(*RULES[kind])
    files["tests/__init__.py"] = ""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    git(folder, "init", "-q")
    commit(folder, "Begin")


def gate(kind: str) -> str:
    """The command that says whether work of a kind is done: it shows the first failure only."""
    return f"PYTHONDONTWRITEBYTECODE=1 {sys.executable} -m unittest -f tests.test_{kind}"


def passes(folder: Path, kind: str) -> bool:
    """Whether the gate passes, run apart from the loop."""
    command = [sys.executable, "-B", "-m", "unittest", "-f", f"tests.test_{kind}"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


def commit(folder: Path, message: str) -> None:
    """Commit all that changed."""
    git(folder, "add", "-A")
    who = ("-c", "user.name=Agent", "-c", "user.email=agent@example.com")
    git(folder, *who, "commit", "-q", "--allow-empty", "-m", message)


def git(folder: Path, *words: str) -> None:
    """Run git, as if nobody had configured it."""
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)
