"""Convolutions: the filter takes the type of the mode, the bias stays f32 (the accumulator's)."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import NamedOp, is_none
from xdsl_tpu.passes.lowering.common import build
from xdsl_tpu.passes.lowering.context import CannotLowerError, Lowering, LoweringContext, Lowerings
from xdsl_tpu.passes.tensors import required_name

CONVOLUTIONS: dict[int, type[NamedOp]] = {1: tpu.Conv2DOp, 2: tpu.Conv2DOp, 3: tpu.Conv3DOp}
DECONVOLUTIONS: dict[int, type[NamedOp]] = {1: tpu.DeconvOp, 2: tpu.DeconvOp, 3: tpu.Deconv3DOp}
"""Kernel rank -> op."""


def _by_kernel_rank(targets: dict[int, type[NamedOp]]) -> Lowering:
    """conv(x, filter, bias) -> Conv2D(x, filter_f16, bias) {with_bias}."""

    def lower(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
        assert isinstance(op, top.ConvOp | top.DeconvOp)
        target = targets.get(len(op.kernel_shape))
        if target is None:
            raise CannotLowerError(
                f"{op.name} '{required_name(op)}': kernel of rank {len(op.kernel_shape)}"
            )
        operands = (op.input, ctx.as_type(op.filter, ctx.element), op.bias)
        return build(op, ctx, target, operands, ctx.element, with_bias=not is_none(op.bias))

    return lower


LOWERINGS: Lowerings = {
    top.ConvOp: _by_kernel_rank(CONVOLUTIONS),
    top.DeconvOp: _by_kernel_rank(DECONVOLUTIONS),
}
