"""How `top` ops behave under a change of layout: the traits of `interfaces/layout.py`.

Convolutions, pools and all that work channel by channel have no attribute for the layout, so
they are channel-first; a channel-last network is transpositions around each of them.
"""

from xdsl_tpu.dialects.top.layout.axes import (
    ArgLayout,
    AxisLayout,
    PadLayout,
    ReduceLayout,
    RotationLayout,
    SliceLayout,
)
from xdsl_tpu.dialects.top.layout.base import ChannelFirst
from xdsl_tpu.dialects.top.layout.constant import WeightLayout
from xdsl_tpu.dialects.top.layout.elementwise import Elementwise, ElementwiseUnary
from xdsl_tpu.dialects.top.layout.matmul import MatMulLayout
from xdsl_tpu.dialects.top.layout.norm import LayerNormLayout
from xdsl_tpu.dialects.top.layout.permute import (
    PermuteAbsorbs,
    PermuteOrder,
    TransposeOrder,
)
from xdsl_tpu.dialects.top.layout.regions import IfLayout, LoopLayout
from xdsl_tpu.dialects.top.layout.views import ViewLayout

__all__ = [
    "ArgLayout",
    "AxisLayout",
    "ChannelFirst",
    "Elementwise",
    "ElementwiseUnary",
    "IfLayout",
    "LayerNormLayout",
    "LoopLayout",
    "MatMulLayout",
    "PadLayout",
    "PermuteAbsorbs",
    "PermuteOrder",
    "ReduceLayout",
    "RotationLayout",
    "SliceLayout",
    "TransposeOrder",
    "ViewLayout",
    "WeightLayout",
]
