"""Softmax, layer normalisation and reductions against the interpreter."""

from collections.abc import Sequence

import numpy as np
import pytest
from tests.kernels.harness import Case, check
from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.kernels.reduction import plan_reduction
from xdsl_tpu.backend.leaves import LEAVES, Leaf
from xdsl_tpu.backend.local import column_sums, reduce_ways, row_views, rows
from xdsl_tpu.backend.local.alone import Cheapest, InSlices, in_slices
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.backend.timing import simulate_program
from xdsl_tpu.dialects import tpu

KINDS = ("f32", "f16")

SOFTMAX = (((4, 3, 49, 49), 3), ((1, 2, 197, 197), -1), ((2, 10, 33), 1), ((1, 21, 8, 8), 1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("shape", "axis"), SOFTMAX, ids=str)
def test_softmax(kind: str, shape: tuple[int, ...], axis: int) -> None:
    case = Case(kind)
    operands = [case.input("x", shape, 3.0), *["none"] * 5]
    case.op("tpu.Softmax", operands, {"axis": f"{axis} : si32"}, "y", shape)
    outcome = check(case)
    sums = outcome.simulated.sum(axis)
    assert np.allclose(sums, 1, atol=1e-5 if kind == "f32" else 2e-2)


def test_softmax_of_far_apart_values() -> None:
    case = Case("f32")
    x = case.input("x", (2, 50), 100.0)
    case.op("tpu.Softmax", [x, *["none"] * 5], {"axis": "1 : si32"}, "y", (2, 50))
    check(case)


@pytest.mark.parametrize(
    ("shape", "axis"), [((2, 3, 49, 50), 3), ((1, 2, 61, 197), 3), ((2, 9, 33), 1)]
)
@pytest.mark.parametrize("beta", [1.0, 0.125, -0.25])
def test_softmax_of_scores_in_the_thousands(shape: tuple[int, ...], axis: int, beta: float) -> None:
    """Shares of neighbours among large scores are as right as those of small ones."""
    case = Case("f32")
    attributes = {"axis": f"{axis} : si32", "beta": f"{beta} : f64"}
    operands = [case.input("x", shape, 1000.0), *["none"] * 5]
    case.op("tpu.Softmax", operands, attributes, "y", shape)
    outcome = check(case)
    scores = np.asarray(case.inputs["x"], np.float64) * beta
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    expected = powers / powers.sum(axis, keepdims=True)
    seen = expected > 1e-6
    ratio = np.asarray(outcome.simulated, np.float64)[seen] / expected[seen]
    assert np.abs(ratio - 1).max() < 3e-6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parameters", ["none", "weight", "bias", "both"])
@pytest.mark.parametrize("shape", [(1, 130, 96), (1, 70, 97)], ids=str)
def test_layer_norm(kind: str, parameters: str, shape: tuple[int, ...]) -> None:
    case = Case(kind)
    x = case.input("x", shape, 2.0)
    size = (1, 1, shape[-1])
    weight = case.weight("w", size) if parameters in ("weight", "both") else "none"
    bias = case.weight("b", size) if parameters in ("bias", "both") else "none"
    attributes = {"axis": "2 : si32", "eps": "1.0e-5 : f64", "normalized_shape": "[]"}
    case.op("tpu.LayerNorm", [x, weight, bias, "none", "none"], attributes, "y", shape)
    check(case)


MODES = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("shape", "axes", "result"),
    [
        ((1, 49, 130), [1], (1, 1, 130)),
        ((2, 3, 4, 5), [1, 2], (2, 1, 1, 5)),
        ((1, 70, 7, 7), [2, 3], (1, 70, 1, 1)),
    ],
    ids=str,
)
def test_reductions(
    mode: str, shape: tuple[int, ...], axes: list[int], result: tuple[int, ...]
) -> None:
    case = Case("f16")
    operands = [case.input("x", shape), "none", "none"]
    attributes = {"axes": str(axes), "keepdims": "true", "mode": f'"{mode}"'}
    case.op("tpu.Reduce", operands, attributes, "y", result)
    check(case)


@pytest.mark.parametrize("height", [1, 2, 15, 16, 49, 97, 197, 768, 1000])
def test_reduction_plans_end_at_one_row(height: int) -> None:
    plan = plan_reduction(height, 1, 16)
    heights = [height, *(stage.height or 0 for stage in plan.stages(DType.F32))]
    assert heights[-1] == 1
    for before, after, step in zip(heights, heights[1:], plan.steps, strict=False):
        assert step <= LIMITS.window_stride
        assert after * step - before <= LIMITS.window_stride


