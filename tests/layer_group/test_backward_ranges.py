"""What a part of a result needs of the operand, against what it is seen to depend on.

The interpreter runs each op on images with a single 1: image i of the batch has it in row i. So
row o of result i is not 0 where output o depends on input i.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.layer_group.op_samples import binary, made, matmul, slice_op, value, weight
from xdsl.dialects.builtin import ModuleOp, NoneType, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, LocalGen, Part
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.passes.layer_group.sections import cut_axis

Depends = npt.NDArray[np.bool_]
"""Whether output row o (second index) depends on input row i (first index)."""

SEEDS = range(60)

ABSENT = {
    **{"tpu.Conv2D": 1, "tpu.Deconv": 1, "tpu.Pool2D": 0, "tpu.Upsample": 1, "tpu.Slice": 4},
    "tpu.Resample": 1,
}
"""How many operands of a probed op are none."""


def dependence(
    op_class: type[NamedOp], size: int, kernel: int | None, rows: int, /, **attributes: Any
) -> tuple[Depends, LocalGen]:
    """Probe an op on N, 1, size, 1; with `kernel` it has a filter of ones, and no bias."""
    source, target = (size, 1, size, 1), (size, 1, rows, 1)
    shapes = [source] if kernel is None else [source, (1, 1, kernel, 1)]
    block = Block(arg_types=[TensorType(f32, shape) for shape in shapes])
    absent = top.NoneOp.create(result_types=[NoneType()])
    operands: list[SSAValue] = []
    for index, argument in enumerate(block.args):
        read = top.InputOp.make(f"x{index}", (argument,), result_types=[argument.type])
        block.add_op(read)
        operands.append(read.output)
    operands += [absent.results[0]] * ABSENT[op_class.name]
    op = op_class.make("y", operands, result_types=[TensorType(f32, target)], **attributes)
    block.add_ops([absent, op, ReturnOp(op.results[0])])
    types = ([a.type for a in block.args], [op.results[0].type])
    module = ModuleOp([FuncOp("main", types, Region(block))])
    images = np.eye(size, dtype=np.float32).reshape(source)
    arrays = [images] + [np.ones(shape, np.float32) for shape in shapes[1:]]
    (result,) = run_module(module, arrays).values()
    assert isinstance(op, LocalGen)
    return result.reshape(size, rows) != 0, op


def check(depends: Depends, op: LocalGen, secs: int, exact: bool = False) -> None:
    """Every part gets at least the rows it depends on, and rows that are there."""
    size, rows = depends.shape
    parts = cut_axis("h", rows, secs, 64)
    assert parts is not None
    for start, length in parts:
        found = op.backward(Part("h", start, length, rows, GroupType.NORMAL), 0, size)
        needed = np.flatnonzero(depends[:, start : start + length].any(axis=1))
        if found is None:
            assert needed.size == 0, (start, length)
            continue
        first, count = found
        assert first >= 0
        assert count > 0
        assert first + count <= size
        if needed.size:
            assert first <= needed[0], (start, length)
            assert needed[-1] < first + count, (start, length)
        if exact and needed.size:
            assert found == (needed[0], needed[-1] - needed[0] + 1), (start, length)


def window(seed: int) -> dict[str, int]:
    """Kernel, stride, dilation, pads and a size that they fit."""
    rng = np.random.default_rng(seed)
    kernel, stride, dilation = (int(v) for v in rng.integers(1, (6, 5, 3)))
    extent = (kernel - 1) * dilation + 1
    before, after = (int(v) for v in rng.integers(0, extent, 2))
    size = int(rng.integers(max(1, extent - before - after), 24))
    return {"k": kernel, "s": stride, "d": dilation, "b": before, "a": after, "size": size}


def window_attributes(w: dict[str, int], dilated: bool) -> dict[str, Any]:
    spread: dict[str, Any] = {"dilations": [w["d"], 1]} if dilated else {}
    pads = [w["b"], 0, w["a"], 0]
    return {"kernel_shape": [w["k"], 1], "strides": [w["s"], 1], "pads": pads, **spread}


def positions(w: dict[str, int], extent: int) -> int:
    return (w["size"] + w["b"] + w["a"] - extent) // w["s"] + 1


@pytest.mark.parametrize("seed", SEEDS)
def test_conv(seed: int) -> None:
    w = window(seed)
    rows = positions(w, (w["k"] - 1) * w["d"] + 1)
    attributes = window_attributes(w, dilated=True) | {"with_bias": False}
    depends, op = dependence(tpu.Conv2DOp, w["size"], w["k"], rows, **attributes)
    for secs in range(1, rows + 1):
        check(depends, op, secs)
        last = op.backward(Part("h", rows - 1, 1, rows, GroupType.NORMAL), 0, w["size"])
        assert last is None or sum(last) == w["size"], "the last part takes the rest"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", ["Max", "Avg"])
def test_pool(seed: int, mode: str) -> None:
    w = window(seed)
    if w["size"] + w["b"] + w["a"] < w["k"]:
        w["size"] += w["k"]
    w["b"], w["a"] = min(w["b"], w["k"] - 1), min(w["a"], w["k"] - 1)
    rows = positions(w, w["k"])
    attributes = window_attributes(w, dilated=False) | {"pool_mode": mode}
    depends, op = dependence(tpu.Pool2DOp, w["size"], None, rows, **attributes)
    for secs in range(1, rows + 1):
        check(depends, op, secs)


@pytest.mark.parametrize("scale", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_upsample_is_exact(size: int, scale: int) -> None:
    rows = size * scale
    depends, op = dependence(tpu.UpsampleOp, size, None, rows, scale_h=scale, scale_w=1)
    for secs in range(1, rows + 1):
        check(depends, op, secs, exact=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_picked_are_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, rows = (int(n) for n in rng.integers(1, 24, 2))
    first = sorted(int(n) for n in rng.integers(0, size, rows))
    lists: dict[str, Any] = {"rows": first, "columns": []}
    depends, op = dependence(tpu.ResampleOp, size, None, rows, **lists)
    for secs in range(1, rows + 1):
        check(depends, op, secs)


@pytest.mark.parametrize("seed", SEEDS)
def test_slice_is_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 24))
    first, step = int(rng.integers(0, size)), int(rng.integers(1, 4))
    end = int(rng.integers(first + 1, size + 1))
    rows = len(range(first, end, step))
    lists = {"offset": [0, 0, first, 0], "ends": [size, 1, end, 1], "steps": [1, 1, step, 1]}
    depends, op = dependence(tpu.SliceOp, size, None, rows, **lists)
    for secs in range(1, rows + 1):
        check(depends, op, secs, exact=size != rows)


def backward(op: NamedOp, part: Part, operand: int, size: int) -> tuple[int, int] | None:
    assert isinstance(op, LocalGen)
    return op.backward(part, operand, size)


def part(axis: Any, start: int, length: int, whole: int, kind: GroupType = GroupType.MM) -> Part:
    return Part(axis, start, length, whole, kind)


def test_slice_of_rank_5_takes_its_place_along_d_of_3d_groups_and_h_of_normal_ones() -> None:
    op = slice_op((8, 49, 3, 4, 32), (8, 49, 2, 4, 32), first=(0, 0, 1, 0, 0))
    three_d, normal = GroupType.THREE_D, GroupType.NORMAL
    assert backward(op, part("d", 1, 1, 2, three_d), 0, 3) == (2, 1)
    assert backward(op, part("h", 1, 3, 4, three_d), 0, 4) == (1, 3)
    assert backward(op, part("h", 0, 1, 2, normal), 0, 3) == (1, 1)
    assert backward(op, part("w", 32, 32, 128, normal), 0, 128) == (32, 32)
    assert backward(op, part("n", 2, 3, 8, normal), 0, 8) == (2, 3)


def test_slice_that_turns_round_cannot_be_cut() -> None:
    turned = made(
        tpu.SliceOp,
        [(1, 1, 4, 1)],
        (1, 1, 3, 1),
        nones=4,
        offset=[0, 0, 3, 0],
        ends=[1, 1, 0, 1],
        steps=[1, 1, -1, 1],
    )
    assert backward(turned, part("h", 0, 1, 3), 0, 4) is None


def test_slice_along_n() -> None:
    op = slice_op((9, 4), (3, 4), first=(1, 0), steps=(2, 1))
    assert backward(op, part("n", 1, 2, 3), 0, 9) == (3, 3)


def test_stretched_operand_gives_its_one_element() -> None:
    op = binary(tpu.AddOp, (4, 8, 6, 6), (4, 1, 6, 1))
    assert backward(op, part("c", 3, 2, 8), 0, 8) == (3, 2)
    assert backward(op, part("c", 3, 2, 8), 1, 1) == (0, 1)
    assert backward(op, part("h", 2, 4, 6), 1, 6) == (2, 4)


def test_operand_of_another_size_cannot_be_cut() -> None:
    op = binary(tpu.AddOp, (4, 8), (4, 8))
    assert backward(op, part("h", 0, 2, 4), 0, 3) is None


def test_add_with_early_stride_reads_further_apart() -> None:
    op = made(
        tpu.AddOp,
        [(1, 4, 8, 8), (1, 4, 8, 8)],
        (1, 4, 4, 4),
        do_early_stride=True,
        early_stride_h=2,
        early_stride_w=2,
    )
    assert backward(op, part("h", 1, 2, 4), 0, 8) == (2, 4)
    assert backward(op, part("w", 3, 1, 4), 1, 8) == (6, 2)
    assert backward(op, part("c", 1, 2, 4), 0, 4) == (1, 2)


def test_product_needs_the_whole_right_matrix_for_some_rows() -> None:
    op = matmul((4, 8, 2, 16), value((4, 16, 2, 6)), hdim_is_batch=True)
    assert backward(op, part("c", 2, 3, 8), 0, 8) == (2, 3)
    assert backward(op, part("c", 2, 3, 8), 1, 16) == (0, 16)
    assert backward(op, part("n", 2, 1, 4), 1, 4) == (2, 1)
    assert backward(op, part("h", 1, 1, 2), 1, 2) == (1, 1)
    shared = matmul((4, 8, 16), weight((1, 16, 6)))
    assert backward(shared, part("n", 2, 1, 4), 1, 1) == (0, 1)
