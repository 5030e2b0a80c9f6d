"""An op by itself, from DDR to DDR: its kernel works on a slice while others are moved.

How the result may be cut, and what a slice needs of the operands, the op says itself (`LocalGen`),
as it does for groups. Cuts are compared by the cycles of the commands that they would issue.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.shares import parts_of, take
from xdsl_tpu.backend.kernels.support import KernelContext, where
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.local.context import LocalKernel
from xdsl_tpu.backend.local.cut_price import Choice, Price
from xdsl_tpu.backend.local.cut_search import chosen
from xdsl_tpu.backend.local.cuts import cut_into
from xdsl_tpu.backend.local.problem import Problem, View, addresses_of, as_it_stands
from xdsl_tpu.backend.local.slices import Slices
from xdsl_tpu.backend.tile.emit import issue
from xdsl_tpu.backend.tile.verify import check
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.lane_view import Viewed


@dataclass(frozen=True, slots=True)
class InSlices:
    """The kernel of an op by itself, made of the one that it has on slices.

    `view` gives shapes that lie better in the lanes than the op's own.
    """

    kernel: LocalKernel
    view: View = as_it_stands

    def __call__(self, context: KernelContext, op: Operation) -> None:
        """Issue the commands; DoesNotFit where local memory is too small."""
        for seen in self.view(op, context.chip):
            self._part(context, op, seen)

    def price(self, op: Operation, chip: Chip, cores: int = 1) -> Price:
        """What the commands will take, found without making most of them; DoesNotFit as above."""
        parts = [
            self._chosen(op, Problem.of(op, seen, self.kernel), chip, cores).price
            for seen in self.view(op, chip)
        ]
        return Price(
            sum(part.cycles for part in parts),
            sum(part.gdma for part in parts),
            max(part.local_bytes for part in parts),
        )

    def _chosen(self, op: Operation, problem: Problem, chip: Chip, cores: int) -> Choice:
        found = chosen(problem, chip, cores)
        if found is None:
            raise DoesNotFit(f"{where(op)}: local memory is too small for the smallest slice of it")
        return found

    def _part(self, context: KernelContext, op: Operation, view: Viewed) -> None:
        """All slices of one view; where they are too few for all cores, the first one does them."""
        chip = context.chip
        problem = Problem.of(op, view, self.kernel)
        choice = self._chosen(op, problem, chip, context.cores)
        seen = problem.op(addresses_of(op, view))
        found = cut_into(seen, choice.way, chip)
        assert found is not None
        slices = self._placed(op, Slices(seen, self.kernel, found, chip))
        count = len(slices.places)
        parts = parts_of(context, count, found.together)
        if not parts and context.core:
            return
        programs = tuple(
            slices.program(core, part) for core, part in enumerate(parts or (Piece(0, count),))
        )
        check(programs, chip)
        for step in (take(context, programs) if parts else programs[0]).steps:
            issue(context.emitter, step)

    @staticmethod
    def _placed(op: Operation, slices: Slices) -> Slices:
        """The same elsewhere in local memory: buffers of products, which often leave the GDMA idle,
        lie at the end, so that weights of groups, which fill it from its beginning, come meanwhile;
        with one for every part of their own weights where that leaves half of it."""
        seen, chip = slices.op, slices.chip
        if "k" not in seen.cut_alone():
            return slices
        weights = [i for i, v in enumerate(op.operands) if isinstance(v.owner, top.WeightOp)]
        size = slices.needs(weights)
        early = weights if size <= chip.local_bytes // 2 else ()
        last = chip.local_bytes - (size if early else slices.local_bytes)
        return slices.moved(last // chip.eu_bytes * chip.eu_bytes, early)


@dataclass(frozen=True, slots=True)
class Cheapest:
    """The kernel of an op by itself that can be made in several ways: the cheapest that fits."""

    ways: Callable[[Operation, Chip], Sequence[InSlices]]

    def __call__(self, context: KernelContext, op: Operation) -> None:
        """Issue the commands of the way that takes least time."""
        self._best(op, context.chip, context.cores)(context, op)

    def price(self, op: Operation, chip: Chip) -> Price:
        """What it takes."""
        return self._best(op, chip, 1).price(op, chip)

    def _best(self, op: Operation, chip: Chip, cores: int) -> InSlices:
        ways = self.ways(op, chip)

        def cycles(way: InSlices) -> float:
            try:
                return way.price(op, chip, cores).cycles
            except DoesNotFit:
                return float("inf")

        return ways[0] if len(ways) == 1 else min(ways, key=cycles)


def in_slices(kernel: LocalKernel, views: Sequence[Viewed]) -> list[InSlices]:
    """The ways that a kernel has with each of some views of its op."""
    return [InSlices(kernel, lambda op, chip, view=view: (view,)) for view in views]


def in_planes(kernel: LocalKernel, views: Callable[[Operation, Chip], list[Viewed]]) -> Cheapest:
    """The cheapest of the ways that a kernel has with views of its op."""
    return Cheapest(lambda op, chip: in_slices(kernel, views(op, chip)))
