"""Groups on slices of 8-bit integers: every element is the interpreter's."""

import numpy as np
import pytest
from tests.local.groups import SCRATCH, WHOLE, grouped
from tests.quantized.quant_cases import (
    ROUNDING,
    S8,
    U8,
    QuantCase,
    check,
    conv,
    execute,
    interpret,
    product_attributes,
    uniform,
)
from xdsl.ir import Operation

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.layer_group.values import Secs


def run(
    case: QuantCase, kind: GroupType = GroupType.NORMAL, secs: Secs = WHOLE, scratch: int = SCRATCH
) -> None:
    def wanted(op: Operation) -> int:
        return scratch

    check(case, grouped(case, kind, secs, wanted))


def residual(n: int = 1, c: int = 70, hw: int = 12) -> QuantCase:
    """conv-relu, conv, add of the group's input."""
    case = QuantCase(seed=1)
    shape = (n, c, hw, hw)
    x = case.integers("x", shape)
    a = conv(case, x, "a", (shape, shape), (3, 3), pad=1, relu=True, result=U8)
    b = conv(case, a, "b", (shape, shape), (1, 1))
    factors = {"multipliers": "[77, 93]", "rshifts": "[7, 7]"}
    case.op("tpu.Add", [b, x], factors, "y", shape, S8)
    return case


@pytest.mark.parametrize("scratch", [SCRATCH, 1280])
@pytest.mark.parametrize(
    "secs", [Secs(), Secs(h=3), Secs(n=2), Secs(n=2, h=2), Secs(h=2, w=2)], ids=str
)
def test_residual_block(secs: Secs, scratch: int) -> None:
    run(residual(n=secs.n), secs=secs, scratch=scratch)


def grouped_filters(n: int = 1, channels: int = 256, group: int = 2) -> QuantCase:
    """A convolution in groups between two others."""
    case = QuantCase(seed=7)
    shape, wide = (n, 128, 10, 10), (n, channels, 10, 10)
    a = conv(case, case.integers("x", shape), "a", (shape, shape), (1, 1))
    b = conv(case, a, "b", (shape, wide), (3, 3), pad=1, group=group, relu=True, result=U8)
    conv(case, b, "y", (wide, shape), (1, 1))
    return case


@pytest.mark.parametrize("scratch", [SCRATCH, 1280])
@pytest.mark.parametrize("secs", [Secs(), Secs(h=3), Secs(n=2), Secs(n=2, h=2)], ids=str)
def test_groups_of_whole_rounds_of_lanes(secs: Secs, scratch: int) -> None:
    run(grouped_filters(n=secs.n), secs=secs, scratch=scratch)


def test_groups_that_begin_within_the_lanes_are_refused() -> None:
    """64 inputs of each, but 48 outputs; and several images, whose groups lie apart."""
    with pytest.raises(TpuError, match="2 groups of 128 channels have no local kernel"):
        run(grouped_filters(channels=96))
    with pytest.raises(TpuError, match="2 groups of 128 channels have no local kernel"):
        run(grouped_filters(n=2))


@pytest.mark.parametrize("size", [14, 7])
@pytest.mark.parametrize(("channels", "group"), [(116, 2), (30, 5)])
def test_shuffled_channels(size: int, channels: int, group: int) -> None:
    case = QuantCase(seed=3)
    shape = (2, channels, size, size)
    a = conv(case, case.integers("x", shape), "a", (shape, shape), (1, 1))
    b = case.op("tpu.ShuffleChannel", [a], {"group": f"{group} : i64"}, "b", shape, S8)
    conv(case, b, "y", (shape, shape), (3, 3), pad=1)
    run(case)


