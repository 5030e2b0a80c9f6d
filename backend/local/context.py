"""What a local kernel gets: its slices in local memory, the op, scratch memory."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from typing import NamedTuple, TypeVar

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.first_fit import fitting
from xdsl_tpu.backend.tensor import (
    DType,
    LocalTensor,
    Shape4,
    align,
    aligned,
    aligned_bytes,
    compact,
    compact_bytes,
)
from xdsl_tpu.dialects.errors import DoesNotFit, TpuError
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
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


class Scratch:
    """Free parts of local memory, handed out first fit.

    `reserve` are parts that nothing uses now, but that loads of what comes later may want; they
    are opened by `widen`, when an op cannot do without.
    """

    def __init__(
        self,
        chip: Chip,
        regions: Sequence[tuple[int, int]],
        reserve: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.chip = chip
        self._free = self._whole_units(regions)
        self._reserve = self._whole_units(reserve)
        self.taken: list[tuple[int, int]] = []

    def _whole_units(self, regions: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        unit = self.chip.eu_bytes
        return [(align(low, unit), high // unit * unit) for low, high in regions]

    def widen(self) -> bool:
        """Open the reserve; False when there is none (any more)."""
        more, self._reserve = self._reserve, []
        self._free += more
        return bool(more)

    @property
    def largest(self) -> int:
        """Bytes per lane of the largest free piece."""
        return max((end - start for start, end in self._free), default=0)

    @contextmanager
    def temporary(self) -> Generator[None]:
        """What is taken within is free again afterwards."""
        free, reserve = list(self._free), list(self._reserve)
        try:
            yield
        finally:
            self._free, self._reserve = free, reserve

    def find(self, size: int) -> int | None:
        """Reserve `size` bytes per lane; None when no piece is large enough."""
        size = align(size, self.chip.eu_bytes)
        index = fitting(self._free, size)
        if index is None:
            return None
        start, end = self._free[index]
        self._free[index] = (start + size, end)
        self.taken.append((start, start + size))
        return start

    def enough(self, search: Callable[[], T | None], wanted: str) -> T:
        """What `search` finds in the free memory, with the reserve if need be.

        Raises DoesNotFit, naming what was `wanted`, when it finds nothing.
        """
        found = search()
        if found is None and self.widen():
            found = search()
        if found is None:
            raise DoesNotFit(f"{self.largest} bytes of scratch memory per lane: too few {wanted}")
        return found

    def take(self, size: int) -> int:
        """As `find`, from the reserve if need be, raising TpuError when nothing fits."""
        return self.enough(lambda: self.find(size), f"for {size}")

    def aligned(self, shape: Shape4, dtype: DType) -> LocalTensor:
        """Reserve an EU-aligned tensor on lane 0."""
        return aligned(self.chip, self.take(aligned_bytes(self.chip, shape, dtype)), shape, dtype)

    def compact(self, shape: Shape4, dtype: DType) -> LocalTensor:
        """Reserve a compact tensor on lane 0."""
        return compact(self.chip, self.take(compact_bytes(self.chip, shape, dtype)), shape, dtype)

    def holds(self, sizes: Sequence[int]) -> bool:
        """Whether buffers of these sizes could all be taken now.

        If so they count as taken: who asks works in as much memory, taken later or not.
        """
        taken = len(self.taken)
        with self.temporary():
            fit = all(self.find(size) is not None for size in sizes)
        if not fit:
            del self.taken[taken:]
        return fit


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
    scratch: Scratch
    group_type: GroupType
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
