"""The guard: what a task may touch and what its command would run, before either happens.

A path outside the folder is refused. What is known to be harmless runs. A person must say yes to everything else,
once in a session, and to files that steer or open something. docs/loop.md has the table.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import partial
from glob import glob
from hashlib import blake2b, file_digest
from itertools import islice, takewhile
from pathlib import Path

from priming.config.values import dataclass
from priming.errors import ParamError
from priming.text.languages import code_language_of
from priming_loop.codebase import read, tests_in
from priming_loop.gates.harmless import BLIND, LONGEST, RULES, SETS, TARGET, Rule
from priming_loop.gates.paths import PRECIOUS, SECRET, fits, place_of, project_path
from priming_loop.gates.shell import UNKNOWN, Command, NotPlain, read_commands
from priming_loop.session import TaskPlan

_DEPTH, _LONGEST, _MOST_FOLDERS, _SHOWN, _MOST_MATCHES = 6, 4_096, 8, 120, 1_000
_SHELL = r"(?:(?:/usr)?/bin/)?(?:ba|da)?sh"
_SHELL_SCRIPT = re.compile(rf"#! ?(?:/usr/bin/env )?{_SHELL}(?: -[eux]+)?\n")
_SYSTEM = re.compile(r"(?:/usr)?/bin/")
_INSTALLED = re.compile(r"(?:\./)?(?:\.?venv/bin|node_modules/\.bin|vendor/bin)/")
"""Where the tools of a project are installed."""
_VERSIONED = re.compile(r"^(python|pip)[0-9.]+$")
_LOCAL = re.compile(r"[a-z_][a-z0-9_]*")
"""A variable of the shell alone, unless the environment has it."""
_COUNT = re.compile(r"[0-9.]+[smh]?")
_PLAIN = re.compile(r"-[chiIlLnoqrRsvwxEFGHP]+|--(?:in|ex)clude(?:-dir)?=.+")
"""Options of a search that take no other word: what follows is what is searched for, and where."""
_REVERSING = ("true", "false")
"""Words that some programs take for the value of the option before: "tsc --noEmit false" writes."""
_QUIET = re.compile(r"^-\w*[cqlL]")
"""Options by which a search only counts or names files."""
_RECURSIVE = re.compile(r"-\w*[rR]|--r|--de|.*recurse")


def checked_plan(plan: TaskPlan, folder: str) -> TaskPlan:
    """Return a plan whose paths are in the folder, links followed; ``ParamError`` for any other."""
    delta = tuple(dict.fromkeys(project_path("delta", path) for path in plan.delta))
    for path in delta if folder else ():
        if place_of(path, Path(folder)) is None:
            raise ParamError("delta", path, "leads out of the folder: name a file in it")
    return TaskPlan(plan.objective, delta, plan.verify)


def questions(plan: TaskPlan, folder: Path | str = ".") -> tuple[str, ...]:
    r"""Return what a person must say yes to before a task begins and before its gate runs; none if all is harmless.

    The same question again, for another task or attempt, is about the same.

    >>> questions(TaskPlan("Tidy up.", verify=r"cd build; r\m -r ."))
    ("its command is not known to be harmless: cd build; r\\m -r . (it runs 'rm -r .')",)
    >>> questions(TaskPlan("Mend it.", ("src/app.py",), "pytest -q tests/test_rm.py"))
    ()
    """
    result = []
    for path in plan.delta:
        place = place_of(path, Path(folder))
        if place is None:
            result.append(f"it concerns {path}, which is outside the folder")
        elif any(fits(name, PRECIOUS) for name in (path, place)):
            result.append(f"it is about {path}" + ("" if path.endswith(place) else f", which is {place}"))
    script = _Script([Path(folder)])
    doubts = "" if plan.verify is None else "; ".join(script.doubts(plan.verify))
    if doubts:
        details = "" if doubts == f"runs {plan.verify!r}" else f" (it {doubts})"
        if script.texts:  # a yes is to scripts as they are now
            details += f" ({blake2b(repr(script.texts).encode(), digest_size=4).hexdigest()})"
        result.append(f"its command is not known to be harmless: {plan.verify}{details}")
    return tuple(result)


@dataclass(slots=True)
class _Script:
    """What commands would run. ``folders`` are all in which they may: a ``cd`` may fail, or be that of a subshell.

    ``texts`` are the scripts of the folder that it runs; ``is_open`` is whether its own variables may hold anything.
    """

    folders: list[Path]
    texts: list[str] = field(default_factory=list)
    depth: int = 0
    is_open: bool = False

    def doubts(self, text: str) -> Iterator[str]:
        """Say what of a script is not known to be harmless."""
        if self.depth > _DEPTH or len(text) > _LONGEST:
            yield "is nested too deep, or too long, to be read"
            return
        try:
            commands = read_commands(text)
        except NotPlain as error:
            yield str(error)
            return
        self.is_open = self.is_open or any(map(_sets_what_is_unknown, commands))
        for command in commands:
            for each in command.sets:
                if not self._may_set(each, is_alone=not command.words):
                    yield f"sets {_shown([each])}"
            if command.words:
                yield from self._command(command.words)

    def _may_set(self, text: str, *, is_alone: bool) -> bool:
        name, _, value = text.partition("=")
        if name == "PYTHONPATH":
            return all(map(self._is_inside, value.split(":")))
        return bool(SETS.fullmatch(text)) or (is_alone and _is_local(name) and self._is_plain(value))

    def _is_plain(self, value: str) -> bool:
        """Tell whether the value of a variable is no option, and nothing that a shell would carry out or show."""
        return not (value.startswith("-") or set("[`$") & set(value) or self._is_secret(value))

    def _command(self, words: list[str]) -> Iterator[str]:
        if self._is_harmless(words):
            return
        script = self._script(words)
        if script is None:
            yield f"runs {_shown(words)}"
            return
        length = 3 if words[1:2] == ["-c"] else 1 + bool(re.fullmatch(_SHELL, words[0]))
        inner = _Script(self.folders, self.texts, self.depth + 1, is_open=len(words) > length)
        yield from (f"runs {_shown(words)}, which {doubt}" for doubt in inner.doubts(script))

    def _script(self, words: Sequence[str]) -> str | None:
        """Read what a shell is told to: the text after ``-c``, or a file of the folder, which may be the program."""
        first, *rest = words
        is_shell = re.fullmatch(_SHELL, first) is not None
        if is_shell and len(rest) == 2 and rest[0] == "-c" and UNKNOWN not in rest[1]:
            return rest[1]
        path = rest[0] if is_shell and rest else first
        if "/" not in path and not (is_shell and rest):  # a shell alone reads its input
            return None
        if not self._is_inside(path):
            return None
        files = [folder / path for folder in self.folders if (folder / path).is_file()]
        texts = [read(file, _LONGEST) if file.stat().st_size <= _LONGEST else "" for file in files]
        if is_shell or any(not text or _SHELL_SCRIPT.match(text) for text in texts):
            self.texts += [text or _digest(file) for file, text in zip(files, texts, strict=True)]
        if not texts or not all(text and (is_shell or _SHELL_SCRIPT.match(text)) for text in texts):
            return None
        return "\n".join(texts)

    def _is_harmless(self, words: list[str]) -> bool:
        first, *rest = words
        if first == "cd":
            return len(rest) == 1 and self._enter(rest[0])
        if first == "for":
            is_list = rest[1:2] in ([], ["in"]) and all(map(self._is_plain, rest[2:]))
            return is_list and bool(rest) and _is_local(rest[0])
        words = [self._program(first), *rest]
        for length in range(min(LONGEST, len(words)), 0, -1):
            rule = RULES.get(tuple(words[:length]))
            if rule is not None and self._admits(rule, words[length:], words[0]):
                return True
        return False

    def _admits(self, rule: Rule, words: list[str], program: str) -> bool:
        """Tell whether a rule lets these words follow."""
        if rule.kind == "any":
            return True
        if rule.kind in ("shown", "compared", "searched"):
            options = [word for word in words if word.startswith("-")] if rule.words else []
            is_shown = any(map(self._is_secret, words)) or self._may_show(rule, words)
            return all(map(rule.names, options)) and not is_shown
        if rule.kind == "command":
            while words and (rule.names(words[0]) or _COUNT.fullmatch(words[0])):
                words = words[1:]
            if program == "xargs":  # a file that it reads is among its words: it hands on what is in there
                words = [] if any(map(self._is_secret, words)) or not words else [*words, UNKNOWN]
            return bool(words) and self._is_harmless(words)
        is_named = rule.kind != "targets" or any(map(TARGET.fullmatch, words))
        return is_named and all(map(partial(self._may_follow, rule), words, [*words[1:], ""]))

    def _may_follow(self, rule: Rule, word: str, value: str) -> bool:
        if word.startswith("-") or rule.kind == "options":
            is_pair = f"{word}={value}" in rule.words
            return is_pair or (rule.names(word) and self._is_inside(word.partition("=")[2]))
        if rule.kind == "data":
            return "`" not in word and "$(" not in word and not (self.is_open and UNKNOWN in word)
        if rule.kind == "tests" and not self._is_test(word):
            return False
        if rule.kind == "targets":
            return bool(TARGET.fullmatch(word) or _COUNT.fullmatch(word))
        return self._is_inside(word)

    def _program(self, word: str) -> str:
        """Return the name under which the table has a program; a link to another program has none."""
        system, installed = _SYSTEM.match(word), _INSTALLED.match(word)
        place = system or installed
        name = _VERSIONED.sub(r"\1", word[place.end() :] if place else word)
        if system or "/" not in word:
            return name
        if word == sys.executable:
            return "python"
        is_own = self._is_inside(word) or all(_target(folder, word) == name for folder in self.folders)
        return UNKNOWN if not is_own or (installed and name in BLIND) else name

    def _enter(self, path: str) -> bool:
        """Go on in a folder too, if it is in the folder of the project."""
        if not self._is_inside(path) or 2 * len(self.folders) > _MOST_FOLDERS:
            return False
        self.folders = list(dict.fromkeys((*self.folders, *(folder / path for folder in self.folders))))
        return True

    def _is_inside(self, path: str) -> bool:
        """Tell whether a word is the path of a file in the folder that opens nothing, or no path and no option."""
        if UNKNOWN in path or path.startswith(("-", "@", "+")) or path.casefold() in _REVERSING:
            return False
        if _is_pattern(path) and self._is_secret(path):
            return False
        places = [place_of(path, folder) for folder in self.folders]
        return not any(
            place is None or fits(name, SECRET)
            for place in places
            for name in (path, path.rpartition(":")[2], place or "")
        )

    def _is_test(self, word: str) -> bool:
        """Tell whether a word names no file, or a test by its name: what runs tests runs any file that it is told."""
        path, parts = word.partition(":")[0], [] if "/" in word else word.split(".")
        modules = ["/".join(parts[:place]) for place in range(1, len(parts) + 1)]
        paths = [f"{module}{end}" for module in modules for end in ("/__init__.py", ".py")]
        is_name = _is_pattern(path) or self._is_file(path) or code_language_of(path) is not None
        own = [path] if is_name else []  # also one that is found elsewhere: "-s scripts -p deploy.py"
        return all(map(tests_in, [*own, *list(filter(self._is_file, paths))[-1:]]))

    def _is_file(self, path: str) -> bool:
        return any((folder / path).is_file() for folder in self.folders)

    def _may_show(self, rule: Rule, words: list[str]) -> bool:
        """Tell whether files that are not named, those of a folder or of the output of a command, may be secrets."""
        plain = list(takewhile(_PLAIN.fullmatch, words))
        rest = words[len(plain) :]
        if rule.kind == "searched" and any(map(_QUIET.search, plain)):
            return False
        places = rest if rule.kind == "compared" else []
        if rule.kind == "searched" and (rule.words or any(map(_RECURSIVE.match, words))):
            # What is searched for is first, and without a place it is the folder that is searched.
            is_plain = len(rest) > 1 and not any(word.startswith("-") for word in rest)
            places = rest[1:] if is_plain else [*rest, "."]
        return any(UNKNOWN in word for word in rest) or any(map(self._has_secrets, places))

    def _has_secrets(self, path: str) -> bool:
        """Tell whether a word is a folder in which a secret is, or more than can be looked through; or may be one."""
        if _is_pattern(path):
            path = re.split(r"[*?[]", path)[0].rpartition("/")[0] or "."
        for folder in self.folders if path else ():
            names = (
                os.path.relpath(os.path.join(root, name), folder)
                for root, inner, files in os.walk(folder / path)
                for name in (*inner, *files)
            )
            for number, name in enumerate(names):
                is_secret = fits(name, SECRET) or ((folder / name).is_symlink() and self._is_secret(name))
                if is_secret or number >= _MOST_MATCHES:
                    return True
        return False

    def _is_secret(self, word: str) -> bool:
        """Tell whether a word, after ``@`` one of arguments, is a file outside the folder or that opens something."""
        path = word.rpartition("=")[2] if word.startswith("-") else word.removeprefix("@")
        if path == "/" or fits(path, SECRET):
            return path != "/"
        if _is_pattern(path):
            matches = (
                match for folder in self.folders for match in glob(path, root_dir=folder, include_hidden=True)
            )
            return any(match != path and self._is_secret(match) for match in islice(matches, _MOST_MATCHES))
        for folder in self.folders:
            place = place_of(path, folder)
            if fits(place or "", SECRET) or (place is None and _exists(folder, path)):
                return True
        return False


def _sets_what_is_unknown(command: Command) -> bool:
    """Tell whether a variable of the shell gets what only the run would show."""
    sets = command.sets if not command.words else command.words[2:] if command.words[0] == "for" else []
    return any(UNKNOWN in each for each in sets)


def _is_pattern(path: str) -> bool:
    return bool(set("*?[") & set(path))


def _is_local(name: str) -> bool:
    return bool(_LOCAL.fullmatch(name)) and name not in os.environ


def _target(folder: Path, path: str) -> str:
    """Return the name of the file to which a path leads."""
    return _VERSIONED.sub(r"\1", Path(os.path.realpath(folder / path.replace(UNKNOWN, ""))).name)


def _exists(folder: Path, path: str) -> bool:
    try:
        return (folder / Path(path).expanduser()).exists()
    except (OSError, RuntimeError, ValueError):
        return False


def _digest(path: Path) -> str:
    """Return what tells a file from another that is not read."""
    try:
        with path.open("rb") as file:
            return file_digest(file, blake2b).hexdigest()
    except OSError:
        return ""


def _shown(words: Sequence[str]) -> str:
    text = " ".join(words).replace(UNKNOWN, "…")
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
