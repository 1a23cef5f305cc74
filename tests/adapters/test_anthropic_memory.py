"""The memory tool of Claude, with the implementation on files that ``anthropic`` ships as the oracle."""

import asyncio
import re

import pytest
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from hypothesis import given
from hypothesis import strategies as st

from priming import HashedEmbedder, Memory, StoreError
from priming_adapters.anthropic_memory import AsyncPrimingMemoryTool, PrimingMemoryTool

pytestmark = pytest.mark.adapters

FOLDERS = ["/memories", "/memories/a", "/memories/a/b", "/memories/.hidden"]
NAMES = ["x.md", "y", ".z", "a"]
PATHS = st.sampled_from(
    [f"{folder}/{name}" for folder in FOLDERS for name in NAMES] + FOLDERS
) | st.sampled_from(
    ["/memories/../etc", "/etc/passwd", "/memories/a/../y", "/memories//y", "/memories/./y", "", "memories/y"]
)
TEXTS = st.sampled_from(
    ["", "\n", "one\n", "one\ntwo\nthree", "a b\r\na b\n", "\n\nx\n", "déjà vu", "  ", "two\n" * 8]
)
NUMBERS = st.integers(-1, 9)
COMMANDS = st.one_of(
    st.builds(
        lambda path, lines: {"command": "view", "path": path, "view_range": lines},
        PATHS,
        st.none() | st.lists(NUMBERS, max_size=3),
    ),
    st.builds(lambda path, text: {"command": "create", "path": path, "file_text": text}, PATHS, TEXTS),
    st.builds(
        lambda path, old, new: {"command": "str_replace", "path": path, "old_str": old, "new_str": new},
        PATHS,
        st.sampled_from(["one", "two", "a b", "", "\n", "x", "nowhere"]),
        TEXTS,
    ),
    st.builds(
        lambda path, line, text: {
            "command": "insert",
            "path": path,
            "insert_line": line,
            "insert_text": text,
        },
        PATHS,
        NUMBERS,
        TEXTS,
    ),
    st.builds(lambda path: {"command": "delete", "path": path}, PATHS),
    st.builds(lambda old, new: {"command": "rename", "old_path": old, "new_path": new}, PATHS, PATHS),
)


def answer(tool, command):
    """The answer, or the error, of a command; without the sizes of folders, which are those of a disk."""
    try:
        text = tool.call(command)
    except ToolError as error:
        return f"error: {error}"
    except OSError:
        return "error"
    return re.sub(r"(?m)^\S+(?=\t/.*/$|\t/memories(/a|/a/b|/.hidden)?$)", "", text)


