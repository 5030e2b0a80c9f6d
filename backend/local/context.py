"""What a local kernel gets: its slices in local memory, the op, scratch memory."""

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import NamedTuple, TypeVar

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.tensor import (
    DType,
    LocalTensor,
)
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import Ncdhw
from xdsl_tpu.dialects.records import record

T = TypeVar("T")


class Form(Enum):
    """How the lanes of a value in local memory are filled."""

    PLAIN = "plain"  # lane c holds channel c of the slice
    ROW = "row"  # all lanes hold the same values; the value has one channel
    MERGED = "merged"  # lane (c, ky, kx): the channel seen through one filter tap
    COEFFICIENTS = "coefficients"  # lane c: of channels c, c + lanes, ..., each part together


@record(frozen=True, slots=True)
class LocalValue:
    """A slice of a tensor in local memory.

    `tensor` is (depth * n, c, h, w), d outermost; `start` says where the slice begins in the
    whole tensor, whose sizes are `full`.
    """

    tensor: LocalTensor
    start: Ncdhw
    full: Ncdhw
    form: Form = Form.PLAIN
    depth: int = 1

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.tensor.dtype

    def behind(self, axis: str, end: int, chip: Chip) -> "LocalValue":
        """What of the slice lies at `end` or behind it, along h or w of the whole."""
        skipped = end - getattr(self.start, axis)
        if skipped <= 0:
            return self
        n, c, h, w = self.tensor.shape
        skipped = min(skipped, h if axis == "h" else w)
        rows, columns = (skipped, 0) if axis == "h" else (0, skipped)
        shape = (n, c, h - rows, w - columns)
        tensor = self.tensor.window((0, 0, rows, columns), shape, chip)
        return replace(self, tensor=tensor, start=self.start._replace(**{axis: end}))

    def row(self, channels: int, chip: Chip) -> LocalTensor:
        """A ROW value as an operand of a result with this many channels."""
        n, _, h, w = self.tensor.shape
        return replace(self.tensor, shape=(n, min(channels, chip.lanes), h, w))


class Partial(NamedTuple):
    """A part of a sum: `total` (f32, like the result) holds what has been summed up so far, unless
    it is the first; the result is complete with the last."""

    total: LocalTensor
    is_first: bool
    is_last: bool


@record(frozen=True)
class LocalContext:
    """Passed to a local kernel together with the op it must emit for one slice; `partial` to one
    that can sum in parts (`LocalGen.summed`), `before`, the slice of the result before this one, to
    one that goes on from it (`LocalGen.goes_on_along`)."""

    chip: Chip
    emitter: Emitter
    op: Operation
    operands: tuple[LocalValue | None, ...]
    out: LocalValue
    scratch: LocalMemory
    partial: Partial | None = None
    before: LocalValue | None = None

    def operand(self, index: int) -> LocalValue:
        """Operand `index`, which must be there."""
        value = self.operands[index]
        if value is None:
            raise TpuError(f"{self.op.name} has no operand {index}")
        return value

    def optional(self, index: int) -> LocalValue | None:
        """Operand `index`, or None when absent."""
        return self.operands[index] if index < len(self.operands) else None


LocalKernel = Callable[[LocalContext], None]
