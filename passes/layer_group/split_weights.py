"""Marking weights that are loaded slice by slice (docs/hardware/groups.md#weights-in-slices)."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.attrs import I64_ARRAY
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen
from xdsl_tpu.dialects.top import WeightOp
from xdsl_tpu.passes.tensors import shape_of


def mark_split_weights(ops: Sequence[Operation]) -> list[WeightOp]:
    """Give `allow_split = [1, ..]` to weights whose users all take them slice by slice.

        Add(1x49x3x49, Weight 1x49x3x49)  ->  Weight {allow_split = [1, 1, 1, 1]}

    Without it a weight is loaded as a whole and held for all slices. Returns the marked ops.
    """
    weights = dict.fromkeys(
        value.owner for op in ops for value in op.operands if isinstance(value.owner, WeightOp)
    )
    marked = [weight for weight in weights if _splits(weight.output)]
    for weight in marked:
        weight.allow_split = I64_ARRAY.encode([1] * len(shape_of(weight.output)))
    return marked


def _splits(weight: SSAValue) -> bool:
    return all(
        isinstance(use.operation, LocalGen) and use.index in use.operation.split_weights()
        for use in weight.uses
    )
