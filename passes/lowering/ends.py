"""Where numbers end: in functions that have no use for large ones, or in a sum before that.

    Add(scores, mask) -> Reshape -> Softmax    what the Add gives is bounded, the mask added

It decides what a number beyond f16 may become: its largest, if all that reads it is bounded.
"""

from collections.abc import Callable, Iterable, Iterator

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


Kind = Callable[[Operation], bool]


class _Where:
    """Whether all that reads a value is an `end`, or `carries` its numbers to such; each op of a
    function that does not change meanwhile is asked once."""

    def __init__(self, end: Kind, carries: Kind) -> None:
        self._end, self._carries = end, carries
        self._known: dict[Operation, bool] = {}

    def leads(self, value: SSAValue) -> bool:
        """The answer for a value."""
        return all_readers(value, self._is_fine)

    def _is_fine(self, user: Operation) -> bool:
        if self._end(user):
            return True
        return self._carries(user) and self._answer(user)

    def _answer(self, op: Operation) -> bool:
        """Readers are asked before what they read: sums follow each other through a network, which
        may be deeper than calls may be."""
        waiting = [op]
        while waiting:
            first = waiting[-1]
            behind = [] if first in self._known else list(self._open(first))
            if behind:
                waiting += behind
                continue
            waiting.pop()
            if first not in self._known:
                read = [result for result in first.results if result.first_use is not None]
                self._known[first] = bool(read) and all(map(self.leads, read))
        return self._known[op]

    def _open(self, op: Operation) -> Iterator[Operation]:
        """The readers of an op of which nothing is known yet."""
        for user in (use.operation for result in op.results for use in result.uses):
            if not self._end(user) and self._carries(user) and user not in self._known:
                yield user


class Ends:
    """Answers about the values of a function that does not change meanwhile, each found once."""

    def __init__(self) -> None:
        def carries(op: Operation) -> bool:
            return isinstance(op, CARRIERS) and is_float_op(op)

        self._bounds = _Where(lambda op: isinstance(op, BOUNDED), carries)
        self._shares = _Where(lambda op: isinstance(op, top.SoftmaxOp), carries)
        self._adds = _Where(
            is_sum, lambda op: isinstance(op, (*MOVES, *CHOICES)) and is_float_op(op)
        )

    def is_bounded(self, value: SSAValue) -> bool:
        """Whether all that reads a value is bounded, or carries its numbers to what is."""
        return self._bounds.leads(value)

    def is_shared(self, value: SSAValue) -> bool:
        """Whether all that reads a value is a Softmax, or carries its numbers to one: to those half
        the largest number is as good as all of it, which a comparison might tell."""
        return self._shares.leads(value)

    def is_added(self, value: SSAValue) -> bool:
        """Whether all that reads a value is a sum, or moves its numbers to one."""
        return self._adds.leads(value)

    def is_mask(self, value: SSAValue) -> bool:
        """Whether a value is added to what only bounded functions read."""
        return self.is_bounded(value) and self.is_added(value)


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
