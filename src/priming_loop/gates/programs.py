"""What the programs of a command would do: what removes, overwrites, publishes, sends, ends processes, or hides."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from priming_loop.gates.paths import PRECIOUS, SECRET, fits, is_temporary, place_of
from priming_loop.gates.shell import Command, ShellWord, UnreadableCommand, read_commands

_DEPTH, _LONGEST, _MOST_READ = 6, 16_384, 65_536


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DATA = _words(
    "echo printf test [ [[ true false : grep egrep fgrep rg ls cat head tail wc diff cmp stat file jq uniq "
    "cut tr cd basename dirname realpath readlink pwd which type sleep date seq expr read exit return set "
    "shift unset pytest export local declare readonly typeset break continue wait umask"
)
"""Programs whose words are data, and which change nothing."""
_LOOKS = frozenset(("test", "[", "[[", "ls", "stat", "file", "echo", "printf", "cd"))
"""Programs that show nothing of the files that they are given."""
_DESTROYS = _words(
    "rm rmdir unlink shred srm dd mkswap wipefs fdisk sfdisk parted truncate kill killall pkill skill "
    "shutdown reboot halt poweroff sudo doas su pkexec chown chgrp mv dropdb rimraf trash del erase ssh scp "
    "sftp rsync rclone nc ncat crontab mount umount twine fuser ed ex vi vim nvim emacs nano"
)
_VERBS = _words(
    "allow apply clean clear delete deploy destroy distclean down downgrade drain drop erase flush flushall "
    "flushdb force  kill merge prune publish purge push release remove reset restore resume revert rm "
    "rollback shutdown stop terminate truncate uninstall unpublish upload wipe yank yes restart rmi"
)
"""What a program must not be told to do unasked, as a subcommand, a target or an option."""
_GIT = re.compile(
    r"(?:status|diff|log|show|ls-files|ls-tree|rev-parse|rev-list|grep|blame|describe|cat-file|check-ignore|version"
    r"|check-attr|merge-base|name-rev|shortlog|for-each-ref|show-ref|fsck|count-objects|diff-tree|diff-index|diff-files"
    r"|(?:stash|worktree|submodule|notes) (?:list|show|status)|(?:branch|tag) (?:-l|--list|--contains|--show-current)"
    r"|config (?:--get|--list|-l)|remote(?: -v)?$)(?: |$)"
)
"""What git does without changing anything."""
_KINDS = {
    "git": re.compile("git"),
    "find": re.compile("find"),
    "builtin": re.compile("eval|trap|alias"),
    "shell": re.compile(r"(?:ba|da|z|k|mk|a|c|tc|fi|pw)?sh|busybox|toybox|cmd"),
    "source": re.compile(r"source|\."),
    "interpreter": re.compile(
        r"(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|[gmn]?awk|osascript|tclsh|Rscript|julia)[\d.]*w?"
    ),
    "database": re.compile(r"psql|mysql|mariadb|sqlite3|duckdb|mongo(?:sh)?|redis-cli|sqlcmd"),
    "editor": re.compile("sed|sort"),
    "archive": re.compile("tar|unzip"),
    "client": re.compile("curl|wget|http|xh"),
}
"""Programs that are read in a way of their own."""
_STEERING = _words("PATH LD_PRELOAD BASH_ENV ENV IFS PYTHONSTARTUP GIT_DIR")
"""Variables that change what a command is."""
_RUN_OTHERS = ("git", "find", "shell", "interpreter")
_SPACED = re.compile(r"[\s;|&`]")
_HIDDEN = "runs what only the run would show"
_CODE = re.compile(
    r"\b(?:rmtree|unlink\w*|rmdir\w*|remove\w*|rmSync|rm_rf?|system|popen\d?|Popen|subprocess|exec\w*|eval"
    r"|spawn\w*|child_process|kill\w*|truncate|renames?|replace_file|write(?:File\w*|_text|_bytes)|appendFile\w*"
    r"|chmod|chown|getattr|__import__|import_module|importlib|globals|locals|vars|__dict__|__builtins__|compile"
    r"|b64decode|a2b_\w+|fromhex|unhexlify|ctypes|pty|FileUtils|delete|fork|qx)\b"
    r"|[`]|,\s*(?:mode\s*=\s*)?b?[\"'][rb]*[wax][tb+]*[\"']|[>|]\s*\"|\\x"
)
"""Words of inline code that may remove, overwrite or run something, or hide which word it is."""
_WRITES = _words("cp ln tee install touch mkdir chmod patch tar unzip")
_TAKES_CODE = re.compile(r"-\w*[ceErp]|--(?:eval|print|execute|command)")
_IN_PLACE = re.compile(r"-(?!-)[a-zA-Z]*i.*|--in-place.*|inplace")
_SENDS = re.compile(
    r"-d.*|--data.*|-T.*|-F.*|--form.*|--post.*|--upload.*|-O|-o.*|--output.*|-X|(?i:post|put|patch)"
)
_SAFE_TARGETS = re.compile(r"/dev/(?:null|stdout|stderr|tty|fd/\d+)")


class Script:
    """What commands would do in a folder; ``depth``: how many scripts this one is within."""

    def __init__(self, folder: Path, depth: int = 0) -> None:
        self.folder, self.depth = folder, depth

    def reasons(self, text: str, *, is_code: bool = True) -> Iterator[str]:
        """Why a person must say yes to what a shell reads; nothing if it may be no code and cannot be read."""
        if self.depth > _DEPTH or len(text) > _LONGEST:
            yield "is nested too deep, or too long, to be read"
            return
        try:
            commands = read_commands(text)
        except (UnreadableCommand, RecursionError) as error:
            if is_code:
                yield f"cannot be read: {error}"
            return
        self.is_alone, self.is_code = len(commands) == 1, is_code
        for command in commands:
            yield from self._command(command)

    def _command(self, command: Command) -> Iterator[str]:
        yield from self._surroundings(command)
        if not command.words:
            return
        first, *rest = command.words
        if not first.is_sure:
            yield from ["runs a program that only the run would show"] if self.is_code else []
            return
        names = {_name(first.text), *self._resolved(first.text)}
        name = _name(first.text)
        if name == "cd" and rest and rest[-1].is_sure:
            self.folder = self.folder / Path(rest[-1].text).expanduser()
        yield from self._paths(name, rest)
        if names & _DATA and not self._is_own(first.text):
            return
        words = [word.text for word in rest]
        for each in sorted(names):
            yield from self._program(each, words, command)
        yield from self._contents(first.text, is_alone=self.is_alone)
        if not names & {"git", "find"}:
            yield from self._arguments(rest)

    def _surroundings(self, command: Command) -> Iterator[str]:
        """What the redirections and the variables of a command do."""
        for operator, target in command.written:
            yield from self._overwrites(target, is_added=operator.endswith(">>"))
        if _STEERING & command.sets.keys():
            yield "changes which programs are meant"
        for value in command.sets.values():
            if _SPACED.search(value):
                yield from self._inner(value.lstrip("|!() "), is_code=False)

    def _program(self, name: str, words: Sequence[str], command: Command) -> Iterator[str]:
        """What a program of its own kind does."""
        if name in _DESTROYS or name.startswith("mkfs"):
            yield f"contains {name!r}"
        kind = next((kind for kind, names in _KINDS.items() if names.fullmatch(name)), None)
        if kind is not None:
            yield from getattr(self, f"_{kind}")(name, words, command)
        if name in _WRITES:
            yield from self._targets(name, command.words[1:])
        if kind not in ("git", "find"):
            yield from _subcommands(name, words, is_text=self.depth > 0)

    def _git(self, _name: str, words: Sequence[str], _command: Command) -> Iterator[str]:
        shown = re.sub(r"^(?:-C \S+ |--no-pager |-P )*", "", " ".join(words))
        if not _GIT.match(shown) or re.search(
            r"(?:^| )(?:-O|--output|--open-files-in-pager|--ext-diff)", shown
        ):
            yield f"runs {'git ' + shown[:40].strip()!r}"

    def _find(self, _name: str, words: Sequence[str], _command: Command) -> Iterator[str]:
        for at, word in enumerate(words):
            if word == "-delete" or word.startswith("-fprint"):
                yield f"runs 'find {word}'"
            elif word.startswith(("-exec", "-ok")):
                yield from self._suffix(words[at + 1 :])

    def _builtin(self, _name: str, words: Sequence[str], command: Command) -> Iterator[str]:
        if not all(word.is_sure for word in command.words):
            yield _HIDDEN
        yield from self._inner(re.sub(r"^\w+=", "", " ".join(words)))

    def _database(self, name: str, words: Sequence[str], command: Command) -> Iterator[str]:
        text = command.text if command.source is None else self._read(command.source)
        if command.is_piped or (command.source is not None and text is None):
            yield _HIDDEN
        elif re.search(
            r"\b(?:drop|delete|truncate|flush|remove)", f"{text} {' '.join(words)}", re.IGNORECASE
        ):
            yield f"deletes by {name!r}"

    def _editor(self, name: str, words: Sequence[str], _command: Command) -> Iterator[str]:
        if any((_SENDS if name == "sort" else _IN_PLACE).fullmatch(word) for word in words):
            yield f"changes files in place by {name!r}"

    def _archive(self, name: str, words: Sequence[str], _command: Command) -> Iterator[str]:
        unpacks = r"-?[a-zA-Z]*x[a-zA-Z]*|--extract|--get" if name == "tar" else r"(?!-[ltZzp]).*"
        if words and any(re.fullmatch(unpacks, word) for word in words[: 1 if name == "unzip" else None]):
            yield f"unpacks by {name!r} over what is there"

    def _client(self, name: str, words: Sequence[str], _command: Command) -> Iterator[str]:
        targets = zip(words, (*words[1:], ""), strict=True)
        if any(_SENDS.fullmatch(word) and not _SAFE_TARGETS.fullmatch(target) for word, target in targets):
            yield f"sends or stores something by {name!r}"

    def _source(self, name: str, words: Sequence[str], command: Command) -> Iterator[str]:
        yield from self._shell(name, words, command)

    def _shell(self, name: str, words: Sequence[str], command: Command) -> Iterator[str]:
        if not all(word.is_sure for word in command.words):
            yield _HIDDEN
        scripts = [word for word in words if not word.startswith(("-", "+"))]
        takes_text = any(re.fullmatch(r"-\w*c\w*", word) for word in words)
        if takes_text or name in ("busybox", "toybox", "cmd"):
            for word in scripts:
                yield from self._inner(word)
        elif scripts:
            yield from self._contents(scripts[0], is_alone=False, is_script=True)
        elif command.text is not None:
            yield from self._inner(command.text)
        elif command.source is not None:
            text = self._read(command.source)
            yield from ["runs a file that cannot be read"] if text is None else self._inner(text)
        elif command.is_piped:
            yield _HIDDEN

    def _interpreter(self, name: str, words: Sequence[str], command: Command) -> Iterator[str]:
        unsure = any(not word.is_sure for word in command.words[1:])
        file = next((word for word in command.words[1:] if not word.text.startswith("-")), None)
        if file is not None and not file.is_sure and "-m" not in words:
            yield _HIDDEN
        code = [
            word
            for at, word in enumerate(words)
            if re.search(r"[^\w./:=@%+,~^{}-]", word) or (at and _TAKES_CODE.fullmatch(words[at - 1]))
        ]
        code += [command.text] if command.text is not None else []
        if (any(map(_TAKES_CODE.fullmatch, words)) and unsure) or (
            command.is_piped and command.text is None and not any(not w.startswith("-") for w in words)
        ):
            yield "runs code that only the run would show"
        if any(_CODE.search(text) or _DESTROYS & set(re.findall(r"\w+", text)) for text in code):
            yield f"runs code by {name!r} that may remove or overwrite something, or run something else"
        is_edited = any(re.fullmatch(r"-[pnwl0]*i.*", word) for word in words)
        if name.startswith(("perl", "ruby", "gawk")) and is_edited:
            yield f"changes files in place by {name!r}"

    def _arguments(self, words: Sequence[ShellWord]) -> Iterator[str]:
        """What the arguments of a program that runs others may run."""
        texts = [word.text for word in words]
        for at, text in enumerate(texts):
            name = _name(text)
            if name in _DESTROYS or name.startswith("mkfs.") or self._resolved(text) & _DESTROYS:
                yield f"contains {name!r}"
            elif texts[at + 1 :] and any(_KINDS[kind].fullmatch(name) for kind in _RUN_OTHERS):
                yield from self._suffix(texts[at:])
            elif _SPACED.search(text):
                yield from self._inner(re.sub(r"^(?:[\w.-]+=)+", "", text).removeprefix("!"), is_code=False)
            elif os.access(self.folder / text, os.X_OK):
                yield from self._contents(text, is_alone=True)

    def _suffix(self, words: Sequence[str]) -> Iterator[str]:
        if self.depth < _DEPTH:
            nested = Script(self.folder, self.depth + 1)
            nested.is_alone, nested.is_code = False, True
            yield from nested._command(Command([ShellWord(word) for word in words]))

    def _inner(self, text: str, *, is_code: bool = True) -> Iterator[str]:
        yield from Script(self.folder, self.depth + 1).reasons(text, is_code=is_code)

    def _contents(self, program: str, *, is_alone: bool, is_script: bool = False) -> Iterator[str]:
        """What a script in the folder contains, if a shell runs it."""
        if not is_script and "/" not in program:
            return
        path = self.folder / Path(program).expanduser()
        if not path.is_file():
            if not is_alone and (self.is_code or is_script):
                yield f"runs {program}, which is not there to be read"
            return
        text = self._read(ShellWord(program))
        if text is None:
            if is_script:
                yield f"runs {program}, which cannot be read"
        elif is_script or re.match(r"#!.*\b(?:ba|da|z|k)?sh\b", text) or not text.startswith("#!"):
            yield from Script(self.folder, self.depth + 1).reasons(text, is_code=is_script)

    def _read(self, word: ShellWord) -> str | None:
        try:
            with (self.folder / Path(word.text).expanduser()).open("rb") as file:
                data = file.read(_MOST_READ + 1)
        except (OSError, ValueError, RuntimeError):
            return None
        is_text = word.is_sure and b"\x00" not in data and len(data) <= _MOST_READ
        return data.decode("utf-8", "replace") if is_text else None

    def _paths(self, name: str, words: Sequence[ShellWord]) -> Iterator[str]:
        """Files that open doors, which no program may show or change unasked."""
        for word in words if name not in _LOOKS else ():
            path = word.text.rpartition("=")[2] if word.text.startswith("-") else word.text
            if fits(path, SECRET) or fits(place_of(path, self.folder) or "", SECRET):
                yield f"concerns {path}"

    def _overwrites(self, target: ShellWord, *, is_added: bool = False) -> Iterator[str]:
        """What writing a file would destroy."""
        if _SAFE_TARGETS.fullmatch(target.text):
            return
        if not target.is_sure:
            yield "writes a file that only the run would show"
            return
        path = self.folder / Path(target.text).expanduser()
        is_inside = place_of(target.text, self.folder) is not None or is_temporary(path)
        if not is_inside or fits(target.text, PRECIOUS):
            yield f"writes {target.text}"
        elif not is_added and path.is_file() and path.stat().st_size:
            yield f"overwrites {target.text}"

    def _targets(self, name: str, words: Sequence[ShellWord]) -> Iterator[str]:
        files = [word for word in words if not word.text.startswith("-")]
        if name == "ln" and any(re.fullmatch(r"-\w*f\w*|--force", word.text) for word in words):
            yield "replaces what is there by 'ln'"
        if name in ("cp", "ln", "install") and len(files) > 1:
            yield from self._overwrites(files[-1])
            files = files[:-1] if name == "ln" else []
        elif name == "tee":
            for word in files:
                yield from self._overwrites(word, is_added=any(w.text in ("-a", "--append") for w in words))
        elif name in ("touch", "mkdir", "chmod", "patch", "tar", "unzip"):
            for word in files:
                if "/" in word.text or word.text.startswith(("~", "..")):
                    yield from self._overwrites(word, is_added=True)

    def _is_own(self, program: str) -> bool:
        """Whether a program with the name of another is a file of the project."""
        return "/" in program and place_of(program, self.folder) is not None

    def _resolved(self, program: str) -> set[str]:
        """The name of what a program in the folder is a link to."""
        if "/" not in program:
            return set()
        try:
            return {(self.folder / Path(program).expanduser()).resolve().name}
        except (OSError, RuntimeError, ValueError):
            return set()


def _subcommands(name: str, words: Sequence[str], *, is_text: bool) -> Iterator[str]:
    """What a program is told to do by its subcommand, its target or an option; a text may be of another language."""
    subcommands = [word for word in words if not word.startswith("-") and not re.search(r"[/.\s]", word)][:4]
    options = [word.partition("=")[0] for word in words if word.startswith("-")]
    options = [word for word in options if word != "--release"]
    for word in (*([name] if is_text else []), *subcommands, *options):
        if _VERBS & set(re.split(r"[-:]", word.casefold())):
            yield f"runs {name if word == name else f'{name} {word}'!r}"


def _name(program: str) -> str:
    return re.split(r"[/\\]", program)[-1].casefold().removesuffix(".exe")
