"""The versions of the agents' programs: small programs that state one stand where an agent's own would."""

import pytest
from tests.rows import each_row

from priming.errors import Conflict
from priming_agents.agents import AGENTS
from priming_agents.setup import clients, work

from ..programs import install

OLD = {
    "claude-code": ("2.1.8 (Claude Code)", "2.1.9"),
    "cursor": ("1.6.45\n3ef2a1\nx64", "1.7.0"),
    "codex": ("codex-cli 0.153.4", "0.154.0"),
    "gemini": ("0.26.0", "0.27.0"),
    "opencode": ("1.2.27", "1.3.17"),
}
TODAY = {
    "claude-code": "2.1.197 (Claude Code)",
    "cursor": "3.20.17",
    "codex": "codex-cli 0.169.0",
    "gemini": "0.61.0",
    "opencode": "1.18.33",
}


@pytest.fixture(autouse=True)
def programs(tmp_path, monkeypatch):
    """The only folder of the PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@each_row("agent", AGENTS)
def test_a_program_that_is_too_old_is_refused_by_name_with_both_versions_and_the_remedy(programs, agent):
    printed, needed = OLD[agent]
    path = install(programs, clients.CLIENTS[agent].program, printed)
    installation = clients.installed(agent)
    with pytest.raises(Conflict) as error:
        clients.require_loadable(installation)
    message = str(error.value)
    version = clients.dotted(clients.parse_version(printed))
    assert message.startswith(f"{clients.CLIENTS[agent].name} {version} at {path}: ")
    assert f"{needed} or newer" in message
    assert clients.CLIENTS[agent].upgrade in message


@pytest.mark.parametrize("agent", AGENTS)
def test_todays_programs_are_accepted(programs, agent):
    install(programs, clients.CLIENTS[agent].program, TODAY[agent])
    installation = clients.installed(agent)
    clients.require_loadable(installation)
    assert installation.version == clients.parse_version(TODAY[agent])


def test_opencode_2_is_refused_because_it_loads_plugins_of_another_form(programs):
    install(programs, "opencode", "2.0.0-beta.3")
    with pytest.raises(Conflict, match=r"opencode 2\.0\.0 .* 1\.3\.17 or newer, before 2\.0\.0 is needed"):
        clients.require_loadable(clients.installed("opencode"))


def test_a_program_that_is_missing_or_states_no_version_is_no_reason_to_refuse(programs):
    assert clients.installed("codex") is None
    clients.require_loadable(None)
    install(programs, "codex", "hello")
    installation = clients.installed("codex")
    clients.require_loadable(installation)
    assert "states no version" in installation.problem


def test_a_program_that_cannot_run_states_no_version(programs):
    path = programs / "gemini"
    path.write_text("#!/nowhere/node\n")
    path.chmod(0o755)
    assert clients.installed("gemini").version is None


def test_a_refused_program_leaves_files_and_store_as_they_were(programs, tmp_path, shop_settings):
    install(programs, "claude", "2.0.14 (Claude Code)")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Conflict, match="Nothing was written"):
        work.plan_setup("claude-code", shop_settings, user=False)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.fixture
def shop_settings():
    """The settings of the working folder."""
    from priming.config.settings import load

    return load({})
