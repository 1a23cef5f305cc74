"""The commands that are known to be harmless: programs that only look, test or build, with options that do no more.

A line is a list of beginnings of commands, and what may follow them: ``any`` words; any but what may be a secret,
where files are ``shown``, or folders too are ``compared``, or ``searched``, unless they are only counted or named; or
these options only, with words that are ``data``, with ``files`` of the folder, with ``tests``, which are no other
files, with one or more ``targets`` that by their names test or build, or with another ``command``; ``options`` stand
alone. An option that writes a file, or runs what it names, is in no line.
"""

from __future__ import annotations

import re

from priming.config.values import dataclass

_TABLE = """
true, false, :, echo, ls, stat, basename, dirname, pwd, which, type, seq, sleep, exit, break, continue, id, uname, \
whoami, nproc, df = any
wc, grep, egrep, fgrep = searched
diff = compared
cat, head, tail, cut, cmp, nl, jq, tr, du, comm, paste, rev, tac, od, strings, realpath, \
readlink, cksum, md5sum, sha1sum, sha256sum = shown
test, [ = data ! ( ) -e -f -d -s -r -w -x -L -h -n -z -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o -p -S
printf = data
command -v = files
set = options -e -u -x -o pipefail
uniq = options -c -d -u -i
sort = files -u -n -r -k -t -f -V
file = files -b -i
find = files -name -iname -path -type -maxdepth -mindepth -print -print0 -newer -size -empty -not -o -a -prune -quit
rg = searched -n -i -l -q -c -w -F -e -g -t -v -A -B -C --type --glob --files --count --quiet
nice, timeout, uv run, poetry run, pipenv run, pdm run, bundle exec = command -n
xargs = command -0 -r -n

git status, git diff, git log, git show, git ls-files, git ls-tree, git rev-parse, git rev-list, git grep, \
git blame, git describe, git cat-file, git merge-base, git check-ignore, git diff-index, git diff-tree, \
git show-ref, git config --get = files -- --exit-code --quiet --stat --shortstat --numstat --name-only \
--name-status --check --cached --staged --porcelain --short --branch --oneline --format --pretty --graph --all \
--since --author --grep --decorate --others --exclude-standard --error-unmatch --verify --abbrev-ref \
--show-toplevel --is-ancestor --tags --count --no-color -1 -n -p -q -s -t -e -z -m -d -o -i -l -w -E -F -U
git branch, git tag, git remote, git stash list, git worktree list, git submodule status, git config --list = \
options -l --list -v -a -r --show-current

pytest, py.test, python -m pytest, coverage run -m pytest, python -m coverage run -m pytest = tests -q -v -x -s -l \
-k -m -n -r -a -A --quiet --verbose --exitfirst --lf --ff --maxfail --tb --durations --color --no-header --co \
--collect-only --strict-markers --disable-warnings --no-cov --cov --cov-branch --cov-fail-under --cov-report=term \
--cov-report=term-missing --timeout --deselect --ignore --runxfail --showlocals \
-p=no:cacheprovider
python -m unittest = tests -v -q -f -b -s -p -t -k
python -m py_compile, python -m compileall = files -q -f -b
mypy, python -m mypy, pyright, npx pyright = files --strict -p -m --pretty --no-error-summary \
--ignore-missing-imports --python-version --show-error-codes
ruff check, python -m ruff check, flake8, python -m flake8, pylint, python -m pylint, pyflakes, pycodestyle, bandit \
= files --select --ignore --extend-select --exclude --no-fix --no-cache --diff --preview --statistics --count \
--max-line-length --disable --enable --errors-only --output-format -q --quiet -r -E -j
ruff format --check, python -m ruff format --check, black --check, python -m black --check, isort --check, \
isort --check-only, python -m isort --check = files --diff -q --quiet --no-cache --line-length --profile -l
coverage report, python -m coverage report = options -m --show-missing --skip-covered --fail-under
tox, nox = targets -q -e -s -p
pip check, pip list, pip freeze, python -m pip check, python -m pip list, uv lock --check, poetry check = options -q

npm test, npm t, jest, npx jest, vitest run, npx vitest run, mocha, npx mocha, playwright test, \
npx playwright test = tests -- -s --silent --ci --runInBand --verbose --bail --run --grep -g -t -i --passWithNoTests \
--watch=false --watchAll=false --no-color
npm run, npm run-script, yarn run, pnpm, pnpm run, bun run = targets -s --silent --if-present
yarn test, yarn lint, yarn build, yarn typecheck = options -s --silent
tsc --noEmit, npx tsc --noEmit = files -p --project --strict --skipLibCheck --pretty
eslint, npx eslint, stylelint, npx stylelint, biome ci, biome lint, npx biome ci, npx biome lint, prettier --check, \
npx prettier --check = files --max-warnings --ext --quiet --report-unused-disable-directives --no-color
node --test = tests
node --check, node -c, ruby -c = files

go test, go vet, go build, go list, go version, go mod verify, golangci-lint run, staticcheck, gofmt -l, gofmt -d = \
files -v -race -run -count -cover -short -bench -benchmem -timeout -tags -failfast -parallel -json -p -m -s -e \
--timeout
cargo test, cargo check, cargo build, cargo clippy, cargo doc, cargo bench, cargo tree, cargo nextest run = files -- \
--release --all --workspace -p --package --lib --bins --bin --tests --test --all-targets --all-features --features \
--no-default-features --locked --offline --frozen -q --quiet -v -j --no-run --no-deps --no-fail-fast --nocapture \
--test-threads -D -W -A -Dwarnings
cargo fmt --check, cargo fmt -- --check, cargo fmt --all -- --check, cargo fmt --all --check, rustfmt --check = files
mvn, ./mvnw, gradle, ./gradlew, sbt, lein = targets -q -B -o -i -ntp -T -DskipTests -Dtest --batch-mode --no-daemon \
--offline --info --stacktrace --console --continue --parallel --quiet --no-transfer-progress
dotnet test, dotnet build, dotnet format --verify-no-changes = files --no-restore --no-build -c --configuration -v \
--verbosity --filter --nologo
rspec, bin/rspec, rails test, bin/rails test = tests -f --format -e --tag --order --seed --fail-fast
rubocop = files -f --format --fail-fast --parallel
phpstan analyse, composer validate, php -l = files --level --no-progress --strict
phpunit, pest, composer test, php artisan test = tests --filter \
--testsuite --stop-on-failure --no-coverage --testdox
mix test, mix compile, mix credo, mix dialyzer, mix format --check-formatted = files --warnings-as-errors --trace \
--stale --failed --only --exclude --seed --strict
make, gmake, ninja, just, task, rake, bin/rake, zig build = targets -j -k -s -n --silent --quiet --no-print-directory
meson compile = targets -C -j -v
ctest, cmake --build, meson test = files --output-on-failure -j -R -E -L -V -C -v --test-dir \
--parallel --config
dart test, flutter test, deno test, bun test, crystal spec = tests -v -x --parallel --filter
swift test, swift build, dart analyze, flutter analyze, zig fmt --check, \
cabal test, cabal build, stack test, stack build, deno lint, deno check, dune build, dune test, \
gleam test, terraform validate, terraform fmt -check, helm lint, shellcheck, yamllint, hadolint, \
actionlint, tflint, docker ps, docker images, docker compose ps = files -v -q -x -s --parallel --filter --strict \
--release
python --version, python -V, node --version, node -v, npm --version, go version, cargo --version, rustc --version, \
java -version, java --version, ruby --version, php --version, git --version, make --version = options
"""
TARGET = re.compile(
    r"(?:(?:tests?|units?|integration|e2e|spec|check|lint|types?|typecheck|build|compile|verify|validate|coverage"
    r"|cov|all|fast|quick|slow|mypy|ruff|eslint|py[0-9]*|js|ts|css|docs?)(?:[:_-](?!$)|$))+"
)
"""A target, or several words of such, that tests or builds."""
SETS = re.compile(
    r"(?:CI|NO_COLOR|FORCE_COLOR|RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONHASHSEED|TZ|LANG|LC_ALL"
    r"|CGO_ENABLED|COLUMNS|DEBUG)=[\w.:/+-]*|(?:NODE|RAILS|RACK|MIX|APP|FLASK)_ENV=test",
    re.ASCII,
)
"""A variable that may be set for a program."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What may follow a beginning of a command."""

    kind: str
    words: frozenset[str]

    def names(self, word: str) -> bool:
        """Whether a word is one of the rule's options, or several of one letter each, or one with a value."""
        if word in self.words or word.partition("=")[0] in self.words:
            return True
        letters = word[1:] if word.startswith("-") else ""
        return (
            letters.isascii()
            and letters.isalnum()
            and all(letter.isdigit() or f"-{letter}" in self.words for letter in letters)
        )


def _rules() -> dict[tuple[str, ...], Rule]:
    rules = {}
    for line in filter(None, _TABLE.splitlines()):
        beginnings, _, allowed = line.partition(" = ")
        kind, *words = allowed.split()
        rule = Rule(kind, frozenset(words))
        rules.update({tuple(beginning.split()): rule for beginning in beginnings.split(", ")})
    return rules


RULES = _rules()
LONGEST = max(map(len, RULES))
"""The most words of a beginning."""
BLIND = frozenset(
    words[0] for words, rule in RULES.items() if rule.kind in ("any", "shown", "compared", "searched", "data")
)
"""Programs that take almost any word, as nothing else of their names does."""
