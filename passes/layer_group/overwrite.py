"""Results of a group that lie where an operand did, which leaves more room to weights."""

from collections.abc import Set
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
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
    last = {value: number for number, op in enumerate(cut.ops) for value in op.operands}
    sharing = _sharing(cut)
    inside, least = set(cut.ops), LARGE * prices.chip.local_bytes
    over: dict[SSAValue, SSAValue] = {}
    for number, op in enumerate(cut.ops):
        if not isinstance(op, LocalGen) or not op.may_overwrite():
            continue
        result = op.results[0]
        if slice_bytes(result, cut.slicing.of, inside, prices.chip) < least:
            continue
        for operand in dict.fromkeys(op.operands):
            if not _lies_as_result(operand, op, cut):
                continue
            shared = sharing[operand]
            if any(last.get(value, 0) > number or _is_moved(value, cut) for value in shared):
                continue
            if over_cycles(prices, cut, op, operand) is not None:
                over[result] = operand
                both = shared | sharing[result]
                sharing.update(dict.fromkeys(both, both))
                break
    return replace(cut, over=over) if over else None


def largest_over(cut: Cut, chip: Chip) -> int:
    """Bytes per lane of the largest result of a group of one slice that may lie over an operand:
    no more becomes free at a time."""
    if cut.secs.total > 1:
        return 0
    inside = set(cut.ops)
    results = (op.results[0] for op in cut.ops if isinstance(op, LocalGen) and op.may_overwrite())
    return max((slice_bytes(one, cut.slicing.of, inside, chip) for one in results), default=0)


def over_cycles(prices: Prices, cut: Cut, op: Operation, operand: SSAValue) -> int | None:
    """What an op of a group takes with its result over an operand; None where it cannot be."""
    try:
        scratch = prices.scratch(op, cut.kind, cut.slicing)
    except DoesNotFit:
        return None
    return prices.over(op, operand, scratch)


def _sharing(cut: Cut) -> dict[SSAValue, Set[SSAValue]]:
    """The values that are the same memory as a value of a group, itself among them."""
    roots = roots_of(cut.ops, cut.slicing, (), {})
    same: dict[SSAValue, set[SSAValue]] = {}
    for value in cut.slicing.of:
        same.setdefault(roots.get(value, value), set()).add(value)
    return {value: shared for shared in same.values() for value in shared}


def _lies_as_result(operand: SSAValue, op: Operation, cut: Cut) -> bool:
    """Whether the elements of an operand lie as those of the result do."""
    if is_none(operand) or is_weight(operand):
        return False
    result, of = op.results[0], cut.slicing.of
    if element_bits(operand) != element_bits(result) or not lies_as(of[result], of[operand]):
        return False
    inside = set(cut.ops)
    return all(tap_reader(value, inside.__contains__) is None for value in (operand, result))


def _is_moved(value: SSAValue, cut: Cut) -> bool:
    return value in cut.slicing.loaded or value in cut.slicing.stored
