"""What some neighbouring ops of a function cost when they are grouped as well as can be.

Passes that choose between forms of an op ask here, before groups are made: the answer is the
search's own, for these ops alone.
"""

import math
from collections.abc import Sequence

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.passes.address_assign.views import view_of
from xdsl_tpu.passes.layer_group.base_groups import base_groups, why_not_local
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.layer_group.search import Searcher


class WindowCosts:
    """Costs of windows of ops, with everything that was measured for the ones before."""

    def __init__(self, chip: Chip) -> None:
        self.chip = chip
        self.prices = Prices(chip)

    def cycles(self, ops: Sequence[Operation]) -> float:
        """From an idle machine until ops that follow each other have stored what others read.

        Weights must be laid out for the kernels already. Infinite when there are no commands for
        one of the ops.
        """
        if not all(self._has_commands(op) for op in ops):
            return math.inf
        bases = base_groups(ops, why_not_local)
        return OptimalSearch(Searcher(self.chip, self.prices.scratch), self.prices, bases).cycles()

    def _has_commands(self, op: Operation) -> bool:
        is_view = all(view_of(result) is not None for result in op.results)
        return is_view or self.prices.has_kernel(op)

    def changed(self, op: Operation) -> None:
        """Measure an op anew, because its attributes or types are no longer what they were."""
        self.prices.forget(op)
