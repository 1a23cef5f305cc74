import pytest

from priming.serve import hook_cues as cues


@pytest.mark.parametrize(
    ("file", "language"),
    [
        ("a.py", "python"),
        ("src/x.TSX", "typescript"),
        ("C:\\app\\m.rs", "rust"),
        ("Dockerfile", "dockerfile"),
        ("a.hpp", "c++"),
        ("README", None),
        (".gitignore", None),
    ],
)
def test_a_file_tells_its_language(file, language):
    assert cues.language_of(file) == language


@pytest.mark.parametrize(
    ("command", "tasks"),
    [
        ("pytest -q tests", ["test"]),
        ("uv run python -m pytest", ["test"]),
        ("/srv/app/.venv/bin/python -m pytest", ["test"]),
        ("cd app && npm test && git commit -m 'x'", ["test", "commit"]),
        ("git push origin main", ["push"]),
        ("CI=1 make check | tail -5", ["test"]),
        ("./scripts/deploy.sh --env prod", ["deploy"]),
        ("npm run build", ["build"]),
        ("ruff format .", ["format"]),
        ("ruff check .", ["lint"]),
        ("pip install x", ["install"]),
        ("terraform apply", ["deploy"]),
        ("ls -la tests", []),
        ("git status", []),
        ("grep -r deploy .", []),
        ("echo 'git push'", []),
        ("", []),
    ],
)
def test_a_command_tells_its_task(command, tasks):
    assert cues.tasks_of(command) == tasks


def test_a_command_tells_its_environment_where_it_names_one():
    assert cues.environments_of("kubectl --context prod apply") == ["production"]
    assert cues.environments_of("./deploy.sh staging") == ["staging"]
    assert cues.environments_of("pytest tests/product") == []


def test_a_folder_tells_project_languages_and_branch(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feature/retry-payments\n")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "package.json").touch()
    inner = tmp_path / "src" / "app"
    inner.mkdir(parents=True)
    assert cues.project_of(inner) == tmp_path
    assert cues.languages_of(tmp_path) == ["python", "javascript"]
    assert cues.branch_of(tmp_path) == "feature retry payments"
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert cues.branch_of(tmp_path) == ""
    assert cues.branch_of(inner) == ""


def test_files_are_named_from_the_project(tmp_path):
    found = cues.within(["a.py", str(tmp_path / "src" / "b.py"), "/etc/hosts"], tmp_path / "src", tmp_path)
    assert found == ["src/a.py", "src/b.py", "/etc/hosts"]
