"""What every kernel gets: tensors of the IR in DDR, local memory to carve up, a pipeline.

A *global layer* loads slices from DDR, computes them in local memory and stores the results;
`pipelined` overlaps the three for neighbouring slices.
"""

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    IntegerType,
    NoneType,
    Signedness,
    StridedLayoutAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.first_fit import fitting
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    Shape4,
    align,
    aligned,
    aligned_bytes,
    compact,
    compact_bytes,
    contiguous,
)
from xdsl_tpu.dialects.base import is_integer_attr, is_ranked_tensor
from xdsl_tpu.dialects.errors import DoesNotFit, TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.quant import stored_element
from xdsl_tpu.dialects.records import record

T = TypeVar("T")
B = TypeVar("B")


@record(frozen=True, slots=True)
class DdrValue:
    """An IR value in DDR: row-major at `address`, any rank, or 4-D with `strides` in elements."""

    address: int
    shape: tuple[int, ...]
    dtype: DType
    strides: Shape4 | None = None

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def as4(self, shape: Shape4) -> GlobalTensor:
        """The same data as a row-major 4-D tensor of this shape."""
        if math.prod(shape) != self.elements or self.strides is not None:
            raise TpuError(f"{self.shape} cannot be viewed as {shape}")
        return contiguous(self.address, shape, self.dtype)


