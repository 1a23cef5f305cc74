"""The gate: the command itself says whether a task is done, whatever it does besides."""

import os
import shlex
import sys
from pathlib import Path

import pytest

from priming import ParamError
from priming_loop.environment import verify

LIMITS = {"timeout": 30.0, "most_output": 4_000}


def python(code):
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


def alive(pid):
    """Whether a process runs; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def gone(pid):
    """Wait until the system has let a killed process go."""
    return any(not alive(pid) or os.sched_yield() for _ in range(1_000_000))


def test_a_command_is_run_and_its_status_decides(tmp_path):
    for status, result in ((0, "passed"), (3, "failed")):
        command = shlex.join([sys.executable, "-S", "-E", "-c", f"raise SystemExit({status})"])
        verification = verify(command, tmp_path, **LIMITS)
        assert (verification.status, verification.exit_status) == (result, status)


@pytest.mark.slow
def test_a_command_that_ends_with_status_0_passes(tmp_path):
    result = verify(python("print('fine')"), tmp_path, **LIMITS)
    assert (result.status, result.exit_status, result.output) == ("passed", 0, "fine")
    assert result.seconds > 0


@pytest.mark.slow
def test_any_other_status_fails_and_tells_both_streams_in_their_order(tmp_path):
    code = "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"
    result = verify(python(code), tmp_path, **LIMITS)
    assert (result.status, result.exit_status, result.output) == ("failed", 3, "out\nerr")


@pytest.mark.slow
def test_a_command_killed_by_a_signal_fails(tmp_path):
    result = verify(python("import os; os.kill(os.getpid(), 15)"), tmp_path, **LIMITS)
    assert result.status == "failed"
    assert result.exit_status in (-15, 128 + 15)  # whether the shell makes way for it, or waits


@pytest.mark.slow
def test_it_works_in_the_folder_with_the_users_environment_and_no_input(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIMING_TOLD", "so")
    code = "import os, sys; print(os.getcwd(), os.environ['PRIMING_TOLD'], repr(sys.stdin.read()))"
    assert verify(python(code), tmp_path, **LIMITS).output == f"{tmp_path} so ''"


@pytest.mark.parametrize("command", [None, "", "  "])
def test_without_a_command_nothing_is_verified(tmp_path, command):
    result = verify(command, tmp_path, **LIMITS)
    assert (result.command, result.status, result.exit_status) == (None, "unverified", None)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["no-such-program --now", "no-such-program | cat; exit 127"])
def test_a_program_that_is_not_there_is_a_failed_gate_with_the_message(tmp_path, command):
    result = verify(command, tmp_path, **LIMITS)
    assert (result.status, result.exit_status) == ("failed", 127)
    assert "no-such-program" in result.output
    assert "not found" in result.output


@pytest.mark.slow
def test_a_file_that_cannot_be_executed_is_a_failed_gate_with_the_message(tmp_path):
    (tmp_path / "check").write_text("exit 0")
    result = verify("./check", tmp_path, **LIMITS)
    assert (result.status, result.exit_status) == ("failed", 126)
    assert "ermission denied" in result.output


@pytest.mark.parametrize("command", ["true \x00", f"true {'x' * 200_000}"])
def test_what_no_system_runs_is_a_failed_gate_with_the_reason(tmp_path, command):
    result = verify(command, tmp_path, **LIMITS)
    assert (result.status, result.exit_status) == ("failed", 126)
    assert "it cannot be run" in result.output


@pytest.mark.slow
def test_a_command_that_does_not_end_is_late_and_what_it_said_is_kept(tmp_path):
    code = "import time; print('begun', flush=True); time.sleep(60)"
    result = verify(python(code), tmp_path, timeout=1.0, most_output=4_000)
    assert (result.status, result.exit_status) == ("late", None)
    assert result.output == "begun\nIt did not end within 1 s, and was killed."


@pytest.mark.slow
def test_the_children_of_a_late_command_are_killed_with_it(tmp_path):
    child = python("import time; time.sleep(60)")
    result = verify(f"{child} & echo $!; wait", tmp_path, timeout=1.0, most_output=4_000)
    assert result.status == "late"
    assert gone(int(result.output.splitlines()[0]))


@pytest.mark.slow
def test_what_a_command_left_running_is_killed_when_it_has_ended(tmp_path):
    child = python("import time; time.sleep(60)")
    result = verify(f"{child} & echo $!", tmp_path, **LIMITS)
    assert result.status == "passed"
    assert gone(int(result.output))


@pytest.mark.slow
def test_a_process_that_left_the_group_and_holds_the_output_holds_nobody_up(tmp_path):
    code = (
        "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],"
        " start_new_session=True); print(p.pid, flush=True)"
    )
    result = verify(python(code), tmp_path, **LIMITS)
    assert result.status == "passed"
    os.kill(int(result.output), 9)


@pytest.mark.slow
def test_a_gate_that_is_interrupted_is_killed_and_has_found_nothing(tmp_path):
    code = "import os, time; open('pid', 'w').write(str(os.getpid())); os.kill(PARENT, 2); time.sleep(60)"
    with pytest.raises(KeyboardInterrupt):
        verify(python(code.replace("PARENT", str(os.getpid()))), tmp_path, **LIMITS)
    assert gone(int((tmp_path / "pid").read_text()))


@pytest.mark.slow
def test_of_a_long_output_beginning_and_end_are_kept_and_the_cut_is_said(tmp_path):
    # 10 + 3000 + 10 bytes, of which 100 are kept: 50 at each end.
    code = "print('A' * 10 + 'm' * 3000 + 'Z' * 10, end='')"
    result = verify(python(code), tmp_path, timeout=30.0, most_output=100)
    head, cut, tail = result.output.split("\n")
    assert (head, tail) == ("A" * 10 + "m" * 40, "m" * 40 + "Z" * 10)
    assert cut == "… 2,920 bytes left out …"


@pytest.mark.slow
def test_an_endless_output_takes_no_more_memory_than_is_kept(tmp_path):
    result = verify("yes", tmp_path, timeout=1.0, most_output=1_000)
    assert result.status == "late"
    assert len(result.output) < 1_200


@pytest.mark.slow
def test_output_that_is_no_text_is_told_as_far_as_it_is(tmp_path):
    code = "import sys; sys.stdout.buffer.write(b'\\xff\\x00ok')"
    assert verify(python(code), tmp_path, **LIMITS).output.endswith("ok")


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(ParamError, match="folder"):
        verify("true", tmp_path / "none", **LIMITS)
