"""The pass `subnet-divide`."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnknownLoc,
    i32,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.tpu import RunMode, RunModeAttr
from xdsl_tpu.passes.module_state import State, require_state, set_module_attributes
from xdsl_tpu.passes.tensors import required_name

LAST = -1
"""The `next_index` of a function after which nothing runs."""


@dataclass(frozen=True)
class SubnetDividePass(ModulePass):
    """Split `@main` into what the host does and the function the chip runs.

    The chip's part becomes `@subfunc_0`, in an inner module (one per device); `@main` keeps the
    inputs and calls it. The names of inputs and outputs are recorded on the outer module.
    """

    name = "subnet-divide"

    dynamic: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_REORDERED, self.name)
        if self.dynamic:
            raise TpuError(f"{self.name}: dynamic=true is not supported: shapes must be constant")
        main = _only_function(op, self.name)
        outputs = tuple(_return_of(main).operands)
        set_module_attributes(
            op,
            {
                "module.state": StringAttr(State.TPU_DIVIDED),
                "module.inputs": _names(_inputs_of(main)),
                "module.outputs": _names(outputs),
            },
        )
        subfunc = _split(main)
        main.detach()
        op.body.block.add_op(_device_module(op, [main, subfunc]))


def _only_function(module: ModuleOp, pass_name: str) -> FuncOp:
    ops = list(module.body.block.ops)
    if len(ops) != 1 or not isinstance(ops[0], FuncOp):
        raise TpuError(f"{pass_name}: the module must hold one function and nothing else")
    return ops[0]


def _inputs_of(func: FuncOp) -> list[SSAValue]:
    return [op.output for op in func.body.block.ops if isinstance(op, top.InputOp)]


def _return_of(func: FuncOp) -> ReturnOp:
    last = func.body.block.last_op
    if not isinstance(last, ReturnOp):
        raise TpuError(f"function @{func.sym_name.data} does not end in a return")
    return last


def _names(values: Sequence[SSAValue]) -> ArrayAttr[StringAttr]:
    return ArrayAttr([StringAttr(required_name(value)) for value in values])


def _split(main: FuncOp) -> FuncOp:
    """Move everything but the inputs and the return of `main` into a function it calls."""
    inputs, returned = _inputs_of(main), _return_of(main)
    moved = [op for op in main.body.block.ops if not isinstance(op, top.InputOp | ReturnOp)]
    body = Block(arg_types=[value.type for value in inputs])
    for argument, value in zip(body.args, inputs, strict=True):
        assert isinstance(value.owner, Operation)
        argument.location = value.owner.location
    types = FunctionType.from_lists(
        [value.type for value in inputs], [value.type for value in returned.operands]
    )
    subfunc = FuncOp("subfunc_0", types, Region(body))
    subfunc.attributes = {
        "id": IntegerAttr(0, i64),
        "mode": RunModeAttr(RunMode.TPU_STATIC),
        "next_index": DenseArrayBase.from_list(i32, [LAST]),
    }
    results = tuple(returned.operands)
    call = CallOp("subfunc_0", inputs, [value.type for value in results])
    for op in moved:
        op.detach()
        body.add_op(op)
    body.add_op(ReturnOp(*results))
    for argument, value in zip(body.args, inputs, strict=True):
        value.replace_uses_with_if(argument, lambda use: use.operation.parent is body)
    Builder(InsertPoint.before(returned)).insert(call)
    for place, result in enumerate(call.results):
        returned.operands[place] = result
    return subfunc


def _device_module(outer: ModuleOp, functions: list[FuncOp]) -> ModuleOp:
    inner = ModuleOp(list(functions), sym_name=outer.sym_name)
    inner.location = UnknownLoc()
    set_module_attributes(
        inner, {"module.device_id": IntegerAttr(0, i64), "module.step": IntegerAttr(0, i64)}
    )
    return inner
