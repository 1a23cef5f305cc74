"""The commands for what wants a second look."""

from __future__ import annotations


def test_aliases_are_shown_before_they_are_merged(shell):
    shell.ask("remember", "We use Kubernetes, or K8s.", "--key", "a")
    assert shell.run("aliases", "--dry-run").stdout == (
        "entity:k8s → entity:kubernetes  a text says so\n"
        "  a  We use Kubernetes, or K8s.\n"
        "nothing was merged: that was a dry run\n"
    )
    (one,) = shell.ask("aliases")
    assert (one["alias"], one["name"], one["reason"]) == ("entity:k8s", "entity:kubernetes", "said")
    assert one["evidence"] == [{"key": "a", "text": "We use Kubernetes, or K8s."}]
    assert shell.run("aliases").stdout == "no two names are known to mean the same\n"
    shell.ask("undo", one["operation"])
    assert len(shell.ask("aliases", "--dry-run", "--limit", "1")) == 1


def test_contradictions_are_listed_and_settled(shell):
    shell.ask(
        "remember", "Ada lives in Oslo.", "--key", "a", "--kind", "fact", "--occurred-at", "2026-03-01T12:00Z"
    )
    shell.ask(
        "remember",
        "Ada lives in Bergen.",
        "--key",
        "b",
        "--kind",
        "fact",
        "--occurred-at",
        "2026-03-02T12:00Z",
    )
    assert shell.run("review").stdout == (
        "ada: lives in\n"
        "  2026-03-01  a  Ada lives in Oslo.\n"
        "  2026-03-02  b  Ada lives in Bergen.\n"
        "    priming supersede a 'Ada lives in Bergen.'\n"
        "    priming deprecate a --by b\n"
        "    priming deprecate b --by a\n"
        "    priming review --keep a+b\n"
    )
    assert [one["id"] for one in shell.ask("review", "--limit", "1")] == ["a+b"]
    assert shell.ask("review", "--keep", "a+b")["kind"] == "keep-both"
    assert shell.run("review").stdout == "no facts contradict each other\n"
