"""Scratch memory of local kernels beside what the vendor's compiler gives its own.

Each row of the table is a local op of seven networks that it compiled: the slices, and the bytes
per lane of its scratch. Offered no more than that, kernels here work in as little, but for a few.
"""

import csv
import gzip
import io
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.layer_group.group_samples import CHIP, DATA
from tests.layer_group.op_samples import made, none, value, weight
from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.backend.local.measure import measure
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.passes.tensors import shape_of

Row = Mapping[str, str]
ELEMENTS: Mapping[str, Attribute] = {"f16": f16, "f32": f32}


def read_rows() -> list[Row]:
    """The rows of floating-point ops."""
    path = DATA / "layer_group" / "observed_lmem_sizes.csv.gz"
    rows = csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode()))
    return [r for r in rows if {r["in0_dtype"], r["out_dtype"]} <= set(ELEMENTS)]


def shape(text: str) -> tuple[int, ...]:
    """The tensor that is such a slice as a whole."""
    n, c, _, h, w = map(int, text.split("x"))
    return n, c, h, w


def element(row: Row, which: str = "in0") -> Attribute:
    """f16 or f32."""
    return ELEMENTS[row[f"{which}_dtype"]]


def built(row: Row, op: type[NamedOp], nones: int = 0, **attributes: Any) -> NamedOp:
    """An op of the operands in the row."""
    kinds = element(row)
    given = [
        shape(row[f"{name}_slice_ncdhw"]) for name in ("in0", "in1") if row[f"{name}_slice_ncdhw"]
    ]
    target = shape(row["out_slice_ncdhw"])
    operands = [value(one, kinds) for one in given]
    return made(op, operands, target, element(row, "out"), nones=nones, **attributes)


def active(row: Row) -> NamedOp:
    return built(row, tpu.ActiveOp, mode=row["detail"])


def concat(row: Row) -> NamedOp:
    return built(row, tpu.ConcatOp, axis=1)


