"""The pages about the adapters, and about coming from LangGraph, show what runs."""

import gc
from pathlib import Path

import pytest

pytestmark = pytest.mark.adapters

DOCS = Path(__file__).parents[2] / "docs"
SNIPPETS = [
    part.partition("```")[0]
    for page in ("adapters.md", "coming-from/langgraph.md")
    for part in (DOCS / page).read_text("utf-8").split("```python\n")[1:]
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("snippet", SNIPPETS)
def test_each_snippet_runs(snippet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "none")
    exec(compile(snippet, str(DOCS), "exec"), {})
    gc.collect()  # of what a library leaves open it may speak here
    calls = (".put(", ".add", ".call(")
    writes = "memory.db" in snippet and any(call in snippet for call in calls)
    assert (tmp_path / "memory.db").exists() == writes
