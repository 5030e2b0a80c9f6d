"""When each tensor of a function is needed."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.first_fit import Buffer
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.address_assign.views import needed_for, root_of, under_another_shape
from xdsl_tpu.passes.tensors import size_in_bytes

BEFORE_ALL = -1
"""The step at which the host has written the inputs."""


@dataclass(frozen=True)
class Lifetimes:
    """The tensors of a function that own bytes, each with its buffer (same order).

    Arguments are live from before the first op to their last use, returned tensors to the end,
    scratch (`tpu.Buffer`) only while its users run. A tensor lives as long as its views.
    """

    values: tuple[SSAValue, ...]
    buffers: tuple[Buffer, ...]


def lifetimes(
    func: FuncOp,
    apart: Collection[SSAValue] = (),
    room: Callable[[SSAValue], int] = size_in_bytes,
) -> Lifetimes:
    """The lifetimes in program order; a step is the position of an op in the function.

    Tensors in `apart` have bytes elsewhere and are left out. `room` says how many a tensor takes,
    which for one that lies as in the lanes is more than its elements.
    """
    block = func.body.block
    steps = {op: step for step, op in enumerate(block.ops)}
    end = len(steps)
    first: dict[SSAValue, int] = dict.fromkeys(block.args, BEFORE_ALL)
    last: dict[SSAValue, int] = dict(first)
    needed = cache(_all_needed)  # many ops may read one value
    for op, step in steps.items():
        for operand in op.operands:
            for root in needed(operand):
                if root in last:
                    last[root] = end if isinstance(op, ReturnOp) else step
        for result in op.results:
            if isinstance(op, tpu.JoinOp):
                first[result] = min(_made(under_another_shape(part), steps) for part in op.inputs)
                last[result] = step
            elif _owns_bytes(result, op):
                first[result] = last[result] = step
                if isinstance(op, tpu.BufferOp):
                    first[result] = last[result] = _first_use(op, steps)
    for value in apart:
        first.pop(value, None)
    return Lifetimes(
        tuple(first),
        tuple(
            Buffer(name_of(value) or "?", room(value), begin, max(begin, last[value]))
            for value, begin in first.items()
        ),
    )


def _all_needed(value: SSAValue) -> tuple[SSAValue, ...]:
    return tuple(needed_for(value))


def _owns_bytes(value: SSAValue, op: Operation) -> bool:
    if not isinstance(value.type, TensorType) or isinstance(op, top.WeightOp):
        return False
    return root_of(value).source is value


def _made(value: SSAValue, steps: dict[Operation, int]) -> int:
    return steps[value.owner] if isinstance(value.owner, Operation) else BEFORE_ALL


def _first_use(buffer: tpu.BufferOp, steps: dict[Operation, int]) -> int:
    return min((steps[use.operation] for use in buffer.output.uses), default=steps[buffer])
