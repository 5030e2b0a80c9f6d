"""The passes `trunc-io` and `trunc-layer`: a part of a network as a network."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, NoneType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.pipeline import did_you_mean
from xdsl_tpu.passes.tensors import functions


@dataclass(frozen=True)
class TruncIoPass(ModulePass):
    """Cut a network out: from the tensors `inputs` to the tensors `outputs`.

        %0 = Input(%arg0) loc("x")
        %1 = Conv(%0) loc("a")             %1 = Input(%arg0) loc("a")
        %2 = Relu(%1) loc("b")       ->    %2 = Relu(%1) loc("b")
        %3 = Softmax(%2) loc("c")          return %2
        return %3

    Without `inputs` or `outputs` the network's own remain, as far as they are needed. Nothing else
    changes; what nothing needs any more goes. Works on top IR and on tpu IR before `subnet-divide`.
    `weight_shared` and `trunc_mode` are the vendor's: weights stay in their file, and a value is
    cut where it is made.
    """

    name = "trunc-io"

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    weight_shared: bool = False
    trunc_mode: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        cut_out(op, self.inputs, self.outputs, self.name)


@dataclass(frozen=True)
class TruncLayerPass(ModulePass):
    """End a network at the tensors `cut_locs`; see `trunc-io`.

    %1 = Relu(%0) loc("a")             %1 = Relu(%0) loc("a")
    %2 = Softmax(%1) loc("b")    ->    return %1
    return %2
    """

    name = "trunc-layer"

    cut_locs: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        cut_out(op, (), self.cut_locs, self.name)


def cut_out(
    module: ModuleOp, inputs: Sequence[str], outputs: Sequence[str], pass_name: str
) -> None:
    """Keep what lies between tensors of these names.

    Raises TpuError for a name that no tensor has, and for a divided module.
    """
    found = list(functions(module))
    if len(found) != 1:
        raise TpuError(
            f"{pass_name}: the module has {len(found)} functions; cut it before subnet-divide"
        )
    (func,) = found
    block = func.body.block
    starts, ends = _named(func, inputs, pass_name), _named(func, outputs, pass_name)
    last = block.last_op
    assert isinstance(last, ReturnOp)
    if ends:
        ended = ReturnOp(*ends)
        ended.location = last.location
        last.detach()
        last.erase()
        block.add_op(ended)
    for value in starts:
        _begin_at(func, value)
    remove_unused(func)
    func.update_function_type()


def _named(func: FuncOp, names: Iterable[str], pass_name: str) -> list[SSAValue]:
    values = {
        name: result
        for op in func.body.block.ops
        for result in op.results
        if not isinstance(op, top.WeightOp) and not isinstance(result.type, NoneType)
        if (name := name_of(result)) is not None
    }
    for name in names:
        if name not in values:
            near = did_you_mean(name, list(values))
            raise TpuError(f"{pass_name}: no tensor is called '{name}'{near}")
    return [values[name] for name in names]


def _begin_at(func: FuncOp, value: SSAValue) -> None:
    """Let a value come from outside, under its name."""
    if isinstance(value.owner, top.InputOp):
        return
    block = func.body.block
    argument = block.insert_arg(value.type, len(block.args))
    entry = top.InputOp.make(name_of(value) or "", (argument,), result_types=[value.type])
    first = block.first_op
    assert first is not None
    block.insert_op_before(entry, first)
    value.replace_uses_with_if(entry.output, lambda use: use.operation is not entry)


def remove_unused(func: FuncOp) -> None:
    """Erase ops that no result of the function needs, and arguments that no op takes."""
    block = func.body.block
    for op in reversed(list(block.ops)):
        if not isinstance(op, ReturnOp) and not _is_used(op):
            op.detach()
            op.erase()
    for argument in list(block.args):
        if argument.first_use is None:
            block.erase_arg(argument)


def _is_used(op: Operation) -> bool:
    return any(result.first_use is not None for result in op.results)
