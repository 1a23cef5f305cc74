"""Questions that name a date, over notes, a chat and a history."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from priming.config.profiles import PRIMING
from priming.embedding.wordllama import StaticEmbedder
from priming.recall.cue import CueReading
from priming.types import Cue, FixedClock

from .test_recall import keys

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)  # a Saturday
NOTES = {
    "rack": (-33, "The staging database moved to the new rack."),
    "invoices": (-31, "The invoices for October went out."),
    "flood": (-19, "Yesterday the office was flooded; the carpets are gone."),
    "app": (-15, "The mobile app 4.2 was released."),
    "standup": (-11, "We meet on Mondays at ten from now on."),
    "closed": (-10, "The office will be closed on Monday for the carpets."),
    "logs": (-6, "Moved cold logs to the cheaper tier."),
    "pager": (-5, "Pager went off at 3 am: disk full on worker-3."),
    "rebuilt": (-4, "Worker-3 was rebuilt with a larger disk."),
    "shop": (-2, "Renewed the certificate of the shop."),
    "laptop": (-1, "We ordered a new laptop for Ben."),
}


@pytest.fixture(scope="module")
def model(open_shared):
    memory = open_shared(embedder=StaticEmbedder(), clock=FixedClock(NOW))
    for key, (days, text) in NOTES.items():
        memory.remember(text, key=key, occurred_at=NOW + timedelta(days=days))
    return memory


@pytest.fixture
def notes(model, copy_of):
    return copy_of(model, embedder=model.embedder, clock=FixedClock(NOW))


@pytest.mark.parametrize(
    ("cue", "result"),
    [
        ("what happened on Monday?", {"pager", "closed", "standup"}),  # the others name Mondays
        ("What happened Monday?", {"pager", "closed", "standup"}),
        ("Monday the 23rd", {"pager"}),
        ("what did we do last week?", {"standup", "closed", "logs"}),
        ("What was noted on the 9th?", {"flood"}),
        ("what happened between 8 and 13 November?", {"flood", "app"}),
        ("what's new since Wednesday?", {"shop", "laptop"}),
        ("the day before yesterday", {"shop"}),
        ("what changed in October?", {"rack", "invoices"}),
    ],
)
def test_what_happened_then_is_what_is_of_the_date_or_names_it_and_nothing_else(notes, cue, result):
    assert set(keys(notes.recall(cue))) == result


def test_what_of_it_is_asked_comes_first_and_a_date_is_no_other_day(notes):
    assert keys(notes.recall("what was ordered yesterday?"))[0] == "laptop"
    assert keys(notes.recall("when is the office closed?"))[0] == "closed"
    assert keys(notes.recall("was something rebuilt on Tuesday?"))[0] == "rebuilt"


def test_where_nothing_is_of_the_date_the_answer_says_so(notes):
    recall = notes.recall("what happened on 3 May?")
    assert not recall.hits
    assert "3 May" in recall.reason
    assert keys(notes.recall("what happened in January?")) == []
    notes.remember("Prices go up in January.", key="prices", occurred_at=NOW - timedelta(days=3))
    assert keys(notes.recall("what happens in January?")) == ["prices"]
    assert not notes.recall("what happened last year?").hits


def test_a_verdict_on_one_day_does_not_bring_its_memories_up_on_another(notes):
    notes.feedback(notes.recall("What happened on Monday?").recall_id, used=["pager"])
    notes.feedback(notes.recall("What happened last week?").recall_id, used=["logs"])
    assert keys(notes.recall("What happened on Tuesday?")) == ["rebuilt"]
    week_later = Cue("What happened last week?", at=NOW + timedelta(days=7))
    assert "logs" not in keys(notes.recall(cue=week_later))


def test_of_a_chat_the_day_decides_too(open_memory):
    memory = open_memory(embedder=StaticEmbedder(), clock=FixedClock(NOW))
    message = (
        *("Did you talk to the landlord?", "He said he would call back.", "I said nothing of the tap."),
        *("The soup is on the stove.", "I bought blue paint.", "Great, we talk on Monday."),
        *("The bus was late again.", "Mine too, forty minutes.", "Next time I take the bike."),
    )
    for i, text in enumerate(message):
        memory.remember(
            text,
            key=f"{i // 3}-{i % 3}",
            speaker=("Ida", "Olaf")[i % 2],
            session=f"day {i // 3}",
            occurred_at=NOW + timedelta(days=i // 3 - 5, minutes=i),
        )
    for cue in ("What was said on 24 November?", "what did we talk about on Tuesday?"):
        assert set(keys(memory.recall(cue))) == {"1-0", "1-1", "1-2"}
    assert keys(memory.recall("What did Olaf say on Tuesday?"))[0] in {"1-0", "1-2"}


def test_of_a_history_the_commits_of_the_day_come_though_none_has_its_words(open_memory):
    memory = open_memory(embedder=StaticEmbedder(), clock=FixedClock(NOW))
    memory.remember_many(
        {
            "content": f"Change the {thing}\n\nWhat changed on disk was not read.",
            "key": f"{day}-{thing}",
            "source": "tool",
            "speaker": "Kim",
            "occurred_at": NOW - timedelta(days=day),
        }
        for day in range(12)
        for thing in ("parser", "cache", "pool", "docs")
    )
    result = keys(memory.recall("What changed on 21 November?"))
    assert len(result) == 4
    assert all(key.startswith("7-") for key in result)


def reading_of(memory, cue):
    """A cue as the memory reads it."""
    return CueReading(memory.working(memory.now()), memory.embedder, cue, PRIMING.recall, memory.now())


def answer(open_memory, *rows):
    memory = open_memory(embedder=StaticEmbedder(), clock=FixedClock(NOW))
    for key, text, days, *speaker in rows:
        session = {"speaker": speaker[0], "session": f"day {days}"} if speaker else {}
        memory.remember(text, key=key, occurred_at=NOW + timedelta(days=days), **session)
    return memory


def test_who_is_called_like_a_month_is_no_date(open_memory):
    memory = answer(
        open_memory,
        ("volvo", "I sold the old Volvo.", -9, "April"),
        ("price", "How much did you get?", -9, "Bo"),
        ("ice", "I am reading a book about glaciers.", -230, "Bo"),
    )
    assert keys(memory.recall("what did April say?"))[0] == "volvo"
    assert keys(memory.recall("what was said in April?")) == ["ice"]


def test_a_report_of_a_month_is_no_report_of_what_happened_in_it(open_memory):
    memory = answer(
        open_memory,
        ("report", "The March report says sales fell by 4 percent.", -230),
        ("curtains", "Curtains were hung.", -265),
        ("total", "Last week's report contains a wrong total.", -4),
        ("lamp", "The lamp was fixed.", -9),
    )
    assert keys(memory.recall("what does the March report say?"))[0] == "report"
    assert keys(memory.recall("what is in last week's report?"))[0] == "total"


def test_what_somebody_did_that_day_is_told_by_them_or_not_at_all(open_memory):
    memory = answer(
        open_memory,
        ("run", "On Saturday I ran the marathon in Graz.", -5, "Bo"),
        ("wow", "Wow, how was it?", -5, "Ana"),
        ("weather", "Nice weather here.", -7, "Cy"),
    )
    assert keys(memory.recall("what did Bo do on Saturday?"))[0] == "run"
    assert keys(memory.recall("what did Cy say on Saturday?"))[0] == "weather"


def test_what_names_the_day_belongs_to_it_whenever_it_was_told(open_memory):
    memory = answer(
        open_memory,
        ("fire", "On 5 November the server room caught fire.", -20),
        ("soup", "Soup was eaten.", -23),
        ("dentist", "The dentist appointment is on Friday.", -3),
        ("bike", "The bike was repaired.", -1),
    )
    assert set(keys(memory.recall("what happened on 5 November?"))) == {"fire", "soup"}
    assert set(keys(memory.recall("what do I have on Friday?"))) == {"dentist", "bike"}


PLANS = {
    "vet": "The vet sees Minka on 29 November at ten.",
    "tuner": "Piano tuner: 2026-12-02",
    "oma": "Oma's birthday is on December 4th.",
    "tour": "The choir sings in Ghent from 3 to 5 December.",
    "roofer": "Der Dachdecker kommt am 9. Dezember.",
    "fair": "Der Markt ist am 12.12.2026.",
    "lease": "The lease of the van ends in March 2027.",
    "past": "The van was washed on 2 February.",
    "task": "The van was washed. Wax it by 10 December.",
    "jam": "Jam keeps for two years.",
}


@pytest.mark.parametrize(
    ("cue", "result"),
    [
        ("what do I have tomorrow?", {"vet"}),
        ("what happens on 29 November?", {"vet"}),
        ("what's on next week?", {"tuner", "oma", "tour"}),
        ("was ist nächste Woche?", {"tuner", "oma", "tour"}),
        ("what is on 4 December?", {"oma", "tour"}),
        ("what is on 12 December 2026?", {"fair"}),
        ("what's on next month?", {"tuner", "oma", "tour", "roofer", "fair", "task"}),
        ("what is on 10 December?", {"task"}),
        ("what happened on 2 February 2026?", {"past"}),
        ("what happened on 2 February 2025?", set()),
        ("what do I have in March 2027?", {"lease"}),
        ("what do I have on Friday?", {"oma", "tour"}),
        ("what happened in December 2025?", {"oma", "tour", "roofer", "task"}),
    ],
)
def test_a_day_that_a_text_names_is_of_the_date_in_whatever_words_either_names_it(open_memory, cue, result):
    memory = open_memory(embedder=StaticEmbedder(), clock=FixedClock(NOW))
    for key, text in PLANS.items():
        memory.remember(text, key=key)
    hits = memory.recall(cue).hits
    assert {hit.memory.key for hit in hits if hit.relevance > 0.15} == result


def test_before_and_after_a_date_are_the_days_beyond_it(open_memory):
    days = {"lamp": -24, "tea": -22, "wall": -20, "bus": -18}
    memory = answer(open_memory, *((key, f"The {key} was noted.", day) for key, day in days.items()))
    for cue, result in (
        ("what happened before 6 November?", {"lamp"}),
        ("what happened until 6 November?", {"lamp", "tea"}),
        ("what happened after 8 November?", {"bus"}),
        ("what happened on Sunday, November 8?", {"wall"}),
        ("what happened this year?", set(days)),
        ("what happened in 2026?", set(days)),
    ):
        assert set(keys(memory.recall(cue))) == result, cue


def test_days_are_those_of_the_zone_in_which_one_asks(open_memory):
    tokyo = timezone(timedelta(hours=9))
    memory = open_memory(embedder=StaticEmbedder(), clock=FixedClock(NOW))
    for key, day, hour in (("jam", 9, 7), ("noodles", 10, 3)):
        memory.remember(
            f"There were {key}.", key=key, occurred_at=datetime(2026, 11, day, hour, tzinfo=tokyo)
        )
    at = datetime(2026, 11, 12, 8, tzinfo=tokyo)
    assert keys(memory.recall(cue=Cue("what happened on Monday?", at=at))) == ["jam"]
    assert keys(memory.recall(cue=Cue("what happened on Tuesday?", at=at))) == ["noodles"]
    utc = datetime(2026, 11, 12, 8, tzinfo=UTC)
    assert keys(memory.recall(cue=Cue("what happened on Monday?", at=utc))) == ["noodles"]


def test_a_verdict_on_a_question_without_a_date_says_nothing_of_one_with_a_date(open_memory):
    memory = answer(
        open_memory,
        ("build", "The build broke because of a stale cache.", -5),
        ("mixer", "The mixer broke.", -4),
        ("vase", "The vase broke.", -12),
        ("api", "The API changed.", -50),
        ("tea", "Tea was bought.", -60),
    )
    cue = "what broke on Monday?"
    before = [(hit.memory.key, hit.relevance) for hit in memory.recall(cue, floor=0.0).hits]
    memory.feedback(memory.recall("what broke?").recall_id, used=["vase"], not_relevant=["build"])
    after = {hit.memory.key: hit.relevance for hit in memory.recall(cue, floor=0.0).hits}
    assert after == pytest.approx(dict(before), abs=0.05)  # the vase was used once more
    memory.feedback(memory.recall(cue).recall_id, not_relevant=["build"])
    hits = memory.recall("what broke on 23 November?", floor=0).hits
    assert next(hit for hit in hits if hit.memory.key == "build").components["feedback"] < 0


@pytest.mark.parametrize("profile", ["floop", "synapse", "ethos", "arc", "poc", "world-weaver"])
def test_the_other_profiles_take_a_cue_as_it_stands(model, copy_of, profile):
    memory = copy_of(model, embedder=model.embedder, clock=FixedClock(NOW), profile=profile)
    cue = "what happened on Monday?"
    with_date, without = (memory.recall(cue, floor=0, ablate=ablate) for ablate in ((), ["date"]))
    assert [(h.memory.key, h.score) for h in with_date.hits] == [
        (h.memory.key, h.score) for h in without.hits
    ]
    assert memory.recall("what happened on 3 May?", floor=0).reason is None


def test_what_has_no_time_is_of_the_day_on_which_it_was_told_and_shows_it(open_memory):
    clock = FixedClock(NOW)
    memory = open_memory(embedder=StaticEmbedder(), clock=clock)
    memory.remember("The plumber is called Horvath.", key="plumber", occurred_at=NOW - timedelta(days=30))
    clock.at = NOW - timedelta(days=3)
    memory.remember("The attic needs a new lamp.", key="attic")
    clock.at = NOW
    memory.remember("The spare key is under the pot.", key="pot")
    assert set(keys(memory.recall("what did I tell you today?"))) == {"pot"}
    assert set(keys(memory.recall("what did I tell you three days ago?"))) == {"attic"}
    assert '- [pot] (2026-11-28) "' in memory.recall("where is the spare key?").text


def test_yesterday_is_the_day_before_it_was_told_in_a_cue_and_in_the_packed_text(open_memory):
    memory = open_memory(embedder=StaticEmbedder(), clock=FixedClock(NOW))
    memory.remember("Yesterday the gutter came down.", key="gutter")
    memory.remember("Three days ago the fence was painted.", key="fence")
    memory.remember("Gestern fiel der Strom aus.", key="strom", occurred_at=NOW - timedelta(days=9))
    for cue, result in (
        ("what happened yesterday?", {"gutter"}),
        ("what happened on 25 November?", {"fence"}),
        ("what happened on 18 November?", {"strom"}),
        ("what was noted on 19 November?", {"strom"}),
        ("what did I tell you today?", {"gutter", "fence"}),
    ):
        assert set(keys(memory.recall(cue))) == result, cue
    assert "- [gutter] (2026-11-27, told 2026-11-28)" in memory.recall("what happened yesterday?").text


def test_the_day_of_an_import_is_no_day_of_what_was_imported(open_memory):
    memory = open_memory(embedder=StaticEmbedder(), clock=FixedClock(NOW))
    memory.remember_many(
        {"content": f"Recipe number {n} needs salt.", "key": f"recipe-{n}", "source": "markdown:/recipes"}
        for n in range(5)
    )
    memory.remember("The oven is too hot on the left.", key="oven")
    assert keys(memory.recall("what did I tell you today?")) == ["oven"]
    assert "(2026" not in memory.recall("which recipe needs salt?").text


def test_what_somebody_names_the_origin_of_was_told_when_it_was_stored(open_memory):
    clock = FixedClock(NOW - timedelta(days=3))
    memory = open_memory(embedder=StaticEmbedder(), clock=clock)
    memory.remember("Rehearsal is on Thursday at 19:30", key="old", source="mem0")
    memory.remember("The hall is heated from six.", key="hall", source="https://choir.example/hall")
    clock.at = NOW
    memory.remember("Rehearsal moved to Friday at 20:00", key="new", source="a letter of Ines")
    assert keys(memory.recall("when is rehearsal?"))[:2] == ["new", "old"]
    assert set(keys(memory.recall("what did I tell you today?"))) == {"new"}
    assert set(keys(memory.recall("what did I tell you three days ago?"))) == {"old", "hall"}


@pytest.mark.parametrize(("slashed", "day"), [("13/10/2026", 11), ("10/13/2026", 3)])
def test_day_and_month_come_in_the_order_of_the_other_dates_of_the_store(open_memory, slashed, day):
    memory = answer(
        open_memory,
        ("paid", f"Paid the fees on {slashed}.", -46),
        ("third", "The roof was mended.", -25),  # 3 November
    )
    memory.remember("The shed was sold.", key="eleventh", occurred_at=datetime(2026, 3, 11, 9, tzinfo=UTC))
    assert keys(memory.recall("what happened on 11/03/2026?")) == [{11: "eleventh", 3: "third"}[day]]


@pytest.mark.parametrize(
    ("user", "assistant"),
    [("user", "assistant"), ("Ines", "assistant"), ("Human", "AI"), ("Ines", "model")],
)
def test_i_and_you_are_the_user_and_the_assistant_by_any_role(open_memory, user, assistant):
    memory = answer(
        open_memory,
        ("question", "Which tent is light enough for two?", -1, user),
        ("answer", "The two-person tunnel tent of 1.4 kg.", -1, assistant),
    )
    for cue, named in (
        ("what did I ask you yesterday?", ["I", "you"]),
        ("what did you recommend to me?", ["you"]),
        ("can you tell me what I said about the tent?", ["I"]),
        ("do you remember the tent?", []),
        ("Was habe ich dich gestern gefragt?", ["I"]),
        ("Was hast du mir empfohlen?", ["you"]),
        ("Kannst du mir sagen, was ich gefragt habe?", ["I"]),
        ("Qu'est-ce que tu m'as conseillé pour la tente ?", ["you"]),
        ("Qu'est-ce que j'ai demandé hier ?", ["I"]),
        ("¿Qué te pregunté ayer?", ["I"]),
        ("¿Qué dijiste tú de la tienda?", ["you"]),
        ("what was said of the tent?", []),
    ):
        reading = reading_of(memory, cue)
        expected = [reading.working.titles[{"I": user, "you": assistant}[name]] for name in named]
        assert list(reading.named_speakers) == expected, cue


def test_names_are_speakers_in_the_order_of_the_cue_and_nobody_is_where_nobody_spoke(open_memory):
    memory = answer(open_memory, ("a", "The bus is late.", -1, "Ana"), ("b", "Take mine.", -1, "Bo"))
    reading = reading_of(memory, "what did Bo tell Ana? and what did I say?")
    assert list(reading.named_speakers) == [reading.working.titles["Bo"], reading.working.titles["Ana"]]
    notes = answer(open_memory, ("c", "The bus is late.", -1))
    assert not reading_of(notes, "what did I say?").named_speakers.size


def test_what_i_asked_is_not_what_was_answered(open_memory):
    memory = answer(
        open_memory,
        ("question", "Which tent is light enough for two?", -1, "user"),
        ("answer", "The two-person tunnel tent of 1.4 kg.", -1, "assistant"),
        ("note", "The stove was packed.", -1),
    )
    query, answered = (
        keys(memory.recall(f"what did {cue} yesterday?")) for cue in ("I ask you", "you tell me")
    )
    assert set(query[:2]) == {"question", "note"}
    assert set(answered[:2]) == {"answer", "note"}
