"""What the minimum cut is compared with: all assignments tried, and a published set of weights.

For tests and benchmarks; no pass uses this.
"""

import math
import random

import numpy as np
import numpy.typing as npt

from xdsl_tpu.passes.layout.flow import SINK, SOURCE, Arc, maximum_flow
from xdsl_tpu.passes.layout.problem import Cost, Problem, Reader, Tensor

Labels = npt.NDArray[np.int8]
Costs = npt.NDArray[np.int64]
NEVER = 1 << 60
PART = 1 << 20
"""What a cost's first part weighs more than the second, and that more than the changes."""


def exhaustive(problem: Problem) -> Cost:
    """The least cost of all assignments, found by trying every one; parts below 2**20 only."""
    labels = _all_labels(problem)
    total = np.zeros(len(labels), np.int64)
    for variable, preference in enumerate(problem.preferences):
        total += np.array([_number(cost) for cost in preference])[labels[:, variable]]
    for zero, one in problem.excluded:
        total[(labels[:, zero] == 0) & (labels[:, one] == 1)] = NEVER
    for tensor in problem.tensors:
        total = np.minimum(total + _copies(tensor, labels), NEVER)
    least = int(total.min())
    first, rest = divmod(least, PART * PART)
    return Cost(first, *divmod(rest, PART))


def _all_labels(problem: Problem) -> Labels:
    """One row for each assignment of the free variables, one column for each variable."""
    free = [number for number, fixed in enumerate(problem.fixed) if fixed is None]
    rows = np.arange(1 << len(free), dtype=np.int64)
    labels = np.empty((len(rows), len(problem.fixed)), np.int8)
    for number, fixed in enumerate(problem.fixed):
        if fixed is not None:
            labels[:, number] = fixed
    for bit, number in enumerate(free):
        labels[:, number] = (rows >> bit) & 1
    return labels


def _copies(tensor: Tensor, labels: Labels) -> Costs:
    """What a tensor costs under every assignment."""
    own = labels[:, tensor.producer]
    absorbed = np.zeros(len(labels), np.int64)
    for reader in tensor.readers:
        price = NEVER if reader.absorb is None else _number(reader.absorb)
        absorbed += np.where(labels[:, reader.variable] != own, price, 0)
        absorbed = np.minimum(absorbed, NEVER)
    copies = [NEVER, NEVER] if tensor.costs is None else [_number(cost) for cost in tensor.costs]
    return np.minimum(absorbed, np.array(copies)[own])


def _number(cost: Cost) -> int:
    assert max(cost) < PART
    return (cost.first * PART + cost.second) * PART + cost.changes


def published_labels(problem: Problem) -> list[int]:
    """The labels that the arcs of Paddle's transfer_layout_pass lead to (PR 63628, 2024).

    Values are nodes as well: an arc of 1 from the op to each of its values and one of 1 / uses
    from there to each user, none of them with a way back. Scaled to whole numbers. Weights, tied
    variables and absorbing readers are not part of that model and must not occur.
    """
    counts = [max(len(tensor.readers), 1) for tensor in problem.tensors]
    unit = math.lcm(*counts)
    arcs: list[Arc] = []
    for number, tensor in enumerate(problem.tensors):
        value, part = ("value", number), unit // counts[number]
        arcs.append((tensor.producer, value, unit))
        arcs += ((value, reader.variable, part) for reader in tensor.readers)
    infinity = sum(capacity for *_, capacity in arcs) + 1
    for variable, fixed in enumerate(problem.fixed):
        arcs.append((SOURCE, variable, infinity if fixed == 0 else 0))
        arcs.append((variable, SINK, infinity if fixed == 1 else 0))
    zeros = maximum_flow(arcs).from_source()
    return [
        int(variable not in zeros) if fixed is None else fixed
        for variable, fixed in enumerate(problem.fixed)
    ]


def random_problem(rng: random.Random, *, plain: bool, free: int = 14) -> tuple[Problem, list[int]]:
    """A random program of up to `free` free ops, and its labels at present.

    A third of the ops are bound to channel-last, a sixth to channel-first, results are returned
    channel-first. Values have several users, are used twice by one op, and ops have two results.
    All copies cost 1 in a `plain` one; the others have weights of both directions, constants,
    readers that absorb, preferences and tied variables.
    """
    problem = Problem()
    current: list[int] = []
    values: list[tuple[int, bool]] = [(_variable(problem, current, rng, 0), False)]
    uses: dict[int, list[Reader]] = {}
    made: list[tuple[int, bool]] = list(values)
    left = rng.randint(2, free)
    while left:
        constant = not plain and rng.random() < 0.1
        fixed = None if constant else rng.choices((None, 1, 0), (50, 33, 17))[0]
        left -= fixed is None
        variable = _variable(problem, current, rng, fixed, plain or constant)
        if not constant:
            for _ in range(rng.choice((1, 1, 2, 2, 3))):
                read = rng.randrange(max(0, len(made) - 5), len(made))
                uses.setdefault(read, []).append(_reader(variable, rng, plain))
        made += [(variable, constant)] * rng.choice((1, 1, 1, 2))
    result = _variable(problem, current, rng, 0)
    for number, (producer, constant) in enumerate(made):
        readers = uses.get(number, [])
        if not readers or rng.random() < 0.1:
            readers = [*readers, Reader(result)]
        costs = _copy_costs(rng, plain, constant)
        problem.tensors.append(Tensor(producer, tuple(readers), costs))
    if not plain and rng.random() < 0.3:
        one, other = rng.sample(range(len(problem.fixed)), 2)
        if None in (problem.fixed[one], problem.fixed[other]):
            problem.tie(one, other)
    return problem, current


def _variable(
    problem: Problem, current: list[int], rng: random.Random, fixed: int | None, plain: bool = True
) -> int:
    current.append(rng.randint(0, 1) if fixed is None else fixed)
    changes = [Cost(), Cost()]
    if fixed is None:
        changes[1 - current[-1]] = Cost(changes=1)
    if not plain and rng.random() < 0.2:
        changes[rng.randint(0, 1)] = Cost(rng.randint(0, 3), 0, 0)
    return problem.variable(fixed, (changes[0], changes[1]))


def _reader(variable: int, rng: random.Random, plain: bool) -> Reader:
    absorbs = not plain and rng.random() < 0.15
    return Reader(variable, Cost(rng.randint(0, 4), rng.randint(0, 4)) if absorbs else None)


def _copy_costs(rng: random.Random, plain: bool, constant: bool) -> tuple[Cost, Cost]:
    if plain:
        return Cost(1), Cost(1)
    if constant or rng.random() < 0.1:
        return Cost(0, 1), Cost(0, 1)
    return tuple[Cost, Cost](Cost(rng.randint(1, 9), rng.randint(0, 9)) for _ in range(2))
