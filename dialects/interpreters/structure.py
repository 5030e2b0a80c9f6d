"""What gives a module its shape: inputs, weights, absent values, groups, branches and loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Operation

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters.call import where
from xdsl_tpu.dialects.interpreters.elements import conform
from xdsl_tpu.dialects.interpreters.loops import run_loop
from xdsl_tpu.dialects.interpreters.stored import stored_value

Array = npt.NDArray[Any]


@register_impls
class StructureFunctions(InterpreterFunctions):
    """Functions that need the weights or other regions, not only their operands."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self.weights = weights

    @impl(top.NoneOp)
    def run_none(
        self, interpreter: Interpreter, op: top.NoneOp, args: PythonValues
    ) -> PythonValues:
        return (None,)

    @impl(top.InputOp)
    def run_input(
        self, interpreter: Interpreter, op: top.InputOp, args: PythonValues
    ) -> PythonValues:
        return (conform(args[0], op.output.type),)

    @impl(top.WeightOp)
    def run_weight(
        self, interpreter: Interpreter, op: top.WeightOp, args: PythonValues
    ) -> PythonValues:
        if op.inline_bytes is not None:
            raise TpuError(f"{where(op)}: inline weights have no interpreter semantics")
        return (stored_value(op, self.weights),)

    @impl(tpu.BufferOp)
    def run_buffer(
        self, interpreter: Interpreter, op: tpu.BufferOp, args: PythonValues
    ) -> PythonValues:
        return (None,)

    @impl(tpu.OutBufferOp)
    def run_out_buffer(
        self, interpreter: Interpreter, op: tpu.OutBufferOp, args: PythonValues
    ) -> PythonValues:
        return (None,)

    @impl(tpu.GroupOp)
    def run_group(
        self, interpreter: Interpreter, op: tpu.GroupOp, args: PythonValues
    ) -> PythonValues:
        """The body once, on whole tensors: how a group slices its work changes no value."""
        return interpreter.run_ssacfg_region(op.body, (), "group")

    @impl(top.IfOp)
    def run_top_if(
        self, interpreter: Interpreter, op: top.IfOp, args: PythonValues
    ) -> PythonValues:
        return self._branch(interpreter, op, args)

    @impl(tpu.IfOp)
    def run_tpu_if(
        self, interpreter: Interpreter, op: tpu.IfOp, args: PythonValues
    ) -> PythonValues:
        return self._branch(interpreter, op, args)

    def _branch(
        self, interpreter: Interpreter, op: top.IfOp | tpu.IfOp, args: PythonValues
    ) -> PythonValues:
        taken = op.then_branch if args[0].reshape(-1)[0] else op.else_branch
        return interpreter.run_ssacfg_region(taken, (), "if")

    @impl(top.LoopOp)
    def run_top_loop(
        self, interpreter: Interpreter, op: top.LoopOp, args: PythonValues
    ) -> PythonValues:
        return run_loop(
            op, args, lambda given: interpreter.run_ssacfg_region(op.body, tuple(given), "loop")
        )

    @impl_terminator(top.YieldOp)
    def run_top_yield(
        self, interpreter: Interpreter, op: top.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl_terminator(tpu.YieldOp)
    def run_tpu_yield(
        self, interpreter: Interpreter, op: tpu.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()


STRUCTURE_OPS: frozenset[type[Operation]] = frozenset(
    (
        top.NoneOp,
        top.InputOp,
        top.WeightOp,
        tpu.BufferOp,
        tpu.OutBufferOp,
        tpu.GroupOp,
        top.IfOp,
        tpu.IfOp,
        top.LoopOp,
        top.YieldOp,
        tpu.YieldOp,
    )
)
