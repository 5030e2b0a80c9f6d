"""Loads that read their source in another order: absorbed movement ops become strides.

What a chain of Reshape, Permute, SwapDimInner and Depth2Space does is one index map;
`gather_boxes` turns the part of it that a slice needs into commands.
"""

import math
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import DdrValue, ddr_value, where
from xdsl_tpu.backend.kernels.transfer import fetch, load_cycles
from xdsl_tpu.backend.local.context import LocalValue
from xdsl_tpu.backend.local.gather_boxes import Piece, pieces, slice_map
from xdsl_tpu.backend.tensor import GlobalTensor, Shape4, contiguous
from xdsl_tpu.dialects.absorbed import absorbed_owner, is_absorbed
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.local_gen import Ncdhw
from xdsl_tpu.dialects.interfaces.movement import KeepsOrder, PicksRows, Rows, movement_of
from xdsl_tpu.dialects.interfaces.shape import known_shape
from xdsl_tpu.dialects.names import name_of


@dataclass(frozen=True)
class Reading:
    """A value whose elements are those of `source`, which lies in memory row-major.

    Where an op that picks `rows` is absorbed, they are these, and nothing else is done to them.
    """

    source: SSAValue
    moves: IndexMap
    rows: Rows | None = None
    picker: Operation | None = None


def reading(value: SSAValue) -> Reading | None:
    """How to read a value at the end of a chain of absorbed ops; None for other values."""
    chain: list[Operation] = []
    current, length = value, 0
    while isinstance(owner := current.owner, Operation):
        if isinstance(owner, PicksRows) and is_absorbed(owner) and not length:
            rows = owner.rows()
            assert rows is not None, "nothing else of it is absorbed"
            whole = IndexMap.identity(math.prod(_shape(value)))
            return Reading(rows.table, whole, rows, owner)
        if not isinstance(owner, KeepsOrder) and absorbed_owner(current) is None:
            break
        chain.append(owner)
        current = owner.operands[0]
        length = len(chain) if is_absorbed(owner) else length
    if not length:
        return None
    source = chain[length - 1].operands[0]
    moves = IndexMap.identity(math.prod(_shape(source)))
    for op in reversed(chain[:length]):
        moves = _moved(op).after(moves)
    return Reading(source, moves)


def _moved(op: Operation) -> IndexMap:
    """What an op does to its one operand; raises TpuError for one that does not only move it."""
    moved = movement_of(op)
    if moved is None or [part.operand for part in moved.parts] != [0]:
        raise TpuError(f"{where(op)} does not only move elements")
    return moved.parts[0].map


def load_gathered(emitter: Emitter, target: LocalValue, source: DdrValue, moves: IndexMap) -> None:
    """Bring a slice of a value into local memory; `moves` gives the whole value from `source`."""
    if source.dtype is not target.dtype:
        raise TpuError(f"a load cannot make {target.dtype.label} of {source.dtype.label}")
    found = commands_of(target, source, moves, emitter.chip)
    if found is None:
        raise TpuError("an absorbed movement op takes too many transfers; it must be executed")
    for local, ddr in found:
        fetch(emitter, local, ddr)


def image_of(value: SSAValue, full: Ncdhw) -> GlobalTensor:
    """A value of n, c, h, w as it lies in DDR: by itself, or in what absorbed ops take it from.

    Raises TpuError when it does not lie there in strides.
    """
    shape, read = (full.n, full.c, full.h, full.w), reading(value)
    if read is None:
        return ddr_value(value).as4(shape)
    found = strided(ddr_value(read.source), read.moves, shape)
    if found is None:
        raise TpuError(f"'{name_of(value)}' is not read by strides; what moves it must be executed")
    return found


def strided(source: DdrValue, moves: IndexMap, shape: Shape4) -> GlobalTensor | None:
    """What a map gives, under `shape`, where it lies in `source` in one stride for each dimension;
    None where it does not."""
    if len(moves.boxes) != 1 or moves.boxes[0].size != math.prod(shape):
        return None
    box = moves.boxes[0]
    strides: list[int] = []
    for size, to in zip(shape, contiguous(0, shape, source.dtype).strides, strict=True):
        digit = next((d for d in box.digits if to % d.to == 0 and to < d.to * d.extent), None)
        if size > 1 and (digit is None or size * to > digit.to * digit.extent):
            return None
        strides.append(0 if digit is None else to // digit.to * digit.at)
    n, c, h, w = strides
    address = source.address + box.at * source.dtype.bytes
    return GlobalTensor(address, shape, (n, c, h, w), source.dtype)


def gather_cost(target: LocalValue, moves: IndexMap, chip: Chip) -> tuple[int, int] | None:
    """(cycles, commands) of `load_gathered`; None when it is out of the question."""
    source = DdrValue(0, (math.prod(target.full),), target.dtype)
    found = commands_of(target, source, moves, chip)
    if found is None:
        return None
    return sum(load_cycles(local, ddr, chip) for local, ddr in found), len(found)


def commands_of(
    target: LocalValue, source: DdrValue, moves: IndexMap, chip: Chip
) -> list[Piece] | None:
    """The transfers of a slice, whose lanes hold one channel each (form PLAIN); None when there are
    too many."""
    part = slice_map(target.tensor, target.depth, target.start, target.full).after(moves)
    start = GlobalTensor(source.address, (1, 1, 1, 1), (0, 0, 0, 1), source.dtype)
    return pieces(part, target.tensor, start, chip)


def _shape(value: SSAValue) -> tuple[int, ...]:
    shape = known_shape(value.type)
    if shape is None:
        raise TpuError(f"'{name_of(value)}' of type {value.type} has no static shape")
    return shape
