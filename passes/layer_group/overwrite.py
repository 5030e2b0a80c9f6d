"""Results of a group that lie where an operand did, which leaves more room to weights."""

from collections.abc import Mapping
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, tap_reader
from xdsl_tpu.passes.layer_group.lmem_size import element_bits, slice_bytes
from xdsl_tpu.passes.layer_group.model import Cut, lies_as, roots_of
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.tensors import is_weight

LARGE = 1 / 32
"""The share of local memory from which on a result is worth a second pass of the command that works
in place."""


def overwriting(prices: Prices, cut: Cut) -> Cut | None:
    """A group of one slice in which large results lie over operands that nothing reads afterwards;
    None where there are none."""
    if cut.secs.total > 1 or cut.over:
        return None
    over: dict[SSAValue, SSAValue] = {}
    inside, least = set(cut.ops), LARGE * prices.chip.local_bytes
    last = {value: op for op in cut.ops for value in op.operands}
    for op in cut.ops:
        if not isinstance(op, LocalGen) or not op.may_overwrite():
            continue
        result = op.results[0]
        if slice_bytes(result, cut.slicing.of, inside, prices.chip) < least:
            continue
        for operand in dict.fromkeys(op.operands):
            if _is_free(operand, op, cut, over, last) and _is_known(prices, cut, op, operand):
                over[result] = operand
                break
    return replace(cut, over=over) if over else None


def _is_free(
    operand: SSAValue,
    op: Operation,
    cut: Cut,
    over: Mapping[SSAValue, SSAValue],
    last: Mapping[SSAValue, Operation],
) -> bool:
    """Whether an op of a group is the last to need an operand, which lies as its result shall."""
    result, of = op.results[0], cut.slicing.of
    if is_none(operand) or is_weight(operand) or operand in cut.slicing.loaded:
        return False
    if element_bits(operand) != element_bits(result) or not lies_as(of[result], of[operand]):
        return False
    roots = roots_of(cut.ops, cut.slicing, (), over)
    root = roots.get(operand, operand)
    shared = {root, *(value for value, other in roots.items() if other is root)}
    if any(value in cut.slicing.loaded or value in cut.slicing.stored for value in shared):
        return False
    place = {one: number for number, one in enumerate(cut.ops)}
    if max(place[last[value]] for value in shared if value in last) > place[op]:
        return False
    return all(tap_reader(value, place.__contains__) is None for value in (operand, result))


def _is_known(prices: Prices, cut: Cut, op: Operation, operand: SSAValue) -> bool:
    """Whether the kernel of an op works like that."""
    try:
        scratch = prices.scratch(op, cut.kind, cut.slicing)
    except DoesNotFit:
        return False
    return prices.over(op, operand, scratch) is not None


def more_cycles(prices: Prices, cut: Cut, op: Operation) -> int:
    """How much longer an op of a group takes as its result lies over an operand."""
    operand, plain = cut.over.get(op.results[0]), prices.compute(op, prices.whole)
    if operand is None or plain is None:
        return 0
    scratch = prices.scratch(op, cut.kind, cut.slicing)
    return (prices.over(op, operand, scratch) or plain) - plain
