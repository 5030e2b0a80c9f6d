"""Every top op that can be lowered, and how."""

from xdsl.ir import Operation

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.lowering import (
    activation,
    conv,
    elementwise,
    grid_sample,
    indexing,
    llm,
    matrices,
    movement,
    normalization,
    ranking,
    recurrent,
    reduction,
    resize,
    scatter,
    top_k,
)
from xdsl_tpu.passes.lowering.context import Lowerings

LOWERINGS: Lowerings = {
    **activation.LOWERINGS,
    **conv.LOWERINGS,
    **elementwise.LOWERINGS,
    **grid_sample.LOWERINGS,
    **indexing.LOWERINGS,
    **llm.LOWERINGS,
    **matrices.LOWERINGS,
    **movement.LOWERINGS,
    **normalization.LOWERINGS,
    **ranking.LOWERINGS,
    **recurrent.LOWERINGS,
    **reduction.LOWERINGS,
    **resize.LOWERINGS,
    **scatter.LOWERINGS,
    **top_k.LOWERINGS,
}

STAY: tuple[type[Operation], ...] = (top.InputOp, top.WeightOp, top.NoneOp)
"""Ops of the top dialect that remain: they have no computation to lower."""
