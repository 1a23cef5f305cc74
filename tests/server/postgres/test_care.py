"""A store in a database is verified, and put back from a file, as one in a file is."""

import psycopg
import pytest

from priming import Conflict, ParamError


def keys(memory):
    return [record.key for record in memory.list()]


def recalled_keys(memory, text):
    return [hit.memory.key for hit in memory.recall(text).hits if hit.components.get("words")]


def test_a_text_that_is_indexed_by_other_words_is_named_in_a_database(open_memory, postgres):
    memory = open_memory(f"{postgres}&schema=other_words")
    for name in ("ada", "bob"):
        memory.remember(f"{name} moved to 大阪府.", key=name, heading="Moves")
    memory.supersede("bob", "Bob came back.")
    assert memory.verify().findings == ()
    with psycopg.connect(postgres) as connection:
        for words in ("''", "$$'move':1 'ada':2$$", "NULL"):
            connection.execute("SET search_path = other_words, public")
            connection.execute("SET priming.namespace = 'default'")
            connection.execute(f"UPDATE versions SET words = {words} WHERE heading = 'Moves'".encode())
            connection.commit()
            assert [(finding.rule, finding.subject) for finding in memory.verify().findings] == [
                ("stale-words", f"version {which}") for which in ("1 of ada", "1 of bob")
            ]


def test_a_store_in_a_database_names_where_the_present_one_goes(open_memory, postgres, url, tmp_path):
    in_a_file = open_memory(url)
    in_a_file.remember("We paint the walls.", key="paint")
    path = in_a_file.backup()
    memory = open_memory(f"{postgres}&schema=put_back")
    memory.remember("They sing.", key="sing")
    with pytest.raises(ParamError, match="only a store in a file has a folder for backups"):
        memory.backup()
    with pytest.raises(ParamError, match="previous = None: must name a file"):
        memory.restore_backup(path)
    with pytest.raises(Conflict, match="already exists"):
        memory.restore_backup(path, path)
    assert keys(memory) == ["sing"]
    previous = memory.restore_backup(path, tmp_path / "previous.db")
    assert (keys(memory), recalled_keys(memory, "walls")) == (["paint"], ["paint"])
    assert keys(open_memory(f"sqlite:///{previous}")) == ["sing"]
    memory.restore_backup(previous, tmp_path / "again.db")
    assert recalled_keys(memory, "sing") == ["sing"]
    assert memory.verify().findings == ()
