"""What orders of elements are made of: the best along an axis, and positions as results."""

from xdsl.ir import Attribute, SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.integers import INTEGER, is_integer_tensor
from xdsl_tpu.passes.lowering.context import F32
from xdsl_tpu.passes.lowering.integer_steps import reduced_integers
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import element_of, shape_of


def best_along(
    do: Steps, label: str, value: SSAValue, axis: int, mode: str, element: Attribute = F32
) -> SSAValue:
    """The largest, smallest or sum of elements along an axis, which stays as 1; of floats in
    `element`."""
    if is_integer_tensor(value):
        return reduced_integers(do, label, value, [axis], mode)
    return do.reduced(label, value, axis, mode, element)


def positions(do: Steps, found: SSAValue, result: int) -> SSAValue:
    """Positions in floats as a result of the op."""
    old = do.op.results[result]
    shape = list(shape_of(old))
    if element_of(found) != F32:
        found = do.step(f"whole{result}", tpu.CastOp, [found], shape_of(found))
    if not is_integer_tensor(old):
        return do.last(tpu.ReshapeOp, [found], result=result, shape=shape)
    shaped = do.reshaped(f"positions{result}", found, shape, F32)
    return do.last(tpu.CastOp, [shaped], INTEGER, result=result)
