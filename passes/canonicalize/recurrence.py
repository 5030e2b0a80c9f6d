"""Loops that an exporter unrolled: linear recurrences, and what is made of each state."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape, unit_coefficients
from xdsl_tpu.passes.canonicalize.rolled import Builder, Rolled, Same, roll
from xdsl_tpu.passes.graph import has_shapes, none_for, producer, sole_producer, tensor_like, users
from xdsl_tpu.passes.tensors import shape_of

FEWEST = 4
"""Steps from which on a loop is looked for."""


class RollConcat(RewritePattern):
    """Concat(f(Slice(x, 0..1)), f(Slice(x, 1..2)), ..) -> f(x), along the sliced axis.

        Slice   {0..1}   1x8x1x16   -> Reshape 1x8x16
        MatMul  by Slice(c, 0..1) as 1x16x1                Mul     x by c      1x8x32x16
        .. the same for each of 32 steps             ->    Reduce  {ReduceSum} 1x8x32x1
        Concat  {axis = 2}                  1x8x32         Reshape             1x8x32

    f may be element-wise ops, reductions, changes of shape, products of a matrix and a vector that
    are both of the step. Steps that the Concat puts along another axis are moved there.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) < FEWEST or has_relu(op) or not has_shapes(*op.inputs, op.output):
            return
        shape, step = shape_of(op.output), shape_of(op.inputs[0])
        axis = op.axis.value.data % len(shape)
        if step[axis] != 1:
            return
        rolled = roll(op.inputs)
        if rolled is None or isinstance(rolled, Same) or not (places := rolled.places()):
            return
        builder = Builder(op, none_for(op, rewriter), len(op.inputs))
        before = prod(step[:axis])
        place = min(places, key=lambda j: (prod(step[:j]) != before, j))
        whole = rolled.build(builder, place)
        if shape_of(whole)[place] != len(op.inputs):
            return
        moved = _moved(builder, whole, place, before)
        builder.add(reshape(op.location, moved, shape))
        rewriter.replace(op, builder.ops)


