"""Every op that only moves elements, by the index map that it says of itself."""

from xdsl.ir import Block, Operation

from xdsl_tpu.backend.kernels.shares import take
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, where
from xdsl_tpu.backend.local.alone import InSlices
from xdsl_tpu.backend.local.element_views import views
from xdsl_tpu.backend.local.elementwise import element_wise
from xdsl_tpu.backend.movement import Source, carry_out, shares_of
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.interfaces.index_map import Box, IndexMap
from xdsl_tpu.dialects.interfaces.movement import Moves


def moves(context: KernelContext, op: Operation) -> None:
    """Make the result of an op of the interface `Moves`, in its own number format, then clamp it
    where the op says so.

    What lies in its place already stays there: the results of reshapes, and operands that were
    made within the result. Raises NoKernel for an op that does more than move, or decides at run
    time.
    """
    assert isinstance(op, Moves)
    movement = op.movement()
    if movement is None:
        raise NoKernel(f"{where(op)}: what it moves is not known before it runs, or not supported")
    out = context.value(op.results[0])
    values = [context.value(op.operands[part.operand]) for part in movement.parts]
    sources = [
        Source(number, part.map.boxes)
        for number, (part, value) in enumerate(zip(movement.parts, values, strict=True))
        if value.dtype is not out.dtype or not _in_place(part.map, out, value)
    ]
    relu = _relu(op)
    addresses = [value.address for value in values]
    size, border = movement.size, movement.border
    dtype = values[0].dtype if values else out.dtype
    if sources and border is None and relu is None:
        shares = shares_of(context.chip, sources, size, dtype, context.cores)
        sources = list(take(context, shares)) if shares else sources
    if sources or border is not None:
        ends = out.address, addresses
        carry_out(context.emitter, *ends, sources, size, dtype, border, out.dtype)
    if relu is not None:
        _clamp(context, relu)


_clamp = InSlices(element_wise, views)


def _relu(op: Operation) -> tpu.ReluOp | None:
    """The ReLU that an op ends with, as an op on its result; None where it has none."""
    if not isinstance(op, tpu.ConcatOp | tpu.UpsampleOp) or not op.do_relu.value.data:
        return None
    kind = op.results[0].type
    return tpu.ReluOp.create(
        operands=Block(arg_types=[kind]).args,
        result_types=[kind],
        attributes={"relu_limit": op.relu_limit},
        location=op.location,
    )


def copy_whole(context: KernelContext, out: DdrValue, x: DdrValue) -> None:
    """Copy a whole tensor unless it is already in place."""
    if out.address != x.address:
        source = Source(0, IndexMap.identity(x.elements).boxes)
        carry_out(context.emitter, out.address, [x.address], [source], x.elements, x.dtype)


def _in_place(moves: IndexMap, out: DdrValue, value: DdrValue) -> bool:
    """Whether every element already lies where it belongs."""
    places = out.address, value.address
    return all(_stays(box, places, value.dtype.bytes) for box in moves.boxes)


def _stays(box: Box, places: tuple[int, int], width: int) -> bool:
    to, at = places[0] + box.to * width, places[1] + box.at * width
    return to == at and all(digit.to == digit.at for digit in box.digits)
