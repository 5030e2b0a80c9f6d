"""The function of a module that is run from outside: where it is, what it takes and gives.

OneFlow's ops are told by their names: importing that dialect takes as long as the rest of a small
network's import, and few modules have a job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from typing_extensions import TypeIs
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import SymbolTable

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of

if TYPE_CHECKING:
    from xdsl_tpu.dialects.oneflow import JobOp

Main: TypeAlias = "func.FuncOp | JobOp"

_INPUTS = ("top.Input", "oneflow.input")


def is_job(op: Operation) -> TypeIs[JobOp]:
    """Whether an op is a OneFlow job."""
    return op.name == "oneflow.job"


def find_main(module: ModuleOp) -> tuple[ModuleOp, Main]:
    """Function `main`, or the only job, and the module it is in: this one or one directly inside.

    Raises TpuError when there is none.
    """
    scopes = (module, *(op for op in module.ops if isinstance(op, ModuleOp)))
    for scope in scopes:
        for op in scope.ops:
            if isinstance(op, func.FuncOp) and op.sym_name.data == "main":
                return scope, op
    jobs = [(scope, op) for scope in scopes for op in scope.ops if is_job(op)]
    if len(jobs) > 1:
        names = ", ".join(f"@{job.sym_name.data}" for _, job in jobs)
        raise TpuError(f"the module has {len(jobs)} jobs ({names}): leave one in it")
    if not jobs:
        raise TpuError("the module has no function @main and no oneflow.job")
    return jobs[0]


def input_names(main: Main) -> tuple[str, ...]:
    """One name per argument: of the input op that reads it, else of the argument itself."""
    return tuple(_input_name(argument) or f"arg{index}" for index, argument in enumerate(main.args))


def _input_name(argument: SSAValue) -> str | None:
    for use in argument.uses:
        if use.operation.name in _INPUTS:
            return name_of(use.operation)
    return name_of(argument)


def output_names(module: ModuleOp, main: Main) -> tuple[str, ...]:
    """One name per result of `main`: of the tensor it returns, made perhaps by a callee."""
    if is_job(main):
        values = main.returned
    elif (returned := main.get_return_op()) is not None:
        values = returned.arguments
    else:
        raise TpuError("function @main does not return")
    names = (_source_name(module, value) for value in values)
    return tuple(name or f"result{index}" for index, name in enumerate(names))


def _source_name(module: ModuleOp, value: SSAValue) -> str | None:
    owner = value.owner
    if isinstance(owner, func.CallOp):
        callee = SymbolTable.lookup_symbol(module, owner.callee)
        if isinstance(callee, func.FuncOp) and (returned := callee.get_return_op()) is not None:
            index = value.index if isinstance(value, OpResult) else 0
            return _source_name(module, returned.arguments[index])
    return name_of(value)
