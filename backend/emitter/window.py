"""Sliding windows, and the part of a tensor that they read."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.tensor import Layout, LocalTensor, align
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.records import record


@record(frozen=True, slots=True)
class Window:
    """A sliding window: kernel and stride (y, x), pads (top, bottom, left, right), dilation, the
    zeros that it sees between neighbouring elements, and the integer that it sees as padding."""

    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilation: tuple[int, int] = (1, 1)
    insert: tuple[int, int] = (0, 0)
    fill: int = 0

    def fields(self) -> dict[str, int]:
        """The command fields common to convolution and pooling."""
        (kh, kw), (sy, sx), (dy, dx) = self.kernel, self.stride, self.dilation
        up, down, left, right = self.pads
        return {
            "opd1_h": kh,
            "opd1_w": kw,
            "res_op_y_str": sy,
            "res_op_x_str": sx,
            "opd0_up_pad": up,
            "opd0_dn_pad": down,
            "opd0_lf_pad": left,
            "opd0_rt_pad": right,
            "opd1_y_ins0": dy - 1,
            "opd1_x_ins0": dx - 1,
            "opd0_y_ins0": self.insert[0],
            "opd0_x_ins0": self.insert[1],
        }


def read_part(
    out: LocalTensor, x: LocalTensor, window: Window, chip: Chip
) -> tuple[LocalTensor, Window]:
    """`x` and the pads without the rows and columns behind the last window of `out`.

    The C model takes the size of the result from opd0: where more windows fit than `out` has
    elements, it writes beyond its buffers. Rows and columns that no further window fills stay.
    The tensor gets explicit strides when the layout of fewer elements would be another one.
    """
    up, down, left, right = window.pads
    h, down = _read(out.shape[2], x.shape[2], (up, down), window, 0)
    w, right = _read(out.shape[3], x.shape[3], (left, right), window, 1)
    if (h, w) == x.shape[2:]:
        return x, replace(window, pads=(up, down, left, right))
    part = replace(x, shape=(*x.shape[:2], h, w))
    if x.layout is Layout.ALIGNED and not _laid_out_alike(part, chip):
        part = part.free()
    return part, replace(window, pads=(up, down, left, right))


def lone_windows(out: LocalTensor, x: LocalTensor, window: Window) -> Window:
    """The same window where there is only one along an axis, with a stride that leaves no room for
    another: rows need not be cut for its sake (`read_part`), as far as a command can say so."""
    pads = window.pads[:2], window.pads[2:]
    strides = list(window.stride)
    for axis in (0, 1):
        unread = _unread(1, x.shape[2 + axis], pads[axis], window, axis)
        if out.shape[2 + axis] == 1 and strides[axis] <= unread < LIMITS.window_stride:
            strides[axis] = unread + 1
    return replace(window, stride=(strides[0], strides[1]))


def _unread(windows: int, size: int, pads: tuple[int, int], window: Window, axis: int) -> int:
    """How much behind the last window there is, pads included."""
    reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1
    seen = (size - 1) * (window.insert[axis] + 1) + 1
    return sum(pads) + seen - reach - (windows - 1) * window.stride[axis]


def _read(
    windows: int, size: int, pads: tuple[int, int], window: Window, axis: int
) -> tuple[int, int]:
    """Elements along an axis and the pad behind them that are left when nothing is unread."""
    after, step = pads[1], window.insert[axis] + 1
    unread = _unread(windows, size, pads, window, axis)
    if unread < window.stride[axis]:
        return size, after
    from_pad = min(after, unread)
    dropped = -(-(unread - from_pad) // step)
    return size - dropped, after - unread + dropped * step


def _laid_out_alike(part: LocalTensor, chip: Chip) -> bool:
    """Whether the strides of an aligned tensor are those of its shape, wherever they matter."""
    n, _, h, w = part.shape
    by_n, by_group, by_h, _ = part.strides
    groups = part.groups(chip)
    channel = align(h * w, chip.eu(part.dtype.bytes))
    return (
        (h == 1 or by_h == w)
        and (groups == 1 or by_group == channel)
        and (n == 1 or by_n == groups * channel)
    )


@record(frozen=True, slots=True)
class Piece:
    """Result and operand of a pool, and its tensors (1, c, h, w) of parameters by their names."""

    out: LocalTensor
    x: LocalTensor
    parameters: Mapping[str, LocalTensor | None]


def one_by_one(piece: Piece, chip: Chip) -> Iterator[Piece]:
    """The images of a pool one by one, and of each the channels that lie side by side.

    Raises TpuError where the rows of such a part are still apart: no command reads them so.
    """
    n, c, *_ = piece.x.shape
    lane = piece.x.address >> chip.lane_shift
    for image in range(n):
        for group in range(piece.x.groups(chip)):
            first = max(group * chip.lanes - lane, 0)
            count = min((group + 1) * chip.lanes - lane, c) - first
            start = 0 if group else lane

            def cut(tensor: LocalTensor, n: int, at: tuple[int, int, int] = (group, count, start)):
                return _cut(tensor, n, at, chip)

            parameters = {k: t and cut(t, 0) for k, t in piece.parameters.items()}
            x = cut(piece.x, image)
            if not _laid_out_alike(x, chip):
                raise TpuError(
                    f"a pool of rows of {x.shape[3]} that are {x.strides[2]} elements apart: its "
                    "command has no strides"
                )
            yield Piece(cut(piece.out, image), replace(x, layout=Layout.ALIGNED), parameters)


def _cut(tensor: LocalTensor, image: int, at: tuple[int, int, int], chip: Chip) -> LocalTensor:
    """The channels of one group, (group, how many, first lane), of one image."""
    group, count, lane = at
    offset = tensor.at(image, group) & (chip.local_bytes - 1)
    shape = (1, count, *tensor.shape[2:])
    return replace(tensor, address=lane << chip.lane_shift | offset, shape=shape)