def _moved(builder: Builder, value: SSAValue, place: int, before: int) -> SSAValue:
    """The steps' axis in front of which there are `before` elements."""
    shape = shape_of(value)
    ahead, steps, behind = prod(shape[:place]), shape[place], prod(shape[place + 1 :])
    if ahead == before:
        return value
    if ahead < before:
        seen = (ahead, steps, before // ahead, behind * ahead // before)
    else:
        seen = (before, ahead // before, steps, behind)
    turned = [seen[axis] for axis in (0, 2, 1, 3)]
    value = builder.reshaped(value, seen)
    kind = tensor_like(value, turned)
    order = [0, 2, 1, 3]
    return builder.add(
        top.PermuteOp.make(builder.name(), (value,), result_types=[kind], order=order)
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """op = a * before + b."""

    op: top.AddOp
    a: SSAValue
    before: SSAValue
    b: SSAValue


class LinearRecurrence(RewritePattern):
    """Add(Mul(a_t, h_(t-1)), b_t) for one step t after the other -> LinearScan(a, b).

        Slice(a, 0..1), Slice(b, 0..1)   1x8x1x16          LinearScan(a, b) {axis = 2}  1x8x32x16
        h_0 = b_0                        1x8x16      ->    Slice {0..1}, Reshape        1x8x16
        h_1 = Add(Mul(a_1, h_0), b_1)    1x8x16            Slice {1..2}, Reshape        1x8x16
        ..                                                 ..

    a_t and b_t are slices of two tensors or computed alike of slices; one of them may be the same
    in all steps. The state before the first step may be any value, which becomes the operand
    `initial`. It takes four steps.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.AddOp, rewriter: PatternRewriter) -> None:
        steps = _steps_before(op)
        if len(steps) != FEWEST - 1:
            return
        steps += _steps_after(op)
        for scan in _scans(steps):
            if scan.replace(rewriter):
                return


def _steps_before(op: top.AddOp) -> list[_Step]:
    """The last steps up to `op`, in order: all, or one more than is asked for."""
    found: list[_Step] = []
    step = _step(op)
    while step is not None and len(found) < FEWEST:
        found.insert(0, step)
        step = _step(step.before.owner)
    return found


def _steps_after(op: top.AddOp) -> list[_Step]:
    """Those that go on from `op`."""
    found: list[_Step] = []
    following = _following(op)
    while following is not None:
        found.append(following)
        following = _following(following.op)
    return found


def _following(op: top.AddOp) -> _Step | None:
    """The next step: the first whose factor and summand come from where those of the others do."""
    for use in op.output.uses:
        if not isinstance(use.operation, top.MulOp):
            continue
        for after in use.operation.output.uses:
            step = _step(after.operation, op.output)
            if step is not None:
                return step
    return None


def _step(op: Operation | Block, before: SSAValue | None = None) -> _Step | None:
    """An op as a step; of several possibilities one that another step, or `before`, precedes."""
    if not isinstance(op, top.AddOp) or has_relu(op) or not unit_coefficients(op):
        return None
    options = [step for step in _options(op) if before is None or step.before is before]
    options.sort(key=lambda step: not isinstance(step.before.owner, top.AddOp))
    return options[0] if options else None


def _options(op: top.AddOp) -> Iterator[_Step]:
    if len(op.inputs) != 2 or not has_shapes(*op.inputs, op.output):
        return
    for product, b in (op.inputs, tuple(reversed(op.inputs))):
        factors = sole_producer(product, top.MulOp)
        if factors is None or has_relu(factors) or len(factors.inputs) != 2:
            continue
        for a, before in (factors.inputs, tuple(reversed(factors.inputs))):
            if before.type == op.output.type and product.type == before.type:
                yield _Step(op, a, before, b)


@dataclass(frozen=True, slots=True)
class _Scan:
    """A recurrence whose factors and summands are known; `states` are the values to replace, the
    first of which goes by another op than Add when it is b_0 itself."""

    a: Rolled
    b: Rolled
    states: Sequence[SSAValue]
    initial: SSAValue | None
    last: top.AddOp

    def replace(self, rewriter: PatternRewriter) -> bool:
        """Whether the recurrence became one op."""
        step = shape_of(self.states[0])
        places = self.a.places() & self.b.places()
        alike = len(self.a.step) == len(step) and self.b.step == step
        anchor = self._anchor()
        if not alike or not places or anchor is None:
            return False
        builder = Builder(self.last, none_for(self.last, rewriter), len(self.states))
        states = self._build(builder, max(places))
        rewriter.insert(builder.ops, InsertPoint.before(anchor))
        for old, new in zip(self.states, states, strict=True):
            assert isinstance(old.owner, Operation)
            rewriter.replace(old.owner, (), (new,))
        return True

    def _anchor(self) -> Operation | None:
        """The op in front of which the states can be computed; None when there is none."""
        first = self.states[0]
        anchor = first.owner if isinstance(first.owner, top.AddOp) else users(first)[0]
        sources = [*self.a.sources(), *self.b.sources()]
        if self.initial is not None:
            sources.append(self.initial)
        made = [value.owner for value in sources if isinstance(value.owner, Operation)]
        assert isinstance(anchor, Operation)
        return anchor if all(op.is_before_in_block(anchor) for op in made) else None

    def _build(self, builder: Builder, place: int) -> list[SSAValue]:
        """The op, and of its result each state."""
        step = shape_of(self.states[0])
        shape = (*step[:place], builder.steps, *step[place:])
        operands = [_filled(builder, one.build(builder, place), shape) for one in (self.a, self.b)]
        initial = builder.none
        if self.initial is not None:
            initial = builder.reshaped(self.initial, (*step[:place], 1, *step[place:]))
        kind = tensor_like(self.states[0], shape)
        whole = builder.add(
            top.LinearScanOp.make(
                builder.name(), (*operands, initial), result_types=[kind], axis=place
            )
        )
        return [self._state(builder, whole, place, t) for t in range(builder.steps)]

    def _state(self, builder: Builder, whole: SSAValue, place: int, number: int) -> SSAValue:
        cuts = [Cut(0, size, 1) for size in shape_of(whole)]
        cuts[place] = Cut(number, 1, 1)
        old, part = self.states[number], builder.part(whole, cuts)
        assert isinstance(old.owner, Operation)
        return builder.add(reshape(old.owner.location, part, shape_of(old)))


def _filled(builder: Builder, value: SSAValue, shape: Shape) -> SSAValue:
    """A value repeated to a shape."""
    times = [whole // own for own, whole in zip(shape_of(value), shape, strict=True)]
    if all(count == 1 for count in times):
        return value
    kind = tensor_like(value, shape)
    return builder.add(top.TileOp.make(builder.name(), (value,), result_types=[kind], tile=times))


def _scans(steps: Sequence[_Step]) -> Iterator[_Scan]:
    """What steps may be, all of them first: what follows the last state may look like one."""
    for end in range(len(steps), max(len(steps) - 2, FEWEST - 2), -1):
        first, *others = steps[:end]
        yield from _beginning(first, others)
        if not isinstance(first.before.owner, top.AddOp) and first.a.type == first.before.type:
            yield from _beginning(_Step(first.op, first.before, first.a, first.b), others)


def _beginning(first: _Step, others: Sequence[_Step]) -> Iterator[_Scan]:
    """A recurrence whose first state is b_0, perhaps with 0 * a_0 added to it; or any value."""
    steps = (first, *others)
    factors, summands = [one.a for one in steps], [one.b for one in steps]
    states, last = [one.op.output for one in steps], steps[-1].op
    a = roll(factors, 1)
    b = None if a is None else roll([_without_zero(first.before), *summands])
    if a is not None and b is not None and not isinstance(b, Same):
        yield _Scan(a, b, [first.before, *states], None, last)
    a, b = roll(factors), roll(summands)
    if a is not None and b is not None:
        yield _Scan(a, b, states, first.before, last)


def _without_zero(value: SSAValue) -> SSAValue:
    """x in Add(MulConst(y, 0), x)."""
    op = producer(value, top.AddOp)
    if op is None or len(op.inputs) != 2 or has_relu(op) or not unit_coefficients(op):
        return value
    for zero, other in (op.inputs, tuple(reversed(op.inputs))):
        factor = producer(zero, top.MulConstOp)
        if factor is not None and factor.const_val.value.data == 0 and other.type == value.type:
            return other
    return value
