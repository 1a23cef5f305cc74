"""The facts of a subject and a slot, as a new one is compared with them."""

from priming.core.slots import Statement
from priming.engine.statements import Statements


def city(value: str) -> Statement:
    return Statement("ada", "city", value)


def stated(*facts: tuple[str, Statement]) -> Statements:
    found = Statements()
    for memory_id, one in facts:
        found.put(memory_id, one)
    return found


def test_beside_a_fact_stand_the_latest_of_its_place_by_their_ids() -> None:
    there = stated(
        ("2", city("Oslo")), ("9", Statement("ada", "port", "80")), ("3", city("Bergen")), ("1", city("Rome"))
    )
    assert there.beside(city("Paris"), 2) == [("3", "Bergen"), ("2", "Oslo")]
    assert there.beside(city("Paris"), 9) == [("3", "Bergen"), ("2", "Oslo"), ("1", "Rome")]
    assert there.beside(city("Paris"), 0) == there.beside(Statement("grace", "city", "Oslo"), 9) == []


def test_a_fact_that_goes_or_says_something_else_is_no_longer_beside_what_it_said() -> None:
    there = stated(("1", city("Oslo")), ("2", city("Bergen")))
    there.put("2", Statement("ada", "port", "80"))
    assert there.beside(city("Paris"), 9) == [("1", "Oslo")]
    there.drop("1")
    there.drop("1")
    assert there.beside(city("Paris"), 9) == []
    assert list(there) == [("2", "ada", "port", "80")]
