"""`tpu.MatMul` on slices: rows on the lanes, image by image, or head by head."""

import math
from collections.abc import Iterator, Sequence

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.elementwise import Step, fused_relu
from xdsl_tpu.backend.kernels.heads import (
    Slots,
    multiply_heads,
    needs_whole_right,
    slot_bytes,
)
from xdsl_tpu.backend.kernels.int8.requant import Factor, sums_needed
from xdsl_tpu.backend.kernels.product import bias_columns, multiply
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transpose import transpose
from xdsl_tpu.backend.local.context import LocalContext, LocalValue
from xdsl_tpu.backend.local.elementwise import finish
from xdsl_tpu.backend.local.parts import settled
from xdsl_tpu.backend.tensor import (
    DType,
    LocalTensor,
    Shape4,
    align,
    aligned,
    aligned_bytes,
    ceil_div,
    compact,
    strided,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit


def matmul(context: LocalContext) -> None:
    """Emit a product with its bias and relu.

    Raises TpuError for integer types, a transposed output, or too little scratch memory.
    """
    op = context.op
    assert isinstance(op, tpu.MatMulOp)
    left, right = context.operand(0), context.operand(1)
    if not left.dtype.is_float or op.output_transpose.value.data:
        raise DoesNotFit("only plain f32, f16 and bf16 products have a local kernel")
    with context.scratch.temporary():
        if op.hdim_is_batch.value.data:
            per_head(context, op)
        elif left.tensor.shape[2] > 1 < left.tensor.shape[3]:
            _per_line(context, op, left.tensor, right.tensor)
        else:
            _per_image(context, op, left, right)


def _per_image(
    context: LocalContext, op: tpu.MatMulOp, left: LocalValue, right: LocalValue
) -> None:
    """One matrix per image."""
    chip, out = context.chip, context.out.tensor
    bias = context.optional(2)
    relu = fused_relu(op)
    by_rows = bool(op.right_transpose.value.data) and left.dtype is not DType.F32
    for image, rows, columns in operands_of_images(context, op, left, right):
        target = matrix_of(out, image)
        for group in cut(target.shape[1], _rows_at_once(context, target, bool(relu or bias))):
            row = None if bias is None else bias_of(context, bias, group.size)
            part, some = part_of(chip, target, group), part_of(chip, rows, group)
            total = context.partial and part_of(
                chip, matrix_of(context.partial.total, image), group
            )
            _product(context, part, some, columns, by_rows, row, relu, total)


def operands_of_images(
    context: LocalContext, op: tpu.MatMulOp, left: LocalValue, right: LocalValue
) -> Iterator[tuple[int, LocalTensor, LocalTensor]]:
    """Each image and its matrices; a right operand with one image serves all. Turned are left ones
    whose columns lie on the lanes, and right ones of f32 whose rows would have to be read."""
    check_matrices(op, left.tensor, right.tensor, context.out.tensor)
    turned = bool(op.right_transpose.value.data) and left.dtype is DType.F32
    for image in range(context.out.tensor.shape[0]):
        with context.scratch.temporary():
            rows = matrix_of(left.tensor, image if left.tensor.shape[0] > 1 else 0)
            if op.left_transpose.value.data:
                rows = turned_matrix(context, rows)
            columns = matrix_of(right.tensor, image if right.tensor.shape[0] > 1 else 0)
            if turned:
                columns = turned_matrix(context, columns)
            yield image, rows, columns


def _per_line(
    context: LocalContext, op: tpu.MatMulOp, left: LocalTensor, right: LocalTensor
) -> None:
    """Lanes hold several rows (n, c, lines, K) of a matrix; the right one (1, K, N) is shared.

    Rows that do not begin where a command may are copied apart.
    """
    chip, out, emitter = context.chip, context.out.tensor, context.emitter
    (_, _, count, _), (*_, n) = left.shape, out.shape
    if out.shape != (*left.shape[:3], n) or out.dtype is DType.F32 or right.shape[0] > 1:
        raise DoesNotFit(f"products of lines {left.shape} by {right.shape} have no local kernel")
    columns, bias = matrix_of(right, 0), context.optional(2)

    def row(lines: LocalTensor, number: int) -> LocalTensor:
        shape = (1, lines.shape[1], 1, lines.shape[3])
        return aligned(chip, lines.at(h=number), shape, lines.dtype)

    def produce(target: LocalTensor) -> None:
        for image in range(out.shape[0]):
            for group in cut(out.shape[1], chip.lanes):
                with context.scratch.temporary():
                    some, made = (
                        tensor.window((image, group.start, 0, 0), (1, group.size, *size), chip)
                        for tensor, size in ((left, left.shape[2:]), (target, out.shape[2:]))
                    )
                    given, result = _apart(context, some), _apart(context, made)
                    if given is not some:
                        emitter.copy(given, some)
                    for number in emitter.alike(range(count)):
                        multiply(emitter, row(result, number), row(given, number), columns)
                    if result is not made:
                        emitter.copy(made, result)

    added = None if bias is None else bias.row(out.shape[1], chip)
    finish(context, out, fused_relu(op), produce, added)


def _apart(context: LocalContext, lines: LocalTensor) -> LocalTensor:
    """Lines that begin where commands without strides may: these, or room for as many."""
    chip, (n, c, count, size) = context.chip, lines.shape
    unit = chip.eu(lines.dtype.bytes)
    if lines.strides[2] % unit == 0 and lines.address % chip.eu_bytes == 0:
        return lines
    width = align(size, unit)
    room = context.scratch.aligned((n, c, count, width), lines.dtype)
    return strided(room.address, lines.shape, room.strides, lines.dtype)


def check_matrices(
    op: tpu.MatMulOp, left: LocalTensor, right: LocalTensor, out: LocalTensor
) -> None:
    """Raise DoesNotFit unless channels are rows, and all the rest columns, of matrices with such
    a product.

    The rows of a tensor of rank 4 and more lie in the lanes in groups of type SMALL_C only.
    """
    (m, k), (rows, columns), result = (
        (c, h * w) for _, c, h, w in (tensor.shape for tensor in (left, right, out))
    )
    if op.left_transpose.value.data:
        m, k = k, m
    if op.right_transpose.value.data:
        rows, columns = columns, rows
    if (k, (m, columns)) != (rows, result):
        raise DoesNotFit("rows in several dimensions are no matrix whose rows are lanes")


def _rows_at_once(context: LocalContext, out: LocalTensor, goes_on: bool) -> int:
    """Rows of a product, in lane groups, for which scratch memory has room if more is done with
    them."""
    chip = context.chip
    if out.dtype is DType.F32:
        return chip.lanes  # the filters of a convolution must be dense within a command
    groups = ceil_div(out.shape[1], chip.lanes)
    for count in range(groups, 1, -1):
        shape = (1, count * chip.lanes, 1, out.shape[3])
        if context.scratch.holds([aligned_bytes(chip, shape, out.dtype)] * goes_on):
            return count * chip.lanes
    return chip.lanes


def _product(
    context: LocalContext,
    out: LocalTensor,
    left: LocalTensor,
    right: LocalTensor,
    by_rows: bool,
    bias: LocalTensor | None,
    relu: Sequence[Step],
    total: LocalTensor | None,
) -> None:
    """Rows of a product, its bias and clamp.

    `total` is their place in the sum of which this is a part, if it is one.
    """
    emitter, chip = context.emitter, context.chip
    if left.dtype is DType.F32:
        left = compact(chip, left.address, left.shape, left.dtype)

    if context.partial is not None and total is not None:
        multiply(emitter, total, left, right, by_rows, not context.partial.is_first)
        if not context.partial.is_last:
            return

    def produce(target: LocalTensor) -> None:
        if total is not None:
            emitter.convert(target, total)
        else:
            multiply(emitter, target, left, right, by_rows)

    finish(context, out, relu, produce, bias)


def matrix_of(tensor: LocalTensor, image: int) -> LocalTensor:
    """One image as (1, rows, 1, columns), EU-aligned as the whole is."""
    _, c, h, w = tensor.shape
    shape: Shape4 = (1, c, 1, h * w)
    strides = (tensor.strides[0], tensor.strides[1], h * w, 1)
    return LocalTensor(tensor.at(image), shape, strides, tensor.dtype, tensor.layout)


def bias_of(
    context: LocalContext, bias: LocalValue, rows: int, columns: Piece | None = None
) -> LocalTensor:
    """A bias for some rows of the slice of the result and all of its columns, or some of them."""
    columns = columns or Piece(0, math.prod(context.out.tensor.shape[2:]))
    own = Piece(context.out.start.w + columns.start, columns.size)
    return bias_columns(bias.row(rows, context.chip), own, rows, context.chip)


def part_of(
    chip: Chip, matrix: LocalTensor, rows: Piece, columns: Piece | None = None
) -> LocalTensor:
    """Whole lane groups of rows, and all columns or those from an EU boundary on."""
    columns = columns or Piece(0, matrix.shape[3])
    address = matrix.at(g=rows.start // chip.lanes, w=columns.start)
    return aligned(chip, address, (1, rows.size, 1, columns.size), matrix.dtype)


def turned_matrix(context: LocalContext, matrix: LocalTensor) -> LocalTensor:
    """A matrix transposed in scratch memory."""
    target = context.scratch.aligned(_turned(matrix.shape), matrix.dtype)
    transpose(context.emitter, target, matrix)
    return target


def _turned(shape: Shape4) -> Shape4:
    _, rows, _, columns = shape
    return 1, columns, 1, rows


def per_head(context: LocalContext, op: tpu.MatMulOp, factor: Factor | None = None) -> None:
    """Operands (n, rows, heads, columns); as many heads at a time as scratch memory allows.

    Integers have a `factor`, which is their relu, too.
    """
    chip, scratch, out = context.chip, context.scratch, context.out.tensor
    turned = bool(op.right_transpose.value.data)
    clamps = factor is None and bool(fused_relu(op))
    if clamps or context.optional(2) is not None or op.left_transpose.value.data:
        raise DoesNotFit(
            "a product per head with bias, relu or transposed left has no local kernel"
        )
    whole = (out, context.operand(0).tensor, context.operand(1).tensor)
    total = 0
    if factor is not None:
        sums = (sums_needed(chip, False), 1, 1, out.shape[3])
        total = aligned_bytes(chip, sums, DType.I32)

    def sizes(heads: Piece) -> list[int]:
        return [*slot_sizes(chip, [_heads(chip, t, 0, heads) for t in whole], turned), total]

    count = out.shape[2]

    def fitting() -> int | None:
        steps = range(count, 0, -1)
        return next(
            (s for s in steps if all(scratch.holds(sizes(some)) for some in cut(count, s))), None
        )

    step = scratch.enough(fitting, "for one head")
    for image in range(out.shape[0]):
        for some in cut(count, step):
            with scratch.temporary():
                places = [scratch.take(size) if size else 0 for size in sizes(some)]
                target, rows, columns = (_heads(chip, tensor, image, some) for tensor in whole)
                slots = Slots(*places)
                multiply_heads(context.emitter, target, rows, columns, turned, slots, factor)


def _heads(chip: Chip, tensor: LocalTensor, image: int, heads: Piece) -> LocalTensor:
    """Some heads of one image."""
    shape = (1, tensor.shape[1], heads.size, tensor.shape[3])
    return settled(tensor.window((image, 0, heads.start, 0), shape, chip), chip)


def slot_sizes(chip: Chip, parts: Sequence[LocalTensor], turned: bool) -> list[int]:
    """Bytes of scratch for result, left and right parts, in the order of `Slots`."""
    out, left, right = parts
    wide = left.dtype is DType.F32
    return [
        slot_bytes(chip, left),
        slot_bytes(chip, right, needs_whole_right(chip, right.dtype, turned)),
        slot_bytes(chip, out),
        aligned_bytes(chip, _turned(right.shape), right.dtype) if turned and wide else 0,
    ]
