"""How each tpu op becomes commands: by itself from DDR to DDR, and on slices in local memory.

An op that `elementwise.DESCRIPTIONS` (or, on integers, `int8.elementwise.DESCRIPTIONS`) describes
needs no line here.
"""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.kernels import (
    a16_matmul,
    attention,
    elementwise,
    index,
    matmul,
    mlp,
    moves,
    rank,
    recurrent,
)
from xdsl_tpu.backend.kernels.int8 import elementwise as int8
from xdsl_tpu.backend.kernels.support import KernelContext
from xdsl_tpu.backend.local import attention as local_attention
from xdsl_tpu.backend.local import by_type as local_by_type
from xdsl_tpu.backend.local import (
    conv_view,
    element_views,
    group_norm,
    int8_lookup,
    move,
    picked,
    pixel_norm,
    pool,
    reduce_ways,
    resample,
    rope,
    row_views,
    rows,
    sampled,
    scan,
)
from xdsl_tpu.backend.local import elementwise as local_elementwise
from xdsl_tpu.backend.local.alone import Cheapest, InSlices, in_planes
from xdsl_tpu.backend.local.context import LocalKernel
from xdsl_tpu.backend.local.problem import View, as_it_stands
from xdsl_tpu.dialects import tpu

Kernel = Callable[[KernelContext, Operation], None]


@dataclass(frozen=True, slots=True)
class Leaf:
    """The kernels of an op: `alone` over whole tensors in DDR, `sliced` in a layer group."""

    alone: Kernel
    sliced: LocalKernel | None = None


def _in_slices(kernel: LocalKernel, view: View = as_it_stands) -> Leaf:
    """An op that does by itself what it does in a group."""
    return Leaf(InSlices(kernel, view), kernel)


_ELEMENT_WISE = _in_slices(local_elementwise.element_wise, element_views.views)

LEAVES: dict[type[Operation], Leaf] = {
    **dict.fromkeys((*elementwise.DESCRIPTIONS, *int8.DESCRIPTIONS), _ELEMENT_WISE),
    tpu.A16MatMulOp: Leaf(a16_matmul.a16_matmul),
    tpu.BestOp: _in_slices(rows.best, row_views.best),
    tpu.ConcatOp: Leaf(moves.moves, move.move),
    tpu.Conv2DOp: _in_slices(local_by_type.conv2d, conv_view.view),
    tpu.Depth2SpaceOp: Leaf(moves.moves, move.move),
    tpu.FAttentionOp: Leaf(attention.attention, local_attention.attention),
    tpu.GatherElementsOp: _in_slices(picked.picked, picked.view),
    tpu.GatherOp: Leaf(index.gather),
    tpu.GRUOp: Leaf(recurrent.recurrent),
    tpu.GroupNormOp: _in_slices(group_norm.group_norm, group_norm.view),
    tpu.InstanceNormOp: Leaf(InSlices(group_norm.group_norm, group_norm.view)),
    tpu.LSTMOp: Leaf(recurrent.recurrent),
    tpu.LayerNormOp: _in_slices(rows.norms, row_views.row_norm),
    tpu.LinearScanOp: _in_slices(scan.scan, scan.view),
    tpu.LutOp: _in_slices(int8_lookup.lookup, element_views.views),
    tpu.MatMulOp: Leaf(matmul.matmul, local_by_type.product),
    tpu.MlpOp: Leaf(mlp.mlp),
    tpu.PadOp: Leaf(moves.moves, move.move),
    tpu.PermuteOp: Leaf(moves.moves, move.move),
    tpu.PixelNormOp: _in_slices(pixel_norm.pixel_norm, pixel_norm.view),
    tpu.Pool1DOp: _in_slices(pool.pool),
    tpu.Pool2DOp: _in_slices(pool.pool),
    tpu.RMSNormOp: _in_slices(rows.norms, row_views.row_norm),
    tpu.RankOp: Leaf(rank.rank),
    tpu.RankedOp: Leaf(rank.ranked),
    tpu.RearrangeOp: Leaf(moves.moves, move.move),
    tpu.ReduceOp: Leaf(Cheapest(reduce_ways.ways), rows.reduce),
    tpu.ResampleOp: _in_slices(resample.resample),
    tpu.ReshapeOp: Leaf(moves.moves, move.move),
    tpu.ReverseOp: Leaf(moves.moves),
    tpu.RopeOp: _in_slices(rope.rope, rope.view),
    tpu.SampledSumOp: _in_slices(sampled.sampled_sum),
    tpu.ScatterNDOp: Leaf(index.scatter_rows),
    tpu.ShuffleChannelOp: Leaf(moves.moves, move.move),
    tpu.SliceOp: Leaf(moves.moves, move.move),
    tpu.SoftmaxOp: Leaf(in_planes(rows.softmax, row_views.softmax), rows.softmax),
    tpu.SqueezeOp: Leaf(moves.moves, move.move),
    tpu.SwapDimInnerOp: Leaf(moves.moves, move.move),
    tpu.TileOp: Leaf(moves.moves),
    tpu.UnsqueezeOp: Leaf(moves.moves, move.move),
    tpu.UpsampleOp: Leaf(moves.moves, resample.upsample),
}
"""Every op that has a kernel."""


def leaf_of(op: Operation) -> Leaf | None:
    """The kernels of an op; None when it has none."""
    return LEAVES.get(type(op))


def sliced_kernel(op: Operation) -> LocalKernel | None:
    """The kernel of an op on slices; None when it has none."""
    leaf = leaf_of(op)
    return None if leaf is None else leaf.sliced