class LocalMemory:
    """Free parts of local memory, handed out first fit; all of it unless they are given.

    `reserve` are parts that nothing uses now, but that loads of what comes later may want; they
    are opened by `widen`, when an op cannot do without.
    """

    def __init__(
        self,
        chip: Chip,
        regions: Sequence[tuple[int, int]] | None = None,
        reserve: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.chip = chip
        self._free = self._whole_units([(0, chip.local_bytes)] if regions is None else regions)
        self._reserve = self._whole_units(reserve)
        self.taken: list[tuple[int, int]] = []

    def _whole_units(self, regions: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        unit = self.chip.eu_bytes
        return [(align(low, unit), high // unit * unit) for low, high in regions]

    def alike(self) -> "LocalMemory":
        """Other memory of which as much is free."""
        return LocalMemory(self.chip, self._free, self._reserve)

    def widen(self) -> bool:
        """Open the reserve; False when there is none (any more)."""
        more, self._reserve = self._reserve, []
        self._free += more
        return bool(more)

    @property
    def largest(self) -> int:
        """Bytes per lane of the largest free piece."""
        return max((end - start for start, end in self._free), default=0)

    @property
    def sizes(self) -> tuple[tuple[int, ...], ...]:
        """Bytes per lane of all pieces that are free, and of those in reserve."""
        pieces = self._free, self._reserve
        return tuple(tuple(end - start for start, end in some) for some in pieces)

    @property
    def next(self) -> int:
        """Where the first free piece begins."""
        return self._free[0][0]

    @contextmanager
    def temporary(self) -> Generator[None]:
        """What is taken within is free again afterwards."""
        free, reserve = list(self._free), list(self._reserve)
        try:
            yield
        finally:
            self._free, self._reserve = free, reserve

    def find(self, size: int) -> int | None:
        """Reserve `size` bytes per lane; None when no piece is large enough. Nothing is found where
        nothing is free, too."""
        size = align(size, self.chip.eu_bytes)
        index = fitting(self._free, size)
        if index is None:
            return None if size else 0
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


def first_that_fits(
    plans: Iterable[T], build: Callable[[LocalMemory, T], B], chip: Chip
) -> B | None:
    """What is built by the first plan whose buffers local memory has room for; None when there is
    none."""
    for plan in plans:
        try:
            return build(LocalMemory(chip), plan)
        except DoesNotFit:
            continue
    return None


class Cursor:
    """Where the next buffer of a ring begins; kept from op to op."""

    def __init__(self) -> None:
        self.next = 0


@record(frozen=True, slots=True)
class Ring:
    """Local memory [start, end) that is used in turn, again and again.

    A buffer may be used until `end - start` bytes more have been taken, its own size included.
    Since the place of the next buffer is kept from op to op, an op's first loads go where the last
    ones of the op before do not lie, and can be done while that works.
    """

    start: int
    end: int
    unit: int
    cursor: Cursor

    def take(self, size: int) -> int:
        """The address of the next `size` bytes; DoesNotFit when the ring is smaller."""
        if size > self.end - self.start:
            raise DoesNotFit(f"local memory: {size} bytes wanted of {self.end - self.start}")
        address = align(max(self.cursor.next, self.start), self.unit)
        if address + size > self.end:
            address = self.start
        self.cursor.next = address + size
        return address


@dataclass
class KernelContext:
    """Passed to every kernel together with the op it must emit.

    It is that of one core out of `cores`; a kernel which makes only that core's part of its op says
    so by `is_shared` (`shares`).
    """

    chip: Chip
    emitter: Emitter
    streamed: Cursor = field(default_factory=Cursor)
    topmost: Cursor = field(default_factory=Cursor)
    core: int = 0
    cores: int = 1
    is_shared: bool = False

    def ring(self, start: int, end: int) -> Ring:
        """Local memory from `start`, rounded up, for what is streamed through once."""
        unit = self.chip.eu_bytes
        return Ring(align(start, unit), end, unit, self.streamed)

    def top_ring(self, size: int) -> Ring:
        """The last `size` bytes, rounded up, for what many buffers of another ring go with."""
        unit = self.chip.eu_bytes
        return Ring(
            self.chip.local_bytes - align(size, unit), self.chip.local_bytes, unit, self.topmost
        )

    def value(self, value: SSAValue) -> DdrValue:
        """Where an addressed IR value lies.

        Raises TpuError when its type carries no address.
        """
        return ddr_value(value)

    def optional(self, value: SSAValue) -> DdrValue | None:
        """As `value`, or None for an absent (`none`) operand."""
        return None if isinstance(value.type, NoneType) else ddr_value(value)


def ddr_value(value: SSAValue) -> DdrValue:
    """The place of an addressed IR value; raises TpuError without an address."""
    kind = value.type
    if is_ranked_tensor(kind) and isinstance(layout := kind.encoding, StridedLayoutAttr):
        n, c, h, w = (step or 0 for step in layout.get_strides())
        element, shape = dtype_of(kind.element_type), kind.get_shape()
        return DdrValue(layout.get_offset() or 0, shape, element, (n, c, h, w))
    if not is_ranked_tensor(kind) or not is_integer_attr(kind.encoding):
        raise TpuError(
            f"'{name_of(value)}' has type {kind}, which carries no address: "
            "run --address-assign before generating code"
        )
    return DdrValue(kind.encoding.value.data, kind.get_shape(), dtype_of(kind.element_type))


def dtype_of(element: Attribute) -> DType:
    """The machine's element type for an IR element type, quantised ones by their storage."""
    element = stored_element(element)
    if isinstance(element, Float32Type):
        return DType.F32
    if isinstance(element, Float16Type):
        return DType.F16
    if isinstance(element, BFloat16Type):
        return DType.BF16
    if isa(element, IntegerType):
        unsigned = element.signedness.data is Signedness.UNSIGNED
        name = f"{'u' if unsigned else 'i'}{element.width.data}"
        for dtype in DType:
            if dtype.label == name:
                return dtype
    raise TpuError(f"element type {element} has no counterpart on the machine")


def pipelined(
    tiles: Sequence[T],
    load: Callable[[T, int], None],
    compute: Callable[[T, int], None],
    store: Callable[[T, int], None],
) -> None:
    """Emit load, compute and store of each tile as a three-stage pipeline.

    The second argument of each stage is the buffer to use, 0 or 1 in turn. In every step the
    next tile's load is queued before the previous tile's store, so that the GDMA works while
    the TIU computes the tile between them. Hence the buffers of even and odd tiles must not
    overlap, whatever the tiles' sizes.
    """
    for step in range(len(tiles) + 2):
        if step < len(tiles):
            load(tiles[step], step % 2)
        if 0 <= step - 1 < len(tiles):
            compute(tiles[step - 1], (step - 1) % 2)
        if 0 <= step - 2 < len(tiles):
            store(tiles[step - 2], step % 2)


def where(op: Operation) -> str:
    """The op's type and tensor name, for messages."""
    return f"{op.name} '{name_of(op)}'"
