from tests.rows import each_row

from priming.core.when import language_name
from priming.text.languages import CODE, DATA, code_language_of, language_of, languages_in, task_of


@each_row(
    ("file", "language"),
    [
        ("a.py", "python"),
        ("src/x.TSX", "typescript"),
        ("C:\\app\\m.rs", "rust"),
        ("Dockerfile", "dockerfile"),
        ("a.hpp", "c++"),
        ("Dockerfile.prod", "dockerfile"),
        ("docker/prod.Dockerfile", "dockerfile"),
        ("Containerfile", "dockerfile"),
        ("analysis.ipynb", "python"),
        ("Makefile.am", "makefile"),
        ("GNUmakefile", "makefile"),
        ("Makefile.py", "python"),
        ("CMakeLists.txt", "cmake"),
        ("Cart.jsx", "javascript"),
        ("ci.yml", "yaml"),
        ("ci.yaml", "yaml"),
        ("setup.zsh", "shell"),
        (".zshrc", "shell"),
        ("Main.kt", "kotlin"),
        ("build.gradle.kts", "kotlin"),
        ("build.gradle", "groovy"),
        ("Jenkinsfile", "groovy"),
        ("Jenkinsfile.nightly", "groovy"),
        ("View.m", "objective-c"),
        ("Install.ps1", "powershell"),
        ("settings.py.j2", "python"),
        ("notes.txt", None),
        ("build", None),
        ("README", None),
        (".gitignore", None),
    ],
)
def test_a_file_has_the_language_of_its_suffix_or_name(file, language):
    assert language_of(file) == language


@each_row(
    "names",
    [
        ("objective-c", "ObjC", "Objective C", "obj-c"),
        ("powershell", "ps1", "PowerShell", "pwsh"),
        ("dockerfile", "docker", "Dockerfile"),
        ("shell", "Bash", "zsh", "shell script"),
        ("typescript", "tsx", "TS"),
        ("c#", "C Sharp", "csharp"),
        ("python", "py", "Jupyter"),
        ("kotlin", "kts"),
        ("yaml", "yml"),
    ],
)
def test_a_language_has_one_name(names):
    assert {language_name(name) for name in names} == {names[0]}


def test_the_language_of_a_file_is_the_name_of_that_language():
    for suffix, language in {**CODE, **DATA}.items():
        assert language_name(language) == language
        assert len(suffix) == 1 or language_name(suffix) in (suffix, language)


def test_data_and_prose_are_no_code():
    assert (language_of("a.yml"), code_language_of("a.yml")) == ("yaml", None)
    assert not CODE.keys() & DATA.keys()


@each_row("text", ["go on with the tests", "let us go", "Go ahead", "the rest of the script", "JavaScripty"])
def test_a_word_that_only_looks_like_a_language_names_none(text):
    assert languages_in(text) == []


def test_the_languages_of_a_text_are_named_once_each():
    assert languages_in("Port the golang client and our Go tests to C++, then C++ to Rust") == [
        "go",
        "c++",
        "rust",
    ]


@each_row(
    "file",
    [
        "store_test.go", "tests/helpers.py", "test_store.py", "src/conftest.py", "web/Cart.test.tsx",
        "a/cart.spec.ts", "spec/models/user_spec.rb", "src/test/java/Store.java", "StoreTest.java", "StoreTests.cs",
        "__tests__/cart.js",
        "engine\\tests\\parse.rs",
    ],
)  # fmt: skip
def test_a_test_file_is_known_by_its_name(file):
    assert task_of(file) == "test"


@each_row(
    "file",
    ["contest.py", "latest.go", "attest/a.py", "testament.md", "src/store.go", "Fastest.java", "protest.ts"],
)
def test_a_name_that_only_ends_like_one_is_no_test_file(file):
    assert task_of(file) is None