def test_large_filters_come_some_places_at_a_time() -> None:
    """Work on the first channels begins while the last filters are on their way."""
    case, chip = QuantCase(seed=5, chip="bm1688"), load_chip("bm1688")
    shape, wide = (1, 128, 4, 4), (1, 320, 4, 4)
    conv(case, case.integers("x", shape), "y", (shape, wide), (3, 3), pad=1)
    program = check(case, grouped(case, chip=chip)).program
    timeline = simulate(program.tiu, program.gdma, chip)
    first = timeline.events[Engine.TIU][0].start
    late = [event for event in timeline.events[Engine.GDMA] if event.start > first]
    assert sum(event.cycles for event in late) > timeline.busy[Engine.GDMA] / 2


@pytest.mark.parametrize("secs", [Secs(), Secs(h=4), Secs(h=3, w=2)], ids=str)
def test_inverted_bottleneck(secs: Secs) -> None:
    case = QuantCase(seed=2)
    narrow, wide, small = (1, 24, 28, 28), (1, 144, 28, 28), (1, 144, 14, 14)
    x = case.integers("x", narrow)
    a = conv(case, x, "a", (narrow, wide), (1, 1), relu=True, result=U8)
    b = conv(case, a, "b", (wide, small), (3, 3), (2, 2), 1, 144, relu=True, result=U8)
    conv(case, b, "c", (small, (1, 32, 14, 14)), (1, 1), bias=False)
    run(case, secs=secs)


