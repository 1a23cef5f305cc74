"""Names by their form."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.text.name_forms.forms import FILE, FORMS, Name
from priming.text.names import find, heading_name, normal


def names(text, heading=None):
    return tuple(name.text for name in find(text, heading))


def kinds(text):
    return {name.text: name.kind for name in find(text)}


@each_row(
    ("text", "expected"),
    [
        ("", ()),
        ("nothing here has a capital", ()),
        ("The cat sat. It slept. When? I saw.", ()),
        ("Yesterday Caroline left.", ("Caroline",)),
        ("Hey Mel! Thanks Ann.", ("Mel", "Ann")),
        ("Melanie's kids and James’ dog", ("Melanie", "James")),
        ("it was Caroline and I", ("Caroline",)),
        ("He met O'Brien.", ("O'Brien",)),
        ("Émile met Łukasz; Иван", ("Émile", "Łukasz", "Иван")),
        ("we were in Oslo.Then home", ("Oslo.Then",)),
    ],
)
def test_capitalised_words_are_names_but_not_function_words_and_greetings(text, expected):
    assert names(text) == expected


@each_row(
    ("text", "whole", "parts"),
    [
        ("at the University of Oslo", "University of Oslo", {"University", "Oslo"}),
        ("saw The Lord of the Rings", "Lord of the Rings", {"Lord", "Rings"}),
        ("Vincent van Gogh painted", "Vincent van Gogh", {"Vincent", "Gogh"}),
        ("in Rio de la Plata", "Rio de la Plata", {"Rio", "Plata"}),
        ("the Society for Ethics", "Society for Ethics", {"Society", "Ethics"}),
        ("about Apollo 11 again", "Apollo 11", {"Apollo"}),
        ("after World War II", "World War II", {"World War", "World", "War"}),
        ("by J. R. R. Tolkien", "J. R. R. Tolkien", {"Tolkien"}),
        ("the 2012 Summer Olympics", "2012 Summer Olympics", {"Summer Olympics", "Olympics"}),
        ("from Rochester, New York.", "Rochester, New York", {"Rochester", "New York"}),
        ("President John Kennedy spoke", "President John Kennedy", {"John Kennedy", "Kennedy"}),
        ("a Detroit-based firm", "Detroit-based", {"Detroit"}),
        ("the U.S. Army", "U.S. Army", {"Army"}),
    ],
)
def test_spans_are_joined_and_their_parts_are_names_too(text, whole, parts):
    result = set(names(text))
    assert whole in result
    assert parts <= result


SENTENCES = [
    # dialogue
    ("Caroline and Melanie came", "Caroline Melanie"),
    ("Great job, Bob! Let's ship it.", "Bob"),
    ("Kate: Hi Tom! How's Max?", "Kate Tom Max"),
    ("Agreed! Sounds good, Mel.", "Mel"),
    ("Happy birthday Grace! Love you.", "Grace"),
    ("Painting helps me relax. Melanie paints too.", "Melanie"),
    ("Support group was great! Counseling helped.", ""),
    ("Researching adoption agencies has been a dream.", ""),
    ("Nobody told Everyone about Something.", ""),
    ("Could Tom help? Should Ann?", "Tom Ann"),
    ("Unfortunately Ann left.", "Ann"),
    ("I met Will, and Will left.", "Will"),
    ("Will he come?", ""),
    # what stands in small letters too is a word, unless it is a name elsewhere in the text
    ("Coffee is good. I drink coffee daily.", ""),
    ("Hope called. I hope so.", ""),
    ("Hope called. I hope that Hope is well.", "Hope"),
    ("Rose was here.", "Rose"),
    ("Aurora keeps raw files in aurora-raw-eu.", "Aurora aurora-raw-eu"),
    ("where does Ann's project store its files?", "Ann"),
    ("How does the team cache the results?", ""),
    # commits
    ("Fixed the login bug in src/auth/session.py", "src/auth/session.py session.py"),
    ("Refs #123: bump numpy to 2.0.0", "#123 numpy 2.0.0"),
    ("feat(api): add retry_after to HTTPError (#42)", "retry_after HTTPError #42"),
    ("Reverted in 7b71b9d after review", "7b71b9d"),
    ("Moved config to /etc/app/config.yaml:12", "/etc/app/config.yaml config.yaml"),
    ("Running pytest fails with KeyError: 'name'.", "pytest KeyError"),
    ("Closes psf/requests#88", "psf/requests#88"),
    ("the colour #123456 and # 5", ""),
    ("dead beef and deadbeef", ""),
    # notes and lists
    ("- Update Dockerfile and docker-compose.yml", "Dockerfile docker-compose.yml"),
    ("1. Install Docker", "Docker"),
    ("* Deployed to prod", ""),
    ("- [x] Install Redis", "Redis"),
    ("TODO: ask José", "José"),
    ("Users complain. Meetings end. Batteries die.", ""),
    ("Alice/Bob pairing", "Alice Bob"),
    # paths, addresses, versions
    (r"C:\Users\me\a.txt is gone", r"C:\Users\me\a.txt a.txt"),
    ("ask @carol_dev or foo@bar.com;", "@carol_dev foo@bar.com"),
    ("@carol's and src/a/b.py's", "@carol src/a/b.py b.py"),
    ("id 123e4567-e89b-12d3-a456-426614174000 failed", "123e4567-e89b-12d3-a456-426614174000"),
    ("a Ph.D. from MIT", "MIT"),
    # names in any script, quotes of any kind
    ("we met Øyvind, then Чехов", "Øyvind Чехов"),
    ("I saw 'Dune' and James' dog", "Dune James"),
    ("she read 「こころ」 twice", "こころ"),
    # days and months are no names, people called so are
    ("on Tuesday, or Fridays, or in June", ""),
    ("since July 1 or May 2nd", ""),
    ("I met June and April.", "June April"),
    ("On Monday Bob left", "Bob"),
    ("the Black Friday sale", "Black Friday Black Friday"),
    # real names whose endings or first words are those of common ones
    ("Emily met Fleming.", "Emily Fleming"),
    ("New York is large", "New York New York"),
    ("Mohammed left. Beijing grew.", "Mohammed Beijing"),
    # dates
    ("on 2024-05-17 it rained", "2024-05-17"),
    ("born 17 May 2024", "2024-05-17"),
    ("on May 17th, 2024 or 17.05.2024", "2024-05-17"),
    ("In May 2023 I moved.", "2023-05"),
    ("due 2024-05", "2024-05"),
    ("seen at 2024-05-17T09:30", "2024-05-17"),
    ("on 5/7/2023", ""),
    ("in 2023", ""),
    ("on 31 June 2023", "2023-06"),
]


@each_row(("text", "expected"), SENTENCES)
def test_what_people_write_names_this_and_nothing_else(text, expected):
    words = " ".join(sorted(names(text)))
    assert sorted(words.split()) == sorted(expected.split())


@each_row("text", ["17 May 2024", "2024-05-17", "17.05.2024", "May 17, 2024", "the 17th of May 2024"])
def test_a_date_has_one_normal_form(text):
    assert Name("2024-05-17", "date") in find(f"It was {text}.")


def test_a_heading_that_is_a_date_is_a_name_as_it_stands():
    assert names("nothing", heading="May 2023")[0] == "May 2023"


def test_a_line_or_a_full_stop_ends_a_span():
    assert "Ann Bob" not in names("I saw Ann\nBob left")
    assert "Ann Bob" not in names("I saw Ann. Bob left")


def test_a_greeting_inside_a_sentence_may_be_part_of_a_name():
    assert "Great Plains" in names("We crossed the Great Plains.")


@each_row(
    ("text", "name", "kind"),
    [
        ("see src/x/y.py please", "src/x/y.py", "file"),
        ("see src/x/y.py please", "y.py", "file"),
        ("open foo.py, then", "foo.py", "file"),
        ("in foo.py:12:3 it fails", "foo.py", "file"),
        ("run ./build.sh now", "./build.sh", "file"),
        (r"at C:\tmp\a.txt", r"C:\tmp\a.txt", "file"),
        ("in /etc/hosts", "/etc/hosts", "file"),
        ("the `config.toml` file", "config.toml", "file"),
        ("call run_all() twice", "run_all", "identifier"),
        ("the __init__ method", "__init__", "identifier"),
        ("set maxRetries high", "maxRetries", "identifier"),
        ("an HTTPServer object", "HTTPServer", "identifier"),
        ("use os.path.join here", "os.path.join", "identifier"),
        ("a std::vector of", "std::vector", "identifier"),
        ("type `git rebase` here", "git rebase", "identifier"),
        ("HTTP_TIMEOUT is 5", "HTTP_TIMEOUT", "identifier"),
        ("ruff says E501 here", "E501", "identifier"),
        ("fixed JIRA-123 today", "JIRA-123", "identifier"),
        ("since v1.2.3 it works", "v1.2.3", "identifier"),
        ('she read "Becoming Nicole" twice', "Becoming Nicole", "quoted"),
        ("she read ‘charlotte’s web’ twice", "charlotte’s web", "quoted"),
        ("ask @mia about it", "@mia", "handle"),
        ("mail bob.b@example.com now", "bob.b@example.com", "handle"),
        ("at https://www.Example.com:80/a?b=C", "example.com", "handle"),
    ],
)
def test_each_kind_is_known_by_its_form(text, name, kind):
    assert kinds(text)[name] == kind


@each_row(
    "text",
    [
        "and/or he/she 24/7",
        "e.g. this, i.e. that",
        "at 3 p.m. or a.m.",
        "3.14 and 2,000",
        "on 7/5/2023",
        'the "quick brown" fox',
        '"Five words are enough, Six too many here"',
        "a-b c--d",
        "...",
        "@ # $ %",
    ],
)
def test_what_only_looks_like_a_name_is_none(text):
    assert not {name.kind for name in find(text)} - {"name"}


def test_the_heading_comes_first_and_without_its_parenthesis():
    result = find("It met Ann in Oslo.", heading="Lilu (mythology)")
    assert [name.text for name in result] == ["Lilu", "Ann", "Oslo"]
    assert result[0] == Name("Lilu", "name")


def test_a_heading_in_small_letters_is_a_name_all_the_same():
    assert names("nothing", heading="flute sonata") == ("flute sonata",)


@each_row(
    ("heading", "name"),
    [("Lilu (mythology)", "Lilu"), ("(only)", "(only)"), ("A  b [c] d", "A b d"), ("", ""), ("x (y", "x (y")],
)
def test_heading_names(heading, name):
    assert heading_name(heading) == name


@each_row(
    ("item", "other"),
    [
        ("Caroline's", "caroline"),
        ("CAROLINE’S", "Caroline"),
        ("The Beatles", "beatles"),
        ("New \t York", "new york"),
        ("James'", "James"),
        ("Straße", "STRASSE"),
    ],
)
def test_names_that_mean_the_same_have_one_normal_form(item, other):
    assert normal(item) == normal(other)


def test_different_names_have_different_normal_forms():
    assert len({normal(name) for name in ("Ann", "Anne", "An", "The", "A")}) == 5


def test_a_name_is_listed_once_as_it_first_stands():
    assert names("Caroline came. Then CAROLINE left with Caroline's dog.") == ("Caroline",)


@given(st.text(st.characters()), st.none() | st.text(st.characters(), max_size=20))
def test_any_text_gives_distinct_names_of_known_kinds(text, heading):
    result = find(text, heading)
    assert result == find(text, heading)
    assert all(name.kind in FORMS and name.text.strip() for name in result)
    forms = [normal(name.text) for name in result]
    assert len(set(forms)) == len(forms)


@given(st.text(alphabet="Aa1 ._-'\"`‘’@/:(,", max_size=60))
def test_marks_in_any_order_do_no_harm(text):
    assert all(len(name.text) <= 256 for name in find(text))


LONG = ("A", "A ", "Ba ", "Ba, ", "Ab-", "A'", "Aa of ", ".", "a.", "A.", '"', '"A', "_", "a_", "`", "`a")
MORE = ("‘a’a", "(a", "@", "a@", "/", "a/", "http://", "1", "1.", "2000 ", "’", "A1-", "v1.", " ")


@each_row("unit", LONG + MORE)
def test_long_runs_of_anything_are_read_to_the_end(unit):
    # How much longer twice as much takes is measured by tests/growth.
    text = "A " + unit * (10_000 // len(unit)) + " Caroline"
    assert names(text)[-1] == "Caroline"
    assert heading_name(text).endswith("Caroline")


@each_row(
    ("text", "files"),
    [
        ("See [docs](docs/verbs/undo.md).", ["docs/verbs/undo.md", "undo.md"]),
        ("[one](a/b.py)[two](c.py) follow", ["a/b.py", "b.py", "c.py"]),
        (
            r"Open C:\Program Files\Kestrel\kestrel.exe now",
            [r"C:\Program Files\Kestrel\kestrel.exe", "kestrel.exe"],
        ),
        (r"In <D:\Documents and Settings\Ada\a.txt>, ok", [r"D:\Documents and Settings\Ada\a.txt", "a.txt"]),
        (r"See C:\temp and src\app\x.py", [r"C:\temp", r"src\app\x.py", "x.py"]),
    ],
)
def test_files_in_links_and_in_folders_with_spaces(text, files):
    assert [item.text for item in find(text) if item.kind == FILE] == files


def test_yesterday_is_nobody_in_other_languages_either():
    assert names("Ayer José García lo cambió.") == ("José García", "José", "García")
    assert "Gestern" not in names("Gestern hat Anna Müller das geändert.")


@each_row(
    ("text", "result", "lost"),
    [
        ("Deployed Lighthouse 1.2.0 to fjord.", "Lighthouse", "Deployed"),
        ("Called Sven Aasland about the report.", "Sven Aasland", "Called"),
        ("- Rebooted Saturn after the update.", "Saturn", "Rebooted"),
        ("United Airlines cancelled the flight.", "United Airlines", None),
        ("Jared Leto sang.", "Jared Leto", None),
        ("Then Renewed Hope sang.", "Renewed Hope", None),
    ],
)
def test_the_verb_that_opens_a_note_is_no_part_of_the_name_after_it(text, result, lost):
    seen = set(names(text))
    assert result in seen
    assert not any(lost in name for name in seen if lost)


def test_a_title_is_no_name_with_its_dot_or_without():
    assert [name.text for name in find("Mr Klein met Mrs. Sold and Amartya Sen here.")] == [
        *("Mr Klein", "Klein", "Mrs. Sold", "Sold"),
        *("Amartya Sen", "Amartya", "Sen"),
    ]
