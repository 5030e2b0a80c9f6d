"""The pass `turn-products`."""

from dataclasses import dataclass, field
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none, is_ranked_tensor
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.quant import zero_point
from xdsl_tpu.dialects.tpu.local import EachElement, LocalBroadcast
from xdsl_tpu.dialects.weights import Weights, known_weights
from xdsl_tpu.passes.graph import derived_name, none_before, rebuilt, tensor_like
from xdsl_tpu.passes.module_state import State, chip_of, cores_of, require_state
from xdsl_tpu.passes.orient_products.labels import Labelling, Pair, Table, added
from xdsl_tpu.passes.products import keeps_rows
from xdsl_tpu.passes.tensors import element_bytes, functions, is_weight, number_type, shape_of
from xdsl_tpu.passes.turn_products.convolution import convolution
from xdsl_tpu.passes.turn_products.prices import GAIN, Prices, matrices_of
from xdsl_tpu.passes.turn_products.work import Busy

SUFFIX = "_turned"
"""What the name of a value ends with whose columns lie over the lanes."""

ORDER = (0, 2, 1)

BUSY = 1.0
"""What the TIU computes must take so many times what is loaded, both as estimated: where a network
waits for its loads these could only be disturbed."""

INPUT = 0


@dataclass(frozen=True)
class TurnProductsPass(ModulePass):
    """Compute products with weights column by column where rows would leave many lanes empty.

        %1 = "tpu.MatMul"(%0, %w, %b) : (1x197x192, 1x192x768) -> 1x197x768
        %2 = "tpu.Active"(%1) : 1x197x768
        %3 = "tpu.MatMul"(%2, %v, %c) : (1x197x768, 1x768x192) -> 1x197x192
      ->
        %t = "tpu.Permute"(%0) {order = [0, 2, 1]} : 1x192x197
        %1 = "tpu.Conv2D"(%t, %w, %b) : (1x192x197x1, 768x192x1x1) -> 1x768x197x1
        %2 = "tpu.Active"(%1) : 1x768x197x1
        %u = "tpu.Conv2D"(%2, %v, %c) : (1x768x197x1, 192x768x1x1) -> 1x192x197x1
        %3 = "tpu.Permute"(%u) {order = [0, 2, 1]} : 1x197x192

    197 rows fill 64 lanes four times, but for 59 of the last. As a convolution of one place it is
    the columns that lie over the lanes, and 197 places are 50 times the four that the array
    computes at once. What lies between products and computes element by element can be in either
    form; which products change is a minimum cut, by the cycles of the TIU (`prices.py`). Integers
    have the same values as before. For several cores nothing is changed: they share the rows.
    `chip` is a name or a `.toml` description, by default `module.chip`.
    """

    name = "turn-products"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        if cores_of(op) > 1:
            return
        chip = chip_of(op, self.chip)
        for func in functions(op):
            network = _Network.of(func, chip)
            if turned := network.turned():
                _Rewriting(turned, known_weights(op)).run(func)


@dataclass
class _Network:
    """The ops that may have their columns over the lanes; label 1 says that an op has."""

    prices: Prices
    numbers: dict[Operation, int] = field(default_factory=dict[Operation, int])

    @staticmethod
    def of(func: FuncOp, chip: Chip) -> "_Network":
        network, busy = _Network(Prices(chip)), Busy(func, chip)
        for op in func.body.block.ops:
            product = _is_product(op) and busy.at(op) >= BUSY
            if (product or _is_element_wise(op)) and network._has_room(op):
                network.numbers[op] = len(network.numbers)
        return network

    def _has_room(self, op: Operation) -> bool:
        values = [op.results[0], *(op.operands[index] for index in _followed(op))]
        return all(
            (sizes := matrices_of(shape_of(value))) is not None
            and self.prices.fits(sizes, element_bytes(value))
            for value in values
        )

    def _number(self, value: SSAValue) -> int | None:
        return self.numbers.get(value.owner) if isinstance(value.owner, Operation) else None

    def turned(self) -> set[Operation]:
        """The ops to turn."""
        if not any(isinstance(op, tpu.MatMulOp) for op in self.numbers):
            return set()
        problem = self._labelling()
        labels = problem.best()
        if problem.cost(labels) >= problem.cost([0] * len(labels)):
            return set()
        return {op for op, number in self.numbers.items() if labels[number]}

    def _labelling(self) -> Labelling:
        nodes = [self._alone(op) for op in self.numbers]
        pairs: dict[Pair, Table] = {}
        for op, number in self.numbers.items():
            for index in _followed(op):
                value = op.operands[index]
                self._join(value, self._number(value), number, nodes, pairs)
            result = op.results[0]
            if any(use.operation not in self.numbers for use in result.uses):
                plain, other = nodes[number]
                nodes[number] = plain, other + self._move(result)
        return Labelling(nodes, pairs)

    def _join(
        self,
        value: SSAValue,
        maker: int | None,
        reader: int,
        nodes: list[Pair],
        pairs: dict[Pair, Table],
    ) -> None:
        move = self._move(value)
        if maker is None:
            plain, other = nodes[reader]
            nodes[reader] = plain, other + move
        elif maker != reader:
            key = min(maker, reader), max(maker, reader)
            pairs[key] = added(pairs.get(key, (0, 0, 0, 0)), (0, move, move, 0))

    def _alone(self, op: Operation) -> Pair:
        if isinstance(op, tpu.MatMulOp):
            plain, turned = self.prices.product(op)
        else:
            sizes = matrices_of(shape_of(op.results[0]))
            assert sizes is not None
            plain, turned = self.prices.element_wise(op, sizes)
        return plain, round(turned / GAIN)

    def _move(self, value: SSAValue) -> int:
        sizes = matrices_of(shape_of(value))
        assert sizes is not None
        return self.prices.move(sizes, element_bytes(value))


