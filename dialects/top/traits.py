"""The traits of `top` ops, which other dialects share."""

from xdsl_tpu.dialects.traits import (
    InOutSameShape,
    OwnResult,
    ScalarConsumer,
    ScalarProducer,
    ShapeConsumer,
    ShapeProducer,
    StoredValues,
    SupportConstant,
    SupportEarlyStride,
    SupportElementwise,
    SupportFuseRelu,
    SupportPermuteMove,
)

__all__ = [
    "InOutSameShape",
    "OwnResult",
    "ScalarConsumer",
    "ScalarProducer",
    "ShapeConsumer",
    "ShapeProducer",
    "StoredValues",
    "SupportConstant",
    "SupportEarlyStride",
    "SupportElementwise",
    "SupportFuseRelu",
    "SupportPermuteMove",
]
