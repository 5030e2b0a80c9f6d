"""A function whose ops are written in the one order or the other, as a network of them says."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL
from xdsl_tpu.dialects.interfaces.layout import LayoutConstant, LayoutInterface
from xdsl_tpu.dialects.names import name_loc, name_of
from xdsl_tpu.dialects.top.layout.base import insert_permute
from xdsl_tpu.passes.graph import derived_name, rebuilt
from xdsl_tpu.passes.layout.names import Names
from xdsl_tpu.passes.orient_products.network import LEFT, RIGHT, Network, swapped_type
from xdsl_tpu.passes.tensors import required_name

SUFFIX = "_turned"
"""What the name of a value ends with of which two dimensions are exchanged."""


@dataclass
class Rewriting:
    """Writes a function as the labels of its network say."""

    network: Network
    labels: Sequence[int]
    names: Names
    made: dict[tuple[SSAValue, int], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, int], SSAValue]
    )
    """Values of the function before, as they are (0) or with the last two dimensions exchanged."""
    replaced: list[Operation] = field(default_factory=list[Operation])

    def run(self) -> None:
        for op in self._block_ops():
            number = self.network.numbers.get(op)
            if number is None:
                self._read_plain(op)
            elif self.network.exchange.is_swap(op):
                self._swap(op, self.labels[number] if self._is_beside_turned(op) else 0)
            elif isinstance(op, top.PermuteOp):
                self._move(op, self.labels[number])
            elif self.labels[number]:
                self._turn(op)
            else:
                self._keep(op)
        for op in reversed(self.replaced):
            op.detach()
            op.erase()

    def _block_ops(self) -> list[Operation]:
        if not self.network.ops:
            return []
        block = self.network.ops[0].parent
        assert block is not None
        return list(block.ops)

    def _read_plain(self, op: Operation) -> None:
        for index, value in enumerate(op.operands):
            if self.network.number(value) is not None:
                op.operands[index] = self._value(value, 0, op)

    def _keep(self, op: Operation) -> None:
        """An op as it was; a product reads its right matrix as it is there."""
        right = op.operands[RIGHT] if isinstance(op, top.MatMulOp) else None
        if right is not None and (right, 0) not in self.made and (right, 1) in self.made:
            op.operands[LEFT] = self._plain(op.operands[LEFT], op)
            op.operands[RIGHT] = self.made[right, 1]
            op.attributes["right_transpose"] = BoolAttr.from_bool(True)
        else:
            self._read_plain(op)
        self.made[op.results[0], 0] = op.results[0]

    def _plain(self, value: SSAValue, reader: Operation) -> SSAValue:
        return value if self.network.number(value) is None else self._value(value, 0, reader)

    def _is_beside_turned(self, op: Operation) -> bool:
        """Others are left to what makes a flag of a product of them."""
        near = [op.operands[0].owner, *(use.operation for use in op.results[0].uses)]
        numbers = (self.network.numbers.get(one) for one in near if isinstance(one, Operation))
        return any(self.labels[number] for number in numbers if number is not None)

    def _swap(self, op: Operation, label: int) -> None:
        """What a swap makes with one label is its operand with the other."""
        value, result = op.operands[0], op.results[0]
        if label == 0 and (value, 1) not in self.made:
            self._read_plain(op)
            self.made[result, 0] = result
            return
        self.made[result, label] = self._value(value, 1 - label, op)
        self.replaced.append(op)

    def _move(self, op: top.PermuteOp, label: int) -> None:
        """Any other Permute, from whichever form of its operand there is to the one wanted."""
        value, result = op.input, op.output
        before = int(self._label(value) and (value, 1) in self.made)
        if not before and not label:
            self._read_plain(op)
            self.made[result, 0] = result
            return
        given = self.made[value, 1] if before else self._plain(value, op)
        order, name = self.network.moved(op, before, label), required_name(op)
        if label:
            name = self.names.new(derived_name(result, SUFFIX))
        build = Builder(InsertPoint.before(op))
        plain = list(order) == sorted(order)
        self.made[result, label] = given if plain else insert_permute(given, order, name, build)
        self.replaced.append(op)

    def _label(self, value: SSAValue) -> int:
        number = self.network.number(value)
        return 0 if number is None else self.labels[number]

    def _turn(self, op: Operation) -> None:
        build = Builder(InsertPoint.before(op))
        if isinstance(op, top.MatMulOp):
            turned = self._product(op, build)
        else:
            trait = LayoutInterface.of(op)
            assert trait is not None
            orders = self.network.orders[op]
            turns = {slot.index for slot in orders if slot.kind == "operand"}
            operands = [
                self._value(value, 1, op) if index in turns else self._plain(value, op)
                for index, value in enumerate(op.operands)
            ]
            (turned,) = trait.permuted(op, orders, operands, build)
        if isinstance(turned.owner, Operation) and name_of(op) is not None:
            turned.owner.location = name_loc(self.names.new(derived_name(op, SUFFIX)))
        self.made[op.results[0], 1] = turned
        self.replaced.append(op)

    def _product(self, op: top.MatMulOp, build: Builder) -> SSAValue:
        """(x y)^T = y^T x^T, x as it is there."""
        as_it_is = (op.input, 1) not in self.made
        right = self._plain(op.input, op) if as_it_is else self.made[op.input, 1]
        product = rebuilt(
            op,
            operands=(self._value(op.right, 1, op), right, *op.operands[2:]),
            result_types=[swapped_type(op.output)],
        )
        product.right_transpose = BOOL.convert(as_it_is)
        return build.insert(product).output

    def _value(self, value: SSAValue, label: int, reader: Operation) -> SSAValue:
        """A value in one form; the one that is missing is made in front of its first reader."""
        if self.network.number(value) is None and label == 0:
            return value
        found = self.made.get((value, label))
        if found is not None:
            return found
        build = Builder(InsertPoint.before(reader))
        order = self.network.exchange.of(value)
        constant = value.owner if isinstance(value.owner, Operation) else None
        trait = None if constant is None else LayoutConstant.of(constant)
        made = None
        if trait is not None and constant is not None:
            made = trait.permuted(constant, order, build)
        if made is None:
            other = self.made.get((value, 1 - label), value)
            name = derived_name(value, "") if label == 0 else derived_name(value, SUFFIX)
            made = insert_permute(other, order, self._name(value, name, label), build)
        self.made[value, label] = made
        return made

    def _name(self, value: SSAValue, name: str, label: int) -> str:
        """What is there in both forms has its own name in the one that it had."""
        if label == 0 and value.owner in self.replaced:
            self.names.free(name)
        return self.names.new(name)
