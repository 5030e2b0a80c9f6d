"""How `oneflow` ops behave under a change of layout: the traits of `interfaces/layout.py`.

Convolutions, pools and group_norm say their layout in `data_format`; normalization and bias_add
show it by their `axis`. Ops on a CPU keep their layout, as OneFlow has no channel-last kernels
there. Dropout and random masks have no trait: their masks depend on the order of elements.
"""

from xdsl_tpu.dialects.oneflow.layout.axes import (
    AxisLayout,
    ChannelAxisLayout,
    LayerNormLayout,
    NarrowLayout,
    ReduceLayout,
)
from xdsl_tpu.dialects.oneflow.layout.constant import ElementsLayout, VariableLayout
from xdsl_tpu.dialects.oneflow.layout.elementwise import (
    BroadcastLayout,
    SameShapeLayout,
    UnaryLayout,
)
from xdsl_tpu.dialects.oneflow.layout.formats import ConvLayout, GroupNormLayout, PoolLayout
from xdsl_tpu.dialects.oneflow.layout.matmul import ProductLayout
from xdsl_tpu.dialects.oneflow.layout.transpose import TransposeAbsorbs, TransposeOrder
from xdsl_tpu.dialects.oneflow.layout.views import ViewLayout

__all__ = [
    "AxisLayout",
    "BroadcastLayout",
    "ChannelAxisLayout",
    "ConvLayout",
    "ElementsLayout",
    "GroupNormLayout",
    "LayerNormLayout",
    "NarrowLayout",
    "PoolLayout",
    "ProductLayout",
    "ReduceLayout",
    "SameShapeLayout",
    "TransposeAbsorbs",
    "TransposeOrder",
    "UnaryLayout",
    "VariableLayout",
    "ViewLayout",
]