def without_empty_folders(root):
    for folder in sorted(root.rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


@given(st.lists(COMMANDS, max_size=12))
def test_each_command_is_answered_as_by_the_tool_on_files(tmp_path_factory, commands):
    oracle = BetaLocalFilesystemMemoryTool(str(tmp_path_factory.mktemp("files")))
    with Memory.open("sqlite://", embedder=HashedEmbedder(32)) as memory:
        tool = PrimingMemoryTool(memory)
        for command in commands:
            expected = answer(oracle, command)
            own = answer(tool, command)
            without_empty_folders(oracle.memory_root)
            if (
                expected == "error"
            ):  # what the disk says, such as of a path below a file, is no text for the model
                assert own.startswith("error: ")
            else:
                assert own == expected
        paths = [path for path in oracle.memory_root.rglob("*") if path.is_file()]
        stored = {
            record.metadata["path"]: record.metadata.get("text", record.content) for record in memory.list()
        }
        assert stored == {
            f"/memories/{path.relative_to(oracle.memory_root)}": path.read_bytes().decode() for path in paths
        }


@pytest.fixture
def tool(memory):
    return PrimingMemoryTool(memory)


def refusal(tool, **command):
    with pytest.raises(ToolError) as caught:
        tool.call(command)
    return str(caught.value)


@pytest.mark.parametrize(
    "path",
    [
        "/memories/../secrets",
        "/memories/a/../../secrets",
        "/memories/%2e%2e/secrets",
        "/memories/%252e%252e%252fsecrets",
        "/memories/..\\secrets",
        "/memories/a\\..\\..\\secrets",
        "/memoriesandmore",
        "/memories\\..\\x",
    ],
)
def test_no_path_leaves_the_folder_however_it_is_spelt(tool, memory, path):
    assert "escape" in refusal(tool, command="create", path=path, file_text="x")
    assert "escape" in refusal(tool, command="view", path=path)
    assert not memory.list()


def test_a_path_with_control_characters_is_refused(tool):
    for path in ("/memories/a\0b", "/memories/a\nb", "/memories/\x1b[2J"):
        assert "control characters" in refusal(tool, command="create", path=path, file_text="x")


def test_two_spellings_of_a_letter_are_one_file(tool):
    tool.call({"command": "create", "path": "/memories/e\u0301.md", "file_text": "x"})
    assert "already exists" in refusal(tool, command="create", path="/memories/\u00e9.md", file_text="y")


def test_a_file_is_a_memory_whose_edits_are_versions_and_can_be_undone(tool, memory):
    tool.call({"command": "create", "path": "/memories/ada.md", "file_text": "Ada lives in Porto.\n"})
    tool.call({"command": "str_replace", "path": "/memories/ada.md", "old_str": "Porto", "new_str": "Braga"})
    record = memory.get("/memories/ada.md")
    assert (record.content, record.version, record.trust) == ("Ada lives in Braga.\n", 2, "agent")
    assert memory.recall("Where does Ada live?").hits[0].memory.id == record.id
    memory.undo(memory.log()[0].id)
    assert "Porto" in tool.call({"command": "view", "path": "/memories/ada.md"})
    tool.call({"command": "delete", "path": "/memories/ada.md"})
    assert not memory.recall("Where does Ada live?").hits
    memory.undo(memory.log()[0].id)
    assert "Porto" in tool.call({"command": "view", "path": "/memories/ada.md"})


def test_a_file_that_was_renamed_leads_to_its_new_path(tool, memory):
    tool.call({"command": "create", "path": "/memories/a/ada.md", "file_text": "Ada lives in Porto."})
    tool.call({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"})
    assert memory.get("/memories/a/ada.md").status == "deprecated"
    assert [(link.source, link.target) for link in memory.links(relation="deprecated-to")] == [
        ("/memories/a/ada.md", "/memories/b/ada.md")
    ]
    tool.call({"command": "create", "path": "/memories/a/ada.md", "file_text": "Another."})
    assert memory.get("/memories/a/ada.md").version == 2


def test_a_folder_is_renamed_whole_or_not_at_all(tool, memory, monkeypatch):
    for name in "abc":
        tool.call({"command": "create", "path": f"/memories/old/{name}", "file_text": name})
    deprecate = memory.deprecate

    def fail(key, **options):
        if memory.get(key).content == "c":
            raise StoreError("the disk is full")
        return deprecate(key, **options)

    monkeypatch.setattr(memory, "deprecate", fail)
    assert (
        refusal(tool, command="rename", old_path="/memories/old", new_path="/memories/new")
        == "the disk is full"
    )
    assert sorted(record.metadata["path"] for record in memory.list()) == [
        f"/memories/old/{name}" for name in "abc"
    ]


def test_other_memories_are_no_files(tool, memory):
    memory.remember("Ada lives in Porto.", key="/memories/x")
    memory.remember("Grace lives in Braga.")
    assert tool.call({"command": "view", "path": "/memories"}).endswith("\n0B\t/memories")
    tool.call({"command": "create", "path": "/memories/y", "file_text": "x"})
    assert tool.clear_all_memory() == "All memory cleared"
    assert len(memory.list()) == 2


def test_what_priming_refuses_is_told_to_the_model(tool, memory):
    assert "NUL" in refusal(tool, command="create", path="/memories/x", file_text="a\0b")
    assert "characters" in refusal(tool, command="create", path="/memories/x", file_text="x" * 2_000_000)
    assert not memory.list()


def test_an_asynchronous_client_has_the_same_files(memory):
    tool = AsyncPrimingMemoryTool(memory)
    create = {"command": "create", "path": "/memories/x", "file_text": "one\n"}
    assert asyncio.run(tool.call(create)) == "File created successfully at: /memories/x"
    assert "one" in PrimingMemoryTool(memory).call({"command": "view", "path": "/memories/x"})
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    assert asyncio.run(tool.clear_all_memory()) == "All memory cleared"
