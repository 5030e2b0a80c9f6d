"""A tile program as plain values: making an xDSL op takes as long as emitting several commands."""

from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.kernels.lanes import View
from xdsl_tpu.backend.local.context import LocalValue
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw

Region: TypeAlias = tuple[int, int]
"""Bytes [start, end) of every lane."""


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """A slice of a value in local memory; two that lie alike are still two."""

    value: SSAValue
    place: LocalValue


@dataclass(frozen=True, slots=True)
class Load:
    """The GDMA brings a slice in: one buffer, or all those of a pack of weights at once.

    `taps`: what the lanes hold of rows and columns where filter taps are merged into them.
    """

    step: int
    slice: int
    op: tpu.LoadOp
    targets: tuple[Buffer, ...]
    taps: tuple[View, View] | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """The GDMA takes a slice to DDR, from index `start` on: what is before it another core stores.

    `free` is what it may use of local memory.
    """

    step: int
    slice: int
    op: tpu.StoreOp
    source: Buffer
    start: Ncdhw
    free: tuple[Region, ...]


@dataclass(frozen=True, slots=True)
class Compute:
    """The TIU computes a slice of an op; operands that are absent are None.

    `own` is its scratch memory; `free` is what else nothing uses just now.
    """

    step: int
    slice: int
    op: Operation
    operands: tuple[Buffer | None, ...]
    out: Buffer
    own: Region | None
    free: tuple[Region, ...]


Step: TypeAlias = Load | Store | Compute


@dataclass(frozen=True, slots=True)
class TileProgram:
    """What one core does for a group, in order of emission."""

    group: tpu.GroupOp
    kind: GroupType
    core: int
    steps: tuple[Step, ...]
