"""Exports of messengers: who said it, when, and what is no message."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime

import pytest
from tests.rows import each_row

from priming.transfer.run import run

from .samples import DISCORD, DISCORD_PACKAGE, SLACK, TELEGRAM, discord_message


@pytest.fixture
def read(tmp_path, memory):
    """Imports a file with this text; its memories in order, and the report."""

    def imported(format, text, name="a.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        report = run(memory, format, path)
        return sorted(memory.list(), key=lambda record: record.id), report

    return imported


def spoken(records):
    return [(record.speaker, record.content) for record in records]


def by_speaker(memory):
    return sorted((record.speaker, record.content) for record in memory.list())


@pytest.mark.parametrize(
    ("sample", "texts"),
    [
        (SLACK, [("Ada", "Who has the key, @Bo Lind?"), ("Bo Lind", "It hangs by the door.")]),
        (TELEGRAM, [("Ada", "See https://trains.example too."), ("Bo", "The train leaves at nine.")]),
        (DISCORD, [("Ada", "We play on Tuesday."), ("Bo", "I bring the clocks.")]),
        (DISCORD_PACKAGE, [("Ada", "We open with the clocks."), ("Ada", "We play on Tuesday.")]),
    ],
    ids=["slack", "telegram", "discord", "discord's own package"],
)
def test_people_speak_by_their_names_and_programs_do_not(sample, texts, memory, tmp_path):
    run(memory, sample.format, sample.write(tmp_path))
    assert by_speaker(memory) == texts
    assert {record.trust for record in memory.list()} == {"tool"}
    assert len({record.session for record in memory.list()}) == 1


# Slack


def slack_day(*texts, **more):
    return [
        {"type": "message", "ts": f"1767340800.{number:06}", "user": "U1", "text": text, **more}
        for number, text in enumerate(texts)
    ]


@each_row(
    ("text", "plain"),
    [
        ("<@U9> and <@U9|nine>", "@U9 and @nine"),
        ("in <#C1|kitchen>, <!here>", "in #kitchen, @here"),
        ("<!subteam^S1|@cooks> eat", "@@cooks eat"),
        ("see <https://a.example|the list>", "see the list (https://a.example)"),
        (
            "see <https://a.example|a.example> or <https://a.example>",
            "see https://a.example or https://a.example",
        ),
        ("mail <mailto:bo@a.example|bo@a.example>", "mail bo@a.example"),
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2, &amp;lt;", "1 < 2 && 3 > 2, &lt;"),
        ("a < b", "a < b"),
    ],
)
def test_a_text_of_slack_reads_as_people_see_it(read, text, plain):
    assert spoken(read("slack", slack_day(text), "t/kitchen/2026-01-02.json")[0]) == [("U1", plain)]


def test_the_days_of_a_channel_are_one_session_in_order(memory, tmp_path):
    for day, second in (("2026-01-03", 1_767_427_200), ("2026-01-02", 1_767_340_800)):
        file = tmp_path / "team" / "hall" / f"{day}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            json.dumps([{"type": "message", "ts": f"{second}.0001", "user": "U1", "text": f"On {day}."}])
        )
    assert run(memory, "slack", tmp_path / "team").stored == 2
    records = sorted(memory.list(), key=lambda record: record.id)
    assert [record.content for record in records] == ["On 2026-01-02.", "On 2026-01-03."]
    assert {record.session for record in records} == {"slack:hall"}
    assert records[0].metadata["title"] == "#hall"


def test_a_channel_is_known_by_its_id_so_that_those_of_two_workspaces_are_two(memory, tmp_path):
    first = SLACK.write(tmp_path / "first")
    second = SLACK.write(
        tmp_path / "second", lambda _, text: text.replace('"C1"', '"C2"').replace("key", "keys")
    )
    assert run(memory, "slack", first).stored == run(memory, "slack", second).stored == 2
    assert {record.session for record in memory.list()} == {"slack:C1", "slack:C2"}
    assert {record.metadata["title"] for record in memory.list()} == {"#kitchen"}


def test_an_answer_in_a_thread_names_it(memory, tmp_path):
    run(memory, "slack", SLACK.write(tmp_path))
    threads = {record.content: record.metadata.get("thread") for record in memory.list()}
    assert threads == {"Who has the key, @Bo Lind?": None, "It hangs by the door.": "1767340800.000100"}


def test_an_odd_person_in_the_list_leaves_the_others_their_names(memory, tmp_path):
    path = SLACK.write(tmp_path)
    users = json.loads((path / "users.json").read_text())
    (path / "users.json").write_text(json.dumps([7, {"id": "U7", "profile": 7, "name": "x"}, *users]))
    assert run(memory, "slack", path).stored == 2
    assert [speaker for speaker, _ in by_speaker(memory)] == ["Ada", "Bo Lind"]


# Telegram


def telegram(*messages, **more):
    return {"name": "Bo", "type": "personal_chat", "id": 1, "messages": list(messages), **more}


def test_a_whole_account_is_read_chat_by_chat(read):
    message = {
        "id": 1,
        "type": "message",
        "date": "2026-01-02T09:00:00",
        "date_unixtime": "1767344400",
        "from": "Bo",
    }
    chats = [
        telegram({**message, "text": "One."}),
        telegram({**message, "text": "Two."}, id=2),
        {"type": "odd"},
    ]
    account = {"about": "Here is your data", "contacts": {"list": []}, "chats": {"about": "", "list": chats}}
    records, report = read("telegram", account)
    assert [(record.content, record.key) for record in records] == [
        ("One.", "telegram:1:1"),
        ("Two.", "telegram:2:1"),
    ]
    assert "conversation 2" in report.skipped[0]


def test_an_early_time_is_in_the_machines_zone(read, monkeypatch):
    monkeypatch.setitem(os.environ, "TZ", "Europe/Copenhagen")
    time.tzset()
    try:
        message = {
            "id": 1,
            "type": "message",
            "date": "2019-07-02T09:00:00",
            "from": None,
            "from_id": 77,
            "text": "Hi.",
        }
        records, _ = read("telegram", telegram(message))
        assert records[0].occurred_at == datetime(2019, 7, 2, 7, tzinfo=UTC)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_an_answer_and_what_was_forwarded_say_so(read):
    message = {"id": 3, "type": "message", "date_unixtime": "1767344400", "from": "Bo", "text": "Read this."}
    records, _ = read("telegram", telegram({**message, "reply_to_message_id": 2, "forwarded_from": "News"}))
    assert {"answers": 2, "forwarded_from": "News", "title": "Bo"}.items() <= records[0].metadata.items()


# Discord


def test_programs_of_discord_are_left_out_and_answers_name_what_they_answer(read):
    program = discord_message("1", "Deployed.")
    program["author"]["isBot"] = True
    answer = discord_message("2", "Good.", type="Reply", reference={"messageId": "1"})
    messages = [program, answer, discord_message("3", "")]
    channel = {
        "guild": {"id": "0", "name": "Direct Messages"},
        "channel": {"id": "5", "name": "Bo"},
        "messages": messages,
    }
    records, _ = read("discord", channel)
    assert [(record.content, record.key, record.metadata["answers"]) for record in records] == [
        ("Good.", "discord:5:2", "1")
    ]
    assert records[0].metadata["title"] == "Direct Messages / Bo"


def test_an_early_package_has_rows_with_commas(read):
    rows = 'ID,Timestamp,Contents,Attachments\n7,2021-01-02 10:00:00.123000+00:00,"Tea, then\nbread.",\n'
    records, _ = read("discord", rows, "messages/c9/messages.csv")
    assert [(record.content, record.key) for record in records] == [("Tea, then\nbread.", "discord:9:7")]
    assert records[0].occurred_at == datetime(2021, 1, 2, 10, 0, 0, 123_000, tzinfo=UTC)


# WhatsApp


def moments(records):
    return [f"{record.occurred_at:%Y-%m-%d %H:%M:%S}" for record in records]


@each_row(
    ("line", "moment"),
    [
        ("[13/03/2026, 14:05:01] Ada: Hello", "2026-03-13 14:05:01"),
        ("\u200e[13/03/2026, 14:05:01] Ada: Hello", "2026-03-13 14:05:01"),
        ("[13.03.26, 14:05:01] Ada: Hello", "2026-03-13 14:05:01"),
        ("[3/13/26, 2:05:01\u202fPM] Ada: Hello", "2026-03-13 14:05:01"),
        ("[2026-03-13, 2:05:01 p.m.] Ada: Hello", "2026-03-13 14:05:01"),
        ("[13.3.2026 klo 14.05.01] Ada: Hello", "2026-03-13 14:05:01"),
        ("13/03/2026, 14:05 - Ada: Hello", "2026-03-13 14:05:00"),
        ("13.03.26, 14:05 - Ada: Hello", "2026-03-13 14:05:00"),
        ("3/13/26, 2:05 PM - Ada: Hello", "2026-03-13 14:05:00"),
        ("13/03/2026, 2:05\u202fpm - Ada: Hello", "2026-03-13 14:05:00"),
        ("13/3/2026 14:05 - Ada: Hello", "2026-03-13 14:05:00"),
        ("13/3/26, 2:05 p.\xa0m. - Ada: Hello", "2026-03-13 14:05:00"),
        ("13/03/2026, 12:05 am - Ada: Hello", "2026-03-13 00:05:00"),
        ("2026/03/13 14:05 - Ada: Hello", "2026-03-13 14:05:00"),
        ("[2026/3/13 14:05:01] Ada: Hello", "2026-03-13 14:05:01"),
        ("13/03/2026, 12:05 pm - Ada: Hello", "2026-03-13 12:05:00"),
    ],
)
def test_a_time_is_read_as_the_phone_writes_it(read, line, moment):
    records, report = read("whatsapp", line + "\n", "Bo.txt")
    assert (spoken(records), moments(records), report.skipped) == ([("Ada", "Hello")], [moment], ())


@pytest.mark.parametrize(
    ("dates", "days"),
    [
        (["03/04/2026", "13/04/2026"], ["2026-04-03", "2026-04-13"]),
        (["04/03/2026", "04/13/2026"], ["2026-04-03", "2026-04-13"]),
        (["01/12/2026", "02/03/2026", "02/12/2026"], ["2026-01-12", "2026-02-03", "2026-02-12"]),
        (["12/01/2026", "03/02/2026", "12/02/2026"], ["2026-01-12", "2026-02-03", "2026-02-12"]),
    ],
)
def test_the_whole_file_tells_the_day_from_the_month(read, dates, days):
    text = "".join(f"{date}, 09:00 - Ada: Message {number}\n" for number, date in enumerate(dates))
    records, _ = read("whatsapp", text, "Bo.txt")
    assert [moment[:10] for moment in moments(records)] == days
    assert all("date" not in record.metadata for record in records)


def test_where_nothing_tells_the_day_is_read_first_and_the_memory_says_so(read):
    records, _ = read("whatsapp", "03/04/2026, 09:00 - Ada: Hello\n05/05/2026, 09:00 - Bo: Hi\n", "Bo.txt")
    assert [moment[:10] for moment in moments(records)] == ["2026-04-03", "2026-05-05"]
    assert ["day was read first" in record.metadata.get("date", "") for record in records] == [True, False]


def test_what_the_program_wrote_is_left_out_in_any_language(read):
    text = (
        "[13/03/2026, 14:00:00] Kitchen: \u200eMessages and calls are end-to-end encrypted.\n"
        "[13/03/2026, 14:00:01] \u200eAda created this group\n"
        "[13/03/2026, 14:00:02] Ada: \u200eimage omitted\n"
        "[13/03/2026, 14:00:03] Ada: \u200e<attached: 0001.jpg>\n"
        "[13/03/2026, 14:00:04] Ada: <Medien ausgeschlossen>\n"
        "[13/03/2026, 14:00:05] Ada: Bread is out. \u200e<This message was edited>\n"
        "[13/03/2026, 14:00:06] Ada: \u200eIMG-1.jpg (file attached)\n"
        "The new oven\n"
        "[13/03/2026, 14:00:07] Bo: if a <b then stop: a > 3\n"
        "[13/03/2026, 14:00:08] Bo: @\u2068Ada\u2069 thanks\n"
    )
    assert spoken(read("whatsapp", text, "Bo.txt")[0]) == [
        ("Ada", "Bread is out."),
        ("Ada", "The new oven"),
        ("Bo", "if a <b then stop: a > 3"),
        ("Bo", "@Ada thanks"),
    ]


def test_messages_of_one_minute_are_told_apart_and_a_longer_export_adds_the_rest(read):
    text = "13/03/2026, 14:05 - Ada: One\n13/03/2026, 14:05 - Ada: Two\n13/03/2026, 14:05 - Bo: One\n"
    assert read("whatsapp", text, "Bo.txt")[1].stored == 3
    records, report = read(
        "whatsapp", text.replace("Two", "Three") + "13/03/2026, 14:05 - Ada: Four\n", "Bo.txt"
    )
    assert (report.stored, report.changed, report.gone) == (1, 1, 0)
    assert {record.content for record in records} == {"One", "Three", "Four"}


def test_the_export_of_a_phone_is_named_by_its_folder(read):
    records, _ = read("whatsapp", "[13/03/2026, 14:05:01] Ada: Hello\n", "WhatsApp Chat - Bo/_chat.txt")
    assert records[0].session == "whatsapp:WhatsApp Chat - Bo"
