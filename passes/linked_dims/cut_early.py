"""The pass `cut-early`."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.passes.canonicalize.slice import is_static, set_cuts
from xdsl_tpu.passes.canonicalize.split import slice_along
from xdsl_tpu.passes.constants import is_known, known_values, make_weight
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    is_returned,
    none_before,
    tensor_like,
    users,
)
from xdsl_tpu.passes.linked_dims.region import MOVES, Part, Region
from xdsl_tpu.passes.tensors import (
    element_of,
    functions,
    is_weight,
    required_name,
    shape_of,
)

LEAST_GAIN = 2
"""A dimension is cut early to at most one in so many of it: the parts are moved once more."""


@dataclass(frozen=True)
class CutEarlyPass(ModulePass):
    """Compute only those rows of the last products that a Slice or a Gather leaves.

        %1 = "top.MatMul"(%0, %w) : (1x197x768, 768x192) -> 1x197x192
        %2 = "top.LayerNorm"(%1) {axis = 2} : 1x197x192 -> 1x197x192
        %3 = "top.Slice"(%2) {offset = [0, 0, 0], ends = [1, 1, 192]} : 1x197x192 -> 1x1x192
      ->
        %r = "top.Slice"(%0) {offset = [0, 0, 0], ends = [1, 1, 768]} : 1x197x768 -> 1x1x768
        %1 = "top.MatMul"(%r, %w) : (1x1x768, 768x192) -> 1x1x192
        %2 = "top.LayerNorm"(%1) {axis = 2} : 1x1x192 -> 1x1x192

    Classifiers on class tokens and decoders that only say the next token read one row of what
    their last block makes of all. The part is cut in front of all ops whose results nothing else
    reads: element-wise ops, norms, Softmax, products along their rows, and what moves these.
    Several Slices of one value along one dimension count as one from the first to the last of
    their elements. There must be a product among the ops, and the part be at most half.

    The same for the rows that TopK chose, as detectors do with boxes: a Gather of what ops make is
    one of each value they are made of, if these are at most half as many elements together.

        %2 = "top.Add"(%0, %1) : (1x8400x4, 1x8400x4) -> 1x8400x4
        %3 = "top.Gather"(%2, %i) {axis = 1} : (1x8400x4, 300) -> 1x300x4
      ->
        %0c = "top.Gather"(%0, %i) {axis = 1} : (1x8400x4, 300) -> 1x300x4
        %1c = "top.Gather"(%1, %i) {axis = 1} : (1x8400x4, 300) -> 1x300x4
        %3 = "top.Add"(%0c, %1c) : (1x300x4, 1x300x4) -> 1x300x4
    """

    name = "cut-early"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            block = func.body.block
            for value, axis, part in list(_partly_read(block)):
                found = Region.behind(value, axis).without_first_moves()
                if any(isinstance(one, top.MatMulOp) for one in found.axes):
                    _read_part(found.cut(value, _Sliced(part)), value, axis, part)
                    found.erase()
            for gather in reversed([one for one in block.ops if isinstance(one, top.GatherOp)]):
                _gather_early(gather)


def _partly_read(block: Block) -> Iterator[tuple[SSAValue, int, Cut]]:
    """Values that are only read by Slices along one dimension, and what these take of it."""
    slices = (op for op in reversed(list(block.ops)) if isinstance(op, top.SliceOp))
    for value in dict.fromkeys(op.input for op in slices):
        readers = [one for one in users(value) if isinstance(one, top.SliceOp) and is_static(one)]
        if len(readers) < len(users(value)):
            continue
        shape = shape_of(value)
        whole = [Cut(0, size, 1) for size in shape]
        cuts = [list(one.cuts()) for one in readers]
        axes = {axis for cut in cuts for axis, own in enumerate(cut) if own != whole[axis]}
        if len(axes) != 1:
            continue
        (axis,) = axes
        parts = [cut[axis] for cut in cuts]
        if any(part.step < 0 or not part.count for part in parts):
            continue
        first = min(part.first for part in parts)
        count = max(part.first + (part.count - 1) * part.step + 1 for part in parts) - first
        if LEAST_GAIN * count <= shape[axis]:
            yield value, axis, Cut(first, count, 1)


@dataclass(frozen=True)
class _Sliced(Part):
    """Elements beside each other."""

    taken: Cut

    @property
    def count(self) -> int:
        return self.taken.count

    def of(self, value: SSAValue, axis: int, reader: Operation) -> SSAValue:
        return _cut(value, axis, self.taken, reader)


@dataclass(frozen=True)
class _Gathered(Part):
    """Elements that are chosen when the network runs, as by TopK: those that `op` gathers."""

    op: top.GatherOp

    @property
    def count(self) -> int:
        return shape_of(self.op.indices)[0]

    def of(self, value: SSAValue, axis: int, reader: Operation) -> SSAValue:
        shape = shape_of(value)
        made = top.GatherOp.make(
            derived_name(value, f"_r_chosen_for_{required_name(self.op)}"),
            (value, self.op.indices),
            result_types=[tensor_like(value, (*shape[:axis], self.count, *shape[axis + 1 :]))],
            axis=axis,
        )
        Builder(InsertPoint.before(reader)).insert(made)
        return made.output


def _gather_early(op: top.GatherOp) -> None:
    """Gather what elements are made of in their stead, if nothing else reads them."""
    value, indices = op.input, op.indices
    if not has_shapes(value, indices) or not op.keepdims.value.data or not value.has_one_use():
        return
    if len(shape_of(indices)) != 1:
        return
    axis = op.axis.value.data % len(shape_of(value))
    # What lies together behind a Permute does not in front of it.
    found, part = Region.behind(value, axis, but=(top.PermuteOp,)), _Gathered(op)
    if all(isinstance(one, MOVES) for one in found.axes):
        return
    if LEAST_GAIN * part.count * len(found.outer) > shape_of(value)[axis]:
        return
    chosen = found.cut(value, part, before=op)
    assert isinstance(chosen.owner, NamedOp)
    chosen.owner.location = op.location
    chosen = Rewriter.replace_value_with_new_type(chosen, op.output.type)
    op.output.replace_all_uses_with(chosen)
    op.detach()
    op.erase()
    found.erase()


def _cut(value: SSAValue, axis: int, part: Cut, reader: Operation) -> SSAValue:
    """A part of a value, in front of an op; of a known weight, one of its own. Of what is joined it
    is cut from the operand that has all of it, whose range in 8 bits may be far smaller."""
    value, part = _operand_with(value, axis, part)
    if part.count == shape_of(value)[axis]:
        return value
    end = part.first + part.count
    if is_weight(value) and is_known(value):
        numbers = known_values(value).reshape(shape_of(value)).take(range(part.first, end), axis)
        made: Operation = make_weight(
            reader, derived_name(value, "_part"), numbers, element_of(value)
        )
    else:
        none, name = none_before(reader), derived_name(value, "_r_part")
        made = slice_along(name, value, axis, (part.first, end), none)
    Builder(InsertPoint.before(reader)).insert(made)
    return made.results[0]


def _operand_with(value: SSAValue, axis: int, part: Cut) -> tuple[SSAValue, Cut]:
    """What has all of a part of a value: one operand of a Concat, and the part of that."""
    concat = value.owner
    if not isinstance(concat, top.ConcatOp) or concat.do_relu.value.data:
        return value, part
    if concat.axis.value.data != axis or any(map(is_weight, concat.inputs)):
        return value, part
    start = 0
    for operand in concat.inputs:
        size = shape_of(operand)[axis]
        if start <= part.first and part.first + part.count <= start + size:
            return _operand_with(operand, axis, Cut(part.first - start, part.count, 1))
        start += size
    return value, part


def _read_part(part: SSAValue, value: SSAValue, axis: int, taken: Cut) -> None:
    """Let the Slices of a value read the part; one that takes all of it goes."""
    maker = part.owner
    assert isinstance(maker, Operation)
    for op in users(value):
        assert isinstance(op, top.SliceOp)
        cuts = list(op.cuts())
        cuts[axis] = Cut(cuts[axis].first - taken.first, cuts[axis].count, cuts[axis].step)
        op.operands[0] = part
        set_cuts(op, cuts)
        if cuts[axis] == Cut(0, taken.count, 1):
            if is_returned(op) and not is_returned(maker):
                maker.location = op.location
                part = Rewriter.replace_value_with_new_type(part, op.output.type)  # its own range
            op.output.replace_all_uses_with(part)
            op.detach()
            op.erase()
