"""What a store's URL names, and what of it is shown."""

from pathlib import Path

import pytest
from tests.rows import each_row

from priming import ParamError
from priming.config.store_urls import parse_url, url_of, without_password


@each_row(
    ("url", "plain"),
    [
        ("postgresql:///plants", "postgresql:///plants"),
        ("postgresql://", "postgresql://"),
        ("postgresql://?schema=garden", "postgresql://"),
        ("postgres://kim@greenhouse/plants", "postgresql://kim@greenhouse/plants"),
        ("PostgreSQL://greenhouse", "postgresql://greenhouse"),
        ("postgresql://kim@[fe80::1%25eth0]:5433/plants", "postgresql://kim@[fe80::1%25eth0]:5433/plants"),
        ("postgresql://a:5432,b:5433/plants", "postgresql://a:5432,b:5433/plants"),
        ("postgresql://%2Fvar%2Frun/plants?pool=3", "postgresql://%2Fvar%2Frun/plants"),
        (
            "postgresql:///pot%20plants?options=-c%20a%3D1+1",
            "postgresql:///pot%20plants?options=-c%20a%3D1+1",
        ),
        (
            "postgresql://kim:%40%3A%2F@h/p?schema=a&sslmode=require&pool=9",
            "postgresql://kim:%40%3A%2F@h/p?sslmode=require",
        ),
    ],
)
def test_what_is_not_ours_reaches_libpq_as_it_was_written(url, plain):
    assert parse_url(url).url == plain


@each_row(
    "url",
    [
        "postgresql:plants",
        "postgresql:/plants",
        "postgresql://kim@h/pot plants",
        "postgresql://kim@h/plants\n",
        "postgresql://[::1:5432/plants",
        "postgresql://h:port/plants",
        "postgresql://h/plants#1",
        "postgresql://h/plants?bare",
        "postgresql://ann:bee's knees@h/plants",
        "postgresql://ann:bee's@knees@h/plants",
        "postgresql://ann:bee's/knees@h/plants",
        "postgresql://ann:bee's?knees@h/plants",
        "postgresql://ann:bee's#knees@h/plants",
        "postgresql://ann:bee's:knees@h:x/plants",
        "postgresql://ann@h/plants?password=bee's&pool=0",
        "postgresql://ann@h/plants?pass%77ord=bee's&pool=0",
        "postgresql://ann@h/plants?sslpassword=bee's%20knees&schema=-",
        "postgres+psycopg://ann:bee's@h/plants",
        "sqlite://[x/y",
    ],
)
def test_a_url_that_names_nothing_is_refused_with_the_rule_and_without_its_password(url):
    with pytest.raises(ParamError, match="must") as refused:
        parse_url(url)
    assert "bee" not in str(refused.value)
    assert "knees" not in str(refused.value)


def test_a_schema_is_refused_by_a_rule_that_it_breaks():
    with pytest.raises(ParamError, match="begins with no digit"):
        parse_url("postgresql://ann@h/plants?schema=9x")


@each_row("name", ["a?b.db", "a#c.db", "a?synchronous=full", "~", "~/x.db", "~kim/x.db", "a%3Fb.db"])
@each_row("folder", ["", "/srv/"])
def test_the_url_of_a_path_names_that_path(folder, name):
    assert parse_url(url_of(Path(folder + name))).path == Path(folder + name)


@each_row("end", ["?b.db", "#c.db", "#", "?synchronous=full#c", "?=", "?origin&b"])
def test_what_would_name_another_file_is_refused_with_the_way_to_write_it(end):
    with pytest.raises(ParamError, match="of a path are %3F and %23"):
        parse_url(f"sqlite:///a{end}")


@each_row("url", ["sqlite:a.db", "sqlite:a/b.db", "sqlite:///a/", "sqlite:////a/b/"])
def test_a_url_whose_path_is_no_file_is_refused_instead_of_naming_another_file(url):
    with pytest.raises(ParamError, match="must be sqlite:///relative"):
        parse_url(url)


def test_a_path_may_begin_with_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/kim")
    assert parse_url("sqlite:///~/x.db?synchronous=full").path == Path("/home/kim/x.db")
    assert parse_url("sqlite:////~/x.db").path == Path("/~/x.db")
    with pytest.raises(ParamError, match="names no user's home folder"):
        parse_url("sqlite:///~nobody-of-that-name/x.db")


def test_what_is_no_password_is_shown():
    for url in ("postgresql://ann@h:5432/plants?sslmode=require", "sqlite:////home/ann/a:b@c.db", "notes.db"):
        assert without_password(url) == url
