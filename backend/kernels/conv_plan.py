"""How a convolution is cut into tiles that fit local memory, chosen by estimated cycles."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.clamp import Clamp
from xdsl_tpu.backend.kernels.lanes import (
    MERGE_COLUMNS,
    MERGE_ROWS,
    View,
    view_columns,
    view_rows,
)
from xdsl_tpu.backend.kernels.tiling import (
    Axis,
    Piece,
    Traffic,
    cut,
    pipeline_cycles,
    steps_of,
    sweep,
)
from xdsl_tpu.backend.tensor import DType, GlobalTensor, align, ceil_div
from xdsl_tpu.dialects.errors import TpuError


@dataclass(frozen=True)
class Convolution:
    """A convolution over tensors in DDR.

    x (n, groups * ic, ih, iw); weight (1, groups * oc, blocks, width), where a block is the
    cube's worth of input channels; bias (1, groups * oc, 1, 1) f32; out (n, groups * oc, oh, ow).
    """

    x: GlobalTensor
    weight: GlobalTensor
    bias: GlobalTensor | None
    out: GlobalTensor
    rows: Axis
    columns: Axis
    groups: int
    merge: int
    clamp: Clamp

    @cached_property
    def ic(self) -> int:
        """Input channels of a group."""
        return self.x.shape[1] // self.groups

    @cached_property
    def oc(self) -> int:
        """Output channels of a group."""
        return self.out.shape[1] // self.groups

    @property
    def blocks(self) -> int:
        """Blocks of input channels in a filter."""
        return self.weight.shape[2]

    @property
    def taps(self) -> int:
        """Lanes per input channel."""
        rows = self.rows.kernel if self.merge & MERGE_ROWS else 1
        return rows * (self.columns.kernel if self.merge & MERGE_COLUMNS else 1)

    @property
    def positions(self) -> int:
        """Kernel positions that are left for the convolution command."""
        return self.rows.kernel * self.columns.kernel // self.taps

    def channels(self, blocks: Piece, chip: Chip) -> Piece:
        """The channels of a group that these blocks hold (before merging)."""
        if blocks.size == self.blocks:
            return Piece(0, self.ic)
        width = chip.cube_channels[self.x.dtype.bytes]
        start = blocks.start * width
        return Piece(start, min(self.ic, blocks.end * width) - start)


@dataclass(frozen=True, slots=True)
class Area:
    """A part of the output: images, rows and columns."""

    images: Piece
    rows: Piece
    columns: Piece

    def views(self, conv: Convolution) -> tuple[View, View]:
        """What the input tile must hold for it."""
        return (
            view_rows(conv.rows, self.rows, bool(conv.merge & MERGE_ROWS)),
            view_columns(conv.columns, self.columns, bool(conv.merge & MERGE_COLUMNS)),
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One convolution command: what it works on, buffer numbers, which operands to load.

    `first` and `last` tell whether this is the first and last of the block pieces that add up
    to one output tile; `out_slot` is that tile's buffer.
    """

    group: int
    area: Area
    oc: Piece
    blocks: Piece
    x_slot: int
    w_slot: int
    out_slot: int
    load_x: bool
    load_w: bool
    first: bool = True
    last: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """Tile sizes, and whether the filter (or else the input) is held while the other streams."""

    images: int
    rows: int
    columns: int
    oc: int
    blocks: int
    hold_weights: bool

    def steps(self, conv: Convolution) -> Iterator[Step]:
        """The work in order."""
        areas = self._areas(conv)
        channels = cut(conv.oc, self.oc)
        blocks = cut(conv.blocks, self.blocks)
        count = 0
        for group in range(conv.groups):
            if len(blocks) > 1:
                for area in areas:
                    for oc in channels:
                        yield from _split(group, area, oc, blocks, count)
                        count += 1
                continue
            outer, inner = len(channels), len(areas)
            if not self.hold_weights:
                outer, inner = inner, outer
            for visit in sweep(outer, inner, group):
                held = (visit.outer, visit.outer_slot, visit.load_outer)
                streamed = (visit.inner, visit.inner_slot, visit.load_inner)
                w, x = (held, streamed) if self.hold_weights else (streamed, held)
                place = (group, areas[x[0]], channels[w[0]], Piece(0, conv.blocks))
                yield Step(*place, x[1], w[1], count % 2, x[2], w[2])
                count += 1

    def _areas(self, conv: Convolution) -> list[Area]:
        return [
            Area(images, rows, columns)
            for images in cut(conv.x.shape[0], self.images)
            for rows in cut(conv.rows.out, self.rows)
            for columns in cut(conv.columns.out, self.columns)
        ]

    def slots(self, conv: Convolution) -> tuple[int, int, int]:
        """Buffers for input, filter and output tiles."""
        areas = (
            ceil_div(conv.x.shape[0], self.images)
            * ceil_div(conv.rows.out, self.rows)
            * ceil_div(conv.columns.out, self.columns)
        )
        filters = ceil_div(conv.oc, self.oc)
        if conv.groups > 1 or self.blocks < conv.blocks:
            return 2, 2, 2
        return min(2, areas), min(2, filters), min(2, areas * filters)


