"""The current context, derived from what an agent does: file, language, task, environment, project, topic.

A memory is shown if it shares two words with the prompt, or one that is a name: the best of a bad set looks
good. The best for a question may share one: what a question is about is often said in a single word. Hooks store no
failures and their fixes: which command fixed which failure is a guess.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from priming.config import private_files
from priming.config.values import dataclass
from priming.text.languages import MANIFESTS, PROGRAMS
from priming.text.quotation import bracketed, read_line
from priming.text.tokens import STOP_WORDS, is_function_word
from priming.text.tokens import language_of as tongue_of
from priming_agents.limits import HOOK

CAPTURE = "capture"
"""The source of what is stored about sessions."""
_SCRIPT_TASKS = ("test", "build", "deploy", "release", "migrate", "lint", "format", "install", "publish")
"""Tasks that a script or a target names itself: ``make deploy``, ``./release.sh``."""
_READERS = ("git", "cat", "ls", "grep", "rg", "find", "echo", "cd", "less", "head", "tail", "sed")
"""Programs that only inspect, whatever words follow."""
_MAIN_BRANCHES = ("main", "master", "develop", "trunk")
_ENVIRONMENTS = {
    "production": re.compile(r"\b(?:prod|production)\b", re.IGNORECASE),
    "staging": re.compile(r"\bstaging\b", re.IGNORECASE),
}
_COMMAND_SEPARATOR = re.compile(r"&&|\|\||[;|\n]")
_COMMIT_ENTRY = re.compile(
    rb"^\w+ (\w{7})\w* [^\t\n]* (\d+) [+-]\d+\t(?:commit|cherry-pick|revert|am)\b[^:\n]*:?([^\n]*)",
    re.MULTILINE,
)
"""A commit in git's log of its HEAD: its hash, its time in seconds and its subject."""
_ALPHANUMERIC = re.compile(r"[^\W_]+")
_WRAPPERS = re.compile(
    r"^(?:\w+=\S*\s+|sudo\s+|time\s+|env\s+|(?:uv|poetry|pipenv|hatch|bundle)\s+(?:run|exec)\s+|npx\s+|bunx\s+"
    r"|\S*python[\d.]*\s+-m\s+)+"
)
_FOLDER = re.compile(r"^\S*/(?=[\w.-]+(?:\s|$))")
_TASK_WORDS = 3
"""How many words of a script's command line may name a task."""

_WORD = re.compile(r"[^\W_]+(?:[._/-][^\W_]+)*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff]{2,}")
_NAME = re.compile(r"\d|[._/]|[a-z][A-Z]|^[A-Z]{2,}$")
_BEST = 3
"""Number of sentences of a long text among which the words are that it shares with a prompt."""
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)$")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may be injected: its line of text, and the recall that returned it."""

    line: str
    memory: Mapping[str, Any]
    recall_id: str

    @property
    def is_name(self) -> bool:
        """Whether the line names a rule without a word of its text."""
        shown = read_line(self.line)
        return self.memory["kind"] == "behavior" and shown is not None and shown.text is None

    @property
    def is_constraint(self) -> bool:
        """Whether the line tells a constraint."""
        return self.line.startswith(f"- {bracketed(self.memory['key'])} constraint")


def languages_of(folder: Path) -> list[str]:
    """Return the languages that a project is written in, by the manifests in its folder."""
    return list(dict.fromkeys(language for name, language in MANIFESTS.items() if (folder / name).is_file()))


def languages_of_command(command: str) -> list[str]:
    """Return the languages of code that a command line works on, by its programs; none for programs of any language.

    >>> languages_of_command("cd app && python -m pytest -q"), languages_of_command("git commit -m 'go on'")
    (['python'], [])
    """
    programs = (_program(part.strip()) for part in _COMMAND_SEPARATOR.split(command))
    return list(dict.fromkeys(language for program in programs for language in PROGRAMS.get(program, ())))


