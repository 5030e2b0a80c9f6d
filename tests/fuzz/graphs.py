"""Random graphs: single ops of any kind, or what networks are made of."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st
from tests.fuzz.idioms import IDIOMS, Graph
from tests.fuzz.recipes import Recipe, Shape, Step, Weight
from tests.fuzz.strategies import MAKERS

_sizes = st.integers(1, 9)
_shapes: st.SearchStrategy[Shape] = st.one_of(
    st.tuples(st.integers(1, 2), st.sampled_from((1, 2, 3, 4, 8, 16, 66)), _sizes, _sizes),
    st.tuples(st.integers(1, 3), st.integers(1, 12), st.sampled_from((4, 7, 16, 32, 70))),
    st.tuples(st.integers(1, 70), st.sampled_from((1, 5, 16, 48))),
)


@st.composite
def recipes(draw: st.DrawFn, most: int = 6) -> Recipe:
    """A graph of up to `most` ops on one or two inputs."""
    inputs = tuple(draw(st.lists(_shapes, min_size=1, max_size=2)))
    graph = Graph([*inputs])
    for _ in range(draw(st.integers(1, most))):
        _add_op(draw, graph)
    return _used(inputs, graph.steps)


@st.composite
def idiomatic(draw: st.DrawFn, most: int = 3) -> Recipe:
    """A graph of up to `most` idioms on one or two inputs, with an op between some of them."""
    inputs = tuple(draw(st.lists(_shapes, min_size=1, max_size=2)))
    graph = Graph([*inputs])
    for _ in range(draw(st.integers(1, most))):
        if draw(st.sampled_from(IDIOMS))(draw, graph, _place(draw, graph)) is None:
            _add_op(draw, graph)
        if draw(st.booleans()):
            _add_op(draw, graph)
    return _used(inputs, graph.steps)


def _add_op(draw: st.DrawFn, graph: Graph) -> None:
    at = _place(draw, graph)
    step = draw(st.sampled_from(MAKERS))(draw, graph.shapes, at)
    if step is None:
        step = Step("Relu", (at,), graph.shapes[at])
    graph.steps.append(step)
    graph.shapes.append(step.shape)


def _place(draw: st.DrawFn, graph: Graph) -> int:
    """A tensor: mostly what came last, so that graphs get deep."""
    last = len(graph.shapes) - 1
    return draw(st.sampled_from((last, last, draw(st.integers(0, last)))))


def _used(inputs: tuple[Shape, ...], steps: Sequence[Step]) -> Recipe:
    used = {given for step in steps for given in step.inputs if isinstance(given, int)}
    return _without(inputs, steps, [n for n in range(len(inputs)) if n in used])


def _without(inputs: tuple[Shape, ...], steps: Sequence[Step], kept: Sequence[int]) -> Recipe:
    """Inputs that nothing uses are left out, and the others numbered anew."""
    numbers = {old: new for new, old in enumerate(kept)}
    shift = len(inputs) - len(kept)

    def renumbered(given: int | Weight | None) -> int | Weight | None:
        if not isinstance(given, int):
            return given
        return numbers[given] if given < len(inputs) else given - shift

    again = (replace(step, inputs=tuple(map(renumbered, step.inputs))) for step in steps)
    return Recipe(tuple(inputs[n] for n in kept), tuple(again))
