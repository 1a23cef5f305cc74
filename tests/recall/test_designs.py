"""Each profile is its own design: what it answers is worked out again by hand, with dictionaries and loops."""

import math
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from shutil import copy

import numpy as np
import pytest

from priming import Cue, FixedClock, HashedEmbedder, Memory
from priming.config import profiles
from priming.core import score
from priming.core.base_level import base_level_score, optimized
from priming.core.lexical import scaled
from priming.core.spread import inhibit, squash
from priming.recall.evidence import Evidence

NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
CUE = Cue("Did Zed play the banjo or the violin?", language="go")
WORDS = (
    *("violin", "trumpet", "clarinet", "oboe", "tuba", "horn"),
    *("guitar", "banjo", "cello", "piano", "viola", "lute"),
)
KINDS = ("episode", "fact", "procedure", "behavior")


@pytest.fixture
def clock():
    return FixedClock(NOW)


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """Forty memories of all ages, alike and not, with links by rule and by hand: their file, and what time it is."""
    path, clock = tmp_path_factory.mktemp("lived") / "memory.db", FixedClock(NOW)
    with Memory.open(f"sqlite:///{path}", embedder=HashedEmbedder(256), clock=clock) as memory:
        tell(memory, clock)
    return path, clock.at


@pytest.fixture
def reply(lived, tmp_path, open_memory, clock):
    """A copy of that store."""
    path, clock.at = lived
    return open_memory(f"sqlite:///{copy(path, tmp_path)}")


def tell(memory, clock):
    rng = random.Random(11)
    for i in range(40):
        words = rng.sample(WORDS, rng.randint(1, 3))
        memory.remember(
            " ".join(["they", *words, rng.choice(["Zed", "Oslo", ""])]),
            key=f"k{i}",
            kind=rng.choice(KINDS),
            session=rng.choice([None, "a", "b"]),
            outcome=rng.choice([None, "success", "failure"]),
            importance=rng.random(),
            when=rng.choice(
                [None, None, {"language": "go"}, {"language": "go", "task": "x"}, {"language": "c"}]
            ),
        )
        clock.at += timedelta(hours=rng.randint(1, 36))
    for _ in range(25):
        a, b = rng.sample(range(40), 2)
        relation = rng.choice(["requires", "co-activated", "similar-to", "conflicts", "overrides"])
        memory.link(f"k{a}", f"k{b}", relation, rng.random())


# The same by hand


def evidence(memory, cue=CUE, profile=profiles.ARC):
    """Cosine, BM25 and context of each memory that may answer, by key."""
    working = memory.working(memory.now())
    result = Evidence(working, memory.embedder, cue.text, profile.recall, memory.now())
    records = {record.id: record for record in memory.list(limit=1000)}
    parts = {}
    for memory_id, record in records.items():
        document = working.document[working.row_of[memory_id]]
        values = (float(result.cosine[document]), float(result.literal[document]), fit(record, cue))
        if values[2] is not None:
            parts[record.key] = values
    return parts


def fit(record, cue):
    """Activation by predicates: 0 without any, None if the cue contradicts one."""
    supplied = cue.context()
    expected = {name: value for name, value in record.when.items() if name in supplied}
    if any(supplied[name] != value for name, value in expected.items()):
        return None
    return score.partial_activation(len(expected), len(record.when)) if expected else 0.0


def share(record, activation):
    """The share of predicates that hold; without any, .5 for a rule, and for anything else its activation."""
    if not record.when:
        return 0.5 if record.kind == "behavior" else activation
    return sum(value == CUE.context().get(name) for name, value in record.when.items()) / len(record.when)


def anchors(memory, profile, limit):
    parts = evidence(memory, profile=profile)
    values = {key: cosine for key, (cosine, _, _) in parts.items()}
    if profile.anchors.evidence == "fused":
        lexical = dict(zip(parts, scaled([bm25 for _, bm25, _ in parts.values()]), strict=True))
        values = {k: max(c, 0.5 * (c + lexical[k]), fits) for k, (c, _, fits) in parts.items()}
    chosen = {}
    for is_episode, count in ((True, profile.anchors.episodes), (False, profile.anchors.facts)):
        several = [
            key for key in values if (memory.get(key).kind == "episode") == is_episode and values[key] > 0
        ]
        most = max(count, limit) if profile.anchors.widen else count
        best = sorted(several, key=lambda key: -values[key])[:most]
        chosen |= {key: values[key] for key in best}
    return chosen


