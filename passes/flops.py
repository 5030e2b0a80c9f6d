"""How many floating-point operations an op of `top` counts for.

The counts are those that `module.FLOPs` of the vendor's compiler adds up, so that figures can be
compared: a multiply-accumulate counts as two, a bias and a relu as one an element, and the other
ops as a fixed number an element. Moving data counts as none.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from xdsl.ir import Operation

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.top.abstract import FusedReluOp
from xdsl_tpu.passes.tensors import shape_of


def flops(op: Operation) -> int:
    """The operations of one op of known shapes; 0 for ops that are not counted."""
    if (per_element := _PER_ELEMENT.get(type(op))) is None:
        return 0
    relu = isinstance(op, FusedReluOp) and bool(op.do_relu.value.data)
    return prod(shape_of(op.results[0])) * (per_element(op) + relu)


def _conv(op: top.ConvOp | top.DeconvOp) -> int:
    macs = prod(ints(op.kernel_shape)) * shape_of(op.filter)[1]
    return 2 * macs + (not is_none(op.bias))


def _matmul(op: top.MatMulOp) -> int:
    columns = shape_of(op.input)
    depth = columns[-2] if op.left_transpose.value.data else columns[-1]
    return 2 * depth + (not is_none(op.bias))


def _pool(op: top.AvgPoolOp | top.MaxPoolOp) -> int:
    return prod(ints(op.kernel_shape))


def _inputs_but_one(op: top.AddOp | top.SubOp | top.MulOp) -> int:
    return len(op.inputs) - 1


def _fixed(count: int) -> Callable[[Operation], int]:
    return lambda op: count


# Any: each function takes the classes it stands beside.
_PER_ELEMENT: Mapping[type[Operation], Callable[[Any], int]] = {
    top.AddConstOp: _fixed(1),
    top.AddOp: _inputs_but_one,
    top.AvgPoolOp: _pool,
    top.ConvOp: _conv,
    top.DeconvOp: _conv,
    top.DivOp: _fixed(1),
    top.GELUOp: _fixed(5),
    top.LayerNormOp: _fixed(10),
    top.MatMulOp: _matmul,
    top.MaxPoolOp: _pool,
    top.MulConstOp: _fixed(1),
    top.MulOp: _inputs_but_one,
    top.ReduceOp: _fixed(1),
    top.ReluOp: _fixed(1),
    top.ScaleOp: _fixed(2),
    top.SiLUOp: _fixed(5),
    top.SigmoidOp: _fixed(4),
    top.SoftmaxOp: _fixed(5),
    top.SubOp: _inputs_but_one,
}
