"""Convolutions by themselves whose sums come in parts of the input channels."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.kernels.harness import check
from tests.kernels.test_kernel_conv import Conv
from tests.local.test_product_cuts import forced, found_in

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.leaves import leaf_of
from xdsl_tpu.backend.local import cut_search
from xdsl_tpu.backend.local.alone import InSlices
from xdsl_tpu.backend.local.cut_search import chosen
from xdsl_tpu.backend.local.cuts import Way, cut_into
from xdsl_tpu.backend.local.problem import Problem
from xdsl_tpu.backend.local.slices import Slices
from xdsl_tpu.backend.tile.program import Compute
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes.pipeline import make_pass

CHIP = load_chip()

PLAIN = Conv((1, 192, 9, 8), 130, relu=6.0)
FAR = Conv((2, 128, 13, 11), 70, dilations=(4, 3), pads=(4, 3, 4, 3), bias=False)
STRIDED = Conv((2, 192, 12, 9), 64, strides=(2, 3), kernel=(3, 2), pads=(1, 0, 1, 1))


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Ways that are forced must not be remembered."""
    cut_search.chosen.cache_clear()
    yield
    cut_search.chosen.cache_clear()


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize(("depth", "channels", "rows"), [(64, 192, 12), (128, 64, 12), (64, 64, 3)])
@pytest.mark.parametrize("conv", [PLAIN, FAR, STRIDED], ids=["plain", "far", "strided"])
def test_sums_in_parts_are_the_same(
    conv: Conv, kind: str, depth: int, channels: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With channels and rows of the result whole and cut, images one by one and together."""
    for images in (1, 2):
        way = Way((images, channels, rows, 64, depth), channels < conv.oc)
        forced(monkeypatch, way)
        check(conv.case(kind))


def problem_of(conv: Conv) -> Problem:
    """As its filter is once it lies as the chip reads it."""
    module = conv.case("f16").module()
    make_pass("weight-reorder", "").apply(make_context(), module)
    op = next(op for op in module.walk() if isinstance(op, tpu.Conv2DOp))
    leaf = leaf_of(op)
    assert leaf is not None
    assert isinstance(leaf.alone, InSlices)
    (seen,) = leaf.alone.view(op, CHIP)
    return Problem.of(op, seen, leaf.alone.kernel)


@pytest.mark.parametrize(
    ("conv", "in_parts"),
    [
        (Conv((1, 2048, 65, 65), 256, dilations=(12, 12), pads=(12, 12, 12, 12)), True),
        (Conv((4, 2048, 33, 33), 256, dilations=(12, 12), pads=(12, 12, 12, 12)), True),
        (Conv((1, 256, 28, 28), 256), False),
    ],
    ids=["far", "images", "small"],
)
def test_what_does_not_fit_comes_in_parts(conv: Conv, in_parts: bool) -> None:
    """Instead of a few rows with all that windows reach around them, time and again: as fast as the
    array is."""
    problem = problem_of(conv)
    found = chosen(problem, CHIP, 1)
    assert found is not None
    assert (found.way.sizes[-1] < conv.x[1]) is in_parts
    if in_parts:
        n, c, h, w = conv.out
        macs = n * c * h * w * conv.x[1] * 9
        assert found.cycles < 1.15 * macs / CHIP.array_peak(2)


def test_cores_sum_in_the_parts_of_one() -> None:
    """Numbers do not depend on how many there are."""
    problem = problem_of(Conv((1, 2048, 65, 65), 256, dilations=(12, 12), pads=(12, 12, 12, 12)))
    one, two = (chosen(problem, CHIP, cores) for cores in (1, 2))
    assert one is not None
    assert two is not None
    assert one.way.sizes[-1] == two.way.sizes[-1]
    assert two.cycles < 0.7 * one.cycles


def test_a_part_of_the_filter_is_that_of_its_channels() -> None:
    problem = problem_of(PLAIN)
    op = problem.op([CHIP.ddr_base] * len(problem.types))
    cut = cut_into(op, Way((1, 130, 9, 8, 64)), CHIP)
    assert cut is not None
    slices = Slices(op, problem.kernel, cut, CHIP)
    program = slices.program(0, Piece(0, len(slices.places)))
    assert not found_in(program)
    computed = [n for n, step in enumerate(program.steps) if isinstance(step, Compute)]
    assert len(computed) == 3
    second = program.steps[computed[1]]
    assert isinstance(second, Compute)
    assert second.sum is not None
    x, table, *rest = second.operands
    first = program.steps[computed[0]]
    assert isinstance(first, Compute)
    assert x is not None
    assert table is not None
    assert (table.place.start.w, table.place.tensor.shape[3]) == (64 * 9, 64 * 9)
    other = replace(second, operands=(x, first.operands[1], *rest))
    steps = (*program.steps[: computed[1]], other, *program.steps[computed[1] + 1 :])
    assert "needs w 576 to 1152 of" in found_in(replace(program, steps=steps))
