"""Transformer groups on slices against the interpreter."""

from collections.abc import Sequence

import pytest
from tests.kernels.harness import Case
from tests.local.groups import run_grouped
from xdsl.ir import Operation

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.timing.gdma_cost import Direction, direction_of
from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.passes.layer_group.values import Secs

NONE = "none"


def matmul(
    case: Case,
    operands: Sequence[str],
    name: str,
    shape: tuple[int, ...],
    heads: bool = False,
    turned: bool = False,
    relu: bool = False,
) -> str:
    """A MatMul of left, right and perhaps bias."""
    attributes = {
        "hdim_is_batch": str(heads).lower(),
        "right_transpose": str(turned).lower(),
        "do_relu": str(relu).lower(),
        "keep_dims": "true",
    }
    given = [*operands, *[NONE] * (5 - len(operands))]
    return case.op("tpu.MatMul", given, attributes, name, shape)


def linear(
    case: Case, x: str, name: str, batch: tuple[int, int], sizes: tuple[int, int], bias: bool = True
) -> str:
    """x [n, tokens, K] times a weight [1, K, N], plus a row."""
    inner, outer = sizes
    w = case.weight(f"{name}_w", (1, inner, outer), inner**-0.5)
    b = [case.weight(f"{name}_b", (1, 1, outer), 0.3)] if bias else []
    return matmul(case, [x, w, *b], name, (*batch, outer))


def reshape(case: Case, x: str, name: str, shape: tuple[int, ...]) -> str:
    """A Reshape that keeps dimensions 0 and 1."""
    return case.op("tpu.Reshape", [x], {"shape": str(list(shape))}, name, shape)


def softmax(case: Case, x: str, name: str, shape: tuple[int, ...], axis: int = 3) -> str:
    """A softmax along one axis."""
    attributes = {"axis": f"{axis} : si32", "beta": "1.0 : f64", "log": "false"}
    return case.op("tpu.Softmax", [x, *[NONE] * 5], attributes, name, shape)


def layer_norm(
    case: Case, x: str, name: str, shape: tuple[int, ...], parameters: Sequence[str] = (NONE, NONE)
) -> str:
    """A LayerNorm over the last axis."""
    attributes = {
        "axis": f"{len(shape) - 1} : si32",
        "eps": "1.0e-5 : f64",
        "normalized_shape": f"[{shape[-1]}]",
    }
    return case.op("tpu.LayerNorm", [x, *parameters, NONE, NONE], attributes, name, shape)


def attention(kind: str, n: int, tokens: int, heads: int, width: int, table: bool = True) -> Case:
    """Window attention with a table of biases: q, k, v per head, softmax, projection."""
    case = Case(kind, 1)
    batch, size = (n, tokens), heads * width
    x = case.input("x", (*batch, size))
    split, scores = (*batch, heads, width), (*batch, heads, tokens)
    q, k, v = (
        reshape(case, linear(case, x, part, batch, (size, size)), f"{part}_heads", split)
        for part in ("q", "k", "v")
    )
    scaled = case.op("tpu.MulConst", [q], {"const_val": f"{width**-0.5} : f64"}, "scaled", split)
    s = matmul(case, [scaled, k], "s", scores, heads=True, turned=True)
    if table:
        t = case.weight("t", (1, tokens, heads, tokens), 0.5)
        s = case.op("tpu.Add", [s, t], {}, "biased", scores)
    p = softmax(case, s, "p", scores)
    o = matmul(case, [p, v], "o", split, heads=True)
    linear(case, reshape(case, o, "joined", (*batch, size)), "y", batch, (size, size))
    return case


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("secs", [Secs(), Secs(n=3)], ids=str)
def test_window_attention(kind: str, secs: Secs) -> None:
    run_grouped(attention(kind, 6, 49, 3, 32), GroupType.MM, secs)


@pytest.mark.parametrize("bytes_per_lane", [128, 1024, 16384])
def test_attention_over_more_rows_than_lanes(bytes_per_lane: int) -> None:
    case = attention("f16", 1, 197, 3, 64, table=False)

    def scratch(op: Operation) -> int:
        return bytes_per_lane

    run_grouped(case, GroupType.MM, scratch=scratch)