def _split(
    group: int, area: Area, oc: Piece, blocks: tuple[Piece, ...], count: int
) -> Iterator[Step]:
    """One output tile added up over pieces of the input channels."""
    for i, piece in enumerate(blocks):
        slot = (count * len(blocks) + i) % 2
        last = i == len(blocks) - 1
        yield Step(
            group, area, oc, piece, slot, slot, count % 2, True, True, first=i == 0, last=last
        )


@dataclass(frozen=True)
class Sizes:
    """Bytes per lane of one buffer of each kind."""

    x: int
    weight: int
    out: int
    scratch: int
    accumulator: int

    @classmethod
    def of(cls, conv: Convolution, plan: Plan, chip: Chip) -> "Sizes":
        """For the largest tiles of a plan."""
        first = Area(Piece(0, plan.images), Piece(0, plan.rows), Piece(0, plan.columns))
        rows, columns = first.views(conv)
        height, width = rows.count, columns.count
        if rows.taps == 1:
            height = conv.rows.longest_reach(plan.rows)
        if columns.taps == 1:
            width = conv.columns.longest_reach(plan.columns)
        kind = conv.x.dtype
        lanes = conv.channels(Piece(0, plan.blocks), chip).size * conv.taps
        if conv.blocks > plan.blocks:
            lanes = plan.blocks * chip.cube_channels[kind.bytes]
        x = _aligned(chip, plan.images, lanes, height * width, kind)
        groups = ceil_div(plan.oc, chip.lanes)
        weight = align(groups * plan.blocks * conv.weight.shape[3] * kind.bytes, chip.eu_bytes)
        pixels = plan.rows * plan.columns
        out = _aligned(chip, plan.images, plan.oc, pixels, conv.out.dtype)
        split = plan.blocks < conv.blocks
        accumulator = _aligned(chip, plan.images, plan.oc, pixels, DType.F32) if split else 0
        return cls(x, weight, out, out if conv.clamp.active else 0, accumulator)

    def total(self, slots: tuple[int, int, int]) -> int:
        """Bytes with this many buffers of input, filter and output."""
        moving = slots[0] * self.x + slots[1] * self.weight + slots[2] * self.out
        return moving + self.scratch + self.accumulator


def _aligned(chip: Chip, n: int, c: int, pixels: int, kind: DType) -> int:
    return n * ceil_div(c, chip.lanes) * align(pixels * kind.bytes, chip.eu_bytes)


def bias_bytes(conv: Convolution, chip: Chip) -> int:
    """Bytes per lane of all biases: each group's start on lane 0 again."""
    groups = conv.groups * ceil_div(conv.oc, chip.lanes) if conv.bias is not None else 0
    return align(groups * DType.F32.bytes, chip.eu_bytes)


def choose_plan(conv: Convolution, chip: Chip, name: str) -> Plan:
    """The plan with the fewest estimated cycles among those that fit.

    Splitting columns or input channels is tried only when nothing else fits. Raises TpuError
    when nothing fits at all.
    """
    room = chip.local_bytes - bias_bytes(conv, chip)
    for columns, blocks in _reductions(conv):
        fitting = [
            plan
            for plan in _candidates(conv, chip, columns, blocks)
            if Sizes.of(conv, plan, chip).total(plan.slots(conv)) <= room
        ]
        if fitting:
            return min(fitting, key=lambda plan: estimate(conv, plan, chip))
    raise TpuError(f"{name}: not even one output row of {chip.lanes} channels fits local memory")


