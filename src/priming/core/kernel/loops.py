"""The loops of the compiled kernel: the work of ``spread``, link by link instead of array by array.

``core/kernel/compiled.py`` compiles these functions and calls ``step`` and ``ranked``. The arrays of a loop are
bound to local names, since access through a tuple costs more than following a link.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from priming.core.arguments.arrays import Codes, Floats, Ints

GIVES, TAKES, TAKES_BOTH_WAYS = 0, 1, 2
NONE, FAN, SHARE = 0, 1, 2

UNLIMITED = 2**62
CAP = 1.0
"""Under ``fan`` and ``sum``, parallel links add up to this weight, or to that of the strongest if it is more."""
MOST_BITS = 2**63 - 1

BLOCK = 256
"""Number of emitters at a time: their output is still in the nearer caches when it is gathered."""


class LinkArrays(NamedTuple):
    """The arrays of a ``Graph``; ``hours`` is empty if no link decays with time."""

    start: Ints
    split: Ints
    neighbour: Ints
    weight: Floats
    relation: Codes
    hours: Floats


class LawArrays(NamedTuple):
    """The constants of the equation, names turned into numbers."""

    gain: float
    hop_decay: float
    retention: float
    restart: float
    rho: float
    least: float
    """Activation from which a node emits."""
    norm: int
    leak: float
    greatest: bool
    """combine is max"""
    both: bool
    enters: bool
    """Whether the links that enter an emitter are to be looked at."""
    roles: Ints
    """By relation code; empty if no relation suppresses."""
    nodes: int
    neighbours: int
    gate: Floats
    """Empty if there is none."""


class WorkArrays(NamedTuple):
    """Arrays by slot (see ``spread``); those of a thread serve all its spreads."""

    place: Ints
    stamp: int
    rows: Ints
    marks: Ints
    after: Floats
    most: Floats
    """The fullest arrival at a slot that is new in this step; infinite at all others."""
    taken: Floats
    refused: Ints
    """Row whose gate is out of range, or −1."""


class Emitted(NamedTuple):
    """What each link of the emitters carries, emitter by emitter."""

    amount: Floats
    target: Ints
    slot: Ints
    """The target's slot, negative if it had none before the step. Looked up ahead of its use, since one look
    can then go to memory while others wait for theirs."""
    end: Ints
    """Where the links of each emitter end."""


def step(links: LinkArrays, law: LawArrays, work: WorkArrays, a: Floats, start: Floats) -> int:
    """Leave a' in ``work.after``, and return the number of slots that it takes."""
    emitters = by_row(work.rows, a, law.least)
    reached = a.size
    work.after[:reached], work.most[:reached] = 0.0, math.inf
    for i in range(0, emitters.size, BLOCK):
        block = emitters[i : i + BLOCK]
        reached = gather(law, work, reached, block, emit(links, law, work, block, a, GIVES))
    combine(law, work, a, start)
    if law.roles.size:
        work.taken[:reached] = 0.0
        for i in range(0, emitters.size, BLOCK):
            take(work, emit(links, law, work, emitters[i : i + BLOCK], a, TAKES))
        work.after[:reached] = np.maximum(0.0, work.after[:reached] - work.taken[:reached])
    if reached > law.nodes:
        keep_strongest(work.after[:reached], work.rows[:reached], law.nodes)
    return reached


def ranked(work: WorkArrays, a: Floats, least: float) -> Ints:
    """Return the slots of a ≥ ``least``, strongest first, ties by row."""
    slots = by_row(work.rows, a, least)
    return slots[in_order(MOST_BITS - a[slots].view(np.int64), 63)]


def by_row(rows: Ints, a: Floats, least: float) -> Ints:
    """Return the slots of a ≥ ``least`` in order of row, so that sums run as in ``spread``."""
    slots, count, highest = np.empty(a.size, np.int64), 0, 0
    for slot in range(a.size):
        slots[count] = slot
        if a[slot] >= least:
            highest = max(highest, rows[slot])
            count += 1
    slots = slots[:count]
    bits = 0
    while highest >> bits:
        bits += 1
    return slots[in_order(rows[slots], bits)]


