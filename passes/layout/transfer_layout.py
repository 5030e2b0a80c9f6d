"""The pass `transfer-layout`."""

import sys
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    LayoutConstant,
    LayoutTranspose,
    moves_data,
    tensor_shape,
)
from xdsl_tpu.dialects.interfaces.shape import dims
from xdsl_tpu.passes.layout.choices import describe
from xdsl_tpu.passes.layout.costs import CopyCosts
from xdsl_tpu.passes.layout.count import moved_bytes, transpositions
from xdsl_tpu.passes.layout.greedy import greedy_labels
from xdsl_tpu.passes.layout.labels import turned
from xdsl_tpu.passes.layout.min_cut import NoSolutionError, Solution, minimum_cut
from xdsl_tpu.passes.layout.model import Model, build_model
from xdsl_tpu.passes.layout.problem import LayoutError, needs_copy
from xdsl_tpu.passes.layout.rewrite import apply_labels

TARGETS = {"NCHW": Layout.CHANNEL_FIRST, "NHWC": Layout.CHANNEL_LAST}
WORDS = {Layout.CHANNEL_FIRST: "channel-first", Layout.CHANNEL_LAST: "channel-last"}


@dataclass(frozen=True)
class TransferLayoutPass(ModulePass):
    """Give every op the layout with which the whole program transposes least.

        x -> to NHWC -> conv(NHWC) -> to NCHW -> relu -> to NHWC -> conv(NHWC) -> to NCHW
        becomes x -> to NHWC -> conv(NHWC) -> relu -> conv(NHWC) -> to NCHW

    Ops that are faster in one layout get `target`, where they can be rewritten; inputs, results
    and ops bound to a layout keep theirs. All others are chosen such that the transpositions
    that remain cost least: their number, their bytes, or the cycles of their kernels on `chip`
    with elements of `mode` (`cost`). With `min-cut` that is the optimum, with `greedy` an op
    follows the first operand that comes in the target layout, for comparison.

    `explain` lists on standard error what remains, and which ops force it; transpositions that
    are not from one layout to the other are no matter of this pass, and listed as such.
    """

    name = "transfer-layout"

    target: Literal["NCHW", "NHWC"] = "NCHW"
    strategy: Literal["min-cut", "greedy"] = "min-cut"
    cost: Literal["count", "bytes", "cycles"] = "count"
    explain: bool = False
    chip: str = "bm1684x"
    mode: Literal["F32", "F16", "BF16"] = "F16"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        before = transpositions(op)
        target = TARGETS[self.target]
        model = build_model(op, CopyCosts.of(self.cost, self.chip, self.mode), target)
        labels, solution = self._solve(model, target)
        lines = list(remaining(model, labels, solution)) if self.explain else []
        copies = apply_labels(model, labels)
        if self.explain:
            lines += _unrelated(op, copies)
            head = f"{self.name}: {before}, with {self.strategy} {transpositions(op)}"
            print("\n".join([head, *lines]), file=sys.stderr)

    def _solve(self, model: Model, target: Layout) -> tuple[Sequence[int], Solution | None]:
        try:
            solution = minimum_cut(model.problem, target)
        except NoSolutionError as error:
            raise LayoutError(_contradiction(self.name, model, error)) from error
        if self.strategy == "greedy":
            return greedy_labels(model.problem, model.current, target), None
        return solution.labels, solution


def _contradiction(name: str, model: Model, error: NoSolutionError) -> str:
    zero, one = (describe(model.ops[variable]) for variable in (error.zero, error.one))
    return (
        f"{name}: no solution: {zero} must be channel-first and {one} channel-last, but the "
        "values between them cannot be transposed; transpose one side by hand, or choose the "
        "other target"
    )


def remaining(model: Model, labels: Sequence[int], solution: Solution | None) -> Iterator[str]:
    """Lines on each transposition that the labels need, with the ops that force it.

    These are the ends of a path of flow through the copy: as long as both have the layouts they
    have, a copy is needed somewhere between them. Without a solution (of the minimum cut) they
    are the ops at both ends of the value.
    """
    for number, (source, tensor) in enumerate(
        zip(model.tensors, model.problem.tensors, strict=True)
    ):
        shape = tensor_shape(source.type)
        if not needs_copy(tensor, labels) or shape is None or _is_free(model, source):
            continue
        made = Layout(labels[tensor.producer])
        if solution is None:
            readers = (reader.variable for reader in tensor.readers)
            other = next(reader for reader in readers if labels[reader] != made)
            ends = (tensor.producer, other)[:: -1 if made else 1]
        else:
            ends = solution.forced_by(number, tensor.producer)
        zero, one = ("a preference" if end is None else describe(model.ops[end]) for end in ends)
        yield (
            f"  {_maker(source)}, {dims(shape)}: {WORDS[made]} to {WORDS[made.other]}, "
            f"between {zero} (channel-first) and {one} (channel-last)"
        )


def _unrelated(module: ModuleOp, copies: Set[Operation]) -> Iterator[str]:
    """Lines on transpositions that are not from one layout to the other."""
    for op in module.walk():
        if moved_bytes(op) and op not in copies:
            trait, shape = LayoutTranspose.of(op), tensor_shape(op.operands[0].type)
            assert trait is not None
            order = ", ".join(map(str, trait.order(op) or ()))
            yield f"  {describe(op)}, {dims(shape or ())}: order ({order}), no change of layout"


def _is_free(model: Model, source: SSAValue) -> bool:
    """Whether transposing a value moves nothing while the network runs."""
    shape, order = tensor_shape(source.type), turned(source, model.forms[source])
    constant = isinstance(source, OpResult) and LayoutConstant.of(source.op) is not None
    return constant or shape is None or order is None or not moves_data(shape, order)


def _maker(value: SSAValue) -> str:
    if isinstance(value, OpResult):
        return describe(value.op)
    return f"argument {value.index}" if isinstance(value, BlockArgument) else str(value)
