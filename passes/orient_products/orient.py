"""The pass `orient-products`."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL
from xdsl_tpu.dialects.interfaces.layout import LayoutConstant, LayoutInterface
from xdsl_tpu.dialects.names import name_loc, name_of
from xdsl_tpu.dialects.top.layout.base import insert_permute
from xdsl_tpu.passes.graph import derived_name, rebuilt
from xdsl_tpu.passes.layout.names import Names, keep_returned_names
from xdsl_tpu.passes.module_state import State, chip_of, require_state
from xdsl_tpu.passes.orient_products.columns import SoftmaxToColumns
from xdsl_tpu.passes.orient_products.network import (
    LEFT,
    RIGHT,
    Network,
    is_swap,
    swapped_type,
    swapping,
)
from xdsl_tpu.passes.tensors import functions, shape_of

SUFFIX = "_turned"
"""What the name of a value ends with whose last two dimensions are exchanged."""


@dataclass(frozen=True)
class OrientProductsPass(ModulePass):
    """Write products transposed, and what lies between them, where fewer transpositions are left.

        Permute  8x48x196 -> 8x196x48
        Slice    8x196x16, three times            Slice   8x16x196, three times
        Permute  8x196x16 -> 8x16x196             MatMul  8x16x196 @ (8x16x196)^T
        MatMul   8x16x196 @ 8x196x16        ->    MatMul  8x16x16 @ 8x16x196
        MatMul   8x196x16 @ 8x16x16
        Permute  8x196x16 -> 8x16x196

    The transpose of x y is y^T x^T; element-wise ops, slices, paddings, concatenations and changes
    of shape in front of matrices do the same on transposed values; a softmax down columns becomes
    one along rows. Each such op is written one way or the other, as a minimum cut of their graph
    says: what is minimised are the cycles of the transpositions that are left, of softmaxes down
    columns, and of products, in which rows lie over the lanes. The right matrix may be read
    transposed for nothing. Everything else keeps its form. `chip` is a name or a `.toml`
    description.
    """

    name = "orient-products"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name, State.TOP_CALIBRATED)
        chip = chip_of(op, self.chip)
        with keep_returned_names(op):
            applier = GreedyRewritePatternApplier([SoftmaxToColumns(chip)])
            PatternRewriteWalker(applier).rewrite_module(op)
            for func in functions(op):
                network = Network.of(func, chip)
                if any(is_swap(op) or isinstance(op, top.SoftmaxOp) for op in network.ops):
                    labels = network.labels()
                    if any(labels):
                        _Rewriting(network, labels, Names(op)).run()


@dataclass
class _Rewriting:
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
            elif is_swap(op):
                self._swap(op, self.labels[number] if self._is_beside_turned(op) else 0)
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
        order = swapping(len(shape_of(value)))
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
