"""The pass `topo-sort`."""

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from xdsl_tpu.backend.first_fit import peak_bytes
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_ranked_tensor
from xdsl_tpu.passes.address_assign.lifetimes import lifetimes
from xdsl_tpu.passes.tensors import functions, is_weight, size_in_bytes

_CARRIED = (top.WeightOp, top.NoneOp)
"""Ops that stand where their first user does."""


@dataclass(frozen=True)
class TopoSortPass(ModulePass):
    """Finish one branch before the next one begins, where fewer bytes then live at a time.

        %1 = Conv2D(%0)  // to %3          %1 = Conv2D(%0)
        %2 = Conv2D(%0)  // to %4    ->    %3 = MaxPool(%1)
        %3 = MaxPool(%1)                   %2 = Conv2D(%0)
        %4 = MaxPool(%2)                   %4 = MaxPool(%2)

    The branch with the largest values goes first. The order stays when the new one has no smaller
    peak of bytes. `depth_first=false` orders by the distance from the inputs instead.
    """

    name = "topo-sort"

    depth_first: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            _sort(func, self.depth_first)


def _sort(func: FuncOp, depth_first: bool) -> None:
    block = func.body.block
    before = list(block.ops)
    peak = _peak(func)
    order = _depth_first(block) if depth_first else _by_distance(block)
    _arrange(block, order)
    if _peak(func) >= peak:
        _arrange(block, before)


def _peak(func: FuncOp) -> int:
    return peak_bytes(lifetimes(func).buffers)


def _arrange(block: Block, order: Iterable[Operation]) -> None:
    for op in order:
        op.detach()
        block.add_op(op)


def _makers(op: Operation) -> list[Operation]:
    """The ops whose results `op` reads, inside its regions, too, that stand beside it."""
    block = op.parent
    found = [value.owner for inner in op.walk() for value in inner.operands]
    return [
        maker
        for maker in dict.fromkeys(found)
        if isinstance(maker, Operation) and maker.parent is block and maker is not op
    ]


def _bytes(op: Operation) -> int:
    """Of all that has to be in memory while `op` and what is before it alone is computed."""
    activations = [value for value in (*op.operands, *op.results) if not is_weight(value)]
    return sum(size_in_bytes(value) for value in activations if is_ranked_tensor(value.type))


def _depth_first(block: Block) -> list[Operation]:
    """Makers of a value right before who reads it, those that need most memory first."""
    needs: dict[Operation, int] = {}
    for op in block.ops:
        needs[op] = max([_bytes(op), *(needs[maker] for maker in _makers(op))])
    order: list[Operation] = [op for op in block.ops if isinstance(op, top.InputOp)]
    done = set(order)
    roots = [op for op in block.ops if not any(result.uses for result in op.results)]
    roots.sort(key=lambda op: isinstance(op, ReturnOp))
    for root in roots:
        stack = [(root, False)]
        while stack:
            op, ready = stack.pop()
            if op in done:
                continue
            if ready:
                done.add(op)
                order.append(op)
                continue
            stack.append((op, True))
            pending = [maker for maker in _makers(op) if maker not in done]
            carried = [maker for maker in pending if isinstance(maker, _CARRIED)]
            others = [maker for maker in pending if not isinstance(maker, _CARRIED)]
            # The last one pushed is the first one made; weights come right before their user.
            stack += [(maker, False) for maker in reversed(carried)]
            stack += [
                (maker, False) for maker in sorted(reversed(others), key=lambda one: needs[one])
            ]
    return order


def _by_distance(block: Block) -> list[Operation]:
    distance: dict[Operation, int] = {}
    for op in block.ops:
        if not isinstance(op, _CARRIED):
            behind = [distance[maker] + 1 for maker in _makers(op) if maker in distance]
            distance[op] = max(behind, default=0)
    last = max(distance.values(), default=0)
    for op in block.ops:
        if isinstance(op, ReturnOp):
            distance[op] = last + 1
        if isinstance(op, _CARRIED):
            users = [use.operation for result in op.results for use in result.uses]
            distance[op] = min((_outer(user, distance) for user in users), default=0)
    return sorted(block.ops, key=lambda op: (distance[op], not isinstance(op, _CARRIED)))


def _outer(user: Operation, distance: dict[Operation, int]) -> int:
    """The distance of a user, or of the op around it that stands in the block."""
    current: Operation | None = user
    while current is not None and current not in distance:
        current = current.parent_op()
    return 0 if current is None else distance[current]
