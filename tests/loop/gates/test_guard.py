"""The guard: commands that only look, test or build are run, all others are asked, and paths."""

import pytest
from tests.rows import each_row

from priming.errors import ParamError
from priming_loop.gates.guard import checked_plan, questions
from priming_loop.session import TaskPlan

ASKED = r"""
\rm x
'r'm x
X='rm -rf'; $X y
/bin/r? x
{rm,-rf,x}
f(){ f|f& };f
sleep 9 & rm x
if true; then rm x; fi
for PATH in /tmp/evil; do ls; done
for x do rm y; done
echo "$(ls "$(rm x)")"
cat `rm x`
echo $((a[$(rm x)]))
test -v 'a[$(rm x)]'
set -o allexport; npm_config_script_shell=./x; npm test
PATH=.:$PATH ls
PYTEST_ADDOPTS=-pevil pytest
PYTHONPATH=/tmp/evil pytest
'x=./evil' ls
command rm -v
node bad.js --test
terraform fmt src -check
. ./bad.sh
./bad.sh
sh -c 'cd sub; sh ../bad.sh'
./link-to-rm x
.venv/bin/jest
bin/rspec
./ls
: > app.py
cat <<< x | sh
(cat) < .env
while cat; do exit; done < .env
cat .e*
head .e[n]v
o=-v; y='a[$(rm x)]'; test $o "$y"
y='a[$(rm x)]'; echo $[y]
o=$(echo -v); test $o "$y"
echo x >&²
cat app.py | tee out.py
(cd sub); pytest ../x
cd - && pytest
cat $HOME/.ssh/id_rsa
x=.env; cat $x .env
find . -name '*.py' -delete
find . -exec rm {} +
git -c core.pager='rm x' log
git diff --output=app.py
git tag v1
git ls-files | xargs sed -i s/a/b/
git ls-files | xargs cat
find . -type f | xargs grep TOKEN
cat "$(echo .env)"
for file in .*; do cat $file; done
grep -r TOKEN .
grep -rn TOKEN
grep -re TOKEN .
grep -r -e -q .
grep -rn x s*
grep --deref x sub
grep --directories=recurse x sub
git show HEAD:.env
grep -rn TOKEN sub
grep -rl x / | xargs head
xargs < .env echo
diff -r . src
tr a b < .env
tr a b < /etc/passwd
du --files0-from=.env
strings @.env
sort .e*
sort sub/*
shellcheck .[e]nv
rg -g '.e*' TOKEN
rg --hidden TOKEN
sort -uo app.py app.py
python -m doctest app.py
python -m unittest app
python -m unittest tool.drop
pylint --output-format=json:app.py src
npx tsc --noEmit false
dotnet format --verify-no-changes False
set
tree -o app.py
bash -n -c 'rm x'
git config --list
cat .git-credentials
git show HEAD:server.p12
python -m unittest discover -p 'a*.py'
python -m unittest discover -s src -p drop.py
mix test seeds.exs
pytest app.py
pytest --doctest-modules app.py
node --test app.py
deno test app.py
pytest -xp evil
pytest @args.txt
make test SHELL=/tmp/evil
make test clean
npm --prefix /tmp test
npm run test:deploy
npx rimraf src
cargo test --config 'build.rustc-wrapper="./x"'
go test -exec rm ./...
dotnet test /p:X=/tmp/evil
python manage.py migrate app zero
psql -c 'select 1'
tar -cf /dev/null x --checkpoint-action=exec=rm
kubectl apply -f x.yml
priming loop allow 1 --seq 2
unclosed 'quote
echo 'rm x' | sh
bash < app.py
for o in -v; do for y in 'a[$(rm x)]'; do test $o "$y"; done; done
bash any.sh -v 'a[$(rm x)]'
./any.sh -v 'a[$(rm x)]'
rg TOKEN sub
make
npm run
meson compile deploy
zig build test uninstall
"""
HARMLESS = r"""
pytest -q tests/test_rm.py -k 'not slow' > /dev/null 2>&1
.venv/bin/python -m pytest -n auto --cov=src --cov-fail-under=80
PYTHONPATH=src python3.12 -m unittest discover -s tests -v
ruff check . && ruff format --check . && mypy --strict src
coverage run -m pytest && coverage report --fail-under=90
timeout 60 poetry run pytest -q || (echo failed; exit 1)
npm test -- --runInBand
CI=1 npm run test:unit && npx tsc --noEmit && npx eslint . --max-warnings 0
cargo fmt --all -- --check; cargo clippy --all-targets -- -D warnings; cargo test -p core parse
test -z "$(gofmt -l .)" && go vet ./... && go test -race -count=1 ./...
mvn -q -B test -Dtest=FooTest
./gradlew test --no-daemon
dotnet build -c Release
RAILS_ENV=test bundle exec rspec spec/models/user_spec.rb
vendor/bin/phpunit --filter Foo tests
mix format --check-formatted && mix test
make -j4 lint test
cmake --build build && ctest --output-on-failure --test-dir build
swift test
terraform fmt -check && shellcheck good.sh
git diff --exit-code && test -z "$(git status --porcelain)"
git ls-files '*.py' | xargs wc -l
grep -rn '^/api/v1' src
grep -n x src/*.py; grep x sub
! grep -q "rm -rf /" app.py
! grep -rq TODO . && grep -rn --include='*.py' 'x = 1' src
git diff | grep '^+' | tr / _ | cut -d _ -f 1
sort src/*.py | tr '[:upper:]' _ < app.py && du -sh src
diff -u app.py src && cat package.json | jq -r .name
pytest -q src/app_test.py::test_x tests -k 'a.b'; npx jest src/app.test.js; node --test
python -m unittest tests.test_x tool.tests.test_x && python -m unittest discover -s tests -p 'test_*.py'
python -m unittest discover -s src -p test_drop.py && mix test --trace test/drop_test.exs:12 && mix compile
[ -f app.py ] && [ "$(wc -l < app.py)" -ge 1 ]
if test -e app.py; then echo yes; else exit 1; fi
for file in src/*.py; do test -e $file || exit 1; done
n=$(grep -c x app.py); test -e app.py # enough
set -euo pipefail; cd sub && ls -la
find . -name '*.py' -not -path './.venv/*' | xargs grep -l TODO
cut -d, -f1 data.csv | sort | uniq -c | head -3
bash -n good.sh && tree -L 2 src && ./good.sh && sh good.sh && bash -c 'cd src && pytest -q'
x=app.py; for y in src sub; do test -e $y -a -e "$x"; done; rg -n '^x' src && rg -q TOKEN
sh any.sh && bash -c 'x=app.py; test -e $x'; meson compile -C build && zig build test
"""


