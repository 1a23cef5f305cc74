"""The command line as a process: its start, its streams, its signals, and disks that fail it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

import pytest

from priming import Memory
from priming.config.params.limits import STORE

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-c", "from priming.cli.start import main; main()"]
FULL = 2_500_000
DISK = "The deploy failed because the disk was full."

STARTED = """
import sys
from priming.cli.start import main
sys.argv = ["priming", *sys.argv[1:]]
try:
    main()
except SystemExit as done:
    rooms = ("memory", "recall", "storage", "embedding")
    heavy = ("numpy", "tokenizers", "rich", *(f"priming.{room}" for room in rooms))
    print([name for name in heavy if name in sys.modules], file=sys.stderr)
    raise
"""

ALONE = """
import os, sys, subprocess
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            print(os.environ.get("OPENBLAS_NUM_THREADS"))
sys.meta_path.insert(0, Watch())
from priming.operations.client import open_memory
with open_memory("sqlite://") as memory:
    memory.remember("Kestrel signs every build.")
sys.stdout.flush()
subprocess.run([sys.executable, "-c", "import os; print(os.environ.get('OPENBLAS_NUM_THREADS'))"])
"""

# A test run in the background is told to ignore Ctrl-C, and so would be its children.
INTERRUPTIBLE = """
import signal
from priming.cli.start import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""

# As root every folder can be written: the child first imports all it needs, then becomes nobody.
AS_NOBODY = """
import os, sys
from priming.cli.start import app, main
words = sys.argv[1:]
try:
    app(["recall", "anything", "--url", "sqlite://"])
except SystemExit:
    pass
sys.stdout.flush()
if os.getuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
sys.argv = ["priming", *words]
main()
"""

WITH_LIMIT = """
import resource, sys
from priming.cli.start import main
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
main()
"""


def python(code):
    return [sys.executable, "-c", code]


def entries(number):
    return [{"content": f"Entry number {item} of {number}, " + "with words"} for item in range(number)]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["recall", "--help"], ["remember"]])
def test_what_needs_no_memory_starts_without_the_heavy_libraries(shell, arguments):
    done = shell.process(*arguments, command=python(STARTED))
    assert done.stderr.decode().splitlines()[-1] == "[]"


