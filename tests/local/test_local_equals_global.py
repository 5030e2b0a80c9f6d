"""Every op with a local kernel: slices in local memory give what the kernel over DDR gives."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from tests.kernels.harness import Case, run
from tests.local.groups import run_grouped
from tests.local.test_local_cnn import conv
from tests.local.test_local_transformer import layer_norm, matmul, softmax

from xdsl_tpu.backend.leaves import LEAVES
from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.dialects.interpreters.layouts import reorder_conv_filter
from xdsl_tpu.passes.layer_group.values import Secs

NONE = "none"
SHAPE = (2, 70, 6, 10)

Build = Callable[[Case], object]


def unary(op: str, **attributes: str) -> Build:
    """An op of one operand and as many elements."""

    def build(case: Case) -> None:
        case.op(f"tpu.{op}", [case.input("x", SHAPE)], attributes, "y", SHAPE)

    return build


def binary(op: str, other: tuple[int, ...] = SHAPE) -> Build:
    """An op of two operands; the second one is not near 0."""

    def build(case: Case) -> None:
        x, z = case.input("x", SHAPE), case.input("z", other)
        case.inputs["z"] = np.abs(case.inputs["z"]) + 1
        case.op(f"tpu.{op}", [x, z], {"do_relu": "false"}, "y", SHAPE)

    return build


def chosen(op: str, *others: tuple[int, ...], absent: int = 0, **attributes: str) -> Build:
    """An op of a tensor in which there are zeros, and of tensors of other shapes."""

    def build(case: Case) -> None:
        case.inputs[case.input("x", SHAPE)].reshape(-1)[::3] = 0.0
        operands = [case.input(f"z{i}", shape) for i, shape in enumerate(others)]
        case.op(f"tpu.{op}", ["x", *operands, *[NONE] * absent], attributes, "y", SHAPE)

    return build


def scaled(case: Case) -> None:
    """A factor and a term for each channel."""
    operands = [case.weight(name, (1, SHAPE[1], 1, 1), 0.5) for name in ("s", "b")]
    attributes = {"do_relu": "true", "relu_limit": "0.8 : f64"}
    case.op("tpu.Scale", [case.input("x", SHAPE), *operands, NONE], attributes, "y", SHAPE)


def sloped(case: Case) -> None:
    """A slope for each channel."""
    operands = [case.input("x", SHAPE), case.weight("s", (1, SHAPE[1], 1, 1), 0.3)]
    case.op("tpu.PReluOp", operands, {}, "y", SHAPE)


def moved(op: str, out: tuple[int, ...], absent: int = 0, **attributes: str) -> Build:
    """An op that only moves elements."""

    def build(case: Case) -> None:
        operands = [case.input("x", SHAPE), *[NONE] * absent]
        case.op(f"tpu.{op}", operands, attributes, "y", out)

    return build


def cast(case: Case) -> None:
    """From f32, or for f32 from f16."""
    x = case.input("x", SHAPE, kind="f16" if case.kind == "f32" else "f32")
    case.op("tpu.Cast", [x], {"with_scale": "true"}, "y", SHAPE)


def concat(axis: int) -> Build:
    """x beside z."""

    def build(case: Case) -> None:
        out = tuple(2 * size if i == axis else size for i, size in enumerate(SHAPE))
        operands = [case.input("x", SHAPE), case.input("z", SHAPE)]
        case.op("tpu.Concat", operands, {"axis": f"{axis} : si32"}, "y", out)

    return build


def convolution(kernel: int, stride: int, group: int) -> Build:
    """A convolution with bias and clamp."""

    def build(case: Case) -> None:
        pad, (n, c, h, w) = kernel // 2, SHAPE
        out = (n, c, *((size + 2 * pad - kernel) // stride + 1 for size in (h, w)))
        x, pads = case.input("x", SHAPE), (pad, pad, pad, pad)
        square = (kernel, kernel), (stride, stride)
        conv(case, x, "y", (SHAPE, out), *square, pads, group, relu=2.0)

    return build


def computed_filter(kernel: int, group: int) -> Build:
    """A convolution whose filter is no weight, laid out as `weight-reorder` has it."""

    def build(case: Case) -> None:
        n, c, h, w = SHAPE
        given, scale = (c, c // group, kernel, kernel), (c // group * kernel**2) ** -0.5
        filters = case.inputs.pop(case.input("filters", given, scale))
        laid_out = reorder_conv_filter(filters, 4 if case.kind == "f32" else 2, 64, group)
        case.inputs[case.input("f", laid_out.shape)] = laid_out
        attributes = {
            "group": f"{group} : i64",
            "kernel_shape": f"{[kernel] * 2}",
            "strides": "[1, 1]",
            "pads": f"{[kernel // 2] * 4}",
            "do_relu": "true",
            "relu_limit": "2.0 : f64",
            "with_bias": "true",
            "weight_is_coeff": "0 : i64",
            "dynweight_reorderd": "true",
        }
        operands = [case.input("x", SHAPE), "f", case.weight("b", (c,), 0.3, "f32")]
        case.op("tpu.Conv2D", operands, attributes, "y", (n, c, h, w))

    return build


def product(case: Case) -> None:
    """Rows times a weight, with bias and relu."""
    x, w = case.input("x", (2, 70, 40)), case.weight("w", (1, 40, 50), 0.2)
    b = case.weight("b", (1, 1, 50), 0.3)
    matmul(case, [x, w, b], "y", (2, 70, 50), relu=True)


def heads(turned: bool) -> Build:
    """A product per head."""

    def build(case: Case) -> None:
        right = (2, 50, 3, 32) if turned else (2, 32, 3, 50)
        operands = [case.input("x", (2, 70, 3, 32), 0.4), case.input("z", right, 0.4)]
        matmul(case, operands, "y", (2, 70, 3, 50), heads=True, turned=turned)

    return build


def pooled(mode: str) -> Build:
    """3x3 windows with padding."""

    def build(case: Case) -> None:
        attributes = {
            "kernel_shape": "[3, 3]",
            "strides": "[2, 2]",
            "pads": "[1, 1, 1, 1]",
            "pool_mode": f"#tpu<pool_mode {mode}>",
            "count_include_pad": "false",
        }
        case.op("tpu.Pool2D", [case.input("x", SHAPE)], attributes, "y", (2, 70, 3, 5))

    return build


def pooled_lines(case: Case) -> None:
    """Windows of 4 that share an element with the next."""
    attributes = {
        "kernel_shape": "[4]",
        "strides": "[3]",
        "pads": "[1, 0]",
        "pool_mode": "#tpu<pool_mode Avg>",
        "count_include_pad": "true",
    }
    case.op("tpu.Pool1D", [case.input("x", (2, 70, 30))], attributes, "y", (2, 70, 10))


def reduced(mode: str, *axes: int) -> Build:
    """Axes in the lanes."""

    def build(case: Case) -> None:
        attributes = {"axes": f"{list(axes)}", "keepdims": "true", "mode": f'"Reduce{mode}"'}
        out = tuple(1 if i in axes else size for i, size in enumerate(SHAPE))
        case.op("tpu.Reduce", [case.input("x", SHAPE), NONE, NONE], attributes, "y", out)

    return build


def best(case: Case) -> None:
    """The three best of each row, and their places."""
    out = (*SHAPE[:-1], 6)
    case.op("tpu.Best", [case.input("x", SHAPE), NONE], {"count": "3 : i64"}, "y", out)


def picked(case: Case) -> None:
    """Of each row some elements; images share their places."""
    which = case.weight("which", (1, 70, 9), kind="ui8")
    case.weights[which] = np.random.default_rng(0).integers(0, 30, (1, 70, 9)).astype(np.uint8)
    operands = [case.input("x", (2, 70, 30)), which, NONE, NONE]
    case.op("tpu.GatherElements", operands, {"axis": "2 : i64"}, "y", (2, 70, 9))


def normalised(case: Case) -> None:
    """A LayerNorm with weight and bias over the last axis."""
    rows = [case.weight(name, (1, 1, 48), 0.5) for name in ("w", "b")]
    layer_norm(case, case.input("x", (2, 70, 48)), "y", (2, 70, 48), rows)


def over_roots(case: Case) -> None:
    """An RMSNorm with a weight over the last axis."""
    operands = [case.input("x", (2, 70, 48)), case.weight("w", (48,), 0.5)]
    case.op("tpu.RMSNorm", operands, {"eps": "1.0e-5 : f64"}, "y", (2, 70, 48))


def of_channels(op: str, parameters: tuple[int, ...], **attributes: str) -> Build:
    """A norm with a weight and a bias for each channel."""

    def build(case: Case) -> None:
        given = [case.weight(name, parameters, 0.5) for name in ("w", "b")]
        operands = [case.input("x", SHAPE), *given, NONE, NONE]
        case.op(f"tpu.{op}", operands, {"eps": "1.0e-5 : f64", **attributes}, "y", SHAPE)

    return build


def probable(axis: int) -> Build:
    """A softmax of scores of some size."""

    def build(case: Case) -> None:
        softmax(case, case.input("x", SHAPE, 3.0), "y", SHAPE, axis)

    return build


def activation(mode: str) -> Build:
    """A function of one operand."""
    return unary("Active", mode=f"#tpu<active_mode {mode}>")


CASES: Mapping[str, Build] = {
    "tpu.Active GELU": activation("GELU"),
    "tpu.Active TGELU": activation("TGELU"),
    "tpu.Active QGELU": activation("QGELU"),
    "tpu.Active SILU": activation("SILU"),
    "tpu.Active SIGMOID": activation("SIGMOID"),
    "tpu.Active TANH": activation("TANH"),
    "tpu.Active EXP": activation("EXP"),
    "tpu.Active HSWISH": activation("HSWISH"),
    "tpu.Add": binary("Add"),
    "tpu.Add stretched": binary("Add", (1, 70, 6, 10)),
    "tpu.AddConst": unary("AddConst", const_val="0.7 : f64"),
    "tpu.Best": best,
    "tpu.Cast": cast,
    "tpu.Clip": unary("Clip", min="-0.5 : f64", max="0.8 : f64"),
    "tpu.Compare": chosen("Compare", SHAPE, mode='"Greater"'),
    "tpu.Compare stretched": chosen("Compare", (2, 70, 1, 10), mode='"And"'),
    "tpu.CompareConst": chosen(
        "CompareConst", mode='"Equal"', const_val="0.0 : f64", inversed="false"
    ),
    "tpu.Concat c": concat(1),
    "tpu.Concat h": concat(2),
    "tpu.Concat n": concat(0),
    "tpu.Concat w": concat(3),
    "tpu.Conv2D 1x1": convolution(1, 1, 1),
    "tpu.Conv2D 3x3": convolution(3, 2, 1),
    "tpu.Conv2D depthwise": convolution(3, 1, 70),
    "tpu.Conv2D groups across lane groups": convolution(3, 1, 7),
    "tpu.Conv2D two groups": convolution(3, 2, 2),
    "tpu.Conv2D 1x1 groups": convolution(1, 1, 35),
    "tpu.Conv2D computed": computed_filter(3, 1),
    "tpu.Conv2D computed depthwise": computed_filter(3, 70),
    "tpu.Conv2D computed groups": computed_filter(3, 7),
    "tpu.Depth2Space": moved(
        "Depth2Space",
        (2, 7, 30, 20),
        block_h="5 : i64",
        block_w="2 : i64",
        is_CRD="true",
        is_inversed="false",
    ),
    "tpu.Div": binary("Div"),
    "tpu.GatherElements": picked,
    "tpu.GroupNorm": of_channels("GroupNorm", (1, 70, 1, 1), num_groups="70 : i64"),
    "tpu.LayerNorm": normalised,
    "tpu.LeakyRelu": unary("LeakyRelu", alpha="0.1 : f64"),
    "tpu.LogicalAnd": chosen("LogicalAnd", SHAPE, SHAPE),
    "tpu.MaskedFill": chosen("MaskedFill", SHAPE, inversed="true", const_val="-1.0e4 : f64"),
    "tpu.MatMul": product,
    "tpu.MatMul heads": heads(turned=False),
    "tpu.MatMul heads turned": heads(turned=True),
    "tpu.Max": binary("Max"),
    "tpu.MaxConst": unary("MaxConst", const_val="0.3 : f64"),
    "tpu.Min": binary("Min"),
    "tpu.MinConst": unary("MinConst", const_val="0.3 : f64"),
    "tpu.Mul": binary("Mul"),
    "tpu.Mul stretched": binary("Mul", (2, 70, 1, 1)),
    "tpu.MulConst": unary("MulConst", const_val="0.7 : f64"),
    "tpu.PReluOp": sloped,
    "tpu.PixelNorm": of_channels("PixelNorm", (1, 1, 1, 70)),
    "tpu.Pool1D": pooled_lines,
    "tpu.Pool2D Max": pooled("Max"),
    "tpu.Pool2D Avg": pooled("Avg"),
    "tpu.RMSNorm": over_roots,
    "tpu.Reciprocal": unary("Reciprocal", const_val="1.5 : f64"),
    "tpu.Reduce mean": reduced("Mean", 3),
    "tpu.Reduce max": reduced("Max", 2),
    "tpu.Reduce min": reduced("Min", 3),
    "tpu.Reduce L1": reduced("L1", 2),
    "tpu.Reduce L2 of the image": reduced("L2", 2, 3),
    "tpu.Reduce mean of the image": reduced("Mean", 2, 3),
    "tpu.Pad": moved(
        "Pad",
        (2, 70, 9, 11),
        4,
        paddings="[0, 0, 2, 1, 0, 0, 1, 0]",
        mode="#tpu<Pad_Mode reflect>",
    ),
    "tpu.Relu": unary("Relu"),
    "tpu.Reshape": moved("Reshape", (2, 70, 60), shape="[2, 70, 60]"),
    "tpu.Scale": scaled,
    "tpu.ShuffleChannel": moved("ShuffleChannel", SHAPE, group="7 : i64"),
    "tpu.Slice": moved(
        "Slice",
        (2, 70, 3, 4),
        4,
        offset="[0, 0, 1, 2]",
        steps="[1, 1, 2, 2]",
        ends="[2, 70, 6, 9]",
    ),
    "tpu.Softmax w": probable(3),
    "tpu.Softmax h": probable(2),
    "tpu.Squeeze": moved("Squeeze", (2, 70, 6, 10), axes="[]"),
    "tpu.Sub": binary("Sub"),
    "tpu.SubConst": unary("SubConst", const_val="0.7 : f64"),
    "tpu.SwapDimInner c": moved("SwapDimInner", SHAPE, offset="[0, 3, 0, 0]"),
    "tpu.SwapDimInner h": moved("SwapDimInner", SHAPE, offset="[0, 0, 2, 0]"),
    "tpu.Where": chosen("Where", (1, 70, 6, 10), (2, 70, 6, 1), absent=1),
    "tpu.Where constant": chosen(
        "Where", SHAPE, absent=2, y_is_const="true", y_const_val="2.5 : f64"
    ),
    "tpu.Unsqueeze": moved("Unsqueeze", (2, 70, 6, 10), axes="[]"),
}
"""Op (and form) -> a function of that op alone."""

IN_F32 = {"tpu.Best", "tpu.Div", "tpu.Reciprocal"}
"""Ops that lowering leaves in f32 in every number format."""

RUNS = [
    pytest.param(name, kind, id=f"{name}-{kind}")
    for name in CASES
    for kind in ("f32", "f16", "bf16")
    if kind == "f32" or name not in IN_F32
]

IN_ORDER = {"tpu.Reduce mean", "tpu.Softmax w"}
"""Sums along rows: in f32 pooling windows follow from the tile, and so does the order."""


BY_BLAS = ("tpu.Conv2D", "tpu.MatMul")
"""Products, whose terms numpy's BLAS adds in f32 in an order of its own for each size of matrix; on
some processors it is the same for the slices here. Sums that differ can be on either side of where
a shorter float is rounded up."""

ROUNDED = {"f32": 2e-6, "f16": 2**-10, "bf16": 2**-7}
"""The largest distance of neighbours, relative to them."""


ON_INTEGERS = {"tpu.Lut", "tpu.MulShift", "tpu.RequantInt", "tpu.SoftRamp"}
"""Ops that there are for integers only: `tests/quantized/test_local_quantized.py`."""

ACROSS_LANES = {"tpu.Permute", "tpu.Rearrange"}
"""Ops that move data between lanes: `tests/local/test_local_transpose.py`, and for values that are
never cut `tests/local/test_local_rearrange.py`."""


RESAMPLED = {"tpu.Resample", "tpu.Upsample"}
"""Ops that give an image another size: `tests/kernels/test_kernel_resample.py`."""


SCANNED = {"tpu.LinearScan"}
"""Linear recurrences: `tests/kernels/test_kernel_scan.py`."""


ROTATED = {"tpu.Rope"}
"""Rotary embeddings: `tests/local/test_local_rope.py`."""


ATTENDED = {"tpu.FAttention"}
"""Attention: `tests/local/test_local_attention.py`."""


SAMPLED = {"tpu.SampledSum"}
"""Samples of images: `tests/kernels/test_kernel_sampled.py`."""

ELSEWHERE = ON_INTEGERS | ACROSS_LANES | RESAMPLED | SCANNED | ROTATED | ATTENDED | SAMPLED


def test_every_local_kernel_has_a_case() -> None:
    sliced = {op.name for op, leaf in LEAVES.items() if leaf.sliced is not None}
    assert {name.split()[0] for name in CASES} | ELSEWHERE == sliced


@pytest.mark.parametrize(("name", "kind"), RUNS)
def test_slices_give_what_the_whole_gives(name: str, kind: str) -> None:
    """Bit by bit, but for sums of which the order depends on the tile."""
    case = Case(kind)
    CASES[name](case)
    whole = run(case).simulated
    rows = name.startswith("tpu.MatMul") or name in ("tpu.LayerNorm", "tpu.RMSNorm")
    group = GroupType.MM if rows else GroupType.NORMAL
    for secs in (Secs(), Secs(h=2) if name == "tpu.Concat n" else Secs(n=2)):
        sliced = run_grouped(case, group, secs).simulated
        if name in IN_ORDER and kind == "f32":
            np.testing.assert_allclose(sliced, whole, rtol=2e-6, atol=1e-7)
        elif name.startswith(BY_BLAS):
            np.testing.assert_allclose(sliced, whole, rtol=ROUNDED[kind], atol=4e-6)
        else:
            np.testing.assert_array_equal(sliced, whole)
