"""Where numbers end: in functions that have no use for large ones, or in a sum before that.

    Add(scores, mask) -> Reshape -> Softmax    what the Add gives is bounded, the mask added

It decides what a number beyond f16 may become: its largest, if all that reads it is bounded.
"""

from collections.abc import Callable, Iterable

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.tensors import is_weight

MOVES = (
    *(top.CastOp, top.ConcatOp, top.Depth2SpaceOp, top.FlattenOp, top.GatherOp, top.GatherNDOp),
    *(top.GatherElementsOp, top.PadOp, top.PermuteOp, top.ReshapeOp, top.ReverseOp, top.SliceOp),
    *(top.SplitOp, top.SqueezeOp, top.SwapDimInnerOp, top.TileOp, top.UnsqueezeOp, top.UpsampleOp),
)
"""Ops that move numbers and change none."""

CHOICES = (top.MaskedFillOp, top.MaxOp, top.MaxConstOp, top.MinOp, top.MinConstOp, top.WhereOp)
SUMS = (top.AddOp, top.SubOp)
CARRIERS = (
    *(*MOVES, *CHOICES, *SUMS, top.AddConstOp, top.SubConstOp, top.MulConstOp, top.ReluOp),
    top.ClipOp,
)
"""Ops through which a saturated number stays one."""

BOUNDED = (
    *(top.ArgOp, top.CompareOp, top.CompareConstOp, top.ErfOp, top.HardSigmoidOp, top.LogicalAndOp),
    *(top.SigmoidOp, top.SignOp, top.SoftmaxOp, top.SoftsignOp, top.TanhOp),
)
"""Functions that give the same for 65504 as for anything beyond."""


class Ends:
    """Answers about the values of a function that does not change meanwhile, each found once."""

    def __init__(self) -> None:
        self._bounded: dict[Operation, bool] = {}
        self._added: dict[Operation, bool] = {}

    def is_bounded(self, value: SSAValue) -> bool:
        """Whether all that reads a value is bounded, or carries its numbers to what is."""
        return all_readers(value, self._bounds)

    def is_added(self, value: SSAValue) -> bool:
        """Whether all that reads a value is a sum, or moves its numbers to one."""
        return all_readers(value, self._adds)

    def is_mask(self, value: SSAValue) -> bool:
        """Whether a value is added to what only bounded functions read."""
        return self.is_bounded(value) and self.is_added(value)

    def _bounds(self, user: Operation) -> bool:
        if isinstance(user, BOUNDED):
            return True
        carries = isinstance(user, CARRIERS) and is_float_op(user)
        return carries and self._of_results(user, self._bounded, self.is_bounded)

    def _adds(self, user: Operation) -> bool:
        if is_sum(user):
            return True
        carries = isinstance(user, (*MOVES, *CHOICES)) and is_float_op(user)
        return carries and self._of_results(user, self._added, self.is_added)

    @staticmethod
    def _of_results(
        op: Operation, known: dict[Operation, bool], holds_for: Callable[[SSAValue], bool]
    ) -> bool:
        if op not in known:
            read = [result for result in op.results if result.first_use is not None]
            known[op] = bool(read) and all(map(holds_for, read))
        return known[op]


def bounded_names(ops: Iterable[Operation]) -> frozenset[str]:
    """What of the results of a function's ops, by name, only bounded functions read in the end."""
    ends = Ends()
    computed = (result for op in ops if is_float_op(op) for result in op.results)
    names = (name_of(value) for value in computed if ends.is_bounded(value))
    return frozenset(name for name in names if name is not None)


def all_readers(value: SSAValue, holds_for: Callable[[Operation], bool]) -> bool:
    """Whether a value is read, and all ops that read it are such."""
    users = [use.operation for use in value.uses]
    return bool(users) and all(map(holds_for, users))


def is_float_op(op: Operation) -> bool:
    """Whether an op of top IR computes floats: no input, weight, or op on integers."""
    if op.dialect_name() != top.Top.name or not op.results:
        return False
    if isinstance(op, top.InputOp | top.WeightOp | top.NoneOp):
        return False
    return not is_integer_tensor(op.results[0])


def is_sum(op: Operation) -> bool:
    """Whether an op adds what is computed to what is computed."""
    return isinstance(op, SUMS) and sum(not is_weight(value) for value in op.inputs) > 1
