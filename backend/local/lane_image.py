"""Values that only groups read, in DDR as they lie in the lanes.

Row-major, the rows of a matrix go to another lane each, and a row of 64 bytes takes as long as one
of 256 (docs/hardware/cycles.md). Lane by lane several of the rows that a lane holds are one run.
"""

from collections.abc import Iterator
from typing import NamedTuple, cast

from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import DdrValue, dtype_of
from xdsl_tpu.backend.kernels.tiling import cut
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.local.context import LocalValue
from xdsl_tpu.backend.local.forms import arrangements
from xdsl_tpu.backend.local.gather import reading
from xdsl_tpu.backend.local.image import packed
from xdsl_tpu.backend.local.schedule import ginfo, sections
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import (
    GlobalTensor,
    Layout,
    LocalTensor,
    Shape4,
    ceil_div,
    contiguous,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import RankedTensor
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw


class Rounds(NamedTuple):
    """How a value lies in the lanes: rounds of lanes, what the last lanes of one more hold, and how
    many elements lie together in a lane."""

    whole: int
    lanes: int
    left: int
    run: int


def lane_map(sizes: Ncdhw, width: int, chip: Chip) -> AffineMap:
    """Where the element (n, c, i) lies: so many rounds of lanes at a time, lane by lane.

    A round is what all lanes hold of one image. What the last lanes hold of a round that is not
    whole follows behind all others, by the same rule. `width` is that of an element, in bytes.
    """
    n, c, i = (AffineDimExpr(number) for number in range(3))
    rounds = ceil_div(sizes.c, chip.lanes)
    number = n * rounds + c // chip.lanes
    together = rounds_at_once(min(sizes.c, chip.lanes), sizes.h * sizes.w * width, chip)
    return AffineMap(3, 0, (number // together, c % chip.lanes, number % together, i))


def rounds_at_once(lanes: int, run: int, chip: Chip) -> int:
    """Rounds that are moved together, of `lanes` lanes and `run` bytes in each of them: no more
    than the full rate takes when all lanes have some, so that work on what came first can begin.
    """
    return ceil_div(chip.lanes * chip.ddr_row_bytes, lanes * run)


def lane_sizes(transfer: tpu.LoadOp | tpu.StoreOp, chip: Chip) -> Ncdhw | None:
    """The sizes of a value of which a transfer of a group moves all, as it lies in the lanes: EU by
    EU, and without gaps. None for any other transfer."""
    group = transfer.parent_op()
    if not isinstance(group, tpu.GroupOp) or len(sections(group)) != 1 or group.run_core_id.data:
        return None
    value = transfer.output if isinstance(transfer, tpu.LoadOp) else transfer.input
    maker = value.owner
    if not isinstance(maker, Operation) or arrangements(group, chip.lanes).get(value) is not None:
        return None
    if isinstance(transfer, tpu.LoadOp) and (packed(transfer) or reading(transfer.input)):
        return None
    sizes = of_value(value, GroupType(group.group_type.value.data), chip.lanes)
    width = dtype_of(cast(RankedTensor, value.type).element_type).bytes
    whole = sizes.h * sizes.w * width % chip.eu_bytes == 0 and sizes.d == 1
    if sizes.n > 1 and sizes.c > chip.lanes:
        whole &= sizes.c % chip.lanes == 0  # else rounds of fewer lanes lie between the others
    return sizes if whole and bool(ginfo(maker).eu_align.value.data) else None


def rounds_of(n: int, c: int, run: int, chip: Chip) -> Rounds:
    """Those of n images of c channels."""
    if c <= chip.lanes:
        return Rounds(n, c, 0, run)
    return Rounds(n * (c // chip.lanes), chip.lanes, c % chip.lanes, run)


def store_image(emitter: Emitter, source: LocalValue, target: DdrValue) -> None:
    """Bring a value to DDR as it lies in the lanes."""
    for local, ddr in _parts(source.tensor, target, emitter.chip):
        put(emitter, ddr, local)


def load_image(emitter: Emitter, target: LocalValue, source: DdrValue) -> None:
    """Bring a value back that `store_image` has stored."""
    for local, ddr in _parts(target.tensor, source, emitter.chip):
        fetch(emitter, local, ddr)


def _parts(
    local: LocalTensor, ddr: DdrValue, chip: Chip
) -> Iterator[tuple[LocalTensor, GlobalTensor]]:
    """Rounds of lanes, some at a time, then the channels that are left."""
    n, c, h, w = local.shape
    found, first = rounds_of(n, c, h * w, chip), 0
    run, (_, pitch, *_) = found.run, local.strides
    parts = (0, found.whole, found.lanes), (found.whole, min(found.left, 1), found.left)
    for start, count, lanes in parts:
        if not count:
            continue
        for piece in cut(count, rounds_at_once(lanes, run * ddr.dtype.bytes, chip)):
            size = piece.size * run
            address = ddr.address + first * ddr.dtype.bytes
            box = contiguous(address, (1, lanes, 1, size), ddr.dtype)
            at = local.address + (start + piece.start) * pitch * local.dtype.bytes
            strides: Shape4 = (size, size, size, 1)
            yield LocalTensor(at, box.shape, strides, local.dtype, Layout.FREE), box
            first += lanes * size


def whole_value(value: SSAValue) -> list[tpu.LoadOp | tpu.StoreOp] | None:
    """The Store of what a group gives, and the Loads of groups that are all that reads it; None
    where anything else does."""
    assert isinstance(value, OpResult)
    group = value.owner
    if not isinstance(group, tpu.GroupOp):
        return None
    made = group.body.block.last_op
    assert made is not None
    store = made.operands[value.index].owner
    if not isinstance(store, tpu.StoreOp):
        return None
    loads = list(_loads(value))
    return None if None in loads or not loads else [store, *filter(None, loads)]


def _loads(value: SSAValue) -> Iterator[tpu.LoadOp | None]:
    """What reads a value in DDR, under its own shape or another; None for all but Loads."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, tpu.ReshapeOp | tpu.SqueezeOp | tpu.UnsqueezeOp) and not is_inside(op):
            yield from _loads(op.output)
        elif isinstance(op, tpu.LoadOp):
            yield op
        elif not isinstance(op, tpu.GroupOp):
            yield None


def is_inside(op: Operation) -> bool:
    """Whether an op works in local memory."""
    return isinstance(op.parent_op(), tpu.GroupOp)
