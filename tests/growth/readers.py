"""Every function that reads what others wrote, with the modules whose patterns and rules it uses.

``tests/growth/test_registry.py`` fails for a module with regular expressions that no reader here has, unless it is in
``OF_OUR_OWN`` with what it reads instead. Add a reader with the module: the fuzz then attacks it.
"""

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from priming import serialization
from priming.cli import parse
from priming.config import store_urls, words
from priming.core import similarity, when
from priming.core.arguments import checks, normal_forms
from priming.embedding import weights
from priming.embedding.protocol import HashedEmbedder
from priming.embedding.weights import packaged
from priming.embedding.word_pieces import WordPieces
from priming.embedding.wordllama import BytePairs
from priming.errors import PrimingError
from priming.index.document import passage_ends
from priming.llm.protocol import fenced
from priming.maintenance import aliases
from priming.maintenance.subjects import Subject
from priming.mcp.messages import number_within, read_message
from priming.operations import readable, schema
from priming.recall import entities
from priming.recall.cue import persons
from priming.recall.files import named_files, path_terms
from priming.remember import drafts
from priming.rules import pack_file
from priming.sleep import gist, procedures
from priming.storage import copies
from priming.text import (
    dates,
    gists,
    languages,
    names,
    quotation,
    tokens,
)
from priming.text.name_forms import forms
from priming.text.statements import judge, kinds, occasions, phrases, reader
from priming.transfer import chat, conversations, export, git_log, jsonl, markdown
from priming.verbs.rows import BY_NAME
from priming_adapters import server_memory as server_memory
from priming_agents import agents, capture, context, transcripts
from priming_agents import prompts as user_prompts
from priming_agents.setup import agent_config, jsonc
from priming_formats import codex, floop, json_documents, slack, whatsapp
from priming_loop import codebase, knowledge, lessons, session
from priming_loop import context as loop_context
from priming_loop.gates import guard, paths
from priming_loop.session import TaskPlan
from priming_server import responses
from priming_server.ethos import socket as ethos
from priming_server.postgres import dialect

_NOW = datetime(2024, 5, 16, tzinfo=UTC)


class Reader(NamedTuple):
    name: str
    read: Callable[[str], Any]
    modules: tuple[str, ...]
    cached: tuple[Any, ...] = ()
    """What remembers its answers, to be forgotten before each measurement."""


def _reader(name: str, read: Callable[[str], Any], *modules: str, cached: tuple[Any, ...] = ()) -> Reader:
    def quietly(text: str) -> None:
        for function in cached:
            function.cache_clear()
        with suppress(PrimingError, ValueError):
            result = read(text)
            if hasattr(result, "__next__"):
                for _ in result:
                    pass

    return Reader(
        name,
        quietly,
        tuple(module if module.startswith("priming_") else f"priming.{module}" for module in modules),
        cached,
    )


@cache
def _vocabularies() -> tuple[BytePairs, WordPieces]:
    words = BytePairs.of((weights.folder() / weights.TOKENIZER).read_bytes())
    sentences = WordPieces.of(packaged().tokenizer.read_bytes())
    assert words is not None
    assert sentences is not None
    return words, sentences


def _byte_pairs(text: str) -> list[int]:
    words = _vocabularies()[0]
    words._of_short.cache_clear()
    return words.tokens(text)


def _word_pieces(text: str) -> list[int]:
    sentences = _vocabularies()[1]
    sentences._of_word.cache_clear()
    return sentences.tokens(text, len(text) + 2)


