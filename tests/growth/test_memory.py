"""What hostile input costs in memory and processor time: each reading has a process of its own."""

import os
import subprocess
import sys

import pytest

MEGABYTE = 1 << 20

BODY = """
from priming.errors import ParamError
from priming.operations import schema
from priming.verbs.rows import BY_NAME
from priming_server.responses import parse_body, refusal
from priming.config.params.services import SERVER
body = b'{{"items":[' + b"{{}}," * ({count} - 1) + b"{{}}]}}"
try:
    schema.arguments(BY_NAME["remember_many"], parse_body(body, SERVER.depth, SERVER.values))
except ParamError as error:
    answer = refusal(error, everywhere=True).response().body
    print(len(answer), answer.decode()[-60:])
"""

MESSAGE = """
from priming.errors import ParamError
from priming_server.ethos import socket as ethos
count = {count}
frame = b"\\x82\\xa2op\\xa6recall\\xa4args\\xdd" + count.to_bytes(4, "big") + {item!r} * count
try:
    ethos.parse(ethos.MESSAGEPACK, frame)
except ParamError as error:
    print(error)
"""

LINE = """
from priming.errors import ParamError
from priming_server.ethos import socket as ethos
try:
    ethos.parse(ethos.JSON, b'{{"op":"recall","args":{{"x":[' + {item!r} * {count} + b"0]}}}}")
except ParamError as error:
    print(error)
"""

IMPORT = """
from priming import HashedEmbedder, Memory
from priming.errors import ParamError
from priming.transfer.run import run
memory = Memory.open("sqlite://", embedder=HashedEmbedder(64))
try:
    memory.import_("/dev/zero") if {importer!r} == "priming" else run(memory, {importer!r}, "/dev/zero")
except ParamError as error:
    print(error)
"""


PEAK = """
from pathlib import Path
peaks = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
print("\\n" + peaks[0])
"""
"""Where ``ru_maxrss`` counts what the process that started this one had, this is of its own memory alone."""


def spent(script):
    """What a script prints, the most memory that it had in bytes, and the processor time that it took in seconds."""
    script += PEAK if sys.platform == "linux" else ""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, printed
    peak = usage.ru_maxrss
    if sys.platform == "linux":
        printed, _, own = printed.rstrip().rpartition("\n")
        peak = int(own) * 1024
    return printed, peak, usage.ru_utime + usage.ru_stime


@pytest.mark.slow
def test_a_body_of_a_million_empty_objects_is_answered_in_few_words():
    printed, memory, seconds = spent(BODY.format(count=1_000_000))
    length, _, end = printed.partition(" ")
    assert int(length) < 20_000
    assert "and 999,950 more" in end
    assert memory < 400 * MEGABYTE
    assert seconds < 30


@pytest.mark.slow
def test_a_body_with_more_values_than_the_limit_is_not_parsed():
    printed, memory, _ = spent(BODY.format(count=2_700_000))
    assert "must hold at most 1,048,576 values" in printed
    assert memory < 300 * MEGABYTE


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        MESSAGE.format(count=16_000_000, item=b"\x90"),
        MESSAGE.format(count=16_000_000, item=b"\xc0"),
        MESSAGE.format(count=7_900_000, item=b"\xa1a"),
        MESSAGE.format(count=3_000_000, item=b"\xdd\xff\xff\xff\xff"),
        LINE.format(count=5_000_000, item=b"[],"),
        LINE.format(count=4_000_000, item=b"{},"),
    ],
    ids=["arrays", "nothings", "texts", "announced arrays", "JSON arrays", "JSON objects"],
)
def test_a_message_with_more_values_than_the_limit_is_not_parsed(script):
    printed, memory, _ = spent(script)
    assert "must hold at most 1,048,576 values" in printed
    assert memory < 300 * MEGABYTE


@pytest.mark.slow
@pytest.mark.parametrize("importer", ["jsonl", "markdown", "chat", "priming"])
def test_a_file_without_an_end_is_read_up_to_a_limit(importer):
    printed, memory, _ = spent(IMPORT.format(importer=importer))
    assert "/dev/zero" in printed
    assert memory < 700 * MEGABYTE
