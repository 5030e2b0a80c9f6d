"""A tile program as plain values: making an xDSL op takes as long as emitting several commands."""

from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.kernels.lanes import View
from xdsl_tpu.backend.local.context import LocalKernel, LocalValue
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw, Range
from xdsl_tpu.dialects.records import record

Region: TypeAlias = tuple[int, int]
"""Bytes [start, end) of every lane."""


@record(frozen=True, slots=True, eq=False)
class Buffer:
    """A slice of a value in local memory; two that lie alike are still two."""

    value: SSAValue
    place: LocalValue


@record(frozen=True, slots=True)
class Load:
    """The GDMA brings a slice of `source` in, or all weights of a pack at once.

    `taps`: what the lanes hold of rows and columns where filter taps are merged into them. `free`
    is what it may use of local memory. If the value is `kept` in local memory, from that byte of
    every lane on, the TIU copies the slice.
    """

    step: int
    slice: int
    op: Operation
    source: SSAValue
    targets: tuple[Buffer, ...]
    taps: tuple[View, View] | None = None
    free: tuple[Region, ...] = ()
    kept: int | None = None


@record(frozen=True, slots=True)
class Store:
    """The GDMA takes a slice to its place in `target`, from index `start` on: what is before it
    another core stores.

    `free` is what it may use of local memory. If the value is to be `kept` there, from that byte of
    every lane on, the TIU copies the slice.
    """

    step: int
    slice: int
    op: Operation
    target: SSAValue
    source: Buffer
    start: Ncdhw
    free: tuple[Region, ...]
    kept: int | None = None


@record(frozen=True, slots=True)
class Sum:
    """One of the parts, in order, of a sum over `whole` elements, which comes together in f32."""

    buffer: Buffer
    part: Range
    whole: int

    @property
    def is_first(self) -> bool:
        """Whether nothing has been summed up before."""
        return self.part[0] == 0

    @property
    def is_last(self) -> bool:
        """Whether the result is complete with it."""
        return sum(self.part) == self.whole


@record(frozen=True, slots=True)
class Compute:
    """The TIU computes a slice of an op by its `kernel`; operands that are absent are None.

    `own` is its scratch memory; `free` is what else nothing uses just now. With a `sum`, only its
    last part makes the slice. `before` is the slice that it goes on from.
    """

    step: int
    slice: int
    op: Operation
    operands: tuple[Buffer | None, ...]
    out: Buffer
    own: Region | None
    free: tuple[Region, ...]
    kernel: LocalKernel
    sum: Sum | None = None
    before: Buffer | None = None


Step: TypeAlias = Load | Store | Compute


@record(frozen=True, slots=True)
class TileProgram:
    """What one core does for a `tpu.Group`, or for an op by itself, in order of emission."""

    op: Operation
    kind: GroupType
    core: int
    steps: tuple[Step, ...]
