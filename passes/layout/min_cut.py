"""The optimal layout assignment by one minimum cut.

Source side is layout 0, sink side layout 1. Each tensor has two auxiliary nodes: a, "there is a
channel-last copy", and b, "no channel-first copy is needed":

    producer -> a  w01      a -> reader  infinite, or what the reader asks for absorbing
    b -> producer  w10      reader -> b  infinite, or the same

Infinite arcs put a on the sink side as soon as one reader is there, so the arc from the producer
is cut once, however many readers there are. Capacities are Python's whole numbers: SciPy's
`maximum_flow` is limited to 32 bits, less than the bytes of a network.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl_tpu.passes.layout.flow import SINK, SOURCE, Arc, Flow, Node, maximum_flow, some_path
from xdsl_tpu.passes.layout.problem import FREE, Cost, LayoutError, Problem, Tensor


class NoSolutionError(LayoutError):
    """Two variables that must differ are bound to one another; both numbers are given."""

    def __init__(self, zero: int, one: int) -> None:
        super().__init__("no layout assignment is allowed by all ops")
        self.zero, self.one = zero, one


@dataclass(frozen=True)
class Solution:
    """Labels of all variables, their cost, and the flow that proves that there are none cheaper."""

    labels: list[int]
    cost: Cost
    flow: Flow
    fixed: list[int | None]

    def forced_by(self, tensor: int, producer: int) -> tuple[int | None, int | None]:
        """The two ends of a path of flow through the copy of a tensor: variables 0 and 1.

        As long as both keep their layouts a copy is paid for on the way. None when the path
        leads to a cost rather than a fixed variable, or nothing flows since the copy is free.
        """
        one, other = ("a", tensor), ("b", tensor)
        for tail, head in ((producer, one), (other, producer)):
            if one in self.flow.arcs and self.flow.on(tail, head) > 0:
                origins, destinations = self.flow.origins(tail), self.flow.destinations(head)
                return self._first_fixed(origins), self._first_fixed(destinations)
        return None, None

    def _first_fixed(self, nodes: Iterator[Node]) -> int | None:
        variables = (node for node in nodes if isinstance(node, int))
        return next((node for node in variables if self.fixed[node] is not None), None)


@dataclass(frozen=True)
class _Scale:
    """Costs of three parts as one number: sums keep their order, and `infinity` exceeds all."""

    second: int
    first: int
    infinity: int

    @staticmethod
    def of(problem: Problem) -> "_Scale":
        costs = list(_all_costs(problem))
        second = sum(cost.changes for cost in costs) + 1
        first = (sum(cost.second for cost in costs) + 1) * second
        infinity = (sum(cost.first for cost in costs) + 1) * first
        return _Scale(second, first, infinity)

    def number(self, cost: Cost) -> int:
        """The cost as one number."""
        return cost.first * self.first + cost.second * self.second + cost.changes

    def cost(self, number: int) -> Cost:
        """The cost that a number stands for."""
        first, rest = divmod(number, self.first)
        return Cost(first, *divmod(rest, self.second))


def minimum_cut(problem: Problem, target: int = 0) -> Solution:
    """Labels of the least possible cost; of several such, the one with most labels `target`.

    Raises:
        NoSolutionError: variables of different fixed layouts are tied.
    """
    scale = _Scale.of(problem)
    variables = range(len(problem.fixed))
    # Every variable appears, if only with nothing flowing to it.
    bare: list[Arc] = [(SOURCE, variable, 0) for variable in variables]
    flow = maximum_flow([*bare, *_arcs_of(problem, scale)])
    if flow.value >= scale.infinity:
        infinite = (arc for arc in _arcs_of(problem, scale) if arc[2] >= scale.infinity)
        raise NoSolutionError(*_ends(some_path(infinite)))
    if target == 0:
        ones = flow.to_sink()
        labels = [int(variable in ones) for variable in variables]
    else:
        zeros = flow.from_source()
        labels = [int(variable not in zeros) for variable in variables]
    return Solution(labels, scale.cost(flow.value + _base(problem, scale)), flow, problem.fixed)


def _ends(path: list[Node]) -> tuple[int, int]:
    zero, one = path[1], path[-2]
    assert isinstance(zero, int)
    assert isinstance(one, int)
    return zero, one


def _arcs_of(problem: Problem, scale: _Scale) -> Iterator[Arc]:
    for variable, fixed in enumerate(problem.fixed):
        if fixed is not None:
            tail, head = (SOURCE, variable) if fixed == 0 else (variable, SINK)
            yield tail, head, scale.infinity
            continue
        zero, one = map(scale.number, problem.preferences[variable])
        yield SOURCE, variable, max(one - zero, 0)
        yield variable, SINK, max(zero - one, 0)
    for zero, one in problem.excluded:
        yield zero, one, scale.infinity
    for number, tensor in enumerate(problem.tensors):
        yield from _arcs_of_tensor(number, tensor, scale)


def _arcs_of_tensor(number: int, tensor: Tensor, scale: _Scale) -> Iterator[Arc]:
    copies = tensor.costs or (None, None)
    last, first = (scale.infinity if copy is None else scale.number(copy) for copy in copies)
    yield tensor.producer, ("a", number), last
    yield ("b", number), tensor.producer, first
    for reader in tensor.readers:
        price = scale.infinity if reader.absorb is None else scale.number(reader.absorb)
        yield ("a", number), reader.variable, price
        yield reader.variable, ("b", number), price


def _base(problem: Problem, scale: _Scale) -> int:
    """The part of preferences that is due in any case, which the network leaves out."""
    total = 0
    for fixed, preference in zip(problem.fixed, problem.preferences, strict=True):
        zero, one = map(scale.number, preference)
        total += min(zero, one) if fixed is None else (zero, one)[fixed]
    return total


def _all_costs(problem: Problem) -> Iterator[Cost]:
    for preference in problem.preferences:
        yield from preference
    for tensor in problem.tensors:
        yield from tensor.costs or (FREE,)
        yield from (reader.absorb for reader in tensor.readers if reader.absorb is not None)
