"""Samples of images of few pixels become products with all of them, others are read by an index."""

from typing import Any

import numpy as np
import pytest
from tests.passes.lowering_samples import Sample, X, module_of, normal
from tests.passes.test_lowering_ops import TOLERANCE, lowered

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.tensors import shape_of

ZEROS, BORDER, REFLECTION = range(3)
BILINEAR, NEAREST, CUBIC = range(3)


def places(*shape: int) -> np.ndarray:
    """From -1.3 to 1.3: also beyond the image."""
    return np.random.default_rng(sum(shape)).uniform(-1.3, 1.3, shape).astype(np.float32)


def grid_sampler(size: tuple[int, int], rows: int, **attributes: Any) -> Sample:
    given = {"mode": BILINEAR, "padding_mode": ZEROS, "align_corners": False} | attributes
    operands = [X(normal(2, 256, *size)), X(places(2, rows, 1, 2))]
    return Sample(top.GridSamplerOp, operands, given)


def sampled_sum(rows: int, steps: tuple[int, int], first: int = 0, pixels: int = 400) -> Sample:
    """Samples of three images of 6 x 7 pixels, four for each row."""
    operands = [X(normal(pixels, 5)), X(places(2, 4, 3, rows)), X(normal(4, 3, rows))]
    attributes = {
        "height": 6,
        "width": 7,
        "first": first,
        "image_step": steps[0],
        "pixel_step": steps[1],
        "mode": BILINEAR,
        "padding_mode": ZEROS,
        "align_corners": False,
    }
    return Sample(top.SampledSumOp, operands, attributes)


def made_of(sample: Sample, mode: str = "F16") -> list[type]:
    module, _ = module_of(sample)
    make_pass("convert-top-to-tpu", f"mode={mode} chip=bm1684x").apply(make_context(), module)
    return [type(op) for op in module.walk()]


def assert_close(sample: Sample) -> None:
    for mode, tolerance in (TOLERANCE | {"F32": 1e-5}).items():
        for theirs, ours in zip(*lowered(sample, mode), strict=True):
            assert np.abs(ours - theirs).max() <= tolerance * max(1.0, float(np.abs(theirs).max()))


@pytest.mark.parametrize("mode", [BILINEAR, NEAREST])
@pytest.mark.parametrize("padding", [ZEROS, BORDER, REFLECTION])
@pytest.mark.parametrize("align", [True, False])
def test_small_images(mode: int, padding: int, align: bool) -> None:
    sample = grid_sampler((6, 9), 128, mode=mode, padding_mode=padding, align_corners=align)
    assert tpu.SampledSumOp in made_of(sample)
    assert tpu.GatherOp not in made_of(sample)
    if mode == NEAREST:
        # in f32 alone: half a pixel away, 16 bits decide otherwise
        ((theirs,), (ours,)) = lowered(sample, "F32")
        assert np.abs(ours - theirs).max() <= 1e-5 * np.abs(theirs).max()
    else:
        assert_close(sample)


@pytest.mark.parametrize(
    "sample",
    [
        pytest.param(grid_sampler((6, 9), 128, mode=CUBIC), id="cubic"),
        pytest.param(grid_sampler((6, 9), 2), id="few rows"),
        pytest.param(grid_sampler((90, 100), 128), id="many pixels"),
        pytest.param(sampled_sum(3, (42, 1)), id="few rows of a sum"),
        pytest.param(sampled_sum(128, (50, 1)), id="images apart from each other"),
        pytest.param(sampled_sum(128, (1, 4)), id="pixels apart from each other"),
        pytest.param(sampled_sum(359, (1, 4)), id="rows that few lanes divide"),
    ],
)
def test_others_are_read_by_an_index(sample: Sample) -> None:
    assert tpu.GatherOp in made_of(sample)
    assert tpu.SampledSumOp not in made_of(sample)
    assert_close(sample)


@pytest.mark.parametrize("first", [0, 6])
@pytest.mark.parametrize("steps", [(42, 1), (1, 3)], ids=["images", "heads"])
@pytest.mark.parametrize("pixels", [132, 400])
def test_sums(steps: tuple[int, int], first: int, pixels: int) -> None:
    sample = sampled_sum(128, steps, first, pixels)
    assert tpu.SampledSumOp in made_of(sample)
    assert tpu.GatherOp not in made_of(sample)
    assert_close(sample)


@pytest.mark.parametrize(("rows", "lanes"), [(359, 64), (64, 64), (70, 42), (72, 54), (5, 15)])
def test_rows_lie_over_most_lanes(rows: int, lanes: int) -> None:
    """Three images of so many rows: a divisor of them, or all lanes and rows to fill them."""
    module, _ = module_of(sampled_sum(rows, (1, 4)))
    make_pass("convert-top-to-tpu", "mode=F16 chip=bm1684x").apply(make_context(), module)
    gathers = [op for op in module.walk() if isinstance(op, tpu.GatherOp)]
    assert gathers
    shapes = {shape_of(op.output) for op in module.walk() if isinstance(op, tpu.AddOp)}
    assert {shape[1] for shape in shapes} == {lanes}


def test_in_f32_sooner_by_an_index() -> None:
    """A product of f32 has an eighth of the multipliers."""
    sample = grid_sampler((16, 17), 128)
    assert tpu.SampledSumOp in made_of(sample)
    assert tpu.GatherOp in made_of(sample, "F32")