@pytest.mark.parametrize(
    ("kernel", "secs", "size"),
    [(k, s, 32) for k in (3, 7) for s in (Secs(), Secs(h=2))]
    + [(3, Secs(), 160), (7, Secs(), 148)],
    ids=str,
)
def test_stem_with_cast_and_merged_taps(kernel: int, secs: Secs, size: int) -> None:
    """Large images are loaded some rows at a time."""
    case = QuantCase(seed=3)
    shape, out = (1, 3, size, size), (1, 64, size // 2, size // 2)
    pooled = (1, 64, size // 4, size // 4)
    x = case.input("x", shape, kind="f32")
    attributes = {"with_scale": "true", "round_mode": ROUNDING}
    q = case.op("tpu.Cast", [x], attributes, "q", shape, uniform("i8", 0.025))
    a = conv(case, q, "a", (shape, out), (kernel, kernel), (2, 2), kernel // 2, result=U8)
    window = {"kernel_shape": "[3, 3]", "strides": "[2, 2]", "pads": "[1, 1, 1, 1]"}
    case.op("tpu.Pool2D", [a], window | {"pool_mode": "#tpu<pool_mode Max>"}, "y", pooled, U8)
    run(case, secs=secs)


@pytest.mark.parametrize("secs", [Secs(), Secs(h=2), Secs(h=2, w=3)], ids=str)
def test_patch_embedding(secs: Secs) -> None:
    """Windows of 16, 16 apart: a window becomes a row."""
    case = QuantCase(seed=8)
    shape, out = (1, 3, 64, 96), (1, 130, 4, 6)
    x = case.input("x", shape, kind="f32")
    attributes = {"with_scale": "true", "round_mode": ROUNDING}
    q = case.op("tpu.Cast", [x], attributes, "q", shape, uniform("i8", 0.025))
    a = conv(case, q, "a", (shape, out), (16, 16), (16, 16), result=U8)
    conv(case, a, "y", (out, out), (1, 1))
    run(case, secs=secs)


@pytest.mark.parametrize("channels", [96, 128, 30])
@pytest.mark.parametrize("secs", [Secs(), Secs(n=2)], ids=str)
def test_global_mean(secs: Secs, channels: int) -> None:
    """The result of one image is stored from one lane."""
    case = QuantCase(seed=4)
    shape = (secs.n, channels, 7, 7)
    x = case.integers("x", shape, U8)
    a = conv(case, x, "a", (shape, shape), (1, 1), result=U8)
    mean = {
        "kernel_shape": "[7, 7]",
        "strides": "[1, 1]",
        "pads": "[0, 0, 0, 0]",
        "pool_mode": "#tpu<pool_mode Avg>",
        "multiplier": "85 : si32",
        "rshift": "12 : si32",
    }
    case.op("tpu.Pool2D", [a], mean, "y", (secs.n, channels, 1, 1), U8)
    run(case, secs=secs)


@pytest.mark.parametrize("scratch", [SCRATCH, 2048])
@pytest.mark.parametrize("secs", [Secs(), Secs(n=4), Secs(c=2)], ids=str)
def test_mlp_with_table(secs: Secs, scratch: int) -> None:
    """Cast from f16, product, table, product, cast, residual in f16."""
    case = QuantCase(seed=5)
    shape, wide = (4, 100, 70), (4, 100, 200)
    x = case.input("x", shape, kind="f16")
    scale = {"with_scale": "true", "round_mode": ROUNDING}
    q = case.op("tpu.Cast", [x], scale, "q", shape, uniform("i8", 0.03))
    w1, b1 = case.constants("w1", (70, 200), "i8"), case.constants("b1", (1, 1, 200), "i32", 9000)
    h = case.op("tpu.MatMul", [q, w1, b1, "none", "none"], product_attributes(70), "h", wide, S8)
    t = case.op("tpu.Lut", [h, case.constants("t", (1, 1, 1, 256))], {}, "l", wide, S8)
    w2, b2 = case.constants("w2", (200, 70), "i8"), case.constants("b2", (1, 1, 70), "i32", 9000)
    y = case.op("tpu.MatMul", [t, w2, b2, "none", "none"], product_attributes(200), "p", shape, S8)
    f = case.op("tpu.Cast", [y], {"with_scale": "true"}, "f", shape, "f16")
    case.op("tpu.Add", [f, x], {}, "y", shape, "f16")
    run(case, GroupType.MM, secs, scratch)


@pytest.mark.parametrize("secs", [Secs(), Secs(n=4)], ids=str)
@pytest.mark.parametrize("tokens", [49, 70])
def test_attention(secs: Secs, tokens: int) -> None:
    """Projections, q k^T, a table for the softmax, times v."""
    case = QuantCase(seed=6)
    shape, heads, scores = (4, tokens, 96), (4, tokens, 3, 32), (4, tokens, 3, tokens)
    x = case.integers("x", shape)
    parts: list[str] = []
    for name in "qkv":
        w = case.constants(f"w{name}", (96, 96), "i8")
        b = case.constants(f"b{name}", (1, 1, 96), "i32", 9000)
        p = case.op(
            "tpu.MatMul", [x, w, b, "none", "none"], product_attributes(96), f"{name}_", shape, S8
        )
        parts.append(case.op("tpu.Reshape", [p], {}, name, heads, S8))
    q, k, v = parts
    q = case.op(
        "tpu.MulShift", [q], {"multiplier": "1 : si32", "rshift": "0 : si32"}, "qs", heads, S8
    )
    flags = {"hdim_is_batch": True, "right_transpose": True}
    s = case.op(
        "tpu.MatMul", [q, k, *["none"] * 3], product_attributes(32, **flags), "s", scores, S8
    )
    t = case.constants("t", (1, 1, 1, 256), "ui8")
    u = case.op("tpu.Lut", [s, t], {}, "u", scores, U8)
    attributes = product_attributes(tokens, hdim_is_batch=True)
    o = case.op("tpu.MatMul", [u, v, *["none"] * 3], attributes, "o", heads, S8)
    case.op("tpu.Reshape", [o], {}, "y", shape, S8)
    run(case, GroupType.MM, secs)


def test_f16_between_integers() -> None:
    """LayerNorm and softmax are f16 sequences, close to the interpreter: few steps differ by 1."""
    case = QuantCase(seed=8)
    shape = (4, 49, 3, 49)
    x = case.integers("x", shape)
    f = case.op("tpu.Cast", [x], {"with_scale": "true"}, "f", shape, "f16")
    s = case.op("tpu.Softmax", [f, *["none"] * 5], {"axis": "3 : si32"}, "s", shape, "f16")
    norm = {"axis": "3 : si32", "eps": "1.0e-05 : f64", "normalized_shape": "[49]"}
    n = case.op("tpu.LayerNorm", [s, *["none"] * 4], norm, "n", shape, "f16")
    scale = {"with_scale": "true", "round_mode": ROUNDING}
    case.op("tpu.Cast", [n], scale, "y", shape, uniform("i8", 0.05))
    module = grouped(case, GroupType.MM)
    program = generate(module, weights_of(module), load_chip())
    found = execute(program, case.inputs, "exact", Engine.TIU).astype(int)
    difference = np.abs(found - interpret(case))
    assert difference.max() <= 1
    assert (difference > 0).mean() < 0.02


@pytest.mark.parametrize("secs", [Secs(), Secs(h=2)], ids=str)
def test_movement(secs: Secs) -> None:
    case = QuantCase(seed=7)
    shape = (1, 70, 14, 6)
    a, b = case.integers("a", shape), case.integers("b", shape)
    c = case.op("tpu.Concat", [a, b], {"axis": "1 : si32"}, "c", (1, 140, 14, 6), S8)
    m = case.op(
        "tpu.MulShift",
        [c],
        {"multiplier": "97 : si32", "rshift": "7 : si32"},
        "m",
        (1, 140, 14, 6),
        U8,
    )
    attributes = {"offset": "[0, 64, 0, 0]", "steps": "[1, 1, 1, 1]", "ends": "[1, 140, 14, 6]"}
    case.op("tpu.Slice", [m, *["none"] * 4], attributes, "y", (1, 76, 14, 6), U8)
    run(case, secs=secs)


@pytest.mark.parametrize("secs", [Secs(), Secs(n=2)], ids=str)
def test_requantisation(secs: Secs) -> None:
    case = QuantCase(seed=9)
    shape = (2, 70, 9, 7)
    case.input("x", shape, 3e8, "f32")
    case.inputs["x"] = case.inputs["x"].astype(np.int32)
    case.types["x"] = case.types["x"].replace("f32", "si32")
    factor = {"multiplier": "1234567 : si32", "rshift": "42 : si32", "round_mode": ROUNDING}
    factor |= {"quant_mode": "#tpu<rq_mode MultiplierShift>"}
    case.op("tpu.RequantInt", ["x"], factor, "y", shape, S8)
    run(case, secs=secs)


@pytest.mark.parametrize("zero", [0, 3])
@pytest.mark.parametrize("to", ["table", "f32", "f16"])
def test_windows_into_slices(to: str, zero: int) -> None:
    """A 3x3 filter needs more rows of a value than what a table, or a cast, reads of it."""
    case = QuantCase(seed=14)
    shape = (1, 70, 12, 9)
    x = case.integers("x", shape)
    a = conv(case, x, "a", (shape, shape), (1, 1), result=f"!quant.uniform<i8:f32, 3.0e-01:{zero}>")
    b = conv(case, a, "b", (shape, shape), (3, 3), pad=1)
    if to == "table":
        kind = S8
        c = case.op("tpu.Lut", [a, case.constants("t", (1, 1, 1, 256))], {}, "c", shape, S8)
    else:
        kind = "f32" if to == "f32" else "f16"
        c = case.op("tpu.Cast", [a], {"with_scale": "true"}, "c", shape, kind)
        b = case.op("tpu.Cast", [b], {"with_scale": "true"}, "d", shape, kind)
    factors = {"multipliers": "[77, 93]", "rshifts": "[7, 7]"} if kind is S8 else {}
    case.op("tpu.Add", [b, c], factors, "y", shape, kind)
    run(case, secs=Secs(h=3))


@pytest.mark.parametrize("unit", [1.0, 0.5])
@pytest.mark.parametrize("secs", [Secs(), Secs(n=2), Secs(h=3)], ids=str)
def test_a_ramp_that_stays_in_integers(secs: Secs, unit: float) -> None:
    case = QuantCase(seed=13)
    shape = (2, 70, 9, 7)
    x = case.integers("x", shape)
    numbers = {"factor": 1.0, "limit": 60.0, "scale": 1.0, "unit": unit}
    attributes = {name: f"{number} : f64" for name, number in numbers.items()}
    attributes["terms"] = "[0.01 : f64, 0.5 : f64, -0.01 : f64]"
    case.op("tpu.SoftRamp", [x], attributes, "y", shape, S8)
    run(case, secs=secs)


@pytest.mark.parametrize("scale", [1.0, 17.0])
@pytest.mark.parametrize("secs", [Secs(), Secs(n=2), Secs(h=3)], ids=str)
def test_a_ramp_less_a_polynomial(secs: Secs, scale: float) -> None:
    case = QuantCase(seed=12)
    shape = (2, 70, 9, 7)
    x = case.integers("x", shape)
    numbers = {"factor": 0.9 / scale, "limit": 60.0 / scale, "scale": scale}
    attributes = {name: f"{number} : f64" for name, number in numbers.items()}
    attributes["terms"] = "[0.01 : f64, 0.5 : f64, -0.01 : f64]"
    case.op("tpu.SoftRamp", [x], attributes, "y", shape, S8)
    run(case, secs=secs)


@pytest.mark.parametrize("secs", [Secs(), Secs(h=3)], ids=str)
@pytest.mark.parametrize("inverse", [False, True], ids=["to_space", "to_depth"])
def test_blocks_of_pixels(inverse: bool, secs: Secs) -> None:
    """Channels that keep their lanes need not be turned, which bytes cannot be."""
    case = QuantCase(seed=12)
    deep, wide = (1, 512, 6, 10), (1, 128, 12, 20)
    given, made = (wide, deep) if inverse else (deep, wide)
    attributes = {"block_h": "2 : i64", "block_w": "2 : i64", "is_CRD": "false"}
    attributes["is_inversed"] = str(inverse).lower()
    factor = {"multiplier": "97 : si32", "rshift": "7 : si32"}
    x = case.op("tpu.MulShift", [case.integers("x", given)], factor, "m", given, S8)
    d = case.op("tpu.Depth2Space", [x], attributes, "d", made, S8)
    case.op("tpu.MulShift", [d], factor, "y", made, S8)
    run(case, secs=secs)


@pytest.mark.parametrize("secs", [Secs(), Secs(h=3), Secs(w=2)], ids=str)
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
def test_padding(mode: str, secs: Secs) -> None:
    """Also slices that begin or end in the border, which lies at odd bytes."""
    case = QuantCase(seed=13)
    shape, padded = (1, 70, 12, 11), (1, 70, 15, 16)
    a = conv(case, case.integers("x", shape), "a", (shape, shape), (1, 1))
    attributes = {"paddings": "[0, 0, 1, 3, 0, 0, 2, 2]", "mode": f"#tpu<Pad_Mode {mode}>"}
    operands = [a, *["none"] * 4]
    b = case.op("tpu.Pad", operands, attributes | {"val": "3.0 : f64"}, "b", padded, S8)
    conv(case, b, "y", (padded, padded), (1, 1))
    run(case, secs=secs)


@pytest.mark.parametrize(("crd", "refused"), [("true", True), ("false", False)])
def test_bytes_do_not_change_lanes(crd: str, refused: bool) -> None:
    """Channels that a block takes from among others would have to."""
    case = QuantCase(seed=12)
    attributes = {"block_h": "2 : i64", "block_w": "2 : i64", "is_inversed": "false"}
    x = case.integers("x", (1, 512, 6, 10))
    case.op("tpu.Depth2Space", [x], attributes | {"is_CRD": crd}, "y", (1, 128, 12, 20), S8)
    (op,) = (one for one in case.module().walk() if isinstance(one, tpu.Depth2SpaceOp))
    assert (op.local_support(GroupType.NORMAL) is not None) == refused
