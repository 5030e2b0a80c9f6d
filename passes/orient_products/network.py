"""Which ops may be written transposed, and what that costs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.layout import (
    LayoutConstant,
    LayoutInterface,
    Order,
    Orders,
    composed,
    inverse,
    moves_data,
    result_slots,
)
from xdsl_tpu.dialects.interfaces.layout_rules import BroadcastRule, UnaryRule
from xdsl_tpu.dialects.interfaces.layout_views import ViewRule
from xdsl_tpu.dialects.top.layout.axes import AxisLayout, PadLayout, ReduceLayout, SliceLayout
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.graph import has_shapes
from xdsl_tpu.passes.orient_products.columns import (
    BYTES,
    down_columns,
    in_runs,
    is_across,
    transposed,
)
from xdsl_tpu.passes.orient_products.labels import Labelling, Pair, Table, added
from xdsl_tpu.passes.products import is_plain
from xdsl_tpu.passes.tensors import shape_of, tensor_type

LEFT, RIGHT = 0, 1
_CARRIES = (UnaryRule, BroadcastRule, ViewRule, PadLayout, SliceLayout)


@dataclass(frozen=True)
class Exchange:
    """Two dimensions that change places, and who can follow.

    `order` gives it for a number of dimensions, None where there are too few. `products` says that
    those of matrices are ops to turn, `moves` of how many dimensions any other Permute may give
    what it gives in either order.
    """

    order: Callable[[int], Order | None]
    products: bool = False
    moves: int = 0

    def carries(self, op: Operation) -> bool:
        """Whether an op of this kind may do the same on turned values."""
        trait = LayoutInterface.of(op)
        if isinstance(trait, _CARRIES) or isinstance(op, top.ConcatOp):
            return True
        return _is_across(op) if self.products else isinstance(trait, AxisLayout | ReduceLayout)

    def of(self, value: SSAValue) -> Order:
        """The order for a value that has enough dimensions."""
        order = self.order(len(shape_of(value)))
        assert order is not None
        return order

    def is_swap(self, op: Operation) -> bool:
        """Whether an op does this exchange and nothing else."""
        if not isinstance(op, top.PermuteOp) or not has_shapes(op.input, op.output):
            return False
        return order_of(op) == self.order(len(shape_of(op.input)))


def _last_two(rank: int) -> Order | None:
    return (*range(rank - 2), rank - 1, rank - 2) if rank > 2 else None


LAST_TWO = Exchange(_last_two, products=True)
"""Rows and columns of matrices."""

HEADS = Exchange({3: (1, 0, 2), 4: (0, 2, 1, 3)}.get, moves=4)
"""Rows and heads of rows x heads x columns, of each image.

