"""The pass `cut-early`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.calibration.ranges import (
    Range,
    range_of,
    range_of_sum,
    scaled_range,
    set_range,
)
from xdsl_tpu.passes.canonicalize.slice import is_static, set_cuts
from xdsl_tpu.passes.canonicalize.split import slice_along
from xdsl_tpu.passes.constants import is_known, known_values, make_weight
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    is_returned,
    none_before,
    rebuilt,
    tensor_like,
    users,
)
from xdsl_tpu.passes.linked_dims.change import DROPPED, Axes
from xdsl_tpu.passes.linked_dims.rules import rule_of
from xdsl_tpu.passes.tensors import element_of, functions, is_weight, shape_of

LEAST_GAIN = 2
"""A dimension is cut early to at most one in so many of it: the parts are moved once more."""

_MOVES = (top.ReshapeOp, top.PermuteOp, top.SliceOp, top.SqueezeOp, top.UnsqueezeOp)


@dataclass(frozen=True)
class CutEarlyPass(ModulePass):
    """Compute only those rows of the last products that a Slice leaves.

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
    """

    name = "cut-early"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            block = func.body.block
            for value, axis, part in list(_partly_read(block)):
                found = _Region.behind(value, axis)
                if any(isinstance(one, top.MatMulOp) for one in found.axes):
                    _read_part(found.cut(value, part), value, axis, part)
                    found.erase()


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


def _axes(op: Operation, value: SSAValue, axis: int) -> Axes | None:
    """Where in the operands of an op a dimension of its result is; None when the op needs it."""
    tensors = [one for one in (*op.operands, *op.results) if not is_none(one)]
    if len(op.results) != 1 or not has_shapes(*tensors):
        return None
    if isinstance(op, top.ReshapeOp):
        return _reshaped(op, axis)
    if isinstance(op, top.MatMulOp) and (found := _rows(op, axis)) is not None:
        return found
    rule = rule_of(op)
    found = None if rule is None else rule(op, value, axis, DROPPED)
    size = shape_of(value)[axis]
    if found is None or any(shape_of(one)[own] not in {1, size} for one, own in found.items()):
        return None
    return {one: own for one, own in found.items() if shape_of(one)[own] == size}


def _reshaped(op: top.ReshapeOp, axis: int) -> Axes | None:
    """A dimension that has as many elements in front of it before and after."""
    source, result = shape_of(op.input), shape_of(op.output)
    for own, size in enumerate(source):
        if size == result[axis] and prod(source[:own]) == prod(result[:axis]):
            return {op.input: own, op.output: axis}
    return None


def _rows(op: top.MatMulOp, axis: int) -> Axes | None:
    """The rows of a product are those of its left matrix."""
    given, out = len(shape_of(op.input)), len(shape_of(op.output))
    other = op.hdim_is_batch, op.output_transpose, op.left_transpose
    if any(one.value.data for one in other) or not op.keep_dims.value.data:
        return None
    if given != out or axis != out - 2 or op.input is op.right:
        return None
    return {op.input: axis, op.output: axis}


@dataclass
class _Region:
    """Ops of which nothing but one part along a dimension is read, the last one first.

    `axes`: where that dimension is in the result and operands of each.
    """

    axes: Mapping[Operation, Axes]
    _new: dict[tuple[SSAValue, int], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, int], SSAValue]
    )

    @classmethod
    def behind(cls, value: SSAValue, axis: int) -> "_Region":
        """The ops that make a value and whose results nobody reads otherwise."""
        found: dict[Operation, Axes] = {}
        reads = {value: [axis] * len(list(value.uses))}
        op = value.owner
        while isinstance(op, Operation):
            result = op.results[0] if len(op.results) == 1 else None
            own = reads.get(result, []) if result is not None else []
            if result is not None and own and len(own) == len(list(result.uses)):
                axes = _axes(op, result, own[0]) if len(set(own)) == 1 else None
                if axes is not None:
                    found[op] = axes
                    for operand in op.operands:
                        if operand in axes:
                            reads.setdefault(operand, []).append(axes[operand])
            op = op.prev_op
        return cls(_without_first_moves(found))

    def cut(self, value: SSAValue, part: Cut) -> SSAValue:
        """Write the ops anew for one part of a value that one of them makes, in front of those
        that they replace."""
        for op, axes in reversed(list(self.axes.items())):
            out = op.results[0]
            operands = [
                self._part(one, axes[one], part, op) if one in axes else one for one in op.operands
            ]
            kind = tensor_like(out, _shortened(shape_of(out), axes[out], part))
            name = name_loc(derived_name(op, "_part"))
            if isinstance(op, top.ReshapeOp):
                made: Operation = top.ReshapeOp.make(name, operands[:1], result_types=[kind])
            else:
                made = rebuilt(op, operands=operands, result_types=[kind], location=name)
            Builder(InsertPoint.before(op)).insert(made)
            _narrow(made)
            self._new[out, axes[out]] = made.results[0]
        return next(made for (old, _), made in self._new.items() if old is value)

    def _part(self, value: SSAValue, axis: int, part: Cut, reader: Operation) -> SSAValue:
        """An operand's part; it is cut where no op of the region makes it."""
        known = self._new.get((value, axis))
        if known is None:
            known = self._new[value, axis] = _cut(value, axis, part, reader)
        return known

    def erase(self) -> None:
        """Take the old ops away, once nobody reads them."""
        for op in self.axes:
            op.detach()
            op.erase()


def _without_first_moves(axes: Mapping[Operation, Axes]) -> Mapping[Operation, Axes]:
    """Without the moves in front of all else: how whole values are moved, others know better."""
    kept = dict(axes)
    for op in reversed(list(axes)):
        if isinstance(op, _MOVES) and not any(one.owner in kept for one in op.operands):
            del kept[op]
    return kept


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


def _narrow(op: Operation) -> None:
    """A sum of parts with small ranges does not have the range of the whole."""
    if not isinstance(op, top.AddOp) or op.coeff is not None:
        return
    known, reach = range_of(op.output), Range(0.0, 0.0)
    for value in op.inputs:
        total = range_of_sum(reach, scaled_range(value))
        if known is None or total is None:
            return
        reach = total
    assert known is not None
    low, high = max(known.min, reach.min), min(known.max, reach.max)
    if low < high:
        set_range(op.output, Range(low, high))


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


def _shortened(shape: Sequence[int], axis: int, part: Cut) -> Shape:
    return (*shape[:axis], part.count, *shape[axis + 1 :])
