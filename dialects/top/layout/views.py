"""Ops that give the same elements in the same order another shape."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout_views import ViewRule
from xdsl_tpu.dialects.top.layout.base import TopLayout, insert_reshape


class ViewLayout(ViewRule, TopLayout):
    """Reshape, Squeeze, Unsqueeze and Flatten: another Reshape."""

    def reshaped(
        self, op: Operation, value: SSAValue, shape: Sequence[int], builder: Builder
    ) -> SSAValue:
        return insert_reshape(value, shape, op.location, builder)
