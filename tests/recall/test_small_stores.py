"""What a store of a few notes answers."""

from datetime import UTC, datetime, timedelta

from tests.rows import each_row

from priming import FixedClock, HashedEmbedder, Memory

NOTES = {
    "allergy": "Vera is allergic to peanuts.",
    "deploy": "The deploy failed because the disk of Heron was full.",
    "office": "Our office moves to Linz in May.",
    "retries": "The billing service retries three times before it gives up.",
    "birthday": "Tom's birthday is on 4 July.",
}
MORE = {
    "cache": "We switched from Redis to Valkey for the cache.",
    "heron": "Heron has only 40 GB.",
    "report": "The quarterly report is due on Friday.",
    "cat": "The cat is called Miso and hates rain.",
    "staging": "The staging database is refreshed every Sunday night.",
    "tea": "Anna prefers tea to coffee.",
    "backups": "Backups are kept for 30 days in Frankfurt.",
    "login": "The login page times out after ten minutes.",
    "lock": "My bike lock code is in the blue notebook.",
    "printer": "The printer on floor 2 needs toner 78A.",
}
GERMAN = {
    "allergie": "Vera ist gegen Erdnüsse allergisch.",
    "büro": "Unser Büro zieht im Mai nach Linz um.",
    "geburtstag": "Tom hat am 4. Juli Geburtstag.",
    "katze": "Die Katze heißt Miso und hasst Regen.",
    "sicherung": "Sicherungen werden 30 Tage in Frankfurt aufbewahrt.",
    "drucker": "Der Drucker im zweiten Stock braucht Toner 78A.",
}


@each_row(
    ("notes", "answers"),
    [
        (
            NOTES,
            {
                "What is Vera allergic to?": "allergy",
                "where is the office going?": "office",
                "how often does billing retry?": "retries",
            },
        ),
        (
            NOTES | MORE,
            {
                "how long are backups kept?": "backups",
                "where is the code of the bike lock?": "lock",
                "peanuts": "allergy",
            },
        ),
        (
            GERMAN,
            {
                "Wogegen ist Vera allergisch?": "allergie",
                "Wann hat Tom Geburtstag?": "geburtstag",
                "Wie heißt die Katze?": "katze",
            },
        ),
    ],
)
def test_a_small_store_answers_with_what_was_asked_for_and_hardly_believes_the_others(notes, answers):
    with Memory.open("sqlite://") as memory:
        memory.remember_many({"content": text, "key": key} for key, text in notes.items())
        for cue, answer in answers.items():
            first, *others = memory.recall(cue).hits
            assert first.memory.key == answer
            assert all(hit.relevance < first.relevance / 5 for hit in others)


@each_row(
    "owner, incident, cue",
    [
        (
            "Priya owns the service Magpie, which sends all reminders.",
            "Magpie stopped after the update on Tuesday.",
            "Who should I call about the outage after Tuesday's update?",
        ),
        (
            "Falcon is our nightly import, and Ines maintains it.",
            "Falcon crashed because a column was missing.",
            "Who can fix the job that crashed on a missing column?",
        ),
        (
            "Der Server Hamster steht bei Jonas im Büro.",
            "Hamster ist gestern überhitzt und ausgegangen.",
            "In wessen Büro steht der Rechner, der überhitzt ist?",
        ),
    ],
)
def test_an_incident_leads_to_what_was_told_before_of_the_same_thing_and_does_not_outdate_it(
    owner, incident, cue
):
    clock = FixedClock(datetime(2026, 3, 2, tzinfo=UTC))
    for texts in ((owner, *MORE.values(), incident), (incident, *MORE.values(), owner)):
        with Memory.open("sqlite://", embedder="semantic", clock=clock) as memory:
            for text in texts:
                memory.remember(text)
                clock.at += timedelta(hours=7)
            assert {hit.memory.content for hit in memory.recall(cue).hits[:2]} == {incident, owner}


@each_row("cue, note", [("1200", "sum"), ("€1,200", "sum"), ("1200.50", "deposit"), ("12500", "tickets")])
def test_a_number_alone_finds_the_note_that_has_it_whatever_looks_alike(cue, note):
    with Memory.open("sqlite://", embedder="semantic") as memory:
        memory.remember("The deposit is 1200.50 euros.", key="deposit")
        memory.remember("We sold 12,500 tickets.", key="tickets")
        memory.remember("The invoice was for €1,200.", key="sum")
        memory.remember("Flight 1201 leaves at noon.", key="flight")
        assert memory.recall(cue).hits[0].memory.key == note


