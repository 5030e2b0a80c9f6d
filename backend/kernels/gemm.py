"""Products of matrices in DDR, streamed through local memory.

Rows of the left matrix and of the result lie on the lanes. 16-bit types use MM2, whose right
operand has K on the lanes, or N when it is transposed. f32 uses the convolution unit: the left
matrix is the filter (rows = output channels), the right one an image of K channels and one row.
"""

import itertools
from collections.abc import Callable

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter, Window
from xdsl_tpu.backend.kernels.clamp import Clamp, narrow
from xdsl_tpu.backend.kernels.gemm_choice import Sizes, choose_plan, resident_right
from xdsl_tpu.backend.kernels.gemm_plan import Plan, Product, Step
from xdsl_tpu.backend.kernels.int8.requant import Factor, scaled_product
from xdsl_tpu.backend.kernels.shares import parts_of, take
from xdsl_tpu.backend.kernels.support import KernelContext, LocalMemory, pipelined
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.kernels.transpose import transpose
from xdsl_tpu.backend.tensor import (
    DType,
    LocalTensor,
    align,
    aligned,
    aligned_bytes,
    ceil_div,
    compact,
)


def gemm(context: KernelContext, product: Product, name: str) -> None:
    """Emit the products in tiles. Raises TpuError when no tile fits local memory."""
    product, plan = _share(context, product, choose_plan(product, context.chip, name), name)
    layer = _Layer(context.emitter, context.memory(), product, plan)
    layer.load_bias()
    pipelined(list(plan.steps(product)), layer.load, layer.compute, layer.store)


def _share(context: KernelContext, product: Product, plan: Plan, name: str) -> tuple[Product, Plan]:
    """This core's rows, or columns where there are few rows, if their sums are taken in the same
    pieces; otherwise everything."""
    chip, out = context.chip, product.out
    by_rows = ceil_div(out.rows, chip.lanes) >= MOST_UNEVEN * context.cores
    line = chip.eu(out.dtype.bytes)
    parts = parts_of(context, *((out.rows, chip.lanes) if by_rows else (out.columns, line)))
    if product.factor is not None:
        return product, plan
    halves = [product.of_rows(p) if by_rows else product.of_columns(p) for p in parts]
    found = [(half, choose_plan(half, chip, name)) for half in halves]
    whole = min(plan.depth, product.depth)
    if not found or any(min(one.depth, product.depth) != whole for _, one in found):
        return product, plan
    take(context, parts)
    return found[context.core]


MOST_UNEVEN = 4
"""Rows are shared out in lane groups when each core gets this many at least."""


