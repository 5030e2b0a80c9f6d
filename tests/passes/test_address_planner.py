"""The memory planner on plain values."""

import random
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xdsl_tpu.backend.first_fit import Buffer, clashes, peak_bytes
from xdsl_tpu.passes.address_assign.planner import ALIGNMENT_BYTES, plan

Interval = tuple[int, int, int]


def buffers(*intervals: Interval) -> list[Buffer]:
    """(size, first, last) each, called b0, b1, .."""
    return [Buffer(f"b{i}", *interval) for i, interval in enumerate(intervals)]


def network(steps: int, seed: int) -> list[Buffer]:
    """Lifetimes as in a network: mostly chains, some values used again a few steps later."""
    rng = random.Random(seed)
    last = list(range(steps))
    for step in range(1, steps):
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            source = max(0, step - 1 - int(rng.expovariate(0.35)))
            last[source] = max(last[source], step)
    sizes = (1024, 4096, 150528, 602112, 301056)
    return [
        Buffer(f"t{i}", rng.choice((rng.randrange(1, 5000), rng.choice(sizes))), i, last[i])
        for i in range(steps)
    ]


def anything(count: int, seed: int) -> list[Buffer]:
    """Lifetimes and sizes without any structure: the hard case."""
    rng = random.Random(seed)
    starts = [rng.randrange(count) for _ in range(count)]
    return [
        Buffer(f"t{i}", rng.randrange(1, 10000), a, min(count, a + rng.randrange(count // 4 + 1)))
        for i, a in enumerate(starts)
    ]


def test_buffers_that_follow_each_other_share_bytes() -> None:
    found = plan(buffers((128, 0, 1), (128, 2, 3)))
    assert found.offsets == (0, 0)
    assert found.used == 128


def test_a_step_used_by_both_keeps_them_apart() -> None:
    found = plan(buffers((128, 0, 1), (128, 1, 2)))
    assert sorted(found.offsets) == [0, 128]
    assert found.used == 256


def test_sizes_are_rounded_up_to_the_alignment() -> None:
    assert plan(buffers((1, 0, 0), (65, 0, 0))).used == 64 + 128
    assert plan(buffers((1, 0, 0), (65, 0, 0)), alignment=4096).used == 8192


def test_nothing_needs_nothing() -> None:
    assert plan([]).used == 0
    assert plan(buffers((0, 0, 5), (64, 0, 5))).used == 64


def test_a_hole_below_is_used() -> None:
    """The last buffer fits under the one that spans everything."""
    found = plan(buffers((64, 0, 1), (256, 0, 3), (64, 2, 3)))
    assert found.used == 320


def test_greedy_by_size_is_not_always_enough() -> None:
    """Placing the largest first leaves a gap here that only other orders close."""
    cases = buffers((192, 0, 2), (128, 2, 4), (256, 4, 6), (128, 1, 5), (64, 0, 0), (64, 6, 6))
    found = plan(cases)
    assert found.used == peak_bytes(cases)


def test_a_size_below_zero_or_a_life_that_ends_before_it_begins_is_refused() -> None:
    for size, first, last in ((-1, 0, 0), (1, 2, 1)):
        with pytest.raises(ValueError, match=re.escape("buffer x")):
            plan([Buffer("x", size, first, last)])


@pytest.mark.parametrize("steps", [3, 10, 30, 100, 300])
@pytest.mark.parametrize("seed", range(6))
def test_networks_need_at_most_5_percent_more_than_the_peak(steps: int, seed: int) -> None:
    cases = network(steps, seed)
    found = plan(cases)
    assert not list(clashes(cases, found.offsets))
    assert found.used <= 1.05 * peak_bytes(cases)


@pytest.mark.parametrize("seed", range(6))
def test_unstructured_lifetimes_stay_near_the_peak(seed: int) -> None:
    cases = anything(60, seed)
    found = plan(cases)
    assert not list(clashes(cases, found.offsets))
    assert found.used <= 1.06 * peak_bytes(cases)


def test_search_improves_on_the_heuristics_alone() -> None:
    worse = [plan(anything(60, seed), search_steps=0).used for seed in range(6)]
    better = [plan(anything(60, seed)).used for seed in range(6)]
    assert sum(better) < sum(worse)


def test_equal_input_gives_equal_plans() -> None:
    assert plan(anything(40, 1)) == plan(anything(40, 1))


def test_planning_a_large_network_takes_well_under_a_second() -> None:
    start = time.process_time()
    plan(network(1000, 0))
    assert time.process_time() - start < 2.0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 20), st.integers(0, 8)), max_size=25)
)
def test_any_plan_is_safe_and_aligned(items: list[Interval]) -> None:
    cases = [
        Buffer(f"b{i}", size, first, first + length)
        for i, (size, first, length) in enumerate(items)
    ]
    found = plan(cases, search_steps=50)
    assert not list(clashes(cases, found.offsets))
    assert all(offset % ALIGNMENT_BYTES == 0 for offset in found.offsets)
    assert found.used >= peak_bytes(cases)
    assert all(
        offset + case.size <= found.used for offset, case in zip(found.offsets, cases, strict=True)
    )


def test_clashes_names_both() -> None:
    cases = buffers((100, 0, 5), (100, 3, 8), (100, 6, 9))
    (clash,) = clashes(cases, (0, 50, 200))
    assert {buffer.key for buffer in clash} == {"b0", "b1"}
    assert not list(clashes(cases, (0, 100, 0)))
    assert len(list(clashes(cases, (0, 0, 0)))) == 2
