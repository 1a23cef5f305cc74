"""Who vouches for what is derived, and what may instruct."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.config.words import TRUST, instructs, is_trusted_as, least
from priming.errors import ParamError

trusts = st.sampled_from(TRUST)


@given(st.lists(trusts, min_size=1))
def test_what_is_derived_is_trusted_as_its_least_trusted_source(sources):
    new = least(sources)
    assert new in sources
    assert all(is_trusted_as(source, new) for source in sources)


def test_trust_rises_from_untrusted_over_tool_and_agent_to_user():
    assert least(["user", "agent"]) == "agent"
    assert least(["tool", "agent"]) == "tool"
    assert least(iter(["user", "untrusted", "tool"])) == "untrusted"


def test_agents_and_users_instruct_and_tools_do_not():
    assert [instructs(item) for item in ("untrusted", "tool", "agent", "user")] == [False, False, True, True]


@each_row("call", [lambda: least([]), lambda: least(["admin"]), lambda: instructs("")])
def test_an_unknown_trust_is_refused(call):
    with pytest.raises(ParamError, match="untrusted, tool, agent, user"):
        call()
