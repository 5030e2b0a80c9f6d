"""In which order of a function's ops its groups are done first."""

from collections.abc import Callable, Sequence

from xdsl.dialects.func import FuncOp

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.records import record
from xdsl_tpu.passes.gather_users import gather_users
from xdsl_tpu.passes.join_runs import put_in_order
from xdsl_tpu.passes.layer_group.base_groups import BaseGroup, ordered_ops
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.op_reorder import move_weights

SAME = 1e-3
"""Ends that differ by less of their time are not told apart by prices. Then that order is the
better one whose transfers take less time."""


@record(frozen=True)
class Found:
    """A search that has run, what it searched and what it found."""

    search: OptimalSearch
    bases: Sequence[BaseGroup]
    groups: list[Group]


def first_done(func: FuncOp, chip: Chip, searched: Callable[[], Found]) -> Found:
    """The groups of a function as it is, or of one whose ops lie beside others that read the same
    large weights, which it then becomes; `searched` looks for them in the present order."""
    block = func.body.block
    given, plain = ordered_ops(block), searched()
    if not gather_users(block, chip):
        return plain
    gathered = searched()
    is_better = _is_better(gathered.search, plain.search)
    if not is_better:
        put_in_order(block, given)
    move_weights(func)
    return gathered if is_better else plain


def _is_better(one: OptimalSearch, other: OptimalSearch) -> bool:
    """Whether local memory has no better use than to hold what waits for others."""
    end, before = one.end(), other.end()
    if abs(end.end - before.end) > SAME * before.end:
        return end.end < before.end
    return end.gdma < before.gdma
