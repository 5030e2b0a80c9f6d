"""A layout assignment by the greedy rule of OneFlow's auto-NHWC, for comparison.

An op without a layout of its own follows as soon as one operand comes in the target layout,
whatever that costs its other operands and its readers. Copies are shared, which OneFlow
leaves to a later pass.
"""

from collections import defaultdict
from collections.abc import Sequence

from xdsl_tpu.passes.layout.problem import Problem, Tensor, copy_cost, total_cost


def greedy_labels(problem: Problem, current: Sequence[int], target: int) -> list[int]:
    """Labels by the greedy rule; the variables are numbered in program order.

    `current` are the labels of the program as it stands, which remain where no rule applies.
    """
    fixed = problem.fixed
    labels = [now if one is None else one for one, now in zip(fixed, current, strict=True)]
    read, made = _tensors_by_variable(problem)
    for variable, one in enumerate(fixed):
        if one is not None or variable not in read:
            continue
        sources = {tensor.producer for tensor in read[variable]} - {variable}
        if any(labels[source] == target and source in read for source in sources):
            labels[variable] = target
    _repair(problem, labels)
    for variable, one in enumerate(fixed):
        if one is None and variable not in read:  # a constant: whatever suits its readers
            _choose(variable, made[variable], labels)
    return labels if total_cost(problem, labels) is not None else list(current)


def _tensors_by_variable(
    problem: Problem,
) -> tuple[dict[int, list[Tensor]], dict[int, list[Tensor]]]:
    """The tensors that each variable reads and those that it makes."""
    read: dict[int, list[Tensor]] = defaultdict(list)
    made: dict[int, list[Tensor]] = defaultdict(list)
    for tensor in problem.tensors:
        made[tensor.producer].append(tensor)
        for reader in tensor.readers:
            read[reader.variable].append(tensor)
    return read, made


def _repair(problem: Problem, labels: list[int]) -> None:
    """Let tied variables follow one another; at most each changes once."""
    for _ in labels:
        broken = [(a, b) for a, b in problem.excluded if labels[a] == 0 and labels[b] == 1]
        if not broken:
            return
        for zero, one in broken:
            if problem.fixed[one] is None:
                labels[one] = 0
            elif problem.fixed[zero] is None:
                labels[zero] = 1


def _choose(variable: int, made: Sequence[Tensor], labels: list[int]) -> None:
    """Give a variable the label that makes its own tensors cheapest."""

    def price(label: int) -> tuple[int, ...]:
        labels[variable] = label
        costs = [copy_cost(tensor, labels) for tensor in made]
        impossible = sum(cost is None for cost in costs)
        return (impossible, *map(sum, zip(*(cost for cost in costs if cost), strict=True)))

    labels[variable] = min((0, 1), key=price)
