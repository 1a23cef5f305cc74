import pytest

from priming.text.languages import CODE, DATA, code_language_of, language_of


@pytest.mark.parametrize(
    ("file", "language"),
    [
        ("a.py", "python"),
        ("src/x.TSX", "typescript"),
        ("C:\\app\\m.rs", "rust"),
        ("Dockerfile", "dockerfile"),
        ("a.hpp", "c++"),
        ("README", None),
        (".gitignore", None),
    ],
)
def test_a_file_has_the_language_of_its_suffix_or_name(file, language):
    assert language_of(file) == language


def test_data_and_prose_are_no_code():
    assert (language_of("a.yml"), code_language_of("a.yml")) == ("yaml", None)
    assert not CODE.keys() & DATA.keys()
