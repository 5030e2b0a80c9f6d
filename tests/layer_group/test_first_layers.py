"""Casts and convolutions of images: what goes into a group and what stays out."""

import pytest
from tests.quantized.quant_cases import ROUNDING, QuantCase, check, conv, uniform
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.weight_reorder.reorder import WeightReorderPass

PREPARE = ("subnet-divide", "op-reorder", "layer-group")


def stem(kernel: int, stride: int, size: int = 64) -> QuantCase:
    """An image in f32, its cast, a convolution of 3 channels and one of its result."""
    case = QuantCase(seed=9)
    shape = (1, 3, size, size)
    small = (size + 2 * (kernel // 2) - kernel) // stride + 1
    pad = kernel // 2
    if kernel == stride:
        small, pad = size // stride, 0
    out = (1, 64, small, small)
    x = case.input("x", shape, kind="f32")
    attributes = {"with_scale": "true", "round_mode": ROUNDING}
    q = case.op("tpu.Cast", [x], attributes, "q", shape, uniform("i8", 0.025))
    a = conv(case, q, "a", (shape, out), (kernel, kernel), (stride, stride), pad)
    conv(case, a, "y", (out, out), (1, 1))
    return case


def grouped(case: QuantCase, measure: bool = True) -> ModuleOp:
    """`measure=False`: with filter rows merged wherever they can be."""
    module = case.module()
    WeightReorderPass(measure=measure).apply(make_context(), module)
    for name in PREPARE:
        PASSES[name]()().apply(make_context(), module)
    return module


def in_group(module: ModuleOp, kind: type) -> int:
    return sum(
        isinstance(op.parent_op(), tpu.GroupOp) for op in module.walk() if isinstance(op, kind)
    )


@pytest.mark.parametrize(
    ("kernel", "stride", "size", "casts"),
    [(7, 2, 64, 1), (4, 4, 64, 1), (7, 2, 224, 0), (3, 2, 160, 1)],
)
def test_a_large_image_is_cast_before_it_is_loaded_many_times(
    kernel: int, stride: int, size: int, casts: int
) -> None:
    """Rows of the image are loaded once for each row of the filter that sees them; as long as
    that is hidden behind the convolution, or less than a way through DDR, words do as well."""
    module = grouped(stem(kernel, stride, size), measure=False)
    assert in_group(module, tpu.Conv2DOp) == 2
    assert in_group(module, tpu.CastOp) == casts


def test_patches_16_apart_are_in_the_group() -> None:
    case = stem(16, 16)
    assert in_group(grouped(case), tpu.Conv2DOp) == 2


def test_patches_with_a_rest_are_not() -> None:
    case = stem(16, 16, 72)
    module = grouped(case)
    assert in_group(module, tpu.Conv2DOp) < 2


def test_results_with_a_cast_of_an_image() -> None:
    check(stem(7, 2))
