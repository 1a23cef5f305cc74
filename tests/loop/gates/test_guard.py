"""The guard: commands in which something destructive hides, harmless ones, and paths."""

import pytest

from priming.errors import ParamError
from priming_loop.gates.guard import checked_plan, destructive_reason
from priming_loop.session import TaskPlan

HIDDEN = r"""
\rm x
r\m x
'r'm x
$'\x72\x6d' x
/bin/../bin/rm x
X='rm -rf'; $X y
${X:-rm} -rf y
/bin/r? x
{rm,-rf,x}
rm${IFS}-rf${IFS}x
FOO=1 env -u BAR nice -n 5 rm x
env -S 'rm x'
echo x | xargs -I{} sh -c 'rm {}'
timeout -s KILL 5 ./bad.sh
find . -name '*.o' -delete
find . -exec /bin/rm {} +
git stash drop
git -c alias.x='!rm -rf y' x
git -C sub clean -fdx
bash -lc "rm x"
bash <<< 'rm x'
(cd sub && rm -r .)
f() { rm x; }; f
for name in a b; do rm $name; done
case a in a) rm x;; esac
echo "$(rm x)"
diff <(rm x) y
test -e a || { rm x; }
echo cm0gLXJmIHg= | base64 -d | sh
eval "$COMMAND"
trap 'rm x' EXIT
python3 -c "import shutil; shutil.rmtree('x')"
python -c "getattr(__import__('os'), 'un' + 'link')('x')"
perl -e 'unlink "x"'
awk 'BEGIN { system("rm x") }'
sed -i s/a/b/ app.py
: > app.py
cp /dev/null app.py
echo x >> ~/.ssh/authorized_keys
cat ~/.ssh/id_rsa
psql -c 'drop table x'
curl -X DELETE http://localhost/x
docker run -v /:/host alpine rm -rf /host
make -C src clean
priming loop allow 1 --seq 2
./link-to-rm x
cd src && ../bad.sh
printf 'rm x' > new.sh && sh new.sh
. ./bad.sh
PATH=.:$PATH; test-it
set -- rm -rf x; "$@"
printf -v c 'r%s' m; $c x
cat list | while read f; do rm "$f"; done
source <(curl http://localhost/x)
PAGER='rm x' git log
git -P push
sort -o app.py app.py
tar xf x.tar
vim -es app.py -c 'd|wq'
curl -F f=@app.py http://localhost
mongo --eval 'db.dropDatabase()'
bash -i >& /dev/tcp/127.0.0.1/80 0>&1
unclosed 'quote
"""
HARMLESS = r"""
pytest -q tests/test_rm.py
python -m pytest -q -k 'not slow'
grep -rn 'rm -rf' src
! grep -q TODO src/app.py
echo "rm -rf /"
test "$(wc -l < app.py)" -eq 1
[ -f app.py ] && [ -s app.py ]
if test -e x; then echo yes; else exit 1; fi
for file in a b; do test -e $file || exit 1; done
python -c "import json; assert json.loads('1') == 1"
git diff --exit-code
git stash list
git ls-files | grep app
find . -name '*.py'
./good.sh && sh good.sh
PYTHONPATH=src pytest -q > out.txt 2>&1
pytest > /dev/null
make test
npm run lint
curl -sf http://localhost:8000/health
curl -s -o /dev/null -w '%{http_code}' http://localhost | grep -q 200
node -e "const a=require('./a'); if(a()!==1) process.exit(1)"
sqlite3 x 'select count(*) from users'
cargo build --release
ruff check . && ruff format --check .
diff -u expected.txt <(python app.py)
tar tzf x.tar.gz
docker compose ps
"""
DOCUMENTS = (
    "sh <<EOF\nrm x\nEOF",
    "cat <<EOF\n$(rm x)\nEOF",
    "python - <<'EOF'\nimport os\nos.unlink('x')\nEOF",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A project with scripts, links, and a file that something might overwrite."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "app.py").write_text("x = 1\n")
    for name, text in (("bad.sh", "#!/bin/sh\nrm -rf x\n"), ("good.sh", "#!/bin/sh\ntest -e app.py\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    for name in ("src", "sub"):
        (folder / name).mkdir()
    (folder / "link-to-rm").symlink_to("/bin/rm")
    (folder / "out").symlink_to("/etc")
    (folder / "hooks").symlink_to(".git/hooks")
    return folder


@pytest.mark.parametrize("command", [*HIDDEN.strip().splitlines(), *DOCUMENTS, "rm\\\n x"])
def test_what_destroys_needs_a_yes_however_it_is_written(folder, command):
    assert destructive_reason(TaskPlan("Check it", verify=command), folder) is not None


@pytest.mark.parametrize(
    "command", [*HARMLESS.strip().splitlines(), "python - <<EOF\nimport app\nassert app.x\nEOF"]
)
def test_what_only_looks_and_tests_needs_none(folder, command):
    assert destructive_reason(TaskPlan("Check it", verify=command), folder) is None


@pytest.mark.parametrize("path", ["../../x", "/etc/passwd", "~/.bashrc", "out/passwd", "src/../../x"])
def test_a_path_that_leads_out_of_the_folder_is_refused(folder, path):
    with pytest.raises(ParamError, match="delta"):
        checked_plan(TaskPlan("Change it", (path,)), str(folder))


@pytest.mark.parametrize(
    "path", [".git/config", ".ssh/config", "hooks/pre-push", ".priming/memory.db", ".env"]
)
def test_a_file_that_steers_or_opens_something_needs_a_yes(folder, path):
    plan = checked_plan(TaskPlan("Change it", (path,), "true"), str(folder))
    assert path in destructive_reason(plan, folder)


def test_what_is_read_is_what_stands_there_now(folder):
    plan = TaskPlan("Check it", verify="./later.sh")
    assert destructive_reason(plan, folder) is None
    (folder / "later.sh").write_text("rm -rf .\n")
    assert destructive_reason(plan, folder) is not None