SUPPRESSING = ("conflicts", "overrides", "deprecated-to", "merged-into")


def arrows(memory, profile):
    """Every way that a link can be walked: (from, to, effective weight, hours, suppressing)."""
    factors, now = dict(profile.links.by_relation), memory.now()
    for link in memory.links():
        weight = link.weight * factors.get(link.relation, profile.links.others)
        hours = (now - link.created_at).total_seconds() / 3600
        against = link.relation in SUPPRESSING
        yield link.source, link.target, weight, hours, against
        mirrored = profile.links.mirror and link.relation == "similar-to"
        if (link.relation == "conflicts") if against else (profile.spread.direction == "both" or mirrored):
            yield link.target, link.source, weight, hours, against


def spread_by_hand(memory, profile, start):
    p, ways = profile.spread, list(arrows(memory, profile))
    nodes = {end for way in ways for end in way[:2]} | set(start)
    a = {node: start.get(node, 0.0) for node in nodes}
    for _ in range(p.steps):
        gained, lost = {node: [] for node in nodes}, dict.fromkeys(nodes, 0.0)
        for source, target, weight, hours, against in ways:
            if a[source] < p.epsilon or a[source] == 0 or weight == 0:
                continue
            norm = 1.0
            if p.normalise == "fan":
                own = [(t, w) for s, t, w, _, x in ways if s == source and x == against and w > 0]
                norm, parallel = len({t for t, _ in own}), [w for t, w in own if t == target]
                if against or p.combine == "sum":
                    weight *= min(1.0, max(1.0, *parallel) / sum(parallel))
            amount = a[source] * p.gain * p.hop_decay * weight * math.exp(-p.rho * hours) / norm
            if against:
                lost[target] += amount
            else:
                gained[target].append(amount)
        if p.combine == "max":
            a = {n: max(0.0, max([p.retention * a[n], *gained[n]]) - lost[n]) for n in nodes}
        else:
            a = {n: max(0.0, p.retention * a[n] + sum(gained[n]) - lost[n]) for n in nodes}
    return {node: value for node, value in a.items() if value > 0}


def after_by_hand(memory, profile, active):
    """Inhibit, cut, squash."""
    order = sorted(active, key=lambda key: (-active[key], number(memory, key)))
    values = np.array([active[key] for key in order])
    if profile.inhibit:
        values = inhibit(values, beta=0.15, winners=7, pool="mean")
    rest = [
        (key, float(value))
        for key, value in zip(order, values, strict=True)
        if value >= profile.spread.epsilon
    ]
    squashing = {"gain": profile.squash.gain, "centre": profile.squash.centre}
    return {key: squash(value, **squashing) for key, value in rest}


def number(memory, key):
    return memory._working.row_of[memory.get(key).id]


def in_degrees(memory, profile, active):
    """How many links lead into what is active, of those out of what is active; similarity leads both ways."""
    into, factors = dict.fromkeys(active, 0), dict(profile.links.by_relation)
    for link in memory.links():
        if link.weight * factors.get(link.relation, profile.links.others) > 0:
            ways = [(link.source, link.target)]
            ways += [(link.target, link.source)] if link.relation == "similar-to" else []
            for source, target in ways:
                if source in active and target in into:
                    into[target] += 1
    return into


def agree(answer, totals):
    """The best of the totals, in order; and the order of what is equal is of no account here."""
    assert [hit.score for hit in answer.hits] == pytest.approx(
        sorted(totals.values(), reverse=True)[: len(answer.hits)]
    )
    for hit in answer.hits:
        assert hit.score == pytest.approx(totals[hit.memory.key], rel=1e-6), hit.memory.key


LIMIT = 12


def test_ethos_is_cosine_activation_and_in_degree(reply):
    profile = profiles.ETHOS
    active = spread_by_hand(reply, profile, anchors(reply, profile, LIMIT))
    degrees = in_degrees(reply, profile, active)
    cosine = {key: parts[0] for key, parts in evidence(reply, profile=profile).items()}
    most = max(degrees.values())
    totals = {k: score.ethos(cosine[k], active[k], degrees[k], most).total for k in active if k in cosine}
    answer = reply.recall(cue=CUE, profile="ethos", limit=LIMIT)
    agree(answer, totals)
    assert len(answer.hits) == LIMIT


