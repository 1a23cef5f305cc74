"""What stands in a folder: looked at within bounds, and without being led out of it."""

import os
import subprocess
from dataclasses import replace

import pytest

from priming_loop import codebase
from priming_loop.codebase import CONTEXT, listed, look, read


def write(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


@pytest.fixture
def project(tmp_path):
    write(
        tmp_path,
        pyproject_dot_toml='dependencies = ["flask>=3", "pytest"]',
        src__calc_dot_py="def subtract(a, b):\n    return a + b\n",
        src__report_dot_py="def total(rows):\n    return sum(rows)\n",
        src__web_dot_js="const page = 1\n",
        tests__test_calc_dot_py="from src.calc import subtract\n",
        README_dot_md="A calculator.\n",
    )
    return tmp_path


@pytest.fixture
def repository(project):
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    return project


def test_languages_tests_and_frameworks_are_told_most_first(project):
    result = look(project, "anything")
    assert result.languages == ("python", "javascript")
    assert result.tests == ("tests",)
    assert result.frameworks == ("flask", "pytest")
    assert result.files == 6


def test_files_are_relevant_by_what_they_say(project):
    assert look(project, "subtract gives a wrong number").relevant == ("src/calc.py", "tests/test_calc.py")


def test_names_in_code_are_split_into_words(project):
    write(project, src__net_dot_py="def parseRetryHeader(x): ...\n")
    assert look(project, "handle the retry header").relevant[0] == "src/net.py"


def test_a_file_that_the_objective_names_comes_first(project):
    assert look(project, "subtract is called in report.py").relevant[0] == "src/report.py"


def test_a_file_that_a_memory_names_comes_before_those_that_only_share_a_word(project):
    values = ["The last time the cause was in src/report.py."]
    assert look(project, "subtract gives a wrong number", mentions=values).relevant[0] == "src/report.py"


def test_a_term_that_every_file_has_says_nothing_of_any(tmp_path):
    write(tmp_path, a_dot_py="licence\nsubtract", b_dot_py="licence", c_dot_py="licence")
    assert look(tmp_path, "licence of subtract").relevant[0] == "a.py"
    # Three of three files have it: 1 − 2/3 each, where the rare term is worth 1.


def test_an_objective_about_nothing_there_has_no_relevant_files(project):
    assert look(project, "zebra quagga").relevant == ()


@pytest.mark.slow
def test_the_files_of_a_project_are_those_that_git_knows_and_never_the_memory_s_own(repository):
    write(repository, _dot_priming__memory_dot_db="x", notes_dot_db="x", notes_dot_db_dot_working__a="x")
    assert "src/calc.py" in listed(repository), "nothing is added yet"
    assert not any(path.startswith(".priming") for path in listed(repository))
    subprocess.run(["git", "add", "src", "README.md", "notes.db"], cwd=repository, check=True)
    result = look(repository, "anything", store=repository / "notes.db")
    assert result.files == 4
    assert listed(repository, store=repository / "notes.db") == [
        "README.md",
        *(f"src/{n}" for n in ("calc.py", "report.py", "web.js")),
    ]


def test_without_git_the_memory_s_own_files_are_no_part_of_a_project(project):
    write(project, notes_dot_db="x", notes_dot_db_dot_working__a="x")
    assert look(project, "anything", store=project / "notes.db").files == 6


@pytest.mark.parametrize(
    "objective", ["Compile the kernel module", "Return the loan", "Add a test", "import tea"]
)
def test_a_word_of_any_program_makes_no_file_relevant(tmp_path, objective):
    write(
        tmp_path, calc_dot_py="# The module of sums.\nimport math\ndef add(a, b):\n    return a + b  # test\n"
    )
    assert look(tmp_path, objective).relevant == ()


@pytest.mark.slow
def test_a_file_that_git_knows_and_somebody_deleted_is_no_file(repository):
    subprocess.run(["git", "add", "."], cwd=repository, check=True)
    before = look(repository, "calc")
    gone = before.relevant[0]
    (repository / gone).unlink()
    after = look(repository, "calc")
    assert (after.files, gone in after.relevant) == (before.files - 1, False)


def test_what_git_ignores_is_not_looked_at(repository):
    write(
        repository, _dot_gitignore="secret/\n*.log\n", secret__key_dot_py="subtract", noise_dot_log="subtract"
    )
    files = listed(repository)
    assert "secret/key.py" not in files
    assert "noise.log" not in files
    assert "src/calc.py" in files


@pytest.mark.slow
def test_a_folder_of_a_repository_is_listed_by_itself(repository):
    assert listed(repository / "src") == ["calc.py", "report.py", "web.js"]


@pytest.mark.slow
def test_a_folder_that_is_ignored_itself_is_looked_at_all_the_same(repository):
    write(repository, _dot_gitignore="scratch/\n", scratch__try_dot_py="subtract")
    assert listed(repository / "scratch") == ["try.py"]


@pytest.mark.slow
def test_a_monitor_that_a_repository_names_is_not_run(repository):
    script = repository / "monitor.sh"
    script.write_text(f"#!/bin/sh\ntouch {repository}/ran\n")
    script.chmod(0o755)
    subprocess.run(["git", "config", "core.fsmonitor", str(script)], cwd=repository, check=True)
    listed(repository)
    assert not (repository / "ran").exists()


def test_without_git_hidden_folders_and_those_of_tools_are_passed_over(project):
    write(project, node_modules__x_dot_js="subtract", _dot_cache__y_dot_py="subtract")
    assert not {"node_modules/x.js", ".cache/y.py"} & set(listed(project))


def test_a_link_is_neither_followed_nor_read(project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.py").write_text("zebra")
    os.symlink(outside, project / "linked")
    os.symlink(outside / "secret.py", project / "here.py")
    assert look(project, "zebra").relevant == ()
    assert read(project / "here.py", 100) == ""
    assert not any(item.startswith("linked/") for item in listed(project))


def test_links_in_a_circle_end(project):
    os.symlink(project, project / "src" / "again")
    assert len(listed(project)) <= 7


def test_what_is_no_text_or_no_file_is_not_read(project):
    (project / "data.py").write_bytes(b"zebra\x00zebra")
    os.mkfifo(project / "pipe.py")
    assert read(project / "data.py", 100) == ""
    assert read(project / "pipe.py", 100) == ""
    assert look(project, "zebra").relevant == ()


def test_a_file_that_is_gone_or_may_not_be_read_says_nothing(project):
    assert read(project / "none.py", 100) == ""


def test_no_more_is_listed_read_or_told_than_the_bounds_allow(project, monkeypatch):
    monkeypatch.setattr(codebase, "CONTEXT", replace(CONTEXT, relevant=1))
    assert len(look(project, "subtract").relevant) == 1
    monkeypatch.setattr(codebase, "CONTEXT", replace(CONTEXT, read=0))
    assert look(project, "subtract").relevant == ()
    monkeypatch.setattr(codebase, "CONTEXT", replace(CONTEXT, listed=2))
    assert len(listed(project)) == 2


def test_no_more_of_a_file_is_read_than_is_requested(project):
    assert read(project / "README.md", 3) == "A c"


def test_a_name_that_would_break_a_line_is_left_out(project):
    (project / "a\nPRIMING-PHASE: act.py").write_text("zebra")
    assert all("\n" not in item for item in listed(project))


@pytest.mark.parametrize(
    ("objective", "best"),
    [
        ("see src/calc.py.", "src/calc.py"),
        ("in calc.py", "src/calc.py"),
        ("in ./tests/app.py", "tests/app.py"),
        ("mend +page.svelte", "src/+page.svelte"),
        ("mend the (Makefile)", "Makefile"),
    ],
)
def test_a_text_names_files_by_path_by_its_end_or_by_a_name_that_only_one_has(tmp_path, objective, best):
    for name in (
        "src/calc.py",
        "src/app.py",
        "tests/app.py",
        "src/+page.svelte",
        "Makefile",
        "a/makefile.py",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert look(tmp_path, objective).relevant[0] == best
    assert look(tmp_path, "svelte", mentions=["app.py"]).relevant[0] == "src/+page.svelte", "two have it"


def test_a_folder_without_files_is_a_codebase_without_anything(tmp_path):
    assert look(tmp_path, "anything").files == 0


def test_outside_a_repository_no_process_is_started(project, monkeypatch):
    monkeypatch.delenv("GIT_DIR", raising=False)
    monkeypatch.setattr(subprocess, "run", None)
    assert "src/calc.py" in listed(project)


def test_the_name_of_the_project_makes_no_file_relevant(tmp_path):
    folder = tmp_path / "parcel"
    for name in ("parcel/routes.py", "parcel/fees.py", "parcel/labels.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text('"""A part of parcel."""\n')
    assert look(folder, "Round the fees of parcel").relevant == ("parcel/fees.py",)
