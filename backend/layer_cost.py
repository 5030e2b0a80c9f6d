"""What one op costs when it runs alone, from DDR to DDR."""

import math
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.kernels.moves import moves
from xdsl_tpu.backend.kernels.support import KernelContext, dtype_of, where
from xdsl_tpu.backend.leaves import leaf_of
from xdsl_tpu.backend.local.alone import Cheapest, InSlices
from xdsl_tpu.backend.local.cut_price import Price
from xdsl_tpu.backend.movement import Source, least_cycles
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, align
from xdsl_tpu.backend.timing import Timeline, simulate
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.interfaces.movement import Moves

_PAGE = 4096


@dataclass(frozen=True, slots=True)
class Alone:
    """An op's kernel with nothing before or after it: when its commands run, and how many bytes
    of every lane they touch, counted from the start of local memory."""

    timeline: Timeline
    local_bytes: int


def timeline_alone(op: Operation, chip: Chip) -> Timeline:
    """The timeline of an op's kernel with nothing before or after it; see `run_alone`."""
    return run_alone(op, chip).timeline


def price_alone(op: Operation, chip: Chip) -> Price:
    """What `run_alone` finds; where the kernel knows its price, without making its commands."""
    leaf = leaf_of(op)
    if leaf is not None and isinstance(leaf.alone, InSlices | Cheapest):
        return leaf.alone.price(op, chip)
    found = run_alone(op, chip)
    return Price(found.timeline.total, found.timeline.busy[Engine.GDMA], found.local_bytes)


def least_alone(op: Operation, chip: Chip) -> Price:
    """What `price_alone` cannot stay below: for a movement the transfers of the best way there may
    be to make it, for all else nothing."""
    leaf = leaf_of(op)
    movement = None
    if leaf is not None and leaf.alone is moves and isinstance(op, Moves):
        movement = op.movement()
    if movement is None or not movement.parts:
        return Price(0, 0, 0)
    sources = [Source(number, part.map.boxes) for number, part in enumerate(movement.parts)]
    dtype, stored = (_dtype(v) for v in (op.operands[movement.parts[0].operand], op.results[0]))
    cycles = least_cycles(chip, sources, movement.size, dtype, movement.border, stored)
    return Price(int(cycles), int(cycles), 0)


def _dtype(value: SSAValue) -> DType:
    assert isa(value.type, TensorType[Attribute])
    return dtype_of(value.type.element_type)


def run_alone(op: Operation, chip: Chip) -> Alone:
    """An op's kernel with nothing before or after it.

    Operands and results get places in DDR of their own, whether the op has addresses or not.
    Raises NoKernel for an op without one, DoesNotFit when local memory is too small for it.
    """
    leaf = leaf_of(op)
    if leaf is None:
        raise NoKernel(f"no kernel for {where(op)}")
    address = chip.ddr_base
    types: list[Attribute] = []
    for value in (*op.operands, *op.results):
        kind = value.type
        if isa(kind, TensorType[Attribute]):
            kind = TensorType(kind.element_type, kind.get_shape(), IntegerAttr(address, i64))
            size = math.prod(kind.get_shape()) * dtype_of(kind.element_type).bytes
            address = align(address + size, _PAGE)
        types.append(kind)
    count = len(op.operands)
    alone = type(op).create(
        operands=Block(arg_types=types[:count]).args,
        result_types=types[count:],
        attributes=dict(op.attributes),
        location=op.location,
    )
    program = Program(name="", chip=chip.name, quantize="")
    emitter = Emitter(chip, program)
    leaf.alone(KernelContext(chip, emitter), alone)
    touched = emitter.touched_bytes()
    emitter.finish()
    return Alone(simulate(program.tiu, program.gdma, chip), touched)