def test_what_the_model_cannot_read_is_found_by_its_words_and_waits_for_no_vector():
    with Memory.open("sqlite://") as memory:
        memory.remember("กำแพงสีน้ำเงิน", key="wall")
        memory.remember_many({"content": text} for text in MORE.values())
        memory.remember("🍕 on Friday with Ana", key="pizza")
        answer = memory.recall("🍕")
        assert (answer.hits[0].key, answer.degraded, memory.validate()) == ("pizza", (), [])
        assert memory.recall("กำแพง").hits[0].key == "wall"


def test_among_many_notes_of_one_kind_those_with_every_word_asked_for_are_answers():
    things, day = ("anchor", "mast", "rope", "winch"), datetime(2024, 5, 17, tzinfo=UTC)
    with Memory.open("sqlite://", embedder=HashedEmbedder(64)) as memory:
        memory.remember_many(
            {
                "content": f"Note {number}: the {things[number % 4]} was checked by crew {number % 7}.",
                "occurred_at": day,
            }
            for number in range(1_000)
        )
        result = memory.recall("the anchor")
        assert result.confidence < 0.01, "none of 250 alike is probable"
        assert len(result.hits) == 10
        assert all("anchor" in hit.content for hit in result.hits)
        assert all(hit.relevance >= result.floor for hit in result.hits)
        assert not memory.recall("the anchor", floor=0.02).hits


@each_row("embedder", ["semantic", "wordllama"])
def test_of_what_is_in_none_of_a_few_notes_nothing_is_told(embedder):
    with Memory.open("sqlite://", embedder=embedder) as memory:
        memory.remember_many({"content": text, "key": key} for key, text in NOTES.items())
        for cue in ("a recipe for lasagna", "What is the capital of Peru?", "Who won the world cup in 1998?"):
            assert not memory.recall(cue).hits
        # What was told today is nothing of tomorrow.
        assert not memory.recall("What is on tomorrow?").hits
        assert memory.recall("What did I tell you today?").hits


def test_a_question_of_common_words_alone_is_answered_by_its_meaning():
    with Memory.open("sqlite://", embedder="semantic") as memory:
        for text in ("I work as a florist.", "I am from Porto.", "The cat is called Momo."):
            memory.remember(text)
        assert memory.recall("Where am I from?").hits[0].memory.content == "I am from Porto."


OVEN = ("The oven is a Rational 61.", "The oven was repaired in May by Timo.", "Oona bakes rye on Mondays.")
TENT = ("Our tent sleeps five.", "Our tent has a hole in the roof.")
CLUB = (
    "The club meets on Wednesdays at six.",
    "Tickets cost 8 euros.",
    "From May on the club meets on Fridays at seven.",
)
CODE = ("Der Türcode ist 4471.", "Der Müll kommt am Dienstag.", "Der neue Türcode ist 9026.")


@each_row(
    "notes, cue, answer",
    [
        (OVEN, "Which make is the oven?", 0),
        (TENT, "How many people fit into the tent?", 0),
        (CLUB, "When does the club meet?", 2),
        (CODE, "Wie lautet der Türcode?", 2),
    ],
)
def test_among_few_notes_a_later_one_outdates_what_it_changes_and_not_what_else_is_said_of_the_thing(
    notes, cue, answer
):
    clock = FixedClock(datetime(2026, 3, 1, tzinfo=UTC))
    with Memory.open("sqlite://", embedder="semantic", clock=clock) as memory:
        for note in notes:
            memory.remember(note)
            clock.at += timedelta(days=9)
        assert memory.recall(cue).hits[0].memory.content == notes[answer]


def test_a_number_with_letters_is_told_from_one_that_looks_alike_however_it_is_written():
    codes = {
        "signal": "Error E1047 means no signal.",
        "heat": "Error E1074 means overheating.",
        "early": "Flight LH1234 leaves at 07:05.",
        "late": "Flight LH1243 leaves at 09:40.",
    }
    with Memory.open("sqlite://") as memory:
        memory.remember_many({"content": text, "key": key} for key, text in codes.items())
        for cue, key in (
            ("what does error 1047 mean?", "signal"),
            ("E1074", "heat"),
            ("when does LH 1234 leave?", "early"),
            ("LH1243", "late"),
        ):
            first, second = memory.recall(cue).hits[:2]
            assert first.memory.key == key, cue
            assert first.relevance > max(0.3, second.relevance), cue
