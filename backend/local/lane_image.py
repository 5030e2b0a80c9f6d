"""Values that only groups read, in DDR as they lie in the lanes.

Row-major, the rows of a matrix go to another lane each, and a row of 64 bytes takes as long as one
of 256 (docs/hardware/cycles.md). Lane by lane several of the rows that a lane holds are one run;
where rows do not fill the EUs, the gaps between them are moved, too.
"""

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import DdrValue
from xdsl_tpu.backend.kernels.tiling import cut
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.local.context import LocalValue
from xdsl_tpu.backend.local.forms import arrangements
from xdsl_tpu.backend.local.image import packed
from xdsl_tpu.backend.local.schedule import ginfo, sections
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import (
    GlobalTensor,
    Layout,
    LocalTensor,
    Shape4,
    align,
    ceil_div,
    contiguous,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.absorbed import is_absorbed
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw

KEEPS_ORDER = tpu.ReshapeOp, tpu.SqueezeOp, tpu.UnsqueezeOp
"""Ops that give a value in DDR another shape."""


class Rounds(NamedTuple):
    """How a value lies in the lanes: rounds of lanes, what the last lanes of one more hold, and how
    many elements there are from one row of a lane to the next."""

    whole: int
    lanes: int
    left: int
    run: int


def lane_map(sizes: Ncdhw, width: int, chip: Chip) -> AffineMap:
    """Where the element (n, c, i), of `width` bytes, lies: some rounds of lanes at a time, lane by
    lane.

    A round is what all lanes hold of one image. What the last lanes hold of a round that is not
    whole follows behind all others, by the same rule.
    """
    n, c, i = (AffineDimExpr(number) for number in range(3))
    rounds = ceil_div(sizes.c, chip.lanes)
    number = n * rounds + c // chip.lanes
    together = rounds_at_once(rounds_of(sizes, width, chip), width, chip)
    return AffineMap(3, 0, (number // together, c % chip.lanes, number % together, i))


def rounds_at_once(rounds: Rounds, width: int, chip: Chip) -> int:
    """Rounds that are moved together, of elements of `width` bytes: no more than the full rate
    takes when all lanes have some, so that work on what came first can begin."""
    return ceil_div(chip.lanes * chip.ddr_row_bytes, rounds.lanes * rounds.run * width)


def lane_sizes(transfer: tpu.LoadOp | tpu.StoreOp, chip: Chip) -> Ncdhw | None:
    """The sizes of a value of which a transfer of a group moves all, as it lies in the lanes: EU by
    EU, row by row. None for any other transfer."""
    group = transfer.parent_op()
    if not isinstance(group, tpu.GroupOp) or len(sections(group)) != 1 or group.run_core_id.data:
        return None
    value = transfer.output if isinstance(transfer, tpu.LoadOp) else transfer.input
    maker = value.owner
    if not isinstance(maker, Operation) or arrangements(group, chip.lanes).get(value) is not None:
        return None
    if isinstance(transfer, tpu.LoadOp) and packed(transfer):
        return None
    sizes = of_value(value, GroupType(group.group_type.value.data), chip.lanes)
    # Rounds of fewer lanes may not lie between the others.
    many = sizes.n > 1 and sizes.c > chip.lanes
    whole = sizes.d == 1 and not (many and sizes.c % chip.lanes)
    return sizes if whole and bool(ginfo(maker).eu_align.value.data) else None


def rounds_of(sizes: Ncdhw, width: int, chip: Chip) -> Rounds:
    """Those of a value of elements of `width` bytes."""
    n, c, run = sizes.n, sizes.c, align(sizes.h * sizes.w, chip.eu(width))
    if c <= chip.lanes:
        return Rounds(n, c, 0, run)
    return Rounds(n * (c // chip.lanes), chip.lanes, c % chip.lanes, run)


def store_image(emitter: Emitter, source: LocalValue, target: DdrValue) -> None:
    """Bring a value to DDR as it lies in the lanes, in the order of `lane_map`."""
    for local, ddr in _parts(source.tensor, target, emitter.chip):
        put(emitter, ddr, local)


def load_image(emitter: Emitter, target: LocalValue, source: DdrValue) -> None:
    """Bring a value back that `store_image` has stored."""
    for local, ddr in _parts(target.tensor, source, emitter.chip):
        fetch(emitter, local, ddr)


def _parts(
    local: LocalTensor, ddr: DdrValue, chip: Chip
) -> Iterator[tuple[LocalTensor, GlobalTensor]]:
    """Some rounds of lanes at a time, then the channels that are left."""
    n, c, h, w = local.shape
    found, first = rounds_of(Ncdhw(n, c, 1, h, w), local.dtype.bytes, chip), 0
    together = rounds_at_once(found, local.dtype.bytes, chip)
    parts = (0, found.whole, found.lanes), (found.whole, min(found.left, 1), found.left)
    for start, count, lanes in parts:
        if not count:
            continue
        for piece in cut(count, together):
            size = piece.size * found.run
            address = ddr.address + first * ddr.dtype.bytes
            box = contiguous(address, (1, lanes, 1, size), ddr.dtype)
            at = local.address + (start + piece.start) * found.run * local.dtype.bytes
            strides: Shape4 = (size, size, size, 1)
            yield LocalTensor(at, box.shape, strides, local.dtype, Layout.FREE), box
            first += lanes * size


def store_of(value: SSAValue) -> tpu.StoreOp | None:
    """The Store of what a group gives, of which `value` may be a view; None for other values."""
    while isinstance(owner := value.owner, KEEPS_ORDER) and not is_inside(owner):
        value = owner.operands[0]
    if not isinstance(owner, tpu.GroupOp) or not isinstance(value, OpResult):
        return None
    made = owner.body.block.last_op
    assert made is not None
    store = made.operands[value.index].owner
    return store if isinstance(store, tpu.StoreOp) else None


def whole_value(value: SSAValue) -> tuple[tpu.StoreOp, list[tpu.LoadOp]] | None:
    """The Store of what a group gives, and the Loads of groups that are all that reads it; None
    where anything else does."""
    store, found = store_of(value), list(_loads(value))
    loads = [load for load in found if load is not None]
    return None if store is None or not loads or len(loads) < len(found) else (store, loads)


def _loads(value: SSAValue) -> Iterator[tpu.LoadOp | None]:
    """What reads a value in DDR, under its own shape or another; None for all but Loads."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, KEEPS_ORDER) and not is_inside(op) and not is_absorbed(op):
            yield from _loads(op.results[0])
        elif isinstance(op, tpu.LoadOp):
            yield op
        elif not isinstance(op, tpu.GroupOp):
            yield None


def is_inside(op: Operation) -> bool:
    """Whether an op works in local memory."""
    return isinstance(op.parent_op(), tpu.GroupOp)
