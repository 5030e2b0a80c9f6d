"""`tpu.MatMul` from DDR to DDR: as which matrices its kernel on slices sees it.

16-bit and integer products run on MM2, f32 ones as 1x1 convolutions, which use the cube better than
the f32 matrix unit does when there are few columns
(docs/hardware/instructions.md#sconv and docs/hardware/instructions.md#smm2).
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.elementwise import fused_relu
from xdsl_tpu.backend.kernels.int8.products import factor_of
from xdsl_tpu.backend.kernels.support import dtype_of, where
from xdsl_tpu.backend.local import by_type
from xdsl_tpu.backend.local.alone import Cheapest, InSlices
from xdsl_tpu.backend.tensor import contiguous_strides
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import BOOL
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.interfaces.lane_view import Viewed
from xdsl_tpu.dialects.interfaces.shape import Shape, known_shape
from xdsl_tpu.dialects.tpu.local import stored_type


class _Matrices(NamedTuple):
    """Matrices of one shape in a value: row r of matrix i begins starts[i] + r * stride elements
    in."""

    rows: int
    columns: int
    stride: int
    starts: tuple[int, ...]

    def seen(self, first: int, count: int) -> tuple[Shape, Shape, int]:
        """Shape, strides and start of some that are equally far apart; of one used by all, one."""
        start = self.starts[first]
        step = self.starts[first + 1] - start if count > 1 else 0
        strides = (step or self.rows * self.stride, self.stride, self.columns, 1)
        return (count if step else 1, self.rows, 1, self.columns), strides, start


def _shapes(op: "tpu.MatMulOp") -> list[Shape]:
    """Of left, right and result."""
    return [known_shape(value.type) or () for value in (op.input, op.right, op.output)]


def _check(op: "tpu.MatMulOp") -> None:
    """Raise TpuError for a product without a kernel."""
    if op.output_transpose.value.data:
        raise NoKernel(f"{where(op)}: a product with a transposed output has no kernel")
    types = [dtype_of(stored_type(value)) for value in (op.input, op.right, op.output)]
    if not types[0].is_float:
        factor_of(op)
        if {kind.bytes for kind in types} != {1}:
            raise NoKernel(f"{where(op)}: a product of integers has operands and result of 8 bits")
    bias, columns = known_shape(op.bias.type), _shapes(op)[2][-1]
    if bias is not None and math.prod(bias) != columns:
        raise NoKernel(f"{where(op)}: a bias of shape {bias} for {columns} columns")


def _is_bundle(op: "tpu.MatMulOp") -> bool:
    """Whether the op is many products, each with matrices of its own, and nothing more."""
    starts = [of.starts for of in _matrices(op)]
    different = {len(set(each)) for each in starts}
    is_float = dtype_of(stored_type(op.input)).is_float  # the factor of integers is their relu
    clamps = is_float and bool(fused_relu(op))
    more = op.left_transpose or not is_none(op.bias) or clamps
    return len(starts[2]) > 1 and not more and (bool(op.hdim_is_batch) or len(different) == 1)


def _as_heads(op: Operation, chip: Chip) -> tuple[Viewed]:
    """Matrices one behind the other (batch.., rows, columns) as heads of as many images."""
    assert isinstance(op, tpu.MatMulOp)
    shapes = _shapes(op)
    if op.hdim_is_batch.value.data:
        return (Viewed((None,) * len(op.operands), shapes[2]),)
    left, right = ((math.prod(s[:-2]), s[-2], 1, s[-1]) for s in shapes[:2])
    out = (*left[:3], shapes[2][-1])
    attributes = {name: BOOL.convert(True) for name in ("hdim_is_batch", "keep_dims")}
    return (Viewed((left, right, *(None for _ in op.operands[2:])), out, attributes),)


def _as_matrices(op: Operation, chip: Chip) -> Iterator[Viewed]:
    """Images of one matrix each, as many together as are equally far apart."""
    assert isinstance(op, tpu.MatMulOp)
    matrices = _matrices(op)
    places = [of.starts for of in matrices]
    rest = (None,) * (len(op.operands) - 2)
    attributes = {"hdim_is_batch": BOOL.convert(False), "keep_dims": BOOL.convert(True)}
    first = 0
    while first < len(places[2]):
        count = min(2, len(places[2]) - first)
        while first + count < len(places[2]) and all(
            2 * starts[first + count - 1] == starts[first + count] + starts[first + count - 2]
            for starts in places
        ):
            count += 1
        seen = [of.seen(first, count) for of in matrices]
        (left, right, out), strides, starts = zip(*seen, strict=True)
        yield Viewed(
            (left, right, *rest),
            out,
            attributes,
            (*strides[:2], *rest, strides[2]),
            (*starts[:2], *(0 for _ in rest), starts[2]),
        )
        first += count


_SIDE_BY_SIDE = InSlices(by_type.product, _as_heads)
_ONE_BY_ONE = InSlices(by_type.product, _as_matrices)


def _ways(op: Operation, chip: Chip) -> Sequence[InSlices]:
    """Raises TpuError for a transposed output, a bias that is not one row, and what products of
    integers cannot be (see `int8.products`)."""
    assert isinstance(op, tpu.MatMulOp)
    _check(op)
    return (_SIDE_BY_SIDE, _ONE_BY_ONE) if _is_bundle(op) else (_ONE_BY_ONE,)


matmul = Cheapest(_ways)
"""A matrix product with its bias and relu."""


def _matrices(op: "tpu.MatMulOp") -> Sequence[_Matrices]:
    """Of left, right and result, one start for each product."""
    left, right, out = _shapes(op)
    if op.hdim_is_batch.value.data:
        return _heads(left), _heads(right), _heads(out)
    left_transpose = bool(op.left_transpose.value.data)
    a = left if len(left) > 1 else (1, *left)
    b = right if len(right) > 1 else (*right, 1)
    rows = a[-1 if left_transpose else -2]
    columns = b[-2 if op.right_transpose.value.data else -1]
    if math.prod(b[:-2]) == 1 and not left_transpose:
        rows, batch = math.prod(a[:-1]), ()
        a = (rows, a[-1])
    else:
        batch = np.broadcast_shapes(a[:-2], b[:-2])
    return _batched(a, batch), _batched(b, batch), _batched((*batch, rows, columns), batch)


def _heads(shape: Shape) -> _Matrices:
    """Of [b, rows, heads, columns], one for each b and head; transposed or not is the same."""
    batches, rows, heads, columns = shape
    starts = tuple(
        (b * rows * heads + head) * columns for b in range(batches) for head in range(heads)
    )
    return _Matrices(rows, columns, heads * columns, starts)


def _batched(shape: Shape, batch: Shape) -> _Matrices:
    """Of [.., rows, columns], one for each index of `batch`, to which the others broadcast."""
    lead = (1,) * (len(batch) - len(shape) + 2) + tuple(shape[:-2])
    if not batch:
        lead = ()
    rows, columns = shape[-2], shape[-1]
    steps = contiguous_strides(lead)
    index = np.indices(tuple(batch)).reshape(len(batch), -1) if batch else np.zeros((0, 1), int)
    starts = np.zeros(index.shape[1], int)
    for axis, (size, step) in enumerate(zip(lead, steps, strict=True)):
        starts += index[axis] * (step * rows * columns if size > 1 else 0)
    return _Matrices(rows, columns, columns, tuple(int(start) for start in starts))
