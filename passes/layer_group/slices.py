"""Groups of several slices: into how many a range of ops is cut."""

from collections.abc import Hashable, Sequence

from xdsl.ir import Operation

from xdsl_tpu.backend.local.cuts import KIND
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.passes.layer_group.alike import Alikeness
from xdsl_tpu.passes.layer_group.cost import CostTable
from xdsl_tpu.passes.layer_group.lmem_size import element_bits, lane_bytes
from xdsl_tpu.passes.layer_group.model import Group, cut_group, plan_group
from xdsl_tpu.passes.layer_group.search import Searcher
from xdsl_tpu.passes.layer_group.slicing import entering
from xdsl_tpu.passes.layer_group.values import Refusal
from xdsl_tpu.passes.tensors import is_weight

EXPOSED = 0.05
"""The share of a sliced group's time that is neither all computing nor all moving from which on
more slices are tried."""


class Sliced:
    """A range of ops, and all that are alike, as a group of several slices: in the fewest that fit,
    or in more of those that were tried, whichever is fastest.

    `fewest`: as few slices as fit. `local_bytes`: what it needs of every lane. `least`, `moved`: no
    more slices take less in all, or of the GDMA, as borders are worked on and moved twice.
    """

    def __init__(
        self, ops: Sequence[Operation], searcher: Searcher, costs: CostTable, group: Group
    ) -> None:
        self._ops, self._searcher, self._costs = ops, searcher, costs
        self.fewest = group.secs.total
        self._sections = [s for s in searcher.sections(ops) if s.total > self.fewest]
        self.secs, self.local_bytes = group.secs, group.plan.activations
        self.cost = costs.sliced(group)
        self.least = self.moved = 0.0
        if self.cost is not None:
            self.least, self.moved = self.cost.least, self.cost.moved

    @property
    def may_be_faster(self) -> bool:
        """Whether more slices may be: up to twice as many as the fastest that are known, where time
        is neither all computing nor all moving."""
        if self.cost is None or not self._sections:
            return False
        few_enough = self._sections[0].total <= 2 * self.secs.total
        return few_enough and self.cost.exposed > EXPOSED * self.cost.total

    def try_more(self) -> None:
        """Look at the next number of slices. They are only planned if they are faster where
        everything fits."""
        assert self.cost is not None
        secs, searcher = self._sections.pop(0), self._searcher
        cut = cut_group(self._ops, KIND, secs, searcher.chip, searcher.cores, searcher.known)
        if isinstance(cut, Refusal):
            return
        cost = self._costs.sliced(cut)
        if cost is not None and cost.total < self.cost.total:
            group = plan_group(cut, searcher.chip, searcher.scratch)
            if isinstance(group, Refusal):
                return
            if group.times != cut.times:
                cost = self._costs.sliced(group)
            if cost is not None and cost.total < self.cost.total:
                self.secs, self.cost = secs, cost
                self.local_bytes = group.plan.activations
        self._sections = [more for more in self._sections if more.total > secs.total]


class Slices:
    """What is known of ranges of a function's ops as groups of several slices."""

    def __init__(
        self, ops: Sequence[Operation], searcher: Searcher, costs: CostTable, alike: Alikeness
    ) -> None:
        self.ops, self.searcher, self.costs = ops, searcher, costs
        self._alike = alike
        self._known: dict[Hashable, Sliced | None] = {}

    def of(self, start: int, end: int) -> Sliced | None:
        """ops[start:end] in no fewer slices than what they are longer than by one op must have;
        None where there is no way."""
        key = self._alike.of(start, end)
        if key not in self._known:
            shorter = self._known.get(self._alike.of(start + 1, end))
            more_than = 1 if shorter is None else shorter.fewest - 1
            self._known[key] = self._found(self.ops[start:end], more_than)
        return self._known[key]

    def _found(self, part: Sequence[Operation], more_than: int) -> Sliced | None:
        if self._held_bytes(part) > self.searcher.chip.local_bytes:
            return None
        group = self.searcher.in_slices(part, more_than)
        return None if group is None else Sliced(part, self.searcher, self.costs, group)

    def _held_bytes(self, ops: Sequence[Operation]) -> int:
        """Local memory that the weights of ops need if all are held."""
        return sum(
            lane_bytes(
                of_value(v, KIND, self.searcher.chip.lanes),
                element_bits(v),
                False,
                self.searcher.chip,
            )
            for v in entering(ops)
            if is_weight(v)
        )
