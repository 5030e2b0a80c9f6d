"""Convolutional groups on slices against the interpreter."""

import pytest
from tests.kernels.harness import Case
from tests.local.groups import grouped, run_grouped
from xdsl.ir import Operation

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.passes.layer_group.values import Secs

NONE = "none"


def conv(
    case: Case,
    x: str,
    name: str,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    kernel: tuple[int, int],
    strides: tuple[int, int] = (1, 1),
    pads: tuple[int, int, int, int] = (0, 0, 0, 0),
    group: int = 1,
    relu: float | None = None,
) -> str:
    """A Conv2D with random filter and bias; `shapes` are those of operand and result."""
    ic, oc = shapes[0][1], shapes[1][1]
    scale = (ic // group * kernel[0] * kernel[1]) ** -0.5
    w = case.weight(f"{name}_w", (oc, ic // group, *kernel), scale)
    b = case.weight(f"{name}_b", (oc,), 0.3, "f32")
    attributes = {
        "group": f"{group} : i64",
        "kernel_shape": str(list(kernel)),
        "strides": str(list(strides)),
        "pads": str(list(pads)),
        "do_relu": "true" if relu is not None else "false",
        "relu_limit": f"{-1.0 if relu is None else relu} : f64",
        "with_bias": "true",
        "weight_is_coeff": "1 : i64",
    }
    return case.op("tpu.Conv2D", [x, w, b], attributes, name, shapes[1])


def residual(kind: str, seed: int = 0, n: int = 1, c: int = 70, hw: int = 12) -> Case:
    """conv-relu, conv, add of the group's input, relu."""
    case = Case(kind, seed)
    shape = (n, c, hw, hw)
    x = case.input("x", shape)
    a = conv(case, x, "a", (shape, shape), (3, 3), pads=(1, 1, 1, 1), relu=-1.0)
    b = conv(case, a, "b", (shape, shape), (1, 1))
    case.op("tpu.Add", [b, x], {"do_relu": "true"}, "y", shape)
    return case


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize(
    "secs", [Secs(), Secs(n=2), Secs(h=3), Secs(n=2, h=2), Secs(h=2, w=2)], ids=str
)
def test_residual_block(kind: str, secs: Secs) -> None:
    run_grouped(residual(kind, n=secs.n), secs=secs)


@pytest.mark.parametrize("bytes_per_lane", [0, 64, 512])
def test_clamps_do_with_little_scratch(bytes_per_lane: int) -> None:
    case = Case("f16", 5)
    shape = (2, 96, 14, 14)
    x = case.input("x", shape)
    a = conv(case, x, "a", (shape, shape), (1, 1), relu=6.0)
    b = conv(case, a, "b", (shape, shape), (3, 3), pads=(1, 1, 1, 1), group=96, relu=6.0)
    case.op("tpu.Relu", [b], {}, "y", shape)

    def scratch(op: Operation) -> int:
        return bytes_per_lane

    run_grouped(case, scratch=scratch)


@pytest.mark.parametrize("secs", [Secs(), Secs(h=4), Secs(h=3, w=2)], ids=str)
def test_inverted_bottleneck(secs: Secs) -> None:
    case = Case("f16", 1)
    narrow, wide, small = (1, 24, 28, 28), (1, 144, 28, 28), (1, 144, 14, 14)
    x = case.input("x", narrow)
    a = conv(case, x, "a", (narrow, wide), (1, 1), relu=6.0)
    pads = (1, 1, 1, 1)
    b = conv(case, a, "b", (wide, small), (3, 3), (2, 2), pads, group=144, relu=6.0)
    conv(case, b, "c", (small, (1, 32, 14, 14)), (1, 1))
    run_grouped(case, secs=secs)


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize(
    ("options", "kernel", "pads", "merge"),
    [
        ("use_3ic=false", (3, 3), (1, 1, 1, 1), 0),
        ("measure=false", (3, 3), (1, 1, 1, 1), 1),
        ("measure=false", (2, 7), (0, 2, 0, 3), 1),
        ("measure=false", (1, 7), (0, 2, 0, 3), 2),
        ("merge_columns=true", (3, 3), (1, 1, 1, 1), 3),
    ],
)
@pytest.mark.parametrize("secs", [Secs(), Secs(h=2)], ids=str)
def test_stem_with_merged_taps(
    kind: str,
    options: str,
    kernel: tuple[int, int],
    pads: tuple[int, int, int, int],
    merge: int,
    secs: Secs,
) -> None:
    """The cast between load and convolution works on the merged lanes, too."""
    case = Case(kind, 2)
    case.options["weight-reorder"] = options
    shape, out = (1, 3, 32, 32), (1, 32, 16, 16)
    x = case.input("x", shape, kind="f32" if kind == "f16" else kind)
    if kind == "f16":
        x = case.op("tpu.Cast", [x], {"with_scale": "true"}, "half", shape)
    conv(case, x, "y", (shape, out), kernel, (2, 2), pads, relu=-1.0)
    module = grouped(case, secs=secs)
    (stem,) = (op for op in module.walk() if isinstance(op, tpu.Conv2DOp))
    assert stem.use_3ic_optimize.value.data & 3 == (merge if kind == "f16" else 0)
    run_grouped(case, secs=secs)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("secs", [Secs(), Secs(h=2)], ids=str)
def test_patches_farther_apart_than_a_command_can_say(kind: str, secs: Secs) -> None:
    """The image's rows are merged as it is loaded, in words; each window is a row of its own."""
    case = Case(kind, 8)
    shape, out = (1, 3, 64, 48), (1, 100, 4, 3)
    x = case.input("x", shape, kind="f32")
    x = case.op("tpu.Cast", [x], {"with_scale": "true"}, "half", shape)
    conv(case, x, "y", (shape, out), (16, 16), (16, 16), relu=-1.0)
    module = grouped(case, secs=secs)
    (patches,) = (op for op in module.walk() if isinstance(op, tpu.Conv2DOp))
    assert patches.merged_taps() == (True, False)
    run_grouped(case, secs=secs)


@pytest.mark.parametrize("secs", [Secs(), Secs(h=2), Secs(h=3)], ids=str)
@pytest.mark.parametrize("channels", [16, 32])
def test_a_concatenation_of_what_others_read_more_of(secs: Secs, channels: int) -> None:
    """A half of channels goes through convolutions, which read margins, and past them."""
    case = Case("f16", 3)
    image = (24, 20)
    whole, half = (1, 2 * channels, *image), (1, channels, *image)
    a = conv(case, case.input("x", whole), "a", (whole, whole), (1, 1))

    def part(name: str, first: int) -> str:
        bounds = {"offset": [0, first, 0, 0], "ends": [1, first + channels, *image]}
        lists = {"steps": [1] * 4, "axes": [], "hasparamConvert_axes": [1]} | bounds
        attributes = {key: str(value) for key, value in lists.items()}
        return case.op("tpu.Slice", [a, *[NONE] * 4], attributes, name, half)

    past, through = part("p", 0), part("q", channels)
    c = conv(case, through, "c", (half, half), (3, 3), pads=(1, 1, 1, 1))
    added = case.op("tpu.Add", [through, c], {}, "s", half)
    joined = (1, 3 * channels, *image)
    f = case.op("tpu.Concat", [past, through, added], {"axis": "1 : si32"}, "f", joined)
    conv(case, f, "y", (joined, whole), (1, 1))
    run_grouped(case, secs=secs)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("secs", [Secs(), Secs(n=2), Secs(h=3)], ids=str)
@pytest.mark.parametrize(("channels", "group"), [(116, 2), (30, 5)])
def test_shuffled_channels(kind: str, secs: Secs, channels: int, group: int) -> None:
    case = Case(kind, 4)
    shape = (2, channels, 14, 14)
    x = case.input("x", shape)
    a = conv(case, x, "a", (shape, shape), (1, 1))
    b = case.op("tpu.ShuffleChannel", [a], {"group": f"{group} : i64"}, "b", shape)
    conv(case, b, "y", (shape, shape), (3, 3), pads=(1, 1, 1, 1), relu=-1.0)
    run_grouped(case, secs=secs)


@pytest.mark.parametrize("secs", [Secs(), Secs(h=2), Secs(n=2)], ids=str)
@pytest.mark.parametrize("mode", ["Max", "Avg"])
def test_pooling(mode: str, secs: Secs) -> None:
    case = Case("f16", 3)
    shape, out = (2, 96, 14, 14), (2, 96, 7, 7)
    x = case.input("x", shape)
    a = conv(case, x, "a", (shape, shape), (1, 1))
    attributes = {
        "kernel_shape": "[3, 3]",
        "strides": "[2, 2]",
        "pads": "[1, 1, 1, 1]",
        "pool_mode": f"#tpu<pool_mode {mode}>",
        "count_include_pad": "false",
    }
    case.op("tpu.Pool2D", [a], attributes, "y", out)
    run_grouped(case, secs=secs)


def test_global_average() -> None:
    case = Case("f16", 4)
    shape, out = (1, 130, 7, 7), (1, 130, 1, 1)
    x = case.input("x", shape)
    a = conv(case, x, "a", (shape, shape), (1, 1))
    attributes = {
        "kernel_shape": "[7, 7]",
        "strides": "[1, 1]",
        "pads": "[0, 0, 0, 0]",
        "pool_mode": "#tpu<pool_mode Avg>",
    }
    b = case.op("tpu.Pool2D", [a], attributes, "b", out)
    conv(case, b, "y", (out, out), (1, 1))
    run_grouped(case)


def test_squeeze_and_excitation_multiplies_along_height_and_width() -> None:
    case = Case("f16", 6)
    shape, vector = (1, 96, 9, 9), (1, 96, 1, 1)
    x, gate = case.input("x", shape), case.input("g", vector)
    g = conv(case, gate, "a", (vector, vector), (1, 1))
    case.op("tpu.Mul", [x, g], {}, "y", shape)
    run_grouped(case)


def test_margins_shared_by_two_convolutions() -> None:
    """Two users that read different rows of one value."""
    case = Case("f16", 7)
    shape = (1, 64, 20, 20)
    x = case.input("x", shape)
    a = conv(case, x, "a", (shape, shape), (1, 1))
    b = conv(case, a, "b", (shape, shape), (3, 3), pads=(1, 1, 1, 1))
    case.op("tpu.Add", [b, a], {}, "y", shape)
    run_grouped(case, secs=Secs(h=4))


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("tpu.Relu", {}),
        ("tpu.Active", {"mode": "#tpu<active_mode SILU>"}),
        ("tpu.MulConst", {"const_val": "0.5 : f64"}),
        ("tpu.Clip", {"min": "-0.5 : f64", "max": "0.5 : f64"}),
    ],
)
def test_functions_of_what_a_convolution_reads_more_of(
    kind: str, name: str, attributes: dict[str, str]
) -> None:
    """A block that begins with its activation: what goes past the convolutions needs no margins."""
    case = Case(kind, 7)
    shape = (1, 70, 20, 18)
    a = conv(case, case.input("x", shape), "a", (shape, shape), (1, 1))
    wide = conv(case, a, "w", (shape, shape), (3, 3), pads=(1, 1, 1, 1))
    own = case.op(name, [a], attributes, "f", shape)
    case.op("tpu.Add", [wide, own], {}, "y", shape)
    run_grouped(case, secs=Secs(h=4))


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("mode", ["Max", "Avg"])
def test_windows_and_repeated_rows_of_what_a_convolution_reads_more_of(
    kind: str, mode: str
) -> None:
    case = Case(kind, 9)
    shape, double = (1, 70, 20, 18), (1, 70, 40, 36)
    a = conv(case, case.input("x", shape), "a", (shape, shape), (1, 1))
    slope = case.weight("slope", (1, 70, 1, 1), 0.3)
    sloped = case.op("tpu.PReluOp", [a, slope], {}, "s", shape)
    attributes = {
        "kernel_shape": "[3, 3]",
        "strides": "[1, 1]",
        "pads": "[1, 1, 1, 1]",
        "pool_mode": f"#tpu<pool_mode {mode}>",
        "count_include_pad": "true",
    }
    pooled = case.op("tpu.Pool2D", [a], attributes, "p", shape)
    wide = conv(case, a, "w", (shape, shape), (5, 5), pads=(2, 2, 2, 2))
    both = case.op("tpu.Add", [wide, pooled], {}, "b", shape)
    total = case.op("tpu.Add", [both, sloped], {}, "t", shape)
    scales = {"scale_h": "2 : i64", "scale_w": "2 : i64"}
    larger = case.op("tpu.Upsample", [a, NONE], scales, "u", double)
    largest = case.op("tpu.Upsample", [total, NONE], scales, "v", double)
    case.op("tpu.Add", [larger, largest], {}, "y", double)
    run_grouped(case, secs=Secs(h=4))


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("secs", [Secs(), Secs(h=4)], ids=str)
def test_rows_cut_through_reshapes(kind: str, secs: Secs) -> None:
    """A signal is an image of one column for convolutions, and has three dimensions for others;
    what a convolution reads more of is no view of the other."""
    case = Case(kind, 8)
    image, signal = (1, 70, 40, 1), (1, 70, 40)
    a = conv(case, case.input("x", image), "a", (image, image), (1, 1))
    line = case.op("tpu.Reshape", [a], {"shape": "[1, 70, 40]"}, "r", signal)
    own = case.op("tpu.Relu", [line], {}, "f", signal)
    wide = conv(case, a, "w", (image, image), (5, 1), pads=(4, 0, 0, 0))
    back = case.op("tpu.Reshape", [wide], {"shape": "[1, 70, 40]"}, "b", signal)
    case.op("tpu.Add", [back, own], {}, "y", signal)
    run_grouped(case, secs=secs)


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_concat(axis: int) -> None:
    case = Case("f16", 8)
    shape = (2, 72, 8, 8)
    x = case.input("x", shape)
    a = conv(case, x, "a", (shape, shape), (1, 1))
    b = case.op("tpu.Relu", [a], {}, "b", shape)
    out = tuple(2 * size if i == axis else size for i, size in enumerate(shape))
    case.op("tpu.Concat", [a, b], {"axis": f"{axis} : si32"}, "y", out)
    run_grouped(case)


@pytest.mark.parametrize(
    ("offset", "steps", "out"),
    [
        ([0, 64, 0, 0], [1, 1, 1, 1], (2, 40, 8, 8)),
        ([0, 10, 0, 0], [1, 1, 1, 1], (2, 40, 8, 8)),
        ([0, 0, 3, 1], [1, 1, 2, 3], (2, 104, 2, 2)),
        ([1, 0, 0, 0], [1, 1, 1, 1], (1, 104, 8, 8)),
    ],
)
def test_slice(offset: list[int], steps: list[int], out: tuple[int, ...]) -> None:
    case = Case("f16", 9)
    shape = (2, 104, 8, 8)
    x = case.input("x", shape)
    a = case.op("tpu.Relu", [x], {}, "a", shape)
    ends = [o + s * (n - 1) + 1 for o, s, n in zip(offset, steps, out, strict=True)]
    attributes = {"offset": str(offset), "steps": str(steps), "ends": str(ends)}
    b = case.op("tpu.Slice", [a, NONE, NONE, NONE, NONE], attributes, "b", out)
    case.op("tpu.AddConst", [b], {"const_val": "1.0 : f64"}, "y", out)
    run_grouped(case)


def test_depth_is_sliced_without_moving_lanes() -> None:
    """A five-dimensional tensor whose dimension 2 is cut, as the parts of qkv."""
    case = Case("f16", 10)
    shape, part = (4, 49, 3, 2, 32), (4, 49, 1, 2, 32)
    x = case.input("x", shape)
    a = case.op("tpu.MulConst", [x], {"const_val": "0.5 : f64"}, "a", shape)
    attributes = {
        "offset": "[0, 0, 1, 0, 0]",
        "steps": "[1, 1, 1, 1, 1]",
        "ends": "[4, 49, 2, 2, 32]",
    }
    b = case.op("tpu.Slice", [a, NONE, NONE, NONE, NONE], attributes, "b", part)
    case.op("tpu.AddConst", [b], {"const_val": "1.0 : f64"}, "y", part)
    run_grouped(case, GroupType.THREE_D)
