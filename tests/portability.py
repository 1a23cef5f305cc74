"""Run Priming by every CPython that this machine has, and say which it lacks.

    python tests/portability.py                    compare what Priming does, and run the tests of ``make test``
    python tests/portability.py --behaviour        only compare what Priming does
    python tests/portability.py --list             only say what there is and what is lacking
    python tests/portability.py PYTHON …           the same by these interpreters as well

An interpreter gets an environment of its own in ``.venv-VERSION``. Where one cannot be made, because there is no
network or no package for that version, the reason is said and the version counts as lacking: what is lacking fails
nothing, and what is there must be the same. ``tests/behaviour.py`` says what is compared.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
PLACES = (
    Path("/usr/bin"),
    Path("/usr/local/bin"),
    *Path.home().glob(".pyenv/versions/*/bin"),
    *Path.home().glob(".local/share/uv/python/*/bin"),
)
"""Where interpreters lie besides the folders of PATH. The shims of pyenv there run only what is switched on."""
ABOUT = "import sys; print(sys.implementation.name, '.'.join(map(str, sys.version_info[:3])), sys.version_info[3])"
SUITE = (
    "-m",
    "pytest",
    "--numprocesses=auto",
    "--dist=worksteal",
    "-p",
    "no:schemathesis",
    "-p",
    "no:cacheprovider",
)
FAST = ("-m", "not slow", "tests", "src")
STAMP = "installed"


class Interpreter(NamedTuple):
    version: str
    path: Path

    @property
    def series(self) -> str:
        return ".".join(self.version.split(".")[:2])

    @property
    def environment(self) -> Path:
        return ROOT / f".venv-{self.version}"


def candidates(more: Iterable[str]) -> Iterator[Path]:
    """The files that may be interpreters, this one first."""
    yield Path(sys.executable)
    for name in more:
        yield Path(name)
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    for folder in (*folders, *PLACES):
        for series in SUPPORTED:
            if (path := folder / f"python{series}").is_file():
                yield path


def present(more: Iterable[str] = ()) -> list[Interpreter]:
    """The interpreters of this machine, each version once, in order; this one is the one of its version."""
    by_version: dict[str, Interpreter] = {}
    for path in candidates(more):
        query = subprocess.run([path, "-c", ABOUT], capture_output=True, text=True, cwd="/", check=False)
        name, version, level = (*query.stdout.split(), "", "", "")[:3]
        if name == "cpython" and level == "final" and ".".join(version.split(".")[:2]) in SUPPORTED:
            by_version.setdefault(version, Interpreter(version, path))
    return sorted(by_version.values(), key=lambda each: [int(part) for part in each.version.split(".")])


def environment(interpreter: Interpreter, extras: str) -> Path | str:
    """The interpreter of an environment with Priming and these extras; or why there is none."""
    if interpreter.path == Path(sys.executable):
        return interpreter.path
    folder, expected = interpreter.environment, f"{extras}\n{(ROOT / 'pyproject.toml').read_text('utf-8')}"
    python, stamp = folder / "bin" / "python", folder / STAMP
    if stamp.exists() and stamp.read_text("utf-8") == expected:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    for command in (
        [interpreter.path, "-m", "venv", folder],
        [*pip, "install", "--editable", f"{ROOT}{extras}"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
            return next(
                (line for line in lines if "error" in line.lower()), lines[-1] if lines else "no reason"
            )
    stamp.write_text(expected, "utf-8")
    return python


def behaviour(python: Path) -> str:
    """What Priming does by an interpreter."""
    command = [python, ROOT / "tests" / "behaviour.py"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, check=False)
    return done.stdout if done.returncode == 0 else f"{done.stdout}{done.stderr}"


def difference(first: str, other: str) -> str:
    """The first line in which two outputs differ; empty if there is none."""
    lines = zip([*first.splitlines(), ""], [*other.splitlines(), ""], strict=False)
    return next((f"{own[:300]!r} and {their[:300]!r}" for own, their in lines if own != their), "")


def passes(python: Path) -> bool:
    """Whether the fast tests pass."""
    return subprocess.run([python, *SUITE, *FAST], cwd=ROOT, check=False).returncode == 0


def main() -> int:
    """Say what there is, run it, and return the status of the process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    parser.add_argument("--behaviour", action="store_true")
    parser.add_argument("--list", action="store_true")
    query = parser.parse_args()
    interpreters = present(query.pythons)
    series = {each.series for each in interpreters}
    print("CPython on this machine:", ", ".join(f"{each.version} ({each.path})" for each in interpreters))
    print("lacking:", ", ".join(version for version in SUPPORTED if version not in series) or "nothing")
    return 0 if query.list else compare(interpreters, with_suite=not query.behaviour)


def compare(interpreters: Iterable[Interpreter], *, with_suite: bool) -> int:
    """Run Priming by each interpreter; 1 if one does something else than this one, or its tests fail."""
    own, status = behaviour(Path(sys.executable)), 0
    for interpreter in interpreters:
        python = environment(interpreter, "[test,check]" if with_suite else "")
        if isinstance(python, str):
            print(f"{interpreter.version}: lacking, no environment can be made: {python}", flush=True)
            continue
        differs = difference(own, behaviour(python))
        print(f"{interpreter.version}: {differs or 'the same'}", flush=True)
        is_own = interpreter.path == Path(sys.executable)  # ``make test`` has run its tests
        is_well = is_own or not with_suite or passes(python)
        status = status if is_well and not differs else 1
    return status


if __name__ == "__main__":
    sys.exit(main())