def _reductions(conv: Convolution) -> Iterator[tuple[int, int]]:
    """(columns, blocks) per tile, from everything downwards."""
    blocks = conv.blocks
    while blocks >= 1:
        for columns in steps_of(conv.columns.out):
            yield columns, blocks
        if conv.merge or blocks == 1:
            return
        blocks = ceil_div(blocks, 2)


def _candidates(conv: Convolution, chip: Chip, columns: int, blocks: int) -> Iterator[Plan]:
    channels = steps_of(conv.oc, chip.lanes)
    rows = steps_of(conv.rows.out)
    whole = Plan(1, 1, columns, channels[-1], blocks, True)
    shapes = [(1, height) for height in rows]
    shapes += [(count, rows[0]) for count in steps_of(conv.x.shape[0]) if count > 1]
    for oc in channels:
        for images, height in shapes:
            plan = replace(whole, oc=oc, images=images, rows=height)
            yield plan
            if oc < conv.oc and (images, height) != (conv.x.shape[0], rows[0]):
                yield replace(plan, hold_weights=False)


_MOST_STEPS = 600


def estimate(conv: Convolution, plan: Plan, chip: Chip) -> int:
    """Cycles of a plan, from the sizes of its transfers and commands."""
    cost = _StepCost(conv, chip)
    steps: list[tuple[int, int, int]] = []
    for step in plan.steps(conv):
        steps.append((cost.load(step), cost.compute(step), cost.store(step) if step.last else 0))
        if len(steps) >= _MOST_STEPS:
            return pipeline_cycles(steps) * conv.groups * 100
    return pipeline_cycles(steps)


class _StepCost:
    """Cycles of the parts of a step."""

    def __init__(self, conv: Convolution, chip: Chip) -> None:
        self.conv = conv
        self.chip = chip
        self.traffic = Traffic(chip)
        self.width = conv.x.dtype.bytes

    def load(self, step: Step) -> int:
        """The loads of a step."""
        return (self._x(step) if step.load_x else 0) + (self._weight(step) if step.load_w else 0)

    def _x(self, step: Step) -> int:
        conv = self.conv
        rows, columns = step.area.views(conv)
        dense = columns.count == conv.columns.size and rows.step == 1
        pixels = rows.count * columns.count
        run = (pixels if dense else columns.count) * self.width
        lanes = conv.channels(step.blocks, self.chip).size * conv.taps
        size = step.area.images.size * lanes * pixels * self.width
        matrix = dense and conv.taps == 1 and rows.count == conv.rows.size
        return self.traffic.load(size, run, matrix)

    def _weight(self, step: Step) -> int:
        row = step.blocks.size * self.conv.weight.shape[3] * self.width
        matrix = step.blocks.size == self.conv.blocks
        return self.traffic.load(row * step.oc.size, row, matrix)

    def compute(self, step: Step) -> int:
        """The convolution, the clamp and the final cast."""
        conv, chip, area = self.conv, self.chip, step.area
        pixels = area.rows.size * area.columns.size
        groups = area.images.size * ceil_div(step.oc.size, chip.lanes)
        lanes = conv.channels(step.blocks, chip).size * conv.taps
        outputs = ceil_div(pixels, chip.cube_outputs[self.width])
        depth = ceil_div(lanes, chip.cube_channels[self.width]) * conv.positions
        passes = conv.clamp.passes if step.last else 0
        return groups * (outputs * depth + passes * ceil_div(pixels, chip.eu(self.width)))

    def store(self, step: Step) -> int:
        """Storing the output tile."""
        conv, area = self.conv, step.area
        pixels = area.rows.size * area.columns.size
        dense = area.columns.size == conv.columns.out
        run = (pixels if dense else area.columns.size) * self.width
        size = area.images.size * step.oc.size * pixels * self.width
        return self.traffic.store(size, run, dense and area.rows.size == conv.rows.out)
