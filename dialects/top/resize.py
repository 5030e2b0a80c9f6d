"""Resizing and sampling of images."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp
from xdsl_tpu.dialects.top.abstract import FusedReluOp
from xdsl_tpu.dialects.top.enums import INTERP_COORD_MODE, INTERP_MODE
from xdsl_tpu.dialects.top.traits import SupportFuseRelu


@irdl_op_definition
class UpsampleOp(FusedReluOp):
    """Nearest upsample by integer scale."""

    name = "top.Upsample"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    scale_h = attr_def(I64_INT)
    scale_w = attr_def(I64_INT)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class InterpOp(NamedOp):
    """Resize (nearest / linear) with coordinate mode."""

    name = "top.Interp"

    input = operand_def(TENSOR)
    target_shape = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    mode = attr_def(INTERP_MODE)
    coord_mode = attr_def(INTERP_COORD_MODE)
    scale_h = default_attr_def(F64, -1.0)
    scale_w = default_attr_def(F64, -1.0)

    traits = traits_def(Pure())


@irdl_op_definition
class GridSamplerOp(NamedOp):
    """Grid sample (bilinear/nearest, padding mode)."""

    name = "top.GridSampler"

    input = operand_def(TENSOR)
    grid = operand_def(TENSOR)
    output = result_def(TENSOR)
    mode = attr_def(I64_INT)
    padding_mode = attr_def(I64_INT)
    align_corners = attr_def(BOOL)

    traits = traits_def(Pure())
