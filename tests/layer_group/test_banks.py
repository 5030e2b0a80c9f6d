"""Scratch memory moves out of the banks of results, and never onto anything else."""

import random

import pytest

from xdsl_tpu.backend.first_fit import Buffer, Placement, clashes, first_fit
from xdsl_tpu.passes.layer_group.banks import in_other_banks
from xdsl_tpu.passes.layer_group.plan import Item, Plan, Role, Room, Step, plan_straight

BANK = 256


def test_moves_to_another_bank() -> None:
    """The operand ends in the first bank, so that the second one is the lowest that is free."""
    buffers = [Buffer("x", 64, 0, 1), Buffer("y", 64, 1, 2), Buffer("sums", 128, 1, 1)]
    found = in_other_banks(buffers, Placement((0, 64, 128), 512), {2: 1}, BANK, [512] * 3)
    assert found == Placement((0, 64, 256), 512)


def test_avoids_all_banks_of_a_result_if_it_can() -> None:
    buffers = [Buffer("y", 512, 1, 2), Buffer("sums", 128, 1, 1)]
    placement = Placement((128, 640), 1024)
    assert in_other_banks(buffers, placement, {1: 0}, BANK, [1024] * 3).offsets == (128, 768)
    # No room in a third bank: the one in which the result does not start.
    assert in_other_banks(buffers, placement, {1: 0}, BANK, [768] * 3).offsets == (128, 640)


@pytest.mark.parametrize(
    ("sums", "limit", "bank", "why"),
    [
        (128, 256, BANK, "no memory beyond the limit"),
        (128, 512, 0, "banks are not known"),
        (320, 512, BANK, "the second bank is too small"),
    ],
)
def test_stays(sums: int, limit: int, bank: int, why: str) -> None:
    buffers = [Buffer("y", 64, 1, 2), Buffer("sums", sums, 1, 1)]
    placement = Placement((0, 64), 512)
    assert in_other_banks(buffers, placement, {1: 0}, bank, [limit] * 3) == placement, why


def test_a_second_bank_is_opened_if_all_lies_in_the_first() -> None:
    buffers = [Buffer("y", 64, 1, 2), Buffer("sums", 128, 1, 1)]
    placement, limits = Placement((0, 64), 192), [192] * 3
    assert in_other_banks(buffers, placement, {1: 0}, BANK, limits) == placement
    moved = in_other_banks(buffers, placement, {1: 0}, BANK, limits, 2 * BANK)
    assert moved == Placement((0, 256), 384)
    large = Placement((0, 64), 320)
    assert in_other_banks(buffers, large, {1: 0}, BANK, limits, 2 * BANK) == large


def test_leaves_what_is_apart() -> None:
    buffers = [Buffer("y", 64, 1, 2), Buffer("sums", 64, 1, 1)]
    placement = Placement((0, 448), 512)
    assert in_other_banks(buffers, placement, {1: 0}, BANK, [512] * 3) == placement


@pytest.mark.parametrize("seed", range(20))
def test_nothing_shares_bytes(seed: int) -> None:
    """Random chains, with what lives through all steps: still no clash, and no more memory."""
    rng, steps = random.Random(seed), 12
    buffers = [Buffer("always", 64 * rng.randint(0, 4), 0, steps, always=True)]
    results: dict[int, int] = {}
    for step in range(1, steps):
        result = Buffer(step, 64 * rng.randint(1, 8), step, min(step + rng.randint(1, 4), steps))
        buffers += [result, Buffer(("scratch", step), 64 * rng.randint(1, 8), step, step)]
        results[len(buffers) - 1] = len(buffers) - 2
    found = first_fit(buffers, 64)
    moved = in_other_banks(buffers, found, results, BANK, [found.used] * (steps + 1))
    assert not list(clashes(buffers, moved.offsets))
    assert moved.used == found.used
    ends = [place + one.size for one, place in zip(buffers, moved.offsets, strict=True)]
    assert max(ends) <= found.used

    def shared(places: tuple[int, ...]) -> int:
        return sum(places[one] // BANK == places[made] // BANK for one, made in results.items())

    assert shared(moved.offsets) <= shared(found.offsets)


def test_a_plan_knows_of_banks() -> None:
    """Of two ops the first leaves memory in the second bank, where the sums of the other go."""
    ops = [Step("a", ("x",), ("y",)), Step("b", ("y",), ("z",), 64)]
    sizes = {"x": (Role.INPUT, 320), "y": (Role.INTERNAL, 64), "z": (Role.INTERNAL, 64)}
    items: dict[object, Item] = {
        key: Item(key, role, size, key, key == "z") for key, (role, size) in sizes.items()
    }
    plan = plan_straight(ops, items, Room(1024, 64, BANK))
    assert isinstance(plan, Plan)
    assert plan.scratch["b"] // BANK != plan.address["z"] // BANK
    unknown = plan_straight(ops, items, Room(1024, 64))
    assert isinstance(unknown, Plan)
    assert unknown.scratch["b"] // BANK == unknown.address["z"] // BANK