class _Layer:
    """The buffers of a plan, and the stages of the pipeline over its steps."""

    def __init__(self, emitter: Emitter, memory: LocalMemory, product: Product, plan: Plan) -> None:
        self.chip: Chip = emitter.chip
        self.emitter = emitter
        self.product = product
        sizes, slots = Sizes.of(product, plan, self.chip), plan.slots(product)
        if product.factor is not None:
            slots = slots[0], resident_right(product, plan, self.chip), slots[2]
            memory.next = _last_start(self.chip, sizes.sum(slots, 0))
        self._plan = plan
        self._left = [memory.take(sizes.left) for _ in range(slots[0])]
        self._right = [memory.take(sizes.right) for _ in range(slots[1])]
        self._out = [memory.take(sizes.out) for _ in range(slots[2])]
        self._scratch = [memory.take(sizes.out) for _ in range(min(2, product.extra))]
        self._total = memory.take(sizes.total)
        self._turned_left = memory.take(sizes.turned_left)
        self._turned_right = memory.take(sizes.turned_right)
        self._bias: LocalTensor | None = None
        if product.bias is not None:
            lanes = min(self.chip.lanes, plan.rows)
            self._bias = memory.aligned((1, lanes, 1, product.out.columns), product.bias.dtype)

    def load_bias(self) -> None:
        """Replicate the bias on the lanes."""
        if self._bias is not None and self.product.bias is not None:
            self.emitter.load_broadcast(self._bias, self.product.bias)

    def _tile(self, address: int, rows: Piece, columns: Piece, dtype: DType) -> LocalTensor:
        return aligned(self.chip, address, (1, rows.size, 1, columns.size), dtype)

    def _left_tile(self, step: Step) -> LocalTensor:
        """As loaded."""
        address = self._left[step.turn.left_slot % len(self._left)]
        kind = self.product.left.dtype
        if self.product.left_transpose:
            return self._tile(address, step.depth, step.rows, kind)
        return self._filter(address, step) if self.product.wide else self._rows(address, step)

    def _rows(self, address: int, step: Step) -> LocalTensor:
        return self._tile(address, step.rows, step.depth, self.product.left.dtype)

    def _filter(self, address: int, step: Step) -> LocalTensor:
        shape = (1, step.rows.size, 1, step.depth.size)
        return compact(self.chip, address, shape, self.product.left.dtype)

    def _right_tile(self, step: Step) -> LocalTensor:
        """As loaded."""
        slot = step.turn.right_slot
        if len(self._right) > 2:  # all tiles are resident
            slot = step.columns.start // self._plan.columns
        address = self._right[slot % len(self._right)]
        rows, columns = step.depth, step.columns
        if self.product.right_transpose:
            rows, columns = columns, rows
        return self._tile(address, rows, columns, self.product.right.dtype)

    def _out_tile(self, address: int, step: Step) -> LocalTensor:
        return self._tile(address, step.rows, step.columns, self.product.out.dtype)

    def load(self, step: Step, _: int) -> None:
        """Stage 1: the operands that changed."""
        product = self.product
        if step.turn.load_left:
            fetch(self.emitter, self._left_tile(step), step.left_source(product))
        if step.turn.load_right:
            fetch(self.emitter, self._right_tile(step), step.right_source(product))

    def compute(self, step: Step, _: int) -> None:
        """Stage 2: transpose what must be, multiply, add the bias, clamp."""
        product = self.product
        left, right = self._turned(step)
        out = self._out_tile(self._out[step.turn.out_slot % len(self._out)], step)
        scratch = [self._out_tile(address, step) for address in self._scratch]
        bias = None
        if self._bias is not None:
            bias = bias_columns(self._bias, step.columns, step.rows.size, self.chip)
        turned = product.right_transpose and not product.turns_right
        if product.factor is not None:
            self._integers(step, product.factor, out, (left, right, turned), bias)
            return

        def produce(target: LocalTensor) -> None:
            if step.turn.first and step.turn.last:
                multiply(self.emitter, target, left, right, turned)
            else:
                narrow(self.emitter, target, total)

        if not (step.turn.first and step.turn.last):
            total = self._tile(self._total, step.rows, step.columns, DType.F32)
            multiply(self.emitter, total, left, right, turned, accumulate=not step.turn.first)
        if step.turn.last:
            finish(self.emitter, out, scratch, bias, product.clamp, produce)

    def _integers(
        self,
        step: Step,
        factor: Factor,
        out: LocalTensor,
        operands: tuple[LocalTensor, LocalTensor, bool],
        bias: LocalTensor | None,
    ) -> None:
        """The exact sums, with bias, under the scale of the result."""
        size = aligned_bytes(self.chip, (1, step.rows.size, 1, step.columns.size), DType.I32)
        places = itertools.count(self._total, size)

        def room() -> LocalTensor:
            return self._tile(next(places), step.rows, step.columns, DType.I32)

        scaled_product(self.emitter, out, operands, bias, factor, room)

    def _turned(self, step: Step) -> tuple[LocalTensor, LocalTensor]:
        """The operands as the command wants them."""
        product = self.product
        left, right = self._left_tile(step), self._right_tile(step)
        if product.left_transpose:
            stored, address = left, self._turned_left
            left = self._filter(address, step) if product.wide else self._rows(address, step)
            if step.turn.load_left:
                transpose(self.emitter, left, stored)
        if product.turns_right:
            stored = right
            right = self._tile(self._turned_right, step.depth, step.columns, stored.dtype)
            if step.turn.load_right:
                transpose(self.emitter, right, stored)
        return left, right

    def store(self, step: Step, _: int) -> None:
        """Stage 3: the finished result tile."""
        if step.turn.last:
            tile = self._out_tile(self._out[step.turn.out_slot % len(self._out)], step)
            put(self.emitter, step.out_target(self.product), tile)


def _last_start(chip: Chip, size: int) -> int:
    """Where buffers of this many bytes begin when they end with local memory.

    Groups fill local memory from its beginning, so what lies at its end can be loaded sooner.
    """
    return max(0, chip.local_bytes - align(size, chip.eu_bytes))


def multiply(
    emitter: Emitter,
    out: LocalTensor,
    left: LocalTensor,
    right: LocalTensor,
    right_transpose: bool = False,
    accumulate: bool = False,
) -> None:
    """out (1, M, 1, N) = left (1, M, 1, K) x right in local memory.

    16 and (to i32) 8 bits: everything EU-aligned, right (1, K, 1, N), or (1, N, 1, K) when
    transposed. f32: left compact, right (1, K, 1, N).
    """
    if left.dtype is DType.F32:
        emitter.conv(out, right, left, Window((1, 1)), accumulate=accumulate)
    else:
        emitter.mm2(out, left, right, right_transpose, accumulate)


def bias_columns(bias: LocalTensor, columns: Piece, rows: int, chip: Chip) -> LocalTensor:
    """Columns of a bias that lies on every lane, for adding to `rows` rows."""
    shape = (1, min(rows, chip.lanes), 1, columns.size)
    return bias.window((0, 0, 0, columns.start), shape, chip)


def finish(
    emitter: Emitter,
    out: LocalTensor,
    scratch: list[LocalTensor],
    bias: LocalTensor | None,
    clamp: Clamp,
    produce: Callable[[LocalTensor], None],
) -> None:
    """Bias and clamp after a product, never in place.

    `scratch` holds as many tensors like `out` as there are element-wise commands, at most two.
    """

    def biased(target: LocalTensor) -> None:
        if bias is None:
            produce(target)
            return
        raw = scratch[-1] if target is not scratch[-1] else out
        produce(raw)
        emitter.arith(Arith.ADD, target, raw, bias)

    clamp.apply(emitter, out, scratch[0] if scratch else None, biased)
