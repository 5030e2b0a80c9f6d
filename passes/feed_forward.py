"""Feed-forward blocks of transformers as they are spelt in single ops."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import f16
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none, is_ranked_tensor
from xdsl_tpu.passes.graph import producer
from xdsl_tpu.passes.tensors import is_weight, number_type, shape_of, size_in_bytes

Product = tpu.A16MatMulOp | tpu.MatMulOp


@dataclass(frozen=True)
class Block:
    """The ops of a feed-forward block; without `up` and `both` nothing is multiplied."""

    gate: Product
    active: tpu.ActiveOp
    up: Product | None
    both: tpu.MulOp | None
    down: Product

    @property
    def products(self) -> list[Product]:
        """All of them."""
        return [self.gate, *([] if self.up is None else [self.up]), self.down]

    @property
    def ops(self) -> list[Operation]:
        """All ops, users first."""
        inner = (self.both, self.active, self.gate, self.up)
        return [self.down, *(op for op in inner if op is not None)]

    @property
    def between(self) -> list[SSAValue]:
        """What is neither read nor given."""
        return [op.results[0] for op in self.ops[1:]]

    @property
    def is_packed(self) -> bool:
        """Whether the matrices have few bits."""
        return isinstance(self.down, tpu.A16MatMulOp)

    def matrix_bytes(self) -> int:
        """Bytes of all matrices."""
        return sum(size_in_bytes(matrix_of(one)) for one in self.products)


def find(op: Operation, chip: Chip) -> Block | None:
    """The block that ends with `op`, for more rows than there are lanes."""
    if not isinstance(op, Product) or math.prod(shape_of(op.output)[:-1]) <= chip.lanes:
        return None
    return next((block for block in _ending_with(op) if _fits(block)), None)


def _ending_with(down: Product) -> Iterator[Block]:
    active = producer(down.input, tpu.ActiveOp)
    if active is not None:
        gate = active.input.owner
        if isinstance(gate, Product):
            yield Block(gate, active, None, None, down)
    both = producer(down.input, tpu.MulOp)
    if both is None or len(both.inputs) != 2 or both.do_relu.value.data:
        return
    for first, second in (both.inputs, both.inputs[::-1]):
        active, up = producer(first, tpu.ActiveOp), second.owner
        gate = None if active is None else active.input.owner
        if active is not None and isinstance(gate, Product) and isinstance(up, Product):
            yield Block(gate, active, up, both, down)


def _fits(block: Block) -> bool:
    """Whether one op says the same."""
    first = [one for one in block.products if one is not block.down]
    shapes = {shape_of(value) for value in block.between}
    rows = shape_of(block.down.input)[:-1]
    return (
        len({type(one) for one in block.products}) == 1
        and all(map(_is_plain, block.products))
        and len({_form(one) for one in block.products}) == 1
        and len({id(one) for one in first}) == len(first)
        and len({id(one.input) for one in first}) == 1
        and len(shapes) == 1
        and shape_of(block.gate.input)[:-1] == rows == shape_of(block.down.output)[:-1]
        and block.active.coeffs is None
        and number_type(block.gate.input) == number_type(block.down.output) == f16
        and all(number_type(value) == f16 and value.has_one_use() for value in block.between)
    )


def around(block: Block) -> list[Operation]:
    """What a layer group could hold besides: the sum behind the block, and what is in front of it
    back to a product and to the sum with that."""
    found: list[Operation] = []
    use = block.down.output.get_unique_use()
    if use is not None and isinstance(use.operation, tpu.AddOp):
        found.append(use.operation)
    value = block.gate.input
    while isinstance(op := value.owner, Operation) and not isinstance(op, top.InputOp):
        found.append(op)
        inputs = [one for one in op.operands if is_ranked_tensor(one.type) and not is_weight(one)]
        if isinstance(op, Product) or not inputs:
            break
        made = [one for one in inputs if isinstance(one.owner, Product)]
        if len(inputs) > 1 and not made:
            break
        value = (made or inputs)[0]
    return found


def matrix_of(product: Product) -> SSAValue:
    """The operand with the weights."""
    return product.weight if isinstance(product, tpu.A16MatMulOp) else product.right


def _form(product: Product) -> tuple[object, ...]:
    """What the matrices of a block have in common."""
    if isinstance(product, tpu.A16MatMulOp):
        return product.weight_bits, product.q_group_size
    return ()


def _is_plain(product: Product) -> bool:
    """Whether it is rows times a constant matrix, and a constant row at most."""
    bias = product.bias
    outputs = shape_of(product.output)[-1]
    row = is_none(bias) or (is_weight(bias) and math.prod(shape_of(bias)) == outputs)
    if not row or not is_weight(matrix_of(product)):
        return False
    if isinstance(product, tpu.A16MatMulOp):
        return bool(product.w_transpose.value.data) and product.residual is None
    flags = (
        product.do_relu,
        product.left_transpose,
        product.output_transpose,
        product.hdim_is_batch,
    )
    matrix = shape_of(product.right)
    whole = math.prod(matrix) == math.prod(matrix[-2:]) and number_type(product.right) == f16
    return whole and not any(flag.value.data for flag in flags)