def test_the_installed_command_works(shell):
    script = shutil.which("priming", path=str(Path(sys.executable).parent))
    assert script is not None
    done = shell.process("remember", "-", command=[script], stdin=DISK.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().startswith("stored  the-deploy-failed")


def test_an_argument_that_is_no_utf_8_is_bad_input(shell):
    done = subprocess.run(
        [*COMMAND, "remember", b"a\xffb"], env=shell.environment, capture_output=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.decode().startswith("error: content = 'a\\udcffb': must be valid Unicode")


def test_a_terminal_of_another_encoding_is_no_trouble(shell):
    shell.ask("remember", "日本語 naïve", "--key", "text")
    shown, as_json = (
        subprocess.run(
            [*COMMAND, "show", "text", *more],
            env={**shell.environment, "PYTHONIOENCODING": "latin-1"},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout.decode("latin-1")
        for more in ([], ["--json"])
    )
    assert "\\u65e5\\u672c\\u8a9e naïve" in shown
    assert json.loads(as_json)["content"] == "日本語 naïve"


def test_a_reader_that_goes_away_ends_the_command_quietly(shell):
    with subprocess.Popen(
        [*COMMAND, "profiles"], env=shell.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        message = process.stderr.read()
    assert (process.returncode, message) == (141, b"")


def test_an_answer_that_cannot_be_written_is_a_failure(shell):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "profiles"], env=shell.environment, stdout=full, stderr=subprocess.PIPE, timeout=60
        )
    assert done.returncode == 1
    assert done.stderr == b"error: the system refused: [Errno 28] No space left on device\n"


def test_closed_streams_are_empty_ones(shell):
    closed = ["sh", "-c", 'exec "$@" <&- >&-', "sh", *COMMAND]
    done = shell.process("remember", "-", command=closed)
    assert (done.returncode, done.stderr) == (2, b"error: content = '': must not be blank\n")


def test_ctrl_c_during_an_import_keeps_the_finished_batches_and_says_so(shell):
    with subprocess.Popen(
        [*python(INTERRUPTIBLE), "import", "waiting", "."],
        env=shell.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"waiting\n"
        process.send_signal(signal.SIGINT)
        message = process.stderr.read().decode()
    assert process.returncode == 130
    assert message == (
        "error: interrupted: 500 new memories are kept; repeat the command to continue from there\n"
    )
    assert shell.ask("stats")["memories"]["episode"]["active"] == 500
    report = shell.process("import", "waiting", ".", "--json", stdin=b"\n")
    answer = json.loads(report.stdout.decode().removeprefix("waiting\n"))
    assert (answer["stored"], answer["duplicates"]) == (200, 500)


@pytest.fixture(scope="module")
def locked():
    """A folder that nobody but root can write to, with a store in it that was made before."""
    folder = Path(tempfile.mkdtemp())
    with Memory.open(f"sqlite:///{folder}/old.db") as memory:
        memory.remember(DISK)
    (folder / "old.db").chmod(0o444)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", ["new.db", "below/new.db", "old.db"])
def test_a_folder_that_cannot_be_written_is_a_failure(shell, locked, name):
    before = sorted((path.name, path.read_bytes()) for path in locked.iterdir())
    url = f"sqlite:///{locked}/{name}"
    done = shell.process("remember", "Another text.", "--url", url, command=python(AS_NOBODY))
    assert done.returncode == 1, done.stdout
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"error: {locked}")
    assert "cannot be" in line
    assert sorted((path.name, path.read_bytes()) for path in locked.iterdir()) == before


def test_an_export_into_a_folder_that_cannot_be_written_is_a_failure(shell, locked):
    target = locked / "all.jsonl"
    done = shell.process("export", target, "--url", "sqlite://", command=python(AS_NOBODY))
    assert done.returncode == 1
    assert done.stderr.decode() == f"error: {target} could not be written: Permission denied\n"


def test_a_full_disk_ends_an_import_with_its_finished_batches_kept(shell):
    source = shell.file(*entries(3 * STORE.batch))
    done = shell.process("import", "lines", source, command=[*python(WITH_LIMIT), str(FULL)])
    assert done.returncode == 1, done.stdout
    (line,) = done.stderr.decode().splitlines()
    assert "is the disk full?" in line
    stored = shell.ask("stats")["memories"]["episode"]["active"]
    assert stored in (STORE.batch, 2 * STORE.batch)
    assert f"; {stored:,} new memories are kept" in line
    assert shell.ask("validate") == []


def test_a_full_disk_changes_nothing_for_a_single_memory(shell):
    shell.ask("remember", DISK)
    text = b"word " * 50_000
    done = shell.process("remember", "-", stdin=text, command=[*python(WITH_LIMIT), "150000"])
    assert done.returncode == 1
    assert "is the disk full?" in done.stderr.decode()
    assert len(shell.ask("list")) == 1


def test_a_full_disk_leaves_no_part_of_an_export(shell):
    shell.ask("import", "lines", shell.file(*entries(50)))
    done = shell.process("export", "all.jsonl", command=[*python(WITH_LIMIT), "20000"])
    assert done.returncode == 1
    assert done.stderr.decode().startswith("error: ")
    assert not list(shell.folder.glob("all.jsonl*"))


def on_a_terminal(shell, *arguments, columns=80, **more):
    """What a command shows on a terminal so wide."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**shell.environment, "TERM": "xterm-256color", **more}
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        environment.pop(name, None) if name not in more else None
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    assert process.wait() == 0, seen
    return seen.decode()


def test_tables_fit_a_terminal_of_80_columns(shell):
    shell.ask("import", "lines", shell.file(*entries(3)))
    plain = re.sub(r"\x1b\[[0-9;]*m", "", on_a_terminal(shell, "list")).splitlines()
    assert len(plain) == 5
    assert max(map(len, plain)) <= 80
    assert plain[2].rstrip().endswith("…")
    assert plain[2].startswith("entry-number-0-of-3-with ")


def test_colours_are_for_terminals_and_no_color_is_honoured(shell):
    shell.ask("remember", DISK)
    coloured = re.compile(r"\x1b\[[0-9;]*3[0-9]m")
    assert coloured.search(on_a_terminal(shell, "stats"))
    assert not coloured.search(on_a_terminal(shell, "stats", NO_COLOR="1"))
    assert "\x1b" not in shell.run("stats").stdout


def test_long_work_shows_a_bar_on_a_terminal_only(shell):
    path = shell.file(*entries(2))
    assert "importing" in on_a_terminal(shell, "import", "lines", path)
    assert shell.process("import", "lines", path).stderr == b""


@pytest.mark.parametrize(("by_hand", "while_loaded"), [(None, "1"), ("2", "2")])
def test_products_have_one_thread_unless_told_otherwise_and_no_other_program_is_told(by_hand, while_loaded):
    variables = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    variables |= {"OPENBLAS_NUM_THREADS": by_hand} if by_hand else {}
    done = subprocess.run(
        [sys.executable, "-c", ALONE], capture_output=True, text=True, check=True, env=variables
    )
    assert done.stdout.split() == [while_loaded, str(by_hand)]
