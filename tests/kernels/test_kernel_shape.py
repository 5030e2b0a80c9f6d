"""Kernels that only move elements: every result must be exact."""

import itertools

import numpy as np
import pytest
from tests.kernels.harness import Case, run

PERMUTES = (
    ((1, 24, 14, 14), (0, 2, 3, 1)),
    ((1, 14, 14, 24), (0, 3, 1, 2)),
    ((1, 2, 7, 2, 7, 24), (0, 1, 3, 2, 4, 5)),
    ((4, 49, 3, 3, 32), (2, 0, 3, 1, 4)),
    ((4, 3, 49, 32), (0, 1, 3, 2)),
    ((3, 4, 5), (2, 1, 0)),
    ((2, 3, 4, 5, 6), (4, 2, 0, 1, 3)),
    ((2, 70, 9, 130), (1, 3, 2, 0)),
    ((3, 5, 70, 11), (3, 2, 1, 0)),
    ((66000, 3), (1, 0)),
    ((5, 1, 7), (2, 1, 0)),
    ((2, 3, 57, 61), (0, 2, 3, 1)),
    ((3, 61, 57, 3), (0, 3, 1, 2)),
    ((1, 150, 130, 7), (0, 3, 1, 2)),
    ((1, 40, 1000, 63), (0, 3, 1, 2)),
    ((1, 5, 200), (0, 2, 1)),
)


def exact(case: Case) -> None:
    outcome = run(case)
    assert np.array_equal(outcome.simulated, outcome.expected)


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize(("shape", "order"), PERMUTES, ids=str)
def test_permutes(kind: str, shape: tuple[int, ...], order: tuple[int, ...]) -> None:
    case = Case(kind)
    x = case.input("x", shape)
    result = tuple(shape[a] for a in order)
    case.op("tpu.Permute", [x, "none"], {"order": str(list(order))}, "y", result)
    exact(case)


@pytest.mark.parametrize("order", [(0, 3, 1, 2), (0, 2, 3, 1)])
def test_pixels_of_three_channels_move_in_long_runs(order: tuple[int, ...]) -> None:
    """Twice the traffic of a copy, where moving pixel by pixel takes twenty times as long."""
    case = Case("f16")
    shape = (1, 224, 224, 3) if order == (0, 3, 1, 2) else (1, 3, 224, 224)
    result = tuple(shape[a] for a in order)
    case.op(
        "tpu.Permute", [case.input("x", shape), "none"], {"order": str(list(order))}, "y", result
    )
    outcome = run(case)
    assert np.array_equal(outcome.simulated, outcome.expected)
    assert outcome.cycles < 20_000


def test_small_matrices_go_through_the_lanes() -> None:
    """Single elements cost the GDMA as much as 256 bytes each: 40210 cycles for this one."""
    case = Case("f16")
    case.op("tpu.Permute", [case.input("x", (32, 32)), "none"], {"order": "[1, 0]"}, "y", (32, 32))
    outcome = run(case)
    assert np.array_equal(outcome.simulated, outcome.expected)
    assert outcome.cycles < 2_000


SLICES = (
    ((1, 8, 8, 24), [0, 0, 1, 0], [1, 2, 2, 1], [1, 8, 8, 24]),
    ((3, 4, 7, 32), [1, 0, 0, 0], [1, 1, 1, 1], [2, 4, 7, 32]),
    ((4, 5, 6), [1, 0, 2], [2, 1, 3], [4, 5, 6]),
)


@pytest.mark.parametrize(("shape", "offset", "steps", "ends"), SLICES, ids=str)
def test_slices(
    shape: tuple[int, ...], offset: list[int], steps: list[int], ends: list[int]
) -> None:
    case = Case("f16")
    operands = [case.input("x", shape), *["none"] * 4]
    attributes = {"offset": str(offset), "steps": str(steps), "ends": str(ends)}
    ranges = zip(offset, ends, steps, strict=True)
    result = tuple(len(range(o, e, s)) for o, e, s in ranges)
    case.op("tpu.Slice", operands, attributes, "y", result)
    exact(case)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_concat(axis: int) -> None:
    case = Case("f16")
    shapes = [tuple(3 + i if a == axis else 5 for a in range(3)) for i in range(3)]
    names = [case.input(f"x{i}", shape) for i, shape in enumerate(shapes)]
    result = tuple(12 if a == axis else 5 for a in range(3))
    case.op("tpu.Concat", names, {"axis": f"{axis} : si32"}, "y", result)
    exact(case)


