"""Products of matrices in DDR and how they are cut into tiles, chosen by estimated cycles."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.clamp import Clamp
from xdsl_tpu.backend.kernels.tiling import (
    Piece,
    Traffic,
    cut,
    pipeline_cycles,
    steps_of,
    sweep,
)
from xdsl_tpu.backend.tensor import DType, GlobalTensor, align, ceil_div
from xdsl_tpu.dialects.errors import TpuError


@dataclass(frozen=True, slots=True)
class Matrix:
    """Matrices of one shape in DDR, as stored: row r of matrix i is at starts[i] + r * stride."""

    address: int
    dtype: DType
    rows: int
    columns: int
    stride: int
    starts: tuple[int, ...]

    def part(self, index: int, rows: Piece, columns: Piece) -> GlobalTensor:
        """A block as (1, rows, 1, columns)."""
        offset = self.starts[index] + rows.start * self.stride + columns.start
        shape = (1, rows.size, 1, columns.size)
        strides = (rows.size * self.stride, self.stride, columns.size, 1)
        address = self.address + offset * self.dtype.bytes
        return GlobalTensor(address, shape, strides, self.dtype)


@dataclass(frozen=True, slots=True)
class Product:
    """out[i] = left[i] x right[i] + bias; the flags say how the operands are stored."""

    left: Matrix
    right: Matrix
    out: Matrix
    bias: GlobalTensor | None
    left_transpose: bool
    right_transpose: bool
    clamp: Clamp

    @property
    def depth(self) -> int:
        """K."""
        return self.left.rows if self.left_transpose else self.left.columns

    @property
    def wide(self) -> bool:
        """Whether the product is in f32."""
        return self.left.dtype is DType.F32

    @property
    def turns_right(self) -> bool:
        """Whether the right operand must be transposed in local memory: the convolution unit
        wants K on the lanes, while MM2 takes either."""
        return self.wide and self.right_transpose

    @property
    def extra(self) -> int:
        """Element-wise commands after the product."""
        return self.clamp.passes + (self.bias is not None)


@dataclass(frozen=True, slots=True)
class Step:
    """One product of tiles; `first` and `last` of the pieces of K that add up to one result."""

    index: int
    rows: Piece
    columns: Piece
    depth: Piece
    left_slot: int
    right_slot: int
    out_slot: int
    load_left: bool
    load_right: bool
    first: bool = True
    last: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """Tile sizes in rows, columns and K, and which operand is held while the other streams."""

    rows: int
    columns: int
    depth: int
    hold_left: bool

    def steps(self, product: Product) -> Iterator[Step]:
        """The work in order, matrix after matrix."""
        rows, columns = cut(product.out.rows, self.rows), cut(product.out.columns, self.columns)
        depths = cut(product.depth, self.depth)
        count = 0
        for index in range(len(product.out.starts)):
            if len(depths) > 1:
                for m in rows:
                    for n in columns:
                        yield from _split(index, m, n, depths, count)
                        count += 1
                continue
            outer, inner = len(rows), len(columns)
            if not self.hold_left:
                outer, inner = inner, outer
            for visit in sweep(outer, inner, index):
                held = (visit.outer, visit.outer_slot, visit.load_outer)
                streamed = (visit.inner, visit.inner_slot, visit.load_inner)
                a, b = (held, streamed) if self.hold_left else (streamed, held)
                place = (index, rows[a[0]], columns[b[0]], Piece(0, product.depth))
                yield Step(*place, a[1], b[1], count % 2, a[2], b[2])
                count += 1

    def slots(self, product: Product) -> tuple[int, int, int]:
        """Buffers for left, right and result tiles."""
        if len(product.out.starts) > 1 or self.depth < product.depth:
            return 2, 2, 2
        rows = ceil_div(product.out.rows, self.rows)
        columns = ceil_div(product.out.columns, self.columns)
        return min(2, rows), min(2, columns), min(2, rows * columns)


def _split(
    index: int, rows: Piece, columns: Piece, depths: tuple[Piece, ...], count: int
) -> Iterator[Step]:
    for i, piece in enumerate(depths):
        slot = (count * len(depths) + i) % 2
        last = i == len(depths) - 1
        yield Step(
            index, rows, columns, piece, slot, slot, count % 2, True, True, first=i == 0, last=last
        )


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes per lane of one buffer of each kind; `turned_*` hold operands transposed."""

    left: int
    right: int
    out: int
    turned_left: int
    turned_right: int
    total: int
    bias: int

    @classmethod
    def of(cls, product: Product, plan: Plan, chip: Chip) -> "Sizes":
        """For the largest tiles of a plan."""
        kind = product.left.dtype

        def tile(rows: int, columns: int, dtype: DType = kind) -> int:
            return ceil_div(rows, chip.lanes) * align(columns * dtype.bytes, chip.eu_bytes)

        left, turned_left = tile(plan.rows, plan.depth), 0
        if product.left_transpose:
            left, turned_left = tile(plan.depth, plan.rows), left
        right, turned_right = tile(plan.depth, plan.columns), 0
        if product.right_transpose:
            turned_right = right if product.turns_right else 0
            right = tile(plan.columns, plan.depth)
        split = plan.depth < product.depth
        return cls(
            left,
            right,
            tile(plan.rows, plan.columns),
            turned_left,
            turned_right,
            tile(plan.rows, plan.columns, DType.F32) if split else 0,
            tile(1, product.out.columns) if product.bias is not None else 0,
        )

    def sum(self, slots: tuple[int, int, int], scratch: int) -> int:
        """Bytes with this many buffers of left, right and result, and of scratch results."""
        moving = slots[0] * self.left + slots[1] * self.right + (slots[2] + scratch) * self.out
        return moving + self.turned_left + self.turned_right + self.total + self.bias


