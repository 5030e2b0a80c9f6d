"""Local memory by lifetime, and the weight ring: on seeded random inputs nothing ever overlaps."""

import numpy as np
import pytest

from xdsl_tpu.backend.first_fit import Buffer, Problem, clashes, first_fit, peak_bytes
from xdsl_tpu.passes.layer_group.ring import Stream, schedule

STEPS = 20
UNIT = 64


def random_buffers(seed: int, count: int = 40) -> list[Buffer]:
    rng = np.random.default_rng(seed)
    buffers: list[Buffer] = []
    for key in range(count):
        start, end = (int(v) for v in rng.integers(0, STEPS, 2))
        always = bool(rng.random() < 0.05)
        buffers.append(Buffer(key, int(rng.integers(1, 5000)), start, end, always))
    return buffers


@pytest.mark.parametrize("unit", [32, 64, 128])
@pytest.mark.parametrize("seed", range(10))
def test_buffers_that_live_together_share_no_byte(seed: int, unit: int) -> None:
    buffers = random_buffers(seed)
    placement = first_fit(buffers, unit)
    assert not [*clashes(buffers, placement.offsets)]
    assert placement.used >= peak_bytes(buffers)
    assert all(offset % unit == 0 for offset in placement.offsets)


@pytest.mark.parametrize("seed", range(10))
def test_neighbours_share_a_step(seed: int) -> None:
    buffers = random_buffers(seed)
    end = max(max(one.first, one.last) for one in buffers)
    lives = [{n for a, b in one.lives(end) for n in range(a, b + 1)} for one in buffers]
    for number, found in enumerate(Problem.of(buffers, UNIT).neighbours):
        others = [n for n, life in enumerate(lives) if n != number and life & lives[number]]
        assert sorted(found) == others


def test_overlaps_are_found() -> None:
    a, b, c = Buffer("a", 100, 0, 3), Buffer("b", 100, 3, 5), Buffer("c", 100, 4, 5)
    assert [*clashes([a, b, c], [0, 64, 0])] == [(a, b), (b, c)]


def test_a_lifetime_wraps_around_the_loop() -> None:
    wrapping = Buffer("w", 64, 4, 1)
    others = [Buffer("x", 64, 0, 0), Buffer("y", 64, 5, 6), Buffer("z", 64, 2, 3)]
    met = {frozenset(one.key for one in pair) for pair in clashes([wrapping, *others], [0] * 4)}
    assert met == {frozenset(("w", "x")), frozenset(("w", "y"))}


def test_two_that_wrap_around_clash_once() -> None:
    assert len([*clashes([Buffer("v", 64, 3, 1), Buffer("w", 64, 4, 0)], [0, 0])]) == 1


def test_what_is_always_needed_meets_everything() -> None:
    held = Buffer("held", 64, 0, 0, always=True)
    assert first_fit([held, Buffer("x", 64, 5, 6), Buffer("y", 64, 2, 3)], UNIT).used == 128


def test_buffers_use_no_more_than_what_lives_together() -> None:
    buffers = [Buffer(0, 128, 0, 1), Buffer(1, 128, 1, 2), Buffer(2, 100, 2, 3)]
    assert first_fit(buffers, UNIT).used == peak_bytes(buffers) == 256


@pytest.mark.parametrize("seed", range(20))
def test_ring_slots_are_free_when_loaded(seed: int) -> None:
    rng = np.random.default_rng(seed)
    firsts = sorted(int(v) for v in rng.integers(0, 60, 50))
    weights = [
        Stream(key, UNIT * int(rng.integers(1, 47)), first, first + int(rng.integers(0, 2)))
        for key, first in enumerate(firsts)
    ]
    slots = schedule(weights, 1000 * 64, 1000 * 64 + 64 * 400)
    assert slots is not None
    lives = [Buffer(w.key, w.size, slots[w.key].load, w.last) for w in weights]
    assert not [*clashes(lives, [slots[w.key].address for w in weights])]
    loads = [slots[w.key].load for w in weights]
    assert loads == sorted(loads)
    assert all(slots[w.key].load <= w.first for w in weights)


@pytest.mark.parametrize("seed", range(20))
def test_a_ring_that_grows_keeps_off_what_is_needed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    firsts = sorted(int(v) for v in rng.integers(0, 60, 50))
    weights = [
        Stream(key, UNIT * int(rng.integers(1, 40)), first, first + int(rng.integers(0, 2)))
        for key, first in enumerate(firsts)
    ]
    lower = sorted((UNIT * int(v) for v in rng.integers(0, 300, 62)), reverse=True)
    high = lower[0] + UNIT * 400
    slots = schedule(weights, lower[0], high, lower=lower.__getitem__)
    assert slots is not None
    lives = [Buffer(w.key, w.size, slots[w.key].load, w.last) for w in weights]
    assert not [*clashes(lives, [slots[w.key].address for w in weights])]
    assert all(lower[slot.load] <= slot.address for slot in slots.values())
    assert all(slots[w.key].address + w.size <= high for w in weights)
    loads = [slots[w.key].load for w in weights]
    assert loads == sorted(loads)
    assert all(slots[w.key].load <= w.first for w in weights)


def test_weights_are_loaded_earlier_where_the_ring_grows() -> None:
    weights = [Stream(k, UNIT, k, k) for k in range(10)]
    fixed = schedule(weights, 4 * UNIT, 6 * UNIT)
    growing = schedule(weights, 4 * UNIT, 6 * UNIT, lower=[4 * UNIT, *[0] * 9].__getitem__)
    assert fixed is not None
    assert growing is not None
    assert [fixed[k].load for k in range(10)] == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert [growing[k].load for k in range(10)] == [0, 0, 1, 1, 1, 1, 1, 2, 3, 4]
    assert growing[2].address == 0


def test_a_large_ring_loads_everything_at_once() -> None:
    weights = [Stream(k, 128, k, k) for k in range(10)]
    slots = schedule(weights, 0, 128 * 10)
    assert slots is not None
    assert {slot.load for slot in slots.values()} == {0}


def test_a_weight_larger_than_the_ring_does_not_fit() -> None:
    assert schedule([Stream(0, 129, 0, 0)], 0, 128) is None


def test_weights_of_one_step_must_fit_together() -> None:
    weights = [Stream(0, 128, 0, 0), Stream(1, 128, 0, 0)]
    assert schedule(weights, 0, 256) is not None
    assert schedule(weights, 0, 192) is None
