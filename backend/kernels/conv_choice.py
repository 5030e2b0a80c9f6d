"""Choosing the tiles of a convolution: what fits local memory at the fewest estimated cycles."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.cells import cell_shape, chunks_of
from xdsl_tpu.backend.kernels.conv_plan import Area, Convolution, Plan, Step
from xdsl_tpu.backend.kernels.lanes import lane_parts
from xdsl_tpu.backend.kernels.tables import table_bytes
from xdsl_tpu.backend.kernels.tiling import Piece, pipeline_cycles, steps_of
from xdsl_tpu.backend.kernels.transfer import load_cycles, store_cycles
from xdsl_tpu.backend.tensor import DType, align, aligned, aligned_bytes, ceil_div, compact
from xdsl_tpu.dialects.errors import DoesNotFit


@dataclass(frozen=True)
class Sizes:
    """Bytes per lane of one buffer of each kind."""

    x: int
    weight: int
    out: int
    scratch: int
    accumulator: int
    cells: int

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
        weight = cells = 0
        for chunk in chunks_of(rows, columns):
            row = plan.blocks * conv.weight.shape[3] * chunk.positions // conv.positions
            weight += align(ceil_div(plan.oc, chip.lanes) * row * kind.bytes, chip.eu_bytes)
            tile = (plan.images, lanes, height, width)
            shape = cell_shape(tile, chunk, rows, columns, (plan.rows, plan.columns))
            cells = max(cells, aligned_bytes(chip, shape, kind)) if conv.far else 0
        pixels = plan.rows * plan.columns
        out = _aligned(chip, plan.images, plan.oc, pixels, conv.out.dtype)
        split = plan.blocks < conv.blocks or conv.far
        accumulator = _aligned(chip, plan.images, plan.oc, pixels, DType.F32) if split else 0
        return cls(x, weight, out, out if conv.clamp.active else 0, accumulator, cells)

    def total(self, slots: tuple[int, int, int]) -> int:
        """Bytes with this many buffers of input, filter and output."""
        moving = slots[0] * self.x + slots[1] * self.weight + slots[2] * self.out
        return moving + self.scratch + self.accumulator + self.cells


def _aligned(chip: Chip, n: int, c: int, pixels: int, kind: DType) -> int:
    return n * ceil_div(c, chip.lanes) * align(pixels * kind.bytes, chip.eu_bytes)


def bias_bytes(conv: Convolution, chip: Chip) -> int:
    """Bytes per lane of all biases, each group's a table of its own."""
    if conv.bias is None:
        return 0
    table = table_bytes(chip.lanes, conv.oc, 1, conv.bias.dtype.bytes, chip.eu_bytes)
    return conv.groups * table


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
    raise DoesNotFit(f"{name}: not even one output row of {chip.lanes} channels fits local memory")


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


def estimate(conv: Convolution, plan: Plan, chip: Chip) -> int:
    """Cycles of a plan: its transfers and commands in the pipeline's order."""
    cost = _StepCost(conv, chip)
    steps = ((cost.load(s), cost.compute(s), cost.store(s)) for s in plan.steps(conv))
    return pipeline_cycles(steps, plan.count(conv))


class _StepCost:
    """Cycles of the parts of a step; equal tiles are looked at once."""

    def __init__(self, conv: Convolution, chip: Chip) -> None:
        self.conv = conv
        self.chip = chip
        self.width = conv.x.dtype.bytes
        self._known: dict[tuple[object, ...], int] = {}

    def _once(self, key: tuple[object, ...], cost: Callable[[], int]) -> int:
        if key not in self._known:
            self._known[key] = cost()
        return self._known[key]

    def load(self, step: Step) -> int:
        """The loads of a step."""
        cycles = 0
        if step.turn.load_left:
            rows, columns = step.area.views(self.conv)
            edges = [
                (v.count, v.first < 0, v.inside(v.taps - 1, s).size)
                for v, s in ((rows, self.conv.rows.size), (columns, self.conv.columns.size))
            ]
            key = ("x", step.area.images.size, step.blocks.size, *edges)
            cycles += self._once(key, lambda: self._x(step))
        if step.turn.load_right:
            key = ("w", step.oc.size, step.blocks.size)
            cycles += self._once(key, lambda: self._weight(step))
        return cycles

    def _x(self, step: Step) -> int:
        conv, chip = self.conv, self.chip
        target = aligned(chip, 0, step.x_shape(conv, chip), conv.x.dtype)
        parts = lane_parts(chip, target, step.x_source(conv, chip), *step.area.views(conv))
        return sum(load_cycles(local, ddr, chip) for local, ddr in parts)

    def _weight(self, step: Step) -> int:
        source = step.weight_source(self.conv)
        target = compact(self.chip, 0, source.shape, source.dtype)
        return load_cycles(target, source, self.chip)

    def compute(self, step: Step) -> int:
        """The convolution, the clamp and the final cast."""
        conv, chip, area = self.conv, self.chip, step.area
        pixels = area.rows.size * area.columns.size
        groups = area.images.size * ceil_div(step.oc.size, chip.lanes)
        lanes = conv.channels(step.blocks, chip).size * conv.taps
        outputs = ceil_div(pixels, chip.cube_outputs[self.width])
        depth = ceil_div(lanes, chip.cube_channels[self.width]) * conv.positions
        passes = conv.clamp.passes if step.turn.last else 0
        return groups * (outputs * depth + passes * ceil_div(pixels, chip.eu(self.width)))

    def store(self, step: Step) -> int:
        """Storing the output tile, once it is complete."""
        if not step.turn.last:
            return 0
        shape = step.out_shape()
        return self._once(("out", *shape), lambda: self._store(step))

    def _store(self, step: Step) -> int:
        target = step.out_target(self.conv)
        source = aligned(self.chip, 0, target.shape, target.dtype)
        return store_cycles(target, source, self.chip)
