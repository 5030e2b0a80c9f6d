"""The largest elements in order on the machine, to the bit: all pairs, and groups first."""

from dataclasses import replace

import numpy as np
import pytest
from tests.kernels.on_machine import Array, assert_exact
from tests.passes.lowering_samples import Sample, X, module_of

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.backend.kernels import rank
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.lowering.top_k import CHOICES, LONG_ROW, PAIRS, plan, reach
from xdsl_tpu.passes.pipelines import lower

REACH = reach(load_chip())


def coarse(*shape: int) -> Array:
    """Numbers of which many are equal."""
    return np.random.default_rng(shape).integers(-50, 50, shape).astype(np.float32)


def top_k(x: Array, count: int, axis: int = -1, largest: bool = True) -> Sample:
    given = {"axis": axis % x.ndim, "K": count, "largest": largest}
    return Sample(top.TopKOp, [X(x)], given, 2)


@pytest.mark.parametrize("size", [LONG_ROW, LONG_ROW + 3, 197, 1009])
@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
def test_rows_of_any_size(size: int, share: float) -> None:
    """Also those that lanes cannot share evenly."""
    assert_exact(top_k(coarse(2, size), max(1, int(size * share))))


@pytest.mark.parametrize("size", [128, 129, 200, 383])
def test_rows_of_several_blocks(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last block may be of any size."""

    def short(chip: Chip, each: int) -> int:
        return chip.lanes

    monkeypatch.setattr(rank, "longest_block", short)
    assert plan(size, size // 2 + 1, 2, REACH) == 0
    assert_exact(top_k(coarse(2, size), size // 2 + 1))


@pytest.mark.parametrize(
    ("rows", "size", "count", "largest"),
    [(1, 20011, 50, False), (3, 1500, 5, False), (3, 1500, 5, True), (1, 151936, 50, True)],
)
def test_groups_of_neighbours(rows: int, size: int, count: int, largest: bool) -> None:
    """Equal elements of different groups keep their order, and what is behind the last whole group
    counts."""
    assert plan(size, count, rows, REACH)
    x = coarse(rows, size)
    x[:, -2:] = 60 if largest else -60
    assert_exact(top_k(x, count, largest=largest))


@pytest.mark.parametrize(
    ("size", "count", "rows", "found"),
    [
        (256, 16, 256, CHOICES),  # 15,065 cycles; 236,924 by pairs
        (512, 20, 512, CHOICES),  # 72,432 cycles; 743,566 by pairs
        (8, 2, 512, CHOICES),  # 1,957 cycles; 39,741 by pairs in DDR
        (1000, 5, 1, 16),  # 926 cycles; 3,205 one after the other, 4,526 by pairs
        (REACH.choice, 3000, 1, PAIRS),
    ],
)
def test_few_of_many_rows_are_chosen_one_after_the_other(
    size: int, count: int, rows: int, found: int
) -> None:
    assert plan(size, count, rows, REACH) == found


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(("shape", "count"), [((70, 40), 3), ((128, 9), 2), ((1, 300), 4)])
def test_one_after_the_other(shape: tuple[int, int], count: int, largest: bool) -> None:
    assert plan(shape[1], count, shape[0], REACH) == CHOICES
    assert_exact(top_k(coarse(*shape), count, largest=largest))


def test_rows_too_long_to_choose_from() -> None:
    assert plan(REACH.choice, 1, 1 << 13, REACH) == CHOICES
    assert plan(REACH.choice + 1, 1, 1 << 13, REACH) != CHOICES


def test_small_chips_rank_in_shorter_blocks() -> None:
    """What each lane makes of a row is beside the blocks."""
    small = replace(load_chip(), local_bytes=1 << 12)
    module, inputs = module_of(top_k(coarse(1, 2000), 1500))
    expected = run_module(module, inputs).values()
    lower(module, "F32", small.instruction_set)
    program = generate(module, weights_of(module), small)
    for got, one in zip(run_program(program, small, inputs).values(), expected, strict=True):
        np.testing.assert_array_equal(got, one)


def test_less_local_memory_holds_shorter_rows_to_choose_from() -> None:
    small = reach(replace(load_chip(), local_bytes=load_chip().local_bytes // 2))
    assert 2 * small.choice == REACH.choice
    assert plan(small.choice, 1, 1 << 13, small) == CHOICES
    assert plan(small.choice + 1, 1, 1 << 13, small) != CHOICES


def test_all_equal() -> None:
    assert_exact(top_k(np.ones((2, 5000), np.float32), 40))


def test_the_ends_of_the_range() -> None:
    """A row may have nothing but the least numbers beside its best ones."""
    x = np.full((1, 5000), -3.4e38, np.float32)
    x[0, [4999, 17, 2500]] = 3, 3.4e38, -1e38
    assert_exact(top_k(x, 3))


@pytest.mark.parametrize("largest", [True, False])
def test_signs_and_ends_of_the_range_in_order(largest: bool) -> None:
    """Zeros are equal whatever their signs."""
    numbers = np.array([0.0, -0.0, 1e-3, -1e-3, 2e-38, -2e-38, 3.4e38, -3.4e38], np.float32)
    x = np.random.default_rng(5).choice(numbers, (2, 200))
    assert plan(200, 150, 2, REACH) == PAIRS
    assert_exact(top_k(x, 150, largest=largest))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_any_axis(axis: int) -> None:
    assert_exact(top_k(coarse(*(131 if at == axis else 3 for at in range(3))), 4, axis))


@pytest.mark.parametrize("mode", ["F16", "BF16"])
def test_16_bit(mode: str) -> None:
    assert_exact(top_k(coarse(1, 3000), 7), mode)


@pytest.mark.parametrize("mode", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("shape", [(1, 10007), (3, 5000, 1)])
def test_the_place_of_the_best_of_a_long_row(shape: tuple[int, ...], mode: str, last: bool) -> None:
    given = {"axis": 1, "keepdims": True, "mode": mode, "select_last_index": last}
    assert_exact(Sample(top.ArgOp, [X(coarse(*shape))], given, 2))
