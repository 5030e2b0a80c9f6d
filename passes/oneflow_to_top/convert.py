"""The pass `convert-oneflow-to-top`."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context as XdslContext
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xdsl_tpu.dialects import oneflow
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters.stored import elements_of
from xdsl_tpu.dialects.main_function import input_names
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.oneflow.system import EndOp
from xdsl_tpu.dialects.random_masks import RANDOM_MASKS, masks_attribute
from xdsl_tpu.dialects.weights import (
    WEIGHT_FILE,
    Weights,
    attach,
    attached_weights,
    weights_of,
)
from xdsl_tpu.passes.module_state import State, set_module_attributes
from xdsl_tpu.passes.oneflow_to_top import elementwise, linear, movement, spatial
from xdsl_tpu.passes.oneflow_to_top.context import Context, Converters, result_shape

CONVERTERS: Converters = {
    **elementwise.CONVERTERS,
    **linear.CONVERTERS,
    **movement.CONVERTERS,
    **spatial.CONVERTERS,
}
"""Every op that can be converted, and how."""


@dataclass(frozen=True)
class ConvertOneFlowToTopPass(ModulePass):
    """Turn the module's one oneflow.job into a function @main of top ops.

        oneflow.job @net(%a) {                      func.func @main(%a) {
          %x = input(%a)                              %x = top.Input(%a)
          %w = variable() {op_name = "w"}      ==>    %w = top.Weight()             loc("w")
          %y = conv2d(%x, %w) {op_name = "c"}         %y = top.Conv(%x, %w, %none)  loc("c")
          return output(%y) }                         return %y }

    All tensors become f32. Variables are weights under their op_name. A random mask, of dropout or
    of random_mask_like, becomes an input of the function that `module.random_masks` describes, so
    that whoever runs the program makes it. Channels-last ops get permutes around them.

    Jobs must be for inference, with static shapes. All ops that cannot be converted are reported
    at once.
    """

    name = "convert-oneflow-to-top"

    def apply(self, ctx: XdslContext, op: ModuleOp) -> None:
        job = _only_job(op)
        context = Context(_variable_names(job))
        problems = list(_convert(context, job))
        if problems:
            listed = "".join(f"\n  {problem}" for problem in problems)
            raise TpuError(
                f"{self.name}: {len(problems)} of @{job.sym_name.data} cannot be converted:{listed}"
            )
        results = [context.value(value) for value in job.returned]
        context.block.add_op(ReturnOp(*results))
        kind = FunctionType.from_lists(
            [argument.type for argument in context.block.args], [value.type for value in results]
        )
        function = FuncOp("main", kind, Region(context.block))
        Rewriter.insert_op(function, InsertPoint.before(job))
        Rewriter.erase_op(job)
        _describe(op, job.sym_name.data, context)


def _only_job(module: ModuleOp) -> oneflow.JobOp:
    jobs = [op for op in module.ops if isinstance(op, oneflow.JobOp)]
    if len(jobs) != 1:
        names = ", ".join(f"@{job.sym_name.data}" for job in jobs) or "none"
        raise TpuError(f"the module must have one oneflow.job, not {len(jobs)} ({names})")
    if not jobs[0].body.blocks:
        raise TpuError(f"job @{jobs[0].sym_name.data} has no body")
    return jobs[0]


def _variable_names(job: oneflow.JobOp) -> Iterator[str]:
    for op in job.walk():
        if (
            isinstance(op, oneflow.VariableOp | oneflow.VariableIROp)
            and (name := name_of(op)) is not None
        ):
            yield name


def _convert(context: Context, job: oneflow.JobOp) -> Iterator[str]:
    """Convert all ops in order; yields what is wrong."""
    for name, argument in zip(input_names(job), job.args, strict=True):
        context.bind(argument, context.input(name, result_shape(argument)))
    failed: set[Operation] = set()
    for op in job.body.block.ops:
        if any(operand.owner in failed for operand in op.operands):
            failed.add(op)  # only the first of a chain is worth a message
            continue
        try:
            _convert_op(context, op)
        except TpuError as error:
            failed.add(op)
            yield f'{op.name} "{name_of(op)}": {error}'


def _convert_op(context: Context, op: Operation) -> None:
    match op:
        case oneflow.ReturnOp():
            return
        case EndOp():
            context.bind(op.output, context.value(op.input))
        case oneflow.VariableOp():
            context.bind(op.output, context.weight(op))
        case oneflow.VariableIROp():
            context.bind(op.output, context.weight(op))
            context.constants[str(name_of(op))] = elements_of(op)
        case _ if (converter := CONVERTERS.get(type(op))) is not None:
            converter(context, op)
        case _:
            raise TpuError("top has no such op")


def _describe(module: ModuleOp, name: str, context: Context) -> None:
    """Record on the module what it is now, and make sure it has weights if it knows of any."""
    changes: dict[str, Attribute] = {
        "module.chip": StringAttr("ALL"),
        "module.platform": StringAttr("ONEFLOW"),
        "module.state": StringAttr(State.TOP_F32),
        "module.top_run_mode": StringAttr("STATIC"),
    }
    if context.masks:
        changes[RANDOM_MASKS] = masks_attribute(context.masks)
    if module.sym_name is None:
        module.sym_name = StringAttr(name)
    if WEIGHT_FILE not in module.attributes and not context.has_weights:
        changes[WEIGHT_FILE] = StringAttr(f"{name}_top_f32_all_origin_weight.npz")
        if attached_weights(module) is None:
            attach(module, Weights())
    set_module_attributes(module, changes)
    if context.constants and attached_weights(module) is None:
        attach(module, Weights())
    for constant, values in context.constants.items():
        weights_of(module)[constant] = values
