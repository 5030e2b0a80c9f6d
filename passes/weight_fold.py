"""The pass `weight-fold`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.quant import stored_element
from xdsl_tpu.dialects.weights import Weights, known_weights
from xdsl_tpu.passes.tensors import element_of, functions, is_weight, required_name
from xdsl_tpu.passes.weight_data import stored_as

if TYPE_CHECKING:
    from xdsl_tpu.dialects.interpreters import TensorInterpreter


@dataclass(frozen=True)
class WeightFoldPass(ModulePass):
    """Evaluate tpu ops all of whose operands are weights.

        %1 = Cast(%w : f32) : f16  loc("c")    ->    %1 = Weight() : f16  loc("c")

    Results that the function returns, and ops without interpreter semantics, stay. So does
    everything in a module without weights, whose numbers are not known.
    """

    name = "weight-fold"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = known_weights(op)
        if weights is None:
            return
        fold: Callable[[Operation], None] | None = None
        for func in functions(op):
            for inner in list(func.body.block.ops):
                if _is_constant(inner):
                    fold = fold or _folder(op, weights)
                    fold(inner)


def _folder(module: ModuleOp, weights: Weights) -> Callable[[Operation], None]:
    """What folds an op that has semantics; made for the first one: few networks have any."""
    from xdsl_tpu.dialects.interpreters import SUPPORTED_OPS, TensorInterpreter

    interpreter = TensorInterpreter.of(module, weights)

    def fold(op: Operation) -> None:
        if type(op) in SUPPORTED_OPS:
            _fold(op, interpreter, weights)

    return fold


def _is_constant(op: Operation) -> bool:
    if op.dialect_name() != tpu.Tpu.name or op.regions:
        return False
    if not any(map(is_weight, op.operands)):
        return False
    if any(isinstance(use.operation, ReturnOp) for result in op.results for use in result.uses):
        return False
    return all(is_weight(operand) or is_none(operand) for operand in op.operands)


def _fold(op: Operation, interpreter: TensorInterpreter, weights: Weights) -> None:
    inputs = tuple(
        value for operand in op.operands for value in interpreter.run_op(_owner(operand))
    )
    block = op.parent
    assert block is not None
    for result, values in zip(op.results, interpreter.run_op(op, inputs), strict=True):
        name = required_name(result)
        weights[name] = stored_as(values, stored_element(element_of(result)))
        folded = top.WeightOp.make(name, (), result_types=(result.type,))
        block.insert_op_before(folded, op)
        result.replace_all_uses_with(folded.output)
    operands = dict.fromkeys(op.operands)
    op.detach()
    op.erase()
    for operand in operands:
        if operand.first_use is None and isinstance(operand.owner, top.WeightOp):
            weights.pop(required_name(operand), None)
            operand.owner.detach()
            operand.owner.erase()


def _owner(value: SSAValue) -> Operation:
    assert isinstance(value.owner, Operation)
    return value.owner