@pytest.mark.parametrize("how", ["not spreading", "ablated", "no gain", "no links"])
def test_ethos_collapses_to_cosine_where_nothing_spreads(reply, open_memory, how):
    memory, more = reply, {"profile": "ethos"}
    if how == "not spreading":
        more["spread"] = False
    elif how == "ablated":
        more["ablate"] = ["spread"]
    elif how == "no gain":
        memory.profile = replace(profiles.ETHOS, spread=replace(profiles.ETHOS.spread, gain=0.0))
        more = {}
    else:
        memory = open_memory()
        memory.remember_many(
            {"content": f"they {word} {other}"} for word in WORDS for other in ("sang", "slept")
        )
        memory.profile = replace(
            profiles.ETHOS, links=replace(profiles.ETHOS.links, by_relation=(("similar-to", 0.0),))
        )
        more = {}
    result = evidence(memory, profile=profiles.ETHOS)
    cosine = {key: parts[0] for key, parts in result.items() if parts[0] > 0}
    answer = memory.recall(cue=CUE, limit=LIMIT, **more)
    agree(answer, cosine)
    assert [dict(hit.components) for hit in answer.hits] == [
        {"cosine": pytest.approx(hit.score)} for hit in answer.hits
    ]


def test_floop_is_context_base_level_feedback_and_priority(reply):
    profile = profiles.FLOOP
    active = after_by_hand(reply, profile, spread_by_hand(reply, profile, anchors(reply, profile, LIMIT)))
    totals = {}
    for key in evidence(reply):
        if key in active:
            base = base_level_score(optimized(0, 1.0), 0)
            context = share(reply.get(key), active[key])
            totals[key] = score.floop(
                context,
                base,
                score.feedback_ratio(0, 0, 0),
                score.priority_score(0),
                boost=1.5 if reply.get(key).kind == "behavior" else 1,
            ).total
    answer = reply.recall(cue=CUE, profile="floop", limit=LIMIT)
    agree(answer, totals)
    assert all(hit.components["base"] == hit.components["feedback"] == 0.5 for hit in answer.hits)


@pytest.mark.parametrize(
    ("rule", "boost"), [("constraint", 2), ("directive", 1.5), ("preference", 1), (None, 2)]
)
def test_floop_boosts_a_rule_by_its_kind_as_given_or_else_as_its_words_tell(open_memory, rule, boost):
    memory = open_memory()
    memory.remember("Never deploy on a Friday.", kind="behavior", metadata={"rule": rule} if rule else {})
    (hit,) = memory.recall("deploy on Friday", profile="floop").hits
    parts = {name: hit.components[name] for name in ("context", "base", "feedback", "priority")}
    assert hit.score == pytest.approx(score.floop(**parts).total * boost)


def test_poc_is_activation_times_node_weight(reply):
    profile = profiles.POC
    active = spread_by_hand(reply, profile, anchors(reply, profile, LIMIT))
    answer = reply.recall(cue=CUE, profile="poc", limit=LIMIT)
    agree(answer, {key: value * 0.5 for key, value in active.items() if key in evidence(reply)})
    for hit in answer.hits:
        assert hit.components["node_weight"] == hit.memory.weight == 0.5
        assert hit.score == pytest.approx(score.poc(hit.components["activation"], 0.5).total)


def test_synapse_is_semantic_activation_and_centrality(reply):
    answer = reply.recall(cue=CUE, profile="synapse", limit=LIMIT)
    profile, parts = profiles.SYNAPSE, evidence(reply)
    active = after_by_hand(reply, profile, spread_by_hand(reply, profile, anchors(reply, profile, LIMIT)))
    assert len(answer.hits) == LIMIT
    for hit in answer.hits:
        c = hit.components
        assert c["semantic"] == pytest.approx(parts[hit.memory.key][0])
        assert c["activation"] == pytest.approx(active[hit.memory.key])
        assert 0 <= c["centrality"] <= 1
        assert hit.score == pytest.approx(
            score.synapse(c["semantic"], c["activation"], c["centrality"]).total
        )


