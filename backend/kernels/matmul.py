"""`tpu.MatMul` as a layer over DDR: which product it is, and by which driver it runs.

16-bit and integer products run on MM2, f32 ones as 1x1 convolutions, which use the cube better than
the f32 matrix unit does when there are few columns
(docs/hardware/instructions.md#sconv and docs/hardware/instructions.md#smm2).
"""

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from xdsl_tpu.backend.kernels.clamp import Clamp
from xdsl_tpu.backend.kernels.gemm import gemm
from xdsl_tpu.backend.kernels.gemm_plan import Matrix, Product
from xdsl_tpu.backend.kernels.heads import product_of_heads
from xdsl_tpu.backend.kernels.heads_plan import Bundle, Packed
from xdsl_tpu.backend.kernels.int8.products import factor_of
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, where
from xdsl_tpu.backend.tensor import contiguous_strides
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel


def matmul(context: KernelContext, op: Operation) -> None:
    """Emit a matrix product with its bias and relu.

    Raises TpuError for a transposed output, a bias that is not one row, and what products of
    integers cannot be (see `int8.products`).
    """
    assert isinstance(op, tpu.MatMulOp)
    product = describe(context, op)
    bundle = bundle_of(context, op, product)
    if bundle is None or not product_of_heads(context, bundle):
        gemm(context, product, where(op))


def bundle_of(context: KernelContext, op: "tpu.MatMulOp", product: Product) -> Bundle | None:
    """The op as many products side by side, when it is that and nothing more."""
    left, right, out = (context.value(v) for v in (op.input, op.right, op.output))
    alone = len(product.out.starts) == 1 or product.left_transpose or product.extra
    if alone or product.bias is not None:
        return None
    if op.hdim_is_batch.value.data:
        packed = [Packed(v.address, v.dtype, *v.shape) for v in (left, right, out)]
    elif len(set(product.left.starts)) == len(set(product.right.starts)) == len(product.out.starts):
        count = len(product.out.starts)
        packed = [
            Packed(m.address, m.dtype, count, m.rows, 1, m.columns)
            for m in (product.left, product.right, product.out)
        ]
    else:
        return None
    return Bundle(packed[0], packed[1], packed[2], product.right_transpose, product.factor)


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
