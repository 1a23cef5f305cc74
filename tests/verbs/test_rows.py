"""The operation table agrees with the library."""

import inspect

import pytest
from tests.rows import each_row

from priming import Memory
from priming.config.words import TOOL_GROUPS
from priming.errors import ParamError
from priming.operations.schema import NOT_SENT
from priming.verbs.rows import BY_NAME, OPS, SERVED, served, tools

LIBRARY_ONLY = {"identified", "open"}
OTHERWISE_SERVED = {
    "pack_create": "pack_content",
    "pack_install": "pack_add",
    "export": "export_lines",
    "loop_task_complete": "loop_task_close",
}


def parameters(op):
    return {
        name: item for name, item in inspect.signature(op.function).parameters.items() if name not in NOT_SENT
    }


def test_every_verb_of_the_library_stands_in_the_table():
    verbs = {name for name in vars(Memory) if callable(getattr(Memory, name)) and not name.startswith("_")}
    assert verbs - LIBRARY_ONLY - set(BY_NAME) == set()


def test_names_are_unique_and_no_server_offers_what_is_for_this_machine_only():
    assert len(BY_NAME) == len(OPS)
    assert not {op.name for op in SERVED} & {op.name for op in OPS if op.local}
    for present, instead in OTHERWISE_SERVED.items():
        if present not in BY_NAME:
            continue  # the loop's, which is not installed
        assert BY_NAME[present].local
        assert not BY_NAME[instead].local


@each_row("op", SERVED)
def test_another_name_leads_to_an_argument_and_hides_none(op):
    seen = set(parameters(op)) | ({"key", "content"} if op.name == "supersede" else set())
    assert set(op.other_names.values()) <= seen
    assert not set(op.other_names) & seen


def test_the_group_core_has_what_the_first_week_needs_in_twelve_tools():
    names = [op.name for op in tools("core")]
    assert names == [
        "remember", "recall", "get", "feedback", "learn", "active", "forget", "list", "files", "supersede",
        "keep_both", "undo",
    ]  # fmt: skip


def test_every_operation_that_is_served_is_in_exactly_one_group():
    groups = [{op.name for op in tools(group)} for group in TOOL_GROUPS if group != "all"]
    assert all(groups)
    assert sum(map(len, groups)) == len(SERVED)
    assert set.union(*groups) == {op.name for op in tools("all")} == {op.name for op in SERVED}


def test_groups_are_joined_in_the_order_of_the_table():
    assert tools(" time, core,") == tuple(op for op in SERVED if op.group in ("core", "time"))
    assert tools("rules,all") == SERVED


@each_row("groups", ["", " , ", "full", "core,tme", "core;time"])
def test_a_group_that_does_not_exist_is_refused_with_those_that_do(groups):
    with pytest.raises(ParamError, match="one or several of core, rules, time, care, loop, all"):
        tools(groups)


def test_an_unknown_operation_is_told_those_there_are():
    with pytest.raises(ParamError, match=r"recollect.*remember.*recall"):
        served("recollect")


def test_what_is_for_this_machine_only_is_refused_with_the_reason():
    with pytest.raises(ParamError, match="file that the caller names"):
        served("export")
