"""The page that names the tested clients, and how it is made of a report of the scenes."""

from collections import Counter
from datetime import date

from tests.agents.clients import VERSIONS
from tests.agents.retest import HEAD, PAGE, counts, page

REPORT = """<testsuites><testsuite>
<testcase name="test_a[codex-0.1.0]"/>
<testcase name="test_b[codex-0.1.0]"><failure/></testcase>
<testcase name="test_b[claude-code-2.0.0]"/>
<testcase name="test_of_none"/>
</testsuite></testsuites>"""


def test_the_page_says_of_each_version_how_many_scenes_passed_on_a_day():
    assert counts(REPORT) == {
        "codex-0.1.0": Counter({True: 1, False: 1}),
        "claude-code-2.0.0": Counter({True: 1}),
    }
    assert page(counts(REPORT), date(2026, 11, 29)) == (
        f"{HEAD}- claude-code 2.0.0, 2026-11-29: 1 of 1 scenes\n- codex 0.1.0, 2026-11-29: 1 of 2 scenes\n"
    )


def test_the_page_names_each_client_in_two_versions():
    lines = PAGE.read_text("utf-8").splitlines()
    for client, (_, older) in VERSIONS.items():
        assert len([line for line in lines if line.startswith(f"- {client} ")]) == 2
        assert any(line.startswith(f"- {client} {older},") for line in lines)
