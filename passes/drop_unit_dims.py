"""The pass `drop-unit-dims`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.top.abstract import BroadcastOp, UnaryOp
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, tensor_like
from xdsl_tpu.passes.tensors import functions, is_weight, shape_of

MOST = 4
"""Products of this rank are left alone: kernels and patterns know them as they are."""

_Axes = dict[SSAValue, int]
"""Which axis, of size 1, each value loses."""


@dataclass(frozen=True)
class DropUnitDimsPass(ModulePass):
    """Write batches of products without dimensions of size 1, where they have more than four.

        %1 = "top.Permute"(%0) {order = [0, 1, 3, 2, 4]} : 1x64x49x2x32 -> 1x64x2x49x32
        %2 = "top.MatMul"(%1, %k) : (1x64x2x49x32, 1x64x2x32x49) -> 1x64x2x49x49
        %3 = "top.Softmax"(%2) {axis = 4} : 1x64x2x49x49 -> 1x64x2x49x49
      ->
        %r = "top.Reshape"(%0) : 1x64x49x2x32 -> 64x49x2x32
        %1 = "top.Permute"(%r) {order = [0, 2, 1, 3]} : 64x49x2x32 -> 64x2x49x32
        %2 = "top.MatMul"(%1, %k) : (64x2x49x32, 64x2x32x49) -> 64x2x49x49
        %3 = "top.Softmax"(%2) {axis = 3} : 64x2x49x49 -> 64x2x49x49

    Local memory and the patterns of attention have four dimensions. The dimension goes from all
    values that have it from, or hand it on to, such a product of two computed matrices: through
    element-wise ops, Softmax, Permute, Slice, Split, Squeeze and Unsqueeze. Around those stand
    Reshapes.
    """

    name = "drop-unit-dims"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            block = func.body.block
            while any([_drop(product) for product in _products(block)]):
                pass


def _products(block: Block) -> Iterator[top.MatMulOp]:
    """Batches of products of computed matrices in more than four dimensions, as they are now."""
    for op in list(block.ops):
        if isinstance(op, top.MatMulOp) and op.parent is block and has_shapes(op.output):
            computed = not is_weight(op.input) and not is_weight(op.right)
            if computed and len(shape_of(op.output)) > MOST:
                yield op


def _drop(product: top.MatMulOp) -> bool:
    """Drop a dimension of a product and of what is linked with it; whether there is one."""
    for axis, size in enumerate(shape_of(product.output)[:-2]):
        if size == 1 and _carried(product, product.output, axis) is not None:
            found = _Linked.to(product.output, axis)
            if found is not None:
                found.rewrite()
                return True
    return False


@dataclass
class _Linked:
    """Values that lose an axis together, and the ops that hand it on among them."""

    axes: _Axes = field(default_factory=_Axes)
    ops: set[Operation] = field(default_factory=set[Operation])
    _new: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    @classmethod
    def to(cls, value: SSAValue, axis: int) -> "_Linked | None":
        """All that is linked to a value; None where one would lose two different axes."""
        self = cls({value: axis})
        pending = [value]
        while pending:
            value = pending.pop()
            for op in (value.owner, *(use.operation for use in value.uses)):
                carried = _carried(op, value, self.axes[value])
                if carried is None:
                    continue
                self.ops.add(cast(Operation, op))
                for other, own in carried.items():
                    if other not in self.axes:
                        self.axes[other] = own
                        pending.append(other)
                    elif self.axes[other] != own:
                        return None
        return self

    def rewrite(self) -> None:
        """Write the ops anew; who reads their results otherwise finds a Reshape."""
        block = cast(Block, next(iter(self.ops)).parent)
        old = [op for op in block.ops if op in self.ops]
        for op in old:
            operands = [self._without(value) for value in op.operands]
            kinds = [self._type(value) for value in op.results]
            made = rebuilt(op, operands=operands, result_types=kinds)
            made.attributes.update(_attributes(op, self.axes))
            block.insert_op_before(made, op)
            self._new.update(zip(op.results, made.results, strict=True))
        for op in old:
            for value in op.results:
                if any(use.operation not in self.ops for use in value.uses):
                    self._give_back(value)
        for op in reversed(old):
            op.detach()
            op.erase()

    def _type(self, value: SSAValue) -> Attribute:
        shape = shape_of(value)
        return tensor_like(value, _less(shape, self.axes[value]) if value in self.axes else shape)

    def _without(self, value: SSAValue) -> SSAValue:
        """An operand without its axis."""
        if value in self._new or value not in self.axes:
            return self._new.get(value, value)
        shape, owner = _less(shape_of(value), self.axes[value]), value.owner
        name = derived_name(value, f"_as_{'x'.join(map(str, shape))}")
        made = _reshape(name, value, shape)
        at_start = isinstance(owner, Block)
        place = InsertPoint.at_start(owner) if at_start else InsertPoint.after(owner)
        Builder(place).insert(made)
        self._new[value] = made.output
        return made.output

    def _give_back(self, value: SSAValue) -> None:
        """Let ops that are not linked read a value with its axis, under its old name."""
        maker, new = cast(Operation, value.owner), self._new[value]
        back = top.ReshapeOp.make(maker.location, (new,), result_types=[value.type])
        made = cast(Operation, new.owner)
        made.location = name_loc(derived_name(value, "_r_dropped"))
        Builder(InsertPoint.after(made)).insert(back)
        for use in list(value.uses):
            if use.operation not in self.ops:
                use.operation.operands[use.index] = back.output


def _reshape(name: str, value: SSAValue, shape: Shape) -> top.ReshapeOp:
    return top.ReshapeOp.make(name, (value,), result_types=[tensor_like(value, shape)])


def _less(shape: Sequence[int], axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])


def _carried(op: Operation | Block, value: SSAValue, axis: int) -> _Axes | None:
    """The axes that values of an op lose with that of one of them; None when it needs it."""
    rule = None if isinstance(op, Block) else _rule(op)
    if rule is None or isinstance(op, Block):
        return None
    tensors = [one for one in (*op.operands, *op.results) if not is_none(one)]
    if not has_shapes(*tensors):
        return None
    found = rule(op, value, axis)
    if found is None or value not in found:
        return None
    return found if all(shape_of(one)[own] == 1 for one, own in found.items()) else None


_Rule = Callable[[Operation, SSAValue, int], "_Axes | None"]


def _rule(op: Operation) -> _Rule | None:
    own = _RULES.get(type(op))
    if own is not None or not isinstance(op, UnaryOp | BroadcastOp):
        return own
    return _stretched if len(op.results) == 1 else None


def _stretched(op: Operation, value: SSAValue, axis: int) -> _Axes:
    """Element by element: axes are counted from the end; shorter operands may not have it."""
    out = op.results[0]
    behind = len(shape_of(value)) - axis
    tensors = [one for one in (*op.operands, out) if not is_none(one)]
    return {one: len(shape_of(one)) - behind for one in tensors if len(shape_of(one)) >= behind}


def _product(op: Operation, value: SSAValue, axis: int) -> _Axes | None:
    """A dimension of the batch that both matrices have."""
    assert isinstance(op, top.MatMulOp)
    ranks = {len(shape_of(one)) for one in (op.input, op.right, op.output)}
    plain = not (op.hdim_is_batch.value.data or op.output_transpose.value.data)
    if len(ranks) > 1 or not plain or not op.keep_dims.value.data or axis >= max(ranks) - 2:
        return None
    return dict.fromkeys((op.input, op.right, op.output), axis)


def _along(op: Operation, value: SSAValue, axis: int) -> _Axes | None:
    """Ops with an `axis` of their own: Softmax, Split."""
    own = _integer(op, "axis") % len(shape_of(op.operands[0]))
    return None if own == axis else dict.fromkeys((op.operands[0], *op.results), axis)


def _permuted(op: Operation, value: SSAValue, axis: int) -> _Axes:
    assert isinstance(op, top.PermuteOp)
    order = ints(op.order)
    source = order[axis] if value is op.output else axis
    return {op.input: source, op.output: order.index(source)}


def _sliced(op: Operation, value: SSAValue, axis: int) -> _Axes | None:
    assert isinstance(op, top.SliceOp)
    static = all(map(is_none, (op.offsetT, op.endsT, op.stepsT))) and not op.axes.data
    return dict.fromkeys((op.input, op.output), axis) if static else None


def _squeezed(op: Operation, value: SSAValue, axis: int) -> _Axes | None:
    assert isinstance(op, top.SqueezeOp)
    return _with_more(op.input, op.output, ints(op.axes), value, axis)


def _unsqueezed(op: Operation, value: SSAValue, axis: int) -> _Axes | None:
    assert isinstance(op, top.UnsqueezeOp)
    return _with_more(op.output, op.input, ints(op.axes), value, axis)


def _with_more(
    long: SSAValue, short: SSAValue, axes: Sequence[int], value: SSAValue, axis: int
) -> _Axes | None:
    """One value has `axes` more than the other; they stay."""
    rank = len(shape_of(long))
    kept = [one for one in range(rank) if one not in {place % rank for place in axes}]
    if len(kept) != len(shape_of(short)) or len(kept) < 2:
        return None  # of scalars nothing is left
    own = axis if value is long else kept[axis]
    return {long: own, short: kept.index(own)} if own in kept else None


_RULES: Mapping[type[Operation], _Rule] = {
    top.MatMulOp: _product,
    top.PermuteOp: _permuted,
    top.SliceOp: _sliced,
    top.SoftmaxOp: _along,
    top.SplitOp: _along,
    top.SqueezeOp: _squeezed,
    top.UnsqueezeOp: _unsqueezed,
}


def _attributes(op: Operation, axes: _Axes) -> dict[str, Attribute]:
    """The attributes of an op that number dimensions, without the one that goes."""
    axis = axes.get(op.operands[0], -1)

    def renumbered(places: Sequence[int], gone: int) -> Attribute:
        return I64_ARRAY.encode([place - (place > gone) for place in places])

    match op:
        case top.PermuteOp():
            order = ints(op.order)
            return {"order": renumbered([place for place in order if place != axis], axis)}
        case top.SliceOp():
            lists = {name: ints(getattr(op, name)) for name in ("offset", "ends", "steps")}
            found = {name: I64_ARRAY.encode(_less(list_, axis)) for name, list_ in lists.items()}
            kept = [place for place in ints(op.hasparamConvert_axes) if place != axis]
            return {**found, "hasparamConvert_axes": renumbered(kept, axis)}
        case top.SoftmaxOp() | top.SplitOp():
            own = _integer(op, "axis") % len(shape_of(op.operands[0]))
            old = cast(IntegerAttr, op.attributes["axis"])
            return {"axis": IntegerAttr(own - (own > axis), old.type)}
        case top.SqueezeOp():
            rank = len(shape_of(op.input))
            return {"axes": renumbered([place % rank for place in ints(op.axes)], axis)}
        case top.UnsqueezeOp():
            rank = len(shape_of(op.output))
            places = [place % rank for place in ints(op.axes)]
            return {"axes": renumbered(places, axes[op.output])}
        case _:
            return {}


def _integer(op: Operation, name: str) -> int:
    return cast(IntegerAttr, op.attributes[name]).value.data