def in_order(keys: Ints, bits: int) -> Ints:
    """Return the stable ascending order of keys ≥ 0 with ``bits`` bits, by digits of 11 bits."""
    order, spare = np.arange(keys.size), np.empty(keys.size, np.int64)
    for shift in range(0, bits, 11):
        first = np.zeros(2049, np.int64)
        for key in keys:
            first[((key >> shift) & 2047) + 1] += 1
        for digit in range(1, 2049):
            first[digit] += first[digit - 1]
        for i in order:
            digit = (keys[i] >> shift) & 2047
            spare[first[digit]] = i
            first[digit] += 1
        order, spare = spare, order
    return order


def emit(
    links: LinkArrays, law: LawArrays, work: WorkArrays, emitters: Ints, a: Floats, role: int
) -> Emitted:
    """Return e, or s, over the links of the emitters; 0 where a link does not have the role."""
    split, weights, neighbour, roles, gate = links.split, links.weight, links.neighbour, law.roles, law.gate
    place, stamp, rows = work.place, work.stamp, work.rows[emitters]
    low, end, total = np.empty_like(rows), np.empty_like(rows), 0
    for i in range(rows.size):
        low[i] = links.start[rows[i]]
        total += (links.start[rows[i] + 1] if law.enters else split[rows[i]]) - low[i]
        end[i] = total
    amount, target, slots = np.empty(total), np.empty(total, np.int64), np.empty(total, np.int64)
    first, norms = 0, np.ones(rows.size)
    for i in range(rows.size):
        norm, ahead = 0.0, low[i] - first
        for k in range(first, end[i]):
            weight, v = weights[k + ahead], neighbour[k + ahead]
            if roles.size and not acts(
                roles[links.relation[k + ahead]], role, k + ahead < split[rows[i]], law.both
            ):
                weight = 0.0
            if gate.size and role == GIVES and weight > 0.0:
                if not 0.0 <= gate[v] < math.inf:
                    work.refused[0] = v
                weight *= gate[v]
            amount[k], target[k], slots[k] = weight, v, place[v] - stamp
            norm += weight
        if law.norm == FAN:
            middle = min(split[rows[i]] - ahead, end[i])
            joint = role == TAKES or not law.greatest
            norm = neighbours(amount, target, first, middle, end[i], joint)
        if end[i] - first > law.neighbours:
            keep_strongest(amount[first : end[i]], target[first : end[i]], law.neighbours)
        if law.norm != NONE and norm > 0.0:
            norms[i] = norm + law.leak
        first = end[i]
    carry(links.hours, law, low, end, a[emitters], norms, amount)
    return Emitted(amount, target, slots, end)


def neighbours(amount: Floats, target: Ints, first: int, middle: int, end: int, joint: bool) -> float:
    """Count the rows that the links ``first`` … ``end`` of an emitter lead to: parallel links are one neighbour.

    The links that leave it, up to ``middle``, are in order of row, and so are those that enter it. ``joint``: the
    weights of parallel links are scaled to add up to ``CAP`` at most, or to the strongest of them if it is more.
    """
    i, j, count = first, middle, 0.0
    while i < middle or j < end:
        row = target[i] if j == end or (i < middle and target[i] <= target[j]) else target[j]
        leaving, entering, total, most = i, j, 0.0, 0.0
        while i < middle and target[i] == row:
            total, most, i = total + amount[i], max(most, amount[i]), i + 1
        while j < end and target[j] == row:
            total, most, j = total + amount[j], max(most, amount[j]), j + 1
        if total > 0.0:
            count += 1.0
        bound = max(most, CAP)
        if joint and most < total and total > bound:
            for k in range(leaving, i):
                amount[k] *= bound / total
            for k in range(entering, j):
                amount[k] *= bound / total
    return count


def carry(
    hours: Floats, law: LawArrays, low: Ints, end: Ints, value: Floats, norms: Floats, amount: Floats
) -> None:
    """Turn weights into what the links of emitters at the activations ``value`` carry."""
    first, rho = 0, law.rho
    for i in range(end.size):
        drive, norm, ahead = value[i] * law.gain * law.hop_decay, norms[i], low[i] - first
        for k in range(first, end[i]):
            amount[k] *= drive
            if rho > 0.0 and hours[k + ahead] > 0.0:
                amount[k] *= math.exp(-rho * hours[k + ahead])
            amount[k] /= norm
        first = end[i]


