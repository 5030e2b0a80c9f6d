"""`tpu.MatMul` as a layer over DDR: which product it is, and by which driver it runs.

16-bit and integer products run on MM2, f32 ones as 1x1 convolutions, which use the cube better than
the f32 matrix unit does when there are few columns
(docs/hardware/instructions.md#sconv and docs/hardware/instructions.md#smm2).
"""

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.clamp import Clamp
from xdsl_tpu.backend.kernels.gemm import gemm
from xdsl_tpu.backend.kernels.gemm_plan import Matrix, Product
from xdsl_tpu.backend.kernels.int8.products import factor_of
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, where
from xdsl_tpu.backend.local import by_type
from xdsl_tpu.backend.local.alone import InSlices
from xdsl_tpu.backend.tensor import contiguous_strides
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import BOOL
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
from xdsl_tpu.dialects.interfaces.lane_view import Viewed
from xdsl_tpu.dialects.interfaces.shape import Shape, known_shape


def matmul(context: KernelContext, op: Operation) -> None:
    """Emit a matrix product with its bias and relu.

    Raises TpuError for a transposed output, a bias that is not one row, and what products of
    integers cannot be (see `int8.products`).
    """
    assert isinstance(op, tpu.MatMulOp)
    product = describe(context, op)
    if _is_bundle(op, product):
        try:
            _side_by_side(context, op)
        except DoesNotFit:  # one of them alone is too large
            pass
        else:
            return
    gemm(context, product, where(op))


def _is_bundle(op: "tpu.MatMulOp", product: Product) -> bool:
    """Whether the op is many products, each with matrices of its own, and nothing more."""
    starts = {len(set(m.starts)) for m in (product.left, product.right, product.out)}
    more = product.left_transpose or product.extra or product.bias is not None
    return len(product.out.starts) > 1 and not more and (bool(op.hdim_is_batch) or len(starts) == 1)


def _as_heads(op: Operation, chip: Chip) -> tuple[Viewed]:
    """Matrices one behind the other (batch.., rows, columns) as heads of as many images."""
    assert isinstance(op, tpu.MatMulOp)
    shapes: list[Shape] = [
        known_shape(value.type) or () for value in (op.input, op.right, op.output)
    ]
    if op.hdim_is_batch.value.data:
        return (Viewed((None,) * len(op.operands), shapes[2]),)
    left, right = ((math.prod(s[:-2]), s[-2], 1, s[-1]) for s in shapes[:2])
    out = (*left[:3], shapes[2][-1])
    attributes = {name: BOOL.convert(True) for name in ("hdim_is_batch", "keep_dims")}
    return (Viewed((left, right, *(None for _ in op.operands[2:])), out, attributes),)


_side_by_side = InSlices(by_type.product, _as_heads)


def describe(context: KernelContext, op: "tpu.MatMulOp") -> Product:
    """The op as products of matrices with a list of starts for each operand."""
    left, right, out = (context.value(v) for v in (op.input, op.right, op.output))
    bias = context.optional(op.bias)
    if op.output_transpose.value.data:
        raise NoKernel(f"{where(op)}: a product with a transposed output has no kernel")
    factor = None if left.dtype.is_float else factor_of(op)
    if factor is not None and {left.dtype.bytes, right.dtype.bytes, out.dtype.bytes} != {1}:
        raise NoKernel(f"{where(op)}: a product of integers has operands and result of 8 bits")
    left_transpose = bool(op.left_transpose.value.data)
    right_transpose = bool(op.right_transpose.value.data)
    if op.hdim_is_batch.value.data:
        matrices = _per_head(left, right, out, right_transpose)
    else:
        matrices = _batched(left, right, out, left_transpose, right_transpose)
    columns = matrices[2].columns
    if bias is not None and bias.elements != columns:
        raise NoKernel(f"{where(op)}: a bias of shape {bias.shape} for {columns} columns")
    return Product(
        *matrices,
        None if bias is None else bias.as4((1, 1, 1, columns)),
        left_transpose,
        right_transpose,
        Clamp.of(op.do_relu, op.relu_limit),
        factor,
    )


def _per_head(
    left: DdrValue, right: DdrValue, out: DdrValue, right_transpose: bool
) -> tuple[Matrix, Matrix, Matrix]:
    """Operands [b, rows, heads, columns]: one product for each b and head."""
    del right_transpose  # [b, N, heads, K] and [b, K, heads, N] are the same to a matrix
    return _heads(left), _heads(right), _heads(out)


def _heads(value: DdrValue) -> Matrix:
    batches, rows, heads, columns = value.shape
    starts = tuple(
        (b * rows * heads + head) * columns for b in range(batches) for head in range(heads)
    )
    return Matrix(value.address, value.dtype, rows, columns, heads * columns, starts)


def _batched(
    left: DdrValue, right: DdrValue, out: DdrValue, left_transpose: bool, right_transpose: bool
) -> tuple[Matrix, Matrix, Matrix]:
    """Operands [..., rows, columns] whose leading dimensions broadcast; vectors are matrices."""
    a = left.shape if len(left.shape) > 1 else (1, *left.shape)
    b = right.shape if len(right.shape) > 1 else (*right.shape, 1)
    rows, columns = a[-1 if left_transpose else -2], b[-2 if right_transpose else -1]
    if math.prod(b[:-2]) == 1 and not left_transpose:
        rows, batch = math.prod(a[:-1]), ()
        a = (rows, a[-1])
    else:
        batch = np.broadcast_shapes(a[:-2], b[:-2])
    return (
        _matrices(left, a, batch),
        _matrices(right, b, batch),
        _matrices(out, (*batch, rows, columns), batch),
    )


def _matrices(value: DdrValue, shape: Sequence[int], batch: Sequence[int]) -> Matrix:
    """The matrices of a row-major value, one start for each index of `batch`."""
    lead = (1,) * (len(batch) - len(shape) + 2) + tuple(shape[:-2])
    if not batch:
        lead = ()
    rows, columns = shape[-2], shape[-1]
    steps = contiguous_strides(lead)
    index = np.indices(tuple(batch)).reshape(len(batch), -1) if batch else np.zeros((0, 1), int)
    starts = np.zeros(index.shape[1], int)
    for axis, (size, step) in enumerate(zip(lead, steps, strict=True)):
        starts += index[axis] * (step * rows * columns if size > 1 else 0)
    return Matrix(
        value.address, value.dtype, rows, columns, columns, tuple(int(start) for start in starts)
    )