def mlp(kind: str, n: int = 1, tokens: int = 200, size: int = 96) -> Case:
    """Add, LayerNorm, MatMul, GELU, MatMul, Add."""
    case = Case(kind, 2)
    shape, batch = (n, tokens, size), (n, tokens)
    x, z = case.input("x", shape), case.input("z", shape)
    a = case.op("tpu.Add", [x, z], {}, "a", shape)
    h = layer_norm(case, a, "h", shape)
    up = linear(case, h, "up", batch, (size, 4 * size))
    act = case.op("tpu.Active", [up], {"mode": "#tpu<active_mode GELU>"}, "act", (*batch, 4 * size))
    down = linear(case, act, "down", batch, (4 * size, size))
    case.op("tpu.Add", [a, down], {}, "y", shape)
    return case


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("secs", [Secs(), Secs(c=2), Secs(c=4)], ids=str)
def test_feed_forward(kind: str, secs: Secs) -> None:
    """Slices of the tokens; the weights are held."""
    run_grouped(mlp(kind), GroupType.MM, secs)


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_norm_with_parameters(kind: str) -> None:
    case = Case(kind, 3)
    shape = (2, 100, 64)
    x = case.input("x", shape)
    rows = [case.weight(name, (1, 1, 64), 0.5) for name in ("w", "b")]
    layer_norm(case, x, "y", shape, rows)
    run_grouped(case, GroupType.MM)


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize("size", [96, 101])
def test_norm_of_many_rows_in_a_lane(kind: str, size: int) -> None:
    """The last axis of four lies in rows; 101 is prime, so rows are padded."""
    case = Case(kind, 4)
    shape = (1, 20, 7, size)
    x = case.input("x", shape)
    a = case.op("tpu.AddConst", [x], {"const_val": "0.5 : f64"}, "a", shape)
    layer_norm(case, a, "y", shape)
    run_grouped(case)


@pytest.mark.parametrize("axis", [2, 3])
@pytest.mark.parametrize("width", [49, 31])
def test_softmax_axes(axis: int, width: int) -> None:
    case = Case("f16", 5)
    shape = (3, 70, 5, width)
    x = case.input("x", shape, 3.0)
    a = case.op("tpu.AddConst", [x], {"const_val": "0.5 : f64"}, "a", shape)
    softmax(case, a, "y", shape, axis)
    run_grouped(case)


@pytest.mark.parametrize("mode", ["ReduceMean", "ReduceSum", "ReduceMax"])
@pytest.mark.parametrize("axis", [2, 3])
def test_reductions(mode: str, axis: int) -> None:
    case = Case("f16", 6)
    shape = (2, 70, 6, 37)
    out = tuple(1 if i == axis else size for i, size in enumerate(shape))
    x = case.input("x", shape)
    a = case.op("tpu.AddConst", [x], {"const_val": "0.5 : f64"}, "a", shape)
    attributes = {"axes": f"[{axis}]", "keepdims": "true", "mode": f'"{mode}"'}
    case.op("tpu.Reduce", [a, NONE, NONE], attributes, "y", out)
    run_grouped(case)


@pytest.mark.parametrize("secs", [Secs(), Secs(n=2), Secs(c=1, n=4)], ids=str)
def test_small_channels_fill_the_lanes(secs: Secs) -> None:
    """[1, 32, 32, 48] lies as n 16, c 64, h 48."""
    case = Case("f16", 7)
    shape = (1, 32, 32, 48)
    x = case.input("x", shape)
    h = layer_norm(case, x, "h", shape)
    w = case.weight("w", (48, 80), 48**-0.5)
    u = matmul(case, [h, w], "u", (1, 32, 32, 80))
    case.op("tpu.Active", [u], {"mode": "#tpu<active_mode SILU>"}, "y", (1, 32, 32, 80))
    run_grouped(case, GroupType.SMALL_C, secs)


