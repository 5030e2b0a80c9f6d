"""Ops that move between blocks of pixels, or batches, and channels."""

from collections.abc import Hashable, Sequence
from math import prod

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.local_gen import (
    Axis,
    GroupType,
    Ncdhw,
    Part,
    Range,
    clipped,
)
from xdsl_tpu.dialects.interfaces.movement import Moved, Movement, Moves
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, ShapeInference, dims
from xdsl_tpu.dialects.tpu.local import (
    FLOATS,
    stored_type,
)
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, TpuOp


@irdl_op_definition
class Depth2SpaceOp(Moves, ShapeInference, LocalOp):
    """Channels become a block_h x block_w tile of positions, or the other way with `is_inversed`.

    | is_inversed | N, C, H, W becomes |
    |---|---|
    | false | N, C / (block_h * block_w), H * block_h, W * block_w |
    | true | N, C * block_h * block_w, H / block_h, W / block_w |

    Channels are last where `in_is_NCHW` or `out_is_NCHW` is false. The place in the block is the
    slow part of the long channel index, the fast one with `is_CRD`; it counts along rows, or
    with `swap_cr` along columns.
    """

    name = "tpu.Depth2Space"

    input = operand_def(RANKED)
    block_h = attr_def(I64_INT)
    block_w = attr_def(I64_INT)
    is_CRD = attr_def(BOOL)
    is_inversed = attr_def(BOOL)
    in_is_NCHW = default_attr_def(BOOL, True)
    out_is_NCHW = default_attr_def(BOOL, True)
    swap_cr = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        if len(shape) != 4:
            raise ShapeError(f"input {dims(shape)} must have 4 dimensions")
        n, c, h, w = shape if self.in_is_NCHW else (shape[0], shape[3], shape[1], shape[2])
        rows, columns = self.block_h.value.data, self.block_w.value.data
        if min(rows, columns) < 1:
            raise ShapeError(f"blocks of {rows} x {columns} make no sense")
        if self.is_inversed:
            fits = not (h % rows or w % columns)
            c, h, w = c * rows * columns, h // rows, w // columns
        else:
            fits = not c % (rows * columns)
            c, h, w = c // (rows * columns), h * rows, w * columns
        if not fits:
            raise ShapeError(f"input {dims(shape)} does not divide into blocks {rows} x {columns}")
        return ((n, c, h, w) if self.out_is_NCHW else (n, h, w, c),)

    def movement(self) -> Movement | None:
        shape = self.static_shape(0)
        return Movement(prod(shape), (Moved(0, IndexMap.permuted(*self._parts(shape))),))

    def is_read_by_strides(self) -> bool:
        return True

    def local_support(self, kind: GroupType) -> str | None:
        if not (self.in_is_NCHW.value.data and self.out_is_NCHW.value.data):
            return "its channels are not the second dimension"
        if self.is_CRD.value.data and not isinstance(stored_type(self.input), FLOATS):
            return "elements that are not floats change lanes in global memory"
        return None

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis in ("n", "h")

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        if part.axis != "h":
            return super().backward(part, operand, size)
        rows = self.block_h.value.data
        if self.is_inversed.value.data:
            return part.start * rows, part.length * rows
        return clipped(part.start // rows, -(-part.end // rows), size)

    def takes_margins(self) -> bool:
        return True

    def place_key(self, starts: Sequence[Ncdhw]) -> Hashable:
        """Where the blocks begin in both slices."""
        x, out = starts[0], starts[-1]
        rows = self.block_h.value.data
        return x.h - out.h * rows if self.is_inversed.value.data else out.h - x.h * rows

    def _parts(self, shape: Shape) -> tuple[list[int], list[int]]:
        """The operand's shape split into parts, and the order of the parts in the result.

        Space is (h, bh, w, bw), depth is (c, bh, bw) for CRD and (bh, bw, c) for DCR; `swap_cr`
        exchanges bh and bw in the depth.
        """
        rows, columns = self.block_h.value.data, self.block_w.value.data
        inverse = bool(self.is_inversed.value.data)
        in_nchw, out_nchw = bool(self.in_is_NCHW.value.data), bool(self.out_is_NCHW.value.data)
        n, c, h, w = shape if in_nchw else (shape[0], shape[3], shape[1], shape[2])
        sizes = {"n": n, "c": c, "h": h, "w": w, "y": rows, "x": columns}
        if inverse:
            sizes |= {"h": h // rows, "w": w // columns}
        else:
            sizes["c"] = c // (rows * columns)
        block = "xy" if bool(self.swap_cr.value.data) else "yx"
        depth = f"c{block}" if bool(self.is_CRD.value.data) else f"{block}c"
        wide, deep = ("nchywx", "nhywxc"), (f"n{depth}hw", f"nhw{depth}")
        before, after = (wide, deep) if inverse else (deep, wide)
        source, target = before[0 if in_nchw else 1], after[0 if out_nchw else 1]
        return [sizes[part] for part in source], [source.index(part) for part in target]


@irdl_op_definition
class Batch2SpaceOp(TpuOp):
    """Images of a batch interleaved into larger ones, then cropped."""

    name = "tpu.Batch2Space"

    input = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    block_h = attr_def(I64_INT)
    block_w = attr_def(I64_INT)
    crops = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class Space2BatchOp(TpuOp):
    """Padded images split into a batch of interleaved smaller ones."""

    name = "tpu.Space2Batch"

    input = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    block_h = attr_def(I64_INT)
    block_w = attr_def(I64_INT)
    pads = attr_def(I64_ARRAY)
    output = result_def(RANKED)

    traits = traits_def(Pure())
