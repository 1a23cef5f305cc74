"""What two statements of the same words say of each other, by where the words stand."""

from tests.rows import each_row

from priming.text.statements.judge import judge


@each_row(
    ("first", "second"),
    [
        ("Before you sand the door, wash it", "Wash the door before sanding it"),
        ("Two pilots sign each log", "Each log is signed by two pilots"),
        ("The night crew cleans the hall", "The hall is cleaned by the night crew"),
        ("Keep rooms tidy", "Make tidy rooms"),
        ("Vouchers expire after 60 days", "Expire vouchers after 60 days"),
        ("Never disable disk quotas", "Always keep disk quotas enabled"),
        ("Use input validation", "Inputs should be validated"),
        ("Write signs in bold type", "Use bold type in signs"),
        ("Use the shed as the store", "Use the shed for the store"),
        ("Feed ducks and hens", "Feed hens and ducks"),
        ("Never log tokens or names", "Never log names or tokens"),
    ],
)
def test_voice_what_is_said_of_a_noun_and_a_free_list_make_no_difference(first, second):
    assert judge(first, second).kind == judge(second, first).kind == "same"


@each_row(
    ("first", "second"),
    [
        ("Wash, peel, chop", "Peel, wash, chop"),
        ("Dig, plant, then water the bed", "Plant, dig, then water the bed"),
        ("Return the name and the age", "Return the age and the name"),
        ("Opt in to the raffle", "Opt out of the raffle"),
        ("Cut the price to 10", "Cut the price by 10"),
        ("Put the lamp above the desk", "Put the lamp beside the desk"),
        ("Return keys and values", "Return values and keys"),
    ],
)
def test_the_order_of_steps_and_of_what_is_handed_over_and_the_way_something_goes_are_changes(first, second):
    assert judge(first, second).kind == judge(second, first).kind == "changes"


@each_row(
    ("first", "second"),
    [
        ("Keep tickets open", "Open tickets"),
        ("Pour two teas with milk", "Pour tea with two milks"),
        ("Users report bugs", "Report user bugs"),
        ("Group by teams and months", "Group by months and teams"),
        ("Load teams and rooms in this order", "Load rooms and teams in this order"),
        ("Lend pens and cups to boys and girls", "Lend cups and pens to boys and girls"),
        ("Update the guide and the index", "Update the index and the guide"),
        ("Push images to the registry", "Pull images from the registry"),
    ],
)
def test_what_the_places_of_words_do_not_decide_is_unclear(first, second):
    assert judge(first, second).kind == judge(second, first).kind == "unclear"
