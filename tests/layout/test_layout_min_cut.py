"""The minimum cut on plain problems: as good as trying everything."""

import random

import pytest

from xdsl_tpu.passes.layout.comparison import exhaustive, published_labels, random_problem
from xdsl_tpu.passes.layout.greedy import greedy_labels
from xdsl_tpu.passes.layout.min_cut import NoSolutionError, minimum_cut
from xdsl_tpu.passes.layout.problem import Cost, Problem, Reader, Tensor, total_cost

GRAPHS = 500
ONE = (Cost(1), Cost(1))


@pytest.mark.parametrize("target", [0, 1])
def test_weighted_graphs_are_solved_optimally(target: int) -> None:
    """Weights, constants, absorbing readers, preferences and ties: never worse than all tried."""
    rng = random.Random(20 + target)
    for number in range(GRAPHS):
        problem, _ = random_problem(rng, plain=False)
        solution = minimum_cut(problem, target)
        assert solution.cost == exhaustive(problem), number
        assert solution.cost == total_cost(problem, solution.labels), number


def test_plain_graphs_are_solved_optimally_and_published_ways_are_worse() -> None:
    rng = random.Random(7)
    best = greedy = published = 0
    for number in range(GRAPHS):
        problem, current = random_problem(rng, plain=True)
        solution = minimum_cut(problem)
        assert solution.cost == exhaustive(problem), number
        assert solution.cost == total_cost(problem, solution.labels), number
        costs = [
            total_cost(problem, labels)
            for labels in (greedy_labels(problem, current, 1), published_labels(problem))
        ]
        assert all(cost is not None and cost.first >= solution.cost.first for cost in costs)
        best += solution.cost.first
        greedy += costs[0].first if costs[0] else 0
        published += costs[1].first if costs[1] else 0
    assert greedy > best
    assert published > best


def _chain(*fixed: int | None) -> Problem:
    """Ops one behind the other, each reading the one before."""
    problem = Problem()
    for one in fixed:
        problem.variable(one)
    for number in range(len(fixed) - 1):
        problem.tensors.append(Tensor(number, (Reader(number + 1),), ONE))
    return problem


def test_a_copy_is_shared_by_its_readers() -> None:
    problem = _chain(0, 1)
    readers = [problem.variable(1) for _ in range(4)]
    problem.tensors = [Tensor(0, tuple(map(Reader, [1, *readers])), ONE)]
    assert minimum_cut(problem).cost == Cost(1)


def test_free_ops_between_equal_ones_follow_them() -> None:
    assert minimum_cut(_chain(1, None, None, 1)).labels == [1, 1, 1, 1]


@pytest.mark.parametrize(("target", "labels"), [(0, [0, 0, 0, 1]), (1, [0, 1, 1, 1])])
def test_what_is_indifferent_goes_to_the_target(target: int, labels: list[int]) -> None:
    assert minimum_cut(_chain(0, None, None, 1), target).labels == labels


def test_present_layouts_stay_where_nothing_is_gained() -> None:
    problem = _chain(0, None, 1)
    problem.preferences[1] = (Cost(changes=1), Cost())
    assert minimum_cut(problem, 0).labels == [0, 1, 1]


def test_the_two_ops_that_force_a_copy_are_named() -> None:
    problem = _chain(0, None, None, 1, 0)
    solution = minimum_cut(problem)
    assert solution.labels == [0, 0, 0, 1, 0]
    assert solution.forced_by(2, 2) == (0, 3)
    assert solution.forced_by(3, 3) == (4, 3)


def test_absorbing_is_chosen_when_it_is_cheaper_than_one_copy() -> None:
    problem = Problem()
    source, one, other = (problem.variable(fixed) for fixed in (0, 1, 1))
    readers = (Reader(one, Cost(2)), Reader(other, Cost(2)))
    problem.tensors = [Tensor(source, readers, (Cost(3), Cost(3)))]
    assert minimum_cut(problem).cost == Cost(3)
    problem.tensors = [Tensor(source, readers, (Cost(5), Cost(5)))]
    assert minimum_cut(problem).cost == Cost(4)


def test_preferences_of_fixed_and_free_variables_count() -> None:
    problem = Problem()
    problem.variable(1, (Cost(2), Cost(5)))
    problem.variable(None, (Cost(4), Cost(3)))
    solution = minimum_cut(problem)
    assert (solution.labels, solution.cost) == ([1, 1], Cost(8))


def test_weights_beyond_32_and_64_bits_are_exact() -> None:
    problem = _chain(0, None, 1)
    huge = 1 << 80
    problem.tensors[0] = Tensor(0, (Reader(1),), (Cost(huge + 1), Cost(0)))
    problem.tensors[1] = Tensor(1, (Reader(2),), (Cost(huge), Cost(0)))
    assert minimum_cut(problem).cost == Cost(huge)


def test_tied_variables_of_different_layouts_have_no_solution() -> None:
    problem = _chain(0, None, 1)
    problem.tie(0, 1)
    problem.tie(1, 2)
    with pytest.raises(NoSolutionError) as caught:
        minimum_cut(problem)
    assert (caught.value.zero, caught.value.one) == (0, 2)


def test_a_value_that_cannot_be_copied_ties_its_ends() -> None:
    problem = _chain(0, 1)
    problem.tensors = [Tensor(0, (Reader(1),), None)]
    with pytest.raises(NoSolutionError):
        minimum_cut(problem)