def test_arc_is_relevance_effectiveness_and_recency(reply, clock):
    totals = {}
    for key, (cosine, _, _) in evidence(reply).items():
        days = (clock.at - reply.get(key).recorded_at).total_seconds() / 86400
        if cosine > 0:
            totals[key] = 0.5 * cosine + 0.3 * 0.5 + 0.2 * 2 ** (-days / 7)
    answer = reply.recall(cue=CUE, profile="arc", limit=LIMIT)
    agree(answer, totals)
    assert all(set(hit.components) == {"relevance", "effectiveness", "recency"} for hit in answer.hits)


def test_world_weaver_scores_each_kind_by_its_own_law(reply, clock):
    answer = reply.recall(cue=CUE, profile="world-weaver", limit=40)
    cosine = {key: parts[0] for key, parts in evidence(reply).items()}
    for hit in answer.hits:
        item, c = hit.memory, hit.components
        days = (clock.at - item.recorded_at).total_seconds() / 86400
        semantic, recency = cosine[item.key], math.exp(-0.1 * days)
        if item.kind == "episode":
            outcome = {"success": 1.0, "failure": 0.67, None: 0.83}[item.outcome]
            expected = 0.4 * semantic + 0.25 * recency + 0.2 * outcome + 0.15 * item.importance
        elif item.kind == "procedure":
            expected = 0.5 * semantic + 0.3 * 0.5 + 0.2 * recency
        else:
            rest = (1 + 0.9 * days) ** -0.5
            assert c["retrievability"] == pytest.approx(rest)
            assert 0 < c["activation"] < 1
            expected = 0.4 * semantic + 0.35 * c["activation"] + 0.25 * rest
        assert hit.score == pytest.approx(expected, abs=1e-6)
    assert {hit.memory.kind for hit in answer.hits} == set(KINDS)


def test_world_weaver_without_noise_adds_base_level_and_association(reply, clock):
    quiet(reply)
    names = {"Zed": "entity:zed"}
    mentioned = {x.source: x.weight for x in reply.links("entity:zed", relation="mentions")}
    seen = 0
    for hit in reply.recall(cue=CUE, limit=40).hits:
        if hit.memory.kind in ("fact", "behavior"):
            hours = (clock.at - hit.memory.recorded_at).total_seconds() / 3600
            base = math.log(1) - 0.5 * math.log(max(hours, 0.001))
            # The cue names an entity that the memory mentions; its fan is the number of memories that do.
            strength = mentioned.get(hit.memory.key, 0.0)
            association = strength * (1.6 - math.log(len(mentioned)))
            total = base + association / len(names)
            assert hit.components["activation"] == pytest.approx(1 / (1 + math.exp(-total)))
            seen += strength > 0
    assert seen


def quiet(memory):
    """World Weaver without noise."""
    law = replace(profiles.WORLD_WEAVER.base_level_params, noise=0.0)
    memory.profile = replace(profiles.WORLD_WEAVER, base_level_params=law)
    return memory


def active(memory, text):
    """The activation of each hit, before it is squashed."""
    shares = {hit.memory.key: hit.components["activation"] for hit in memory.recall(text, limit=40).hits}
    return {key: math.log(share / (1 - share)) for key, share in shares.items()}


def test_world_weaver_shares_attention_out_over_the_names_of_the_cue_and_each_over_its_links(memory, clock):
    memory.remember("Zed plays the banjo in Oslo.", kind="fact", key="both")
    memory.remember("Zed has a banjo.", kind="fact", key="zed")
    for i in range(6):
        memory.remember(f"They play the banjo of wood {i}.", kind="fact", key=f"wood{i}")
        memory.link("entity:zed", f"wood{i}", "requires", 0.4)
    memory.link("both", "entity:oslo", "requires", 0.9)
    clock.at += timedelta(hours=48)
    result = active(quiet(memory), "Does Zed play the banjo in Oslo?")
    # ln(1) − .5 · ln(48), and half of w · (1.6 − ln(fan)) from each name: Zed has eight links, Oslo one.
    base, from_zed, from_oslo = -0.5 * math.log(48), 0.5 * (1.6 - math.log(8)), 0.5 * 1.6
    assert result["zed"] == pytest.approx(base + from_zed * 0.5)
    assert result["wood3"] == pytest.approx(base + from_zed * 0.4)
    assert result["both"] == pytest.approx(base + from_zed * 0.5 + from_oslo * 0.9)


