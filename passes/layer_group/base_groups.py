"""Runs of ops that all have a local form: groups never reach beyond one.

docs/hardware/groups.md#base-groups.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, LocalGen
from xdsl_tpu.dialects.interfaces.shape import dims, known_shape
from xdsl_tpu.passes.layer_group.sections import BINARY
from xdsl_tpu.passes.tensors import required_name, shape_of

_LOADED = (top.WeightOp, tpu.LoadOp)
"""What the weights of a group come from, before and after the group is built."""

_NOT_COMPUTED = (top.WeightOp, top.NoneOp, top.InputOp, tpu.BufferOp, ReturnOp)

WhyGlobal = Callable[[Operation], str | None]
"""Why an op cannot work from local memory; None when it can."""


@dataclass(frozen=True)
class BaseGroup:
    """Neighbouring ops that have a local form, or one op that has none and the reason.

    `cut` says why the group does not go on from the one before, where both have a local form.
    """

    ops: tuple[Operation, ...]
    why_global: str | None = None
    cut: str | None = None


def computing_ops(block: Block) -> list[Operation]:
    """The ops of a function that compute something, in order."""
    return [op for op in block.ops if not isinstance(op, _NOT_COMPUTED)]


def why_global(op: Operation) -> str | None:
    """Why an op has no local form by its own word; None when it has one."""
    if not isinstance(op, LocalGen):
        return f"{op.name} has no local form"
    values = (*op.operands, *op.results)
    if any(known_shape(value.type) is None for value in values if not is_none(value)):
        return "its shapes are not known"
    if isinstance(op, tpu.Conv2DOp) and not isinstance(op.filter.owner, _LOADED):
        return "its filter is computed; only a weight is laid out for local memory"
    return op.local_support(GroupType.NORMAL)


def base_groups(ops: Sequence[Operation], why: WhyGlobal = why_global) -> list[BaseGroup]:
    """Split ops in order into runs; `why` may know more reasons than the ops themselves."""
    return list(_runs(ops, why))


def _runs(ops: Sequence[Operation], why: WhyGlobal) -> Iterator[BaseGroup]:
    run: list[Operation] = []
    cut: str | None = None
    clashes = _DepthClash()
    for op in ops:
        reason = why(op)
        clash = clashes.joined_by(op) if reason is None else None
        if run and (reason is not None or clash is not None):
            yield BaseGroup(tuple(run), cut=cut)
            run, cut, clashes = [], clash, _DepthClash()
        if reason is None:
            run.append(op)
            clashes.add(op)
        else:
            yield BaseGroup((op,), reason)
            cut = None
    if run:
        yield BaseGroup(tuple(run), cut=cut)


class _DepthClash:
    """Operands stretched along d do not go together with 3-D convolution and pooling."""

    def __init__(self) -> None:
        self.stretched: Operation | None = None
        self.deep: Operation | None = None

    def add(self, op: Operation) -> None:
        """Take an op into the run."""
        if self.stretched is None and _stretches_depth(op):
            self.stretched = op
        if self.deep is None and isinstance(op, tpu.Conv3DOp | tpu.Pool3DOp):
            self.deep = op

    def joined_by(self, op: Operation) -> str | None:
        """Why an op cannot join the run; None when it can."""
        both = _DepthClash()
        both.stretched, both.deep = self.stretched, self.deep
        both.add(op)
        if both.stretched is None or both.deep is None:
            return None
        shapes = " and ".join(dims(shape_of(value)) for value in both.stretched.operands)
        name = required_name(both.stretched)
        return f"'{name}' stretches {shapes} along d next to {both.deep.name}"


def _stretches_depth(op: Operation) -> bool:
    if not isinstance(op, BINARY):
        return False
    shapes = list(map(shape_of, op.operands))
    return all(len(shape) == 5 for shape in shapes) and len({shape[2] for shape in shapes}) > 1
