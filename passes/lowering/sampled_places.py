"""Places that an image is sampled at: in floats up to what computes them.

    MatMul (offsets) -> Mul -> Add(points) -> GridSampler    all behind the MatMul in F16

-1 to 1 spans the image, and often more is asked for than the image has: a step of 8 bits
would be as far as half a pixel of a small one, where f16 is off by a fiftieth at most.
"""

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.lowering.between_floats import LIGHT

SAMPLERS = (top.GridSamplerOp, top.SampledSumOp)
"""Ops whose operand `grid` has places."""

PASSED = (*LIGHT, top.ClipOp, top.DivOp)
"""Arithmetic and movement through which a place remains one."""


def sampled_places(func: FuncOp) -> set[Operation]:
    """The ops between what places are computed of and the ops that sample an image at them.

    Products and inputs of the network, where these begin, keep their format: offsets by themselves
    have smaller ranges.
    """
    found = set[Operation]()
    for op in func.body.block.ops:
        if isinstance(op, SAMPLERS):
            _mark(op.grid, found)
    return found


def _mark(value: SSAValue, found: set[Operation]) -> None:
    op = value.owner
    if isinstance(op, PASSED) and op not in found:
        found.add(op)
        for operand in op.operands:
            _mark(operand, found)
