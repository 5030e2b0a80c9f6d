"""What gives a job its shape: the job itself, inputs, outputs and variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy.typing as npt
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_callable,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Operation

from xdsl_tpu.dialects import oneflow
from xdsl_tpu.dialects.interpreters.elements import conform
from xdsl_tpu.dialects.interpreters.stored import elements_of, stored_value

Array = npt.NDArray[Any]


@register_impls
class JobFunctions(InterpreterFunctions):
    """Functions that need the weights or the job's body, not only operands."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self.weights = weights

    @impl_callable(oneflow.JobOp)
    def call_job(
        self, interpreter: Interpreter, op: oneflow.JobOp, args: PythonValues
    ) -> PythonValues:
        return interpreter.run_ssacfg_region(op.body, args, op.sym_name.data)

    @impl_terminator(oneflow.ReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: oneflow.ReturnOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(oneflow.InputOp)
    def run_input(
        self, interpreter: Interpreter, op: oneflow.InputOp, args: PythonValues
    ) -> PythonValues:
        return self._passed(op, args)

    @impl(oneflow.OutputOp)
    def run_output(
        self, interpreter: Interpreter, op: oneflow.OutputOp, args: PythonValues
    ) -> PythonValues:
        return self._passed(op, args)

    @impl(oneflow.VariableOp)
    def run_variable(
        self, interpreter: Interpreter, op: oneflow.VariableOp, args: PythonValues
    ) -> PythonValues:
        return (stored_value(op, self.weights), *(None for _ in op.results[1:]))

    @impl(oneflow.VariableIROp)
    def run_variable_ir(
        self, interpreter: Interpreter, op: oneflow.VariableIROp, args: PythonValues
    ) -> PythonValues:
        return (elements_of(op),)

    def _passed(self, op: Operation, args: PythonValues) -> PythonValues:
        """The first operand; control results hold nothing."""
        return (conform(args[0], op.results[0].type), *(None for _ in op.results[1:]))


JOB_OPS: Final[frozenset[type[Operation]]] = frozenset(
    (
        oneflow.ReturnOp,
        oneflow.InputOp,
        oneflow.OutputOp,
        oneflow.VariableOp,
        oneflow.VariableIROp,
    )
)
