"""Arrays of weights in the element types of the IR, and weight ops that change with their data."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.builder import Builder
from xdsl.dialects.builtin import Float16Type, IntegerType, Signedness, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.weights import Weights, as_float32, from_float32
from xdsl_tpu.passes.half_range import LARGEST, magnitude
from xdsl_tpu.passes.tensors import element_of, required_name, shape_of

Array = npt.NDArray[Any]
Change = Callable[[Array], Array]


def as_numbers(stored: Array, element: Attribute) -> Array:
    """A stored array as numbers: integers as they are, all else in float32."""
    return stored if isinstance(element, IntegerType) else as_float32(stored, element)


def stored_as(values: Array, element: Attribute, *, clip: bool = False) -> Array:
    """`values` as the weight file holds them for an element type: rounded, integers truncated.

    `clip` keeps f16 within the finite range; else values beyond it become infinite.
    """
    if isinstance(element, IntegerType):
        unsigned = element == IntegerType(element.bitwidth, Signedness.UNSIGNED)
        return values.astype(np.dtype(f"{'u' if unsigned else 'i'}{element.bitwidth // 8}"))
    if clip and isinstance(element, Float16Type):
        limit = np.float32(LARGEST)
        if not magnitude(values) <= limit:
            values = np.clip(values, -limit, limit)
    return from_float32(values.astype(np.float32, copy=False), element)


def change_weight(
    op: Operation,
    place: int,
    shape: Sequence[int],
    change: Change,
    weights: Weights | None,
    *,
    name: str | None = None,
    element: Attribute | None = None,
) -> None:
    """Give `op` a changed version of the weight at operand `place`.

    `change` maps the array, in the shape of the old weight's type, to the new one of `shape`.
    Other users of the weight keep the old one. The new weight stands where the old one stood when
    nobody else uses that, and is called `name`, by default as before (with the op's name added
    when the old one stays).
    """
    value = op.operands[place]
    weight = value.owner
    assert isinstance(weight, top.WeightOp)
    old_name = required_name(weight)
    shared = not value.has_one_use()
    new_name = name or (f"{old_name}_for_{required_name(op)}" if shared else old_name)
    result_type = TensorType(element or element_of(value), shape)
    new = top.WeightOp.make(new_name, (), result_types=(result_type,))
    new.attributes = dict(weight.attributes)
    Builder(InsertPoint.before(op if shared else weight)).insert(new)
    if weights is not None:
        changed = change(weights[old_name].reshape(shape_of(value)))
        if not shared:
            weights.pop(old_name)
        weights[new_name] = changed.reshape(shape)
    op.operands[place] = new.output
    if not shared:
        weight.detach()
        weight.erase()
