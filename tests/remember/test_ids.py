import re
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from priming.config.ids import uuid7
from priming.core.arguments.normal_forms import free_key, slug
from priming.text.gists import gist_of

NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)


def test_a_gist_is_the_first_sentence_or_line():
    assert gist_of("  The disk was full. We cleaned it.") == "The disk was full."
    assert gist_of("Disk full\nthen we cleaned it") == "Disk full"
    assert gist_of("1. Stop the server. Wait.\n2. Migrate.") == "1. Stop the server."
    assert gist_of("We are in room 5. It is cold.") == "We are in room 5."
    assert gist_of("ディスクが満杯。 掃除した。") == "ディスクが満杯。"


@given(st.text(st.characters(codec="utf-8"), max_size=400).filter(str.strip))
def test_a_gist_is_one_line_of_at_most_120_characters(text):
    gist = gist_of(text)
    assert gist
    assert len(gist) <= 120
    assert len(gist.splitlines()) <= 1


def test_a_long_gist_is_cut_between_words():
    gist = gist_of("word " * 100)
    assert gist.endswith("…")
    assert set(gist[:-1].split()) == {"word"}


def test_a_slug_is_the_first_words_in_small_letters():
    assert slug("The deploy failed because the disk was full.") == "the-deploy-failed-because-the-disk"
    assert slug("Straße, ÉTÉ!") == "strasse-été"
    assert slug("İbrahim ekmek aldı") == "ibrahim-ekmek-aldı"
    assert slug("?!") == "memory"


@given(st.text(max_size=100))
def test_a_slug_is_never_empty_and_holds_no_space(text):
    result = slug(text)
    assert 0 < len(result) <= 48
    assert not re.search(r"\s", result)


def test_a_free_key_is_the_wanted_one_or_has_the_end_of_the_id():
    memory_id = uuid7(NOW)
    tail = memory_id.replace("-", "")
    assert free_key("ada", memory_id, set()) == "ada"
    assert free_key("ada", memory_id, {"ada"}) == f"ada-{tail[-6:]}"
    assert free_key("ada", memory_id, {"ada", f"ada-{tail[-6:]}"}) == f"ada-{tail[-12:]}"
    assert free_key("ada", memory_id, lambda _: True) == memory_id
