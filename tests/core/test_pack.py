"""Packing: the budget always holds, and what is left out is named."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.config.params.laws import TierParams
from priming.core.pack import LEVELS, Packable, Packed, estimate_tokens, pack
from priming.errors import ParamError

ANY_TEXT = st.text(st.characters(), max_size=40)
HITS = st.lists(
    st.builds(
        Packable,
        key=st.text("abc", min_size=1, max_size=4),
        name=ANY_TEXT,
        gist=ANY_TEXT,
        full=st.text(st.characters(), max_size=160),
        activation=st.floats(0, 1),
        least=st.sampled_from(LEVELS),
    ),
    max_size=7,
)
BUDGETS = st.integers(0, 150)


def hit(key, activation=1.0, *, full=40, gist=16, name=4, least="omit"):
    """A hit whose forms have so many bytes: four to a token."""
    return Packable(key, key * name, key * gist, key * full, activation, least)


def utf8_size(text):
    return len(text.encode("utf-8", "surrogatepass"))


def tiers_of(packed: Packed):
    return {entry.key: entry.tier for entry in packed.entries}


def test_tokens_are_a_quarter_of_the_bytes_rounded_up():
    assert [estimate_tokens("x" * n) for n in (0, 1, 4, 5, 8)] == [0, 1, 1, 2, 2]
    assert estimate_tokens("é" * 4) == 2
    assert estimate_tokens("漢字") == 2
    assert estimate_tokens("\ud800") == 1


@given(ANY_TEXT.filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text)))
def test_the_estimate_is_the_printed_formula(text):
    assert estimate_tokens(text) == math.ceil(len(text.encode("utf-8")) / 4)


def test_without_a_budget_everything_is_shown_whole_and_in_order():
    packed = pack([hit("b", 0.1), hit("a", 0.9)], None)
    assert packed.text == "b" * 40 + "\n" + "a" * 40
    assert tiers_of(packed) == {"b": "full", "a": "full"}
    assert packed.omitted == ()
    assert packed.tokens == estimate_tokens(packed.text)


def test_what_just_fits_is_left_as_it_is():
    hits = [hit("a"), hit("b"), hit("c")]
    exact = estimate_tokens(pack(hits, None).text)
    assert tiers_of(pack(hits, exact)) == {"a": "full", "b": "full", "c": "full"}
    assert tiers_of(pack(hits, exact - 1)) == {"a": "full", "b": "full", "c": "gist"}


def test_the_lowest_activation_sinks_first_and_spare_room_raises_it_again():
    hits = [hit("a", 0.2), hit("b", 0.9), hit("c", 0.5)]
    assert [tiers_of(pack(hits, budget)) for budget in (31, 25, 22, 20, 15)] == [
        {"a": "full", "b": "full", "c": "full"},
        {"a": "gist", "b": "full", "c": "full"},
        {"a": "name", "b": "full", "c": "full"},
        {"a": "gist", "b": "full", "c": "gist"},
        {"b": "full", "c": "gist"},
    ]


def test_of_equal_activations_the_later_hit_sinks_first():
    assert tiers_of(pack([hit("a"), hit("b")], 15)) == {"a": "full", "b": "gist"}


def test_the_order_of_the_hits_is_the_order_of_the_text():
    hits = [hit("a", 0.2), hit("b", 0.9), hit("c", 0.5), hit("d", 0.7)]
    for budget in range(45):
        shown = [entry.key for entry in pack(hits, budget).entries]
        assert shown == sorted(shown)


def test_room_that_one_large_hit_leaves_goes_to_the_others():
    hits = [hit("a", 0.9, full=4000, gist=4000, name=8), hit("b", 0.5), hit("c", 0.4)]
    assert tiers_of(pack(hits, 30)) == {"a": "name", "b": "full", "c": "full"}


def test_a_tier_that_saves_nothing_is_passed_over():
    same = Packable("a", "aaaa", "a" * 40, "a" * 40)
    longer = Packable("a", "aaaa", "a" * 80, "a" * 40)
    for item in (same, longer):
        assert tiers_of(pack([item], 9)) == {"a": "name"}


def test_a_hit_without_a_gist_sinks_to_its_name():
    assert tiers_of(pack([Packable("a", "aaaa", "", "a" * 40)], 9)) == {"a": "name"}


ACTIVATIONS = dict(zip("abcdefg", (1, 0.7, 0.69, 0.4, 0.39, 0.1, 0.09), strict=True))


def test_while_the_budget_lasts_all_are_told_whole_whatever_their_activation():
    hits = [hit(key, activation) for key, activation in ACTIVATIONS.items()]
    whole = estimate_tokens(pack(hits, None).text)
    for budget in (None, whole):
        assert set(tiers_of(pack(hits, budget, tiers=TierParams())).values()) == {"full"}
    assert list(tiers_of(pack(hits, whole - 1, tiers=TierParams())).values()) == ["full"] * 6 + ["gist"]


def test_hits_that_give_way_sink_to_the_tier_of_their_activation_before_any_sinks_further():
    hits = [hit(key, activation) for key, activation in ACTIVATIONS.items()]
    own = dict(zip("abcdef", ("full", "full", "gist", "gist", "name", "name"), strict=True))
    exact = estimate_tokens(
        "\n".join(each.form(LEVELS.index(own.get(each.key, "omit"))) for each in hits[:6])
    )
    packed = pack(hits, exact, tiers=TierParams())
    assert tiers_of(packed) == own
    assert [(item.key, item.reason) for item in packed.omitted] == [("g", "budget")]
    assert tiers_of(pack(hits, exact - 2, tiers=TierParams())) == {k: own[k] for k in "abcde"}


@each_row("least", ["full", "gist", "name"])
def test_a_hit_that_must_stay_ends_no_lower(least):
    rule = hit("a", 0.0, least=least)
    assert tiers_of(pack([rule], None, tiers=TierParams())) == {"a": "full"}
    others = [hit(key, 0.9) for key in "bcd"]
    enough = estimate_tokens(rule.form(LEVELS.index(least)))
    assert tiers_of(pack([rule, *others], enough)) == {"a": least}


@each_row("most", ["full", "gist", "name"])
def test_a_hit_is_told_no_longer_than_it_may_be(most):
    assert tiers_of(pack([replace(hit("a"), most=most), hit("b")], None)) == {"a": most, "b": "full"}
    assert tiers_of(pack([replace(hit("a", least="full"), most=most)], 1000)) == {"a": most}


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 60))
def test_nothing_of_a_lower_rank_is_told_while_more_of_a_higher_could_be(activations, budget):
    hits = [
        replace(hit(f"h{n}", value / 10, full=20, gist=8, name=2), rank=n % 2)
        for n, value in enumerate(activations)
    ]
    packed = pack(hits, budget, tiers=TierParams())
    tiers = tiers_of(packed)
    lower = [each.key for each in hits if not each.rank and each.key in tiers]
    for each in hits:
        longer = (
            "omit"
            if tiers.get(each.key) == "full" or not each.rank
            else LEVELS[LEVELS.index(tiers.get(each.key, "omit")) - 1]
        )
        if lower and longer != "omit":
            forms = {
                item.key: item.form(LEVELS.index(tiers[item.key]))
                for item in hits
                if item.key in tiers and item.key not in lower
            }
            forms[each.key] = each.form(LEVELS.index(longer))
            assert estimate_tokens("\n".join(forms.values())) > budget


def test_what_must_stay_and_cannot_is_omitted_with_its_reason():
    packed = pack([hit("a", 0.9, least="gist"), hit("b", 0.5, least="gist"), hit("c", 0.1)], 4)
    assert tiers_of(packed) == {"a": "gist"}
    assert [(item.key, item.reason, item.tokens) for item in packed.omitted] == [
        ("b", "budget: not even its gist fits", 10),
        ("c", "budget", 10),
    ]


def test_a_hit_that_must_stay_without_a_gist_stays_whole():
    bare = Packable("a", "name", "", "the whole text", 0.0, least="gist")
    assert tiers_of(pack([bare], None, tiers=TierParams())) == {"a": "full"}


def test_a_hit_with_nothing_to_show_says_so():
    assert pack([Packable("a", "", "", "")], None).omitted[0].reason == "nothing to show"


def test_header_and_footer_count_and_vanish_with_the_last_hit():
    item = hit("a", full=8, gist=4, name=4)
    assert pack([item], 5, header="<<<<", footer=">>>>>>>>").text == "<<<<aaaaaaaa>>>>>>>>"
    assert pack([item], 4, header="<<<<", footer=">>>>>>>>").text == "<<<<aaaa>>>>>>>>"
    empty = pack([item], 3, header="<<<<", footer=">>>>>>>>")
    assert (empty.text, empty.tokens, empty.entries) == ("", 0, ())
    assert pack([], 100, header="<<<<").text == ""


def test_a_budget_of_nothing_gives_an_empty_text():
    packed = pack([hit("a"), hit("b", least="full")], 0)
    assert (packed.text, packed.tokens, len(packed.omitted)) == ("", 0, 2)


@given(HITS, BUDGETS, st.booleans(), ANY_TEXT, ANY_TEXT, st.text(max_size=3))
def test_the_whole_text_is_never_over_budget(hits, budget, tiered, header, footer, separator):
    packed = pack(
        hits,
        budget,
        tiers=TierParams() if tiered else None,
        header=header,
        footer=footer,
        separator=separator,
    )
    assert estimate_tokens(packed.text) == packed.tokens <= budget
    assert len(packed.entries) + len(packed.omitted) == len(hits)
    shown = separator.join(entry.text for entry in packed.entries)
    assert packed.text == (f"{header}{shown}{footer}" if packed.entries else "")
    assert all(entry.text and entry.tokens == estimate_tokens(entry.text) for entry in packed.entries)


@given(HITS, BUDGETS)
def test_the_budget_holds_by_any_way_of_counting(hits, budget):
    def words(text):
        return len(text.split())

    packed = pack(hits, budget, tokens=words)
    assert words(packed.text) == packed.tokens <= budget


@given(HITS, BUDGETS)
def test_a_text_that_fits_is_not_cut(hits, budget):
    whole = pack(hits, None)
    if whole.tokens <= budget:
        assert pack(hits, budget) == whole


def test_letters_that_save_no_token_alone_make_room_in_the_sum():
    pair = [Packable(key, key, key * 3, key * 4, least="gist") for key in "abcd"]  # a token each, either way
    assert estimate_tokens("\n".join(item.gist for item in pair)) == 4
    assert estimate_tokens("\n".join(item.full for item in pair)) == 5
    assert list(tiers_of(pack(pair, 4))) == list("abcd")


@given(HITS, BUDGETS)
def test_what_must_stay_stays_while_its_shortest_forms_fit(hits, budget):
    def shortest(item):
        down_to = LEVELS.index(item.least)
        return min(filter(None, map(item.form, range(down_to + 1))), key=utf8_size, default="")

    must = [item for item in hits if item.least != "omit" and shortest(item)]
    if estimate_tokens("\n".join(map(shortest, must))) <= budget:
        shown = [entry.key for entry in pack(hits, budget).entries]
        assert all(shown.count(item.key) >= must.count(item) for item in must)


@given(HITS, BUDGETS)
def test_nothing_sinks_below_its_least_but_out(hits, budget):
    keyed = [Packable(str(i), h.name, h.gist, h.full, h.activation, h.least) for i, h in enumerate(hits)]
    for entry in pack(keyed, budget).entries:
        assert LEVELS.index(entry.tier) <= LEVELS.index(keyed[int(entry.key)].least)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6, unique=True), BUDGETS)
def test_of_hits_of_one_size_the_stronger_is_shown_no_smaller(activations, budget):
    hits = [hit(key, a) for key, a in zip("abcdef", activations, strict=False)]
    shown = tiers_of(pack(hits, budget))
    ranked = sorted(hits, key=lambda item: -item.activation)
    levels = [LEVELS.index(shown.get(item.key, "omit")) for item in ranked]
    assert levels == sorted(levels)


@each_row("budget", [-1, math.nan, math.inf, "many"])
def test_a_wrong_budget_is_refused(budget):
    with pytest.raises(ParamError, match="budget"):
        pack([], budget)


@each_row(("field", "value"), [("least", "nothing"), ("activation", math.nan), ("activation", math.inf)])
def test_a_wrong_hit_is_refused(field, value):
    with pytest.raises(ParamError, match=field):
        Packable("a", "a", "a", "a", **{field: value})
