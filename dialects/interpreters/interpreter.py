"""An xDSL interpreter for tensors: lets go of dead values and says where things go wrong."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter, InterpreterFunctions, OpImplResult, PythonValues
from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.dialects import oneflow, top, tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters.call import dimensions, where
from xdsl_tpu.dialects.interpreters.families import (
    activation,
    convolution,
    creation,
    elementwise,
    indexing,
    language_models,
    linear,
    movement,
    normalization,
    pooling,
    quantized,
    recurrent,
    resize,
)
from xdsl_tpu.dialects.interpreters.functions import FuncFunctions
from xdsl_tpu.dialects.interpreters.oneflow import ONEFLOW_FAMILIES
from xdsl_tpu.dialects.interpreters.oneflow.structure import JOB_OPS, JobFunctions
from xdsl_tpu.dialects.interpreters.registry import Rules, functions_of
from xdsl_tpu.dialects.interpreters.structure import STRUCTURE_OPS, StructureFunctions
from xdsl_tpu.dialects.names import name_of

Array = npt.NDArray[Any]
Trace = Callable[[str, Array], None]

FAMILIES: Final[Mapping[str, Rules]] = {
    "activation": activation.RULES,
    "convolution": convolution.RULES,
    "creation": creation.RULES,
    "elementwise": elementwise.RULES,
    "indexing": indexing.RULES,
    "language_models": language_models.RULES,
    "linear": linear.RULES,
    "movement": movement.RULES,
    "normalization": normalization.RULES,
    "pooling": pooling.RULES,
    "quantized": quantized.RULES,
    "recurrent": recurrent.RULES,
    "resize": resize.RULES,
    **ONEFLOW_FAMILIES,
}
EXACT_FAMILIES: Final = frozenset({"movement"})
"""Families that only move elements, whose results need no rounding."""

_UNTRACED: Final = (top.WeightOp, tpu.LoadOp, tpu.StoreOp, tpu.GroupOp, func.CallOp,
                    oneflow.VariableOp)  # fmt: skip
"""Ops whose results are constants, or tensors that another op has already shown."""

SUPPORTED_OPS: Final[frozenset[type[Operation]]] = STRUCTURE_OPS.union(
    JOB_OPS,
    (func.CallOp, func.ReturnOp),
    (op for rules in FAMILIES.values() for ops in rules.values() for op in ops),
)
"""The ops that have interpreter semantics."""


@functools.cache
def _family_functions() -> tuple[InterpreterFunctions, ...]:
    """The functions of all families; they hold no state, so every interpreter shares them."""
    return tuple(
        functions_of(family, rules, family in EXACT_FAMILIES, quantized.VARIANTS)
        for family, rules in FAMILIES.items()
    )


class TraceListener(Interpreter.Listener):
    """Hands every tensor with a name to a callback."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        if isinstance(op, _UNTRACED):
            return
        for result, value in zip(op.results, results, strict=True):
            name = name_of(result)
            if name is not None and value is not None:
                self.trace(name, value)


def last_uses(blocks: Iterable[Block]) -> dict[Operation, list[SSAValue]]:
    """For each op, the values of its own block that nothing after it in that block reads.

    What an op's regions read counts as read by the op, so a loop may read it again.
    """
    dying: dict[Operation, list[SSAValue]] = {}
    for block in blocks:
        last: dict[SSAValue, Operation] = {}
        for op in block.ops:
            for inner in op.walk():
                for operand in inner.operands:
                    if _block_of(operand) is block:
                        last[operand] = op
        for value, op in last.items():
            dying.setdefault(op, []).append(value)
    return dying


def _block_of(value: SSAValue) -> Block | None:
    owner = value.owner
    return owner if isinstance(owner, Block) else owner.parent


@dataclass
class TensorInterpreter(Interpreter):
    """Interprets `top`, `tpu` and `oneflow` functions on numpy arrays.

    What floating point does with overflow and invalid operands is IEEE's and gives no warnings.
    A value is dropped after the last op of its block that reads it, so that a network needs
    memory for its widest point only, not for all its tensors.
    """

    values: dict[SSAValue, Any] = field(default_factory=dict[SSAValue, Any])
    dying: dict[Operation, list[SSAValue]] = field(default_factory=dict[Operation, list[SSAValue]])

    @classmethod
    def of(
        cls, module: ModuleOp, weights: Mapping[str, Array], listeners: Sequence[Any] = ()
    ) -> TensorInterpreter:
        """An interpreter of `module` with all implementations registered."""
        interpreter = cls(module, listeners=tuple(listeners))
        blocks = [block for op in module.walk() for region in op.regions for block in region.blocks]
        interpreter.dying = last_uses(blocks)
        interpreter.register_implementations(FuncFunctions())
        interpreter.register_implementations(StructureFunctions(weights))
        interpreter.register_implementations(JobFunctions(weights))
        for functions in _family_functions():
            interpreter.register_implementations(functions)
        return interpreter

    def get_values(self, values: Iterable[SSAValue]) -> tuple[Any, ...]:
        return tuple(self.values[value] for value in values)

    def set_values(self, pairs: Iterable[tuple[SSAValue, Any]]) -> None:
        self.values.update(pairs)

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        if type(op) not in SUPPORTED_OPS:
            raise TpuError(f"{where(op)} has no interpreter semantics")
        try:
            with np.errstate(all="ignore"):
                result = super()._run_op(op, inputs)
        except (ValueError, IndexError, TypeError, KeyError) as error:
            if isinstance(error, TpuError):
                raise
            raise TpuError(
                f"{where(op)} on operands of {dimensions(inputs) or 'nothing'}: {error}"
            ) from error
        for value in self.dying.get(op, ()):
            self.values.pop(value, None)
        return result