def test_in_world_weaver_a_name_that_was_merged_counts_as_the_one_that_stands_for_it(memory, clock):
    memory.remember("Zed has a banjo.", kind="fact", key="banjo")
    memory.remember("Zachary Jones, also known as Zed, is here.", kind="fact", key="said")
    clock.at += timedelta(hours=48)
    before = active(quiet(memory), "Does Zed play the banjo?")["banjo"]
    assert before == pytest.approx(-0.5 * math.log(48) + 0.5 * (1.6 - math.log(2)))
    assert [aliase.name for aliase in memory.aliases()] == ["entity:zachary-jones"]
    assert active(memory, "Does Zed play the banjo?")["banjo"] == pytest.approx(before)


@pytest.mark.parametrize("profile", profiles.ALL)
def test_a_recall_asks_the_store_no_oftener_for_more_hits_or_names(reply, profile):
    statements = []

    def query(text, limit):
        reply.recall(text, profile=profile, limit=limit, floor=0.0)  # what is new is taken in before
        reply.store._db._sqlite.set_trace_callback(statements.append)
        try:
            reply.recall(text, profile=profile, limit=limit, floor=0.0)
        finally:
            reply.store._db._sqlite.set_trace_callback(None)
        count = len(statements)
        statements.clear()
        return count

    many, few = query("Did Zed play the banjo in Oslo?", 40), query("the banjo", 1)
    assert 0 < few <= many <= few + 1  # the keys of what paths lead over, of all hits at once


@pytest.mark.parametrize(("facts", "expected"), [(1, 0.8), (4, 0.107), (30, -0.901), (200, -1.849)])
def test_the_more_memories_name_something_the_less_its_name_brings_to_each(memory, clock, facts, expected):
    memory.remember_many(
        [{"content": f"Kestrel signs parcel {number}.", "kind": "fact"} for number in range(facts)]
    )
    clock.at += timedelta(hours=1)
    for cue in ("what does Kestrel sign?", "what does kestrel sign?"):
        assert set(np.round(list(active(quiet(memory), cue).values()), 3)) == {expected}


def test_the_names_of_a_context_count_as_those_of_a_question(memory, clock):
    memory.remember("Kestrel signs parcels.", kind="fact", key="known")
    clock.at += timedelta(hours=1)
    (named,) = quiet(memory).recall(cue=Cue("who signs parcels?", project="kestrel")).hits
    (other,) = memory.recall(cue=Cue("who signs parcels?", project="osprey")).hits
    assert named.components["activation"] == pytest.approx(1 / (1 + math.exp(-0.8)))
    assert other.components["activation"] == pytest.approx(0.5)


def test_a_word_that_is_a_name_elsewhere_is_none_in_small_letters(memory, clock):
    memory.remember("Today Will signs parcels.", kind="fact")
    clock.at += timedelta(hours=1)
    assert active(quiet(memory), "who will sign parcels?") == pytest.approx({"today-will-signs-parcels": 0.0})


def test_an_event_is_as_old_as_it_is_whenever_it_was_told(memory):
    days = (NOW - datetime(2024, 5, 1, tzinfo=UTC)).total_seconds() / 86400
    memory.remember("The mast of Oslo fell.", key="mast", occurred_at=NOW - timedelta(days=days))
    (hit,) = memory.recall("which mast fell?", profile="world-weaver").hits
    assert hit.components["recency"] == pytest.approx(math.exp(-0.1 * days))
    memory.feedback(memory.recall("which mast fell?", profile="world-weaver").recall_id, used=["mast"])
    (hit,) = memory.recall("which mast fell?", profile="world-weaver").hits
    assert hit.components["recency"] == pytest.approx(math.exp(-0.1 * days))


@pytest.mark.parametrize(("profile", "name"), [("arc", "relevance"), ("world-weaver", "semantic")])
def test_the_text_of_a_memory_is_wholly_like_itself(memory, profile, name):
    text = "The signing service of the northern office keeps the keys of the release."
    for each in (text, "The office opens at nine.", "The keys are of brass."):
        memory.remember(each)
    best = memory.recall(text, profile=profile).hits[0]
    assert best.components[name] == pytest.approx(1.0, abs=1e-6)


