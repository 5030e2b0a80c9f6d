"""Where the numbers of a value come from: channels of an op with weights, moved about."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.canonicalize.slice import is_static
from xdsl_tpu.passes.constants import is_f32_weight, values_of
from xdsl_tpu.passes.graph import has_shapes, is_calibrated, users
from xdsl_tpu.passes.half_range import may_scale
from xdsl_tpu.passes.tensors import shape_of

Floats = npt.NDArray[np.float32]
Indices: TypeAlias = npt.NDArray[np.int32]
Weighted = top.MatMulOp | top.ConvOp | top.ScaleOp | top.LayerNormOp | top.RMSNormOp
"""Ops of one result that are linear in their weights, channel by channel."""


@dataclass(frozen=True)
class Source:
    """The op that `path` moves the results of, the last move first, and the channels, a flag for
    each, that arrive; `beside` are other moves of these that nobody reads."""

    op: Weighted
    channels: npt.NDArray[np.bool_]
    path: tuple[Operation, ...]
    beside: tuple[Operation, ...]

    def scaled_weights(self, factor: float) -> dict[int, Floats] | None:
        """New numbers for operands; None where these are not known, or f16 held them worse."""
        factors = np.where(self.channels, np.float32(factor), np.float32(1))
        scaled: dict[int, Floats] = {}
        for index, operand in enumerate(self.op.operands[1:], start=1):
            if is_none(operand):
                continue
            values = values_of(operand) if is_f32_weight(operand) else None
            if values is None:
                return None
            axis = _weight_axis(self.op, index, values.ndim)
            if values.shape[axis] != factors.size:
                return None
            if index == 1 and not may_scale(np.compress(self.channels, values, axis), factor):
                return None
            scaled[index] = values * factors.reshape([-1] + [1] * (values.ndim - 1 - axis))
        return scaled if 1 in scaled else None


def source_of(value: SSAValue, reader: Operation) -> Source | None:
    """Where a value comes from, if `reader` is the only op that computes with any of its numbers.

    Other parts of what the op with weights gives may have other readers, as queries, keys and
    values of one product.
    """
    path: list[Operation] = []
    at = value
    while isinstance(owner := at.owner, Operation) and is_move(owner):
        path.append(owner)
        at = owner.operands[0]
    if not isinstance(owner, Weighted) or not _is_plain(owner) or is_calibrated(at):
        return None
    every = _channels(owner)
    indices = every
    for move in reversed(path):
        indices = _moved(move, indices)
    channels = np.zeros(shape_of(at)[_axis(owner)], np.bool_)
    channels[indices] = True
    seen = _Readers(channels, value, reader)
    if seen.any(at, every):
        return None
    return Source(owner, channels, tuple(path), tuple(set(seen.moves) - set(path)))


class _Readers:
    """Looks for ops that compute with some channels, but for `reader`, which does with `read`;
    `moves` move them."""

    def __init__(self, channels: npt.NDArray[np.bool_], read: SSAValue, reader: Operation) -> None:
        self.channels = channels
        self.read = read
        self.reader = reader
        self.moves: list[Operation] = []

    def any(self, value: SSAValue, indices: Indices) -> bool:
        """Whether one reads a value, whose elements are of the channels `indices`."""
        for user in users(value):
            if user is self.reader and value is self.read:
                continue
            if not is_move(user):
                return True
            moved = _moved(user, indices)
            if self.channels[moved].any():
                self.moves.append(user)
                if self.any(user.results[0], moved):
                    return True
        return False


def is_move(op: Operation) -> bool:
    """Whether an op gives elements of its first operand and no others."""
    match op:
        case top.ReshapeOp() | top.SqueezeOp() | top.UnsqueezeOp() | top.PermuteOp():
            return has_shapes(op.operands[0], op.results[0])
        case top.SliceOp():
            return is_static(op) and all(part.step > 0 for part in op.cuts())
        case _:
            return False


def _moved(op: Operation, indices: Indices) -> Indices:
    match op:
        case top.PermuteOp():
            return indices.transpose(ints(op.order))
        case top.SliceOp():
            cuts = op.cuts()
            return indices[tuple(slice(c.first, c.first + c.count * c.step, c.step) for c in cuts)]
        case _:
            return indices.reshape(shape_of(op.results[0]))


def _is_plain(op: Weighted) -> bool:
    """Whether channels of the result are those of the weights."""
    if not has_shapes(op.output) or (not isinstance(op, _Norms) and has_relu(op)):
        return False
    match op:
        case top.MatMulOp():
            return not any(bool(f.value.data) for f in (op.output_transpose, op.hdim_is_batch))
        case top.LayerNormOp():
            return op.axis.value.data % len(shape_of(op.output)) == len(shape_of(op.output)) - 1
        case _:
            return True


_Norms = top.LayerNormOp | top.RMSNormOp


def _axis(op: Weighted) -> int:
    """The dimension of the result that channels lie along."""
    return 1 if isinstance(op, top.ConvOp | top.ScaleOp) else len(shape_of(op.output)) - 1


def _weight_axis(op: Weighted, index: int, rank: int) -> int:
    """The dimension of an operand that they lie along."""
    match op:
        case top.ConvOp():
            return 0
        case top.ScaleOp():
            return min(1, rank - 1)
        case top.MatMulOp() if index == 1 and op.right_transpose.value.data:
            return rank - 2
        case _:
            return rank - 1


def _channels(op: Weighted) -> npt.NDArray[Any]:
    """Of each element of the result, its channel."""
    shape, axis = shape_of(op.output), _axis(op)
    row = np.arange(shape[axis], dtype=np.int32)
    return np.broadcast_to(row.reshape([-1] + [1] * (len(shape) - 1 - axis)), shape)