def choose_plan(product: Product, chip: Chip, name: str) -> Plan:
    """The plan with the fewest estimated cycles among those that fit.

    K is split only when nothing else fits. Raises TpuError when nothing fits at all.
    """
    depth = product.depth
    while True:
        fitting = [plan for plan in _candidates(product, chip, depth) if _fits(product, plan, chip)]
        if fitting:
            return min(fitting, key=lambda plan: estimate(product, plan, chip))
        if depth <= chip.lanes:
            raise TpuError(f"{name}: not even one tile of the product fits local memory")
        depth = align(ceil_div(depth, 2), chip.lanes)


def _fits(product: Product, plan: Plan, chip: Chip) -> bool:
    size = Sizes.of(product, plan, chip).sum(plan.slots(product), min(2, product.extra))
    return size <= chip.local_bytes


def _candidates(product: Product, chip: Chip, depth: int) -> Iterator[Plan]:
    unit = chip.ddr_row_bytes // product.out.dtype.bytes
    rows = steps_of(product.out.rows, chip.lanes)
    if product.wide and product.left_transpose:
        # A transposed block must start on an EU boundary, which later rows of a filter may not.
        rows = (min(product.out.rows, chip.lanes),)
    for m in rows:
        for n in steps_of(product.out.columns, unit):
            yield Plan(m, n, depth, True)
            if m < product.out.rows and n < product.out.columns:
                yield Plan(m, n, depth, False)


_MOST_STEPS = 400


def estimate(product: Product, plan: Plan, chip: Chip) -> int:
    """Cycles of a plan, from the sizes of its transfers and commands."""
    cost = _StepCost(product, chip)
    steps: list[tuple[int, int, int]] = []
    left = True
    for step in plan.steps(product):
        left = len(steps) < _MOST_STEPS
        if not left:
            break
        steps.append((cost.load(step), cost.compute(step), cost.store(step)))
    cycles = pipeline_cycles(steps)
    if left:
        return cycles
    pieces = (
        (product.out.rows, plan.rows),
        (product.out.columns, plan.columns),
        (product.depth, plan.depth),
    )
    count = len(product.out.starts)
    for size, step_size in pieces:
        count *= ceil_div(size, step_size)
    return cycles * count // len(steps)


class _StepCost:
    """Cycles of the parts of a step."""

    def __init__(self, product: Product, chip: Chip) -> None:
        self.product = product
        self.chip = chip
        self.traffic = Traffic(chip)
        self.width = product.left.dtype.bytes

    def load(self, step: Step) -> int:
        """The loads of a step."""
        product = self.product
        cycles = 0
        if step.load_left:
            rows, columns = step.rows, step.depth
            if product.left_transpose:
                rows, columns = columns, rows
            cycles += self._load(product.left, rows, columns)
        if step.load_right:
            rows, columns = step.depth, step.columns
            if product.right_transpose:
                rows, columns = columns, rows
            cycles += self._load(product.right, rows, columns)
        return cycles

    def _load(self, matrix: Matrix, rows: Piece, columns: Piece) -> int:
        run = columns.size * self.width
        return self.traffic.load(rows.size * run, run, columns.size == matrix.stride)

    def compute(self, step: Step) -> int:
        """The product and what follows it; transposing is cheap beside it."""
        chip, width = self.chip, self.width
        groups = ceil_div(step.rows.size, chip.lanes)
        outputs = ceil_div(step.columns.size, chip.cube_outputs[width])
        depth = ceil_div(step.depth.size, chip.cube_channels[width])
        passes = self.product.extra if step.last else 0
        return groups * (outputs * depth + passes * ceil_div(step.columns.size, chip.eu(width)))

    def store(self, step: Step) -> int:
        """Storing the result tile."""
        if not step.last:
            return 0
        run = step.columns.size * self.width
        whole = step.columns.size == self.product.out.stride
        return self.traffic.store(step.rows.size * run, run, whole)
