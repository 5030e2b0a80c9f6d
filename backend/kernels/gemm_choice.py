"""Choosing the tiles of a product: what fits local memory at the fewest estimated cycles."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.gemm_plan import Plan, Product, Step
from xdsl_tpu.backend.kernels.int8.requant import sums_needed
from xdsl_tpu.backend.kernels.tiling import pipeline_cycles, steps_of
from xdsl_tpu.backend.kernels.transfer import load_cycles, store_cycles
from xdsl_tpu.backend.tensor import DType, GlobalTensor, align, aligned, ceil_div
from xdsl_tpu.dialects.errors import DoesNotFit


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
        sums = int(plan.depth < product.depth)
        if product.factor is not None:
            sums = sums_needed(chip, product.bias is not None)
        return cls(
            left,
            right,
            tile(plan.rows, plan.columns, product.out.dtype),
            turned_left,
            turned_right,
            sums * tile(plan.rows, plan.columns, DType.F32),
            0 if product.bias is None else tile(1, product.out.columns, product.bias.dtype),
        )

    def sum(self, slots: tuple[int, int, int], scratch: int) -> int:
        """Bytes with this many buffers of left, right and result, and of scratch results."""
        moving = slots[0] * self.left + slots[1] * self.right + (slots[2] + scratch) * self.out
        return moving + self.turned_left + self.turned_right + self.total + self.bias


def resident_right(product: Product, plan: Plan, chip: Chip) -> int:
    """Buffers for right tiles: one for each tile, if they fit, so that all may be loaded early.

    Only for one product of which no tile is split along K.
    """
    slots = plan.slots(product)
    tiles = ceil_div(product.out.columns, plan.columns)
    if len(product.out.starts) > 1 or plan.depth < product.depth:
        return slots[1]
    size = Sizes.of(product, plan, chip).sum((slots[0], tiles, slots[2]), min(2, product.extra))
    return tiles if size <= chip.local_bytes else slots[1]


def choose_plan(product: Product, chip: Chip, name: str) -> Plan:
    """The plan with the fewest estimated cycles among those that fit.

    K is split when nothing else fits, or to load whole rows of the right operand piece by piece.
    Raises TpuError when nothing fits at all.
    """
    depth = product.depth
    while True:
        fitting = [plan for plan in _candidates(product, chip, depth) if _fits(product, plan, chip)]
        if fitting:
            return min(fitting, key=lambda plan: estimate(product, plan, chip))
        if depth <= chip.lanes or product.factor is not None:
            raise DoesNotFit(f"{name}: not even one tile of the product fits local memory")
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
    if depth < product.depth or product.wide or product.left_transpose or product.right_transpose:
        return
    if product.factor is not None:
        return  # the unit does not accumulate integers
    # Streaming K keeps the rows of the right operand whole, which the matrix form needs.
    for k in steps_of(depth, chip.lanes)[1:]:
        yield Plan(product.out.rows, product.out.columns, k, True)


def estimate(product: Product, plan: Plan, chip: Chip) -> int:
    """Cycles of a plan: its transfers and commands in the pipeline's order."""
    cost = _StepCost(product, chip)
    steps = ((cost.load(s), cost.compute(s), cost.store(s)) for s in plan.steps(product))
    return pipeline_cycles(steps, plan.count(product))


class _StepCost:
    """Cycles of the parts of a step; equal tiles are looked at once."""

    def __init__(self, product: Product, chip: Chip) -> None:
        self.product = product
        self.chip = chip
        self._known: dict[tuple[object, ...], int] = {}

    def _once(self, key: tuple[object, ...], cost: Callable[[], int]) -> int:
        if key not in self._known:
            self._known[key] = cost()
        return self._known[key]

    def load(self, step: Step) -> int:
        """The loads of a step."""
        product, cycles = self.product, 0
        if step.turn.load_left:
            key = ("left", step.rows.size, step.depth.size)
            cycles += self._once(key, lambda: self._load(step.left_source(product)))
        if step.turn.load_right:
            key = ("right", step.depth.size, step.columns.size)
            cycles += self._once(key, lambda: self._load(step.right_source(product)))
        return cycles

    def _load(self, source: GlobalTensor) -> int:
        target = aligned(self.chip, 0, source.shape, source.dtype)
        return load_cycles(target, source, self.chip)

    def compute(self, step: Step) -> int:
        """The product and what follows it; transposing is cheap beside it."""
        chip, width = self.chip, self.product.left.dtype.bytes
        groups = ceil_div(step.rows.size, chip.lanes)
        outputs = ceil_div(step.columns.size, chip.cube_outputs[width])
        depth = ceil_div(step.depth.size, chip.cube_channels[width])
        passes = self.product.extra if step.turn.last else 0
        if self.product.factor is not None:
            passes = sums_needed(chip, self.product.bias is not None)
            width = DType.I32.bytes
        return groups * (outputs * depth + passes * ceil_div(step.columns.size, chip.eu(width)))

    def store(self, step: Step) -> int:
        """Storing the result tile, once it is complete."""
        if not step.turn.last:
            return 0
        key = ("out", step.rows.size, step.columns.size)
        return self._once(key, lambda: self._store(step.out_target(self.product)))

    def _store(self, target: GlobalTensor) -> int:
        source = aligned(self.chip, 0, target.shape, target.dtype)
        return store_cycles(target, source, self.chip)
