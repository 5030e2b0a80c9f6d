"""What the pattern families share."""

from collections.abc import Sequence

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import floats
from xdsl_tpu.dialects.top.abstract import FusedReluOp
from xdsl_tpu.passes.graph import tensor_like


def has_relu(op: FusedReluOp) -> bool:
    """Whether the op ends with a relu of its own."""
    return bool(op.do_relu.value.data)


def unit_coefficients(op: top.AddOp | top.SubOp) -> bool:
    """Whether all inputs count with the factor 1."""
    return op.coeff is None or all(factor == 1.0 for factor in floats(op.coeff))


def reshape(name: str | LocationAttr, value: SSAValue, shape: Sequence[int]) -> top.ReshapeOp:
    """`value` under another shape, which is in the result's type."""
    return top.ReshapeOp.make(name, (value,), result_types=[tensor_like(value, shape)])
