"""Ops that mix the elements of one tensor: pools, norms, reductions, matrix products."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.tpu import PoolMode
from xdsl_tpu.passes.lowering.common import build, same
from xdsl_tpu.passes.lowering.context import (
    F32,
    CannotLowerError,
    Lowering,
    LoweringContext,
    Lowerings,
)
from xdsl_tpu.passes.tensors import required_name

POOLS: dict[int, type[NamedOp]] = {1: tpu.Pool1DOp, 2: tpu.Pool2DOp, 3: tpu.Pool3DOp}
"""Kernel rank -> op."""


def _pool(mode: PoolMode, in_f32: bool) -> Lowering:
    """Max pooling has a 16-bit version; averaging runs in f32 on the BM1684X."""

    def lower(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
        assert isinstance(op, top.MaxPoolOp | top.AvgPoolOp)
        target = POOLS.get(len(op.kernel_shape))
        if target is None:
            raise CannotLowerError(
                f"{op.name} '{required_name(op)}': kernel of rank {len(op.kernel_shape)}"
            )
        element = F32 if in_f32 else ctx.element
        return build(op, ctx, target, (op.input,), element, pool_mode=mode)

    return lower


LOWERINGS: Lowerings = {
    top.AvgPoolOp: _pool(PoolMode.Avg, in_f32=True),
    top.GroupNormOp: same(tpu.GroupNormOp),
    top.InstanceNormOp: same(tpu.InstanceNormOp, in_f32=True),
    top.LayerNormOp: same(tpu.LayerNormOp),
    top.LRNOp: same(tpu.LRNOp, in_f32=True),
    top.MatMulOp: same(tpu.MatMulOp),
    top.MaxPoolOp: _pool(PoolMode.Max, in_f32=False),
    top.PixelNormOp: same(tpu.PixelNormOp),
    top.ReduceOp: same(tpu.ReduceOp),
    top.RMSNormOp: same(tpu.RMSNormOp),
}
