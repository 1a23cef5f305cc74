"""The page about the adapters shows what runs."""

import gc
from pathlib import Path

import pytest

pytestmark = pytest.mark.adapters

PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"
SNIPPETS = [part.partition("```")[0] for part in PAGE.read_text("utf-8").split("```python\n")[1:]]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("snippet", SNIPPETS)
def test_each_snippet_runs(snippet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "none")
    exec(compile(snippet, str(PAGE), "exec"), {})
    gc.collect()  # of what a library leaves open it may speak here
    calls = (".put(", ".add", ".call(")
    assert (tmp_path / "memory.db").exists() == any(call in snippet for call in calls)
