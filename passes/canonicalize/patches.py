"""Patches of images, as unfold (im2col) takes them: which, and where their taps lie."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.passes.canonicalize.common import behind_views, has_relu
from xdsl_tpu.passes.canonicalize.gather import progression
from xdsl_tpu.passes.canonicalize.slice import set_cuts
from xdsl_tpu.passes.constants import whole_numbers_of
from xdsl_tpu.passes.graph import has_shapes, sole_producer, tensor_like
from xdsl_tpu.passes.tensors import shape_of

_TAPS_TOGETHER = (0, 1, 2, 4, 3, 5)
"""From N, C, rows of taps, rows, columns of taps, columns."""


@dataclass(frozen=True, slots=True)
class Patches:
    """Which patches of `source` (N, C, H, W) a value N, C, taps, rows, columns holds.

    Tap (i, j) is what rows[i] and columns[j] cut out of the source. Each of its pixels comes
    scale[0] times scale[1] times, side by side, where that is not (1, 1); cuts then have step 1.
    """

    source: SSAValue
    rows: tuple[Cut, ...]
    columns: tuple[Cut, ...]
    scale: tuple[int, int] = (1, 1)

    @property
    def images(self) -> int:
        return shape_of(self.source)[0]

    @property
    def channels(self) -> int:
        return shape_of(self.source)[1]

    @property
    def taps(self) -> int:
        return len(self.rows) * len(self.columns)

    @property
    def pixels(self) -> tuple[int, int]:
        """Rows and columns of each tap."""
        return self.rows[0].count * self.scale[0], self.columns[0].count * self.scale[1]

    def enlarged(self, scale: tuple[int, int]) -> "Patches | None":
        """The same where each pixel becomes a block; None where taps leave out pixels."""
        if self.scale != (1, 1) or any(cut.step != 1 for cut in (*self.rows, *self.columns)):
            return None
        return Patches(self.source, self.rows, self.columns, scale)

    def in_blocks(self, name: str, image: SSAValue) -> top.UpsampleOp | None:
        """The pixels of the source, or what it became, as blocks, if taps are cut out of these."""
        if self.scale == (1, 1):
            return None
        n, c, height, width = shape_of(image)
        shape = (n, c, height * self.scale[0], width * self.scale[1])
        return top.UpsampleOp.make(
            name,
            (image,),
            result_types=[tensor_like(image, shape)],
            scale_h=self.scale[0],
            scale_w=self.scale[1],
        )

    def tap(self, name: str, image: SSAValue, tap: int, none: SSAValue) -> top.SliceOp:
        """One of the taps, N, C, rows, columns, cut out of what the source became."""
        i, j = divmod(tap, len(self.columns))
        n, c, *_ = shape_of(image)
        op = top.SliceOp.make(
            name,
            (image, none, none, none),
            result_types=[tensor_like(image, (n, c, *self.pixels))],
            offset=[],
            steps=[],
            ends=[],
        )
        rows, columns = _times(self.rows[i], self.scale[0]), _times(self.columns[j], self.scale[1])
        set_cuts(op, (Cut(0, n, 1), Cut(0, c, 1), rows, columns))
        return op


def _times(cut: Cut, scale: int) -> Cut:
    """A cut of neighbours, of what has each of them `scale` times."""
    return cut if scale == 1 else Cut(cut.first * scale, cut.count * scale, 1)


def patches_of(value: SSAValue) -> Patches | None:
    """What patches a value holds, under whatever shape, that nothing else reads."""
    value = behind_views(value)
    enlarged = sole_producer(value, top.UpsampleOp)
    if enlarged is None:
        return _unfolded(value)
    if has_relu(enlarged) or not has_shapes(enlarged.input, enlarged.output):
        return None
    found = _unfolded(behind_views(enlarged.input))
    if found is None or shape_of(enlarged.input)[-2:] != found.pixels:
        return None
    if shape_of(enlarged.input)[0] != found.images:
        return None
    return found.enlarged((enlarged.scale_h.value.data, enlarged.scale_w.value.data))


def _unfolded(value: SSAValue) -> Patches | None:
    """Permute(Gather of columns(Gather of rows(source)))."""
    permute = sole_producer(value, top.PermuteOp)
    if permute is None or ints(permute.order) != _TAPS_TOGETHER:
        return None
    across = sole_producer(permute.input, top.GatherOp)
    down = None if across is None else sole_producer(across.input, top.GatherOp)
    if across is None or down is None or not has_shapes(down.input, down.output, across.output):
        return None
    if len(shape_of(down.input)) != 4:
        return None
    rows, columns = _cuts(down, 2), _cuts(across, 4)
    return None if not rows or not columns else Patches(down.input, rows, columns)


def _cuts(op: top.GatherOp, axis: int) -> tuple[Cut, ...]:
    """What each row of an op's indices takes of the axis; empty if that is no slice."""
    shape = shape_of(op.input)
    indices = whole_numbers_of(op.indices)
    if op.axis.value.data % len(shape) != axis or indices is None or indices.ndim != 2:
        return ()
    size = shape[axis]
    if indices.size == 0 or not op.keepdims.value.data:
        return ()
    found = [progression([int(index) % size for index in row]) for row in indices]
    return tuple(cut for cut in found if cut is not None) if None not in found else ()


def leading(shape: Sequence[int], pixels: tuple[int, int]) -> tuple[int, ...] | None:
    """The dimensions in front of rows and columns, which are the last two or the last one."""
    for behind in (1, 2):
        if (*shape[-behind:],) in (pixels, (prod(pixels),)) and len(shape) > behind:
            return (*shape[:-behind],)
    return None
