"""Buffers lie beside what another group still needs, as far as none ends higher than it may."""

import random
from collections.abc import Callable, Sequence

import pytest

from xdsl_tpu.backend.first_fit import Buffer, Placed, Problem, clashes

NEEDED: list[Placed] = [(Buffer("stored", 64, 0, 1), 0), (Buffer("read", 64, 0, 0), 64)]
"""Of the group before: something that is stored in step 1 as well, and something that is not."""


def each(*sets: Sequence[Placed]) -> list[Callable[[], Sequence[Placed]]]:
    """Sets of others, made when they are asked for."""
    return [lambda one=one: one for one in sets]


@pytest.mark.parametrize("count", [1, 2, 16, 17, 40, 1000])
@pytest.mark.parametrize("place", [0.0, 0.3, 0.97, 1.0])
def test_the_first_of_many_is_found_with_few_tries(count: int, place: float) -> None:
    """Others of ever fewer bytes; from one of them on the buffer ends where it may."""
    first, tried = int(place * count), list[int]()

    def others(number: int) -> Sequence[Placed]:
        tried.append(number)
        return [(Buffer("a", 64 * (count - number), 0, 0), 0)]

    sets = [lambda n=n: others(n) for n in range(count)]
    found = Problem.of([Buffer("x", 64, 0, 0)], 64).beside(sets, [64 * (count - first + 1)])
    assert (found and found[0].offsets) == ((64 * (count - first),) if first < count else None)
    assert len(tried) == len(set(tried)) <= 100


@pytest.mark.parametrize(("limit", "count"), [(256, 2), (255, 1), (192, 1), (191, None)])
def test_as_many_others_as_the_limit_allows(limit: int, count: int | None) -> None:
    """`x` needs 128 bytes in step 0: above both others, or above the one, if that is enough."""
    problem = Problem.of([Buffer("x", 128, 0, 2)], 64)
    found = problem.beside(each(NEEDED, NEEDED[:1]), [limit])
    assert (found and (len(found[1]), found[0].offsets)) == (count and (count, (64 * count,)))


def test_what_begins_later_lies_where_others_are_gone() -> None:
    problem = Problem.of([Buffer("x", 64, 1, 1), Buffer("y", 64, 2, 2)], 64)
    found = problem.beside(each(NEEDED), [128, 64])
    assert found is not None
    assert found[0].offsets == (64, 0)


def test_all_are_rounded() -> None:
    problem = Problem.of([Buffer("x", 1, 0, 0)], 64)
    found = problem.beside(each([(Buffer("a", 1, 0, 0), 0)]), [128])
    assert found is not None
    assert found[0].offsets == (64,)


@pytest.mark.parametrize("seed", range(20))
def test_random_buffers(seed: int) -> None:
    rng = random.Random(seed)
    buffers = list[Buffer]()
    for n in range(12):
        first = rng.randrange(6)
        buffers.append(Buffer(n, 64 * rng.randint(1, 4), first, rng.randint(first, 6)))
    problem = Problem.of(buffers, 64)
    limits = [problem.first_fit().used + 64 * rng.randint(0, 3)] * len(buffers)
    found = problem.beside(each(NEEDED, NEEDED[1:]), limits)
    if found is not None:
        placement, others = found
        both = [*buffers, *(other for other, _ in others)]
        assert not list(clashes(both, [*placement.offsets, *(place for _, place in others)]))
        assert placement.used <= limits[0]
    else:  # not even beside the smaller set, with more memory than all of them take
        assert problem.beside(each(NEEDED[1:]), [1 << 20] * len(buffers)) is not None