def test_the_estimate_of_a_procedure_is_what_its_score_reads(memory):
    memory.remember(
        "To deploy, push the tag.", kind="procedure", key="deploy", metadata={"success_estimate": 0.95}
    )
    (hit,) = memory.recall("how do I deploy?", profile="world-weaver").hits
    assert hit.components["success_rate"] == 0.95


def test_executions_after_an_estimate_move_it_by_what_they_move_the_share(memory):
    estimated = {"success_estimate": 0.55, "success_rate": 0.5}
    memory.remember("To deploy, push the tag.", kind="procedure", key="deploy", metadata=estimated)
    for success, expected in ((True, 1.0), (False, 0.55), (False, 0.55 + 1 / 3 - 0.5)):
        memory.done("deploy", success=success)
        (hit,) = memory.recall("how do I deploy?", profile="world-weaver").hits
        assert hit.components["success_rate"] == pytest.approx(expected)


def test_world_weaver_draws_the_same_noise_at_the_same_instant(reply, clock):
    first, again = (reply.recall(cue=CUE, profile="world-weaver").hits for _ in range(2))
    assert first == again
    clock.at += timedelta(microseconds=1)
    later = reply.recall(cue=CUE, profile="world-weaver").hits
    assert [hit.score for hit in later] != [hit.score for hit in first]


RAW = {"ethos": "spread", "poc": "activation"}


@pytest.mark.parametrize("profile", profiles.ALL)
def test_every_profile_answers_with_finite_scores_from_the_best_down(reply, profile):
    for cue in (CUE, Cue("Oslo"), Cue(language="go"), Cue("banjo"), Cue("who is it?")):
        for more in ({}, {"spread": False}, {"kinds": ["entity", "fact"]}, {"limit": 3}):
            answer = reply.recall(cue=cue, profile=profile, **more)
            scores = [hit.score for hit in answer.hits]
            assert answer.profile == profile
            assert scores == sorted(scores, reverse=True)
            assert answer.hits or answer.reason
            for hit in answer.hits:
                assert math.isfinite(hit.score)
                for name, value in hit.components.items():
                    least = -1 if (profile, name) == ("ethos", "cosine") else 0
                    raw = name == RAW.get(profile) and 0 <= value < math.inf
                    assert profile == "priming" or least <= value <= 1 or raw  # its components are log-odds


@pytest.mark.parametrize("profile", profiles.ALL)
def test_every_profile_answers_from_a_single_memory_and_from_none(memory, profile):
    assert memory.recall("banjo", profile=profile).reason == 'there are no memories in "default"'
    memory.remember("they banjo")
    assert [hit.memory.key for hit in memory.recall("the banjo", profile=profile).hits] == ["they-banjo"]


@pytest.mark.parametrize("profile", [name for name in profiles.ALL if name not in ("world-weaver", "arc")])
def test_a_hit_that_shares_no_word_is_reached_over_a_given_link(open_memory, profile):
    with open_memory(profile=profile) as memory:
        memory.remember("they play banjo", key="a")
        memory.remember("stale bread", key="b")
        memory.link("a", "b", "requires", 0.9)
        by_key = {hit.memory.key: hit for hit in memory.recall("play banjo", floor=0).hits}
        assert [(x.source, x.relation, x.target) for x in by_key["b"].path] == [("a", "requires", "b")]
        assert by_key["b"].distance == 1


def test_profiles_differ(reply):
    orders = {
        name: tuple(hit.memory.key for hit in reply.recall(cue=CUE, profile=name).hits)
        for name in profiles.ALL
    }
    assert len(set(orders.values())) >= 6


def test_synapse_walks_similarity_both_ways_and_other_links_outwards(embedder):
    with Memory.open("sqlite://", embedder=embedder, clock=FixedClock(NOW), profile="synapse") as memory:
        for key, text in (("a", "they play banjo"), ("b", "stale bread"), ("c", "deep snow")):
            memory.remember(text, key=key)
        memory.link("b", "a", "similar-to", 0.9)
        memory.link("c", "a", "requires", 0.9)
        for _ in range(2):
            start, result = memory.recall("banjo", trace=True).spread[:2]
            grown = {key for key in result if result[key] > 0.5 * start.get(key, 0.0)}
            assert grown == {"b"}
            memory.link("c", "b", "conflicts", 0.0)
