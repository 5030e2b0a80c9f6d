"""Rows of a few numbers, of which each lane has as many that lie together in DDR."""

from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.passes.order_rows.network import Component
from xdsl_tpu.passes.order_rows.rows import Rows, rows_of
from xdsl_tpu.passes.tensors import element_bytes

WORTH = 0.5
"""What long pieces, with copies within the lanes, must take of what single rows take."""


def by_lanes(component: Component, chip: Chip) -> dict[SSAValue, int] | None:
    """Orders in which the rows of each lane are neighbours in what comes from the host and goes
    there; None where a row fills a piece of DDR, and where anything else reads or makes rows.

    Row i of a value lies on lane i mod 64: of 8,192 rows of three numbers each is a piece of 12
    bytes for itself, of which DDR gives 256 in the same time.
    """
    ends = _ends(component)
    count = next((rows.count for value in ends or () if (rows := rows_of(value)) is not None), 0)
    if not ends or count % chip.lanes or count <= chip.lanes:
        return None
    single = together = 0.0
    for value in ends:
        rows = rows_of(value)
        assert rows is not None
        size = rows.width * element_bytes(value)
        single += _transfer(count, size, chip)
        together += _transfer(chip.lanes, size * count // chip.lanes, chip)
        together += _copies(rows, size, chip)
    if together > WORTH * single:
        return None
    order = component.labelled(IndexMap.permuted((chip.lanes, count // chip.lanes), (1, 0)), count)
    inputs = {
        value
        for value in component.free
        if isinstance(value.owner, tpu.CastOp) and value.owner.input in ends
    }
    return component.given | {value: order for value in component.free if value not in inputs}


def _ends(component: Component) -> list[SSAValue] | None:
    """The values of a component that the host gives or takes; None where it has other ends."""
    ends, free = list[SSAValue](), set(component.free)
    for value in component.given:
        given = value not in free
        if given and not isinstance(value.owner, top.InputOp):
            return None
        for read in component.graph.readers.get(value, ()):
            if component.graph.is_read(read):
                continue
            if given or not isinstance(read.op, ReturnOp):
                return None
            ends.append(value)
        if given:
            ends.append(value)
    return list(dict.fromkeys(ends))


def _transfer(pieces: int, size: int, chip: Chip) -> float:
    """Cycles of so many pieces of `size` bytes."""
    return pieces * max(size, chip.ddr_row_bytes) / chip.load_bytes_per_cycle


def _copies(rows: Rows, size: int, chip: Chip) -> float:
    """Cycles of putting the rows of each lane on EU boundaries."""
    return 2 * rows.count // chip.lanes * -(-size // chip.eu_bytes)
