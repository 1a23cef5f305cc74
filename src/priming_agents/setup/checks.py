"""The checks of ``priming doctor`` on agents: whether they are set up, and whether their hooks are answered."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from priming.cli.doctor import FAIL, OK, WARN, Check
from priming.cli.options import StoreOptions
from priming.errors import PrimingError
from priming_agents.agents import AGENTS
from priming_agents.setup import agent_config, clients, files


def agent_checks(_store: StoreOptions) -> Iterator[Check]:
    """Yield agents that Priming is set up for, whether they can load it, and whether the programs they run exist."""
    is_any = False
    for agent in AGENTS:
        scopes = []
        for scope in (files.PROJECT, files.USER):
            try:
                paths = files.configured_files(agent, scope)
            except PrimingError as error:
                yield Check("agents", WARN, f"{agent}: {error}", "repair the file")
                continue
            if paths:
                scopes.append(scope)
                yield _agent(agent, scope, paths)
        if scopes:
            yield _client(agent)
        is_any = is_any or bool(scopes)
    if not is_any:
        names = ", ".join(AGENTS)
        yield Check("agents", OK, f"none is set up; 'priming setup AGENT' does that for {names}")


def _agent(agent: str, scope: str, paths: list[Path]) -> Check:
    expected = [file.path for file in files.config_files(agent, scope, [agent_config.NAME])]
    missing = [path for path in expected if path not in paths]
    if missing:
        problem = f"{agent} ({scope}): not set up in {', '.join(map(str, missing))}"
        return Check("agents", WARN, problem, f"priming setup {agent} --{scope}")
    programs = {name for path in paths for name in agent_config.programs(path.read_text("utf-8"))}
    lost = sorted(name for name in programs if shutil.which(name) is None)
    if lost:
        problem = f"{agent} ({scope}) runs {', '.join(lost)}, which does not exist"
        return Check("agents", FAIL, problem, f"priming setup {agent} --{scope}, which writes its path")
    return Check("agents", OK, f"{agent} ({scope}): {', '.join(map(str, paths))}")


def _client(agent: str) -> Check:
    """Tell whether the agent's own program can load what setup wrote."""
    client, installation = clients.CLIENTS[agent], clients.installed(agent)
    if installation is None:
        return Check("agents", OK, f"{agent}: {client.program} is not on the PATH here; {client.needed}")
    if installation.problem is not None:
        problem = f"{agent}: {installation.label}: {installation.problem}"
        return Check("agents", WARN if installation.version is None else FAIL, problem, client.upgrade)
    return Check("agents", OK, f"{agent}: {installation.label}")
