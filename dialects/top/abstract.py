"""What families of `top` ops have in common."""

from abc import ABC

from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, NamedOp
from xdsl_tpu.dialects.top.traits import InOutSameShape, SupportElementwise


class FusedReluOp(NamedOp, ABC):
    """An op that can end with a ReLU: `do_relu`, clipped at `relu_limit` unless negative."""

    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)


class UnaryOp(NamedOp, ABC):
    """One tensor in, one of the same shape out."""

    input = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure(), InOutSameShape())


class BroadcastOp(NamedOp, ABC):
    """Element by element over tensors of broadcastable shapes (numpy's rules)."""

    traits = traits_def(Pure(), SupportElementwise())
