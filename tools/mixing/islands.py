"""Layers in 8 bits among layers in float, where casts cost more than the 8 bits save."""

from collections.abc import Collection, Iterable
from math import prod

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.base import is_ranked_tensor
from xdsl_tpu.passes.flops import flops
from xdsl_tpu.passes.tensors import is_weight, shape_of
from xdsl_tpu.tools.mixing.layers import MOVING, STEPLESS
from xdsl_tpu.tools.mixing.rates import Rates

_CASTS = 2
"""Instructions of a cast between integers and floats: the factor, and the type."""


def islands(ops: Iterable[Operation], eight: Collection[Operation], rates: Rates) -> set[Operation]:
    """Those of `eight` that lie with so few of their kind that all are faster in 16 bits.

    ln -> add (8 bits) -> ln: the sum takes half the time, but three casts are around it.
    Ops that hang together, also through ops that only move elements, are judged as one. What is
    on the chip costs no transfers; weights come from DDR. `ops` are those of a function in order.
    """
    inside = set(eight)
    groups = _together(ops, inside)
    return {op for group in groups for op in group if _costs(group, rates) > _saves(group, rates)}


def _together(ops: Iterable[Operation], inside: set[Operation]) -> list[list[Operation]]:
    """The ops of `inside`, by what hangs together."""
    parent: dict[Operation, Operation] = {}

    def root(op: Operation) -> Operation:
        while parent[op] is not op:
            op = parent[op]
        return op

    for op in ops:
        if op not in inside and not _moves(op):
            continue
        parent[op] = op
        for value in op.operands:
            if isinstance(value.owner, Operation) and value.owner in parent:
                parent[root(value.owner)] = root(op)
    groups: dict[Operation, list[Operation]] = {}
    for op in parent:
        groups.setdefault(root(op), []).append(op)
    return [group for group in groups.values() if not inside.isdisjoint(group)]


def _moves(op: Operation) -> bool:
    return isinstance(op, MOVING) and not isinstance(op, STEPLESS)


def _costs(group: list[Operation], rates: Rates) -> float:
    """Cycles of the casts of all that comes into it and goes out."""
    inside = set(group)
    crossing = {
        value
        for op in group
        for value in op.operands
        if not is_weight(value) and value.owner not in inside and is_ranked_tensor(value.type)
    }
    crossing |= {
        value
        for op in group
        for value in op.results
        if any(use.operation not in inside for use in value.uses)
    }
    return _CASTS * _elements(crossing) / rates.cast


def _saves(group: list[Operation], rates: Rates) -> float:
    """Cycles that products, weights and arithmetic take less in 8 bits."""
    weights = {v for op in group for v in op.operands if is_weight(v) and is_ranked_tensor(v.type)}
    computed = [value for op in group if not _moves(op) for value in op.results]
    macs = sum(flops(op) for op in group if not _moves(op)) / 2
    moved, made = _elements(weights) / rates.moved, _elements(computed) / rates.computed
    return macs / rates.macs + moved + made


def _elements(values: Iterable[SSAValue]) -> int:
    return sum(prod(shape_of(value)) for value in values)
