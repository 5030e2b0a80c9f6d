"""In which time steps the inputs of a group of one slice may be loaded."""

from collections.abc import Iterator, Mapping


def input_steps(first: Mapping[object, int]) -> Iterator[dict[object, int]]:
    """Load steps of all inputs, by when each is used `first`: 0; that in which the input before is
    first used; the one before their first use. The first that there is room for loads earliest."""
    inputs = sorted(first, key=first.__getitem__)
    firsts = [first[key] for key in inputs]
    yield dict.fromkeys(inputs, 0)
    if len(inputs) > 1:
        before = [0, *firsts[:-1]]
        steps = [min(one, first - 1) for one, first in zip(before, firsts, strict=True)]
        yield dict(zip(inputs, steps, strict=True))
    yield {key: first - 1 for key, first in zip(inputs, firsts, strict=True)}


def inputs_by(step: int, loads: Mapping[object, int], first: Mapping[object, int]) -> int:
    """The load step of the last input that is needed by a time step."""
    return max((load for key, load in loads.items() if first[key] <= step), default=0)
