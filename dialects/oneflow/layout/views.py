"""Ops that give the same elements in the same order another shape."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout_views import ViewRule
from xdsl_tpu.dialects.oneflow.layout.base import OneFlowLayout, insert_reshape


class ViewLayout(OneFlowLayout, ViewRule):
    """reshape, flatten, squeeze and expand_dims: another reshape."""

    def reshaped(
        self, op: Operation, value: SSAValue, shape: Sequence[int], builder: Builder
    ) -> SSAValue:
        return insert_reshape(op, value, shape, builder)