Permutes of three dimensions keep what they give: many turn keys, which products read turned."""


def order_of(op: top.PermuteOp) -> Order:
    """The order of a Permute, counted from the front."""
    return ints(op.order)


def orders_of(op: Operation, exchange: Exchange) -> Orders | None:
    """The slots of an op that works on any order of dimensions, all with the exchange.

    None for all other ops, and where an operand, a result or an attribute cannot follow.
    """
    trait = LayoutInterface.of(op)
    if not exchange.carries(op):
        return None
    assert trait is not None
    if trait.required(op) is not None or trait.layout(op) is not None or len(op.results) != 1:
        return None
    slots = trait.slots(op)
    if result_slots(0)[0] not in slots or not has_shapes(*(slot.value(op) for slot in slots)):
        return None
    found = {slot: exchange.order(len(shape_of(slot.value(op)))) for slot in slots}
    orders = {slot: order for slot, order in found.items() if order is not None}
    return orders if len(orders) == len(found) and trait.can_permute(op, orders) else None


def is_product(op: Operation) -> bool:
    """Whether an op is x y, for each of the same matrices, which (y^T x^T)^T is too."""
    if not isinstance(op, top.MatMulOp) or not has_shapes(op.input, op.right, op.output):
        return False
    if not is_plain(op):
        return False
    left, right = shape_of(op.input), shape_of(op.right)
    if len(left) < 3 or left[:-2] != right[:-2] or has_relu(op) or not is_none(op.bias):
        return False
    return shape_of(op.output) == (*left[:-1], right[-1])


@dataclass
class Network:
    """The ops of a function that may be written transposed; label 1 says that an op is.

    The label of a swap is that of its result: a swap whose operand has the other label is none. So
    is that of any other Permute, where these count.
    """

    ops: list[Operation]
    chip: Chip
    exchange: Exchange
    orders: dict[Operation, Orders] = field(default_factory=dict[Operation, Orders])
    numbers: dict[Operation, int] = field(default_factory=dict[Operation, int])

    @staticmethod
    def of(func: FuncOp, chip: Chip, exchange: Exchange) -> "Network":
        """All such ops of a function, in its order."""
        network = Network([], chip, exchange)
        for op in func.body.block.ops:
            orders = orders_of(op, exchange)
            if orders is not None:
                network.orders[op] = orders
        for op in func.body.block.ops:
            product = exchange.products and is_product(op) and not network.is_attention(op)
            if op in network.orders or exchange.is_swap(op) or product or network.is_move(op):
                network.numbers[op] = len(network.ops)
                network.ops.append(op)
        return network

    def is_move(self, op: Operation) -> bool:
        """Whether an op is a Permute that may give its result in either order."""
        if not isinstance(op, top.PermuteOp) or not has_shapes(op.input, op.output):
            return False
        return len(shape_of(op.input)) == self.exchange.moves and not self.exchange.is_swap(op)

    def moved(self, op: top.PermuteOp, before: int, after: int) -> Order:
        """The order of a Permute between labels of its operand and of its result."""
        order = order_of(op)
        if before:
            order = tuple(inverse(self.exchange.of(op.input))[axis] for axis in order)
        return composed(order, self.exchange.of(op.output)) if after else order

    def is_attention(self, op: Operation) -> bool:
        """Whether a product makes what a softmax is taken of, or reads one as its left matrix.

        Attention has kernels of its own for the two products together, in the form they have.
        """
        ends: list[Operation] = [op, *_maker(op.operands[LEFT])]
        for forward in (True, False):
            queue = ends[:1] if forward else ends[1:]
            for near in queue:
                if isinstance(near, top.SoftmaxOp) and not is_across(near):
                    return True
                if near is op or near in self.orders:
                    found = _readers(near) if forward else _makers(near)
                    queue.extend(one for one in found if one not in queue)
        return False

    def labels(self) -> list[int]:
        """Which ops to turn, all 0 where that gains nothing."""
        problem = self.labelling()
        labels = problem.best()
        none = [0] * len(labels)
        return labels if problem.cost(labels) < problem.cost(none) else none

    def labelling(self) -> Labelling:
        """The problem of choosing labels, in cycles."""
        nodes = [self._alone(op) for op in self.ops]
        pairs: dict[Pair, Table] = {}
        for value, reader, table in self._edges():
            first, second = self.number(value), self.numbers.get(reader)
            if first is None and second is not None:
                zero, one = nodes[second]
                nodes[second] = zero + table[0], one + table[1]
            elif first is not None and second is None:
                zero, one = nodes[first]
                nodes[first] = zero + table[0], one + table[2]
            elif first is not None and second is not None and first != second:
                key = min(first, second), max(first, second)
                turned = table if first < second else (table[0], table[2], table[1], table[3])
                pairs[key] = added(pairs.get(key, (0, 0, 0, 0)), turned)
        return Labelling(nodes, pairs)

    def number(self, value: SSAValue) -> int | None:
        """That of the op that makes a value, if it may be written transposed."""
        return self.numbers.get(value.owner) if isinstance(value.owner, Operation) else None

    def _edges(self) -> Iterator[tuple[SSAValue, Operation, Table]]:
        """Values and their readers, with what their labels cost."""
        for op in self.ops:
            if self.is_move(op):
                yield op.operands[0], op, self._moves(op)
            for value, wants in () if self.is_move(op) else self._wanted(op):
                if not _is_constant(value):
                    yield value, op, self._table(wants, self._move(value))
            for use in op.results[0].uses:
                if use.operation not in self.numbers:
                    move = self._move(op.results[0])
                    yield op.results[0], use.operation, self._table((0, 0), move)

    def _wanted(self, op: Operation) -> list[tuple[SSAValue, Sequence[int | None]]]:
        """Operands, with the label that each label of the op wants; None where both will do."""
        if op in self.orders:
            slots = self.orders[op]
            indices = sorted(slot.index for slot in slots if slot.kind == "operand")
            return [(op.operands[index], (0, 1)) for index in indices]
        if self.exchange.is_swap(op):
            return [(op.operands[0], (1, 0))]
        return [(op.operands[LEFT], (0, None)), (op.operands[RIGHT], (None, 1))]

    def _moves(self, op: Operation) -> Table:
        """What a Permute costs by the labels of its operand and its result."""
        assert isinstance(op, top.PermuteOp)
        orders = [self.moved(op, before, after) for before in (0, 1) for after in (0, 1)]
        a, b, c, d = (self._price(op.input, order) for order in orders)
        return a, b, c, d

    @staticmethod
    def _table(wants: Sequence[int | None], move: int) -> Table:
        """Costs by the labels of the value and of its reader."""
        a, b, c, d = (
            0 if wanted is None or wanted == label else move for label in (0, 1) for wanted in wants
        )
        return a, b, c, d

    def _move(self, value: SSAValue) -> int:
        return self._price(value, self.exchange.of(value))

    def _price(self, value: SSAValue, order: Order) -> int:
        """A transposition: to local memory and back. One of a single row is a change of shape,
        which is better avoided, too."""
        shape = shape_of(value)
        if list(order) == sorted(order):
            return 0
        if not moves_data(shape, order):
            return 1
        return transposed(shape, self.chip) + 1

    def _alone(self, op: Operation) -> Pair:
        """What the labels cost in themselves: products that fill the array badly take longer, and
        a softmax down columns lies across what DDR and the lanes hold together."""
        if _is_across(op):
            return down_columns(shape_of(op.results[0]), self.chip), 0
        if isinstance(op, top.SliceOp | top.ConcatOp) and op not in self._into_products:
            return self._in_runs(op, 0), self._in_runs(op, 1)
        if not isinstance(op, top.MatMulOp):
            return 0, 0
        *batch, rows, inner = shape_of(op.input)
        columns = shape_of(op.right)[-1]
        plain, turned = (
            prod(batch) * self._products(m, inner, n) for m, n in ((rows, columns), (columns, rows))
        )
        return plain, turned

    @cached_property
    def _into_products(self) -> set[Operation]:
        """Ops whose results become matrices of products, which read parts as they lie."""
        found = set[Operation]()
        block = self.ops[0].parent
        assert block is not None
        for op in reversed(block.ops):
            hands_on = op in self.numbers or isinstance(op, top.PermuteOp)
            readers = _readers(op) if hands_on else []
            if any(isinstance(one, top.MatMulOp) or one in found for one in readers):
                found.add(op)
        return found

    def _in_runs(self, op: "top.SliceOp | top.ConcatOp", label: int) -> int:
        """What parts of a value take longer than they would together, since the elements of each
        that lie side by side in DDR are few: at most as long again, by way of local memory."""
        whole, parts = op.results[0], [value for value in op.operands if not is_none(value)]
        if isinstance(op, top.SliceOp):
            whole, parts = parts[0], [whole]
        cycles = 0
        for part in parts:
            sizes = list(zip(shape_of(part), shape_of(whole), strict=True))
            if label:
                sizes = [sizes[axis] for axis in self.exchange.of(part)]
            cut = max((axis for axis, (some, all_) in enumerate(sizes) if some != all_), default=0)
            run = prod(some for some, _ in sizes[cut:])
            elements = prod(some for some, _ in sizes)
            least = in_runs(elements, elements, self.chip)
            cycles += min(in_runs(elements, run, self.chip) - least, least)
        return cycles

    def _products(self, rows: int, inner: int, columns: int) -> int:
        """Cycles of a product, with rows over the lanes (docs/hardware/cycles.md)."""
        chip = self.chip
        rooms = chip.lanes, chip.cube_outputs[BYTES], chip.cube_channels[BYTES]
        return prod(-(-n // room) for n, room in zip((rows, columns, inner), rooms, strict=True))


def _is_across(op: Operation) -> bool:
    return isinstance(op, top.SoftmaxOp) and is_across(op)


def _maker(value: SSAValue) -> list[Operation]:
    return [value.owner] if isinstance(value.owner, Operation) else []


def _makers(op: Operation) -> list[Operation]:
    return [maker for value in op.operands for maker in _maker(value)]


def _readers(op: Operation) -> list[Operation]:
    return [use.operation for result in op.results for use in result.uses]


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and LayoutConstant.of(value.owner) is not None


def swapped_type(value: SSAValue) -> TensorType[Attribute]:
    """The type of a value with its last two dimensions exchanged."""
    kind = tensor_type(value)
    *front, rows, columns = kind.get_shape()
    return TensorType(kind.element_type, (*front, columns, rows), kind.encoding)
