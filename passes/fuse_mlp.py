"""The pass `fuse-mlp`."""

import math
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f16
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.precision import Precision, precision_of
from xdsl_tpu.passes.graph import producer
from xdsl_tpu.passes.module_state import State, chip_of, require_state
from xdsl_tpu.passes.tensors import functions, number_type, shape_of


@dataclass(frozen=True)
class FuseMlpPass(ModulePass):
    """Make one op of the gated feed-forward block of a language model.

        %g = A16MatMul(%x, gate)
        %s = Active(%g) {SILU}
        %u = A16MatMul(%x, up)          ->    %y = Mlp(%x, gate, up, down)
        %h = Mul(%s, %u)
        %y = A16MatMul(%h, down)

    What lies between the products then stays in local memory. Only for more rows than `chip`, a
    name or a `.toml` description, has lanes: with few rows the matrices take all the time. The
    products have no biases, equal bits and groups, and no other users; SiLU is in f16.
    """

    name = "fuse-mlp"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        chip = chip_of(op, self.chip)
        for func in functions(op):
            for inner in list(func.body.block.ops):
                found = _match(inner, chip)
                if found is not None:
                    _replace(found)


@dataclass(frozen=True)
class _Block:
    """The ops of a feed-forward block."""

    gate: tpu.A16MatMulOp
    silu: tpu.ActiveOp
    up: tpu.A16MatMulOp
    both: tpu.MulOp
    down: tpu.A16MatMulOp


def _match(op: Operation, chip: Chip) -> _Block | None:
    """The block that ends with `op`."""
    if not isinstance(op, tpu.A16MatMulOp) or math.prod(shape_of(op.output)[:-1]) <= chip.lanes:
        return None
    both = producer(op.input, tpu.MulOp)
    if both is None or len(both.inputs) != 2 or both.do_relu.value.data:
        return None
    for first, second in (both.inputs, both.inputs[::-1]):
        silu, up = producer(first, tpu.ActiveOp), producer(second, tpu.A16MatMulOp)
        gate = None if silu is None else producer(silu.input, tpu.A16MatMulOp)
        if silu is None or up is None or gate is None:
            continue
        block = _Block(gate, silu, up, both, op)
        if _fits(block):
            return block
    return None


def _fits(block: _Block) -> bool:
    products = (block.gate, block.up, block.down)
    form = {(one.weight_bits, one.q_group_size, one.w_transpose) for one in products}
    between = (block.gate.output, block.silu.output, block.up.output, block.both.output)
    return (
        len(form) == 1
        and bool(block.down.w_transpose.value.data)
        and block.silu.mode.data.value == "SILU"
        and precision_of(block.down) is not Precision.FULL
        and all(number_type(value) == f16 and value.has_one_use() for value in between)
        and block.gate is not block.up
        and block.gate.input is block.up.input
        and all(is_none(one.bias) for one in products)
    )


def _replace(block: _Block) -> None:
    none = block.down.bias
    operands: list[SSAValue] = [block.gate.input]
    for one in (block.gate, block.up, block.down):
        operands += [one.weight, one.scale, one.zp, one.bias]
    made = tpu.MlpOp.make(
        block.down.location,
        (*operands, none, none),
        result_types=(block.down.output.type,),
        w_transpose_down=True,
        quantized=True,
        q_group_size=block.down.q_group_size,
        weight_bits=block.down.weight_bits,
    )
    Builder(InsertPoint.before(block.down)).insert(made)
    block.down.output.replace_all_uses_with(made.output)
    for old in (block.down, block.both, block.silu, block.gate, block.up):
        old.detach()
        old.erase()
