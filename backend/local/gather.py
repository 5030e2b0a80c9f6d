"""Loads that read their source in another order: absorbed movement ops become strides.

What a chain of Reshape, Permute, SwapDimInner, Depth2Space and Slice does is found by doing it to
the numbers of the source's elements; `gather_boxes` then turns the numbers of a slice into
commands.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.shape import depth_to_space_order
from xdsl_tpu.backend.kernels.support import DdrValue, where
from xdsl_tpu.backend.kernels.transfer import fetch, load_cycles
from xdsl_tpu.backend.local.context import LocalValue
from xdsl_tpu.backend.local.gather_boxes import GatherBox, gather_boxes
from xdsl_tpu.backend.tensor import DType, GlobalTensor, Layout, LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.absorbed import absorbed_owner, is_absorbed
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.shape import known_shape
from xdsl_tpu.dialects.names import name_of

Indices = npt.NDArray[np.int64]
"""For each element of a tensor the number of the source's element that it is."""

VIEWS = (tpu.ReshapeOp, tpu.SqueezeOp, tpu.UnsqueezeOp)
"""Ops that keep the order of all elements."""

Piece = tuple[LocalTensor, GlobalTensor]


@dataclass(frozen=True)
class Reading:
    """A value that is `source`, which lies in memory row-major, in the order of `indices`."""

    source: SSAValue
    indices: Indices


def reading(value: SSAValue) -> Reading | None:
    """How to read a value at the end of a chain of absorbed ops; None for other values."""
    chain: list[Operation] = []
    current, length = value, 0
    while isinstance(owner := current.owner, Operation):
        if not isinstance(owner, VIEWS) and absorbed_owner(current) is None:
            break
        chain.append(owner)
        current = owner.operands[0]
        length = len(chain) if is_absorbed(owner) else length
    if not length:
        return None
    source = chain[length - 1].operands[0]
    shape = _shape(source)
    indices: Indices = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    for op in reversed(chain[:length]):
        indices = moved(op, indices)
    return Reading(source, indices)


def moved(op: Operation, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What a movement op does to an array; raises TpuError for any other op."""
    rule = _MOVES.get(op.name)
    if rule is None:
        raise TpuError(f"{where(op)} does not only move elements")
    return rule(op, x)


def load_gathered(emitter: Emitter, target: LocalValue, source: DdrValue, indices: Indices) -> None:
    """Bring a slice of a value into local memory; `source` is what `indices` count in."""
    boxes = slice_boxes(target, indices, emitter.chip)
    if boxes is None:
        raise TpuError("an absorbed movement op takes too many transfers; it must be executed")
    for box in boxes:
        for local, ddr in _pieces(box, target.tensor, source, emitter.chip):
            fetch(emitter, local, ddr)


def gather_cost(target: LocalValue, indices: Indices, chip: Chip) -> tuple[int, int] | None:
    """(cycles, commands) of `load_gathered`; None when it is out of the question."""
    boxes = slice_boxes(target, indices, chip)
    if boxes is None:
        return None
    source = DdrValue(0, (indices.size,), target.dtype)
    pieces = [p for box in boxes for p in _pieces(box, target.tensor, source, chip)]
    return sum(load_cycles(local, ddr, chip) for local, ddr in pieces), len(pieces)


def slice_boxes(target: LocalValue, indices: Indices, chip: Chip) -> tuple[GatherBox, ...] | None:
    """The boxes of a slice, whose lanes hold one channel each (form PLAIN)."""
    count, c, h, w = target.tensor.shape
    sizes = (count // target.depth, c, target.depth, h, w)
    cut = tuple(slice(i, i + size) for i, size in zip(target.start, sizes, strict=True))
    part = indices.reshape(target.full)[cut].transpose(2, 0, 1, 3, 4)
    return gather_boxes(part.reshape(count, c, h, w), target.tensor.strides, chip.lanes)


def _pieces(box: GatherBox, target: LocalTensor, source: DdrValue, chip: Chip) -> Iterator[Piece]:
    """A box as the commands that take the fewest cycles, then the fewest commands."""
    whole = _both(box, target, source, chip)
    choices = [[whole], [_turned(whole)]]
    choices += [list(_unrolled(pair, chip)) for pair in (whole, _turned(whole))]
    yield from min(
        choices,
        key=lambda pieces: (len(pieces) * load_cycles(*pieces[0], chip), len(pieces)),
    )


def _both(box: GatherBox, target: LocalTensor, source: DdrValue, chip: Chip) -> Piece:
    address = target.address + box.offset * target.dtype.bytes + (box.lane << chip.lane_shift)
    local = LocalTensor(address, box.shape, box.local, target.dtype, Layout.FREE)
    start = source.address + box.base * source.dtype.bytes
    return local, GlobalTensor(start, box.shape, box.source, _same_size(source, target))


def _same_size(source: DdrValue, target: LocalTensor) -> DType:
    if source.dtype is not target.dtype:
        raise TpuError(f"a load cannot make {target.dtype.label} of {source.dtype.label}")
    return source.dtype


def _turned(pair: Piece) -> Piece:
    """The same box with n and h exchanged."""
    local, ddr = pair
    n, c, h, w = local.shape
    shape = (h, c, n, w)
    ln, lg, lh, lw = local.strides
    dn, dc, dh, dw = ddr.strides
    return (
        LocalTensor(local.address, shape, (lh, lg, ln, lw), local.dtype, local.layout),
        ddr.view(shape, (dh, dc, dn, dw)),
    )


def _unrolled(pair: Piece, chip: Chip) -> Iterator[Piece]:
    """One piece for each h: rows of one piece can then be those of a matrix command."""
    local, ddr = pair
    n, c, h, w = local.shape
    for i in range(h):
        start, shape = (0, 0, i, 0), (n, c, 1, w)
        yield local.window(start, shape, chip), ddr.window(start, shape)


def _permute(op: Operation, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    assert isinstance(op, tpu.PermuteOp)
    return x.transpose(ints(op.order))


def _swap_dim_inner(op: Operation, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    assert isinstance(op, tpu.SwapDimInnerOp)
    offsets = ints(op.offset)
    return np.roll(x, [-offset for offset in offsets], range(len(offsets)))


def _depth_to_space(op: Operation, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    assert isinstance(op, tpu.Depth2SpaceOp)
    shape, order = depth_to_space_order(op, x.shape)
    return x.reshape(shape).transpose(order).reshape(_shape(op.output))


def _reshape(op: Operation, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return x.reshape(_shape(op.results[0]))


_MOVES: dict[str, Callable[[Operation, npt.NDArray[Any]], npt.NDArray[Any]]] = {
    "tpu.Depth2Space": _depth_to_space,
    "tpu.Permute": _permute,
    "tpu.Reshape": _reshape,
    "tpu.Squeeze": _reshape,
    "tpu.SwapDimInner": _swap_dim_inner,
    "tpu.Unsqueeze": _reshape,
}


def _shape(value: SSAValue) -> tuple[int, ...]:
    shape = known_shape(value.type)
    if shape is None:
        raise TpuError(f"'{name_of(value)}' of type {value.type} has no static shape")
    return shape
