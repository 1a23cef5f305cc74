from tests.rows import each_row

from priming_agents import context


@each_row(
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
def test_a_command_has_its_tasks(command, tasks):
    assert context.tasks_of(command) == tasks


@each_row(
    ("command", "languages"),
    [
        ("pytest -q", ["python"]),
        ("/srv/app/.venv/bin/python -m pytest", ["python"]),
        ("cd web && npx vitest run", ["javascript", "typescript"]),
        ("CI=1 go test ./...", ["go"]),
        ("cargo clippy && cargo test | tail", ["rust"]),
        ("mvn -q package", ["java", "kotlin"]),
        ("git commit -m 'go test'", []),
        ("make test", []),
        ("kubectl apply -f python.yaml", []),
        ("", []),
    ],
)
def test_a_command_has_the_languages_of_its_programs(command, languages):
    assert context.languages_of_command(command) == languages


def test_a_command_has_the_environment_that_it_names():
    assert context.environments_of("kubectl --context prod apply") == ["production"]
    assert context.environments_of("./deploy.sh staging") == ["staging"]
    assert context.environments_of("pytest tests/product") == []


def test_a_folder_has_a_project_languages_and_a_branch(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feature/retry-payments\n")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "package.json").touch()
    inner = tmp_path / "src" / "app"
    inner.mkdir(parents=True)
    assert context.project_of(inner) == tmp_path
    assert context.languages_of(tmp_path) == ["python", "javascript"]
    assert context.branch_of(tmp_path) == "feature retry payments"
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert context.branch_of(tmp_path) == ""
    assert context.branch_of(inner) == ""


def test_files_are_named_from_the_project(tmp_path):
    paths = context.project_paths(
        ["a.py", str(tmp_path / "src" / "b.py"), "/etc/hosts"], tmp_path / "src", tmp_path
    )
    assert paths == ["src/a.py", "src/b.py", "/etc/hosts"]


def test_every_command_of_the_table_has_its_task():
    for task, commands in context.task_commands().items():
        for command in commands:
            assert task in context.tasks_of(f"{command} x"), command


def test_a_memory_is_on_topic_with_two_words_in_common_or_a_name():
    memory = {"heading": None, "content": "Kestrel signs the releases of core/dates.py."}
    assert context.is_on_topic("are releases signed?", memory, 2)
    assert context.is_on_topic("why is core/dates.py slow", memory, 2)
    assert not context.is_on_topic("the releases are late", memory, 2)
    assert not context.is_on_topic("", memory, 1)
