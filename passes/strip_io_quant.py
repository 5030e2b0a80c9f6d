"""The pass `strip-io-quant`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.module_state import State, require_state
from xdsl_tpu.passes.tensors import functions
from xdsl_tpu.passes.types import set_type


@dataclass(frozen=True)
class StripIoQuantPass(ModulePass):
    """Let a network take and give tensors of its inner type, without casts at the border.

    By default nothing changes. `quant_input` drops the casts behind inputs all of whose users
    are casts to one type; `quant_output` drops the casts in front of the return.

        %0 = Input(%arg0) : f32        %0 = Input(%arg0) : f16
        %1 = Cast(%0) : f16       ->   %2 = Conv2D(%0, ..)
        %2 = Conv2D(%1, ..)

    The lists of single inputs and outputs, and the options that force bf16 or int8, are the
    vendor's; they must keep their defaults.
    """

    name = "strip-io-quant"

    quant_input: bool = False
    quant_output: bool = False
    quant_input_list: str = ""
    quant_output_list: str = ""
    quant_output_bf16: bool = False
    quant_input_int8: bool = False
    quant_output_int8: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        if self.quant_input_list or self.quant_output_list:
            raise TpuError(f"{self.name}: lists of inputs and outputs are not supported")
        if self.quant_output_bf16 or self.quant_input_int8 or self.quant_output_int8:
            raise TpuError(f"{self.name}: changing the type of inputs and outputs is not supported")
        for func in functions(op):
            if self.quant_input:
                _strip_inputs(func)
            if self.quant_output:
                _strip_outputs(func)
            func.update_function_type()


def _strip_inputs(func: FuncOp) -> None:
    for op in list(func.body.block.ops):
        if not isinstance(op, top.InputOp):
            continue
        casts = [use.operation for use in op.output.uses]
        types = {cast.results[0].type for cast in casts if isinstance(cast, tpu.CastOp)}
        if len(types) != 1 or not all(isinstance(cast, tpu.CastOp) for cast in casts):
            continue
        (inner,) = types
        set_type(op.input, inner)
        set_type(op.output, inner)
        for cast in casts:
            cast.results[0].replace_all_uses_with(op.output)
            _erase(cast.results[0])


def _strip_outputs(func: FuncOp) -> None:
    last = func.body.block.last_op
    assert isinstance(last, ReturnOp)
    for place, value in enumerate(tuple(last.operands)):
        cast = value.owner
        if isinstance(cast, tpu.CastOp):
            last.operands[place] = cast.input
            if cast.output.first_use is None:
                _erase(cast.output)


def _erase(value: SSAValue) -> None:
    op = value.owner
    assert isinstance(op, tpu.CastOp)
    op.detach()
    op.erase()
