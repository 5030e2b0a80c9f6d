"""The operands of every command, read off the declarations of its instruction set."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import DmaMatrix, LayoutCode, Precision
from xdsl_tpu.backend.isa.instruction import Operand, Place
from xdsl_tpu.backend.operands.access import Access
from xdsl_tpu.backend.operands.placed import Placed, address_of, is_local
from xdsl_tpu.backend.tensor import align, ceil_div
from xdsl_tpu.dialects.errors import TpuError


def accesses(command: Command, chip: Chip) -> tuple[Access, ...]:
    """What a command reads and writes, reads first.

    Raises TpuError when the operands of its form and function, or what its fields mean, are not
    known.
    """
    described = command.instruction.described
    if described is None:
        raise TpuError(
            f"the operands of {command.form.name} ({command.function_name}) are not known"
        )
    for refusal in described.refusals:
        if refusal.applies(command, chip):
            why = refusal.why
            raise TpuError(why if isinstance(why, str) else why(command, chip))
    return tuple(access for one in described.operands for access in _of(command, one, chip))


def _of(command: Command, operand: Operand, chip: Chip) -> Iterator[Access]:
    if (operand.constant and command[operand.constant]) or not operand.when(command):
        return
    yield from _PLACES[operand.place](Placed.of(command, operand, chip))


def _coded(placed: Placed) -> Iterator[Access]:
    """The layout that the operand's `*_str` field selects."""
    names = placed.command.form.operands[placed.declared.name]
    layout = placed.command[names.layout] if names.layout else LayoutCode.ALIGNED
    if layout and placed.precision == Precision.I4:
        raise TpuError(f"{names.layout} = {layout}: int4 is known only in layout 0")
    if layout == LayoutCode.ALIGNED:
        yield placed.aligned()
        return
    if layout != LayoutCode.FREE or not names.strides:
        known = "layouts 0 and 3 are" if names.strides else "layout 0 is"
        raise TpuError(f"{names.layout} = {layout}: only {known} known here")
    n, c, h, w = (placed.command[name] for name in names.strides)
    yield placed.local((n, c, h, w))


def _blocks(placed: Placed) -> Iterator[Access]:
    last = placed.command[placed.declared.last]
    yield from placed.blocks(ceil_div(last, 2) if placed.precision == Precision.I4 else last)


def _coefficients(placed: Placed) -> Iterator[Access]:
    """Every lane of the result has its own at one offset."""
    chip = placed.chip
    lane = placed.command["res0_addr"] >> chip.lane_shift
    address = lane << chip.lane_shift | placed.address & (chip.local_bytes - 1)
    yield replace(placed, address=address).local((0, 0, 0, 1))


def _table(placed: Placed) -> Iterator[Access]:
    """A row for each channel, or for each lane."""
    command, name = placed.command, placed.declared.name
    row = align(command[f"{name}_w"], placed.chip.eu(placed.size))
    of_lanes = command[f"{name}_str"] == LayoutCode.LANES
    yield placed.local((0, 0, row, 1) if of_lanes else (placed.groups() * row, row, row, 1))


def _steps(placed: Placed) -> Iterator[Access]:
    """With the strides of its side of a transfer, or those of a dense or aligned tensor."""
    command, chip, name = placed.command, placed.chip, placed.declared.name
    if command["stride_enable"]:
        n, c, h = (command[f"{name}_{axis}stride"] for axis in "nch")
        along = command[f"{name}_wstride"] if placed.declared.place is Place.STEPS else 1
        yield placed.anywhere((n, c, h, along))
        return
    _, c, h, w = placed.shape
    if not placed.is_local:
        yield placed.anywhere((c * h * w, h * w, w, 1))
        return
    channel = align(h * w, chip.eu(placed.size))
    lane = (placed.address - chip.local_base) >> chip.lane_shift
    yield placed.anywhere((ceil_div(lane + c, chip.lanes) * channel, channel, w, 1))


def _matrix(placed: Placed) -> Iterator[Access]:
    """Rows in DDR, column blocks over the lanes of the target or, if that is not local, source."""
    command, chip, name = placed.command, placed.chip, placed.declared.name
    ddr = "src" if is_local(address_of(command, "dst"), chip) else "dst"
    rows, columns = command[f"{ddr}_hsize"], command[f"{ddr}_wsize"]
    if name == ddr:
        whole = replace(placed, shape=(1, 1, rows, columns))
        yield whole.anywhere((0, 0, command[f"{ddr}_hstride"], 1))
        return
    if command.function == DmaMatrix.MATRIX_TRANSPOSE:
        rows, columns = columns, rows
    yield from _column_blocks(placed, rows, columns)


def _column_blocks(placed: Placed, rows: int, columns: int) -> Iterator[Access]:
    """All full column blocks, then the columns that are left."""
    command, chip, side = placed.command, placed.chip, placed.declared.name
    width = command[f"{side}_wsize"]
    if not width:
        raise TpuError(f"{side}_wsize is 0: a matrix needs a block width")
    by_group = command[f"{side}_cstride"]
    strides = (command[f"{side}_nstride"], by_group, 0, 1)
    full, tail = divmod(columns, width)
    if full:
        yield replace(placed, shape=(rows, full, 1, width)).anywhere(strides)
    if tail:
        lane, offset = divmod(placed.address - chip.local_base, chip.local_bytes)
        group, lane = divmod(lane + full, chip.lanes)
        place = chip.local_base + (lane << chip.lane_shift) + offset
        place += group * by_group * placed.size
        yield replace(placed, address=place, shape=(rows, 1, 1, tail)).anywhere(strides)


def _one(rule: Callable[[Placed], Access]) -> Callable[[Placed], Iterator[Access]]:
    return lambda placed: iter((rule(placed),))


_PLACES: dict[Place, Callable[[Placed], Iterator[Access]]] = {
    Place.ALIGNED: _one(Placed.aligned),
    Place.COMPACT: _one(Placed.compact),
    Place.LINES: _one(Placed.lines),
    Place.CODED: _coded,
    Place.BLOCKS: _blocks,
    Place.COEFFICIENTS: _coefficients,
    Place.TABLE: _table,
    Place.STATIC: _one(Placed.static),
    Place.STEPS: _steps,
    Place.ROW_STEPS: _steps,
    Place.RUN: _one(lambda placed: placed.anywhere((0, 0, 0, 1))),
    Place.MATRIX: _matrix,
}