@pytest.mark.parametrize("kind", ["f16", "f32", "bf16"])
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode not in ("ReduceMax", "ReduceMin")])
@pytest.mark.parametrize(
    ("shape", "axes", "result"),
    [
        ((1, 196, 192), [1], (1, 1, 192)),  # one matrix
        ((3, 70, 50), [1], (3, 1, 50)),
        ((1, 5000, 33), [1], (1, 1, 33)),  # rows in parts
        ((1, 3, 40000), [1], (1, 1, 40000)),  # columns in parts
    ],
    ids=str,
)
def test_sums_along_the_lanes(
    kind: str,
    mode: str,
    shape: tuple[int, ...],
    axes: list[int],
    result: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As products with a row of ones, whether that is the cheapest way or not."""
    along_lanes = InSlices(column_sums.column_sums, column_sums.view)
    monkeypatch.setitem(LEAVES, tpu.ReduceOp, Leaf(along_lanes))
    case = Case(kind)
    operands = [case.input("x", shape), "none", "none"]
    attributes = {"axes": str(axes), "keepdims": "true", "mode": f'"{mode}"'}
    case.op("tpu.Reduce", operands, attributes, "y", result)
    outcome = check(case)
    assert {command.form.family for command in outcome.program.tiu} & {"MM2", "CONV"}


@pytest.mark.parametrize("kind", ["f16", "f32", "bf16"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "shape", [(128, 7), (1, 320, 64), (2, 64, 9, 33), (1, 64 * 5000, 3)], ids=str
)
def test_rows_lane_by_lane(
    kind: str, mode: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that a lane has one behind the other, whether that is the cheapest way or not."""

    def last(op: Operation, chip: Chip) -> Sequence[InSlices]:
        return reduce_ways.ways(op, chip)[-1:]

    monkeypatch.setitem(LEAVES, tpu.ReduceOp, Leaf(Cheapest(last)))
    case = Case(kind)
    operands = [case.input("x", shape), "none", "none"]
    attributes = {"axes": f"[{len(shape) - 1}]", "keepdims": "true", "mode": f'"{mode}"'}
    case.op("tpu.Reduce", operands, attributes, "y", (*shape[:-1], 1))
    check(case)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_every_share_of_columns(kind: str, place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """3 matrices of 16 columns, each whole in a lane or shared by 16, 8 or 4: the same numbers."""
    shape = (3, 5, 16)

    def softmax(op: Operation, chip: Chip) -> Sequence[InSlices]:
        return in_slices(rows.softmax, row_views.softmax(op, chip)[place : place + 1])

    def largest(op: Operation, chip: Chip) -> Sequence[InSlices]:
        return in_slices(rows.reduce, row_views.reduction(op, chip)[place : place + 1])

    monkeypatch.setitem(LEAVES, tpu.SoftmaxOp, Leaf(Cheapest(softmax)))
    monkeypatch.setitem(LEAVES, tpu.ReduceOp, Leaf(Cheapest(largest)))
    case = Case(kind)
    operands = [case.input("x", shape, 3.0), *["none"] * 5]
    y = case.op("tpu.Softmax", operands, {"axis": "1 : si32"}, "y", shape)
    attributes = {"axes": "[1]", "keepdims": "true", "mode": '"ReduceMax"'}
    case.op("tpu.Reduce", [y, "none", "none"], attributes, "z", (3, 1, 16))
    check(case)


@pytest.mark.parametrize("shape", [(8, 16, 1024), (3, 64, 64), (1, 21, 4096), (12, 64, 64)])
def test_softmax_down_columns_takes_the_cheapest_view(shape: tuple[int, ...]) -> None:
    """No view of it takes less."""
    case = Case("f16")
    operands = [case.input("x", shape), *["none"] * 5]
    case.op("tpu.Softmax", operands, {"axis": "1 : si32"}, "y", shape)
    op = next(op for op in case.module().walk() if isinstance(op, tpu.SoftmaxOp))
    chip = load_chip("bm1684x")
    ways = in_slices(rows.softmax, row_views.softmax(op, chip))
    prices = [way.price(op, chip).cycles for way in ways]
    leaf = LEAVES[tpu.SoftmaxOp].alone
    assert isinstance(leaf, Cheapest)
    assert leaf.price(op, chip).cycles == min(prices)
    assert max(prices) > 1.5 * min(prices)


def test_results_of_single_elements_are_stored_in_runs() -> None:
    case = Case("f32")
    operands = [case.input("x", (2368, 64)), "none", "none"]
    attributes = {"axes": "[1]", "keepdims": "true", "mode": '"ReduceMax"'}
    case.op("tpu.Reduce", operands, attributes, "y", (2368, 1))
    program = check(case).program
    assert simulate_program(program, load_chip("bm1684x"))[0].total < 14_000


def test_sums_go_along_the_lanes_where_rows_are_short_within_them() -> None:
    """192 columns, three of them to a lane: transfers of six bytes, or of whole rows."""
    found = {}
    for shape, axes in (((1, 196, 192), [1]), ((1, 4, 30000), [1])):
        case = Case("f16")
        operands = [case.input("x", shape), "none", "none"]
        attributes = {"axes": str(axes), "keepdims": "true", "mode": '"ReduceMean"'}
        case.op("tpu.Reduce", operands, attributes, "y", (1, 1, shape[2]))
        families = {command.form.family for command in check(case).program.tiu}
        found[shape] = "MM2" in families
    assert found == {(1, 196, 192): True, (1, 4, 30000): False}
