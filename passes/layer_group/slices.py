"""Groups of several slices: into how many a range of ops is cut."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TypeAlias

from xdsl.ir import Operation

from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.passes.layer_group.alike import Alikeness
from xdsl_tpu.passes.layer_group.clock import SlicedCost
from xdsl_tpu.passes.layer_group.cost import CostTable
from xdsl_tpu.passes.layer_group.lmem_size import element_bits, lane_bytes
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.search import Searcher
from xdsl_tpu.passes.layer_group.slicing import entering
from xdsl_tpu.passes.layer_group.values import GroupType, Secs
from xdsl_tpu.passes.tensors import is_weight

Sliced: TypeAlias = tuple[Group, SlicedCost | None]
"""A group of several slices and its cost; None where a kernel cannot work on one of them."""

_Cuts: TypeAlias = dict[Hashable, tuple[Secs, SlicedCost | None] | None]
"""Into how many slices ranges are cut, and what that costs, for all that are alike."""

EXPOSED = 0.05
"""The share of a sliced group's time that is neither all computing nor all moving from which on
more slices are tried."""


class Slices:
    """What is known of ranges of a function's ops as groups of several slices."""

    def __init__(
        self, ops: Sequence[Operation], searcher: Searcher, costs: CostTable, alike: Alikeness
    ) -> None:
        self.ops, self.searcher, self.costs = ops, searcher, costs
        self._alike = alike
        self._known: dict[tuple[int, int], Sliced | None] = {}
        self._finest: set[tuple[int, int]] = set()
        self._cuts: _Cuts = {}
        self._finer_cuts: _Cuts = {}

    def fewest(self, start: int, end: int) -> Sliced | None:
        """ops[start:end] in as few slices as fit, no fewer than what they are longer than by one
        op; or what is known to be faster. None where there is no way."""
        if (start, end) not in self._known:
            shorter = self._cuts.get(self._alike.of(start + 1, end))
            more_than = 1 if shorter is None else shorter[0].total - 1
            find = partial(self._fewest, self.ops[start:end], more_than)
            self._known[start, end] = self._found_once(self._cuts, start, end, find)
        return self._known[start, end]

    def are_finest(self, start: int, end: int) -> bool:
        """Whether those that are known are."""
        return (start, end) in self._finest

    def finest(
        self, start: int, end: int, group: Group, cost: SlicedCost
    ) -> tuple[Group, SlicedCost]:
        """ops[start:end], of which the fewest slices are known, in as many as is fastest: up to
        twice as many, and twice as many as those where these are faster, as they may be where time
        is neither all computing nor all moving."""
        find = partial(self._finer, self.ops[start:end], group, cost)
        finer = self._found_once(self._finer_cuts, start, end, find)
        assert finer is not None
        assert finer[1] is not None
        self._finest.add((start, end))
        self._known[start, end] = finer
        return finer[0], finer[1]

    def _found_once(
        self, known: _Cuts, start: int, end: int, find: Callable[[], Sliced | None]
    ) -> Sliced | None:
        """Slices of ops[start:end]; into how many, and what that costs, is found once for ranges
        that are alike."""
        key = self._alike.of(start, end)
        if key not in known:
            found = find()
            known[key] = None if found is None else (found[0].secs, found[1])
            return found
        if (cut := known[key]) is None:
            return None
        group = self.searcher.plan(self.ops[start:end], cut[0])
        assert isinstance(group, Group), "it could be planned where it was alike"
        return group, cut[1]

    def _fewest(self, part: Sequence[Operation], more_than: int = 1) -> Sliced | None:
        if self._held_bytes(part) > self.searcher.chip.local_bytes:
            return None
        group = self.searcher.in_slices(part, more_than)
        return None if group is None else (group, self.costs.sliced(group))

    def _finer(self, part: Sequence[Operation], group: Group, cost: SlicedCost) -> Sliced:
        tried = group
        while cost.exposed > EXPOSED * cost.total:
            finer = self.searcher.in_slices(part, more_than=tried.secs.total)
            if finer is None or finer.secs.total > 2 * group.secs.total:
                break
            finer_cost = self.costs.sliced(finer)
            if finer_cost is not None and finer_cost.total < cost.total:
                group, cost = finer, finer_cost
            tried = finer
        return group, cost

    def _held_bytes(self, ops: Sequence[Operation]) -> int:
        """Local memory that the weights of ops need if all are held."""
        normal = GroupType.NORMAL
        return sum(
            lane_bytes(
                of_value(v, normal, self.searcher.chip.lanes),
                element_bits(v),
                False,
                self.searcher.chip,
            )
            for v in entering(ops)
            if is_weight(v)
        )
