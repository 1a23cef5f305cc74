"""The memory tool of Claude: its files are memories, keyed by their paths; an edit is a new version.

Folders are those that files name, so that none is empty; a folder's size is that of its files. A path is composed
(NFC), and may not leave ``/memories``, however it is spelt. What is deleted is forgotten, what is renamed deprecated
by its new path.
"""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Iterable, Iterator
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

from priming import MemoryRecord, MissingExtra, PrimingError
from priming.namespace import DEFAULT_NAMESPACE
from priming_adapters.common import Source, Users, at_key, every, forget, key_of, put

with MissingExtra("anthropic", "the memory tool of Claude"):
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

ROOT = "/memories"
_WIDTH = 6
"""The width of the number of a line."""
_MOST_LINES = 999_999
_EDITED = "The memory file has been edited. Here is the snippet showing the change (with line numbers)"
_MISSING = "The path {} does not exist. Please provide a valid path."


class PrimingMemoryTool(Users, BetaAbstractMemoryTool):
    """The memory tool over a memory, for ``client.beta.messages.tool_runner`` or by ``execute``."""

    def __init__(self, source: Source = None, *, namespace: str = DEFAULT_NAMESPACE, **options: Any) -> None:
        Users.__init__(self, source, namespace=namespace)
        BetaAbstractMemoryTool.__init__(self, **options)

    def execute(self, command: Any) -> str:
        """Carry out a command; raise a ``ToolError``, whose text is for the model, if it cannot be."""
        try:
            several = command.command in ("delete", "rename")  # files, all of them or none
            with self.memory.changing() if several else self.memory.lock:
                return str(super().execute(command))
        except PrimingError as error:
            raise ToolError(str(error)) from error

    def view(self, command: Any) -> str:
        """Show a file with numbers of lines, or two levels of a folder."""
        path = checked_path(command.path)
        record = self._file(path)
        if record is None:
            return self._folder(path, command.path)
        lines = text_in(record).split("\n")
        if len(lines) > _MOST_LINES:
            raise ToolError(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
        start, end = 0, len(lines)
        if command.view_range and len(command.view_range) == 2:
            first, last = command.view_range
            start, end = max(1, first) - 1, len(lines) if last == -1 else last
        shown = "\n".join(numbered_lines(lines[start:end], start))
        return f"Here's the content of {command.path} with line numbers:\n{shown}"

    def create(self, command: Any) -> str:
        """Create a file."""
        path = self._free(command.path, f"File {command.path} already exists")
        self._write(path, command.file_text)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        """Replace a text that is in a file once."""
        path, text = self._read(command.path)
        old, number = command.old_str, text.count(command.old_str)
        if number == 0:
            rule = f"old_str `{old}` did not appear verbatim in {command.path}."
            raise ToolError(f"No replacement was performed, {rule}")
        if number > 1:
            places = ", ".join(map(str, lines_with(text, old)))
            rule = f"Multiple occurrences of old_str `{old}` in lines: {places}. Please ensure it is unique"
            raise ToolError(f"No replacement was performed. {rule}")
        line = text.count("\n", 0, text.find(old))
        text = text.replace(old, command.new_str)
        self._write(path, text)
        start = max(0, line - 2)
        snippet = "\n".join(numbered_lines(text.split("\n")[start : line + 3], start))
        return f"{_EDITED}:\n{snippet}"

    def insert(self, command: Any) -> str:
        """Insert a text after a line of a file."""
        path, text = self._read(command.path)
        lines = text.removesuffix("\n").split("\n") if text else []
        if not 0 <= command.insert_line <= len(lines):
            rule = f"It should be within the range [0, {len(lines)}]."
            raise ToolError(f"Invalid `insert_line` parameter: {command.insert_line}. {rule}")
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        text = "\n".join(lines)
        self._write(path, text if text.endswith("\n") else f"{text}\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: Any) -> str:
        """Forget a file, or all files of a folder."""
        for _, record in self._tree(path_below(command.path, "delete"), command.path):
            forget(self.memory, record.id)
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:
        """Move a file or a folder."""
        for path in (command.old_path, command.new_path):
            checked_path(path)
        old_path = path_below(command.old_path, "rename")
        new_path = self._free(command.new_path, f"The destination {command.new_path} already exists")
        files = self._tree(old_path, command.old_path)
        if new_path.startswith(f"{old_path}/"):
            raise ToolError(f"Cannot rename {command.old_path} to a path within itself")
        for path, record in files:
            renamed = self._write(new_path + path.removeprefix(old_path), text_in(record))
            self.memory.deprecate(record.id, by=renamed.id, reason="renamed")
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Forget all files."""
        for _, record in [*self._files()]:
            forget(self.memory, record.id)
        return "All memory cleared"

    def _files(self, folder: str = ROOT) -> Iterator[tuple[str, MemoryRecord]]:
        for record in every(self.memory, {"metadata.path": {"contains": f"{folder}/"}}):
            path = str(record.metadata["path"])
            if path.startswith(f"{folder}/"):
                yield path, record

    def _file(self, path: str) -> MemoryRecord | None:
        record = at_key(self.memory, key_of(path))
        return record if record is not None and record.status == "active" else None

    def _read(self, shown: str) -> tuple[str, str]:
        path = checked_path(shown)
        record = self._file(path)
        if record is None:
            is_folder = self._is_folder(path)
            raise ToolError(f"The path {shown} is not a file." if is_folder else _MISSING.format(shown))
        return path, text_in(record)

    def _write(self, path: str, text: str) -> MemoryRecord:
        metadata = {"path": path} if text.strip() else {"path": path, "text": text}
        content = text if text.strip() else path  # a memory has a text
        return put(self.memory, key_of(path), content, kind="fact", trust="agent", metadata=metadata)

    def _is_folder(self, path: str) -> bool:
        return path == ROOT or any(self._files(path))

    def _free(self, shown: str, taken: str) -> str:
        """Return the path of a new file or folder: nothing is there, and none of its parents is a file."""
        path = checked_path(shown)
        if self._file(path) or self._is_folder(path):
            raise ToolError(taken)
        parent = posixpath.dirname(path)
        while parent != ROOT:
            if self._file(parent):
                raise ToolError(f"The path {parent} is not a directory.")
            parent = posixpath.dirname(parent)
        return path

    def _tree(self, path: str, shown: str) -> list[tuple[str, MemoryRecord]]:
        record = self._file(path)
        if files := [*self._files(path)] if record is None else [(path, record)]:
            return files
        raise ToolError(f"The path {shown} does not exist")

    def _folder(self, path: str, shown: str) -> str:
        if not self._is_folder(path):
            raise ToolError(_MISSING.format(shown))
        files = ((name[len(path) + 1 :], len(text_in(record).encode())) for name, record in self._files(path))
        header = f"Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:"
        return "\n".join((header, *folder_rows(files, shown)))


class AsyncPrimingMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for an asynchronous client: each command runs in a thread."""

    def __init__(self, source: Source = None, *, namespace: str = DEFAULT_NAMESPACE, **options: Any) -> None:
        super().__init__(**options)
        self.tool = PrimingMemoryTool(source, namespace=namespace)

    async def execute(self, command: Any) -> str:
        """Carry out a command."""
        return await asyncio.to_thread(self.tool.execute, command)

    async def clear_all_memory(self) -> str:
        """Forget all files."""
        return await asyncio.to_thread(self.tool.clear_all_memory)

    view = create = str_replace = insert = delete = rename = execute


def checked_path(path: str) -> str:
    """Return a path in one spelling, below the root."""
    plain = path
    while (decoded := unquote(plain)) != plain:
        plain = decoded
    whole, parts = normalize("NFC", posixpath.normpath(path)), plain.replace("\\", "/").split("/")
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    if not f"{whole}/".startswith(f"{ROOT}/") or (".." in parts and (plain != path or "\\" in path)):
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    if not path.isprintable():
        raise ToolError(f"Path {path!r} has control characters: use printable ones")
    return whole


def path_below(path: str, verb: str) -> str:
    """Return a path in one spelling that is not the root."""
    if (plain := checked_path(path)) == ROOT:
        raise ToolError(f"Cannot {verb} the {ROOT} directory itself")
    return plain


def text_in(record: MemoryRecord) -> str:
    """Return the text of a file."""
    return str(record.metadata.get("text", record.content))


def numbered_lines(lines: list[str], start: int) -> Iterator[str]:
    """Return lines with their numbers, of which the first is the one after ``start``."""
    return (f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, start + 1))


def lines_with(text: str, part: str) -> Iterator[int]:
    """Return the line of each place where a part begins."""
    line, before, place = 1, 0, text.find(part)
    while place != -1:
        line, before = line + text.count("\n", before, place), place
        yield line
        place = text.find(part, place + 1)


def folder_rows(files: Iterable[tuple[str, int]], shown: str) -> Iterator[str]:
    """Return the rows of a folder: itself, and what lies in it, two levels deep, each with its size.

    ``files`` are paths below the folder with their sizes.
    """
    sizes: dict[tuple[str, ...], int] = {(): 0}
    folders = set()
    for path, number in files:
        parts = tuple(path.split("/"))
        for depth in range(min(2, len(parts)) + 1):
            head = parts[:depth]
            if head and head[-1].startswith("."):
                break
            sizes[head] = sizes.get(head, 0) + number
            folders |= {head} if 0 < depth < len(parts) else set()
    for head in sorted(sizes):
        name = "/".join((shown, *head, *([""] if head in folders else [])))
        yield f"{_size(sizes[head])}\t{name}"


def _size(number: int) -> str:
    power = min(3, max(0, number.bit_length() - 1) // 10)
    size = number / 1024**power
    return f"{size:.0f}{'BKMG'[power]}" if size == int(size) else f"{size:.1f}{'BKMG'[power]}"
