"""Reading, writing and ranking by index on the machine, to the bit."""

from typing import Any

import numpy as np
import pytest
from tests.kernels.on_machine import Array, assert_exact
from tests.passes.lowering_samples import Sample, W, X

from xdsl_tpu.dialects import top

CASES: dict[str, Sample] = {}


def halves(*shape: int) -> Array:
    """Numbers that f16 holds, some of them equal."""
    values = np.random.default_rng(sum(shape)).integers(-40, 40, shape) / 2
    return values.astype(np.float32)


def places(size: int, *shape: int, seed: int = 0) -> Array:
    """Indices into `size` elements, from either end."""
    values = np.random.default_rng([seed, *shape]).integers(-size, size, shape)
    return values.astype(np.float32)


def different(size: int, count: int) -> Array:
    """Indices without one twice."""
    return np.random.default_rng(size).permutation(size)[:count].astype(np.float32)


def both(name: str, op: Any, x: Array, index: Array, *rest: Array, **attributes: Any) -> None:
    """A case with indices that are constant, and one with indices that are an input."""
    others = [X(value) for value in rest]
    CASES[f"{name}, constant"] = Sample(op, [X(x), W(index), *others], attributes)
    CASES[name] = Sample(op, [X(x), X(index), *others], attributes)


both("gather first", top.GatherOp, halves(70, 5), places(70, 9), axis=0)
both("gather middle", top.GatherOp, halves(3, 9, 70), places(9, 2, 5), axis=1)
both("gather last", top.GatherOp, halves(6, 40), places(40, 7), axis=1)
both("elements first", top.GatherElementsOp, halves(9, 7), places(9, 4, 7), axis=0)
both("elements inside", top.GatherElementsOp, halves(3, 9, 8), places(9, 2, 5, 6), axis=1)
both("elements last", top.GatherElementsOp, halves(3, 70, 300), places(300, 3, 70, 90), axis=2)
both("elements of few rows", top.GatherElementsOp, halves(5, 9, 31), places(31, 5, 9, 16), axis=2)
both("elements of one row", top.GatherElementsOp, halves(31), places(31, 40), axis=0)
both(
    "elements alike in all images",
    top.GatherElementsOp,
    halves(2, 3, 66, 20),
    np.broadcast_to(places(20, 66, 7), (2, 3, 66, 7)),
    axis=-1,
)
both("elements of few columns", top.GatherElementsOp, halves(2, 9, 70), places(70, 2, 9, 5), axis=2)
both("nd", top.GatherNDOp, halves(5, 5, 8), places(5, 3, 4, 2))
both("nd of elements", top.GatherNDOp, halves(5, 5), places(5, 7, 2))
both("nd in batches", top.GatherNDOp, halves(2, 6, 6, 3), places(6, 2, 4, 1), batch_dims=1)
both(
    "scatter elements",
    top.ScatterElementsOp,
    halves(4, 9),
    np.stack([different(9, 3)] * 4),
    halves(4, 3),
    axis=1,
)
both(
    "scatter slices",
    top.ScatterNDOp,
    halves(8, 3, 5),
    different(8, 4).reshape(2, 2, 1),
    halves(2, 2, 3, 5),
)
for number, reduction in enumerate(("add", "subtract", "maximum", "minimum", "multiply"), 1):
    CASES[f"scatter {reduction}"] = Sample(
        top.ScatterNDOp,
        [X(halves(6, 4)), W(places(6, 9, 1)), X(np.sign(halves(9, 4)))],
        {"reduction": number},
    )
CASES["scatter elements, sum"] = Sample(
    top.ScatterElementsOp,
    [X(halves(5, 6)), W(places(5, 3, 6)), X(halves(3, 6))],
    {"axis": 0, "reduction": 1},
)
for number, reduction in ((1, "add"), (2, "subtract"), (4, "minimum"), (5, "multiply")):
    CASES[f"scatter {reduction} at computed rows"] = Sample(
        top.ScatterNDOp,
        [X(halves(6, 4)), X(places(6, 9, 1)), X(np.sign(halves(9, 4)))],
        {"reduction": number},
    )
CASES["scatter elements, sum at computed places"] = Sample(
    top.ScatterElementsOp,
    [X(halves(5, 6)), X(places(5, 3, 6)), X(halves(3, 6))],
    {"axis": 0, "reduction": 1},
)
CASES["scatter add, a row updated often"] = Sample(
    top.ScatterNDOp,
    [X(halves(6, 4)), W(np.ones((80, 1), np.float32)), X(np.sign(halves(80, 4)))],
    {"reduction": 1},
)
for axis in range(3):
    for mode in ("ArgMax", "ArgMin"):
        for last in (False, True):
            CASES[f"{mode} {axis} {last}"] = Sample(
                top.ArgOp,
                [X(np.round(halves(4, 30, 6) / 4))],
                {"axis": axis, "keepdims": last, "mode": mode, "select_last_index": last},
                2,
            )
    CASES[f"top of axis {axis}"] = Sample(
        top.TopKOp, [X(halves(5, 30, 7))], {"axis": axis, "K": 4, "largest": axis != 1}, 2
    )
CASES["top of a long row"] = Sample(
    top.TopKOp, [X(np.round(halves(2, 300)))], {"axis": 1, "K": 20, "largest": True}, 2
)
for mode in ("ArgMax", "ArgMin"):
    CASES[f"{mode} of channels"] = Sample(
        top.ArgOp,
        [X(np.round(halves(2, 19, 9, 70) / 4))],
        {"axis": 1, "keepdims": True, "mode": mode},
        2,
    )
CASES["trilu"] = Sample(top.TriluOp, [X(halves(2, 7, 9))], {"upper": 0, "diagonal": 1})


@pytest.mark.parametrize("name", CASES)
def test_f32(name: str) -> None:
    assert_exact(CASES[name])


@pytest.mark.parametrize("mode", ["F16", "BF16"])
@pytest.mark.parametrize(
    "name",
    [
        *("gather middle", "elements inside, constant", "nd", "trilu"),
        *("scatter slices", "scatter add", "scatter add at computed rows"),
        *("ArgMax 1 True", "ArgMin 2 False", "ArgMax of channels", "ArgMin of channels"),
    ],
)
def test_16_bit(name: str, mode: str) -> None:
    assert_exact(CASES[name], mode)
