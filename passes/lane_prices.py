"""What a change of lanes takes within local memory, by its commands.

Shapes come again and again in a network: each is measured once.
"""

from collections.abc import Callable, Sequence
from functools import cache

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.measure import measure, measure_load, measure_store
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.lane_moves import LaneStep, Rows, lane_steps
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.dialects.interfaces.movement import Moved, Movement


def rearranged(
    name: str, value: SSAValue, step: LaneStep, kind: TensorType[Attribute]
) -> tpu.RearrangeOp:
    """The op that moves elements of a value within local memory; `kind` is the result's type."""
    movement = Movement(step.rows.size, (Moved(0, step.moves),))
    return tpu.RearrangeOp.make(
        name,
        (value,),
        result_types=(kind,),
        boxes=tpu.RearrangeOp.listed(movement),
        in_lanes=True,
    )


def even_parts(size: int, rows: int, chip: Chip) -> list[Rows]:
    """`size` elements, in `rows` rows, as equal parts of most of the lanes: of all of them first,
    then whole rows."""
    counts = [chip.lanes] * (size % chip.lanes == 0)
    counts += [n for n in range(chip.lanes - 1, chip.lanes // 2, -1) if rows % n == 0]
    return [Rows(1, count, size // count) for count in counts]


@cache
def cycles_in_lanes(element: Attribute, made: Rows, read: Rows, chip: Chip) -> int | None:
    """TIU cycles of one that is made as some rows and read as others, in the same order; None where
    there is no way, or no room for it."""
    steps = lane_steps(IndexMap.identity(made.size), made, read)
    return None if steps is None else cycles_of_steps(element, made, tuple(steps), chip)


@cache
def cycles_of_steps(
    element: Attribute, made: Rows, steps: tuple[LaneStep, ...], chip: Chip
) -> int | None:
    """TIU cycles of movements one after the other; None where one has no room for what it needs
    on the way."""
    value, cycles = _argument(element, made), 0
    for step in steps:
        op = rearranged("moved", value, step, TensorType(element, step.rows))
        try:
            cycles += measure(op, _whole(chip), GroupType.NORMAL, chip).cycles
        except DoesNotFit:
            return None
        value = op.output
    return cycles


@cache
def cycles_of_store(element: Attribute, rows: Rows, chip: Chip) -> int:
    """GDMA cycles of storing a value from its lanes."""
    return measure_store(_argument(element, rows), _whole(chip), GroupType.NORMAL, chip)


@cache
def cycles_of_load(element: Attribute, rows: Rows, chip: Chip) -> float:
    """GDMA cycles of loading a value to its lanes."""
    value = _argument(element, rows)
    reader = tpu.ReluOp.make("read", (value,), result_types=(value.type,))
    return measure_load(reader, 0, _whole(chip), GroupType.NORMAL, chip).gdma


def _argument(element: Attribute, shape: Sequence[int]) -> SSAValue:
    return Block(arg_types=(TensorType(element, shape),)).args[0]


def _whole(chip: Chip) -> Callable[[SSAValue], Ncdhw]:
    """All of every value."""

    def sizes(value: SSAValue) -> Ncdhw:
        return of_value(value, GroupType.NORMAL, chip.lanes)

    return sizes
