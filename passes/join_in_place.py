"""The pass `join-in-place`."""

import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.address_assign.views import RESHAPES, view_of
from xdsl_tpu.passes.tensors import element_bytes, required_name, shape_of

UNIT = 4
"""What addresses of parts are multiples of."""


@dataclass(frozen=True)
class JoinInPlacePass(ModulePass):
    """Have what a Concat in DDR joins stored where it lies in the result.

        %2 = "tpu.Concat"(%0, %1) {axis = 1} : 1x1178x24x64
      ->
        %2 = "tpu.Join"(%0, %1) {axis = 1} : 1x1178x24x64

    Nothing is moved then: `address-assign` gives the operands places in the result. That takes
    operands that are computed for the Concat alone and, as no more than elements of dimensions of
    size 1 lie in front of the axis, one run of bytes each, which begins at a multiple of 4. Concats
    in layer groups stay.
    """

    name = "join-in-place"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _, _, func = divided_parts(op)
        for concat in list(func.body.block.ops):
            if not isinstance(concat, tpu.ConcatOp) or not lies_side_by_side(concat):
                continue
            if all(map(has_own_bytes, concat.inputs)):
                joined = tpu.JoinOp.make(
                    required_name(concat),
                    concat.inputs,
                    result_types=[concat.output.type],
                    axis=concat.axis.value.data,
                )
                Rewriter.replace_op(concat, joined)


def lies_side_by_side(concat: tpu.ConcatOp, size: int | None = None) -> bool:
    """Whether each operand of a Concat is one run of bytes of its result, whose elements have
    `size` bytes, by default their own, and begins at a multiple of 4."""
    shape, axis = shape_of(concat.output), concat.axis.value.data
    if concat.do_relu.value.data or concat.multipliers is not None or math.prod(shape[:axis]) > 1:
        return False
    row = math.prod(shape[axis + 1 :]) * (size or element_bytes(concat.output))
    starts = [shape_of(part)[axis] * row for part in concat.inputs[:-1]]
    return bool(starts) and all(start % UNIT == 0 for start in starts)


def has_own_bytes(value: SSAValue) -> bool:
    """Whether something computes a value, perhaps in another shape, for one reader alone: inputs
    and weights lie elsewhere."""
    while isinstance(value.owner, RESHAPES) and value.has_one_use():
        value = value.owner.input
    given = not isinstance(value.owner, Operation) or isinstance(
        value.owner, top.InputOp | top.WeightOp
    )
    return not given and value.has_one_use() and view_of(value) is None