def conv(row: Row) -> NamedOp:
    """Its padding follows from the slices: what the window reads beyond them."""
    kh, kw, sh, sw, group, merged = map(
        int, re.findall(r"\d+(?=[x\]])|(?<=g)\d+|(?<=ic)\d+", row["detail"])
    )
    x, out = shape(row["in0_slice_ncdhw"]), shape(row["out_slice_ncdhw"])
    missing = [
        max(0, (size - 1) * stride + kernel - held)
        for size, stride, kernel, held in zip(out[2:], (sh, sw), (kh, kw), x[2:], strict=True)
    ]
    before = [-(-one // 2) for one in missing]
    kinds = element(row)
    filters = weight(shape(row["in1_slice_ncdhw"]), kinds)
    depthwise = group > 1 and kinds == f16
    bias = weight((1, out[1], 1, 1), f16 if depthwise else f32)
    return made(
        tpu.Conv2DOp,
        [value(x, kinds), filters, bias],
        out,
        kinds,
        kernel_shape=(kh, kw),
        strides=(sh, sw),
        pads=(*before, *(one - first for one, first in zip(missing, before, strict=True))),
        group=group,
        use_3ic_optimize=merged,
        with_bias=True,
    )


def pool(row: Row) -> NamedOp:
    """Windows over everything, or 3x3 in steps of two with one row and column of padding."""
    x, out = shape(row["in0_slice_ncdhw"]), shape(row["out_slice_ncdhw"])
    everything = out[2:] == (1, 1)
    return built(
        row,
        tpu.Pool2DOp,
        kernel_shape=x[2:] if everything else (3, 3),
        strides=(1, 1) if everything else (2, 2),
        pads=(0,) * 4 if everything else (1,) * 4,
        pool_mode="Avg" if everything else "Max",
    )


def matmul(row: Row) -> NamedOp:
    heads = "hdim_is_batch" in row["detail"]
    left, right, out = (
        shape(row[f"{name}_slice_ncdhw"])[: 4 if heads else 3] for name in ("in0", "in1", "out")
    )
    kinds = element(row)
    bias = none() if heads else weight((1, 1, out[-1]), kinds)
    operands = [value(left, kinds), value(right, kinds) if heads else weight(right, kinds), bias]
    turned = "right_transpose" in row["detail"]
    return made(
        tpu.MatMulOp, operands, out, kinds, nones=2, hdim_is_batch=heads, right_transpose=turned
    )


def layer_norm(row: Row) -> NamedOp:
    """Along w, or along h where w is 1."""
    x = shape(row["in0_slice_ncdhw"])
    axis = 3 if x[3] > 1 else 2
    return built(row, tpu.LayerNormOp, 4, normalized_shape=x[axis:], eps=1e-5, axis=axis)


def softmax(row: Row) -> NamedOp:
    """Likewise."""
    axis = 3 if shape(row["in0_slice_ncdhw"])[3] > 1 else 2
    return built(row, tpu.SoftmaxOp, 5, axis=axis)


def slice_op(row: Row) -> NamedOp:
    out = shape(row["out_slice_ncdhw"])
    return built(row, tpu.SliceOp, 4, offset=(0,) * 4, ends=out, steps=(1,) * 4)


def shift(row: Row) -> NamedOp:
    return built(row, tpu.SwapDimInnerOp, offset=(0, 3, 0, 0))


BUILD: Mapping[str, Callable[[Row], NamedOp]] = {
    "tpu.Active": active,
    "tpu.Add": lambda row: built(row, tpu.AddOp),
    "tpu.Cast": lambda row: built(row, tpu.CastOp),
    "tpu.Concat": concat,
    "tpu.Conv2D": conv,
    "tpu.LayerNorm": layer_norm,
    "tpu.MatMul": matmul,
    "tpu.Mul": lambda row: built(row, tpu.MulOp),
    "tpu.MulConst": lambda row: built(row, tpu.MulConstOp, const_val=0.5),
    "tpu.Pool2D": pool,
    "tpu.Reshape": lambda row: built(row, tpu.ReshapeOp),
    "tpu.Slice": slice_op,
    "tpu.Softmax": softmax,
    "tpu.SwapDimInner": shift,
}


def ours(row: Row, offered: int) -> int:
    """Scratch bytes that a kernel takes when it is offered so many, or the next power of two of
    that in which it can work."""
    op: Operation = BUILD[row["op"]](row)
    wanted = {
        one: Ncdhw(*map(int, row[f"{name}_slice_ncdhw"].split("x")))
        for name, one in (("in0", op.operands[0]), ("out", op.results[0]))
    }

    def sizes(one: SSAValue) -> Ncdhw:
        n, c, h, w = (*shape_of(one), 1, 1)[:4]
        return wanted.get(one, Ncdhw(n, c, 1, h, w))

    return measure(op, sizes, GroupType.NORMAL, CHIP, offered=offered).scratch


LARGER = {
    ("tpu.Active", "1x48x1x1x1", "f32"): 448,
    ("tpu.Active", "1x32x1x1x1", "f32"): 384,
    ("tpu.Active", "1x28x1x1x1", "f32"): 448,
    ("tpu.Active", "1x20x1x1x1", "f32"): 448,
    ("tpu.Active", "1x10x1x1x1", "f32"): 448,
    ("tpu.Active", "1x8x1x1x1", "f32"): 448,
    ("tpu.Active", "1x6x1x1x1", "f32"): 448,
    ("tpu.Active", "1x4x1x1x1", "f32"): 448,
    ("tpu.LayerNorm", "1x49x1x768x1", "f32"): 6848,
    ("tpu.Softmax", "16x49x1x6x49", "f16"): 9472,
    ("tpu.Softmax", "4x49x1x12x49", "f16"): 9344,
    ("tpu.Softmax", "1x49x1x24x49", "f16"): 17984,
}
"""What needs more here: six or seven vectors of a sigmoid, of whole EU width each; sums of a
LayerNorm as products with a matrix of ones; the numbers of an f16 softmax in f32."""


def key_of(row: Row) -> tuple[str, str, str]:
    """The op, its input's slice and element."""
    return row["op"], row["in0_slice_ncdhw"], row["in0_dtype"]


@pytest.mark.parametrize("kind", sorted(BUILD))
def test_scratch_is_no_larger(kind: str) -> None:
    rows = {tuple(row.values()): row for row in read_rows() if row["op"] == kind}.values()
    assert rows
    larger: dict[tuple[str, str, str], int] = {}
    for row in rows:
        theirs = int(row["buffer_bytes"])
        found = ours(row, max(theirs, CHIP.eu_bytes))
        if found > theirs:
            larger[key_of(row)] = found
    assert larger == {key: size for key, size in LARGER.items() if key[0] == kind}


def test_every_op_of_the_table_is_built() -> None:
    assert {row["op"] for row in read_rows()} == set(BUILD)