JOINED = (
    "sh <<EOF\nrm x\nEOF",
    "r\\\nm x",
    'echo "$\\\n(rm x)"',
    "echo $\\\n(rm x)",
    "cat <\\\n<ls\n$(rm x)\nls",
)
"""Commands of several lines, which the shell joins before it reads them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A project with scripts, links, and programs that are not what they are called."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("src", "sub", "bin", ".venv/bin", "tool/tests"):
        (folder / name).mkdir(parents=True)
    for name, text in (("bad.sh", "#!/bin/sh\nrm -rf x\n"), ("good.sh", "#!/bin/sh\ntest -e app.py\n")):
        (folder / name).write_text(text)
    (folder / "any.sh").write_text('#!/bin/bash\ntest $1 "$2"\n')
    (folder / "sh").write_text("ls\n")  # not what "| sh" reads
    for name in ("app.py", "tool/__init__.py", "tool/tests/__init__.py"):
        (folder / name).write_text("x = 1\n")
    for name in (".env", "sub/server.key"):
        (folder / name).write_text("TOKEN=1\n")
    (folder / "ls").write_text("#!/usr/bin/env python3\n")
    for name in ("link-to-rm", "bin/rspec", ".venv/bin/jest"):
        (folder / name).symlink_to("/bin/rm")
    (folder / ".venv/bin/python").symlink_to("/usr/bin/python3")
    (folder / "out").symlink_to("/etc")
    (folder / "hooks").symlink_to(".git/hooks")
    return folder


@each_row("command", [*ASKED.strip().splitlines(), *JOINED])
def test_what_is_not_known_to_be_harmless_is_asked_however_it_is_written(folder, command):
    (question,) = questions(TaskPlan("Check it", verify=command), folder)
    assert question.startswith(f"its command is not known to be harmless: {command}")


@each_row("command", HARMLESS.strip().splitlines())
def test_what_only_looks_tests_and_builds_is_not(folder, command):
    assert questions(TaskPlan("Check it", verify=command), folder) == ()


@each_row("path", ["../../x", "/etc/passwd", "~/.bashrc", "out/passwd", "src/../../x"])
def test_a_path_that_leads_out_of_the_folder_is_refused(folder, path):
    with pytest.raises(ParamError, match="delta"):
        checked_plan(TaskPlan("Change it", (path,)), str(folder))


@pytest.mark.parametrize(
    "path", [".git/config", ".ssh/config", "hooks/pre-push", ".priming/memory.db", ".env"]
)
def test_a_file_that_steers_or_opens_something_needs_a_yes(folder, path):
    (question,) = questions(checked_plan(TaskPlan("Change it", (path,), "true"), str(folder)), folder)
    assert path in question


def test_what_is_read_is_what_stands_there_now(folder):
    plan = TaskPlan("Check it", verify="sh later.sh")
    (folder / "later.sh").write_text("ls\n")
    assert questions(plan, folder) == ()
    (folder / "later.sh").write_text("make deploy\n")
    before = questions(plan, folder)
    (folder / "later.sh").write_text("make deploy\nrm -rf .\n")
    assert before != questions(plan, folder) != ()


def test_a_yes_to_a_script_is_to_what_it_runs_now(tmp_path):
    (tmp_path / "check.sh").write_text("echo start > out.txt\n")
    before = questions(TaskPlan("Check.", verify="sh check.sh"), tmp_path)
    assert questions(TaskPlan("Check.", verify="sh check.sh"), tmp_path) == before != ()
    (tmp_path / "check.sh").write_text("echo start > out.txt; rm -f precious\n")
    after = questions(TaskPlan("Check.", verify="sh check.sh"), tmp_path)
    (tmp_path / "check.sh").write_text("#" * 5_000 + "\nrm -f precious\n")
    longer = questions(TaskPlan("Check.", verify="sh check.sh"), tmp_path)
    (tmp_path / "check.sh").write_text("#" * 5_000 + "\nrm -f other\n")
    assert len({before, after, longer, questions(TaskPlan("Check.", verify="sh check.sh"), tmp_path)}) == 4
