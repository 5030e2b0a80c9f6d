"""`tpu.MatMul` on slices of 8-bit integers: exact sums in scratch memory, then their new scale."""

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith
from xdsl_tpu.backend.kernels.gemm import multiply
from xdsl_tpu.backend.kernels.heads import Slots, multiply_heads
from xdsl_tpu.backend.kernels.heads_plan import needs_whole_right, slot_bytes, total_bytes
from xdsl_tpu.backend.kernels.int8.products import factor_of
from xdsl_tpu.backend.kernels.int8.requant import Factor
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transpose import transpose
from xdsl_tpu.backend.local.context import LocalContext, LocalValue
from xdsl_tpu.backend.local.matmul import check_matrices
from xdsl_tpu.backend.local.parts import settled
from xdsl_tpu.backend.tensor import DType, LocalTensor, Shape4, aligned, aligned_bytes, ceil_div
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit


def matmul(context: LocalContext) -> None:
    """Emit a product with its bias, factor and relu.

    Raises TpuError for a transposed output, a factor per column, or too little scratch memory.
    """
    op = context.op
    assert isinstance(op, tpu.MatMulOp)
    left, right, bias = context.operand(0), context.operand(1), context.optional(2)
    if {left.dtype.bytes, right.dtype.bytes, context.out.dtype.bytes} != {1}:
        raise DoesNotFit("a product of integers has operands and result of 8 bits")
    factor = factor_of(op)
    with context.scratch.temporary():
        if op.hdim_is_batch.value.data:
            if bias is not None or op.left_transpose.value.data:
                raise DoesNotFit(
                    "a product per head with bias or transposed left has no local kernel"
                )
            _per_head(
                context, left.tensor, right.tensor, bool(op.right_transpose.value.data), factor
            )
        else:
            _per_image(context, op, left, right, factor)


def _per_image(
    context: LocalContext, op: tpu.MatMulOp, left: LocalValue, right: LocalValue, factor: Factor
) -> None:
    """One matrix per image; a right operand with one image serves all."""
    out, bias = context.out.tensor, context.optional(2)
    turned = bool(op.right_transpose.value.data)
    check_matrices(op, left.tensor, right.tensor, out)
    for image in range(out.shape[0]):
        with context.scratch.temporary():
            rows = _matrix(left.tensor, image)
            if op.left_transpose.value.data:
                rows = _turned(context, rows)
            columns = _matrix(right.tensor, image if right.tensor.shape[0] > 1 else 0)
            _product(context, _matrix(out, image), rows, columns, turned, bias, factor)


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
    rows_step, columns_step = _steps(context, out, 1 if bias is None else 2, turned)
    for rows in cut(out.shape[1], rows_step):
        some = _part(context, left, rows, Piece(0, left.shape[3]))
        for columns in cut(out.shape[3], columns_step):
            target = _part(context, out, rows, columns)
            if turned:
                b = _part(context, right, columns, Piece(0, right.shape[3]))
            else:
                whole = columns.size == out.shape[3]
                b = right if whole else _part(context, right, Piece(0, right.shape[1]), columns)
            with context.scratch.temporary():
                total = context.scratch.aligned(target.shape, DType.I32)
                multiply(emitter, total, some, b, turned)
                if bias is not None:
                    row = bias.row(rows.size, chip)
                    shape = (1, row.shape[1], 1, columns.size)
                    row = row.window((0, 0, 0, columns.start), shape, chip)
                    summed = context.scratch.aligned(target.shape, DType.I32)
                    emitter.arith(Arith.ADD_SATURATE, summed, total, row)
                    total = summed
                factor.apply(emitter, target, total)


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

    steps = found()
    if steps is None and scratch.widen():
        steps = found()
    if steps is None:
        raise DoesNotFit(
            f"{scratch.largest} bytes of scratch per lane do not hold the sums of a row"
        )
    return steps


def _matrix(tensor: LocalTensor, image: int) -> LocalTensor:
    """One image as (1, rows, 1, columns), EU-aligned as the whole is."""
    _, c, h, w = tensor.shape
    shape: Shape4 = (1, c, 1, h * w)
    strides = (tensor.strides[0], tensor.strides[1], h * w, 1)
    return LocalTensor(tensor.at(image), shape, strides, tensor.dtype, tensor.layout)


def _part(context: LocalContext, matrix: LocalTensor, rows: Piece, columns: Piece) -> LocalTensor:
    """Whole lane groups of rows, and columns from an EU boundary on."""
    chip = context.chip
    address = matrix.at(g=rows.start // chip.lanes, w=columns.start)
    return aligned(chip, address, (1, rows.size, 1, columns.size), matrix.dtype)


def _turned(context: LocalContext, matrix: LocalTensor) -> LocalTensor:
    """A matrix transposed in scratch memory."""
    _, rows, _, columns = matrix.shape
    target = context.scratch.aligned((1, columns, 1, rows), matrix.dtype)
    transpose(context.emitter, target, matrix)
    return target


def _per_head(
    context: LocalContext, left: LocalTensor, right: LocalTensor, turned: bool, factor: Factor
) -> None:
    """Operands (n, rows, heads, columns); as many heads at a time as scratch memory allows."""
    out, chip, scratch = context.out.tensor, context.chip, context.scratch
    whole = (out, left, right)
    total = total_bytes(chip, out.shape[3])

    def sizes(heads: Piece) -> list[int]:
        parts = [_heads(chip, tensor, 0, heads) for tensor in whole]
        wanted = (
            (parts[1], False),
            (parts[2], needs_whole_right(chip, right.dtype, turned)),
            (parts[0], False),
        )
        return [*(slot_bytes(chip, part, full) for part, full in wanted), total]

    count = out.shape[2]

    def fitting() -> int | None:
        steps = range(count, 0, -1)
        return next(
            (s for s in steps if all(scratch.holds(sizes(some)) for some in cut(count, s))), None
        )

    step = fitting()
    if step is None and scratch.widen():
        step = fitting()
    if step is None:
        raise DoesNotFit(f"{scratch.largest} bytes of scratch memory per lane do not hold one head")
    for image in range(out.shape[0]):
        for some in cut(count, step):
            with scratch.temporary():
                places = [scratch.take(size) if size else 0 for size in sizes(some)]
                target, rows, columns = (_heads(chip, tensor, image, some) for tensor in whole)
                slots = Slots(places[0], places[1], places[2], 0, places[3])
                multiply_heads(context.emitter, target, rows, columns, turned, slots, factor)


def _heads(chip: Chip, tensor: LocalTensor, image: int, heads: Piece) -> LocalTensor:
    """Some heads of one image."""
    shape = (1, tensor.shape[1], heads.size, tensor.shape[3])
    return settled(tensor.window((image, 0, heads.start, 0), shape, chip), chip)