def _owner(value: SSAValue) -> Operation | None:
    return value.owner if isinstance(value.owner, Operation) else None


def _is_product(op: Operation) -> bool:
    """Whether an op is a product of rows with one matrix of weights, in 8 or 16 bits."""
    if not isinstance(op, tpu.MatMulOp) or not is_weight(op.right):
        return False
    if not keeps_rows(op) or prod(shape_of(op.right)[:-2]) != 1 or len(shape_of(op.input)) != 3:
        return False
    if not (is_none(op.bias) or is_weight(op.bias)) or not is_none(op.multi):
        return False
    widths = {element_bytes(value) for value in (op.input, op.right, op.output)}
    if widths not in ({1}, {2}) or len(ints(op.multipliers)) > 1:
        return False
    alike = widths == {1} or len({number_type(v) for v in (op.input, op.right, op.output)}) == 1
    return alike and not any(zero_point(value.type) for value in (op.input, op.output))


def _is_element_wise(op: Operation) -> bool:
    """Whether an op computes each element of its result of those at the same place."""
    if not isinstance(op, EachElement | LocalBroadcast) or len(op.results) != 1:
        return False
    if not isinstance(op, tpu.CastOp | tpu.ActiveOp | tpu.SoftRampOp | tpu.MulOp | tpu.AddOp):
        return False
    followed = _followed(op)
    if not is_ranked_tensor(op.results[0].type) or len(shape_of(op.results[0])) != 3:
        return False
    others = [v for i, v in enumerate(op.operands) if i not in followed and not is_none(v)]
    return bool(followed) and not others


def _followed(op: Operation) -> list[int]:
    """The operands, other than weights, of the rows of the result."""
    if isinstance(op, tpu.MatMulOp):
        return [INPUT]
    shape = shape_of(op.results[0]) if is_ranked_tensor(op.results[0].type) else None
    return [
        index
        for index, value in enumerate(op.operands)
        if is_ranked_tensor(value.type) and not is_weight(value) and shape_of(value) == shape
    ]


@dataclass
class _Rewriting:
    """Writes ops anew, in order."""

    turned: set[Operation]
    weights: Weights | None
    made: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Values of the function before, as (images, columns, rows, 1)."""
    plain: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Those of turned ops as they were."""

    def run(self, func: FuncOp) -> None:
        replaced: list[Operation] = []
        for op in list(func.body.block.ops):
            if op in self.turned:
                self._turn(op)
                replaced.append(op)
                continue
            for index, value in enumerate(op.operands):
                if _owner(value) in self.turned:
                    op.operands[index] = self._plain(value, op)
        for op in reversed(replaced):
            op.detach()
            op.erase()

    def _turn(self, op: Operation) -> None:
        build = Builder(InsertPoint.before(op))
        kind = tensor_like(op.results[0], _columns(op.results[0]))
        name = derived_name(op, SUFFIX)
        operands = list(op.operands)
        for index in _followed(op):
            operands[index] = self._columns(op.operands[index], op)
        if isinstance(op, tpu.MatMulOp):
            new = convolution(op, operands[INPUT], kind, name, self.weights)
        else:
            new = rebuilt(op, operands=operands, result_types=[kind], location=name_loc(name))
        build.insert(new)
        self.made[op.results[0]] = new.results[0]

    def _columns(self, value: SSAValue, reader: Operation) -> SSAValue:
        """A value as (images, columns, rows, 1), for its first reader."""
        if value not in self.made:
            build, name = Builder(InsertPoint.before(reader)), derived_name(value, SUFFIX)
            images, rows, columns = shape_of(value)
            moved = tpu.PermuteOp.make(
                f"{name}_rows",
                (value, none_before(reader)),
                result_types=[tensor_like(value, (images, columns, rows))],
                order=ORDER,
            )
            shape = _columns(value)
            view = tpu.ReshapeOp.make(
                name, (moved.output,), result_types=[tensor_like(value, shape)], shape=shape
            )
            build.insert(moved)
            self.made[value] = build.insert(view).output
        return self.made[value]

    def _plain(self, value: SSAValue, reader: Operation) -> SSAValue:
        """What a turned op makes as it was before, under its name."""
        if value not in self.plain:
            build, owner = Builder(InsertPoint.before(reader)), value.owner
            assert isinstance(owner, Operation)
            images, rows, columns = shape_of(value)
            shape = images, columns, rows
            view = tpu.ReshapeOp.make(
                derived_name(value, f"{SUFFIX}_columns"),
                (self.made[value],),
                result_types=[tensor_like(value, shape)],
                shape=shape,
            )
            build.insert(view)
            moved = tpu.PermuteOp.make(
                owner.location,
                (view.output, none_before(reader)),
                result_types=[value.type],
                order=ORDER,
            )
            self.plain[value] = build.insert(moved).output
        return self.plain[value]


def _columns(value: SSAValue) -> tuple[int, int, int, int]:
    images, rows, columns = shape_of(value)
    return images, columns, rows, 1
