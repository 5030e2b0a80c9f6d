"""Runs of ops that all have a local form: groups never reach beyond one.

docs/hardware/groups.md#base-groups.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.backend.leaves import sliced_kernel
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, LocalGen
from xdsl_tpu.dialects.interfaces.shape import known_shape
from xdsl_tpu.passes.graph import in_order

_NOT_COMPUTED = (top.WeightOp, top.NoneOp, top.InputOp, tpu.BufferOp, tpu.JoinOp, ReturnOp)

WhyGlobal = Callable[[Operation], str | None]
"""Why an op cannot work from local memory; None when it can."""


@dataclass(frozen=True)
class BaseGroup:
    """Neighbouring ops that have a local form, or one op that has none and the reason."""

    ops: tuple[Operation, ...]
    why_global: str | None = None


def computing_ops(block: Block) -> list[Operation]:
    """The ops of a function that compute something, in order."""
    return [op for op in block.ops if not isinstance(op, _NOT_COMPUTED)]


def computing_readers(value: SSAValue, block: Block) -> list[Operation]:
    """Those of them that read a value, in order."""
    found = {use.operation for use in value.uses}
    found = {op for op in found if op.parent is block and not isinstance(op, _NOT_COMPUTED)}
    return in_order(found, value.owner)


def ordered_ops(block: Block) -> list[Operation]:
    """Those of them that may change places: what is behind a Join is how the result is seen, and
    stays there (`part-results`)."""
    before = takewhile(lambda op: not isinstance(op, tpu.JoinOp), block.ops)
    return [op for op in before if not isinstance(op, _NOT_COMPUTED)]


def why_global(op: Operation) -> str | None:
    """Why an op has no local form by its own word; None when it has one."""
    if not isinstance(op, LocalGen):
        return f"{op.name} has no local form"
    values = (*op.operands, *op.results)
    if any(known_shape(value.type) is None for value in values if not is_none(value)):
        return "its shapes are not known"
    return op.local_support(GroupType.NORMAL)


def why_not_local(op: Operation) -> str | None:
    """Why an op cannot work from local memory: its own word, or that there is no kernel for it;
    None when it may be in a group."""
    reason = why_global(op)
    if reason is None and sliced_kernel(op) is None:
        return f"{op.name} has no local kernel"
    return reason


def base_groups(ops: Sequence[Operation], why: WhyGlobal = why_global) -> list[BaseGroup]:
    """Split ops in order into runs; `why` may know more reasons than the ops themselves."""
    return list(_runs(ops, why))


def _runs(ops: Sequence[Operation], why: WhyGlobal) -> Iterator[BaseGroup]:
    run: list[Operation] = []
    for op in ops:
        reason = why(op)
        if reason is None:
            run.append(op)
            continue
        if run:
            yield BaseGroup(tuple(run))
            run = []
        yield BaseGroup((op,), reason)
    if run:
        yield BaseGroup(tuple(run))