@cache
def task_commands() -> Mapping[str, tuple[str, ...]]:
    """Return the commands that carry out each task, from ``tasks.txt``."""
    commands: dict[str, tuple[str, ...]] = {}
    for line in Path(__file__).with_name("tasks.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            task, _, listed = line.partition(": ")
            commands[task] = (*commands.get(task, ()), *listed.split(", "))
    return commands


def tasks_of(command: str) -> list[str]:
    """Return the tasks that a command line carries out; none for a command that only inspects.

    >>> tasks_of("cd app && python -m pytest -q && git commit -m done"), tasks_of("ls -la"), tasks_of("make deploy")
    (['test', 'commit'], [], ['deploy'])
    """
    tasks = (task for part in _COMMAND_SEPARATOR.split(command) for task in _tasks(part.strip()))
    return list(dict.fromkeys(tasks))


def environments_of(command: str) -> list[str]:
    """Return the environments that a command line names.

    >>> environments_of("./deploy.sh --env=prod")
    ['production']
    """
    return [name for name, pattern in _ENVIRONMENTS.items() if pattern.search(command)]


def project_of(folder: Path) -> Path:
    """Return the nearest folder, this one or one above, that has a repository or a store; else this one."""
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists() or (candidate / ".priming").is_dir():
            return candidate
    return folder


def branch_of(project: Path) -> str:
    """Return the words of the branch that a repository is on; nothing on a main branch or without a repository."""
    try:
        head = private_files.read_text(project / ".git" / "HEAD").strip()
    except (OSError, ValueError):
        return ""
    name = head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else ""
    return "" if name in _MAIN_BRANCHES else " ".join(_ALPHANUMERIC.findall(name))


def repositories_of(command: str, folder: Path) -> list[Path]:
    """Return the git folders of repositories that a command line may commit in: of the folder, and those it names."""
    folders, here = [folder], folder
    for part in _COMMAND_SEPARATOR.split(command):
        try:
            words = shlex.split(part)
        except ValueError:  # a quotation goes over the separator
            words = part.split()
        if words[:1] in (["cd"], ["pushd"]) and len(words) > 1:
            here = here / Path(words[1]).expanduser()
            folders.append(here)
        folders += [here / Path(after).expanduser() for word, after in pairwise(words) if word == "-C"]
    return list(dict.fromkeys(git for each in folders if (git := _git_folder(each)) is not None))


def note_logs(command: str, folder: Path, logs: dict[str, int]) -> None:
    """Note in ``logs`` where git's log ends in each repository that a command may commit in, if that is not noted."""
    for git in repositories_of(command, folder):
        logs.setdefault(str(git), _log_end(git))


def new_commits(command: str, folder: Path, logs: dict[str, int], since: float) -> list[str]:
    """Return the commits of a command, by git's log after the end that is noted in ``logs``; notes the new end.

    Where no end is noted, a commit since a time counts, for a command that says it commits.
    """
    committed = list[str]()
    for git in repositories_of(command, folder) if command else ():
        if (start := logs.get(str(git))) is not None:
            committed += _commits(git, start)
        elif "commit" in tasks_of(command):
            committed += _commits(git, since=since)
        logs[str(git)] = _log_end(git)
    return committed


def _log_end(git: Path) -> int:
    """Return where git's log of what its HEAD was set to ends at present."""
    try:
        return _head_log(git).stat().st_size
    except OSError:
        return 0


def _commits(git: Path, start: int = 0, since: float = 0.0) -> list[str]:
    """Return the commits in git's log of its HEAD after ``start``, not before time ``since``: hash and subject."""
    try:
        with private_files.open_file(_head_log(git)) as log:
            log.seek(start)
            entries = _COMMIT_ENTRY.findall(log.read())
    except OSError:
        return []
    commits = [b" ".join((name, text.strip())) for name, at, text in entries if int(at) >= int(since)]
    return [commit.decode("utf-8", "replace") for commit in commits]


def _head_log(git: Path) -> Path:
    return git / "logs" / "HEAD"


def _git_folder(folder: Path) -> Path | None:
    """Return the folder in which git keeps the HEAD of the repository, or of the work tree, that a folder is in."""
    for candidate in (folder, *folder.parents):
        git = candidate / ".git"
        if git.is_dir():
            return git
        if git.is_file():
            with suppress(OSError, ValueError):
                return candidate / private_files.read_text(git).removeprefix("gitdir:").strip()
    return None


def project_paths(files: Iterable[str], folder: Path, project: Path) -> list[str]:
    """Return the files by their path from the project's folder; files outside it by their absolute path."""
    paths = (folder / file for file in files)
    return [
        (path.relative_to(project) if path.is_relative_to(project) else path).as_posix() for path in paths
    ]


def _unwrapped(part: str) -> str:
    """Return a command without the programs that only run it, and without the folder of its program."""
    return _FOLDER.sub("", _WRAPPERS.sub("", part))


def _program(part: str) -> str:
    """Return the program of a single command."""
    return next(iter(_unwrapped(part).split()), "")


def _tasks(part: str) -> list[str]:
    """Return the tasks of a single command: by the longest entry of the table, else by the name of a script."""
    command = _unwrapped(part)
    table = task_commands()
    entries = (entry for commands in table.values() for entry in commands if _starts_with(command, entry))
    longest = max(entries, key=len, default=None)
    if longest is not None:
        return [task for task, commands in table.items() if longest in commands]
    words_of_script = _ALPHANUMERIC.findall(" ".join(command.split()[:_TASK_WORDS]).lower())
    if not words_of_script or words_of_script[0] in _READERS:
        return []
    return [task for task in _SCRIPT_TASKS if task in words_of_script]


def _starts_with(command: str, entry: str) -> bool:
    return command == entry or command.startswith(f"{entry} ")


def is_on_topic(text: str, memory: Mapping[str, Any], min_words: int) -> bool:
    """Tell whether a memory shares enough words with a text, or a single name: similarity alone is too little.

    >>> tea = {"heading": None, "content": "The shop sells green tea."}
    >>> is_on_topic("which tea do shops sell?", tea, 2), is_on_topic("green light", tea, 2)
    (True, False)
    """
    memory_stems = stems(f"{memory['heading'] or ''} {memory['content']}")
    shared = {stem(word): word for word in words(text) if stem(word) in memory_stems}
    return len(shared) >= min_words or any(
        _NAME.search(word) and len(word) >= HOOK.name_letters for word in shared.values()
    )


def packed(
    recall: Mapping[str, Any], text: str, min_words: int, of_best: int, tokens: int
) -> tuple[str, list[Candidate]]:
    """Pack the hits of a recall that are on the topic of a text into the tokens: a header, and a line for each.

    The best needs ``of_best`` words. Those that would be a bare key are left out.
    """
    from priming.core.pack import pack
    from priming.recall.formatting import HEADER, packables
    from priming.results import Hit
    from priming.serialization import decode

    memories = {
        hit["memory"]["key"]: hit["memory"]
        for place, hit in enumerate(recall["hits"])
        if is_on_topic(text, _best_passage(hit), min_words if place else of_best)
    }
    hits = [hit for hit in decode(tuple[Hit, ...], recall["hits"]) if hit.memory.key in memories]
    entries = pack(packables(hits, tokens), tokens, header=HEADER, footer="\n").entries
    return HEADER.rstrip(), [
        Candidate(entry.text, memories[entry.key], recall["recall_id"])
        for entry in entries
        if entry.tier != "name"
    ]


def _best_passage(hit: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a hit's memory, of a long text only the sentences that answer best: in the whole any two words occur.

    The heading of a stored session says no more than its day: every one of them is a session.
    """
    memory, best = hit["memory"], hit["passages"][:_BEST]
    content = " ".join(memory["content"][start:end] for start, end in best) or memory["content"]
    heading = memory["heading"] or ""
    return {
        **memory,
        "content": content,
        "heading": heading.rpartition(" ")[2] if memory["source"] == CAPTURE else heading,
    }


def is_about(task: str, file: Mapping[str, Any], min_words: int) -> bool:
    """Tell whether a task names a file, or shares enough words with its path and the history that speaks for it.

    >>> pool = {"named": False, "path": "src/pool.py", "reasons": [{"gist": "Close idle connections"}]}
    >>> is_about("close the pool", pool, 2), is_about("close the window", pool, 2)
    (True, False)
    """
    history = " ".join(reason["gist"] for reason in file["reasons"])
    words_of_path = " ".join(_ALPHANUMERIC.findall(file["path"]))
    return file["named"] or is_on_topic(task, {"heading": words_of_path, "content": history}, min_words)


def stems(text: str) -> set[str]:
    """Return the stems of a text's words."""
    return {stem(word) for word in words(text)}


def words(text: str) -> list[str]:
    """Return the words of a text without function words; of scripts without spaces, the pairs of characters.

    >>> words("Why is core/dates.py slow?"), words("Warum ist der Dienst langsam?"), words("東京都")
    (['core/dates.py', 'slow'], ['Dienst', 'langsam'], ['東京', '京都'])
    """
    language = tongue_of(text) or "english"
    spaced = (word for word in _WORD.findall(_CJK.sub(" ", text)) if len(word) > 1)
    pairs = [run[i : i + 2] for run in _CJK.findall(text) for i in range(len(run) - 1)]
    return [word for word in spaced if not _says_nothing(word, language)] + pairs


def _says_nothing(word: str, language: str) -> bool:
    return word.lower() in STOP_WORDS or is_function_word(word, language)


def stem(word: str) -> str:
    """Return a word in lower case without its English ending."""
    return _ENDING.sub("", word.lower())


_REASON = re.compile(r'(?:(?<!\S)([0-9a-f]{7}) )?"(?:[^"\\]|\\.)*"')
"""A quotation, after the letters of a commit if it is a commit's."""


def without_repeats(lines: Iterable[str]) -> list[str]:
    """Return lines about files, in which each commit is quoted once and then named by its hash alone.

    >>> without_repeats(['- pool.py: 0b1c2d3 "Retry"', '- tests/pool.py: 0b1c2d3 "Retry"; 4e5f6a7 "Test"'])
    ['- pool.py: 0b1c2d3 "Retry"', '- tests/pool.py: 0b1c2d3; 4e5f6a7 "Test"']
    """
    quoted: set[str] = set()

    def shortened(reason: re.Match[str]) -> str:
        commit = reason[1]
        is_repeated = commit in quoted
        if commit:
            quoted.add(commit)
        return commit if is_repeated else reason[0]

    return [_REASON.sub(shortened, line) for line in lines]