def test_products_of_batches() -> None:
    case = Case("f16", 8)
    x, z = case.input("x", (3, 70, 64)), case.input("z", (3, 64, 50))
    a = case.op("tpu.AddConst", [x], {"const_val": "0.5 : f64"}, "a", (3, 70, 64))
    matmul(case, [a, z], "y", (3, 70, 50), relu=True)
    run_grouped(case, GroupType.MM)


@pytest.mark.parametrize("offsets", [(0, 3, 0, 0), (0, 0, 3, 0), (0, 3, 5, 0)])
@pytest.mark.parametrize("stored", [True, False])
def test_cyclic_shifts(offsets: tuple[int, ...], stored: bool) -> None:
    """A shift of channels goes from lane to lane; others stay in theirs."""
    case = Case("f16", 9)
    shape = (1, 28, 28, 48)
    x = case.input("x", shape)
    h = layer_norm(case, x, "h", shape)
    a = case.op("tpu.SwapDimInner", [h], {"offset": str(list(offsets))}, "a", shape)
    if stored:
        case.op("tpu.SwapDimInner", [a], {"offset": "[0, 0, 2, 0]"}, "y", shape)
    else:
        case.op("tpu.AddConst", [a], {"const_val": "0.5 : f64"}, "y", shape)
    outcome = run_grouped(case)
    copies = [c for c in outcome.program.tiu if c.form.family == "TRANS_BC" and c.function == 2]
    assert bool(copies) == (offsets[1] > 0)


@pytest.mark.parametrize("kind", ["Add", "Sub", "Mul", "Div", "Max", "Min"])
@pytest.mark.parametrize("stretched", [(1, 40, 1, 9), (2, 1, 6, 9), (1, 1, 1, 9), (2, 40, 6, 1)])
def test_stretched_weights(kind: str, stretched: tuple[int, ...]) -> None:
    case = Case("f32", 10)
    shape = (2, 40, 6, 9)
    x = case.input("x", shape)
    w = case.weight("w", stretched)
    if kind == "Div":
        case.weights["w"] = abs(case.weights["w"]) + 1
    a = case.op("tpu.AddConst", [x], {"const_val": "0.5 : f64"}, "a", shape)
    case.op(f"tpu.{kind}", [a, w], {}, "y", shape)
    run_grouped(case)


def test_stretched_weights_are_cut_with_the_slices() -> None:
    case = Case("f16", 11)
    shape = (4, 49, 3, 49)
    x = case.input("x", shape)
    w = case.weight("w", (1, 49, 3, 49))
    a = case.op("tpu.MulConst", [x], {"const_val": "0.5 : f64"}, "a", shape)
    case.op("tpu.Add", [a, w], {}, "y", shape)
    run_grouped(case, GroupType.MM, Secs(n=2))


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_rows_of_five_dimensions(kind: str) -> None:
    """Three times five rows of 24 lie in each lane."""
    case = Case(kind, 12)
    shape = (2, 70, 3, 5, 24)
    x = case.input("x", shape)
    a = case.op("tpu.MulConst", [x], {"const_val": "0.5 : f64"}, "a", shape)
    layer_norm(case, a, "y", shape, [case.weight(name, (24,)) for name in ("w", "b")])
    run_grouped(case, GroupType.NORMAL, Secs(n=2))


@pytest.mark.parametrize("parts", [1, 2])
def test_what_stays_for_all_slices_is_loaded_once_whatever_views_it(parts: int) -> None:
    """Keys are whole for every part of the queries, and their heads a view of them."""
    case = Case("f16")
    q, k = case.input("q", (1, 128, 3, 32)), case.input("k", (1, 128, 96))
    heads = case.op("tpu.Reshape", [k], {}, "heads", (1, 128, 3, 32))
    matmul(case, [q, heads], "y", (1, 128, 3, 128), heads=True, turned=True)
    outcome = run_grouped(case, secs=Secs(c=parts))
    moved = (command for command in outcome.program.gdma if "src_start_addr_l32" in command.fields)
    loads = [one for one in moved if direction_of(one, load_chip()) is Direction.LOAD]
    assert len(loads) == parts + 1
