"""An op by itself is cut along channels where rows are few, along rows where channels are."""

import pytest
from tests.kernels.harness import Case, check, run
from tests.kernels.test_kernel_matmul import MatMul
from tests.kernels.test_kernel_pool import Pool
from tests.local.groups import run_grouped

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.layer_cost import price_alone, run_alone
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.passes.layer_group.values import Secs

CHIP = load_chip()


def overlap(pool: Pool) -> float:
    """By how much both engines together work longer than the op takes."""
    program = run(pool.case("f16"), CHIP).program
    timeline = simulate(program.tiu, program.gdma, CHIP)
    return sum(timeline.busy.values()) / timeline.total


def test_channels_are_cut_where_there_is_one_row() -> None:
    """Of 2048 channels of 7 x 7 elements some are loaded while others are averaged; 64 lie in as
    many lanes, and cannot be."""
    average = ((7, 7), (1, 1), (0, 0, 0, 0), "Avg")
    assert overlap(Pool((1, 64, 7, 7), *average)) <= 1
    assert overlap(Pool((1, 2048, 7, 7), *average)) > 1.1


def test_rows_are_cut_where_channels_fill_one_lane_group() -> None:
    assert overlap(Pool((1, 64, 96, 64), (15, 15), (1, 1), (7, 7, 7, 7))) > 1.2


@pytest.mark.parametrize("channels", [65, 128, 200])
def test_filters_are_those_of_the_channels_of_a_slice(channels: int) -> None:
    case = Case("f16")
    x = case.input("x", (1, channels, 9, 9))
    weight = case.weight("w", (channels, 1, 3, 3))
    bias = case.weight("b", (1, channels, 1, 1), kind="f32")
    attributes = {
        "group": f"{channels} : i64",
        "kernel_shape": "[3, 3]",
        "strides": "[1, 1]",
        "pads": "[1, 1, 1, 1]",
        "with_bias": "true",
    }
    case.op("tpu.Conv2D", [x, weight, bias], attributes, "y", (1, channels, 9, 9))
    check(case)


@pytest.mark.parametrize("secs", [Secs(), Secs(n=2), Secs(h=4)], ids=str)
@pytest.mark.parametrize("mode", ["Max", "Avg"])
def test_windows_of_lines_slide_over_slices_too(secs: Secs, mode: str) -> None:
    run_grouped(Pool((2, 40, 101), (3,), (2,), (1, 1), mode).case("f16"), secs=secs)


def test_a_smaller_slice_is_priced_as_itself() -> None:
    """One head of three takes as long to load as two, whose rows are no longer than what DDR moves
    at a time: in slices of two and one the product takes 9,414 cycles."""
    shape = (1, 197, 3, 64)
    product = MatMul(shape, shape, constant=False, right_transpose=True, hdim_is_batch=True)
    program = run(product.case("f16"), CHIP).program
    assert simulate(program.tiu, program.gdma, CHIP).total < 9200


def test_columns_are_cut_where_no_row_fits() -> None:
    check(Pool((1, 2, 3, 70_001), (3, 3), (1, 2), (1, 1, 1, 1)).case("f16"))


def test_what_never_fits_is_refused_by_name() -> None:
    pool = Pool((1, 64, 600, 600), (600, 600), (1, 1), (0, 0, 0, 0))
    with pytest.raises(DoesNotFit, match=r"tpu.Pool2D 'y': local memory is too small"):
        run(pool.case("f16"), CHIP)


@pytest.mark.parametrize(
    ("left", "right", "shape"),
    [
        ((3, 1, 70, 1), (1, 5, 1, 9), (3, 5, 70, 9)),  # the third of four lies over the lanes
        ((2, 1, 3, 1, 33), (1, 4, 1, 5, 33), (2, 4, 3, 5, 33)),  # five: one view after the other
        ((1, 64, 1), (5, 64, 40), (5, 64, 40)),
        ((1, 1, 40), (5, 64, 40), (5, 64, 40)),  # one row for every lane
    ],
    ids=str,
)
def test_operands_are_stretched_along_any_dimensions(
    left: tuple[int, ...], right: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    case = Case("f32")
    case.op("tpu.Sub", [case.input("x", left), case.input("y", right)], {}, "z", shape)
    check(case)


def test_what_every_lane_needs_is_loaded_into_all_of_them() -> None:
    """No copy on the TIU: it only adds."""
    case = Case("f16")
    case.op(
        "tpu.Add", [case.input("x", (1, 64, 8, 8)), case.input("y", (1, 1, 8, 8))], {}, "z",
        (1, 64, 8, 8),
    )  # fmt: skip
    assert len(check(case).program.tiu) == 2


def test_groups_that_fit_once_are_normalised() -> None:
    """Operand and result of a single slice have one buffer and two; with two of each it would not
    fit."""
    case = Case("f16")
    x = case.input("x", (1, 128, 64, 64))
    given = [case.weight(name, (1, 128, 1, 1)) for name in "wb"]
    attributes = {"num_groups": "32 : i64", "eps": "1.0e-5 : f64"}
    case.op("tpu.GroupNorm", [x, *given, "none", "none"], attributes, "y", (1, 128, 64, 64))
    check(case)


@pytest.mark.parametrize(
    "case",
    [
        Pool((1, 2048, 7, 7), (7, 7), (1, 1), (0, 0, 0, 0), "Avg").case("f16"),
        Pool((1, 64, 96, 64), (15, 15), (1, 1), (7, 7, 7, 7)).case("f16"),
        MatMul(
            (1, 197, 3, 64), (1, 197, 3, 64), False, right_transpose=True, hdim_is_batch=True
        ).case("f16"),
        MatMul((197, 768), (768, 1024), bias=True).case("f16"),
        MatMul((8, 4096), (4096, 512)).case("f16"),
        MatMul((300, 512), (512, 700), bias=True, relu=6.0).case("f32"),
    ],
    ids=["channels", "rows", "heads", "columns", "sums", "wide"],
)
def test_a_price_is_that_of_the_commands(case: Case) -> None:
    """Found from one slice of each kind, it is within a thirtieth of what all commands take."""
    op = next(op for op in case.module().walk() if op.name in ("tpu.Pool2D", "tpu.MatMul"))
    price, found = price_alone(op, CHIP), run_alone(op, CHIP)
    assert abs(price.cycles - found.timeline.total) < found.timeline.total / 30
    assert abs(price.gdma - found.timeline.busy[Engine.GDMA]) < found.timeline.total / 30
    if found.local_bytes < CHIP.local_bytes // 2:  # not a product, whose buffers lie at the end
        assert price.local_bytes <= found.local_bytes <= price.local_bytes + CHIP.local_bytes // 8
