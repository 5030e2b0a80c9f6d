"""Reductions over some dimensions."""

from abc import ABC

from xdsl.irdl import attr_def, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.interfaces.shape_rules import axes_of, reduced
from xdsl_tpu.dialects.oneflow.base import BOOL, SI32_ARRAY, OneFlowOp, default_attr_def
from xdsl_tpu.dialects.oneflow.layout import ReduceLayout
from xdsl_tpu.dialects.oneflow.segments import oneflow_op


class ReduceOp(OneFlowOp, ABC):
    """Over dimensions `axis`, which stay with size 1 if `keepdims`."""

    input = operand_def(RANKED)
    output = result_def(RANKED)
    axis = attr_def(SI32_ARRAY)
    keepdims = default_attr_def(BOOL, False)

    traits = traits_def(Pure(), ReduceLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        axes = axes_of(ints(self.axis), len(shape))
        return (reduced(shape, axes, bool(self.keepdims.value.data)),)


@oneflow_op
class ReduceSumOp(ReduceOp):
    """The sum."""

    name = "oneflow.reduce_sum"


@oneflow_op
class ReduceMeanOp(ReduceOp):
    """The mean."""

    name = "oneflow.reduce_mean"


@oneflow_op
class ReduceMaxOp(ReduceOp):
    """The largest."""

    name = "oneflow.reduce_max"