def gather(law: LawArrays, work: WorkArrays, reached: int, emitters: Ints, emitted: Emitted) -> int:
    """Gather in ``work.after`` what arrives, and return the number of slots in use, which was ``reached`` before.

    A new slot is marked by the fullest arrival; of equals, by the one with the lowest mark.
    """
    place, stamp, rows, marks = work.place, work.stamp, work.rows, work.marks
    after, most, greatest = work.after, work.most, law.greatest
    amount, target, slots = emitted.amount, emitted.target, emitted.slot
    begin = 0
    for i in range(emitters.size):
        mark = marks[emitters[i]] + 1
        for k in range(begin, emitted.end[i]):
            v, e = target[k], amount[k]
            slot = slots[k] if slots[k] >= 0 else place[v] - stamp
            if slot < 0:
                if e > 0.0:
                    place[v] = stamp + reached
                    rows[reached], marks[reached], most[reached], after[reached] = v, mark, e, e
                    reached += 1
                continue
            after[slot] = max(after[slot], e) if greatest else after[slot] + e
            if e >= most[slot] and (e > most[slot] or mark < marks[slot]):
                marks[slot], most[slot] = mark, e
        begin = emitted.end[i]
    return reached


def combine(law: LawArrays, work: WorkArrays, a: Floats, start: Floats) -> None:
    """Add what was retained and fed in to what arrived, or take the larger (``max``)."""
    after = work.after
    for slot in range(a.size):
        retained = law.retention * a[slot]
        if law.greatest:
            after[slot] = max(retained, after[slot])
        else:
            after[slot] += retained + (law.restart * start[slot] if slot < start.size else 0.0)


def take(work: WorkArrays, emitted: Emitted) -> None:
    """Add up in ``work.taken`` what is taken from the rows that are active or reached."""
    for k in range(emitted.amount.size):
        if emitted.slot[k] >= 0:
            work.taken[emitted.slot[k]] += emitted.amount[k]


def keep_strongest(values: Floats, rows: Ints, limit: int) -> None:
    """Set all but the strongest values to 0; of equals those of lower rows stay, and then the earlier ones."""
    keys = values.view(np.int64)
    least, spare = nth_largest(keys, limit)
    if least == 0:
        return
    tied = np.where(keys == least, UNLIMITED - rows, 0)
    lowest, spare = nth_largest(tied, spare)
    for k in range(values.size):
        last = tied[k] == lowest
        if keys[k] < least or (keys[k] == least and (tied[k] < lowest or (last and spare == 0))):
            values[k] = 0.0
        elif last:
            spare -= 1


def nth_largest(keys: Ints, nth: int) -> tuple[int, int]:
    """Return the ``nth`` largest of keys ≥ 0, and how many of its equals are among the ``nth``.

    Digit by digit; the bits of floats compare as they do.
    """
    left = keys.copy()
    for shift in (52, 41, 30, 19, 8, 0):
        counts = np.zeros(2048, np.int64)
        for key in left:
            counts[(key >> shift) & 2047] += 1
        digit = 2047
        while counts[digit] < nth:
            nth -= counts[digit]
            digit -= 1
        count = 0
        for key in left:
            left[count] = key
            count += (key >> shift) & 2047 == digit
        left = left[:count]
    return left[0], nth


def acts(role: int, direction: int, forward: bool, both: bool) -> bool:
    """Tell whether a link of this role acts in ``direction`` for the row that lists it."""
    if direction == GIVES:
        return role == GIVES and (both or forward)
    return role == TAKES_BOTH_WAYS or (role == TAKES and forward)


COMPILED = (
    *("acts", "nth_largest", "keep_strongest", "neighbours", "carry", "emit", "gather", "combine", "take"),
    *("in_order", "by_row", "ranked", "step"),
)
"""The functions to compile; they find each other by name when first run."""
