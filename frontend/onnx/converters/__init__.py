"""ONNX ops to `top` ops: one table, put together from one file per family."""

from xdsl_tpu.frontend.onnx.converters import (
    activation,
    conv,
    elementwise,
    index,
    matmul,
    norm,
    pool,
    quantize,
    recurrent,
    reduce,
    resize,
    shape,
)
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter

CONVERTERS: dict[str, Converter] = {
    **activation.CONVERTERS,
    **conv.CONVERTERS,
    **elementwise.CONVERTERS,
    **index.CONVERTERS,
    **matmul.CONVERTERS,
    **norm.CONVERTERS,
    **pool.CONVERTERS,
    **quantize.CONVERTERS,
    **recurrent.CONVERTERS,
    **reduce.CONVERTERS,
    **resize.CONVERTERS,
    **shape.CONVERTERS,
}
"""ONNX op type to the function that converts such a node. Fused idioms have types of their own."""

__all__ = ["CONVERTERS", "Context", "Converter"]
