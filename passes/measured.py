"""A part of a network as a network of its own, and what its commands take."""

from collections.abc import Collection, Iterable

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, IntegerAttr, ModuleOp, StringAttr, TensorType, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing import Timeline, simulate
from xdsl_tpu.backend.timing.gdma_cost import Direction, direction_of
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_ranked_tensor
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.quant import CalibratedType
from xdsl_tpu.dialects.records import record
from xdsl_tpu.dialects.weights import Weights, attach, known_weights, weights_of
from xdsl_tpu.passes.graph import module_of
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.tensors import element_bytes, element_of, number_type, required_name, shape_of


def cut_out(ops: Collection[Operation], name: str, values: bool = True) -> ModuleOp:
    """A module `name` of some ops of a block, whose other operands become its inputs and whose
    results that others read its outputs.

    Weights come along, as zeros where nobody knows them or `values` do not matter.
    """
    network = module_of(next(iter(ops)))
    inside = _in_order(ops)
    made = dict.fromkeys(result for op in inside for result in op.results)
    read = dict.fromkeys(value for op in inside for value in op.operands)
    outer = [value for value in read if value not in made]
    block = Block(arg_types=[_without_range(value) for value in outer])
    new: dict[SSAValue, SSAValue] = {}
    for place, (value, argument) in enumerate(zip(outer, block.args, strict=True)):
        entry = top.InputOp.make(f"in{place}", (argument,), result_types=[argument.type])
        block.add_op(entry)
        new[value] = entry.results[0]
    for op in inside:
        block.add_op(op.clone(new))
        for result in op.results:
            if is_ranked_tensor(result.type) and _without_range(result) != result.type:
                kind = _without_range(result)
                new[result] = Rewriter.replace_value_with_new_type(new[result], kind)
    results = [new[value] for value in made if _is_read_outside(value, ops)]
    block.add_op(ReturnOp(*results))
    kind = FunctionType.from_lists([v.type for v in outer], [v.type for v in results])
    module = ModuleOp([FuncOp("main", kind, Region(block))], sym_name=StringAttr(name))
    module.attributes = {
        key: value for key, value in network.attributes.items() if key.startswith("module.")
    }
    module.attributes.pop("module.weight_file", None)
    # What is chosen by price changes numbers, and those do not depend on how many cores take part.
    module.attributes["module.cores"] = IntegerAttr(chip_of(network).cores, i64)
    attach(module, _weights(inside, known_weights(network) if values else None))
    info = module_info(module)
    info.measured, info.is_part = module_info(network).measured, True
    return module


def _in_order(ops: Collection[Operation]) -> list[Operation]:
    """The ops and the weights and absent values that they read, in the order of the block."""
    constants = {
        value.owner
        for op in ops
        for value in op.operands
        if isinstance(value.owner, top.WeightOp | top.NoneOp)
    }
    block = next(iter(ops)).parent
    assert block is not None
    return [op for op in block.ops if op in constants or op in ops]


def _is_read_outside(value: SSAValue, ops: Collection[Operation]) -> bool:
    if isinstance(value.owner, top.WeightOp | top.NoneOp):
        return False
    return any(use.operation not in ops for use in value.uses)


def copied(module: ModuleOp) -> ModuleOp:
    """A copy of a module, with its weights; zeros where nobody knows them."""
    copy = module.clone()
    attach(copy, _weights(list(module.walk()), known_weights(module)))
    info, known = module_info(copy), module_info(module)
    info.measured, info.is_part = known.measured, known.is_part
    return copy


def measured(ctx: Context, module: ModuleOp, passes: Iterable[ModulePass], chip: Chip) -> Timeline:
    """What a module takes behind some passes, which change it."""
    return _run(ctx, module, passes, chip)[1]


@record(frozen=True, slots=True)
class Taken:
    """Cycles of a module: from an idle machine, and where others like it are around it.

    There its first loads are done while what is in front of it computes, after the last load of
    that.
    """

    alone: int
    in_a_row: int


def cycles_taken(ctx: Context, module: ModuleOp, passes: Iterable[ModulePass], chip: Chip) -> Taken:
    """What a module takes behind some passes, which change it."""
    program, line = _run(ctx, module, passes, chip)
    first = next((event.start for event in line.events[Engine.TIU]), line.total)
    loads = (
        event.start + event.cycles
        for event in line.events[Engine.GDMA]
        if direction_of(program.gdma[event.position], chip) is Direction.LOAD
    )
    ahead = min(first, line.total - max(loads, default=0))
    return Taken(line.total, line.total - ahead)


def _run(
    ctx: Context, module: ModuleOp, passes: Iterable[ModulePass], chip: Chip
) -> tuple[Program, Timeline]:
    for one in passes:
        one.apply(ctx, module)
    program = generate(module, weights_of(module), chip)
    return program, simulate(program.tiu, program.gdma, chip)


def _without_range(value: SSAValue) -> TensorType[Attribute]:
    """The type, the same for all ranges that calibration found: they cost the same."""
    element = element_of(value)
    kept = number_type(value) if isinstance(element, CalibratedType) else element
    return TensorType(kept, shape_of(value))


def _weights(ops: list[Operation], known: Weights | None) -> Weights:
    """Those of some ops; zeros where nobody knows them."""
    found = Weights()
    for op in ops:
        if not isinstance(op, top.WeightOp):
            continue
        name, value = required_name(op), op.output
        if known is not None and name in known:
            found[name] = known[name]
        else:
            zero = np.zeros(1, np.dtype(f"u{element_bytes(value)}"))
            found[name] = np.broadcast_to(zero, shape_of(value))
    return found
