"""What an attention takes as one op and as the ops that it is made of, both measured."""

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.tensor import align, ceil_div
from xdsl_tpu.backend.timing import Timeline
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.text import module_text
from xdsl_tpu.passes.fuse_attention.match import Attention
from xdsl_tpu.passes.measured import copied, cut_out, measured
from xdsl_tpu.passes.pipelines import ENDS, Settings, passes_behind
from xdsl_tpu.passes.tensors import (
    element_bytes,
    is_weight,
)

Change = Callable[[ModuleOp], None]


class Prices:
    """Measures attentions of a network, each kind of them once."""

    def __init__(self, ctx: Context, chip: Chip, description: str, fuse: Change) -> None:
        self._ctx, self._chip, self._fuse = ctx, chip, fuse
        self._settings = Settings(description=description, shortfall=False, disable=ENDS)
        self._known: dict[str, bool] = {}

    def is_faster(self, found: Attention) -> bool:
        """Whether one op is done before its parts are.

        That must hold with the products in front and those behind, the feed-forward part among
        them, where the scores of a head fit the chip: its parts can be in one group with those, for
        which less is moved, and the op leaves more memory for their weights to be loaded ahead. A
        group whose computations alone take longer than the op settles it. Windows of one lane
        group of rows and keys are not measured: groups take many of them at once, in fewer
        commands than the op.
        """
        if max(found.rows, found.keys) <= self._chip.lanes:
            return False
        alone = _cut_out(found, around=False)
        key = module_text(alone, locations=False)
        if key not in self._known:
            self._known[key] = self._measure(found, alone)
        return self._known[key]

    def _measure(self, found: Attention, parts: ModuleOp) -> bool:
        try:
            cycles = self._fused(parts).total
        except DoesNotFit:
            return False
        if cycles < _least_traffic(found, self._chip):
            return True
        line = self._compiled(parts)
        if cycles >= line.total or (_is_grouped(parts) and cycles < line.busy[Engine.TIU]):
            return cycles < line.total
        block = _cut_out(found, around=True)
        return self._fused(block).total < self._compiled(block).total

    def _fused(self, parts: ModuleOp) -> Timeline:
        fused = copied(parts)
        self._fuse(fused)
        return self._compiled(fused)

    def _compiled(self, module: ModuleOp) -> Timeline:
        passes = passes_behind("fuse-attention", self._settings)
        return measured(self._ctx, module, passes, self._chip)


def _least_traffic(found: Attention, chip: Chip) -> float:
    """Cycles of storing and loading all scores twice; 0 where those of one head fit."""
    size = element_bytes(found.product.output)
    row = align(found.keys * size, chip.eu_bytes)
    if 2 * ceil_div(found.rows, chip.lanes) * row <= chip.local_bytes:
        return 0
    bytes_moved = 2 * found.batch * found.heads * found.rows * found.keys * size
    rates = chip.load_bytes_per_cycle, chip.store_bytes_per_cycle
    return sum(bytes_moved / rate for rate in rates)


def _is_grouped(module: ModuleOp) -> bool:
    """Whether softmax and products have become one group."""
    for group in module.walk():
        if isinstance(group, tpu.GroupOp):
            kinds = [op for op in group.walk() if isinstance(op, tpu.MatMulOp | tpu.SoftmaxOp)]
            if len(kinds) == len((tpu.MatMulOp, tpu.SoftmaxOp, tpu.MatMulOp)):
                return True
    return False


def _cut_out(found: Attention, around: bool) -> ModuleOp:
    """A network that is nothing but the attention, from where its operands come from.

    With `around`, the products with weights before and behind belong to it, up to the end of the
    feed-forward part if there is one.
    """
    last = _last(found.product)
    border = [found.queries.value, found.key.value, found.values.value]
    if found.scores.by_head is not None:
        border[0] = found.scores.product.input
    if around:
        border = [_before_product(value) for value in border]
        last = _end_of_feed_forward(last) or _product_behind(last)
    if found.scores.mask is not None:
        border.append(found.scores.mask)
    ops = _between(last, border)
    return cut_out(_made_of(border, ops) if around else ops, "attention")


_MOVES = (tpu.ReshapeOp, tpu.PermuteOp, tpu.SqueezeOp, tpu.UnsqueezeOp, tpu.SliceOp)


def _last(product: Operation) -> Operation:
    """The last of the moves that follow the product."""
    last = product
    while isinstance(after := last.results[0].get_user_of_unique_use(), _MOVES):
        last = after
    return last


def _product_behind(last: Operation) -> Operation:
    """The product with weights that rows are given to, or the op itself."""
    use = last.results[0].get_unique_use()
    if use is not None and use.index == 0 and _has_weight(use.operation):
        return use.operation
    return last


_PRODUCTS = 3
"""With weights behind an attention: its own, and two of the feed-forward part."""

_LONGEST = 24
"""Ops between an attention and the end of the feed-forward part, at most."""


def _end_of_feed_forward(last: Operation) -> Operation | None:
    """The last of the products that the rows of an attention go through; None where there are
    fewer. What is added or normed in between is followed to the reader that comes first."""
    assert last.parent is not None
    place = {op: number for number, op in enumerate(last.parent.ops)}
    here, products = last, 0
    for _ in range(_LONGEST):
        readers = [use.operation for use in here.results[0].uses]
        here = min(readers, key=place.__getitem__, default=here)
        if len(here.results) != 1 or not readers:
            return None
        products += _has_weight(here)
        if products == _PRODUCTS:
            return here
    return None


def _before_product(value: SSAValue) -> SSAValue:
    """What the product with a weight reads that makes a value, moves behind it included."""
    here = value
    while isinstance(op := here.owner, Operation):
        if _has_weight(op):
            return op.operands[0]
        if not isinstance(op, _MOVES):
            break
        here = op.operands[0]
    return value


def _has_weight(op: Operation) -> bool:
    return isinstance(op, tpu.MatMulOp) and is_weight(op.right)


def _between(last: Operation, border: list[SSAValue]) -> set[Operation]:
    """The ops that lead to the last one from the border."""
    wanted, stack = set[Operation](), [last]
    while stack:
        op = stack.pop()
        if op in wanted:
            continue
        wanted.add(op)
        for value in op.operands:
            if isinstance(value.owner, Operation) and value not in border:
                stack.append(value.owner)
    return wanted


def _made_of(border: list[SSAValue], ops: set[Operation]) -> set[Operation]:
    """Those of the ops that the border has a part in: what is added to its rows may come from
    further ahead."""
    block = next(iter(ops)).parent
    assert block is not None
    reached, kept = set(border), set[Operation]()
    for op in block.ops:
        if op in ops and not reached.isdisjoint(op.operands):
            kept.add(op)
            reached.update(op.results)
    return kept
