"""`tpu.MatMul` on slices of 8-bit integers: exact sums in scratch memory, then their new scale."""

from functools import partial

from xdsl_tpu.backend.kernels.int8.products import factor_of
from xdsl_tpu.backend.kernels.int8.requant import Factor, scaled_product, sums_needed
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.local.context import LocalContext, LocalValue
from xdsl_tpu.backend.local.matmul import (
    bias_of,
    matrix_of,
    operands_of_images,
    part_of,
    per_head,
)
from xdsl_tpu.backend.tensor import DType, LocalTensor, aligned_bytes, ceil_div
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit


def matmul(context: LocalContext) -> None:
    """Emit a product with its bias, factor and relu.

    Raises TpuError for a transposed output, a factor per column, or too little scratch memory.
    """
    op = context.op
    assert isinstance(op, tpu.MatMulOp)
    left, right = context.operand(0), context.operand(1)
    if {left.dtype.bytes, right.dtype.bytes, context.out.dtype.bytes} != {1}:
        raise DoesNotFit("a product of integers has operands and result of 8 bits")
    factor = factor_of(op)
    with context.scratch.temporary():
        if op.hdim_is_batch.value.data:
            per_head(context, op, factor)
            return
        turned, bias = bool(op.right_transpose.value.data), context.optional(2)
        for image, rows, columns in operands_of_images(context, op, left, right):
            out = matrix_of(context.out.tensor, image)
            _product(context, out, rows, columns, turned, bias, factor)


def _product(
    context: LocalContext,
    out: LocalTensor,
    left: LocalTensor,
    right: LocalTensor,
    turned: bool,
    bias: LocalValue | None,
    factor: Factor,
) -> None:
    """As many rows and columns at a time as the sums in scratch memory allow."""
    chip, emitter = context.chip, context.emitter
    rows_step, columns_step = _steps(context, out, sums_needed(chip, bias is not None), turned)
    for rows in cut(out.shape[1], rows_step):
        some = part_of(chip, left, rows)
        for columns in cut(out.shape[3], columns_step):
            target = part_of(chip, out, rows, columns)
            if turned:
                b = part_of(chip, right, columns)
            else:
                whole = columns.size == out.shape[3]
                b = right if whole else part_of(chip, right, Piece(0, right.shape[1]), columns)
            with context.scratch.temporary():
                row = None if bias is None else bias_of(context, bias, rows.size, columns)
                room = partial(context.scratch.aligned, target.shape, DType.I32)
                scaled_product(emitter, target, (some, b, turned), row, factor, room)


def _steps(context: LocalContext, out: LocalTensor, sums: int, turned: bool) -> tuple[int, int]:
    """Rows (in lane groups) and columns of the products whose sums fit scratch memory.

    Columns are cut only of a transposed right operand, where they are rows; a lane group's rows
    of the result must then be one group.
    """
    chip, scratch = context.chip, context.scratch
    columns = out.shape[3]

    def fits(rows: int, width: int) -> bool:
        size = aligned_bytes(chip, (1, rows, 1, width), DType.I32)
        return scratch.holds([size] * sums)

    def found() -> tuple[int, int] | None:
        for count in range(ceil_div(out.shape[1], chip.lanes), 0, -1):
            rows = min(out.shape[1], count * chip.lanes)
            if fits(rows, columns):
                return count * chip.lanes, columns
        steps = range(columns // chip.eu_bytes * chip.eu_bytes, 0, -chip.eu_bytes)
        width = next((s for s in steps if fits(chip.lanes, s)), None) if turned else None
        return None if width is None else (chip.lanes, width)

    return scratch.enough(found, "for the sums of a row")