def _file(read: Callable[[Path], Any], name: str = "x.jsonl") -> Callable[[str], Any]:
    def read_file(text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.write_text(text, "utf-8", errors="replace")
            for _ in read(path) or ():
                pass

    return read_file


def _pack(text: str) -> str:
    rule = {
        "key": "a",
        "content": text[:60_000] or "x",
        "when": {"file": text, "task": text},
        "heading": text,
    }
    return json.dumps(
        {
            "format": "priming-pack",
            "format_version": 1,
            "name": "a",
            "version": "1",
            "description": text,
            "behaviors": [rule],
            "links": [],
        }
    )


def _floop(path: Path) -> Any:
    folder = path.parent / ".floop"
    folder.mkdir()
    (folder / "edges.jsonl").write_text("")
    node = {"id": "a", "kind": "behavior", "content": {"canonical": path.read_text("utf-8")}, "metadata": {}}
    (folder / "nodes.jsonl").write_text(json.dumps(node) + "\n")
    return floop.read(folder)


def _codex(path: Path) -> Any:
    text = path.read_text("utf-8")
    return {"type": "message", "role": "user", "content": [text, f"# a\n{text}"]}


def _slack(path: Path) -> Any:
    return [{"type": "message", "ts": "1", "user": "U", "text": path.read_text("utf-8")}]


def _whatsapp(path: Path) -> Path:
    text = path.read_text("utf-8")
    return _raw(path, f"13/03/2026, 14:05 - Ada: {text}\n{text}")


def _sampled(path: Path) -> Any:
    return json_documents.sample(_raw(path, "[" + path.read_text("utf-8"))) and ()


class _Stream:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int) -> bytes:
        block, self._data = self._data[:size], self._data[size:]
        return block


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


_STATEMENTS = ("text.statements.phrases", "text.statements.reader", "text.statements.words")
_JUDGE = (*_STATEMENTS, "text.statements.judge", "text.statements.difference")


def _judged(old: str, new: str) -> None:
    reader.read.cache_clear()
    judge.judge.cache_clear()
    judge.judge(old, new)


def _doubted(text: str) -> None:
    for subject in (Subject("Ada Byron", ["Bob", "春"]), Subject("a"), Subject("al")):
        subject.read(text)
        subject.doubt(text)


def _transcribed(text: str) -> None:
    transcripts.typed(text)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="replace") as file:
        file.write(f"{json.dumps({'role': 'user', 'content': text})}\n{text}")
        file.flush()
        transcripts.read(Path(file.name))