@pytest.mark.parametrize("flags", list(itertools.product("01", repeat=5)), ids="".join)
def test_depth_to_space(flags: tuple[str, ...]) -> None:
    crd, inverse, in_nchw, out_nchw, swap = (flag == "1" for flag in flags)
    channels, height, width = (24, 4, 9) if not inverse else (5, 6, 9)
    out = (4, 8, 27) if not inverse else (30, 3, 3)

    def laid_out(c: int, h: int, w: int, nchw: bool) -> tuple[int, ...]:
        return (2, c, h, w) if nchw else (2, h, w, c)

    case = Case("f32")
    x = case.input("x", laid_out(channels, height, width, in_nchw))
    named = zip(
        ("is_CRD", "is_inversed", "in_is_NCHW", "out_is_NCHW", "swap_cr"),
        (crd, inverse, in_nchw, out_nchw, swap),
        strict=True,
    )
    attributes = {name: str(value).lower() for name, value in named}
    attributes |= {"block_h": "2 : i64", "block_w": "3 : i64"}
    case.op("tpu.Depth2Space", [x], attributes, "y", laid_out(*out, out_nchw))
    exact(case)


@pytest.mark.parametrize("offset", [(0, 3, 0, 0), (0, 3, 11, 0), (0, 0, 0, 0)], ids=str)
def test_swap_dim_inner(offset: tuple[int, ...]) -> None:
    case = Case("f16")
    x = case.input("x", (1, 14, 14, 8))
    case.op("tpu.SwapDimInner", [x], {"offset": str(list(offset))}, "y", (1, 14, 14, 8))
    exact(case)


@pytest.mark.parametrize("mode", ["edge", "reflect"])
def test_pad_with_borders(mode: str) -> None:
    case = Case("f16")
    x = case.input("x", (2, 3, 5, 7))
    attributes = {"paddings": "[1, 0, 2, 4, 0, 2, 3, 6]", "mode": f"#tpu<Pad_Mode {mode}>"}
    case.op("tpu.Pad", [x, *["none"] * 4], attributes, "y", (3, 5, 10, 17))
    exact(case)


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize(
    ("shape", "counts"),
    [((3, 1, 5), (2, 70, 1)), ((4, 6), (1, 3)), ((2, 3, 4, 5), (3, 2, 1, 2)), ((1,), (900,))],
    ids=str,
)
def test_tile(kind: str, shape: tuple[int, ...], counts: tuple[int, ...]) -> None:
    case = Case(kind)
    result = tuple(n * count for n, count in zip(shape, counts, strict=True))
    case.op("tpu.Tile", [case.input("x", shape), "none"], {"tile": str(list(counts))}, "y", result)
    exact(case)


def test_pad() -> None:
    case = Case("f16")
    operands = [case.input("x", (2, 3, 4, 5)), *["none"] * 4]
    attributes = {"paddings": "[0, 0, 1, 3, 0, 0, 2, 0]", "val": "1.5 : f64"}
    attributes["mode"] = "#tpu<Pad_Mode constant>"
    case.op("tpu.Pad", operands, attributes, "y", (2, 3, 7, 8))
    exact(case)


@pytest.mark.parametrize("op", ["Reshape", "Squeeze", "Unsqueeze"])
def test_views(op: str) -> None:
    shapes = {
        "Reshape": ((2, 12), (2, 3, 4), {"shape": "[2, 3, 4]"}),
        "Squeeze": ((2, 1, 12), (2, 12), {"axes": "[1]"}),
        "Unsqueeze": ((2, 12), (2, 1, 12), {"axes": "[1]"}),
    }
    shape, result, attributes = shapes[op]
    case = Case("f32")
    operands = [case.input("x", shape)]
    if op == "Reshape":
        operands.append("none")
    case.op(f"tpu.{op}", operands, attributes, "y", result)
    exact(case)
