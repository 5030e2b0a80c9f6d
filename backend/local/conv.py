"""`tpu.Conv2D` on slices: on the cube, or on the pooling unit when it is depthwise."""

from collections.abc import Sequence
from dataclasses import replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Window
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.kernels.elementwise import Step, fused_relu
from xdsl_tpu.backend.kernels.lanes import one_window_a_row
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.local.context import LocalContext, LocalValue, Partial
from xdsl_tpu.backend.local.elementwise import finish
from xdsl_tpu.backend.local.move import copy_channels
from xdsl_tpu.backend.local.parts import Part, settled
from xdsl_tpu.backend.local.views import conv_operand, group_pieces
from xdsl_tpu.backend.tensor import Layout, LocalTensor, compact
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit


def conv2d(context: LocalContext) -> None:
    """Emit a convolution, one command for each lane group of output channels.

    With several groups of more than one channel there is one for each group, unless the slice lies
    within a group, whose input is all it has. Raises DoesNotFit for merged taps of an operand that
    is not loaded by the group, and for a filter that is not laid out (`weight-reorder`).
    """
    op = context.op
    assert isinstance(op, tpu.Conv2DOp)
    x, filters, bias = context.operand(0), _side_by_side(context), context.optional(2)
    groups = op.group.value.data
    depthwise = groups > 1 and groups == x.full.c == context.out.full.c
    source, window = conv_operand(context, op, context.out)
    relu = fused_relu(op)
    out = context.out.tensor
    if groups > 1 and not depthwise and x.tensor.shape[1] == x.full.c:
        for group in range(groups):
            with context.scratch.temporary():
                _grouped(context, (group, groups), source, (filters, bias), window, relu)
        return
    for channels in group_pieces(out.shape[1], out.shape[0], context.chip.lanes):
        tables = [
            None
            if table is None
            else _table(context.chip, table.tensor, _within(context, table, channels))
            for table in (filters, bias)
        ]
        target = Part(Piece(0, out.shape[0]), channels).of(out, context.chip)
        operand = source
        if depthwise:
            operand = Part(Piece(0, out.shape[0]), channels).of(source, context.chip)
        if context.partial is not None:
            total = Part(Piece(0, out.shape[0]), channels).of(context.partial.total, context.chip)
            _sum(context, context.partial, total, operand, tables, window)
            if context.partial.is_last:
                _finished(context, target, total, relu)
            continue
        _piece(context, depthwise, target, operand, tables, window, relu)


def _sum(
    context: LocalContext,
    partial: Partial,
    total: LocalTensor,
    x: LocalTensor,
    tables: list[LocalTensor | None],
    window: Window,
) -> None:
    """Some input channels, added to what the others before them made."""
    weight, bias = tables
    assert weight is not None
    if window.stride[1] > LIMITS.window_stride:
        total, x, window = one_window_a_row(context.chip, total, x, window)
    first = partial.is_first
    context.emitter.conv(total, x, weight, window, bias if first else None, accumulate=not first)


def _finished(
    context: LocalContext, out: LocalTensor, total: LocalTensor, relu: Sequence[Step]
) -> None:
    """The sum of all channels, in the result's type."""
    finish(context, out, relu, lambda target: context.emitter.convert(target, total))


def _grouped(
    context: LocalContext,
    place: tuple[int, int],
    x: LocalTensor,
    tables: tuple[LocalValue, LocalValue | None],
    window: Window,
    relu: Sequence[Step],
) -> None:
    """One group of `place` (number, of how many): commands begin on lane 0, so what does not is
    moved there and back.
    """
    chip, out = context.chip, context.out.tensor
    target = _channels(out, place, chip)
    direct = settled(target, chip)
    begins = _on_lane_0(direct, chip) and direct.layout is Layout.ALIGNED
    result = direct if begins else context.scratch.aligned(target.shape, target.dtype)
    filters, bias = (
        None if table is None else _dense(context, _channels(table.tensor, place, chip))
        for table in tables
    )
    operand = settled(_channels(x, place, chip), chip)
    if not _on_lane_0(operand, chip) or operand.layout is not Layout.ALIGNED:
        moved = context.scratch.aligned(operand.shape, operand.dtype)
        copy_channels(context, moved, operand)
        operand = moved
    _piece(context, False, result, operand, [filters, bias], window, relu)
    if not begins:
        copy_channels(context, target, result)


def _channels(tensor: LocalTensor, place: tuple[int, int], chip: Chip) -> LocalTensor:
    """One group's channels."""
    group, groups = place
    n, c, h, w = tensor.shape
    return tensor.window((0, c // groups * group, 0, 0), (n, c // groups, h, w), chip)


def _dense(context: LocalContext, table: LocalTensor) -> LocalTensor:
    """A filter or bias, compact from lane 0 on."""
    if _on_lane_0(table, context.chip):
        return compact(context.chip, table.address, table.shape, table.dtype)
    dense = context.scratch.compact(table.shape, table.dtype)
    copy_channels(context, dense, table)
    return dense


def _side_by_side(context: LocalContext) -> LocalValue:
    """The filter with lane groups of output channels one behind the other.

    So a weight is loaded, and so all lie whose rows are whole lines. Of another that the chip has
    computed, lane groups begin with lines.
    """
    filters = context.operand(1)
    x = filters.tensor
    if (filters.full.n, filters.full.c) != (1, context.out.full.c):
        raise DoesNotFit("its filter is not laid out with output channels over the lanes")
    dense = compact(context.chip, x.address, x.shape, x.dtype)
    if x.shape[1] <= context.chip.lanes or x.strides[1] == dense.strides[1]:
        return replace(filters, tensor=dense)
    copy = context.scratch.compact(x.shape, x.dtype)
    context.emitter.copy(copy, x)
    return replace(filters, tensor=copy)


def _on_lane_0(tensor: LocalTensor, chip: Chip) -> bool:
    return tensor.address >> chip.lane_shift == 0


def _within(context: LocalContext, table: LocalValue, channels: Piece) -> Piece:
    """Where channels of the slice lie in a table, which is whole or has the slice's alone."""
    return replace(channels, start=context.out.start.c - table.start.c + channels.start)


def _table(chip: Chip, table: LocalTensor, channels: Piece) -> LocalTensor:
    """A range of channels of a filter or bias, from a lane group on."""
    shape = (1, channels.size, *table.shape[2:])
    return compact(chip, table.at(g=channels.start // chip.lanes), shape, table.dtype)


def _piece(
    context: LocalContext,
    depthwise: bool,
    out: LocalTensor,
    x: LocalTensor,
    tables: list[LocalTensor | None],
    window: Window,
    relu: Sequence[Step],
) -> None:
    emitter = context.emitter
    weight, bias = tables
    assert weight is not None
    if window.stride[1] > LIMITS.window_stride:
        out, x, window = one_window_a_row(context.chip, out, x, window)
    fused = len(relu) == 1 and not depthwise and emitter.convolves_with_relu
    rest = () if fused else relu

    def produce(target: LocalTensor) -> None:
        if depthwise:
            emitter.depthwise(target, x, weight, window, bias)
        else:
            emitter.conv(target, x, weight, window, bias, relu=fused)

    finish(context, out, rest, produce)