READERS = (
    _reader("mentions of a name", copies.mentions_any(["a b", "Ada Byron", "春 大阪"]), "storage.copies"),
    _reader("secrets in a text", capture.redacted, "priming_agents.capture"),
    _reader("transcript of a session", _transcribed, "priming_agents.transcripts"),
    _reader("doubts about a subject", _doubted, "maintenance.subjects"),
    _reader("normal forms", partial(normal_forms.normalized, "NFKD"), "core.arguments.normal_forms"),
    _reader("words of a text in PostgreSQL", dialect.text_vector, "priming_server.postgres.dialect"),
    _reader("words of a search in PostgreSQL", dialect.text_query, "priming_server.postgres.dialect"),
    _reader(
        "volatile parts of a failure",
        lambda text: (lessons._VOLATILE.sub(" ", text), knowledge._VERSION.sub(" ", text)),
        "priming_loop.lessons",
        "priming_loop.knowledge",
    ),
    _reader("line of a packed text", quotation.read_line, "text.quotation"),
    _reader(
        "strings of a packed text",
        lambda text: quotation.read_line(f'- ["{text}"] "{text}": "{text}"'),
        "text.quotation",
    ),
    _reader(
        "quotation",
        lambda text: (quotation.quote_text(text), quotation.label(text), quotation.terminal_text(text)),
        "text.quotation",
    ),
    _reader(
        "output of a commit",
        lambda text: list(transcripts.COMMITTED.finditer(text)),
        "priming_agents.transcripts",
    ),
    _reader(
        "command of a gate",
        lambda text: guard.questions(TaskPlan("Do it.", (), verify=text)),
        "priming_loop.gates.guard",
        "priming_loop.gates.harmless",
        "priming_loop.gates.shell",
    ),
    _reader(
        "occasion",
        lambda text: (occasions.occasion(text, "a test fails"), occasions.occasion(text, f"never {text}")),
        "text.statements.occasions",
    ),
    _reader(
        "names in any case",
        lambda text: list(entities._spans(text, 6)),
        "recall.entities",
    ),
    _reader(
        "request",
        lambda text: schema.arguments(BY_NAME["remember"], {"content": text, "tags": text, "metadata": text}),
        "operations.schema",
        "operations.json_shapes",
    ),
    _reader("byte pairs", _byte_pairs, "embedding.wordllama"),
    _reader("word pieces", _word_pieces, "embedding.word_pieces"),
    _reader(
        "extra of an error",
        lambda text: serialization.error_from_payload({"code": "missing_extra", "message": text}),
        "serialization",
    ),
    _reader("id of a message", lambda text: number_within(_bytes(text)), "mcp.messages"),
    _reader("message of an agent", lambda text: read_message(_bytes(text), 64, 1 << 20), "mcp.messages"),
    _reader(
        "message of a socket",
        lambda text: ethos.parse(ethos.JSON, _bytes(text)),
        "priming_server.ethos.socket",
    ),
    _reader(
        "frame of a socket",
        lambda text: ethos.parse(ethos.MESSAGEPACK, _bytes(text)),
        "priming_server.ethos.socket",
    ),
    _reader(
        "names",
        names.find,
        "text.names",
        "text.name_forms.technical",
        "text.names",
        "text.name_forms.capitals",
        "text.name_forms.forms",
        "text.word_lists",
    ),
    _reader("names of a heading", lambda text: names.find("", text), "text.names"),
    _reader("normal form of a name", names.normal, "text.names"),
    _reader("terms", tokens.terms, "text.tokens"),
    _reader("spellings", tokens.spelled, "text.tokens"),
    _reader("bigrams", tokens.bigrams, "text.tokens"),
    _reader(
        "answers for a model",
        lambda text: readable.readable(
            BY_NAME["history"], [{"content": text, "at": text, text[:9]: [text]}] * 2
        ),
        "operations.readable",
    ),
    _reader(
        "software sought",
        lambda text: forms.sought_terms(f"Which cache? {text}", "english"),
        "text.name_forms.forms",
    ),
    _reader("language of a text", tokens.language_of, "text.tokens"),
    _reader("specificity", dates.specificity, "text.dates", "text.time_grammar"),
    _reader("dates", dates.dates, "text.dates", "text.time_words"),
    _reader("date of a cue", dates.cue_date, "text.time_grammar", "text.time_words"),
    _reader(
        "date of a cue asked now",
        lambda text: dates.cue_date(text, _NOW),
        "text.dates",
        "text.time_grammar",
    ),
    _reader("times", dates.has_time, "text.dates"),
    _reader("persons", lambda text: list(persons(text, "english")), "recall.cue"),
    _reader("day told", lambda text: dates.day_told(text, _NOW), "text.dates", "text.time_grammar"),
    _reader(
        "aliases", lambda text: list(aliases.alias_statements(text, lambda _: True)), "maintenance.aliases"
    ),
    _reader(
        "aliases of no known name",
        lambda text: list(aliases.alias_statements(text, lambda _: False)),
        "maintenance.aliases",
    ),
    _reader("short form", lambda text: aliases.is_short_form(text[:512], text[-512:]), "maintenance.aliases"),
    _reader("statement", reader.read, *_STATEMENTS, cached=(reader.read,)),
    _reader("prohibition", reader.forbids, *_STATEMENTS, cached=(reader.read,)),
    _reader("event", reader.is_event, *_STATEMENTS, cached=(reader.is_event,)),
    _reader(
        "statement with its speaker", lambda text: phrases.as_told(text, "Ada"), "text.statements.phrases"
    ),
    _reader("sentences", gists.sentences, "text.gists"),
    _reader("passages", passage_ends, "index.document", "text.gists"),
    _reader("list items", gists.list_items, "text.gists"),
    _reader("gist of a rule", gists.gist_of_rule, "text.gists", *_STATEMENTS, cached=(reader.read,)),
    _reader("gist of steps", gists.gist_of_steps, "text.gists"),
    _reader("gist of a text", gists.gist_of, "text.gists"),
    _reader("bare text", drafts.bare_text, "remember.drafts"),
    _reader(
        "kind of a rule", kinds.rule_kind_of, "text.statements.kinds", *_STATEMENTS, cached=(reader.read,)
    ),
    _reader("objection", kinds.without_objection, "text.statements.kinds"),
    _reader("languages in a text", languages.languages_in, "text.languages"),
    _reader(
        "text without its language",
        lambda text: languages.without_language(text, ["python", "go"]),
        "text.languages",
    ),
    _reader(
        "text without places",
        lambda text: languages.without_places(text, [text[:200], "a"]),
        "text.languages",
    ),
    _reader("language of a file", languages.language_of, "text.languages"),
    _reader("task of a file", languages.task_of, "text.languages"),
    _reader("reversal of a statement", lambda text: _judged(text, "never " + text[1:]), *_JUDGE),
    _reader(
        "change between halves",
        lambda text: _judged(text[: len(text) // 2], text[len(text) // 2 :]),
        *_JUDGE,
    ),
    _reader("subjects", judge.subjects, *_STATEMENTS, cached=(reader.read,)),
    _reader("contrast", lambda text: reader.contrast(text, text[1:]), *_STATEMENTS, cached=(reader.read,)),
    _reader("prompt", user_prompts.read_prompt, "priming_agents.prompts", cached=(user_prompts.read_prompt,)),
    _reader(
        "rule withdrawn", lambda text: user_prompts.withdrawn(text, [text[1:]]), "priming_agents.prompts"
    ),
    _reader("tasks of a command", context.tasks_of, "priming_agents.context"),
    _reader("environments of a command", context.environments_of, "priming_agents.context"),
    _reader("languages of a command", context.languages_of_command, "priming_agents.context"),
    _reader(
        "words of a prompt", lambda text: (context.words(text), context.stems(text)), "priming_agents.context"
    ),
    _reader(
        "event of an agent",
        lambda text: agents.parse_event(
            {
                "tool_name": "apply_patch",
                "hook_event_name": "PreToolUse",
                "tool_input": {"command": text, "input": text, "file_path": text},
                "prompt": text,
            }
        ),
        "priming_agents.agents",
    ),
    _reader("JSON with comments", jsonc.parse, "priming_agents.setup.jsonc"),
    _reader(
        "JSON with comments, edited",
        lambda text: jsonc.put(text, ["a", "b"], 1),
        "priming_agents.setup.jsonc",
    ),
    _reader(
        "programs of a configuration",
        lambda text: list(agent_config.programs(text)),
        "priming_agents.setup.agent_config",
    ),
    _reader(
        "glob",
        lambda text: when.evaluate({"file": text}, {"file": "/home/me/project/src/priming/core/when.py"}),
        "core.arguments.normal_forms",
    ),
    _reader(
        "path of a glob",
        lambda text: when.evaluate({"file": "**/a*/**/*b/{a,b}/*.py"}, {"file": text}),
        "core.arguments.normal_forms",
    ),
    _reader(
        "glob of itself",
        lambda text: when.evaluate({"file": text}, {"file": text}),
        "core.arguments.normal_forms",
    ),
    _reader(
        "globs of a condition",
        lambda text: when.findings({"file": _values(text)}, {"file": _values(text[:4_000])}),
        "core.arguments.normal_forms",
        cached=(normal_forms.Globs,),
    ),
    _reader(
        "paths of globs",
        lambda text: when.findings({"file": ["**/*" + "/**/*a" * 80] * 100}, {"file": _values(text)}),
        "core.arguments.normal_forms",
    ),
    _reader(
        "texts of a cue",
        lambda text: when.findings({"task": _values(text)}, {"task": _values(text[1:])}),
        "core.when",
    ),
    _reader(
        "condition",
        lambda text: when.findings(
            {"file": [text], "task": text, "language": text, "text": text},
            {"file": [text], "task": text[1:], "language": text, "text": text},
        ),
        "core.when",
    ),
    _reader(
        "predicates",
        lambda text: checks.check_predicates({"file": text, "task": text.split(" ")}),
        "core.arguments.checks",
    ),
    _reader("name of a pack", lambda text: checks.check_pack_name("name", text), "core.arguments.checks"),
    _reader("similarity", lambda text: similarity.tokens(text), "core.similarity"),
    _reader("hashed vector", lambda text: HashedEmbedder(64).embed([text]), "embedding.protocol"),
    _reader("key of a text", normal_forms.slug, "core.arguments.normal_forms"),
    _reader("sign of a relation", words.sign_of_name, "config.words"),
    _reader(
        "URL of a database", lambda text: store_urls.parse_url(f"postgresql://{text}"), "config.store_urls"
    ),
    _reader("URL as it is shown", store_urls.without_password, "config.store_urls"),
    _reader("moment", lambda text: parse.moment("since", text), "cli.parse"),
    _reader("duration", lambda text: parse.duration("within", text), "cli.parse"),
    _reader("filter", parse.filters, "cli.parse"),
    _reader(
        "predicates of a command", lambda text: parse.predicates("when", [f"a={text}", text]), "cli.parse"
    ),
    _reader("fence of a prompt", fenced, "llm.protocol"),
    _reader("words of a cue", lambda text: names.marked_words(text, "english"), "text.names"),
    _reader("line of a memory", quotation.visible, "text.quotation"),
    _reader(
        "files of a task",
        lambda text: named_files(text, ["src/app.py", text[:300]], 0.5),
        "recall.files",
    ),
    _reader("terms of a path", path_terms, "recall.files"),
    _reader("procedure", lambda text: procedures.read_procedure(None, text, {}), "sleep.procedures"),
    _reader(
        "procedures compared",
        lambda text: procedures.compare_procedures(
            procedures.read_procedure(None, text, {}),
            procedures.read_procedure(None, f"1. Stop. {text}", {}),
        ),
        "sleep.procedures",
    ),
    _reader("looking", procedures.observes, "sleep.procedures"),
    _reader("pairs of words", gist._pairs, "sleep.gist"),
    _reader("commit message", git_log.read_message, "transfer.git_log"),
    _reader(
        "tokens of git",
        lambda text: git_log._tokens(_Stream(_bytes(text).replace(b"\x01", b"\0"))),
        "transfer.git_log",
    ),
    _reader("Markdown", lambda text: markdown.document(text), "transfer.markdown"),
    _reader("front matter", lambda text: markdown.document(f"---\na: [\n{text}\n---\n"), "transfer.reading"),
    _reader(
        "front matter in TOML", lambda text: markdown.document(f"+++\n{text}\n+++\n"), "transfer.reading"
    ),
    _reader("pieces of Markdown", lambda text: markdown.pieces(text.split("\n"), 1500), "transfer.markdown"),
    _reader("links of Markdown", lambda text: markdown.links(text), "transfer.markdown"),
    _reader("notes", _file(markdown.read, "x.md"), "transfer.markdown", "transfer.reading"),
    _reader(
        "graph of server-memory",
        lambda text: server_memory.parsed(text, "file"),
        "priming_adapters.server_memory",
    ),
    _reader("JSON Lines", _file(jsonl.read), "transfer.jsonl", "transfer.reading"),
    _reader("chat", _file(chat.read, "x.json"), "transfer.chat"),
    _reader(
        "chat message",
        _file(lambda path: chat.read(_written(path, {"role": "user", "content": path.read_text("utf-8")}))),
        "transfer.chat",
    ),
    _reader(
        "line of a session",
        lambda text: chat.session_message(
            {
                "type": "user",
                "sessionId": text,
                "uuid": "a",
                "cwd": text,
                "timestamp": None,
                "message": {"role": "user", "content": text},
            },
            "here",
        ),
        "transfer.chat",
    ),
    _reader("tool call", lambda text: conversations.tool_note(text, text), "transfer.conversations"),
    _reader("what a client inserted", conversations.is_inserted, "transfer.conversations"),
    _reader(
        "session of Codex",
        _file(lambda path: codex.FORMAT.read(_written(path, _codex(path)))),
        "priming_formats.codex",
    ),
    _reader("JSON that is damaged", _file(json_documents.document), "priming_formats.json_documents"),
    _reader("start of JSON", _file(lambda path: _sampled(path)), "priming_formats.json_documents"),
    _reader(
        "day of Slack",
        _file(lambda path: slack.FORMAT.read(_written(path, _slack(path)))),
        "priming_formats.slack",
    ),
    _reader(
        "chat of WhatsApp",
        _file(lambda path: whatsapp.FORMAT.read(_whatsapp(path))),
        "priming_formats.whatsapp",
    ),
    _reader("export", _file(lambda path: export._read(path).rows), "transfer.export"),
    _reader(
        "pack",
        _file(lambda path: pack_file.read_pack(_raw(path, _pack(path.read_text("utf-8")))) and ()),
        "rules.pack_file",
    ),
    _reader("raw pack", _file(lambda path: pack_file.read_pack(path) and ()), "rules.pack_file"),
    _reader("source of a pack", pack_file.pack_of, "rules.pack_file"),
    _reader("body", lambda text: responses.parse_body(_bytes(text), 64, 1000), "core.arguments.checks"),
    _reader(
        "size of JSON", lambda text: checks.check_json("body", _bytes(text), 100), "core.arguments.checks"
    ),
    _reader(
        "size of MessagePack",
        lambda text: ethos.check_messagepack("body", _bytes(text), depth=64, values=1 << 30),
        "priming_server.ethos.socket",
    ),
    _reader("complexity of an objective", loop_context.complexity, "priming_loop.context"),
    _reader("objective", session.plain_objective, "priming_loop.session"),
    _reader("file of tests", codebase.tests_in, "priming_loop.codebase"),
    _reader("output of a terminal", lambda text: knowledge.plain(text), "priming_loop.knowledge"),
    _reader(
        "path of a plan",
        lambda text: (paths.is_rooted(text), paths.project_path("path", text)),
        "priming_loop.gates.paths",
    ),
)


def _values(text: str) -> list[str]:
    """A text as values of a condition."""
    return [text[at : at + 500] for at in range(0, len(text), 500)]


def _written(path: Path, value: Any) -> Path:
    return _raw(path, json.dumps(value))


def _raw(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8", errors="replace")
    return path


OF_OUR_OWN = {
    "priming.verbs.op": "docstrings of its own",
    "priming_agents.setup.work": "the settings of the user's own folder",
    "priming_lab.rivals": "output of benchmarks",
    "priming_lab.sets": "names of sets",
    "priming.cli.doctor": "requirements of installed packages",
    "priming.cli.groups.graph": "a drawing of its own",
    "priming_agents.setup.commands": "quotes for a shell",
    "priming.config.ids": "ids, matched whole",
    "priming.config.settings_files": "settings of its user",
    "priming.llm.json_schema": "patterns of schemas of its own",
    "priming.embedding.endpoint": "answers of the model that its user chose",
    "priming.embedding.wordllama": "its weights",
    "priming.errors": "its own violations, each anchored at the end",
    "priming_agents.client": "input of the agent, limited in bytes",
    "priming_agents.session": "state of its own",
    "priming_agents.setup.clients": "versions that programs print",
    "priming_agents.teaching": "a queue of its own",
    "priming.index.snapshot": "snapshots of its own",
    "priming.llm.protocol": "schemas of its own",
    "priming.llm.agents": "the command, or answers of the model, that its user chose",
    "priming_loop.run": "quotes for a shell",
    "priming.mcp.stdio": "announcements of its own servers",
    "priming.mcp.tools": "its own file",
    "priming.operations.connection": "answers of its own server",
    "priming_server.ethos.actions": "its own violations",
    "priming_server.fleet.journal": "its own record of a run",
    "priming_server.fleet.plan": "patterns that its user chose",
    "priming.recall.task_files": "keys, matched at the end",
    "priming.recall.traces": "traces of its own",
    "priming_server.access.auth": "ids of requests, matched whole",
    "priming_server.openapi": "its own page",
    "priming.storage.copies": "names of its own files",
    "priming.storage.sql.walk": "rows of its own database",
    "priming.storage.sql.kinds": "rows of its own",
    "priming.storage.sql.tables": "keys, as literals",
    "priming.storage.rows": "rows of its own",
    "priming.storage.sql.writer": "sessions of its own",
    "priming.transfer.following": "lines of its own",
    "priming_server.postgres.dialect": "statements of its own",
    "priming_server.postgres.migrations.runner": "migrations of its own",
    "priming_server.postgres.schema": "migrations of its own",
    "priming_server.postgres.translation": "errors of the database that its user chose",
}
"""Modules that parse, and what they parse instead of what others wrote without a limit."""
