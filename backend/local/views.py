"""Windows that slide over slices: which part of an operand's slice an output slice reads."""

from dataclasses import replace

from xdsl_tpu.backend.emitter import Window
from xdsl_tpu.backend.kernels.lanes import View, view_columns, view_rows, window_of
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.kernels.tiling import Axis, Piece, check_window
from xdsl_tpu.backend.local.context import Form, LocalContext, LocalValue
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import LocalTensor, Shape4, ceil_div
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, MergesTaps, Ncdhw


def merged_views(reader: MergesTaps, start: Ncdhw, sizes: Ncdhw, lanes: int) -> tuple[View, View]:
    """What the lanes of a merged operand hold for the output slice at `start`."""
    assert isinstance(reader, tpu.Conv2DOp), f"{reader.name} has no kernel with merged taps"
    rows, columns = conv_axes(reader, lanes)
    merges_rows, merges_columns = reader.merged_taps()
    return (
        view_rows(rows, Piece(start.h, sizes.h), merges_rows),
        view_columns(columns, Piece(start.w, sizes.w), merges_columns),
    )


def conv_axes(conv: tpu.Conv2DOp, lanes: int) -> tuple[Axis, Axis]:
    """How a convolution's filter slides over the rows and columns of its whole operand; a 1-D image
    is a column."""
    x, out = (of_value(v, GroupType.NORMAL, lanes) for v in (conv.input, conv.output))
    kernel, strides = ints(conv.kernel_shape), ints(conv.strides)
    pads = ints(conv.pads)
    dilations = ints(conv.dilations) if conv.dilations is not None else (1,) * len(kernel)
    inserts = ints(conv.inserts) if conv.inserts is not None else (0,) * len(kernel)
    if len(kernel) == 1:
        kernel, strides, dilations = (*kernel, 1), (*strides, 1), (*dilations, 1)
        pads, inserts = (pads[0], 0, pads[1], 0), (*inserts, 0)
    windows = zip(kernel, strides, pads[:2], pads[2:], dilations, inserts, strict=True)
    sizes = zip((x.h, x.w), (out.h, out.w), windows, strict=True)
    rows, columns = (Axis(before, after, *window) for before, after, window in sizes)
    check_window((rows, columns), where(conv), far=True)
    return rows, columns


def sliding(
    x: LocalValue, out: LocalValue, rows: Axis, columns: Axis
) -> tuple[Window, Piece, Piece]:
    """The window, and the rows and columns of the slice `x` that it covers.

    Raises TpuError when the slice does not hold all that the output slice reads.
    """
    whole = Piece(out.start.h, out.tensor.shape[2]), Piece(out.start.w, out.tensor.shape[3])
    views = view_rows(rows, whole[0], False), view_columns(columns, whole[1], False)
    pieces: list[Piece] = []
    for view, low, size in zip(views, x.start[3:], x.tensor.shape[2:], strict=True):
        if view.first < low or view.first + view.count > low + size:
            raise DoesNotFit(
                f"inputs {view.first} to {view.first + view.count} are read, but the slice holds "
                f"{low} to {low + size}"
            )
        pieces.append(Piece(view.first - low, view.count))
    return window_of(*views), pieces[0], pieces[1]


def covered(
    context: LocalContext, x: LocalTensor, window: Window, rows: Piece, columns: Piece
) -> LocalTensor:
    """The rows and columns of an EU-aligned tensor that a window covers, EU-aligned.

    Rows and columns behind the window do no harm; when there are some before it, the part is
    copied to scratch memory, unless it happens to be aligned as it is.
    """
    chip, pads = context.chip, window.pads
    n, c, h, w = x.shape
    whole_rows = rows.end == h or not pads[1]
    whole_columns = columns.start == 0 and (columns.end == w or not pads[3])
    if whole_columns and whole_rows and rows.start == 0:
        return x
    offset = rows.start * w * x.dtype.bytes
    if whole_columns and n == 1 and c <= chip.lanes and offset % chip.eu_bytes == 0:
        shape: Shape4 = (1, c, h - rows.start if whole_rows else rows.size, w)
        return replace(x, address=x.address + offset, shape=shape)
    part = x.window((0, 0, rows.start, columns.start), (n, c, rows.size, columns.size), chip)
    copy = context.scratch.aligned(part.shape, x.dtype)
    context.emitter.copy(copy, part)
    return copy


def conv_operand(
    context: LocalContext, conv: tpu.Conv2DOp, out: LocalValue
) -> tuple[LocalTensor, Window]:
    """What a convolution slides over for a slice of its result, and the window.

    Raises DoesNotFit for merged taps of an operand that is not loaded by the group.
    """
    x, chip = context.operand(0), context.chip
    if any(conv.merged_taps()):
        if x.form is not Form.MERGED:
            raise DoesNotFit(
                "its filter taps are merged into the channels (use_3ic_optimize), but its operand "
                "does not come from a load of its own"
            )
        n, c, h, w = out.tensor.shape
        return x.tensor, window_of(*merged_views(conv, out.start, Ncdhw(n, c, 1, h, w), chip.lanes))
    place = sliding(x, out, *conv_axes(conv, chip.lanes))
    return covered(context, x.tensor, *place), place[0]


def group_pieces(channels: int, images: int, lanes: int) -> list[Piece]:
    """Channel ranges that are EU-aligned tensors of their own: lane groups of one image."""
    if images > 1:
        return [Piece(0, channels)]
    return [
        Piece(g * lanes, min(lanes, channels - g * lanes)) for g in range(ceil_div(channels, lanes))
    ]
